//! `only A, B`: every call of the list is one of them.

use super::{Exercise, Meaning, Statement, all, helps};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::closed::{Asks, Decided, Search};
use crate::vm::temporal::explain::why;
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
        let place = (0..search.call_count()).find(is_stray).map(index);
        Ok(Some(search.fails(place.map(|place| move |view: &mut View<'_, '_>| Some(stray(view, place))))))
    }

    fn monitor<'run>(&self, _: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(OnlyMonitor::new()))
    }
}

/// The monitor.
struct OnlyMonitor {
    /// How many calls from the start match.
    matched: u32,
}

impl OnlyMonitor {
    /// A monitor that has seen nothing.
    fn new() -> Self {
        Self { matched: 0 }
    }
}

impl<'run> Monitor<'run> for OnlyMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        if hits.iter().any(|hit| hit.call == Some(self.matched) && view.counts(hit)) {
            self.matched += 1;
        }
        Ok(())
    }

    fn judge(&mut self, view: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        Ok(Judged::fails_for_good((self.matched as usize) < view.calls.len()))
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        stray(view, self.matched)
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
