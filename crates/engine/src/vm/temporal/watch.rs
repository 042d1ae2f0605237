//! A statement in a derivation: which steps each pattern matches and nearly matches, and where the statement stands after each step.
//!
//! Where it stands is asked of its own monitor, after every step of a second replica, as of a run that goes on.

use super::monitor::{EventSelection, Judged, Monitor, PlayedMatches, admit, play_watched};
use super::plan::Kinds;
use super::statements::Statement;
use super::verdict::{CallRelation, out_of_reach};
use super::view::{Hit, Mode, View};
use crate::bytecode::program::CodeId;
use crate::ir::Alternative;
use crate::vm::context::{Context, ExpressionScope, Window};
use crate::vm::derivation::{HitTrace, Miss, PatternTrace, Shown, Standing, StateTrace, TemporalTrace};
use crate::vm::fault::Fault;
use averment_base::value::{Node, Value};
use averment_runs::run::{Kind, Status, Step};
use rustc_hash::FxHashSet;

/// Steps that match and are kept, for each pattern.
const HITS: usize = 1_000;
/// Steps that nearly match and are kept, for each pattern.
const MISSES: usize = 20;
/// Steps of one pattern whose conditions are shown part by part.
const CONDITIONS: usize = 50;
/// States that are kept of one statement.
const STATES: usize = 2_000;

/// The patterns and states of the statement of a view. It changes nothing that the judgement looks at.
pub(super) fn trace(
    view: &mut View<'_, '_>,
    statement: &Statement,
    selected: &[EventSelection],
    opened_by: Option<Kinds>,
) -> TemporalTrace {
    let (meter, mode, unknown) = (view.machine.meter, view.mode, view.unknown);
    view.machine.refuel();
    let mut trace = patterns(view, selected);
    let ordered = statement.ordered || opened_by.is_some();
    if out_of_reach(view, ordered, CallRelation::of(statement), selected, opened_by).is_none()
        && is_over_steps(view, statement)
    {
        let mut watcher = Watcher { statement, states: Vec::new(), last: None, cut: false };
        // What ends it early is the judgement's to say.
        let done = watcher.watch(view, selected);
        trace.cut |= watcher.cut || done.is_err();
        trace.states = watcher.states;
    }
    (view.machine.meter, view.mode, view.unknown) = (meter, mode, unknown);
    trace
}

/// Whether the steps matter: `no PREDICATE in EXPR` looks at a value alone.
fn is_over_steps(view: &View<'_, '_>, statement: &Statement) -> bool {
    !view.operands.is_empty() || statement.calls
}

/// The patterns of a view with the steps that they match.
pub(super) fn patterns(view: &mut View<'_, '_>, selected: &[EventSelection]) -> TemporalTrace {
    let window = view.context.window;
    let number = super::timeline::index;
    let mut trace = TemporalTrace { window: (number(window.start), number(window.end)), ..TemporalTrace::default() };
    for (operand, selection) in selected.iter().enumerate() {
        let mut hits: Vec<Hit> = Vec::new();
        let events: Vec<u32> = selection.events(view.timeline).map(|(event, _)| event).take(HITS).collect();
        let more = selection.events(view.timeline).skip(HITS).count();
        trace.cut |= more > 0;
        for event in events {
            // What ends it early is the judgement's to say.
            let Ok(hit) = admit(operand, event, view) else { break };
            hits.extend(hit.filter(|hit| hits.last().is_none_or(|last| last.step != hit.step)));
        }
        let pattern = pattern(view, operand, &hits);
        trace.patterns.push(PatternTrace { more_hits: more, ..pattern });
    }
    trace
}

fn pattern(view: &mut View<'_, '_>, operand: usize, hits: &[Hit]) -> PatternTrace {
    let span =
        view.operands.get(operand).and_then(|operand| view.machine.program.patterns.get(operand.pattern.0 as usize));
    let mut pattern =
        PatternTrace { span: span.map(|pattern| pattern.span).unwrap_or_default(), ..PatternTrace::default() };
    let condition = view.statement.and_then(|statement| statement.meaning.condition());
    for (place, hit) in hits.iter().enumerate() {
        let condition = condition.filter(|_| place < CONDITIONS);
        pattern.hits.push(described(view, hit, condition));
    }
    let matched: FxHashSet<u32> = hits.iter().map(|hit| hit.step).collect();
    // Among steps of which not all were looked at nobody knows which do not match.
    if hits.len() < HITS {
        misses(view, operand, &matched, &mut pattern);
    }
    pattern
}

