//! A statement in a derivation: which steps each pattern matches and nearly matches, and where the statement stands after each step.
//!
//! Where it stands is decided after every step that matches, as of a run that goes on.

use super::plan::StepKindSet;
use super::statements::StatementDefinition;
use super::verdict::{WindowOutcome, decide_statement, out_of_reach};
use super::view::{Hit, WindowView};
use super::window_events::{PossibleOutcomes, SeenPatterns, WindowHits, admit_event};
use crate::bytecode::program::CodeId;
use crate::vm::context::{ExpressionScope, JudgeContext, StepWindow};
use crate::vm::derivation::{
    HitTrace, MissTrace, PatternTrace, ShownValue, StateTrace, TemporalStanding, TemporalTrace,
};
use crate::vm::fault::Fault;
use averment_base::value::{Node, Value};
use averment_checker::ir::PatternAlternative;
use averment_runs::run::{Step, StepKind, StepStatus};
use rustc_hash::FxHashSet;

/// Matching steps kept per pattern.
const HITS: usize = 1_000;
/// Near misses kept per pattern.
const MISSES: usize = 20;
/// Steps per pattern whose conditions are shown in parts.
const CONDITIONS: usize = 50;
/// States kept per statement.
const STATES: usize = 2_000;

pub(super) fn trace_statement(
    view: &mut WindowView<'_, '_>,
    statement: &StatementDefinition,
    opened_by: Option<StepKindSet>,
) -> TemporalTrace {
    let meter = view.machine.meter;
    view.machine.refuel();
    let mut trace = trace_patterns(view);
    let is_over_steps = !view.operands.is_empty() || statement.calls;
    if out_of_reach(view, opened_by).is_none() && is_over_steps {
        let mut watcher = StandingTracer { statement, states: Vec::new(), cut: false };
        // What ends it early is the judgement's to say.
        let done = watcher.trace_steps(view);
        trace.cut |= watcher.cut || done.is_err();
        trace.states = watcher.states;
    }
    view.machine.meter = meter;
    trace
}

pub(super) fn trace_patterns(view: &mut WindowView<'_, '_>) -> TemporalTrace {
    let window = view.context.window;
    let number = super::timeline::to_index;
    let mut trace = TemporalTrace { window: (number(window.start), number(window.end)), ..TemporalTrace::default() };
    for (operand, selection) in view.selected.iter().enumerate() {
        let mut hits: Vec<Hit> = Vec::new();
        let events: Vec<u32> = selection.numbered_events(view.timeline).map(|(event, _)| event).take(HITS).collect();
        let more = selection.numbered_events(view.timeline).skip(HITS).count();
        trace.cut |= more > 0;
        for event in events {
            // What ends it early is the judgement's to say.
            let Ok(hit) = admit_event(operand, event, view) else { break };
            hits.extend(hit.filter(|hit| hits.last().is_none_or(|last| last.step != hit.step)));
        }
        let pattern = trace_pattern(view, operand, &hits);
        trace.patterns.push(PatternTrace { more_hits: more, ..pattern });
    }
    trace
}

fn trace_pattern(view: &mut WindowView<'_, '_>, operand: usize, hits: &[Hit]) -> PatternTrace {
    let span = view.written_pattern(operand).map(|pattern| pattern.span).unwrap_or_default();
    let mut pattern = PatternTrace { span, ..PatternTrace::default() };
    let condition = view.statement.and_then(|statement| statement.condition);
    for (place, hit) in hits.iter().enumerate() {
        let condition = condition.filter(|_| place < CONDITIONS);
        pattern.hits.push(describe_hit(view, hit, condition));
    }
    let matched: FxHashSet<u32> = hits.iter().map(|hit| hit.step).collect();
    // Among steps of which not all were looked at nobody knows which do not match.
    if hits.len() < HITS {
        add_misses(view, operand, &matched, &mut pattern);
    }
    pattern
}

