//! Reports: from outcomes to text for people and data for machines.
//!
//! Every format sees the same [`model::RunReport`]s, one run at a time, so that results are printed as they come and memory does not
//! depend on the number of runs. What a format may show of a value (redaction, length) is decided here and nowhere else.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests read files and measure time")
)]

pub mod chunk_totals;
pub mod derivation;
#[cfg(feature = "pictures")]
pub mod diagnostic;
pub mod drawn;
#[cfg(feature = "pictures")]
mod failure;
pub mod gate;
#[cfg(feature = "pictures")]
mod human;
pub mod json;
pub mod jsonl;
pub mod line;
pub mod model;
pub mod profile;
mod proof;
pub mod reading;
mod redact;
#[cfg(feature = "pictures")]
mod short;
mod step_line;
#[cfg(feature = "pictures")]
mod summary;
pub mod table;
pub mod totals;
pub mod unjudged;
#[cfg(feature = "pictures")]
mod unread;
mod value;
pub mod wire;

use averment_base::diagnostic::render::Style;
use gate::Policy;
#[cfg(feature = "pictures")]
pub use human::{drawn_of, unreadable as tell_unreadable};
use model::{RunReport, Unreadable};
pub use redact::of_run as redact_run;
pub use redact::redact;
use std::io;
use table::Table;
use totals::Totals;

macro_rules! formats {
    ($($doc:literal $format:ident $word:literal $reader:ident;)*) => {
        /// The formats of `--format` and `--report`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Format {
            $(#[doc = $doc] $format,)*
        }

        impl Format {
            /// All formats.
            pub const ALL: [Format; [$($word),*].len()] = [$(Self::$format),*];

            /// The word on the command line.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$format => $word,)*
                }
            }

            /// True for formats that programs read: everything that is said goes into the report itself.
            #[must_use]
            pub fn is_data(self) -> bool {
                match self {
                    $(Self::$format => formats!(@ $reader),)*
                }
            }
        }
    };
    (@ people) => { false };
    (@ programs) => { true };
}

// What it holds, its name, its word on the command line, who reads it.
formats! {
    "For people: failures with their places, then a summary." Human "human" people;
    "Counts per rule." Summary "summary" people;
    "One line per non-pass." Short "short" people;
    "One object, written as it goes." Json "json" programs;
    "A header, a line per run, a summary." Jsonl "jsonl" programs;
}

impl Format {
    /// The format of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == word)
    }
}

/// Violations of each failure that are drawn, unless all are asked for.
pub const VIOLATIONS_DRAWN: usize = 3;
/// Violations of each failure that are listed where all are asked for; beyond that they are only counted.
pub const ALL_VIOLATIONS: usize = 10_000;

/// What a report is told beside the runs.
#[derive(Debug, Clone)]
pub struct Options {
    /// How text looks.
    pub style: Style,
    /// What fails a run.
    pub policy: Policy,
    /// How many failures are drawn; `None` for a few, and few of the same assertion.
    pub max_failures: Option<usize>,
    /// How many violations of each failure are drawn.
    pub violations: usize,
    /// What the compiler said, as data; a list.
    pub diagnostics: serde_json::Value,
}

/// What is known at the end.
#[derive(Debug)]
pub struct Ending<'a> {
    /// Counts over all runs.
    pub totals: &'a Totals,
    /// True when everything that was asked for was checked and nothing failed: exit code 0.
    pub passed: bool,
}

/// A format that is written as results come.
pub trait Report {
    /// Called once, before everything else.
    ///
    /// # Errors
    /// What the writer says.
    fn begin(&mut self, table: &Table) -> io::Result<()>;

    /// Called for every run, in order.
    ///
    /// # Errors
    /// What the writer says.
    fn run(&mut self, table: &Table, run: &RunReport) -> io::Result<()>;

    /// Called instead of [`Report::run`] where counts are enough: with those of a chunk of runs.
    fn chunk(&mut self, _: &chunk_totals::ChunkTotals) {}

    /// Called instead of [`Report::run`] with finished lines of `jsonl`.
    ///
    /// # Errors
    /// What the writer says.
    fn lines(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    /// Called for every trace, or line of one, that cannot be read; in order with the runs.
    ///
    /// # Errors
    /// What the writer says.
    fn unreadable(&mut self, what: &Unreadable) -> io::Result<()>;

    /// Hands on what is written so far: called when the next run is waited for.
    ///
    /// # Errors
    /// What the writer says.
    fn flush(&mut self) -> io::Result<()>;

    /// Called once, at the end, also after an interruption.
    ///
    /// # Errors
    /// What the writer says.
    fn end(&mut self, table: &Table, ending: &Ending<'_>) -> io::Result<()>;
}

/// A report of a format into a writer.
#[cfg(feature = "pictures")]
#[must_use]
pub fn open(format: Format, out: Box<dyn io::Write>, options: Options) -> Box<dyn Report> {
    match format {
        Format::Human => Box::new(human::Human::new(out, options)),
        Format::Summary => Box::new(summary::Summary::new(out, options)),
        Format::Short => Box::new(short::Short::new(out, options)),
        Format::Json => Box::new(json::Json::new(out, options)),
        Format::Jsonl => Box::new(jsonl::Jsonl::new(out, options)),
    }
}

#[cfg(test)]
#[cfg(feature = "pictures")]
mod tests;
