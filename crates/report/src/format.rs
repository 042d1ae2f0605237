//! The table of formats. A new one is a file of its own and a row here: whatever asks what a format is or needs asks this table.

use super::ReportedCommand;
#[cfg(feature = "pictures")]
use super::{Options, Report};
#[cfg(feature = "pictures")]
use std::io;

/// Whom a format is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// For people at a terminal: compiler messages are printed beside the report.
    People,
    /// For services that show it to people: compile errors are results in the report and are printed, too.
    Services,
    /// For programs: all messages go into the report itself.
    Programs,
}

/// The results whose reasons a format needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reasons {
    /// No result.
    None,
    /// Results that are drawn.
    Drawn,
    /// Every result that did not pass.
    All,
}

/// The form in which a format gets runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunGranularity {
    /// Each run with all of its results.
    Whole,
    /// Counts over many runs.
    Counts,
    /// Finished lines of `jsonl`.
    Lines,
}

/// The data that a format needs about runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// Pieces of the trace, as wide as the report.
    pub excerpts: bool,
    /// Why results came about.
    pub reasons: Reasons,
    /// The form of the runs.
    pub runs: RunGranularity,
    /// The steps of every run.
    pub steps: bool,
}

impl Needs {
    /// Counts alone.
    pub const COUNTS: Self =
        Self { excerpts: false, reasons: Reasons::None, runs: RunGranularity::Counts, steps: false };
    /// Every result of every run.
    pub const RESULTS: Self =
        Self { excerpts: false, reasons: Reasons::All, runs: RunGranularity::Whole, steps: false };
    /// Finished lines, in which every result has its reason.
    pub const LINES: Self = Self { excerpts: false, reasons: Reasons::All, runs: RunGranularity::Lines, steps: false };
    /// The needs of formats that draw a few failures.
    pub const PICTURES: Self =
        Self { excerpts: true, reasons: Reasons::Drawn, runs: RunGranularity::Whole, steps: false };
    /// Every result of every run, and its steps.
    pub const STEPS: Self = Self { steps: true, ..Self::RESULTS };
}

macro_rules! formats {
    ($($doc:literal $format:ident $word:literal $extension:literal $reader:ident $needs:ident $report:path;)*) => {
        /// The formats of `--format` and `--report`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

            /// One sentence that describes the format.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$format => $doc,)*
                }
            }

            /// The file extension.
            #[must_use]
            pub fn extension(self) -> &'static str {
                match self {
                    $(Self::$format => $extension,)*
                }
            }

            /// Whom it is for.
            #[must_use]
            pub fn reader(self) -> Reader {
                match self {
                    $(Self::$format => Reader::$reader,)*
                }
            }

            /// The data it needs about runs.
            #[must_use]
            pub fn needs(self) -> Needs {
                match self {
                    $(Self::$format => Needs::$needs,)*
                }
            }
        }

        /// A report of a format into a writer.
        #[cfg(feature = "pictures")]
        #[must_use]
        pub fn open(format: Format, out: Box<dyn io::Write>, options: Options) -> Box<dyn Report> {
            match format {
                $(Format::$format => Box::new(<$report>::new(out, options)),)*
            }
        }
    };
}