fn describe_hit(view: &mut WindowView<'_, '_>, hit: &Hit, condition: Option<CodeId>) -> HitTrace {
    let mut bindings = Vec::new();
    for name in view.operand_names(hit.operand).to_vec() {
        let node = hit.env.get(name as usize).and_then(|id| view.timeline.values.value_node(*id));
        bindings.extend(
            node.map(|node| (view.machine.observer.recording.binding_name(name), view.machine.shown_value(&node))),
        );
    }
    let condition = condition.zip(view.step(hit.step)).map(|(code, step)| {
        let values = view.binding_values(&hit.env);
        view.machine.trace_expression(code, &ExpressionScope::of_step(step).with_bindings(&values))
    });
    HitTrace { step: hit.step, sure: hit.sure, bindings, condition }
}

fn add_misses(view: &mut WindowView<'_, '_>, operand: usize, matched: &FxHashSet<u32>, pattern: &mut PatternTrace) {
    let window = view.context.window;
    let Some(unique) = view.operands.get(operand).map(|operand| operand.unique) else { return };
    let Some(written) = view.written_pattern(operand) else { return };
    let steps = view.machine.run.steps.get(window.start..window.end).unwrap_or(&[]);
    let mut names: rustc_hash::FxHashMap<(StepKind, &str), Vec<usize>> = rustc_hash::FxHashMap::default();
    for (number, step) in (super::timeline::to_index(window.start)..).zip(steps) {
        let fitting = names.entry((step.kind, step.name)).or_insert_with(|| {
            let candidates = view.plan.name_index().matching_alternatives(step.kind, step.name, view.machine.prepared);
            candidates.iter().filter(|at| at.unique == unique).map(|at| usize::from(at.alternative)).collect()
        });
        // Of a choice the first alternative speaks.
        let Some(alternative) = fitting.first().and_then(|at| written.alternatives.get(*at)) else { continue };
        if matched.contains(&number) {
            continue;
        }
        if pattern.misses.len() >= MISSES {
            pattern.more_misses += 1;
            continue;
        }
        if let Some(miss) = miss_reason(view, alternative, number, step) {
            pattern.misses.push(miss);
        }
    }
}

/// Why an alternative does not match; `None` if it does not apply, or only other steps rule the step out.
fn miss_reason<'run>(
    view: &mut WindowView<'_, 'run>,
    alternative: &PatternAlternative<CodeId>,
    number: u32,
    step: &'run Step<'run>,
) -> Option<MissTrace> {
    let said = |why: &str| Some(MissTrace { step: number, why: why.to_owned(), condition: None });
    let executed = step.kind != StepKind::Call || step.status.is_executed();
    match (alternative.proposed, executed, alternative.succeeded, step.status) {
        (true, true, ..) => return None,
        (false, false, ..) => return said("it was not executed"),
        (_, _, Some(true), StepStatus::Failed) => return said("it failed"),
        (_, _, Some(false), StepStatus::Ok) => return said("it did not fail"),
        _ => {}
    }
    let scope = ExpressionScope::of_step(step);
    if let Some(code) = alternative.condition
        && view.machine.evaluate_truth(code, &scope).ok()?.plain_answer() != Some(true)
    {
        let condition = Some(view.machine.trace_expression(code, &scope));
        return Some(MissTrace { step: number, why: String::new(), condition });
    }
    for (_, path) in &alternative.binds {
        let node: Node<'run> = view.machine.evaluate_code(*path, &scope).ok()?;
        if matches!(node.value, Value::Missing | Value::Null) {
            let word = if matches!(node.value, Value::Null) { "null" } else { "missing" };
            return said(&format!("`{}` is {word}", view.machine.code_text(*path)));
        }
    }
    None
}

struct StandingTracer<'s> {
    statement: &'s StatementDefinition,
    states: Vec<StateTrace>,
    cut: bool,
}

