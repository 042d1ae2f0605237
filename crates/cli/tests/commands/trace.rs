//! `aver trace`: shows files in typical formats, without rules.

use crate::folder::Folder;
use serde_json::{Value, json};

const CHAT: &str = r#"{"messages": [
  {"role": "user", "content": "refund o-1"},
  {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "refund", "arguments": "{\"order\": \"o-1\"}"}}]},
  {"role": "tool", "tool_call_id": "c1", "content": "done"},
  {"role": "assistant", "content": "It is refunded."}
]}"#;
const HOME: &str = r#"{"trace": {"ref": "t-1", "history": [
  {"step": {"tool_name": "search", "arguments": {"q": "x"}}, "observation": "3 hits", "took": 2},
  {"step": {"tool_name": "refund", "arguments": {"amount": 70}}, "observation": "Error: no such order", "took": 1}
]}, "chat": [{"who": "user", "said": "refund it"}], "answer": {"words": "done"}, "unit": "x"}"#;

#[test]
fn a_run_is_shown_with_its_format_and_where_every_field_was_read() {
    let folder = Folder::new(&[("chat.json", CHAT)]);
    let shown = folder.aver("trace show chat.json").out;
    assert!(shown.contains("format chat messages: messages with `role`"), "{shown}");
    assert!(shown.contains("message") && shown.contains("refund(order: \"o-1\")"), "{shown}");
    let calls = folder.aver("trace show chat.json --calls").out;
    assert!(calls.contains("refund(order") && !calls.contains("It is refunded.\n2"), "{calls}");
    assert!(!calls.lines().any(|line| line.contains("  message  ")), "{calls}");
    let fields = folder.aver("trace show chat.json --fields").out;
    let place = |field: &str| fields.lines().find(|line| line.starts_with(field)).unwrap_or_else(|| panic!("{fields}"));
    assert!(place("calls[0].tool ").ends_with("line 3  /messages/1/tool_calls/0/function/name"), "{fields}");
    assert!(place("calls[0].result ").ends_with("line 4  /messages/2/content"), "{fields}");
    assert!(place("output  ").ends_with("line 5  /messages/3/content"), "{fields}");
    assert!(place("turns ").ends_with("computed"), "{fields}");
}

#[test]
fn a_run_that_is_converted_is_judged_alike() {
    let rules = "require refund ok\nnever refund failed\nbefore search -> refund\ncalls[0].args.order == \"o-1\"\n\
                 turns <= 2\ncost <= $1\nnever command \"rm\"\neach message: text is not empty\noutput contains \"refunded\"\n";
    let folder = Folder::new(&[("chat.json", CHAT), ("rules.assert", rules)]);
    let converted = folder.aver("trace convert chat.json");
    assert_eq!((converted.code, converted.out.lines().count()), (0, 1), "{converted:?}");
    assert_eq!(folder.aver("trace show chat.json --json").out, converted.out);
    folder.write("again.json", converted.out.as_bytes());
    let verdicts = |trace: &str| {
        let report = folder.aver(&format!("check rules.assert {trace} --format json")).json();
        let results = report["runs"][0]["results"].as_array().unwrap().clone();
        results.iter().map(|one| format!("{} {}", one["text"], one["verdict"])).collect::<Vec<_>>()
    };
    assert_eq!(verdicts("again.json"), verdicts("chat.json"));
    // Information that the conversation lacks stays open, and is not guessed from the result.
    assert!(verdicts("again.json")[0].contains("undecided"));
    assert_eq!(
        folder.aver("trace convert again.json").out,
        converted.out,
        "the normal form of the normal form is itself"
    );
}

#[test]
fn turns_that_nobody_counted_are_not_counted_from_what_is_converted() {
    let run = r#"{"messages": [{"role": "user", "content": "wait"}, {"role": "assistant", "content": "changed"}],
        "tool_calls": [{"name": "change_password", "arguments": {"u": 1}}],
        "events": [{"type": "approval", "action": "change_password", "decision": "approved"}]}"#;
    let folder = Folder::new(&[("owasp.json", run), ("rules.assert", "turns <= 20\n")]);
    let converted = folder.aver("trace convert owasp.json").out;
    folder.write("again.json", converted.as_bytes());
    for trace in ["owasp.json", "again.json"] {
        let ran = folder.aver(&format!("check rules.assert {trace}"));
        assert!(ran.code == 1 && ran.out.contains("undecided"), "{trace}: {ran:?}");
    }
    assert_eq!(folder.aver("trace convert again.json").out, converted);
    let schema: Value = folder.aver("trace schema").json();
    let run: Value = serde_json::from_str(&converted).unwrap();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&run), "{converted}");
}

