//! The statements. One file holds all there is to one of them, or to a family: its operands and what a further match of each does, when
//! it is vacuous, how it is decided, and the words of its reasons.
//!
//! [`define_statement`] is the one table from the form of a statement to its definition. Everything else asks the definition.

mod args_valid;
mod call_list;
mod calls_match;
mod count;
mod each;
mod exact;
mod flow;
mod nested;
mod never_after;
mod never_before;
mod never_between;
mod none_in;
mod occurs;
mod order;
mod partners;
mod repeat;
mod sequence;
mod together;
mod walk;
mod windows;

use super::decision::Decision;
use super::search::Search;
use super::view::WindowView;
use super::window_events::KnownPresence;
use crate::bytecode::program::{CodeId, PatternId};
use crate::vm::fault::Fault;
use averment_checker::ir::{StepDistance, Temporal};
use averment_runs::run::Step;
use averment_syntax::ast::SequenceMode;
use count::NumberTest;
use order::OrderSemantics;
use std::fmt::Debug;
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Polarity {
    Helps,
    Hurts,
    /// Either.
    Mixed,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct StatementOperand {
    pub(super) pattern: PatternId,
    pub(super) polarity: Polarity,
}

/// When a statement that holds is vacuous; an unexercised statement holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ExerciseRule {
    Always,
    AnyOf(Range<usize>),
    AllOf(Range<usize>),
    Calls,
    Own,
}

impl ExerciseRule {
    /// `operands` are what occurs of the patterns, `own` what a statement with its own notion says.
    pub(super) fn exercise_state(
        &self,
        operands: &[KnownPresence],
        no_calls: bool,
        own: Option<KnownPresence>,
    ) -> KnownPresence {
        let of = |range: &Range<usize>| operands.get(range.clone()).unwrap_or(&[]).iter().copied();
        match (self, own) {
            (_, Some(own)) => own,
            (Self::AnyOf(range), None) => of(range).fold(KnownPresence::of(false), KnownPresence::or),
            (Self::AllOf(range), None) => of(range).fold(KnownPresence::of(true), KnownPresence::and),
            (Self::Calls, None) => KnownPresence::of(!no_calls),
            (Self::Always | Self::Own, None) => KnownPresence::of(true),
        }
    }
}

/// Where sorted matches decide a statement, and so names alone may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClosedForm {
    Never,
    /// Where no match binds a value.
    Unbound,
    Always,
}

#[derive(Debug)]
pub(super) struct StatementDefinition {
    /// Patterns in source order: its operands.
    pub(super) operands: Vec<StatementOperand>,
    pub(super) exercise: ExerciseRule,
    pub(super) ordered: bool,
    /// True if it depends on the call list, so that calls must be recorded.
    pub(super) calls: bool,
    /// True if the patterns are independent: one that occurs by missing values does not make another vacuous.
    pub(super) either: bool,
    pub(super) within: Option<StepDistance>,
    pub(super) closed: ClosedForm,
    /// True if it depends on which calls were known to others, by time or turn.
    pub(super) is_timed: bool,
    /// True if the first match of each operand decides it wherever none binds a value: for a timed statement, where the calls are
    /// sequential.
    pub(super) is_by_first: bool,
    pub(super) step_requirement: Option<StepRequirement>,
    /// What it asks of each match.
    pub(super) condition: Option<CodeId>,
    /// What it asks of the number of matches.
    pub(super) number_test: Option<CodeId>,
    /// True if its condition asks for something that a longer run may change.
    pub(super) looks_at_course: bool,
    pub(super) meaning: Box<dyn StatementSemantics>,
}

pub(super) trait StatementSemantics: Debug + Send + Sync {
    /// Where it stands; `None` where names alone cannot say it.
    ///
    /// # Errors
    /// What ended the evaluation of a condition, or a statement that is too large.
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault>;

    fn vacuous_reason(&self, _view: &mut WindowView<'_, '_>) -> String {
        "something missing decided it".to_owned()
    }
}

/// What is unknown where a step lacks it.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepRequirement {
    pub(super) words: &'static str,
    pub(super) lacks: fn(&Step<'_>) -> bool,
}

impl StatementDefinition {
    fn new(
        operands: Vec<StatementOperand>,
        exercise: ExerciseRule,
        meaning: impl StatementSemantics + 'static,
    ) -> Self {
        Self {
            operands,
            exercise,
            ordered: false,
            calls: false,
            either: false,
            within: None,
            closed: ClosedForm::Never,
            is_timed: false,
            is_by_first: false,
            step_requirement: None,
            condition: None,
            number_test: None,
            looks_at_course: false,
            meaning: Box::new(meaning),
        }
    }

