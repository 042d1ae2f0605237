//! Scores of section 7 of the language reference.
//!
//! All sums run from left to right in file order, so that a score is the same on every machine.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::outcome::Status;
use averment_base::truth::{Verdict, VerdictCounts};
use averment_checker::ir::GroupKind;

/// The weighted mean of what counts. With nothing counted there is no score; a total weight of 0 gives 0.
#[must_use]
pub fn weighted_mean(counted: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let mut any = false;
    let (mut sum, mut weights) = (0.0, 0.0);
    for (weight, score) in counted {
        any = true;
        sum += weight * score;
        weights += weight;
    }
    match (any, weights > 0.0) {
        (false, _) => None,
        (true, false) => Some(0.0),
        (true, true) => Some(sum / weights),
    }
}

/// The score of a verdict without one of its own.
#[must_use]
pub fn of_verdict(verdict: Verdict) -> Option<f64> {
    match verdict {
        Verdict::Pass => Some(1.0),
        Verdict::Fail | Verdict::Undecided | Verdict::Error => Some(0.0),
        Verdict::Vacuous | Verdict::Skipped => None,
    }
}

/// The score of an assertion that counts, by its status; `own` is that of its verdict, or one of its own.
#[must_use]
pub fn counted_score(status: Status, own: Option<f64>) -> Option<f64> {
    match status {
        Status::ExpectedFailed => Some(1.0),
        Status::UnexpectedPassed | Status::Undecided | Status::Error => Some(0.0),
        Status::Vacuous | Status::Skipped => None,
        Status::Passed | Status::Failed => own,
    }
}

/// The score of an assertion that counts and has no score of its own.
#[must_use]
pub fn of_status(status: Status) -> Option<f64> {
    let own = if status == Status::Passed { 1.0 } else { 0.0 };
    counted_score(status, Some(own))
}

/// A member of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemberScore {
    /// The verdict.
    pub verdict: Verdict,
    /// Its score, where it has one of its own.
    pub score: Option<f64>,
    /// Its weight: a member of weight 0 is not scored.
    pub weight: f64,
}

/// The verdict of a group; `closed` says that nothing can be added to what its members were judged on.
#[must_use]
pub fn group_verdict(kind: GroupKind, verdicts: impl IntoIterator<Item = Verdict>, closed: bool) -> Verdict {
    match kind {
        GroupKind::Any => Verdict::any_of(verdicts),
        GroupKind::All => Verdict::all_of(verdicts),
        GroupKind::None => Verdict::none_of(verdicts),
        GroupKind::AtLeast(least) => {
            let counts: VerdictCounts = verdicts.into_iter().collect();
            if closed { counts.at_least(least as usize) } else { counts.at_least_so_far(least as usize) }
        }
    }
}

/// The score of a group: the least of `all of`, the greatest of `any of`, one minus the greatest of `none of`, the n-th greatest of
/// `at least n of`. `None` where the verdict says it all because no member has a score of its own.
#[must_use]
pub fn group_score(kind: GroupKind, parts: &[MemberScore]) -> Option<f64> {
    parts.iter().find_map(|part| part.score)?;
    let mut scores: Vec<f64> = parts
        .iter()
        .filter(|part| part.weight > 0.0)
        .filter_map(|part| Some(of_verdict(part.verdict)?).map(|score| part.score.unwrap_or(score)))
        .collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    match kind {
        GroupKind::All => scores.last().copied(),
        GroupKind::Any => scores.first().copied(),
        GroupKind::None => scores.first().map(|score| 1.0 - score),
        GroupKind::AtLeast(least) => scores.get((least as usize).saturating_sub(1)).copied().or(Some(0.0)),
    }
}

/// The effect of an assertion on the verdict of its rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgedAssertion {
    /// Its verdict; an expected failure passes, an unexpected pass fails.
    pub verdict: Verdict,
    /// Its score; `None` when it does not count.
    pub score: Option<f64>,
    /// Its weight.
    pub weight: f64,
    /// Whether its severity is `error`.
    pub is_error: bool,
    /// `must`.
    pub must: bool,
}

/// The score of a rule.
#[must_use]
pub fn rule_score(judged: &[JudgedAssertion]) -> Option<f64> {
    weighted_mean(judged.iter().filter_map(|one| Some((one.weight, one.score?))))
}

