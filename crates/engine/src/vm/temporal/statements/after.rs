//! `after A -> B, C` and `after each A -> B`: every A has a later B.

use super::{Exercise, Meaning, Polarity, Statement, helps, hurts, in_front};
use crate::bytecode::program::PatternId;
use crate::ir::Within;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::closed::{Asks, Decided, FailingPlace, Occurrences, Search, is_by_place};
use crate::vm::temporal::explain::{why, within_words};
use crate::vm::temporal::failures::Failures;
use crate::vm::temporal::keys::Keys;
use crate::vm::temporal::match_index::MatchIndex;
use crate::vm::temporal::monitor::{Judged, Monitor, Why, hit, of, own_key};
use crate::vm::temporal::recent_occurrences::{bound, limit, measure};
use crate::vm::temporal::timeline::{Env, index};
use crate::vm::temporal::view::{Hit, View, same_values};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// The definition.
pub(super) fn statement(step: PatternId, targets: &[PatternId], each: bool, within: Option<Within>) -> Statement {
    let operands = in_front(hurts(step), targets, helps);
    Statement::new(operands, Exercise::AnyOf(0..1), After { each, within }).in_order().within(within)
}

#[derive(Debug)]
struct After {
    each: bool,
    within: Option<Within>,
}

impl Meaning for After {
    fn is_closed(&self, _: bool) -> bool {
        is_by_place(self.within)
    }

    fn closed(&self, search: &Search<'_, '_>, _: &mut dyn Asks) -> Result<Option<Decided>, Fault> {
        let Some(source) = search.operand(SOURCE) else { return Ok(None) };
        let places = search.places(search.operands(SOURCE + 1).flat_map(|(operand, target)| {
            let unmet = self.unmet(search, source, target);
            unmet.map(move |event| FailingPlace { operand, ..FailingPlace::new(SOURCE, source, event) })
        }));
        let (each, within) = (self.each, self.within);
        Ok(Some(search.fails_at(places, move |view, place| {
            Some(no_later(view, &hit(SOURCE, place.event, view)?, place.operand, each, within))
        })))
    }

    fn monitor<'run>(&self, view: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(AfterMonitor::new(view, self.each, self.within)))
    }
}

impl After {
    /// The A's without a B; the first alone where no others are listed.
    fn unmet<'s>(
        &'s self,
        search: &'s Search<'_, '_>,
        source: Occurrences<'s>,
        target: Occurrences<'s>,
    ) -> impl Iterator<Item = u32> + 's {
        let alone = !search.lists() && !self.each && self.within.is_none() && search.is_unbound();
        // Without values every A before the last B has one.
        let first = alone.then(|| match target.last().and_then(|last| target.step(last).checked_sub(1)) {
            Some(before) => source.after(&[], before),
            None => source.first(),
        });
        let most = if alone {
            0
        } else if search.lists() {
            usize::MAX
        } else {
            1
        };
        let unmet = source.events().filter(move |event| !self.is_met(search, source, target, *event));
        first.flatten().into_iter().chain(unmet.take(most))
    }

    /// Whether a B stands behind an A, near enough and before the next A where each needs its own.
    fn is_met(&self, search: &Search<'_, '_>, source: Occurrences<'_>, target: Occurrences<'_>, event: u32) -> bool {
        let (key, step) = (source.key(event), source.step(event));
        if !self.each && self.within.is_none() {
            return target.is_after(key, step);
        }
        let next = if self.each { source.after(key, step).map(|next| source.step(next)) } else { None };
        let near = target.after(key, step).map(|near| target.step(near));
        near.is_some_and(|near| next.is_none_or(|next| near < next) && search.near(self.within, step, near))
    }
}

/// The operand of A; its targets stand behind it.
const SOURCE: usize = 0;

/// The monitor: it holds when it holds for every target.
struct AfterMonitor {
    targets: Vec<AfterTarget>,
}

/// What is kept for one B.
struct AfterTarget {
    operand: usize,
    within: Option<Within>,
    each: bool,
    /// Every A that has come.
    obligations: Vec<Obligation>,
    /// The A's that wait, by group; sorted by measure, those without one in front.
    waiting: MatchIndex<SmallVec<[u32; 2]>>,
    /// With `each`: the A's that wait, by their values.
    by_value: FxHashMap<Env, Vec<u32>>,
    /// Whether some of those have a value that is open or not recorded.
    loose: bool,
    /// How many wait.
    open: usize,
    /// Whether the B of some A can come no more.
    lost: bool,
}

