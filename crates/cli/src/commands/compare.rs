//! `aver compare BASE NEW`: what changed between two sets of runs.

use super::console::eprint_redacted;
use super::exit::{CommandError, Exit};
use super::units::parse_share;
use averment_history::compare::{CompareGates, CompareSide, Comparison, FailOn};
use averment_report::json_escape::EscapedJson;
use clap::ValueEnum;
use std::io::{self, Write};

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver compare monday.json tuesday.json           reports of aver check --format json
  aver compare monday/ tuesday/ --fail-on regressions
  aver compare runs.db#version=1.1 runs.db#version=1.2,last=50
  aver compare a.json b.json --max-score-drop 0.1 --max-cost-increase 20%
  aver compare a.json b.json --format markdown    for a comment on a change

Exit codes:
  0 every gate holds     1 one does not     2 wrong usage, nothing to compare")]
pub struct CompareArgs {
    /// The old results: a report (json, jsonl), a folder of reports, or a part of a history: runs.db#skill=publish,last=50
    #[arg(value_name = "BASE")]
    base: String,
    /// The new results
    #[arg(value_name = "NEW")]
    new: String,
    /// By how much the mean score may be lower: 0.1
    #[arg(long, value_name = "SCORE", value_parser = parse_share)]
    max_score_drop: Option<f64>,
    /// By how much the mean cost may be higher: 20%
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    max_cost_increase: Option<f64>,
    /// By how much the mean of tokens may be higher: 20%
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    max_tokens_increase: Option<f64>,
    /// By how much the mean duration may be higher: 20%
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    max_duration_increase: Option<f64>,
    /// Also fail on: regressions (a result that passed fails), significant (an assertion passes significantly less often),
    /// missing (runs of the base), unexercised (an assertion that only the base exercised), changes (of any result)
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = FailOn::parse)]
    fail_on: Vec<FailOn>,
    /// What to print: human, markdown, json
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, hide_possible_values = true)]
    format: CompareFormat,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum CompareFormat {
    /// For people
    #[default]
    Human,
    /// A comment on a change
    Markdown,
    /// Data, of the schema `compare.schema.json`
    Json,
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse().ok());
    let number = number.filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "it is no percentage: write 20%".to_owned())
}

/// Compares two sets of runs and prints the result.
pub fn run_compare(arguments: &CompareArgs) -> Result<Exit, CommandError> {
    let base = CompareSide::read_side(&arguments.base)?;
    let new = CompareSide::read_side(&arguments.new)?;
    let gates = CompareGates {
        score_drop: arguments.max_score_drop,
        cost_increase: arguments.max_cost_increase,
        tokens_increase: arguments.max_tokens_increase,
        duration_increase: arguments.max_duration_increase,
        fail_on: arguments.fail_on.clone(),
    };
    let comparison = Comparison::compare_sides(&base, &new, &gates);
    match arguments.format {
        CompareFormat::Human => io::stdout().write_all(comparison.to_human().as_bytes())?,
        CompareFormat::Markdown => io::stdout().write_all(comparison.to_markdown().as_bytes())?,
        CompareFormat::Json => EscapedJson::new(io::stdout()).write_all(comparison.to_json().as_bytes())?,
    }
    if arguments.format != CompareFormat::Human {
        for gate in comparison.gates.iter().filter(|gate| !gate.holds) {
            eprint_redacted(&format!("error: {}: {}\n", gate.gate, gate.why));
        }
    }
    Ok(if comparison.passed { Exit::Holds } else { Exit::Failed })
}
