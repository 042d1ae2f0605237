//! Reports which calls of a recorded run would have been denied. The run is replayed call by call, as if each call were proposed.

use crate::judge::{GuardMode, RuleBreach, judge_call, judge_stop};
use averment::{Rules, RunError};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::{StepKind, StepStatus};
use serde_json::{Map, Value};

/// Maximum number of replayed calls of a run, because each call is judged together with all calls before it.
const MAX_CALLS: usize = 10_000;

/// A call that would have been denied or reported to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayedBreach {
    /// Its number among the calls of the run, from 1.
    pub call: usize,
    /// Its tool.
    pub tool: String,
    /// The rules that it breaks.
    pub breaches: Vec<RuleBreach>,
}

/// The result of replaying a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replay {
    /// Number of calls that were executed in the run.
    pub calls: usize,
    /// The calls that break a rule, in order.
    pub breaches: Vec<ReplayedBreach>,
    /// The rules that were still owed at the end.
    pub owed: Vec<RuleBreach>,
    /// True if the run has more calls than were replayed.
    pub is_cut: bool,
}

/// Replays a run in the normal form (`aver trace show --json`). A call that is denied counts as denied for later calls.
///
/// # Errors
/// If the run cannot be read.
pub fn replay_run(rules: &Rules, mode: GuardMode, normal_form: &str) -> Result<Replay, RunError> {
    let mut replay = Replay::default();
    let Ok(Value::Object(run)) = serde_json::from_str::<Value>(normal_form) else { return Ok(replay) };
    let mut prefix = RunPrefix::of(run);
    let total = prefix.call_count();
    for place in 0..total.min(MAX_CALLS) {
        let Some(tool) = prefix.executed_tool(place) else { continue };
        replay.calls += 1;
        let before = prefix.text_before(place);
        let breaches = judge_call(rules, mode, &before, &prefix.text_with(place), None)?;
        if breaches.iter().any(|breach| breach.mode == GuardMode::Enforce) {
            prefix.deny_call(place);
        }
        if !breaches.is_empty() {
            replay.breaches.push(ReplayedBreach { call: place + 1, tool, breaches });
        }
    }
    replay.is_cut = total > MAX_CALLS;
    replay.owed = judge_stop(rules, mode, &prefix.text_before(total), &prefix.text_at_end())?;
    Ok(replay)
}

/// A prefix of a run.
struct RunPrefix {
    run: Map<String, Value>,
    /// False if the recorded run is unfinished, so nothing is owed yet.
    has_ended: bool,
}

/// Fields of a run that are known only at its end.
const AT_END: [&str; 6] = [of_run::OUTPUT, of_run::ERROR, of_run::COST, of_run::USAGE, of_run::DURATION, of_run::TURNS];
/// Fields of a step that are known only at its end, in addition to its outcome.
const WITH_RESULT: [&str; 6] =
    [of_step::RESPONSE, of_step::END, of_step::DURATION, of_step::EXIT_CODE, of_step::OUTPUT, of_step::DETAILS];

/// Removes from a step the fields that are known only at its end.
fn open_step(step: &mut Map<String, Value>) {
    of_step::OUTCOME.iter().chain(&WITH_RESULT).for_each(|key| drop(step.remove(*key)));
}

impl RunPrefix {
    fn of(mut run: Map<String, Value>) -> Self {
        for key in AT_END {
            run.remove(key);
        }
        let has_ended = run.insert(of_run::COMPLETE.to_owned(), false.into()) != Some(Value::Bool(false));
        // Without a single order over all kinds of steps, it is unknown which other steps preceded a call.
        if !run.contains_key(of_run::STEPS) {
            for kind in StepKind::ALL.into_iter().filter(|kind| *kind != StepKind::Call) {
                run.remove(kind.list_key());
            }
        }
        Self { run, has_ended }
    }

