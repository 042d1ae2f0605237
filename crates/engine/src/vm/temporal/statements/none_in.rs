//! `no PREDICATE in EXPR` and `no PREDICATE in A`: the predicate finds nothing in any value inside.

use super::walk::{FindLimit, FoundValue, ValueWalk, found_all, found_reason, walk_value};
use super::{ExerciseRule, ExerciseState, StatementDefinition, StatementSemantics, mixed_operand};
use crate::bytecode::program::{CodeId, PatternId};
use crate::vm::context::ExpressionScope;
use crate::vm::fault::Fault;
use crate::vm::temporal::explain::reason_with;
use crate::vm::temporal::monitor::{Monitor, PossibleOutcomes, VerdictReason};
use crate::vm::temporal::view::{Hit, MonitorView};
use averment_runs::run::{Step, StepKind};

/// `no PREDICATE in EXPR`.
pub(super) fn value_statement(values: CodeId, predicate: CodeId) -> StatementDefinition {
    StatementDefinition::new(Vec::new(), ExerciseRule::Own, NoneInValueSemantics { values, predicate })
}

/// `no PREDICATE in A`.
pub(super) fn steps_statement(step: PatternId, predicate: CodeId) -> StatementDefinition {
    StatementDefinition::new(vec![mixed_operand(step)], ExerciseRule::AnyOf(0..1), NoneInStepsSemantics { predicate })
}

#[derive(Debug)]
struct NoneInValueSemantics {
    values: CodeId,
    predicate: CodeId,
}

impl StatementSemantics for NoneInValueSemantics {
    fn build_monitor<'run>(&self, _: &MonitorView<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(NoneInValueMonitor::new(self.values, self.predicate)))
    }

    fn vacuous_reason(&self, _: &mut MonitorView<'_, '_>) -> String {
        "there is nothing to look at".to_owned()
    }
}

#[derive(Debug)]
struct NoneInStepsSemantics {
    predicate: CodeId,
}

impl StatementSemantics for NoneInStepsSemantics {
    fn build_monitor<'run>(&self, _: &MonitorView<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(NoneInStepsMonitor::new(self.predicate)))
    }
}

/// Places counted for the report.
const MOST_FOUND: usize = 1_000;

struct NoneInValueMonitor {
    values: CodeId,
    predicate: CodeId,
    walk: ValueWalk,
    recorded: bool,
}

impl NoneInValueMonitor {
    fn new(values: CodeId, predicate: CodeId) -> Self {
        Self { values, predicate, walk: ValueWalk::default(), recorded: false }
    }

    /// All findings; judging stops at the first.
    fn walk_all(&self, view: &mut MonitorView<'_, '_>) -> Result<ValueWalk, Fault> {
        let bindings = view.context.bindings.clone();
        let scope = ExpressionScope { bindings: &bindings, ..view.context.expression_scope() };
        let root = view.machine.evaluate_code(self.values, &scope)?;
        walk_value(root, self.predicate, &scope, FindLimit::All(MOST_FOUND), view)
    }
}

impl<'run> Monitor<'run> for NoneInValueMonitor {
    fn observe_hits(&mut self, _: &[Hit], _: &mut MonitorView<'_, 'run>) -> Result<(), Fault> {
        Ok(())
    }

    fn possible_outcomes(&mut self, view: &mut MonitorView<'_, 'run>) -> Result<PossibleOutcomes, Fault> {
        let bindings = view.context.bindings.clone();
        let scope = ExpressionScope { bindings: &bindings, ..view.context.expression_scope() };
        let root = view.machine.evaluate_code(self.values, &scope)?;
        self.walk = walk_value(root, self.predicate, &scope, FindLimit::First, view)?;
        self.recorded = !self.walk.has_absent;
        let (found, unknown) = (!self.walk.found.is_empty(), self.walk.unknown.is_some());
        Ok(PossibleOutcomes {
            may_fail: found || unknown || !self.recorded,
            may_hold: !found,
            failed_for_good: found,
            exercised: Some(ExerciseState { may_be_vacuous: self.walk.looked == 0, may_pass: self.walk.looked > 0 }),
            ..PossibleOutcomes::default()
        })
    }

    fn explain_failure(&self, view: &mut MonitorView<'_, 'run>) -> VerdictReason {
        match (self.walk.found.first(), &self.walk.unknown) {
            (Some(first), _) => {
                let first = || ValueWalk { found: vec![first.clone()], count: 1, ..ValueWalk::default() };
                let all = self.walk_all(view).unwrap_or_else(|_| first());
                found_all(view, &all.found, all.count, self.predicate)
            }
            (None, Some(unknown)) => found_reason(view, unknown, &[], 0, self.predicate),
            (None, None) => not_recorded(view, self.values),
        }
    }

