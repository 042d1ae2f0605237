//! `--record FILE`: the results of a check go into a history.

use super::console::say;
use super::exit::Stop;
use averment_base::diagnostic::render::one_line;
use averment_base::value::{Text, Value};
use averment_engine::bytecode::program::Program;
use averment_history::HistoryError;
use averment_history::labels::Labels;
use averment_history::record::{About, Recorder};
use averment_report::model::RunReport;
use averment_report::table::Table;
use averment_traces::time;
use std::path::{Path, PathBuf};

/// What is recorded, and of what.
#[derive(Debug, clap::Args)]
pub struct RecordArguments {
    /// Put every result into a history, a file that `aver trust` and `aver compare` read; it is made where there is none
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// When these runs were, such as 2026-11-23T10:00:00Z [default: when the first step of each began, where it records that]
    #[arg(long, value_name = "TIME", requires = "record", value_parser = point)]
    recorded_at: Option<i64>,
    /// What these runs are of, to be told apart later: skill=publish,version=1.2
    #[arg(long, value_name = "NAME=VALUE", requires = "record")]
    label: Vec<String>,
}

/// A point in time, in milliseconds since 1970.
fn point(text: &str) -> Result<i64, String> {
    let milliseconds = time::milliseconds(&Value::Text(Text::Plain(text)));
    #[expect(clippy::cast_possible_truncation, reason = "a year that can be written is far within 64 bits")]
    let point = milliseconds.map(|milliseconds| milliseconds.round() as i64);
    point.ok_or_else(|| "it is no time: write 2026-11-23 or 2026-11-23T10:00:00Z".to_owned())
}

/// What `--label` gives.
pub fn labels(given: &[String]) -> Result<Labels, Stop> {
    let help = "write `--label skill=publish,version=1.2`";
    Labels::parse(given.iter().map(String::as_str)).map_err(|what| Stop::usage(format!("`--label`: {what}"), help))
}

impl From<HistoryError> for Stop {
    fn from(error: HistoryError) -> Self {
        Self::usage(error.message, error.help)
    }
}

/// A recording that is being made.
pub struct Recording {
    recorder: Recorder,
    path: PathBuf,
}

impl RecordArguments {
    /// The file that is written, where there is one.
    pub fn file(&self) -> Option<&Path> {
        self.record.as_deref()
    }

    /// Begins a recording, where one is asked for.
    pub fn open(&self, programs: &[Program]) -> Result<Option<Recording>, Stop> {
        let labels = labels(&self.label)?;
        if labels.get("last").is_some() {
            let what = "`--label`: `last` says how many of the latest runs a part of a history has, `runs.db#last=50`";
            return Err(Stop::usage(what, "give the label another name"));
        }
        let about = About { at: self.recorded_at, labels };
        let Some(path) = &self.record else { return Ok(None) };
        Ok(Some(Recording { recorder: Recorder::open(path, about, programs)?, path: path.clone() }))
    }
}

impl Recording {
    /// Takes a run.
    pub fn add(&mut self, table: &Table, run: &RunReport) {
        self.recorder.add(table, run);
    }

    /// Writes what is left, and says what was recorded; false where not all of it could be.
    pub fn finish(&mut self, table: &Table) -> bool {
        let done = self.recorder.finish(table);
        let (words, path) = (self.recorder.in_words(), one_line(&self.path.display().to_string()).into_owned());
        match done {
            Ok(()) => say(&format!("note: {words} recorded in `{path}`\n")),
            Err(HistoryError { message, help }) => {
                let help = if help.is_empty() { String::new() } else { format!("  help: {help}\n") };
                say(&format!("error: {message}; only {words} are recorded\n{help}"));
                return false;
            }
        }
        true
    }
}
