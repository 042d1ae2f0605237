//! The two readers of each format read the same fields: samples are changed field by field, and both have to say the same of each.

use super::samples::samples;
use super::{LineReader, RawValue, ReadSet, RunProjection, ScannedChunk};
use crate::adapt::api::ApiKey;
use crate::adapt::api::responses::ItemKey;
use crate::adapt::claude_code::{ClaudeExportKey, ClaudeKey};
use crate::adapt::fields::TableRow;
use crate::adapt::messages::{BlockKey, ChatMessageKey, ToolCallKey};
use crate::adapt::openai_chat::{ChatExchangeKey, ChoiceKey};
use crate::adapt::otel::{ContainerKey, SpanKey};
use crate::adapt::spans::attributes::{AttributeKey, TypedValueKey};
use crate::adapt::tau_bench::TauBenchKey;
use crate::adapt::tests::{table_name, walk};
use crate::names::{NamedPart, PartNames};
use crate::scan::{ByteIndex, ScanCursor};
use crate::{RawRun, TraceRuns, parse_run};
use averment_base::limits::Limits;
use averment_base::value::{Value, json};
use averment_runs::normal::of_run;
use averment_runs::run::{Run, StepKind};
use bumpalo::Bump;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A key with the name of its table in front.
pub(super) fn named<F>(key: &str) -> String {
    format!("{}.{key}", std::any::type_name::<F>().rsplit("::").next().expect("a name"))
}

/// The keys of a table.
fn keys<F: TableRow>() -> Vec<String> {
    F::ALL.iter().flat_map(|row| row.keys()).map(|key| named::<F>(key)).collect()
}

/// The keys of all tables that projections read, and of those around them.
fn all_keys() -> Vec<String> {
    [
        keys::<ChatMessageKey>(),
        keys::<ToolCallKey>(),
        keys::<BlockKey>(),
        keys::<ClaudeKey>(),
        keys::<ChatExchangeKey>(),
        keys::<ChoiceKey>(),
        keys::<TauBenchKey>(),
        keys::<ClaudeExportKey>(),
        keys::<ApiKey>(),
        keys::<ItemKey>(),
        keys::<ContainerKey>(),
        keys::<SpanKey>(),
        keys::<AttributeKey>(),
        keys::<TypedValueKey>(),
    ]
    .concat()
}

/// Tables that projections read whose rows are no fields: words behind keys, and keys that tell nothing.
const NO_FIELDS: [&str; 7] =
    ["MessageRole", "BlockType", "ClaudeLineType", "ResponseItemType", "Setting", "WholeStatus", "Detail"];

/// The tables whose objects a projection reads, each with the keys that only the full reader looks at; of spans a projection hands all keys on.
const PROJECTED: [(&str, Option<&str>); 10] = [
    ("ChatMessageKey", Some("type usage metrics model")),
    ("ToolCallKey", Some("")),
    // A run with a refusal is for the full reader.
    ("BlockKey", Some("refusal")),
    (
        "ClaudeKey",
        Some(
            "isMeta isSynthetic isCompactSummary toolUseResult tool_use_result tool_use_id error attachment usage tools cwd version \
             claude_code_version gitBranch qwen_code_version",
        ),
    ),
    (
        "ItemKey",
        Some(
            "id callId input action operation code queries outputs results result tools status error text \
             approval_request_id approve outcome exit_code",
        ),
    ),
    ("ApiKey", None),
    ("ContainerKey", None),
    ("SpanKey", None),
    ("AttributeKey", None),
    ("TypedValueKey", None),
];

#[test]
fn every_table_that_a_projection_reads_is_looked_at_here() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = Vec::new();
    walk(&folder, &mut sources);
    let read = |path: &std::path::PathBuf| std::fs::read_to_string(path).expect("a source file");
    let is_projection = |path: &&std::path::PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        path.starts_with(folder.join("projection")) && !["tests.rs", "samples.rs"].contains(&name)
    };
    let projections: String = sources.iter().filter(is_projection).map(read).collect();
    let imports = projections.split("use crate::adapt::").skip(1).filter_map(|rest| rest.split(';').next());
    let imported: Vec<&str> = imports.flat_map(|names| names.split(|c: char| !c.is_alphanumeric())).collect();
    let known = all_keys();
    let is_known = |table: &str| known.iter().any(|key| key.split('.').next() == Some(table));
    for source in sources.iter().filter(|path| path.starts_with(folder.join("adapt"))).map(read) {
        for table in source.split("key_table!").skip(1).map(table_name).filter(|table| imported.contains(table)) {
            let is_listed = is_known(table) || NO_FIELDS.contains(&table);
            assert!(is_listed, "name the table `{table}` in `all_keys`, and its keys in a sample");
        }
    }
}

