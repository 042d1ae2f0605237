//! Traces cut into pieces that one thread judges at a time.

use super::exit::Stop;
use super::inputs::{self, Input};
use crate::limits::Limits;
use crate::report::model::Unreadable;
use crate::report::redact_run;
use crate::trace::error::{Problem, ReadError};
use crate::trace::names::Names;
use crate::trace::read::{self, Part, RawRun, Runs};
use crate::trace::run::Run;
use bumpalo::Bump;
use std::path::Path;
use std::sync::Arc;

/// How runs are read.
#[derive(Debug, Clone)]
pub struct Reading {
    /// Sizes and depths.
    pub limits: Limits,
    /// What is odd in a trace is an error.
    pub strict: bool,
    /// The names of a home-grown format (`--map`).
    pub names: Option<Arc<Names>>,
}

/// The names in a file of `--map`.
pub fn names(path: Option<&Path>) -> Result<Option<Arc<Names>>, Stop> {
    let Some(path) = path else { return Ok(None) };
    let shown = path.display();
    let read = std::fs::read_to_string(path)
        .map_err(|error| Stop::usage(format!("`{shown}` cannot be read: {}", super::said(&error)), String::new()))?;
    let names = Names::of_file(&read).map_err(|problem| {
        let help = "write a line for each part, such as `calls = \"steps\"` or `tool = [\"action\", \"fn\"]`";
        Stop::usage(format!("`{shown}` names no parts of a run: {problem}"), help)
    })?;
    Ok(Some(Arc::new(names)))
}

/// A piece of a trace: some runs, or why one cannot be read.
pub struct Document {
    runs: Vec<Result<RawRun, ReadError>>,
    bytes: usize,
}

/// A piece is full with this many bytes.
pub const BATCH: usize = 128 << 10;
/// A piece is full with this many runs.
const RUNS: usize = 256;

/// The pieces of an input, in order.
pub fn documents(input: &Input, reading: &Reading) -> impl Iterator<Item = Document> {
    let path = match input {
        Input::File(path) => path.to_string_lossy().into_owned(),
        Input::Stdin => "-".to_owned(),
    };
    let (mut runs, mut failed) = match Runs::open(&path, &reading.limits) {
        Ok(runs) => (Some(runs), None),
        Err(error) => (None, Some(not_there(input, error))),
    };
    std::iter::from_fn(move || {
        if let Some(error) = failed.take() {
            return Some(Document { runs: vec![Err(error)], bytes: 0 });
        }
        let runs = runs.as_mut()?;
        let mut document = Document { runs: Vec::new(), bytes: 0 };
        while document.bytes < BATCH && document.runs.len() < RUNS {
            let Some(run) = runs.next() else { break };
            document.bytes += run.as_ref().map_or(0, |run| run.text().len());
            document.runs.push(run);
        }
        (!document.runs.is_empty()).then_some(document)
    })
}

/// Why a file cannot be opened; where it is not there, with what may have been meant.
fn not_there(input: &Input, error: ReadError) -> ReadError {
    match input {
        Input::File(path) if !path.exists() => {
            ReadError { message: "there is no such trace".to_owned(), help: inputs::instead(path), ..error }
        }
        _ => error,
    }
}

/// The parts of all inputs in order, for several threads that each take the next one into a buffer of their own.
pub struct Feeder {
    inputs: std::vec::IntoIter<Input>,
    current: Option<Runs>,
    limits: Limits,
    size: usize,
    number: usize,
}

impl Feeder {
    /// The parts of these inputs, of about `size` bytes each.
    pub fn new(inputs: Vec<Input>, reading: &Reading, size: usize) -> Self {
        Self { inputs: inputs.into_iter(), current: None, limits: reading.limits, size, number: 0 }
    }

    /// The next part with its number; `None` at the end.
    pub fn next(&mut self, buffer: &mut Vec<u8>) -> Option<(usize, Part)> {
        loop {
            let part = match &mut self.current {
                Some(runs) => match runs.part(buffer, self.size) {
                    Some(part) => part,
                    None => {
                        self.current = None;
                        continue;
                    }
                },
                None => {
                    let input = self.inputs.next()?;
                    let path = match &input {
                        Input::File(path) => path.to_string_lossy().into_owned(),
                        Input::Stdin => "-".to_owned(),
                    };
                    match Runs::open(&path, &self.limits) {
                        Ok(runs) => {
                            self.current = Some(runs);
                            continue;
                        }
                        Err(error) => Part::Runs(vec![Err(not_there(&input, error))]),
                    }
                }
            };
            let number = self.number;
            self.number += 1;
            return Some((number, part));
        }
    }
}

/// The bytes of all inputs, where that is known.
pub fn length(inputs: &[Input]) -> Option<u64> {
    inputs
        .iter()
        .map(|input| match input {
            Input::File(path) => std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|data| data.len()),
            Input::Stdin => None,
        })
        .sum()
}

impl Document {
    /// The runs, not read yet, and what cannot be read, in order.
    pub fn runs(&self) -> impl Iterator<Item = Result<&RawRun, Unreadable>> {
        self.runs.iter().map(|run| run.as_ref().map_err(Unreadable::of))
    }
}

/// Reads one run.
pub fn parse<'run>(raw: &'run RawRun, arena: &'run Bump, reading: &Reading) -> Result<Run<'run>, Unreadable> {
    let run = read::parse_under(raw, arena, &reading.limits, reading.names.as_deref())
        .map_err(|error| Unreadable::of(&error))?;
    match run.warnings.first().filter(|_| reading.strict) {
        Some(warning) => {
            let problem = Problem { message: redact_run(&run, &warning.message), help: String::new() };
            Err(Unreadable::of(&ReadError::at(&run.source, run.text, warning.offset, problem)))
        }
        None => Ok(run),
    }
}
