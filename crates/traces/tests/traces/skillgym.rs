//! Transcripts of agents, beside the reports that SkillGym made of them: what was said, called, run, read and which skills were used agrees,
//! or its adapter is plainly wrong, which a table says.

use averment_base::limits::Limits;
use averment_base::value::Value;
use averment_base::value::json::to_json;
use averment_fixtures::shared;
use averment_runs::run::{Run, StepKind};
use averment_traces::read::{RawRun, ReadOptions, parse_under};
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Where the two differ: the transcript, what of it, and why the run is right.
const DIFFERENT: &[(&str, &str, &str)] = &[
    ("claude-code/basic_skill_flow", "input", "what is written to a cache is input"),
    (
        "claude-code/edge_tools",
        "args",
        "a call whose tool has an empty name was asked for, and stands in the transcript",
    ),
    ("claude-code/edge_tools", "calls", "the same"),
    (
        "claude-code/edge_tools",
        "commands",
        "`bash` and `cmd` name a shell and its command as well as `Bash` and `command`",
    ),
    ("claude-code/edge_tools", "generated", "every answer counts, not the last line alone where that has less"),
    ("claude-code/edge_tools", "input", "the same"),
    ("claude-code/edge_tools", "messages", "what the user says is said"),
    ("claude-code/edge_tools", "output", "the answer of a sub-agent is not that of the run"),
    ("claude-code/edge_tools", "reads", "`Read` with `path` reads, too"),
    ("claude-code/edge_tools", "results", "a result that no call waits for is none; an image is no text"),
    ("claude-code/garbage_lines", "generated", "answers count without a last line"),
    ("claude-code/garbage_lines", "input", "the same"),
    ("claude-code/skill_dirs", "generated", "answers count without a last line"),
    ("claude-code/skill_dirs", "input", "the same"),
    ("claude-code/skill_dirs", "output", "the transcript itself is no answer"),
    ("claude-code/usage_only_cache", "cached", "the last line counts less than the answers"),
    ("claude-code/usage_only_cache", "generated", "the same"),
    ("claude-code/usage_only_cache", "input", "the same"),
    ("codex/exec_json_stdout", "args", "`command_execution` is a call of the shell"),
    ("codex/exec_json_stdout", "calls", "the same"),
    ("codex/exec_json_stdout", "commands", "the same"),
    ("codex/exec_json_stdout", "messages", "`reasoning` is a thought"),
    ("codex/exec_json_stdout", "results", "`aggregated_output` is a result"),
    ("copilot/full", "cached", "the counts stand in another file, the spans of the session"),
    ("copilot/full", "generated", "the same"),
    ("copilot/full", "input", "the same"),
    (
        "copilot/full",
        "commands",
        "a command is told once, where it was called; one that was denied did not run; `cmd` names a command",
    ),
    (
        "copilot/full",
        "results",
        "an error is no result; a result that no call waits for is none; what the model was given of a file counts",
    ),
    ("cursor-agent/full", "args", "a call that only ended was made"),
    ("cursor-agent/full", "calls", "the same"),
    ("cursor-agent/full", "messages", "`thinking` is a thought"),
    ("cursor-agent/full", "reads", "`cat` and `sed` are commands; `read-lints` reads no file"),
    ("cursor-agent/full", "results", "what came back is what stands in the envelope"),
    ("opencode/export_reasoning_is_last", "output", "a thought is no answer"),
];

/// What a run says, by kind, each in its order.
type Said = BTreeMap<&'static str, Vec<String>>;

fn ours(run: &Run<'_>) -> Said {
    let mut said = Said::new();
    let text = |value: Option<Value<'_>>| match value {
        Some(Value::Text(text)) => text.as_str().to_owned(),
        Some(Value::Absent | Value::Missing) | None => String::new(),
        Some(other) => to_json(&other),
    };
    for step in run.steps {
        let of = |key: &str| step.object.get(key).map(|node| node.value);
        match step.kind {
            StepKind::Call => {
                said.entry("calls").or_default().push(step.name.to_owned());
                let args: Json = serde_json::from_str(&text(of("args"))).unwrap_or(Json::Null);
                said.entry("args").or_default().push(args.to_string());
                let result = text(of("result"));
                said.entry("results").or_default().extend((!result.is_empty()).then_some(result));
            }
            StepKind::Message => {
                let role = if step.name == "thinking" { "assistant thinking" } else { step.name };
                said.entry("messages").or_default().push(format!("{role}: {}", text(of("text"))));
            }
            StepKind::Command => said.entry("commands").or_default().push(step.name.to_owned()),
            StepKind::Read => said.entry("reads").or_default().push(step.name.to_owned()),
            StepKind::Skill => said.entry("skills").or_default().push(step.name.to_owned()),
            StepKind::Write | StepKind::Http | StepKind::Span | StepKind::Handover => {}
        }
    }
    said.insert("output", vec![text(Some(run.root_value("output").value))]);
    for (key, name) in [("input", "input_tokens"), ("generated", "output_tokens"), ("cached", "cache_read_tokens")] {
        let count = match run.root_value("usage").field(name).value {
            Value::Number(number) => number.as_i64().unwrap_or_default().to_string(),
            _ => "0".to_owned(),
        };
        said.insert(key, vec![count]);
    }
    said
}

