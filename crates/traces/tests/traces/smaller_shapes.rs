//! Smaller shapes in which programs write records: what they pass on, cut, trim and wrap.

use super::formats::{field, root, steps, with};
use averment_runs::run::{Run, StepKind, StepStatus};
use serde_json::{Value as Json, json};

fn lines(values: &[Json]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn calls<'run>(run: &Run<'run>) -> Vec<(&'run str, StepStatus)> {
    run.steps.iter().filter(|step| step.kind == StepKind::Call).map(|step| (step.name, step.status)).collect()
}

/// One call of `search` in AG-UI's events, with more events in front of its end.
fn agui_run(passed: &[Json]) -> String {
    let begin = [
        json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r"}),
        json!({"type": "TOOL_CALL_START", "toolCallId": "k", "toolCallName": "search"}),
        json!({"type": "TOOL_CALL_ARGS", "toolCallId": "k", "delta": "{\"q\": 1}"}),
        json!({"type": "TOOL_CALL_END", "toolCallId": "k"}),
        json!({"type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": "k", "content": "one"}),
        json!({"type": "TEXT_MESSAGE_START", "messageId": "n", "role": "assistant"}),
        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "n", "delta": "One."}),
        json!({"type": "TEXT_MESSAGE_END", "messageId": "n"}),
    ];
    lines(&[&begin[..], passed, &[json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r"})]].concat())
}

fn raw(event: Json) -> Json {
    json!({"type": "RAW", "event": event})
}

fn tool_run(event: &str, name: &str, data: Json) -> Json {
    raw(
        json!({"event": event, "name": name, "run_id": "u", "data": data, "metadata": {"langgraph_node": "tools"}, "parent_ids": []}),
    )
}

#[test]
fn what_agui_passes_on_is_harmless_where_other_events_tell_it() {
    let message = json!({"type": "ai", "content": "", "tool_calls": [{"name": "search", "args": {"q": 1}, "id": "k"}]});
    let known = [
        json!({"type": "CUSTOM", "name": "PredictState", "value": [{"state_key": "q", "tool": "search", "tool_argument": "q"}]}),
        json!({"type": "CUSTOM", "name": "on_interrupt", "value": "go on?"}),
        json!({"type": "CUSTOM", "name": "manually_emit_tool_call", "value": {"id": "k", "name": "search", "args": {"q": 1}}}),
        json!({"type": "CUSTOM", "name": "copilotkit_manually_emit_message", "value": {"message": "One.", "message_id": "n"}}),
        json!({"type": "CUSTOM", "name": "system:init", "value": {"tools": ["Bash"]}}),
        tool_run("on_chain_start", "LangGraph", json!({"input": {"messages": [message]}})),
        tool_run("on_tool_start", "search", json!({"input": {"q": 1}})),
        tool_run("on_tool_end", "search", json!({"output": {"type": "tool", "content": "one", "tool_call_id": "k"}})),
        json!({"type": "RAW", "source": "agno", "event": {"event": "ModelRequestStarted", "run_id": "r", "created_at": 1}}),
    ];
    with(&agui_run(&known), |run| {
        assert_eq!(calls(run), [("search", StepStatus::Unknown)]);
        assert!(run.complete, "{:?}", run.warnings);
    });
}

#[test]
fn what_agui_alone_passes_on_may_have_been_a_call() {
    let hidden =
        json!({"output": {"messages": [{"type": "ai", "tool_calls": [{"name": "search", "args": {}, "id": "z"}]}]}});
    let unknown = [
        json!({"type": "CUSTOM", "name": "my_progress", "value": {"n": 1}}),
        json!({"type": "CUSTOM", "name": "copilotkit_manually_emit_tool_call", "value": {"id": "z", "name": "search", "args": {}}}),
        json!({"type": "CUSTOM", "name": "manually_emit_message", "value": {"message": "Two.", "message_id": "z"}}),
        json!({"type": "CUSTOM", "name": "mcp_tool_execution_started", "value": {"server_name": "s", "tool_name": "pay", "tool_args": {}}}),
        raw(json!({"callback": "tool"})),
        tool_run("on_tool_start", "pay", json!({"input": {}})),
        tool_run("on_chain_end", "agent", hidden),
    ];
    for event in unknown {
        with(&agui_run(std::slice::from_ref(&event)), |run| {
            assert!(!run.complete, "{event} is taken as nothing");
        });
    }
    let begun = json!({"type": "CUSTOM", "name": "mcp_tool_execution_started", "value": {"server_name": "s", "tool_name": "search", "tool_args": {}}});
    with(&agui_run(&[begun]), |run| assert!(run.complete, "{:?}", run.warnings));
    let twice = [tool_run("on_tool_start", "search", json!({})), tool_run("on_tool_start", "search", json!({}))];
    with(&agui_run(&twice), |run| assert!(!run.complete, "two runs of a tool are told as one call"));
}

#[test]
fn what_was_said_before_a_run_of_agui_stands_before_what_its_events_tell() {
    let call =
        |id: &str, tool: &str| json!({"id": id, "type": "function", "function": {"name": tool, "arguments": "{}"}});
    let messages = json!([{"id": "u", "role": "user", "content": "hi"}, {"id": "a", "role": "assistant", "toolCalls": [call("j", "look")]},
        {"id": "r", "role": "tool", "toolCallId": "j", "content": "seen"}, {"id": "v", "role": "user", "content": "search"},
        {"id": "b", "role": "assistant", "toolCalls": [call("k", "search")]}, {"id": "m", "role": "tool", "toolCallId": "k", "content": "one"},
        {"id": "n", "role": "assistant", "content": "One."}]);
    with(&agui_run(&[json!({"type": "MESSAGES_SNAPSHOT", "messages": messages})]), |run| {
        assert_eq!(steps(run), ["message user", "call look", "message user", "call search", "message assistant"]);
        assert_eq!([1, 3].map(|place| field(run, place, "result")), ["\"seen\"", "\"one\""]);
        assert_eq!(root(run, "output"), "\"One.\"");
        assert!(run.complete, "{:?}", run.warnings);
    });
}

#[test]
fn a_call_of_sharegpt_stands_behind_what_the_model_thought() {
    let call = |text: &str| json!({"from": "function_call", "value": text});
    let result = |text: &str| json!({"from": "observation", "value": text});
    let run = json!({"conversations": [{"from": "human", "value": "two sums"},
        call("<think>\nI add {a: 1}.\n</think>\n\n{\"name\": \"add\", \"arguments\": {\"a\": 1}}"), result("1"),
        call("Then this. <tool_call>{\"name\": \"double\", \"arguments\": {\"a\": 2}}</tool_call>"), result("4"),
        {"from": "gpt", "value": "1 and 4."}]});
    with(&run.to_string(), |run| {
        assert_eq!(steps(run)[1..3], ["message thinking", "call add"]);
        assert_eq!(calls(run).len(), 2);
        assert_eq!(field(run, 2, "args"), "{\"a\":1}");
        assert_eq!(field(run, 2, "result"), "\"1\"");
        assert_eq!(root(run, "output"), "\"1 and 4.\"");
        assert!(run.complete, "{:?}", run.warnings);
    });
}

#[test]
fn arguments_of_antigravity_are_json_in_texts() {
    let args = |args: Json| {
        lines(&[
            json!({"step_index": 0, "source": "USER_EXPLICIT", "type": "USER_INPUT", "content": "<USER_REQUEST>go</USER_REQUEST>"}),
            json!({"step_index": 1, "source": "MODEL", "type": "PLANNER_RESPONSE", "tool_calls": [{"name": "run", "args": args}]}),
            json!({"step_index": 2, "source": "MODEL", "type": "GENERIC", "status": "DONE", "content": "done"}),
        ])
    };
    with(&args(json!({"Command": "\"ls\"", "Wait": "500", "Async": "true", "Seconds": "\"5\""})), |run| {
        assert_eq!(field(run, 1, "args"), "{\"Async\":true,\"Command\":\"ls\",\"Seconds\":\"5\",\"Wait\":500}");
    });
    with(&args(json!({"Command": "ls", "Wait": "500"})), |run| {
        assert_eq!(field(run, 1, "args"), "{\"Command\":\"ls\",\"Wait\":\"500\"}");
    });
}

/// Requests whose answers a server hands on with white space, each of which repeats what was said without it.
#[test]
fn white_space_at_its_ends_makes_no_other_message() {
    let chat = |first: Json, words: Json| {
        let user = |words: &str| json!({"role": "user", "content": words});
        let answered =
            |words: Json| json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": words}}]});
        let known = json!({"role": "assistant", "content": words});
        lines(&[
            json!({"request": {"model": "m", "messages": [user("mail ")]}, "response": answered(first)}),
            json!({"request": {"model": "m", "messages": [user("mail"), known, user("thanks")]}, "response": answered(json!("Gladly."))}),
        ])
    };
    let claude = |first: &str| {
        let block = |words: &str| json!([{"type": "text", "text": words}]);
        let answer = |words: &str| json!({"type": "message", "role": "assistant", "content": block(words)});
        let user = |words: &str| json!({"role": "user", "content": words});
        let known = json!({"role": "assistant", "content": block("Mailed.")});
        lines(&[
            json!({"request": {"model": "m", "max_tokens": 1, "messages": [user("mail")]}, "response": answer(first)}),
            json!({"request": {"model": "m", "max_tokens": 1, "messages": [user("mail"), known, user("thanks")]}, "response": answer("Gladly.")}),
        ])
    };
    let gemini = |first: &str| {
        let content = |role: &str, words: &str| json!({"role": role, "parts": [{"text": words}]});
        let answer =
            |words: &str| json!({"candidates": [{"content": content("model", words), "finishReason": "STOP"}]});
        let repeated = [content("user", "mail"), content("model", "Mailed."), content("user", "thanks")];
        lines(&[
            json!({"request": {"contents": [content("user", "mail")]}, "response": answer(first)}),
            json!({"request": {"contents": repeated}, "response": answer("Gladly.")}),
        ])
    };
    let files = [chat(json!("\n\nMailed."), json!("Mailed.")), claude("Mailed.\n"), gemini("Mailed.\n")];
    for text in files {
        let spoken = ["message user", "message assistant", "message user", "message assistant"];
        with(&text, |run| assert_eq!(steps(run), spoken, "{text}"));
    }
}

fn rest_is_open(text: &str) {
    with(text, |run| {
        assert_eq!(calls(run), [], "{text}");
        assert!(!run.complete, "{text}");
    });
}

/// Of a call that a limit or the user cut off nobody knows whether it was carried out, unless something tells what it gave.
#[test]
fn a_call_that_was_cut_off_is_one_where_it_gave_something() {
    let whole = r#"{"n":1}"#;
    let chat = |args: &str, reason: &str| {
        let call = json!([{"index": 0, "id": "k", "type": "function", "function": {"name": "pay", "arguments": args}}]);
        let chunk = |delta: Json, ended: Json| json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": ended}]});
        lines(&[chunk(json!({"role": "assistant", "tool_calls": call}), Json::Null), chunk(json!({}), json!(reason))])
    };
    rest_is_open(&chat("{\"n\":", "length"));
    with(&chat(whole, "length"), |run| assert_eq!(calls(run).len(), 1));
    with(&chat("{\"n\":", "tool_calls"), |run| assert_eq!(calls(run).len(), 1));
    let claude = |args: &str| {
        lines(&[
            json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "k", "name": "pay", "input": {}}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": args}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 2}}),
            json!({"type": "message_stop"}),
        ])
    };
    rest_is_open(&claude("{\"n\":"));
    with(&claude(whole), |run| assert_eq!(calls(run).len(), 1));
    let converse = |args: &str| {
        lines(&[
            json!({"messageStart": {"role": "assistant"}}),
            json!({"contentBlockStart": {"start": {"toolUse": {"toolUseId": "k", "name": "pay"}}, "contentBlockIndex": 0}}),
            json!({"contentBlockDelta": {"delta": {"toolUse": {"input": args}}, "contentBlockIndex": 0}}),
            json!({"contentBlockStop": {"contentBlockIndex": 0}}),
            json!({"messageStop": {"stopReason": "max_tokens"}}),
        ])
    };
    rest_is_open(&converse("{\"n\":"));
    with(&converse(whole), |run| assert_eq!(calls(run).len(), 1));
    let cohere = |args: &str| {
        let call = json!({"id": "k", "type": "function", "function": {"name": "pay", "arguments": args}});
        lines(&[
            json!({"type": "message-start", "id": "x", "delta": {"message": {"role": "assistant"}}}),
            json!({"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": call}}}),
            json!({"type": "tool-call-end", "index": 0}),
            json!({"type": "message-end", "delta": {"finish_reason": "MAX_TOKENS", "usage": {"tokens": {"input_tokens": 1, "output_tokens": 2}}}}),
        ])
    };
    rest_is_open(&cohere("{\"n\":"));
    with(&cohere(whole), |run| assert_eq!(calls(run).len(), 1));
}

