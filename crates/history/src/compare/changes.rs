//! The differences between two sides of a comparison.

use super::pairing::RunPairing;
use super::side::{AssertionKey, CompareSide, SideRun};
use crate::trust::CountedAs;
use averment_base::rates::{PassCount, fisher_exact, holm_correct};
use averment_engine::vm::outcome::Status;
use averment_report::change::BlockReport;
use averment_report::change::{Regression, mean_of, percent_change};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// Minimum number of results on each side for a significant difference.
pub(super) const FEWEST: u64 = 4;
/// The p-value below which a difference is significant.
const SIGNIFICANT: f64 = 0.05;

/// A change in the mean of a measure.
#[derive(Debug, Serialize)]
pub struct MeasureChange {
    /// `score`, `cost_usd`, `total_tokens` or `duration_ms`.
    pub name: &'static str,
    /// The mean of the base; `None` if nothing records it.
    pub base: Option<f64>,
    /// The mean of the new side.
    pub new: Option<f64>,
    /// The increase.
    pub change: Option<f64>,
    /// The increase in percent; `None` if it was 0 before and is not now.
    pub percent: Option<f64>,
    /// Number of runs on each side that the means are over: runs on both sides that record it, or all runs if none is on both sides.
    pub runs: (usize, usize),
}

type MeasureFn = fn(&SideRun) -> Option<f64>;

const MEASURES: [(&str, MeasureFn); 4] = [
    ("score", |run| run.standing.score),
    ("cost_usd", |run| run.standing.cost_usd),
    ("total_tokens", |run| run.standing.total_tokens),
    ("duration_ms", |run| run.duration),
];

pub(super) fn measure_changes(base: &CompareSide, new: &CompareSide, pairing: &RunPairing<'_>) -> Vec<MeasureChange> {
    let one = |name, of: MeasureFn| {
        let finite = |run: &SideRun| of(run).filter(|value| value.is_finite());
        let values = |side: &CompareSide| side.runs.iter().filter_map(finite).collect::<Vec<f64>>();
        let (before, after) = if pairing.pairs.is_empty() {
            (values(base), values(new))
        } else {
            pairing.pairs.iter().filter_map(|(before, after)| finite(before).zip(finite(after))).unzip()
        };
        let runs = (before.len(), after.len());
        let (base, new) = (mean_of(before.into_iter()), mean_of(after.into_iter()));
        let both = base.zip(new);
        let from_nothing = both.is_some_and(|(base, new)| base <= 0.0 && new > base);
        MeasureChange {
            name,
            base,
            new,
            change: both.map(|(base, new)| new - base),
            percent: percent_change(new, base).filter(|_| !from_nothing),
            runs,
        }
    };
    MEASURES.map(|(name, of)| one(name, of)).into_iter().collect()
}

/// A result that changed.
#[derive(Debug, Serialize)]
pub struct ResultChange {
    /// The name of the run, or of the report over all runs.
    pub run: String,
    /// The rule; `None` if there is none.
    pub rule: Option<String>,
    /// The assertion.
    pub id: String,
    /// Its text.
    pub text: String,
    /// The earlier status.
    pub base: Status,
    /// The current status.
    pub new: Status,
    /// `regression` if it passed before, `improvement` if it passes now, otherwise `other`, also if a statement over all runs covers it.
    pub kind: ChangeKind,
}

/// The kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It passed before and does not pass now.
    Regression,
    /// It did not pass before and passes now.
    Improvement,
    /// Anything else.
    Other,
}

pub(super) fn result_changes(base: &CompareSide, new: &CompareSide, pairing: &RunPairing<'_>) -> Vec<ResultChange> {
    let mut found = Vec::new();
    for (before, after) in &pairing.pairs {
        let changed = changed_results(base, &before.results, new, &after.results);
        found.extend(changed.map(|change| ResultChange { run: after.name.clone(), ..change }));
    }
    // Reports of equal rules are in equal order on both sides.
    for ((_, before), (name, after)) in base.over_runs.iter().zip(&new.over_runs) {
        let changed = changed_results(base, before, new, after);
        found.extend(changed.map(|change| ResultChange { run: name.clone(), ..change }));
    }
    found
}

/// Returns the results that changed, without the name of their run.
fn changed_results<'a>(
    base: &'a CompareSide,
    before: &'a [(usize, Status)],
    new: &'a CompareSide,
    after: &'a [(usize, Status)],
) -> impl Iterator<Item = ResultChange> + use<'a> {
    let known: FxHashMap<&AssertionKey, Status> =
        before.iter().filter_map(|(one, status)| Some((base.assertions.get_index(*one)?.0, *status))).collect();
    after.iter().filter_map(move |(number, now)| {
        let (key, id) = new.assertions.get_index(*number)?;
        let was = known.get(key).filter(|was| *was != now)?;
        let kind = match (CountedAs::from_status(*was), CountedAs::from_status(*now)) {
            // A statement over all runs covers it.
            _ if new.rated.contains(number) => ChangeKind::Other,
            (CountedAs::Passed, CountedAs::NotPassed) => ChangeKind::Regression,
            (CountedAs::NotPassed, CountedAs::Passed) => ChangeKind::Improvement,
            _ => ChangeKind::Other,
        };
        let (rule, text) = (rule_name(&key.0), key.1.clone());
        Some(ResultChange { run: String::new(), rule, id: id.clone(), text, base: *was, new: *now, kind })
    })
}

