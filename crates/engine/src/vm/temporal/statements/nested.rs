//! `nested A -> B`: every B closes the latest A that is open, and none stays open.
//!
//! What is open is a stack. Where the run does not tell whether a step matches or fits, each stack is followed that may stand
//! there, up to a bound. Stacks share what lies below their tops, so that a long run keeps as many places as it has steps.

use super::{ExerciseRule, StatementDefinition, StatementSemantics, mixed_operands};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::decision::Decision;
use crate::vm::temporal::explain::reason_with;
use crate::vm::temporal::search::Search;
use crate::vm::temporal::timeline::to_index;
use crate::vm::temporal::view::{Hit, PairFit, WindowView};
use crate::vm::temporal::window_events::{PossibleOutcomes, VerdictReason, operand_hits};
use averment_base::words::count_noun;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

pub(super) fn nested_statement(open: PatternId, close: PatternId) -> StatementDefinition {
    let operands = mixed_operands(&[open, close]);
    StatementDefinition::new(operands, ExerciseRule::AnyOf(0..2), NestedSemantics).in_order(None)
}

#[derive(Debug)]
struct NestedSemantics;

impl StatementSemantics for NestedSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let Some((view, hits)) = search.window() else { return Ok(None) };
        let mut stacks = OpenStacks { stacks: vec![None], ..OpenStacks::default() };
        for step in hits.steps() {
            stacks.add_step(step, view)?;
            if stacks.stacks.is_empty() {
                break;
            }
        }
        let (outcomes, stacks) = (stacks.outcomes(), Rc::new(stacks));
        let failing = Rc::clone(&stacks);
        let decision = Decision::new(outcomes).failing(move |view| failing.explain_failure(view));
        Ok(Some(decision.with_state(move |view| stacks.describe_stack(view))))
    }
}

const OPENS: usize = 0;
const CLOSES: usize = 1;

/// Stacks followed at once; with more, the statement is undecided.
const STACKS: usize = 256;

/// A stack, by its top; `None` is empty.
type StackTop = Option<u32>;

type StepHits = SmallVec<[Hit; 1]>;

#[derive(Default)]
struct OpenStacks {
    stacks: Vec<StackTop>,
    places: Vec<(StackTop, u32)>,
    known: FxHashMap<(StackTop, u32), u32>,
    opened: Vec<StepHits>,
    refused: Option<(Hit, StackTop)>,
    lost: bool,
}

impl OpenStacks {
    fn stack_entry(&self, stack: StackTop) -> Option<(&StepHits, StackTop)> {
        let (below, opened) = self.places.get(stack? as usize)?;
        Some((self.opened.get(*opened as usize)?, *below))
    }

    fn push_step(&mut self, stack: StackTop) -> StackTop {
        let place = (stack, to_index(self.opened.len().saturating_sub(1)));
        let next = to_index(self.places.len());
        let number = *self.known.entry(place).or_insert(next);
        if number == next {
            self.places.push(place);
        }
        Some(number)
    }

    fn next_stacks(
        &mut self,
        stack: StackTop,
        opening: &[Hit],
        closing: &[Hit],
        next: &mut Vec<StackTop>,
        view: &mut WindowView<'_, '_>,
    ) -> Result<(), Fault> {
        if let Some(first) = closing.first() {
            let (closes, below) = match self.stack_entry(stack) {
                Some((open, below)) => (closing_answers(open, closing, view)?, below),
                None => (ClosingAnswers { may: false, may_not: true }, None),
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
            next.push(self.push_step(stack));
        }
        if !is_sure(opening) {
            next.push(stack);
        }
        Ok(())
    }

    fn stack_depth(&self, stack: StackTop) -> u64 {
        let below = |(_, below): &(&StepHits, StackTop)| self.stack_entry(*below);
        std::iter::successors(self.stack_entry(stack), below).count() as u64
    }
}

struct ClosingAnswers {
    may: bool,
    may_not: bool,
}

fn is_sure(hits: &[Hit]) -> bool {
    hits.iter().any(|hit| hit.sure)
}

/// True if a closing step fits an opening one by at least one match of each.
fn closing_answers(open: &[Hit], closing: &[Hit], view: &mut WindowView<'_, '_>) -> Result<ClosingAnswers, Fault> {
    let (mut may, mut sure) = (false, Vec::new());
    for (left, opened) in open.iter().enumerate() {
        for (right, closes) in closing.iter().enumerate() {
            let fit = view.pair_fit(opened.as_side(), closes.as_side())?;
            may |= fit != PairFit::No;
            if fit == PairFit::Yes {
                sure.push((left, right));
            }
        }
    }
    let (lefts, rights) = (minimal_hits(open), minimal_hits(closing));
    let refuses =
        |left: &MinimalHits, right: &MinimalHits| !sure.iter().any(|(l, r)| left.contains(l) && right.contains(r));
    let may_not = lefts.iter().any(|left| rights.iter().any(|right| refuses(left, right)));
    Ok(ClosingAnswers { may, may_not })
}

type MinimalHits = SmallVec<[usize; 1]>;

/// Minimal sets of matches of a step: all sure ones, otherwise each single match.
fn minimal_hits(hits: &[Hit]) -> Vec<MinimalHits> {
    let sure: MinimalHits = hits.iter().enumerate().filter(|(_, hit)| hit.sure).map(|(number, _)| number).collect();
    if !sure.is_empty() {
        return vec![sure];
    }
    let alike =
        |one: &Hit| hits.iter().enumerate().filter(|(_, hit)| hit.env == one.env).map(|(number, _)| number).collect();
    hits.iter().map(alike).collect()
}

impl OpenStacks {
    fn add_step(&mut self, hits: &[Hit], view: &mut WindowView<'_, '_>) -> Result<(), Fault> {
        let opening: StepHits = operand_hits(hits, OPENS).cloned().collect();
        let closing: StepHits = operand_hits(hits, CLOSES).cloned().collect();
        if !opening.is_empty() {
            self.opened.push(opening.clone());
        }
        let stacks = std::mem::take(&mut self.stacks);
        view.spend_fuel(stacks.len())?;
        let mut next = Vec::with_capacity(stacks.len());
        for stack in stacks {
            self.next_stacks(stack, &opening, &closing, &mut next, view)?;
        }
        next.sort_unstable();
        next.dedup();
        self.lost |= next.len() > STACKS;
        if !self.lost {
            self.stacks = next;
        }
        Ok(())
    }

