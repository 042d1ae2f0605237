//! The run that a session looks at, and its neighbours in the same traces.

use crate::commands::exit::Stop;
use crate::commands::inputs::{self, Input};
use crate::commands::left_out::Excluded;
use averment_base::limits::Limits;
use averment_report::model::Unreadable;
use averment_traces::read::{RawRun, Runs};

/// A place in some traces.
#[derive(Debug)]
pub struct Position {
    files: Vec<String>,
    /// The run that is looked at, from 1.
    pub number: usize,
    /// Its text.
    pub run: RawRun,
}

/// Why there is no such run.
#[derive(Debug)]
pub enum Nothing {
    /// The traces have fewer runs.
    Fewer(usize),
    /// It cannot be read.
    Unreadable(Unreadable),
    /// The traces cannot be found.
    Stop(Stop),
}

impl Position {
    /// A run of some traces, by number from 1.
    pub fn open(trace: &str, number: usize, limits: &Limits) -> Result<Self, Nothing> {
        if trace == "-" {
            let stop = Stop::usage("standard input is the session itself", "name a file");
            return Err(Nothing::Stop(stop));
        }
        let inputs = inputs::traces(&[trace.to_owned()], &Excluded::default()).map_err(Nothing::Stop)?;
        let names = inputs.iter().filter_map(|input| match input {
            Input::File(path) => Some(path.to_string_lossy().into_owned()),
            Input::Stdin | Input::Made { .. } => None,
        });
        Self::at(names.collect(), number, limits)
    }

    /// Another run of the same traces.
    pub fn other(&self, number: usize, limits: &Limits) -> Result<Self, Nothing> {
        Self::at(self.files.clone(), number, limits)
    }

    fn at(files: Vec<String>, number: usize, limits: &Limits) -> Result<Self, Nothing> {
        let unreadable = |error: &_| Nothing::Unreadable(Unreadable::of(error));
        let mut count = 0;
        for file in &files {
            for run in Runs::open(file, limits).map_err(|error| unreadable(&error))? {
                count += 1;
                if count == number {
                    let run = run.map_err(|error| unreadable(&error))?;
                    return Ok(Self { files, number, run });
                }
            }
        }
        Err(Nothing::Fewer(count))
    }
}
