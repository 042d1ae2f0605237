//! Where the matches of one group stand, kept so that "is there one in these steps, within the bound?" costs a look-up.

use super::view::{Hit, PairFit, WindowView};
use crate::vm::fault::Fault;
use averment_checker::ir::StepDistance;
use averment_runs::run::Step;
use smallvec::SmallVec;
use std::ops::Range;

/// What counts: only what the run proves, or all that it leaves possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    Sure,
    Possible,
}

impl Certainty {
    /// What stands in the way of something that is counted so.
    pub(super) fn opposite(self) -> Self {
        match self {
            Self::Sure => Self::Possible,
            Self::Possible => Self::Sure,
        }
    }

    /// Whether an answer counts; `None` if the run does not tell.
    pub(super) fn counts(self, answer: Option<bool>) -> bool {
        answer.unwrap_or(self == Self::Possible)
    }

    pub(super) fn counts_fit(self, fit: PairFit) -> bool {
        fit == PairFit::Yes || fit == PairFit::Unknown && self == Self::Possible
    }

    pub(super) fn counts_hit(self, hit: &Hit) -> bool {
        hit.sure || self == Self::Possible
    }
}

/// Which steps are looked through, and in which order.
#[derive(Debug, Clone)]
pub(super) struct StepSpan {
    pub(super) steps: Range<u32>,
    /// The last one is nearest, otherwise the first.
    pub(super) backward: bool,
    pub(super) within: Option<StepDistance>,
    /// Only steps that were known when this one was asked for.
    pub(super) known_to: Option<u32>,
    /// Which step is found does not matter.
    pub(super) any: bool,
    /// A value that is not recorded is none of those that others have; otherwise it may be equal to one of them.
    pub(super) fresh: bool,
}

impl StepSpan {
    pub(super) fn before(step: u32) -> Self {
        Self { steps: 0..step, backward: true, ..Self::anywhere() }
    }

    pub(super) fn after(step: u32) -> Self {
        Self { steps: step.saturating_add(1)..u32::MAX, ..Self::anywhere() }
    }

    pub(super) fn anywhere() -> Self {
        Self { steps: 0..u32::MAX, backward: false, within: None, known_to: None, any: false, fresh: false }
    }

    pub(super) fn up_to(step: u32) -> Self {
        Self { steps: 0..step.saturating_add(1), ..Self::anywhere() }
    }

    pub(super) fn since(self, step: Option<u32>) -> Self {
        let start = step.map_or(self.steps.start, |step| self.steps.start.max(step));
        Self { steps: start..self.steps.end, ..self }
    }

    pub(super) fn until(self, step: Option<u32>) -> Self {
        let end = step.map_or(self.steps.end, |step| self.steps.end.min(step));
        Self { steps: self.steps.start..end, ..self }
    }

    pub(super) fn within(self, within: Option<StepDistance>) -> Self {
        Self { within, ..self }
    }

    pub(super) fn known_to(self, step: Option<u32>) -> Self {
        Self { known_to: step, ..self }
    }

    pub(super) fn any(self) -> Self {
        Self { any: true, ..self }
    }

    pub(super) fn fresh(self) -> Self {
        Self { fresh: true, ..self }
    }

    pub(super) fn nearer(&self, one: Option<u32>, other: Option<u32>) -> Option<u32> {
        match (one, other) {
            (Some(one), Some(other)) => Some(if self.backward { one.max(other) } else { one.min(other) }),
            (one, other) => one.or(other),
        }
    }

    fn holds(&self, measure: Option<f64>, now: Option<f64>) -> Option<bool> {
        if self.backward { bound_holds(self.within, measure, now) } else { bound_holds(self.within, now, measure) }
    }
}

#[derive(Debug, Clone, Copy)]
struct ListedStep {
    step: u32,
    measure: Option<f64>,
    /// The highest measure of this one and those before it.
    highest: f64,
    /// The lowest measure of this one and those after it.
    lowest: f64,
}

/// The steps of sure matches, and of all matches, each in order.
#[derive(Debug, Default)]
pub(super) struct StepLists {
    sure: Vec<ListedStep>,
    possible: Vec<ListedStep>,
}

impl StepLists {
    pub(super) fn add_hit(&mut self, hit: &Hit, measure: Option<f64>) {
        let add = |list: &mut Vec<ListedStep>| {
            let before = list.last().map_or(f64::NEG_INFINITY, |last| last.highest);
            let highest = before.max(measure.unwrap_or(f64::INFINITY));
            list.push(ListedStep { step: hit.step, measure, highest, lowest: f64::NEG_INFINITY });
        };
        add(&mut self.possible);
        if hit.sure {
            add(&mut self.sure);
        }
    }

    /// Has to be called once all are added.
    pub(super) fn finish(&mut self) {
        for list in [&mut self.sure, &mut self.possible] {
            let mut lowest = f64::INFINITY;
            for one in list.iter_mut().rev() {
                lowest = lowest.min(one.measure.unwrap_or(f64::NEG_INFINITY));
                one.lowest = lowest;
            }
        }
    }

    /// The nearest step of a span that counts; `from` is the step from which the bound is measured.
    pub(super) fn find_step(
        &self,
        span: &StepSpan,
        from: Option<f64>,
        certainty: Certainty,
        view: &mut WindowView<'_, '_>,
    ) -> Result<Option<u32>, Fault> {
        let list = if certainty == Certainty::Sure { &self.sure } else { &self.possible };
        let at = |step: u32| list.partition_point(|one| one.step < step);
        let listed = list.get(at(span.steps.start)..at(span.steps.end).max(at(span.steps.start))).unwrap_or(&[]);
        let counts = |one: &ListedStep, view: &WindowView<'_, '_>| {
            certainty.counts(span.holds(one.measure, from))
                && span.known_to.is_none_or(|later| view.unknown_cause(one.step, later).is_none())
        };
        // The first one is most likely to be known.
        if let Some(first) = listed.first().filter(|first| span.any && span.known_to.is_some() && counts(first, view)) {
            return Ok(Some(first.step));
        }
        for place in 0..listed.len() {
            let place = if span.backward { listed.len() - 1 - place } else { place };
            let Some(one) = listed.get(place) else { break };
            if counts(one, view) {
                return Ok(Some(one.step));
            }
            // None of those that are left is nearer.
            let best = if span.backward { one.highest } else { one.lowest };
            if span.holds(Some(best), from) == Some(false) {
                break;
            }
            view.spend_fuel(1)?;
        }
        Ok(None)
    }
}

pub(super) fn measure_of(view: &WindowView<'_, '_>, within: Option<StepDistance>, step: u32) -> Option<f64> {
    view.step(step).and_then(|step| step_measure(within, step))
}

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
