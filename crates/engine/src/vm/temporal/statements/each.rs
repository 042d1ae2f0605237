//! `each A: cond`, `some A: cond`, `no A: cond`: a condition on every matching step.

use super::{Exercise, Exercised, Meaning, Statement, mixed};
use crate::bytecode::program::{CodeId, PatternId};
use crate::vm::context::ExpressionScope;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::closed::{Asks, Decided, Search};
use crate::vm::temporal::explain::{end, holds, why};
use crate::vm::temporal::failures::Failures;
use crate::vm::temporal::monitor::{Judged, Monitor, Why, hit};
use crate::vm::temporal::view::{Hit, View};
use averment_base::truth::Truth;
use averment_syntax::ast::Quantifier;

/// The definition.
pub(super) fn statement(quantifier: Quantifier, step: PatternId, condition: CodeId) -> Statement {
    Statement::new(vec![mixed(step)], Exercise::Own, Each { quantifier, condition })
}

#[derive(Debug, Clone, Copy)]
struct Each {
    quantifier: Quantifier,
    condition: CodeId,
}

impl Meaning for Each {
    fn is_closed(&self, _: bool) -> bool {
        true
    }

    fn closed(&self, search: &Search<'_, '_>, asks: &mut dyn Asks) -> Result<Option<Decided>, Fault> {
        let Some(operand) = search.operand(0) else { return Ok(None) };
        let mut steps = Steps::new(search.listed);
        for event in operand.events() {
            let Some(truth) = asks.condition(self.condition, 0, event)? else { return Ok(None) };
            steps.add(self.decides(truth), truth, true, || event);
        }
        let (judged, each) = (self.judged(&steps), *self);
        let words = move |view: &mut View<'_, '_>| Some(each.explain(view, &steps, |view, event| hit(0, *event, view)));
        Ok(Some(search.decided(judged, judged.may_fail.then_some(words))))
    }

    fn monitor<'run>(&self, view: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(EachMonitor { each: *self, steps: Steps::new(view.listed) }))
    }

    fn vacuous(&self, view: &mut View<'_, '_>) -> String {
        let thing = view.pattern(0);
        let Some(first) = view.first_hit(0) else { return format!("there is no {thing}") };
        match view.explained(&first, self.condition).0.as_str() {
            "" => format!("something missing decided the condition for every {thing}"),
            because => format!("no {thing} exercises the condition: for {} {because}", view.say(first.step)),
        }
    }

    fn condition(&self) -> Option<CodeId> {
        Some(self.condition)
    }
}

impl Each {
    /// Whether the condition of one step decides alone: for `each` that it is false, for `some` and `no` that it is true.
    fn decides(&self, truth: Truth) -> Option<bool> {
        let plain = truth.plain()?;
        Some(if self.quantifier == Quantifier::Each { !plain } else { plain })
    }

    fn judged<S>(&self, steps: &Steps<S>) -> Judged {
        let (sure, possible) = (!steps.sure.is_empty(), steps.possible.is_some());
        // A step that decides alone makes the others unimportant.
        let by_missing = steps.by_missing && !sure;
        let exercised = Some(Exercised { may_be_vacuous: !steps.sure_on_evidence, may_pass: steps.may_be_on_evidence });
        match self.quantifier {
            Quantifier::Some => Judged {
                may_fail: !sure,
                may_hold: possible,
                passed_for_good: sure && steps.sure_on_evidence,
                by_missing,
                exercised,
                ..Judged::default()
            },
            Quantifier::Each | Quantifier::No => {
                let judged = Judged { may_fail: possible, may_hold: !sure, failed_for_good: sure, ..Judged::default() };
                Judged { by_missing, exercised, ..judged }
            }
        }
    }

    fn explain<S>(
        &self,
        view: &mut View<'_, '_>,
        steps: &Steps<S>,
        hit: impl Fn(&View<'_, '_>, &S) -> Option<Hit>,
    ) -> Why {
        let meets = self.quantifier == Quantifier::No;
        let words = |view: &mut View<'_, '_>, step: &S| {
            let hit = hit(view, step)?;
            Some(decided_by(view, &hit, self.condition, meets))
        };
        match (self.quantifier, &steps.possible) {
            (Quantifier::Some, _) => {
                let first = steps.first.as_ref().and_then(|first| hit(view, first));
                none_meets(view, first.as_ref(), self.condition)
            }
            (_, Some(possible)) if steps.sure.is_empty() => words(view, possible).unwrap_or_default(),
            _ => steps.sure.explain(view, words),
        }
    }
}

