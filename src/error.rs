//! Errors in rules, in their settings, and in traces.

use averment_base::diagnostic::{self, render};
use averment_base::source::SourceMap;
use averment_report::model::UnreadableTrace;
use averment_report::table::Location;
use serde::{Serialize, Serializer};
use std::fmt;

/// One diagnostic of the compiler about rules.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The kind of diagnostic, such as `unknown-tool`. `aver explain ID` shows a page about each.
    pub id: &'static str,
    /// The severity: only errors keep rules from compiling.
    pub severity: DiagnosticSeverity,
    /// The problem, in lower case and without a full stop.
    pub message: String,
    /// The suggested fix.
    pub help: Option<String>,
    /// The location.
    pub place: Location,
}

#[doc(inline)]
pub use averment_base::diagnostic::Severity as DiagnosticSeverity;

/// All diagnostics of the compiler, in the order of the files.
///
/// `Display` writes one line per diagnostic, as `aver lint --format short` prints them. `Serialize` writes the list `diagnostics` of `aver check
/// --format json`, with all locations, remarks and fixes.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    /// Diagnostics per rule file, with the sources they refer to.
    said: Vec<(SourceMap, diagnostic::Diagnostics)>,
}

impl Diagnostics {
    /// Returns the diagnostics as plain data.
    pub fn iter(&self) -> impl Iterator<Item = Diagnostic> {
        let one = |sources: &SourceMap, one: &diagnostic::Diagnostic| {
            let at = sources.line_column(one.span);
            Diagnostic {
                id: one.slug.as_str(),
                severity: one.severity,
                message: one.message.clone(),
                help: one.help.clone(),
                place: Location { file: sources.file_name(one.span).to_owned(), line: at.line, column: at.column },
            }
        };
        self.said.iter().flat_map(move |(sources, all)| all.0.iter().map(move |said| one(sources, said)))
    }

    /// True if there are no diagnostics.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.said.iter().all(|(_, all)| all.0.is_empty())
    }

    /// Returns the number of diagnostics.
    #[must_use]
    pub fn len(&self) -> usize {
        self.said.iter().map(|(_, all)| all.0.len()).sum()
    }

    /// Returns true if a diagnostic keeps the rules from compiling.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.said.iter().any(|(_, all)| all.has_errors())
    }

    /// Returns the diagnostics per rule file, with the sources they refer to.
    #[doc(hidden)]
    #[must_use]
    pub fn by_file(&self) -> &[(SourceMap, diagnostic::Diagnostics)] {
        &self.said
    }

    /// Returns mutable access, so that a project can change severities.
    #[doc(hidden)]
    pub fn by_file_mut(&mut self) -> &mut Vec<(SourceMap, diagnostic::Diagnostics)> {
        &mut self.said
    }

    /// Returns the list as JSON in the documented schema.
    #[doc(hidden)]
    #[must_use]
    pub fn data(&self) -> serde_json::Value {
        let lists = self.said.iter().map(|(sources, all)| render::render_json(all, sources));
        lists.flat_map(|list| list.as_array().cloned().unwrap_or_default()).collect()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.said.iter().try_for_each(|(sources, all)| f.write_str(&render::render_short(all, sources)))
    }
}

impl Serialize for Diagnostics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.data().serialize(serializer)
    }
}

/// An error outside of the rules' text, such as an unreadable file, a parameter without a value, or a selected name that no rule has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The problem.
    pub message: String,
    /// The suggested fix; may be empty.
    pub help: String,
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.help.as_str() {
            "" => write!(f, "error: {}", self.message),
            help => write!(f, "error: {}; help: {help}", self.message),
        }
    }
}

/// The reason why there are no rules: their text does not compile, or one of their settings is invalid.
///
/// `Display` writes one line per diagnostic, `FILE:LINE:COLUMN: error[id]: message; help: what to write`.
///
/// ```
/// let error = averment::Rules::from_text("refunds.assert", "nevr refund").unwrap_err();
/// assert!(error.to_string().starts_with("refunds.assert:1:1: error["));
/// let first = error.diagnostics().iter().next().unwrap();
/// assert_eq!((first.place.line, first.place.column), (1, 1));
/// ```
#[derive(Debug, Clone)]
pub struct RulesError {
    diagnostics: Diagnostics,
    problem: Option<Problem>,
}

impl RulesError {
    pub(crate) fn of_rules(diagnostics: Diagnostics) -> Self {
        Self { diagnostics, problem: None }
    }

    pub(crate) fn of_problem(problem: Problem, diagnostics: Diagnostics) -> Self {
        Self { diagnostics, problem: Some(problem) }
    }

    /// Returns the diagnostics of the rules. They include an error unless [`RulesError::problem`] is set.
    #[must_use]
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// Returns the problem with a setting; `None` if the rules do not compile.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref()
    }
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Some(problem) => problem.fmt(f),
            None => f.write_str(self.diagnostics.to_string().trim_end()),
        }
    }
}

impl std::error::Error for RulesError {}

/// A run or a whole trace that cannot be read. Other runs of the trace are not affected.
///
/// `Serialize` writes an element of `unreadable` in `aver check --format json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ReadError {
    /// The name of the trace.
    pub file: String,
    /// The line in it, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The problem. Credentials in quoted text are hidden.
    pub message: String,
    /// The suggested fix; may be empty.
    pub help: String,
}

impl From<UnreadableTrace> for ReadError {
    fn from(UnreadableTrace { file, line, column, message, help, no_trace: _ }: UnreadableTrace) -> Self {
        Self { file, line, column, message, help }
    }
}

impl fmt::Display for ReadError {
    /// Writes `FILE:LINE:COLUMN: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

impl std::error::Error for ReadError {}

/// The reason why a run has no outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// The run cannot be read.
    Read(ReadError),
    /// The evaluation panicked because of a bug in this library. Only in a batch, which continues with the other runs.
    BrokeDown {
        /// The name of the run.
        run: String,
    },
    /// Runs have no outcome because a thread panicked. Only in a batch, in place of the runs or at the end.
    Lost {
        /// Number of runs that are known to be lost.
        runs: u64,
        /// True if more runs may be lost.
        more: bool,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::BrokeDown { run } => write!(f, "the evaluation of {run} broke down; its verdicts are missing"),
            Self::Lost { runs: 0, .. } => f.write_str("runs were not judged, and it is not known how many"),
            Self::Lost { runs, more } => {
                write!(f, "{}{runs} runs were not judged", if *more { "at least " } else { "" })
            }
        }
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) => Some(error),
            Self::BrokeDown { .. } | Self::Lost { .. } => None,
        }
    }
}

impl From<UnreadableTrace> for RunError {
    fn from(error: UnreadableTrace) -> Self {
        Self::Read(error.into())
    }
}
