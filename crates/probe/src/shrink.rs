//! Where an input was found with which an invariant fails: the smallest one with which it still does.

use crate::client::Client;
use crate::corpus::Earlier;
use crate::plan::{Arguments, Ask, Call};
use crate::record::{Course, Probe, Recorded};
use averment_testing::inputs::Inputs;
use serde_json::{Map, Value};

/// Calls that are made to find a smaller input.
const CALLS: usize = 200;
/// The same where each of them ends the server.
const ENDS: usize = 20;

/// What the rules on the server find.
const OF_SERVER: [&str; 3] = ["crash", "hang", "protocol"];

/// Says which assertions of the rules fail in a run: their ids.
pub type Fails<'a> = dyn Fn(&Value) -> Vec<String> + 'a;

/// What was found with an input.
#[derive(Debug)]
pub struct Smallest {
    /// The tool that it is given to.
    pub tool: String,
    /// The input.
    pub arguments: Map<String, Value>,
    /// Whether it does of a server that begins anew.
    pub alone: bool,
    /// The calls in front of it, where it does not.
    pub behind: Vec<Earlier>,
    /// The ids of assertions that fail with it.
    pub found: Vec<String>,
    /// The run of the call with it, where another one was recorded before.
    pub run: Option<Value>,
    /// How many calls were made to find it.
    pub calls: usize,
}

impl Probe<'_> {
    /// Finds the first input of an ask with which something fails, and with `shrink` the smallest that was met with which the same still does.
    /// What is found has to be found of a server that begins anew; where it is not, the inputs of all calls up to it are what is found.
    /// Only what is asked with one call by itself is looked at.
    pub fn smallest(
        &self,
        ask: &Ask,
        recorded: &Recorded,
        fails: &Fails<'_>,
        client: &mut Client,
        shrink: bool,
    ) -> Option<Smallest> {
        let [call] = ask.calls.as_slice() else { return None };
        let (at, arguments, found) = self.first(ask, recorded, fails)?;
        let made = recorded.run.get("calls").and_then(Value::as_array).map_or(0, Vec::len);
        let behind = client.made_before(made.saturating_sub(at));
        let mut trying = Trying { probe: self, of: (ask, call), client, fails, calls: 0 };
        let tool = call.tool.clone();
        let Some((_, found)) = trying.fails_alone(&arguments, &found) else {
            return Some(Smallest { tool, arguments, alone: false, behind, found, run: None, calls: trying.calls });
        };
        let mut smallest = Smallest { tool, arguments, alone: true, behind: Vec::new(), found, run: None, calls: 0 };
        if let (Arguments::Made(inputs), true) = (&call.arguments, shrink && recorded.hangs == 0) {
            trying.shrink(&mut smallest, inputs, recorded.failed);
        }
        smallest.calls = trying.calls;
        Some(smallest)
    }

    /// The first call of an ask with which something fails: which one it is, its input, and what fails.
    fn first(
        &self,
        ask: &Ask,
        recorded: &Recorded,
        fails: &Fails<'_>,
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

    /// The run with a call that was recorded, alone.
    fn of_call(&self, ask: &Ask, made: &Value) -> Value {
        let mut run = self.recorded(ask, Course::of(ask)).run;
        if let Some(run) = run.as_object_mut() {
            run.insert("calls".to_owned(), Value::Array(vec![made.clone()]));
        }
        run
    }
}

/// Calls that are made to find out with what something fails.
struct Trying<'a, 'b> {
    probe: &'a Probe<'b>,
    of: (&'a Ask, &'a Call),
    client: &'a mut Client,
    fails: &'a Fails<'a>,
    calls: usize,
}

impl Trying<'_, '_> {
    /// Finds the smallest input with which still fails what does; where the server ends with each, all of them are given to one that begins anew.
    fn shrink(&mut self, smallest: &mut Smallest, inputs: &Inputs, ends: bool) {
        let most = self.calls.saturating_add(if ends { ENDS } else { CALLS });
        let (first, found) = (smallest.arguments.clone(), smallest.found.clone());
        'smaller: loop {
            for candidate in inputs.smaller(&smallest.arguments) {
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

    /// The run of a call of a server that begins anew, and what fails in it, where something of this does.
    fn fails_alone(&mut self, arguments: &Map<String, Value>, found: &[String]) -> Option<(Value, Vec<String>)> {
        self.client.stop();
        self.fails_with(arguments, found)
    }

    /// The same of the server as it is.
    fn fails_with(&mut self, arguments: &Map<String, Value>, found: &[String]) -> Option<(Value, Vec<String>)> {
        let (ask, call) = self.of;
        self.calls = self.calls.saturating_add(1);
        let mut course = Course::of(ask);
        if course.make(call, arguments.clone(), Some(&mut *self.client)) {
            course.settle(ask, self.client);
        }
        let mut run = self.probe.recorded(ask, course).run;
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
