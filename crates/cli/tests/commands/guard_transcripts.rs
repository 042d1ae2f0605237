//! A session that `aver guard` joins in the middle starts with the agent's own transcript.

use super::folder::Folder;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const RULES: &str =
    "rule approval { before approve(id: $id) ok -> refund(id: $id) }\nrule once { count refund <= 2 }\n";

fn call(id: &str, tool: &str, args: Value, time: &str) -> Value {
    let content = json!([{ "type": "tool_use", "id": id, "name": tool, "input": args }]);
    json!({ "type": "assistant", "sessionId": "s", "uuid": id, "timestamp": time, "message": { "role": "assistant", "content": content } })
}

fn result(id: &str, is_error: bool, time: &str) -> Value {
    let content = json!([{ "type": "tool_result", "tool_use_id": id, "content": "done", "is_error": is_error }]);
    json!({ "type": "user", "sessionId": "s", "uuid": format!("r-{id}"), "timestamp": time, "message": { "role": "user", "content": content } })
}

fn asked(text: &str) -> Value {
    json!({ "type": "user", "sessionId": "s", "uuid": "u", "timestamp": "2026-03-01T10:00:00Z", "message": { "role": "user", "content": text } })
}

/// Steps before the guard was installed: one successful approval, one failed approval, and a refund.
fn recorded() -> Vec<Value> {
    vec![
        asked("Refund orders 1 and 2"),
        call("c1", "approve", json!({ "id": 1 }), "2026-03-01T10:00:01Z"),
        result("c1", false, "2026-03-01T10:00:02Z"),
        call("c2", "approve", json!({ "id": 2 }), "2026-03-01T10:00:03Z"),
        result("c2", true, "2026-03-01T10:00:04Z"),
        call("c3", "refund", json!({ "id": 1 }), "2026-03-01T10:00:05Z"),
        result("c3", false, "2026-03-01T10:00:06Z"),
    ]
}

fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

struct Home(Folder);

impl Home {
    fn new(transcript: &str) -> Self {
        let folder = Folder::new(&[("r.assert", RULES), (".claude/projects/p/s.jsonl", transcript)]);
        std::fs::create_dir_all(folder.path().join("state")).unwrap();
        Self(folder)
    }

    fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn transcript(&self) -> String {
        self.path().join(".claude/projects/p/s.jsonl").to_str().unwrap().to_owned()
    }

