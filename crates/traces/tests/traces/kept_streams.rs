//! Responses of which the events were kept, beside their requests; and the answer of a run whose last response nobody knows.

use super::formats::{root, steps, with};
use serde_json::{Value as Json, json};

/// What was asked in the second request of a conversation, with blocks of an API.
fn asked(call: Json, result: Json) -> Json {
    json!({"messages": [
        {"role": "user", "content": [{"type": "text", "text": "Which?"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, call]},
        {"role": "user", "content": [result]}]})
}

#[test]
fn events_of_a_response_are_put_together() {
    let bedrock = asked(
        json!({"toolUse": {"toolUseId": "a", "name": "look", "input": {}}}),
        json!({"toolResult": {"toolUseId": "a", "content": [{"text": "seven"}]}}),
    );
    let piece = |text: &str| json!({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": text}}});
    let events = json!([{"messageStart": {"role": "assistant"}}, piece("Sev"), piece("en."), {"contentBlockStop": {"contentBlockIndex": 0}},
        {"messageStop": {"stopReason": "end_turn"}}, {"metadata": {"usage": {"inputTokens": 5, "outputTokens": 2, "totalTokens": 7}}}]);
    let anthropic = asked(
        json!({"type": "tool_use", "id": "a", "name": "look", "input": {}}),
        json!({"type": "tool_result", "tool_use_id": "a", "content": "seven"}),
    );
    let of_messages = json!([
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": {"input_tokens": 5, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Seven."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}, {"type": "message_stop"}]);
    let chat = json!({"messages": [
        {"role": "user", "content": "Which?"},
        {"role": "assistant", "content": "I look.", "tool_calls": [{"id": "a", "function": {"name": "look", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "a", "content": "seven"}]});
    let chunks = json!([
        {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Sev"}}]},
        {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "en."}, "finish_reason": "stop"}]}]);
    for (request, response) in [(bedrock, events), (anthropic, of_messages), (chat, chunks)] {
        let exchange = |response: &Json| json!({"request": request, "response": response}).to_string();
        with(&exchange(&response), |run| {
            let all = ["message user", "message assistant", "call look", "message assistant"];
            assert_eq!((steps(run), run.complete), (all.map(str::to_owned).to_vec(), true), "{response}");
            assert_eq!(root(run, "output"), "\"Seven.\"");
        });
        // What was said before the answer is not the answer.
        for unknown in [json!([{"piece": "Seven."}]), json!("data: what"), json!(null)] {
            with(&exchange(&unknown), |run| {
                assert_eq!((root(run, "output"), run.complete), ("absent".into(), false), "{unknown}");
            });
        }
    }
}

#[test]
fn a_response_of_no_known_form_leaves_the_answer_open() {
    let exchange = |asks: &str, response: Json| {
        json!({"request": {"contents": [{"role": "user", "parts": [{"text": "Which?"}]},
        {"role": "model", "parts": [{"text": asks}]}, {"role": "user", "parts": [{"text": "And?"}]}]}, "response": response})
    };
    with(&json!([exchange("I look.", json!({"other": 1}))]).to_string(), |run| {
        assert_eq!((root(run, "output"), run.complete), ("absent".into(), false));
    });
}

#[test]
fn tokens_that_the_last_choice_tells_are_counted() {
    let chunks = [
        json!({"id": "q", "model": "k", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hi."}, "finish_reason": null}]}),
        json!({"id": "q", "model": "k", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop",
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}}]}),
    ];
    with(&chunks.map(|chunk| format!("{chunk}\n")).concat(), |run| {
        let usage = root(run, "usage");
        assert!(usage.contains("11") && usage.contains('7'), "{usage}");
    });
}

/// As the specification of server-sent events allows: the data of an event are joined by line ends.
#[test]
fn a_value_of_an_event_may_stand_in_several_lines() {
    let chunk = json!({"id": "q", "object": "chat.completion.chunk", "choices": [{"index": 0, "finish_reason": "tool_calls",
        "delta": {"role": "assistant", "tool_calls": [{"index": 0, "id": "k", "type": "function",
            "function": {"name": "pay", "arguments": "{\"n\": 1}"}}]}}]});
    let data: String =
        serde_json::to_string_pretty(&chunk).unwrap().lines().map(|line| format!("data: {line}\n")).collect();
    let stream = format!("{data}\ndata: [DONE]\n\n");
    let kept = json!({"request": {"model": "m", "messages": [{"role": "user", "content": "pay"}]}, "response": stream});
    for text in [stream.clone(), stream.replace('\n', "\r\n"), kept.to_string()] {
        with(&text, |run| {
            assert_eq!(steps(run).last().map(String::as_str), Some("call pay"), "{text}");
            assert!(run.complete, "{:?}", run.warnings);
        });
    }
    let begin = json!({"id": "q", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Yes."}}]});
    let cut = data.trim_end().rsplit_once('\n').unwrap().0;
    with(&format!("data: {begin}\n\n{cut}\n"), |run| assert!(!run.complete));
}
