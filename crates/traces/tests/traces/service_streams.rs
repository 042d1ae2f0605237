//! Sessions and streams of services: what both sides send, and what a workflow did besides.

use super::event_logs::{is_sure, lines, statuses};
use super::formats::{field, root, steps, with};
use averment_runs::normal::of_run;
use averment_runs::run::{StepKind, StepStatus};
use serde_json::{Value as Json, json};

#[test]
fn a_session_of_gemini_live_is_one_run() {
    let spoken = |text: &str| json!({"serverContent": {"outputTranscription": {"text": text}}});
    let messages = [
        json!({"setup": {"model": "models/live", "systemInstruction": {"parts": [{"text": "be kind"}]}}}),
        json!({"setupComplete": {}}),
        json!({"client_content": {"turns": [{"role": "user", "parts": [{"text": "note 5"}]}], "turnComplete": true}}),
        json!({"toolCall": {"functionCalls": [{"id": "f", "name": "note", "args": {"n": 5}}]}}),
        json!({"tool_response": {"functionResponses": [{"id": "f", "name": "note", "response": {"output": "noted"}}]}}),
        spoken("I have"),
        json!({"serverContent": {"modelTurn": {"parts": [{"inlineData": {"mimeType": "audio/pcm", "data": ""}}]}}}),
        spoken(" noted 5."),
        json!({"serverContent": {"turnComplete": true}, "usageMetadata": {"promptTokenCount": 7, "responseTokenCount": 3, "totalTokenCount": 10}}),
        json!({"serverContent": {"inputTranscription": {"text": "thank"}}}),
        json!({"serverContent": {"inputTranscription": {"text": "s"}}}),
        spoken("Welcome."),
        json!({"serverContent": {"turnComplete": true}, "usageMetadata": {"promptTokenCount": 9, "responseTokenCount": 1, "totalTokenCount": 10}}),
    ];
    let frames: Vec<_> =
        messages.iter().map(|message| json!({"kind": "message", "direction": "sent", "data": message})).collect();
    for text in [lines(&messages), json!({"version": 1, "interactions": frames}).to_string()] {
        with(&text, |run| {
            let told = [
                "message system",
                "message user",
                "call note",
                "message assistant",
                "message user",
                "message assistant",
            ];
            assert_eq!(steps(run), told);
            assert_eq!(
                (field(run, 2, "args"), field(run, 2, "result")),
                (r#"{"n":5}"#.into(), r#"{"output":"noted"}"#.into())
            );
            assert_eq!(
                (field(run, 3, "text"), field(run, 4, "text")),
                ("\"I have noted 5.\"".into(), "\"thanks\"".into())
            );
            assert_eq!(root(run, of_run::USAGE), r#"{"input_tokens":16,"output_tokens":4,"total_tokens":20}"#);
            assert_eq!((root(run, of_run::TURNS), root(run, of_run::OUTPUT)), ("3".into(), "\"Welcome.\"".into()));
            assert!(is_sure(run), "{:?}", run.warnings);
        });
    }
    let unknown = [messages[2].clone(), json!({"serverContent": {"turnComplete": true}, "later": {"x": 1}})];
    with(&lines(&unknown), |run| assert!(!run.complete));
}

fn dify_event(kind: &str, more: Json) -> Json {
    let mut event = json!({"event": kind, "conversation_id": "c", "message_id": "m", "created_at": 1, "task_id": "t"});
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event
}

#[test]
fn the_last_telling_of_a_thought_of_dify_counts() {
    let thought = |input: &str, observation: &str| {
        dify_event(
            "agent_thought",
            json!({"id": "1", "thought": "I look", "tool": "weather;time", "tool_input": input, "observation": observation}),
        )
    };
    let given = r#"{"weather": {"city": "Oslo"}, "time": {"city": "Oslo"}}"#;
    let events = [
        dify_event("agent_thought", json!({"id": "1", "thought": "", "tool": "", "tool_input": "", "observation": ""})),
        thought(given, ""),
        thought(given, r#"{"weather": "snow", "time": "9"}"#),
        dify_event("agent_message", json!({"answer": "It "})),
        dify_event("agent_message", json!({"answer": "snows"})),
        json!({"event": "ping"}),
        dify_event(
            "message_end",
            json!({"metadata": {"usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}}),
        ),
    ];
    let sent: String =
        events.iter().map(|event| format!("data: {event}\n\n")).chain(["event: ping\n\n".to_owned()]).collect();
    for text in [lines(&events), sent] {
        with(&text, |run| {
            assert_eq!(steps(run), ["message thinking", "call weather", "call time", "message assistant"]);
            assert_eq!(
                (field(run, 1, "args"), field(run, 1, "result")),
                (r#"{"city":"Oslo"}"#.into(), "\"snow\"".into())
            );
            assert_eq!(root(run, of_run::OUTPUT), "\"It snows\"");
            assert_eq!(root(run, of_run::USAGE), r#"{"input_tokens":3,"output_tokens":2,"total_tokens":5}"#);
            assert!(is_sure(run), "{:?}", run.warnings);
        });
    }
    with(&lines(&events[..5]), |run| assert!(!run.complete));
    // What a workflow did besides stands elsewhere, and a node may be a tool.
    let workflow = [
        dify_event("message", json!({"answer": "hi"})),
        dify_event("node_finished", json!({"data": {"node_type": "llm"}})),
        dify_event("message_end", json!({})),
    ];
    with(&lines(&workflow), |run| assert!(run.complete && !run.records_kind(StepKind::Call)));
    let mut with_tool = workflow.to_vec();
    with_tool.insert(1, dify_event("node_finished", json!({"data": {"node_type": "tool"}})));
    with(&lines(&with_tool), |run| assert!(!run.complete));
}

#[test]
fn nodes_that_an_agent_of_n8n_uses_are_its_calls() {
    let output = |to: &str, json: Json| json!({to: [[{"json": json}]]});
    let task = |start: u64, more: Json| {
        let mut task = json!({"startTime": start, "executionTime": 7, "executionStatus": "success", "source": [{"previousNode": "AI Agent"}]});
        task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([task])
    };
    let model = |start: u64, text: &str| {
        let said = json!({"response": {"generations": [[{"text": text}]]}, "tokenUsage": {"promptTokens": 5, "completionTokens": 2, "totalTokens": 7}});
        task(start, json!({"data": output("ai_languageModel", said)}))[0].clone()
    };
    let failed = json!({"executionStatus": "error", "error": {"message": "no channel"}, "inputOverride": output("ai_tool", json!({"text": "x"})), "data": output("ai_tool", json!({"error": "no channel"}))});
    let mut nodes = json!({
        "Slack": task(1_767_000_001_400, failed),
        "Toolkit": task(1_767_000_001_200, json!({"inputOverride": output("ai_tool", json!({"id": 5, "tool": "find"})), "data": output("ai_tool", json!({"response": [{"name": "Ada"}]}))})),
        "Chat": task(1_767_000_000_000, json!({"source": [], "data": output("main", json!({"chatInput": "who is 5?", "sessionId": "s"}))})),
        "Model": [model(1_767_000_000_100, ""), model(1_767_000_003_000, "Ada.")],
        "Store": task(1_767_000_005_000, json!({"source": [{"previousNode": "Other"}], "data": output("main", json!({"output": "stored"}))})),
        "AI Agent": task(1_767_000_000_050, json!({"source": [{"previousNode": "Chat"}], "data": output("main", json!({"output": "Ada."}))})),
    });
    let execution = |nodes: &Json| {
        json!({"id": "7", "status": "success", "data": {"resultData": {"runData": nodes, "lastNodeExecuted": "Store"}}})
            .to_string()
    };
    with(&execution(&nodes), |run| {
        assert_eq!(steps(run), ["message user", "call find", "call Slack", "message assistant"]);
        assert_eq!(
            (field(run, 1, "args"), field(run, 1, "result")),
            (r#"{"id":5}"#.into(), r#"[{"name":"Ada"}]"#.into())
        );
        assert_eq!(statuses(run), [StepStatus::Ok, StepStatus::Failed]);
        assert_eq!((field(run, 2, "error"), root(run, of_run::OUTPUT)), ("\"no channel\"".into(), "\"Ada.\"".into()));
        assert_eq!((root(run, of_run::TURNS), run.id), ("2".into(), Some("7")));
        assert_eq!(root(run, of_run::USAGE), r#"{"input_tokens":10,"output_tokens":4,"total_tokens":14}"#);
        assert!(run.complete);
    });
    nodes["Later"] = task(1_767_000_001_300, json!({"data": output("ai_later", json!({}))}));
    with(&execution(&nodes), |run| assert!(!run.complete));
    // A workflow without an agent tells of no calls.
    let plain = json!({"Chat": nodes["Chat"]});
    with(&execution(&plain), |run| assert!(!run.records_kind(StepKind::Call)));
}

#[test]
fn a_log_of_claude_desktop_holds_messages_of_mcp() {
    let line = |second: u8, text: &str| {
        format!("2026-04-11T10:00:{second:02}.512Z [tickets] [info] {text} {{ metadata: undefined }}\n")
    };
    let call = |id: u8, tool: &str| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": {"id": id}}});
    let result = |id: u8, text: &str, failed: bool| json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}], "isError": failed}});
    let log = [
        line(0, "Initializing server..."),
        line(1, "Server started and connected successfully"),
        line(2, &format!("Message from client: {}", call(1, "find"))),
        line(3, "[stderr] INFO index warm {\"x\": 1}"),
        line(4, &format!("Message from server: {}", result(1, "#41", false))),
        line(5, &format!("Message from client: {}", call(2, "close"))),
        line(6, &format!("Message from server: {}", result(2, "assigned", true))),
    ];
    with(&log.concat(), |run| {
        assert_eq!(steps(run), ["call find", "call close"]);
        assert_eq!(
            (field(run, 0, "args"), statuses(run)),
            (r#"{"id":1}"#.into(), vec![StepStatus::Ok, StepStatus::Failed])
        );
        assert!(run.complete, "{:?}", run.warnings);
    });
    let cut = log.concat() + &line(7, "Message from client: {\"jsonrpc\": \"2.0\", \"id\": ...[90 chars truncated]");
    with(&cut, |run| assert!(!run.complete));
}

#[test]
fn answers_of_the_agent_protocol_are_one_run() {
    let text = |words: &str| json!([{"kind": "text", "text": words}]);
    let data = |kind: &str, data: Json| json!([{"kind": "data", "data": data, "metadata": {"adk_type": kind}}]);
    let message =
        |id: &str, role: &str, parts: Json| json!({"kind": "message", "messageId": id, "role": role, "parts": parts});
    let status = |state: &str, message: Json| json!({"jsonrpc": "2.0", "id": 1, "result": {"kind": "status-update", "contextId": "c", "taskId": "t", "status": {"state": state, "message": message}}});
    let artifact = |words: &str, append: bool| json!({"jsonrpc": "2.0", "id": 1, "result": {"kind": "artifact-update", "contextId": "c", "taskId": "t", "append": append, "artifact": {"artifactId": "a", "parts": text(words)}}});
    let asked = message("1", "user", text("roll"));
    let records = vec![
        json!({"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": {"message": asked}}),
        status("submitted", asked.clone()),
        status(
            "working",
            message("2", "agent", data("function_call", json!({"id": "x", "name": "roll_die", "args": {"sides": 20}}))),
        ),
        status(
            "working",
            message(
                "3",
                "agent",
                data("function_response", json!({"id": "x", "name": "roll_die", "response": {"result": 13}})),
            ),
        ),
        artifact("I rolled", false),
        artifact(" 13.", true),
        status("completed", Json::Null),
    ];
    let sent: String = records.iter().map(|record| format!("data: {record}\n\n")).collect();
    for file in [lines(&records), sent] {
        with(&file, |run| {
            assert_eq!(steps(run), ["message user", "call roll_die", "message assistant"]);
            assert_eq!(
                (field(run, 1, "args"), field(run, 1, "result")),
                (r#"{"sides":20}"#.into(), r#"{"result":13}"#.into())
            );
            assert_eq!((root(run, of_run::OUTPUT), run.id), ("\"I rolled 13.\"".into(), Some("c")));
            assert!(is_sure(run), "{:?}", run.warnings);
        });
    }
    with(&lines(&records[..3]), |run| assert!(!run.complete));
    // The protocol itself tells of no calls.
    let task = json!({"kind": "task", "id": "t", "contextId": "c", "status": {"state": "completed"}, "history": [asked],
        "artifacts": [{"artifactId": "a", "parts": text("13")}]});
    for answer in [task.clone(), json!({"jsonrpc": "2.0", "id": 1, "result": task})] {
        with(&answer.to_string(), |run| {
            assert_eq!(steps(run), ["message user", "message assistant"]);
            assert!(run.complete && !run.records_kind(StepKind::Call));
        });
    }
    let later = status("working", message("9", "agent", json!([{"kind": "later"}])));
    with(&lines(&[records[6].clone(), later]), |run| assert!(!run.complete));
}

#[test]
fn an_answer_has_no_hundreds_of_open_parts() {
    let stream = |parts: usize| {
        let part = |number| json!({"type": "text-delta", "id": format!("t{number}"), "delta": "x"});
        let start = json!({"type": "start-step"});
        let end = json!({"type": "finish"});
        let records: Vec<Json> = [start].into_iter().chain((0..parts).map(part)).chain([end]).collect();
        with(&lines(&records), |run| run.complete)
    };
    assert!(stream(200));
    assert!(!stream(300));
}

#[test]
fn entries_of_mistral_arrive_in_pieces() {
    let event = |kind: &str, more: Json| {
        let mut event = json!({"type": kind, "created_at": "2026-01-01T00:00:00Z"});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let words =
        |content: Json| event("message.output.delta", json!({"id": "m", "role": "assistant", "content": content}));
    let call = |arguments: &str| {
        event("function.call.delta", json!({"id": "f", "name": "book", "tool_call_id": "c", "arguments": arguments}))
    };
    let events = [
        event("conversation.response.started", json!({"conversation_id": "conv"})),
        event("tool.execution.started", json!({"id": "t", "name": "web_search", "arguments": "{\"q\":1}"})),
        event("tool.execution.done", json!({"id": "t", "name": "web_search", "info": {"found": 2}})),
        words(json!("Found ")),
        words(json!({"type": "text", "text": "it."})),
        call("{\"n\":"),
        call("1}"),
        event(
            "conversation.response.done",
            json!({"usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}),
        ),
    ];
    let sent: String = events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"])).collect();
    for text in [lines(&events), sent] {
        with(&text, |run| {
            assert_eq!(steps(run), ["call web_search", "message assistant", "call book"]);
            assert_eq!([field(run, 0, "args"), field(run, 2, "args")], [r#"{"q":1}"#, r#"{"n":1}"#]);
            assert_eq!(field(run, 0, "result"), r#"{"found":2}"#);
            assert_eq!((root(run, of_run::OUTPUT), root(run, of_run::ID)), ("\"Found it.\"".into(), "\"conv\"".into()));
            assert_eq!(root(run, of_run::USAGE), r#"{"input_tokens":3,"output_tokens":2,"total_tokens":5}"#);
            assert!(is_sure(run), "{:?}", run.warnings);
        });
    }
    with(&lines(&events[..7]), |run| assert!(!run.complete && steps(run).contains(&"call book".to_owned())));
}

#[test]
fn outputs_of_interactions_are_steps_of_earlier_versions() {
    let call = json!({"type": "function_call", "id": "c", "name": "look", "arguments": {"at": 1}});
    let text = |words: &str| json!({"type": "text", "text": words});
    let interaction = |input: Json, outputs: Json, status: &str| json!({"id": "i", "object": "interaction", "model": "m", "status": status, "input": input, "outputs": outputs});
    let asked = interaction(
        json!([text("look"), {"type": "image", "data": "AA"}]),
        json!([{"type": "thought", "signature": "s"}, call]),
        "requires_action",
    );
    with(&asked.to_string(), |run| {
        assert_eq!(steps(run), ["message user", "call look"]);
        assert!(is_sure(run), "{:?}", run.warnings);
    });
    let turns = json!([{"role": "user", "content": "hi"}, {"role": "model", "content": [text("yes?")]}, {"role": "user", "content": [text("look")]}]);
    with(&interaction(turns, json!([text("Done.")]), "completed").to_string(), |run| {
        assert_eq!(steps(run), ["message user", "message assistant", "message user", "message assistant"]);
        assert_eq!(root(run, of_run::OUTPUT), "\"Done.\"");
    });
    let events = [
        json!({"event_type": "interaction.start", "interaction": {"id": "i", "status": "in_progress"}}),
        json!({"event_type": "content.start", "index": 0, "content": {"type": "text"}}),
        json!({"event_type": "content.delta", "index": 0, "delta": {"type": "text", "text": "Loo"}}),
        json!({"event_type": "content.delta", "index": 0, "delta": {"type": "text", "text": "king."}}),
        json!({"event_type": "content.stop", "index": 0}),
        json!({"event_type": "content.start", "index": 1, "content": {"type": "function_call"}}),
        json!({"event_type": "content.delta", "index": 1, "delta": call}),
        json!({"event_type": "content.stop", "index": 1}),
        json!({"event_type": "interaction.complete", "interaction": {"id": "i", "status": "requires_action"}}),
    ];
    with(&lines(&events), |run| {
        assert_eq!(steps(run), ["message assistant", "call look"]);
        assert_eq!((field(run, 1, "args"), root(run, of_run::OUTPUT)), (r#"{"at":1}"#.into(), "\"Looking.\"".into()));
        assert!(is_sure(run), "{:?}", run.warnings);
    });
}
