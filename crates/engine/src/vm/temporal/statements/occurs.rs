//! `require A`, `never A, B`, `either A or B`: whether something occurs.

use super::{Exercise, Meaning, Statement, all, helps, hurts};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Evidence;
use crate::vm::temporal::closed::{Asks, Decided, FailingPlace, Search};
use crate::vm::temporal::explain::{short, why};
use crate::vm::temporal::failures::Failures;
use crate::vm::temporal::monitor::{Judged, Monitor, Why, hit};
use crate::vm::temporal::timeline::index;
use crate::vm::temporal::view::{Hit, View};

/// `require A`.
pub(super) fn require(step: PatternId) -> Statement {
    Statement::new(vec![helps(step)], Exercise::Always, Occurs { wanted: true })
}

/// `either A or B`.
pub(super) fn either(steps: &[PatternId]) -> Statement {
    let statement = Statement::new(all(steps, helps), Exercise::Always, Occurs { wanted: true });
    Statement { either: true, ..statement }
}

/// `never A, B`.
pub(super) fn never(steps: &[PatternId]) -> Statement {
    Statement::new(all(steps, hurts), Exercise::Always, Occurs { wanted: false })
}

/// A match is wanted, or none is.
#[derive(Debug)]
struct Occurs {
    wanted: bool,
}

impl Meaning for Occurs {
    fn is_closed(&self, _: bool) -> bool {
        true
    }

    fn closed(&self, search: &Search<'_, '_>, _: &mut dyn Asks) -> Result<Option<Decided>, Fault> {
        if self.wanted {
            let none = search.operands(0).all(|(_, occurrences)| occurrences.is_empty());
            return Ok(Some(search.fails(none.then_some(|view: &mut View<'_, '_>| Some(nothing_occurs(view))))));
        }
        // A step that matches several patterns is one.
        let places = search.steps(search.operands(0).flat_map(|(operand, occurrences)| {
            let events = occurrences.events().take(if search.lists() { usize::MAX } else { 1 });
            events.map(move |event| FailingPlace::new(operand, occurrences, event))
        }));
        Ok(Some(search.fails_at(places, |view, place| Some(occurs(view, &hit(place.operand, place.event, view)?)))))
    }

    fn monitor<'run>(&self, view: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(OccursMonitor::new(view, self.wanted)))
    }
}

/// The monitor.
struct OccursMonitor {
    wanted: bool,
    /// Of several patterns that want a match it counts which of them occur.
    alone: bool,
    found: Failures<Hit>,
}

impl OccursMonitor {
    /// A monitor that wants a match, or none.
    fn new(view: &View<'_, '_>, wanted: bool) -> Self {
        Self { wanted, alone: view.operands.len() == 1, found: Failures::of(view) }
    }
}

impl<'run> Monitor<'run> for OccursMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        if let Some(hit) = hits.iter().find(|hit| view.counts(hit)) {
            self.found.push(hit.clone());
        }
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let occurs = !self.found.is_empty();
        Ok(if self.wanted { Judged::holds_for_good(occurs) } else { Judged::fails_for_good(occurs) })
    }

    fn is_settled(&self) -> bool {
        !self.found.is_empty() && (self.alone || !self.wanted)
    }

    fn only_adds_failures(&self) -> bool {
        !self.wanted
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        match (self.found.first(), self.wanted) {
            (None, _) => nothing_occurs(view),
            // Where one is wanted, the first proves it.
            (Some(hit), true) => occurs(view, hit),
            (Some(_), false) => self.found.explain(view, |view, hit| Some(occurs(view, hit))),
        }
    }

    fn prove(&self, view: &mut View<'_, 'run>) -> Why {
        self.explain(view)
    }
}

/// Something occurs that must not.
fn occurs(view: &mut View<'_, '_>, hit: &Hit) -> Why {
    let text = short(view.text(hit.operand));
    let condition = view.written_of(hit).and_then(|alternative| alternative.condition);
    let (because, values) = condition.map_or_else(Default::default, |code| view.explained(hit, code));
    let plain = view.pattern(hit.operand) == text;
    let reason = match because.as_str() {
        // A pattern that is nothing but a name has been said with the step.
        "" if plain => format!("there is {}", view.say(hit.step)),
        "" => format!("{} matches `{text}`", view.say(hit.step)),
        because => format!("{} matches `{text}`: {because}", view.say(hit.step)),
    };
    let mut evidence = view.decisive(hit, String::new());
    evidence.extend(values);
    why(reason, evidence)
}

/// Nothing occurs of what should.
fn nothing_occurs(view: &mut View<'_, '_>) -> Why {
    let things: Vec<String> = (0..view.operands.len()).map(|operand| view.thing(operand, &view.header)).collect();
    let end = index(view.context.window.end);
    let mut evidence: Vec<Evidence> = Vec::new();
    for operand in 0..view.operands.len() {
        let header = view.header.clone();
        evidence.extend(view.near_miss(operand, &header, end, true).or_else(|| view.misspelt(operand)));
    }
    why(format!("there is no {}", things.join(" and no ")), evidence)
}
