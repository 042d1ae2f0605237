//! Runs that other projects recorded and published, against what an independent script read from them.

use averment_base::limits::Limits;
use averment_base::value::Value;
use averment_fixtures::shared;
use averment_runs::run::{Run, StepKind, StepStatus};
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What the script counted.
#[derive(Debug, PartialEq, Default)]
struct Counts {
    tools: Vec<String>,
    with_result: u64,
    errors: u64,
    duplicate_ids: u64,
}

fn count(run: &Run<'_>) -> Counts {
    let mut counts = Counts::default();
    let mut ids = BTreeMap::new();
    for call in run.steps.iter().filter(|step| step.kind == StepKind::Call) {
        counts.tools.push(call.name.to_owned());
        let has = |key| call.object.get(key).is_some_and(|node| !matches!(node.value, Value::Absent));
        counts.with_result += u64::from(has("result"));
        counts.errors += u64::from(has("error"));
        if let Some(Value::Text(id)) = call.object.get("id").map(|node| node.value) {
            *ids.entry(id.as_str().to_owned()).or_insert(0) += 1;
        }
    }
    counts.duplicate_ids = ids.values().filter(|count| **count > 1).map(|count| count - 1).sum();
    counts
}

fn expected(entry: &Json) -> Counts {
    Counts {
        tools: entry["tools"].as_array().unwrap().iter().map(|tool| tool.as_str().unwrap().to_owned()).collect(),
        with_result: entry["n_with_result"].as_u64().unwrap(),
        errors: entry["n_error"].as_u64().unwrap(),
        duplicate_ids: entry["dup_ids"].as_u64().unwrap(),
    }
}

