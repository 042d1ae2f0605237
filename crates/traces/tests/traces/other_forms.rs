//! Forms in which messages, calls and results are written: rows of a store, several results in one turn, recordings of answers, refusals.

use super::formats::{field, root, steps, with};
use averment_runs::run::{Run, StepKind};
use serde_json::json;

fn records_calls(run: &Run<'_>) -> bool {
    run.complete && run.recorded.get(StepKind::Call as usize) == Some(&true)
}

#[test]
fn results_of_one_turn_of_sharegpt_are_those_of_its_calls_in_order() {
    let ask =
        |to: &str| format!("<tool_call>\n{{\"name\": \"look\", \"arguments\": {{\"to\": \"{to}\"}}}}\n</tool_call>");
    let give = |text: &str| format!("<tool_response>\n{text}\n</tool_response>\n");
    let run = |results: &[String]| {
        let mut turns = vec![
            json!({"from": "human", "value": "Look."}),
            json!({"from": "gpt", "value": format!("{}\n{}", ask("left"), ask("right"))}),
        ];
        turns.extend(results.iter().map(|text| json!({"from": "tool", "value": text})));
        turns.push(json!({"from": "gpt", "value": "Seen."}));
        let text = json!({"conversations": turns}).to_string();
        with(&text, |run| {
            assert_eq!(steps(run), ["message user", "call look", "call look", "message assistant"]);
            assert!(records_calls(run));
            [1, 2].map(|call| field(run, call, "result"))
        })
    };
    let both = ["\"a wall\"".to_owned(), "\"a door\"".to_owned()];
    assert_eq!(run(&[give("a wall") + &give("a door")]), both);
    assert_eq!(run(&[give("a wall"), give("a door")]), both);
    assert_eq!(run(&["a wall".into(), "a door".into()]), both);
    // Whose a result is nobody knows where there are more calls than results, or fewer.
    for results in [vec![give("a wall")], vec!["a wall".to_owned()], vec![give("a"), give("b") + &give("c")]] {
        assert_eq!(run(&results), ["absent", "absent"]);
    }
}

