//! `aver trace convert TRACE...`: prints runs of any format in the normal form.

use super::super::console::ColorChoice;
use super::super::exit::{CommandError, Exit};
use super::{CallStatusSource, TraceInputs};
use averment_report::json_escape;
use averment_runs::run::Run;
use averment_runs::write_normal::normal_form;
use std::io::{self, Write};

/// Arguments of `trace convert`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver trace convert session.jsonl > run.jsonl
  aver trace convert traces/ --strict | aver check rules/ -

A run that is read again from its normal form is judged alike. Nothing is redacted: what is written is the run itself.")]
pub(super) struct ConvertArgs {
    #[command(flatten)]
    given: TraceInputs,
}

pub(super) fn run_convert(convert: &ConvertArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    convert.given.for_each_run(color, CallStatusSource::AsRecorded, &mut io::BufWriter::new(io::stdout()), write_run)
}

pub(super) fn write_run(run: &Run<'_>, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", json_escape::escape_json(&normal_form(run)))
}
