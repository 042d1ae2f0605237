//! `sequence A -> B -> C`: steps in this order under one environment, gaps allowed.
//!
//! For each beginning of the sequence the monitor keeps the environments under which it has occurred, and of each only what later
//! steps can tell apart: where it last ended.

use super::{Exercise, Meaning, Polarity, Statement, all, helps};
use crate::bytecode::program::PatternId;
use crate::ir::Within;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::closed::{Asks, Decided, Search};
use crate::vm::temporal::explain::{end, why, within_words};
use crate::vm::temporal::monitor::{Judged, Monitor, Why, hit, of};
use crate::vm::temporal::numbers::Numbers;
use crate::vm::temporal::recent_occurrences::{Occurrence, RecentOccurrences, measure};
use crate::vm::temporal::states::{KEPT, Partial};
use crate::vm::temporal::timeline::{Env, index};
use crate::vm::temporal::view::{Fit, Hit, Names, View, key, merge, same_values};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The definition.
pub(super) fn statement(steps: &[PatternId], within: Option<Within>) -> Statement {
    Statement::new(all(steps, helps), Exercise::Always, Sequence { within }).in_order().within(within)
}

#[derive(Debug)]
struct Sequence {
    within: Option<Within>,
}

impl Meaning for Sequence {
    fn is_closed(&self, unbound: bool) -> bool {
        unbound && self.within.is_none()
    }

    /// Each step is the first one behind the step before.
    fn closed(&self, search: &Search<'_, '_>, _: &mut dyn Asks) -> Result<Option<Decided>, Fault> {
        let mut reached: SmallVec<[u32; 3]> = SmallVec::new();
        let mut last: Option<u32> = None;
        let mut complete = true;
        for (_, operand) in search.operands(0) {
            let next = last.map_or_else(|| operand.first(), |last| operand.after(&[], last));
            let Some(next) = next else {
                complete = false;
                break;
            };
            last = Some(operand.step(next));
            reached.push(next);
        }
        Ok(Some(search.fails((!complete).then_some(move |view: &mut View<'_, '_>| {
            let reached = reached.iter().enumerate().filter_map(|(operand, event)| hit(operand, *event, view));
            let reached: Vec<Hit> = reached.collect();
            Some(left_off(view, &reached, None))
        }))))
    }

    fn monitor<'run>(&self, view: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(SequenceMonitor::new(view, self.within)))
    }
}

/// The monitor.
struct SequenceMonitor {
    within: Option<Within>,
    /// By how many steps have occurred, from one.
    levels: Vec<Level>,
    complete: bool,
    /// The last step of the first beginning of each length.
    reached: Vec<Hit>,
}

/// The beginnings of one length.
#[derive(Default)]
struct Level {
    beginnings: Vec<(Partial, RecentOccurrences)>,
    /// SequenceMonitor by their values; by all that they have open where tests wait for a value.
    known: Numbers,
    waiting: FxHashMap<Partial, u32>,
    /// Lists of beginnings by the values that the next step shares.
    exact: Numbers,
    lists: Vec<SmallVec<[u32; 2]>>,
    loose: Vec<u32>,
    /// The names that the next step shares with what is bound.
    shared: Names,
    /// The names that later steps look at.
    live: Names,
    /// The next step adds nothing to a beginning: once gone on, a beginning need not be looked at again.
    once: bool,
}

impl SequenceMonitor {
    /// A monitor that has seen nothing.
    fn new(view: &View<'_, '_>, within: Option<Within>) -> Self {
        let count = view.operands.len();
        let level = |at: usize| {
            let bound: Names = (0..=at).flat_map(|operand| view.names(operand).iter().copied()).collect();
            let later = at + 1..count;
            let live: Names =
                later.flat_map(|operand| view.names(operand).iter().copied().chain(view.asks(operand))).collect();
            let next = view.names(at + 1);
            let shared: Names = next.iter().copied().filter(|name| bound.contains(name)).collect();
            let adds = next.iter().any(|name| !bound.contains(name));
            let tests = (0..count).any(|operand| view.joined(operand));
            Level { once: within.is_none() && !adds && !tests, shared, live, ..Level::default() }
        };
        Self { within, levels: (0..count).map(level).collect(), complete: false, reached: Vec::new() }
    }

    /// A hit as the step behind the beginnings of `length` steps.
    fn go_on(&mut self, length: usize, hit: &Hit, view: &mut View<'_, '_>) -> Result<(), Fault> {
        let now = view.step(hit.step).and_then(|step| measure(self.within, step));
        let grown = match length.checked_sub(1) {
            None => Partial::start(view).with(hit, view)?.into_iter().collect::<SmallVec<[Partial; 1]>>(),
            Some(before) => match self.levels.get_mut(before) {
                Some(level) => level.extend(hit, self.within, now, view)?,
                None => SmallVec::new(),
            },
        };
        if !grown.is_empty() && self.reached.len() == length {
            self.reached.push(hit.clone());
        }
        let last = length + 1 == view.operands.len();
        for mut partial in grown {
            if last && partial.ends(view)? {
                self.complete = true;
            }
            if let (Some(level), false) = (self.levels.get_mut(length), last) {
                partial.keep(&level.live);
                if level.add(partial, Occurrence { step: hit.step, measure: now }) {
                    view.spend(KEPT)?;
                }
            }
        }
        Ok(())
    }
}