    fn calls(&self) -> &[Value] {
        self.run.get(StepKind::Call.list_key()).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    fn call_count(&self) -> usize {
        self.calls().len()
    }

    /// Returns the tool of an executed call.
    fn executed_tool(&self, place: usize) -> Option<String> {
        let call = self.calls().get(place)?;
        let status = call.get(of_step::STATUS).and_then(Value::as_str).and_then(StepStatus::from_word);
        let tool = call.get(of_step::TOOL).and_then(Value::as_str)?;
        status.is_none_or(StepStatus::is_executed).then(|| tool.to_owned())
    }

    /// Marks a call as denied and removes its effects.
    fn deny_call(&mut self, place: usize) {
        let calls = self.run.get_mut(StepKind::Call.list_key()).and_then(Value::as_array_mut);
        if let Some(Value::Object(call)) = calls.and_then(|calls| calls.get_mut(place)) {
            open_step(call);
            call.insert(of_step::STATUS.to_owned(), StepStatus::Denied.as_str().into());
        }
        let Some(Value::Array(mut steps)) = self.run.remove(of_run::STEPS) else { return };
        let (at, end) = place_in_order(&steps, place);
        for done in (at + 1..end).rev() {
            let Some(kind) = steps.get(done).and_then(step_kind) else { continue };
            let before = steps.iter().take(done).filter(|step| step_kind(step) == Some(kind)).count();
            let items = self.run.get_mut(kind.list_key()).and_then(Value::as_array_mut);
            items.filter(|items| before < items.len()).into_iter().for_each(|items| drop(items.remove(before)));
            steps.remove(done);
        }
        self.run.insert(of_run::STEPS.to_owned(), steps.into());
    }

    /// Returns the run before a call.
    fn text_before(&self, place: usize) -> String {
        self.cut(place, false)
    }

    /// Returns the run up to a call that has no result yet.
    fn text_with(&self, place: usize) -> String {
        self.cut(place, true)
    }

    fn text_at_end(&self) -> String {
        let mut run = self.run.clone();
        if self.has_ended {
            run.remove(of_run::COMPLETE);
        }
        Value::Object(run).to_string()
    }

    fn cut(&self, place: usize, with: bool) -> String {
        let mut run = self.run.clone();
        let of_calls = |count: usize| StepKind::ALL.map(|kind| (kind == StepKind::Call).then_some(count));
        let (mut kept, mut open) = (of_calls(place + usize::from(with)), of_calls(usize::from(with)));
        if let Some(steps) = run.get_mut(of_run::STEPS).and_then(Value::as_array_mut) {
            let (at, end) = place_in_order(steps, place);
            steps.truncate(if with { end } else { at });
            open = count_kinds(steps.get(at..).unwrap_or_default());
            kept = count_kinds(steps);
        }
        for ((kind, kept), open) in StepKind::ALL.into_iter().zip(kept).zip(open) {
            if let Some((Value::Array(items), kept)) = run.get_mut(kind.list_key()).zip(kept) {
                items.truncate(kept);
                let open = items.iter_mut().rev().take(open.unwrap_or_default());
                open.filter_map(Value::as_object_mut).for_each(open_step);
            }
        }
        Value::Object(run).to_string()
    }
}

/// Returns the position of a call in the order of all steps, and the end of the steps that it caused.
fn place_in_order(steps: &[Value], place: usize) -> (usize, usize) {
    let calls = steps.iter().enumerate().filter(|(_, step)| step_kind(step) == Some(StepKind::Call));
    let Some(at) = calls.map(|(at, _)| at).nth(place) else { return (steps.len(), steps.len()) };
    let behind = steps.iter().skip(at + 1);
    (at, at + 1 + behind.take_while(|step| step_kind(step).is_some_and(|kind| OF_CALLS.contains(&kind))).count())
}

/// Kinds of steps caused by a call. They directly follow the call, because they are proposed with it.
const OF_CALLS: [StepKind; 5] = [StepKind::Command, StepKind::Read, StepKind::Write, StepKind::Skill, StepKind::Http];

fn count_kinds(steps: &[Value]) -> [Option<usize>; StepKind::ALL.len()] {
    StepKind::ALL.map(|kind| Some(steps.iter().filter(|step| step_kind(step) == Some(kind)).count()))
}

fn step_kind(step: &Value) -> Option<StepKind> {
    let word = step.as_str().or_else(|| step.get(of_step::KIND).and_then(Value::as_str))?;
    StepKind::ALL.into_iter().find(|kind| kind.as_str() == word)
}
