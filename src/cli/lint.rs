//! `aver lint RULES`: compiles rules without a run.

use super::console::{ColorChoice, Stream};
use super::exit::{Exit, Stop};
use super::{inputs, rules};
use crate::limits::Limits;
use clap::ValueEnum;
use std::io::Write as _;
use std::path::PathBuf;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver lint refunds.assert                  one file with everything it imports
  aver lint rules/ --format short           a line per finding, for editors

Exit codes: 0 nothing found, 1 warnings, 3 the rules do not compile.")]
pub struct Arguments {
    /// Rule files, or folders of them; `-` reads standard input
    #[arg(required = true, value_name = "RULES")]
    rules: Vec<PathBuf>,
    /// How findings are printed: human, short (for editors), json
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", hide_possible_values = true)]
    format: Format,
}

/// Formats of the command.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum Format {
    /// With the source, for people
    #[default]
    Human,
    /// A line each: FILE:LINE:COLUMN: severity[slug]: message
    Short,
    /// One JSON object
    Json,
}

/// Compiles the rules and prints what is to be said.
pub fn run(arguments: &Arguments, color: ColorChoice) -> Result<Exit, Stop> {
    let inputs = inputs::rules(&arguments.rules)?;
    if inputs.is_empty() {
        return Err(Stop::usage("there is no `.assert` file in these folders", "name a rule file"));
    }
    let rules = rules::load(&inputs, Limits::default())?;
    let text = match arguments.format {
        Format::Human => rules.drawn(Stream::Out.style(color)),
        Format::Short => rules.lines(),
        Format::Json => format!("{}\n", serde_json::json!({"version": 1, "diagnostics": rules.data()})),
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(match (rules.broken(), rules.has_findings()) {
        (true, _) => Exit::Rules,
        (false, true) => Exit::Failed,
        (false, false) => Exit::Holds,
    })
}
