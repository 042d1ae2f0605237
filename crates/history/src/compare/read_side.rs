//! Reads one side of a comparison: a JSON report, a folder of reports, or a part of a history.

use super::report_file;
use super::side::{CompareSide, SideRun};
use crate::error::HistoryError;
use crate::labels::RecordingLabels;
use crate::read::HistorySnapshot;
use averment_base::diagnostic::render::one_line;
use averment_report::change::RunMeasures;
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};

/// Help text that lists the valid forms of a side.
const SIDES: &str = "name a report of `aver check --format json` or `jsonl`, a folder of those, or a history: `runs.db#version=1.2,last=50`";
/// The first bytes of every SQLite file.
const SQLITE: &[u8] = b"SQLite format 3\0";

impl CompareSide {
    /// Reads a side from a path, optionally with a part of a history after `#`.
    ///
    /// # Errors
    /// If the text names no side, or the side has no runs.
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
        // If the same run was judged several times, only the latest judgment counts.
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

/// Returns true if the file begins like a SQLite file. Missing files and non-files return false; the caller reports them.
fn is_history(path: &Path) -> bool {
    use std::io::Read as _;
    if !path.is_file() {
        return false;
    }
    let mut beginning = [0; SQLITE.len()];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut beginning)).is_ok() && beginning == SQLITE
}

/// Returns the reports in a folder, sorted by name.
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
