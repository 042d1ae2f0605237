//! The same run in the forms that the program reads.

use crate::conversation;
use crate::source::Source;
use crate::spans;
use crate::write;
use serde_json::{Map, Value, json};

/// How a run is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// The normal form, plainly.
    Normal,
    /// The normal form with another order of keys, space, escapes and keys that nobody knows.
    Varied,
    /// A list of calls under names of somebody's own.
    Generic,
    /// Messages in OpenAI's form.
    Chat,
    /// Messages with Anthropic's blocks.
    Blocks,
    /// A trajectory of tau-bench.
    TauBench,
    /// A session of Claude Code: an event a line.
    Session,
    /// Spans in a container of OTLP, in a file of their own: on lines they would be parts of one trace.
    Spans,
}

/// A run as it stands in a file.
#[derive(Debug, Clone)]
pub struct Written {
    pub form: Form,
    /// The text of the run on one line, or the lines of a session.
    pub text: String,
    /// The same in the normal form, plainly.
    pub normal: String,
}

impl Written {
    /// Whether it stands on one line.
    pub fn is_line(&self) -> bool {
        !matches!(self.form, Form::Session | Form::Spans)
    }
}

/// A run in one of the forms.
pub fn written(source: &mut Source, run: &Value) -> Written {
    use Form as F;
    let forms = [F::Normal, F::Varied, F::Generic, F::Chat, F::Blocks, F::TauBench, F::Session, F::Spans];
    let form = forms[source.weighted(&[32, 24, 16, 8, 8, 3, 5, 4])];
    // Keys of somebody's own are values of the run as all others: rules search in them, too.
    let extended = (form == Form::Varied).then(|| with_unknown_keys(source, run.clone()));
    let run = extended.as_ref().unwrap_or(run);
    let text = match form {
        Form::Normal => run.to_string(),
        Form::Varied => write::line(source, run),
        Form::Generic => styled(source, run, generic),
        Form::Chat => styled(source, run, conversation::chat),
        Form::Blocks => styled(source, run, conversation::blocks),
        Form::TauBench => styled(source, run, conversation::tau_bench),
        Form::Spans => styled(source, run, spans::trace) + "\n",
        Form::Session => {
            let events = conversation::session(source, run);
            let lines: Vec<String> = events.iter().map(|event| write::line(source, event)).collect();
            lines.join("\n") + "\n"
        }
    };
    Written { form, text, normal: run.to_string() }
}

fn styled(source: &mut Source, run: &Value, form: fn(&mut Source, &Value) -> Value) -> String {
    let value = form(source, run);
    write::line(source, &value)
}

/// Keys that mean nothing to anybody, in the run and in its steps.
fn with_unknown_keys(source: &mut Source, mut run: Value) -> Value {
    let unknown = [("x-trace", json!("00-af")), ("labels", json!({"a": [1, {"b": "refund"}]})), ("zz", Value::Null)];
    let Some(object) = run.as_object_mut() else { return run };
    // Beside what other formats have, too, such as an answer alone, they would tell another format.
    let has_steps = |key: &str| object.get(key).and_then(Value::as_array).is_some_and(|steps| !steps.is_empty());
    let is_told = object.contains_key("calls") || has_steps("steps");
    for (key, value) in &unknown {
        if source.chance(25) && is_told {
            object.insert((*key).to_owned(), value.clone());
        }
    }
    for step in object.values_mut().filter_map(Value::as_array_mut).flatten().filter_map(Value::as_object_mut) {
        if source.chance(15) {
            let (key, value) = source.pick(&unknown);
            step.insert(key.to_owned(), value);
        }
    }
    run
}

/// Calls under names that people choose.
fn generic(source: &mut Source, run: &Value) -> Value {
    let calls: Vec<Value> =
        steps(run).filter(|step| step.contains_key("tool")).map(|step| generic_call(source, step)).collect();
    let mut out = Map::new();
    out.insert(
        source.pick(&["tool_calls", "toolCalls", "tool_invocations", "function_calls"]).to_owned(),
        Value::Array(calls),
    );
    let renamed: [(&str, &[&str]); 4] = [
        ("output", &["output", "final_output", "answer"]),
        ("inputs", &["inputs", "input"]),
        ("duration", &["duration_ms", "duration"]),
        ("id", &["id", "run_id"]),
    ];
    for (key, value) in run.as_object().into_iter().flatten() {
        let names = renamed.iter().find(|(from, _)| from == key).map(|(_, names)| *names);
        match (key.as_str(), names) {
            ("calls" | "steps" | "complete", _) => {}
            (_, Some(names)) => drop(out.insert(source.pick(names).to_owned(), value.clone())),
            (key, None) => drop(out.insert(key.to_owned(), value.clone())),
        }
    }
    Value::Object(out)
}

fn generic_call(source: &mut Source, step: &Map<String, Value>) -> Value {
    let mut call = Map::new();
    for (key, value) in step {
        let (key, value) = match key.as_str() {
            "tool" => (source.pick(&["name", "tool", "tool_name"]), value.clone()),
            "args" if source.chance(20) => ("arguments", json!(value.to_string())),
            "args" => (source.pick(&["args", "arguments", "input", "parameters"]), value.clone()),
            "result" => (source.pick(&["result", "output", "response"]), value.clone()),
            "start" => (source.pick(&["start_ms", "start"]), value.clone()),
            "duration" => (source.pick(&["duration_ms", "duration"]), value.clone()),
            "kind" => continue,
            other => (other, value.clone()),
        };
        call.insert(key.to_owned(), value);
    }
    if !step.contains_key("error") && source.chance(20) {
        call.insert("error".to_owned(), Value::Null);
    }
    Value::Object(call)
}

/// The calls and messages of a run: in the order of `steps`, else messages around the calls.
pub fn steps(run: &Value) -> impl Iterator<Item = &Map<String, Value>> {
    let list = |key: &str| run.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let (first, rest) = list("messages").split_at(list("messages").len().min(1));
    let all = [list("steps"), first, list("calls"), rest];
    let is_shown = |step: &&Map<String, Value>| step.contains_key("tool") || step.contains_key("role");
    all.into_iter().flatten().filter_map(Value::as_object).filter(is_shown)
}
