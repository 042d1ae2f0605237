//! The selected run of a REPL session, and its neighbors in the same traces.

use crate::commands::exclude::ExcludePatterns;
use crate::commands::exit::CommandError;
use crate::commands::inputs::{self, TraceInput};
use averment_base::limits::Limits;
use averment_report::model::UnreadableTrace;
use averment_traces::read::{RawRun, TraceRuns};

/// A selected run in some traces.
#[derive(Debug)]
pub struct TracePosition {
    files: Vec<String>,
    /// The number of the run, from 1.
    pub number: usize,
    /// The text of the run.
    pub run: RawRun,
}

/// The reason why a run cannot be selected.
#[derive(Debug)]
pub enum NoSuchRun {
    /// The traces contain only this number of runs.
    Fewer(usize),
    /// The trace cannot be read.
    Unreadable(UnreadableTrace),
    /// The traces cannot be found.
    Stop(CommandError),
}

impl TracePosition {
    /// Reads a run of some traces, by its number from 1.
    pub fn open_trace(trace: &str, number: usize, limits: &Limits) -> Result<Self, NoSuchRun> {
        if trace == "-" {
            let stop = CommandError::usage("standard input is already used by the REPL", "name a file");
            return Err(NoSuchRun::Stop(stop));
        }
        let inputs = inputs::trace_inputs(&[trace.to_owned()], &ExcludePatterns::default()).map_err(NoSuchRun::Stop)?;
        let names = inputs.iter().filter_map(|input| match input {
            TraceInput::File(path) => Some(path.to_string_lossy().into_owned()),
            TraceInput::Stdin | TraceInput::Made { .. } => None,
        });
        Self::run_at(names.collect(), number, limits)
    }

    /// Reads another run of the same traces.
    pub fn other_run(&self, number: usize, limits: &Limits) -> Result<Self, NoSuchRun> {
        Self::run_at(self.files.clone(), number, limits)
    }

    fn run_at(files: Vec<String>, number: usize, limits: &Limits) -> Result<Self, NoSuchRun> {
        let unreadable = |error: &_| NoSuchRun::Unreadable(UnreadableTrace::of_error(error));
        let mut count = 0;
        for file in &files {
            for run in TraceRuns::open_file(file, limits).map_err(|error| unreadable(&error))? {
                count += 1;
                if count == number {
                    let run = run.map_err(|error| unreadable(&error))?;
                    return Ok(Self { files, number, run });
                }
            }
        }
        Err(NoSuchRun::Fewer(count))
    }
}