/// What a key is changed to: another one, or one with another value.
fn changes() -> Vec<Option<Json>> {
    let values = [
        json!(null),
        json!(true),
        json!(7),
        json!("odd"),
        json!(""),
        json!([]),
        json!({}),
        json!([{"type": "text", "text": "t"}]),
    ];
    std::iter::once(None).chain(values.into_iter().map(Some)).collect()
}

/// The value with one row changed at its `place`th occurrence, and the names of tables taken away; whether there is such a one.
pub(super) fn changed(value: &Json, row: &str, place: &mut usize, change: &Option<Json>) -> Json {
    match value {
        Json::Array(items) => Json::Array(items.iter().map(|item| changed(item, row, place, change)).collect()),
        Json::Object(entries) => {
            let mut all = serde_json::Map::new();
            for (key, value) in entries {
                let name = key.split_once('.').map_or(key.as_str(), |(_, name)| name);
                let this = key == row && std::mem::replace(place, place.wrapping_sub(1)) == 0;
                let value = changed(value, row, place, change);
                match change {
                    None if this => all.insert(format!("x-{name}"), value),
                    Some(other) if this => all.insert(name.to_owned(), other.clone()),
                    _ => all.insert(name.to_owned(), value),
                };
            }
            Json::Object(all)
        }
        value => value.clone(),
    }
}

fn text_of(lines: &[Json], row: &str, mut place: usize, change: &Option<Json>) -> String {
    lines.iter().map(|line| format!("{}\n", changed(line, row, &mut place, change))).collect()
}

fn occurrences(value: &Json, row: &str) -> usize {
    match value {
        Json::Array(items) => items.iter().map(|item| occurrences(item, row)).sum(),
        Json::Object(entries) => {
            entries.iter().map(|(key, value)| usize::from(key == row) + occurrences(value, row)).sum()
        }
        _ => 0,
    }
}

/// What both readers say of the first run of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BothReadings {
    /// The full reader, of everything.
    whole: String,
    /// The projection, by what is asked for; `None` where that is for the full reader.
    projected: Vec<Option<String>>,
    /// Where they say different things.
    wrong: Vec<String>,
}

/// What is asked for: what the full reader puts together in some format makes that it reads all.
const ASKED: [&[&str]; 5] = [
    &[of_run::INPUTS, of_run::OUTPUT, of_run::ERROR, of_run::DURATION],
    &[of_run::ID],
    &[of_run::META],
    &[of_run::TOOLS, of_run::FILES],
    &[],
];

/// Readers for each thing that is asked for. They are used again: keys are expected in the order in which they came before.
struct Readers(Vec<(ReadSet, LineReader)>);

impl Readers {
    fn new() -> Self {
        let reader = |roots: &&[&str]| {
            let roots = roots.iter().map(|root| (*root).to_owned()).collect();
            let read_set = ReadSet { roots, fields: [true; 2], texts: [true; 2], times: true };
            let reader = LineReader::new(&read_set, PartNames::known_names()).expect("nothing is put together");
            (read_set, reader)
        };
        Self(ASKED.iter().map(reader).collect())
    }
}

fn said(text: &str, readers: &mut Readers) -> BothReadings {
    let limits = Limits::default();
    let first = TraceRuns::new("sample", std::io::Cursor::new(text.to_owned().into_bytes()), &limits).next();
    let raw = first.expect("a run").expect("good JSON");
    let arena = Bump::new();
    let run = parse_run(&raw, &arena, &limits);
    let whole = match &run {
        Ok(run) => format!("{}: {} {:?}", run.format, json::to_json(&Value::Object(run.object)), run.warnings),
        Err(error) => error.to_string(),
    };
    let mut wrong = Vec::new();
    let projected = readers.0.iter_mut().map(|reader| compared(&raw, run.as_ref().ok(), reader, &mut wrong)).collect();
    BothReadings { whole, projected, wrong }
}

