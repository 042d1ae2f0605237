//! What a format does not know may have been a call: an unknown record, event, block or part is put into every list of every shared
//! trace, and the run then must not count its calls as all there are.

use super::harmless_parts::{GAPS, HARMLESS};
use averment_base::limits::Limits;
use averment_fixtures::shared;
use averment_runs::run::StepKind;
use averment_traces::adapt::FORMATS;
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// The tool that only the unknown part names.
const TOOL: &str = "zz_tool";
/// The kind that no format has.
const KIND: &str = "zz_unknown";

/// Keys whose text says what a record is.
const SAY_KIND: [&str; 12] = [
    "type",
    "kind",
    "role",
    "source",
    "event",
    "action",
    "observation",
    "record_type",
    "method",
    "run_type",
    "run",
    "openinference.span.kind",
];
/// Keys whose text names a tool.
const NAMES: [&str; 8] =
    ["name", "tool", "tool_name", "toolName", "function_name", "function", "action_name", "gen_ai.tool.name"];
/// Keys under which a record holds what it is about.
const HOLD: [&str; 8] = ["payload", "item", "part", "message", "msg", "body", "span_data", "attributes"];

/// Whether each run of a file lets nobody say that a tool was never called, and whether all of a run is looked at for other keys.
fn open_runs(text: &str) -> Result<(Vec<bool>, bool), String> {
    let limits = Limits::default();
    let (mut open, mut is_searched) = (Vec::new(), true);
    for raw in TraceRuns::new("t", Cursor::new(text.as_bytes().to_vec()), &limits) {
        let raw = raw.map_err(|error| error.to_string())?;
        let arena = Bump::new();
        let run = parse_run(&raw, &arena, &limits).map_err(|error| error.to_string())?;
        let records = run.recorded.get(StepKind::Call as usize) == Some(&true);
        let named = run
            .steps
            .iter()
            .any(|step| step.kind == StepKind::Call && [TOOL, KIND].iter().any(|name| step.name.contains(name)));
        open.push(!run.complete || !records || named);
        is_searched &= !OWN_KEYS.contains(&run.format);
    }
    Ok((open, is_searched))
}

/// The values of a file, and whether there is one alone.
pub fn values_of(path: &Path) -> Option<Vec<Json>> {
    let text = String::from_utf8(std::fs::read(path).unwrap()).ok()?;
    let values: Result<Vec<Json>, _> = serde_json::Deserializer::from_str(&text).into_iter().collect();
    values.ok().filter(|values| !values.is_empty())
}

fn text_of(values: &[Json]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

/// The steps to a list: keys and positions; an empty key opens the JSON in a text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum PathPart {
    Key(String),
    Item(usize),
    Text,
}

fn is_list_of_records(items: &[Json]) -> bool {
    !items.is_empty() && items.iter().filter(|item| item.is_object()).count() * 2 > items.len()
}

/// What is put in, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum UnknownPart {
    /// A record of no known format into a list.
    Foreign,
    /// A record as those beside it, but of an unknown kind.
    Sibling,
    /// The kind of a record that stands alone under a key.
    Kind,
    /// A key whose value lists calls.
    Keys,
    /// A key whose value is a call.
    Key,
    /// Parts in place of a text, one of them unknown.
    Part,
}

impl UnknownPart {
    fn name(self) -> &'static str {
        match self {
            Self::Foreign => "foreign",
            Self::Sibling => "sibling",
            Self::Kind => "kind",
            Self::Keys => "keys",
            Self::Key => "key",
            Self::Part => "part",
        }
    }

    /// The value with the part in it; `None` where it would say nothing.
    fn put_into(self, value: &Json) -> Option<Json> {
        let mut value = value.clone();
        match (self, &mut value) {
            (Self::Foreign | Self::Sibling, Json::Array(items)) => {
                let beside = items.get(items.len() / 2);
                let new = if self == Self::Foreign { Some(foreign()) } else { beside.and_then(unknown_sibling) };
                items.insert((items.len() / 2 + 1).min(items.len()), new?);
            }
            (Self::Kind, record) => *record = unknown_sibling(record)?,
            (Self::Keys, Json::Object(entries)) => {
                entries.insert("zz_more".to_owned(), json!([{"name": TOOL, "arguments": {"a": 1}}]));
            }
            (Self::Key, Json::Object(entries)) => {
                entries.insert("zz_more".to_owned(), json!({"tool": TOOL, "input": {"a": 1}}));
            }
            (Self::Part, text) => *text = json!([{"type": "text", "text": text}, foreign()]),
            _ => return None,
        }
        Some(value)
    }
}

