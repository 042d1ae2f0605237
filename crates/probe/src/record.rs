//! Asking, and what is recorded of it: a run in normal form for each invariant, and for each tool where it is for each.

use crate::client::{Client, Outcome};
use crate::corpus::{Earlier, Kept};
use crate::danger::Danger;
use crate::listing::Listing;
use crate::plan::{Arguments, Ask, Call, Gap, Unasked};
use crate::value::{Known, Made};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// What is asked with, beside the rules.
#[derive(Debug)]
pub struct Probe<'a> {
    /// What the server declares.
    pub tools: &'a Listing,
    /// Which tools are not called.
    pub danger: &'a Danger,
    /// The seed of all inputs, where it is not that of the rules.
    pub seed: Option<u64>,
    /// How many inputs of each, where it is not as the rules say.
    pub cases: Option<u32>,
    /// Inputs that are asked before those that are made.
    pub kept: &'a [Kept],
    /// Whether no others are asked.
    pub replay: bool,
}

/// What was recorded of one ask.
#[derive(Debug)]
pub struct Recorded {
    /// The run, in normal form.
    pub run: Value,
    /// How many calls were made.
    pub calls: usize,
    /// Why calls were not made: of tools that may destroy something, or for want of what earlier ones answer.
    pub skipped: Vec<String>,
    /// Why inputs could not be made.
    pub unasked: Vec<String>,
    /// Which tools the server does not list, where an answer was to be expected.
    pub unlisted: Vec<String>,
    /// Whether the server died, hung or broke the protocol.
    pub failed: bool,
    /// How often it hung.
    pub(crate) hangs: usize,
    /// The first call that the server did something wrong with or behind.
    pub(crate) wrong: Option<usize>,
}

/// Says why a tool is not called.
type Said<'a> = dyn Fn(&str) -> Option<&'static str> + 'a;

/// What comes about while one is asked.
#[derive(Default)]
pub(crate) struct Course {
    known: Known,
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
    /// Asks, and records. Without a client nothing is called: what is recorded then are the calls that would be made.
    #[must_use]
    pub fn ask(&self, ask: &Ask, mut client: Option<&mut Client>) -> Recorded {
        let mut course = Course::of(ask);
        for call in &ask.calls {
            if let Some(why) = self.danger.of(&call.tool, self.tools.declared(&call.tool)) {
                course.skipped.push(format!("`{}`: {why}", call.tool));
                break;
            }
            if !self.call(ask, call, &mut course, client.as_deref_mut()) {
                break;
            }
        }
        if let Some(client) = client {
            course.settle(ask, client);
        }
        self.recorded(ask, course)
    }

    /// What is recorded of an invariant that nothing was asked of.
    #[must_use]
    pub fn unasked(&self, unasked: &Unasked) -> Recorded {
        let ask = Ask { invariant: unasked.invariant.clone(), each: unasked.each.clone(), calls: Vec::new() };
        let (mut course, why) = (Course::default(), vec![unasked.why.clone()]);
        if unasked.gap == Gap::Unlisted {
            course.unlisted = why
        } else {
            course.unasked = why
        }
        self.recorded(&ask, course)
    }

    /// What is recorded of how the server began: what the protocol forbids of that.
    #[must_use]
    pub fn began(&self, breaches: Vec<String>) -> Recorded {
        let ask = Ask { invariant: String::new(), each: None, calls: Vec::new() };
        let mut recorded = self.recorded(&ask, Course { protocol: breaches, ..Course::default() });
        if let Some(run) = recorded.run.as_object_mut() {
            run.insert("id".to_owned(), json!("how the server begins"));
        }
        recorded
    }

    /// Makes a call with all its inputs; whether the next can be made.
    fn call(&self, ask: &Ask, call: &Call, course: &mut Course, mut client: Option<&mut Client>) -> bool {
        let inputs = match &call.arguments {
            Arguments::Written(entries) => {
                let entries = entries.iter().map(|(name, value)| Ok((name.clone(), course.known.value(value)?)));
                match entries.collect::<Result<Map<String, Value>, String>>() {
                    Ok(arguments) => return course.make(call, arguments, client),
                    Err(_) if client.is_none() => {
                        course.skipped.push(format!("`{}`: it is given what an earlier call answers", call.tool));
                    }
                    Err(why) => course.skipped.push(format!("`{}`: {why}", call.tool)),
                }
                return false;
            }
            Arguments::Made(inputs) => inputs,
        };
        let danger = |tool: &str| self.danger.of(tool, self.tools.declared(tool));
        for kept in self.kept.iter().filter(|kept| kept.is_of(ask, &call.tool)) {
            if !course.make_again(call, kept, &danger, client.as_deref_mut()) {
                return false;
            }
        }
        if self.replay {
            return true;
        }
        for case in 0..self.cases.unwrap_or(inputs.cases) {
            let input = match inputs.case(self.seed.unwrap_or(inputs.seed), case) {
                Ok(input) => input,
                Err(diagnostic) => {
                    course.unasked.push(format!("its inputs cannot be made: {}", diagnostic.message));
                    return false;
                }
            };
            if !course.make(call, input.arguments, client.as_deref_mut()) {
                return false;
            }
        }
        true
    }

