//! Runs with unusual recordings: arguments as text, failed calls, impossible times, content blocks.

use crate::folder::Folder;

/// Returns the verdict of a rule on a run, which must be equal for every way of reading, and the messages beside it.
#[track_caller]
fn judged(rule: &str, run: &str) -> (String, String) {
    let folder = Folder::new(&[("rules.assert", rule), ("run.jsonl", run)]);
    let verdict = |way: &str| {
        let ran = folder.aver(&format!("check rules.assert run.jsonl --format jsonl {way}"));
        let line = ran.out.lines().nth(1).unwrap_or_else(|| panic!("{ran:?}"));
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["verdicts"][0].as_str().unwrap_or_else(|| panic!("{ran:?}")).to_owned()
    };
    let ran = folder.aver("check rules.assert run.jsonl --format json");
    let report = ran.json();
    let full = report["runs"][0]["results"][0]["verdict"].as_str().unwrap_or_default().to_owned();
    assert_eq!(verdict(""), full, "{rule} {run}");
    let warnings = report["runs"][0]["warnings"].to_string();
    (full, warnings)
}

#[track_caller]
fn is(rule: &str, run: &str, verdict: &str) {
    assert_eq!(judged(rule, run).0, verdict, "{rule} {run}");
}

fn one(call: &str) -> String {
    format!("{{\"calls\": [{{\"tool\": \"pay\", {call}}}]}}")
}

