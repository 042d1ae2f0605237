//! Tools that a service runs itself are calls, whether parts of an answer tell of them, pieces of a stream, or what stands beside it.

use super::formats::{field, root, steps, with};
use averment_runs::run::{StepKind, StepStatus};
use serde_json::{Value as Json, json};

const CODE: &str = r#"{"candidates": [{"content": {"role": "model", "parts": [{"text": "I count."},
  {"executableCode": {"language": "PYTHON", "code": "print(1)"}}, {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
  {"executable_code": {"language": "PYTHON", "code": "boom()"}}, {"code_execution_result": {"outcome": "OUTCOME_FAILED", "output": "NameError"}},
  {"text": "One."}]}, "finishReason": "STOP"}]}"#;

#[test]
fn code_that_gemini_runs_is_a_call() {
    with(CODE, |run| {
        let all = ["message assistant", "call code_execution", "call code_execution", "message assistant"];
        assert_eq!((steps(run), run.complete), (all.map(str::to_owned).to_vec(), true));
        assert_eq!((run.steps[1].status, field(run, 1, "result")), (StepStatus::Ok, "\"1\"".into()));
        assert_eq!((run.steps[2].status, field(run, 2, "error")), (StepStatus::Failed, "\"NameError\"".into()));
        assert!(field(run, 1, "args").contains("print(1)"));
    });
    with(&CODE.replace("executableCode", "otherCode"), |run| assert!(!run.complete));
}

#[test]
fn code_in_a_saved_conversation_of_gemini_is_a_call() {
    let text = r#"[{"role": "user", "parts": [{"text": "count"}]}, {"role": "model", "parts": [
      {"executable_code": {"language": "PYTHON", "code": "print(1)"}}, {"code_execution_result": {"outcome": "OUTCOME_OK", "output": "1"}},
      {"inline_data": {"mime_type": "image/png", "data": "eA=="}}, {"text": "One."}]}]"#;
    let camel =
        text.replace("executable_code", "executableCode").replace("code_execution_result", "codeExecutionResult");
    for text in [text, &camel.replace("inline_data", "inlineData")] {
        with(text, |run| {
            let all = ["message user", "call code_execution", "message assistant"];
            assert_eq!((steps(run), run.complete), (all.map(str::to_owned).to_vec(), true));
            assert_eq!((run.steps[1].status, field(run, 1, "result")), (StepStatus::Ok, "\"1\"".into()));
            assert_eq!(root(run, "turns"), "1");
        });
    }
    with(&text.replace("executable_code", "other_code"), |run| assert!(!run.complete));
}

