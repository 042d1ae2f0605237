//! How far steps are apart, where a statement has a bound.

use super::super::recent_occurrences::bound_holds;
use super::super::step_lists::measure_of;
use super::super::timeline::to_index;
use super::super::view::{Hit, WindowView};
use crate::vm::outcome::{Role, VerdictEvidence};
use averment_checker::ir::StepDistance;

impl WindowView<'_, '_> {
    pub(in super::super) fn too_late(
        &mut self,
        hit: &Hit,
        wanted: usize,
        within: Option<StepDistance>,
    ) -> Option<VerdictEvidence> {
        let near = self.fitting_match(wanted, hit, false)?;
        let label = self.distance_words(&near, hit.step, near.step, within)?;
        Some(self.step_proof(near.step, wanted, Role::NearMiss, label))
    }

    /// A step's distance, if it exceeds the bound or is unknown.
    pub(in super::super) fn distance_words(
        &self,
        near: &Hit,
        from: u32,
        to: u32,
        within: Option<StepDistance>,
    ) -> Option<String> {
        let name = self.describe_step(near.step);
        let of = |step: u32| measure_of(self, within, step);
        match bound_holds(within, of(from), of(to)) {
            Some(true) => None,
            Some(false) => {
                let away = of(to).zip(of(from)).map_or(0.0, |(to, from)| to - from);
                Some(format!("{name} is {} away", distance_in_unit(within, away)))
            }
            None => Some(format!("the run does not record how far away {name} is")),
        }
    }
}

/// A distance in the bound's unit: `7 calls`, `1 turn`, `6.5s`.
fn distance_in_unit(within: Option<StepDistance>, away: f64) -> String {
    let counted = |thing: &str| format!("{away} {thing}{}", if away == 1.0 { "" } else { "s" });
    match within {
        Some(StepDistance::Turns(_)) => counted("turn"),
        Some(StepDistance::Time(_)) if away >= 1000.0 => format!("{}s", away / 1000.0),
        Some(StepDistance::Time(_)) => format!("{away}ms"),
        Some(StepDistance::Calls(_)) | None => counted("call"),
    }
}

pub(in super::super) fn window_end(view: &WindowView<'_, '_>) -> u32 {
    to_index(view.context.window.end)
}