/// Keys under which a message has its words.
const WORDS: [&str; 3] = ["content", "parts", "message"];

/// Where something unknown may stand: the first place of each shape. A shape is a path without positions, with the kinds of the records
/// on it.
#[derive(Default)]
struct PlaceSearch {
    at: Vec<PathPart>,
    found: BTreeMap<(String, UnknownPart), Vec<PathPart>>,
}

impl PlaceSearch {
    fn note(&mut self, shape: &str, parts: &[UnknownPart]) {
        for part in parts {
            self.found.entry((shape.to_owned(), *part)).or_insert_with(|| self.at.clone());
        }
    }

    fn look_below(&mut self, part: PathPart, shape: String, value: &Json) {
        self.at.push(part);
        self.look(value, &shape);
        self.at.pop();
    }

    fn look(&mut self, value: &Json, shape: &str) {
        let key = match self.at.last() {
            Some(PathPart::Key(key)) => key.clone(),
            _ => String::new(),
        };
        match value {
            Json::Array(items) => {
                if is_list_of_records(items) {
                    self.note(shape, &[UnknownPart::Foreign, UnknownPart::Sibling]);
                }
                for (position, item) in items.iter().enumerate() {
                    let kind = ["type", "role", "kind", "event", "key"].iter().find_map(|key| item[*key].as_str());
                    let shape = format!("{shape}[{}]", kind.unwrap_or_default());
                    self.look_below(PathPart::Item(position), shape, item);
                }
            }
            Json::Object(entries) => {
                self.note(shape, &[UnknownPart::Keys, UnknownPart::Key]);
                if !key.is_empty() {
                    self.note(shape, &[UnknownPart::Kind]);
                }
                for (key, value) in entries {
                    self.look_below(PathPart::Key(key.clone()), format!("{shape}.{key}"), value);
                }
            }
            Json::String(text) if text.starts_with(['[', '{']) => {
                if let Ok(inner) = serde_json::from_str::<Json>(text) {
                    self.look_below(PathPart::Text, format!("{shape}\""), &inner);
                }
            }
            Json::String(text) if WORDS.contains(&key.as_str()) && !text.is_empty() => {
                self.note(shape, &[UnknownPart::Part]);
            }
            _ => {}
        }
    }
}

fn changed(value: &Json, path: &[PathPart], part: UnknownPart) -> Option<Json> {
    let mut value = value.clone();
    match (path, &mut value) {
        ([], _) => return part.put_into(&value),
        ([PathPart::Key(key), rest @ ..], Json::Object(entries)) => {
            let inner = changed(&entries[key], rest, part)?;
            entries.insert(key.clone(), inner);
        }
        ([PathPart::Item(position), rest @ ..], Json::Array(items)) => {
            items[*position] = changed(&items[*position], rest, part)?;
        }
        ([PathPart::Text, rest @ ..], Json::String(text)) => {
            *text = changed(&serde_json::from_str(text).unwrap(), rest, part)?.to_string();
        }
        _ => unreachable!(),
    }
    Some(value)
}

/// A record as it stands beside others, but of a kind that nobody knows; `None` where nothing in it says its kind.
fn unknown_sibling(of: &Json) -> Option<Json> {
    let mut record = of.as_object()?.clone();
    let mut says = false;
    for (key, value) in &mut record {
        if SAY_KIND.contains(&key.as_str()) && value.is_string() {
            *value = json!(KIND);
            says = true;
        } else if HOLD.contains(&key.as_str())
            && let Some(inner) = unknown_sibling(value)
        {
            *value = inner;
            says = true;
        } else if NAMES.contains(&key.as_str()) && value.is_string() {
            *value = json!(TOOL);
        } else if key == "function" && value.is_object() {
            value["name"] = json!(TOOL);
        } else if ["uuid", "id", "call_id", "span_id", "spanId"].contains(&key.as_str()) && value.is_string() {
            *value = json!("00000000000000ff");
        }
    }
    record.insert("tool_name".to_owned(), json!(TOOL));
    says.then_some(Json::Object(record))
}