fn theirs(report: &Json) -> Said {
    let mut said = Said::new();
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    for event in report["events"].as_array().unwrap() {
        match event["type"].as_str().unwrap() {
            "message" => {
                let thinks = if event["phase"] == "thinking" { " thinking" } else { "" };
                let line = format!("{}{thinks}: {}", text(&event["role"]), text(&event["text"]));
                said.entry("messages").or_default().push(line);
            }
            "toolCall" => {
                said.entry("calls").or_default().push(text(&event["tool"]));
                said.entry("args").or_default().push(event["args"].to_string());
            }
            "toolResult" => said.entry("results").or_default().push(text(&event["output"])),
            "command" => said.entry("commands").or_default().push(text(&event["command"])),
            "fileRead" => said.entry("reads").or_default().push(text(&event["path"])),
            "skillSignal" => said.entry("skills").or_default().push(text(&event["skill"])),
            other => panic!("an event of type {other}"),
        }
    }
    said.insert("output", vec![text(&report["finalOutput"])]);
    for (key, name) in [("input", "inputTokens"), ("generated", "outputTokens"), ("cached", "cacheTokens")] {
        said.insert(key, vec![report["usage"][name].as_i64().unwrap_or_default().to_string()]);
    }
    said
}

/// Whether two lists say the same. Paths are resolved there against the folder of the session; they end alike.
fn same(kind: &str, ours: &[String], theirs: &[String]) -> bool {
    let plain = |path: &str| path.trim().trim_start_matches("docs/../").to_owned();
    match kind {
        "reads" => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| !a.is_empty() && b.ends_with(&plain(a)))
        }
        "results" => {
            let sorted = |list: &[String]| list.iter().cloned().collect::<BTreeSet<_>>();
            sorted(ours) == sorted(theirs)
        }
        _ => ours == theirs,
    }
}

fn read(path: &Path) -> Option<Said> {
    let limits = Limits::default();
    let raw = TraceRuns::open_file(path.to_str().unwrap(), &limits).ok()?.next()?.ok()?;
    let arena = Bump::new();
    parse_run(&raw, &arena, &limits).ok().map(|run| ours(&run))
}

/// What differs under `--compat skillgym`: the transcript, what of it, and why.
const DIFFERENT_ALIKE: &[(&str, &str, &str)] = &[
    ("copilot/full", "cached", "the counts stand in another file, the spans of the session"),
    ("copilot/full", "generated", "the same"),
    ("copilot/full", "input", "the same"),
    ("cursor-agent/no_result_no_usage", "messages", "nothing in it tells that it is Cursor's and not Claude Code's"),
];

/// What a transcript says to SkillGym, and what its report of it says, both as runs.
fn alike(transcript: &RawRun, report: &str) -> (Said, Said) {
    let (limits, arena) = (Limits::default(), Bump::new());
    let told = ReadOptions { as_skillgym: true, ..ReadOptions::default() };
    let transcript = ours(&parse_under(transcript, &arena, &limits, told).unwrap());
    let report =
        TraceRuns::new("report", std::io::Cursor::new(report.as_bytes().to_vec()), &limits).next().unwrap().unwrap();
    (transcript, ours(&parse_run(&report, &arena, &limits).unwrap()))
}

/// Texts that are JSON in one order of their keys: the vectors are read and written before they are compared.
fn as_json(list: &[String]) -> Vec<String> {
    list.iter().map(|text| serde_json::from_str::<Json>(text).map_or(text.clone(), |json| json.to_string())).collect()
}

