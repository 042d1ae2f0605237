//! Makes the calls of invariants, and records a run in normal form for each invariant and each of its tools.

use crate::client::{CallOutcome, ProbeClient};
use crate::corpus::{EarlierCall, KeptInput};
use crate::danger::DangerPolicy;
use crate::listing::ToolListing;
use crate::plan::{CallArguments, InvariantCalls, PlannedCall, SkipKind, SkippedInvariant};
use crate::value::{KnownCalls, MadeCall};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Inputs of a probe beside the rules.
#[derive(Debug)]
pub struct Probe<'a> {
    /// Tools that the server declares.
    pub tools: &'a ToolListing,
    /// Decides which tools are not called.
    pub danger: &'a DangerPolicy,
    /// Seed of all inputs, if it overrides that of the rules.
    pub seed: Option<u64>,
    /// Number of inputs, if it overrides the rules.
    pub cases: Option<u32>,
    /// Saved inputs, which are used before generated ones.
    pub kept: &'a [KeptInput],
    /// True if only saved inputs are used.
    pub replay: bool,
}

/// The recorded run of an invariant.
#[derive(Debug)]
pub struct RecordedProbe {
    /// The run, in normal form.
    pub run: Value,
    /// Number of calls.
    pub calls: usize,
    /// Why calls were not made: their tools may be destructive, or a needed earlier answer is missing.
    pub skipped: Vec<String>,
    /// Why inputs could not be generated.
    pub unasked: Vec<String>,
    /// Tools that the server does not list, although an answer was expected.
    pub unlisted: Vec<String>,
    /// True if the server crashed, hung or violated the protocol.
    pub failed: bool,
    pub(crate) hangs: usize,
    pub(crate) wrong: Option<usize>,
}

type RefusalCheck<'a> = dyn Fn(&str) -> Option<&'static str> + 'a;

#[derive(Default)]
pub(crate) struct ProbeCourse {
    known: KnownCalls,
    calls: Vec<Value>,
    crash: Vec<String>,
    hang: Vec<String>,
    protocol: Vec<String>,
    skipped: Vec<String>,
    unasked: Vec<String>,
    unlisted: Vec<String>,
    wrong: Option<usize>,
}

impl Probe<'_> {
    /// Makes the calls of an invariant and records them. Without a client nothing is called, and the planned calls are recorded.
    #[must_use]
    pub fn run_invariant(&self, ask: &InvariantCalls, mut client: Option<&mut ProbeClient>) -> RecordedProbe {
        let mut course = ProbeCourse::for_invariant(ask);
        for call in &ask.calls {
            if let Some(why) = self.danger.refusal_reason(&call.tool, self.tools.tool_declarations(&call.tool)) {
                course.skipped.push(format!("`{}`: {why}", call.tool));
                break;
            }
            if !self.make_calls(ask, call, &mut course, client.as_deref_mut()) {
                break;
            }
        }
        if let Some(client) = client {
            course.check_after_call(ask, client);
        }
        self.finish_record(ask, course)
    }

    /// Returns the record of an invariant that could not be checked.
    #[must_use]
    pub fn record_skipped(&self, unasked: &SkippedInvariant) -> RecordedProbe {
        let ask = InvariantCalls {
            invariant: unasked.invariant.clone(),
            each: unasked.each.clone(),
            calls: Vec::new(),
            params: Rc::default(),
        };
        let (mut course, why) = (ProbeCourse::default(), vec![unasked.why.clone()]);
        if unasked.gap == SkipKind::Unlisted {
            course.unlisted = why
        } else {
            course.unasked = why
        }
        self.finish_record(&ask, course)
    }

    /// Returns the record of protocol violations during startup.
    #[must_use]
    pub fn record_start(&self, breaches: Vec<String>) -> RecordedProbe {
        let ask = InvariantCalls { invariant: String::new(), each: None, calls: Vec::new(), params: Rc::default() };
        let mut recorded = self.finish_record(&ask, ProbeCourse { protocol: breaches, ..ProbeCourse::default() });
        if let Some(run) = recorded.run.as_object_mut() {
            run.insert("id".to_owned(), json!("how the server begins"));
        }
        recorded
    }

    /// Makes a call with all its inputs. Returns false if the next call cannot be made.
    fn make_calls(
        &self,
        ask: &InvariantCalls,
        call: &PlannedCall,
        course: &mut ProbeCourse,
        mut client: Option<&mut ProbeClient>,
    ) -> bool {
        let inputs = match &call.arguments {
            CallArguments::Written(entries) => {
                let entries =
                    entries.iter().map(|(name, value)| Ok((name.clone(), course.known.evaluate_expr(value)?)));
                match entries.collect::<Result<Map<String, Value>, String>>() {
                    Ok(arguments) => return course.make_call(call, arguments, client),
                    Err(_) if client.is_none() => {
                        course.skipped.push(format!("`{}`: it is given what an earlier call answers", call.tool));
                    }
                    Err(why) => course.skipped.push(format!("`{}`: {why}", call.tool)),
                }
                return false;
            }
            CallArguments::Made(inputs) => inputs,
        };
        let danger = |tool: &str| self.danger.refusal_reason(tool, self.tools.tool_declarations(tool));
        for kept in self.kept.iter().filter(|kept| kept.is_for(ask, &call.tool)) {
            if !course.replay_input(call, kept, &danger, client.as_deref_mut()) {
                return false;
            }
        }
        if self.replay {
            return true;
        }
        for case in 0..self.cases.unwrap_or(inputs.cases) {
            let input = match inputs.case_input(self.seed.unwrap_or(inputs.seed), case) {
                Ok(input) => input,
                Err(diagnostic) => {
                    course.unasked.push(format!("its inputs cannot be made: {}", diagnostic.message));
                    return false;
                }
            };
            if !course.make_call(call, input.arguments, client.as_deref_mut()) {
                return false;
            }
        }
        true
    }

    pub(crate) fn finish_record(&self, ask: &InvariantCalls, course: ProbeCourse) -> RecordedProbe {
        let ProbeCourse { calls, crash, hang, protocol, skipped, unasked, mut unlisted, wrong, .. } = course;
        let failed = !(crash.is_empty() && hang.is_empty() && protocol.is_empty());
        let id = match &ask.each {
            Some(tool) => format!("{}: {tool}", ask.invariant),
            None => ask.invariant.clone(),
        };
        let (count, hangs) = (calls.len(), hang.len());
        unlisted.extend(ask.unlisted_tools(self.tools).map(|tool| self.tools.unlisted_reason(tool)));
        let names: BTreeSet<&str> = ask.calls.iter().map(|call| call.tool.as_str()).collect();
        // Only the called tools, because a server may have thousands, and each run would repeat them.
        let tools: Vec<&Value> = names.into_iter().flat_map(|name| self.tools.tool_declarations(name)).collect();
        let probe = json!({
            "invariant": ask.invariant, "crash": crash, "hang": hang, "protocol": protocol, "skipped": skipped,
            "unasked": unasked, "unlisted": unlisted,
        });
        let run = json!({"id": id, "tools": tools, "calls": calls, "meta": {"probe": probe}});
        RecordedProbe { run, calls: count, skipped, unasked, unlisted, failed, hangs, wrong }
    }
}

