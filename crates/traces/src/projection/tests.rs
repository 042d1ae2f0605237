//! The two readers of each format read the same fields: samples are changed field by field, and both have to say the same of each.

use super::{Chunk, Held, LineReader, Projection, ReadSet};
use crate::adapt::claude_code::{OfExport, OfLine};
use crate::adapt::fields::Row;
use crate::adapt::messages::{OfBlock, OfCall, OfMessage};
use crate::adapt::{OfChoice, OfExchange, OfResult};
use crate::names::{Names, Part};
use crate::scan::{Cursor, Index};
use crate::{RawRun, Runs, parse};
use averment_base::limits::Limits;
use averment_base::value::{Value, json};
use averment_runs::normal::of_run;
use averment_runs::run::{Kind, Run};
use bumpalo::Bump;
use serde_json::{Value as Json, json};

/// A row of a table: the table's name and the key, whether a projection has to look at it.
type Known = (String, &'static str, bool);

fn rows<F: Row>(projected: bool) -> Vec<Known> {
    let table = std::any::type_name::<F>().rsplit("::").next().expect("a name").to_owned();
    F::ALL.iter().map(|field| (table.clone(), field.key(), projected && field.becomes().is_projected())).collect()
}

/// All rows. Objects of some tables are read in full only, or their keys are told by marks.
fn all_rows() -> Vec<Known> {
    [
        rows::<OfMessage>(true),
        rows::<OfCall>(true),
        rows::<OfBlock>(true),
        rows::<OfLine>(true),
        rows::<OfExchange>(false),
        rows::<OfChoice>(false),
        rows::<OfResult>(false),
        rows::<OfExport>(false),
    ]
    .concat()
}

/// The files of the formats that projections read.
const PROJECTED: [&str; 4] =
    ["adapt/messages.rs", "adapt/openai_chat.rs", "adapt/tau_bench.rs", "adapt/claude_code.rs"];

#[test]
fn every_table_is_looked_at_here() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut open = vec![folder];
    let mut tables = 0;
    while let Some(folder) = open.pop() {
        for path in std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
            match path.is_dir() {
                true => open.push(path),
                // Of what no projection reads, golden files say how it is read.
                false if !PROJECTED.iter().any(|part| path.ends_with(part)) => {}
                false => {
                    let text = std::fs::read_to_string(path).expect("a source file");
                    tables += text.lines().filter(|line| *line == "fields! {").count();
                }
            }
        }
    }
    let mut known: Vec<String> = all_rows().into_iter().map(|(table, ..)| table).collect();
    known.dedup();
    assert_eq!(known.len(), tables, "name each table of fields in `all_rows`, and its rows in a sample");
}