#[test]
fn a_cut_call_of_responses_and_of_realtime_is_one_where_it_gave_something() {
    let call = |args: &str| json!({"type": "function_call", "id": "i", "call_id": "k", "name": "pay", "arguments": args, "status": "incomplete"});
    let gave = json!({"type": "function_call_output", "id": "o", "call_id": "k", "output": "paid"});
    let responses = |args: &str, later: &[Json]| {
        let input = [&[json!({"role": "user", "content": "pay"})], later].concat();
        lines(&[
            json!({"request": {"model": "m", "input": input}, "response": {"object": "response", "id": "r", "status": "incomplete", "output": [call(args)]}}),
        ])
    };
    let realtime = |args: &str, later: &[Json]| {
        let event = |kind: &str, key: &str, value: Json| json!({"type": kind, "event_id": format!("{kind}{}", value.to_string().len()), key: value});
        let mut events = vec![
            event("session.created", "session", json!({"id": "s", "model": "m"})),
            event("response.created", "response", json!({"id": "r"})),
            event("response.done", "response", json!({"id": "r", "status": "cancelled", "output": [call(args)]})),
        ];
        events.extend(later.iter().map(|item| event("conversation.item.created", "item", item.clone())));
        lines(&events)
    };
    let shapes = |args: &str| [responses(args, &[]), realtime(args, &[])];
    shapes("{\"n\":").iter().for_each(|text| rest_is_open(text));
    shapes("{\"n\":1}").iter().for_each(|text| with(text, |run| assert_eq!(calls(run).len(), 1)));
    with(&realtime("{\"n\":", &[gave]), |run| {
        assert_eq!(calls(run).len(), 1);
        assert_eq!(field(run, 0, "result"), "\"paid\"");
    });
}

