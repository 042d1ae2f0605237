//! `aver guard`: answers hooks in the protocols of their agents, keeps sessions after errors, and guards MCP servers.

use super::folder::{Folder, Ran};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RULES: &str = "rule approval { before approve(id: $id) ok -> refund(id: $id) }\n\
                     rule once { count refund <= 1 }\n\
                     rule told { after refund -> notify }\n\
                     rule paid { each refund: result.status == \"paid\" }\n\
                     rule nothing-removed { never command /rm -rf/ }\n";

fn folder() -> Folder {
    Folder::new(&[("r.assert", RULES)])
}

fn told(folder: &Folder, agent: &str, event: &Value) -> Ran {
    folder.aver_with(&format!("guard hook {agent} r.assert --state state"), &event.to_string())
}

fn log(folder: &Folder) -> (PathBuf, String) {
    let mut logs: Vec<PathBuf> =
        std::fs::read_dir(folder.path().join("state")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(logs.len(), 1, "{logs:?}");
    let path = logs.remove(0);
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

/// Returns an event of Claude Code about a call.
fn event(name: &str, id: &str, tool: &str, args: Value) -> Value {
    json!({ "session_id": "s", "hook_event_name": name, "tool_name": tool, "tool_input": args, "tool_use_id": id })
}

#[test]
fn a_session_is_held_to_its_rules_and_its_log_says_the_same() {
    let folder = folder();
    let claude = |event: &Value| told(&folder, "claude", event);
    let passes = |event: &Value| {
        let ran = claude(event);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "{event}");
    };
    let denied = |event: &Value, rule: &str| {
        let ran = claude(event);
        assert_eq!(ran.code, 0, "{ran:?}");
        let said = &ran.json()["hookSpecificOutput"];
        assert_eq!((&said["hookEventName"], &said["permissionDecision"]), (&"PreToolUse".into(), &"deny".into()));
        assert!(said["permissionDecisionReason"].as_str().unwrap().contains(rule), "{ran:?}");
    };
    passes(&json!({ "session_id": "s", "hook_event_name": "SessionStart", "source": "startup" }));
    let refund = |id: &str| event("PreToolUse", id, "refund", json!({ "id": "o-1" }));
    denied(&refund("c1"), "`approval.1` (r.assert:1)");
    // An event arrives twice if two settings have the hook: the answer is the same, and the log gets one line.
    denied(&refund("c1"), "`approval.1`");
    passes(&event("PreToolUse", "c2", "approve", json!({ "id": "o-1" })));
    passes(&event("PreToolUse", "c2", "approve", json!({ "id": "o-1" })));
    // A different call with the id of an allowed call is judged.
    denied(&event("PreToolUse", "c2", "Bash", json!({ "command": "rm -rf x" })), "`nothing-removed.1`");
    let mut end = event("PostToolUse", "c2", "approve", json!({ "id": "o-1" }));
    end["tool_response"] = "fine".into();
    passes(&end);
    passes(&end);
    // The approval has a result. The refund has none yet, so assertions about its result are still open.
    passes(&refund("c3"));
    denied(&refund("c4"), "`once.1`");
    denied(&event("PreToolUse", "c5", "Bash", json!({ "command": "cd / && rm -rf x" })), "`nothing-removed.1`");
    let stop = |active: bool| json!({ "session_id": "s", "hook_event_name": "Stop", "stop_hook_active": active });
    let held = claude(&stop(false)).json();
    assert_eq!(held["decision"], "block");
    assert!(held["reason"].as_str().unwrap().contains("refund at call 4 has no later notify"), "{held}");
    passes(&stop(true));
    let (path, text) = log(&folder);
    let kinds: Vec<Value> =
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["guard"].clone()).collect();
    assert_eq!(kinds, ["session", "denied", "call", "denied", "result", "call", "denied", "denied", "stop"]);
    let report = folder.aver(&format!("check r.assert {} --format json", path.display())).json();
    let verdicts: Vec<&str> =
        report["runs"][0]["results"].as_array().unwrap().iter().map(|one| one["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["pass", "pass", "fail", "fail", "pass"], "{report}");
    // The session continues after the missing result arrives.
    let mut end = event("PostToolUse", "c3", "refund", json!({ "id": "o-1" }));
    end["tool_response"] = r#"{"status": "paid"}"#.into();
    passes(&end);
    passes(&event("PreToolUse", "c6", "notify", json!({})));
    passes(&stop(false));
    assert_eq!(folder.aver(&format!("check r.assert {}", path.display())).code, 0);
}

#[test]
fn each_agent_is_answered_in_its_own_words() {
    let proposals = [
        ("claude", event("PreToolUse", "c", "refund", json!({ "id": 1 }))),
        ("codex", event("PreToolUse", "c", "refund", json!({ "id": 1 }))),
        (
            "gemini",
            json!({ "session_id": "s", "hook_event_name": "BeforeTool", "tool_name": "refund", "tool_input": { "id": 1 } }),
        ),
        (
            "cursor",
            json!({ "conversation_id": "s", "hook_event_name": "preToolUse", "tool_name": "refund", "tool_input": { "id": 1 }, "cwd": "" }),
        ),
        (
            "copilot",
            json!({ "sessionId": "s", "timestamp": 1, "cwd": "/w", "toolName": "refund", "toolArgs": "{\"id\": 1}" }),
        ),
    ];
    for (agent, proposal) in proposals {
        let folder = folder();
        // Cursor writes a byte order mark.
        let ran =
            folder.aver_with(&format!("guard hook {agent} r.assert --state state"), &format!("\u{feff}{proposal}"));
        assert_eq!(ran.code, 0, "{agent}: {ran:?}");
        let said = ran.json();
        let (word, reason) = match agent {
            "claude" | "codex" => {
                let said = &said["hookSpecificOutput"];
                (&said["permissionDecision"], &said["permissionDecisionReason"])
            }
            "gemini" => (&said["decision"], &said["reason"]),
            "cursor" => (&said["permission"], &said["agent_message"]),
            _ => (&said["permissionDecision"], &said["permissionDecisionReason"]),
        };
        assert_eq!(word, "deny", "{agent}: {said}");
        assert!(reason.as_str().unwrap().contains("`approval.1`"), "{agent}: {said}");
        assert!(!ran.out.contains("allow"), "{agent}: an `allow` would skip the prompt of the user: {said}");
        // With `--mode warn`, the same call is made.
        let warned =
            folder.aver_with(&format!("guard hook {agent} r.assert --state other --mode warn"), &proposal.to_string());
        assert_eq!(warned.code, 0, "{agent}: {warned:?}");
        assert!(format!("{}{}", warned.out, warned.err).contains("`approval.1`"), "{agent}: {warned:?}");
        assert!(!warned.out.contains("deny"), "{agent}: {warned:?}");
        let logged =
            folder.aver_with(&format!("guard hook {agent} r.assert --state third --mode log"), &proposal.to_string());
        assert_eq!((logged.code, logged.out.as_str(), logged.err.as_str()), (0, "", ""), "{agent}");
    }
}

#[test]
fn results_belong_to_calls_without_ids_and_failures_are_known() {
    let folder = Folder::new(&[("r.assert", "rule work { before open ok -> close }\n")]);
    let gemini = |event: Value| told(&folder, "gemini", &event);
    let call = |name: &str, tool: &str| json!({ "session_id": "s", "hook_event_name": name, "tool_name": tool, "tool_input": {} });
    assert_eq!(gemini(call("BeforeTool", "open")).out, "");
    let mut end = call("AfterTool", "open");
    end["tool_response"] = json!({ "llmContent": "no", "error": { "message": "locked" } });
    assert_eq!(gemini(end).out, "");
    assert!(gemini(call("BeforeTool", "close")).out.contains("deny"));
    assert_eq!(gemini(call("BeforeTool", "open")).out, "");
    let mut end = call("AfterTool", "open");
    end["tool_response"] = json!({ "llmContent": "opened", "error": null });
    assert_eq!(gemini(end).out, "");
    assert_eq!(gemini(call("BeforeTool", "close")).out, "");
    // A call that the agent made without asking also counts.
    let mut end = call("AfterTool", "surprise");
    end["tool_response"] = json!({ "llmContent": "made" });
    assert_eq!(gemini(end).out, "");
    assert!(log(&folder).1.contains(r#"{"guard":"call","tool":"surprise""#), "{}", log(&folder).1);
}

#[test]
fn what_has_been_done_unasked_is_no_permission() {
    let folder = folder();
    // The agent reports a call that it made without asking. A later call with the same id is judged like any other.
    let done = event("PostToolUse", "c1", "refund", json!({ "id": 1 }));
    assert_eq!(told(&folder, "claude", &done).code, 0);
    let again = told(&folder, "claude", &event("PreToolUse", "c1", "refund", json!({ "id": 1 })));
    assert!(again.out.contains(r#""permissionDecision":"deny""#), "{again:?}");
}

#[test]
fn an_event_that_says_two_things_is_held_back() {
    let folder = folder();
    let twice = r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"refund","tool_name":"notify","tool_input":{}}"#;
    let ran = folder.aver_with("guard hook claude r.assert --state state", twice);
    assert!(ran.code == 2 && ran.err.contains("the key `tool_name` stands twice"), "{ran:?}");
}

#[test]
fn two_proposals_at_the_same_moment_are_never_both_the_first() {
    let folder = Folder::new(&[("r.assert", "rule once { count refund <= 1 }\n")]);
    for round in 0..25 {
        let propose = |id: &str| {
            let mut child = Command::new(env!("CARGO_BIN_EXE_aver"))
                .current_dir(folder.path())
                .args(["guard", "hook", "claude", "r.assert", "--state", "state"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let event = json!({ "session_id": format!("s{round}"), "hook_event_name": "PreToolUse", "tool_name": "refund",
                "tool_input": {}, "tool_use_id": id });
            child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
            child
        };
        let both = [propose("a"), propose("b")].map(|child| child.wait_with_output().unwrap());
        let denied = both.iter().filter(|output| String::from_utf8_lossy(&output.stdout).contains("deny")).count();
        assert_eq!(denied, 1, "round {round}: {both:?}");
    }
}

#[test]
fn what_was_admitted_is_in_the_log_whenever_the_process_is_killed() {
    let folder = Folder::new(&[("r.assert", "rule some { count step <= 1000 }\n")]);
    let (mut admitted, mut killed) = (Vec::new(), 0);
    for round in 0..60_u64 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_aver"))
            .current_dir(folder.path())
            .args(["guard", "hook", "claude", "r.assert", "--state", "state"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let id = format!("c{round}");
        let proposal = event("PreToolUse", &id, "step", json!({ "text": "x".repeat(2000) }));
        let _ = child.stdin.take().unwrap().write_all(proposal.to_string().as_bytes());
        std::thread::sleep(Duration::from_micros(round * 700));
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        if output.status.success() {
            assert!(output.stdout.is_empty());
            admitted.push(id);
        } else {
            killed += 1;
        }
    }
    assert!(killed > 0);
    // The next event removes a truncated last line.
    assert_eq!(told(&folder, "claude", &event("PreToolUse", "last", "step", json!({}))).code, 0);
    let (path, text) = log(&folder);
    for line in text.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
    for id in admitted {
        assert!(text.contains(&format!(r#"{{"guard":"call","id":"{id}","#)), "{id} was admitted, and is not there");
    }
    assert_eq!(folder.aver(&format!("check r.assert {} --allow undecided", path.display())).code, 0);
}

#[test]
fn what_cannot_be_understood_is_held_back_unless_calls_are_only_logged() {
    let deep = "[".repeat(100_000);
    for input in [
        "",
        "nonsense",
        "[]",
        "{}",
        "{\"hook_event_name\": \"PreToolUse\"}",
        "{\"session_id\": \"s\", \"hook_event_name\": \"PreToolUse\"}",
        &deep,
    ] {
        let folder = folder();
        let enforced = folder.aver_with("guard hook claude r.assert --state state", input);
        assert_eq!((enforced.code, enforced.out.as_str()), (2, ""), "{input:.40}: {enforced:?}");
        assert!(enforced.err.starts_with("aver guard: "), "{enforced:?}");
        let logged = folder.aver_with("guard hook claude r.assert --state state --mode log", input);
        assert_eq!((logged.code, logged.out.as_str()), (1, ""), "{input:.40}: {logged:?}");
    }
    // Rules that do not compile, and a folder that cannot be created.
    let folder = Folder::new(&[("r.assert", "befor a -> b\n"), ("ok.assert", RULES), ("file", "")]);
    let proposal = event("PreToolUse", "c", "approve", json!({})).to_string();
    assert_eq!(folder.aver_with("guard hook claude r.assert --state state", &proposal).code, 2);
    assert_eq!(folder.aver_with("guard hook claude nothing.assert --state state", &proposal).code, 2);
    assert_eq!(folder.aver_with("guard hook claude ok.assert --state file/below", &proposal).code, 2);
    folder.aver("guard install claude r.assert").refused_by_rules();
    assert!(!folder.path().join(".claude").exists());
}

impl Ran {
    #[track_caller]
    fn refused_by_rules(&self) {
        assert_eq!((self.code, self.out.as_str()), (3, ""), "{self:?}");
        assert!(self.err.contains("befor"), "{self:?}");
    }
}

#[cfg(unix)]
#[test]
fn sessions_lead_nowhere_else() {
    let folder = folder();
    let proposal = |session: &str| {
        let mut proposal = event("PreToolUse", "c", "approve", json!({}));
        proposal["session_id"] = session.into();
        told(&folder, "claude", &proposal)
    };
    assert_eq!(proposal("../../../outside/\u{0}\n").code, 0);
    let (path, _) = log(&folder);
    assert_eq!(path.parent().unwrap(), folder.path().join("state"));
    // The guard writes through no link.
    std::fs::remove_file(&path).unwrap();
    folder.write("victim", b"untouched");
    std::os::unix::fs::symlink(folder.path().join("victim"), &path).unwrap();
    assert_eq!(proposal("../../../outside/\u{0}\n").code, 2);
    assert_eq!(folder.read("victim"), "untouched");
}

#[test]
fn settings_are_written_and_taken_out_for_each_agent() {
    for (agent, file) in [
        ("claude", ".claude/settings.json"),
        ("codex", ".codex/hooks.json"),
        ("gemini", ".gemini/settings.json"),
        ("cursor", ".cursor/hooks.json"),
        ("copilot", ".github/hooks/aver-guard.json"),
    ] {
        let folder = folder();
        let shown = folder.aver(&format!("guard install {agent} r.assert --state state --dry-run"));
        assert!(!folder.path().join(file).exists());
        let installed = folder.aver(&format!("guard install {agent} r.assert --state state"));
        assert_eq!(installed.code, 0);
        // These agents silently skip the hooks of untrusted projects, so the note mentions trust.
        assert_eq!(installed.err.contains("trust"), ["codex", "gemini", "copilot"].contains(&agent), "{installed:?}");
        let text = folder.read(file);
        assert_eq!(shown.out, text, "{agent}");
        let settings: Value = serde_json::from_str(&text).unwrap();
        let hooks = settings["hooks"].as_object().unwrap();
        let asked =
            hooks.iter().find(|(name, _)| name.to_lowercase().contains("pre") || *name == "BeforeTool").unwrap().1;
        let entry = asked[0].get("hooks").map_or(&asked[0], |hooks| &hooks[0]);
        let command = entry.get("command").or(entry.get("bash")).unwrap().as_str().unwrap();
        assert!(command.ends_with("|| exit 2"), "{agent}: {command}");
        // The installed command denies.
        let proposal = match agent {
            "copilot" => json!({ "sessionId": "s", "toolName": "refund", "toolArgs": { "id": 1 } }),
            "gemini" => {
                json!({ "session_id": "s", "hook_event_name": "BeforeTool", "tool_name": "refund", "tool_input": { "id": 1 } })
            }
            "cursor" => {
                json!({ "conversation_id": "s", "hook_event_name": "preToolUse", "tool_name": "refund", "tool_input": { "id": 1 } })
            }
            _ => event("PreToolUse", "c", "refund", json!({ "id": 1 })),
        };
        let mut shell =
            Command::new("sh").args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        shell.stdin.take().unwrap().write_all(proposal.to_string().as_bytes()).unwrap();
        let output = shell.wait_with_output().unwrap();
        assert!(
            output.status.success() && String::from_utf8_lossy(&output.stdout).contains("deny"),
            "{agent}: {output:?}"
        );
        assert_eq!(folder.aver(&format!("guard install {agent} --uninstall")).code, 0);
        assert!(!folder.path().join(file).exists(), "{agent}");
    }
}

#[test]
fn what_each_assertion_does_is_said_before_it_is_used() {
    let rules = "rule a { never delete }\nrule b { after pay -> tell }\nrule c { cost <= $5 }\nrule d { require pay 1..2 times }\n";
    let folder = Folder::new(&[("r.assert", rules), ("bad.assert", "nevr delete\n")]);
    let ran = folder.aver("lint r.assert --online");
    assert_eq!(ran.code, 0, "{ran:?}");
    let words: Vec<&str> = ran.out.lines().map(|line| line[..14].trim()).collect();
    assert_eq!(words, ["denies", "owed", "reports", "denies, owed"], "{}", ran.out);
    assert!(ran.out.contains("r.assert:1  a.1  never delete\n"), "{}", ran.out);
    let data = folder.aver("lint r.assert --online --format json").json();
    let told = &data["assertions"][1];
    assert_eq!((&told["id"], &told["denies"], &told["owed"]), (&"b.1".into(), &false.into(), &true.into()));
    assert_eq!(folder.aver("lint bad.assert --online").code, 3, "rules that do not compile are told as always");
}

#[test]
fn recorded_runs_show_what_would_have_been_denied() {
    let run = json!({ "calls": [
        { "tool": "approve", "args": { "id": 1 }, "result": "fine" },
        { "tool": "refund", "args": { "id": 1 }, "result": { "status": "paid" } },
        { "tool": "refund", "args": { "id": 2 }, "result": { "status": "paid" } },
    ] });
    let folder = Folder::new(&[("r.assert", RULES), ("run.json", &run.to_string())]);
    let ran = folder.aver("guard replay r.assert run.json");
    assert_eq!(ran.code, 1, "{ran:?}");
    let expected = "run.json: deny call 3 `refund`: `approval.1` (r.assert:1) says `before approve(id: $id) ok -> refund(id: $id)`: \
                    refund at call 3 has no earlier `approve(id: $id) ok` with id 2";
    assert!(ran.out.contains(expected), "{}", ran.out);
    assert!(ran.out.contains("run.json: owed at the end: `told.1` (r.assert:3)"), "{}", ran.out);
    assert!(ran.out.ends_with("1 run, 3 calls: 1 would have been denied, 1 run owed something\n"), "{}", ran.out);
    let data = folder.aver("guard replay r.assert run.json --format jsonl").json();
    assert_eq!(
        (&data["breaches"][0]["call"], &data["breaches"][0]["breaches"][0]["id"]),
        (&3.into(), &"approval.1".into())
    );
    let warned = folder.aver("guard replay r.assert run.json --mode warn");
    assert_eq!(warned.code, 0, "{warned:?}");
    assert!(warned.out.contains("warn call 3"), "{warned:?}");
}

#[test]
fn a_server_gets_only_the_calls_that_rules_let_through() {
    let folder =
        Folder::new(&[("r.assert", "rule few { each echo: args.a <= 5 }\nrule once { count delete_all <= 0 }\n")]);
    let server = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/commands/probe_server.py");
    let call = |id: Value, name: &str, args: Value| {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name, "arguments": args } })
            .to_string()
    };
    let mut lines = vec![
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } }).to_string(),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(),
        call(1.into(), "echo", json!({ "a": 3 })),
        call("two".into(), "echo", json!({ "a": 9 })),
        call(3.into(), "delete_all", json!({})),
        // Ambiguous message: some parsers read an echo, others a forbidden call.
        r#"{"jsonrpc":"2.0","id":4,"method":"ping","method":"tools/call","params":{"name":"delete_all","arguments":{}}}"#.to_owned(),
        format!("[{}]", call(5.into(), "delete_all", json!({}))),
        "no json".to_owned(),
        call(6.into(), "echo", json!({ "a": 4 })),
    ];
    lines.push(String::new());
    let words = format!("guard mcp r.assert --state state -- python3 {} good sent.jsonl", server.display());
    let ran = folder.aver_with(&words, &lines.join("\n"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let answers: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answer =
        |id: Value| answers.iter().find(|answer| answer["id"] == id).unwrap_or_else(|| panic!("{id}: {ran:?}"));
    assert_eq!(answer(1.into())["result"]["structuredContent"], json!({ "a": 3 }));
    assert_eq!(answer("two".into())["result"]["isError"], true);
    assert!(answer("two".into())["result"]["content"][0]["text"].as_str().unwrap().contains("`few.1`"));
    assert_eq!(answer(3.into())["result"]["isError"], true);
    assert_eq!(answer(6.into())["result"]["structuredContent"], json!({ "a": 4 }));
    assert_eq!(answers.iter().filter(|answer| answer["error"].is_object()).count(), 3, "{ran:?}");
    // The server received two calls, and the log has their results.
    assert!(!folder.read("sent.jsonl").contains("delete_all"), "{}", folder.read("sent.jsonl"));
    assert_eq!(folder.read("sent.jsonl").lines().count(), 2);
    let (path, text) = log(&folder);
    assert_eq!(text.matches(r#""guard":"call""#).count(), 2, "{text}");
    assert_eq!(text.matches(r#""guard":"result""#).count(), 2, "{text}");
    assert_eq!(text.matches(r#""guard":"denied""#).count(), 2, "{text}");
    assert_eq!(folder.aver(&format!("check r.assert {}", path.display())).code, 0);
}

#[test]
fn a_server_that_hangs_is_stopped_when_its_client_has_gone() {
    let folder = Folder::new(&[("r.assert", "never drop\n"), ("hang.py", "import time\ntime.sleep(600)\n")]);
    let began = Instant::now();
    let ran = folder.aver_with("guard mcp r.assert --state state -- python3 hang.py", "");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("the server hangs"), "{ran:?}");
    assert!(began.elapsed() > Duration::from_secs(8), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn programs_ask_a_resident_guard() {
    let rules =
        "rule yes { each refund: last(text of user so far) matches /yes/i }\nrule told { after refund -> notify }\n";
    let folder = Folder::new(&[("r.assert", rules)]);
    let refund =
        |id: &str| json!({ "session": "s", "propose": { "id": id, "tool": "refund", "args": {} } }).to_string();
    let said = |text: &str| json!({ "session": "s", "message": { "role": "user", "text": text } }).to_string();
    let requests = [
        said("What is it?"),
        refund("c1"),
        said("Yes, please"),
        refund("c2"),
        json!({ "session": "s", "result": { "id": "c2", "tool": "refund", "result": null } }).to_string(),
        json!({ "session": "s", "stop": {} }).to_string(),
        json!({ "session": "s", "stop": { "held": true } }).to_string(),
        json!({ "session": "other", "proposes": {} }).to_string(),
        r#"{"session":"s","session":"t","stop":{}}"#.to_owned(),
    ];
    let ran = folder.aver_with("guard serve r.assert --state state", &requests.join("\n"));
    let decisions: Vec<String> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["decision"].as_str().unwrap().to_owned())
        .collect();
    let expected = ["pass", "deny", "pass", "pass", "pass", "continue", "pass", "error", "error"];
    assert_eq!(decisions, expected, "{ran:?}");
    // Sends the same requests over a socket, from two clients at once, against one rule for both.
    let server = Command::new(env!("CARGO_BIN_EXE_aver"))
        .current_dir(folder.path())
        .args(["guard", "serve", "r.assert", "--state", "state", "--socket", "guard.sock"])
        .spawn();
    let mut server = server.unwrap();
    let path = folder.path().join("guard.sock");
    let connect = || {
        (0..500)
            .find_map(|_| {
                std::thread::sleep(Duration::from_millis(10));
                std::os::unix::net::UnixStream::connect(&path).ok()
            })
            .unwrap()
    };
    let ask = |request: &str| {
        let mut stream = connect();
        stream.write_all(format!("{request}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(&stream), &mut answer).unwrap();
        answer
    };
    assert!(ask(&refund("c3")).contains("pass"));
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn sessions_that_grow_are_watched() {
    let folder = Folder::new(&[
        ("r.assert", "never delete\nafter open -> close\n"),
        ("runs/old.json", r#"{"calls": [{"tool": "delete"}]}"#),
    ]);
    let once = folder.aver("guard watch r.assert runs --once");
    assert_eq!(once.code, 1, "{once:?}");
    assert!(once.out.starts_with("runs/old.json: broken: ") && once.out.contains("says `never delete`"), "{once:?}");
    let mut watch = Command::new(env!("CARGO_BIN_EXE_aver"))
        .current_dir(folder.path())
        .args(["guard", "watch", "r.assert", "runs", "--every", "50ms", "--format", "jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut notes = std::io::BufReader::new(watch.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut notes, &mut said).unwrap();
    assert!(said.contains("1 violations are there already"), "{said}");
    // Open obligations are no breaches yet, and each breach is reported once.
    folder.write("runs/new.json", br#"{"calls": [{"tool": "open"}]}"#);
    std::thread::sleep(Duration::from_millis(200));
    folder.write("runs/new.json", br#"{"calls": [{"tool": "open"}, {"tool": "delete"}]}"#);
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(watch.stdout.as_mut().unwrap()), &mut line).unwrap();
    watch.kill().unwrap();
    watch.wait().unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&told["run"], &told["text"]), (&"runs/new.json".into(), &"never delete".into()));
}

#[test]
fn what_cannot_be_judged_while_watching_is_told() {
    let folder = Folder::new(&[("r.assert", "never delete\n"), ("runs/a.json", r#"{"calls": [{"tool": "delete"}"#)]);
    let once = folder.aver("guard watch r.assert runs --once");
    assert_eq!((once.code, once.out.as_str()), (4, ""), "{once:?}");
    assert!(once.err.starts_with("aver guard: not judged: runs/a.json:1:"), "{once:?}");
    folder.write("runs/b.json", br#"{"calls": [{"tool": "delete"}]}"#);
    let both = folder.aver("guard watch r.assert runs --once");
    assert!(both.code == 4 && both.out.starts_with("runs/b.json: broken: "), "{both:?}");
}

#[test]
fn what_a_call_does_is_proposed_with_it() {
    let call = |id: &str, command: &str| {
        json!({ "guard": "call", "id": id, "tool": "Bash", "args": { "command": command }, "time": 1 }).to_string()
    };
    let lines = [
        json!({ "guard": "session", "id": "s", "agent": "claude", "time": 0 }).to_string(),
        call("c1", "ls"),
        call("c2", "rm -rf x"),
        call("c3", "ls x"),
        call("c4", "rm -rf y"),
    ];
    let rules = "never command /rm -rf/\ncount command /ls/ <= 1\n";
    let folder = Folder::new(&[("r.assert", rules), ("s.jsonl", &lines.join("\n"))]);
    let data = folder.aver("guard replay r.assert s.jsonl --format jsonl").json();
    let denied: Vec<&Value> = data["breaches"].as_array().unwrap().iter().map(|one| &one["call"]).collect();
    assert_eq!(denied, [2, 3, 4], "{data}");
    // Each breaks one rule, because denied calls were not made.
    assert!(
        data["breaches"].as_array().unwrap().iter().all(|one| one["breaches"].as_array().unwrap().len() == 1),
        "{data}"
    );
}

#[test]
fn what_passes_a_server_in_spite_of_a_rule_is_told() {
    let folder = Folder::new(&[("r.assert", "each echo: args.a <= 5\n")]);
    let server = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/commands/probe_server.py");
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "echo", "arguments": { "a": 9 } } });
    let words = format!("guard mcp r.assert --mode warn --state state -- python3 {} good sent.jsonl", server.display());
    let ran = folder.aver_with(&words, &format!("{call}\n"));
    assert!(
        ran.err.contains("A call of `echo` breaks a rule") && ran.err.contains("`each echo: args.a <= 5`"),
        "{ran:?}"
    );
    assert!(ran.out.contains("structuredContent") && !ran.out.contains("isError"), "{ran:?}");
}
