//! What the formats of APIs and frameworks record: calls, results, the answer, who said what, and what counts as not recorded.

use super::formats::{field, root, steps, with};
use averment_runs::run::{Run, StepKind, StepStatus};

fn records_calls(run: &Run<'_>) -> bool {
    run.complete && run.recorded.get(StepKind::Call as usize) == Some(&true)
}

#[test]
fn pydantic_ai_tells_a_failed_tool_from_what_the_user_asks() {
    let text = r#"[{"kind": "request", "parts": [{"part_kind": "system-prompt", "content": "be brief"}, {"part_kind": "user-prompt", "content": "how deep?"}]},
      {"kind": "response", "usage": {"request_tokens": 7, "response_tokens": 2}, "parts": [{"part_kind": "tool-call", "tool_name": "depth", "args": {"sea": "red"}, "tool_call_id": "a"}]},
      {"kind": "request", "parts": [{"part_kind": "retry-prompt", "tool_name": "depth", "content": "no such sea", "tool_call_id": "a"}, {"part_kind": "user-prompt", "content": "from the tool"}]},
      {"kind": "response", "parts": [{"part_kind": "text", "content": "I do not know."}]}]"#;
    with(text, |run| {
        let all = ["message system", "message user", "call depth", "message system", "message assistant"];
        assert_eq!(steps(run), all);
        assert_eq!((run.steps[2].status, field(run, 2, "result")), (StepStatus::Failed, "\"no such sea\"".into()));
        assert_eq!(root(run, "output"), "\"I do not know.\"");
        assert!(root(run, "usage").contains("\"input_tokens\":7"));
        assert!(records_calls(run));
    });
    with(&text.replace("retry-prompt", "new-part"), |run| assert!(!records_calls(run)));
}

