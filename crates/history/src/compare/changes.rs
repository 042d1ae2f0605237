//! What changed.

use super::pairing::Pairing;
use super::side::{Key, Side, SideRun};
use crate::trust::Counted;
use averment_base::rates::{PassCount, fisher, holm};
use averment_engine::vm::outcome::Status;
use averment_report::change::BlockReport;
use averment_report::change::{Regression, mean, percent};
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// With fewer results on a side no difference can be significant.
pub(super) const FEWEST: u64 = 4;
/// Below this a difference is called significant.
const SIGNIFICANT: f64 = 0.05;

/// What the mean of a measure was, and is.
#[derive(Debug, Serialize)]
pub struct MeasureChange {
    /// `score`, `cost_usd`, `total_tokens` or `duration_ms`.
    pub name: &'static str,
    /// The mean of the base; `None` where nothing records it.
    pub base: Option<f64>,
    /// The mean now.
    pub new: Option<f64>,
    /// By how much it is higher.
    pub change: Option<f64>,
    /// By how many percent; `None` where it was 0 and is not.
    pub percent: Option<f64>,
    /// Of how many runs on each side the means are: of those that are in both and record it, or of all where none is in both.
    pub runs: (usize, usize),
}

type Measure = fn(&SideRun) -> Option<f64>;

/// The measures, in the order in which they are told.
const MEASURES: [(&str, Measure); 4] = [
    ("score", |run| run.standing.score),
    ("cost_usd", |run| run.standing.cost_usd),
    ("total_tokens", |run| run.standing.total_tokens),
    ("duration_ms", |run| run.duration),
];

pub(super) fn measures(base: &Side, new: &Side, pairing: &Pairing<'_>) -> Vec<MeasureChange> {
    let one = |name, of: Measure| {
        let finite = |run: &SideRun| of(run).filter(|value| value.is_finite());
        let values = |side: &Side| side.runs.iter().filter_map(finite).collect::<Vec<f64>>();
        let (before, after) = if pairing.pairs.is_empty() {
            (values(base), values(new))
        } else {
            pairing.pairs.iter().filter_map(|(before, after)| finite(before).zip(finite(after))).unzip()
        };
        let runs = (before.len(), after.len());
        let (base, new) = (mean(before.into_iter()), mean(after.into_iter()));
        let both = base.zip(new);
        let from_nothing = both.is_some_and(|(base, new)| base <= 0.0 && new > base);
        MeasureChange {
            name,
            base,
            new,
            change: both.map(|(base, new)| new - base),
            percent: percent(new, base).filter(|_| !from_nothing),
            runs,
        }
    };
    MEASURES.map(|(name, of)| one(name, of)).into_iter().collect()
}

/// A result that is another one now.
#[derive(Debug, Serialize)]
pub struct ResultChange {
    /// The run, or what all runs together are called.
    pub run: String,
    /// The rule; `None` where it has none.
    pub rule: Option<String>,
    /// The assertion.
    pub id: String,
    /// Its text.
    pub text: String,
    /// What it was.
    pub base: Status,
    /// What it is.
    pub new: Status,
    /// `regression` where it passed, `improvement` where it passes now, else `other`: also where a statement over all runs speaks for it.
    pub kind: ChangeKind,
}

/// What a change is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It passed, and does not.
    Regression,
    /// It did not pass, and does.
    Improvement,
    /// Anything else.
    Other,
}

pub(super) fn results(base: &Side, new: &Side, pairing: &Pairing<'_>) -> Vec<ResultChange> {
    let mut found = Vec::new();
    for (before, after) in &pairing.pairs {
        let changed = changed(base, &before.results, new, &after.results);
        found.extend(changed.map(|change| ResultChange { run: after.name.clone(), ..change }));
    }
    // Reports of the same rules follow each other in both sides.
    for ((_, before), (name, after)) in base.over_runs.iter().zip(&new.over_runs) {
        let changed = changed(base, before, new, after);
        found.extend(changed.map(|change| ResultChange { run: name.clone(), ..change }));
    }
    found
}

