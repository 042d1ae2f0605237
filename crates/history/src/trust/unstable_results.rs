//! Finds unstable results: those that differ between judgments of the same run, and those that passed before and fail now.

use super::CountedAs;
use crate::error::HistoryError;
use crate::read::{HistorySnapshot, RecordedRun, RunIdentity};
use averment_engine::vm::outcome::Status;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Number of runs before the latest recording that must have passed for a regression.
pub const BEFORE: usize = 20;

/// An assertion with different results for the same bytes under the same rules.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlakyResult {
    /// The rule; `None` if the assertion is in no rule.
    pub rule: Option<String>,
    /// The assertion's id.
    pub id: String,
    /// The latest name of the run.
    pub run: String,
    /// Statuses in the order of the judgments, oldest first.
    pub statuses: Vec<Status>,
}

/// An assertion that passed in all counted runs before the latest recording, and does not pass in the latest one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrustRegression {
    /// The rule; `None` if the assertion is in no rule.
    pub rule: Option<String>,
    /// The assertion's id.
    pub id: String,
    /// The assertion's text.
    pub text: String,
    /// Number of earlier runs in which it passed, at most [`BEFORE`].
    pub passed_before: usize,
    /// Runs of the latest recording in which it does not pass, in order.
    pub runs: Vec<String>,
}

pub(super) fn find_flaky(snapshot: &HistorySnapshot, last: usize) -> Result<Vec<FlakyResult>, HistoryError> {
    let mut window = FxHashSet::default();
    for run in snapshot.runs.iter().rev() {
        if window.len() >= last {
            break;
        }
        window.insert(run.identity);
    }
    let mut judged: FxHashMap<RunIdentity, Vec<&RecordedRun>> = FxHashMap::default();
    for run in snapshot.runs.iter().filter(|run| window.contains(&run.identity)) {
        judged.entry(run.identity).or_default().push(run);
    }
    let mut reader = snapshot.result_reader()?;
    let mut found = BTreeMap::new();
    for runs in judged.values_mut().filter(|runs| runs.len() > 1) {
        runs.sort_by_key(|run| run.row);
        let mut statuses: BTreeMap<i64, Vec<Status>> = BTreeMap::new();
        for run in runs.iter() {
            for one in reader.run_results(run)? {
                statuses.entry(one.assertion).or_default().push(one.status);
            }
        }
        let name = runs.last().map(|run| run.name.clone()).unwrap_or_default();
        for (row, statuses) in statuses {
            let distinct: BTreeSet<Status> = statuses.iter().copied().collect();
            let Some(one) = snapshot.assertions.get(&row).filter(|_| distinct.len() > 1) else { continue };
            let rule = Some(one.rule.clone()).filter(|rule| !rule.is_empty());
            let flaky = FlakyResult { rule, id: one.name.clone(), run: name.clone(), statuses };
            found.insert((one, name.clone(), row), flaky);
        }
    }
    Ok(found.into_values().collect())
}

/// Identifies an assertion across versions of its rules by its rule and text.
type RuleTextKey<'a> = (&'a str, &'a str);

#[derive(Default)]
struct FailingAssertion<'a> {
    id: &'a str,
    runs: Vec<String>,
    passed_before: usize,
}

pub(super) fn find_regressions(snapshot: &HistorySnapshot) -> Result<Vec<TrustRegression>, HistoryError> {
    let Some(latest) = snapshot.runs.last().map(|run| run.recording) else { return Ok(Vec::new()) };
    let key = |row: i64| {
        let one = snapshot.assertions.get(&row)?;
        Some(((one.rule.as_str(), one.text.as_str()), one.name.as_str()))
    };
    let mut reader = snapshot.result_reader()?;
    let mut failing: BTreeMap<RuleTextKey<'_>, FailingAssertion<'_>> = BTreeMap::new();
    let mut now = FxHashSet::default();
    for run in snapshot.runs.iter().filter(|run| run.recording == latest) {
        now.insert(run.identity);
        for one in
            reader.run_results(run)?.iter().filter(|one| CountedAs::from_status(one.status) == CountedAs::NotPassed)
        {
            let Some((key, id)) = key(one.assertion) else { continue };
            let failing = failing.entry(key).or_default();
            failing.id = id;
            failing.runs.push(run.name.clone());
        }
    }
    // A run that the latest recording judges again does not count as an earlier run.
    let (mut open, mut found) = (failing, BTreeMap::new());
    for run in snapshot.runs.iter().rev().filter(|run| run.recording != latest) {
        if open.is_empty() {
            break;
        }
        if !now.insert(run.identity) {
            continue;
        }
        for one in reader.run_results(run)? {
            let Some((key, _)) = key(one.assertion) else { continue };
            let Some(failing) = open.get_mut(&key) else { continue };
            match CountedAs::from_status(one.status) {
                CountedAs::Passed => failing.passed_before += 1,
                CountedAs::NotPassed => drop(open.remove(&key)),
                CountedAs::Left => {}
            }
            if open.get(&key).is_some_and(|failing| failing.passed_before >= BEFORE) {
                found.extend(open.remove_entry(&key));
            }
        }
    }
    found.extend(open.into_iter().filter(|(_, failing)| failing.passed_before > 0));
    let regressions = found.into_iter().map(|((rule, text), FailingAssertion { id, mut runs, passed_before })| {
        runs.dedup();
        let rule = Some(rule.to_owned()).filter(|rule| !rule.is_empty());
        TrustRegression { rule, id: id.to_owned(), text: text.to_owned(), passed_before, runs }
    });
    Ok(regressions.collect())
}
