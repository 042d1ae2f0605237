//! Matches the runs of one side with those of the other.

use super::side::{CompareSide, SideRun};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// Criterion by which two runs are recognized as the same task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchedBy {
    /// The run's own id; used if every run has one.
    Id,
    /// The name in reports.
    Name,
    /// The name in reports, relative to the folder that all runs of a side share.
    Place,
}

impl MatchedBy {
    /// Returns the criterion as a phrase for reports.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Id => "by their ids",
            Self::Name => "by their names",
            Self::Place => "by their names below the folder of each side",
        }
    }

    fn run_keys(self, side: &CompareSide) -> Option<Vec<&str>> {
        let names = || side.runs.iter().map(|run| run.name.as_str());
        match self {
            Self::Id => side.runs.iter().map(|run| run.own.as_deref()).collect(),
            Self::Name => Some(names().collect()),
            Self::Place => {
                let shared = names().map(name_folder).reduce(shared_folder).unwrap_or_default();
                names().map(|name| name.get(shared.len()..)).collect()
            }
        }
    }
}

fn name_folder(name: &str) -> &str {
    name.rfind('/').and_then(|end| name.get(..=end)).unwrap_or_default()
}

fn shared_folder<'a>(one: &'a str, other: &str) -> &'a str {
    let equal = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let equal = one.as_bytes().get(..equal).unwrap_or_default();
    let end = equal.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    one.get(..end).unwrap_or_default()
}

pub(super) struct RunPairing<'a> {
    pub(super) by: Option<MatchedBy>,
    pub(super) pairs: Vec<(&'a SideRun, &'a SideRun)>,
    pub(super) missing: Vec<&'a SideRun>,
    pub(super) added: Vec<&'a SideRun>,
}

impl<'a> RunPairing<'a> {
    /// Uses the first criterion (id, name, relative name) by which at least one run of each side matches.
    pub(super) fn pair_runs(base: &'a CompareSide, new: &'a CompareSide) -> Self {
        let ways = [MatchedBy::Id, MatchedBy::Name, MatchedBy::Place];
        let pairings = ways.into_iter().filter_map(|by| Self::pair_by(by, base, new));
        let none = || Self {
            by: None,
            pairs: Vec::new(),
            missing: base.runs.iter().collect(),
            added: new.runs.iter().collect(),
        };
        pairings.into_iter().find(|pairing| !pairing.pairs.is_empty()).unwrap_or_else(none)
    }

    /// Pairs runs by one criterion. Runs with equal keys are paired in order.
    fn pair_by(by: MatchedBy, base: &'a CompareSide, new: &'a CompareSide) -> Option<Self> {
        let mut known: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (number, key) in by.run_keys(base)?.into_iter().enumerate().rev() {
            known.entry(key).or_default().push(number);
        }
        let mut left: Vec<Option<&SideRun>> = base.runs.iter().map(Some).collect();
        let (mut pairs, mut added) = (Vec::new(), Vec::new());
        for (key, run) in by.run_keys(new)?.into_iter().zip(&new.runs) {
            let number = known.get_mut(key).and_then(Vec::pop);
            match number.and_then(|number| left.get_mut(number)?.take()) {
                Some(before) => pairs.push((before, run)),
                None => added.push(run),
            }
        }
        Some(Self { by: Some(by), pairs, missing: left.into_iter().flatten().collect(), added })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(names: &[&str], ids: bool) -> CompareSide {
        let run = |name: &&str| SideRun {
            name: (*name).to_owned(),
            own: ids.then(|| name.chars().rev().collect()),
            ..SideRun::default()
        };
        CompareSide { runs: names.iter().map(run).collect(), ..CompareSide::default() }
    }

    fn paired(base: &[&str], new: &[&str], ids: bool) -> (Option<MatchedBy>, usize, usize, usize) {
        let (base, new) = (side(base, ids), side(new, ids));
        let pairing = RunPairing::pair_runs(&base, &new);
        (pairing.by, pairing.pairs.len(), pairing.missing.len(), pairing.added.len())
    }

    #[test]
    fn runs_are_paired_by_what_both_sides_have() {
        assert_eq!(paired(&["a", "b"], &["b", "c"], true), (Some(MatchedBy::Id), 1, 1, 1));
        assert_eq!(paired(&["a", "a", "b"], &["a", "a", "a"], false), (Some(MatchedBy::Name), 2, 1, 1));
        let (monday, tuesday) = (["x/monday/a", "x/monday/sub/b"], ["x/tuesday/sub/b", "x/tuesday/c"]);
        assert_eq!(paired(&monday, &tuesday, false), (Some(MatchedBy::Place), 1, 1, 1));
        assert_eq!(paired(&["runs/a"], &["runs/b"], false), (None, 0, 1, 1));
    }
}
