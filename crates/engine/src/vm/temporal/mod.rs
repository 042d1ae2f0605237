//! Temporal statements on a run: classification of steps, the decision of every statement about order and occurrence, windows of blocks.
//!
//! [`TemporalEngine::judge_statement`] classifies all steps of the run once for all statements of the program. A statement is decided from the
//! matches of its own patterns: its work grows with the steps that these match, not with the run and not with other rules.

mod automaton;
mod by_missing;
pub mod by_name;
pub(in crate::vm) mod call_knowledge;
pub(in crate::vm) mod classify;
pub(in crate::vm) mod count_tests;
mod decision;
pub(super) mod duplicates;
mod explain;
mod keys;
mod match_index;
mod members;

pub(in crate::vm) mod names;
mod near_groups;
pub(in crate::vm) mod near_values;
mod occurrences;
pub mod plan;
pub mod run_reach;
mod scope;
pub mod search;
pub(super) mod standing_trace;
mod statements;
mod states;
mod step_lists;
pub mod step_marks;
pub mod step_sums;
mod timeline;
pub(in crate::vm) mod unjudged_steps;
pub(in crate::vm) mod unrecorded_roles;
mod verdict;
mod view;
mod window_events;

use super::context::JudgeContext;
use super::fault::Fault;
use super::machine::Machine;
use super::outcome::CheckFinding;
use super::profile::CostCenter;
use crate::bytecode::program::{TemporalEntry, TemporalId};
use plan::{StepKindSet, TemporalPlan};
use smallvec::SmallVec;
use statements::{StatementDefinition, StatementOperand};
use std::borrow::Cow;
use std::rc::Rc;
use timeline::{Env, Timeline, ValueId};
use view::{WindowOperand, WindowView};
use window_events::EventSelection;

/// Fuel for judging a statement in a window, regardless of the matches.
const JUDGING: u64 = 50;

/// Windows that are charged only for what is examined in them.
const FEW_WINDOWS: u64 = 256;
/// Extra fuel per match in further windows, because nested blocks multiply them.
const IN_MANY_WINDOWS: u64 = 16;

pub(super) use explain::{DIED_AT_START, not_complete, step_name};
pub use explain::{numbered_step, register_thread_storage};

/// Judges the statements of one program on one run.
#[derive(Debug, Default)]
pub struct TemporalEngine<'run> {
    timeline: Option<Timeline<'run>>,
    opened_by: Option<StepKindSet>,
}

impl<'run> TemporalEngine<'run> {
    /// An engine that has not looked at the run yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Which unique patterns matched, by number; nothing where no statement was judged.
    #[must_use]
    pub fn matched_patterns(&self) -> Vec<bool> {
        let matches = self.timeline.iter().flat_map(|timeline| &timeline.matches);
        matches.map(|matches| !matches.events.is_empty()).collect()
    }

    /// The finding of one statement in a window.
    ///
    /// # Errors
    /// What ended the evaluation of a condition, or of the statement itself.
    pub fn judge_statement(
        &mut self,
        machine: &mut Machine<'run>,
        temporal: TemporalId,
        context: &JudgeContext<'run>,
    ) -> Result<CheckFinding, Fault> {
        let plan = machine.prepared.temporal_plan(machine.program);
        let entry = machine.program.temporals.get(temporal.0 as usize);
        let (Some(entry), Some(statement)) = (entry, plan.statement(temporal)) else {
            return Err(super::fault::broken_program());
        };
        machine.spend(JUDGING)?;
        let free = plan.free_operands(temporal);
        let setting = self.select_window(machine, &statement.operands, Some(free), context, entry.bindings as usize);
        if machine.windows > FEW_WINDOWS {
            let matches: usize = setting.selected.iter().map(EventSelection::len).sum();
            machine.spend((matches as u64).saturating_mul(IN_MANY_WINDOWS))?;
        }
        let mut view = self.window_view(machine, Some((entry, statement)), context, &setting)?;
        let judged = verdict::judge_window(&mut view, statement, self.opened_by);
        if !view.machine.observer.recording.is_muted() {
            let trace = standing_trace::trace_statement(&mut view, statement, self.opened_by);
            view.machine.observer.recording.note_temporal(trace);
        }
        judged
    }

