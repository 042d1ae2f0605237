//! Runs with steps over the small alphabet of the reference generators, and entries and texts to look at.

use crate::generate_expression;
use crate::generate_run;
use crate::searches::WORDS;
use crate::source::Source;
use serde_json::{Map, Value, json};

/// One run in normal form.
pub fn run(source: &mut Source) -> Value {
    let mut run = generate_run::run(source);
    if source.chance(72) {
        calls_alone(source, &mut run);
    }
    if source.chance(55) {
        let entries = generate_expression::run(source);
        for (key, value) in entries.as_object().into_iter().flatten().filter(|(key, _)| *key != "calls") {
            insert_new(&mut run, key, value.clone());
        }
    }
    if source.chance(40) {
        calls(&mut run, &mut |call| word_call(source, call));
        if source.chance(60) {
            let text = words(source);
            match run.get_mut("output").and_then(Value::as_object_mut) {
                Some(output) => drop(output.insert("text".to_owned(), json!(text))),
                None => insert_new(&mut run, "output", source.pick(&[json!({ "text": text }), json!(text)])),
            }
        }
    }
    if source.chance(18) {
        followed_calls(source, &mut run);
    }
    entries(source, &mut run);
    if source.chance(6) {
        withheld(source, &mut run);
    }
    run
}

/// Leaves nothing but calls that were carried out, in a run that is complete.
fn calls_alone(source: &mut Source, run: &mut Value) {
    let Some(object) = run.as_object_mut() else { return };
    let steps = object.remove("steps").or_else(|| object.remove("calls")).unwrap_or_else(|| json!([]));
    let is_call =
        |step: &Value| step.get("tool").is_some() && !["denied", "pending"].map(Value::from).contains(&step["status"]);
    let mut calls: Vec<Value> = steps.as_array().into_iter().flatten().filter(|step| is_call(step)).cloned().collect();
    let timed = source.chance(30);
    for call in calls.iter_mut().filter_map(Value::as_object_mut) {
        call.remove("kind");
        if !timed {
            call.retain(|key, _| !["start", "end", "duration", "turn"].contains(&key.as_str()));
        }
    }
    object.retain(|key, _| key == "inputs");
    object.insert("calls".to_owned(), Value::Array(calls));
}

/// Adds calls of tools from which other steps follow, or of which that may be, among the others.
fn followed_calls(source: &mut Source, run: &mut Value) {
    let Some(calls) = run.get_mut("calls").and_then(Value::as_array_mut) else { return };
    for _ in 0..=source.below(3) {
        let call = source.pick(&[
            json!({ "tool": "read_file", "args": { "path": "src/a.rs" } }),
            json!({ "tool": "read_file", "args": { "id": 1 } }),
            json!({ "tool": "Write", "args": { "file_path": "b.md", "note": "refund" }, "result": "done" }),
            json!({ "tool": "read_many_files", "args": { "paths": ["a", "", "b"] } }),
            json!({ "tool": "run_shell", "args": { "cmd": "ls -l" } }),
            json!({ "tool": "web_fetch", "args": { "url": "https://a.example/" } }),
            json!({ "tool": "Skill", "args": { "skill": "pdf" } }),
            json!({ "tool": "look_at", "args": { "path": "c.md" } }),
        ]);
        let at = source.below(calls.len() + 1);
        calls.insert(at, call);
    }
    if source.chance(8) {
        let key = source.pick(&["reads", "writes", "http"]);
        insert_new(run, key, source.pick(&[json!([]), Value::Null]));
    }
}

fn insert_new(run: &mut Value, key: &str, value: Value) {
    if let Some(run) = run.as_object_mut() {
        run.entry(key).or_insert(value);
    }
}

/// Changes every call of a run.
fn calls(run: &mut Value, change: &mut dyn FnMut(&mut Map<String, Value>)) {
    for list in ["calls", "steps"] {
        let steps = run.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
        steps.filter_map(Value::as_object_mut).filter(|step| step.contains_key("tool")).for_each(&mut *change);
    }
}

/// Some words behind one another.
fn words(source: &mut Source) -> String {
    let all: Vec<&str> = (0..=source.below(3)).map(|_| source.pick(&WORDS)).collect();
    all.join(source.pick(&[" ", "", "\n"]))
}

/// Texts in the arguments and the result of a call; where a call has none, sometimes there are some now.
fn word_call(source: &mut Source, call: &mut Map<String, Value>) {
    if let Some(args) = call.get_mut("args").and_then(Value::as_object_mut)
        && source.chance(40)
    {
        args.insert("note".to_owned(), json!(words(source)));
    }
    if !call.contains_key("result") && !source.chance(50) {
        return;
    }
    let text = words(source);
    let result = match source.below(5) {
        0 => return,
        1 => json!(text),
        2 => json!({ "text": text, "code": source.below(2) }),
        3 => json!({ "rows": [{ "note": text, "n": 1 }, [words(source), null]] }),
        _ => json!([text, 1, true]),
    };
    call.insert("result".to_owned(), result);
}

fn entries(source: &mut Source, run: &mut Value) {
    let entries: [(&str, &[Value]); 8] = [
        ("id", &[json!("run-1"), json!(7)]),
        ("duration", &[json!(50), json!(2500), json!(1000.5)]),
        ("prompt", &[json!("yes"), json!("a refund please")]),
        ("error", &[json!("went wrong"), Value::Null, json!("")]),
        ("cost", &[json!(0.5), json!(2)]),
        ("usage", &[json!({"input_tokens": 2, "output_tokens": 1}), json!({"input_tokens": 3})]),
        ("tools", &[json!(["a", "b"]), json!([])]),
        ("extra", &[json!({"x": 1, "y": [{"z": null}]}), json!("refund")]),
    ];
    for (key, values) in entries {
        if source.chance(14) {
            insert_new(run, key, source.pick(values));
        }
    }
}

/// What no report shows, in the places where a run may hold it.
fn withheld(source: &mut Source, run: &mut Value) {
    let secret = "hunter22Xq9vTz7w";
    let in_json = format!(" {{\"password\": \"{secret}\"}}");
    match source.below(5) {
        0 => insert_new(run, "env", json!({ "TOKEN": secret })),
        1 => insert_new(run, "config", json!({ "password": secret, "retries": 1 })),
        2 => insert_new(run, "trace_note", json!(in_json)),
        3 => calls(run, &mut |call| {
            call.insert("args".to_owned(), json!({ "id": 1, "n": 3, "api_key": secret }));
        }),
        _ => calls(run, &mut |call| {
            call.insert("result".to_owned(), json!({ "text": format!("it is {secret}"), "secret": [secret] }));
        }),
    }
}
