//! Records that are no runs, empty runs, and broken records: all are reported, in every report format, and the rest is judged.

use crate::folder::{Folder, Ran};
use averment_report::Format;

const RULES: (&str, &str) = ("r.assert", "never refund\n");
const RUN: &str = r#"{"id": "a", "calls": [{"tool": "search", "result": 1}], "output": "done"}"#;

fn formats() -> impl Iterator<Item = &'static str> {
    // A report of steps needs runs that record their times.
    Format::ALL.iter().map(|format| format.as_str()).filter(|word| !["assay"].contains(word))
}

/// Runs the same check with every report format on standard output.
fn in_every_format(folder: &Folder, traces: &str, each: impl Fn(&str, Ran)) {
    for format in formats() {
        each(format, folder.aver(&format!("check r.assert {traces} --allow undecided --format {format}")));
    }
}

#[test]
fn values_beside_the_runs_of_a_file_in_a_folder_are_counted_and_told() {
    let stray = ["5", "\"x\"", "null", "[1, 2]", "{\"zzz\": 1}"];
    let lines = stray.map(|value| format!("{RUN}\n{value}\n")).concat();
    let listed = format!("[{}]", stray.map(|value| format!("{RUN}, {value}")).join(",\n"));
    let behind = stray.map(|value| format!("{{\"output\":\n 1}}\n{value}\n")).concat();
    let first = format!("{}\n{RUN}\n{RUN}\n", stray.join("\n"));
    for (name, text, said) in [
        ("lines.jsonl", &lines, "5 of 10 records not understood; line 2: a run is an object, found number"),
        ("first.jsonl", &first, "5 of 7 records not understood; line 1: a run is an object, found number"),
        ("listed.json", &listed, "5 of 10 records not understood; line 1: a run is an object, found number"),
        ("behind.json", &behind, "records not understood; line 3: a run is an object, found number"),
    ] {
        let folder = Folder::new(&[RULES]);
        folder.write(&format!("runs/{name}"), text.as_bytes());
        let told = format!("warning: runs/{name}: {said}");
        let told = told.replace(&format!("{name}: records"), &format!("{name}: 5 of 10 records"));
        in_every_format(&folder, "runs", |format, ran| {
            assert_eq!(ran.code, 0, "{name} {format}: {ran:?}");
            assert!(ran.err.replace("6 of 11", "5 of 10").contains(&told), "{name} {format}: {ran:?}");
        });
        for threads in ["--threads 1", "--threads 4", "--chunk 1KiB"] {
            assert!(folder.aver(&format!("check r.assert runs {threads}")).err.contains("records not understood"));
        }
        // An explicitly named file must be a trace, so each record is an error with its location.
        for line in ["check r.assert runs --strict", &format!("check r.assert runs/{name} --allow undecided")] {
            let ran = folder.aver(line);
            assert_eq!(ran.code, 4, "{name} {line}: {ran:?}");
            assert!(format!("{}{}", ran.out, ran.err).contains("found number"), "{name} {line}: {ran:?}");
        }
        let stats = folder.aver("trace stats runs");
        assert_eq!(stats.code, 0, "{stats:?}");
        assert!(stats.err.contains("records not understood"), "{stats:?}");
    }
}

#[test]
fn a_file_of_which_nothing_is_a_run_is_no_trace() {
    let folder = Folder::new(&[RULES, ("runs/a.json", RUN), ("runs/b.jsonl", "5\n\"x\"\n{\"zzz\": 1}\n")]);
    let ran = folder.aver("check r.assert runs");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("note: `runs/b.jsonl` is not a trace and was skipped"), "{ran:?}");
    assert!(!ran.err.contains("not understood"), "{ran:?}");
}

#[test]
fn an_empty_run_is_told_whatever_the_report_is() {
    let lines = format!("{RUN}\n{{\"id\": \"b\", \"env\": {{}}}}\n{{}}\n{RUN}\n");
    let session = r#"{"type": "system", "subtype": "init", "session_id": "s", "uuid": "u", "model": "m", "cwd": "/"}"#;
    let session = format!("{session}\n{session}\n").replacen("\"u\"", "\"v\"", 1);
    let folder = Folder::new(&[RULES, ("a.jsonl", &lines), ("b.jsonl", &session)]);
    let told =
        "warning: 3 runs are empty, no step and no output of them is recorded: `a.jsonl:2`, `a.jsonl:3`, `b.jsonl`";
    in_every_format(&folder, "a.jsonl b.jsonl", |format, ran| {
        assert_eq!(ran.code, 0, "{format}: {ran:?}");
        assert!(ran.err.contains(told), "{format}: {ran:?}");
    });
    let ran = folder.aver("check r.assert b.jsonl");
    assert!(ran.err.contains("a run is empty, no step and no output of it is recorded: `b.jsonl`"), "{ran:?}");
    assert_eq!(folder.aver("check r.assert b.jsonl --strict").code, 4);
    // A run with any content is not empty.
    let says = "{\"calls\": []}\n{\"tool_calls\": []}\n{\"calls\": [], \"cost\": 0.1}\n{\"calls\": [], \"mine\": 1}\n{\"output\": \"\"}\n";
    folder.write("c.jsonl", says.as_bytes());
    assert!(!folder.aver("check r.assert c.jsonl").err.contains("empty"));
}

