//! The table of formats. A new one is a file of its own and a row here: whatever asks what a format is or needs asks this table. It stands
//! above the renderers that it names; none of them imports it.

use super::ReportedCommand;
use super::draw_limits::DrawnLimits;
#[cfg(feature = "pictures")]
use super::json_escape::EscapedJson;
use super::table::ReportTable;
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

/// How a format is written, which says what keeps the characters of a run from steering whoever looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// Text that people see as it is printed: a renderer shows such characters as stand-ins.
    Text,
    /// JSON, in which they are escaped behind the renderer.
    Json,
    /// XML or HTML: a renderer sees to it.
    Markup,
    /// Bytes for programs: texts are as they are in the run.
    Binary,
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

/// The form in which a format gets runs: the later one holds more of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunGranularity {
    /// Counts over many runs.
    Counts,
    /// Counts over many runs, and those runs that examples are taken from.
    Examples,
    /// Counts over many runs, and finished lines of `jsonl`.
    Lines,
    /// Each run with all of its results.
    #[default]
    Whole,
}

impl RunGranularity {
    /// The form from which formats that need one or the other are both made.
    #[must_use]
    pub fn combine_with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Examples, Self::Lines) | (Self::Lines, Self::Examples) => Self::Whole,
            _ => self.max(other),
        }
    }

    /// The form that reports of these assertions need. Examples are not enough where failures are drawn as they come, nor where a rule has a
    /// threshold: which runs are below it is found where each is reported.
    #[must_use]
    pub fn fit_report(self, table: &ReportTable, drawn: Option<DrawnLimits>) -> Self {
        let needs_all = || table.has_thresholds() || drawn.is_none_or(|limits| limits.always);
        if self == Self::Examples && needs_all() { Self::Whole } else { self }
    }
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
        Self { excerpts: true, reasons: Reasons::Drawn, runs: RunGranularity::Examples, steps: false };
    /// Every result of every run, and its steps.
    pub const STEPS: Self = Self { steps: true, ..Self::RESULTS };
}

/// What is said of a format in the table.
struct FormatRow {
    word: &'static str,
    extension: &'static str,
    notation: Notation,
    reader: Reader,
    commands: &'static [ReportedCommand],
    /// Whether `--report-dir` writes it.
    in_folder: bool,
    needs: Needs,
}