#[test]
fn what_was_fetched_of_a_run_of_assistants_may_stand_in_one_object() {
    let object = |kind: &str, id: &str, at: u64| json!({"object": kind, "id": id, "created_at": at, "thread_id": "t", "status": "completed"});
    let with_fields = |mut object: Json, fields: Json| {
        object.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        object
    };
    let call =
        json!({"id": "c", "type": "function", "function": {"name": "convert", "arguments": "{}", "output": "5"}});
    let step = with_fields(
        object("thread.run.step", "s", 2),
        json!({"run_id": "r", "type": "tool_calls", "step_details": {"type": "tool_calls", "tool_calls": [call]}}),
    );
    let message = |id: &str, at: u64, role: &str, words: &str| {
        with_fields(
            object("thread.message", id, at),
            json!({"role": role, "content": [{"type": "text", "text": {"value": words, "annotations": []}}]}),
        )
    };
    let messages = [message("b", 3, "assistant", "Five."), message("a", 1, "user", "convert")];
    let run = object("thread.run", "r", 1);
    let page = |more: bool| json!({"object": "list", "data": [step], "has_more": more});
    let shapes = [
        json!({"run": run, "steps": [step], "messages": messages}),
        json!({"thread": {"object": "thread", "id": "t"}, "run": run, "run_steps": page(false), "messages": {"object": "list", "data": messages}}),
        json!({"steps": page(true), "messages": messages}),
    ];
    for (place, shape) in shapes.iter().enumerate() {
        with(&shape.to_string(), |run| {
            assert_eq!(steps(run), ["message user", "call convert", "message assistant"], "{shape}");
            assert_eq!(field(run, 1, "result"), "\"5\"");
            assert_eq!(run.complete, place < 2, "{shape}");
        });
    }
}