/// A record of a format that is none of these.
fn foreign() -> Json {
    json!({"type": KIND, "name": TOOL, "input": {"a": 1}})
}

pub fn trace_files() -> Vec<PathBuf> {
    let elsewhere = ["a-trace-of-opik.json", "spans-of-braintrust.jsonl", "spans-of-the-openai-agents-sdk.jsonl"];
    let golden = averment_fixtures::project("tests/golden/trace");
    let mut folders = vec![golden.join("formats")];
    if let Some(folder) = shared("traces") {
        let folders_in = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        folders.extend(folders_in.filter(|path| path.is_dir()));
    }
    folders.sort();
    let mut files: Vec<PathBuf> = folders.iter().flat_map(|folder| averment_fixtures::files(folder)).collect();
    files.extend(elsewhere.map(|name| golden.join(name)));
    files.retain(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        ![".expect.json", ".eval", ".snap", ".zip", ".gz"].iter().any(|ending| name.ends_with(ending))
    });
    files
}

fn is_harmless(place: &str) -> bool {
    HARMLESS.iter().any(|(part, _)| place.contains(part))
}

/// One place in so many is looked at, another one with each seed (`AVERMENT_UNKNOWN_SEED`); with `AVERMENT_UNKNOWN=all` each.
const ONE_IN: usize = 16;
/// Larger files are looked at with `AVERMENT_UNKNOWN=all` alone.
const LARGE: usize = 30_000;
const VERY_LARGE: usize = 150_000;

