//! Where the matches of one group stand, kept so that "is there one in these steps, within the bound?" costs a look-up.

use super::recent_occurrences::{bound_holds, step_measure};
use super::view::{Hit, PairFit, WindowView};
use crate::vm::fault::Fault;
use averment_checker::ir::StepDistance;
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
