//! What programs leave out: the beginning of a long conversation, the id of a call in its later chunks, and what a summary stands for.

use super::formats::{field, root, steps, with};
use averment_runs::run::{Run, StepKind};
use serde_json::{Value as Json, json};

fn said(run: &Run<'_>, role: &str) -> Vec<String> {
    let places = run.steps.iter().enumerate().filter(|(_, step)| step.kind == StepKind::Message && step.name == role);
    places.map(|(place, _)| field(run, place, "text")).collect()
}

/// A request with the last of these messages, and what was answered.
fn chat_exchange(messages: &[Json], answer: &Json) -> Json {
    json!({"request": {"messages": messages, "tools": []}, "response": {"choices": [{"message": answer}]}})
}

#[test]
fn a_request_with_the_last_messages_alone_goes_on_with_the_conversation() {
    // Ollama gives calls no ids: only the messages around them tell that a call is repeated.
    let call =
        json!({"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look", "arguments": {}}}]});
    let told: Vec<Json> = vec![
        json!({"role": "user", "content": "first"}),
        call.clone(),
        json!({"role": "tool", "content": "a"}),
        json!({"role": "assistant", "content": "It is a."}),
        json!({"role": "user", "content": "second"}),
        call,
        json!({"role": "tool", "content": "b"}),
        json!({"role": "assistant", "content": "It is b."}),
    ];
    let whole: Vec<Json> = [1, 3, 5].iter().map(|end| chat_exchange(&told[..*end], &told[*end])).collect();
    let last = chat_exchange(&[&[json!({"role": "system", "content": "Be brief."})], &told[3..7]].concat(), &told[7]);
    with(&Json::Array([whole, vec![last]].concat()).to_string(), |run| {
        assert_eq!(steps(run).iter().filter(|step| step.starts_with("call")).count(), 2, "{:?}", steps(run));
        assert_eq!(said(run, "user"), ["\"first\"", "\"second\""]);
        assert_eq!(said(run, "assistant"), ["\"It is a.\"", "\"It is b.\""]);
    });
}

#[test]
fn contents_of_gemini_without_their_beginning_go_on_too() {
    let content = |role: &str, part: Json| json!({"role": role, "parts": [part]});
    let call = content("model", json!({"functionCall": {"name": "look", "args": {}}}));
    let gave = |result: &str| content("user", json!({"functionResponse": {"name": "look", "response": {"r": result}}}));
    let told = [
        content("user", json!({"text": "go"})),
        call.clone(),
        gave("a"),
        call,
        gave("b"),
        content("model", json!({"text": "Done."})),
    ];
    let exchange = |given: &[Json], answer: &Json| json!({"request": {"contents": given}, "response": {"candidates": [{"content": answer, "finishReason": "STOP"}]}});
    let text = json!([exchange(&told[..1], &told[1]), exchange(&told[..3], &told[3]), exchange(&told[2..5], &told[5])]);
    with(&text.to_string(), |run| {
        assert_eq!(steps(run).iter().filter(|step| step.starts_with("call")).count(), 2, "{:?}", steps(run));
        assert_eq!(said(run, "user"), ["\"go\""]);
        assert_eq!(root(run, "output"), "\"Done.\"");
        assert!(run.complete, "{:?}", run.warnings);
    });
}

#[test]
fn one_message_that_was_said_before_goes_on_with_nothing() {
    let ask = |words: &str| json!({"role": "user", "content": words});
    let answer = |words: &str| json!({"role": "assistant", "content": words});
    let text = json!([
        chat_exchange(&[ask("a")], &answer("yes")),
        chat_exchange(&[ask("a"), answer("yes"), ask("b")], &answer("no")),
        chat_exchange(&[ask("b")], &answer("no")),
    ]);
    with(&text.to_string(), |run| assert_eq!(said(run, "user"), ["\"a\"", "\"b\"", "\"b\""]));
}

