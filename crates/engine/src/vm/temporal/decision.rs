//! Where a statement stands on a window: one answer for all that is unknown, the places where it fails, and the words for them.

use super::explain::pass_reason;
use super::search::{FoundMatch, Search};
use super::step_lists::Certainty;
use super::view::{Hit, WindowView};
use super::window_events::{PossibleOutcomes, VerdictReason};
use crate::vm::fault::Fault;
use crate::vm::outcome::{AssertionViolation, ViolationList};
use smallvec::SmallVec;

/// A match by which a statement fails, or may fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FailingPlace {
    pub(super) step: u32,
    pub(super) operand: usize,
    pub(super) event: u32,
    pub(super) others: (Option<u32>, Option<u32>),
}

impl FailingPlace {
    pub(super) fn of_hit(hit: &Hit, others: (Option<u32>, Option<u32>)) -> Self {
        Self { step: hit.step, operand: hit.operand, event: hit.event, others }
    }

    pub(super) fn at_step(step: u32) -> Self {
        Self { step, operand: 0, event: 0, others: (None, None) }
    }
}

/// The places where a statement fails for sure, and the first where it may fail.
#[derive(Debug, Clone)]
pub(super) struct PlaceTally {
    pub(super) sure: Vec<FailingPlace>,
    pub(super) possible: Option<FailingPlace>,
    /// Whether the search for more of this operand may end.
    pub(super) is_enough: bool,
    listed: usize,
    has_words: bool,
}

impl PlaceTally {
    pub(super) fn new(search: &Search<'_, '_, '_>) -> Self {
        let (listed, has_words) = (search.listed, search.has_words());
        Self { sure: Vec::new(), possible: None, is_enough: false, listed, has_words }
    }

    pub(super) fn add_sure(&mut self, place: FailingPlace) {
        self.is_enough = self.listed == 0;
        self.sure.push(place);
    }

    pub(super) fn add_possible(&mut self, place: FailingPlace) {
        self.possible = Some(self.possible.map_or(place, |known| known.min(place)));
    }

    /// One failure for each step, whatever it matches.
    pub(super) fn unite_steps(&mut self) {
        self.sure.sort_unstable();
        self.sure.dedup_by_key(|place| place.step);
    }

    pub(super) fn outcomes(&self) -> PossibleOutcomes {
        let fails = !self.sure.is_empty();
        PossibleOutcomes::unwanted(fails, fails || self.possible.is_some())
    }

    pub(super) fn decide<W>(mut self, words: W) -> Decision
    where
        W: Fn(&mut WindowView<'_, '_>, &FailingPlace) -> Option<VerdictReason> + 'static,
    {
        let decision = Decision::new(self.outcomes());
        if !self.has_words {
            return decision;
        }
        // All sure ones in the order of steps, or else the first that is possible.
        self.sure.sort_unstable();
        let possible = self.possible.filter(|_| self.sure.is_empty());
        let mut failures = FailureList::new(self.listed);
        failures.extend(self.sure.into_iter().chain(possible));
        decision.failing(move |view| failures.explain_places(view, &words))
    }
}

impl Search<'_, '_, '_> {
    /// Whether matches of an operand fail the statement, and whether they may, up to the first that fails where failures are not listed: `fails`
    /// says where one does, of what is sure or of what is possible. Where nothing but the order tells matches apart, `decisive` is the one
    /// that fails if any does: the last (`true`) or the first.
    pub(super) fn judge_matches(
        &mut self,
        tally: &mut PlaceTally,
        operand: usize,
        decisive: Option<bool>,
        fails: impl Fn(&mut Self, FoundMatch, Certainty) -> Result<Option<FailingPlace>, Fault>,
    ) -> Result<(), Fault> {
        tally.is_enough = false;
        let decisive = decisive.and_then(|last| self.outermost(operand, last));
        if let Some(own) = decisive
            && fails(self, own, Certainty::Possible)?.is_none()
        {
            return Ok(());
        }
        for number in self.numbers(operand) {
            let Some(own) = self.match_at(operand, number) else { continue };
            let Some(place) = fails(self, own, Certainty::Possible)? else { continue };
            let sure = match own.sure && !self.is_certain() {
                true => fails(self, own, Certainty::Sure)?,
                false => Some(place).filter(|_| own.sure),
            };
            match sure {
                Some(place) => tally.add_sure(place),
                None => tally.add_possible(place),
            }
            if tally.is_enough {
                break;
            }
        }
        Ok(())
    }
}

type Words = Box<dyn Fn(&mut WindowView<'_, '_>) -> VerdictReason>;

