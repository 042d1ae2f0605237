//! Requests repeat the conversation so far: whatever is written down again never changes what was called.

use super::unknown_parts::{trace_files, values_of};
use averment_base::limits::Limits;
use averment_runs::run::StepKind;
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use serde_json::{Value as Json, json};
use std::io::Cursor;

/// The tools that the only run of a file called.
fn called(values: &[Json]) -> Option<Vec<String>> {
    let limits = Limits::default();
    let text = Json::Array(values.to_vec()).to_string();
    let raws: Vec<_> = TraceRuns::new("t", Cursor::new(text.into_bytes()), &limits).collect();
    let [Ok(raw)] = &raws[..] else { return None };
    let arena = Bump::new();
    let run = parse_run(raw, &arena, &limits).ok()?;
    let calls = run.steps.iter().filter(|step| step.kind == StepKind::Call);
    Some(calls.map(|call| call.name.to_owned()).collect())
}

#[test]
fn what_is_written_down_again_is_not_called_again() {
    let (mut tried, mut wrong) = (0, Vec::new());
    for path in trace_files() {
        let Some(values) = values_of(&path) else { continue };
        let items = match &values[..] {
            [Json::Array(items)] => items.clone(),
            lines @ [_, _, ..] => lines.to_vec(),
            _ => continue,
        };
        let is_exchange = |item: &Json| {
            item["request"].is_object() && !item["response"].is_null()
                || item["request_body"].is_object() && item["response_body"].is_object()
        };
        if items.is_empty() || !items.iter().all(is_exchange) {
            continue;
        }
        let Some(before) = called(&items) else { continue };
        for place in 0..items.len() {
            let retried = [&items[..=place], &items[place..]].concat();
            let resumed = [&items[..], &items[..=place]].concat();
            // The instructions of another agent, and a message that says nothing.
            let mut other = items.clone();
            if let Some(messages) = other[place]["request"]["messages"].as_array_mut() {
                messages.insert(0, json!({"role": "system", "content": "You are another one."}));
            }
            let mut empty = items.clone();
            if let Some(messages) = empty[place]["request"]["messages"].as_array_mut() {
                messages.insert(messages.len() / 2, json!({"role": "assistant", "content": ""}));
            }
            for (what, items) in [("retried", retried), ("resumed", resumed), ("other", other), ("empty", empty)] {
                tried += 1;
                let after = called(&items);
                if after.as_ref() != Some(&before) {
                    wrong.push(format!("{}: {what} at {place}: {after:?} instead of {before:?}", path.display()));
                }
            }
        }
    }
    assert!(tried > 0 && wrong.is_empty(), "{tried}: {wrong:#?}");
}

/// Files whose records have no ids of their own: of two equal ones behind each other nobody can tell whether they are one.
const NO_IDS: [&str; 12] = [
    "anthropic-stream.jsonl",
    "autogen_messages.json",
    "bedrock_agent_trace.json",
    "claude-hooks.jsonl",
    "cline-written-calls.json",
    "cohere-events.jsonl",
    "cursor-transcript.jsonl",
    "cursor_agent_transcript.json",
    "github_issue.traj.json",
    "mcp-bare.json",
    "mini-swe-agent.json",
    "pi-events.jsonl",
];

/// The records of a file that is one run, on lines or in a list.
fn records_of(values: &[Json]) -> Option<Vec<Json>> {
    let items = match values {
        [Json::Array(items)] => items.clone(),
        [_, _, ..] => values.to_vec(),
        _ => return None,
    };
    items.iter().all(Json::is_object).then_some(items)
}

/// The calls of the only run of lines.
fn called_on_lines(values: &[Json]) -> Option<Vec<String>> {
    let limits = Limits::default();
    let text: String = values.iter().map(|value| format!("{value}\n")).collect();
    let raws: Vec<_> = TraceRuns::new("t", Cursor::new(text.into_bytes()), &limits).collect();
    let [Ok(raw)] = &raws[..] else { return None };
    let arena = Bump::new();
    let run = parse_run(raw, &arena, &limits).ok()?;
    let calls = run.steps.iter().filter(|step| step.kind == StepKind::Call);
    Some(calls.map(|call| call.name.to_owned()).collect())
}

/// Records of a file are tried at so many places.
const PLACES: usize = 24;