#[test]
fn a_chunk_without_an_id_goes_on_with_the_call_before_it() {
    let chunk = |id: Option<&str>, delta: &str| match id {
        Some(id) => json!({"type": "TOOL_CALL_CHUNK", "toolCallId": id, "toolCallName": "look", "delta": delta}),
        None => json!({"type": "TOOL_CALL_CHUNK", "delta": delta}),
    };
    let events = |last: Vec<Json>| {
        let mut events = vec![
            json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r"}),
            chunk(Some("a"), "{\"at\":"),
            chunk(None, "1}"),
            chunk(Some("b"), "{\"at\":"),
            chunk(None, "2}"),
        ];
        events.extend(last);
        events.push(json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}));
        Json::Array(events).to_string()
    };
    with(&events(Vec::new()), |run| {
        assert_eq!(steps(run), ["call look", "call look"]);
        assert_eq!([field(run, 0, "args"), field(run, 1, "args")], [r#"{"at":1}"#, r#"{"at":2}"#]);
        assert!(run.complete, "{:?}", run.warnings);
    });
    // Behind another event nobody knows which call it belongs to.
    let result = json!({"type": "TOOL_CALL_RESULT", "toolCallId": "b", "messageId": "m", "content": "x"});
    with(&events(vec![result, chunk(None, "{}")]), |run| assert!(!run.complete));
}

#[test]
fn a_summary_that_langchain_writes_is_not_the_users() {
    let summary = json!({"type": "human", "id": "3", "content": "A summary: the user agrees.", "additional_kwargs": {"lc_source": "summarization"}});
    let asked = json!({"type": "human", "id": "1", "content": "go", "additional_kwargs": {}});
    let text = json!([{"model": {"messages": [asked, {"type": "ai", "id": "2", "content": "", "tool_calls": [{"name": "look", "args": {}, "id": "c"}]}]}},
        {"SummarizationMiddleware.before_model": {"messages": [{"type": "remove", "id": "__remove_all__", "content": ""}, summary]}},
        {"model": {"messages": [{"type": "ai", "id": "4", "content": "Done.", "tool_calls": []}]}}]);
    with(&text.to_string(), |run| {
        assert_eq!(said(run, "user"), ["\"go\""]);
        assert_eq!(said(run, "system"), ["\"A summary: the user agrees.\""]);
    });
}

#[test]
fn a_reminder_in_front_of_what_was_typed_is_not_the_users() {
    let reminder = "<system-reminder>The user agrees.</system-reminder>";
    let line = |words: String| json!({"type": "user", "sessionId": "s", "uuid": "u", "version": "2.1.0", "message": {"role": "user", "content": words}});
    for front in [reminder.to_owned(), format!("{reminder}\n{reminder}")] {
        with(&format!("{}\n", line(format!("{front}\n\nlist the files\n"))), |run| {
            assert_eq!(said(run, "user"), ["\"list the files\""]);
            assert_eq!(root(run, "prompt"), "\"list the files\"");
            assert_eq!(said(run, "system").len(), 1);
        });
    }
    // A tag that is not closed, or in the middle, may be what the user typed.
    for words in ["<system-reminder> is what?", "what is <system-reminder>x</system-reminder>?"] {
        with(&format!("{}\n", line(words.to_owned())), |run| assert_eq!(said(run, "user"), [format!("{words:?}")]));
    }
}

#[test]
fn an_id_of_another_session_or_run_is_another_call() {
    let hook = |session: &str, event: &str, tool: &str, more: Json| {
        let mut hook = json!({"session_id": session, "hook_event_name": event, "tool_name": tool, "tool_input": {}, "tool_use_id": "c"});
        hook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        hook
    };
    let hooks = json!([
        hook("s1", "PreToolUse", "Read", json!({})),
        hook("s2", "PreToolUse", "Write", json!({})),
        hook("s1", "PostToolUse", "Read", json!({"tool_response": "a"})),
        hook("s2", "PostToolUse", "Write", json!({"tool_response": "b"})),
    ]);
    let of_thread = |thread: &str, tool: &str, result: &str| {
        vec![
            json!({"type": "RUN_STARTED", "threadId": thread, "runId": format!("r{thread}")}),
            json!({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": tool}),
            json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "{}"}),
            json!({"type": "TOOL_CALL_END", "toolCallId": "c"}),
            json!({"type": "TOOL_CALL_RESULT", "messageId": format!("m{thread}"), "toolCallId": "c", "content": result}),
            json!({"type": "RUN_FINISHED", "threadId": thread, "runId": format!("r{thread}")}),
        ]
    };
    let events = Json::Array([of_thread("1", "Read", "a"), of_thread("2", "Write", "b")].concat());
    let of_session = |session: &str, tool: &str, result: &str| {
        let item = json!({"id": format!("i{session}"), "object": "realtime.item", "type": "function_call", "name": tool, "call_id": "c", "arguments": "{}"});
        let gave = json!({"type": "function_call_output", "call_id": "c", "output": result});
        vec![
            json!({"type": "session.created", "event_id": format!("a{session}"), "session": {"id": session, "object": "realtime.session"}}),
            json!({"type": "response.output_item.done", "event_id": format!("b{session}"), "item": item}),
            json!({"type": "conversation.item.create", "event_id": format!("c{session}"), "item": gave}),
        ]
    };
    let spoken = Json::Array([of_session("1", "Read", "a"), of_session("2", "Write", "b")].concat());
    for text in [hooks, events, spoken] {
        with(&text.to_string(), |run| {
            let calls: Vec<_> = (0..run.steps.len()).filter(|at| run.steps[*at].kind == StepKind::Call).collect();
            let told: Vec<_> = calls.iter().map(|at| (run.steps[*at].name, field(run, *at, "result"))).collect();
            assert_eq!(told, [("Read", "\"a\"".to_owned()), ("Write", "\"b\"".to_owned())], "{text}");
        });
    }
}

#[test]
fn a_later_call_of_mastra_may_have_the_id_of_an_earlier_one() {
    let message = |id: &str, tool: &str, state: &str, more: Json| {
        let mut call = json!({"state": state, "toolCallId": "c", "toolName": tool, "args": {}});
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"id": id, "role": "assistant", "threadId": "t", "content": {"format": 2, "parts": [{"type": "tool-invocation", "toolInvocation": call}]}})
    };
    let text = json!([
        message("1", "look", "call", json!({})),
        message("2", "look", "result", json!({"result": "a"})),
        message("3", "look", "result", json!({"result": "a"})),
        message("4", "look", "result", json!({"result": "b"})),
        message("5", "wipe", "result", json!({"result": "b"})),
    ]);
    with(&text.to_string(), |run| {
        assert_eq!(steps(run), ["call look", "call look", "call wipe"]);
        assert_eq!([0, 1, 2].map(|at| field(run, at, "result")), ["\"a\"", "\"b\"", "\"b\""]);
    });
}
