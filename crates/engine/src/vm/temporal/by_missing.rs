//! What something missing decided: patterns all of whose candidates it did, and fails that prove nothing by it.

use super::explain;
use super::statements::StatementDefinition;
use super::timeline::{Env, MatchCandidate, ValueId};
use super::view::WindowView;
use super::window_events::{PossibleOutcomes, SeenPatterns, VerdictReason, event_hit};
use crate::bytecode::program::CodeId;
use crate::vm::context::ExpressionScope;
use crate::vm::fault::Fault;
use averment_base::truth::Truth;
use averment_checker::ir::PatternAlternative;
use averment_runs::run::StepKind;

/// Why a failure proves nothing: something missing decided all candidates of a pattern, or every condition.
pub(super) fn fails_by_missing(
    view: &mut WindowView<'_, '_>,
    statement: &StatementDefinition,
    stands: PossibleOutcomes,
    played: &SeenPatterns,
) -> Result<Option<VerdictReason>, Fault> {
    if stands.fails_unproved {
        let why = "the calls differ from the expected ones by the writing of arguments alone";
        return Ok(Some(explain::reason_with(why.to_owned(), Vec::new())));
    }
    let asks = statement.number_test.is_some() || played.operands.first().is_some_and(|first| first.sure);
    let own = statement.condition.is_some() || statement.number_test.is_some();
    if own && asks && stands.exercised.is_some_and(|exercised| !exercised.possible) {
        return Ok(Some(explain::reason_with(statement.meaning.vacuous_reason(view), Vec::new())));
    }
    let alone = statement.hurts_each();
    // One that fails for good looks no further than it has to.
    let occurs = |view: &WindowView<'_, '_>, operand: usize| view.hits_of(operand).next().is_some();
    let mut missing = None;
    for operand in 0..view.operands.len() {
        if is_by_missing(view, operand)? {
            if missing.is_none() && (!alone || occurs(view, operand)) {
                missing = Some(operand);
            }
        } else if alone && occurs(view, operand) {
            return Ok(None);
        }
    }
    Ok(missing.map(|operand| explain::by_missing(view, operand)))
}

/// True if a final failure is evidence: each conditional pattern has a candidate decided by recorded data.
pub(super) fn proves_for_good(
    view: &mut WindowView<'_, '_>,
    statement: &StatementDefinition,
    stands: PossibleOutcomes,
) -> Result<bool, Fault> {
    let own = statement.condition.is_some() || statement.number_test.is_some();
    if stands.fails_unproved || own && stands.exercised.is_some_and(|exercised| !exercised.possible) {
        return Ok(false);
    }
    let alone = statement.hurts_each();
    for operand in 0..view.operands.len() {
        if alone && view.first_hit(operand).is_none() {
            continue;
        }
        if is_by_evidence(view, operand)? == alone {
            return Ok(alone);
        }
    }
    Ok(!alone)
}

/// True if a pattern needs nothing that may be missing, or recorded data decided a candidate for any bindings.
fn is_by_evidence(view: &mut WindowView<'_, '_>, operand: usize) -> Result<bool, Fault> {
    let window = view.context.window;
    let asks = view.unique_pattern(operand).is_none_or(|unique| unique.alternatives.iter().any(is_conditional));
    let Some(matches) = view.matches_of(operand) else { return Ok(!asks) };
    if !asks || !view.has_joins(operand) {
        return Ok(!asks || matches.is_by_evidence(window.start, window.end));
    }
    // The values of a header are there.
    let open = smallvec::smallvec![ValueId::OPEN; view.header.len()];
    Ok(view.asked_names(operand).is_empty()
        && look_at_candidates(view, operand, matches.candidates_between(window), &open, is_evidence)?.found)
}

fn is_conditional(alternative: &PatternAlternative<CodeId>) -> bool {
    // The tool that a value names is asked like a bare name: every call has one.
    let is_name = |code: &CodeId| alternative.kind == StepKind::Call && alternative.text == Some(*code);
    alternative.condition.as_ref().is_some_and(|code| !is_name(code))
        || !alternative.binds.is_empty()
        || !alternative.joins.is_empty()
}