#[test]
fn a_duration_that_the_steps_contradict_passes_no_limit_in_any_format() {
    let golden = averment_fixtures::project("tests/golden/trace/a-trace-of-deepeval.json");
    let trace = std::fs::read_to_string(golden).unwrap();
    let ended = "\"endTime\": \"2025-06-15T10:00:05.000Z\"";
    assert!(trace.contains(ended));
    let folder = Folder::new(&[("good.json", &trace), ("rules.assert", "duration <= 10s\n")]);
    folder.write("early.json", trace.replace(ended, "\"endTime\": \"2025-06-15T10:00:00.001Z\"").as_bytes());
    folder.write("never.json", trace.replace(ended, "\"endTime\": \"0001-06-15T10:00:05.000Z\"").as_bytes());
    assert_eq!(folder.aver("check rules.assert good.json").code, 0);
    for name in ["early.json", "never.json"] {
        let ran = folder.aver(&format!("check rules.assert {name}"));
        assert!(ran.code == 1 && ran.out.contains("undecided"), "{name}: {ran:?}");
        let converted = folder.aver(&format!("trace convert {name}")).out;
        folder.write("again.json", converted.as_bytes());
        assert_eq!(folder.aver("trace convert again.json").out, converted);
        assert_eq!(folder.aver("check rules.assert again.json").code, 1);
    }
}

#[test]
fn steps_of_one_kind_keep_their_order_in_what_is_converted() {
    let lines = [
        json!({"type": "user", "sessionId": "s", "uuid": "1", "timestamp": "2026-03-01T10:00:09Z", "message": {"role": "user", "content": "first"}}),
        json!({"type": "assistant", "sessionId": "s", "uuid": "2", "timestamp": "2026-03-01T10:00:01Z",
            "message": {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "second"}]}}),
    ];
    let folder = Folder::new(&[("session.jsonl", &lines.map(|line| line.to_string()).join("\n"))]);
    let converted = folder.aver("trace convert session.jsonl").out;
    folder.write("again.json", converted.as_bytes());
    assert!(converted.find("first") < converted.find("second"), "{converted}");
    assert_eq!(folder.aver("trace convert again.json").out, converted);
}