/// A match with its values.
fn described(view: &mut View<'_, '_>, hit: &Hit, condition: Option<CodeId>) -> HitTrace {
    let mut bindings = Vec::new();
    for name in view.names(hit.operand).to_vec() {
        let node = hit.env.get(name as usize).and_then(|id| view.timeline.values.node(*id));
        bindings.extend(node.map(|node| (view.machine.binding_name(name), view.machine.shown(&node))));
    }
    let condition = condition.zip(view.step(hit.step)).map(|(code, step)| {
        let values = view.bindings(&hit.env);
        view.machine.traced(code, &ExpressionScope::of_step(step).with_bindings(&values))
    });
    HitTrace { step: hit.step, sure: hit.sure, bindings, condition }
}

/// Steps of the window that have the kind and name of a pattern and do not match.
fn misses(view: &mut View<'_, '_>, operand: usize, matched: &FxHashSet<u32>, pattern: &mut PatternTrace) {
    let window = view.context.window;
    let (plan, machine) = (view.plan, &*view.machine);
    let (run, program) = (machine.run, machine.program);
    let Some(of_operand) = view.operands.get(operand).map(|operand| (operand.pattern, operand.unique)) else { return };
    let Some(written) = program.patterns.get(of_operand.0.0 as usize) else { return };
    let steps = run.steps.get(window.start..window.end).unwrap_or(&[]);
    let mut names: rustc_hash::FxHashMap<(Kind, &str), Vec<usize>> = rustc_hash::FxHashMap::default();
    for (number, step) in (super::timeline::index(window.start)..).zip(steps) {
        let fitting = names.entry((step.kind, step.name)).or_insert_with(|| {
            let candidates = plan.table().candidates(step.kind, step.name, view.machine.prepared);
            candidates.iter().filter(|at| at.unique == of_operand.1).map(|at| usize::from(at.alternative)).collect()
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
        if let Some(miss) = missed(view, alternative, number, step) {
            pattern.misses.push(miss);
        }
    }
}

/// Why an alternative does not match a step; `None` for a step that it does not speak of, and for one that only other steps rule out.
fn missed<'run>(
    view: &mut View<'_, 'run>,
    alternative: &Alternative<CodeId>,
    number: u32,
    step: &'run Step<'run>,
) -> Option<Miss> {
    let said = |why: &str| Some(Miss { step: number, why: why.to_owned(), condition: None });
    let executed = step.kind != Kind::Call || step.status.executed();
    match (alternative.proposed, executed, alternative.succeeded, step.status) {
        (true, true, ..) => return None,
        (false, false, ..) => return said("it was not executed"),
        (_, _, Some(true), Status::Failed) => return said("it failed"),
        (_, _, Some(false), Status::Ok) => return said("it did not fail"),
        _ => {}
    }
    let scope = ExpressionScope::of_step(step);
    if let Some(code) = alternative.condition
        && view.machine.truth(code, &scope).ok()?.plain() != Some(true)
    {
        let condition = Some(view.machine.traced(code, &scope));
        return Some(Miss { step: number, why: String::new(), condition });
    }
    for (_, path) in &alternative.binds {
        let node: Node<'run> = view.machine.evaluate(*path, &scope).ok()?;
        if matches!(node.value, Value::Missing | Value::Null) {
            let word = if matches!(node.value, Value::Null) { "null" } else { "missing" };
            return said(&format!("`{}` is {word}", view.machine.code_text(*path)));
        }
    }
    None
}

/// Follows a monitor through the steps of a window.
struct Watcher<'s> {
    statement: &'s Statement,
    states: Vec<StateTrace>,
    /// The step that was taken last.
    last: Option<u32>,
    cut: bool,
}

