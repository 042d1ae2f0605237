//! `no PREDICATE in EXPR` and `no PREDICATE in A`: the predicate finds nothing in any value inside.

use super::walk::{FindLimit, FoundValue, ValueWalk, found_all, found_reason, walk_value};
use super::{ExerciseRule, StatementDefinition, StatementSemantics, mixed_operands};
use crate::bytecode::program::{CodeId, PatternId};
use crate::vm::context::ExpressionScope;
use crate::vm::fault::Fault;
use crate::vm::temporal::decision::Decision;
use crate::vm::temporal::explain::reason_with;
use crate::vm::temporal::search::Search;
use crate::vm::temporal::view::{Hit, WindowView};
use crate::vm::temporal::window_events::{KnownPresence, PossibleOutcomes, VerdictReason};
use averment_runs::run::{Step, StepKind};

/// `no PREDICATE in EXPR`.
pub(super) fn value_statement(values: CodeId, predicate: CodeId) -> StatementDefinition {
    StatementDefinition::new(Vec::new(), ExerciseRule::Own, NoneInValueSemantics { values, predicate })
}

/// `no PREDICATE in A`.
pub(super) fn steps_statement(step: PatternId, predicate: CodeId) -> StatementDefinition {
    StatementDefinition::new(mixed_operands(&[step]), ExerciseRule::AnyOf(0..1), NoneInStepsSemantics { predicate })
}

#[derive(Debug)]
struct NoneInValueSemantics {
    values: CodeId,
    predicate: CodeId,
}

impl StatementSemantics for NoneInValueSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let Some((view, _)) = search.window() else { return Ok(None) };
        let (values, predicate) = (self.values, self.predicate);
        let walk = walk_values(values, predicate, FindLimit::First, view)?;
        let is_found = !walk.found.is_empty();
        let stands = PossibleOutcomes {
            exercised: Some(KnownPresence::of(walk.looked > 0)),
            ..PossibleOutcomes::unwanted(is_found, is_found || walk.unknown.is_some() || walk.has_absent)
        };
        Ok(Some(Decision::new(stands).failing(move |view| match (walk.found.first(), &walk.unknown) {
            (Some(first), _) => {
                // Judging stops at the first.
                let all = walk_values(values, predicate, FindLimit::Behind(&walk, MOST_FOUND), view);
                let all = all.unwrap_or_else(|_| ValueWalk::of_first(first));
                found_all(view, &all.found, all.count, predicate)
            }
            (None, Some(unknown)) => found_reason(view, unknown, &[], 0, predicate),
            (None, None) => not_recorded(view, values),
        })))
    }

    fn vacuous_reason(&self, _: &mut WindowView<'_, '_>) -> String {
        "there is nothing to look at".to_owned()
    }
}

#[derive(Debug)]
struct NoneInStepsSemantics {
    predicate: CodeId,
}

impl StatementSemantics for NoneInStepsSemantics {
    fn decide(&self, search: &mut Search<'_, '_, '_>) -> Result<Option<Decision>, Fault> {
        let Some((view, hits)) = search.window() else { return Ok(None) };
        let predicate = self.predicate;
        let (mut sure, mut possible, mut unrecorded) = (None, None, None);
        for hit in hits.all() {
            if sure.as_ref().is_some_and(|sure: &FoundValue| sure.step != Some(hit.step)) {
                break;
            }
            let (Some(step), Some(walk)) = (view.step(hit.step), walk_step(hit, predicate, FindLimit::First, view)?)
            else {
                continue;
            };
            unrecorded = unrecorded.or(Some(hit.step).filter(|_| is_bare(step)));
            if let (true, Some(place)) = (hit.sure && sure.is_none(), walk.found.first()) {
                sure = Some(place.clone());
            }
            possible = possible.or_else(|| walk.found.into_iter().next().or(walk.unknown));
        }
        let stands = PossibleOutcomes::unwanted(sure.is_some(), possible.is_some() || unrecorded.is_some());
        Ok(Some(Decision::new(stands).failing(move |view| match (&sure, &possible) {
            (Some(first), _) => {
                let all = walk_all(predicate, view).ok().filter(|all| !all.found.is_empty());
                let all = all.unwrap_or_else(|| ValueWalk::of_first(first));
                found_all(view, &all.found, all.count, predicate)
            }
            (None, Some(possible)) => found_reason(view, possible, &[], 0, predicate),
            (None, None) => unrecorded.map_or_else(VerdictReason::default, |step| {
                let step = view.describe_step(step);
                reason_with(format!("the run records neither arguments nor a result of {step}"), Vec::new())
            }),
        })))
    }
}

/// Places counted for the report.
const MOST_FOUND: usize = 1_000;

fn walk_values(
    values: CodeId,
    predicate: CodeId,
    wanted: FindLimit<'_>,
    view: &mut WindowView<'_, '_>,
) -> Result<ValueWalk, Fault> {
    let bindings = view.context.bindings.clone();
    let scope = ExpressionScope { bindings: &bindings, ..view.context.expression_scope() };
    let root = view.machine.evaluate_code(values, &scope)?;
    walk_value(root, predicate, &scope, wanted, view)
}

fn walk_step(
    hit: &Hit,
    predicate: CodeId,
    wanted: FindLimit<'_>,
    view: &mut WindowView<'_, '_>,
) -> Result<Option<ValueWalk>, Fault> {
    let Some(step) = view.step(hit.step) else { return Ok(None) };
    let bindings = view.binding_values(&hit.env);
    let scope = ExpressionScope::of_step(step).with_bindings(&bindings);
    let mut walk = walk_value(step.node, predicate, &scope, wanted, view)?;
    walk.found.iter_mut().chain(&mut walk.unknown).for_each(|place| place.step = Some(hit.step));
    Ok(Some(walk))
}

/// All findings up to a number of them; judging stops at the first.
fn walk_all(predicate: CodeId, view: &mut WindowView<'_, '_>) -> Result<ValueWalk, Fault> {
    let hits: Vec<Hit> = view.hits_of(0).filter(|hit| hit.sure).collect();
    let mut all = ValueWalk::default();
    for hit in hits {
        let wanted = FindLimit::All(MOST_FOUND - all.found.len());
        let Some(walk) = walk_step(&hit, predicate, wanted, view)? else { continue };
        all.count += walk.count;
        all.found.extend(walk.found);
    }
    Ok(all)
}

/// True if neither arguments nor result are recorded: the name alone is not searched.
fn is_bare(step: &Step<'_>) -> bool {
    let absent = |name| step.object.get(name).is_some_and(|node| node.value.is_absent());
    step.kind == StepKind::Call && absent("args") && absent("result")
}

fn not_recorded(view: &mut WindowView<'_, '_>, values: CodeId) -> VerdictReason {
    let text = view.machine.rule_text(view.machine.code_span(values));
    reason_with(format!("the run does not record `{text}`"), Vec::new())
}
