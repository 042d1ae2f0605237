//! `before A -> B, C` and `before each A -> B`: every B has an earlier A that was known; with `starts` an earlier one is enough.

use super::{Exercise, Meaning, Polarity, Statement, helps, hurts, in_front};
use crate::bytecode::program::PatternId;
use crate::ir::Within;
use crate::vm::fault::Fault;
use crate::vm::outcome::{Evidence, Role};
use crate::vm::temporal::closed::{Asks, Decided, FailingPlace, Occurrences, Search, is_by_place};
use crate::vm::temporal::explain::{listed, why, within_words};
use crate::vm::temporal::failures::Failures;
use crate::vm::temporal::keys::Keys;
use crate::vm::temporal::known::NotKnown;
use crate::vm::temporal::match_index::MatchIndex;
use crate::vm::temporal::monitor::{Judged, Monitor, Why, hit, of};
use crate::vm::temporal::recent_occurrences::{FoundOccurrence, Occurrence, RecentOccurrences, bound, measure};
use crate::vm::temporal::view::{Hit, View};
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// The definition; `sense` says what counts as before.
pub(super) fn statement(step: PatternId, targets: &[PatternId], sense: Before) -> Statement {
    let operands = in_front(helps(step), targets, hurts);
    let exercise = Exercise::AnyOf(1..operands.len());
    let within = sense.within;
    Statement::new(operands, exercise, sense).in_order().within(within)
}

/// What counts as before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before {
    /// Each B needs an A of its own.
    pub(super) each: bool,
    /// The order of starts alone counts.
    pub(super) starts: bool,
    /// The bound.
    pub(super) within: Option<Within>,
}

impl Meaning for Before {
    fn is_closed(&self, _: bool) -> bool {
        is_by_place(self.within)
    }

    fn closed(&self, search: &Search<'_, '_>, asks: &mut dyn Asks) -> Result<Option<Decided>, Fault> {
        let Some(source) = search.operand(SOURCE) else { return Ok(None) };
        let mut places = Vec::new();
        for (operand, target) in search.operands(SOURCE + 1) {
            let Some(unmet) = self.unmet(search, source, target, asks)? else { return Ok(None) };
            places.extend(unmet.into_iter().map(|event| FailingPlace {
                others: (self.since(target, event), None),
                ..FailingPlace::new(operand, target, event)
            }));
        }
        let (places, sense) = (search.places(places.into_iter()), *self);
        Ok(Some(search.fails_at(places, move |view, place| {
            Some(no_earlier(view, &hit(place.operand, place.event, view)?, place.others.0, sense))
        })))
    }

    fn is_timed(&self) -> bool {
        !self.starts
    }

    fn monitor<'run>(&self, view: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(BeforeMonitor::new(view, *self)))
    }
}

impl Before {
    /// The B's without an A, the first alone where no others are listed; `None` where that cannot be told here.
    fn unmet<'s>(
        &self,
        search: &Search<'s, '_>,
        source: Occurrences<'s>,
        target: Occurrences<'s>,
        asks: &mut dyn Asks,
    ) -> Result<Option<SmallVec<[u32; 2]>>, Fault> {
        // Without values every A before the first B is before the later ones.
        let first = self.starts && !search.lists() && !self.each && self.within.is_none() && search.is_unbound();
        let mut unmet = SmallVec::new();
        for event in target.events().take(if first { 1 } else { usize::MAX }) {
            match self.is_met(search, source, target, event, asks)? {
                Some(true) => {}
                Some(false) => unmet.push(event),
                None => return Ok(None),
            }
            if !unmet.is_empty() && !search.lists() {
                break;
            }
        }
        Ok(Some(unmet))
    }

    /// Whether an A stands before a B, near enough, known and behind the B before it where each needs its own; `None` where that cannot be
    /// told here.
    fn is_met<'s>(
        &self,
        search: &Search<'s, '_>,
        source: Occurrences<'s>,
        target: Occurrences<'s>,
        event: u32,
        asks: &mut dyn Asks,
    ) -> Result<Option<bool>, Fault> {
        let (key, step) = (target.key(event), target.step(event));
        if !self.each && self.within.is_none() {
            // The first one is most likely to be known.
            let first = source.first_of(key).map(|first| source.step(first)).filter(|first| *first < step);
            let Some(first) = first else { return Ok(Some(false)) };
            if self.starts || search.is_known(first, step) == Some(true) {
                return Ok(Some(true));
            }
        }
        let since = self.since(target, event);
        let (mut at, mut met) = (step, Some(false));
        while let Some(near) = source.before(key, at).map(|near| source.step(near)) {
            asks.spend(1)?;
            if since.is_some_and(|since| near <= since) || !search.near(self.within, near, step) {
                break;
            }
            match if self.starts { Some(true) } else { search.is_known(near, step) } {
                Some(true) => return Ok(Some(true)),
                Some(false) => {}
                None => met = None,
            }
            at = near;
        }
        Ok(met)
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
    sense: Before,
    targets: Vec<BeforeTarget>,
    failures: Failures<UnmetTarget>,
}

