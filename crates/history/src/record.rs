//! Writes the results of runs into a history, always whole runs.

use crate::error::HistoryError;
use crate::labels::RecordingLabels;
use crate::schema::{self, OpenPurpose};
use averment_base::words::count_noun;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::outcome::Status;
use averment_report::digest::hash_texts;
use averment_report::model::RunReport;
use averment_report::run_measures::RecordedMeasures;
use averment_report::table::{ReportItem, ReportTable};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// Number of results written in one transaction, rounded up to whole runs.
const BATCH: usize = 8192;
/// Value of the column `used.kind` for a tool.
pub(crate) const TOOL: i64 = 0;
/// Value of the column `used.kind` for a skill.
pub(crate) const SKILL: i64 = 1;

/// SQL condition for assertions without a rule that older versions named by a hash: `refunds:3f9a1c20`.
const OLD_NAME: &str = "rule = '' AND name GLOB '*:[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]'";

/// The stored number of each status. The numbers must not change, because existing histories use them.
pub(crate) const STATUSES: [(i64, Status); 8] = [
    (0, Status::Passed),
    (1, Status::Failed),
    (2, Status::ExpectedFailed),
    (3, Status::UnexpectedPassed),
    (4, Status::Vacuous),
    (5, Status::Undecided),
    (6, Status::Error),
    (7, Status::Skipped),
];

/// Identifies the rules of a program by the hash of their text and parameter values.
#[must_use]
pub fn rules_hash(program: &Program) -> [u8; 16] {
    let params: Vec<String> =
        program.params.iter().map(|param| format!("{}={:?}", param.name, param.default)).collect();
    let texts = program.sources.iter().map(|source| source.text.as_str());
    hash_texts(&texts.chain(params.iter().map(String::as_str)).collect::<Vec<_>>())
}

/// The metadata of a recording.
#[derive(Debug, Clone, Default)]
pub struct RecordingInfo {
    /// Time in milliseconds since 1970; `None` if each run supplies its own time.
    pub at: Option<i64>,
    /// Labels of the recording.
    pub labels: RecordingLabels,
}

/// A recording in progress.
pub struct HistoryRecorder {
    path: PathBuf,
    connection: Connection,
    about: RecordingInfo,
    /// Row id of the recording, once something was written.
    recording: Option<i64>,
    rules: Vec<[u8; 16]>,
    assertions: FxHashMap<usize, i64>,
    names: FxHashMap<String, i64>,
    /// True if the history has assertions with names from older versions.
    has_old_names: bool,
    pending: Vec<PendingRun>,
    pending_results: usize,
    runs: u64,
    results: u64,
    failed: Option<HistoryError>,
}

struct PendingRun {
    name: String,
    passed: bool,
    score: Option<f64>,
    measured: RecordedMeasures,
    results: Vec<(usize, i64, Option<f64>)>,
}

