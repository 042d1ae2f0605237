//! `never B before A`: no B before the first A with its values.
//!
//! An A may help by being the first instead of a later one, so that for unknown A's every choice is looked at: the statement fails for
//! sure only when a sure A comes and no choice of a first A up to it has no B before it.

use super::windows::{All, WindowRoles, behind};
use super::{Exercise, Meaning, Polarity, Statement, mixed};
use crate::bytecode::program::PatternId;
use crate::ir::Within;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::closed::{Asks, Decided, FailingPlace, Occurrences, Search, is_by_place};
use crate::vm::temporal::explain::{why, within_words};
use crate::vm::temporal::failures::Failures;
use crate::vm::temporal::keys::Keys;
use crate::vm::temporal::match_index::MatchIndex;
use crate::vm::temporal::monitor::{Judged, Monitor, Why, hit, of};
use crate::vm::temporal::recent_occurrences::{Occurrence, RecentOccurrences, bound, measure};
use crate::vm::temporal::timeline::{Env, ValueId};
use crate::vm::temporal::view::{Fit, Hit, Mode, Side, View, same_values};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::ControlFlow;

/// The definition.
pub(super) fn statement(steps: &[PatternId], close: PatternId, within: Option<Within>) -> Statement {
    let exercise = Exercise::AnyOf(steps.len()..steps.len() + 1);
    let meaning = NeverBefore { steps: steps.len(), within };
    Statement::new(behind(steps, [mixed(close)]), exercise, meaning).in_order().within(within)
}

#[derive(Debug)]
struct NeverBefore {
    /// How many patterns must not occur.
    steps: usize,
    within: Option<Within>,
}

impl Meaning for NeverBefore {
    fn is_closed(&self, _: bool) -> bool {
        is_by_place(self.within)
    }

    /// The first of the first A's with a B before it.
    fn closed(&self, search: &Search<'_, '_>, _: &mut dyn Asks) -> Result<Option<Decided>, Fault> {
        let edge = self.steps;
        let Some(close) = search.operand(edge) else { return Ok(None) };
        let places = search.places(search.operands(0).take(edge).flat_map(|(operand, occurrences)| {
            let caught = self.caught(search, occurrences, close);
            caught.map(move |(event, first)| FailingPlace {
                others: (Some(first), None),
                ..FailingPlace::new(operand, occurrences, event)
            })
        }));
        Ok(Some(search.fails_at(places, move |view, place| {
            Some(before_first(view, &hit(edge, place.others.0?, view)?, place.operand, place.step))
        })))
    }

    fn monitor<'run>(&self, view: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(All::new(view, self.steps, |roles| NeverBeforeMonitor::new(view, roles, self.within))))
    }
}

impl NeverBefore {
    /// The B's before the first A of their values, with that A; where no others are listed, one of them.
    fn caught<'s>(
        &'s self,
        search: &'s Search<'_, '_>,
        operand: Occurrences<'s>,
        close: Occurrences<'s>,
    ) -> impl Iterator<Item = (u32, u32)> + 's {
        let lists = search.lists();
        let nearest = move |first: u32| {
            let (key, step) = (close.key(first), close.step(first));
            let event = operand.before(key, step)?;
            let is_first = !close.is_before(key, step);
            (is_first && search.near(self.within, operand.step(event), step)).then_some((event, first))
        };
        let one = (!lists).then(|| search.by_values(close).find_map(nearest));
        let caught = move |event: u32| {
            let first = close.first_of(operand.key(event)).filter(|first| close.step(*first) > operand.step(event))?;
            search.near(self.within, operand.step(event), close.step(first)).then_some((event, first))
        };
        let all = operand.events().take(if lists { usize::MAX } else { 0 }).filter_map(caught);
        one.flatten().into_iter().chain(all)
    }
}

/// The monitor.
struct NeverBeforeMonitor {
    roles: WindowRoles,
    within: Option<Within>,
    /// The B's, by what A's can tell apart.
    steps: MatchIndex<BeforeFirst>,
    /// The A's, for B's that come later with new values: a first A is first for them, too.
    closes: MatchIndex<Vec<Hit>>,
    /// First A's with a B before them, and that B.
    caught: Failures<(Hit, u32)>,
    /// The steps of those B's.
    counted: FxHashSet<u32>,
}

