//! One side of a comparison: reports in JSON, a folder of them, or a part of a history.

use super::report_file;
use crate::error::HistoryError;
use crate::labels::Labels;
use crate::read::Snapshot;
use averment_base::diagnostic::render::one_line;
use averment_engine::vm::outcome::Status;
use averment_report::change::BlockReport;
use averment_report::change::Standing;
use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};

/// What a side is, in words.
const SIDES: &str = "name a report of `aver check --format json` or `jsonl`, a folder of those, or a history: `runs.db#version=1.2,last=50`";
/// How a file of SQLite begins.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// What an assertion is the same by on both sides: its rule, empty where it has none, and its text. Its id may count its place among others.
pub type Key = (String, String);

/// A run of a side.
#[derive(Debug, Clone, Default)]
pub struct SideRun {
    /// Its name in reports.
    pub name: String,
    /// Its own id, where that is known.
    pub own: Option<String>,
    /// Whether it passed, its score, cost and tokens.
    pub standing: Standing,
    /// How long it took, in milliseconds.
    pub duration: Option<f64>,
    /// Its results: the number of the assertion in [`Side::assertions`], and the status.
    pub results: Vec<(usize, Status)>,
    /// The blocks of a workflow of another system in it, by rule.
    pub blocks: Vec<(String, BlockReport)>,
}

/// A side.
#[derive(Debug, Default)]
pub struct Side {
    /// What it was given as.
    pub name: String,
    /// The assertions of its runs, with their ids.
    pub assertions: IndexMap<Key, String>,
    /// Its runs, in order.
    pub runs: Vec<SideRun>,
    /// What each of its reports says of all of its runs together, and how that is called there.
    pub over_runs: Vec<(String, Vec<(usize, Status)>)>,
    /// The assertions that fail no run, for a statement over all runs speaks for them.
    pub rated: FxHashSet<usize>,
}

impl Side {
    /// Reads a side.
    ///
    /// # Errors
    /// Where it is none, or holds no run.
    pub fn read(text: &str) -> Result<Self, HistoryError> {
        let mut side = Self { name: one_line(text).into_owned(), ..Self::default() };
        let whole = Path::new(text);
        let (path, part) = match text.rsplit_once('#') {
            Some((path, part)) if !whole.exists() => (Path::new(path), Some(part)),
            _ => (whole, None),
        };
        if path.is_dir() {
            for file in reports(path)? {
                report_file::read(&file, &mut side)?;
            }
        } else if is_history(path) {
            side.read_history(path, part.unwrap_or_default())?;
        } else if part.is_some() && path.exists() {
            let message =
                format!("`{}` is no history, of which `#` names a part", one_line(&path.display().to_string()));
            return Err(HistoryError::new(message, SIDES));
        } else {
            report_file::read(path, &mut side)?;
        }
        match side.runs.is_empty() {
            true => Err(HistoryError::new(format!("`{}` holds no run", side.name), SIDES)),
            false => Ok(side),
        }
    }

    /// The number of an assertion; `rated` says that a statement over all runs speaks for it.
    pub(super) fn number(&mut self, rule: Option<String>, id: String, text: String, rated: bool) -> usize {
        let number = self.assertions.insert_full((rule.unwrap_or_default(), text), id).0;
        if rated {
            self.rated.insert(number);
        }
        number
    }

    fn read_history(&mut self, path: &Path, part: &str) -> Result<(), HistoryError> {
        let wrong = |what: String| HistoryError::new(format!("`#{}`: {what}", one_line(part)), SIDES);
        let mut labels = match part {
            "" => Labels::default(),
            part => Labels::parse([part]).map_err(wrong)?,
        };
        let last = match labels.take("last") {
            None => usize::MAX,
            Some(last) => last.parse().map_err(|_| wrong(format!("`last={last}` is no number of runs")))?,
        };
        let snapshot = Snapshot::open(path, &labels)?;
        let mut reader = snapshot.results()?;
        let mut seen = FxHashSet::default();
        // The same run judged again counts as it was judged last.
        let latest = snapshot.runs.iter().rev().filter(|run| seen.insert(run.identity)).take(last);
        let mut latest: Vec<_> = latest.collect();
        latest.reverse();
        for run in latest {
            let mut results = Vec::new();
            for one in reader.of(run)? {
                let Some(known) = snapshot.assertions.get(&one.assertion) else { continue };
                let (rule, id, text) = (known.rule.clone(), known.name.clone(), known.text.clone());
                results.push((self.number(Some(rule), id, text, false), one.status));
            }
            let (score, cost_usd, total_tokens) = (run.score, run.cost, run.tokens);
            self.runs.push(SideRun {
                name: run.name.clone(),
                own: run.own.clone(),
                standing: Standing { passed: Some(run.passed), score, cost_usd, total_tokens },
                duration: run.duration,
                results,
                blocks: Vec::new(),
            });
        }
        Ok(())
    }
}

/// Whether a file begins like one of SQLite. What is no file, or not there, is for whoever reads it to refuse.
fn is_history(path: &Path) -> bool {
    use std::io::Read as _;
    if !path.is_file() {
        return false;
    }
    let mut beginning = [0; SQLITE.len()];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut beginning)).is_ok() && beginning == SQLITE
}

/// The reports in a folder, in the order of their names.
fn reports(folder: &Path) -> Result<Vec<PathBuf>, HistoryError> {
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
