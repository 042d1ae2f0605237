//! Traces cut into chunks that one thread judges at a time.

use averment_base::diagnostic::suggest::suggest_name;
use averment_base::limits::Limits;
use averment_report::model::UnreadableTrace;
use averment_traces::error::ReadError;
use averment_traces::read::{FilePart, RawRun, TraceRuns};
pub use averment_traces::reading::RunReadOptions;
use averment_traces::scan::ByteIndex;
use std::iter::Peekable;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// A file to read, or standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceInput {
    /// A file.
    File(PathBuf),
    /// Standard input: `-`.
    Stdin,
    /// A trace in memory.
    Made {
        /// Its name.
        name: String,
        /// What it holds, in any format.
        bytes: Vec<u8>,
        /// Names of its runs, in order; a run with an empty name is named by its line.
        names: Vec<String>,
    },
}

impl TraceInput {
    /// The name of people for it.
    pub fn display_name(&self) -> String {
        match self {
            Self::File(path) => path.to_string_lossy().into_owned(),
            Self::Stdin => "<stdin>".to_owned(),
            Self::Made { name, .. } => name.clone(),
        }
    }

    /// True if reading it may wait for whoever writes: standard input, a pipe.
    fn may_wait(&self) -> bool {
        match self {
            Self::Stdin => true,
            Self::File(path) => std::fs::metadata(path).is_ok_and(|data| !data.is_file()),
            Self::Made { .. } => false,
        }
    }

    fn run_names(&self) -> &[String] {
        match self {
            Self::Made { names, .. } => names,
            Self::File(_) | Self::Stdin => &[],
        }
    }

    fn open_runs(&self, limits: &Limits) -> Result<TraceRuns, ReadError> {
        let opened = match self {
            Self::File(path) => TraceRuns::open_file(&path.to_string_lossy(), limits),
            Self::Stdin => TraceRuns::open_file("-", limits),
            Self::Made { name, bytes, .. } => {
                Ok(TraceRuns::new(name.clone(), std::io::Cursor::new(bytes.clone()), limits))
            }
        };
        opened.map_err(|error| not_there(self, error))
    }

    /// The length of a trace in memory.
    fn made_length(&self) -> Option<usize> {
        match self {
            Self::Made { bytes, .. } => Some(bytes.len()),
            Self::File(_) | Self::Stdin => None,
        }
    }
}

/// A chunk of a trace: some runs, or why one cannot be read.
pub struct RunChunk {
    runs: Vec<Result<RawRun, ReadError>>,
    bytes: usize,
}

/// A chunk is full with this many bytes.
pub const BATCH: usize = 128 << 10;
/// Runs per chunk.
const RUNS: usize = 256;

/// The chunks of an input, in order.
pub fn run_chunks(input: &TraceInput, reading: &RunReadOptions) -> impl Iterator<Item = RunChunk> {
    let (mut runs, mut failed) = match input.open_runs(&reading.limits) {
        Ok(runs) => (Some(runs), None),
        Err(error) => (None, Some(error)),
    };
    let mut names = input.run_names().to_vec().into_iter();
    std::iter::from_fn(move || {
        if let Some(error) = failed.take() {
            return Some(RunChunk { runs: vec![Err(error)], bytes: 0 });
        }
        let runs = runs.as_mut()?;
        let mut document = RunChunk { runs: Vec::new(), bytes: 0 };
        while document.bytes < BATCH && document.runs.len() < RUNS {
            let Some(mut run) = runs.next() else { break };
            set_name(&mut run, names.next());
            document.bytes += run.as_ref().map_or(0, RawRun::text_length);
            document.runs.push(run);
        }
        (!document.runs.is_empty()).then_some(document)
    })
}

fn set_name(run: &mut Result<RawRun, ReadError>, name: Option<String>) {
    if let (Ok(run), Some(name)) = (run, name) {
        run.source.label = Some(name.into());
    }
}

/// The error for a file that cannot be opened, with suggestions if it does not exist.
fn not_there(input: &TraceInput, error: ReadError) -> ReadError {
    match input {
        TraceInput::File(path) if !path.exists() => {
            let help = match suggest_path(path) {
                // As `aver init` writes it for runs that are still to come.
                none if none.is_empty() && path.extension().is_none() => {
                    format!("make the folder `{}` and put recorded runs into it, or name another one", path.display())
                }
                none if none.is_empty() => "name a file or a folder with recorded runs".to_owned(),
                help => help,
            };
            ReadError { message: "there is no such trace".to_owned(), help, ..error }
        }
        _ => error,
    }
}

