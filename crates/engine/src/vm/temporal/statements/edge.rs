//! `first A` and `last A`: which call stands at the edge of the call list.

use super::{Exercise, Meaning, Statement, helps};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::closed::{Asks, Decided, Search};
use crate::vm::temporal::explain::why;
use crate::vm::temporal::monitor::{Judged, Monitor, Why};
use crate::vm::temporal::timeline::index;
use crate::vm::temporal::view::{Hit, View};

/// `first A`.
pub(super) fn first(step: PatternId) -> Statement {
    Statement::new(vec![helps(step)], Exercise::Always, Edge { last: false }).of_calls()
}

/// `last A`.
pub(super) fn last(step: PatternId) -> Statement {
    Statement::new(vec![helps(step)], Exercise::Always, Edge { last: true }).of_calls()
}

#[derive(Debug)]
struct Edge {
    last: bool,
}

impl Meaning for Edge {
    fn is_closed(&self, _: bool) -> bool {
        true
    }

    fn closed(&self, search: &Search<'_, '_>, _: &mut dyn Asks) -> Result<Option<Decided>, Fault> {
        let Some(operand) = search.operand(0) else { return Ok(None) };
        let place = if self.last { search.call_count().checked_sub(1) } else { Some(0) };
        // A match beyond the edge is no call of the list: one that was proposed, where others were executed.
        let holds = place.and_then(|place| search.call(place)).is_some_and(|call| operand.is_at(call));
        let last = self.last;
        Ok(Some(search.fails((!holds).then_some(move |view: &mut View<'_, '_>| Some(elsewhere(view, last))))))
    }

    fn monitor<'run>(&self, _: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(EdgeMonitor::new(self.last)))
    }
}

/// The monitor.
struct EdgeMonitor {
    last: bool,
    /// The last place of an A, for `first` only the first call.
    place: Option<u32>,
}

impl EdgeMonitor {
    /// A monitor of the first or last call.
    fn new(last: bool) -> Self {
        Self { last, place: None }
    }
}

impl<'run> Monitor<'run> for EdgeMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        for hit in hits {
            let wanted = self.last || hit.call == Some(0);
            if wanted && hit.call.is_some() && view.counts(hit) {
                self.place = hit.call;
            }
        }
        Ok(())
    }

    fn judge(&mut self, view: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let count = index(view.calls.len());
        let wanted = if self.last { count.checked_sub(1) } else { Some(0) };
        let holds = count > 0 && self.place == wanted;
        let settled = !self.last && count > 0;
        Ok(Judged { failed_for_good: !holds && settled, passed_for_good: holds && settled, ..Judged::fails(!holds) })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        elsewhere(view, self.last)
    }

    fn prove(&self, view: &mut View<'_, 'run>) -> Why {
        at_edge(view, self.last)
    }
}

/// The first or last call is something else.
fn elsewhere(view: &mut View<'_, '_>, last: bool) -> Why {
    let place = if last { "last" } else { "first" };
    let wanted = view.pattern(0);
    let call = if last { view.calls.last() } else { view.calls.first() };
    match call.copied() {
        None => why(format!("there are no calls, so the {place} one is not {wanted}"), Vec::new()),
        Some(call) => {
            let reason = format!("the {place} call is {}, not {wanted}", view.say(call));
            why(reason, vec![view.step_proof(call, 0, Role::Decisive, view.similar_name(call, 0..1))])
        }
    }
}

/// The first or last call is what it should not be.
fn at_edge(view: &mut View<'_, '_>, last: bool) -> Why {
    let place = if last { "last" } else { "first" };
    let call = if last { view.calls.last() } else { view.calls.first() };
    call.copied().map_or_else(Why::default, |call| {
        let proof = view.step_proof(call, 0, Role::Decisive, String::new());
        why(format!("the {place} call is {}", view.say(call)), vec![proof])
    })
}
