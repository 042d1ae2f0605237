//! Traces cut into chunks that one thread judges at a time.

use averment_base::diagnostic::suggest::nearest;
use averment_base::limits::Limits;
use averment_report::model::Unreadable;
use averment_traces::error::ReadError;
use averment_traces::read::{FilePart, RawRun, Runs};
pub use averment_traces::reading::Reading;
use std::path::{Path, PathBuf};

/// A file to read, or standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A file.
    File(PathBuf),
    /// Standard input: `-`.
    Stdin,
    /// A run that nobody recorded, as it is made for a check before a run.
    Made {
        /// Its name.
        name: String,
        /// Its text in the normal form.
        text: String,
        /// What its runs are called, one by one; those of no name are called by their lines.
        names: Vec<String>,
    },
}

impl Input {
    /// The name of people for it.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.to_string_lossy().into_owned(),
            Self::Stdin => "<stdin>".to_owned(),
            Self::Made { name, .. } => name.clone(),
        }
    }

    /// What its runs are called, where they have names.
    fn names(&self) -> &[String] {
        match self {
            Self::Made { names, .. } => names,
            Self::File(_) | Self::Stdin => &[],
        }
    }

    /// Its runs, not read yet.
    fn open(&self, limits: &Limits) -> Result<Runs, ReadError> {
        let opened = match self {
            Self::File(path) => Runs::open(&path.to_string_lossy(), limits),
            Self::Stdin => Runs::open("-", limits),
            Self::Made { name, text, .. } => {
                Ok(Runs::new(name.as_str(), std::io::Cursor::new(text.clone().into_bytes()), limits))
            }
        };
        opened.map_err(|error| not_there(self, error))
    }
}

/// A chunk of a trace: some runs, or why one cannot be read.
pub struct Document {
    runs: Vec<Result<RawRun, ReadError>>,
    bytes: usize,
}

/// A chunk is full with this many bytes.
pub const BATCH: usize = 128 << 10;
/// A chunk is full with this many runs.
const RUNS: usize = 256;

/// The chunks of an input, in order.
pub fn documents(input: &Input, reading: &Reading) -> impl Iterator<Item = Document> {
    let (mut runs, mut failed) = match input.open(&reading.limits) {
        Ok(runs) => (Some(runs), None),
        Err(error) => (None, Some(error)),
    };
    let mut names = input.names().to_vec().into_iter();
    std::iter::from_fn(move || {
        if let Some(error) = failed.take() {
            return Some(Document { runs: vec![Err(error)], bytes: 0 });
        }
        let runs = runs.as_mut()?;
        let mut document = Document { runs: Vec::new(), bytes: 0 };
        while document.bytes < BATCH && document.runs.len() < RUNS {
            let Some(mut run) = runs.next() else { break };
            call(&mut run, names.next());
            document.bytes += run.as_ref().map_or(0, RawRun::length);
            document.runs.push(run);
        }
        (!document.runs.is_empty()).then_some(document)
    })
}

/// Gives a run its name.
fn call(run: &mut Result<RawRun, ReadError>, name: Option<String>) {
    if let (Ok(run), Some(name)) = (run, name) {
        run.source.label = Some(name.into());
    }
}

/// Runs that have names, all of them: a line alone does not say what it is called.
fn called(runs: Runs, names: &[String]) -> FilePart {
    let mut names = names.iter().cloned();
    FilePart::Runs(
        runs.map(|mut run| {
            call(&mut run, names.next());
            run
        })
        .collect(),
    )
}

/// Why a file cannot be opened; where it is not there, with what may have been meant.
fn not_there(input: &Input, error: ReadError) -> ReadError {
    match input {
        Input::File(path) if !path.exists() => {
            ReadError { message: "there is no such trace".to_owned(), help: instead(path), ..error }
        }
        _ => error,
    }
}