pub(super) fn is_by_missing(view: &mut WindowView<'_, '_>, operand: usize) -> Result<bool, Fault> {
    let Some(matches) = view.matches_of(operand) else { return Ok(false) };
    let window = view.context.window;
    if view.has_joins(operand) {
        // They are looked at with the first value bound.
        let (candidates, others) = (matches.candidates_between(window), first_values(view, operand));
        let looked = look_at_candidates(view, operand, candidates, &others, |truth| !truth.by_missing())?;
        return Ok(looked.any && !looked.found);
    }
    Ok(matches.is_by_missing(window.start, window.end))
}

/// True if recorded data decides it. What is unknown now may turn out to be missing when more is recorded.
fn is_evidence(truth: Truth) -> bool {
    matches!(truth, Truth::True | Truth::False)
}

/// What a look at candidates found.
#[derive(Debug, Clone, Copy, Default)]
struct CandidateLook {
    /// Whether there is a candidate.
    any: bool,
    /// Whether one is decided as is wanted.
    found: bool,
}

/// Looks for a candidate whose tests use other patterns' bindings and that is decided as `wanted`; `others` are their values.
fn look_at_candidates(
    view: &mut WindowView<'_, '_>,
    operand: usize,
    candidates: &[MatchCandidate],
    others: &Env,
    wanted: fn(Truth) -> bool,
) -> Result<CandidateLook, Fault> {
    let mut look = CandidateLook::default();
    for of_step in candidates.chunk_by(|a, b| a.step == b.step) {
        let mut truth: Option<Truth> = None;
        for candidate in of_step {
            let Some(own) = with_tests(view, operand, candidate, others)? else { continue };
            truth = Some(truth.map_or(own, |truth| truth.or(own)));
        }
        look.any |= truth.is_some();
        if truth.is_some_and(wanted) {
            look.found = true;
            break;
        }
    }
    Ok(look)
}

/// `None` for a step that has another name, where a binding of another pattern names it.
fn with_tests(
    view: &mut WindowView<'_, '_>,
    operand: usize,
    candidate: &MatchCandidate,
    others: &Env,
) -> Result<Option<Truth>, Fault> {
    let (plan, Some(unique)) = (view.plan, view.unique_pattern(operand)) else { return Ok(Some(candidate.truth)) };
    let (Some(step), Some(alternative)) =
        (view.step(candidate.step), unique.alternatives.get(usize::from(candidate.alternative)))
    else {
        return Ok(Some(candidate.truth));
    };
    let mut env = others.clone();
    for (name, id) in unique.names.iter().zip(&candidate.value_ids) {
        if let (true, Some(cell)) = (*id != ValueId::OPEN, env.get_mut(*name as usize)) {
            *cell = *id;
        }
    }
    let mut truth = candidate.truth;
    let bindings = view.binding_values(&env);
    for &code in &alternative.joins {
        if plan.is_answerable(code, &bindings) {
            let own = view.machine.evaluate_truth(code, &ExpressionScope::of_step(step).with_bindings(&bindings))?;
            if own == Truth::False && alternative.text == Some(code) {
                return Ok(None);
            }
            truth = truth.and(own);
        }
    }
    Ok(Some(truth))
}

fn first_values(view: &WindowView<'_, '_>, operand: usize) -> Env {
    let mut env: Env = smallvec::smallvec![ValueId::OPEN; view.header.len()];
    for (other, selection) in view.selected.iter().enumerate().filter(|(other, _)| *other != operand) {
        let mut hits = selection.numbered_events(view.timeline).filter_map(|(event, _)| event_hit(other, event, view));
        let Some(first) = hits.find(|hit| hit.sure) else { continue };
        for (known, id) in env.iter_mut().zip(&first.env) {
            if *known == ValueId::OPEN {
                *known = *id;
            }
        }
    }
    env
}