type StateWords = Box<dyn Fn(&WindowView<'_, '_>) -> String>;

pub(super) struct Decision {
    pub(super) stands: PossibleOutcomes,
    /// A score of its own, where the verdict does not say it all.
    pub(super) score: Option<f64>,
    failure: Option<Words>,
    pass: Option<Words>,
    state: Option<StateWords>,
}

impl Decision {
    pub(super) fn new(stands: PossibleOutcomes) -> Self {
        Self { stands, score: None, failure: None, pass: None, state: None }
    }

    pub(super) fn with_score(self, score: Option<f64>) -> Self {
        Self { score, ..self }
    }

    pub(super) fn fails_for_good(self, failed_for_good: bool) -> Self {
        Self { stands: PossibleOutcomes { failed_for_good, ..self.stands }, ..self }
    }

    /// Why it fails or, where that is not known, may fail.
    pub(super) fn failing(self, words: impl Fn(&mut WindowView<'_, '_>) -> VerdictReason + 'static) -> Self {
        Self { failure: Some(Box::new(words)), ..self }
    }

    pub(super) fn passing(self, words: impl Fn(&mut WindowView<'_, '_>) -> VerdictReason + 'static) -> Self {
        Self { pass: Some(Box::new(words)), ..self }
    }

    /// What has come so far, for a derivation.
    pub(super) fn with_state(self, words: impl Fn(&WindowView<'_, '_>) -> String + 'static) -> Self {
        Self { state: Some(Box::new(words)), ..self }
    }

    pub(super) fn explain_failure(&self, view: &mut WindowView<'_, '_>) -> VerdictReason {
        self.failure.as_ref().map_or_else(VerdictReason::default, |words| words(view))
    }

    pub(super) fn explain_pass(&self, view: &mut WindowView<'_, '_>) -> VerdictReason {
        match &self.pass {
            Some(words) => words(view),
            None => pass_reason(view),
        }
    }

    pub(super) fn describe_state(&self, view: &WindowView<'_, '_>) -> String {
        self.state.as_ref().map_or_else(String::new, |words| words(view))
    }
}

/// Where a statement fails: the first places are kept, the others counted, and each is explained in the words of the first.
#[derive(Debug, Clone)]
pub(super) struct FailureList<T> {
    kept: SmallVec<[T; 1]>,
    count: u64,
    most: usize,
}

impl<T> FailureList<T> {
    /// The first failure is always kept, `listed` in all.
    pub(super) fn new(listed: usize) -> Self {
        Self { kept: SmallVec::new(), count: 0, most: listed.max(1) }
    }

    pub(super) fn push(&mut self, place: T) {
        self.push_with(|| place);
    }

    pub(super) fn push_with(&mut self, place: impl FnOnce() -> T) {
        self.count = self.count.saturating_add(1);
        if self.kept.len() < self.most {
            self.kept.push(place());
        }
    }

    pub(super) fn extend(&mut self, places: impl IntoIterator<Item = T>) {
        places.into_iter().for_each(|place| self.push(place));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    pub(super) fn first(&self) -> Option<&T> {
        self.kept.first()
    }

    pub(super) fn last_mut(&mut self) -> Option<&mut T> {
        let all = self.kept.len() as u64 == self.count;
        self.kept.last_mut().filter(|_| all)
    }

    pub(super) fn explain_places(
        &self,
        view: &mut WindowView<'_, '_>,
        mut words: impl FnMut(&mut WindowView<'_, '_>, &T) -> Option<VerdictReason>,
    ) -> VerdictReason {
        let listed = if self.count > 1 { view.listed.min(self.kept.len()) } else { 0 };
        let mut whys = Vec::with_capacity(listed.max(1));
        for (number, place) in self.kept.iter().take(listed.max(1)).enumerate() {
            if number > 0 {
                // What is said of one place does not depend on what was said of the others.
                view.machine.refuel();
            }
            whys.push(words(view, place).unwrap_or_default());
        }
        VerdictReason::of_several(whys, if listed > 0 { self.count } else { 0 })
    }
}

impl VerdictReason {
    /// Several failures: the first represents all; `count` is the total.
    fn of_several(whys: Vec<Self>, count: u64) -> Self {
        if count < 2 {
            return whys.into_iter().next().unwrap_or_default();
        }
        let listed = whys.into_iter().map(|why| AssertionViolation { reason: why.reason, evidence: why.evidence });
        let listed: Vec<AssertionViolation> = listed.collect();
        let first = listed.first().cloned().unwrap_or_default();
        Self { reason: first.reason, evidence: first.evidence, violations: ViolationList { count, listed } }
    }
}
