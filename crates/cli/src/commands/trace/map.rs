//! `aver trace map FILE`: proposes a `--map` file for a trace.

use super::super::exit::{CommandError, Exit};
use super::super::inputs::TraceInput;
use averment_base::diagnostic::render::printable;
use averment_base::limits::Limits;
use averment_base::value::json;
use averment_builtins::detect;
use averment_bulk::feed::{self, RunReadOptions};
use averment_report::redact::{WithheldTexts, is_long_enough_to_hide, redact};
use averment_traces::names::propose;
use bumpalo::Bump;
use std::io::{self, Write};
use std::path::PathBuf;

/// Arguments of `trace map`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver trace map agent.log.json > map.toml
  aver trace show agent.log.json --map map.toml     what a run is read as

The proposal goes by names and shapes alone: read it before you rely on it.")]
pub(super) struct MapArgs {
    /// A trace in a format of one's own; `-` for standard input
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
}

pub(super) fn run_map(map: &MapArgs) -> Result<Exit, CommandError> {
    let input = if map.trace.as_os_str() == "-" { TraceInput::Stdin } else { TraceInput::File(map.trace.clone()) };
    let reading = RunReadOptions { limits: Limits::default(), ..RunReadOptions::default() };
    let Some(document) = feed::run_chunks(&input, &reading).next() else {
        return Err(CommandError::usage(
            format!("`{}` holds no run", input.display_name()),
            "name a JSON or JSONL file",
        ));
    };
    let mut problem = None;
    for raw in document.raw_runs().take(propose::RUNS) {
        match raw {
            Ok(raw) => match propose_map(raw.run_text()) {
                Ok(proposal) => {
                    io::stdout().lock().write_all(printable(&proposal).as_bytes())?;
                    return Ok(Exit::Holds);
                }
                Err(why) => problem = problem.or(Some(why)),
            },
            Err(unreadable) => problem = problem.or(Some(unreadable.message)),
        }
    }
    let why = problem.unwrap_or_else(|| "it is empty".to_owned());
    Err(CommandError::usage(
        format!("no map is proposed for `{}`: {why}", input.display_name()),
        "a run needs a list of objects that each name a tool; write the map by hand: `calls = \"path.to.list\"`",
    ))
}

/// Proposes a map without secrets, which are detected by their form or by their names.
fn propose_map(text: &str) -> Result<String, String> {
    let arena = Bump::new();
    let mut texts = Vec::new();
    if let Ok(document) = json::parse_recorded(text, 0, &arena, &Limits::default()) {
        let telling = |text: &&str| is_long_enough_to_hide(text);
        detect::visit_named_texts(&document.node.value, &mut |text| {
            texts.extend(Some(text).filter(telling).map(str::to_owned))
        });
    }
    let withheld = WithheldTexts::of_texts(texts);
    let hide = |text: &str| withheld.remove_from(redact(text).into_owned());
    propose::from_text(text, &hide).map(|proposal| hide(&proposal))
}