#[test]
fn what_is_not_known_may_have_been_a_call() {
    let all_places = std::env::var("AVERMENT_UNKNOWN").is_ok_and(|word| word == "all");
    let seed = std::env::var("AVERMENT_UNKNOWN_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let mut green: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut tried, mut number) = (0, seed);
    for path in trace_files() {
        let Some(values) = values_of(&path) else { continue };
        let text = text_of(&values);
        if text.len() > if all_places { VERY_LARGE } else { LARGE } {
            continue;
        }
        let Ok((before, is_searched)) = open_runs(&text) else { continue };
        if before.iter().all(|open| *open) {
            continue;
        }
        let all = Json::Array(values.clone());
        let mut search = PlaceSearch::default();
        search.look(&all, "");
        let folder = path.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        for ((shape, part), place) in search.found {
            let name = format!("{folder} {shape} {}", part.name());
            let is_key = matches!(part, UnknownPart::Keys | UnknownPart::Key);
            let is_passed = is_key && (!is_searched || shape.contains('"') || is_data(&shape));
            if values.len() == 1 && place.is_empty() || is_passed || is_harmless(&name) || is_gap(&name) {
                continue;
            }
            number += 1;
            if !all_places && number % ONE_IN != 0 {
                continue;
            }
            let Some(after) = changed(&all, &place, part) else { continue };
            tried += 1;
            let after = open_runs(&text_of(after.as_array().unwrap()));
            let told = after.map_or(true, |(after, _)| {
                after.len() != before.len() || after.iter().zip(&before).any(|(after, before)| *after && !before)
            });
            if !told {
                green.entry(name).or_default().push(path.file_name().unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    for (place, files) in &green {
        eprintln!("{place}: {}", files[0]);
    }
    eprintln!("{tried} unknown parts, {} passed", green.len());
    assert!(green.is_empty(), "{:#?}", green.keys().collect::<Vec<_>>());
}

/// Something unknown is put into files of every format. In home-grown runs other keys are the author's own.
#[test]
fn every_format_has_a_file_into_which_something_unknown_is_put() {
    if shared("traces").is_none() {
        return;
    }
    let limits = Limits::default();
    let mut missing: BTreeSet<_> = FORMATS.iter().map(|format| format.name).collect();
    for path in trace_files() {
        for raw in TraceRuns::open_file(path.to_str().unwrap(), &limits).unwrap().filter_map(Result::ok) {
            if let Ok(run) = parse_run(&raw, &Bump::new(), &limits) {
                missing.remove(run.format);
            }
        }
    }
    assert_eq!(missing, BTreeSet::from(OWN_KEYS), "these formats have no run in tests/golden/trace/formats");
}

/// Formats in which other keys are the author's own.
const OWN_KEYS: [&str; 2] = ["tool calls of one's own making", "normal form"];

/// Keys of values that a run holds as they are: arguments, results, and what a run was given and gave.
const DATA: [&str; 31] = [
    "tool_kwargs",
    "tags",
    "toolInput",
    "Arguments",
    "args",
    "attributes",
    "arguments",
    "input",
    "inputs",
    "output",
    "outputs",
    "result",
    "parameters",
    "tool_input",
    "tool_response",
    "response",
    "rawInput",
    "raw_input",
    "tool_args",
    "details",
    "metadata",
    "extras",
    "tool_result",
    "error",
    "additional_kwargs",
    "response_metadata",
    "data_schema",
    "vars",
    "summary",
    "state",
    "plan",
];

fn is_data(shape: &str) -> bool {
    shape.split(['.', '[', ']']).any(|key| DATA.contains(&key))
}

fn is_gap(place: &str) -> bool {
    GAPS.iter().any(|(gap, _)| place.starts_with(gap))
}

/// A key beside known ones is metadata, unless its value lists calls that the run does not have.
#[test]
fn a_key_that_lists_other_calls_is_no_metadata() {
    let step = json!({"step_id": 1, "source": "agent", "message": "hi"});
    let run = |step: &Json, top: &Json| {
        let mut run = json!({"schema_version": "ATIF-v1.5", "session_id": "s", "agent": {"name": "a", "version": "1"}, "steps": [step]});
        run.as_object_mut().unwrap().extend(top.as_object().unwrap().clone());
        open_runs(&run.to_string()).unwrap().0
    };
    let with = |value: Json| {
        let mut step = step.clone();
        step["others"] = value;
        step
    };
    let call = json!([{"name": TOOL, "arguments": {}}]);
    assert_eq!(run(&step, &json!({})), [false]);
    assert_eq!(run(&step, &json!({"tool_definitions": call, "notes": [{"name": "x", "value": 1}]})), [false]);
    assert_eq!(run(&step, &json!({"actions": call})), [true]);
    assert_eq!(run(&with(call.clone()), &json!({})), [true]);
    assert_eq!(run(&with(json!([{"name": "x"}, {"cost": 1}])), &json!({})), [false]);
}

/// What says that a tool was called is gone, and what the tool was asked is not.
#[test]
fn a_record_that_lost_what_it_is_may_be_a_call() {
    let is_open = |value: &Json| open_runs(&value.to_string()).unwrap().0 == [true];
    let langsmith = |key: &str| {
        json!([
            {"id": "a", "trace_id": "a", "dotted_order": "1", "run_type": "chain", "name": "agent", "inputs": {}, "outputs": {}},
            {"id": "b", "trace_id": "a", "dotted_order": "1.2", "parent_run_id": "a", key: "tool", "name": "look", "inputs": {"q": 1}},
        ])
    };
    assert!(!is_open(&langsmith("run_type")));
    assert!(is_open(&langsmith("runtype")));
    let span = |attributes: &str, name: &str| {
        let text = |key: &str, text: &str| json!({"key": key, "value": {"stringValue": text}});
        let told = json!([text("openinference.span.kind", "TOOL"), text(name, "look"), text("tool.parameters", "{}")]);
        let first = json!({"traceId": "t", "spanId": "1", "name": "agent", "startTimeUnixNano": "1", "endTimeUnixNano": "9",
            "attributes": [text("openinference.span.kind", "AGENT")]});
        let second = json!({"traceId": "t", "spanId": "2", "parentSpanId": "1", "name": "Tool.call", "startTimeUnixNano": "2",
            "endTimeUnixNano": "3", attributes: told});
        json!({"resourceSpans": [{"scopeSpans": [{"spans": [first, second]}]}]})
    };
    assert!(!is_open(&span("attributes", "tool.name")));
    assert!(is_open(&span("attributes", "tool.named")));
    assert!(is_open(&span("attribute", "tool.name")));
}
