//! `immediately before A -> B` and `immediately after A -> B`: what stands beside a step in the call list.

use super::before::not_known_words;
use super::{Exercise, Meaning, Polarity, Statement, helps, hurts, in_front};
use crate::bytecode::program::PatternId;
use crate::ir::Within;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::explain::{for_which, why};
use crate::vm::temporal::failures::Failures;
use crate::vm::temporal::monitor::{Judged, Monitor, Why, of};
use crate::vm::temporal::recent_occurrences::{bound, measure};
use crate::vm::temporal::timeline::index;
use crate::vm::temporal::view::{Fit, Hit, View, same_values};

/// `immediately before A -> B`.
pub(super) fn before(step: PatternId, targets: &[PatternId], within: Option<Within>) -> Statement {
    let operands = in_front(helps(step), targets, hurts);
    let exercise = Exercise::AnyOf(1..operands.len());
    Statement::new(operands, exercise, Immediate { after: false, within }).in_order().of_calls().within(within)
}

/// `immediately after A -> B`.
pub(super) fn after(step: PatternId, targets: &[PatternId], within: Option<Within>) -> Statement {
    let operands = in_front(hurts(step), targets, helps);
    let meaning = Immediate { after: true, within };
    Statement::new(operands, Exercise::AnyOf(0..1), meaning).in_order().of_calls().within(within)
}

#[derive(Debug)]
struct Immediate {
    after: bool,
    within: Option<Within>,
}

impl Meaning for Immediate {
    fn monitor<'run>(&self, view: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(ImmediateMonitor::new(self.after, self.within, view.listed)))
    }
}

/// The monitor.
struct ImmediateMonitor {
    after: bool,
    within: Option<Within>,
    /// The last call with hits: with its place. For `before` they are the A's, for `after` the A's that wait for their B.
    latest: Vec<Hit>,
    failures: Failures<WrongNeighbour>,
}

/// A step whose neighbour is wrong.
#[derive(Clone)]
struct WrongNeighbour {
    hit: Hit,
    /// The operand that was looked for.
    wanted: usize,
}

/// The operand of A; its targets stand behind it.
const SOURCE: usize = 0;

impl ImmediateMonitor {
    /// A monitor that has seen nothing.
    fn new(after: bool, within: Option<Within>, listed: usize) -> Self {
        Self { after, within, latest: Vec::new(), failures: Failures::new(listed) }
    }

    /// Whether two neighbours match under one environment, within the bound.
    fn fits(&self, earlier: &Hit, later: &Hit, view: &mut View<'_, '_>) -> Result<bool, Fault> {
        let of_step = |hit: &Hit, view: &View<'_, '_>| view.step(hit.step).and_then(|step| measure(self.within, step));
        let near = bound(self.within, of_step(earlier, view), of_step(later, view));
        if !near.unwrap_or_else(|| view.assume(Polarity::Helps)) {
            return Ok(false);
        }
        if !self.after && view.not_known(earlier.step, later.step).is_some() {
            return Ok(false);
        }
        let (quantified, other) = if self.after { (earlier, later) } else { (later, earlier) };
        let fresh = Hit { env: quantified.fresh(), ..quantified.clone() };
        let fit = view.fit(fresh.side(), other.side())?;
        Ok(view.accepts(fit, Polarity::Helps))
    }

    fn fail(&mut self, hit: &Hit, wanted: usize) {
        self.failures.add(|| WrongNeighbour { hit: hit.clone(), wanted });
    }

    /// The A's whose B has not come: where the window is closed or another call has come, it never does.
    fn missed(&self, view: &View<'_, '_>) -> Failures<WrongNeighbour> {
        let count = index(view.calls.len());
        let next = |hit: &Hit| view.context.window.closed || hit.call.is_some_and(|call| call + 1 < count);
        let mut missed = Failures::of(view);
        for hit in self.latest.iter().filter(|hit| self.after && next(hit)) {
            missed.extend((1..view.operands.len()).map(|wanted| WrongNeighbour { hit: hit.clone(), wanted }));
        }
        missed
    }

    /// Every B of this step has an A just before it.
    fn look_back(&mut self, hits: &[Hit], view: &mut View<'_, '_>) -> Result<(), Fault> {
        for hit in hits.iter().filter(|hit| hit.operand != SOURCE) {
            if !view.counts(hit) {
                continue;
            }
            let before = hit.call.and_then(|call| call.checked_sub(1));
            let neighbours: Vec<Hit> =
                self.latest.iter().filter(|a| before.is_some() && a.call == before).cloned().collect();
            let mut met = false;
            for neighbour in &neighbours {
                met = met || self.fits(neighbour, hit, view)?;
            }
            if !met {
                self.fail(hit, SOURCE);
            }
        }
        self.remember(hits, view);
        Ok(())
    }

