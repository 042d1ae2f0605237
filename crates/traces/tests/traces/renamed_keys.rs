//! A key or a word of a format may be called otherwise in its next version: whatever is renamed in a file, a tool that it calls must
//! not count as one that was never called.

use super::unknown_parts::{trace_files, values_of};
use averment_base::limits::Limits;
use averment_runs::run::StepKind;
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;
use std::io::Cursor;

/// The tools that a file calls; `None` where it is refused or may have called others.
fn called_tools(values: &[Json]) -> Option<BTreeSet<String>> {
    let limits = Limits::default();
    let text: String = values.iter().map(|value| format!("{value}\n")).collect();
    let mut tools = BTreeSet::new();
    for raw in TraceRuns::new("t", Cursor::new(text.into_bytes()), &limits) {
        let raw = raw.ok()?;
        let arena = Bump::new();
        let run = parse_run(&raw, &arena, &limits).ok()?;
        let calls = run.steps.iter().filter(|step| step.kind == StepKind::Call);
        tools.extend(calls.map(|step| step.name.to_owned()));
        if !run.complete || !run.records_kind(StepKind::Call) {
            return None;
        }
    }
    Some(tools)
}

/// One step on the way to a value: a key of an object of some kind, the elements of a list, the JSON in a text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum ShapePart {
    Key(String, String),
    Items,
    Text,
}

fn kind_of(object: &Map<String, Json>) -> String {
    ["type", "role", "kind"].iter().find_map(|key| object.get(*key)?.as_str()).unwrap_or_default().to_owned()
}

fn find_shapes(value: &Json, shape: &[ShapePart], found: &mut BTreeSet<Vec<ShapePart>>) {
    let below = |part| [shape, &[part]].concat();
    match value {
        Json::Object(object) => {
            for (key, value) in object {
                let inner = below(ShapePart::Key(key.clone(), kind_of(object)));
                find_shapes(value, &inner, found);
                found.insert(inner);
            }
        }
        Json::Array(items) => items.iter().for_each(|item| find_shapes(item, &below(ShapePart::Items), found)),
        Json::String(text) if text.starts_with(['[', '{']) => {
            serde_json::from_str(text)
                .into_iter()
                .for_each(|inner| find_shapes(&inner, &below(ShapePart::Text), found));
        }
        _ => {}
    }
}

/// The value with all keys of a shape renamed, or with an unknown word as their values.
fn renamed(value: &Json, shape: &[ShapePart], is_word: bool) -> Json {
    let Some((first, rest)) = shape.split_first() else { return value.clone() };
    match (first, value) {
        (ShapePart::Key(key, kind), Json::Object(object)) if kind_of(object) == *kind => {
            let entry = |(own, inner): (&String, &Json)| match own == key {
                false => (own.clone(), inner.clone()),
                true if !rest.is_empty() => (own.clone(), renamed(inner, rest, is_word)),
                true if is_word => (own.clone(), Json::from("zz_unknown")),
                true => (format!("{own}x"), inner.clone()),
            };
            Json::Object(object.iter().map(entry).collect())
        }
        (ShapePart::Items, Json::Array(items)) => items.iter().map(|item| renamed(item, rest, is_word)).collect(),
        (ShapePart::Text, Json::String(text)) => match serde_json::from_str::<Json>(text) {
            Ok(inner) => Json::from(renamed(&inner, rest, is_word).to_string()),
            Err(_) => value.clone(),
        },
        _ => value.clone(),
    }
}

/// Keys whose text says what a record is.
const KINDS: [&str; 10] =
    ["type", "kind", "role", "source", "event", "action", "part_kind", "message_type", "run_type", "hook_event_name"];

/// Files in which a tool is gone with a key, each with a part of the place and the reason.
const HOLES: [(&str, &str, &str); 9] = [
    ("n8n-execution", "find_customer", "a tool has the name of its node"),
    ("browser-use-history", "navigate", "the key is the name of the tool"),
    ("browser-use-history", "click", "the key is the name of the tool"),
    ("browser-use-history", "done", "the key is the name of the tool"),
    ("openhands-events", "action", "the word is the name of the tool"),
    ("semantic-kernel-dotnet", "PluginName", "a function may have no plugin"),
    ("swe-agent-text", "trajectory", "the history alone is a run, too"),
    ("swe-agent-text", "action", "the first word of an action is the name of the tool"),
    ("spans-of-braintrust", "span_attributes", "a span without a type is no tool"),
];

/// Larger files are left out.
const LARGE: usize = 20_000;
/// One place in so many is looked at; with `AVERMENT_UNKNOWN=all` each.
const ONE_IN: usize = 32;

#[test]
fn whatever_is_renamed_a_tool_that_is_called_is_not_never_called() {
    let one_in = if std::env::var("AVERMENT_UNKNOWN").is_ok_and(|word| word == "all") { 1 } else { ONE_IN };
    let (mut tried, mut number, mut gone) = (0, 0, Vec::new());
    for path in trace_files() {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let Some(values) = values_of(&path).filter(|values| Json::from(values.clone()).to_string().len() < LARGE)
        else {
            continue;
        };
        let Some(tools) = called_tools(&values).filter(|tools| !tools.is_empty()) else { continue };
        let all = Json::Array(values);
        let mut shapes = BTreeSet::new();
        find_shapes(&all, &[], &mut shapes);
        for shape in shapes {
            let Some(ShapePart::Key(key, _)) = shape.last() else { continue };
            for is_word in [false, true].into_iter().take(if KINDS.contains(&key.as_str()) { 2 } else { 1 }) {
                number += 1;
                let place = format!("{shape:?}");
                if number % one_in != 0 || HOLES.iter().any(|(file, part, _)| name == *file && place.contains(part)) {
                    continue;
                }
                tried += 1;
                let after = renamed(&all, &shape, is_word);
                let left = called_tools(after.as_array().unwrap());
                if let Some(lost) = left.and_then(|left| tools.difference(&left).next().cloned()) {
                    gone.push(format!("{name}: {lost} is gone with {place}, word {is_word}"));
                }
            }
        }
    }
    eprintln!("{tried} renamed, {} tools are gone", gone.len());
    assert!(gone.is_empty(), "{gone:#?}");
}
