//! A guard: events of hooks, messages to an MCP server, and requests to the resident guard. Each line of an input is one of them.

use averment::Rules;
use averment_guard::agent::Agent;
use averment_guard::hook::SessionGuard;
use averment_guard::judge::GuardMode;
use averment_guard::mcp::{McpGuard, McpStep};
use averment_guard::resident::ResidentSessions;
use averment_guard::session::SessionKey;
use serde_json::Value;
use std::sync::{Arc, LazyLock};

/// The tool that no message may reach.
const FORBIDDEN: &str = "forbidden";
const NAME: &str = "guard.assert";

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let rules = "never forbidden\nbefore a -> b\ncount c <= 2\nafter d -> e\nnever repeat c more than 3 times\n";
    Rules::from_text(NAME, rules).expect("the rules compile")
});

/// Gives a guard every line in every protocol: it answers, and lets no forbidden call pass.
pub fn run(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let sessions = Arc::new(ResidentSessions::new(&RULES));
    let guard = || SessionGuard {
        rules: &RULES,
        rule_names: NAME,
        mode: GuardMode::Enforce,
        folder: folder.path(),
        resident: Some(Arc::clone(&sessions)),
        seeds: false,
    };
    let key = SessionKey { agent: "mcp", id: "fuzzed", rules: NAME };
    let log = guard().open_log(key, true).expect("a log");
    let mut server = McpGuard::new(guard(), log);
    for line in bytes.split(|byte| *byte == b'\n').take(12) {
        let said = serde_json::from_slice::<Value>(line).unwrap_or_default();
        for (_, agent) in Agent::ALL {
            let answer = guard().answer_hook(agent, line);
            let silent = answer.code != 2 && answer.stdout.is_empty();
            assert!(!silent || !proposes_forbidden(&said), "{agent:?} makes the call: {answer:?}");
        }
        let step = server.take_request(line);
        let passed = matches!(step, McpStep::Pass | McpStep::Tell(_));
        assert!(!passed || !calls_forbidden(&said), "the server gets the call: {step:?}");
        let _ = server.take_answer(line);
        let answer = guard().answer_request(line);
        let answer: Value = serde_json::from_str(&answer).expect("an answer is one line of JSON");
        let passed = matches!(answer["decision"].as_str(), Some("pass" | "warn" | "continue"));
        assert!(!passed || said["propose"]["tool"] != FORBIDDEN, "the program makes the call: {answer}");
    }
    let _ = server.finish();
}

fn proposes_forbidden(event: &Value) -> bool {
    event["hook_event_name"] == "PreToolUse" && event["tool_name"] == FORBIDDEN
}

fn calls_forbidden(message: &Value) -> bool {
    let is_call = |one: &Value| one["method"] == "tools/call" && one["params"]["name"] == FORBIDDEN;
    is_call(message) || message.as_array().is_some_and(|batch| batch.iter().any(is_call))
}