    /// Every A that waits has each B among the hits of the call behind it.
    fn look_ahead(&mut self, hits: &[Hit], view: &mut View<'_, '_>) -> Result<(), Fault> {
        if hits.iter().all(|hit| hit.call.is_none()) {
            let outside: Vec<&Hit> = of(hits, SOURCE).filter(|hit| view.counts(hit)).collect();
            for hit in outside {
                (1..view.operands.len()).for_each(|wanted| self.fail(hit, wanted));
            }
            return Ok(());
        }
        for waiting in std::mem::take(&mut self.latest) {
            for wanted in 1..view.operands.len() {
                let next = waiting.call.map(|call| call + 1);
                let mut met = false;
                for hit in of(hits, wanted) {
                    met = met || (hit.call == next && view.counts(hit) && self.fits(&waiting, hit, view)?);
                }
                if !met {
                    self.fail(&waiting, wanted);
                }
            }
        }
        self.remember(hits, view);
        Ok(())
    }

    fn remember(&mut self, hits: &[Hit], view: &mut View<'_, '_>) {
        let sources: Vec<Hit> =
            of(hits, SOURCE).filter(|hit| hit.call.is_some() && view.counts(hit)).cloned().collect();
        if hits.iter().any(|hit| hit.call.is_some()) {
            self.latest = sources;
        }
    }
}

impl<'run> Monitor<'run> for ImmediateMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        if self.after { self.look_ahead(hits, view) } else { self.look_back(hits, view) }
    }

    fn judge(&mut self, view: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let count = index(view.calls.len());
        let waiting = self.after.then(|| self.latest.first()).flatten();
        // The next call has come, and it matches nothing.
        let missed = waiting.is_some_and(|hit| hit.call.is_some_and(|call| call + 1 < count));
        let lost = !self.failures.is_empty() || missed;
        Ok(Judged { failed_for_good: lost, ..Judged::fails(lost || waiting.is_some()) })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let beside = if self.after { Beside::After } else { Beside::Before };
        let words = |view: &mut View<'_, '_>, one: &WrongNeighbour| Some(neighbour(view, &one.hit, one.wanted, beside));
        let parts = [self.failures.clone(), self.missed(view)];
        let failures = Failures::joined(view, parts.into_iter(), |one| (one.hit.step, one.wanted));
        if !failures.is_empty() {
            return failures.explain(view, words);
        }
        let waiting = self.latest.first().filter(|_| self.after);
        let waiting = waiting.map(|hit| WrongNeighbour { hit: hit.clone(), wanted: 1 });
        waiting.and_then(|waiting| words(view, &waiting)).unwrap_or_default()
    }
}

/// On which side of a step its neighbour is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// The call just before it.
    Before,
    /// The call just after it.
    After,
}

/// A step whose neighbour in the call list is something else.
fn neighbour(view: &mut View<'_, '_>, hit: &Hit, wanted: usize, beside: Beside) -> Why {
    let side = if beside == Beside::Before { "before" } else { "after" };
    let thing = view.thing(wanted, &hit.env);
    let step = view.say(hit.step);
    let place = match beside {
        Beside::Before => hit.call.and_then(|call| call.checked_sub(1)),
        Beside::After => hit.call.map(|call| call + 1),
    };
    let other = place.and_then(|place| view.calls.get(place as usize)).copied();
    let near = other.and_then(|other| view.hits_of(wanted).find(|near| near.step == other));
    let fits = near
        .as_ref()
        .is_some_and(|near| same_values(&near.env, &hit.env) == Fit::Yes && view.is_pair(near, hit, &hit.env));
    let join_mismatch = near.and_then(|near| view.join_mismatch(&near, &hit.env, std::slice::from_ref(hit)));
    let test = join_mismatch
        .as_ref()
        .and_then(|join_mismatch| join_mismatch.test.as_deref())
        .map(for_which)
        .unwrap_or_default();
    let because = join_mismatch.map_or_else(String::new, |join_mismatch| [": ", &join_mismatch.words].concat());
    let unknown =
        other.filter(|_| beside == Beside::Before).and_then(|other| Some((other, view.not_known(other, hit.step)?)));
    if let (Some((other, said)), true) = (unknown, fits) {
        let words = not_known_words(view, other, said);
        let mut evidence = view.decisive(hit, String::new());
        evidence.push(view.step_proof(other, wanted, Role::NearMiss, String::new()));
        return why([&step, " has no ", &thing, " just before it: ", &words].concat(), evidence);
    }
    let reason = match other {
        Some(other) => format!("the call just {side} {step} is {}, not {thing}{test}{because}", view.say(other)),
        None => format!("there is no call just {side} {step}, where {thing} should be"),
    };
    let mut evidence = view.decisive(hit, String::new());
    let like = |other: u32| view.similar_name(other, std::iter::once(wanted));
    evidence.extend(other.map(|other| view.step_proof(other, wanted, Role::NearMiss, like(other))));
    why(reason, evidence)
}
