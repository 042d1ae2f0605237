//! What newer versions of programs write: calls of sub-agents, answers of output tools, records of streams, words that were heard.

use super::event_logs::{is_sure, lines, statuses};
use super::formats::{field, root, steps, with};
use averment_runs::run::StepStatus;
use serde_json::{Value as Json, json};

fn tools(text: &str) -> Vec<String> {
    with(text, |run| steps(run).into_iter().filter(|step| step.starts_with("call")).collect())
}

#[test]
fn what_the_tools_of_a_sub_agent_of_mastra_gave_are_calls() {
    let inner = json!([{"toolName": "heat", "toolCallId": "i", "args": {"to": 200}, "result": "hot", "isError": false},
        {"toolName": "agent-baker", "toolCallId": "j", "args": {}, "result": {"text": "ok", "subAgentToolResults": [{"toolName": "knead", "toolCallId": "k", "result": "no", "isError": true}]}}]);
    let call = json!({"type": "tool-invocation", "toolInvocation": {"state": "result", "toolCallId": "c", "toolName": "agent-cook",
        "args": {"prompt": "soup"}, "result": {"text": "soup", "subAgentToolResults": inner}}});
    let message = json!({"id": "1", "role": "assistant", "threadId": "t", "content": {"format": 2, "parts": [call]}});
    with(&json!([message]).to_string(), |run| {
        assert_eq!(steps(run), ["call agent-cook", "call heat", "call agent-baker", "call knead"]);
        assert_eq!((field(run, 1, "args"), field(run, 1, "result")), (r#"{"to":200}"#.into(), "\"hot\"".into()));
        assert_eq!((field(run, 1, "agent"), statuses(run)[3]), ("\"agent-cook\"".into(), StepStatus::Failed));
    });
    // The message that tells the call once more tells these, too.
    let again = json!([message, message]);
    assert_eq!(tools(&again.to_string()).len(), 4);
}

#[test]
fn the_arguments_of_an_output_tool_of_pydantic_ai_are_the_answer() {
    let messages = json!([
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "a colour"}]},
        {"kind": "response", "parts": [{"part_kind": "text", "content": "Nice weather."}]},
        {"kind": "request", "parts": [{"part_kind": "retry-prompt", "content": "Answer with a colour.", "tool_name": null, "tool_call_id": "r"}]},
        {"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": "final_result", "args": {"colour": "blue"}, "tool_call_id": "a"}]},
        {"kind": "request", "parts": [{"part_kind": "tool-return", "tool_name": "final_result", "content": "Final result processed.", "tool_call_id": "a"}]}]);
    with(&messages.to_string(), |run| assert_eq!(root(run, "output"), r#"{"colour":"blue"}"#));
    // What another tool gives is no answer.
    let other = messages.to_string().replace("Final result processed.", "kept");
    with(&other, |run| assert_eq!(root(run, "output"), "\"Nice weather.\""));
}

fn asks(id: &str, call: &str, tool: &str) -> Json {
    json!({"type": "ai", "id": id, "content": "", "tool_calls": [{"name": tool, "args": {}, "id": call, "type": "tool_call"}]})
}

fn gave(id: &str, call: &str, tool: &str) -> Json {
    json!({"type": "tool", "id": id, "content": "x", "name": tool, "tool_call_id": call})
}

#[test]
fn a_node_of_a_graph_may_change_its_state_several_times() {
    let text = lines(&[
        json!({"supervisor": [{"messages": [asks("1", "a", "transfer_to_math")]}, {"messages": [gave("2", "a", "transfer_to_math")]}]}),
        json!({"agent": {"messages": [asks("3", "b", "add")]}}),
        json!({"tools": [null, {"messages": [gave("4", "b", "add")]}]}),
        json!({"agent": {"messages": [{"type": "remove", "id": "1", "content": ""}, {"type": "ai", "id": "5", "content": "3"}]}}),
    ]);
    with(&text, |run| {
        assert_eq!((root(run, "output"), is_sure(run)), ("\"3\"".into(), true));
        assert_eq!((field(run, 0, "result"), field(run, 1, "result")), ("\"x\"".into(), "\"x\"".into()));
    });
    assert_eq!(tools(&text), ["call transfer_to_math", "call add"]);
    // What is no message may be one that nobody knows.
    with(&text.replace("\"remove\"", "\"act\""), |run| assert!(!run.complete));
}

#[test]
fn records_of_a_stream_say_their_mode_and_their_graph() {
    let part = |mode: &str, path: Json, data: Json| json!({"type": mode, "ns": path, "data": data});
    let records = [
        part("tasks", json!([]), json!({"id": "t", "name": "agent", "input": {}, "triggers": []})),
        part("updates", json!([]), json!({"agent": {"messages": [asks("1", "a", "tide")]}})),
        part(
            "messages",
            json!([]),
            json!([{"type": "AIMessageChunk", "id": "1", "content": ""}, {"langgraph_node": "agent"}]),
        ),
        part("updates", json!(["tools:1"]), json!({"tools": {"messages": [gave("2", "a", "tide")]}})),
        part("custom", json!([]), json!({"progress": 1})),
        part(
            "values",
            json!([]),
            json!({"messages": [asks("1", "a", "tide"), gave("2", "a", "tide"), {"type": "ai", "id": "3", "content": "High."}]}),
        ),
    ];
    for text in [lines(&records), json!(records).to_string()] {
        assert_eq!(tools(&text), ["call tide"]);
        with(&text, |run| assert_eq!((root(run, "output"), is_sure(run)), ("\"High.\"".into(), true)));
    }
    // A mode that nobody knows may tell of calls.
    let unknown = [&records[..], &[part("acts", json!([]), json!({"tool": "erase"}))]].concat();
    with(&lines(&unknown), |run| assert!(!run.complete));
}

#[test]
fn what_was_heard_is_said_by_the_user_where_no_item_tells_it() {
    let heard = json!({"type": "conversation.item.input_audio_transcription.completed", "event_id": "1", "item_id": "u", "transcript": "two, please"});
    let item = json!({"type": "conversation.item.done", "event_id": "2", "item": {"id": "u", "type": "message", "role": "user", "content": [{"type": "input_audio", "transcript": null}]}});
    let call = json!({"id": "f", "type": "function_call", "name": "order", "call_id": "c", "arguments": "{\"n\": 2}"});
    let done = json!({"type": "response.done", "event_id": "3", "response": {"id": "r", "status": "completed", "output": [call]}});
    for records in
        [vec![heard.clone(), done.clone()], vec![heard.clone(), item.clone(), done.clone()], vec![item, heard, done]]
    {
        with(&lines(&records), |run| {
            assert_eq!(
                (steps(run), root(run, "prompt")),
                (vec!["message user".to_owned(), "call order".to_owned()], "\"two, please\"".into())
            );
        });
    }
}

#[test]
fn calls_of_one_index_that_come_whole_are_several() {
    let chunk = |id: &str, name: &str, args: &str| {
        json!({"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "finish_reason": null,
            "delta": {"tool_calls": [{"index": 0, "id": id, "type": "function", "function": {"name": name, "arguments": args}}]}}]})
    };
    let end = json!({"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    let of = |parts: &[Json]| tools(&lines(&[parts, std::slice::from_ref(&end)].concat()));
    assert_eq!(of(&[chunk("", "east", "{\"a\": 1}"), chunk("", "west", "{}")]), ["call east", "call west"]);
    assert_eq!(of(&[chunk("1", "east", "{}"), chunk("2", "east", "{}")]), ["call east", "call east"]);
    // Some repeat the name in each part of a call.
    assert_eq!(of(&[chunk("1", "east", "{\"a\""), chunk("1", "east", ": 1}")]), ["call east"]);
    assert_eq!(of(&[chunk("", "east", "{\"a\""), chunk("", "east", ": {}}")]), ["call east"]);
}

#[test]
fn a_request_of_gemini_may_be_a_text_which_later_ones_repeat_as_a_content() {
    let content = |role: &str, part: Json| json!({"role": role, "parts": [part]});
    let answer = |part: Json| json!({"candidates": [{"content": content("model", part), "finishReason": "STOP"}]});
    let call = json!({"functionCall": {"name": "stop_pump", "args": {}}});
    let gave = json!({"functionResponse": {"name": "stop_pump", "response": {"ok": true}}});
    let failed = json!({"error": {"code": 503, "message": "busy"}});
    for asked in [json!("stop it"), json!(["stop it"]), content("user", json!({"text": "stop it"}))] {
        let exchanges = json!([
            {"request": {"contents": asked}, "response": failed},
            {"request": {"contents": asked}, "response": answer(call.clone())},
            {"request": {"contents": [content("user", json!({"text": "stop it"})), content("model", call.clone()), content("user", gave.clone())]},
                "response": answer(json!({"text": "Stopped."}))}]);
        with(&exchanges.to_string(), |run| {
            assert_eq!(steps(run), ["message user", "call stop_pump", "message assistant"]);
            assert_eq!(
                (field(run, 1, "result"), root(run, "output")),
                (r#"{"ok":true}"#.into(), "\"Stopped.\"".into())
            );
        });
    }
}

#[test]
fn a_reminder_of_kimi_is_not_the_users() {
    let user = |words: &str| json!({"role": "user", "content": words});
    let text = lines(&[
        json!({"role": "_checkpoint", "id": 0}),
        user("count them"),
        user("<system-reminder>\nAll edits are allowed.\n</system-reminder>"),
        json!({"role": "assistant", "content": "Two."}),
    ]);
    with(&text, |run| assert_eq!(steps(run), ["message user", "message system", "message assistant"]));
    // A tag that a user writes about is none around the text.
    let own = text.replace("<system-reminder>\\nAll", "Why <system-reminder>\\nAll");
    with(&own, |run| assert_eq!(steps(run), ["message user", "message user", "message assistant"]));
}

#[test]
fn events_of_a_server_are_read_without_their_frames() {
    let frame = |event: &str, data: Json| json!({"event": event, "data": data});
    let graph = [
        frame("metadata", json!({"run_id": "r", "attempt": 1})),
        frame("updates", json!({"agent": {"messages": [asks("1", "a", "tide")]}})),
        frame("updates|tools:1", json!({"tools": {"messages": [gave("2", "a", "tide")]}})),
        frame("messages/partial", json!([{"type": "ai", "id": "3", "content": "Hi"}])),
        frame("updates", json!({"agent": {"messages": [{"type": "ai", "id": "3", "content": "High."}]}})),
        frame("end", Json::Null),
    ];
    let step = json!({"id": "s", "object": "thread.run.step", "created_at": 1767225600, "run_id": "r", "type": "tool_calls", "status": "completed",
        "step_details": {"type": "tool_calls", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "tide", "arguments": "{}", "output": "x"}}]}});
    let said = json!({"id": "m", "object": "thread.message", "created_at": 1767225601, "role": "assistant",
        "content": [{"type": "text", "text": {"value": "High.", "annotations": []}}]});
    let thread = [
        frame("thread.created", json!({"id": "t", "object": "thread"})),
        frame("thread.run.step.completed", step),
        frame("thread.message.completed", said),
        frame("done", json!("[DONE]")),
    ];
    for records in [&graph[..], &thread[..]] {
        for text in [lines(records), json!(records).to_string()] {
            with(&text, |run| {
                let calls: Vec<_> = steps(run).into_iter().filter(|step| step.starts_with("call")).collect();
                assert_eq!((calls, field(run, 0, "result")), (vec!["call tide".to_owned()], "\"x\"".into()));
                assert_eq!((root(run, "output"), is_sure(run)), ("\"High.\"".into(), true));
            });
        }
        let unknown = [records, &[frame("acts", json!({"tool": "erase"}))]].concat();
        with(&lines(&unknown), |run| assert!(!run.complete));
    }
}