/// Files in which each row stands: the key of a row has the name of its table in front.
fn samples() -> Vec<Vec<Json>> {
    let user = json!({"OfMessage.role": "user", "OfMessage.content": "hello"});
    let chat = json!([
        user,
        {"OfMessage.role": "assistant", "OfMessage.content": "so", "OfMessage.tool_calls": [
            {"OfCall.id": "a", "OfCall.function": {"OfCall.name": "get", "OfCall.arguments": "{\"n\":1}"}},
            {"OfCall.id": "b", "OfCall.custom": {"OfCall.name": "put", "OfCall.input": {"n": 2}}},
            {"OfCall.id": "c", "OfCall.name": "del", "OfCall.args": {"n": 3}},
            {"OfCall.name": "see", "OfCall.args": {"n": 4}},
            {"OfCall.name": "hear", "OfCall.args": {"n": 5}},
        ]},
        {"OfMessage.role": "tool", "OfMessage.tool_name": "hear", "OfMessage.content": "H"},
        {"OfMessage.role": "tool", "OfMessage.tool_call_id": "b", "OfMessage.content": "B"},
        {"OfMessage.role": "tool", "OfMessage.tool_call_id": "a", "OfMessage.status": "denied",
            "OfMessage.content": [{"OfBlock.type": "text", "OfBlock.text": "A"}]},
        {"OfMessage.role": "assistant", "OfMessage.content": null,
            "OfMessage.function_call": {"OfCall.name": "old", "OfCall.arguments": "{}"}},
        {"OfMessage.role": "function", "OfMessage.name": "old", "OfMessage.content": "D"},
        {"OfMessage.role": "assistant", "OfMessage.content": "all done"},
    ]);
    let blocks = json!([
        user,
        {"OfMessage.role": "assistant", "OfMessage.id": "m", "OfMessage.content": [
            {"OfBlock.type": "text", "OfBlock.text": "so"}, {"OfBlock.type": "thinking", "OfBlock.thinking": "hm"},
            {"OfBlock.type": "tool_use", "OfBlock.id": "a", "OfBlock.name": "get", "OfBlock.input": {"n": 1}},
        ]},
        {"OfMessage.role": "user", "OfMessage.content": [{"OfBlock.type": "tool_result", "OfBlock.tool_use_id": "a",
            "OfBlock.content": "The user doesn't want to proceed with this tool use.", "OfBlock.is_error": true}]},
        {"OfMessage.role": "assistant", "OfMessage.id": "m", "OfMessage.usage": {"input_tokens": 3},
            "OfMessage.content": [{"OfBlock.type": "text", "OfBlock.text": "done"}]},
    ]);
    let page = |key: &str, tool: Json| json!({"tools": [], "OfExchange.messages": [user, {"OfMessage.role": "assistant", "OfMessage.content": "x", key: [tool]}]});
    let mut samples = vec![
        vec![json!({"OfExchange.messages": chat, "OfExchange.id": "r", "OfExchange.tools": [{"name": "get"}]})],
        vec![json!({"OfExchange.messages": blocks, "OfExchange.usage": {"input_tokens": 1}, "OfExchange.model": "m"})],
        vec![json!({"OfResult.traj": chat, "reward": 1})],
        vec![
            json!({"OfResult.traj": [{"OfMessage.role": "user", "OfMessage.content": "x", "OfMessage.messages": []}]}),
        ],
        vec![json!({"OfExchange.messages": [user], "OfExchange.functions": []})],
        vec![page("OfMessage.toolInvocations", json!({"toolName": "a", "state": "call"}))],
        vec![page("OfMessage.parts", json!({"type": "dynamic-tool", "toolName": "b", "state": "call"}))],
        vec![
            json!({"OfMessage.role": "user", "OfMessage.content": "x", "OfMessage.type": "y"}),
            json!({"role": "user", "content": "x", "type": "y"}),
        ],
        vec![json!({
            "OfExchange.request": {"OfExchange.messages": [user], "OfExchange.tools": [{"OfCall.function": {"name": "f"}}]},
            "OfExchange.response": {"OfExchange.choices": [{"OfChoice.message": {"role": "assistant", "content": "yes"}}],
                "OfExchange.usage": {"input_tokens": 1}},
        })],
        vec![json!({"OfExport.loglines": session(&json!({}))})],
    ];
    // What tells a sub-agent from the main one decides about the output; what marks a session, whether it is one.
    for line in [
        json!({"OfLine.isSidechain": true, "OfLine.isMeta": true}),
        json!({"OfLine.agentId": "x"}),
        json!({"OfLine.parent_tool_use_id": "x"}),
    ] {
        samples.push(session(&line));
    }
    let mut denied = session(&json!({"OfLine.isApiErrorMessage": true}));
    denied.push(json!({"OfLine.type": "system", "OfLine.subtype": "permission_denied", "OfLine.tool_use_id": "b"}));
    samples.push(denied);
    let mut denied = session(&json!({}));
    denied.push(json!({"OfLine.type": "result", "OfLine.permission_denials": [{"OfLine.tool_use_id": "a"}]}));
    samples.push(denied);
    let mut aside = session(&json!({}));
    aside.push(
        json!({"OfLine.type": "progress", "OfLine.data": {"OfLine.agentId": "x", "OfLine.message": plain_line()}}),
    );
    samples.push(aside);
    let (said, summary) = (
        plain_line(),
        json!({
            "OfLine.type": "result", "OfLine.result": "sum", "OfLine.total_cost_usd": 0.5, "OfLine.usage": {"input_tokens": 9, "output_tokens": 9}, "OfLine.duration_ms": 12, "OfLine.num_turns": 2, "OfLine.is_error": true,
        }),
    );
    for mark in ["sessionId", "session_id", "leafUuid", "parentUuid", "uuid", "messageId"] {
        let mut line = json!({"OfLine.type": "summary", "OfLine.version": "1"});
        line[format!("OfLine.{mark}")] = json!("u");
        samples.push(vec![line, said.clone(), summary.clone()]);
    }
    let mut failed = json!({"OfLine.result": null, "OfLine.subtype": "max", "OfLine.is_error": true});
    failed["OfLine.type"] = json!("result");
    failed["OfLine.session_id"] = json!("s");
    samples.push(vec![said, failed]);
    samples
}

