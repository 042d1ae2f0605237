//! The table of report formats. A new format needs its own file and a row here. All properties of formats come from this table. The renderers do not
//! import this module.

use super::ReportedCommand;
use super::draw_limits::DrawnLimits;
#[cfg(feature = "pictures")]
use super::json_escape::EscapedJson;
use super::table::ReportTable;
#[cfg(feature = "pictures")]
use super::{Options, Report};
#[cfg(feature = "pictures")]
use std::io;

/// The intended reader of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// People at a terminal: compiler messages are printed beside the report.
    People,
    /// Services that show it to people: compile errors are results in the report, and are also printed.
    Services,
    /// Programs: all messages go into the report itself.
    Programs,
}

/// The notation of a format, which decides how control characters from a run are made harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// Plain text: the renderer replaces control characters with visible ones.
    Text,
    /// JSON: control characters are escaped after the renderer.
    Json,
    /// XML or HTML: the renderer escapes control characters.
    Markup,
    /// Binary data for programs: texts are unchanged.
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

/// The granularity at which a format gets runs. Later variants contain more data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunGranularity {
    /// Counts over many runs.
    Counts,
    /// Counts over many runs, and some runs as examples.
    Examples,
    /// Counts over many runs, and finished lines of `jsonl`.
    Lines,
    /// Each run with all of its results.
    #[default]
    Whole,
}

impl RunGranularity {
    /// Returns the granularity from which two formats can both be made.
    #[must_use]
    pub fn combine_with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Examples, Self::Lines) | (Self::Lines, Self::Examples) => Self::Whole,
            _ => self.max(other),
        }
    }

    /// Returns the granularity that a report about these assertions needs. Examples are not enough if failures are drawn one after the other. They
    /// are also not enough for threshold rules, because runs below the threshold are found when each run is reported.
    #[must_use]
    pub fn fit_report(self, table: &ReportTable, drawn: Option<DrawnLimits>) -> Self {
        let needs_all = || table.has_thresholds() || drawn.is_none_or(|limits| limits.always);
        if self == Self::Examples && needs_all() { Self::Whole } else { self }
    }
}

/// The data that a format needs about runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// True if excerpts of the trace are needed, as wide as the report.
    pub excerpts: bool,
    /// The results whose reasons are needed.
    pub reasons: Reasons,
    /// The granularity of the runs.
    pub runs: RunGranularity,
    /// True if the steps of every run are needed.
    pub steps: bool,
}

impl Needs {
    /// Needs only counts.
    pub const COUNTS: Self =
        Self { excerpts: false, reasons: Reasons::None, runs: RunGranularity::Counts, steps: false };
    /// Needs every result of every run.
    pub const RESULTS: Self =
        Self { excerpts: false, reasons: Reasons::All, runs: RunGranularity::Whole, steps: false };
    /// Needs finished `jsonl` lines with the reasons of all results.
    pub const LINES: Self = Self { excerpts: false, reasons: Reasons::All, runs: RunGranularity::Lines, steps: false };
    /// Needs the data to draw a few failures.
    pub const PICTURES: Self =
        Self { excerpts: true, reasons: Reasons::Drawn, runs: RunGranularity::Examples, steps: false };
    /// Needs every result of every run, and its steps.
    pub const STEPS: Self = Self { steps: true, ..Self::RESULTS };
}

/// A row of the table.
struct FormatRow {
    word: &'static str,
    extension: &'static str,
    notation: Notation,
    reader: Reader,
    commands: &'static [ReportedCommand],
    /// True if `--report-dir` writes it.
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
            /// All text formats.
            pub const ALL: [Format; [$($word),*].len()] = [$(Self::$format),*];

            /// Formats that can only be written to files, not printed.
            pub const FILES: &[Format] = &[$(#[$built] Self::$file),*];

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

        /// Creates a report that writes to `out`.
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

// Columns: description, variant, word on the command line, file extension, notation, reader, commands, `folder` if `--report-dir` writes it, needs,
// and the report type.
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
    // Columns for binary formats: the build condition replaces the notation, and the file extension equals the word.
    @files
    #[cfg(feature = "columns")] "A row per verdict in typed columns." Parquet "parquet" Services [Check Test Lint] RESULTS crate::parquet::ParquetReport;
}

impl Format {
    /// Returns its word on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.row().word
    }

    /// Returns the extension of its files.
    #[must_use]
    pub fn extension(self) -> &'static str {
        self.row().extension
    }

    /// Returns its notation.
    #[must_use]
    pub fn notation(self) -> Notation {
        self.row().notation
    }

    /// Returns its intended reader.
    #[must_use]
    pub fn reader(self) -> Reader {
        self.row().reader
    }

    /// Returns the data that it needs about runs.
    #[must_use]
    pub fn needs(self) -> Needs {
        self.row().needs
    }

    /// Returns the format with this word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().chain(Self::FILES).copied().find(|format| format.as_str() == word)
    }

    /// True if a command supports it. For example, formats of agent runs do not fit tests and lints.
    #[must_use]
    pub fn suits_command(self, command: ReportedCommand) -> bool {
        self.row().commands.contains(&command)
    }

    /// Returns the formats of a command.
    pub fn of_command(command: ReportedCommand) -> impl Iterator<Item = Self> + Clone {
        Self::ALL.into_iter().filter(move |format| format.suits_command(command))
    }

    /// Returns the formats that `--report-dir` writes.
    pub fn folder_formats() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|format| format.row().in_folder)
    }

    /// Returns its file name in the folder of `--report-dir`: `junit.xml`, or `report.json` if word and extension are equal.
    #[must_use]
    pub fn file_name(self) -> String {
        let (word, extension) = (self.as_str(), self.extension());
        format!("{}.{extension}", if word == extension { "report" } else { word })
    }

    /// True if the report itself lists compiler diagnostics. In other formats, compile errors are results.
    #[must_use]
    pub fn lists_diagnostics(self) -> bool {
        self.reader() == Reader::Programs || self == Self::Html
    }

    /// True if programs read it, directly or in a service. Such reports list every violation, up to the limit.
    #[must_use]
    pub fn is_data(self) -> bool {
        self.reader() != Reader::People
    }
}

/// The combined needs of several formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CombinedNeeds {
    /// True if a format draws excerpts of the trace.
    pub excerpts: bool,
    /// The largest set of results whose reasons are needed.
    pub reasons: Reasons,
    /// The granularity of runs from which all formats can be made.
    pub runs: RunGranularity,
    /// True if a format lists all violations.
    pub data: bool,
    /// True if a format shows the steps of runs.
    pub steps: bool,
}

impl CombinedNeeds {
    /// Combines the needs of these formats.
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

    /// True if a format shows reasons.
    #[must_use]
    pub fn needs_findings(&self) -> bool {
        self.reasons != Reasons::None
    }

    /// True if only drawn results need a reason.
    #[must_use]
    pub fn only_drawn(&self) -> bool {
        self.reasons != Reasons::All
    }
}
