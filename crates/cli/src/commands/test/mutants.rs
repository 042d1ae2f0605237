//! `--mutants`: finds small changes of the rules that no test notices.

use crate::commands::console::{ColorChoice, OutputStream, eprint_redacted};
use crate::commands::exit::CommandError;
use crate::commands::inputs::TraceInput;
use crate::commands::rules::readable_folders;
use crate::commands::units;
use averment_base::limits::Limits;
use averment_checker::files::Disk;
use averment_testing::mutants::{self, MutationOptions, MutationReport};
use averment_testing::subject::TestSubject;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Options about mutants.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Mutants")]
#[group(skip)]
pub struct MutantFlags {
    /// Change the rules in many small ways and show each change that no test notices
    #[arg(long)]
    pub mutants: bool,
    /// Try at most this many, spread over each file [default: 5000]
    #[arg(long, value_name = "N", requires = "mutants")]
    mutants_max: Option<NonZeroUsize>,
    /// How many threads try mutants [default: all processors]
    #[arg(long, value_name = "N", requires = "mutants", value_parser = units::parse_threads, allow_negative_numbers = true)]
    threads: Option<NonZeroUsize>,
}

/// The mutants of each subject; `interrupted` is true if Ctrl-C ended the work.
pub struct MutantRun {
    reports: Vec<MutationReport>,
    interrupted: bool,
}

impl MutantFlags {
    /// Tries the mutants of each subject. Expects subjects whose tests all have their expected outcome, because other tests show nothing about a
    /// change. No further mutant starts after `stop` is set.
    pub fn try_all(
        &self,
        subjects: &[TestSubject],
        limits: &Limits,
        read: &[PathBuf],
        stop: &AtomicBool,
    ) -> Result<MutantRun, CommandError> {
        let shown = AtomicUsize::new(0);
        let progress = |done: usize, all: usize| {
            // The line overwrites itself, at most once per percent.
            let step = done * 100 / all.max(1);
            if OutputStream::Err.is_terminal() && shown.swap(step, Ordering::Relaxed) != step {
                eprint_redacted(&format!("\rmutants: {done} of {all}\u{1b}[K"));
            }
        };
        let tried = MutationOptions {
            most: self.mutants_max.map_or(mutants::MOST, NonZeroUsize::get),
            threads: self.threads,
            stop,
            progress: &progress,
        };
        let mut all = Vec::new();
        for subject in subjects {
            let input = subject.path.clone().map_or(TraceInput::Stdin, TraceInput::File);
            let files = Disk::within(readable_folders(&input, read), limits.rule_file_bytes);
            let Some(report) = mutants::run_mutants(subject, &files, limits, tried) else {
                return Err(CommandError::usage(
                    format!("`{}` cannot be compiled from its text", subject.name()),
                    "mutants need the rule files themselves",
                ));
            };
            all.push(report);
        }
        if shown.load(Ordering::Relaxed) > 0 && OutputStream::Err.is_terminal() {
            eprint_redacted("\r\u{1b}[K");
        }
        Ok(MutantRun { reports: all, interrupted: stop.load(Ordering::Relaxed) })
    }
}

impl MutantRun {
    /// Prints the surviving mutants: a report for people, or one line each.
    pub fn print_mutants(
        &self,
        out: &mut dyn Write,
        subjects: &[TestSubject],
        lines: bool,
        color: ColorChoice,
    ) -> io::Result<()> {
        let style = OutputStream::Out.style(color);
        for (subject, report) in subjects.iter().zip(&self.reports) {
            if lines {
                mutants::print_short(out, report, &subject.sources)?;
            } else {
                writeln!(out)?;
                mutants::print_human(out, report, &subject.sources, style)?;
            }
        }
        Ok(())
    }

    /// Returns all results as JSON.
    pub fn mutant_data(&self, subjects: &[TestSubject]) -> Value {
        let files: Vec<Value> = subjects
            .iter()
            .zip(&self.reports)
            .map(|(subject, report)| mutants::mutants_data(report, &subject.sources))
            .collect();
        json!(files)
    }

    /// True if Ctrl-C ended the work early.
    pub fn was_interrupted(&self) -> bool {
        self.interrupted
    }

    /// True if a mutant survived.
    pub fn any_survived(&self) -> bool {
        self.reports.iter().any(|report| report.survived_count() > 0)
    }
}