fn rule_name(rule: &str) -> Option<String> {
    Some(rule.to_owned()).filter(|rule| !rule.is_empty())
}

/// A change in the pass rate of an assertion.
#[derive(Debug, Serialize)]
pub struct AssertionChange {
    /// The rule; `None` if there is none.
    pub rule: Option<String>,
    /// Its id.
    pub id: String,
    /// Its text.
    pub text: String,
    /// Passes and counted results of the base.
    pub base: PassCount,
    /// Passes and counted results of the new side.
    pub new: PassCount,
    /// Number of runs on both sides in which it passed before and does not pass now.
    pub regressions: usize,
    /// Number of runs on both sides in which it did not pass before and passes now.
    pub improvements: usize,
    /// p-value: Fisher's exact test, Holm-corrected; `None` with fewer than 4 results on a side.
    pub p: Option<f64>,
    /// True if the p-value is below 0.05.
    pub significant: bool,
}

pub(super) fn assertion_changes(
    base: &CompareSide,
    new: &CompareSide,
    results: &[ResultChange],
) -> Vec<AssertionChange> {
    let (before, after) = (pass_rates(base), pass_rates(new));
    let mut changed: FxHashMap<(&str, &str), [usize; 2]> = FxHashMap::default();
    for one in results {
        let [worse, better] = changed.entry((one.rule.as_deref().unwrap_or_default(), &one.text)).or_default();
        *worse += usize::from(one.kind == ChangeKind::Regression);
        *better += usize::from(one.kind == ChangeKind::Improvement);
    }
    let mut found = Vec::new();
    for (key, now) in after {
        let Some(was) = before.get(key) else { continue };
        let enough = was.total >= FEWEST && now.total >= FEWEST;
        let [regressions, improvements] = changed.get(&(key.0.as_str(), key.1.as_str())).copied().unwrap_or_default();
        found.push(AssertionChange {
            rule: rule_name(&key.0),
            id: new.assertions.get(key).cloned().unwrap_or_default(),
            text: key.1.clone(),
            base: *was,
            new: now,
            regressions,
            improvements,
            p: enough.then(|| fisher_exact(*was, now)),
            significant: false,
        });
    }
    holm_correct(&mut found.iter_mut().filter_map(|one| one.p.as_mut()).collect::<Vec<_>>());
    found.iter_mut().for_each(|one| one.significant = one.p.is_some_and(|p| p < SIGNIFICANT));
    found.retain(|one| one.base != one.new || one.regressions + one.improvements > 0);
    found
}

fn pass_rates(side: &CompareSide) -> IndexMap<&AssertionKey, PassCount> {
    let mut rates: IndexMap<&AssertionKey, PassCount> =
        side.assertions.keys().map(|key| (key, PassCount::default())).collect();
    for (number, status) in side.runs.iter().flat_map(|run| &run.results) {
        let Some((_, count)) = rates.get_index_mut(*number) else { continue };
        let counted = CountedAs::from_status(*status);
        count.passed += u64::from(counted == CountedAs::Passed);
        count.total += u64::from(counted != CountedAs::Left);
    }
    rates
}

/// A run, or a workflow block in it, that became worse.
#[derive(Debug, Serialize)]
pub struct WorseRun {
    /// The run.
    pub run: String,
    /// The block; `None` for the whole run.
    pub block: Option<String>,
    /// The regression.
    #[serde(flatten)]
    pub regression: Regression,
}

pub(super) fn worse_runs(base: &CompareSide, pairing: &RunPairing<'_>, new: &CompareSide) -> Vec<WorseRun> {
    let mut found = Vec::new();
    for (before, after) in &pairing.pairs {
        let regressions = after.standing.regressions_since(&before.standing);
        found.extend(regressions.into_iter().map(|regression| WorseRun {
            run: after.name.clone(),
            block: None,
            regression,
        }));
    }
    let mut earlier: FxHashMap<&str, Vec<BlockReport>> = FxHashMap::default();
    for (id, block) in base.runs.iter().flat_map(|run| &run.blocks) {
        earlier.entry(id).or_default().push(block.clone());
    }
    for run in &new.runs {
        for (id, block) in &run.blocks {
            let (_, regressions, _) =
                block.compare_with(earlier.get(id.as_str()).map(Vec::as_slice).unwrap_or_default());
            found.extend(regressions.into_iter().map(|regression| WorseRun {
                run: run.name.clone(),
                block: Some(id.clone()),
                regression,
            }));
        }
    }
    found
}
