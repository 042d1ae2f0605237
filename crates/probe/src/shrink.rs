//! Finds the smallest input with which an invariant still fails.

use crate::client::ProbeClient;
use crate::corpus::EarlierCall;
use crate::plan::{CallArguments, InvariantCalls, PlannedCall};
use crate::record::{Probe, ProbeCourse, RecordedProbe};
use averment_testing::inputs::CallInputs;
use serde_json::{Map, Value};

/// Maximum number of calls to find a smaller input.
const CALLS: usize = 200;
/// Maximum number of calls if each of them ends the server.
const ENDS: usize = 20;

const OF_SERVER: [&str; 3] = ["crash", "hang", "protocol"];

/// Returns the ids of the assertions that fail in a run.
pub type FailureOracle<'a> = dyn Fn(&Value) -> Vec<String> + 'a;

/// The smallest failing input.
#[derive(Debug)]
pub struct SmallestInput {
    /// Name of the tool that was called.
    pub tool: String,
    /// The input.
    pub arguments: Map<String, Value>,
    /// True if it also fails on a fresh server.
    pub alone: bool,
    /// The earlier calls that are needed if it does not fail on a fresh server.
    pub behind: Vec<EarlierCall>,
    /// Ids of the assertions that fail with it.
    pub found: Vec<String>,
    /// The run of the call with this input, if it differs from the recorded run.
    pub run: Option<Value>,
    /// Number of calls made to find it.
    pub calls: usize,
}

impl Probe<'_> {
    /// Finds the first failing input of an invariant. With `shrink`, searches for the smallest input that still has some of the same failures. A
    /// failure must reproduce on a fresh server; otherwise the result includes the inputs of all calls before it. Only invariants with a single call
    /// are shrunk.
    pub fn find_smallest(
        &self,
        ask: &InvariantCalls,
        recorded: &RecordedProbe,
        fails: &FailureOracle<'_>,
        client: &mut ProbeClient,
        shrink: bool,
    ) -> Option<SmallestInput> {
        let [call] = ask.calls.as_slice() else { return None };
        let (at, arguments, found) = self.first_failing(ask, recorded, fails)?;
        let made = recorded.run.get("calls").and_then(Value::as_array).map_or(0, Vec::len);
        let behind = client.made_before(made.saturating_sub(at));
        let mut trying = ShrinkSearch { probe: self, of: (ask, call), client, fails, calls: 0 };
        let tool = call.tool.clone();
        let Some((_, found)) = trying.fails_alone(&arguments, &found) else {
            return Some(SmallestInput {
                tool,
                arguments,
                alone: false,
                behind,
                found,
                run: None,
                calls: trying.calls,
            });
        };
        let mut smallest =
            SmallestInput { tool, arguments, alone: true, behind: Vec::new(), found, run: None, calls: 0 };
        if let (CallArguments::Made(inputs), true) = (&call.arguments, shrink && recorded.hangs == 0) {
            trying.shrink_input(&mut smallest, inputs, recorded.failed);
        }
        smallest.calls = trying.calls;
        Some(smallest)
    }

    /// Returns the first failing call of an invariant: its index, its input, and the failures.
    fn first_failing(
        &self,
        ask: &InvariantCalls,
        recorded: &RecordedProbe,
        fails: &FailureOracle<'_>,
    ) -> Option<(usize, Map<String, Value>, Vec<String>)> {
        let calls = recorded.run.get("calls").and_then(Value::as_array)?;
        let all = fails(&recorded.run);
        let (at, made, found) = if let Some(at) = recorded.wrong {
            (at, calls.get(at)?, all.into_iter().filter(|id| OF_SERVER.contains(&id.as_str())).collect())
        } else {
            let mut failing = calls.iter().enumerate().map(|(at, made)| (at, made, fails(&self.of_call(ask, made))));
            failing.find(|(_, _, found)| found.iter().any(|id| all.contains(id)))?
        };
        if found.is_empty() { None } else { Some((at, arguments_of(made)?, found)) }
    }

    fn of_call(&self, ask: &InvariantCalls, made: &Value) -> Value {
        let mut run = self.finish_record(ask, ProbeCourse::for_invariant(ask)).run;
        if let Some(run) = run.as_object_mut() {
            run.insert("calls".to_owned(), Value::Array(vec![made.clone()]));
        }
        run
    }
}

struct ShrinkSearch<'a, 'b> {
    probe: &'a Probe<'b>,
    of: (&'a InvariantCalls, &'a PlannedCall),
    client: &'a mut ProbeClient,
    fails: &'a FailureOracle<'a>,
    calls: usize,
}

impl ShrinkSearch<'_, '_> {
    /// Searches for the smallest input with the same failures. With `ends`, each try gets a fresh server.
    fn shrink_input(&mut self, smallest: &mut SmallestInput, inputs: &CallInputs, ends: bool) {
        let most = self.calls.saturating_add(if ends { ENDS } else { CALLS });
        let (first, found) = (smallest.arguments.clone(), smallest.found.clone());
        'smaller: loop {
            for candidate in inputs.smaller_inputs(&smallest.arguments) {
                if self.calls >= most {
                    break 'smaller;
                }
                let tried = if ends {
                    self.fails_alone(&candidate, &smallest.found)
                } else {
                    self.fails_with(&candidate, &smallest.found)
                };
                if let Some((run, still)) = tried {
                    (smallest.arguments, smallest.run, smallest.found) = (candidate, Some(run), still);
                    continue 'smaller;
                }
            }
            break;
        }
        if !ends && smallest.run.is_some() {
            let alone = self.fails_alone(&smallest.arguments, &smallest.found);
            if alone.is_none() {
                (smallest.arguments, smallest.found) = (first, found);
            }
            smallest.run = alone.map(|(run, _)| run);
        }
    }

    /// Calls a fresh server. Returns the run and the failures if some are the same.
    fn fails_alone(&mut self, arguments: &Map<String, Value>, found: &[String]) -> Option<(Value, Vec<String>)> {
        self.client.stop_server();
        self.fails_with(arguments, found)
    }

    /// Calls the running server. Returns the run and the failures if some are the same.
    fn fails_with(&mut self, arguments: &Map<String, Value>, found: &[String]) -> Option<(Value, Vec<String>)> {
        let (ask, call) = self.of;
        self.calls = self.calls.saturating_add(1);
        let mut course = ProbeCourse::for_invariant(ask);
        if course.make_call(call, arguments.clone(), Some(&mut *self.client)) {
            course.check_after_call(ask, self.client);
        }
        let mut run = self.probe.finish_record(ask, course).run;
        if let Some(Value::String(id)) = run.get_mut("id") {
            id.push_str(": smallest");
        }
        let still = (self.fails)(&run);
        still.iter().any(|id| found.contains(id)).then_some((run, still))
    }
}

fn arguments_of(made: &Value) -> Option<Map<String, Value>> {
    made.get("args")?.as_object().cloned()
}