impl ProbeCourse {
    pub(crate) fn for_invariant(ask: &InvariantCalls) -> Self {
        let mut course = Self::default();
        course.known.tool.clone_from(&ask.each);
        course.known.params.clone_from(&ask.params);
        course
    }

    /// Makes one call. Returns false if the server has ended.
    pub(crate) fn make_call(
        &mut self,
        call: &PlannedCall,
        arguments: Map<String, Value>,
        client: Option<&mut ProbeClient>,
    ) -> bool {
        let outcome = match client {
            Some(client) => client.call_tool(&call.tool, arguments.clone()),
            None => CallOutcome::default(),
        };
        let at = self.calls.len().saturating_add(1);
        self.note_failure(self.calls.len(), &format!("call {at} of `{}`", call.tool), &outcome);
        let CallOutcome { envelope, failure, .. } = outcome;
        let result = tool_result(&envelope);
        let is_error = envelope.get("isError") == Some(&Value::Bool(true));
        let status = if is_error { "error" } else { "ok" };
        let mut recorded =
            json!({"tool": call.tool, "args": arguments, "result": result, "response": envelope, "status": status});
        if let (Some((class, what)), Some(entries)) = (&failure, recorded.as_object_mut()) {
            entries.insert("error".to_owned(), json!(format!("{class}: {what}")));
        }
        self.calls.push(recorded);
        if let Some(alias) = &call.alias {
            self.known.made.insert(alias.clone(), MadeCall { arguments, result, envelope });
        }
        failure.is_none()
    }

    /// Repeats a call with a saved input. If the failure needed earlier calls, they are made first on a fresh server.
    fn replay_input(
        &mut self,
        call: &PlannedCall,
        kept: &KeptInput,
        danger: &RefusalCheck<'_>,
        mut client: Option<&mut ProbeClient>,
    ) -> bool {
        if let (Some(client), false) = (client.as_deref_mut(), kept.behind.is_empty()) {
            client.stop_server();
        }
        for EarlierCall { tool, arguments } in &kept.behind {
            if let Some(why) = danger(tool) {
                self.skipped.push(format!("`{tool}`: {why}"));
                return false;
            }
            let earlier = PlannedCall { tool: tool.clone(), alias: None, ..call.clone() };
            if !self.make_call(&earlier, arguments.clone(), client.as_deref_mut()) {
                return false;
            }
        }
        self.make_call(call, kept.arguments.clone(), client)
    }

    pub(crate) fn check_after_call(&mut self, ask: &InvariantCalls, client: &mut ProbeClient) {
        let outcome = client.check_after_call();
        let last = ask.calls.get(self.calls.len().min(ask.calls.len()).saturating_sub(1));
        let tool = last.map_or("", |call| &call.tool);
        let count = self.calls.len();
        self.note_failure(count.saturating_sub(1), &format!("behind call {count} of `{tool}`"), &outcome);
    }

    fn note_failure(&mut self, call: usize, place: &str, outcome: &CallOutcome) {
        if outcome.failure.is_some() || !outcome.breaches.is_empty() {
            self.wrong.get_or_insert(call);
        }
        self.protocol.extend(outcome.breaches.iter().map(|what| format!("{place}: {what}")));
        let Some((class, what)) = &outcome.failure else { return };
        let list = match *class {
            "crash" => &mut self.crash,
            "hang" => &mut self.hang,
            _ => &mut self.protocol,
        };
        list.push(format!("{place}: {what}"));
    }
}

/// Returns the result of a tool: its structured content, otherwise its texts, otherwise its content.
fn tool_result(envelope: &Value) -> Value {
    if let Some(value) = envelope.get("structuredContent").filter(|value| !value.is_null()) {
        return value.clone();
    }
    let content = envelope.get("content").cloned().unwrap_or(Value::Null);
    let text = |item: &Value| (item.get("type")? == "text").then(|| item.get("text")?.as_str().map(str::to_owned))?;
    let texts: Option<Vec<String>> = content.as_array().and_then(|items| items.iter().map(text).collect());
    texts.map_or(content, |texts| Value::String(texts.join("\n")))
}
