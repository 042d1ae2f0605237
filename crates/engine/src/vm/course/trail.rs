//! Where a pattern has matched, kept so that "is there one behind step r, within the bound?" costs a look-up.

use crate::ir::Within;
use averment_runs::run::Step;
use smallvec::SmallVec;

/// A place where a pattern matched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mark {
    /// The step.
    pub(super) step: u32,
    /// What the bound compares; `None` where the run does not record it.
    pub(super) measure: Option<f64>,
}

/// What a bound says of a step: its position, turn or start.
pub(super) fn measure(within: Option<Within>, step: &Step<'_>) -> Option<f64> {
    match within {
        None => Some(0.0),
        Some(Within::Calls(_)) => Some(f64::from(step.call_position)),
        Some(Within::Turns(_)) => step.turn.map(f64::from),
        Some(Within::Time(_)) => step.start,
    }
}

/// How far apart two measures may be.
#[expect(clippy::cast_precision_loss, reason = "no run has so many calls or turns that the nearest double differs")]
pub(super) fn limit(within: Option<Within>) -> f64 {
    match within {
        None => f64::INFINITY,
        Some(Within::Calls(count) | Within::Turns(count)) => count as f64,
        Some(Within::Time(milliseconds)) => milliseconds,
    }
}

/// Whether the bound from one measure to a later one holds; `None` when one of them is not recorded.
pub(super) fn bound(within: Option<Within>, from: Option<f64>, to: Option<f64>) -> Option<bool> {
    if within.is_none() {
        return Some(true);
    }
    Some(to? - from? <= limit(within))
}

/// The marks of one group of matches, without those that another one makes useless: a later mark that is no farther away.
#[derive(Debug, Clone, Default)]
pub(super) struct Trail {
    /// Later marks have smaller measures.
    known: SmallVec<[Mark; 1]>,
    /// The latest without a measure.
    blind: Option<Mark>,
}

/// What a trail has for a question.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Found {
    /// A mark that surely fits.
    pub(super) sure: Option<Mark>,
    /// A mark whose bound cannot be checked.
    pub(super) unknown: Option<Mark>,
}

impl Trail {
    /// Adds a mark behind all others.
    pub(super) fn add(&mut self, mark: Mark) {
        match mark.measure {
            None => self.blind = Some(mark),
            Some(measure) => {
                while self.known.last().is_some_and(|last| last.measure.is_none_or(|last| last <= measure)) {
                    self.known.pop();
                }
                self.known.push(mark);
            }
        }
    }

    /// Adds all marks of a trail that ends behind this one.
    pub(super) fn extend(&mut self, later: &Self) {
        let marks = later.known.iter().chain(&later.blind);
        marks.for_each(|mark| self.add(*mark));
    }

    /// A mark behind step `after` from which the bound to `measure` holds.
    pub(super) fn find(&self, after: Option<u32>, within: Option<Within>, measure: Option<f64>) -> Found {
        let behind = |mark: &&Mark| after.is_none_or(|after| mark.step > after);
        let from = after.map_or(0, |after| self.known.partition_point(|mark| mark.step <= after));
        let best = self.known.get(from);
        let blind = self.blind.as_ref().filter(behind);
        match best.map(|mark| bound(within, mark.measure, measure)) {
            Some(Some(true)) => Found { sure: best.copied(), unknown: None },
            Some(None) => Found { sure: None, unknown: best.copied() },
            Some(Some(false)) | None => Found { sure: None, unknown: blind.copied() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The obvious way, to compare with.
    fn slow(marks: &[Mark], after: Option<u32>, within: Option<Within>, measure: Option<f64>) -> (bool, bool) {
        let answers: Vec<_> = marks
            .iter()
            .filter(|mark| after.is_none_or(|after| mark.step > after))
            .map(|mark| bound(within, mark.measure, measure))
            .collect();
        let sure = answers.contains(&Some(true));
        (sure, !sure && answers.contains(&None))
    }

    #[test]
    fn a_trail_answers_like_a_list_of_all_marks() {
        let measures = [Some(3.0), None, Some(1.0), Some(5.0), Some(2.0), None, Some(2.0), Some(9.0)];
        let mut trail = Trail::default();
        let mut marks = Vec::new();
        for (step, measure) in (0..).zip(measures) {
            let mark = Mark { step, measure };
            trail.add(mark);
            marks.push(mark);
            for after in [None, Some(0), Some(2), Some(step), Some(9)] {
                for now in [None, Some(0.0), Some(3.0), Some(6.0), Some(12.0)] {
                    for within in [Some(Within::Turns(2)), Some(Within::Time(0.5)), None] {
                        let now = if within.is_none() { Some(0.0) } else { now };
                        let marks: Vec<_> = marks
                            .iter()
                            .map(|m| Mark { measure: if within.is_none() { Some(0.0) } else { m.measure }, ..*m })
                            .collect();
                        let trail = marks.iter().fold(Trail::default(), |mut trail, mark| {
                            trail.add(*mark);
                            trail
                        });
                        let found = trail.find(after, within, now);
                        let expected = slow(&marks, after, within, now);
                        assert_eq!((found.sure.is_some(), found.unknown.is_some()), expected);
                    }
                }
            }
        }
    }
}