/// B's with their first A's.
#[derive(Default)]
struct BeforeFirst {
    /// False until the A's that came earlier have been looked at.
    known: bool,
    recent: RecentOccurrences,
    /// All of them, where each is listed.
    all: Vec<Occurrence>,
    /// By the values of A.
    firsts: FxHashMap<Env, First>,
    /// An A with a value that is not recorded has no B before it, and may be the first under any values.
    wild_safe: bool,
}

/// What is known of the first A with some values.
#[derive(Default)]
struct First {
    /// It has surely come.
    came: bool,
    /// Some A that may be the first has no B before it.
    safe: bool,
}

/// An A beside the values of B's.
struct Closing<'h> {
    hit: &'h Hit,
    /// The values of the B's.
    env: &'h Env,
    /// It surely matches under these values.
    sure: bool,
    /// The B's surely match under its values.
    step_is_sure: bool,
}

impl<'h> Closing<'h> {
    /// An A that fits B's as `fit` says: what is unknown of it may be unknown of the A or of the B's.
    fn of(hit: &'h Hit, step: Side<'h>, fit: Fit, view: &mut View<'_, '_>) -> Result<Self, Fault> {
        let (own, others) = match fit {
            Fit::Unknown => {
                let values = same_values(&hit.env, step.env);
                (values.and(view.tests(hit.side(), step)?), view.tests(step, hit.side())?)
            }
            fit => (fit, fit),
        };
        let (sure, step_is_sure) = (hit.sure && own == Fit::Yes, others == Fit::Yes);
        Ok(Self { hit, env: step.env, sure, step_is_sure })
    }
}

impl NeverBeforeMonitor {
    /// A monitor that has seen nothing.
    fn new(view: &View<'_, '_>, roles: WindowRoles, within: Option<Within>) -> Self {
        Self {
            roles,
            within,
            steps: MatchIndex::new(Keys::between(view, roles.step, roles.edge)),
            closes: MatchIndex::new(Keys::between(view, roles.edge, roles.step)),
            caught: Failures::of(view),
            counted: FxHashSet::default(),
        }
    }

    /// An A comes.
    fn close(&mut self, hit: &Hit, view: &mut View<'_, '_>) -> Result<(), Fault> {
        view.unknown |= !hit.sure;
        self.closes.add(view, hit, &hit.env, |closes| closes.push(hit.clone()))?;
        let (within, edge, caught, counted) = (self.within, self.roles.edge, &mut self.caught, &mut self.counted);
        let now = view.step(hit.step).and_then(|step| measure(within, step));
        self.steps.visit(view, hit.side(), |group, fit, view| {
            let step = Side { event: Some(group.event), env: &group.env };
            let closing = Closing::of(hit, step, fit, view)?;
            let earlier = group.data.close(&closing, edge, within, view);
            let Some(nearest) = earlier else { return Ok(ControlFlow::Continue(())) };
            if view.listed == 0 {
                caught.push((hit.clone(), nearest));
                return Ok(ControlFlow::Break(()));
            }
            let near = |one: &&Occurrence| bound(within, one.measure, now) == Some(true) || one.step == nearest;
            let steps = group.data.all.iter().filter(near).map(|one| one.step).filter(|step| counted.insert(*step));
            caught.extend(steps.map(|step| (hit.clone(), step)));
            Ok(ControlFlow::Continue(()))
        })
    }