#[test]
fn what_gemini_searched_and_read_is_a_call_and_counts_once() {
    let text = r#"[{"candidates": [{"content": {"role": "model", "parts": [{"text": "It is "}]}, "groundingMetadata": {}}]},
      {"candidates": [{"content": {"role": "model", "parts": [{"text": "mild."}]}, "finishReason": "STOP",
        "groundingMetadata": {"webSearchQueries": ["weather"], "groundingChunks": [{"web": {"uri": "u"}}]},
        "urlContextMetadata": {"urlMetadata": [{"retrievedUrl": "https://a.b"}]}}]}]"#;
    with(text, |run| {
        assert_eq!(steps(run), ["call google_search", "call url_context", "message assistant"]);
        assert_eq!(field(run, 0, "args"), r#"{"queries":["weather"]}"#);
        assert_eq!(field(run, 1, "args"), r#"{"urls":["https://a.b"]}"#);
        assert_eq!(root(run, "turns"), "1");
    });
    let told = r#"{"candidates": [{"content": {"parts": [{"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["weather"]}, "id": "a"}},
      {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "response": {"n": 1}, "id": "a"}}, {"text": "Mild."}]}, "finishReason": "STOP",
      "groundingMetadata": {"webSearchQueries": ["weather"]}}]}"#;
    with(told, |run| {
        assert_eq!(steps(run), ["call GOOGLE_SEARCH_WEB", "message assistant"]);
        assert_eq!((field(run, 0, "result"), run.complete), (r#"{"n":1}"#.into(), true));
    });
    let event = r#"[{"author": "a", "invocation_id": "i", "content": {"parts": [{"text": "Mild."}]}, "grounding_metadata": {"web_search_queries": ["w"]}}]"#;
    with(event, |run| assert_eq!(steps(run), ["call google_search", "message assistant"]));
}

#[test]
fn a_request_that_repeats_code_does_not_run_it_again() {
    let answer: serde_json::Value = serde_json::from_str(CODE).unwrap();
    let said = answer["candidates"][0]["content"].clone();
    let next = serde_json::json!({"contents": [{"role": "user", "parts": [{"text": "count"}]}, said, {"role": "user", "parts": [{"text": "more"}]}]});
    let first = serde_json::json!({"contents": [{"role": "user", "parts": [{"text": "count"}]}]});
    let pairs = serde_json::json!([{"request": first, "response": answer}, {"request": next, "response": {"candidates": [
        {"content": {"role": "model", "parts": [{"text": "No."}]}, "finishReason": "STOP"}]}}]);
    with(&pairs.to_string(), |run| {
        assert_eq!(steps(run).iter().filter(|step| step.starts_with("call")).count(), 2, "{:?}", steps(run));
    });
}

#[test]
fn bedrock_streams_what_its_own_tools_gave() {
    let text = r#"{"messageStart": {"role": "assistant"}}
{"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "a", "name": "nova_code_interpreter", "type": "server_tool_use"}}}}
{"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": "{\"snippet\": \"1+1\"}"}}}}
{"contentBlockStop": {"contentBlockIndex": 0}}
{"contentBlockStart": {"contentBlockIndex": 1, "start": {"toolResult": {"toolUseId": "a", "status": "success"}}}}
{"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"toolResult": [{"json": {"stdOut": "2"}}]}}}
{"contentBlockStop": {"contentBlockIndex": 1}}
{"messageStop": {"stopReason": "end_turn"}}
"#;
    with(text, |run| {
        assert_eq!((steps(run), run.complete), (vec!["call nova_code_interpreter".to_owned()], true));
        assert!(field(run, 0, "result").contains("stdOut"), "{}", field(run, 0, "result"));
    });
    with(&text.replace("\"toolResult\": [", "\"toolOther\": ["), |run| assert!(!run.complete));
}

