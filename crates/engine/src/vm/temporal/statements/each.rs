//! `each A: cond`, `some A: cond`, `no A: cond`: a condition on every matching step.

use super::{ExerciseRule, ExerciseState, StatementDefinition, StatementSemantics, mixed_operand};
use crate::bytecode::program::{CodeId, PatternId};
use crate::vm::context::ExpressionScope;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::closed_form::{ClosedVerdict, ConditionOracle, OccurrenceLookup};
use crate::vm::temporal::explain::{pass_reason, reason_with, window_end};
use crate::vm::temporal::failures::FailureList;
use crate::vm::temporal::monitor::{Monitor, PossibleOutcomes, VerdictReason, event_hit};
use crate::vm::temporal::view::{Hit, MonitorView};
use averment_base::truth::Truth;
use averment_syntax::ast::Quantifier;

pub(super) fn each_statement(quantifier: Quantifier, step: PatternId, condition: CodeId) -> StatementDefinition {
    StatementDefinition::new(vec![mixed_operand(step)], ExerciseRule::Own, EachSemantics { quantifier, condition })
}

#[derive(Debug, Clone, Copy)]
struct EachSemantics {
    quantifier: Quantifier,
    condition: CodeId,
}

impl StatementSemantics for EachSemantics {
    fn is_closed(&self, _: bool) -> bool {
        true
    }

    fn closed_form(
        &self,
        search: &OccurrenceLookup<'_, '_>,
        asks: &mut dyn ConditionOracle,
    ) -> Result<Option<ClosedVerdict>, Fault> {
        let Some(operand) = search.operand_occurrences(0) else { return Ok(None) };
        let mut steps = StepTally::new(search.listed);
        for event in operand.event_numbers() {
            let Some(truth) = asks.condition_truth(self.condition, 0, event)? else { return Ok(None) };
            steps.add_step(self.decides_alone(truth), truth, true, || event);
        }
        let (judged, each) = (self.judge_steps(&steps), *self);
        let words = move |view: &mut MonitorView<'_, '_>| {
            Some(each.explain_steps(view, &steps, |view, event| event_hit(0, *event, view)))
        };
        Ok(Some(search.closed_verdict(judged, judged.may_fail.then_some(words))))
    }

    fn build_monitor<'run>(&self, view: &MonitorView<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(EachMonitor { each: *self, steps: StepTally::new(view.listed) }))
    }

    fn vacuous_reason(&self, view: &mut MonitorView<'_, '_>) -> String {
        let thing = view.pattern_words(0);
        let Some(first) = view.first_hit(0) else { return format!("there is no {thing}") };
        match view.explain_condition(&first, self.condition).0.as_str() {
            "" => format!("something missing decided the condition for every {thing}"),
            because => format!("no {thing} exercises the condition: for {} {because}", view.describe_step(first.step)),
        }
    }

    fn match_condition(&self) -> Option<CodeId> {
        Some(self.condition)
    }
}

impl EachSemantics {
    /// The truth that decides alone: false for `each`, true for `some` and `no`.
    fn decides_alone(&self, truth: Truth) -> Option<bool> {
        let plain = truth.plain_answer()?;
        Some(if self.quantifier == Quantifier::Each { !plain } else { plain })
    }

    fn judge_steps<S>(&self, steps: &StepTally<S>) -> PossibleOutcomes {
        let (sure, possible) = (!steps.sure.is_empty(), steps.possible.is_some());
        // A step that decides alone makes the others unimportant.
        let by_missing = steps.by_missing && !sure;
        let exercised =
            Some(ExerciseState { may_be_vacuous: !steps.sure_on_evidence, may_pass: steps.may_be_on_evidence });
        match self.quantifier {
            Quantifier::Some => PossibleOutcomes {
                may_fail: !sure,
                may_hold: possible,
                passed_for_good: sure && steps.sure_on_evidence,
                by_missing,
                exercised,
                ..PossibleOutcomes::default()
            },
            Quantifier::Each | Quantifier::No => {
                let judged = PossibleOutcomes {
                    may_fail: possible,
                    may_hold: !sure,
                    failed_for_good: sure,
                    ..PossibleOutcomes::default()
                };
                PossibleOutcomes { by_missing, exercised, ..judged }
            }
        }
    }

    fn explain_steps<S>(
        &self,
        view: &mut MonitorView<'_, '_>,
        steps: &StepTally<S>,
        hit: impl Fn(&MonitorView<'_, '_>, &S) -> Option<Hit>,
    ) -> VerdictReason {
        let meets = self.quantifier == Quantifier::No;
        let words = |view: &mut MonitorView<'_, '_>, step: &S| {
            let hit = hit(view, step)?;
            Some(decided_by_reason(view, &hit, self.condition, meets))
        };
        match (self.quantifier, &steps.possible) {
            (Quantifier::Some, _) => {
                let first = steps.first.as_ref().and_then(|first| hit(view, first));
                none_meets_reason(view, first.as_ref(), self.condition)
            }
            (_, Some(possible)) if steps.sure.is_empty() => words(view, possible).unwrap_or_default(),
            _ => steps.sure.explain_places(view, words),
        }
    }
}

