//! Groups of runs, and the score of each.

use super::CountedAs;
use crate::error::HistoryError;
use crate::read::{HistorySnapshot, RecordedAssertion, RecordedRun, RunIdentity};
use averment_base::rates::wilson_interval;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Maximum number of points of a trend.
pub(super) const POINTS: usize = 20;
/// Minimum score of [`TrustLabel::Trusted`].
const TRUSTED: f64 = 0.95;
/// Minimum score of [`TrustLabel::Unstable`]; lower scores are unreliable.
const UNSTABLE: f64 = 0.80;

/// Criterion by which runs are grouped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupBy {
    /// The label `skill` of the recording, otherwise each skill that the run used.
    Skill,
    /// The rule; for an assertion without a rule, its name.
    Rule,
    /// Each tool that the run called.
    Tool,
    /// The value of the label with this name.
    Label(String),
}

impl GroupBy {
    /// Parses `skill`, `rule`, `tool` or `label=NAME`.
    ///
    /// # Errors
    /// A message with the valid forms.
    pub fn parse(text: &str) -> Result<Self, String> {
        match (text, text.split_once('=')) {
            ("skill", _) => Ok(Self::Skill),
            ("rule", _) => Ok(Self::Rule),
            ("tool", _) => Ok(Self::Tool),
            (_, Some(("label", name))) if !name.is_empty() => Ok(Self::Label(name.to_owned())),
            _ => Err("it is one of skill, rule, tool, label=NAME".to_owned()),
        }
    }

    /// Returns the criterion as it is written on the command line.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self {
            Self::Skill => "skill".to_owned(),
            Self::Rule => "rule".to_owned(),
            Self::Tool => "tool".to_owned(),
            Self::Label(name) => format!("label={name}"),
        }
    }
}

/// A category of trust scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustLabel {
    /// A score of at least 0.95.
    Trusted,
    /// A score of at least 0.80.
    Unstable,
    /// A score below 0.80.
    Unreliable,
    /// No results counted, so there is no score.
    NoEvidence,
}

impl TrustLabel {
    /// Returns the label of a score.
    #[must_use]
    pub fn from_score(score: Option<f64>) -> Self {
        match score {
            Some(score) if score >= TRUSTED => Self::Trusted,
            Some(score) if score >= UNSTABLE => Self::Unstable,
            Some(_) => Self::Unreliable,
            None => Self::NoEvidence,
        }
    }

    /// Returns the label as text for reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trusted => "Trusted",
            Self::Unstable => "Unstable",
            Self::Unreliable => "Unreliable",
            Self::NoEvidence => "no evidence",
        }
    }
}

impl Serialize for TrustLabel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The latest runs of a group, and their score.
#[derive(Debug, Serialize)]
pub struct TrustGroup {
    /// Name of the group.
    pub name: String,
    /// Number of runs, up to the requested limit.
    pub runs: usize,
    /// Number of passed results.
    pub passed: u64,
    /// Number of results that count.
    pub total: u64,
    /// Number of results that do not count: vacuous and skipped ones.
    pub not_counted: u64,
    /// STOP's trust score: passed results divided by all that count; `None` if none count.
    pub score: Option<f64>,
    /// The Wilson interval of the score, with a confidence of 95%.
    pub interval: Option<(f64, f64)>,
    /// Label of the score.
    pub label: TrustLabel,
    /// Scores of consecutive parts of the runs, oldest first.
    pub trend: Vec<Option<f64>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct ResultCounts {
    passed: u64,
    total: u64,
    left: u64,
}

impl ResultCounts {
    fn add_result(&mut self, counted: CountedAs) {
        match counted {
            CountedAs::Passed => (self.passed, self.total) = (self.passed + 1, self.total + 1),
            CountedAs::NotPassed => self.total += 1,
            CountedAs::Left => self.left += 1,
        }
    }

    fn add_counts(self, other: &Self) -> Self {
        Self { passed: self.passed + other.passed, total: self.total + other.total, left: self.left + other.left }
    }

    fn score(self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "counts of results are far below what a double holds exactly")]
        (self.total > 0).then(|| self.passed as f64 / self.total as f64)
    }
}

#[derive(Default)]
struct GroupRuns {
    seen: FxHashSet<RunIdentity>,
    runs: Vec<ResultCounts>,
}

impl GroupRuns {
    /// Adds a run, unless the group is full or has a later judgment of the run. Returns true if it was added.
    fn accept_run(&mut self, run: &RecordedRun, last: usize) -> bool {
        self.runs.len() < last && self.seen.insert(run.identity)
    }

    fn into_group(self, name: String) -> TrustGroup {
        let ResultCounts { passed, total, left } =
            self.runs.iter().fold(ResultCounts::default(), ResultCounts::add_counts);
        let score = ResultCounts { passed, total, left }.score();
        TrustGroup {
            name,
            runs: self.runs.len(),
            passed,
            total,
            not_counted: left,
            score,
            interval: wilson_interval(passed, total, 0.95),
            label: TrustLabel::from_score(score),
            trend: score_trend(&self.runs),
        }
    }
}