    /// A B comes: with new values, the A's before it are looked at first.
    fn add(&mut self, hit: &Hit, view: &mut View<'_, '_>) -> Result<(), Fault> {
        let mut known = false;
        self.steps.add(view, hit, &hit.env, |before| known = std::mem::replace(&mut before.known, true))?;
        let mut earlier: Vec<(Hit, Fit)> = Vec::new();
        if !known {
            self.closes.visit(view, hit.side(), |group, fit, _| {
                earlier.extend(group.data.iter().map(|close| (close.clone(), fit)));
                Ok(ControlFlow::Continue(()))
            })?;
            earlier.sort_by_key(|(close, _)| close.step);
        }
        let measure = view.step(hit.step).and_then(|step| measure(self.within, step));
        let (within, edge) = (self.within, self.roles.edge);
        view.spend(1 + earlier.len())?;
        let closings = earlier.iter().map(|(close, fit)| Closing::of(close, hit.side(), *fit, view));
        let closings = closings.collect::<Result<Vec<_>, Fault>>()?;
        if let Some(before) = self.steps.latest(hit) {
            for closing in &closings {
                before.close(closing, edge, within, view);
            }
            before.recent.add(Occurrence { step: hit.step, measure });
            if view.listed > 0 {
                before.all.push(Occurrence { step: hit.step, measure });
            }
        }
        Ok(())
    }
}

impl BeforeFirst {
    /// An A: the B before it when that makes the statement fail.
    fn close(
        &mut self,
        closing: &Closing<'_>,
        edge: usize,
        within: Option<Within>,
        view: &mut View<'_, '_>,
    ) -> Option<u32> {
        let Closing { hit, env, sure, step_is_sure } = *closing;
        view.unknown |= !sure;
        let own = values(view.names(edge), hit, env);
        let wild = own.contains(&ValueId::ABSENT);
        let first = self.firsts.entry(own).or_default();
        if first.came {
            return None;
        }
        let now = view.step(hit.step).and_then(|step| measure(within, step));
        let found = self.recent.find(None, within, now);
        let sure_before = found.sure.filter(|_| step_is_sure);
        let may_be_before = found.sure.or(found.unknown);
        let earlier = sure_before.or_else(|| may_be_before.filter(|_| view.assume(Polarity::Hurts)));
        first.came = sure && !wild;
        first.safe |= earlier.is_none();
        self.wild_safe |= wild && earlier.is_none();
        let fails = match view.mode {
            Mode::Pessimistic => true,
            Mode::Optimistic => sure && !first.safe && !self.wild_safe,
        };
        earlier.filter(|_| fails).map(|occurrence| occurrence.step)
    }
}

/// The values of an A's names; those that it does not have itself are those of the B.
fn values(names: &[u32], hit: &Hit, env: &Env) -> Env {
    let of = |env: &Env, name: u32| env.get(name as usize).copied().unwrap_or(ValueId::OPEN);
    let value = |name: &u32| match (of(&hit.env, *name), of(env, *name)) {
        (own, other) if !own.is_value() && other.is_value() => other,
        (own, _) => own,
    };
    names.iter().map(value).collect()
}

impl<'run> Monitor<'run> for NeverBeforeMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        if !self.caught.is_empty() && view.listed == 0 {
            return Ok(());
        }
        for hit in of(hits, self.roles.edge) {
            self.close(hit, view)?;
        }
        for hit in of(hits, self.roles.step) {
            if view.counts(hit) {
                self.add(hit, view)?;
            }
        }
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        Ok(Judged::fails_for_good(!self.caught.is_empty()))
    }

    fn is_settled(&self) -> bool {
        !self.caught.is_empty()
    }

    fn only_adds_failures(&self) -> bool {
        true
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let operand = self.roles.step;
        let caught = Failures::joined(view, std::iter::once(self.caught.clone()), |(_, earlier)| *earlier);
        caught.explain(view, |view, (hit, earlier)| Some(before_first(view, hit, operand, *earlier)))
    }
}

/// `read_mail at call 1 comes before login at call 2`; `hit` is the first A, `earlier` the B before it.
fn before_first(view: &mut View<'_, '_>, hit: &Hit, operand: usize, earlier: u32) -> Why {
    let within = within_words(view.within());
    let reason = format!("{} comes{within} before {}", view.say(earlier), view.say(hit.step));
    let mut evidence = vec![view.step_proof(earlier, operand, Role::Decisive, String::new())];
    evidence.push(view.step_proof(hit.step, hit.operand, Role::Closing, String::new()));
    view.bound_values(hit, Role::Value, &mut evidence);
    why(reason, evidence)
}
