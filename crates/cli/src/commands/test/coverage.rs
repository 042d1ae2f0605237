//! `--coverage`: measures how much of the rules the tests, and traces given with `--on`, exercise.

use crate::commands::console::{ColorChoice, OutputStream, eprint_redacted};
use crate::commands::exclude::ExcludePatterns;
use crate::commands::exit::{CommandError, Exit};
use crate::commands::inputs::{self, TraceInput};
use averment_base::diagnostic::render::{TextColor, TextStyle, one_line, paint_text};
use averment_base::limits::Limits;
use averment_testing::coverage::{self, Coverage, CoverageShare};
use averment_testing::subject::TestSubject;
use averment_testing::trace_runs;
use clap::ValueEnum;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Options about coverage.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Coverage")]
#[group(skip)]
pub struct CoverageFlags {
    /// Show what the tests leave untried; =json and =lcov for machines
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text",
        hide_possible_values = true
    )]
    coverage: Option<CoverageFormat>,
    /// Write coverage to a file; its ending (.json, .info, .lcov) sets the format
    #[arg(long, value_name = "FILE")]
    coverage_out: Option<PathBuf>,
    /// Fail below this share
    #[arg(long, value_name = "PERCENT")]
    coverage_min: Option<String>,
    /// Count recorded runs as well: files, folders, patterns in quotes
    #[arg(long, value_name = "TRACE", num_args = 1..)]
    on: Vec<String>,
}

/// Formats of coverage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CoverageFormat {
    /// For people
    Text,
    /// One JSON object
    Json,
    /// For editors and CI services
    Lcov,
}

/// The requested coverage output.
pub struct CoverageRequest {
    format: CoverageFormat,
    out: Option<PathBuf>,
    least: Option<u64>,
    /// False if only the minimum share is checked.
    shown: bool,
    traces: Vec<String>,
}

impl CoverageFlags {
    /// Returns the traces of `--on`.
    pub fn trace_names(&self) -> &[String] {
        &self.on
    }

    /// Returns the output file for coverage.
    pub fn output_file(&self) -> Option<&Path> {
        self.coverage_out.as_deref()
    }

    /// Returns the requested coverage; `None` if nothing was requested. `least` is the project's minimum share, in tenths of a percent.
    pub fn requested_coverage(&self, least: Option<u64>) -> Result<Option<CoverageRequest>, CommandError> {
        let of_project = least;
        let least = self.coverage_min.as_deref().map(parse_tenths).transpose()?;
        let any = self.coverage.is_some() || self.coverage_out.is_some() || least.is_some();
        if !any && self.on.is_empty() && of_project.is_none() {
            return Ok(None);
        }
        if !any && !self.on.is_empty() {
            return Err(CommandError::usage(
                "`--on` names traces for coverage, which is not asked for",
                "add `--coverage`",
            ));
        }
        let format =
            self.coverage.unwrap_or_else(|| match self.coverage_out.as_ref().and_then(|path| path.extension()) {
                Some(ending) if ending == "json" => CoverageFormat::Json,
                Some(ending) if ending == "info" || ending == "lcov" => CoverageFormat::Lcov,
                _ => CoverageFormat::Text,
            });
        let traces = inputs::trace_inputs(&self.on, &ExcludePatterns::default())?.iter().map(input_name).collect();
        Ok(Some(CoverageRequest {
            format,
            out: self.coverage_out.clone(),
            least: least.or(of_project),
            shown: any,
            traces,
        }))
    }
}

fn input_name(input: &TraceInput) -> String {
    match input {
        TraceInput::File(path) => path.to_string_lossy().into_owned(),
        TraceInput::Stdin => "-".to_owned(),
        TraceInput::Made { name, .. } => name.clone(),
    }
}

/// Parses a share such as `90%`, `90` or `87.5%`; returns tenths of a percent.
fn parse_tenths(text: &str) -> Result<u64, CommandError> {
    let wrong =
        || CommandError::usage(format!("`--coverage-min {text}` is no share"), "write a percentage, such as `90%`");
    let plain = text.trim().trim_end_matches('%');
    let (whole, part) = plain.split_once('.').unwrap_or((plain, "0"));
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let part: u64 = match part.as_bytes() {
        [digit @ b'0'..=b'9'] => u64::from(digit - b'0'),
        _ => return Err(wrong()),
    };
    Some(whole * 10 + part).filter(|tenths| whole <= 100 && *tenths <= 1000).ok_or_else(wrong)
}