/// Returns the scores of equally sized chunks of runs, oldest first.
fn score_trend(newest_first: &[ResultCounts]) -> Vec<Option<f64>> {
    let size = newest_first.len().div_ceil(POINTS).max(1);
    let parts = newest_first
        .chunks(size)
        .map(|part| part.iter().fold(ResultCounts::default(), ResultCounts::add_counts).score());
    let mut parts: Vec<_> = parts.collect();
    parts.reverse();
    parts
}

pub(super) fn group_all(snapshot: &HistorySnapshot, last: usize) -> Result<TrustGroup, HistoryError> {
    let mut reader = snapshot.result_reader()?;
    let mut gathered = GroupRuns::default();
    for run in snapshot.runs.iter().rev() {
        if gathered.runs.len() >= last {
            break;
        }
        if gathered.accept_run(run, last) {
            let mut counts = ResultCounts::default();
            reader.run_results(run)?.iter().for_each(|one| counts.add_result(CountedAs::from_status(one.status)));
            gathered.runs.push(counts);
        }
    }
    Ok(gathered.into_group("all runs".to_owned()))
}

pub(super) fn group_by(snapshot: &HistorySnapshot, by: &GroupBy, last: usize) -> Result<Vec<TrustGroup>, HistoryError> {
    let gathered = if *by == GroupBy::Rule { by_rule(snapshot, last)? } else { by_run(snapshot, by, last)? };
    Ok(gathered.into_iter().map(|(name, runs)| runs.into_group(name.to_owned())).collect())
}

fn by_run<'a>(
    snapshot: &'a HistorySnapshot,
    by: &GroupBy,
    last: usize,
) -> Result<BTreeMap<&'a str, GroupRuns>, HistoryError> {
    let mut reader = snapshot.result_reader()?;
    let mut groups: BTreeMap<&str, GroupRuns> = BTreeMap::new();
    for run in snapshot.runs.iter().rev() {
        // Results are looked up only if a group accepts the run.
        let mut counts = None;
        for name in group_names(snapshot, run, by) {
            let group = groups.entry(name).or_default();
            if !group.accept_run(run, last) {
                continue;
            }
            let known = match counts {
                Some(known) => known,
                None => {
                    let mut found = ResultCounts::default();
                    reader
                        .run_results(run)?
                        .iter()
                        .for_each(|one| found.add_result(CountedAs::from_status(one.status)));
                    *counts.insert(found)
                }
            };
            group.runs.push(known);
        }
    }
    Ok(groups)
}

/// Returns the groups of a run, or a name in brackets if it has none.
fn group_names<'a>(snapshot: &'a HistorySnapshot, run: &RecordedRun, by: &GroupBy) -> Vec<&'a str> {
    let all = |names: &'a [String], none| match names.is_empty() {
        true => vec![none],
        false => names.iter().map(String::as_str).collect(),
    };
    match by {
        GroupBy::Skill => match snapshot.run_label(run, "skill") {
            Some(skill) => vec![skill],
            None => all(snapshot.run_skills(run), "(no skill)"),
        },
        GroupBy::Tool => all(snapshot.run_tools(run), "(no tool)"),
        GroupBy::Label(name) => vec![snapshot.run_label(run, name).unwrap_or("(no such label)")],
        GroupBy::Rule => Vec::new(),
    }
}

fn by_rule(snapshot: &HistorySnapshot, last: usize) -> Result<BTreeMap<&str, GroupRuns>, HistoryError> {
    let alone = |one: &RecordedAssertion| one.rule.is_empty();
    let names: FxHashMap<i64, &str> = snapshot
        .assertions
        .iter()
        .map(|(row, one)| (*row, if alone(one) { one.name.as_str() } else { one.rule.as_str() }))
        .collect();
    let known = names.values().collect::<FxHashSet<_>>().len();
    let mut reader = snapshot.result_reader()?;
    let mut groups: BTreeMap<&str, GroupRuns> = BTreeMap::new();
    for run in snapshot.runs.iter().rev() {
        let mut counts: BTreeMap<&str, ResultCounts> = BTreeMap::new();
        for one in reader.run_results(run)? {
            if let Some(name) = names.get(&one.assertion) {
                counts.entry(name).or_default().add_result(CountedAs::from_status(one.status));
            }
        }
        for (name, counts) in counts {
            let group = groups.entry(name).or_default();
            if group.accept_run(run, last) {
                group.runs.push(counts);
            }
        }
        // All groups are full, so older runs would change nothing.
        if groups.len() == known && groups.values().all(|group| group.runs.len() >= last) {
            break;
        }
    }
    Ok(groups)
}
