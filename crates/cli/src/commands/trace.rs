//! `aver trace show TRACE`: runs as rules see them.

use super::console::{ColorChoice, Stream};
use super::exit::{Exit, Stop};
use super::inputs;
use averment_base::diagnostic::render::{Ink, paint};
use averment_base::limits::Limits;
use averment_builtins::detect::beginning;
use averment_bulk::feed::{self, Reading};
use averment_report::{redact_run, tell_unreadable};
use averment_runs::run::Run;
use averment_runs::timeline::timeline;
use bumpalo::Bump;
use std::io::{self, Write};

/// Arguments of the command.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: TraceCommand,
}

#[derive(Debug, clap::Subcommand)]
enum TraceCommand {
    /// Shows runs step by step: what they record, what they lack, what was odd while reading
    Show(Show),
}

/// Arguments of `trace show`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver trace show trace.json
  aver trace show runs.jsonl --run 3      the third run of a file
  agent --json | aver trace show -")]
struct Show {
    /// Traces: files, folders, patterns in quotes, `-` for standard input
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<String>,
    /// Show only this run of each file, from 1
    #[arg(long, value_name = "N")]
    run: Option<usize>,
    /// Names of the parts of a run in a format of one's own: a TOML or JSON file
    #[arg(long, value_name = "FILE")]
    map: Option<std::path::PathBuf>,
}

/// Shows runs.
pub fn run(arguments: &Arguments, color: ColorChoice) -> Result<Exit, Stop> {
    let TraceCommand::Show(show) = &arguments.command;
    let traces = inputs::traces(&show.traces)?;
    let reading =
        Reading { limits: Limits::default(), names: inputs::names(show.map.as_deref())?, ..Reading::default() };
    let style = Stream::Out.style(color);
    let mut out = io::BufWriter::new(io::stdout());
    let (mut shown, mut exit, mut arena) = (0, Exit::Holds, Bump::new());
    for trace in &traces {
        let mut number = 0;
        for document in feed::documents(trace, &reading) {
            for raw in document.runs() {
                number += 1;
                if show.run.is_some_and(|wanted| wanted != number) {
                    continue;
                }
                let parsed =
                    raw.and_then(|raw| feed::parse(raw, &arena, &reading).map(|run| shown_of(&run, style.width)));
                match parsed {
                    Ok(text) => {
                        if shown > 0 {
                            writeln!(out)?;
                        }
                        let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
                        write!(out, "{}\n{rest}", paint(style, Ink::Bold, head))?;
                        shown += 1;
                    }
                    Err(unreadable) => {
                        out.flush()?;
                        tell_unreadable(&mut io::stderr(), Stream::Err.style(color), &unreadable)?;
                        exit = Exit::Trace;
                    }
                }
                arena.reset();
            }
        }
    }
    out.flush()?;
    match (shown, exit) {
        (0, Exit::Holds) => Err(Stop::usage("there is no such run in these traces", "")),
        (_, exit) => Ok(exit),
    }
}

/// A run step by step. The first line names it; what is hidden in reports is hidden in the others.
fn shown_of(run: &Run<'_>, width: usize) -> String {
    let text = timeline(run, width, beginning);
    let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
    format!("{head}\n{}", redact_run(run, rest))
}