#[test]
fn a_row_of_an_evaluation_may_hold_a_conversation() {
    let message = |role: &str, content: Json| json!({"role": role, "content": content});
    let messages = [
        message("user", json!("weather?")),
        message("assistant", json!([{"type": "tool_call", "tool_call_id": "c", "name": "wx", "arguments": {"c": 1}}])),
        json!({"role": "tool", "tool_call_id": "c", "content": [{"type": "tool_result", "tool_result": {"t": 3}}]}),
        message("assistant", json!([{"type": "text", "text": "3 C."}])),
    ];
    let row = json!({"conversation": {"messages": messages, "context": null}});
    let rows = [
        row.clone(),
        json!({"conversation": row["conversation"], "tool_definitions": [{"name": "wx", "parameters": {}}]}),
    ];
    for row in rows {
        with(&row.to_string(), |run| {
            assert_eq!(steps(run), ["message user", "call wx", "message assistant"]);
            assert_eq!(field(run, 1, "result"), "{\"t\":3}");
            assert_eq!(root(run, "output"), "\"3 C.\"");
        });
    }
}

#[test]
fn what_a_hook_was_given_may_stand_in_a_record_of_who_collects_it() {
    let hook = |name: &str| json!({"hook_event_name": name, "session_id": "s", "cwd": "/w", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "k"});
    let mut after = hook("PostToolUse");
    after["tool_response"] = json!({"stdout": "a"});
    let wraps: [&dyn Fn(Json) -> Json; 3] = [
        &|it| json!({"ts": "2026-05-01T10:00:00Z", "event": it}),
        &|it| json!({"t": "2026-05-01T10:00:00Z", "e": it}),
        &|it| json!({"time": "2026-05-01T10:00:00Z", "event": it["hook_event_name"], "data": it}),
    ];
    for wrap in wraps {
        let text = lines(&[wrap(hook("PreToolUse")), wrap(after.clone())]);
        with(&text, |run| {
            assert_eq!(calls(run), [("Bash", StepStatus::Ok)], "{text}");
            assert_eq!(field(run, 0, "start"), "1777629600000", "{text}");
        });
    }
}