impl Level {
    /// The beginnings that a hit goes on.
    fn extend(
        &mut self,
        hit: &Hit,
        within: Option<Within>,
        now: Option<f64>,
        view: &mut View<'_, '_>,
    ) -> Result<SmallVec<[Partial; 1]>, Fault> {
        let shared = key(&hit.env, &self.shared);
        let all_values = shared.iter().all(|id| id.is_value());
        let fitting = if all_values {
            let list = self.exact.get(&shared).and_then(|list| self.lists.get_mut(list as usize));
            let exact = list.map(|list| if self.once { std::mem::take(list) } else { list.clone() });
            let mut fitting = exact.unwrap_or_default();
            fitting.extend(self.loose.iter().copied());
            fitting
        } else {
            (0..index(self.beginnings.len())).collect()
        };
        let mut grown = SmallVec::new();
        for number in fitting {
            let Some((partial, recent)) = self.beginnings.get(number as usize) else { continue };
            let found = recent.find(None, within, now);
            if found.sure.is_none() && (found.unknown.is_none() || !view.assume(Polarity::Helps)) {
                view.spend(1)?;
                continue;
            }
            grown.extend(partial.with(hit, view)?);
        }
        Ok(grown)
    }

    /// Keeps a beginning; true for a new one.
    fn add(&mut self, partial: Partial, occurrence: Occurrence) -> bool {
        let next = index(self.beginnings.len());
        let number = match partial.later.is_empty() {
            true => self.known.number(&partial.env, next),
            false => *self.waiting.entry(partial.clone()).or_insert(next),
        };
        if number == next {
            let shared = key(&partial.env, &self.shared);
            if shared.iter().all(|id| id.is_value()) {
                let list = self.exact.number(&shared, index(self.lists.len())) as usize;
                if list == self.lists.len() {
                    self.lists.push(SmallVec::new());
                }
                self.lists.get_mut(list).into_iter().for_each(|list| list.push(number));
            } else {
                self.loose.push(number);
            }
            self.beginnings.push((partial, RecentOccurrences::default()));
        }
        if let Some((_, recent)) = self.beginnings.get_mut(number as usize) {
            recent.add(occurrence);
        }
        number == next
    }
}

impl<'run> Monitor<'run> for SequenceMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        // From the end, so that one step does not stand for two.
        for operand in (0..view.operands.len()).rev() {
            for hit in of(hits, operand) {
                if !self.complete && view.counts(hit) {
                    self.go_on(operand, hit, view)?;
                }
            }
        }
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        Ok(Judged::holds_for_good(self.complete))
    }

    fn is_settled(&self) -> bool {
        self.complete
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        left_off(view, &self.reached, self.within)
    }

    fn prove(&self, view: &mut View<'_, 'run>) -> Why {
        in_order(view, &self.reached)
    }
}

/// Where a sequence was left off; `reached` are the last steps of the first beginnings by their length.
fn left_off(view: &mut View<'_, '_>, reached: &[Hit], within: Option<Within>) -> Why {
    let Some(last) = reached.last() else {
        let thing = view.pattern(0);
        let evidence = view.near_miss(0, &view.header.clone(), end(view), true).or_else(|| view.misspelt(0));
        return why(format!("there is no {thing}"), evidence.into_iter().collect());
    };
    let (before, env) = beginning(view, last);
    let wanted = view.wanted(reached.len(), last, &env, false);
    let reason = format!("{} has no later {wanted}{}", view.say(last.step), within_words(within));
    let mut evidence = Vec::new();
    for hit in &before {
        evidence.push(view.step_proof(hit.step, hit.operand, Role::Value, String::new()));
    }
    evidence.extend(view.decisive(last, "the sequence goes no further than this".to_owned()));
    match view.too_late(last, reached.len(), within) {
        Some(late) => evidence.push(late),
        None => evidence.extend(view.nearest(reached.len(), last, &env, false)),
    }
    why(reason, evidence)
}

/// A sequence that has come to its end.
fn in_order(view: &mut View<'_, '_>, reached: &[Hit]) -> Why {
    let Some(last) = reached.last() else { return Why::default() };
    let mut steps = beginning(view, last).0;
    steps.push(last.clone());
    let names: Vec<String> = steps.iter().map(|hit| view.say(hit.step)).collect();
    let proof = |hit: &Hit| view.step_proof(hit.step, hit.operand, Role::Decisive, String::new());
    let evidence = steps.iter().map(proof).collect();
    why(format!("{} come in this order", names.join(", ")), evidence)
}

/// The steps of a sequence before its last one, and the values that they have: for each the nearest one that fits.
fn beginning(view: &View<'_, '_>, last: &Hit) -> (Vec<Hit>, Env) {
    let (mut hits, mut env, mut from) = (Vec::new(), last.env.clone(), last.step);
    for operand in (0..last.operand).rev() {
        let fits = |hit: &Hit| same_values(&hit.env, &env) == Fit::Yes;
        let Some(hit) = view.hits_near(operand, from, true).find(fits) else { break };
        (env, from) = (merge(&env, &hit.env), hit.step);
        hits.push(hit);
    }
    hits.reverse();
    (hits, env)
}
