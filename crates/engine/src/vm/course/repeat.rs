//! `never repeat A more than n times`: the same call in a row.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::explain;
use super::monitor::{Judged, Monitor, Why};
use super::view::{Hit, View};
use crate::vm::fault::Fault;
use averment_base::value::{Value, compare};
use averment_runs::run::Step;

/// The monitor.
pub(super) struct Repeat {
    limit: u32,
    /// The last call that matched, and how many before it are the same.
    latest: Option<Row>,
    /// The first row that is too long.
    caught: Option<Row>,
    /// A call of the list surely matches, or may.
    occurs: (bool, bool),
}

/// Neighbouring calls that are the same.
#[derive(Debug, Clone)]
struct Row {
    first: u32,
    last: u32,
    place: u32,
    length: u32,
}

impl Repeat {
    /// A monitor that has seen nothing.
    pub(super) fn new(limit: u32) -> Self {
        Self { limit, latest: None, caught: None, occurs: (false, false) }
    }
}

/// The arguments of a call; none, `null` and `{}` are alike.
fn arguments<'run>(step: &Step<'run>) -> Option<Value<'run>> {
    let value = step.object.get("args")?.value;
    match value {
        Value::Missing | Value::Absent | Value::Null => None,
        Value::Object(object) if object.entries().is_empty() => None,
        value => Some(value),
    }
}

fn same(a: &Step<'_>, b: &Step<'_>) -> bool {
    let arguments = match (arguments(a), arguments(b)) {
        (None, None) => true,
        (Some(a), Some(b)) => compare::equal(&a, &b),
        _ => false,
    };
    a.name == b.name && arguments
}

impl<'run> Monitor<'run> for Repeat {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        let listed = || hits.iter().filter(|hit| hit.call.is_some());
        self.occurs.0 |= listed().any(|hit| hit.sure);
        self.occurs.1 |= listed().next().is_some();
        let Some(hit) = listed().find(|hit| view.counts(hit)) else { return Ok(()) };
        let (Some(place), Some(step)) = (hit.call, view.step(hit.step)) else { return Ok(()) };
        let continues = self.latest.take().filter(|row| {
            row.place.checked_add(1) == Some(place) && view.step(row.last).is_some_and(|last| same(last, step))
        });
        let (first, length) = continues.map_or((hit.step, 1), |row| (row.first, row.length.saturating_add(1)));
        let row = Row { first, last: hit.step, place, length };
        if row.length > self.limit {
            // The row that was too long first grows on.
            let grows = self.caught.as_ref().is_none_or(|caught| caught.first == row.first);
            self.caught = if grows { Some(row.clone()) } else { self.caught.take() };
        }
        self.latest = Some(row);
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let exercised = Some((!self.occurs.0, self.occurs.1));
        Ok(Judged { exercised, ..Judged::fails_for_good(self.caught.is_some()) })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        self.caught.as_ref().map_or_else(Why::default, |row| explain::repeated(view, row.first, row.last, row.length))
    }

    fn state(&self, _: &mut View<'_, 'run>) -> String {
        self.latest.as_ref().map_or_else(String::new, |row| format!("{} in a row", row.length))
    }
}
