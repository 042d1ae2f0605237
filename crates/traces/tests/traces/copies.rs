//! Records of a session that stand in its file twice, as they do where it was resumed or forked, and those that only look so.

use averment_base::limits::Limits;
use averment_base::value::json::to_json;
use averment_runs::run::StepKind;
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use serde_json::{Value, json};
use std::io::Cursor;

/// The steps of a session in words, its output, and how many warnings there are.
fn told(lines: &[Value]) -> (Vec<String>, String, usize) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let (limits, arena) = (Limits::default(), Bump::new());
    let raw = TraceRuns::new("s.jsonl", Cursor::new(text.into_bytes()), &limits).next().unwrap().unwrap();
    let run = parse_run(&raw, &arena, &limits).unwrap();
    assert_eq!(run.format, "Claude Code session");
    let field = |step: &averment_runs::run::Step<'_>, key| {
        step.object.get(key).map_or("-".to_owned(), |node| to_json(&node.value))
    };
    let steps = run.steps.iter().filter_map(|step| match step.kind {
        StepKind::Call => {
            Some(format!("{} {} {} {:?}", step.name, field(step, "args"), field(step, "result"), step.status))
        }
        StepKind::Message => Some(format!("{} {}", step.name, field(step, "text"))),
        _ => None,
    });
    let output = run.object.get("output").map_or("-".to_owned(), |node| to_json(&node.value));
    (steps.collect(), output, run.warnings.len())
}

/// A line: the record's own id, its session, its second.
fn line(record: &str, session: &str, second: usize, message: &Value) -> Value {
    let kind = &message["role"];
    json!({"type": kind, "uuid": record, "sessionId": session, "timestamp": format!("2025-01-01T00:00:{second:02}Z"), "message": message})
}

fn asked() -> Value {
    json!({"role": "user", "content": "Look it up"})
}

fn call(message: &str, id: &str, input: &Value) -> Value {
    json!({"role": "assistant", "id": message, "content": [{"type": "tool_use", "id": id, "name": "lookup", "input": input}]})
}

fn result(id: &str, content: &str) -> Value {
    json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": content}]})
}

fn said(message: &str, text: &str) -> Value {
    json!({"role": "assistant", "id": message, "content": [{"type": "text", "text": text}]})
}

#[test]
fn what_a_session_copies_when_it_goes_on_counts_once() {
    let first = [asked(), call("m1", "t1", &json!({"n": 1})), result("t1", "one"), said("m2", "Done.")];
    let then = [json!({"role": "user", "content": "Thanks"}), said("m3", "Welcome.")];
    let expected = [
        "user \"Look it up\"",
        "lookup {\"n\":1} \"one\" Ok",
        "assistant \"Done.\"",
        "user \"Thanks\"",
        "assistant \"Welcome.\"",
    ];
    for (session, warnings) in [("a", 0), ("b", 1)] {
        let begun = first.iter().enumerate().map(|(at, message)| line(&format!("a{at}"), "a", at, message));
        let copied = first.iter().enumerate().map(|(at, message)| line(&format!("b{at}"), session, at, message));
        let new = then.iter().enumerate().map(|(at, message)| line(&format!("c{at}"), session, at + 10, message));
        let lines: Vec<Value> = begun.chain(copied).chain(new).collect();
        assert_eq!(
            told(&lines),
            (expected.map(str::to_owned).to_vec(), "\"Welcome.\"".to_owned(), warnings),
            "{session}"
        );
    }
}

#[test]
fn a_copy_may_have_other_times_and_the_result_that_was_missing() {
    let begun = call("m1", "t1", &json!({"n": 1}));
    let lines = [
        line("1", "a", 1, &asked()),
        line("2", "a", 2, &begun),
        line("3", "b", 12, &begun),
        line("4", "b", 13, &result("t1", "one")),
        line("5", "c", 20, &begun),
        line("6", "c", 21, &result("t1", "one")),
        line("7", "c", 22, &said("m2", "Done.")),
        line("8", "c", 30, &begun),
        line("9", "c", 31, &said("m2", "Done.")),
    ];
    let expected = ["user \"Look it up\"", "lookup {\"n\":1} \"one\" Ok", "assistant \"Done.\""];
    assert_eq!(told(&lines), (expected.map(str::to_owned).to_vec(), "\"Done.\"".to_owned(), 1));
}

#[test]
fn ids_that_come_again_are_no_copies() {
    let one = json!({"n": 1});
    let pair = |first: Value, second: Value| {
        let messages = [first, result("t1", "one"), second, result("t1", "two")];
        let lines: Vec<Value> =
            messages.iter().enumerate().map(|(at, message)| line(&at.to_string(), "a", at, message)).collect();
        let (steps, ..) = told(&lines);
        steps
    };
    let renamed = json!({"role": "assistant", "id": "m1", "content": [{"type": "tool_use", "id": "t1", "name": "other", "input": one}]});
    let nameless =
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "lookup", "input": one}]});
    let again = [call("m2", "t1", &one), call("m1", "t1", &json!({"n": 2})), renamed, nameless];
    for second in again {
        let steps = pair(call("m1", "t1", &one), second);
        assert!(steps.len() == 2 && steps[0].contains("\"one\"") && steps[1].contains("\"two\""), "{steps:?}");
    }
    // Within one record nothing is a copy.
    let block = json!({"type": "tool_use", "id": "t1", "name": "lookup", "input": one});
    let twice = json!({"role": "assistant", "id": "m1", "content": [block, block]});
    let (steps, ..) = told(&[line("1", "a", 1, &twice), line("2", "a", 2, &result("t1", "one"))]);
    assert_eq!(steps.len(), 2, "{steps:?}");
}

#[test]
fn what_is_said_at_other_times_or_to_others_is_no_copy() {
    let task = |agent: &str, second| {
        let mut line = line(agent, "a", second, &asked());
        line["agentId"] = json!(agent);
        line
    };
    let lines = [line("1", "a", 1, &asked()), line("2", "a", 2, &asked()), task("x", 3), task("y", 3)];
    let (steps, ..) = told(&lines);
    assert_eq!(steps.len(), 4, "{steps:?}");
}

#[test]
fn a_message_may_say_the_same_twice() {
    let lines =
        [line("1", "a", 1, &asked()), line("2", "a", 2, &said("m1", "ha")), line("3", "a", 3, &said("m1", "ha"))];
    assert_eq!(told(&lines).0, ["user \"Look it up\"", "assistant \"ha\"", "assistant \"ha\""]);
}
