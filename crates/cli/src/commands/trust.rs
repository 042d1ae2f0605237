//! `aver trust [DB]`: shows how far runs can be trusted, based on the recorded history.

use super::console::{ColorChoice, OutputStream};
use super::exit::{CommandError, Exit};
use super::record::parse_labels;
use super::units::parse_share;
use averment_history::read::HistorySnapshot;
use averment_history::trust::{GroupBy, LAST, TrustQuery, TrustReport};
use averment_report::json_escape::EscapedJson;
use clap::ValueEnum;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver check rules/ runs/ --record runs.db --label skill=publish,version=1.2
  aver trust                                all runs of runs.db together
  aver trust runs.db --by skill --last 50   each skill over its last 50 runs
  aver trust --by label=version --format json
  aver trust --by rule --min 0.95           exit code 1 below

Exit codes:
  0 done     1 below --min     2 wrong usage, or no history")]
pub struct TrustArgs {
    /// A history file of `aver check --record`
    #[arg(value_name = "DB", default_value = "runs.db")]
    history: PathBuf,
    /// How many of the latest runs of each group count
    #[arg(long, value_name = "N", value_parser = parse_last,
        default_value_t = NonZeroUsize::new(LAST).unwrap_or(NonZeroUsize::MIN))]
    last: NonZeroUsize,
    /// Group runs by: skill, rule, tool, label=NAME [default: one group]
    #[arg(long, value_name = "WHAT", value_parser = GroupBy::parse)]
    by: Option<GroupBy>,
    /// Only runs with this label: skill=publish
    #[arg(long, value_name = "NAME=VALUE")]
    label: Vec<String>,
    /// What to print: human, json, html
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, hide_possible_values = true)]
    format: TrustFormat,
    /// Fail (exit code 1) if a group has a lower score, or no evidence
    #[arg(long, value_name = "SCORE", value_parser = parse_share)]
    min: Option<f64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum TrustFormat {
    /// A table
    #[default]
    Human,
    /// Data, of the schema `trust.schema.json`
    Json,
    /// A page
    Html,
}

fn parse_last(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "it is how many runs count, 1 or more: write 50".to_owned())
}

/// Computes trust and prints it.
pub fn run_trust(arguments: &TrustArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    let mut snapshot = HistorySnapshot::open(&arguments.history, &parse_labels(&arguments.label)?)?;
    let query = TrustQuery { last: arguments.last.get(), by: arguments.by.clone() };
    let trust = TrustReport::compute_trust(&mut snapshot, &query)?;
    match arguments.format {
        TrustFormat::Human => {
            let text = trust.to_human(OutputStream::Out.style(color).unicode);
            io::stdout().write_all(text.as_bytes())?;
        }
        TrustFormat::Json => EscapedJson::new(io::stdout()).write_all(trust.to_json().as_bytes())?,
        TrustFormat::Html => io::stdout().write_all(trust.to_html().as_bytes())?,
    }
    let holds = arguments.min.is_none_or(|least| trust.reaches_score(least));
    Ok(if holds { Exit::Holds } else { Exit::Failed })
}