#[test]
fn autogen_pairs_results_and_knows_who_speaks_for_a_person() {
    let text = r#"{"messages": [{"source": "user", "type": "TextMessage", "content": "book it"},
      {"source": "clerk", "type": "ToolCallRequestEvent", "content": [{"id": "a", "name": "book", "arguments": "{\"seat\": 4}"}]},
      {"source": "clerk", "type": "ToolCallExecutionEvent", "content": [{"call_id": "a", "content": "full", "is_error": true}]},
      {"source": "guest", "type": "UserInputRequestedEvent", "request_id": "r", "content": ""},
      {"source": "guest", "type": "TextMessage", "content": "try again"},
      {"source": "clerk", "type": "TextMessage", "content": "No."}], "stop_reason": "x"}"#;
    with(text, |run| {
        assert_eq!(steps(run), ["message user", "call book", "message user", "message assistant"]);
        assert_eq!((run.steps[1].status, field(run, 1, "args")), (StepStatus::Failed, r#"{"seat":4}"#.into()));
        assert_eq!(root(run, "output"), "\"No.\"");
        assert!(records_calls(run));
    });
    with(&text.replace("\"UserInputRequestedEvent\"", "\"OtherEvent\""), |run| assert!(!records_calls(run)));
}

#[test]
fn ag_ui_puts_pieces_together_and_reads_snapshots_once() {
    let text = r#"{"type": "RUN_STARTED", "threadId": "t", "runId": "r", "input": {"messages": [{"id": "u", "role": "user", "content": "go"}]}}
{"type": "TOOL_CALL_START", "toolCallId": "a", "toolCallName": "one"}
{"type": "TOOL_CALL_START", "toolCallId": "b", "toolCallName": "two"}
{"type": "TOOL_CALL_ARGS", "toolCallId": "a", "delta": "{\"n\":"}
{"type": "TOOL_CALL_ARGS", "toolCallId": "b", "delta": "{}"}
{"type": "TOOL_CALL_ARGS", "toolCallId": "a", "delta": "1}"}
{"type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": "a", "content": "x"}
{"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "u", "role": "user", "content": "go"}, {"id": "m", "role": "tool", "toolCallId": "a", "content": "x"}]}
{"type": "TEXT_MESSAGE_CHUNK", "messageId": "e", "role": "assistant", "delta": "do"}
{"type": "TEXT_MESSAGE_CHUNK", "messageId": "e", "delta": "ne"}
{"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
"#;
    with(text, |run| {
        assert_eq!(steps(run), ["message user", "call one", "call two", "message assistant"]);
        assert_eq!((field(run, 1, "args"), field(run, 1, "result")), (r#"{"n":1}"#.into(), "\"x\"".into()));
        assert_eq!(root(run, "output"), "\"done\"");
        assert!(records_calls(run));
    });
    let cut = text.replace(r#"{"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}"#, "");
    with(&cut, |run| assert!(!run.complete));
    with(&text.replace("MESSAGES_SNAPSHOT", "OTHER"), |run| assert!(!run.complete));
}

#[test]
fn code_of_smolagents_may_call_anything() {
    let step = |tool: &str, error: &str| {
        format!(
            r#"[{{"task": "sum"}}, {{"step_number": 1, "tool_calls": [{{"id": "a", "type": "function", "function": {{"name": "{tool}", "arguments": {{"x": 1}}}}}}],
            "error": {error}, "model_output": "m", "observations": "o", "is_final_answer": false}}]"#
        )
    };
    with(&step("add", "null"), |run| {
        assert_eq!(steps(run), ["message user", "message thinking", "call add"]);
        assert!(records_calls(run));
    });
    with(&step("add", r#"{"type": "E", "message": "bad"}"#), |run| assert_eq!(run.steps[2].status, StepStatus::Failed));
    with(&step("python_interpreter", "null"), |run| assert!(!records_calls(run)));
}

const GEMINI: [&str; 2] = [
    r#"{"request": {"contents": [{"role": "user", "parts": [{"text": "how warm?"}]}]}, "response": {"candidates": [{"content": {"role": "model",
       "parts": [{"functionCall": {"name": "warmth", "args": {"at": "sea"}}}]}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 1}}}"#,
    r#"{"request": {"contents": [{"role": "user", "parts": [{"text": "how warm?"}]}, {"role": "model", "parts": [{"functionCall": {"name": "warmth", "args": {"at": "sea"}}}]},
       {"role": "user", "parts": [{"functionResponse": {"name": "warmth", "response": {"c": 9}}}, {"text": "from the program"}]}]},
       "response": [{"candidates": [{"content": {"role": "model", "parts": [{"text": "Ni"}]}}], "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 1}},
       {"candidates": [{"content": {"role": "model", "parts": [{"text": "ne."}]}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2}}]}"#,
];

