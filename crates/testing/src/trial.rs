//! One test of rules: a run and what it has to come out as, whether it is written in a `test` block or recorded in a case file.

use averment_base::truth::Verdict;
use averment_report::redact;
use averment_traces::error::ReadError;
use averment_traces::read::RawRun;

/// The verdicts that a test can state: all but `skipped`, which says of an assertion that it was not asked.
pub const STATED: [Verdict; 5] = [Verdict::Pass, Verdict::Fail, Verdict::Vacuous, Verdict::Undecided, Verdict::Error];

/// A test.
#[derive(Debug)]
pub struct TestTrial {
    /// Its name: the text behind `test`, or the path of the case file.
    pub name: String,
    /// Where it is stated.
    pub place: FilePlace,
    /// The verdict it states; `None` when it states none, which is why it cannot be run.
    pub expect: Option<Verdict>,
    /// The rules that it speaks of, by number; empty for all.
    pub rules: Vec<u32>,
    /// Tags of its own.
    pub tags: Vec<String>,
    /// Its run.
    pub input: TrialInput,
}

/// A place in a file that people can go to.
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
    /// The start of a file.
    #[must_use]
    pub fn start_of(file: impl Into<String>) -> Self {
        Self { file: file.into(), line: 1, column: 1 }
    }
}

/// The run of a test.
#[derive(Debug)]
pub enum TrialInput {
    /// In normal form, from a `test` block.
    Normal(String),
    /// Recorded, in any supported trace format.
    Recorded(RawRun),
    /// None: the test as written cannot run.
    None(TrialProblem),
}

/// Why a test cannot be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialProblem {
    /// What is wrong.
    pub reason: String,
    /// How to fix it; may be empty.
    pub help: String,
    /// Where, when that is not the place of the test.
    pub place: Option<FilePlace>,
    /// True when a trace could not be read, false when the test states nothing that could be checked.
    pub unreadable: bool,
}

impl TrialProblem {
    /// A test that states nothing that could be checked.
    #[must_use]
    pub fn new(reason: impl Into<String>, help: impl Into<String>) -> Self {
        Self { reason: reason.into(), help: help.into(), place: None, unreadable: false }
    }

    /// A run that cannot be read. A `recorded` one has a place in a file of its own.
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
