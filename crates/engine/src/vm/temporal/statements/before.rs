//! `before A -> B, C` and `before each A -> B`: every B has an earlier A.

use super::{Exercise, Meaning, Polarity, Statement, helps, hurts, in_front};
use crate::bytecode::program::PatternId;
use crate::ir::Within;
use crate::vm::fault::Fault;
use crate::vm::outcome::{Evidence, Role};
use crate::vm::temporal::closed::{Asks, Decided, FailingPlace, Occurrences, Search, is_by_place};
use crate::vm::temporal::explain::{listed, why, within_words};
use crate::vm::temporal::failures::Failures;
use crate::vm::temporal::keys::Keys;
use crate::vm::temporal::match_index::MatchIndex;
use crate::vm::temporal::monitor::{Judged, Monitor, Why, hit, of};
use crate::vm::temporal::recent_occurrences::{Occurrence, RecentOccurrences, measure};
use crate::vm::temporal::view::{Hit, View};
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// The definition.
pub(super) fn statement(step: PatternId, targets: &[PatternId], each: bool, within: Option<Within>) -> Statement {
    let operands = in_front(helps(step), targets, hurts);
    let exercise = Exercise::AnyOf(1..operands.len());
    Statement::new(operands, exercise, Before { each, within }).in_order().within(within)
}

#[derive(Debug)]
struct Before {
    each: bool,
    within: Option<Within>,
}

impl Meaning for Before {
    fn is_closed(&self, _: bool) -> bool {
        is_by_place(self.within)
    }

    fn closed(&self, search: &Search<'_, '_>, _: &mut dyn Asks) -> Result<Option<Decided>, Fault> {
        let Some(source) = search.operand(SOURCE) else { return Ok(None) };
        let places = search.places(search.operands(SOURCE + 1).flat_map(|(operand, target)| {
            let unmet = self.unmet(search, source, target);
            unmet.map(move |event| FailingPlace {
                others: (self.since(target, event), None),
                ..FailingPlace::new(operand, target, event)
            })
        }));
        let within = self.within;
        Ok(Some(search.fails_at(places, move |view, place| {
            Some(no_earlier(view, &hit(place.operand, place.event, view)?, place.others.0, within))
        })))
    }

    fn monitor<'run>(&self, view: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(BeforeMonitor::new(view, self.each, self.within)))
    }
}

impl Before {
    /// The B's without an A; the first alone where no others are listed.
    fn unmet<'s>(
        &'s self,
        search: &'s Search<'_, '_>,
        source: Occurrences<'s>,
        target: Occurrences<'s>,
    ) -> impl Iterator<Item = u32> + 's {
        // Without values every A before the first B is before the later ones.
        let first = !search.lists() && !self.each && self.within.is_none() && search.is_unbound();
        let events = target.events().take(if first { 1 } else { usize::MAX });
        let unmet = events.filter(move |event| !self.is_met(search, source, target, *event));
        unmet.take(if search.lists() { usize::MAX } else { 1 })
    }

    /// Whether an A stands before a B, near enough and behind the B before it where each needs its own.
    fn is_met(&self, search: &Search<'_, '_>, source: Occurrences<'_>, target: Occurrences<'_>, event: u32) -> bool {
        let (key, step) = (target.key(event), target.step(event));
        if !self.each && self.within.is_none() {
            return source.is_before(key, step);
        }
        source.before(key, step).is_some_and(|near| {
            let near = source.step(near);
            self.since(target, event).is_none_or(|since| since < near) && search.near(self.within, near, step)
        })
    }

    /// The B of the same values before a B, where each needs an A of its own.
    fn since(&self, target: Occurrences<'_>, event: u32) -> Option<u32> {
        let previous = if self.each { target.before(target.key(event), target.step(event)) } else { None };
        previous.map(|previous| target.step(previous))
    }
}

/// The operand of A; its targets stand behind it.
const SOURCE: usize = 0;

/// The monitor.
struct BeforeMonitor {
    within: Option<Within>,
    each: bool,
    targets: Vec<BeforeTarget>,
    failures: Failures<UnmetTarget>,
}

/// What is kept for one B.
struct BeforeTarget {
    operand: usize,
    /// The A's.
    sources: MatchIndex<RecentOccurrences>,
    /// With `each`: the latest B by its values; an A before it does not count any more.
    latest: MatchIndex<Option<u32>>,
}

/// A B without an A.
#[derive(Clone)]
struct UnmetTarget {
    hit: Hit,
    /// The B since which an A would have been needed.
    since: Option<u32>,
}

