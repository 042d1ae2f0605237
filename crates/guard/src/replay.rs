//! What would have been denied in a recorded run: the run is played call by call, as if each were proposed.

use crate::judge::{GuardMode, RuleBreach, judge_call, judge_stop};
use averment::{Rules, RunError};
use serde_json::{Map, Value};

/// The most calls of a run that are replayed: each is judged with all before it.
const MAX_CALLS: usize = 10_000;

/// A call that would not have been made, or that the user would have been told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayedBreach {
    /// Its place among the calls of the run, from 1.
    pub call: usize,
    /// Its tool.
    pub tool: String,
    /// The rules that it breaks.
    pub breaches: Vec<RuleBreach>,
}

/// What a guard would have done in a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replay {
    /// Calls that were executed in the run.
    pub calls: usize,
    /// Those that break a rule, in their order.
    pub breaches: Vec<ReplayedBreach>,
    /// What was owed at the end.
    pub owed: Vec<RuleBreach>,
    /// True where the run has more calls than are replayed.
    pub is_cut: bool,
}

/// Replays a run in the normal form, `aver trace show --json`. A call that is denied counts as denied for those behind it.
///
/// # Errors
/// A run that cannot be read.
pub fn replay_run(rules: &Rules, mode: GuardMode, normal_form: &str) -> Result<Replay, RunError> {
    let mut replay = Replay::default();
    let Ok(Value::Object(run)) = serde_json::from_str::<Value>(normal_form) else { return Ok(replay) };
    let mut prefix = RunPrefix::of(run);
    let total = prefix.call_count();
    for place in 0..total.min(MAX_CALLS) {
        let Some(tool) = prefix.executed_tool(place) else { continue };
        replay.calls += 1;
        let before = prefix.text_before(place);
        let breaches = judge_call(rules, mode, &before, &prefix.text_with(place))?;
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

/// A run of which only a beginning has happened.
struct RunPrefix {
    run: Map<String, Value>,
    /// False where the run as it was recorded goes on: nothing is owed in it yet.
    has_ended: bool,
}

/// What is known of a run only when it has ended.
const AT_END: [&str; 6] = ["output", "error", "cost", "usage", "duration", "turns"];
/// False where more may come.
const COMPLETE: &str = "complete";
/// What is known of a call only when it has ended.
const OF_RESULT: [&str; 9] = ["result", "response", "error", "status", "ok", "end", "duration", "exit_code", "details"];
/// The lists of steps, with the words of their kinds.
const KINDS: [(&str, &str); 9] = [
    ("calls", "call"),
    ("messages", "message"),
    ("commands", "command"),
    ("reads", "read"),
    ("writes", "write"),
    ("skills", "skill"),
    ("http", "http"),
    ("spans", "span"),
    ("handovers", "handover"),
];

impl RunPrefix {
    fn of(mut run: Map<String, Value>) -> Self {
        for key in AT_END {
            run.remove(key);
        }
        let has_ended = run.insert(COMPLETE.to_owned(), false.into()) != Some(Value::Bool(false));
        // Without one order of all kinds nobody knows what else had happened before a call.
        if !run.contains_key("steps") {
            for (list, _) in KINDS.iter().filter(|(list, _)| *list != "calls") {
                run.remove(*list);
            }
        }
        Self { run, has_ended }
    }

    fn calls(&self) -> &[Value] {
        self.run.get("calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    fn call_count(&self) -> usize {
        self.calls().len()
    }

    /// The tool of a call that was executed.
    fn executed_tool(&self, place: usize) -> Option<String> {
        let call = self.calls().get(place)?;
        let status = call.get("status").and_then(Value::as_str).unwrap_or_default();
        let tool = call.get("tool").and_then(Value::as_str)?;
        (!matches!(status, "denied" | "pending")).then(|| tool.to_owned())
    }

    fn deny_call(&mut self, place: usize) {
        let calls = self.run.get_mut("calls").and_then(Value::as_array_mut);
        if let Some(Value::Object(call)) = calls.and_then(|calls| calls.get_mut(place)) {
            OF_RESULT.iter().for_each(|key| drop(call.remove(*key)));
            call.insert("status".to_owned(), "denied".into());
        }
    }

    /// The run as it was before a call.
    fn text_before(&self, place: usize) -> String {
        self.cut(place, false)
    }

    /// The run with a call that has no result yet.
    fn text_with(&self, place: usize) -> String {
        self.cut(place, true)
    }

    fn text_at_end(&self) -> String {
        let mut run = self.run.clone();
        if self.has_ended {
            run.remove(COMPLETE);
        }
        Value::Object(run).to_string()
    }

    fn cut(&self, place: usize, with: bool) -> String {
        let mut run = self.run.clone();
        let mut kept = [usize::MAX; KINDS.len()];
        if let Some(Value::Array(steps)) = run.get_mut("steps") {
            let is_call = |step: &Value| step_kind(step) == "call";
            let at = steps.iter().enumerate().filter(|(_, step)| is_call(step)).nth(place).map(|(at, _)| at);
            steps.truncate(at.map_or(steps.len(), |at| at + usize::from(with)));
            for (kind, kept) in KINDS.iter().zip(&mut kept) {
                *kept = steps.iter().filter(|step| step_kind(step) == kind.1).count();
            }
        } else {
            kept[0] = place + usize::from(with);
        }
        for ((list, _), kept) in KINDS.iter().zip(kept) {
            if let Some(Value::Array(items)) = run.get_mut(*list) {
                items.truncate(kept);
            }
        }
        if with
            && let Some(Value::Object(call)) =
                run.get_mut("calls").and_then(Value::as_array_mut).and_then(|c| c.last_mut())
        {
            OF_RESULT.iter().for_each(|key| drop(call.remove(*key)));
        }
        Value::Object(run).to_string()
    }
}

fn step_kind(step: &Value) -> &str {
    step.as_str().or_else(|| step.get("kind").and_then(Value::as_str)).unwrap_or_default()
}
