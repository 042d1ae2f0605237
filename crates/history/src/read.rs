//! Reads the contents of a history.

use crate::error::HistoryError;
use crate::labels::RecordingLabels;
use crate::record::{SKILL, STATUSES};
use crate::schema::{self, OpenPurpose};
use averment_base::diagnostic::render::one_line;
use averment_engine::vm::outcome::Status;
use rusqlite::{Connection, Row};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// An assertion in one version of its rules.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordedAssertion {
    /// The rule file.
    pub file: String,
    /// The rule; empty if the assertion is in no rule.
    pub rule: String,
    /// The assertion's id.
    pub name: String,
    /// The assertion's text on one line.
    pub text: String,
}

/// Identifies a run across recordings.
pub type RunIdentity = ([u8; 16], u32);

/// A judged run.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRun {
    /// Row id in the table `runs`.
    pub row: i64,
    /// Row id of the recording that the run belongs to.
    pub recording: i64,
    /// Name in reports.
    pub name: String,
    /// The run's own id, if its trace has one.
    pub own: Option<String>,
    /// Identifies a run across recordings: the hash of its bytes, and the number of equal runs before it.
    pub identity: RunIdentity,
    /// Time in milliseconds since 1970. A run without a time gets that of the run recorded before it.
    pub at: Option<i64>,
    /// True if nothing failed the run.
    pub passed: bool,
    /// Score of the run.
    pub score: Option<f64>,
    /// Cost in US dollars.
    pub cost: Option<f64>,
    /// Number of tokens.
    pub tokens: Option<f64>,
    /// Duration in milliseconds.
    pub duration: Option<f64>,
}

/// The result of an assertion in a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordedResult {
    /// Key of the assertion in [`HistorySnapshot::assertions`].
    pub assertion: i64,
    /// Status of the result.
    pub status: Status,
    /// Score of the result.
    pub score: Option<f64>,
}

/// The contents of a history at one moment.
pub struct HistorySnapshot {
    path: PathBuf,
    connection: Connection,
    /// Assertions by row id.
    pub assertions: FxHashMap<i64, RecordedAssertion>,
    /// Runs, oldest first.
    pub runs: Vec<RecordedRun>,
    labels: FxHashMap<i64, RecordingLabels>,
    tools: FxHashMap<i64, Vec<String>>,
    skills: FxHashMap<i64, Vec<String>>,
}

impl HistorySnapshot {
    /// Opens a history and loads the runs whose recordings have all the wanted labels.
    ///
    /// # Errors
    /// If the file is no history, or has runs but none with these labels.
    pub fn open(path: &Path, wanted: &RecordingLabels) -> Result<Self, HistoryError> {
        let connection = schema::open_history(path, OpenPurpose::Read)?;
        let mut snapshot = Self {
            path: path.to_owned(),
            connection,
            assertions: FxHashMap::default(),
            runs: Vec::new(),
            labels: FxHashMap::default(),
            tools: FxHashMap::default(),
            skills: FxHashMap::default(),
        };
        let all = snapshot.load_runs(wanted).map_err(|error| HistoryError::from_sqlite(path, &error))?;
        if all > 0 && snapshot.runs.is_empty() {
            let what = format!("has no run with the label {}", one_line(&wanted.in_words()));
            return Err(HistoryError::for_file(path, &what, &snapshot.known_labels()));
        }
        Ok(snapshot)
    }

    /// Loads the runs with these labels; returns the number of all runs in the history.
    fn load_runs(&mut self, wanted: &RecordingLabels) -> rusqlite::Result<usize> {
        // The transaction stays open until the snapshot is dropped, so that the reader sees no changes.
        self.connection.execute_batch("BEGIN")?;
        let connection = &self.connection;
        let label = |row: &Row<'_>| Ok((row.get(0)?, parse_labels(&row.get::<_, String>(1)?)));
        self.labels = read_rows(connection, "SELECT id, labels FROM recordings", label)?;
        let assertion = |row: &Row<'_>| {
            let (file, rule, name, text) = (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
            Ok((row.get(0)?, RecordedAssertion { file, rule, name, text }))
        };
        self.assertions = read_rows(connection, "SELECT id, file, rule, name, text FROM assertions", assertion)?;
        let mut before = None;
        let mut statement = connection.prepare(
            "SELECT runs.id, recording, names.text, hash, own, at, passed, score, cost, tokens, duration
             FROM runs JOIN names ON names.id = runs.name ORDER BY runs.id",
        )?;
        let found = statement.query_map([], |row| read_run(row, &mut before))?;
        self.runs = found.collect::<rusqlite::Result<_>>()?;
        let mut seen: FxHashMap<(i64, [u8; 16]), u32> = FxHashMap::default();
        for run in &mut self.runs {
            let seen = seen.entry((run.recording, run.identity.0)).or_default();
            run.identity.1 = *seen;
            *seen += 1;
        }
        let (all, labels) = (self.runs.len(), &self.labels);
        self.runs.retain(|run| labels.get(&run.recording).is_some_and(|labels| labels.contains_all(wanted)));
        // The sort is stable: runs with equal times stay in recording order.
        self.runs.sort_by_key(|run| run.at);
        Ok(all)
    }