/// An A.
struct Obligation {
    hit: Hit,
    measure: Option<f64>,
    waits: bool,
    /// Its B can come no more.
    lost: bool,
}

/// An A without a B.
#[derive(Clone)]
struct UnmetSource {
    hit: Hit,
    /// The operand of B.
    operand: usize,
}

impl AfterMonitor {
    /// A monitor for a statement with these targets.
    fn new(view: &View<'_, '_>, each: bool, within: Option<Within>) -> Self {
        let target = |operand| AfterTarget {
            operand,
            within,
            each,
            obligations: Vec::new(),
            waiting: MatchIndex::new(Keys::between(view, SOURCE, operand)),
            by_value: FxHashMap::default(),
            loose: false,
            open: 0,
            lost: false,
        };
        Self { targets: (1..view.operands.len()).map(target).collect() }
    }
}

impl AfterTarget {
    /// With `each`: an A with the same values ends the wait of those before it.
    fn cut(&mut self, hit: &Hit, view: &mut View<'_, '_>) {
        let own = own_key(hit, view);
        let mut cut = Vec::new();
        if own.iter().all(|id| id.is_value()) {
            cut.extend(self.by_value.remove(&own).unwrap_or_default());
        }
        // Values that are open or not recorded may be the same as any.
        if self.loose || own.iter().any(|id| !id.is_value()) {
            for (known, waiting) in &mut self.by_value {
                if view.accepts(same_values(known, &own), Polarity::Hurts) {
                    cut.append(waiting);
                }
            }
        }
        cut.sort_unstable();
        for number in cut {
            if self.settle(number)
                && let Some(obligation) = self.obligations.get_mut(number as usize)
            {
                (obligation.lost, self.lost) = (true, true);
            }
        }
    }

    /// A B has come: the A's of its values that are near enough wait no more.
    fn meet(&mut self, hit: &Hit, view: &mut View<'_, '_>) -> Result<(), Fault> {
        let now = view.step(hit.step).and_then(|step| measure(self.within, step));
        let (within, obligations) = (self.within, &self.obligations);
        let mut met: Vec<u32> = Vec::new();
        self.waiting.visit(view, hit.side(), |group, fit, view| {
            if !view.accepts(fit, Polarity::Helps) {
                return Ok(ControlFlow::Continue(()));
            }
            while let Some(&number) = group.data.last() {
                let from = obligations.get(number as usize).and_then(|obligation| obligation.measure);
                let near = bound(within, from, now);
                if !near.unwrap_or_else(|| view.assume(Polarity::Helps)) {
                    break;
                }
                view.spend(1)?;
                met.push(number);
                group.data.pop();
            }
            Ok(ControlFlow::Continue(()))
        })?;
        for number in met {
            self.settle(number);
        }
        Ok(())
    }

    /// A new A waits.
    fn add(&mut self, hit: &Hit, view: &mut View<'_, '_>) -> Result<(), Fault> {
        let number = index(self.obligations.len());
        let measure = view.step(hit.step).and_then(|step| measure(self.within, step));
        let env = hit.fresh();
        let obligations = &self.obligations;
        let before = |other: &u32| {
            let known = obligations.get(*other as usize).and_then(|obligation| obligation.measure);
            known.unwrap_or(f64::NEG_INFINITY) <= measure.unwrap_or(f64::NEG_INFINITY)
        };
        self.waiting.add(view, hit, &env, |waiting| waiting.insert(waiting.partition_point(before), number))?;
        if self.each {
            let own = own_key(hit, view);
            self.loose |= own.iter().any(|id| !id.is_value());
            self.by_value.entry(own).or_default().push(number);
        }
        self.obligations.push(Obligation { hit: hit.clone(), measure, waits: true, lost: false });
        self.open += 1;
        Ok(())
    }

    /// Ends the wait of an A; false when it had ended before.
    fn settle(&mut self, number: u32) -> bool {
        let Some(obligation) = self.obligations.get_mut(number as usize).filter(|obligation| obligation.waits) else {
            return false;
        };
        obligation.waits = false;
        self.open -= 1;
        true
    }

