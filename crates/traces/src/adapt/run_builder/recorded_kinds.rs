//! Which kinds of steps a run records: the absence of others says nothing.

use super::RunBuilder;
use averment_runs::run::StepKind;

impl RunBuilder<'_, '_> {
    /// The absence of such steps then counts as evidence.
    pub(crate) fn mark_recorded(&mut self, kinds: &[StepKind]) {
        for kind in kinds {
            if let Some(recorded) = self.recorded.get_mut(*kind as usize) {
                *recorded = true;
            }
        }
    }

    pub(crate) fn mark_unrecorded(&mut self, kind: StepKind) {
        if let Some(recorded) = self.recorded.get_mut(kind as usize) {
            *recorded = false;
        }
    }

    /// What the agent did is not told: neither calls nor what follows from them.
    pub(crate) fn mark_actions_unrecorded(&mut self) {
        use StepKind::{Call, Command, Http, Read, Skill, Write};
        [Call, Command, Http, Read, Skill, Write].into_iter().for_each(|kind| self.mark_unrecorded(kind));
    }

    pub(in crate::adapt) fn is_recorded(&self, kind: StepKind) -> bool {
        self.recorded.get(kind as usize) == Some(&true)
    }
}
