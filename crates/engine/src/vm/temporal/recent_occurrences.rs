//! Where a pattern has matched, kept so that "is there one behind step r, within the bound?" costs a look-up.

use super::step_lists::Certainty;
use averment_checker::ir::StepDistance;
use averment_runs::run::Step;
use smallvec::SmallVec;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Occurrence {
    pub(super) step: u32,
    /// The value that the bound compares; `None` if not recorded.
    pub(super) measure: Option<f64>,
}

/// A step's position, turn or start, as the bound requires.
pub(super) fn step_measure(within: Option<StepDistance>, step: &Step<'_>) -> Option<f64> {
    match within {
        None => Some(0.0),
        Some(StepDistance::Calls(_)) => Some(f64::from(step.call_position)),
        Some(StepDistance::Turns(_)) => step.turn.map(f64::from),
        Some(StepDistance::Time(_)) => step.start,
    }
}

#[expect(clippy::cast_precision_loss, reason = "no run has so many calls or turns that the nearest double differs")]
pub(super) fn bound_limit(within: Option<StepDistance>) -> f64 {
    match within {
        None => f64::INFINITY,
        Some(StepDistance::Calls(count) | StepDistance::Turns(count)) => count as f64,
        Some(StepDistance::Time(milliseconds)) => milliseconds,
    }
}

/// `None` if a measure is not recorded.
pub(super) fn bound_holds(within: Option<StepDistance>, from: Option<f64>, to: Option<f64>) -> Option<bool> {
    if within.is_none() {
        return Some(true);
    }
    Some(to? - from? <= bound_limit(within))
}

/// Occurrences of one group, without those dominated by a later one that is no farther away.
#[derive(Debug, Clone, Default)]
pub(super) struct RecentOccurrences {
    /// Later occurrences have smaller measures.
    known: SmallVec<[Occurrence; 1]>,
    blind: Option<Occurrence>,
}

impl RecentOccurrences {
    pub(super) fn push_occurrence(&mut self, occurrence: Occurrence) {
        match occurrence.measure {
            None => self.blind = Some(occurrence),
            Some(measure) => {
                while self.known.last().is_some_and(|last| last.measure.is_none_or(|last| last <= measure)) {
                    self.known.pop();
                }
                self.known.push(occurrence);
            }
        }
    }

    /// One behind `after` and within the bound, as far as that counts.
    pub(super) fn find_occurrence(
        &self,
        after: Option<u32>,
        within: Option<StepDistance>,
        measure: Option<f64>,
        certainty: Certainty,
    ) -> Option<Occurrence> {
        let from = after.map_or(0, |after| self.known.partition_point(|occurrence| occurrence.step <= after));
        let is_near = |occurrence: &Occurrence| bound_holds(within, occurrence.measure, measure);
        let best = self.known.get(from).filter(|best| is_near(best) != Some(false));
        let blind = self.blind.as_ref().filter(|blind| after.is_none_or(|after| blind.step > after));
        let (found, near) = best.map(|best| (best, is_near(best))).or(blind.map(|blind| (blind, None)))?;
        certainty.counts(near).then_some(*found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The obvious way, to compare with.
    fn slow(
        occurrences: &[Occurrence],
        after: Option<u32>,
        within: Option<StepDistance>,
        measure: Option<f64>,
    ) -> (bool, bool) {
        let answers: Vec<_> = occurrences
            .iter()
            .filter(|occurrence| after.is_none_or(|after| occurrence.step > after))
            .map(|occurrence| bound_holds(within, occurrence.measure, measure))
            .collect();
        let sure = answers.contains(&Some(true));
        (sure, sure || answers.contains(&None))
    }

    #[test]
    fn recent_occurrences_answer_like_a_list_of_all() {
        let measures = [Some(3.0), None, Some(1.0), Some(5.0), Some(2.0), None, Some(2.0), Some(9.0)];
        let mut recent = RecentOccurrences::default();
        let mut occurrences = Vec::new();
        for (step, measure) in (0..).zip(measures) {
            let occurrence = Occurrence { step, measure };
            recent.push_occurrence(occurrence);
            occurrences.push(occurrence);
            for after in [None, Some(0), Some(2), Some(step), Some(9)] {
                for now in [None, Some(0.0), Some(3.0), Some(6.0), Some(12.0)] {
                    for within in [Some(StepDistance::Turns(2)), Some(StepDistance::Time(0.5)), None] {
                        let now = if within.is_none() { Some(0.0) } else { now };
                        let occurrences: Vec<_> = occurrences
                            .iter()
                            .map(|m| Occurrence { measure: if within.is_none() { Some(0.0) } else { m.measure }, ..*m })
                            .collect();
                        let recent = occurrences.iter().fold(RecentOccurrences::default(), |mut recent, occurrence| {
                            recent.push_occurrence(*occurrence);
                            recent
                        });
                        let found = |certainty| recent.find_occurrence(after, within, now, certainty).is_some();
                        let expected = slow(&occurrences, after, within, now);
                        assert_eq!((found(Certainty::Sure), found(Certainty::Possible)), expected);
                    }
                }
            }
        }
    }
}