#[test]
fn a_server_between_may_refuse_a_request_in_words() {
    let exchange = |status: u16, body: Json| {
        let asked = json!({"model": "m", "messages": [{"role": "user", "content": "go"}], "tools": [{"type": "function", "function": {"name": "act"}}]});
        json!({"request": {"method": "POST", "body": asked}, "response": {"status": status, "body": body}})
    };
    let answer = json!({"id": "x", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": "tool_calls",
        "message": {"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "act", "arguments": "{}"}}]}}]});
    let read = |status: u16| {
        json!([exchange(status, json!("upstream connect error")), exchange(200, answer.clone())]).to_string()
    };
    with(&read(503), |run| {
        assert_eq!((steps(run), run.complete), (vec!["message user".to_owned(), "call act".to_owned()], true))
    });
    // An answer in words that nobody knows may have asked for calls.
    with(&read(200), |run| assert!(!run.complete));
}

#[test]
fn steps_of_the_first_versions_of_smolagents_are_steps() {
    let step = |number: u32, tool: &str, args: Json, seen: &str, gave: Json| {
        json!({"step": number, "start_time": 1.0, "end_time": 2.0, "duration": 1.0, "agent_memory": null, "error": null, "llm_output": "hm",
            "tool_calls": [{"name": tool, "arguments": args, "id": format!("c{number}")}], "observations": seen, "action_output": gave})
    };
    let steps_of = json!([{"system_prompt": "s"}, {"task": "sum"}, step(1, "add", json!({"a": 1}), "3", Json::Null),
        step(2, "final_answer", json!({"answer": "Three."}), "Three.", json!("Three."))]);
    with(&steps_of.to_string(), |run| {
        let calls: Vec<_> = steps(run).into_iter().filter(|step| step.starts_with("call")).collect();
        assert_eq!(calls, ["call add", "call final_answer"]);
        assert_eq!((root(run, "prompt"), root(run, "output")), ("\"sum\"".into(), "\"Three.\"".into()));
    });
}