#[test]
fn requests_of_gemini_repeat_the_conversation_and_answers_come_in_pieces() {
    for text in [GEMINI.join("\n"), format!("[{}]", GEMINI.join(",")), format!("[{}, {}]", GEMINI.join(","), GEMINI[1])]
    {
        with(&text.replace("\n       ", " "), |run| {
            let calls = run.steps.iter().filter(|step| step.kind == StepKind::Call).count();
            let users = run.steps.iter().filter(|step| step.name == "user").count();
            assert_eq!((calls, users), (1, 1), "{:?}", steps(run));
            assert_eq!(root(run, "output"), "\"Nine.\"");
            assert!(records_calls(run));
        });
    }
    let unknown = GEMINI[1].replace(r#"{"text": "from the program"}"#, r#"{"executed": {"name": "x"}}"#);
    with(&format!("[{}, {unknown}]", GEMINI[0]), |run| assert!(!records_calls(run)));
}

#[test]
fn bedrock_agents_call_actions_and_knowledge() {
    let event = |inside: &str| {
        format!(r#"{{"trace": {{"agentId": "A", "sessionId": "s", "trace": {{"orchestrationTrace": {{{inside}}}}}}}}}"#)
    };
    let call = r#""invocationInput": {"traceId": "t", "actionGroupInvocationInput": {"actionGroupName": "g", "apiPath": "/pay", "verb": "post",
        "requestBody": {"content": {"application/json": [{"name": "sum", "type": "number", "value": "3"}]}}}}"#.replace('\n', " ");
    let text = [
        event(&call),
        event(r#""observation": {"traceId": "t", "type": "ACTION_GROUP", "actionGroupInvocationOutput": {"text": "paid"}}"#),
        event(r#""invocationInput": {"traceId": "k", "knowledgeBaseLookupInput": {"knowledgeBaseId": "K", "text": "q"}}"#),
        event(r#""observation": {"traceId": "k", "knowledgeBaseLookupOutput": {"retrievedReferences": []}}"#),
        event(r#""observation": {"traceId": "f", "finalResponse": {"text": "Done."}}"#),
    ]
    .join("\n");
    with(&text, |run| {
        assert_eq!(steps(run), ["call /pay", "call knowledge_base", "message assistant"]);
        assert_eq!(
            (field(run, 0, "args"), field(run, 0, "result")),
            (r#"{"sum":"3","verb":"post"}"#.into(), "\"paid\"".into())
        );
        assert_eq!(root(run, "output"), "\"Done.\"");
        assert!(records_calls(run));
    });
    with(&text.replace("knowledgeBaseLookupInput", "otherInput"), |run| assert!(!records_calls(run)));
}

#[test]
fn converse_gives_answers_with_and_without_requests() {
    let answer = r#"{"output": {"message": {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "look", "input": {"q": 1}}}]}}, "stopReason": "tool_use", "usage": {"inputTokens": 4, "outputTokens": 2}}"#;
    let last =
        answer.replace(r#"{"toolUse": {"toolUseId": "a", "name": "look", "input": {"q": 1}}}"#, r#"{"text": "Yes."}"#);
    let asked = r#"{"role": "user", "content": [{"text": "is it?"}]}"#;
    let repeated = r#"{"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "look", "input": {"q": 1}}}]}, {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "status": "error", "content": [{"text": "gone"}]}}]}"#;
    with(answer, |run| {
        assert_eq!(steps(run), ["call look"]);
        assert!(records_calls(run));
    });
    let all = format!(
        r#"[{{"request": {{"messages": [{asked}]}}, "response": {answer}}}, {{"request": {{"messages": [{asked}, {repeated}]}}, "response": {last}}}]"#
    );
    with(&all, |run| {
        assert_eq!(steps(run), ["message user", "call look", "message assistant"]);
        assert_eq!((run.steps[1].status, root(run, "output")), (StepStatus::Failed, "\"Yes.\"".into()));
        assert!(root(run, "usage").contains("\"input_tokens\":8"));
    });
}

#[test]
fn steps_of_assistants_stand_in_the_order_of_their_times() {
    let text = r#"{"object": "list", "data": [
      {"id": "2", "object": "thread.run.step", "created_at": 1700000020, "run_id": "r", "step_details": {"type": "tool_calls", "tool_calls": [{"id": "b", "type": "code_interpreter", "code_interpreter": {"input": "1+1", "outputs": [{"type": "logs", "logs": "2"}]}}]}},
      {"id": "1", "object": "thread.run.step", "created_at": 1700000010, "run_id": "r", "last_error": {"message": "down"}, "step_details": {"type": "tool_calls", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}", "output": null}}]}},
      {"id": "0", "object": "thread.message", "created_at": 1700000000, "role": "user", "content": [{"type": "text", "text": {"value": "hi"}}]}]}"#;
    with(text, |run| {
        assert_eq!(steps(run), ["message user", "call f", "call code_interpreter"]);
        assert_eq!((run.steps[1].status, run.steps[2].status), (StepStatus::Failed, StepStatus::Unknown));
        assert!(records_calls(run));
    });
    with(
        &text.replace(
            "\"type\": \"tool_calls\", \"tool_calls\": [{\"id\": \"b\"",
            "\"type\": \"new\", \"x\": [{\"id\": \"b\"",
        ),
        |run| {
            assert!(!records_calls(run));
        },
    );
}

#[test]
fn items_of_realtime_count_once_and_the_user_is_heard() {
    let text = r#"{"type": "session.created", "event_id": "1", "session": {"id": "s"}}
{"type": "conversation.item.created", "event_id": "2", "item": {"id": "u", "type": "message", "role": "user", "content": [{"type": "input_audio", "transcript": null}]}}
{"type": "conversation.item.input_audio_transcription.completed", "event_id": "3", "item_id": "u", "transcript": "turn it off"}
{"type": "response.created", "event_id": "4", "response": {"id": "r"}}
{"type": "response.output_item.added", "event_id": "5", "item": {"id": "c", "type": "function_call", "status": "in_progress", "name": "off", "call_id": "a", "arguments": ""}}
{"type": "response.output_item.done", "event_id": "6", "item": {"id": "c", "type": "function_call", "status": "completed", "name": "off", "call_id": "a", "arguments": "{\"lamp\": 1}"}}
{"type": "response.done", "event_id": "7", "response": {"id": "r", "output": [{"id": "c", "type": "function_call", "status": "completed", "name": "off", "call_id": "a", "arguments": "{\"lamp\": 1}"}], "usage": {"input_tokens": 5, "output_tokens": 1}}}
{"type": "conversation.item.create", "event_id": "8", "item": {"type": "function_call_output", "call_id": "a", "output": "ok"}}
{"type": "conversation.item.created", "event_id": "9", "item": {"id": "o", "type": "function_call_output", "call_id": "a", "output": "ok"}}
"#;
    with(text, |run| {
        assert_eq!(steps(run), ["message user", "call off"]);
        assert_eq!((field(run, 1, "args"), field(run, 1, "result")), (r#"{"lamp":1}"#.into(), "\"ok\"".into()));
        assert!(records_calls(run));
    });
    with(&text.replace("\"conversation.item.create\"", "\"conversation.item.other\""), |run| {
        assert!(!records_calls(run))
    });
}

#[test]
fn calls_of_sharegpt_are_turns_tags_or_actions() {
    let turns = |model: &str, tool: &str| {
        format!(
            r#"{{"conversations": [{{"from": "human", "value": "?"}}, {{"from": "gpt", "value": "{model}"}}, {{"from": "{tool}", "value": "r"}}, {{"from": "gpt", "value": "End."}}]}}"#
        )
    };
    for model in [
        r#"<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>"#,
        r#"Thought: so\nAction: f\nAction Input: {\"a\": 1}"#,
    ] {
        with(&turns(model, "tool"), |run| {
            let call = run.steps.iter().position(|step| step.kind == StepKind::Call).unwrap();
            assert_eq!((run.steps[call].name, field(run, call, "args")), ("f", r#"{"a":1}"#.into()));
            assert_eq!((field(run, call, "result"), root(run, "output")), ("\"r\"".into(), "\"End.\"".into()));
            assert!(records_calls(run));
        });
    }
    with(&turns("I would run f.", "human"), |run| assert!(!records_calls(run)));
    with(&turns("I would run f.", "nobody"), |run| assert!(!records_calls(run)));
}

#[test]
fn agents_of_langchain_give_back_their_steps() {
    let text = r#"{"input": "q", "output": "A.", "intermediate_steps": [[{"tool": "look", "tool_input": {"x": 1}, "log": "so"}, "seen"],
        {"action": {"tool": "ask", "tool_input": "y"}, "observation": "said"}]}"#;
    with(text, |run| {
        assert_eq!(steps(run), ["message user", "message thinking", "call look", "call ask", "message assistant"]);
        assert_eq!((field(run, 2, "result"), field(run, 3, "args")), ("\"seen\"".into(), "\"y\"".into()));
        assert!(records_calls(run));
    });
    with(&text.replace("\"action\"", "\"other\""), |run| assert!(!records_calls(run)));
}

#[test]
fn updates_of_a_graph_are_the_messages_of_its_nodes() {
    let text = r#"{"agent": {"messages": [{"type": "ai", "id": "1", "content": "", "tool_calls": [{"name": "look", "args": {}, "id": "a"}]}]}}
{"tools": {"messages": [{"type": "tool", "id": "2", "content": "bad", "status": "error", "tool_call_id": "a"}]}}
{"writer": {"messages": [{"type": "ai", "id": "3", "content": "Fine."}]}}
"#;
    with(text, |run| {
        assert_eq!(steps(run), ["call look", "message assistant"]);
        assert_eq!((run.steps[0].status, root(run, "output")), (StepStatus::Failed, "\"Fine.\"".into()));
        assert!(records_calls(run));
    });
    with(&text.replace(r#"{"writer": {"messages""#, r#"{"writer": {"actions""#), |run| assert!(!records_calls(run)));
}

#[test]
fn streams_are_read_as_a_server_sends_them() {
    let chunks = concat!(
        "data: {\"id\": \"x\", \"choices\": [{\"index\": 0, \"delta\": {\"content\": \"He\"}}]}\n\n",
        ": keep alive\n\n",
        "data: {\"id\": \"x\", \"choices\": [{\"index\": 0, \"delta\": {\"content\": \"y\"}, \"finish_reason\": \"stop\"}]}\n\n",
        "data: [DONE]\n\n"
    );
    with(chunks, |run| {
        assert_eq!(root(run, "output"), "\"Hey\"");
        assert!(records_calls(run));
    });
    let responses = concat!(
        "event: response.output_item.done\ndata: {\"type\": \"response.output_item.done\", \"output_index\": 0, \"item\": {\"type\": \"function_call\", \"call_id\": \"a\", \"name\": \"f\", \"arguments\": \"{}\"}}\r\n\r\n",
        "event: response.completed\ndata: {\"type\": \"response.completed\", \"response\": {\"output\": []}}\r\n\r\n"
    );
    with(responses, |run| {
        assert_eq!(steps(run), ["call f"]);
        assert!(records_calls(run));
    });
    with(&chunks.replace("\"finish_reason\": \"stop\"}]}", "\"finish"), |run| assert!(!run.complete));
}

/// An exchange with tools, as a recorder of tests writes it.
fn recorded_exchange(response: &str) -> String {
    format!(
        r#"{{"interactions": [{{"request": {{"method": "POST", "uri": "u", "body": {{"model": "m", "messages": [{{"role": "user", "content": "how deep?"}}],
        "tools": [{{"type": "function", "function": {{"name": "depth"}}}}]}}}}, "response": {response}}}]}}"#
    )
}

