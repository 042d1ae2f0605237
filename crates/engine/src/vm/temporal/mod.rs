//! Temporal statements on a run: classification of steps, monitors for every statement about order and occurrence, windows of blocks.
//!
//! [`Engine::judge`] classifies all steps of the run once for all statements of the program, then plays the matches of one statement
//! to its monitor. A monitor's work grows with the steps that its patterns match, not with the run and not with other rules.

mod automaton;
mod by_missing;
pub mod by_name;
pub(in crate::vm) mod classify;
pub mod closed;
mod doubted;
pub(super) mod duplicates;
mod explain;
mod failures;
mod growth;
mod keys;
pub(in crate::vm) mod known;
mod match_index;
mod members;
mod monitor;
pub(in crate::vm) mod names;
mod numbers;
pub mod plan;
mod recent_occurrences;
mod scope;
mod sorted_matches;
mod statements;
mod states;
mod timeline;
mod twins;
pub(in crate::vm) mod unjudged;
mod verdict;
mod view;
pub(super) mod watch;

use super::context::Context;
use super::fault::Fault;
use super::machine::Machine;
use super::outcome::Finding;
use super::profile::CostCenter;
use crate::bytecode::program::{TemporalEntry, TemporalId};
use monitor::EventSelection;
use plan::{Kinds, Plan};
use smallvec::SmallVec;
use statements::{Statement, StatementOperand};
use std::borrow::Cow;
use std::rc::Rc;
use timeline::{Env, Timeline, ValueId};
use view::{Mode, View, WindowOperand};

/// The fuel of judging a statement in a window, whatever it finds there.
const JUDGING: u64 = 50;

/// So many windows of blocks cost no more than what is looked at in them.
const FEW_WINDOWS: u64 = 256;
/// In further ones each match costs so much more: blocks in blocks multiply them.
const IN_MANY_WINDOWS: u64 = 16;

/// A step in a sentence.
pub(super) fn name_of_step(run: &averment_runs::run::Run<'_>, step: u32) -> String {
    explain::name(run, step)
}

/// What a step is called by its number: `call 3`, where it is another one among all steps `step 70, call 31`.
#[must_use]
pub fn numbered_step(run: &averment_runs::run::Run<'_>, step: u32) -> String {
    explain::numbered(run, step)
}

/// Judges the statements of one program on one run.
#[derive(Debug, Default)]
pub struct Engine<'run> {
    timeline: Option<Timeline<'run>>,
    /// The kinds of steps that opened the windows in work.
    opened_by: Option<Kinds>,
}

impl<'run> Engine<'run> {
    /// An engine that has not looked at the run yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Which unique patterns matched, by number; nothing where no statement was judged.
    #[must_use]
    pub fn matched(&self) -> Vec<bool> {
        let matches = self.timeline.iter().flat_map(|timeline| &timeline.matches);
        matches.map(|matches| !matches.events.is_empty()).collect()
    }

    /// The finding of one statement in a window.
    ///
    /// # Errors
    /// What ended the evaluation of a condition, or of the statement itself.
    pub fn judge(
        &mut self,
        machine: &mut Machine<'run>,
        temporal: TemporalId,
        context: &Context<'run>,
    ) -> Result<Finding, Fault> {
        let plan = machine.prepared.plan(machine.program);
        let entry = machine.program.temporals.get(temporal.0 as usize);
        let (Some(entry), Some(statement)) = (entry, plan.statement(temporal)) else {
            return Err(super::machine::broken());
        };
        machine.spend(JUDGING)?;
        let free = plan.free_operands(temporal);
        let setting = self.setting(machine, &statement.operands, Some(free), context, entry.bindings as usize);
        if machine.windows > FEW_WINDOWS {
            let matches: usize = setting.selected.iter().map(EventSelection::len).sum();
            machine.spend((matches as u64).saturating_mul(IN_MANY_WINDOWS))?;
        }
        let mut view = self.view(machine, Some((entry, statement)), context, &setting)?;
        view.places = statement.calls;
        let judged = verdict::judge(&mut view, statement, &setting.selected, self.opened_by);
        if view.machine.derives() {
            let trace = watch::trace(&mut view, statement, &setting.selected, self.opened_by);
            view.machine.note_temporal(trace);
        }
        judged
    }