#[test]
fn what_is_broken_is_told_with_its_place_and_the_rest_is_judged() {
    let listed = "[{\"output\": \"a\"},\n {\"output\": },\n {\"output\": \"b\"}]";
    let lines = "{\"output\": \"a\"}\n{\"output\": \n{\"output\": \"b\"}\n";
    let last = "{\"output\": \"a\"}\n{\"output\": \"b\"}\n{\"outp";
    let cut = "[{\"output\": \"a\"},\n {\"output\": \"b\"},\n {\"outp";
    for (name, text, place, judged) in [
        ("listed.json", listed, "listed.json:2:", 2),
        ("lines.jsonl", lines, "lines.jsonl:2:", 2),
        ("last.jsonl", last, "last.jsonl:3:", 2),
        ("cut.json", cut, "cut.json:", 0),
    ] {
        let folder = Folder::new(&[RULES, (name, text)]);
        in_every_format(&folder, name, |format, ran| {
            assert_eq!(ran.code, 4, "{name} {format}: {ran:?}");
            let told = format!("{}{}", ran.out, ran.err);
            let in_words = ["human", "summary", "short"].contains(&format);
            assert!(told.contains(if in_words { place } else { name }), "{name} {format}: {ran:?}");
        });
        let report = folder.aver(&format!("check r.assert {name} --format json")).json();
        assert_eq!(report["runs"].as_array().unwrap().len(), judged, "{name}: {report}");
        let ran = folder.aver_with("check r.assert -", text);
        assert_eq!(ran.code, 4, "{name}: {ran:?}");
        assert!(ran.out.contains("<stdin>"), "{name}: {ran:?}");
    }
}

#[test]
fn what_a_format_does_not_know_may_have_been_a_call() {
    let claude = |rest: &str| format!(r#"{{"sessionId": "s", "timestamp": "2026-01-01T00:00:01Z", {rest}}}"#);
    let codex = |kind: &str, rest: &str| {
        format!(r#"{{"timestamp": "2026-01-01T00:00:01Z", "type": "{kind}", "payload": {{{rest}}}}}"#)
    };
    let said = claude(r#""type": "user", "uuid": "u1", "message": {"role": "user", "content": "go"}"#);
    let session = codex("session_meta", r#""id": "s""#);
    let item = codex("response_item", r#""type": "message", "role": "user", "content": "go""#);
    let search =
        r#"{"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "search", "arguments": "{}"}}]}"#;
    let unknown = r#""type": "surprise", "name": "refund", "uuid": "u2""#;
    for (name, known, unknown) in [
        ("claude", said.clone(), claude(unknown)),
        ("codex", format!("{session}\n{item}"), codex("event_msg", unknown)),
        ("chat", search.to_owned(), r#"{"role": "refund", "content": "done"}"#.to_owned()),
    ] {
        let rules = [
            ("never.aver", "never refund\n"),
            ("count.aver", "count refund <= 0\n"),
            ("only.aver", "only search\n"),
            ("known.jsonl", &format!("{known}\n")),
            ("unknown.jsonl", &format!("{known}\n{unknown}\n")),
        ];
        let folder = Folder::new(&rules);
        for (rules, _) in &rules[..3] {
            let ran = folder.aver(&format!("check {rules} unknown.jsonl --format short"));
            assert!(ran.code == 1 && ran.out.contains("undecided"), "{name} {rules}: {ran:?}");
            let ran = folder.aver(&format!("check {rules} known.jsonl --format short"));
            assert!(!ran.out.contains("undecided"), "{name} {rules}: {ran:?}");
        }
    }
    // Lines of another format are not accepted in this one.
    let folder =
        Folder::new(&[("never.aver", "never refund\n"), ("mixed.jsonl", &format!("{said}\n{session}\n{item}\n"))]);
    let ran = folder.aver("check never.aver mixed.jsonl");
    let told = format!("{}{}", ran.out, ran.err);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(told.contains("Codex rollout") && told.contains("Claude Code session"), "{ran:?}");
}