#[test]
fn a_tool_of_a_server_of_codex_has_one_name_wherever_it_is_called() {
    let line =
        |kind: &str, payload: Json| json!({"timestamp": "2026-02-03T10:00:00Z", "type": kind, "payload": payload});
    let called = |kind: &str, payload: Json| {
        let meta = line("session_meta", json!({"id": "s", "cwd": "/w", "cli_version": "1"}));
        with(&lines(&[meta, line(kind, payload)]), |run| calls(run).first().map(|(tool, _)| (*tool).to_owned()))
    };
    let invocation = json!({"server": "docs.eu", "tool": "search", "arguments": {}});
    let calls = [
        called("event_msg", json!({"type": "mcp_tool_call_begin", "call_id": "k", "invocation": invocation})),
        called(
            "response_item",
            json!({"type": "mcp_tool_call", "call_id": "k", "server": "docs.eu", "tool": "search", "arguments": {}}),
        ),
        called(
            "response_item",
            json!({"type": "function_call", "call_id": "k", "namespace": "mcp__docs_eu__", "name": "search", "arguments": "{}"}),
        ),
        called(
            "response_item",
            json!({"type": "function_call", "call_id": "k", "name": "mcp__docs_eu__search", "arguments": "{}"}),
        ),
    ];
    assert_eq!(calls, [const { "mcp__docs_eu__search" }; 4].map(|name| Some(name.to_owned())));
}

#[test]
fn two_verbs_of_a_path_of_bedrock_agents_are_told_apart() {
    let call = |verb: &str| {
        let input = json!({"actionGroupName": "orders", "apiPath": "/orders/{id}", "verb": verb, "parameters": [{"name": "id", "type": "string", "value": "7"}]});
        json!({"orchestrationTrace": {"invocationInput": {"invocationType": "ACTION_GROUP", "actionGroupInvocationInput": input}}})
    };
    let gave = json!({"orchestrationTrace": {"observation": {"type": "ACTION_GROUP", "actionGroupInvocationOutput": {"text": "done"}}}});
    with(&lines(&[call("get"), gave.clone(), call("delete"), gave]), |run| {
        assert_eq!(steps(run), ["call /orders/{id}", "call /orders/{id}"]);
        let args = [0, 1].map(|place| field(run, place, "args"));
        assert_eq!(args, ["get", "delete"].map(|verb| format!("{{\"id\":\"7\",\"verb\":\"{verb}\"}}")));
    });
}

#[test]
fn of_an_attribute_that_stands_twice_in_a_span_one_value_is_not_recorded() {
    let span = |again: &str| {
        let attribute = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
        let attributes = [
            attribute("gen_ai.operation.name", "execute_tool"),
            attribute("gen_ai.tool.name", "look"),
            attribute("gen_ai.tool.name", again),
        ];
        let span = json!({"traceId": "t", "spanId": "s", "name": "execute_tool", "startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000001000000000", "attributes": attributes});
        json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).to_string()
    };
    with(&span("pay"), |run| {
        assert_eq!(calls(run).len(), 1);
        assert!(!run.complete, "the other tool may have been called");
    });
    with(&span("look"), |run| assert!(run.complete, "{:?}", run.warnings));
}