/// What a projection says, which is what the full reader says.
fn compared(
    raw: &RawRun,
    run: Option<&Run<'_>>,
    (read_set, reader): &mut (ReadSet, LineReader),
    wrong: &mut Vec<String>,
) -> Option<String> {
    let text = raw.run_text();
    let (arena, limits) = (Bump::new(), Limits::default());
    let mut index = ByteIndex::default();
    index.build_index(text.as_bytes()).expect("memory");
    let cursor = ScanCursor::new(text.as_bytes(), &index, limits.json_depth);
    let chunk = ScannedChunk { text, cursor, arena: &arena, limits: &limits };
    let mut projection = RunProjection::default();
    match (raw.is_plain_session(), LineReader::is_trace(text)) {
        (true, _) => reader.read_session(chunk, index.line_ends(), &mut projection)?,
        (_, true) => reader.read_trace(chunk, &mut projection)?,
        _ => reader.read_line(chunk, 0, text.trim_end().len(), &mut projection)?,
    }
    let fast = shown(&projection, Some(chunk))?;
    let full = run.and_then(|run| {
        let mut of_run = RunProjection::default();
        of_run.project_run(run, read_set);
        // Times that the bytes tell are those of the run.
        for (fast, full) in projection.calls.iter().zip(&of_run.calls).filter(|(fast, _)| fast.times.is_some()) {
            if fast.times != full.times {
                wrong.push(format!("{:?} from the bytes, but {:?} from the run: {text}", fast.times, full.times));
            }
        }
        let steps = run.steps.iter().filter(|step| step.kind == StepKind::Call);
        for (fast, step) in projection.calls.iter().zip(steps) {
            if let Some(status) = chunk.call_status(fast).filter(|status| *status != step.status) {
                wrong.push(format!("{status:?} from the bytes, but {:?} from the run: {text}", step.status));
            }
        }
        shown(&of_run, None)
    });
    if full.as_ref() != Some(&fast) {
        wrong.push(format!("{:?}: {fast} from the bytes, but {full:?} from the run: {text}", read_set.roots));
    }
    Some(fast)
}

/// The projection in words; `None` where a value is not valid.
pub(super) fn shown<'a>(projection: &RunProjection<'a>, chunk: Option<ScannedChunk<'a>>) -> Option<String> {
    let read = |held: RawValue<'a>| match (held, chunk) {
        (RawValue::Value(value), _) => Some(value),
        (held, chunk) => chunk?.read_value(held),
    };
    let value = |held: RawValue<'a>| match read(held)? {
        value @ (Value::Absent | Value::Missing) => Some(format!("{value:?}")),
        value => Some(json::to_json(&value)),
    };
    let mut out = format!("{} {}", projection.records_calls, projection.unusual);
    for held in &projection.roots {
        out.push_str(&format!(", {}", value(*held)?));
    }
    for call in &projection.calls {
        out.push_str(&format!("; {} {} {}", call.name, value(call.fields[0])?, value(call.fields[1])?));
    }
    Some(out)
}

/// What came of changing keys, in the order of the tables.
#[derive(Default)]
struct ChangedRows {
    /// Keys whose change the full reader does not tell, and those whose change no projection tells.
    unread: BTreeSet<usize>,
    passed_over: BTreeSet<usize>,
    /// Tables whose objects a projection reads.
    read_in_part: BTreeSet<String>,
    /// Where both readers say different things.
    wrong: Vec<String>,
}

impl ChangedRows {
    /// Changes a key wherever it stands in the samples.
    fn change(&mut self, number: usize, row: &str, samples: &[Vec<Json>], readers: &mut Readers) {
        let (mut in_full, mut in_part) = (false, false);
        for lines in samples {
            let places: usize = lines.iter().map(|line| occurrences(line, row)).sum();
            if places == 0 {
                continue;
            }
            let before = said(&text_of(lines, "", 0, &None), readers);
            let table = row.split('.').next().expect("a table").to_owned();
            self.read_in_part.extend(before.projected.iter().flatten().map(|_| table.clone()));
            for (place, change) in
                (0..places).flat_map(|place| changes().into_iter().map(move |change| (place, change)))
            {
                let after = said(&text_of(lines, row, place, &change), readers);
                in_full |= after.whole != before.whole;
                in_part |= after.projected != before.projected;
                self.wrong.extend(after.wrong.into_iter().map(|one| format!("{row} {change:?} {one}")));
            }
        }
        if !in_full {
            self.unread.insert(number);
        }
        if !in_part {
            self.passed_over.insert(number);
        }
    }

