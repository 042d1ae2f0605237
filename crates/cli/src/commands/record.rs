//! `--record FILE`: records the results of a check into a history.

use super::console::eprint_redacted;
use super::exit::CommandError;
use averment_base::diagnostic::render::one_line;
use averment_base::value::{Value, ValueText};
use averment_engine::bytecode::program::Program;
use averment_history::HistoryError;
use averment_history::labels::RecordingLabels;
use averment_history::record::{HistoryRecorder, RecordingInfo};
use averment_report::model::RunReport;
use averment_report::table::ReportTable;
use averment_traces::time;
use std::path::{Path, PathBuf};

/// Options for recording results into a history.
#[derive(Debug, clap::Args)]
pub struct RecordArguments {
    /// Add every result to a history file, for `aver trust` and `aver compare`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// When the runs took place: 2026-11-23T10:00:00Z [default: the start of their first steps]
    #[arg(long, value_name = "TIME", requires = "record", value_parser = parse_time)]
    recorded_at: Option<i64>,
    /// Labels for these runs: skill=publish,version=1.2
    #[arg(long, value_name = "NAME=VALUE", requires = "record")]
    label: Vec<String>,
}

/// Parses a time; returns milliseconds since 1970.
fn parse_time(text: &str) -> Result<i64, String> {
    let milliseconds = time::to_milliseconds(&Value::Text(ValueText::Plain(text)));
    #[expect(clippy::cast_possible_truncation, reason = "a year that can be written is far within 64 bits")]
    let point = milliseconds.map(|milliseconds| milliseconds.round() as i64);
    point.ok_or_else(|| "it is no time: write 2026-11-23 or 2026-11-23T10:00:00Z".to_owned())
}

/// Parses `--label`.
pub fn parse_labels(given: &[String]) -> Result<RecordingLabels, CommandError> {
    let help = "write `--label skill=publish,version=1.2`";
    RecordingLabels::parse(given.iter().map(String::as_str))
        .map_err(|what| CommandError::usage(format!("`--label`: {what}"), help))
}

impl From<HistoryError> for CommandError {
    fn from(error: HistoryError) -> Self {
        Self::usage(error.message, error.help)
    }
}

/// An open recording into a history.
pub struct RunRecording {
    recorder: HistoryRecorder,
    path: PathBuf,
}

impl RecordArguments {
    /// Returns the history file, if one is named.
    pub fn output_file(&self) -> Option<&Path> {
        self.record.as_deref()
    }

    /// Opens a recording, if one is requested.
    pub fn open_recording(&self, programs: &[Program]) -> Result<Option<RunRecording>, CommandError> {
        let labels = parse_labels(&self.label)?;
        if labels.get("last").is_some() {
            let what = "`--label`: `last` says how many of the latest runs a part of a history has, `runs.db#last=50`";
            return Err(CommandError::usage(what, "give the label another name"));
        }
        let about = RecordingInfo { at: self.recorded_at, labels };
        let Some(path) = &self.record else { return Ok(None) };
        Ok(Some(RunRecording { recorder: HistoryRecorder::open(path, about, programs)?, path: path.clone() }))
    }
}

impl RunRecording {
    /// Adds a run.
    pub fn add_run(&mut self, table: &ReportTable, run: &RunReport) {
        self.recorder.add_run(table, run);
    }

    /// Writes the remaining runs and prints a note; false if some could not be written.
    pub fn finish_recording(&mut self, table: &ReportTable) -> bool {
        let done = self.recorder.finish(table);
        let (words, path) = (self.recorder.in_words(), one_line(&self.path.display().to_string()).into_owned());
        match done {
            Ok(()) => eprint_redacted(&format!("note: {words} recorded in `{path}`\n")),
            Err(HistoryError { message, help }) => {
                let help = if help.is_empty() { String::new() } else { format!("  help: {help}\n") };
                eprint_redacted(&format!("error: {message}; only {words} are recorded\n{help}"));
                return false;
            }
        }
        true
    }
}