/// What is kept for one B.
struct BeforeTarget {
    operand: usize,
    /// The A's.
    sources: MatchIndex<Sources>,
    /// With `each`: the latest B by its values; an A before it does not count any more.
    latest: MatchIndex<Option<u32>>,
}

/// The A's of one group.
#[derive(Default)]
struct Sources {
    /// Those that a bound leaves to look at.
    recent: RecentOccurrences,
    /// All of them, where a later one may be known less.
    all: Vec<Occurrence>,
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
    fn new(view: &View<'_, '_>, sense: Before) -> Self {
        let target = |operand| BeforeTarget {
            operand,
            sources: MatchIndex::new(Keys::between(view, SOURCE, operand)),
            latest: MatchIndex::new(Keys::of_values(view, operand)),
        };
        let targets = (1..view.operands.len()).map(target).collect();
        Self { sense, targets, failures: Failures::of(view) }
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

    /// Whether an A stands behind step `since` and before this B, and is known to it.
    fn is_met(&mut self, hit: &Hit, since: Option<u32>, sense: Before, view: &mut View<'_, '_>) -> Result<bool, Fault> {
        let now = view.step(hit.step).and_then(|step| measure(sense.within, step));
        let fresh = Hit { env: hit.fresh(), ..hit.clone() };
        let mut met = false;
        self.sources.visit(view, fresh.side(), |group, fit, view| {
            if view.accepts(fit, Polarity::Helps) {
                let found = group.data.find(hit.step, since, sense, now, view)?;
                met = found.sure.is_some() || (found.unknown.is_some() && view.assume(Polarity::Helps));
            }
            Ok(if met { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(met)
    }
}

impl Sources {
    /// An A behind step `since` that is near enough and known to a step.
    fn find(
        &self,
        step: u32,
        since: Option<u32>,
        sense: Before,
        now: Option<f64>,
        view: &mut View<'_, '_>,
    ) -> Result<FoundOccurrence, Fault> {
        let near = self.recent.find(since, sense.within, now);
        let is_known = |view: &View<'_, '_>, one: &Occurrence| view.not_known(one.step, step).is_none();
        let nothing = near.sure.is_none() && near.unknown.is_none();
        if sense.starts || nothing || near.sure.is_some_and(|near| is_known(view, &near)) {
            return Ok(near);
        }
        let mut found = FoundOccurrence::default();
        for one in self.all.iter().rev().take_while(|one| since.is_none_or(|since| one.step > since)) {
            view.spend(1)?;
            match bound(sense.within, one.measure, now) {
                Some(true) if is_known(view, one) => return Ok(FoundOccurrence { sure: Some(*one), unknown: None }),
                None if found.unknown.is_none() && is_known(view, one) => found.unknown = Some(*one),
                // Positions only grow apart.
                Some(false) if is_by_place(sense.within) => break,
                _ => {}
            }
        }
        Ok(found)
    }
}

impl<'run> Monitor<'run> for BeforeMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        for target in &mut self.targets {
            let now: SmallVec<[&Hit; 2]> = of(hits, target.operand).filter(|hit| view.counts(hit)).collect();
            for hit in &now {
                let since = if self.sense.each { target.previous(hit, view)? } else { None };
                if (self.failures.is_empty() || view.listed > 0) && !target.is_met(hit, since, self.sense, view)? {
                    self.failures.add(|| UnmetTarget { hit: (*hit).clone(), since });
                }
            }
            if self.sense.each {
                for hit in &now {
                    target.latest.add(view, hit, &hit.env, |latest| *latest = Some(hit.step))?;
                }
            }
        }
        for hit in of(hits, SOURCE) {
            if !view.counts(hit) {
                continue;
            }
            let measure = view.step(hit.step).and_then(|step| measure(self.sense.within, step));
            let (one, starts) = (Occurrence { step: hit.step, measure }, self.sense.starts);
            for target in &mut self.targets {
                target.sources.add(view, hit, &hit.env, |sources| {
                    sources.recent.add(one);
                    if !starts {
                        sources.all.push(one);
                    }
                })?;
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
        let sense = self.sense;
        self.failures.explain(view, |view, failure| Some(no_earlier(view, &failure.hit, failure.since, sense)))
    }

    fn state(&self, view: &mut View<'_, 'run>) -> String {
        let Some(target) = self.targets.first() else { return String::new() };
        let came = target.sources.groups().iter().map(|group| view.thing(SOURCE, &group.env)).collect::<Vec<_>>();
        if came.is_empty() { String::new() } else { format!("{} came", listed(came)) }
    }
}

/// `refund at call 3 has no earlier approve with id "o-1"`.
fn no_earlier(view: &mut View<'_, '_>, hit: &Hit, since: Option<u32>, sense: Before) -> Why {
    let wanted = view.wanted(SOURCE, hit, &hit.env, true);
    let since_words = since.map(|since| format!(" since {}", view.say(since))).unwrap_or_default();
    let near = too_far(view, hit, since, sense);
    let because =
        near.as_ref().and_then(|near| near.words.as_deref()).map_or_else(String::new, |words| [": ", words].concat());
    let within = within_words(sense.within);
    let reason = [&view.say(hit.step), " has no earlier ", &wanted, &within, &since_words, &because].concat();
    let mut evidence = view.decisive(hit, ["this has no earlier ", &wanted].concat());
    let behind = |since| view.step_proof(since, hit.operand, Role::Opening, format!("{wanted} was needed behind this"));
    evidence.extend(since.map(behind));
    match near {
        Some(near) => evidence.push(near.evidence),
        None => evidence.extend(view.nearest(SOURCE, hit, &hit.env, true)),
    }
    why(reason, evidence)
}

/// An A of the same values that does not count.
struct Nearest {
    evidence: Evidence,
    /// Why it does not, where a reader of the rule would not expect it.
    words: Option<String>,
}

/// The nearest A of the same values that does not count: it is used up, too far away, its distance is not known, or it was not known itself.
fn too_far(view: &mut View<'_, '_>, hit: &Hit, since: Option<u32>, sense: Before) -> Option<Nearest> {
    let near = view.fitting(SOURCE, hit, true)?;
    let mut words = None;
    let label = match since.filter(|since| near.step <= *since) {
        Some(since) => format!("{} stands before {}", view.say(near.step), view.say(since)),
        None => match view.distance(&near, near.step, hit.step, sense.within) {
            Some(far) => far,
            None => {
                let said = view.not_known(near.step, hit.step).filter(|_| !sense.starts)?;
                words = Some(not_known_words(view, near.step, said));
                not_known_label(view, near.step, hit.step, said)
            }
        },
    };
    Some(Nearest { evidence: view.step_proof(near.step, SOURCE, Role::NearMiss, label), words })
}

/// `approve at call 2 had not ended when it started`.
pub(super) fn not_known_words(view: &View<'_, '_>, near: u32, said: NotKnown) -> String {
    match said {
        NotKnown::Running => format!("{} had not ended when it started", view.say(near)),
        NotKnown::SameTurn => format!("{} was asked for in the same turn", view.say(near)),
    }
}

/// The same with the name of the later call.
fn not_known_label(view: &View<'_, '_>, near: u32, step: u32, said: NotKnown) -> String {
    match said {
        NotKnown::Running => format!("{} had not ended when {} started", view.say(near), view.say(step)),
        NotKnown::SameTurn => format!("{} and {} were asked for in one turn", view.say(near), view.say(step)),
    }
}