/// Results of one side and of the other that are others now, still without their run.
fn changed<'a>(
    base: &'a Side,
    before: &'a [(usize, Status)],
    new: &'a Side,
    after: &'a [(usize, Status)],
) -> impl Iterator<Item = ResultChange> + use<'a> {
    let known: FxHashMap<&Key, Status> =
        before.iter().filter_map(|(one, status)| Some((base.assertions.get_index(*one)?.0, *status))).collect();
    after.iter().filter_map(move |(number, now)| {
        let (key, id) = new.assertions.get_index(*number)?;
        let was = known.get(key).filter(|was| *was != now)?;
        let kind = match (Counted::of(*was), Counted::of(*now)) {
            // What is said over all runs speaks for it.
            _ if new.rated.contains(number) => ChangeKind::Other,
            (Counted::Passed, Counted::NotPassed) => ChangeKind::Regression,
            (Counted::NotPassed, Counted::Passed) => ChangeKind::Improvement,
            _ => ChangeKind::Other,
        };
        let (rule, text) = (ruled(&key.0), key.1.clone());
        Some(ResultChange { run: String::new(), rule, id: id.clone(), text, base: *was, new: *now, kind })
    })
}

fn ruled(rule: &str) -> Option<String> {
    Some(rule.to_owned()).filter(|rule| !rule.is_empty())
}

/// How often an assertion passed, and passes.
#[derive(Debug, Serialize)]
pub struct AssertionChange {
    /// The rule; `None` where it has none.
    pub rule: Option<String>,
    /// Its id.
    pub id: String,
    /// Its text.
    pub text: String,
    /// How often it passed in the base, of all that count.
    pub base: PassCount,
    /// How often it passes now.
    pub new: PassCount,
    /// Runs that are in both in which it passed and does not, and the other way round.
    pub regressions: usize,
    /// The other way round.
    pub improvements: usize,
    /// How likely such a difference is where there is none: Fisher's exact test, corrected by Holm; `None` with fewer than 4 results on a side.
    pub p: Option<f64>,
    /// Whether that is below 0.05.
    pub significant: bool,
}

pub(super) fn assertions(base: &Side, new: &Side, results: &[ResultChange]) -> Vec<AssertionChange> {
    let (before, after) = (rates(base), rates(new));
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
            rule: ruled(&key.0),
            id: new.assertions.get(key).cloned().unwrap_or_default(),
            text: key.1.clone(),
            base: *was,
            new: now,
            regressions,
            improvements,
            p: enough.then(|| fisher(*was, now)),
            significant: false,
        });
    }
    holm(&mut found.iter_mut().filter_map(|one| one.p.as_mut()).collect::<Vec<_>>());
    found.iter_mut().for_each(|one| one.significant = one.p.is_some_and(|p| p < SIGNIFICANT));
    found.retain(|one| one.base != one.new || one.regressions + one.improvements > 0);
    found
}

/// Of each assertion how often it passed, and of how many results that count.
fn rates(side: &Side) -> IndexMap<&Key, PassCount> {
    let mut rates: IndexMap<&Key, PassCount> = side.assertions.keys().map(|key| (key, PassCount::default())).collect();
    for (number, status) in side.runs.iter().flat_map(|run| &run.results) {
        let Some((_, count)) = rates.get_index_mut(*number) else { continue };
        let counted = Counted::of(*status);
        count.passed += u64::from(counted == Counted::Passed);
        count.total += u64::from(counted != Counted::Left);
    }
    rates
}

/// A run, or a block of a workflow in it, that became worse.
#[derive(Debug, Serialize)]
pub struct WorseRun {
    /// The run.
    pub run: String,
    /// The block; `None` where it is the whole run.
    pub block: Option<String>,
    /// How.
    #[serde(flatten)]
    pub regression: Regression,
}

pub(super) fn worse(base: &Side, pairing: &Pairing<'_>, new: &Side) -> Vec<WorseRun> {
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
            let (_, regressions, _) = block.against(earlier.get(id.as_str()).map(Vec::as_slice).unwrap_or_default());
            found.extend(regressions.into_iter().map(|regression| WorseRun {
                run: run.name.clone(),
                block: Some(id.clone()),
                regression,
            }));
        }
    }
    found
}