    pub(crate) fn recorded(&self, ask: &Ask, course: Course) -> Recorded {
        let Course { calls, crash, hang, protocol, skipped, unasked, mut unlisted, wrong, .. } = course;
        let failed = !(crash.is_empty() && hang.is_empty() && protocol.is_empty());
        let id = match &ask.each {
            Some(tool) => format!("{}: {tool}", ask.invariant),
            None => ask.invariant.clone(),
        };
        let (count, hangs) = (calls.len(), hang.len());
        unlisted.extend(ask.unlisted(self.tools).map(|tool| self.tools.unlisted(tool)));
        let names: BTreeSet<&str> = ask.calls.iter().map(|call| call.tool.as_str()).collect();
        // Those that it calls: of thousands the others would be repeated in each run.
        let tools: Vec<&Value> = names.into_iter().flat_map(|name| self.tools.declared(name)).collect();
        let probe = json!({
            "invariant": ask.invariant, "crash": crash, "hang": hang, "protocol": protocol, "skipped": skipped,
            "unasked": unasked, "unlisted": unlisted,
        });
        let run = json!({"id": id, "tools": tools, "calls": calls, "meta": {"probe": probe}});
        Recorded { run, calls: count, skipped, unasked, unlisted, failed, hangs, wrong }
    }
}

impl Course {
    /// The beginning of one.
    pub(crate) fn of(ask: &Ask) -> Self {
        let mut course = Self::default();
        course.known.tool.clone_from(&ask.each);
        course
    }

    /// Makes one call; whether the server lives on.
    pub(crate) fn make(&mut self, call: &Call, arguments: Map<String, Value>, client: Option<&mut Client>) -> bool {
        let outcome = match client {
            Some(client) => client.call(&call.tool, arguments.clone()),
            None => Outcome::default(),
        };
        let at = self.calls.len().saturating_add(1);
        self.note(self.calls.len(), &format!("call {at} of `{}`", call.tool), &outcome);
        let Outcome { envelope, failure, .. } = outcome;
        let result = result(&envelope);
        let is_error = envelope.get("isError") == Some(&Value::Bool(true));
        let status = if is_error { "error" } else { "ok" };
        let mut recorded =
            json!({"tool": call.tool, "args": arguments, "result": result, "response": envelope, "status": status});
        if let (Some((class, what)), Some(entries)) = (&failure, recorded.as_object_mut()) {
            entries.insert("error".to_owned(), json!(format!("{class}: {what}")));
        }
        self.calls.push(recorded);
        if let Some(alias) = &call.alias {
            self.known.made.insert(alias.clone(), Made { arguments, result, envelope });
        }
        failure.is_none()
    }

    /// Makes a call with an input that was kept: where other calls led to what was found, behind those, of a server that begins anew.
    fn make_again(&mut self, call: &Call, kept: &Kept, danger: &Said<'_>, mut client: Option<&mut Client>) -> bool {
        if let (Some(client), false) = (client.as_deref_mut(), kept.behind.is_empty()) {
            client.stop();
        }
        for Earlier { tool, arguments } in &kept.behind {
            if let Some(why) = danger(tool) {
                self.skipped.push(format!("`{tool}`: {why}"));
                return false;
            }
            let earlier = Call { tool: tool.clone(), alias: None, ..call.clone() };
            if !self.make(&earlier, arguments.clone(), client.as_deref_mut()) {
                return false;
            }
        }
        self.make(call, kept.arguments.clone(), client)
    }

    /// Notes what a server does behind the last answer.
    pub(crate) fn settle(&mut self, ask: &Ask, client: &mut Client) {
        let outcome = client.settle();
        let last = ask.calls.get(self.calls.len().min(ask.calls.len()).saturating_sub(1));
        let tool = last.map_or("", |call| &call.tool);
        let count = self.calls.len();
        self.note(count.saturating_sub(1), &format!("behind call {count} of `{tool}`"), &outcome);
    }

    /// Notes what a server did wrong with a call, and where.
    fn note(&mut self, call: usize, place: &str, outcome: &Outcome) {
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

/// What a tool gave back: its value, else its texts, else whatever its content is.
fn result(envelope: &Value) -> Value {
    if let Some(value) = envelope.get("structuredContent").filter(|value| !value.is_null()) {
        return value.clone();
    }
    let content = envelope.get("content").cloned().unwrap_or(Value::Null);
    let text = |item: &Value| (item.get("type")? == "text").then(|| item.get("text")?.as_str().map(str::to_owned))?;
    let texts: Option<Vec<String>> = content.as_array().and_then(|items| items.iter().map(text).collect());
    texts.map_or(content, |texts| Value::String(texts.join("\n")))
}