impl BeforeMonitor {
    /// A monitor for a statement with this many targets.
    fn new(view: &View<'_, '_>, each: bool, within: Option<Within>) -> Self {
        let target = |operand| BeforeTarget {
            operand,
            sources: MatchIndex::new(Keys::between(view, SOURCE, operand)),
            latest: MatchIndex::new(Keys::of_values(view, operand)),
        };
        let targets = (1..view.operands.len()).map(target).collect();
        Self { within, each, targets, failures: Failures::of(view) }
    }
}

impl BeforeTarget {
    /// The latest B with the values of this one.
    fn previous(&mut self, hit: &Hit, view: &mut View<'_, '_>) -> Result<Option<u32>, Fault> {
        let mut latest = None;
        self.latest.visit(view, hit.side(), |group, fit, view| {
            if view.accepts(fit, Polarity::Hurts) {
                latest = latest.max(group.data);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(latest)
    }

    /// Whether an A stands behind step `since` and before this B.
    fn is_met(
        &mut self,
        hit: &Hit,
        since: Option<u32>,
        within: Option<Within>,
        view: &mut View<'_, '_>,
    ) -> Result<bool, Fault> {
        let now = view.step(hit.step).and_then(|step| measure(within, step));
        let fresh = Hit { env: hit.fresh(), ..hit.clone() };
        let mut met = false;
        self.sources.visit(view, fresh.side(), |group, fit, view| {
            if view.accepts(fit, Polarity::Helps) {
                let found = group.data.find(since, within, now);
                met = found.sure.is_some() || (found.unknown.is_some() && view.assume(Polarity::Helps));
            }
            Ok(if met { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(met)
    }
}

impl<'run> Monitor<'run> for BeforeMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        for target in &mut self.targets {
            let now: SmallVec<[&Hit; 2]> = of(hits, target.operand).filter(|hit| view.counts(hit)).collect();
            for hit in &now {
                let since = if self.each { target.previous(hit, view)? } else { None };
                if (self.failures.is_empty() || view.listed > 0) && !target.is_met(hit, since, self.within, view)? {
                    self.failures.add(|| UnmetTarget { hit: (*hit).clone(), since });
                }
            }
            if self.each {
                for hit in &now {
                    target.latest.add(view, hit, &hit.env, |latest| *latest = Some(hit.step))?;
                }
            }
        }
        for hit in of(hits, SOURCE) {
            if !view.counts(hit) {
                continue;
            }
            let measure = view.step(hit.step).and_then(|step| measure(self.within, step));
            for target in &mut self.targets {
                target.sources.add(view, hit, &hit.env, |recent| recent.add(Occurrence { step: hit.step, measure }))?;
            }
        }
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        Ok(Judged::fails_for_good(!self.failures.is_empty()))
    }

    fn is_settled(&self) -> bool {
        !self.failures.is_empty()
    }

    fn only_adds_failures(&self) -> bool {
        true
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let within = self.within;
        self.failures.explain(view, |view, failure| Some(no_earlier(view, &failure.hit, failure.since, within)))
    }

    fn state(&self, view: &mut View<'_, 'run>) -> String {
        let Some(target) = self.targets.first() else { return String::new() };
        let came = target.sources.groups().iter().map(|group| view.thing(SOURCE, &group.env)).collect::<Vec<_>>();
        if came.is_empty() { String::new() } else { format!("{} came", listed(came)) }
    }
}

/// `refund at call 3 has no earlier approve with id "o-1"`.
fn no_earlier(view: &mut View<'_, '_>, hit: &Hit, since: Option<u32>, within: Option<Within>) -> Why {
    let wanted = view.wanted(SOURCE, hit, &hit.env, true);
    let since_words = since.map(|since| format!(" since {}", view.say(since))).unwrap_or_default();
    let reason = [&view.say(hit.step), " has no earlier ", &wanted, &within_words(within), &since_words].concat();
    let mut evidence = view.decisive(hit, ["this has no earlier ", &wanted].concat());
    let behind = |since| view.step_proof(since, hit.operand, Role::Opening, format!("{wanted} was needed behind this"));
    evidence.extend(since.map(behind));
    match too_far(view, hit, since, within) {
        Some(near) => evidence.push(near),
        None => evidence.extend(view.nearest(SOURCE, hit, &hit.env, true)),
    }
    why(reason, evidence)
}

/// The nearest A of the same values that does not count: it is used up, too far away, or its distance is not known.
fn too_far(view: &mut View<'_, '_>, hit: &Hit, since: Option<u32>, within: Option<Within>) -> Option<Evidence> {
    let near = view.fitting(SOURCE, hit, true)?;
    let label = match since.filter(|since| near.step <= *since) {
        Some(since) => format!("{} stands before {}", view.say(near.step), view.say(since)),
        None => view.distance(&near, (near.step, hit.step), within)?,
    };
    Some(view.step_proof(near.step, SOURCE, Role::NearMiss, label))
}
