//! How far steps are apart, where a statement has a bound.

use super::super::recent_occurrences::{bound, measure};
use super::super::timeline::index;
use super::super::view::{Hit, View};
use crate::ir::Within;
use crate::vm::outcome::{Evidence, Role};

impl View<'_, '_> {
    /// The nearest B of the same values that comes too late, or nobody knows when.
    pub(in super::super) fn too_late(&mut self, hit: &Hit, wanted: usize, within: Option<Within>) -> Option<Evidence> {
        let near = self.fitting(wanted, hit, false)?;
        let label = self.distance(&near, hit.step, near.step, within)?;
        Some(self.step_proof(near.step, wanted, Role::NearMiss, label))
    }

    /// How far a step is away, when that is more than the bound or not known.
    pub(in super::super) fn distance(&self, near: &Hit, from: u32, to: u32, within: Option<Within>) -> Option<String> {
        let name = self.say(near.step);
        let of = |step: u32| self.step(step).and_then(|step| measure(within, step));
        match bound(within, of(from), of(to)) {
            Some(true) => None,
            Some(false) => {
                let away = of(to).zip(of(from)).map_or(0.0, |(to, from)| to - from);
                Some(format!("{name} is {} away", apart(within, away)))
            }
            None => Some(format!("the run does not record how far away {name} is")),
        }
    }
}

/// A distance in the unit of a bound: `7 calls`, `1 turn`, `6.5s`.
fn apart(within: Option<Within>, away: f64) -> String {
    let counted = |thing: &str| format!("{away} {thing}{}", if away == 1.0 { "" } else { "s" });
    match within {
        Some(Within::Turns(_)) => counted("turn"),
        Some(Within::Time(_)) if away >= 1000.0 => format!("{}s", away / 1000.0),
        Some(Within::Time(_)) => format!("{away}ms"),
        Some(Within::Calls(_)) | None => counted("call"),
    }
}

/// The step behind the window.
pub(in super::super) fn end(view: &View<'_, '_>) -> u32 {
    index(view.context.window.end)
}
