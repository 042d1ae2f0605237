//! `--mutants`: which small changes of the rules no test notices.

use crate::check::files::Disk;
use crate::cli::console::{ColorChoice, Stream};
use crate::cli::exit::Stop;
use crate::limits::Limits;
use crate::testing::mutants::{self, Report, Tried};
use crate::testing::subject::Subject;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::num::NonZeroUsize;

/// Flags of mutants.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Mutants")]
#[group(skip)]
pub struct Flags {
    /// Change the rules in many small ways and show each change that no test notices
    #[arg(long)]
    pub mutants: bool,
    /// Try at most so many, spread over each file
    #[arg(long, value_name = "N", requires = "mutants")]
    mutants_max: Option<NonZeroUsize>,
    /// Mutants that are tried at a time [default: all processors]
    #[arg(long, value_name = "N", requires = "mutants")]
    threads: Option<NonZeroUsize>,
}

/// The mutants of each subject.
pub struct Work(Vec<Report>);

impl Flags {
    /// Tries the mutants of subjects whose tests come out as stated: others say nothing about a change.
    pub fn try_all(&self, subjects: &[Subject], limits: &Limits) -> Result<Work, Stop> {
        let files = Disk { limit: limits.rule_file_bytes };
        let tried = Tried { most: self.mutants_max.map(NonZeroUsize::get), threads: self.threads };
        let mut all = Vec::new();
        for subject in subjects {
            let Some(report) = mutants::run(subject, &files, limits, tried) else {
                return Err(Stop::usage(
                    format!("`{}` cannot be compiled from its text", subject.name()),
                    "mutants need the rule files themselves",
                ));
            };
            all.push(report);
        }
        Ok(Work(all))
    }
}

impl Work {
    /// Prints the survivors for people, or a line each.
    pub fn print(&self, out: &mut dyn Write, subjects: &[Subject], lines: bool, color: ColorChoice) -> io::Result<()> {
        let style = Stream::Out.style(color);
        for (subject, report) in subjects.iter().zip(&self.0) {
            if lines {
                mutants::short(out, report, &subject.sources)?;
            } else {
                writeln!(out)?;
                mutants::human(out, report, &subject.sources, style)?;
            }
        }
        Ok(())
    }

    /// Everything as data.
    pub fn data(&self, subjects: &[Subject]) -> Value {
        let files: Vec<Value> =
            subjects.iter().zip(&self.0).map(|(subject, report)| mutants::data(report, &subject.sources)).collect();
        json!(files)
    }

    /// Whether one survived.
    pub fn any_survived(&self) -> bool {
        self.0.iter().any(|report| report.survived() > 0)
    }
}