#[test]
fn a_response_of_no_known_form_may_have_asked_for_calls() {
    let ollama = r#"{"status": {"code": 200}, "body": {"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "depth", "arguments": {"sea": "red"}}}]}, "done": true, "prompt_eval_count": 5, "eval_count": 2}}"#;
    with(&recorded_exchange(ollama), |run| {
        assert_eq!(steps(run), ["message user", "call depth"]);
        assert!(root(run, "usage").contains(r#""input_tokens":5,"output_tokens":2"#), "{}", root(run, "usage"));
        assert!(records_calls(run));
    });
    let cohere = r#"{"status": {"code": 200}, "body": {"id": "i", "finish_reason": "COMPLETE", "message": {"role": "assistant", "content": [{"type": "text", "text": "Deep."}]}, "usage": {"tokens": {"input_tokens": 7, "output_tokens": 3}}}}"#;
    with(&recorded_exchange(cohere), |run| {
        assert_eq!(root(run, "output"), "\"Deep.\"");
        assert!(root(run, "usage").contains(r#""input_tokens":7,"output_tokens":3"#), "{}", root(run, "usage"));
        assert!(records_calls(run));
    });
    for unknown in [r#"{"status": {"code": 200}, "body": {"said": [{"do": "depth"}]}}"#, r#"{"status": {"code": 200}}"#]
    {
        with(&recorded_exchange(unknown), |run| assert!(!records_calls(run), "{unknown}"));
    }
    let refused = r#"{"status_code": 400, "content": "{\"message\": \"no such model\"}"}"#;
    with(&recorded_exchange(refused), |run| {
        assert!(root(run, "error").contains("no such model"));
        assert!(records_calls(run));
    });
}

#[test]
fn a_call_that_a_request_repeats_with_a_new_id_has_its_result() {
    let gemini = r#"[{"request": {"contents": [{"role": "user", "parts": [{"text": "how deep?"}]}]},
      "response": {"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "depth", "args": {}}}]}, "finishReason": "STOP"}]}},
     {"request": {"contents": [{"role": "user", "parts": [{"text": "how deep?"}]}, {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "depth", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "depth", "response": {"m": 9}}}]}]},
      "response": {"candidates": [{"content": {"role": "model", "parts": [{"text": "9 m"}]}, "finishReason": "STOP"}]}}]"#;
    let chat = r#"[{"request": {"messages": [{"role": "user", "content": "how deep?"}], "tools": []},
      "response": {"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [{"id": "depth:0", "type": "function", "function": {"name": "depth", "arguments": "{}"}}]}}]}},
     {"request": {"messages": [{"role": "user", "content": "how deep?"}, {"role": "assistant", "content": ""}, {"role": "assistant", "tool_calls": [{"id": "0", "type": "function", "function": {"name": "depth", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "0", "content": "{\"m\":9}"}], "tools": []},
      "response": {"choices": [{"message": {"role": "assistant", "content": "9 m"}}]}}]"#;
    for text in [gemini, chat] {
        with(text, |run| {
            assert_eq!(steps(run), ["message user", "call depth", "message assistant"]);
            assert!(field(run, 1, "result").contains('9'));
            assert!(records_calls(run));
        });
    }
}

#[test]
fn a_call_counts_once_when_another_provider_is_told_of_it() {
    let text = r#"[{"request": {"input": "how deep?", "model": "m"}, "response": {"object": "response", "id": "r", "output": [{"type": "function_call", "call_id": "c", "name": "depth", "arguments": "{\"sea\":\"red\"}"}]}},
      {"request": {"messages": [{"role": "user", "content": [{"type": "text", "text": "briefly!"}]},
          {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "depth", "input": {"sea": "red"}}]},
          {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "9"}]}]}]},
       "response": {"type": "message", "role": "assistant", "stop_reason": "end_turn", "content": [{"type": "text", "text": "9 m"}]}}]"#;
    with(text, |run| {
        assert_eq!(steps(run), ["message user", "call depth", "message user", "message assistant"]);
        assert_eq!(field(run, 1, "result"), "\"9\"");
    });
}

