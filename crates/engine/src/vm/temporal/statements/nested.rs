//! `nested A -> B`: every B closes the latest A that is open, and none stays open.
//!
//! What is open is a stack. Where the run does not tell whether a step matches or fits, the monitor goes on with each stack that may stand
//! there, up to a bound. Stacks share what lies below their tops, so that a long run keeps as many places as it has steps.

use super::{Exercise, Meaning, Statement, mixed};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::explain::{amount, why};
use crate::vm::temporal::monitor::{Judged, Monitor, Why, of};
use crate::vm::temporal::timeline::index;
use crate::vm::temporal::view::{Fit, Hit, View};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The definition.
pub(super) fn statement(open: PatternId, close: PatternId) -> Statement {
    Statement::new(vec![mixed(open), mixed(close)], Exercise::AnyOf(0..2), Nested).in_order()
}

#[derive(Debug)]
struct Nested;

impl Meaning for Nested {
    fn monitor<'run>(&self, _: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(NestedMonitor::default()))
    }
}

const OPENS: usize = 0;
const CLOSES: usize = 1;

/// How many stacks are followed at once; where there may be more, the statement is undecided.
const STACKS: usize = 256;

/// A stack, by its top; `None` is the empty one.
type Stack = Option<u32>;

/// The matches of one step.
type Matches = SmallVec<[Hit; 1]>;

/// The monitor.
struct NestedMonitor {
    /// The stacks that may stand, each once.
    stacks: Vec<Stack>,
    /// What a stack has on top, by what lies below.
    places: Vec<(Stack, u32)>,
    /// The places by what they are.
    known: FxHashMap<(Stack, u32), u32>,
    /// The steps that open, in order.
    opened: Vec<Matches>,
    /// The last step that could not close what was open, with the stack.
    refused: Option<(Hit, Stack)>,
    /// There were too many stacks.
    lost: bool,
}

impl Default for NestedMonitor {
    fn default() -> Self {
        Self {
            stacks: vec![None],
            places: Vec::new(),
            known: FxHashMap::default(),
            opened: Vec::new(),
            refused: None,
            lost: false,
        }
    }
}

impl NestedMonitor {
    /// What is on top of a stack, and what lies below.
    fn top(&self, stack: Stack) -> Option<(&Matches, Stack)> {
        let (below, opened) = self.places.get(stack? as usize)?;
        Some((self.opened.get(*opened as usize)?, *below))
    }

    /// A stack with the last step that opens on top.
    fn push(&mut self, stack: Stack) -> Stack {
        let place = (stack, index(self.opened.len().saturating_sub(1)));
        let next = index(self.places.len());
        let number = *self.known.entry(place).or_insert(next);
        if number == next {
            self.places.push(place);
        }
        Some(number)
    }

    /// The stacks behind a step, each as often as it comes about.
    fn behind(
        &mut self,
        stack: Stack,
        opening: &[Hit],
        closing: &[Hit],
        next: &mut Vec<Stack>,
        view: &mut View<'_, '_>,
    ) -> Result<(), Fault> {
        if let Some(first) = closing.first() {
            let (closes, below) = match self.top(stack) {
                Some((open, below)) => (closes(open, closing, view)?, below),
                None => (Closes { may: false, may_not: true }, None),
            };
            if closes.may {
                next.push(below);
            }
            if closes.may_not {
                self.refused = Some((first.clone(), stack));
            }
            if is_sure(closing) {
                return Ok(());
            }
        }
        if !opening.is_empty() {
            next.push(self.push(stack));
        }
        if !is_sure(opening) {
            next.push(stack);
        }
        Ok(())
    }

    /// How many are open in a stack.
    fn depth(&self, stack: Stack) -> u64 {
        let below = |(_, below): &(&Matches, Stack)| self.top(*below);
        std::iter::successors(self.top(stack), below).count() as u64
    }
}

/// Whether a step closes what is open.
struct Closes {
    /// Some answer to what is unknown says that it does.
    may: bool,
    /// Some answer says that it does not.
    may_not: bool,
}

fn is_sure(hits: &[Hit]) -> bool {
    hits.iter().any(|hit| hit.sure)
}

/// Whether a step that closes fits one that opened, both by one of their matches at least.
fn closes(open: &[Hit], closing: &[Hit], view: &mut View<'_, '_>) -> Result<Closes, Fault> {
    let (mut may, mut sure) = (false, Vec::new());
    for (left, opened) in open.iter().enumerate() {
        for (right, closes) in closing.iter().enumerate() {
            let fit = view.fit(opened.side(), closes.side())?;
            may |= fit != Fit::No;
            if fit == Fit::Yes {
                sure.push((left, right));
            }
        }
    }
    let (lefts, rights) = (least(open), least(closing));
    let refuses = |left: &Least, right: &Least| !sure.iter().any(|(l, r)| left.contains(l) && right.contains(r));
    let may_not = lefts.iter().any(|left| rights.iter().any(|right| refuses(left, right)));
    Ok(Closes { may, may_not })
}