/// What may have been meant by a file that is not there; empty when nothing is known.
pub fn instead(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .map(|entries| entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect())
        .unwrap_or_default();
    names.sort();
    // A link that leads nowhere is there under the very name.
    if let Ok(to) = std::fs::read_link(path) {
        return format!("it is a link to `{}`, which is not there", to.display());
    }
    match nearest(&name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{}`?", path.with_file_name(near).display()),
        None if !folder.is_dir() => format!("there is no folder `{}`", folder.display()),
        None => String::new(),
    }
}

/// The parts of all inputs in order, for several threads that each take the next one into a buffer of their own.
pub struct Feeder {
    inputs: std::vec::IntoIter<Input>,
    current: Option<Runs>,
    limits: Limits,
    size: usize,
    number: usize,
    /// The current input is standard input.
    waits: bool,
    /// Something is being read. Where it still is when nobody reads, reading has broken down.
    reading: bool,
}

/// Runs that were given and not judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lost {
    /// How many are known.
    pub runs: u64,
    /// Whether there may be more.
    pub more: bool,
}

impl Feeder {
    /// The parts of these inputs, of about `size` bytes each.
    pub fn new(inputs: Vec<Input>, reading: &Reading, size: usize) -> Self {
        Self {
            inputs: inputs.into_iter(),
            current: None,
            limits: reading.limits,
            size,
            number: 0,
            waits: false,
            reading: false,
        }
    }

    /// The next part with its number; `None` at the end.
    pub fn next(&mut self, buffer: &mut Vec<u8>) -> Option<(usize, FilePart)> {
        self.reading = true;
        let next = self.read(buffer);
        self.reading = false;
        next
    }

    /// How many parts were handed out.
    pub fn handed_out(&self) -> usize {
        self.number
    }

    /// Counts what nobody has taken: nothing, unless all threads have broken down. Standard input is not waited for.
    pub fn left(&mut self) -> Lost {
        let waits = self.waits && self.current.is_some();
        let mut lost = Lost { runs: 0, more: std::mem::take(&mut self.reading) || waits };
        if lost.more {
            self.current = None;
        }
        let mut buffer = Vec::new();
        while self.current.is_some() || self.inputs.as_slice().first().is_some_and(|input| *input != Input::Stdin) {
            let Some((_, part)) = self.next(&mut buffer) else { break };
            lost.runs = lost.runs.saturating_add(runs_of(&part, &buffer));
            // What cannot be read, for want of memory perhaps, may hold more than the one that is counted.
            lost.more |= matches!(&part, FilePart::Runs(runs) if runs.iter().any(Result::is_err));
        }
        lost.more |= !self.inputs.as_slice().is_empty();
        lost
    }

    fn read(&mut self, buffer: &mut Vec<u8>) -> Option<(usize, FilePart)> {
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
                    match input.open(&self.limits) {
                        Ok(runs) if !input.names().is_empty() => called(runs, input.names()),
                        Ok(runs) => {
                            (self.current, self.waits) = (Some(runs), input == Input::Stdin);
                            continue;
                        }
                        Err(error) => FilePart::Runs(vec![Err(error)]),
                    }
                }
            };
            let number = self.number;
            self.number += 1;
            return Some((number, part));
        }
    }
}

/// How many runs a part has. Lines are counted here only where a part is not judged: whoever judges them counts them by the way.
pub fn runs_of(part: &FilePart, buffer: &[u8]) -> u64 {
    match part {
        FilePart::Runs(runs) => runs.len() as u64,
        FilePart::Lines(_) => lines_of(buffer),
    }
}

/// How many lines are not blank.
pub fn lines_of(buffer: &[u8]) -> u64 {
    buffer.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count() as u64
}

/// The bytes of all inputs, where that is known.
pub fn length(inputs: &[Input]) -> Option<u64> {
    inputs
        .iter()
        .map(|input| match input {
            Input::File(path) => std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|data| data.len()),
            Input::Stdin => None,
            Input::Made { text, .. } => Some(text.len() as u64),
        })
        .sum()
}

impl Document {
    /// The runs, not read yet, and what cannot be read, in order.
    pub fn runs(&self) -> impl Iterator<Item = Result<&RawRun, Unreadable>> {
        self.runs.iter().map(|run| run.as_ref().map_err(Unreadable::of))
    }
}