/// The verdict of a rule: with a threshold by its score, otherwise that of all its assertions of severity `error` (of all, where it
/// has none of that severity).
#[must_use]
pub fn rule_verdict(threshold: Option<f64>, judged: &[JudgedAssertion]) -> Verdict {
    match threshold {
        Some(threshold) => threshold_verdict(threshold, judged),
        None if judged.iter().any(|one| one.is_error) => {
            Verdict::all_of(judged.iter().filter(|one| one.is_error).map(|one| one.verdict))
        }
        None => Verdict::all_of(judged.iter().map(|one| one.verdict)),
    }
}

/// The verdict is open while undecided assertions could lift the score to the threshold.
fn threshold_verdict(threshold: f64, judged: &[JudgedAssertion]) -> Verdict {
    let must = |wanted| judged.iter().any(|one| one.must && one.verdict == wanted);
    let Some(score) = rule_score(judged) else { return Verdict::all_of(judged.iter().map(|one| one.verdict)) };
    let best = weighted_mean(judged.iter().filter_map(|one| {
        let score = if one.verdict == Verdict::Undecided { 1.0 } else { one.score? };
        Some((one.weight, score))
    }));
    if judged.iter().any(|one| one.verdict == Verdict::Error) {
        Verdict::Error
    } else if must(Verdict::Fail) || best.is_some_and(|best| best < threshold) {
        Verdict::Fail
    } else if score < threshold || must(Verdict::Undecided) {
        Verdict::Undecided
    } else {
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(verdict: Verdict, weight: f64) -> JudgedAssertion {
        JudgedAssertion { verdict, score: of_verdict(verdict), weight, is_error: true, must: false }
    }

    #[test]
    fn vacuous_and_skipped_assertions_are_left_out_and_nothing_is_no_score() {
        let all = [judged(Verdict::Pass, 3.0), judged(Verdict::Fail, 1.0), judged(Verdict::Vacuous, 100.0)];
        assert_eq!(rule_score(&all), Some(0.75));
        assert_eq!(rule_score(&[judged(Verdict::Vacuous, 1.0), judged(Verdict::Skipped, 1.0)]), None);
        assert_eq!(rule_score(&[judged(Verdict::Pass, 0.0)]), Some(0.0));
    }

    #[test]
    fn a_threshold_replaces_the_verdicts_of_a_rule_but_not_must() {
        let mut all = vec![judged(Verdict::Pass, 1.0), judged(Verdict::Fail, 1.0)];
        assert_eq!(rule_verdict(None, &all), Verdict::Fail);
        assert_eq!(rule_verdict(Some(0.5), &all), Verdict::Pass);
        all[1].must = true;
        assert_eq!(rule_verdict(Some(0.5), &all), Verdict::Fail);
    }

    #[test]
    fn an_undecided_assertion_decides_a_threshold_only_where_it_matters() {
        let all = [judged(Verdict::Pass, 1.0), judged(Verdict::Undecided, 1.0)];
        assert_eq!(rule_verdict(Some(0.5), &all), Verdict::Pass);
        assert_eq!(rule_verdict(Some(0.8), &all), Verdict::Undecided);
        assert_eq!(rule_verdict(Some(0.8), &[all[1], judged(Verdict::Fail, 3.0)]), Verdict::Fail);
    }

    #[test]
    fn warnings_do_not_fail_a_rule_that_has_errors_to_judge_by() {
        let warning = JudgedAssertion { is_error: false, ..judged(Verdict::Fail, 1.0) };
        assert_eq!(rule_verdict(None, &[judged(Verdict::Pass, 1.0), warning]), Verdict::Pass);
        assert_eq!(rule_verdict(None, &[warning]), Verdict::Fail);
    }

    #[test]
    fn groups_take_the_least_or_the_greatest_score() {
        let part = |score: Option<f64>, verdict| MemberScore { verdict, score, weight: 1.0 };
        let parts = [part(Some(0.6), Verdict::Pass), part(None, Verdict::Fail), part(Some(0.3), Verdict::Fail)];
        assert_eq!(group_score(GroupKind::All, &parts), Some(0.0));
        assert_eq!(group_score(GroupKind::Any, &parts), Some(0.6));
        assert_eq!(group_score(GroupKind::None, &parts), Some(0.4));
        assert_eq!(group_score(GroupKind::AtLeast(2), &parts), Some(0.3));
        assert_eq!(group_score(GroupKind::Any, &[part(None, Verdict::Pass)]), None);
    }
}