    fn tell(&self, event: &Value, mode: &str) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_aver"))
            .current_dir(self.path())
            .env("HOME", self.path())
            .env_remove("CLAUDE_CONFIG_DIR")
            .args(["guard", "hook", "claude", "r.assert", "--state", "state", "--seed-from-transcript", "--mode", mode])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    /// Proposes a refund. Returns the exit code and the output.
    fn propose(&self, id: &str, order: u32, transcript: &str) -> (i32, String) {
        let event = json!({ "session_id": "s", "transcript_path": transcript, "hook_event_name": "PreToolUse", "tool_name": "refund",
            "tool_input": { "id": order }, "tool_use_id": id });
        let output = self.tell(&event, "enforce");
        let said = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(said).unwrap())
    }

    fn log(&self) -> Vec<Value> {
        let mut logs = std::fs::read_dir(self.path().join("state")).unwrap().map(|entry| entry.unwrap().path());
        let text = std::fs::read_to_string(logs.next().unwrap()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[test]
fn what_an_agent_did_before_it_was_guarded_counts() {
    // The transcript already contains the call that is asked about, and an incomplete line.
    let mut lines = recorded();
    lines.push(call("c4", "refund", json!({ "id": 2 }), "2026-03-01T10:00:07Z"));
    let home = Home::new(&(text(&lines) + "{\"type\": \"assis"));
    let (code, said) = home.propose("c4", 2, &home.transcript());
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("`approval.1`") && said.contains("deny"), "an approval that failed is none: {said}");
    assert_eq!(home.propose("c5", 1, &home.transcript()), (0, String::new()), "this one was approved before");
    let (_, said) = home.propose("c6", 1, &home.transcript());
    assert!(said.contains("`once.1`"), "the refund before the guard came is one of three: {said}");
    let log = home.log();
    let events: Vec<&str> = log.iter().map(|line| line["guard"].as_str().unwrap()).collect();
    let seeded = ["session", "message", "call", "result", "call", "result", "call", "result"];
    assert_eq!(events, [&seeded[..], &["denied", "call", "denied"]].concat());
    assert_eq!(
        (&log[0]["seeded"], &log[2]["id"], &log[2]["time"]),
        (&7.into(), &"c1".into(), &1_772_359_201_000_u64.into())
    );
    assert_eq!(home.0.aver("check r.assert state --allow undecided").code, 0);
}

#[test]
fn a_session_that_begins_has_nothing_recorded() {
    let home = Home::new("");
    let unwritten = home.transcript().replace("s.jsonl", "new.jsonl");
    let start = json!({ "session_id": "s", "transcript_path": unwritten, "hook_event_name": "UserPromptSubmit", "prompt": "Hi" });
    assert!(home.tell(&start, "enforce").status.success());
    // From here on the log is used, because hooks also report what is later added to the transcript.
    std::fs::write(&unwritten, text(&recorded())).unwrap();
    assert!(home.propose("c1", 1, &unwritten).1.contains("`approval.1`"));
    assert_eq!(home.log().len(), 3);
}

#[test]
fn calls_that_wait_for_an_answer_are_still_asked_about() {
    // Two calls of one answer: neither was made.
    let mut lines = recorded();
    lines.push(call("c4", "refund", json!({ "id": 2 }), "2026-03-01T10:00:07Z"));
    lines.push(call("c5", "refund", json!({ "id": 2 }), "2026-03-01T10:00:07Z"));
    let home = Home::new(&text(&lines));
    for id in ["c4", "c5"] {
        assert!(home.propose(id, 2, &home.transcript()).1.contains("`approval.1`"), "{id}");
    }
}

#[test]
fn a_transcript_that_cannot_be_read_holds_the_call_back() {
    let home = Home::new(&text(&recorded()));
    let outside = home.path().join("elsewhere.jsonl");
    std::fs::write(&outside, text(&recorded())).unwrap();
    let link = home.transcript().replace("s.jsonl", "link.jsonl");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    let broken = home.transcript().replace("s.jsonl", "broken.jsonl");
    std::fs::write(&broken, text(&recorded()) + "{\"type\": \"assistant\", \"message\": 5}\n").unwrap();
    let folder = home.path().join(".claude/projects");
    let cases = [
        (outside.to_str().unwrap(), "outside of"),
        (&link, "outside of"),
        (".claude/projects/p/s.jsonl", "outside of"),
        (&home.transcript().replace("s.jsonl", "nothing.jsonl"), "cannot be read"),
        (folder.to_str().unwrap(), "no file"),
        (&broken, "not understood in full"),
        ("", "names no transcript"),
    ];
    for (path, why) in cases {
        let (code, said) = home.propose("c9", 1, path);
        assert_eq!(code, 2, "{path}: {said}");
        assert!(said.contains(why), "{path}: {said}");
    }
    let event = json!({ "session_id": "s", "transcript_path": broken, "hook_event_name": "PreToolUse", "tool_name": "refund",
        "tool_input": { "id": 1 }, "tool_use_id": "c9" });
    assert_eq!(home.tell(&event, "log").status.code(), Some(1), "calls that are only logged are made");
    // A readable session is allowed.
    assert_eq!(home.propose("c9", 1, &home.transcript()), (0, String::new()));
}

#[test]
fn a_log_that_lacks_a_part_of_its_beginning_begins_anew() {
    let home = Home::new(&text(&recorded()));
    assert_eq!(home.propose("c9", 1, &home.transcript()), (0, String::new()));
    let path = std::fs::read_dir(home.path().join("state")).unwrap().next().unwrap().unwrap().path();
    let whole = std::fs::read_to_string(&path).unwrap();
    for lines in 1..8 {
        let part: String = whole.split_inclusive('\n').take(lines).collect();
        std::fs::write(&path, part).unwrap();
        assert_eq!(home.propose("c9", 1, &home.transcript()), (0, String::new()), "{lines}");
        assert_eq!(home.log().len(), 9, "{lines}");
    }
}

#[test]
fn transcripts_that_say_something_else_than_hooks_are_refused() {
    let home = Home::new("");
    for (agent, why) in [("codex", "otherwise"), ("cursor", "no transcript"), ("copilot", "no transcript")] {
        let refused = home.0.aver(&format!("guard install {agent} r.assert --seed-from-transcript --dry-run"));
        assert!(refused.code == 2 && refused.err.contains(why), "{refused:?}");
    }
    let shown = home.0.aver("guard install claude r.assert --seed-from-transcript --dry-run");
    assert!(shown.out.contains("--seed-from-transcript"), "{shown:?}");
}