/// A line of a session without a mark.
fn plain_line() -> Json {
    json!({"OfLine.type": "assistant", "OfLine.timestamp": "2025-01-01T00:00:09Z", "OfLine.message":
        {"OfMessage.role": "assistant", "OfMessage.model": "m", "OfMessage.content": [{"OfBlock.type": "text", "OfBlock.text": "done"}]}})
}

/// A session whose last line is about this agent.
fn session(agent: &Json) -> Vec<Json> {
    let mut number = 0;
    let mut line = |kind: &str, message: Json| {
        number += 1;
        json!({"OfLine.sessionId": "s", "OfLine.uuid": format!("u{number}"), "OfLine.type": kind, "OfLine.message": message,
            "OfLine.timestamp": format!("2025-01-01T00:00:0{number}Z")})
    };
    let call = |id: &str, tool: &str, input: Json| json!({"OfBlock.type": "tool_use", "OfBlock.id": id, "OfBlock.name": tool, "OfBlock.input": input});
    let mut lines = vec![line("user", json!({"OfMessage.role": "user", "OfMessage.content": "hello"}))];
    for (id, tool, input, details) in [
        ("a", "Bash", json!({"OfArgs.command": "ls", "OfArgs.run_in_background": true}), json!({})),
        ("b", "Bash", json!({"OfArgs.command": "ls"}), json!({"OfDetails.returnCodeInterpretation": "x"})),
        ("c", "Bash", json!({"OfArgs.command": "ls"}), json!({"OfDetails.backgroundTaskId": "x"})),
        ("d", "Bash", json!({"OfArgs.command": "ls"}), json!({"OfDetails.interrupted": true})),
        ("e", "Read", json!({"OfArgs.file_path": "/a"}), json!({})),
        ("f", "NotebookRead", json!({"OfArgs.notebook_path": "/a"}), json!({})),
        ("g", "Skill", json!({"OfArgs.skill": "s"}), json!({})),
        ("h", "Skill", json!({"OfArgs.name": "s"}), json!({})),
        ("i", "WebFetch", json!({"OfArgs.url": "https://a.b"}), json!({"OfDetails.code": 200})),
    ] {
        lines.push(line(
            "assistant",
            json!({"OfMessage.role": "assistant", "OfMessage.id": id, "OfMessage.usage": {"input_tokens": 1}, "OfMessage.content": [call(id, tool, input)]}),
        ));
        let mut answer = line(
            "user",
            json!({"OfMessage.role": "user", "OfMessage.content": [{"OfBlock.type": "tool_result", "OfBlock.tool_use_id": id, "OfBlock.content": "fine"}]}),
        );
        answer[if id == "i" { "OfLine.tool_use_result" } else { "OfLine.toolUseResult" }] = details;
        lines.push(answer);
    }
    lines.push(json!({"OfLine.type": "system", "OfLine.subtype": "init", "OfLine.tools": ["Bash"], "OfLine.cwd": "/x",
        "OfLine.claude_code_version": "2", "OfLine.gitBranch": "m"}));
    let mut last = line("user", json!({"OfMessage.role": "user", "OfMessage.content": "more"}));
    last["OfLine.isMeta"] = json!(true);
    let mut summary = line("user", json!({"OfMessage.role": "user", "OfMessage.content": "so far"}));
    summary["OfLine.isCompactSummary"] = json!(true);
    lines.extend([last, summary, plain_line()]);
    let mut aside = plain_line();
    aside["OfLine.message"]["OfMessage.content"][0]["OfBlock.text"] = json!("aside");
    aside.as_object_mut().expect("a line").extend(agent.as_object().expect("an object").clone());
    lines.push(aside);
    lines
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
fn changed(value: &Json, row: &str, place: &mut usize, change: &Option<Json>) -> Json {
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
            let reader = LineReader::new(&read_set, Names::known()).expect("nothing is put together");
            (read_set, reader)
        };
        Self(ASKED.iter().map(reader).collect())
    }
}