#[test]
fn streamed_interactions_are_put_together() {
    let text = r#"{"interaction": {"id": "i", "status": "in_progress", "object": "interaction", "model": "m"}, "event_type": "interaction.created"}
{"index": 0, "step": {"type": "thought"}, "event_type": "step.start"}
{"index": 0, "delta": {"signature": "s", "type": "thought_signature"}, "event_type": "step.delta"}
{"index": 0, "event_type": "step.stop"}
{"index": 1, "step": {"type": "function_call", "id": "f", "name": "look", "arguments": {}}, "event_type": "step.start"}
{"index": 1, "delta": {"type": "arguments_delta", "arguments": "{\"n\":"}, "event_type": "step.delta"}
{"index": 1, "delta": {"type": "arguments_delta", "arguments": " 1}"}, "event_type": "step.delta"}
{"index": 1, "event_type": "step.stop"}
{"index": 2, "step": {"type": "code_execution_call"}, "event_type": "step.start"}
{"index": 2, "delta": {"type": "code_execution_call", "id": "c", "arguments": {"code": "1+1"}}, "event_type": "step.delta"}
{"index": 2, "event_type": "step.stop"}
{"index": 3, "step": {"type": "model_output"}, "event_type": "step.start"}
{"index": 3, "delta": {"type": "text", "text": "Do"}, "event_type": "step.delta"}
{"index": 3, "delta": {"type": "text", "text": "ne."}, "event_type": "step.delta"}
{"index": 3, "event_type": "step.stop"}
{"interaction": {"id": "i", "status": "completed", "object": "interaction", "usage": {"total_input_tokens": 5, "total_output_tokens": 6}}, "event_type": "interaction.completed"}
"#;
    with(text, |run| {
        assert_eq!(steps(run), ["call look", "call code_execution", "message assistant"]);
        assert_eq!((field(run, 0, "args"), field(run, 1, "args")), (r#"{"n":1}"#.into(), r#"{"code":"1+1"}"#.into()));
        assert_eq!((root(run, "output"), run.complete), ("\"Done.\"".into(), true));
        assert!(root(run, "usage").contains("\"input_tokens\":5"));
    });
    let cut: String = text.lines().take(9).map(|line| format!("{line}\n")).collect();
    for open in
        [cut, text.replace("arguments_delta", "other_delta"), text.replace("\"code_execution_call\"", "\"other_call\"")]
    {
        with(&open, |run| assert!(!run.complete, "{open}"));
    }
}

/// The tools that Groq's systems run stand in the message of the answer; tools of some models have a name.
#[test]
fn tools_that_a_chat_api_ran_are_calls_with_results() {
    let tools = json!([
        {"index": 0, "type": "search", "arguments": "{\"query\": \"rain\"}", "output": "wet", "search_results": {"results": []}},
        {"index": 1, "type": "function", "name": "python", "arguments": "{\"code\": \"1+1\"}", "code_results": [{"text": "2"}]}
    ]);
    let answer = |message: Json| {
        json!({"id": "c", "object": "chat.completion", "model": "groq/compound",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    };
    let message = json!({"role": "assistant", "content": "Wet.", "executed_tools": tools});
    let user = json!({"role": "user", "content": "rain?"});
    let request = |messages: Json| json!({"model": "groq/compound", "messages": messages, "tools": []});
    let exchange = json!({"request": request(json!([user])), "response": answer(message.clone())});
    let again = json!({"request": request(json!([user, {"role": "assistant", "content": "Wet."}, {"role": "user", "content": "thanks"}])),
        "response": answer(json!({"role": "assistant", "content": "Gladly."}))});
    let chunk = |delta: Json, ended: Json| {
        json!({"id": "c", "object": "chat.completion.chunk", "model": "groq/compound",
        "choices": [{"index": 0, "delta": delta, "finish_reason": ended}]})
    };
    let begun = json!({"index": 0, "type": "search", "arguments": "{\"query\": \"rain\"}", "output": null});
    let streamed = [
        chunk(json!({"role": "assistant", "content": ""}), Json::Null),
        chunk(json!({"executed_tools": [begun]}), Json::Null),
        chunk(json!({"executed_tools": [tools[0]]}), Json::Null),
        chunk(json!({"executed_tools": [tools[1]]}), Json::Null),
        chunk(json!({"content": "Wet."}), Json::Null),
        chunk(json!({}), json!("stop")),
    ]
    .map(|chunk| chunk.to_string());
    let kept = streamed.clone().map(|chunk| format!("data: {chunk}\n\n")).concat();
    let without_words = json!({"role": "assistant", "executed_tools": tools});
    let texts = [
        answer(message.clone()).to_string(),
        json!({"messages": [user, without_words]}).to_string(),
        json!({"messages": [user, message]}).to_string(),
        format!("{exchange}\n{again}"),
        streamed.join("\n"),
        json!({"request": request(json!([user])), "response": kept}).to_string(),
    ];
    for text in texts {
        with(&text, |run| {
            let calls: Vec<_> = (0..run.steps.len()).filter(|step| run.steps[*step].kind == StepKind::Call).collect();
            let told: Vec<_> = calls.iter().map(|step| (run.steps[*step].name, field(run, *step, "result"))).collect();
            assert_eq!(told, [("search", "\"wet\"".into()), ("python", r#"[{"text":"2"}]"#.into())], "{text}");
            assert_eq!(field(run, calls[1], "args"), r#"{"code":"1+1"}"#);
            assert!(run.complete, "{:?}", run.warnings);
        });
    }
}