/// What is kept of the steps.
#[derive(Debug, Clone)]
struct Steps<S> {
    /// The steps that surely make it fail (`some`: hold).
    sure: Failures<S>,
    /// A step that may.
    possible: Option<S>,
    /// The first step, for `some` without any that holds.
    first: Option<S>,
    /// Some sure step was decided on evidence.
    sure_on_evidence: bool,
    /// Some step was, or may be.
    may_be_on_evidence: bool,
    /// Something missing decided some step in a way that proves nothing.
    by_missing: bool,
}

impl<S> Steps<S> {
    fn new(listed: usize) -> Self {
        let sure = Failures::new(listed);
        let (sure_on_evidence, may_be_on_evidence, by_missing) = (false, false, false);
        Self { sure, possible: None, first: None, sure_on_evidence, may_be_on_evidence, by_missing }
    }

    /// Adds a step with the truth of its condition, and whether that decides alone.
    fn add(&mut self, decides: Option<bool>, truth: Truth, is_sure: bool, step: impl Fn() -> S) {
        if is_sure && decides == Some(true) {
            self.sure.add(&step);
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

impl View<'_, '_> {
    /// The truth of a condition on a match.
    pub(in crate::vm::temporal) fn condition_of(&mut self, code: CodeId, hit: &Hit) -> Result<Option<Truth>, Fault> {
        let Some(step) = self.step(hit.step) else { return Ok(None) };
        let bindings = self.bindings(&hit.env);
        self.machine.truth(code, &ExpressionScope::of_step(step).with_bindings(&bindings)).map(Some)
    }
}

/// The monitor. It looks at all answers to what is unknown: every step stands alone.
struct EachMonitor {
    each: Each,
    steps: Steps<Hit>,
}

impl<'run> Monitor<'run> for EachMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        for hit in hits {
            if let Some(truth) = view.condition_of(self.each.condition, hit)? {
                self.steps.add(self.each.decides(truth), truth, hit.sure, || hit.clone());
            }
        }
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        Ok(self.each.judged(&self.steps))
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        self.each.explain(view, &self.steps, |_, hit| Some(hit.clone()))
    }

    fn prove(&self, view: &mut View<'_, 'run>) -> Why {
        match (self.steps.sure.first(), self.each.quantifier) {
            (Some(hit), Quantifier::Some) => decided_by(view, hit, self.each.condition, true),
            _ => holds(view),
        }
    }

    fn sees_all_answers(&self) -> bool {
        true
    }
}

/// A step that fails the condition of an `each`, or meets that of a `no`.
fn decided_by(view: &mut View<'_, '_>, hit: &Hit, code: CodeId, meets: bool) -> Why {
    let step = view.say(hit.step);
    let explanation = view.explained(hit, code);
    let words = if meets { "meets" } else { "does not meet" };
    let text = view.machine.rule_text(view.machine.code_span(code));
    let reason = match explanation.0.as_str() {
        "" => format!("{step} {words} `{text}`"),
        because => format!("{step} {words} `{text}`: {because}"),
    };
    let mut evidence = vec![view.step_proof(hit.step, hit.operand, Role::Decisive, String::new())];
    evidence.extend(explanation.1);
    why(reason, evidence)
}

/// No step meets the condition of a `some`.
fn none_meets(view: &mut View<'_, '_>, first: Option<&Hit>, code: CodeId) -> Why {
    let thing = view.pattern(0);
    let Some(first) = first else {
        let near = view.near_miss(0, &view.header.clone(), end(view), true).or_else(|| view.misspelt(0));
        return why(format!("there is no {thing}"), near.into_iter().collect());
    };
    let text = view.machine.rule_text(view.machine.code_span(code));
    let (because, values) = view.explained(first, code);
    let mut reason = format!("no {thing} meets `{text}`");
    if !because.is_empty() {
        reason.push_str(&format!(": for {} {because}", view.say(first.step)));
    }
    let mut evidence = vec![view.step_proof(first.step, 0, Role::NearMiss, String::new())];
    evidence.extend(values);
    why(reason, evidence)
}
