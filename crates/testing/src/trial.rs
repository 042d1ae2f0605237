//! One test of rules: a run and its expected verdict, written in a `test` block or recorded in a case file.

use averment_base::truth::Verdict;
use averment_report::redact;
use averment_traces::error::ReadError;
use averment_traces::read::RawRun;

/// The verdicts that a test can expect: all except `skipped`, which means that an assertion was not evaluated.
pub const STATED: [Verdict; 5] = [Verdict::Pass, Verdict::Fail, Verdict::Vacuous, Verdict::Undecided, Verdict::Error];

/// A test.
#[derive(Debug)]
pub struct TestTrial {
    /// Its name: the text after `test`, or the path of the case file.
    pub name: String,
    /// Its location.
    pub place: FilePlace,
    /// The expected verdict; `None` if the test names none, so that it cannot be run.
    pub expect: Option<Verdict>,
    /// The rules that it covers, by index; empty for all.
    pub rules: Vec<u32>,
    /// Its own tags.
    pub tags: Vec<String>,
    /// Its run.
    pub input: TrialInput,
}

/// A location in a file, for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlace {
    /// The file as the user named it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl FilePlace {
    /// Returns the start of a file.
    #[must_use]
    pub fn start_of(file: impl Into<String>) -> Self {
        Self { file: file.into(), line: 1, column: 1 }
    }
}

/// The run of a test.
#[derive(Debug)]
pub enum TrialInput {
    /// In the normal form, from a `test` block.
    Normal(String),
    /// Recorded, in any supported trace format.
    Recorded(RawRun),
    /// None: the test as written cannot run.
    None(TrialProblem),
}

/// The reason why a test cannot be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialProblem {
    /// The problem.
    pub reason: String,
    /// A suggestion for fixing it; may be empty.
    pub help: String,
    /// The location, if it is not that of the test.
    pub place: Option<FilePlace>,
    /// True if a trace could not be read; false if the test itself is invalid.
    pub unreadable: bool,
}

impl TrialProblem {
    /// Creates the problem of an invalid test.
    #[must_use]
    pub fn new(reason: impl Into<String>, help: impl Into<String>) -> Self {
        Self { reason: reason.into(), help: help.into(), place: None, unreadable: false }
    }

    /// Creates the problem of an unreadable run. A `recorded` run has a location in its own file.
    #[must_use]
    pub fn unreadable_run(error: &ReadError, recorded: bool) -> Self {
        let place = FilePlace { file: error.file.clone(), line: error.line.max(1), column: error.column.max(1) };
        Self {
            reason: format!("its run cannot be read: {}", redact(&error.message)),
            help: redact(&error.help).into_owned(),
            place: recorded.then_some(place),
            unreadable: true,
        }
    }
}