    /// True if any match makes it fail by itself: `never A, B`.
    pub(super) fn hurts_each(&self) -> bool {
        self.exercise == ExerciseRule::Always && self.operands.iter().all(|one| one.polarity == Polarity::Hurts)
    }

    /// `unbound` tells that no match binds a value.
    pub(super) fn is_closed(&self, unbound: bool) -> bool {
        self.closed == ClosedForm::Always || unbound && self.closed == ClosedForm::Unbound
    }

    fn in_order(self, within: Option<StepDistance>) -> Self {
        Self { ordered: true, within, ..self }
    }

    fn closed_if(self, is_closed: bool) -> Self {
        if is_closed { Self { closed: ClosedForm::Always, ..self } } else { self }
    }

    fn closed_if_unbound(self) -> Self {
        Self { closed: ClosedForm::Unbound, ..self }
    }

    fn of_calls(self) -> Self {
        Self { calls: true, ..self }
    }
}

fn helping_operands(patterns: &[PatternId]) -> Vec<StatementOperand> {
    operands_of(patterns, Polarity::Helps)
}

fn hurting_operands(patterns: &[PatternId]) -> Vec<StatementOperand> {
    operands_of(patterns, Polarity::Hurts)
}

fn mixed_operands(patterns: &[PatternId]) -> Vec<StatementOperand> {
    operands_of(patterns, Polarity::Mixed)
}

fn operands_of(patterns: &[PatternId], polarity: Polarity) -> Vec<StatementOperand> {
    patterns.iter().map(|pattern| StatementOperand { pattern: *pattern, polarity }).collect()
}

pub(super) fn define_statement(temporal: &Temporal<PatternId, CodeId>) -> StatementDefinition {
    match *temporal {
        Temporal::Require { step, times: None } => occurs::occurs_statement(helping_operands(&[step]), true),
        Temporal::Require { step, times: Some(times) } => count::number_statement(step, NumberTest::Times(times)),
        Temporal::Never { ref steps } => occurs::occurs_statement(hurting_operands(steps), false),
        Temporal::NeverAfter { ref steps, open, until, within } => {
            never_after::never_after_statement(steps, open, until, within)
        }
        Temporal::NeverBefore { ref steps, close, within } => {
            never_before::never_before_statement(steps, close, within)
        }
        Temporal::NeverBetween { ref steps, open, close, within } => {
            never_between::never_between_statement(steps, open, close, within)
        }
        Temporal::Only { ref steps } => call_list::only_statement(steps),
        Temporal::Count { step, test } => count::number_statement(step, NumberTest::Code(test)),
        Temporal::First { step } => call_list::edge_statement(step, false),
        Temporal::Last { step } => call_list::edge_statement(step, true),
        Temporal::Before { each, starts, immediately, step, ref targets, within, .. } => {
            order::order_statement(step, targets, OrderSemantics { after: false, each, starts, immediately, within })
        }
        Temporal::After { each, immediately, step, ref targets, within } => {
            let sense = OrderSemantics { after: true, each, starts: true, immediately, within };
            order::order_statement(step, targets, sense)
        }
        Temporal::Sequence { mode: SequenceMode::Gaps, ref steps, within } => {
            sequence::sequence_statement(steps, within)
        }
        Temporal::Sequence { mode, ref steps, within } => exact::exact_statement(mode, steps, within),
        Temporal::Nested { open, close } => nested::nested_statement(open, close),
        Temporal::Together { left, right } => together::together_statement(left, right, true),
        Temporal::Apart { left, right } => together::together_statement(left, right, false),
        Temporal::IfThen { condition, consequence } => partners::implied_statement(condition, consequence, false),
        Temporal::Iff { left, right } => partners::implied_statement(left, right, true),
        Temporal::Either { ref steps } => {
            StatementDefinition { either: true, ..occurs::occurs_statement(helping_operands(steps), true) }
        }
        Temporal::NotBoth { left, right } => partners::not_both(left, right),
        Temporal::Repeat { step, limit } => repeat::repeat_statement(step, limit),
        Temporal::Flow { ref flow } => flow::flow_statement(flow),
        Temporal::Each { quantifier, step, condition } => each::each_statement(quantifier, step, condition),
        Temporal::NoneIn { values, predicate } => none_in::value_statement(values, predicate),
        Temporal::NoneInSteps { step, predicate } => none_in::steps_statement(step, predicate),
        Temporal::ArgsValid { step, strict } => args_valid::args_statement(step, strict),
        Temporal::CallsMatch { expected, ref matching } => calls_match::match_statement(expected, matching),
    }
}