#[test]
fn a_stream_that_says_it_is_done_has_ended() {
    let stream = |end: &str| {
        let said = r#"data: {\"id\": \"x\", \"choices\": [{\"index\": 0, \"delta\": {\"role\": \"assistant\", \"content\": \"hi\"}}]}\n\n"#;
        recorded_exchange(&format!(r#"{{"status": 200, "body": "{said}{end}"}}"#))
    };
    with(&stream(r"data: [DONE]\n\n"), |run| assert!(records_calls(run)));
    with(&stream(""), |run| assert!(!run.complete));
}

#[test]
fn ticks_that_say_only_who_spoke_record_no_calls() {
    let text = |more: &str| {
        format!(
            r#"{{"id": "s", "task_id": "t", "termination_reason": "user_stop", "ticks": [{{"tick_id": 1, "agent_chunk": {{"role": "assistant", "contains_speech": true{more}}}}}]}}"#
        )
    };
    with(&text(""), |run| assert!(!records_calls(run)));
    with(&text(r#", "content": "hi", "tool_calls": null"#), |run| assert!(records_calls(run)));
}

#[test]
fn tools_that_a_provider_ran_stand_among_the_parts_of_an_answer_in_inspect() {
    let sample = r#"{"id": 1, "epoch": 1, "target": "", "messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": [
        {"type": "tool_use", "tool_type": "web_search", "id": "a", "name": "search", "arguments": "{\"q\": 1}", "result": "R"},
        {"type": "tool_use", "tool_type": "mcp_call", "id": "b", "name": "add", "arguments": {}, "error": "no"},
        {"type": "text", "text": "done"}]}]}"#;
    with(sample, |run| {
        assert_eq!(steps(run), ["message user", "message assistant", "call search", "call add"]);
        assert_eq!((field(run, 2, "args"), field(run, 2, "result")), (r#"{"q":1}"#.into(), "\"R\"".into()));
        assert_eq!((field(run, 3, "status"), run.complete), ("\"failed\"".into(), true));
    });
}

#[test]
fn an_error_that_was_got_over_is_none_of_the_run() {
    let request = r#""request": {"body": {"messages": [{"role": "user", "content": "go"}]}}"#;
    let busy = format!(r#"{{{request}, "response": {{"status": 529, "body": {{"error": {{"message": "busy"}}}}}}}}"#);
    let answer = r#"{"choices": [{"message": {"role": "assistant", "content": "ok"}}]}"#;
    let good = format!(r#"{{{request}, "response": {{"status": 200, "body": {answer}}}}}"#);
    with(&format!("[{busy}, {good}]"), |run| assert_eq!(root(run, "error"), "missing"));
    with(&format!("[{good}, {busy}]"), |run| assert!(root(run, "error").contains("busy")));
}

#[test]
fn tokens_of_a_cache_count_once_in_pydantic_ai() {
    let text = r#"[{"kind": "response", "parts": [{"part_kind": "text", "content": "x"}],
        "usage": {"input_tokens": 9, "output_tokens": 1, "cache_read_tokens": 2, "cache_write_tokens": 3}}]"#;
    with(text, |run| {
        let usage = root(run, "usage");
        assert!(usage.contains(r#""cache_read_tokens":2,"cache_write_tokens":3"#), "{usage}");
    });
}

#[test]
fn calls_of_one_step_of_an_assistants_run_are_of_one_turn() {
    let call = |id: &str| {
        format!(
            r#"{{"id": "{id}", "type": "function", "function": {{"name": "f", "arguments": "{{}}", "output": "o"}}}}"#
        )
    };
    let text = format!(
        r#"[{{"object": "thread.run.step", "id": "s", "created_at": 1767225600, "type": "tool_calls", "step_details": {{"type": "tool_calls", "tool_calls": [{}, {}]}}}}]"#,
        call("a"),
        call("b")
    );
    with(&text, |run| assert_eq!((field(run, 0, "turn"), field(run, 1, "turn")), ("1".into(), "1".into())));
}

#[test]
fn pieces_of_a_stream_that_nobody_knows_leave_the_run_open() {
    let chunk = |delta: &str| {
        format!(
            r#"{{"object": "chat.completion.chunk", "id": "c", "choices": [{{"index": 0, "delta": {delta}, "finish_reason": "stop"}}]}}"#
        )
    };
    let known = r#"{"role": "assistant", "content": [{"type": "text", "text": "hi"}]}"#;
    with(&chunk(known), |run| assert_eq!((root(run, "output"), run.complete), ("\"hi\"".into(), true)));
    for unknown in [r#"{"role": "odd", "content": "hi"}"#, r#"{"content": [{"type": "odd", "name": "f"}]}"#] {
        with(&chunk(unknown), |run| assert!(!run.complete, "{unknown}"));
    }
    let event = |delta: &str| {
        format!(
            r#"[{{"type": "message_start", "message": {{"role": "assistant", "content": []}}}},
            {{"type": "content_block_start", "index": 0, "content_block": {{"type": "text", "text": ""}}}},
            {{"type": "content_block_delta", "index": 0, "delta": {delta}}}, {{"type": "content_block_stop", "index": 0}}, {{"type": "message_stop"}}]"#
        )
    };
    with(&event(r#"{"type": "text_delta", "text": "hi"}"#), |run| assert!(run.complete));
    with(&event(r#"{"type": "odd_delta", "name": "f"}"#), |run| assert!(!run.complete));
}

#[test]
fn records_of_new_stores_that_are_not_whole_leave_the_run_open() {
    let piece = |args: &str| {
        format!(
            r#"{{"id": "m", "otid": "o", "date": "2026-01-01T00:00:00Z", "message_type": "tool_call_message", "tool_call": {{"name": "f", "arguments": "{args}", "tool_call_id": "c"}}}}"#
        )
    };
    with(&format!("[{}, {}]", piece("{"), piece("}")), |run| assert!(!run.complete));
    let span =
        r#"{"span_id": "a", "root_span_id": "r", "span_attributes": {"name": "f", "type": "tool"}, "metrics": {}"#;
    with(&format!("[{span}}}]"), |run| assert!(run.complete && run.records_kind(StepKind::Call)));
    with(&format!(r#"[{span}}}, {span}, "_is_merge": true}}]"#), |run| assert!(!run.complete));
    with(&format!("[{}}}]", span.replace("tool", "zz")), |run| {
        assert!(!run.complete || !run.records_kind(StepKind::Call))
    });
}