    /// What a statement or a block header with these patterns looks at; `free` are their operands where nothing is given from outside.
    /// `width` is how many bindings its assertion has.
    fn setting<'p>(
        &mut self,
        machine: &mut Machine<'run>,
        operands: &[StatementOperand],
        free: Option<&'p [WindowOperand]>,
        context: &Context<'run>,
        width: usize,
    ) -> Setting<'p> {
        let plan = machine.prepared.plan(machine.program);
        let timeline = self.timeline.get_or_insert_with(|| {
            let timeline = machine.costing(CostCenter::Steps, |machine| classify::classify(machine, plan));
            machine.refuel();
            timeline
        });
        let header = header(timeline, context, width);
        let is_free = header.iter().all(|id| *id == ValueId::OPEN);
        let operands = match free.filter(|_| is_free) {
            Some(operands) => Cow::Borrowed(operands),
            None => Cow::Owned(
                plan.window_operands(operands, |name| header.get(name as usize).is_none_or(|id| *id == ValueId::OPEN)),
            ),
        };
        let selected = operands.iter().map(|operand| select(timeline, plan, operand, &header, context)).collect();
        Setting { header, operands, selected }
    }

    fn view<'a>(
        &'a self,
        machine: &'a mut Machine<'run>,
        of: Option<(&'a TemporalEntry, &'a Statement)>,
        context: &'a Context<'run>,
        setting: &'a Setting<'_>,
    ) -> Result<View<'a, 'run>, Fault> {
        let plan = machine.prepared.plan(machine.program);
        let timeline = self.timeline.as_ref().ok_or_else(super::machine::broken)?;
        Ok(View {
            calls: calls(timeline, plan, &setting.operands, context),
            machine,
            timeline,
            plan,
            entry: of.map(|(entry, _)| entry),
            statement: of.map(|(_, statement)| statement),
            context,
            header: setting.header.clone(),
            operands: &setting.operands,
            places: false,
            mode: Mode::Optimistic,
            unknown: false,
            listed: if context.explains { context.listed } else { 0 },
        })
    }
}

/// What a statement looks at in a window.
struct Setting<'p> {
    header: Env,
    operands: Cow<'p, [WindowOperand]>,
    /// The events of each operand.
    selected: SmallVec<[EventSelection; 3]>,
}

/// The values that block headers give, as numbers.
fn header<'run>(timeline: &mut Timeline<'run>, context: &Context<'run>, width: usize) -> Env {
    let given = context.bindings.iter().copied().chain(std::iter::repeat(None)).take(width);
    given.map(|node| node.map_or(ValueId::OPEN, |node| Rc::make_mut(&mut timeline.values).id(node))).collect()
}

/// The events of an operand in the window; where the header gives a value, only those that have it.
fn select(
    timeline: &mut Timeline<'_>,
    plan: &Plan,
    operand: &WindowOperand,
    header: &Env,
    context: &Context<'_>,
) -> EventSelection {
    let window = context.window;
    let (Some(matches), Some(unique)) =
        (timeline.matches.get_mut(operand.unique.0 as usize), plan.unique_pattern(operand.unique))
    else {
        return EventSelection::Range(operand.unique, 0..0);
    };
    let range = matches.between(window.start, window.end);
    let given =
        unique.names.iter().enumerate().find_map(|(position, name)| {
            header.get(*name as usize).filter(|id| id.is_value()).map(|id| (position, *id))
        });
    match given {
        None => EventSelection::Range(operand.unique, range),
        Some((position, value)) => {
            let mut list = matches.with_value(position, unique.names.len(), value);
            list.retain(|event| range.contains(event));
            EventSelection::List(operand.unique, list)
        }
    }
}

/// The call list of a statement in its window: the calls that were not executed when every pattern says `proposed`.
fn calls<'t>(timeline: &'t Timeline<'_>, plan: &Plan, operands: &[WindowOperand], context: &Context<'_>) -> &'t [u32] {
    let calls = all_calls(timeline, plan, operands);
    let at = |step: usize| calls.partition_point(|call| (*call as usize) < step);
    calls.get(at(context.window.start)..at(context.window.end)).unwrap_or(&[])
}

/// The same in the whole run.
fn all_calls<'t>(timeline: &'t Timeline<'_>, plan: &Plan, operands: &[WindowOperand]) -> &'t [u32] {
    let mut unique_patterns = operands.iter().filter_map(|operand| plan.unique_pattern(operand.unique));
    timeline.calls(!operands.is_empty() && unique_patterns.all(|unique| unique.proposed))
}