fn said(text: &str, readers: &mut Readers) -> BothReadings {
    let limits = Limits::default();
    let first = Runs::new("sample", std::io::Cursor::new(text.to_owned().into_bytes()), &limits).next();
    let raw = first.expect("a run").expect("good JSON");
    let arena = Bump::new();
    let run = parse(&raw, &arena, &limits);
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
    let text = raw.text();
    let (arena, limits) = (Bump::new(), Limits::default());
    let mut index = Index::default();
    index.build(text.as_bytes()).expect("memory");
    let cursor = Cursor::new(text.as_bytes(), &index, limits.json_depth);
    let chunk = Chunk { text, cursor, arena: &arena, limits: &limits };
    let mut projection = Projection::default();
    match raw.is_plain_session() {
        true => reader.read_session(chunk, index.line_ends(), &mut projection)?,
        false => reader.read(chunk, 0, text.trim_end().len(), &mut projection)?,
    }
    let fast = shown(&projection, Some(chunk))?;
    let full = run.and_then(|run| {
        let mut of_run = Projection::default();
        of_run.of_run(run, read_set);
        // Times that the bytes tell are those of the run.
        for (fast, full) in projection.calls.iter().zip(&of_run.calls).filter(|(fast, _)| fast.times.is_some()) {
            if fast.times != full.times {
                wrong.push(format!("{:?} from the bytes, but {:?} from the run: {text}", fast.times, full.times));
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
fn shown<'a>(projection: &Projection<'a>, chunk: Option<Chunk<'a>>) -> Option<String> {
    let read = |held: Held<'a>| match (held, chunk) {
        (Held::Value(value), _) => Some(value),
        (held, chunk) => chunk?.read(held),
    };
    let value = |held: Held<'a>| match read(held)? {
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

#[test]
fn both_readers_read_each_field_of_each_table() {
    let (samples, mut readers) = (samples(), Readers::new());
    let (mut unread, mut passed_over, mut looked_at, mut wrong) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (table, key, projected) in all_rows() {
        let row = format!("{table}.{key}");
        let (mut in_full, mut in_part) = (false, false);
        for lines in &samples {
            let places: usize = lines.iter().map(|line| occurrences(line, &row)).sum();
            if places == 0 {
                continue;
            }
            let before = said(&text_of(lines, "", 0, &None), &mut readers);
            for (place, change) in
                (0..places).flat_map(|place| changes().into_iter().map(move |change| (place, change)))
            {
                let after = said(&text_of(lines, &row, place, &change), &mut readers);
                in_full |= after.whole != before.whole;
                in_part |= after.projected != before.projected;
                wrong.extend(after.wrong.into_iter().map(|one| format!("{row} {change:?} {one}")));
            }
        }
        if !in_full {
            unread.push(row.clone());
        }
        if projected && !in_part {
            passed_over.push(row.clone());
        }
        if in_part && !projected && ["OfMessage", "OfCall", "OfBlock", "OfLine"].contains(&table.as_str()) {
            looked_at.push(row);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // What a request costs by its model is asked for with a table of prices alone.
    unread.retain(|row| row != "OfExchange.model");
    assert!(unread.is_empty(), "the full reader does not look at {unread:?}, or no sample shows it");
    assert!(passed_over.is_empty(), "a projection does not look at {passed_over:?}, or no sample shows it");
    assert!(looked_at.is_empty(), "a projection looks at {looked_at:?}, whose rows say that it does not");
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

#[test]
fn both_readers_read_each_name_of_home_grown_formats_and_of_the_normal_form() {
    let names = Names::known();
    let of_calls: Vec<&str> = Part::ALL.into_iter().flat_map(|part| names.of(part)).map(AsRef::as_ref).collect();
    let of_runs = of_run::ALL.into_iter().chain(Kind::ALL.map(Kind::list_key)).filter(|key| *key != "calls");
    let of_runs: Vec<&str> = of_runs.chain(of_calls.iter().copied()).collect();
    let (mut read, mut wrong, mut readers) = (0, Vec::new(), Readers::new());
    let mut look = |run: &Json| {
        let said = said(&run.to_string(), &mut readers);
        read += said.projected.iter().flatten().count();
        wrong.extend(said.wrong);
    };
    for (list, tool) in [("tool_calls", "name"), ("calls", "tool")] {
        for value in values() {
            for key in &of_calls {
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