    /// Changes all keys, on several threads: this is the longest test here, and every key is looked at by itself.
    fn of_all(rows: &[String]) -> Self {
        let (samples, next) = (samples(), AtomicUsize::new(0));
        let work = || {
            let (mut found, mut readers) = (Self::default(), Readers::new());
            while let number = next.fetch_add(1, Ordering::Relaxed)
                && let Some(row) = rows.get(number)
            {
                found.change(number, row, &samples, &mut readers);
            }
            found
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
            threads.into_iter().fold(Self::default(), |mut all, thread| {
                let found = thread.join().expect("keys that are changed");
                all.unread.extend(found.unread);
                all.passed_over.extend(found.passed_over);
                all.read_in_part.extend(found.read_in_part);
                all.wrong.extend(found.wrong);
                all
            })
        })
    }
}

#[test]
fn both_readers_read_each_field_of_each_table() {
    let rows = all_keys();
    let found = ChangedRows::of_all(&rows);
    let (read_in_part, wrong) = (found.read_in_part, found.wrong);
    let named_rows = |numbers: BTreeSet<usize>| numbers.into_iter().map(|number| rows[number].clone()).collect();
    let (mut unread, passed_over): (Vec<String>, Vec<String>) =
        (named_rows(found.unread), named_rows(found.passed_over));
    assert!(wrong.is_empty(), "{wrong:#?}");
    // What a request costs by its model is asked for with a table of prices alone.
    unread.retain(|row| row != "ChatExchangeKey.model");
    assert!(unread.is_empty(), "the full reader does not look at {unread:?}, or no sample shows it");
    for (table, alone) in PROJECTED {
        assert!(read_in_part.contains(table), "no sample shows a projection objects of {table}");
        let of_table = passed_over.iter().filter_map(|row| row.strip_prefix(table)?.strip_prefix('.'));
        let of_table: Vec<&str> = of_table.collect();
        let alone = alone.map(|keys| keys.split_whitespace().collect());
        assert!(alone.is_none_or(|alone: Vec<&str>| alone == of_table), "{table}: no projection looks at {of_table:?}");
    }
}

/// Values that parts of calls and of runs may have.
fn values() -> Vec<Json> {
    vec![
        json!(null),
        json!(7),
        json!(1.5),
        json!("x"),
        json!("denied"),
        json!("2025-01-01T00:00:01Z"),
        json!("{\"n\": 1}"),
        json!({"n": 1}),
        json!([1]),
        json!(true),
        json!({"name": "x"}),
    ]
}

/// Values that speak of how a call ended.
fn endings() -> Vec<Json> {
    vec![
        json!("Error: no"),
        json!(""),
        json!("{\"success\": false}"),
        json!({"error": "x"}),
        json!({"isError": true, "content": []}),
        json!(false),
    ]
}

#[test]
fn both_readers_read_each_name_of_home_grown_formats_and_of_the_normal_form() {
    let names = PartNames::known_names();
    let of_calls: Vec<&str> =
        NamedPart::ALL.into_iter().flat_map(|part| names.names_of(part)).map(AsRef::as_ref).collect();
    let beside = ["is_error", "isError", "exit_code", "response", "parent_id"];
    let of_runs = of_run::ALL.into_iter().chain(StepKind::ALL.map(StepKind::list_key)).filter(|key| *key != "calls");
    let of_runs: Vec<&str> = of_runs.chain(of_calls.iter().copied()).collect();
    let (mut read, mut wrong, mut readers) = (0, Vec::new(), Readers::new());
    let mut look = |run: &Json| {
        let said = said(&run.to_string(), &mut readers);
        read += said.projected.iter().flatten().count();
        wrong.extend(said.wrong);
    };
    for (list, tool) in [("tool_calls", "name"), ("calls", "tool")] {
        for value in values().into_iter().chain(endings()) {
            for key in of_calls.iter().chain(&beside) {
                for other in ["result", "output", "duration_s", "start"] {
                    let mut call = json!({tool: "a"});
                    call[other] = json!(2);
                    call[*key] = value.clone();
                    look(&json!({list: [call, {tool: "b", "args": {"k": 1}}], "output": "o"}));
                }
            }
            for key in &of_runs {
                let mut run = json!({list: [{tool: "a"}], "output": "o"});
                run[*key] = value.clone();
                look(&run);
            }
        }
    }
    for (list, tool) in [("tool_calls", "name"), ("calls", "tool")] {
        for key in ["role", "text", "content", "start", "end", "duration", "turn", "id", "x"] {
            for value in values() {
                let mut message = json!({"role": "user", "content": "x"});
                message[key] = value;
                look(&json!({list: [{tool: "a"}], "messages": [message]}));
            }
        }
    }
    assert!(wrong.is_empty() && read > 5_000, "{read}: {wrong:#?}");
}
