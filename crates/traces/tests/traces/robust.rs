//! Whatever a file holds: no panic, and what is read hangs together.

use averment_base::limits::Limits;
use averment_base::value::{Node, Value};
use averment_runs::run::{Run, StepKind};
use averment_runs::timeline::render_timeline;
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use proptest::prelude::*;
use serde_json::Value as Json;
use std::io::Cursor;

/// A run of each format.
const SAMPLES: [&str; 6] = [
    r#"{"id": "a", "prompt": "p", "calls": [{"tool": "a", "args": {"x": 1}, "start": 1, "end": 5, "turn": 1, "status": "ok"},
        {"tool": "b", "error": "e", "start": "2025-01-01T00:00:00Z", "duration": 2, "turn": 1}],
        "messages": [{"role": "user", "text": "t", "turn": 1}], "commands": [{"command": "sudo rm -rf x", "exit_code": 1}], "reads": ["r"],
        "http": [{"url": "u", "status": 200}], "spans": [{"name": "s", "status": {"code": 2}, "attributes": {}}],
        "usage": {"input_tokens": 1, "output_tokens": 2}, "cost": 1, "complete": true}"#,
    r#"{"steps": [{"kind": "call", "tool": "a"}, {"kind": "message", "role": "user", "text": "x"}, {"kind": "skill", "name": "k"}, "call"],
        "calls": [{"tool": "a"}, {"tool": "b"}]}"#,
    r#"{"messages": [{"role": "user", "content": [{"type": "text", "text": "go"}]}, {"role": "assistant", "tool_calls":
        [{"id": "x", "function": {"name": "f", "arguments": "{\"a\": [1, \"\\u00e9\"]}"}}]}, {"role": "tool", "tool_call_id": "x", "content": "r"}], "tools": []}"#,
    r#"[{"type": "user", "uuid": "u", "timestamp": "2025-01-01T00:00:00Z", "message": {"role": "user", "content": "x"}},
        {"type": "assistant", "sessionId": "s", "agentId": "a", "message": {"id": "m", "role": "assistant", "usage": {"output_tokens": 1}, "content":
        [{"type": "thinking", "thinking": "t"}, {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "ls"}}]}},
        {"type": "user", "uuid": "u", "toolUseResult": {"code": 1}, "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "is_error": true, "content": "Exit code 1"}]}}]"#,
    r#"[{"request": {"messages": [{"role": "user", "content": "x"}]}, "response": {"choices": [{"message": {"role": "assistant", "content": "y"}}], "usage": {"prompt_tokens": 1}}}]"#,
    r#"{"input": "i", "tool_calls": [{"name": "a", "args": "{}", "duration_s": 1.5, "start_ms": 3}], "usage": {"cost_usd": 0.1}, "duration_ms": 5}"#,
];

/// Values that do not belong where they are put.
fn strange() -> impl Strategy<Value = Json> {
    prop_oneof![
        Just(Json::Null),
        Just(Json::from(-1)),
        Just(Json::from(1e300)),
        Just(Json::from(u64::MAX)),
        Just(Json::from("")),
        Just(Json::from("2025-01-01T00:00:00Z")),
        Just(Json::from("call")),
        Just(Json::from("denied")),
        Just(Json::from("{\"a\": ")),
        Just(Json::from("bash -c \"$(cat <<EOF\n")),
        Just(serde_json::json!([])),
        Just(serde_json::json!({})),
        Just(serde_json::json!([null, 1, "x", {"kind": "read"}])),
        Just(serde_json::json!(true)),
    ]
}

/// Replaces, removes or doubles the value at a place that `path` picks.
fn damage(value: &mut Json, path: &[prop::sample::Index], new: &Json, how: u8) {
    let Some((index, rest)) = path.split_first() else {
        *value = new.clone();
        return;
    };
    match value {
        Json::Array(items) if !items.is_empty() => {
            let at = index.index(items.len());
            match (rest.is_empty(), how) {
                (true, 1) => drop(items.remove(at)),
                (true, 2) => items.push(items[at].clone()),
                _ => damage(&mut items[at], rest, new, how),
            }
        }
        Json::Object(map) if !map.is_empty() => {
            let key = map.keys().nth(index.index(map.len())).unwrap().clone();
            match (rest.is_empty(), how) {
                (true, 1) => drop(map.remove(&key)),
                _ => damage(map.get_mut(&key).unwrap(), rest, new, how),
            }
        }
        other => *other = new.clone(),
    }
}