#[derive(Debug, Clone)]
struct StepTally<S> {
    sure: FailureList<S>,
    possible: Option<S>,
    first: Option<S>,
    sure_on_evidence: bool,
    may_be_on_evidence: bool,
    by_missing: bool,
}

impl<S> StepTally<S> {
    fn new(listed: usize) -> Self {
        let sure = FailureList::new(listed);
        let (sure_on_evidence, may_be_on_evidence, by_missing) = (false, false, false);
        Self { sure, possible: None, first: None, sure_on_evidence, may_be_on_evidence, by_missing }
    }

    fn add_step(&mut self, decides: Option<bool>, truth: Truth, is_sure: bool, step: impl Fn() -> S) {
        if is_sure && decides == Some(true) {
            self.sure.push_with(&step);
        }
        if decides != Some(false) && self.possible.is_none() {
            self.possible = Some(step());
        }
        if self.first.is_none() {
            self.first = Some(step());
        }
        self.sure_on_evidence |= is_sure && !truth.by_missing();
        self.may_be_on_evidence |= !truth.by_missing();
        self.by_missing |= truth.by_missing();
    }
}

impl MonitorView<'_, '_> {
    pub(in crate::vm::temporal) fn condition_of(&mut self, code: CodeId, hit: &Hit) -> Result<Option<Truth>, Fault> {
        let Some(step) = self.step(hit.step) else { return Ok(None) };
        let bindings = self.binding_values(&hit.env);
        self.machine.evaluate_truth(code, &ExpressionScope::of_step(step).with_bindings(&bindings)).map(Some)
    }
}

/// Considers all answers to unknowns, because every step is independent.
struct EachMonitor {
    each: EachSemantics,
    steps: StepTally<Hit>,
}

impl<'run> Monitor<'run> for EachMonitor {
    fn observe_hits(&mut self, hits: &[Hit], view: &mut MonitorView<'_, 'run>) -> Result<(), Fault> {
        for hit in hits {
            if let Some(truth) = view.condition_of(self.each.condition, hit)? {
                self.steps.add_step(self.each.decides_alone(truth), truth, hit.sure, || hit.clone());
            }
        }
        Ok(())
    }

    fn possible_outcomes(&mut self, _: &mut MonitorView<'_, 'run>) -> Result<PossibleOutcomes, Fault> {
        Ok(self.each.judge_steps(&self.steps))
    }

    fn explain_failure(&self, view: &mut MonitorView<'_, 'run>) -> VerdictReason {
        self.each.explain_steps(view, &self.steps, |_, hit| Some(hit.clone()))
    }

    fn explain_pass(&self, view: &mut MonitorView<'_, 'run>) -> VerdictReason {
        match (self.steps.sure.first(), self.each.quantifier) {
            (Some(hit), Quantifier::Some) => decided_by_reason(view, hit, self.each.condition, true),
            _ => pass_reason(view),
        }
    }

    fn sees_all_answers(&self) -> bool {
        true
    }
}

fn decided_by_reason(view: &mut MonitorView<'_, '_>, hit: &Hit, code: CodeId, meets: bool) -> VerdictReason {
    let step = view.describe_step(hit.step);
    let explanation = view.explain_condition(hit, code);
    let words = if meets { "meets" } else { "does not meet" };
    let text = view.machine.rule_text(view.machine.code_span(code));
    let reason = match explanation.0.as_str() {
        "" => format!("{step} {words} `{text}`"),
        because => format!("{step} {words} `{text}`: {because}"),
    };
    let mut evidence = vec![view.step_proof(hit.step, hit.operand, Role::Decisive, String::new())];
    evidence.extend(explanation.1);
    reason_with(reason, evidence)
}

fn none_meets_reason(view: &mut MonitorView<'_, '_>, first: Option<&Hit>, code: CodeId) -> VerdictReason {
    let thing = view.pattern_words(0);
    let Some(first) = first else {
        let near = view.near_miss(0, &view.header.clone(), window_end(view), true).or_else(|| view.misspelled_name(0));
        return reason_with(format!("there is no {thing}"), near.into_iter().collect());
    };
    let text = view.machine.rule_text(view.machine.code_span(code));
    let (because, values) = view.explain_condition(first, code);
    let mut reason = format!("no {thing} meets `{text}`");
    if !because.is_empty() {
        reason.push_str(&format!(": for {} {because}", view.describe_step(first.step)));
    }
    let mut evidence = vec![view.step_proof(first.step, 0, Role::NearMiss, String::new())];
    evidence.extend(values);
    reason_with(reason, evidence)
}