/// Matches of a step that are answered with yes together, by number.
type Least = SmallVec<[usize; 1]>;

/// The least that may match of a step that does: all that is sure, else what is answered with any one of its matches.
fn least(hits: &[Hit]) -> Vec<Least> {
    let sure: Least = hits.iter().enumerate().filter(|(_, hit)| hit.sure).map(|(number, _)| number).collect();
    if !sure.is_empty() {
        return vec![sure];
    }
    let alike =
        |one: &Hit| hits.iter().enumerate().filter(|(_, hit)| hit.env == one.env).map(|(number, _)| number).collect();
    hits.iter().map(alike).collect()
}

impl<'run> Monitor<'run> for NestedMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        let opening: Matches = of(hits, OPENS).cloned().collect();
        let closing: Matches = of(hits, CLOSES).cloned().collect();
        if !opening.is_empty() {
            self.opened.push(opening.clone());
        }
        let stacks = std::mem::take(&mut self.stacks);
        view.spend(stacks.len())?;
        let mut next = Vec::with_capacity(stacks.len());
        for stack in stacks {
            self.behind(stack, &opening, &closing, &mut next, view)?;
        }
        next.sort_unstable();
        next.dedup();
        self.lost |= next.len() > STACKS;
        if !self.lost {
            self.stacks = next;
        }
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        if self.lost {
            return Ok(Judged { may_fail: true, may_hold: true, ..Judged::default() });
        }
        let may_hold = self.stacks.contains(&None);
        let may_fail = self.refused.is_some() || self.stacks.iter().any(Option::is_some);
        Ok(Judged { may_fail, may_hold, failed_for_good: self.stacks.is_empty(), ..Judged::default() })
    }

    fn is_settled(&self) -> bool {
        self.stacks.is_empty()
    }

    fn sees_all_answers(&self) -> bool {
        true
    }

    fn state(&self, view: &mut View<'_, 'run>) -> String {
        let [stack] = self.stacks.as_slice() else { return String::new() };
        let Some(latest) = self.top(*stack).and_then(|(open, _)| open.first()) else { return String::new() };
        format!("{} open, the latest is {}", amount(self.depth(*stack), "step"), view.say(latest.step))
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let left = self.stacks.iter().find_map(|stack| self.top(*stack)).and_then(|(open, _)| open.first());
        match (left, &self.refused) {
            (Some(left), _) => stays_open(view, left),
            (None, Some((closing, stack))) => match self.top(*stack).and_then(|(open, _)| open.first()) {
                Some(open) => closes_another(view, closing, open),
                None => closes_nothing(view, closing),
            },
            (None, None) => Why::default(),
        }
    }
}

/// A step that is open at the end.
fn stays_open(view: &mut View<'_, '_>, open: &Hit) -> Why {
    let thing = view.wanted(CLOSES, open, &open.env, false);
    let reason = [&view.say(open.step), " stays open: there is no later ", &thing].concat();
    let mut evidence = view.decisive(open, ["this is closed by no ", &thing].concat());
    evidence.extend(view.nearest(CLOSES, open, &open.env, false));
    why(reason, evidence)
}

/// A step that closes while another one than its own is the latest that is open.
fn closes_another(view: &mut View<'_, '_>, closing: &Hit, open: &Hit) -> Why {
    let (own, latest) = (view.say(closing.step), view.say(open.step));
    let (found, wanted) = (view.values(CLOSES, &closing.env), view.values(OPENS, &open.env));
    let reason = format!("{own}{found} does not close the latest open step, {latest}{wanted}");
    let mut evidence = view.decisive(closing, String::new());
    evidence.push(view.step_proof(open.step, OPENS, Role::Opening, "this is to be closed first".to_owned()));
    view.bound_values(open, Role::Value, &mut evidence);
    why(reason, evidence)
}

/// A step that closes where nothing is open.
fn closes_nothing(view: &mut View<'_, '_>, closing: &Hit) -> Why {
    let thing = view.wanted(OPENS, closing, &closing.env, true);
    let reason = [&view.say(closing.step), " closes nothing: no ", &thing, " is open"].concat();
    let mut evidence = view.decisive(closing, ["this has no open ", &thing].concat());
    evidence.extend(view.nearest(OPENS, closing, &closing.env, true));
    why(reason, evidence)
}
