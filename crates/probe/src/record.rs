//! Asking, and what is recorded of it: a run in normal form for each invariant, and for each tool where it is for each.

use crate::client::{Client, Outcome};
use crate::corpus::Kept;
use crate::danger::Danger;
use crate::plan::{Arguments, Ask, Call};
use crate::value::{Known, Made};
use averment_base::diagnostic::Diagnostic;
use serde_json::{Map, Value, json};

/// What is asked with, beside the rules.
#[derive(Debug)]
pub struct Probe<'a> {
    /// What the server declares.
    pub tools: &'a [Value],
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
    /// Why calls were not made.
    pub skipped: Vec<String>,
    /// Whether the server died, hung or broke the protocol.
    pub failed: bool,
    /// How often it hung.
    pub(crate) hangs: usize,
}

/// What comes about while one is asked.
#[derive(Default)]
pub(crate) struct Course {
    known: Known,
    calls: Vec<Value>,
    crash: Vec<String>,
    hang: Vec<String>,
    protocol: Vec<String>,
    skipped: Vec<String>,
}

impl Probe<'_> {
    /// Asks, and records. Without a client nothing is called: what is recorded then are the calls that would be made.
    ///
    /// # Errors
    /// Inputs that cannot be made.
    pub fn ask(&self, ask: &Ask, mut client: Option<&mut Client>) -> Result<Recorded, Box<Diagnostic>> {
        let mut course = Course::of(ask);
        for call in &ask.calls {
            let declared = self.tools.iter().find(|tool| tool.get("name").and_then(Value::as_str) == Some(&call.tool));
            if let Some(why) = self.danger.of(&call.tool, declared) {
                course.skipped.push(format!("`{}`: {why}", call.tool));
                break;
            }
            if !self.call((ask, call), &mut course, client.as_deref_mut())? {
                break;
            }
        }
        Ok(self.recorded(ask, course))
    }

    /// Makes a call with all its inputs; whether the next can be made.
    fn call(
        &self,
        (ask, call): (&Ask, &Call),
        course: &mut Course,
        mut client: Option<&mut Client>,
    ) -> Result<bool, Box<Diagnostic>> {
        let inputs = match &call.arguments {
            Arguments::Written(entries) => {
                let entries = entries.iter().map(|(name, value)| Ok((name.clone(), course.known.value(value)?)));
                match entries.collect::<Result<Map<String, Value>, String>>() {
                    Ok(arguments) => return Ok(course.make(call, arguments, client)),
                    Err(_) if client.is_none() => {
                        course.skipped.push(format!("`{}`: it is given what an earlier call answers", call.tool));
                    }
                    Err(why) => course.skipped.push(format!("`{}`: {why}", call.tool)),
                }
                return Ok(false);
            }
            Arguments::Made(inputs) => inputs,
        };
        for kept in self.kept.iter().filter(|kept| kept.is_of(ask, &call.tool)) {
            if !course.make(call, kept.arguments.clone(), client.as_deref_mut()) {
                return Ok(false);
            }
        }
        if self.replay {
            return Ok(true);
        }
        for case in 0..self.cases.unwrap_or(inputs.cases) {
            let input = inputs.case(self.seed.unwrap_or(inputs.seed), case)?;
            if !course.make(call, input.arguments, client.as_deref_mut()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(crate) fn recorded(&self, ask: &Ask, course: Course) -> Recorded {
        let Course { calls, crash, hang, protocol, skipped, .. } = course;
        let failed = !(crash.is_empty() && hang.is_empty() && protocol.is_empty());
        let id = match &ask.each {
            Some(tool) => format!("{}: {tool}", ask.invariant),
            None => ask.invariant.clone(),
        };
        let (count, hangs) = (calls.len(), hang.len());
        let probe = json!({
            "invariant": ask.invariant, "crash": crash, "hang": hang, "protocol": protocol, "skipped": skipped,
        });
        let run = json!({"id": id, "tools": self.tools, "calls": calls, "meta": {"probe": probe}});
        Recorded { run, calls: count, skipped, failed, hangs }
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
        let Outcome { envelope, failure, breaches } = outcome;
        let at = self.calls.len().saturating_add(1);
        self.protocol.extend(breaches.iter().map(|what| format!("call {at} of `{}`: {what}", call.tool)));
        let result = result(&envelope);
        let is_error = envelope.get("isError") == Some(&Value::Bool(true));
        let status = if is_error { "error" } else { "ok" };
        let mut recorded =
            json!({"tool": call.tool, "args": arguments, "result": result, "response": envelope, "status": status});
        if let Some((class, what)) = &failure {
            let said = format!("call {at} of `{}`: {what}", call.tool);
            let list = match *class {
                "crash" => &mut self.crash,
                "hang" => &mut self.hang,
                _ => &mut self.protocol,
            };
            list.push(said);
            if let Some(entries) = recorded.as_object_mut() {
                entries.insert("error".to_owned(), json!(format!("{class}: {what}")));
            }
        }
        self.calls.push(recorded);
        if let Some(alias) = &call.alias {
            self.known.made.insert(alias.clone(), Made { arguments, result, envelope });
        }
        failure.is_none()
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
