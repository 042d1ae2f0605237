//! `each A: cond`, `some A: cond`, `no A: cond`: a condition on every matching step.

use super::{ExerciseRule, StatementDefinition, StatementSemantics, mixed_operands};
use crate::bytecode::program::{CodeId, PatternId};
use crate::vm::context::ExpressionScope;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::decision::{Decision, FailureList};
use crate::vm::temporal::explain::{pass_reason, reason_with};
use crate::vm::temporal::search::{FoundMatch, Search};
use crate::vm::temporal::view::{Hit, WindowView};
use crate::vm::temporal::window_events::{KnownPresence, PossibleOutcomes, VerdictReason, event_hit};
use averment_base::truth::Truth;
use averment_syntax::ast::Quantifier;

pub(super) fn each_statement(quantifier: Quantifier, step: PatternId, condition: CodeId) -> StatementDefinition {
    let meaning = EachSemantics { quantifier, condition };
    let statement = StatementDefinition::new(mixed_operands(&[step]), ExerciseRule::Own, meaning).closed_if(true);
    StatementDefinition { condition: Some(condition), ..statement }
}

#[derive(Debug, Clone, Copy)]
struct EachSemantics {
    quantifier: Quantifier,
    condition: CodeId,
}

impl StatementSemantics for EachSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let mut steps = StepTally::new(search.listed);
        for number in search.numbers(0) {
            let Some(own) = search.match_at(0, number) else { continue };
            let Some(truth) = search.condition_truth(self.condition, own)? else { return Ok(None) };
            steps.add_step(self.decides_alone(truth), truth, own);
        }
        let (each, passed) = (*self, steps.sure.first().copied().filter(|_| self.quantifier == Quantifier::Some));
        let decision = Decision::new(self.judge_steps(&steps)).failing(move |view| each.explain_steps(view, &steps));
        Ok(Some(decision.passing(move |view| {
            let hit = passed.and_then(|passed| event_hit(0, passed.event, view));
            match hit {
                Some(hit) => decided_by_reason(view, &hit, each.condition, true),
                None => pass_reason(view),
            }
        })))
    }

    fn vacuous_reason(&self, view: &mut WindowView<'_, '_>) -> String {
        let thing = view.pattern_words(0);
        let Some(first) = view.first_hit(0) else { return format!("there is no {thing}") };
        match view.explain_condition(&first, self.condition).0.as_str() {
            "" => format!("something missing decided the condition for every {thing}"),
            because => format!("no {thing} exercises the condition: for {} {because}", view.describe_step(first.step)),
        }
    }
}

impl EachSemantics {
    /// The truth that decides alone: false for `each`, true for `some` and `no`.
    fn decides_alone(&self, truth: Truth) -> Option<bool> {
        let plain = truth.plain_answer()?;
        Some(if self.quantifier == Quantifier::Each { !plain } else { plain })
    }

    fn judge_steps(&self, steps: &StepTally) -> PossibleOutcomes {
        let (sure, possible) = (!steps.sure.is_empty(), steps.possible.is_some());
        // A step that decides alone makes the others unimportant.
        let by_missing = steps.by_missing && !sure;
        let exercised = Some(steps.on_evidence);
        let stands = match self.quantifier {
            Quantifier::Some => PossibleOutcomes {
                passed_for_good: sure && steps.on_evidence.sure,
                ..PossibleOutcomes::wanted(sure, possible)
            },
            Quantifier::Each | Quantifier::No => PossibleOutcomes::unwanted(sure, possible),
        };
        PossibleOutcomes { by_missing, exercised, ..stands }
    }

    fn explain_steps(&self, view: &mut WindowView<'_, '_>, steps: &StepTally) -> VerdictReason {
        let meets = self.quantifier == Quantifier::No;
        let words = |view: &mut WindowView<'_, '_>, step: &FoundMatch| {
            let hit = event_hit(0, step.event, view)?;
            Some(decided_by_reason(view, &hit, self.condition, meets))
        };
        match (self.quantifier, &steps.possible) {
            (Quantifier::Some, _) => {
                let first = steps.first.and_then(|first| event_hit(0, first.event, view));
                none_meets_reason(view, first.as_ref(), self.condition)
            }
            (_, Some(possible)) if steps.sure.is_empty() => words(view, possible).unwrap_or_default(),
            _ => steps.sure.explain_places(view, words),
        }
    }
}

/// Every step is independent of the others.
#[derive(Debug, Clone)]
struct StepTally {
    sure: FailureList<FoundMatch>,
    possible: Option<FoundMatch>,
    first: Option<FoundMatch>,
    on_evidence: KnownPresence,
    by_missing: bool,
}

impl StepTally {
    fn new(listed: usize) -> Self {
        let (sure, on_evidence) = (FailureList::new(listed), KnownPresence::of(false));
        Self { sure, possible: None, first: None, on_evidence, by_missing: false }
    }

    fn add_step(&mut self, decides: Option<bool>, truth: Truth, step: FoundMatch) {
        if step.sure && decides == Some(true) {
            self.sure.push(step);
        }
        if decides != Some(false) {
            self.possible.get_or_insert(step);
        }
        self.first.get_or_insert(step);
        let on_evidence = KnownPresence { sure: step.sure, possible: true };
        self.on_evidence = self.on_evidence.or(on_evidence.and(KnownPresence::of(!truth.by_missing())));
        self.by_missing |= truth.by_missing();
    }
}

impl WindowView<'_, '_> {
    pub(in crate::vm::temporal) fn condition_of(&mut self, code: CodeId, hit: &Hit) -> Result<Option<Truth>, Fault> {
        let Some(step) = self.step(hit.step) else { return Ok(None) };
        let bindings = self.binding_values(&hit.env);
        self.machine.evaluate_truth(code, &ExpressionScope::of_step(step).with_bindings(&bindings)).map(Some)
    }
}

fn decided_by_reason(view: &mut WindowView<'_, '_>, hit: &Hit, code: CodeId, meets: bool) -> VerdictReason {
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

fn none_meets_reason(view: &mut WindowView<'_, '_>, first: Option<&Hit>, code: CodeId) -> VerdictReason {
    let thing = view.pattern_words(0);
    let Some(first) = first else {
        return reason_with(format!("there is no {thing}"), view.absent_evidence(0).into_iter().collect());
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