/// Coverage while it is measured.
pub struct CoverageRun {
    asked: CoverageRequest,
    /// The coverage of each subject.
    pub all: Vec<Coverage>,
    unreadable: bool,
}

impl CoverageRequest {
    /// Starts measuring, with no coverage yet.
    pub fn start_run(self, subjects: &[TestSubject]) -> CoverageRun {
        let all = subjects.iter().map(|subject| Coverage::new(&subject.program, &subject.prepared)).collect();
        CoverageRun { asked: self, all, unreadable: false }
    }

    /// True if traces were given.
    pub fn has_traces(&self) -> bool {
        !self.traces.is_empty()
    }
}

impl CoverageRun {
    /// Adds the traces. Unreadable traces are reported immediately.
    pub fn read_traces(&mut self, subjects: &[TestSubject], limits: &Limits) {
        let reading = trace_runs::cover_runs(subjects, &mut self.all, &self.asked.traces, limits);
        for error in &reading.unreadable {
            eprint_redacted(&format!("error: {}\n", one_line(&error.to_string())));
        }
        self.unreadable = !reading.unreadable.is_empty();
    }

    /// Returns the coverage as JSON, if it belongs into the report of the tests instead of a file.
    pub fn inline_data(&self, subjects: &[TestSubject]) -> Option<Value> {
        (self.asked.out.is_none() && self.asked.shown).then(|| self.coverage_data(subjects))
    }

    /// True if standard output is reserved for a program that reads coverage, so that the test report must not be printed there.
    pub fn takes_output(&self) -> bool {
        self.asked.shown && self.asked.out.is_none() && self.asked.format != CoverageFormat::Text
    }

    fn coverage_data(&self, subjects: &[TestSubject]) -> Value {
        let files: Vec<Value> = self
            .all
            .iter()
            .zip(subjects)
            .map(|(coverage, subject)| coverage::coverage_data(coverage, &subject.sources))
            .collect();
        json!({"version": 1, "files": files, "total": coverage::share_data(self.total_share())})
    }

    fn total_share(&self) -> CoverageShare {
        coverage::overall_share(&self.all)
    }

    /// Prints coverage, or writes it into its file. `beside` means that standard output already has a report for programs.
    pub fn print_coverage(
        &self,
        out: &mut dyn Write,
        subjects: &[TestSubject],
        beside: bool,
        color: ColorChoice,
    ) -> Result<(), CommandError> {
        match &self.asked.out {
            Some(path) => {
                let mut text = Vec::new();
                self.write_coverage(&mut text, subjects, TextStyle::PLAIN)?;
                crate::commands::draft_file::write_file(path, &text).map_err(|error| {
                    let said = crate::commands::io_error_text(&error);
                    CommandError::usage(format!("`{}` cannot be written: {said}", path.display()), "")
                })?;
            }
            None if beside || !self.asked.shown => {}
            None => self.write_coverage(out, subjects, OutputStream::Out.style(color))?,
        }
        Ok(())
    }

    fn write_coverage(&self, out: &mut dyn Write, subjects: &[TestSubject], style: TextStyle) -> io::Result<()> {
        let all = || self.all.iter().zip(subjects);
        match self.asked.format {
            CoverageFormat::Json => writeln!(out, "{}", self.coverage_data(subjects)),
            CoverageFormat::Lcov => all().try_for_each(|(coverage, subject)| {
                coverage::write_lcov(out, coverage, &subject.program, &subject.sources)
            }),
            CoverageFormat::Text => {
                for (coverage, subject) in all() {
                    writeln!(out)?;
                    coverage::write_coverage(out, coverage, &subject.sources, style)?;
                }
                if self.all.len() > 1 {
                    let total = self.total_share();
                    writeln!(out)?;
                    writeln!(
                        out,
                        "{} of all files: {}",
                        paint_text(style, TextColor::Bold, "coverage"),
                        total.percent_text()
                    )?;
                }
                Ok(())
            }
        }
    }

    /// Returns the exit code of the coverage.
    pub fn coverage_exit(&self, color: ColorChoice) -> Exit {
        let total = self.total_share();
        if self.unreadable {
            return Exit::Trace;
        }
        match self.asked.least {
            Some(least) if total.percent_tenths() < least => {
                let style = OutputStream::Err.style(color);
                let text = format!("coverage is {}, below {}.{}%", total.percent_text(), least / 10, least % 10);
                eprint_redacted(&format!("{}: {text}\n", paint_text(style, TextColor::Red, "failed")));
                Exit::Failed
            }
            _ => Exit::Holds,
        }
    }
}