/// The kinds of which the two say something else.
fn differences((a, b): &(Said, Said)) -> (usize, Vec<(&'static str, String)>) {
    let kinds: BTreeSet<&'static str> = a.keys().chain(b.keys()).copied().collect();
    let (mut agreed, mut differ) = (0, Vec::new());
    for kind in kinds {
        let (a, b) = (a.get(kind).cloned().unwrap_or_default(), b.get(kind).cloned().unwrap_or_default());
        match same(kind, &a, &b) || kind == "results" && as_json(&a) == as_json(&b) {
            true => agreed += 1,
            false => differ.push((kind, format!("\n  ours   {a:?}\n  theirs {b:?}"))),
        }
    }
    (agreed, differ)
}

#[test]
fn conformance_of_traces_as_skillgym_reads_them() {
    let Some(folder) = shared("conformance/skillgym") else { return };
    let (mut transcripts, mut agreed, mut wrong, mut used) = (0, 0, Vec::new(), BTreeSet::new());
    let mut compare = |name: &str, transcript: &RawRun, report: &Json| {
        transcripts += 1;
        let (same, differ) = differences(&alike(transcript, &report.to_string()));
        agreed += same;
        for (kind, text) in differ {
            match DIFFERENT_ALIKE.iter().find(|(file, what, _)| *file == name && *what == kind) {
                Some(known) => drop(used.insert(*known)),
                None => wrong.push(format!("{name} {kind}:{text}")),
            }
        }
    };
    let limits = Limits::default();
    for path in reports(&folder.join("transcripts")) {
        let stem = path.to_string_lossy().trim_end_matches(".report.json").to_owned();
        let name = Path::new(&stem).strip_prefix(folder.join("transcripts")).unwrap().to_string_lossy().into_owned();
        let transcript =
            [".jsonl", ".json"].iter().map(|ending| format!("{stem}{ending}")).find(|name| Path::new(name).exists());
        let report: Json = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let raw = TraceRuns::open_file(&transcript.unwrap(), &limits).unwrap().next().unwrap();
        // A transcript without a word is no run.
        if let Some(raw) = raw.ok().filter(|raw| parse_run(raw, &Bump::new(), &limits).is_ok()) {
            compare(&name, &raw, report.get("report").unwrap_or(&report));
        }
    }
    let vectors = std::fs::read_to_string(folder.join("unit_test_normalize.jsonl")).unwrap();
    for vector in vectors.lines().map(|line| serde_json::from_str::<Json>(line).unwrap()) {
        let text = match &vector["artifacts"]["rawSession"] {
            Json::Null => vector["artifacts"]["stdout"].as_str().unwrap().to_owned(),
            Json::Array(lines) => lines.iter().map(|line| format!("{line}\n")).collect(),
            other => other.to_string(),
        };
        let raw = TraceRuns::new("vector", std::io::Cursor::new(text.into_bytes()), &limits).next().unwrap();
        if let Some(raw) = raw.ok().filter(|raw| parse_run(raw, &Bump::new(), &limits).is_ok()) {
            let mut report = vector["expected_report"].clone();
            // Without an answer what was printed is one; some of these say that nothing was.
            if vector["agent"] == "cursor-agent" && vector["artifacts"]["stdout"] == "" && report["finalOutput"] == "" {
                report["finalOutput"] = raw.run_text().into();
            }
            compare(vector["test"].as_str().unwrap(), &raw, &report);
        }
    }
    eprintln!("As SkillGym reads them: of {transcripts} transcripts {agreed} lists agree, {} differ", used.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(DIFFERENT_ALIKE.iter().all(|row| used.contains(row)), "rows that no transcript shows");
    assert!(transcripts > 12, "{transcripts}");
}

/// The reports in a folder and its folders.
fn reports(folder: &Path) -> Vec<std::path::PathBuf> {
    let agents = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = agents.flat_map(|agent| std::fs::read_dir(agent).unwrap().map(|entry| entry.unwrap().path()));
    let mut reports: Vec<_> = files.filter(|path| path.to_string_lossy().ends_with(".report.json")).collect();
    reports.sort();
    reports
}

#[test]
fn conformance_of_traces_with_reports_of_skillgym() {
    let Some(folder) = shared("conformance/skillgym/transcripts") else { return };
    let (mut transcripts, mut agreed, mut wrong, mut used) = (0, 0, Vec::new(), BTreeSet::new());
    for path in reports(&folder) {
        let stem = path.to_string_lossy().trim_end_matches(".report.json").to_owned();
        let transcript =
            [".jsonl", ".json"].iter().map(|ending| format!("{stem}{ending}")).find(|name| Path::new(name).exists());
        let name = Path::new(&stem).strip_prefix(&folder).unwrap().to_string_lossy().into_owned();
        let report: Json = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let report = report.get("report").unwrap_or(&report);
        // A transcript without a word is no run here, and a report without an event there.
        let Some(ours) = read(Path::new(&transcript.unwrap())) else {
            assert_eq!(report["events"], serde_json::json!([]), "{name} is not read");
            continue;
        };
        transcripts += 1;
        let theirs = theirs(report);
        let kinds: BTreeSet<&str> = ours.keys().chain(theirs.keys()).copied().collect();
        for kind in kinds {
            let (a, b) = (ours.get(kind).cloned().unwrap_or_default(), theirs.get(kind).cloned().unwrap_or_default());
            let known = DIFFERENT.iter().find(|(file, what, _)| *file == name && *what == kind);
            match (same(kind, &a, &b), known) {
                (true, None) => agreed += 1,
                (false, Some(known)) => drop(used.insert(*known)),
                (true, Some(_)) => wrong.push(format!("{name} {kind}: they agree, and the table says otherwise")),
                (false, None) => wrong.push(format!("{name} {kind}:\n  ours   {a:?}\n  theirs {b:?}")),
            }
        }
    }
    eprintln!(
        "SkillGym: of {transcripts} transcripts {agreed} lists agree, {} differ where its adapter is wrong",
        used.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(DIFFERENT.iter().all(|row| used.contains(row)), "rows that no transcript shows");
}