    /// The A's without a B; of a window that goes on, where some are `lost`, those for which none can come.
    fn unmet(&self, lost: bool, view: &View<'_, '_>) -> Failures<UnmetSource> {
        let all = view.context.window.closed || !lost;
        let horizon = horizon(self.within, view).filter(|_| !all);
        let is_late = |obligation: &Obligation| {
            horizon.zip(obligation.measure).is_some_and(|(now, from)| now - from > limit(self.within))
        };
        let is_lost = |obligation: &Obligation| obligation.lost || obligation.waits && (all || is_late(obligation));
        let mut unmet = Failures::of(view);
        for obligation in self.obligations.iter().filter(|obligation| is_lost(obligation)) {
            unmet.add(|| UnmetSource { operand: self.operand, hit: obligation.hit.clone() });
        }
        unmet
    }

    /// Whether some A's bound has passed, so that no later step can be its B.
    fn is_late(&self, view: &View<'_, '_>) -> bool {
        let Some(horizon) = horizon(self.within, view) else { return false };
        let waiting = self.obligations.iter().filter(|obligation| obligation.waits);
        waiting.filter_map(|obligation| obligation.measure).any(|from| horizon - from > limit(self.within))
    }
}

/// The least measure that a further step can have.
fn horizon(within: Option<Within>, view: &View<'_, '_>) -> Option<f64> {
    let steps = view.machine.run.steps.get(..view.context.window.end)?;
    match within? {
        Within::Calls(_) => {
            let executed = view.timeline.executed.partition_point(|step| (*step as usize) < view.context.window.end);
            Some(f64::from(index(executed)))
        }
        Within::Turns(_) => steps.iter().filter_map(|step| step.turn).max().map(f64::from),
        Within::Time(_) => steps.iter().filter_map(|step| step.start).max_by(f64::total_cmp),
    }
}

impl<'run> Monitor<'run> for AfterMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        let sources: SmallVec<[&Hit; 2]> = of(hits, SOURCE).filter(|hit| view.counts(hit)).collect();
        for target in &mut self.targets {
            if target.each {
                sources.iter().for_each(|hit| target.cut(hit, view));
            }
            for hit in of(hits, target.operand) {
                if view.counts(hit) {
                    target.meet(hit, view)?;
                }
            }
            sources.iter().try_for_each(|hit| target.add(hit, view))?;
        }
        Ok(())
    }

    fn judge(&mut self, view: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let fails = self.targets.iter().any(|target| target.open > 0 || target.lost);
        let lost = |target: &AfterTarget| target.lost || (!view.context.window.closed && target.is_late(view));
        Ok(Judged { failed_for_good: self.targets.iter().any(lost), ..Judged::fails(fails) })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let each = self.targets.iter().any(|target| target.each);
        let within = self.targets.first().and_then(|target| target.within);
        let lost = view.context.window.closed || self.targets.iter().any(|target| target.lost || target.is_late(view));
        let unmet = self.targets.iter().map(|target| target.unmet(lost, view));
        let unmet = Failures::joined(view, unmet, |one| (one.hit.step, one.operand));
        unmet.explain(view, |view, one| Some(no_later(view, &one.hit, one.operand, each, within)))
    }
}

/// `lock at call 1 has no later unlock with id "o-1"`.
fn no_later(view: &mut View<'_, '_>, hit: &Hit, wanted: usize, each: bool, within: Option<Within>) -> Why {
    let thing = view.wanted(wanted, hit, &hit.env, false);
    let next = if each { view.hits_near(hit.operand, hit.step, false).find(|next| next.env == hit.env) } else { None };
    let before = next.as_ref().map(|next| format!(" before {}", view.say(next.step))).unwrap_or_default();
    let reason = [&view.say(hit.step), " has no later ", &thing, &within_words(within), &before].concat();
    let mut evidence = view.decisive(hit, ["this has no later ", &thing].concat());
    let first =
        |next: Hit| view.step_proof(next.step, hit.operand, Role::Closing, format!("this comes before any {thing}"));
    evidence.extend(next.map(first));
    match if each { None } else { view.too_late(hit, wanted, within) } {
        Some(late) => evidence.push(late),
        None => evidence.extend(view.nearest(wanted, hit, &hit.env, false)),
    }
    why(reason, evidence)
}
