//! Where a statement fails: the first places are kept, the others counted, and each is explained in the words of the first.

use super::view::WindowView;
use super::window_events::VerdictReason;
use crate::vm::outcome::{AssertionViolation, ViolationList};
use smallvec::SmallVec;

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
