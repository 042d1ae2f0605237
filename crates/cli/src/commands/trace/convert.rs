//! `aver trace convert TRACE...`: runs of any format in the normal form.

use super::super::console::ColorChoice;
use super::super::exit::{Exit, Stop};
use super::{Given, Told};
use averment_report::escaped;
use averment_runs::run::Run;
use averment_runs::written::normal_form;
use std::io::{self, Write};

/// Arguments of `trace convert`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver trace convert session.jsonl > run.jsonl
  aver trace convert traces/ --strict | aver check rules/ -

A run that is read again from its normal form is judged alike. Nothing is redacted: what is written is the run itself.")]
pub(super) struct Convert {
    #[command(flatten)]
    given: Given,
}

/// Writes runs, one a line.
pub(super) fn run(convert: &Convert, color: ColorChoice) -> Result<Exit, Stop> {
    convert.given.each(color, Told::AsRecorded, &mut io::BufWriter::new(io::stdout()), write)
}

/// Writes a run on one line.
pub(super) fn write(run: &Run<'_>, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", escaped::json(&normal_form(run)))
}