    /// Loads the tools that each run called and the skills that it used.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn load_used(&mut self) -> Result<(), HistoryError> {
        let read = || {
            let names: FxHashMap<i64, String> =
                read_rows(&self.connection, "SELECT id, text FROM names", |row| Ok((row.get(0)?, row.get(1)?)))?;
            let mut found = [FxHashMap::default(), FxHashMap::default()];
            let mut statement = self.connection.prepare("SELECT run, kind, name FROM used ORDER BY run, kind, name")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let run: i64 = row.get(0)?;
                let kind: i64 = row.get(1)?;
                let name: i64 = row.get(2)?;
                let [tools, skills] = &mut found;
                let of_kind: &mut FxHashMap<i64, Vec<String>> = if kind == SKILL { skills } else { tools };
                of_kind.entry(run).or_default().extend(names.get(&name).cloned());
            }
            Ok(found)
        };
        [self.tools, self.skills] = read().map_err(|error| HistoryError::from_sqlite(&self.path, &error))?;
        Ok(())
    }

    /// Returns the value of a label of the run's recording.
    #[must_use]
    pub fn run_label<'a>(&'a self, run: &RecordedRun, name: &str) -> Option<&'a str> {
        self.labels.get(&run.recording)?.get(name)
    }

    /// Checks that at least one run has a label of this name.
    ///
    /// # Errors
    /// If no run has the label.
    pub(crate) fn require_label(&self, name: &str) -> Result<(), HistoryError> {
        if self.runs.iter().any(|run| self.run_label(run, name).is_some()) {
            return Ok(());
        }
        let what = format!("has no run with a label `{}`", one_line(name));
        Err(HistoryError::for_file(&self.path, &what, &self.known_labels()))
    }

    fn known_labels(&self) -> String {
        let mut known: Vec<&str> = self.labels.values().flat_map(RecordingLabels::names).collect();
        known.sort_unstable();
        known.dedup();
        match known.is_empty() {
            true => "no run was recorded with `--label`".to_owned(),
            false => format!("the labels are: {}", one_line(&known.join(", "))),
        }
    }

    /// Returns the tools that a run called; empty until [`HistorySnapshot::load_used`] was called.
    #[must_use]
    pub fn run_tools(&self, run: &RecordedRun) -> &[String] {
        self.tools.get(&run.row).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the skills that a run used; empty until [`HistorySnapshot::load_used`] was called.
    #[must_use]
    pub fn run_skills(&self, run: &RecordedRun) -> &[String] {
        self.skills.get(&run.row).map(Vec::as_slice).unwrap_or_default()
    }

    /// Prepares the lookup of results by run.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn result_reader(&self) -> Result<ResultReader<'_>, HistoryError> {
        let select = "SELECT assertion, status, score FROM results WHERE run = ? ORDER BY position";
        let sqlite = |error: rusqlite::Error| HistoryError::from_sqlite(&self.path, &error);
        Ok(ResultReader { path: &self.path, statement: self.connection.prepare(select).map_err(sqlite)? })
    }
}

/// Looks up the results of runs.
pub struct ResultReader<'a> {
    path: &'a Path,
    statement: rusqlite::Statement<'a>,
}

impl ResultReader<'_> {
    /// Returns the results of one run, in the order of its report.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn run_results(&mut self, run: &RecordedRun) -> Result<Vec<RecordedResult>, HistoryError> {
        let sqlite = |error: rusqlite::Error| HistoryError::from_sqlite(self.path, &error);
        let found = self.statement.query_map([run.row], |row| {
            let number: i64 = row.get(1)?;
            let status = STATUSES.iter().find(|(known, _)| *known == number).map(|(_, status)| *status);
            let status = status.ok_or(rusqlite::Error::IntegralValueOutOfRange(1, number))?;
            Ok(RecordedResult { assertion: row.get(0)?, status, score: row.get(2)? })
        });
        found.and_then(Iterator::collect).map_err(sqlite)
    }
}

fn parse_labels(text: &str) -> RecordingLabels {
    serde_json::from_str(text).unwrap_or_default()
}

fn read_rows<V>(
    connection: &Connection,
    select: &str,
    row: impl FnMut(&Row<'_>) -> rusqlite::Result<(i64, V)>,
) -> rusqlite::Result<FxHashMap<i64, V>> {
    connection.prepare(select)?.query_map([], row)?.collect()
}

/// Reads a run from a row. `before` is the time of the previously recorded run; it is used if the row has no time.
fn read_run(row: &Row<'_>, before: &mut Option<i64>) -> rusqlite::Result<RecordedRun> {
    *before = row.get::<_, Option<i64>>(5)?.or(*before);
    Ok(RecordedRun {
        row: row.get(0)?,
        recording: row.get(1)?,
        name: one_line(&row.get::<_, String>(2)?).into_owned(),
        identity: (row.get(3)?, 0),
        at: *before,
        own: row.get(4)?,
        passed: row.get(6)?,
        score: row.get(7)?,
        cost: row.get(8)?,
        tokens: row.get(9)?,
        duration: row.get(10)?,
    })
}