/// Reads all runs of some bytes and checks each.
fn read(bytes: Vec<u8>) -> usize {
    let limits = Limits { run_bytes: 1 << 20, ..Limits::default() };
    let mut found = 0;
    for raw in TraceRuns::new("t", Cursor::new(bytes), &limits).flatten() {
        let arena = Bump::new();
        if let Ok(run) = parse_run(&raw, &arena, &limits) {
            found += 1;
            hangs_together(&run);
            assert!(!render_timeline(&run, 60, averment_builtins::detect::redacted_start).is_empty());
        }
    }
    found
}

fn hangs_together(run: &Run<'_>) {
    let mut counts = [0; StepKind::ALL.len()];
    let mut executed = 0;
    for step in run.steps {
        assert!(run.records_kind(step.kind));
        assert_eq!(step.index, counts[step.kind as usize]);
        assert_eq!(step.call_position, executed);
        counts[step.kind as usize] += 1;
        executed += u32::from(step.kind == StepKind::Call && step.status.is_executed());
        let Value::Object(object) = step.node.value else { panic!("a step is an object") };
        let text = |key: &str| match object.get(key).map(|node| node.value) {
            Some(Value::Text(text)) => text.as_str(),
            _ => "",
        };
        assert_eq!(text("kind"), step.kind.as_str());
        places(run, step.node);
    }
    for kind in StepKind::ALL {
        let listed = match run.root_value(kind.list_key()).value {
            Value::List(items) => Some(items.len()),
            _ => None,
        };
        assert_eq!(listed, run.records_kind(kind).then_some(counts[kind as usize] as usize));
    }
}

/// Every place is a range of the run's text, on the borders of characters.
fn places(run: &Run<'_>, node: Node<'_>) {
    if let Some(range) = node.origin.byte_range() {
        assert!(run.text.get(range).is_some());
    }
    match node.value {
        Value::List(items) => items.iter().for_each(|item| places(run, *item)),
        Value::Object(object) => object.entries().iter().for_each(|entry| places(run, entry.node)),
        _ => {}
    }
}

#[test]
fn every_sample_is_a_run() {
    let found: Vec<_> = SAMPLES.iter().map(|sample| read(sample.as_bytes().to_vec())).collect();
    assert_eq!(found, [1, 1, 1, 1, 1, 1]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn runs_with_strange_values_are_read_or_refused(
        sample in prop::sample::select(SAMPLES.to_vec()),
        damages in prop::collection::vec((prop::collection::vec(any::<prop::sample::Index>(), 1..6), strange(), 0_u8..3), 1..4),
        lines in any::<bool>(),
    ) {
        let mut value: Json = serde_json::from_str(sample).unwrap();
        for (path, new, how) in &damages {
            damage(&mut value, path, new, *how);
        }
        let text = match (&value, lines) {
            (Json::Array(items), true) => items.iter().map(|item| format!("{item}\n")).collect(),
            _ => value.to_string(),
        };
        read(text.into_bytes());
    }

    #[test]
    fn files_with_strange_bytes_are_read_or_refused(
        sample in prop::sample::select(SAMPLES.to_vec()),
        repeated in 1_usize..3,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_usize..3), 0..4),
    ) {
        let mut bytes = format!("{}\n", sample.replace('\n', " ")).repeat(repeated).into_bytes();
        for (index, new, cut) in edits {
            let at = index.index(bytes.len());
            let end = (at + cut).min(bytes.len());
            bytes.splice(at..end, [new]);
        }
        read(bytes);
    }
}