    /// `free` are the operands without given values, `width` the number of bindings of the assertion.
    fn select_window<'p>(
        &mut self,
        machine: &mut Machine<'run>,
        operands: &[StatementOperand],
        free: Option<&'p [WindowOperand]>,
        context: &JudgeContext<'run>,
        width: usize,
    ) -> WindowSelection<'p> {
        let plan = machine.prepared.temporal_plan(machine.program);
        let timeline = self.timeline.get_or_insert_with(|| {
            let timeline = machine.costing(CostCenter::Steps, |machine| classify::classify_steps(machine, plan));
            machine.refuel();
            timeline
        });
        let header = header_env(timeline, context, width);
        let is_free = header.iter().all(|id| *id == ValueId::OPEN);
        let operands = match free.filter(|_| is_free) {
            Some(operands) => Cow::Borrowed(operands),
            None => Cow::Owned(
                plan.window_operands(operands, |name| header.get(name as usize).is_none_or(|id| *id == ValueId::OPEN)),
            ),
        };
        let selected =
            operands.iter().map(|operand| select_events(timeline, plan, operand, &header, context)).collect();
        WindowSelection { header, operands, selected }
    }

    fn window_view<'a>(
        &'a self,
        machine: &'a mut Machine<'run>,
        of: Option<(&'a TemporalEntry, &'a StatementDefinition)>,
        context: &'a JudgeContext<'run>,
        setting: &'a WindowSelection<'_>,
    ) -> Result<WindowView<'a, 'run>, Fault> {
        let plan = machine.prepared.temporal_plan(machine.program);
        let timeline = self.timeline.as_ref().ok_or_else(super::fault::broken_program)?;
        Ok(WindowView {
            calls: window_calls(timeline, plan, &setting.operands, context),
            machine,
            timeline,
            plan,
            entry: of.map(|(entry, _)| entry),
            statement: of.map(|(_, statement)| statement),
            context,
            header: setting.header.clone(),
            operands: &setting.operands,
            selected: &setting.selected,
            doubts_tests: false,
            listed: if context.explains { context.listed } else { 0 },
        })
    }
}

struct WindowSelection<'p> {
    header: Env,
    operands: Cow<'p, [WindowOperand]>,
    selected: SmallVec<[EventSelection; 3]>,
}

fn header_env<'run>(timeline: &mut Timeline<'run>, context: &JudgeContext<'run>, width: usize) -> Env {
    let given = context.bindings.iter().copied().chain(std::iter::repeat(None)).take(width);
    given.map(|node| node.map_or(ValueId::OPEN, |node| Rc::make_mut(&mut timeline.values).value_id(node))).collect()
}

fn select_events(
    timeline: &Timeline<'_>,
    plan: &TemporalPlan,
    operand: &WindowOperand,
    header: &Env,
    context: &JudgeContext<'_>,
) -> EventSelection {
    let (window, id) = (context.window, operand.unique);
    let (Some(matches), Some(unique)) = (timeline.matches_of(id), plan.unique_pattern(id)) else {
        return EventSelection { unique: id, range: 0..0, list: None };
    };
    let range = matches.events_between(window.start, window.end);
    let given =
        unique.names.iter().enumerate().find_map(|(position, name)| {
            header.get(*name as usize).filter(|id| id.is_value()).map(|id| (position, *id))
        });
    let list = given.map(|(position, value)| {
        let mut list = matches.with_value(position, unique.names.len(), value);
        list.retain(|event| range.contains(event));
        list
    });
    EventSelection { unique: id, range, list }
}

/// The calls of the window; those not executed if every pattern says `proposed`.
fn window_calls<'t>(
    timeline: &'t Timeline<'_>,
    plan: &TemporalPlan,
    operands: &[WindowOperand],
    context: &JudgeContext<'_>,
) -> &'t [u32] {
    let calls = all_calls(timeline, plan, operands);
    let at = |step: usize| calls.partition_point(|call| (*call as usize) < step);
    calls.get(at(context.window.start)..at(context.window.end)).unwrap_or(&[])
}

fn all_calls<'t>(timeline: &'t Timeline<'_>, plan: &TemporalPlan, operands: &[WindowOperand]) -> &'t [u32] {
    let mut unique_patterns = operands.iter().filter_map(|operand| plan.unique_pattern(operand.unique));
    timeline.call_list(!operands.is_empty() && unique_patterns.all(|unique| unique.proposed))
}
