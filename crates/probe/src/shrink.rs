//! Where an input was found with which an invariant fails: the smallest one with which it still does.

use crate::client::Client;
use crate::plan::{Arguments, Ask, Call};
use crate::record::{Course, Probe, Recorded};
use serde_json::{Map, Value};

/// Calls that are made to find a smaller input.
const CALLS: usize = 200;
/// The same where each of them ends the server.
const ENDS: usize = 20;

/// Says which assertions of the rules fail in a run: their ids.
pub type Fails<'a> = dyn Fn(&Value) -> Vec<String> + 'a;

/// What was found with an input.
#[derive(Debug)]
pub struct Smallest {
    /// The tool that it is given to.
    pub tool: String,
    /// The input.
    pub arguments: Map<String, Value>,
    /// The ids of assertions that fail with it.
    pub found: Vec<String>,
    /// The run of the call with it, where another one was recorded before.
    pub run: Option<Value>,
    /// How many calls were made to find it.
    pub calls: usize,
}

impl Probe<'_> {
    /// Finds the first input of an ask with which something fails, and with `shrink` the smallest that was met with which the same still does.
    /// Only what is asked with one call by itself is looked at.
    pub fn smallest(
        &self,
        ask: &Ask,
        recorded: &Recorded,
        fails: &Fails<'_>,
        (client, shrink): (&mut Client, bool),
    ) -> Option<Smallest> {
        let [call] = ask.calls.as_slice() else { return None };
        let calls = recorded.run.get("calls").and_then(Value::as_array)?;
        let all = fails(&recorded.run);
        let alone = |made: &Value| fails(&self.of_call(ask, made));
        // Where the server did something wrong, it did that with the last call.
        let (arguments, mut found) = if recorded.failed {
            let last = calls.last()?;
            (arguments_of(last)?, all)
        } else {
            let failing = calls.iter().map(|made| (made, alone(made)));
            let (made, found) = failing.into_iter().find(|(_, found)| found.iter().any(|id| all.contains(id)))?;
            (arguments_of(made)?, found)
        };
        if found.is_empty() {
            return None;
        }
        let mut smallest = Smallest { tool: call.tool.clone(), arguments, found: Vec::new(), run: None, calls: 0 };
        if let (Arguments::Made(inputs), true) = (&call.arguments, shrink && recorded.hangs == 0) {
            let most = if recorded.failed { ENDS } else { CALLS };
            'smaller: loop {
                for candidate in inputs.smaller(&smallest.arguments) {
                    if smallest.calls >= most {
                        break 'smaller;
                    }
                    smallest.calls = smallest.calls.saturating_add(1);
                    let run = self.tried(ask, call, candidate.clone(), client);
                    let still = fails(&run);
                    if still.iter().any(|id| found.contains(id)) {
                        (smallest.arguments, smallest.run, found) = (candidate, Some(run), still);
                        continue 'smaller;
                    }
                }
                break;
            }
        }
        smallest.found = found;
        Some(smallest)
    }

    /// The run of one call more.
    fn tried(&self, ask: &Ask, call: &Call, arguments: Map<String, Value>, client: &mut Client) -> Value {
        let mut course = Course::of(ask);
        course.make(call, arguments, Some(client));
        let mut run = self.recorded(ask, course).run;
        if let Some(Value::String(id)) = run.get_mut("id") {
            id.push_str(": smallest");
        }
        run
    }

    /// The run with a call that was recorded, alone.
    fn of_call(&self, ask: &Ask, made: &Value) -> Value {
        let mut run = self.recorded(ask, Course::of(ask)).run;
        if let Some(run) = run.as_object_mut() {
            run.insert("calls".to_owned(), Value::Array(vec![made.clone()]));
        }
        run
    }
}

fn arguments_of(made: &Value) -> Option<Map<String, Value>> {
    made.get("args")?.as_object().cloned()
}