#[test]
fn a_session_that_stands_in_a_file_again_changes_no_count() {
    let (mut files, mut tried, mut wrong) = (0, 0, Vec::new());
    for path in trace_files() {
        let Some(values) = values_of(&path) else { continue };
        let Some(items) = records_of(&values) else { continue };
        let read = if matches!(&values[..], [Json::Array(_)]) { called } else { called_on_lines };
        // Several runs in a list are several runs.
        let is_one_run = |items: &[Json]| read(items).filter(|_| read(&[items, items].concat()).is_some());
        let Some(before) = is_one_run(&items) else { continue };
        files += 1;
        let name = path.file_name().unwrap().to_str().unwrap();
        let mut changed = vec![("whole", 0, [&items[..], &items[..]].concat())];
        for place in (1..items.len()).step_by(items.len() / PLACES + 1) {
            if place > 1 {
                changed.push(("resumed", place, [&items[..place], &items[..]].concat()));
                changed.push(("begun again", place, [&items[..], &items[..place]].concat()));
            }
            if !NO_IDS.contains(&name) {
                changed.push(("one", place, [&items[..=place], &items[place..]].concat()));
            }
        }
        for (what, place, items) in changed {
            tried += 1;
            let after = read(&items);
            if after.as_ref() != Some(&before) {
                wrong.push(format!("{name}: {what} at {place}: {after:?} instead of {before:?}"));
            }
        }
    }
    eprintln!("{files} files, {tried} repetitions");
    assert!(files > 50 && wrong.is_empty(), "{files} files: {wrong:#?}");
}

/// Calls, whether the run is complete, and what is said of it.
fn read_lines(lines: &[Json]) -> (Vec<String>, bool, Vec<String>) {
    let limits = Limits::default();
    let text: String = lines.iter().map(|value| format!("{value}\n")).collect();
    let raw = TraceRuns::new("t", Cursor::new(text.into_bytes()), &limits).next().unwrap().unwrap();
    let arena = Bump::new();
    let run = parse_run(&raw, &arena, &limits).unwrap();
    let calls = run.steps.iter().filter(|step| step.kind == StepKind::Call);
    let calls = calls.map(|call| call.name.to_owned()).collect();
    (calls, run.complete, run.warnings.iter().map(|warning| warning.message.clone()).collect())
}

/// What is said of sessions that end with calls: their results are in no line.
const CUT_OFF: &str = "the session ends with a call that has no result: it may be cut off";

fn pi_line(id: &str, message: &Json) -> Json {
    json!({"type": "message", "id": id, "parentId": null, "timestamp": "2026-03-01T10:00:00.000Z", "message": message})
}

fn pi_call(id: &str, tool: &str) -> Json {
    let block = json!({"type": "toolCall", "id": format!("call-{id}"), "name": tool, "arguments": {"path": "a"}});
    pi_line(id, &json!({"role": "assistant", "content": [block]}))
}

#[test]
fn an_id_that_comes_again_with_other_contents_is_not_understood() {
    let begin =
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/w"});
    let asked = pi_line("e1", &json!({"role": "user", "content": "go"}));
    let lines = [begin, asked, pi_call("e2", "read"), pi_call("e3", "read")];
    let hint = vec![CUT_OFF.to_owned()];
    assert_eq!(read_lines(&lines), (vec!["read".to_owned(), "read".to_owned()], true, hint));
    let (calls, is_complete, said) = read_lines(&[&lines[..], &lines[2..3]].concat());
    assert_eq!((calls.len(), is_complete, said.len()), (2, true, 1), "{said:?}");
    let (calls, is_complete, said) = read_lines(&[&lines[..], &[pi_call("e2", "write")]].concat());
    assert_eq!((calls, is_complete), (vec!["read".to_owned(), "read".to_owned()], false), "{said:?}");
}

#[test]
fn a_row_that_is_written_again_replaces_the_earlier_one() {
    let row = |id: &str, role: &str, parts: Json| json!({"id": id, "session_id": "s", "role": role, "parts": parts, "created_at": 1_767_225_601, "updated_at": 1_767_225_601});
    let call = |input: &str| json!([{"type": "tool_call", "data": {"id": "c1", "name": "view", "input": input}}]);
    let asked = row("1", "user", json!([{"type": "text", "data": {"text": "go"}}]));
    let lines = [asked, row("2", "assistant", call("{}")), row("2", "assistant", call("{\"a\":1}"))];
    assert_eq!(read_lines(&lines), (vec!["view".to_owned()], true, vec![CUT_OFF.to_owned()]));
}

#[test]
fn a_file_without_ids_that_begins_anew_may_be_done_again() {
    let asked = json!({"role": "user", "message": {"content": [{"type": "text", "text": "go"}]}});
    let call = json!({"role": "assistant", "message": {"content": [{"type": "tool_use", "name": "Shell", "input": {"command": "ls"}}]}});
    let lines = [asked, call];
    assert!(read_lines(&lines).1);
    let (calls, is_complete, said) = read_lines(&[&lines[..], &lines[..]].concat());
    assert_eq!((calls.len(), is_complete), (1, false), "{said:?}");
}