impl Watcher<'_> {
    fn watch<'run>(&mut self, view: &mut View<'_, 'run>, selected: &[EventSelection]) -> Result<(), Fault> {
        view.check_faults()?;
        view.mode = Mode::Optimistic;
        let mut monitor = self.statement.meaning.monitor(view)?;
        play_watched(monitor.as_mut(), view, selected, &mut |monitor, view, seen, next| {
            self.look(monitor, view, seen, next)
        })?;
        Ok(())
    }

    /// Notes where the statement stands after the step taken last, and after each call from there to the next one.
    fn look<'run>(
        &mut self,
        monitor: &mut dyn Monitor<'run>,
        view: &mut View<'_, 'run>,
        seen: &PlayedMatches,
        next: Option<u32>,
    ) -> Result<(), Fault> {
        if let Some(last) = self.last {
            self.note(monitor, view, seen, last, true)?;
        }
        if self.statement.calls {
            let from = view.calls.partition_point(|call| self.last.is_some_and(|last| *call <= last));
            let to = view.calls.partition_point(|call| next.is_none_or(|next| *call < next));
            for &call in view.calls.get(from..to).unwrap_or(&[]) {
                self.note(monitor, view, seen, call, false)?;
            }
        }
        self.last = next;
        Ok(())
    }

    /// Notes where the statement stands after a step; after one that no pattern matches, only where it stands elsewhere than before.
    fn note<'run>(
        &mut self,
        monitor: &mut dyn Monitor<'run>,
        view: &mut View<'_, 'run>,
        seen: &PlayedMatches,
        step: u32,
        matched: bool,
    ) -> Result<(), Fault> {
        if self.states.len() >= STATES {
            self.cut = true;
            return Ok(());
        }
        let (standing, mut words) = standing(self.statement, monitor, view, seen, step)?;
        let before = self.states.last().map(|last| last.standing);
        if standing == Standing::ViolatedForGood && before == Some(standing) {
            // Why was said when it happened.
            words.clear();
        }
        if matched || self.states.last().is_none_or(|last| last.standing != standing) {
            self.states.push(StateTrace { step, standing, words });
        }
        Ok(())
    }
}

/// Where a statement stands after a step, of a run that goes on.
fn standing<'run>(
    statement: &Statement,
    monitor: &mut dyn Monitor<'run>,
    view: &mut View<'_, 'run>,
    seen: &PlayedMatches,
    step: u32,
) -> Result<(Standing, String), Fault> {
    let behind = (step as usize).saturating_add(1);
    let window = Window { start: view.context.window.start, end: behind, closed: false };
    let context = Context { window, ..view.context.clone() };
    let calls = view.calls.get(..view.calls.partition_point(|call| *call <= step)).unwrap_or(&[]);
    let mut view = View {
        machine: &mut *view.machine,
        timeline: view.timeline,
        plan: view.plan,
        entry: view.entry,
        statement: view.statement,
        context: &context,
        header: view.header.clone(),
        operands: view.operands,
        calls,
        places: view.places,
        mode: Mode::Optimistic,
        unknown: false,
        listed: 0,
    };
    let judged = monitor.judge(&mut view)?;
    let standing = of(statement, judged, seen, calls.is_empty());
    let words = match standing {
        // What is wrong, or what it waits for.
        Standing::ViolatedForGood | Standing::Open => monitor.explain(&mut view).reason,
        _ => monitor.state(&mut view),
    };
    Ok((standing, words))
}

fn of(statement: &Statement, judged: Judged, seen: &PlayedMatches, no_calls: bool) -> Standing {
    match judged {
        Judged { failed_for_good: true, .. } => Standing::ViolatedForGood,
        Judged { passed_for_good: true, .. } => Standing::HeldForGood,
        Judged { may_hang: true, .. } => Standing::Open,
        Judged { may_fail: true, may_hold: true, .. } => Standing::Unknown,
        Judged { may_fail: true, .. } => Standing::Open,
        _ if is_idle(statement, judged, seen, no_calls) => Standing::Idle,
        _ => Standing::Holds,
    }
}

/// Whether nothing that was seen so far exercises the statement.
fn is_idle(statement: &Statement, judged: Judged, seen: &PlayedMatches, no_calls: bool) -> bool {
    let occurs = |operand: usize| seen.operands.get(operand).copied().unwrap_or_default();
    statement.exercise.of(occurs, no_calls, judged.exercised).is_idle()
}

/// The values of a block's bindings in one of its windows.
pub(crate) fn given<'run>(
    machine: &crate::vm::machine::Machine<'run>,
    context: &Context<'run>,
) -> Vec<(String, Shown)> {
    let bound = (0..).zip(&context.bindings).filter_map(|(name, node)| Some((name, (*node)?)));
    bound.map(|(name, node)| (machine.binding_name(name), machine.shown(&node))).collect()
}