    fn sees_all_answers(&self) -> bool {
        true
    }
}

struct NoneInStepsMonitor {
    predicate: CodeId,
    sure: Option<FoundValue>,
    possible: Option<FoundValue>,
    unrecorded: Option<u32>,
}

/// True if neither arguments nor result are recorded: the name alone is not searched.
fn is_bare(step: &Step<'_>) -> bool {
    let absent = |name| step.object.get(name).is_some_and(|node| node.value.is_absent());
    step.kind == StepKind::Call && absent("args") && absent("result")
}

impl NoneInStepsMonitor {
    fn new(predicate: CodeId) -> Self {
        Self { predicate, sure: None, possible: None, unrecorded: None }
    }

    /// All findings up to a number of them; judging stops at the first.
    fn walk_all(&self, view: &mut MonitorView<'_, '_>) -> Result<ValueWalk, Fault> {
        let hits: Vec<Hit> = view.hits_of(0).filter(|hit| hit.sure).collect();
        let mut all = ValueWalk::default();
        for hit in hits {
            let Some(step) = view.step(hit.step) else { continue };
            let bindings = view.binding_values(&hit.env);
            let scope = ExpressionScope::of_step(step).with_bindings(&bindings);
            let wanted = FindLimit::All(MOST_FOUND - all.found.len());
            let walk = walk_value(step.node, self.predicate, &scope, wanted, view)?;
            all.count += walk.count;
            all.found.extend(walk.found.into_iter().map(|place| FoundValue { step: Some(hit.step), ..place }));
        }
        Ok(all)
    }
}

impl<'run> Monitor<'run> for NoneInStepsMonitor {
    fn observe_hits(&mut self, hits: &[Hit], view: &mut MonitorView<'_, 'run>) -> Result<(), Fault> {
        if self.sure.is_some() {
            return Ok(());
        }
        for hit in hits {
            let Some(step) = view.step(hit.step) else { continue };
            let bindings = view.binding_values(&hit.env);
            let scope = ExpressionScope::of_step(step).with_bindings(&bindings);
            let walk = walk_value(step.node, self.predicate, &scope, FindLimit::First, view)?;
            self.unrecorded = self.unrecorded.or(Some(hit.step).filter(|_| is_bare(step)));
            let of_step = |place: FoundValue| FoundValue { step: Some(hit.step), ..place };
            if let (true, Some(place)) = (hit.sure && self.sure.is_none(), walk.found.first()) {
                self.sure = Some(of_step(place.clone()));
            }
            if self.possible.is_none() {
                self.possible = walk.found.into_iter().next().or(walk.unknown).map(of_step);
            }
        }
        Ok(())
    }

    fn possible_outcomes(&mut self, _: &mut MonitorView<'_, 'run>) -> Result<PossibleOutcomes, Fault> {
        let (sure, possible) = (self.sure.is_some(), self.possible.is_some() || self.unrecorded.is_some());
        Ok(PossibleOutcomes {
            may_fail: possible,
            may_hold: !sure,
            failed_for_good: sure,
            ..PossibleOutcomes::default()
        })
    }

    fn explain_failure(&self, view: &mut MonitorView<'_, 'run>) -> VerdictReason {
        match (&self.sure, &self.possible) {
            (Some(first), _) => {
                let first = || ValueWalk { found: vec![first.clone()], count: 1, ..ValueWalk::default() };
                let all = self.walk_all(view).ok().filter(|all| !all.found.is_empty()).unwrap_or_else(first);
                found_all(view, &all.found, all.count, self.predicate)
            }
            (None, Some(possible)) => found_reason(view, possible, &[], 0, self.predicate),
            (None, None) => {
                let Some(step) = self.unrecorded else { return VerdictReason::default() };
                reason_with(
                    format!("the run records neither arguments nor a result of {}", view.describe_step(step)),
                    Vec::new(),
                )
            }
        }
    }

    fn sees_all_answers(&self) -> bool {
        true
    }
}

fn not_recorded(view: &mut MonitorView<'_, '_>, values: CodeId) -> VerdictReason {
    let text = view.machine.rule_text(view.machine.code_span(values));
    reason_with(format!("the run does not record `{text}`"), Vec::new())
}