/// Looks at every run of a file.
fn each_run(path: &Path, mut look: impl FnMut(usize, &Run<'_>)) {
    let limits = Limits::default();
    for (position, raw) in TraceRuns::open_file(path.to_str().unwrap(), &limits).unwrap().enumerate() {
        let raw = raw.unwrap_or_else(|error| panic!("{error}"));
        let arena = Bump::new();
        let run = parse_run(&raw, &arena, &limits).unwrap_or_else(|error| panic!("{error}"));
        look(position, &run);
    }
}

/// Files of which the independent reading is wrong, each with the place that proves it.
const WRONG: [(&str, &str); 2] = [
    // Its answers are streams, of which the last one asks for a fourth call.
    ("openai_chat/pai_complex_agent_run.json", "final_result"),
    // `events[2]` is a command that ended with code 0.
    ("codex_exec_json/codex_exec_json.json", "command_execution"),
];

#[test]
fn conformance_of_traces_with_an_independent_reading() {
    let Some(folder) = shared("traces") else { return };
    let oracle: Json = serde_json::from_str(&std::fs::read_to_string(folder.join("oracle.json")).unwrap()).unwrap();
    let (mut agreed_in_all, mut otherwise) = (0, 0);
    let counted = |entry: &&Json| entry["n_calls"].is_u64();
    let formats: BTreeSet<&str> =
        oracle.as_array().unwrap().iter().filter(counted).filter_map(|entry| entry["format"].as_str()).collect();
    for format in formats.into_iter().filter(|format| !OF_SPANS.contains(format)) {
        let is_of = |entry: &&Json| entry["format"] == format && counted(entry);
        let entries: Vec<_> = oracle.as_array().unwrap().iter().filter(is_of).collect();
        let (mut agreed, mut calls, mut disagreed) = (0, 0, Vec::new());
        for entry in &entries {
            let (file, position) =
                entry["file"].as_str().unwrap().split_once('#').unwrap_or((entry["file"].as_str().unwrap(), "0"));
            each_run(&folder.join(format).join(file), |found, run| {
                if found == position.parse::<usize>().unwrap() {
                    let (ours, theirs) = (count(run), expected(entry));
                    calls += ours.tools.len();
                    let wrong = WRONG.iter().any(|(file, tool)| {
                        folder.join(file) == folder.join(format).join(entry["file"].as_str().unwrap())
                            && ours.tools.iter().any(|name| name == tool)
                    });
                    if ours == theirs || wrong {
                        agreed += 1;
                        otherwise += usize::from(ours != theirs);
                    } else {
                        disagreed.push(format!("{file}#{position}: {ours:?} instead of {theirs:?}"))
                    }
                }
            });
        }
        eprintln!("{format}: {agreed}/{} runs agree, {calls} calls", entries.len());
        assert!(disagreed.is_empty() && agreed == entries.len(), "{format}: {disagreed:#?}");
        assert!(agreed > 0);
        agreed_in_all += agreed;
    }
    let agreed = agreed_in_all - otherwise;
    eprintln!("oracle.json, all but spans: {agreed} runs agree, {otherwise} decided otherwise, 0 wrong");
    assert_eq!(otherwise, WRONG.len());
}

/// The formats in which runs are recorded as spans.
const OF_SPANS: [&str; 7] = [
    "otel_otlp_json",
    "otel_jaeger",
    "otel_flat_spans",
    "openinference",
    "vercel_ai_sdk",
    "deepeval_trace",
    "langchain_messages",
];

/// `[1].span_events[0].body.output.messages[0].content` is the answer of a tool that was called; the independent reading looks at attributes.
const BODIES: &str = "openinference_adot_spans.json";
/// `[4].span_events[0]` holds what the model was told of `call_london_001`; the independent reading looks at the spans of tools alone.
const TOLD: &str = "otel_genai_convention_spans.json";

#[test]
fn conformance_of_traces_of_spans() {
    let Some(folder) = shared("traces") else { return };
    let oracle: Json = serde_json::from_str(&std::fs::read_to_string(folder.join("oracle.json")).unwrap()).unwrap();
    let (mut agreed, mut otherwise, mut disagreed) = (0, 0, Vec::new());
    for entry in oracle.as_array().unwrap().iter().filter(|entry| OF_SPANS.iter().any(|one| entry["format"] == *one)) {
        let (format, file) = (entry["format"].as_str().unwrap(), entry["file"].as_str().unwrap());
        let mut all = Counts::default();
        each_run(&folder.join(format).join(file), |_, run| {
            let counts = count(run);
            all.tools.extend(counts.tools);
            all.with_result += counts.with_result;
            all.errors += counts.errors;
            all.duplicate_ids += counts.duplicate_ids;
        });
        let expected = expected(entry);
        if all == expected {
            agreed += 1;
        } else if file == BODIES {
            assert_eq!(all.tools, ["get_weather"], "{file}");
            otherwise += 1;
        } else if file == TOLD {
            assert_eq!((all.tools.len(), all.with_result), (expected.tools.len(), 2), "{file}");
            otherwise += 1;
        } else {
            disagreed.push(format!("{format}/{file}: {all:?} instead of {expected:?}"));
        }
    }
    eprintln!("oracle.json, spans: {agreed} files agree, {otherwise} decided otherwise, {} wrong", disagreed.len());
    assert!(disagreed.is_empty(), "{disagreed:#?}");
}

fn session(name: &str, look: impl Fn(&Run<'_>)) {
    let Some(path) = shared(&format!("traces/claude_code_jsonl/{name}")) else { return };
    let mut found = 0;
    each_run(&path, |_, run| {
        found += 1;
        look(run);
    });
    assert_eq!(found, 1, "a session is one run");
}

fn number(run: &Run<'_>, root: &str, key: &str) -> Option<i64> {
    let Value::Object(object) = run.root_value(root).value else { return None };
    match object.get(key)?.value {
        Value::Number(number) => number.as_i64(),
        _ => None,
    }
}

fn of_kind<'a, 'run>(run: &'a Run<'run>, kind: StepKind) -> Vec<&'a averment_runs::run::Step<'run>> {
    run.steps.iter().filter(|step| step.kind == kind).collect()
}

#[test]
fn usage_counts_every_message_once() {
    session("fe5e1c67-53e7-4862-81ae-d0e013e3270b.jsonl", |run| {
        assert_eq!(number(run, "usage", "output_tokens"), Some(51_933));
    });
    session("1af7fc5e-8455-4414-9ccd-011d40f70b2a.jsonl", |run| {
        assert_eq!(number(run, "usage", "output_tokens"), Some(953));
    });
    session("web_sample_session.json", |run| assert!(matches!(run.root_value("usage").value, Value::Absent)));
}

#[test]
fn the_tools_of_claude_code_give_commands_reads_and_writes() {
    session("fe5e1c67-53e7-4862-81ae-d0e013e3270b.jsonl", |run| {
        let named =
            |tool: &[&str]| of_kind(run, StepKind::Call).iter().filter(|call| tool.contains(&call.name)).count();
        assert_eq!(of_kind(run, StepKind::Command).len(), named(&["Bash"]));
        assert_eq!(of_kind(run, StepKind::Read).len(), named(&["Read"]));
        assert_eq!(of_kind(run, StepKind::Write).len(), named(&["Write", "Edit", "MultiEdit"]));
        // Each stands right behind its call.
        for (place, step) in run.steps.iter().enumerate().filter(|(_, step)| step.kind == StepKind::Command) {
            assert_eq!(run.steps[place - 1].name, "Bash");
            assert_eq!(run.steps[place - 1].status, step.status);
        }
        assert!(run.is_ordered(StepKind::Call, StepKind::Read));
        assert!(run.records_kind(StepKind::Skill) && !run.records_kind(StepKind::Span));
        // 19 commands failed or not, 9 with an error.
        assert_eq!(of_kind(run, StepKind::Command).iter().filter(|step| step.status == StepStatus::Failed).count(), 9);
    });
}

#[test]
fn a_refused_call_was_not_executed() {
    session("1af7fc5e-8455-4414-9ccd-011d40f70b2a.jsonl", |run| {
        let refused: Vec<_> = run.steps.iter().filter(|step| step.status == StepStatus::Denied).collect();
        assert_eq!(refused.len(), 1);
        assert_eq!(refused[0].name, "Write");
        assert!(of_kind(run, StepKind::Write).is_empty(), "nothing was written");
        assert_eq!(number(run, "meta", "cwd"), None);
        assert_eq!(run.id, Some("1af7fc5e-8455-4414-9ccd-011d40f70b2a"));
    });
}

#[test]
fn lines_that_are_nothing_known_are_passed_over_with_a_warning() {
    session("edge_cases.jsonl", |run| {
        let messages: Vec<_> = run.warnings.iter().map(|warning| warning.message.as_str()).collect();
        assert_eq!(messages.iter().filter(|message| message.starts_with("a line that is no object")).count(), 3);
        assert!(messages.contains(&"a line without `type` is skipped"));
        assert!(messages.contains(&"a message without `content` is skipped"));
    });
}

#[test]
fn the_file_of_a_sub_agent_is_a_run_of_its_own() {
    session("subagent_agent-a2898e3.jsonl", |run| {
        let agents: Vec<_> = run.steps.iter().map(|step| step.object.get("agent").unwrap().value).collect();
        assert!(agents.iter().all(|agent| matches!(agent, Value::Text(agent) if agent.as_str() == "a2898e3")));
        assert!(matches!(run.root_value("output").value, Value::Text(text) if !text.is_empty()));
        // It was the main agent that told it what to do.
        assert_eq!(of_kind(run, StepKind::Message)[0].name, "task");
        let times = run
            .steps
            .iter()
            .filter(|step| step.kind == StepKind::Call)
            .all(|call| call.start.is_some() && call.end.is_some());
        assert!(times);
    });
}

#[test]
fn a_conversation_does_not_say_whether_a_call_succeeded() {
    let Some(path) = shared("traces/tau_bench/gpt-4o-airline.reward0.first8.json") else { return };
    each_run(&path, |_, run| {
        for call in of_kind(run, StepKind::Call) {
            assert_eq!(call.status, StepStatus::Unknown);
            assert_eq!((call.start, call.turn.is_some()), (None, true));
            assert!(matches!(call.object.get("args").unwrap().value, Value::Object(_)));
            // Arguments stand inside text, and still point at their bytes.
            let place = call.object.get("args").unwrap().origin.byte_range().unwrap();
            assert!(run.text[place].starts_with('{'));
        }
        assert!(matches!(run.root_value("usage").value, Value::Absent));
    });
}

#[test]
fn requests_and_responses_are_one_conversation() {
    let Some(path) = shared("traces/openai_chat/pai_hitl_tool.json") else { return };
    each_run(&path, |_, run| {
        assert_eq!(number(run, "usage", "total_tokens"), Some(269));
        assert_eq!(number(run, "usage", "input_tokens"), Some(204));
        let names: Vec<_> = run.steps.iter().map(|step| step.name).collect();
        assert_eq!(names, ["system", "user", "delete_file", "create_file", "assistant"]);
        assert!(run.warnings.is_empty(), "{:?}", run.warnings);
        assert!(
            matches!(run.root_value("output").value, Value::Text(text) if text.as_str().starts_with("The file `.env`"))
        );
        assert!(matches!(run.root_value("tools").value, Value::List(tools) if tools.len() == 2));
    });
}

/// `facts.json`: answers to typical questions about some of the files, found independently.
#[test]
fn facts_about_sessions_agree() {
    let Some(folder) = shared("traces") else { return };
    let facts: Json = serde_json::from_str(&std::fs::read_to_string(folder.join("facts.json")).unwrap()).unwrap();
    let mut checked = 0;
    for (file, fact) in facts.as_object().unwrap() {
        each_run(&folder.join(file), |_, run| {
            let calls = of_kind(run, StepKind::Call);
            assert_eq!(calls.len() as u64, fact["n_calls"].as_u64().unwrap(), "{file}");
            let mut turns = BTreeMap::new();
            calls.iter().for_each(|call| *turns.entry(call.turn).or_insert(0) += 1);
            let parallel = turns.values().filter(|count| **count > 1).count() as u64;
            assert_eq!(parallel, fact["messages_with_parallel_calls"].as_u64().unwrap(), "{file}");
            assert_eq!(longest_repetition(run), fact["max_identical_consecutive_calls"].as_u64().unwrap(), "{file}");
            assert_eq!(
                edits_unseen(&calls),
                fact["edit_without_prior_successful_read_or_write_same_path"].to_string().replace(' ', ""),
                "{file}"
            );
            checked += 1;
        });
    }
    eprintln!("facts: {checked}/{} files agree", facts.as_object().unwrap().len());
}

fn longest_repetition(run: &Run<'_>) -> u64 {
    use averment_base::value::compare::values_equal;
    let calls = of_kind(run, StepKind::Call);
    let (mut longest, mut current) = (u64::from(!calls.is_empty()), 1);
    for pair in calls.windows(2) {
        let args = |at: usize| pair[at].object.get("args").unwrap().value;
        current = if pair[0].name == pair[1].name && values_equal(&args(0), &args(1)) { current + 1 } else { 1 };
        longest = longest.max(current);
    }
    longest
}

/// The positions of edits of a file that was neither read nor written before with success.
fn edits_unseen(calls: &[&averment_runs::run::Step<'_>]) -> String {
    let path = |call: &averment_runs::run::Step<'_>| match call.object.get("args")?.value {
        Value::Object(args) => match args.get("file_path")?.value {
            Value::Text(path) => Some(path.as_str().to_owned()),
            _ => None,
        },
        _ => None,
    };
    let mut seen = Vec::new();
    let mut unseen = Vec::new();
    for (position, call) in calls.iter().enumerate() {
        let Some(path) = path(call) else { continue };
        let edits = matches!(call.name, "Edit" | "MultiEdit");
        if edits && call.status != StepStatus::Failed && !seen.contains(&path) {
            unseen.push(position);
        }
        if call.status == StepStatus::Ok && (edits || matches!(call.name, "Read" | "Write")) {
            seen.push(path);
        }
    }
    format!("{unseen:?}").replace(' ', "")
}

/// A file of a format that is not known must not look like a run in which nothing was called.
#[test]
fn no_file_loses_its_calls_in_silence() {
    let Some(folder) = shared("traces") else { return };
    let oracle: Json = serde_json::from_str(&std::fs::read_to_string(folder.join("oracle.json")).unwrap()).unwrap();
    let limits = Limits::default();
    let (mut agreed, mut refused, mut unrecorded, mut wrong) = (0, 0, 0, Vec::new());
    for entry in oracle.as_array().unwrap() {
        let (format, file) = (entry["format"].as_str().unwrap(), entry["file"].as_str().unwrap());
        let Some(calls) = entry["n_calls"].as_u64().filter(|calls| *calls > 0 && !file.contains('#')) else { continue };
        let (mut found, mut recorded, mut failed) = (0, false, false);
        for raw in TraceRuns::open_file(folder.join(format).join(file).to_str().unwrap(), &limits).unwrap() {
            let arena = Bump::new();
            match raw.and_then(|raw| {
                parse_run(&raw, &arena, &limits)
                    .map(|run| (run.records_kind(StepKind::Call), of_kind(&run, StepKind::Call).len() as u64))
            }) {
                Ok((records, count)) => {
                    recorded |= records;
                    found += count;
                }
                Err(_) => failed = true,
            }
        }
        match () {
            () if found == calls => agreed += 1,
            () if WRONG.iter().any(|(known, _)| *known == format!("{format}/{file}")) => agreed += 1,
            () if failed => refused += 1,
            () if !recorded => unrecorded += 1,
            () => wrong.push(format!("{format}/{file}: {found} calls instead of {calls}")),
        }
    }
    eprintln!(
        "files with calls: {agreed} read, {refused} refused, {unrecorded} without recorded calls, {} wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}