/// Runs of many small steps, by what stands before, for each, between and behind them.
const MANY: [(&str, &str, &str); 12] = [
    (r#"{"calls":["#, r#"{"tool":"a"}"#, "]}"),
    (r#"{"calls":["#, r#"{"tool":"a","args":{},"result":1,"start":1,"end":2}"#, "]}"),
    (r#"{"commands":["#, r#""a""#, "]}"),
    (r#"{"commands":["#, r#""a;b&&c|d -x --y=z > f""#, "]}"),
    (r#"{"reads":["#, r#""a""#, "]}"),
    (r#"{"writes":["#, r#""a/../b""#, "]}"),
    (r#"{"skills":["#, r#""a""#, "]}"),
    (r#"{"http":["#, r#"{"url":"u"}"#, "]}"),
    (r#"{"messages":["#, r#"{"role":"user","text":""}"#, "]}"),
    (r#"{"spans":["#, r#"{"name":"s"}"#, "]}"),
    (r#"{"steps":["#, r#"{"kind":"call","tool":"a"}"#, "]}"),
    (
        r#"{"messages":["#,
        r#"{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"f","arguments":"{}"}}]}"#,
        r#"],"tools":[]}"#,
    ),
];

/// A run of `count` such steps under a limit: the bytes that it takes, or why it is refused.
fn memory_of(many: (&str, &str, &str), count: usize, limits: &Limits) -> Result<usize, String> {
    let (before, each, behind) = many;
    let text = format!("{before}{}{behind}", vec![each; count].join(","));
    let raw = averment_traces::RawRun::new(text, averment_runs::run::RunSource::default());
    let arena = Bump::new();
    let run = parse_run(&raw, &arena, limits).map_err(|error| error.message)?;
    assert!(run.steps.len() >= count);
    Ok(arena.allocated_bytes() - arena.chunk_capacity())
}

#[test]
fn what_steps_become_stays_within_the_memory_of_a_run() {
    let limits = Limits { run_memory: 4 << 20, run_bytes: 1 << 20, ..Limits::default() };
    for many in MANY {
        let (mut read, mut refused) = (false, false);
        for count in [100, 1_000, 2_000, 4_000, 10_000] {
            match memory_of(many, count, &limits) {
                Ok(bytes) => {
                    assert!(!refused && bytes <= limits.run_memory, "{count} of {}: {bytes} bytes", many.1);
                    read = true;
                }
                Err(message) => {
                    let known = message.contains("MiB of memory");
                    assert!(known, "{count} of {}: {message}", many.1);
                    refused = true;
                }
            }
        }
        assert!(read && refused, "{}", many.1);
    }
}

#[test]
fn arguments_that_memory_is_lacking_for_are_no_text() {
    let args = format!(r#"{{\"a\":[{}]}}"#, vec!["1"; 50_000].join(","));
    let call = format!(r#"{{"id":"c","type":"function","function":{{"name":"f","arguments":"{args}"}}}}"#);
    let text = format!(r#"[{{"role":"user","content":"x"}},{{"role":"assistant","tool_calls":[{call}]}}]"#);
    let raw = averment_traces::RawRun::new(text, averment_runs::run::RunSource::default());
    let (mut read, mut refused) = (0, 0);
    for steps in 4..64 {
        let (arena, limits) = (Bump::new(), Limits { run_memory: steps << 18, ..Limits::default() });
        match parse_run(&raw, &arena, &limits) {
            Ok(run) => {
                read += 1;
                assert!(run.warnings.is_empty(), "{steps}: {:?}", run.warnings);
            }
            Err(error) => {
                refused += 1;
                assert!(error.message.contains("memory"), "{}", error.message);
            }
        }
    }
    assert!(read > 0 && refused > 0, "{read} {refused}");
}

#[test]
fn a_step_of_a_bare_name_is_not_large() {
    let bytes = memory_of(MANY[0], 2_000, &Limits::default()).unwrap();
    assert!(bytes / 2_000 < 1_200, "{} bytes a step", bytes / 2_000);
}