#[test]
fn arguments_that_are_json_in_text_are_read_in_the_normal_form_too() {
    is("never pay(amount > 100)", &one(r#""args": "{\"amount\": 250}""#), "fail");
    is("never pay(amount > 100)", &one(r#""args": " {\"amount\": 50}""#), "pass");
    is("calls[0].args == \"[1]\"", &one(r#""args": "[1]""#), "pass");
    is("calls[0].args == \"{x\"", &one(r#""args": "{x""#), "pass");
    is("calls[0].args.amount == 250", &one(r#""args": "{\"amount\": 250}""#), "pass");
}

#[test]
fn a_call_that_says_that_it_went_wrong_has_failed() {
    for call in [
        r#""is_error": true, "result": "x""#,
        r#""result": {"isError": true, "content": []}"#,
        r#""exit_code": 1, "result": "2 failed""#,
        r#""status": "completed", "result": {"isError": true}"#,
        r#""result": {"error": "permission denied"}"#,
    ] {
        is("never pay failed", &one(call), "fail");
        is("never pay failed", &one(call).replace("calls", "tool_calls"), "fail");
    }
    for call in [
        r#""is_error": false, "result": 1"#,
        r#""exit_code": 0, "result": 1"#,
        r#""result": {"isError": false}"#,
        r#""result": {"error": null}"#,
    ] {
        is("require pay ok", &one(call), "pass");
    }
}

#[test]
fn null_says_that_nothing_is_known_of_how_a_call_ended() {
    is("require pay ok", &one(r#""args": null, "result": null, "error": null, "status": null"#), "undecided");
    is("require pay ok", &one(r#""result": null"#), "undecided");
    is("never pay failed", &one(r#""error": null"#), "undecided");
    is("calls[0].result == \"x\"", &one(r#""error": null"#), "undecided");
    is("each pay: error is missing", &one(r#""error": null, "result": 1"#), "pass");
}

#[test]
fn a_call_with_a_result_was_executed_whatever_its_status_says() {
    is("never pay", &one(r#""status": "pending", "result": {"rows": 0}"#), "fail");
    is("never pay", &one(r#""status": "pending", "result": null"#), "pass");
    is("never pay", &one(r#""status": "denied", "result": "no""#), "pass");
}

#[test]
fn turns_that_nobody_counted_are_not_recorded() {
    is("turns <= 3", r#"{"messages": [{"role": "user", "text": "x"}], "calls": [{"tool": "a"}]}"#, "undecided");
    is("turns == 0", r#"{"messages": [{"role": "user", "text": "x"}], "calls": []}"#, "pass");
    let asked = r#"{"messages": [{"role": "user", "text": "x"}, {"role": "assistant", "text": "y"}], "calls": [{"tool": "a"}]}"#;
    is("turns == 1", asked, "pass");
}

#[test]
fn times_that_cannot_be_are_not_believed() {
    let short = r#"{"calls": [{"tool": "a", "start": 0, "end": 45000}], "duration": 45}"#;
    let (verdict, warnings) = judged("duration <= 30s", short);
    assert_eq!(verdict, "undecided");
    assert!(warnings.contains("shorter than the time that its steps span"), "{warnings}");
    is("duration <= 30s", &short.replace("\"duration\": 45", "\"duration\": 44900"), "fail");
    is("duration <= 30s", &short.replace("calls", "tool_calls").replace("\"duration\"", "\"duration_s\""), "fail");
    let messages = r#"{"calls": [{"tool": "a"}], "messages": [{"role": "user", "start": 0}, {"role": "user", "start": 9000}], "duration": 5}"#;
    is("duration <= 30s", messages, "undecided");
    let seconds = r#"{"calls": [{"tool": "a", "start": 1700000000}, {"tool": "b", "start": 1700003600}]}"#;
    let (verdict, warnings) = judged("after a -> b within 5s", seconds);
    assert_eq!(verdict, "undecided");
    assert_eq!(warnings.matches("number of seconds since 1970").count(), 1, "{warnings}");
    is("after a -> b within 5s", &seconds.replace("00000}", "00000000}").replace("03600}", "03600000}"), "fail");
    is("after a -> b within 5s", r#"{"calls": [{"tool": "a", "start": 0}, {"tool": "b", "start": 100}]}"#, "pass");
}

#[test]
fn content_blocks_are_text() {
    let blocks = r#"[{"type": "text", "text": "the password"}, {"type": "image", "url": "u"}, {"type": "text", "text": "is x"}]"#;
    is("output == \"the password\\nis x\"", &format!("{{\"output\": {blocks}, \"calls\": []}}"), "pass");
    is("output not contains \"password\"", &format!("{{\"output\": {blocks}, \"calls\": []}}"), "fail");
    is("output not contains \"password\"", &format!("{{\"output\": {blocks}, \"tool_calls\": []}}"), "fail");
    is("prompt contains \"password\"", &format!("{{\"prompt\": {blocks}, \"calls\": []}}"), "pass");
    let message = format!("{{\"messages\": [{{\"role\": \"user\", \"text\": {blocks}}}], \"calls\": []}}");
    is("messages[0].text contains \"password\"", &message, "pass");
    is("length(output) == 2", r#"{"output": ["a", "b"], "calls": []}"#, "pass");
}

#[test]
fn a_list_that_is_not_all_content_blocks_stays_a_list() {
    let run = |output: &str| format!("{{\"calls\": [], \"output\": {output}}}");
    is("length(output) == 2", &run(r#"[{"type": "text", "text": "a"}, {"id": 1}]"#), "pass");
    is("output[1].id == 1", &run(r#"[{"type": "text", "text": "a"}, {"id": 1}]"#), "pass");
    is("length(output) == 2", &run(r#"["a", "b"]"#), "pass");
    is("output == \"a\"", &run(r#"[{"type": "text", "text": "a"}]"#), "pass");
}

/// Messages in the normal form may have `content`. That alone does not make a run with its own fields a foreign conversation.
#[test]
fn what_a_run_says_of_itself_beside_messages_is_kept() {
    let messages = r#""messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]"#;
    let run = format!("{{\"prompt\": \"do it\", \"output\": \"done\", \"cost\": 5, \"duration\": 7, {messages}}}");
    for rule in ["output == \"done\"", "prompt == \"do it\"", "cost == 5", "duration == 7", "require assistant \"yes\""]
    {
        is(rule, &run, "pass");
    }
    is("require a", &format!("{{\"complete\": false, {messages}, \"tools\": []}}"), "undecided");
    // Without its own output, the run takes it from the conversation. With other keys, it is a conversation.
    is("output == \"yes\"", &format!("{{\"output\": null, {messages}}}"), "pass");
    is("output == \"yes\"", &format!("{{{messages}}}"), "pass");
    is("output == \"yes\"", &format!("{{\"model\": \"m\", \"output\": \"done\", {messages}}}"), "pass");
}

#[test]
fn paths_of_windows_are_paths() {
    is("never write \"src/**\"", r#"{"writes": ["src\\a.py"], "calls": []}"#, "fail");
    is("never read \"src/**\"", r#"{"reads": [{"path": "C:\\x\\src\\a.py"}], "calls": []}"#, "fail");
    is("never write \"src/**\"", r#"{"writes": ["b/src\\a.py"], "calls": []}"#, "fail");
}

#[test]
fn files_of_a_folder_that_are_passed_over_are_counted() {
    let run = r#"{"calls": []}"#;
    let folder = Folder::new(&[
        ("rules.assert", "never refund"),
        ("runs/a.json", run),
        ("runs/b.ndjson", run),
        ("runs/c.traj", run),
        ("runs/bad.txt", run),
        ("runs/deep/bad.log", run),
        ("runs/README.md", "x"),
        ("runs/.hidden", "x"),
    ]);
    let ran = folder.aver("check rules.assert runs");
    assert!(ran.err.contains("note: 2 files in `runs` are skipped"), "{ran:?}");
    assert!(ran.out.contains("3 passed"), "{ran:?}");
    let ran = folder.aver("check rules.assert runs/a.json");
    assert!(!ran.err.contains("skipped"), "{ran:?}");
}

#[test]
fn what_is_excluded_or_ignored_in_a_folder_is_not_read_and_counted() {
    let (good, bad) = (r#"{"calls": []}"#, r#"{"calls": [{"tool": "refund"}]}"#);
    let folder = Folder::new(&[
        ("rules.assert", "never refund"),
        (".gitignore", "runs/\n"),
        ("runs/.gitignore", "*.bak.json\nold/\n"),
        ("runs/a.json", good),
        ("runs/a.bak.json", bad),
        ("runs/old/b.json", bad),
        ("runs/drafts/c.json", bad),
        ("runs/deep/drafts/c.json", bad),
    ]);
    let ignored = "note: 1 file and 1 folder in `runs` are left out by `.gitignore`";
    // A `.gitignore` above the folder does not count, because the user named the folder explicitly.
    let ran = folder.aver("check rules.assert runs");
    assert!(ran.code == 1 && ran.err.contains(ignored), "{ran:?}");
    assert!(!ran.err.contains("--exclude"), "{ran:?}");
    let ran = folder.aver("check rules.assert runs --exclude drafts/");
    assert!(ran.code == 0 && ran.err.contains(ignored), "{ran:?}");
    assert!(ran.err.contains("note: 2 folders in `runs` are left out by `--exclude`"), "{ran:?}");
    let ran = folder.aver("check rules.assert runs --exclude runs/drafts --exclude deep/**");
    assert!(ran.code == 0 && ran.err.contains("2 folders in `runs` are left out by `--exclude`"), "{ran:?}");
    // Explicitly named files are read. A pattern names its files, except excluded ones.
    assert_eq!(folder.aver("check rules.assert runs/a.bak.json --exclude *.json").code, 1);
    assert_eq!(folder.aver("check rules.assert runs/*.json").code, 1);
    assert_eq!(folder.aver("check rules.assert runs/*.json --exclude *.bak.json").code, 0);
    let ran = folder.aver("check rules.assert runs --exclude *.json --exclude drafts");
    assert!(ran.code == 2 && ran.err.contains("there is no trace in `runs`"), "{ran:?}");
    let ran = folder.aver("check rules.assert runs --exclude [");
    assert!(ran.code == 2 && ran.err.contains("`--exclude [` is no pattern"), "{ran:?}");
    // `aver trace` reads the same files.
    let ran = folder.aver("trace stats runs --exclude drafts");
    assert!(ran.code == 0 && ran.out.starts_with("runs       1 ") && ran.err.contains(ignored), "{ran:?}");
    // For the whole repository, its own `.gitignore` counts.
    assert_eq!(folder.aver("check rules.assert .").code, 2);
}

/// A session with a duration shorter than its messages is reported, even if no rule uses the duration.
#[test]
fn a_session_that_cannot_have_been_so_short_is_told_of_whatever_is_asked() {
    let line = |kind: &str, second: u32, message: &str| {
        format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"u{second}\",\"sessionId\":\"s\",\"timestamp\":\"2025-01-01T00:00:{second:02}Z\",\"message\":{message}}}\n"
        )
    };
    let session = [
        line("user", 0, r#"{"role":"user","content":"hello"}"#),
        line("assistant", 9, r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"a","input":{}}]}"#),
        "{\"type\":\"result\",\"session_id\":\"s\",\"result\":\"done\",\"is_error\":false,\"duration_ms\":1200}\n"
            .to_owned(),
    ]
    .concat();
    let folder = Folder::new(&[("rules.assert", "require a"), ("s.jsonl", &session)]);
    for way in ["", "--strict", "--format short", "--format json"] {
        let said = folder.aver(&format!("check rules.assert s.jsonl {way}"));
        let said = said.out + &said.err;
        assert_eq!(said.matches("shorter than the time that its steps span").count(), 1, "{way}: {said}");
    }
}

/// A run without any recorded data is reported, even if no rule needs such data.
#[test]
fn a_run_with_nothing_in_it_is_told_of_whatever_is_asked() {
    let lines = [
        r#"{"reward":1.0,"task_id":1,"traj":[{"role":"user","content":"hello"}]}"#,
        r#"{"reward":1.0,"task_id":2,"traj":[]}"#,
    ];
    let folder = Folder::new(&[("rules.assert", "b iff b(n > 1)"), ("r.jsonl", &lines.join("\n"))]);
    for way in ["--format json", "--format short"] {
        let said = folder.aver(&format!("check rules.assert r.jsonl {way}"));
        let said = said.out + &said.err;
        assert!(said.contains("the run is empty: no step and no output of it is recorded"), "{way}: {said}");
    }
}