#[test]
fn runs_are_counted_by_tool_and_what_no_run_records_is_left_out() {
    let lines = [
        json!({"calls": [{"tool": "a", "status": "ok", "duration": 10}, {"tool": "a", "error": "x", "duration": 30}, {"tool": "b"}], "cost": 0.5}),
        json!({"calls": [{"tool": "b", "status": "denied"}], "usage": {"input_tokens": 7}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let folder = Folder::new(&[("runs.jsonl", &text)]);
    let counts = folder.aver("trace stats runs.jsonl --format json").json();
    assert_eq!((&counts["runs"], &counts["calls"]), (&json!(2), &json!(4)));
    assert_eq!(
        counts["tools"]["a"],
        json!({"calls": 2, "ok": 1, "failed": 1, "not_executed": 0, "unknown": 0, "duration_ms": {"of": 2, "sum": 40.0}})
    );
    assert_eq!(counts["tools"]["b"]["not_executed"], json!(1));
    assert_eq!(counts["tools"]["b"]["unknown"], json!(1));
    assert_eq!(counts["tokens"], json!({"input_tokens": {"of": 1, "sum": 7.0}}));
    let table = folder.aver("trace stats runs.jsonl").out;
    assert!(table.contains("runs       2 (normal form 2)"), "{table}");
    assert!(table.contains("0.5 USD (recorded by 1 of 2 runs)"), "{table}");
    assert!(!table.contains("turns  "), "{table}");
}

#[test]
fn the_schema_of_the_normal_form_takes_what_is_converted() {
    let folder = Folder::new(&[("chat.json", CHAT)]);
    let schema: Value = folder.aver("trace schema").json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let run: Value = serde_json::from_str(&folder.aver("trace convert chat.json").out).unwrap();
    assert!(
        validator.is_valid(&run),
        "{:?}",
        validator.iter_errors(&run).map(|one| one.to_string()).collect::<Vec<_>>()
    );
    for short in [json!({"handovers": ["billing"]}), json!({"reads": ["a"], "commands": ["ls"]})] {
        assert!(validator.is_valid(&short), "{short}");
        folder.write("short.json", short.to_string().as_bytes());
        assert_eq!(folder.aver("trace show short.json").code, 0, "{short}");
    }
    for wrong in [json!({"calls": {}}), json!({"calls": [{}]}), json!({"turns": "3"}), json!({"steps": ["walk"]})] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
        folder.write("wrong.json", wrong.to_string().as_bytes());
        assert_eq!(folder.aver("trace show wrong.json").code, 4, "{wrong}");
    }
}

#[test]
fn a_format_of_ones_own_is_read_with_the_map_that_is_proposed() {
    let folder =
        Folder::new(&[("home.json", HOME), ("rules.assert", "never refund failed\ncalls[0].duration == 2s\n")]);
    let refused = folder.aver("trace show home.json");
    assert_eq!(refused.code, 4);
    assert!(refused.err.contains("aver trace map"), "{refused:?}");
    let proposal = folder.aver("trace map home.json");
    assert_eq!(proposal.code, 0, "{proposal:?}");
    assert!(proposal.out.contains("calls = \"trace.history\""), "{proposal:?}");
    let map = format!(
        "{}duration = \"took\"\nduration_unit = \"s\"\nfailed = \"Error\"\noutput = \"answer.words\"\nmessages = \"chat\"\nrole = \"who\"\ntext = \"said\"\nid = \"trace.ref\"\n",
        proposal
            .out
            .lines()
            .filter(|line| !line.starts_with("output"))
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    );
    folder.write("map.toml", map.as_bytes());
    let run: Value = folder.aver("trace convert home.json --map map.toml").json();
    assert_eq!(run["calls"][0]["tool"], json!("search"));
    assert_eq!(run["calls"][0]["duration"], json!(2000));
    assert_eq!(run["calls"][1]["status"], json!("failed"));
    assert_eq!((&run["output"], &run["id"]), (&json!("done"), &json!("t-1")));
    assert_eq!(run["messages"][0]["role"], json!("user"));
    assert_eq!(run["messages"][0]["text"], json!("refund it"));
    for threads in ["1", "2"] {
        let ran =
            folder.aver(&format!("check rules.assert home.json --map map.toml --format jsonl --threads {threads}"));
        assert!(ran.out.contains(r#""verdicts":["fail","pass"]"#), "{ran:?}");
    }
    // A path that matches nothing and an unknown unit are reported.
    folder.write("wrong.toml", "calls = \"trace.story\"\ntool = \"step.tool_name\"\n".as_bytes());
    let ran = folder.aver("check rules.assert home.json --map wrong.toml");
    assert!(ran.code == 4 && format!("{ran:?}").contains("no list of calls: there is no `trace.story`"), "{ran:?}");
    folder.write("unit.toml", "calls = \"x\"\nduration_unit = \"h\"\n".as_bytes());
    assert!(folder.aver("check rules.assert home.json --map unit.toml").err.contains("none of `s`, `ms`"));
}

#[test]
fn a_time_without_a_unit_is_not_guessed() {
    let run = r#"{"tool_calls": [{"name": "a", "args": {}, "start": 5, "duration": 352.87}], "duration": 352.87}"#;
    let folder = Folder::new(&[("run.jsonl", run), ("rules.assert", "duration <= 30s\ncalls[0].duration <= 30s\n")]);
    let ran = folder.aver("check rules.assert run.jsonl --format json");
    let verdicts: Vec<_> =
        ran.json()["runs"][0]["results"].as_array().unwrap().iter().map(|one| one["verdict"].clone()).collect();
    assert_eq!(verdicts, [json!("undecided"), json!("undecided")]);
    assert!(ran.out.contains("has no unit and counts as not recorded"), "{ran:?}");
    folder.write("run.jsonl", run.replace("duration", "duration_ms").as_bytes());
    assert!(folder.aver("check rules.assert run.jsonl --format jsonl").out.contains(r#""verdicts":["pass","pass"]"#));
}

#[test]
fn what_is_no_run_is_none() {
    for (name, text, said) in [
        (
            "package.json",
            r#"{"name": "x", "version": "1", "scripts": {}, "files": ["a"], "dependencies": {}}"#,
            "the manifest of a package",
        ),
        ("map.geojson", r#"{"type": "FeatureCollection", "features": []}"#, "GeoJSON"),
        ("book.ipynb", r#"{"cells": [], "metadata": {}, "nbformat": 4}"#, "a notebook"),
        ("net.har", r#"{"log": {"version": "1.2", "entries": []}}"#, "a HAR archive"),
        ("ids.json", r#"[{"id": 1}, {"id": 2}]"#, "nothing but its `id`"),
        (
            "ci.json",
            r#"{"id": 3, "name": "build", "status": "done", "steps": [{"name": "test"}], "duration": 4}"#,
            "no run of a known format",
        ),
        ("answer.json", r#"{"output": "x", "score": 5}"#, "put `score` under `meta`"),
    ] {
        let folder = Folder::new(&[(name, text), ("r.assert", "output is not empty\n")]);
        let ran = folder.aver(&format!("check r.assert {name}"));
        assert_eq!(ran.code, 4, "{name}: {ran:?}");
        assert!(format!("{}{}", ran.out, ran.err).contains(said), "{name}: {ran:?}");
    }
}

#[test]
fn among_the_files_of_a_folder_what_is_no_trace_is_passed_over_with_a_count() {
    let folder = Folder::new(&[
        ("runs/a.json", r#"{"output": "x"}"#),
        ("runs/package.json", r#"{"name": "x", "version": "1", "scripts": {}}"#),
        ("runs/settings.json", r#"{"theme": "dark"}"#),
        ("r.assert", "output is not empty\n"),
    ]);
    let ran = folder.aver("check r.assert runs");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.err.contains("2 files are not traces and were skipped (`runs/package.json`, `runs/settings.json`)"),
        "{ran:?}"
    );
    assert_eq!(folder.aver("check r.assert runs --strict").code, 4);
    assert_eq!(folder.aver("check r.assert runs runs/settings.json").code, 4, "what is named is a trace");
    // A file that resembles a run is refused even in a folder.
    folder.write("runs/near.json", r#"{"output": "x", "score": 5}"#.as_bytes());
    assert_eq!(folder.aver("check r.assert runs").code, 4);
}

#[test]
fn records_that_nobody_understands_are_counted_whatever_the_report_is() {
    let line = |kind: &str| {
        format!(r#"{{"type":"{kind}","sessionId":"s","uuid":"{kind}","message":{{"role":"user","content":"hi"}}}}"#)
    };
    let session = format!("{}\n{}\n{{broken\n", line("user"), line("brand-new"));
    let folder = Folder::new(&[("s.jsonl", &session), ("r.assert", "never rm\n")]);
    for format in ["human", "summary", "short", "jsonl", "json"] {
        let ran = folder.aver(&format!("check r.assert s.jsonl --format {format}"));
        // The broken line may have been a call.
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(
            ran.err.contains("warning: s.jsonl: 2 of 3 records not understood; line 2: a line of unknown type"),
            "{ran:?}"
        );
    }
    assert_eq!(folder.aver("check r.assert s.jsonl --strict").code, 4);
}

#[test]
fn what_the_project_says_of_tools_is_shown_as_rules_see_it() {
    let chat = CHAT.replace("\"done\"", "\"Error: no such order\"");
    let folder = Folder::new(&[
        ("chat.json", &chat),
        ("r.assert", "require refund failed\n"),
        ("tools.assert", "tool any fails when result starts with \"Error\"\n"),
        ("averment.toml", "rules = [\"r.assert\"]\ntools = [\"tools.assert\"]\n"),
    ]);
    assert_eq!(folder.aver("check chat.json").code, 0);
    let status = |flags: &str| {
        let shown = folder.aver(&format!("trace show chat.json --calls {flags}")).out;
        let line = shown.lines().find(|line| line.contains("refund(order")).unwrap_or_else(|| panic!("{shown}"));
        line.split_whitespace().last().unwrap().to_owned()
    };
    assert_eq!(status(""), "failed");
    assert_eq!(status("--no-project"), "\"o-1\")");
    let failed = |flags: &str| {
        folder.aver(&format!("trace stats chat.json --format json {flags}")).json()["tools"]["refund"]["failed"].clone()
    };
    assert_eq!((failed(""), failed("--no-project")), (json!(1), json!(0)));
    // Converted runs keep the recorded statuses.
    assert!(!folder.aver("trace convert chat.json").out.contains("failed"));
    folder.write("tools.assert", b"tool any fails when\n");
    assert_eq!(folder.aver("trace show chat.json").code, 3);
}
