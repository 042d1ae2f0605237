//! Requests repeat the conversation so far: whatever is written down again never changes what was called.

use super::unknown_parts::{trace_files, values_of};
use averment_base::limits::Limits;
use averment_runs::run::StepKind;
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use serde_json::Value as Json;
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
                messages.insert(0, serde_json::json!({"role": "system", "content": "You are another one."}));
            }
            let mut empty = items.clone();
            if let Some(messages) = empty[place]["request"]["messages"].as_array_mut() {
                messages.insert(messages.len() / 2, serde_json::json!({"role": "assistant", "content": ""}));
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