#[test]
fn rows_of_mastra_hold_their_content_as_text() {
    let row = |id: &str, role: &str, content: &str| json!({"id": id, "thread_id": "t", "role": role, "type": "v2", "content": content});
    let asked = json!({"format": 2, "parts": [{"type": "text", "text": "Reserve it."}]}).to_string();
    let call =
        json!({"state": "result", "toolCallId": "c", "toolName": "reserve", "args": {"seat": 7}, "result": "kept"});
    let parts = json!([{"type": "tool-invocation", "toolInvocation": call}, {"type": "text", "text": "Kept."}]);
    let said = json!({"parts": parts, "format": 2}).to_string();
    with(&json!([row("1", "user", &asked), row("2", "assistant", &said)]).to_string(), |run| {
        assert_eq!(steps(run), ["message user", "call reserve", "message assistant"]);
        assert_eq!((field(run, 1, "args"), field(run, 1, "result")), (r#"{"seat":7}"#.into(), "\"kept\"".into()));
        assert_eq!((root(run, "prompt"), root(run, "output")), ("\"Reserve it.\"".into(), "\"Kept.\"".into()));
        assert!(records_calls(run));
    });
    // A text that is no whole JSON is nobody's words.
    let broken = "{\"format\": 2, \"parts\": [}";
    with(&json!([row("1", "user", broken), row("2", "assistant", &said)]).to_string(), |run| {
        assert_eq!(steps(run), ["call reserve", "message assistant"]);
        assert!(!records_calls(run));
    });
}

#[test]
fn messages_with_senders_may_have_calls_beside_them() {
    for (tool, inner) in [
        (
            json!({"sender": "tool", "tool_call_id": "c", "content": "closed"}),
            json!({"id": "c", "name": "close", "arguments": {"of": 3}}),
        ),
        (
            json!({"sender": "clerk", "role": "tool", "tool_call_id": "c", "text": "closed"}),
            json!({"id": "c", "type": "function", "function": {"name": "close", "arguments": "{\"of\": 3}"}}),
        ),
    ] {
        let talk = json!([{"sender": "user", "content": "Close it."}, {"sender": "bot", "content": null, "tool_calls": [inner]},
            tool, {"sender": "bot", "content": "It is closed."}]);
        with(&talk.to_string(), |run| {
            assert_eq!(steps(run), ["message user", "call close", "message assistant"]);
            assert_eq!((field(run, 1, "args"), field(run, 1, "result")), (r#"{"of":3}"#.into(), "\"closed\"".into()));
            assert_eq!(root(run, "output"), "\"It is closed.\"");
            assert!(records_calls(run));
        });
    }
    // Calls of someone else, and a list that is none, may be calls.
    for more in [
        json!({"sender": "user", "text": "x", "tool_calls": [{}]}),
        json!({"sender": "bot", "text": "x", "tool_calls": "look"}),
    ] {
        let talk = json!([{"sender": "bot", "content": "", "tool_calls": []}, more]);
        with(&talk.to_string(), |run| assert!(!records_calls(run)));
    }
}

#[test]
fn a_refusal_is_what_the_assistant_says() {
    let no = "I will not.";
    let part = json!([{"type": "refusal", "refusal": no}]);
    let asked = json!({"role": "user", "content": "Go."});
    let items = json!({"object": "list", "data": [{"type": "message", "id": "1", "role": "user", "content": [{"type": "input_text", "text": "Go."}]},
        {"type": "message", "id": "2", "role": "assistant", "status": "completed", "content": part}], "has_more": false});
    let thread = json!({"data": [{"object": "thread.message", "id": "1", "created_at": 1, "role": "user", "content": "Go."},
        {"object": "thread.message", "id": "2", "created_at": 2, "role": "assistant", "content": part}]});
    let refused = json!({"role": "assistant", "content": null, "refusal": no});
    let answer =
        json!({"id": "r", "object": "chat.completion", "choices": [{"message": refused, "finish_reason": "stop"}]});
    for text in [
        json!({"messages": [asked, {"role": "assistant", "content": part}]}),
        json!({"messages": [asked, refused]}),
        json!({"request": {"messages": [asked]}, "response": answer}),
        items,
        thread,
    ] {
        with(&text.to_string(), |run| {
            assert_eq!(steps(run), ["message user", "message assistant"], "{text}");
            assert_eq!(
                (field(run, 1, "text"), root(run, "output")),
                ("\"I will not.\"".into(), "\"I will not.\"".into())
            );
        });
    }
    // The model answered: nothing was refused.
    let said = json!({"messages": [asked, {"role": "assistant", "content": "Gone.", "refusal": null}]});
    with(&said.to_string(), |run| assert_eq!(root(run, "output"), "\"Gone.\""));
}

#[test]
fn texts_of_one_content_of_gemini_are_one_text() {
    let parts = json!([{"text": "look at "}, {"text": "a.txt"}]);
    let session = json!({"sessionId": "s", "projectHash": "p", "messages": [
        {"id": "1", "timestamp": "2026-01-01T00:00:00Z", "type": "user", "content": parts},
        {"id": "2", "timestamp": "2026-01-01T00:00:01Z", "type": "gemini", "content": [{"text": "I lo"}, {"text": "oked."}]}]});
    let answer = json!([{"text": "I lo"}, {"text": "oked."}]);
    let request = json!({"contents": [{"role": "user", "parts": parts}, {"role": "model", "parts": answer}]});
    for text in [session, request] {
        with(&text.to_string(), |run| {
            assert_eq!(steps(run), ["message user", "message assistant"], "{text}");
            assert_eq!(
                (root(run, "prompt"), root(run, "output")),
                ("\"look at a.txt\"".into(), "\"I looked.\"".into())
            );
        });
    }
    // Also around a call.
    let call = json!({"functionCall": {"name": "add", "args": {"n": 1}}});
    let parts = json!([{"text": "One and "}, call, {"text": "one."}]);
    let text = json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]});
    with(&text.to_string(), |run| {
        assert_eq!(steps(run), ["message assistant", "call add", "message assistant"]);
        assert_eq!(root(run, "output"), "\"One and one.\"");
    });
}

#[test]
fn recordings_of_gemini_cli_hold_answers_without_requests() {
    let answer = |parts: serde_json::Value| {
        json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 2, "totalTokenCount": 9}})
    };
    let open = json!({"candidates": [{"content": {"parts": [{"text": "It "}]}}]});
    let lines = [
        json!({"method": "generateContent", "response": answer(json!([{"text": "plain"}]))}),
        json!({"method": "countTokens", "response": {"totalTokens": 3}}),
        json!({"method": "generateContentStream", "response": [answer(json!([{"functionCall": {"name": "peek", "args": {"at": "x"}}}]))]}),
        json!({"method": "generateContentStream", "response": [open, answer(json!([{"text": "is."}]))]}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    with(&text, |run| {
        assert_eq!(steps(run), ["message assistant", "call peek", "message assistant"]);
        assert_eq!((field(run, 1, "args"), field(run, 1, "result")), (r#"{"at":"x"}"#.into(), "absent".into()));
        assert_eq!(root(run, "output"), "\"It is.\"");
        assert!(records_calls(run));
    });
}

/// They are put together once, and not anew with each: the memory of a run would not suffice.
#[test]
fn many_texts_of_one_content_are_put_together_once() {
    let parts = vec![json!({"text": "0123456789"}); 40_000];
    let text = json!({"contents": [{"role": "user", "parts": parts}, {"role": "model", "parts": [{"text": "ok"}]}]});
    with(&text.to_string(), |run| assert_eq!(root(run, "prompt").len(), 400_000 + 2));
}