    fn outcomes(&self) -> PossibleOutcomes {
        if self.lost {
            return PossibleOutcomes { may_fail: true, may_hold: true, ..PossibleOutcomes::default() };
        }
        PossibleOutcomes {
            may_fail: self.refused.is_some() || self.stacks.iter().any(Option::is_some),
            may_hold: self.stacks.contains(&None),
            failed_for_good: self.stacks.is_empty(),
            ..PossibleOutcomes::default()
        }
    }

    fn describe_stack(&self, view: &WindowView<'_, '_>) -> String {
        let [stack] = self.stacks.as_slice() else { return String::new() };
        let Some(latest) = self.stack_entry(*stack).and_then(|(open, _)| open.first()) else { return String::new() };
        format!(
            "{} open, the latest is {}",
            count_noun(self.stack_depth(*stack), "step"),
            view.describe_step(latest.step)
        )
    }

    fn explain_failure(&self, view: &mut WindowView<'_, '_>) -> VerdictReason {
        let left = self.stacks.iter().find_map(|stack| self.stack_entry(*stack)).and_then(|(open, _)| open.first());
        match (left, &self.refused) {
            (Some(left), _) => stays_open(view, left),
            (None, Some((closing, stack))) => match self.stack_entry(*stack).and_then(|(open, _)| open.first()) {
                Some(open) => closes_another(view, closing, open),
                None => closes_nothing(view, closing),
            },
            (None, None) => VerdictReason::default(),
        }
    }
}

fn stays_open(view: &mut WindowView<'_, '_>, open: &Hit) -> VerdictReason {
    let thing = view.describe_wanted(CLOSES, open, false);
    let reason = [&view.describe_step(open.step), " stays open: there is no later ", &thing].concat();
    let mut evidence = view.decisive_evidence(open, ["this is closed by no ", &thing].concat());
    evidence.extend(view.nearest_evidence(CLOSES, open, false));
    reason_with(reason, evidence)
}

fn closes_another(view: &mut WindowView<'_, '_>, closing: &Hit, open: &Hit) -> VerdictReason {
    let (own, latest) = (view.describe_step(closing.step), view.describe_step(open.step));
    let (found, wanted) = (view.value_words(CLOSES, &closing.env), view.value_words(OPENS, &open.env));
    let reason = format!("{own}{found} does not close the latest open step, {latest}{wanted}");
    let mut evidence = view.decisive_evidence(closing, String::new());
    evidence.push(view.step_proof(open.step, OPENS, Role::Opening, "this is to be closed first".to_owned()));
    view.bound_values(open, Role::Value, &mut evidence);
    reason_with(reason, evidence)
}

fn closes_nothing(view: &mut WindowView<'_, '_>, closing: &Hit) -> VerdictReason {
    let thing = view.describe_wanted(OPENS, closing, true);
    let reason = [&view.describe_step(closing.step), " closes nothing: no ", &thing, " is open"].concat();
    let mut evidence = view.decisive_evidence(closing, ["this has no open ", &thing].concat());
    evidence.extend(view.nearest_evidence(OPENS, closing, true));
    reason_with(reason, evidence)
}
