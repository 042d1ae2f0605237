//! `aver trace map FILE`: a file for `--map`, proposed from a trace.

use super::super::exit::{Exit, Stop};
use super::super::inputs::Input;
use averment_base::diagnostic::render::printable;
use averment_base::limits::Limits;
use averment_base::value::json;
use averment_builtins::detect;
use averment_bulk::feed::{self, Reading};
use averment_report::redact::{Withheld, is_telling, redact};
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
pub(super) struct Map {
    /// A trace in a format of one's own; `-` for standard input
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
}

/// Proposes a map from the first runs of a trace.
pub(super) fn run(map: &Map) -> Result<Exit, Stop> {
    let input = if map.trace.as_os_str() == "-" { Input::Stdin } else { Input::File(map.trace.clone()) };
    let reading = Reading { limits: Limits::default(), ..Reading::default() };
    let Some(document) = feed::documents(&input, &reading).next() else {
        return Err(Stop::usage(format!("`{}` holds no run", input.name()), "name a JSON or JSONL file"));
    };
    let mut problem = None;
    for raw in document.runs().take(propose::RUNS) {
        match raw {
            Ok(raw) => match proposed(raw.text()) {
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
    Err(Stop::usage(
        format!("no map is proposed for `{}`: {why}", input.name()),
        "a run needs a list of objects that each name a tool; write the map by hand: `calls = \"path.to.list\"`",
    ))
}

/// The proposal for a run, without secrets: neither those that are known by their form nor values that their names make secrets.
fn proposed(text: &str) -> Result<String, String> {
    let arena = Bump::new();
    let mut texts = Vec::new();
    if let Ok(document) = json::parse_recorded(text, 0, &arena, &Limits::default()) {
        let telling = |text: &&str| is_telling(text);
        detect::named(&document.node.value, &mut |_, text| texts.extend(Some(text).filter(telling).map(str::to_owned)));
    }
    let withheld = Withheld::of(texts);
    let hide = |text: &str| withheld.without(redact(text).into_owned());
    propose::from_text(text, &hide).map(|proposal| hide(&proposal))
}