// What it holds, its name, its word on the command line, how its files end, who reads it, what it needs of runs, what writes it.
formats! {
    "For people: failures with their places, then a summary." Human "human" "txt" People PICTURES crate::human::HumanReport;
    "Counts per rule." Summary "summary" "txt" People COUNTS crate::summary::SummaryReport;
    "One line per non-pass." Short "short" "txt" People RESULTS crate::short::ShortReport;
    "One object, written as it goes." Json "json" "json" Programs RESULTS crate::json::JsonReport;
    "A header, a line per run, a summary." Jsonl "jsonl" "jsonl" Programs LINES crate::jsonl::JsonlReport;
    "One page for a browser: overview, filters, every run step by step." Html "html" "html" Services STEPS crate::html::HtmlReport;
    "A row per verdict, for DuckDB, pandas and spreadsheets." Csv "csv" "csv" Services RESULTS crate::csv::CsvReport;
    "Cases of tests, for CI services." Junit "junit" "xml" Services RESULTS crate::junit::JunitReport;
    "SARIF 2.1.0, for code scanning and its viewers." Sarif "sarif" "sarif" Services RESULTS crate::sarif::SarifReport;
    "Annotations of GitHub Actions." Github "github" "txt" Services RESULTS crate::github::GithubReport;
    "The code quality report of GitLab." Gitlab "gitlab" "json" Services RESULTS crate::gitlab::GitlabReport;
    "The Test Anything Protocol, version 14." Tap "tap" "tap" Services RESULTS crate::tap::TapReport;
    "The same as version 13, for consumers that know no later one." Tap13 "tap13" "tap" Services RESULTS crate::tap::Tap13Report;
    "A comment on a change, or the summary of a step." Markdown "markdown" "md" Services RESULTS crate::markdown::MarkdownReport;
    "Evaluations as spans of OpenTelemetry, in OTLP JSON." Spans "spans" "json" Services STEPS crate::spans::SpansReport;
    "A result per rule, as Assay's metrics print theirs." Assay "assay" "json" Services RESULTS crate::assay::AssayReport;
}

impl Format {
    /// The format of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == word)
    }

    /// True if a command supports it: tests and lints are not agent runs, and tests are not code findings.
    #[must_use]
    pub fn suits_command(self, command: ReportedCommand) -> bool {
        match (command, self) {
            (ReportedCommand::Check, _) => true,
            (ReportedCommand::Lint, Self::Sarif) => true,
            (_, Self::Human | Self::Short | Self::Json | Self::Csv | Self::Junit | Self::Github | Self::Gitlab) => true,
            (_, Self::Tap | Self::Tap13 | Self::Markdown) => true,
            (ReportedCommand::Test | ReportedCommand::Lint, _) => false,
        }
    }

    /// The formats of `--report-dir`.
    pub fn folder_formats() -> impl Iterator<Item = Self> {
        let words = ["json", "csv", "junit", "sarif", "gitlab", "markdown", "html"];
        Self::ALL.into_iter().filter(move |format| words.contains(&format.as_str()))
    }

    /// The name of its file in the folder of `--report-dir`: `junit.xml`, and `report.json` where word and ending are the same.
    #[must_use]
    pub fn file_name(self) -> String {
        let (word, extension) = (self.as_str(), self.extension());
        format!("{}.{extension}", if word == extension { "report" } else { word })
    }

    /// True where the report itself has a place for what the compiler said: elsewhere rules that do not compile are results.
    #[must_use]
    pub fn lists_diagnostics(self) -> bool {
        self.reader() == Reader::Programs || self == Self::Html
    }

    /// True where programs read it, at once or behind a service: every violation is listed, up to the cap.
    #[must_use]
    pub fn is_data(self) -> bool {
        self.reader() != Reader::People
    }
}

/// The combined needs of several formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CombinedNeeds {
    /// Some of them draws pieces of the trace.
    pub excerpts: bool,
    /// The most that one of them says why.
    pub reasons: Reasons,
    /// No one needs whole runs: counts and finished lines are enough.
    pub compact: bool,
    /// Some of them takes lines of `jsonl`.
    pub lines: bool,
    /// Some of them lists all violations.
    pub data: bool,
    /// Some of them shows the steps of runs.
    pub steps: bool,
}

impl CombinedNeeds {
    /// The combined needs of these formats.
    pub fn of_formats(formats: impl Iterator<Item = Format> + Clone) -> Self {
        let needs = || formats.clone().map(Format::needs);
        Self {
            excerpts: needs().any(|needs| needs.excerpts),
            reasons: needs().map(|needs| needs.reasons).max().unwrap_or(Reasons::None),
            compact: needs().all(|needs| needs.runs != RunGranularity::Whole),
            lines: needs().any(|needs| needs.runs == RunGranularity::Lines),
            data: formats.clone().any(Format::is_data),
            steps: needs().any(|needs| needs.steps),
        }
    }

    /// True where some of them says why.
    #[must_use]
    pub fn needs_findings(&self) -> bool {
        self.reasons != Reasons::None
    }

    /// True where only what is drawn needs its reason.
    #[must_use]
    pub fn only_drawn(&self) -> bool {
        self.reasons != Reasons::All
    }
}
