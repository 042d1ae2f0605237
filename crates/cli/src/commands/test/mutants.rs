//! `--mutants`: which small changes of the rules no test notices.

use crate::commands::console::{ColorChoice, Stream, say};
use crate::commands::exit::Stop;
use crate::commands::inputs::Input;
use crate::commands::rules::readable;
use crate::commands::units;
use averment_base::limits::Limits;
use averment_engine::check::files::Disk;
use averment_testing::mutants::{self, Report, Tried};
use averment_testing::subject::Subject;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Flags of mutants.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Mutants")]
#[group(skip)]
pub struct MutantFlags {
    /// Change the rules in many small ways and show each change that no test notices
    #[arg(long)]
    pub mutants: bool,
    /// Try at most so many, spread over each file [default: 5000]
    #[arg(long, value_name = "N", requires = "mutants")]
    mutants_max: Option<NonZeroUsize>,
    /// Mutants that are tried at a time [default: all processors]
    #[arg(long, value_name = "N", requires = "mutants", value_parser = units::threads, allow_negative_numbers = true)]
    threads: Option<NonZeroUsize>,
}

/// The mutants of each subject, and whether Ctrl-C ended the work.
pub struct MutantRun {
    reports: Vec<Report>,
    interrupted: bool,
}

impl MutantFlags {
    /// Tries the mutants of subjects whose tests come out as stated: others say nothing about a change. `stop` is set when no further one is to be
    /// started.
    pub fn try_all(
        &self,
        subjects: &[Subject],
        limits: &Limits,
        read: &[PathBuf],
        stop: &AtomicBool,
    ) -> Result<MutantRun, Stop> {
        let shown = AtomicUsize::new(0);
        let progress = |done: usize, all: usize| {
            // A line that is written over; not more often than a person can see.
            let step = done * 100 / all.max(1);
            if Stream::Err.is_terminal() && shown.swap(step, Ordering::Relaxed) != step {
                say(&format!("\rmutants: {done} of {all}\u{1b}[K"));
            }
        };
        let tried = Tried {
            most: self.mutants_max.map_or(mutants::MOST, NonZeroUsize::get),
            threads: self.threads,
            stop,
            progress: &progress,
        };
        let mut all = Vec::new();
        for subject in subjects {
            let input = subject.path.clone().map_or(Input::Stdin, Input::File);
            let files = Disk::within(readable(&input, read), limits.rule_file_bytes);
            let Some(report) = mutants::run(subject, &files, limits, tried) else {
                return Err(Stop::usage(
                    format!("`{}` cannot be compiled from its text", subject.name()),
                    "mutants need the rule files themselves",
                ));
            };
            all.push(report);
        }
        if shown.load(Ordering::Relaxed) > 0 && Stream::Err.is_terminal() {
            say("\r\u{1b}[K");
        }
        Ok(MutantRun { reports: all, interrupted: stop.load(Ordering::Relaxed) })
    }
}

impl MutantRun {
    /// Prints the survivors for people, or a line each.
    pub fn print(&self, out: &mut dyn Write, subjects: &[Subject], lines: bool, color: ColorChoice) -> io::Result<()> {
        let style = Stream::Out.style(color);
        for (subject, report) in subjects.iter().zip(&self.reports) {
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
        let files: Vec<Value> = subjects
            .iter()
            .zip(&self.reports)
            .map(|(subject, report)| mutants::data(report, &subject.sources))
            .collect();
        json!(files)
    }

    /// Whether Ctrl-C ended the work early.
    pub fn interrupted(&self) -> bool {
        self.interrupted
    }

    /// Whether one survived.
    pub fn any_survived(&self) -> bool {
        self.reports.iter().any(|report| report.survived() > 0)
    }
}