impl HistoryRecorder {
    /// Opens a history, creating it if necessary. `programs` are those of the table of the runs.
    ///
    /// # Errors
    /// If the file is no history or cannot be written.
    pub fn open<'a>(
        path: &Path,
        about: RecordingInfo,
        programs: impl IntoIterator<Item = &'a Program>,
    ) -> Result<Self, HistoryError> {
        let connection = schema::open_history(path, OpenPurpose::Record)?;
        let old_names = format!("SELECT EXISTS (SELECT 1 FROM assertions WHERE {OLD_NAME})");
        let has_old_names = connection.query_row(&old_names, [], |row| row.get(0));
        Ok(Self {
            path: path.to_owned(),
            connection,
            has_old_names: has_old_names.map_err(|error| HistoryError::from_sqlite(path, &error))?,
            about,
            recording: None,
            rules: programs.into_iter().map(rules_hash).collect(),
            assertions: FxHashMap::default(),
            names: FxHashMap::default(),
            pending: Vec::new(),
            pending_results: 0,
            runs: 0,
            results: 0,
            failed: None,
        })
    }

    /// Adds a run. Errors are reported by `finish`, so that a check continues without its history.
    pub fn add_run(&mut self, table: &ReportTable, run: &RunReport) {
        if self.failed.is_some() {
            return;
        }
        let number = |status| STATUSES.iter().find(|(_, one)| *one == status).map_or(0, |(number, _)| *number);
        let results: Vec<_> = run.results.iter().map(|one| (one.item, number(one.status), one.score)).collect();
        self.pending_results += results.len();
        self.pending.push(PendingRun {
            name: run.run.clone(),
            passed: run.passed(),
            score: run.score,
            measured: run.measured.as_deref().cloned().unwrap_or_default(),
            results,
        });
        if self.pending_results >= BATCH || self.pending.len() >= BATCH {
            self.write_pending(table);
        }
    }

    /// Writes the remaining runs.
    ///
    /// # Errors
    /// The first error of the recording. Data written before it stays.
    pub fn finish(&mut self, table: &ReportTable) -> Result<(), HistoryError> {
        self.write_pending(table);
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Describes the recorded data: `12 results of 4 runs`.
    #[must_use]
    pub fn in_words(&self) -> String {
        format!("{} of {}", count_noun(self.results, "result"), count_noun(self.runs, "run"))
    }

    /// Writes the pending runs in one transaction.
    fn write_pending(&mut self, table: &ReportTable) {
        let pending = std::mem::take(&mut self.pending);
        self.pending_results = 0;
        if self.failed.is_some() || pending.is_empty() {
            return;
        }
        match self.insert_runs(table, &pending) {
            Ok(results) => {
                self.runs += pending.len() as u64;
                self.results += results;
            }
            Err(error) => self.failed = Some(HistoryError::from_sqlite(&self.path, &error)),
        }
    }

    fn insert_runs(&mut self, table: &ReportTable, pending: &[PendingRun]) -> rusqlite::Result<u64> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let recording = match self.recording {
            Some(recording) => recording,
            None => {
                let labels = serde_json::to_string(&self.about.labels).unwrap_or_default();
                transaction
                    .execute("INSERT INTO recordings (at, labels) VALUES (?, ?)", params![self.about.at, labels])?;
                transaction.last_insert_rowid()
            }
        };
        let mut rows = KnownRows {
            transaction: &transaction,
            names: &mut self.names,
            assertions: &mut self.assertions,
            has_old_names: self.has_old_names,
        };
        let mut run_row = transaction.prepare(
            "INSERT INTO runs (recording, name, hash, own, at, passed, score, cost, tokens, duration) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        let mut result_row = transaction
            .prepare("INSERT INTO results (run, position, assertion, status, score) VALUES (?, ?, ?, ?, ?)")?;
        let mut used_row = transaction.prepare("INSERT OR IGNORE INTO used (run, kind, name) VALUES (?, ?, ?)")?;
        let mut results = 0;
        for run in pending {
            let measured = &run.measured;
            let at = self.about.at.or(measured.started_ms);
            let name = rows.name_row(&run.name)?;
            let (cost, tokens, duration) = (measured.cost_usd, measured.total_tokens, measured.duration_ms);
            run_row.execute(params![
                recording,
                name,
                measured.hash,
                measured.id,
                at,
                run.passed,
                run.score,
                cost,
                tokens,
                duration
            ])?;
            let id = transaction.last_insert_rowid();
            for (position, (item, status, score)) in (0_i64..).zip(&run.results) {
                let assertion = rows.assertion_row(table, &self.rules, *item)?;
                result_row.execute(params![id, position, assertion, status, score])?;
                results += 1;
            }
            for (kind, names) in [(TOOL, &measured.tools), (SKILL, &measured.skills)] {
                for name in names {
                    used_row.execute(params![id, kind, rows.name_row(name)?])?;
                }
            }
        }
        drop((run_row, result_row, used_row));
        transaction.commit()?;
        self.recording = Some(recording);
        Ok(results)
    }
}

struct KnownRows<'a> {
    transaction: &'a Transaction<'a>,
    names: &'a mut FxHashMap<String, i64>,
    assertions: &'a mut FxHashMap<usize, i64>,
    has_old_names: bool,
}

impl KnownRows<'_> {
    fn name_row(&mut self, text: &str) -> rusqlite::Result<i64> {
        if let Some(id) = self.names.get(text) {
            return Ok(*id);
        }
        self.transaction.execute("INSERT OR IGNORE INTO names (text) VALUES (?)", [text])?;
        let id = self.transaction.query_row("SELECT id FROM names WHERE text = ?", [text], |row| row.get(0))?;
        self.names.insert(text.to_owned(), id);
        Ok(id)
    }

    fn assertion_row(&mut self, table: &ReportTable, rules: &[[u8; 16]], number: usize) -> rusqlite::Result<i64> {
        if let Some(id) = self.assertions.get(&number) {
            return Ok(*id);
        }
        let Some(item) = table.items.get(number) else { return Err(rusqlite::Error::QueryReturnedNoRows) };
        let hash = table.program_of(number).and_then(|program| rules.get(program)).copied().unwrap_or_default();
        let rule = table.rule_of(item).map_or("", |rule| rule.id.as_str());
        let ReportItem { id: name, text, severity, location, .. } = item;
        if self.has_old_names && rule.is_empty() {
            self.rename_old(name, location.file.as_str(), text)?;
        }
        let of_item = params![hash, location.file, rule, name, text, severity.as_str()];
        let insert =
            "INSERT OR IGNORE INTO assertions (rules, file, rule, name, text, severity) VALUES (?, ?, ?, ?, ?, ?)";
        self.transaction.execute(insert, of_item)?;
        let select =
            "SELECT id FROM assertions WHERE rules = ? AND file = ? AND name = ? AND text = ? AND severity = ?";
        let of_item = params![hash, location.file, name, text, severity.as_str()];
        let id = self.transaction.query_row(select, of_item, |row| row.get(0))?;
        self.assertions.insert(number, id);
        Ok(id)
    }

    /// Renames an assertion that an older version named by a hash, so that its earlier results count for its current name. If one text had several
    /// such names, they stay, because they cannot be told apart.
    fn rename_old(&self, name: &str, file: &str, text: &str) -> rusqlite::Result<()> {
        let of_text = format!("{OLD_NAME} AND file = ?2 AND text = ?3");
        let rename = format!(
            "UPDATE OR IGNORE assertions SET name = ?1 WHERE {of_text}
             AND (SELECT count(DISTINCT name) FROM assertions WHERE {of_text}) = 1"
        );
        self.transaction.execute(&rename, params![name, file, text]).map(|_| ())
    }
}