/// A suggestion for a file that does not exist; empty if there is none.
pub fn suggest_path(path: &Path) -> String {
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
    let shown = path.to_string_lossy();
    if shown.contains("://") {
        return format!("only files are read: fetch it first, such as with `curl -sSfO {shown}`");
    }
    match suggest_name(&name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{}`?", path.with_file_name(near).display()),
        None if !folder.is_dir() => format!("there is no folder `{}`", folder.display()),
        None => String::new(),
    }
}

/// Traces in their order; they may be made while others are judged.
pub type TraceInputs = Box<dyn Iterator<Item = TraceInput> + Send>;

/// The parts of all inputs in order, for several threads that each take the next one into a buffer of their own.
pub struct PartFeeder {
    inputs: Peekable<TraceInputs>,
    current: Option<TraceRuns>,
    limits: Limits,
    size: usize,
    number: usize,
    /// Of the text in memory that was read last; its memory is kept.
    index: ByteIndex,
    waits: bool,
    /// True while reading; still true when nobody reads, it means that reading broke down.
    reading: bool,
}

/// Runs that were given and not judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LostRuns {
    /// Number of known runs.
    pub runs: u64,
    /// True if there may be more.
    pub more: bool,
}

impl LostRuns {
    /// Adds others.
    pub fn add_runs(&mut self, other: Self) {
        self.runs = self.runs.saturating_add(other.runs);
        self.more |= other.more;
    }
}

impl PartFeeder {
    /// The parts of these inputs, of about `size` bytes each.
    pub fn new(inputs: TraceInputs, reading: &RunReadOptions, size: usize) -> Self {
        Self {
            inputs: inputs.peekable(),
            current: None,
            limits: reading.limits,
            size,
            number: 0,
            index: ByteIndex::default(),
            waits: false,
            reading: false,
        }
    }

    /// The next part with its number; `None` at the end.
    pub fn next(&mut self, buffer: &mut Vec<u8>) -> Option<(usize, FilePart)> {
        self.reading = true;
        let next = self.read_part(buffer);
        self.reading = false;
        next
    }

    /// How many parts were handed out.
    pub fn handed_out(&self) -> usize {
        self.number
    }

    /// Counts what nobody has taken: nothing, unless all threads have broken down or were stopped. Pipes are not waited for. It reads on
    /// while `go_on` says so.
    pub fn count_untaken(&mut self, go_on: &dyn Fn() -> bool) -> LostRuns {
        let waits = self.waits && self.current.is_some();
        let mut lost = LostRuns { runs: 0, more: std::mem::take(&mut self.reading) || waits };
        if lost.more {
            self.current = None;
        }
        let mut buffer = Vec::new();
        while self.current.is_some() || self.inputs.peek().is_some_and(|input| !input.may_wait()) {
            if !go_on() {
                return LostRuns { more: true, ..lost };
            }
            let Some((_, part)) = self.next(&mut buffer) else { break };
            lost.runs = lost.runs.saturating_add(runs_of(&part, &buffer));
            // What cannot be read, for want of memory perhaps, may hold more than the one that is counted.
            lost.more |= is_broken(&part);
        }
        lost.more |= self.inputs.peek().is_some();
        lost
    }

    /// The runs of a trace in memory and of small ones behind it: to hand each to a thread costs more than to judge it.
    /// They are read one by one, because a line alone does not tell its name, and one at which reading breaks down takes no other with it.
    fn join_made(&mut self, name: String, bytes: Vec<u8>, names: Vec<String>) -> FilePart {
        let (mut runs, mut length) = (Vec::new(), 0_usize);
        let mut next = Some((name, bytes, names));
        while let Some((name, bytes, names)) = next.take() {
            length = length.saturating_add(bytes.len());
            self.cut_made(name, bytes, names, &mut runs);
            let room = self.size.saturating_sub(length);
            let fits = |input: &TraceInput| input.made_length().is_some_and(|length| length <= room);
            if runs.len() < RUNS
                && self.inputs.peek().is_some_and(fits)
                && let Some(TraceInput::Made { name, bytes, names }) = self.inputs.next()
            {
                next = Some((name, bytes, names));
            }
        }
        FilePart::Runs(runs)
    }

    fn cut_made(
        &mut self,
        name: String,
        mut bytes: Vec<u8>,
        names: Vec<String>,
        runs: &mut Vec<Result<RawRun, ReadError>>,
    ) {
        let (before, file) = (runs.len(), name.clone());
        let read = catch_unwind(AssertUnwindSafe(|| {
            let mut names = names.into_iter();
            let mut add_run = |mut run| {
                set_name(&mut run, names.next());
                runs.push(run);
            };
            match RawRun::of_plain_line(&name, &mut bytes, &mut self.index, &self.limits) {
                Some(run) => add_run(Ok(run)),
                None => {
                    TraceRuns::of_bytes(name, bytes, &self.limits).for_each(|run| add_run(run.map(RawRun::as_line)))
                }
            }
        }));
        if read.is_err() {
            runs.truncate(before);
            runs.push(Err(ReadError::of_file(&file, "reading it broke down", "")));
        }
    }

    fn read_part(&mut self, buffer: &mut Vec<u8>) -> Option<(usize, FilePart)> {
        loop {
            let part = match &mut self.current {
                Some(runs) => match runs.next_part(buffer, self.size) {
                    Some(part) => part,
                    None => {
                        self.current = None;
                        continue;
                    }
                },
                None => match self.inputs.next()? {
                    TraceInput::Made { name, bytes, names } if !names.is_empty() || bytes.len() < self.size => {
                        self.join_made(name, bytes, names)
                    }
                    input => match input.open_runs(&self.limits) {
                        Ok(runs) => {
                            (self.current, self.waits) = (Some(runs), input.may_wait());
                            continue;
                        }
                        Err(error) => FilePart::Runs(vec![Err(error)]),
                    },
                },
            };
            let number = self.number;
            self.number += 1;
            return Some((number, part));
        }
    }
}

/// True if something of a part could not be read: it may hold more than one run.
pub fn is_broken(part: &FilePart) -> bool {
    matches!(part, FilePart::Runs(runs) if runs.iter().any(Result::is_err))
}

/// Number of runs of a part. Lines are counted here only for a part that is not judged; judging counts them anyway.
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
pub fn total_length(inputs: &[TraceInput]) -> Option<u64> {
    inputs
        .iter()
        .map(|input| match input {
            TraceInput::File(path) => {
                std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|data| data.len())
            }
            TraceInput::Stdin => None,
            TraceInput::Made { bytes, .. } => Some(bytes.len() as u64),
        })
        .sum()
}

impl RunChunk {
    /// The runs, not read yet, and what cannot be read, in order.
    pub fn raw_runs(&self) -> impl Iterator<Item = Result<&RawRun, UnreadableTrace>> {
        self.runs.iter().map(|run| run.as_ref().map_err(UnreadableTrace::of_error))
    }
}