impl StandingTracer<'_> {
    /// Records the state after each step that matches and, where calls count, after each call.
    fn trace_steps(&mut self, view: &mut WindowView<'_, '_>) -> Result<(), Fault> {
        view.check_faults()?;
        let hits = WindowHits::gather(view)?.0;
        let matched = hits.steps().filter_map(|step| Some((step.first()?.step, true)));
        let calls = view.calls.iter().filter(|_| self.statement.calls).map(|call| (*call, false));
        let mut steps: Vec<(u32, bool)> = matched.chain(calls).collect();
        steps.sort_unstable_by_key(|(step, matched)| (*step, !matched));
        steps.dedup_by_key(|(step, _)| *step);
        steps.into_iter().try_for_each(|(step, matched)| self.note_standing(view, step, matched))
    }

    /// After a step that matches no pattern, the state is recorded only if it changed.
    fn note_standing(&mut self, view: &mut WindowView<'_, '_>, step: u32, matched: bool) -> Result<(), Fault> {
        if self.states.len() >= STATES {
            self.cut = true;
            return Ok(());
        }
        let (standing, mut words) = standing_after(self.statement, view, step)?;
        let before = self.states.last().map(|last| last.standing);
        if standing == TemporalStanding::ViolatedForGood && before == Some(standing) {
            // Why was said when it happened.
            words.clear();
        }
        if matched || self.states.last().is_none_or(|last| last.standing != standing) {
            self.states.push(StateTrace { step, standing, words });
        }
        Ok(())
    }
}

fn standing_after(
    statement: &StatementDefinition,
    view: &mut WindowView<'_, '_>,
    step: u32,
) -> Result<(TemporalStanding, String), Fault> {
    let behind = (step as usize).saturating_add(1);
    let window = StepWindow { start: view.context.window.start, end: behind, closed: false };
    let context = JudgeContext { window, ..view.context.clone() };
    let calls = view.calls.get(..view.calls.partition_point(|call| *call <= step)).unwrap_or(&[]);
    let (timeline, header, selected, listed) = (view.timeline, view.header.clone(), view.selected, view.listed);
    let mut view = WindowView { context: &context, calls, listed, ..view.of_matches(timeline, header, selected) };
    let WindowOutcome { decision, seen } = decide_statement(&mut view, statement)?;
    view.listed = 0;
    let standing = standing_of(statement, decision.stands, &seen, calls.is_empty());
    let words = match standing {
        // What is wrong, or what it waits for.
        TemporalStanding::ViolatedForGood | TemporalStanding::Open => decision.explain_failure(&mut view).reason,
        _ => decision.describe_state(&view),
    };
    Ok((standing, words))
}

fn standing_of(
    statement: &StatementDefinition,
    judged: PossibleOutcomes,
    seen: &SeenPatterns,
    no_calls: bool,
) -> TemporalStanding {
    let exercised = statement.exercise.exercise_state(&seen.operands, no_calls, judged.exercised);
    match judged {
        PossibleOutcomes { failed_for_good: true, .. } => TemporalStanding::ViolatedForGood,
        PossibleOutcomes { passed_for_good: true, .. } => TemporalStanding::HeldForGood,
        PossibleOutcomes { may_fail: false, may_hang: false, .. } if !exercised.possible => TemporalStanding::Idle,
        PossibleOutcomes { may_fail: false, may_hang: false, .. } => TemporalStanding::Holds,
        PossibleOutcomes { may_hold: true, .. } => TemporalStanding::Unknown,
        _ => TemporalStanding::Open,
    }
}

pub(crate) fn given_values<'run>(
    machine: &crate::vm::machine::Machine<'run>,
    context: &JudgeContext<'run>,
) -> Vec<(String, ShownValue)> {
    let bound = (0..).zip(&context.bindings).filter_map(|(name, node)| Some((name, (*node)?)));
    bound.map(|(name, node)| (machine.observer.recording.binding_name(name), machine.shown_value(&node))).collect()
}
