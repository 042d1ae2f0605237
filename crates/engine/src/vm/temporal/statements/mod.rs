//! The statements. One file holds all there is to one of them, or to a family: its operands and what a further match of each does, when
//! it is vacuous, how it is decided, and the words of its reasons.
//!
//! [`of`] is the one table from the form of a statement to its definition. Everything else asks the definition.

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
use super::window_events::PatternPresence;
use crate::bytecode::program::{CodeId, PatternId};
use crate::vm::fault::Fault;
use averment_checker::ir::{StepDistance, Temporal};
use averment_runs::run::Step;
use averment_syntax::ast::SequenceMode;
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExerciseState {
    pub(super) may_be_vacuous: bool,
    pub(super) may_pass: bool,
}

impl ExerciseRule {
    pub(super) fn exercise_state(
        &self,
        occurs: impl Fn(usize) -> PatternPresence,
        no_calls: bool,
        own: Option<ExerciseState>,
    ) -> ExerciseState {
        match (self, own) {
            (_, Some(own)) => own,
            (Self::AnyOf(range), None) => ExerciseState {
                may_be_vacuous: range.clone().all(|operand| !occurs(operand).sure),
                may_pass: range.clone().any(|operand| occurs(operand).possible),
            },
            (Self::AllOf(range), None) => ExerciseState {
                may_be_vacuous: range.clone().any(|operand| !occurs(operand).sure),
                may_pass: range.clone().all(|operand| occurs(operand).possible),
            },
            (Self::Calls, None) => ExerciseState { may_be_vacuous: no_calls, may_pass: !no_calls },
            (Self::Always | Self::Own, None) => ExerciseState { may_be_vacuous: false, may_pass: true },
        }
    }
}

impl ExerciseState {
    pub(super) fn is_idle(self) -> bool {
        self.may_be_vacuous && !self.may_pass
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

    fn step_requirement(&self) -> Option<StepRequirement> {
        None
    }

    /// True if it depends on which calls were known to others, by time or turn.
    fn is_timed(&self) -> bool {
        false
    }

    /// True if the first match of each operand decides it wherever none binds a value: for a timed statement, where the calls are
    /// sequential.
    fn is_by_first(&self) -> bool {
        false
    }

    fn match_condition(&self) -> Option<CodeId> {
        None
    }

    fn number_test(&self) -> Option<CodeId> {
        None
    }
}

#[derive(Clone, Copy)]
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
        Temporal::Require { step, times: None } => occurs::require_statement(step),
        Temporal::Require { step, times: Some(times) } => count::times_statement(step, times),
        Temporal::Never { ref steps } => occurs::never_statement(steps),
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
        Temporal::Count { step, test } => count::count_statement(step, test),
        Temporal::First { step } => call_list::edge_statement(step, false),
        Temporal::Last { step } => call_list::edge_statement(step, true),
        Temporal::Before { each, starts, immediately, step, ref targets, within, .. } => {
            order::before_statement(step, targets, OrderSemantics { after: false, each, starts, immediately, within })
        }
        Temporal::After { each, immediately, step, ref targets, within } => {
            let sense = OrderSemantics { after: true, each, starts: true, immediately, within };
            order::after_statement(step, targets, sense)
        }
        Temporal::Sequence { mode: SequenceMode::Gaps, ref steps, within } => {
            sequence::sequence_statement(steps, within)
        }
        Temporal::Sequence { mode, ref steps, within } => exact::exact_statement(mode, steps, within),
        Temporal::Nested { open, close } => nested::nested_statement(open, close),
        Temporal::Together { left, right } => together::together_statement(left, right),
        Temporal::Apart { left, right } => together::apart_statement(left, right),
        Temporal::IfThen { condition, consequence } => partners::if_then(condition, consequence),
        Temporal::Iff { left, right } => partners::iff_statement(left, right),
        Temporal::Either { ref steps } => occurs::either_statement(steps),
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
