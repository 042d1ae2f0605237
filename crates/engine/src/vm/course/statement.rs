//! The table of statements: which patterns each has, what an unknown match of each does to it, when it is vacuous, and whether it
//! speaks of order. The monitors decide the rest.

use super::automaton::Automaton;
use crate::bytecode::program::{CodeId, PatternId};
use crate::ir::{Course, Flow};
use averment_syntax::ast::SequenceMode;
use std::ops::Range;
use std::sync::Arc;

/// What a further match of a pattern does to a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Polarity {
    /// It can only make it hold.
    Helps,
    /// It can only make it fail.
    Hurts,
    /// Either: the monitor looks at both answers itself.
    Mixed,
}

/// A pattern of a statement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The pattern.
    pub(super) pattern: PatternId,
    /// What a match does.
    pub(super) polarity: Polarity,
}

/// When a statement that holds is vacuous.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Exercise {
    /// Never.
    Always,
    /// When none of these patterns occurs.
    AnyOf(Range<usize>),
    /// When one of these patterns does not occur.
    AllOf(Range<usize>),
    /// When there are no calls.
    Calls,
    /// The monitor knows.
    Own,
}

/// What the engine knows of a statement beside its monitor.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    /// Its patterns in the order in which they are written: the slots of its monitor.
    pub(super) places: Vec<Place>,
    /// When it is vacuous.
    pub(super) exercise: Exercise,
    /// Whether the order of steps of different kinds matters to it.
    pub(super) ordered: bool,
    /// Whether it speaks of the call list, so that calls have to be recorded.
    pub(super) calls: bool,
    /// Whether each pattern stands alone: an alternative that occurs only by missing values does not make another one vacuous.
    pub(super) either: bool,
    /// The automaton of a `flow`; `None` also for one that is too large.
    pub(super) automaton: Option<Arc<Automaton>>,
}

impl Statement {
    fn new(places: Vec<Place>, exercise: Exercise) -> Self {
        Self { places, exercise, ordered: false, calls: false, either: false, automaton: None }
    }

    fn in_order(self) -> Self {
        Self { ordered: true, ..self }
    }

    fn of_calls(self) -> Self {
        Self { calls: true, ..self }
    }

    fn of_calls_if(self, condition: bool) -> Self {
        Self { calls: condition || self.calls, ..self }
    }
}

fn helps(pattern: PatternId) -> Place {
    Place { pattern, polarity: Polarity::Helps }
}

fn hurts(pattern: PatternId) -> Place {
    Place { pattern, polarity: Polarity::Hurts }
}

fn mixed(pattern: PatternId) -> Place {
    Place { pattern, polarity: Polarity::Mixed }
}

fn all(patterns: &[PatternId], place: fn(PatternId) -> Place) -> Vec<Place> {
    patterns.iter().copied().map(place).collect()
}

/// A place in front of others.
fn before(first: Place, targets: &[PatternId], place: fn(PatternId) -> Place) -> Vec<Place> {
    std::iter::once(first).chain(targets.iter().copied().map(place)).collect()
}

/// What must not occur, then the places of its window.
fn behind(steps: &[PatternId], window: impl IntoIterator<Item = Place>) -> Vec<Place> {
    steps.iter().copied().map(hurts).chain(window).collect()
}

/// The row of a statement.
pub(super) fn of(course: &Course<PatternId, CodeId>) -> Statement {
    use Exercise as X;
    match course {
        Course::Require { step, times: None } => Statement::new(vec![helps(*step)], X::Always),
        Course::Require { step, .. } | Course::Count { step, .. } => Statement::new(vec![mixed(*step)], X::Always),
        Course::Never { steps } => Statement::new(all(steps, hurts), X::Always),
        Course::NeverAfter { steps, open, until, .. } => {
            let places = behind(steps, std::iter::once(hurts(*open)).chain(until.map(helps)));
            Statement::new(places, X::AnyOf(steps.len()..steps.len() + 1)).in_order()
        }
        Course::NeverBefore { steps, close, .. } => {
            Statement::new(behind(steps, [mixed(*close)]), X::AnyOf(steps.len()..steps.len() + 1)).in_order()
        }
        Course::NeverBetween { steps, open, close, .. } => {
            Statement::new(behind(steps, [hurts(*open), mixed(*close)]), X::Own).in_order()
        }
        Course::Only { steps } => Statement::new(all(steps, helps), X::Calls).of_calls(),
        Course::First { step } | Course::Last { step } => Statement::new(vec![helps(*step)], X::Always).of_calls(),
        Course::Before { step, targets, immediately, .. } => {
            Statement::new(before(helps(*step), targets, hurts), X::AnyOf(1..targets.len() + 1))
                .in_order()
                .of_calls_if(*immediately)
        }
        Course::After { step, targets, immediately, .. } => {
            Statement::new(before(hurts(*step), targets, helps), X::AnyOf(0..1)).in_order().of_calls_if(*immediately)
        }
        Course::Sequence { mode, steps, .. } => {
            Statement::new(all(steps, helps), X::Always).in_order().of_calls_if(*mode == SequenceMode::Exactly)
        }
        Course::Together { left, right } => Statement::new(vec![helps(*left), helps(*right)], X::Always),
        Course::Apart { left, right } => Statement::new(vec![hurts(*left), hurts(*right)], X::AllOf(0..2)),
        Course::IfThen { condition, consequence } => {
            Statement::new(vec![mixed(*condition), mixed(*consequence)], X::AnyOf(0..1))
        }
        Course::Iff { left, right } => Statement::new(vec![mixed(*left), mixed(*right)], X::AnyOf(0..2)),
        Course::Either { steps } => Statement { either: true, ..Statement::new(all(steps, helps), X::Always) },
        Course::NotBoth { left, right } => Statement::new(vec![hurts(*left), hurts(*right)], X::AnyOf(0..2)),
        Course::Repeat { step, .. } => Statement::new(vec![hurts(*step)], X::AnyOf(0..1)).of_calls(),
        Course::Flow { flow } => Statement {
            automaton: Automaton::new(flow).map(Arc::new),
            ..Statement::new(all(&leaves(flow), helps), X::Always).of_calls()
        },
        Course::Each { step, .. } => Statement::new(vec![mixed(*step)], X::Own),
        Course::NoneInSteps { step, .. } => Statement::new(vec![mixed(*step)], X::AnyOf(0..1)),
        Course::NoneIn { .. } => Statement::new(Vec::new(), X::Own),
        Course::ArgsValid { step, .. } => Statement::new(step.iter().copied().map(mixed).collect(), X::Own).of_calls(),
    }
}

/// The patterns of a flow from left to right. As deep as the brackets it was written with.
pub(super) fn leaves(flow: &Flow<PatternId>) -> Vec<PatternId> {
    let mut found = Vec::new();
    let mut open = vec![flow];
    while let Some(part) = open.pop() {
        match part {
            Flow::Step(step) => found.push(*step),
            Flow::Sequence(parts) | Flow::Choice(parts) => open.extend(parts.iter().rev()),
            Flow::Repeat { body, .. } => open.push(body),
        }
    }
    found
}
