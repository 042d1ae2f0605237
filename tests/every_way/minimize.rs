//! Differences made small: fewer rules, fewer runs, simpler ones.

use crate::case::Case;
use crate::compare::{Checker, Difference};
use crate::source::shrink;

/// The smallest case that was found with a difference in the same way, as text.
pub fn smallest(difference: &Difference, case: &Case) -> String {
    let mut checker = Checker::new();
    let mut differs = |case: &Case| checker.difference(case, Some(difference)).ok().flatten();
    let mut case = case.clone();
    fewer(&mut case, |case| differs(case).is_some());
    let rules = case.rules.len();
    let mut parts: Vec<Vec<u32>> =
        case.rules.iter().chain(&case.runs).cloned().chain([case.settings.clone()]).collect();
    let case_of = |parts: &[Vec<u32>]| Case {
        number: case.number,
        rules: parts[..rules].to_vec(),
        runs: parts[rules..parts.len() - 1].to_vec(),
        settings: parts[parts.len() - 1].clone(),
    };
    shrink(&mut parts, |parts| differs(&case_of(parts)).is_some());
    let case = case_of(&parts);
    let shown = differs(&case).unwrap_or_else(|| difference.clone());
    let runs: String = case.build().runs.iter().map(|run| format!("  on {}\n", run.text.trim_end())).collect();
    format!("{shown}{runs}\n")
}

/// Leaves out rules and runs that are not needed.
fn fewer(case: &mut Case, mut differs: impl FnMut(&Case) -> bool) {
    let mut at = 0;
    while at < case.runs.len() {
        let mut without = case.clone();
        without.runs.remove(at);
        if !without.runs.is_empty() && differs(&without) { *case = without } else { at += 1 }
    }
    let mut at = 0;
    while at < case.rules.len() {
        let mut without = case.clone();
        without.rules.remove(at);
        if !without.rules.is_empty() && differs(&without) { *case = without } else { at += 1 }
    }
}
