//! One side of a comparison: reports in JSON, a folder of them, or a part of a history.

use super::report_file;
use crate::error::HistoryError;
use crate::labels::RecordingLabels;
use crate::read::HistorySnapshot;
use averment_base::diagnostic::render::one_line;
use averment_engine::vm::outcome::Status;
use averment_report::block::BlockReport;
use averment_report::change::RunMeasures;
use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};

const SIDES: &str = "name a report of `aver check --format json` or `jsonl`, a folder of those, or a history: `runs.db#version=1.2,last=50`";
/// The first bytes of an SQLite file.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// Identifies an assertion on both sides: its rule (may be empty) and text, since ids may contain an index.
pub type AssertionKey = (String, String);

/// A run of a side.
#[derive(Debug, Clone, Default)]
pub struct SideRun {
    /// Its name in reports.
    pub name: String,
    /// Its own id, where that is known.
    pub own: Option<String>,
    /// Pass, score, cost and tokens.
    pub standing: RunMeasures,
    /// The duration in milliseconds.
    pub duration: Option<f64>,
    /// Its results: the number of the assertion in [`CompareSide::assertions`], and the status.
    pub results: Vec<(usize, Status)>,
    /// The blocks of a workflow of another system in it, by rule.
    pub blocks: Vec<(String, BlockReport)>,
}

/// A side.
#[derive(Debug, Default)]
pub struct CompareSide {
    /// The name it was given.
    pub name: String,
    /// The assertions of its runs, with their ids.
    pub assertions: IndexMap<AssertionKey, String>,
    /// Its runs, in order.
    pub runs: Vec<SideRun>,
    /// For each report, its name and its results over all runs.
    pub over_runs: Vec<(String, Vec<(usize, Status)>)>,
    /// The assertions that fail no run, for a statement over all runs speaks for them.
    pub rated: FxHashSet<usize>,
}

impl CompareSide {
    /// Reads a side.
    ///
    /// # Errors
    /// Where it is none, or holds no run.
    pub fn read_side(text: &str) -> Result<Self, HistoryError> {
        let mut side = Self { name: one_line(text).into_owned(), ..Self::default() };
        let whole = Path::new(text);
        let (path, part) = match text.rsplit_once('#') {
            Some((path, part)) if !whole.exists() => (Path::new(path), Some(part)),
            _ => (whole, None),
        };
        if path.is_dir() {
            for file in report_files(path)? {
                report_file::read_report(&file, &mut side)?;
            }
        } else if is_history(path) {
            side.read_history(path, part.unwrap_or_default())?;
        } else if part.is_some() && path.exists() {
            let message =
                format!("`{}` is no history, of which `#` names a part", one_line(&path.display().to_string()));
            return Err(HistoryError::new(message, SIDES));
        } else {
            report_file::read_report(path, &mut side)?;
        }
        match side.runs.is_empty() {
            true => Err(HistoryError::new(format!("`{}` holds no run", side.name), SIDES)),
            false => Ok(side),
        }
    }

    /// The index of an assertion; `rated` says that a statement over all runs decides instead.
    pub(super) fn assertion_number(&mut self, rule: Option<String>, id: String, text: String, rated: bool) -> usize {
        let number = self.assertions.insert_full((rule.unwrap_or_default(), text), id).0;
        if rated {
            self.rated.insert(number);
        }
        number
    }

    fn read_history(&mut self, path: &Path, part: &str) -> Result<(), HistoryError> {
        let wrong = |what: String| HistoryError::new(format!("`#{}`: {what}", one_line(part)), SIDES);
        let mut labels = match part {
            "" => RecordingLabels::default(),
            part => RecordingLabels::parse([part]).map_err(wrong)?,
        };
        let last = match labels.take_label("last") {
            None => usize::MAX,
            Some(last) => last.parse().map_err(|_| wrong(format!("`last={last}` is no number of runs")))?,
        };
        let snapshot = HistorySnapshot::open(path, &labels)?;
        let mut reader = snapshot.result_reader()?;
        let mut seen = FxHashSet::default();
        // The same run judged again counts as it was judged last.
        let latest = snapshot.runs.iter().rev().filter(|run| seen.insert(run.identity)).take(last);
        let mut latest: Vec<_> = latest.collect();
        latest.reverse();
        for run in latest {
            let mut results = Vec::new();
            for one in reader.run_results(run)? {
                let Some(known) = snapshot.assertions.get(&one.assertion) else { continue };
                let (rule, id, text) = (known.rule.clone(), known.name.clone(), known.text.clone());
                results.push((self.assertion_number(Some(rule), id, text, false), one.status));
            }
            let (score, cost_usd, total_tokens) = (run.score, run.cost, run.tokens);
            self.runs.push(SideRun {
                name: run.name.clone(),
                own: run.own.clone(),
                standing: RunMeasures { passed: Some(run.passed), score, cost_usd, total_tokens },
                duration: run.duration,
                results,
                blocks: Vec::new(),
            });
        }
        Ok(())
    }
}

/// True if a file starts like SQLite. Missing files are left to the reader's error.
fn is_history(path: &Path) -> bool {
    use std::io::Read as _;
    if !path.is_file() {
        return false;
    }
    let mut beginning = [0; SQLITE.len()];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut beginning)).is_ok() && beginning == SQLITE
}

fn report_files(folder: &Path) -> Result<Vec<PathBuf>, HistoryError> {
    let name = one_line(&folder.display().to_string()).into_owned();
    let entries = std::fs::read_dir(folder)
        .map_err(|error| HistoryError::new(format!("the folder `{name}` cannot be read: {error}"), SIDES))?;
    let ends = |path: &Path| path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl");
    let mut found: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file() && ends(path)).collect();
    found.sort();
    match found.is_empty() {
        true => Err(HistoryError::new(format!("there is no `.json` and no `.jsonl` file in `{name}`"), SIDES)),
        false => Ok(found),
    }
}