macro_rules! formats {
    ($($doc:literal $format:ident $word:literal $extension:literal $notation:ident $reader:ident [$($command:ident)+]
        [$($folder:ident)?] $needs:ident $report:path;)*
    @files $(#[$built:meta] $file_doc:literal $file:ident $file_word:literal $file_reader:ident [$($file_command:ident)+]
        $file_needs:ident $file_report:path;)*) => {
        /// The formats of `--format` and `--report`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Format {
            $(#[doc = $doc] $format,)*
            $(#[doc = $file_doc] #[$built] $file,)*
        }

        impl Format {
            /// All formats that are text.
            pub const ALL: [Format; [$($word),*].len()] = [$(Self::$format),*];

            /// Formats of files alone, which cannot be printed.
            pub const FILES: &[Format] = &[$(#[$built] Self::$file),*];

            /// Its row.
            fn row(self) -> &'static FormatRow {
                match self {
                    $(Self::$format => &const { FormatRow {
                        word: $word,
                        extension: $extension,
                        notation: Notation::$notation,
                        reader: Reader::$reader,
                        commands: &[$(ReportedCommand::$command),+],
                        in_folder: !<[&str]>::is_empty(&[$(stringify!($folder))?]),
                        needs: Needs::$needs,
                    } },)*
                    $(#[$built] Self::$file => &const { FormatRow {
                        word: $file_word,
                        extension: $file_word,
                        notation: Notation::Binary,
                        reader: Reader::$file_reader,
                        commands: &[$(ReportedCommand::$file_command),+],
                        in_folder: false,
                        needs: Needs::$file_needs,
                    } },)*
                }
            }
        }

        /// A report of a format into a writer.
        #[cfg(feature = "pictures")]
        #[must_use]
        pub fn open(format: Format, out: Box<dyn io::Write>, options: Options) -> Box<dyn Report> {
            let out: Box<dyn io::Write> = match format.row().notation {
                Notation::Json => Box::new(EscapedJson::new(out)),
                Notation::Text | Notation::Markup | Notation::Binary => out,
            };
            match format {
                $(Format::$format => Box::new(<$report>::new(out, options)),)*
                $(#[$built] Format::$file => Box::new(<$file_report>::new(out, options)),)*
            }
        }
    };
}

// What a format holds, its name, its word on the command line, how its files end, how it is written, who reads it, the commands that have it,
// whether it belongs into the folder of `--report-dir`, what it needs of runs, what writes it.
formats! {
    "For people: failures with their places, then a summary." Human "human" "txt" Text People [Check Test Lint] [] PICTURES crate::human::HumanReport;
    "Counts per rule." Summary "summary" "txt" Text People [Check] [] COUNTS crate::summary::SummaryReport;
    "One line per non-pass." Short "short" "txt" Text People [Check Test Lint] [] RESULTS crate::short::ShortReport;
    "One object, written as it goes." Json "json" "json" Json Programs [Check Test Lint] [folder] RESULTS crate::json::JsonReport;
    "A header, a line per run, a summary." Jsonl "jsonl" "jsonl" Json Programs [Check] [] LINES crate::jsonl::JsonlReport;
    "One page for a browser: overview, filters, every run step by step." Html "html" "html" Markup Services [Check] [folder] STEPS crate::html::HtmlReport;
    "A row per verdict, for DuckDB, pandas and spreadsheets." Csv "csv" "csv" Text Services [Check Test Lint] [folder] RESULTS crate::csv::CsvReport;
    "Cases of tests, for CI services." Junit "junit" "xml" Markup Services [Check Test Lint] [folder] RESULTS crate::junit::JunitReport;
    "SARIF 2.1.0, for code scanning and its viewers." Sarif "sarif" "sarif" Json Services [Check Lint] [folder] RESULTS crate::sarif::SarifReport;
    "Annotations of GitHub Actions." Github "github" "txt" Text Services [Check Test Lint] [] RESULTS crate::github::GithubReport;
    "The code quality report of GitLab." Gitlab "gitlab" "json" Json Services [Check Test Lint] [folder] RESULTS crate::gitlab::GitlabReport;
    "The Test Anything Protocol, version 14." Tap "tap" "tap" Text Services [Check Test Lint] [] RESULTS crate::tap::TapReport;
    "The same as version 13, for consumers that know no later one." Tap13 "tap13" "tap" Text Services [Check Test Lint] [] RESULTS crate::tap::Tap13Report;
    "A comment on a change, or the summary of a step." Markdown "markdown" "md" Text Services [Check Test Lint] [folder] RESULTS crate::markdown::MarkdownReport;
    "Evaluations as spans of OpenTelemetry, in OTLP JSON." Spans "spans" "json" Json Services [Check] [] STEPS crate::spans::SpansReport;
    "Lines of a trace of STOP: a span of checks for each phase of a run." StopTrace "stop-trace" "jsonl" Json Services [Check] [] STEPS crate::stop_trace::StopTraceReport;
    "A result per rule, as Assay's metrics print theirs." Assay "assay" "json" Json Services [Check] [] RESULTS crate::assay::AssayReport;
    // The same of formats of files alone, and what they are built with. Their files end as they are called.
    @files
    #[cfg(feature = "columns")] "A row per verdict in typed columns." Parquet "parquet" Services [Check Test Lint] RESULTS crate::parquet::ParquetReport;
}

impl Format {
    /// The word on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.row().word
    }

    /// How a file of it ends.
    #[must_use]
    pub fn extension(self) -> &'static str {
        self.row().extension
    }

    /// How it is written.
    #[must_use]
    pub fn notation(self) -> Notation {
        self.row().notation
    }

    /// Whom it is for.
    #[must_use]
    pub fn reader(self) -> Reader {
        self.row().reader
    }

    /// What it needs of runs.
    #[must_use]
    pub fn needs(self) -> Needs {
        self.row().needs
    }

    /// The format of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().chain(Self::FILES).copied().find(|format| format.as_str() == word)
    }

    /// True if a command supports it: tests and lints are not agent runs, and tests are not code findings.
    #[must_use]
    pub fn suits_command(self, command: ReportedCommand) -> bool {
        self.row().commands.contains(&command)
    }

    /// The formats that a command has.
    pub fn of_command(command: ReportedCommand) -> impl Iterator<Item = Self> + Clone {
        Self::ALL.into_iter().filter(move |format| format.suits_command(command))
    }

    /// The formats of `--report-dir`.
    pub fn folder_formats() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|format| format.row().in_folder)
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
    /// The form of the runs that all of them are made from.
    pub runs: RunGranularity,
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
            runs: needs().map(|needs| needs.runs).fold(RunGranularity::Counts, RunGranularity::combine_with),
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
