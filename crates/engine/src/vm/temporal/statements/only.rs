//! `only A, B`: every call of the list is one of them.

use super::{Exercise, Meaning, Statement, all, helps};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::closed::{Asks, Decided, Search};
use crate::vm::temporal::explain::why;
use crate::vm::temporal::failures::Failures;
use crate::vm::temporal::monitor::{Judged, Monitor, Why};
use crate::vm::temporal::timeline::index;
use crate::vm::temporal::view::{Hit, View};

/// The definition.
pub(super) fn statement(steps: &[PatternId]) -> Statement {
    Statement::new(all(steps, helps), Exercise::Calls, Only).of_calls()
}

#[derive(Debug)]
struct Only;

impl Meaning for Only {
    fn is_closed(&self, _: bool) -> bool {
        true
    }

    fn closed(&self, search: &Search<'_, '_>, _: &mut dyn Asks) -> Result<Option<Decided>, Fault> {
        let is_allowed = |call: u32| search.operands(0).any(|(_, operand)| operand.is_at(call));
        let is_stray = |place: &usize| search.call(*place).is_some_and(|call| !is_allowed(call));
        let strays = (0..search.call_count()).filter(is_stray).map(index);
        let mut failures = Failures::new(search.listed);
        failures.extend(strays.take(if search.lists() { usize::MAX } else { 1 }));
        let fails = !failures.is_empty();
        let words =
            move |view: &mut View<'_, '_>| Some(failures.explain(view, |view, place| Some(stray(view, *place))));
        Ok(Some(search.fails(fails.then_some(words))))
    }

    fn monitor<'run>(&self, view: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(OnlyMonitor::new(view)))
    }
}

/// The monitor.
struct OnlyMonitor {
    /// The calls before this place have been looked at.
    looked: u32,
    /// Those that match nothing.
    strays: Failures<u32>,
}

impl OnlyMonitor {
    /// A monitor that has seen nothing.
    fn new(view: &View<'_, '_>) -> Self {
        Self { looked: 0, strays: Failures::of(view) }
    }
}

impl<'run> Monitor<'run> for OnlyMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        let Some(place) = hits.iter().find_map(|hit| hit.call.filter(|_| view.counts(hit))) else { return Ok(()) };
        // Calls without a hit are not shown to a monitor.
        self.strays.extend(self.looked..place);
        self.looked = self.looked.max(place.saturating_add(1));
        Ok(())
    }

    fn judge(&mut self, view: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        Ok(Judged::fails_for_good(!self.strays.is_empty() || (self.looked as usize) < view.calls.len()))
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let mut strays = self.strays.clone();
        strays.extend(self.looked..index(view.calls.len()));
        strays.explain(view, |view, place| Some(stray(view, *place)))
    }
}

/// A call that nothing in an `only` names.
fn stray(view: &mut View<'_, '_>, place: u32) -> Why {
    let Some(&call) = view.calls.get(place as usize) else { return Why::default() };
    let allowed: Vec<String> = (0..view.operands.len()).map(|operand| view.pattern(operand)).collect();
    let allowed = match allowed.as_slice() {
        [one] => format!("not {one}"),
        many => format!("none of {}", many.join(", ")),
    };
    let reason = format!("{} is {allowed}", view.say(call));
    why(reason, vec![view.step_proof(call, 0, Role::Decisive, view.similar_name(call, 0..view.operands.len()))])
}
