//! `aver trace show TRACE`: shows runs as rules see them.

use super::super::console::{ColorChoice, OutputStream};
use super::super::exit::{CommandError, Exit};
use super::{CallStatusSource, TraceInputs, fields};
use averment_base::diagnostic::render::{TextColor, paint_text, printable};
use averment_builtins::detect::redacted_start;
use averment_report::redact_run;
use averment_runs::run::{Run, StepKind};
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
pub(super) struct ShowArgs {
    #[command(flatten)]
    given: TraceInputs,
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

pub(super) fn run_show(show: &ShowArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    let style = OutputStream::Out.style(color);
    let mut shown = 0_usize;
    let told = if show.json { CallStatusSource::AsRecorded } else { CallStatusSource::AsJudged };
    show.given.for_each_run(color, told, &mut io::BufWriter::new(io::stdout()), |run, out| {
        if show.json {
            return super::convert::write_run(run, out);
        }
        if shown > 0 {
            writeln!(out)?;
        }
        shown += 1;
        let text = run_text(run, show, style.width);
        let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
        write!(out, "{}\n{rest}", paint_text(style, TextColor::Bold, head))
    })
}

/// Formats a run step by step. Hides everything that reports hide, except in the first line.
fn run_text(run: &Run<'_>, show: &ShowArgs, width: usize) -> String {
    let kinds: &[StepKind] = if show.calls { &[StepKind::Call] } else { &StepKind::ALL };
    let text = printable(&timeline_of(run, kinds, width, redacted_start)).into_owned();
    let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let fields = if show.fields { format!("\n{}", fields::field_places(run)) } else { String::new() };
    format!("{head}\n{}\n{}", format_line(run), redact_run(run, &format!("{rest}{fields}")))
}

fn format_line(run: &Run<'_>) -> String {
    match FORMATS.iter().find(|format| format.name == run.format) {
        Some(format) => format!("format {}: {}", format.name, format.known_by),
        None => format!("format {}", run.format),
    }
}
