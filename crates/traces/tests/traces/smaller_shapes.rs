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
