//! `aver trace show TRACE`: runs as rules see them.

use super::super::console::{ColorChoice, Stream};
use super::super::exit::{Exit, Stop};
use super::{Given, Told, fields};
use averment_base::diagnostic::render::{Ink, paint, printable};
use averment_builtins::detect::beginning;
use averment_report::redact_run;
use averment_runs::run::{Kind, Run};
use averment_runs::timeline::timeline_of;
use averment_traces::adapt::FORMATS;
use std::io::{self, Write};

/// Arguments of `trace show`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver trace show trace.json
  aver trace show runs.jsonl --run 3      the third run of a file
  aver trace show session.jsonl --calls   the calls alone
  aver trace show trace.json --fields     what was read from where
  agent --json | aver trace show -")]
pub(super) struct Show {
    #[command(flatten)]
    given: Given,
    /// Of the steps only calls
    #[arg(long)]
    calls: bool,
    /// For every field of the run, and of the first step of each kind, the place that it was read from
    #[arg(long)]
    fields: bool,
    /// The runs in the normal form, one a line, as `trace convert` writes them
    #[arg(long, conflicts_with_all = ["calls", "fields"])]
    json: bool,
}

/// Shows runs.
pub(super) fn run(show: &Show, color: ColorChoice) -> Result<Exit, Stop> {
    let style = Stream::Out.style(color);
    let mut shown = 0_usize;
    let told = if show.json { Told::AsRecorded } else { Told::AsJudged };
    show.given.each(color, told, &mut io::BufWriter::new(io::stdout()), |run, out| {
        if show.json {
            return super::convert::write(run, out);
        }
        if shown > 0 {
            writeln!(out)?;
        }
        shown += 1;
        let text = shown_of(run, show, style.width);
        let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
        write!(out, "{}\n{rest}", paint(style, Ink::Bold, head))
    })
}

/// A run step by step. The first line names it; what is hidden in reports is hidden in the others.
fn shown_of(run: &Run<'_>, show: &Show, width: usize) -> String {
    let kinds: &[Kind] = if show.calls { &[Kind::Call] } else { &Kind::ALL };
    let text = printable(&timeline_of(run, kinds, width, beginning)).into_owned();
    let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let fields = if show.fields { format!("\n{}", fields::places(run)) } else { String::new() };
    format!("{head}\n{}\n{}", format_of(run), redact_run(run, &format!("{rest}{fields}")))
}

/// The format of a run, and by what it was recognised.
fn format_of(run: &Run<'_>) -> String {
    match FORMATS.iter().find(|format| format.name == run.format) {
        Some(format) => format!("format {}: {}", format.name, format.known_by),
        None => format!("format {}", run.format),
    }
}
