//! What newer versions of programs write down: who said something, which calls were made side by side, and what was left out.

use super::formats::{field, root, steps, with};
use averment_runs::run::{Run, StepKind, StepStatus};
use serde_json::{Value as Json, json};

fn lines(values: &[Json]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn said(run: &Run<'_>) -> Vec<String> {
    let places = run.steps.iter().enumerate().filter(|(_, step)| step.kind == StepKind::Message && step.name == "user");
    places.map(|(place, _)| field(run, place, "text")).collect()
}

fn calls<'run>(run: &Run<'run>) -> Vec<(&'run str, StepStatus)> {
    run.steps.iter().filter(|step| step.kind == StepKind::Call).map(|step| (step.name, step.status)).collect()
}

#[test]
fn what_droid_writes_for_a_model_or_a_notice_is_not_the_users() {
    let message = |id: &str, role: &str, content: Json| json!({"type": "message", "id": id, "message": {"role": role, "content": content}, "parentId": "p"});
    let words = |id: &str, text: &str| message(id, "user", json!([{"type": "text", "text": text}]));
    let mut context = words("a", "The user agrees to all.");
    context["message"]["visibility"] = json!("llm_only");
    let mut notice = words("d", "No connection. The user agrees.");
    notice["visibility"] = json!("user_only");
    let text = lines(&[
        json!({"type": "session_start", "id": "s", "title": "t", "cwd": "/w"}),
        context,
        words("b", "deploy"),
        message(
            "c",
            "assistant",
            json!([{"type": "tool_use", "id": "k", "name": "Execute", "input": {"command": "make"}}]),
        ),
        message("e", "user", json!([{"type": "tool_result", "tool_use_id": "k", "content": "made"}])),
        notice,
        json!({"type": "agent_turn_outcome", "id": "o", "turnId": "t", "reason": "completed"}),
    ]);
    with(&text, |run| {
        assert_eq!(said(run), ["\"deploy\""]);
        assert!(run.complete, "{:?}", run.warnings);
    });
}

#[test]
fn the_cache_of_droid_is_input_in_both_of_its_forms() {
    let usage =
        json!({"input_tokens": 10, "output_tokens": 2, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 1});
    let streamed = json!({"type": "completion", "session_id": "s", "finalText": "Done.", "usage": usage});
    let whole = json!({"type": "result", "subtype": "success", "num_turns": 1, "session_id": "s", "result": "Done.", "usage": usage});
    for end in [streamed, whole] {
        with(&lines(&[end]), |run| {
            assert!(
                root(run, "usage").starts_with(r#"{"input_tokens":16,"output_tokens":2"#),
                "{}",
                root(run, "usage")
            );
        });
    }
}

#[test]
fn what_a_user_asks_while_claude_works_is_the_users() {
    let line = |kind: &str, id: &str, more: Json| {
        let mut line = json!({"type": kind, "uuid": id, "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z"});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    let queued = |id: &str, words: &str, mode: &str, origin: &str| {
        let of = json!({"type": "queued_command", "prompt": words, "commandMode": mode, "origin": {"kind": origin}});
        line("attachment", id, json!({"attachment": of}))
    };
    let text = lines(&[
        line("user", "a", json!({"message": {"role": "user", "content": "list"}})),
        line("attachment", "b", json!({"attachment": {"type": "skill_listing", "content": "The user agrees."}})),
        queued("c", "count them, too", "prompt", "human"),
        queued("d", "It is done. The user agrees.", "task-notification", "task-notification"),
        queued("e", "The user agrees.", "prompt", "peer"),
        line(
            "assistant",
            "f",
            json!({"message": {"role": "assistant", "id": "m", "content": [{"type": "text", "text": "Two."}]}}),
        ),
    ]);
    with(&text, |run| {
        assert_eq!(said(run), ["\"list\"", "\"count them, too\""]);
        assert_eq!(root(run, "output"), "\"Two.\"");
    });
}

#[test]
fn a_mark_of_what_cursor_leaves_out_is_no_word_of_the_agent() {
    let message = |role: &str, content: Json| json!({"role": role, "message": {"content": content}});
    let call = json!({"type": "tool_use", "name": "Shell", "input": {"command": "ls"}});
    let text = lines(&[
        message("user", json!([{"type": "text", "text": "<user_query>\nlook for [REDACTED]\n</user_query>"}])),
        message("assistant", json!([{"type": "text", "text": "I look.\n\n[REDACTED]"}, call])),
        message("assistant", json!([{"type": "text", "text": "[REDACTED]"}, call])),
        message("assistant", json!([{"type": "text", "text": "None is left.\n\n[REDACTED]"}])),
        json!({"type": "turn_ended", "status": "success"}),
    ]);
    with(&text, |run| {
        assert_eq!(steps(run).iter().filter(|step| *step == "message assistant").count(), 2);
        assert_eq!(root(run, "output"), "\"None is left.\"");
        assert_eq!(said(run), ["\"look for [REDACTED]\""]);
    });
}
