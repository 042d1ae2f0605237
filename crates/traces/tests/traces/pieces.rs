//! Texts of one message: pieces of one text, cut for citations or given in parts, and texts of their own.

use super::formats::{field, root, steps, with};
use averment_base::limits::Limits;
use averment_base::value::Value as Held;
use averment_runs::run::StepKind;
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use serde_json::{Value, json};
use std::io::Cursor;

/// What the assistant says in a file, and the output of its run.
fn told(lines: &[Value]) -> (Vec<String>, String) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let (limits, arena) = (Limits::default(), Bump::new());
    let raw = TraceRuns::new("s.jsonl", Cursor::new(text.into_bytes()), &limits).next().unwrap().unwrap();
    let run = parse_run(&raw, &arena, &limits).unwrap();
    let word = |node: Option<averment_base::value::Node<'_>>| match node.map(|node| node.value) {
        Some(Held::Text(text)) => text.as_str().to_owned(),
        other => format!("{other:?}"),
    };
    let said =
        run.steps.iter().filter(|step| step.kind == StepKind::Message && ["assistant", "ai"].contains(&step.name));
    (said.map(|step| word(step.object.get("text"))).collect(), word(run.object.get("output")))
}

/// Blocks of one sentence, behind one that is a text of its own.
fn cited() -> [Value; 4] {
    let cited =
        |text: &str| json!({"type": "text", "text": text, "citations": [{"type": "char_location", "cited_text": "c"}]});
    [
        json!({"type": "text", "text": "The fee is "}),
        cited("12 euros"),
        json!({"type": "text", "text": " and ", "citations": null}),
        cited("is due in May."),
    ]
}

const SENTENCE: &str = "The fee is 12 euros and is due in May.";

fn usage() -> Value {
    json!({"input_tokens": 1, "output_tokens": 1})
}

#[test]
fn what_citations_cut_is_one_text_in_every_format() {
    let user = json!({"role": "user", "content": "How much?"});
    let message = json!({"role": "assistant", "content": cited()});
    let call = json!({"type": "tool_use", "id": "t", "name": "look", "input": {}});
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]});
    let response = json!({"id": "m", "type": "message", "role": "assistant", "content": cited(), "stop_reason": "end_turn", "usage": usage()});
    let server = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let mut searched = response.clone();
    searched["content"] = json!([vec![server], cited().to_vec()].concat());
    let line = |record: &str, message: &Value| json!({"type": message["role"], "uuid": record, "sessionId": "s", "timestamp": format!("2025-01-01T00:00:0{record}Z"), "message": message});
    let one = |block: &Value| json!({"role": "assistant", "id": "m", "content": [block]});
    let by_line =
        cited().iter().enumerate().map(|(at, block)| line(&(at + 2).to_string(), &one(block))).collect::<Vec<_>>();
    let mut event = json!({"type": "agent.message", "id": "e", "processed_at": "2025-01-01T00:00:00Z"});
    event["content"] = json!(cited());
    let span = json!({"name": "chat m", "trace_id": "t", "span_id": "s", "start_time": "2025-01-01T00:00:00Z", "end_time": "2025-01-01T00:00:01Z",
        "attributes": {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json!([message]).to_string()}});
    let files = [
        vec![json!({"messages": [user, message], "tools": []})],
        vec![json!([user, {"role": "assistant", "content": [call]}, result, message])],
        vec![response],
        vec![searched],
        vec![line("1", &user), line("2", &message)],
        [vec![line("1", &user)], by_line].concat(),
        vec![event],
        vec![json!([{"type": "human", "content": "How much?"}, {"type": "ai", "content": cited()}])],
        vec![span],
    ];
    for file in files {
        assert_eq!(told(&file), (vec![SENTENCE.to_owned()], SENTENCE.to_owned()), "{file:?}");
    }
    let start =
        json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": usage()}});
    let mut events = vec![start];
    for (index, block) in cited().iter().enumerate() {
        events.push(
            json!({"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}),
        );
        events.push(json!({"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": block["text"]}}));
        if block["citations"].is_array() {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": {"type": "citations_delta", "citation": {}}}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_stop"}));
    assert_eq!(told(&events), (vec![SENTENCE.to_owned()], SENTENCE.to_owned()));
}

#[test]
fn texts_of_their_own_are_joined_by_line_ends() {
    let texts =
        json!([{"type": "text", "text": "So.", "citations": []}, {"type": "text", "text": "Done.", "citations": null}]);
    let message = json!({"role": "assistant", "content": texts});
    assert_eq!(told(&[json!({"messages": [message], "tools": []})]).1, "So.\nDone.");
    let mut around = cited().to_vec();
    around.insert(1, json!({"type": "image", "source": {}}));
    around.insert(3, json!({"type": "image", "source": {}}));
    let message = json!({"role": "assistant", "content": around});
    assert_eq!(told(&[json!({"messages": [message], "tools": []})]).1, "The fee is \n12 euros\n and is due in May.");
    let parts = json!([{"type": "text", "content": "So."}, {"type": "text", "content": "Done."}]);
    let span = json!({"name": "chat m", "trace_id": "t", "span_id": "s", "start_time": "2025-01-01T00:00:00Z", "end_time": "2025-01-01T00:00:01Z",
        "attributes": {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json!([{"role": "assistant", "parts": parts}]).to_string()}});
    assert_eq!(told(&[span]).1, "So.\nDone.");
}

#[test]
fn parts_of_what_a_response_says_are_one_text() {
    let parts = json!([{"type": "output_text", "text": "The fee is ", "annotations": []}, {"type": "output_text", "text": "12 euros.", "annotations": []}]);
    let asked = json!({"role": "user", "content": [{"type": "input_text", "text": "How"}, {"type": "input_text", "text": "much?"}]});
    let message = |content: &Value| json!({"type": "message", "role": "assistant", "content": content});
    let response = json!({"object": "response", "id": "r", "output": [message(&parts)]});
    assert_eq!(told(&[response]), (vec!["The fee is 12 euros.".to_owned()], "The fee is 12 euros.".to_owned()));
    let other = message(&json!([{"type": "output_text", "text": "Anything else?"}]));
    let response = json!({"object": "response", "id": "r", "output": [message(&parts), other]});
    let exchange = json!({"request": {"model": "m", "input": [asked]}, "response": response});
    assert_eq!(told(&[exchange]).1, "The fee is 12 euros.\nAnything else?");
}

#[test]
fn chunks_of_answers_side_by_side_belong_to_the_answer_with_their_id() {
    let chunk = |id: &str, delta: Value, end: Option<&str>| json!({"id": id, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": end}]});
    let call = json!({"role": "assistant", "tool_calls": [{"index": 0, "id": "c", "function": {"name": "look", "arguments": "{\"at\":"}}]});
    let rest = json!({"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]});
    let words = |words: &str| json!({"content": words});
    let first = json!({"role": "assistant", "content": "It "});
    let both = [
        chunk("a", call, None),
        chunk("b", first.clone(), None),
        chunk("a", rest, None),
        chunk("b", words("is."), None),
        chunk("a", json!({}), Some("tool_calls")),
        chunk("b", json!({}), Some("stop")),
    ];
    with(&json!(both).to_string(), |run| {
        assert_eq!(steps(run), ["call look", "message assistant"]);
        assert_eq!((field(run, 0, "args"), root(run, "output")), (r#"{"at":1}"#.to_owned(), "\"It is.\"".to_owned()));
        assert!(run.complete, "{:?}", run.warnings);
    });
    // Some servers give each chunk an id of its own.
    let each = [chunk("1", first.clone(), None), chunk("2", words("is."), None), chunk("3", json!({}), Some("stop"))];
    with(&json!(each).to_string(), |run| {
        assert_eq!(root(run, "output"), "\"It is.\"");
        assert!(run.complete, "{:?}", run.warnings);
    });
    // An answer that breaks off is not the one behind it.
    let cut = [
        chunk("a", first, None),
        chunk("a", words("is"), None),
        chunk("b", words("Well."), None),
        chunk("b", words(""), Some("stop")),
    ];
    with(&json!(cut).to_string(), |run| {
        assert_eq!(root(run, "output"), "\"Well.\"");
        assert!(!run.complete);
    });
}

/// What a graph of LangGraph streams as messages alone: each piece beside what the graph says of it.
#[test]
fn pieces_of_answers_of_a_graph_are_put_together_by_their_ids() {
    let about = json!({"langgraph_step": 1, "langgraph_node": "agent"});
    let piece = |id: &str, content: Value, parts: Value, usage: Value| {
        json!([{"type": "AIMessageChunk", "id": id, "content": content, "tool_calls": [], "tool_call_chunks": parts,
            "usage_metadata": usage}, about])
    };
    let part = |name: Value, id: Value, args: &str, index: u32| json!({"name": name, "args": args, "id": id, "index": index, "type": "tool_call_chunk"});
    let usage = |input: u32, output: u32| json!({"input_tokens": input, "output_tokens": output, "total_tokens": input + output});
    let none = Value::Null;
    let asks = [
        piece("a", json!("I lo"), json!([]), usage(9, 0)),
        piece("a", json!([{"type": "text", "text": "ok.", "index": 0}]), json!([]), none.clone()),
        piece("a", json!(""), json!([part(json!("tide"), json!("c1"), "", 1)]), none.clone()),
        piece("a", json!(""), json!([part(none.clone(), none.clone(), "{\"at\":", 1)]), none.clone()),
        piece("a", json!(""), json!([part(none.clone(), none.clone(), "\"quay\"}", 1)]), none.clone()),
        piece("a", json!(""), json!([part(json!("wind"), json!("c2"), "{}", 2)]), usage(0, 5)),
    ];
    let gave = |id: &str, words: &str| {
        json!([{"type": "tool", "id": format!("t{id}"), "tool_call_id": id, "name": "t", "content": words, "status": "success"},
        {"langgraph_step": 2, "langgraph_node": "tools"}])
    };
    let rest = [
        gave("c2", "calm"),
        gave("c1", "low"),
        piece("b", json!("Low, "), json!([]), none.clone()),
        piece("b", json!("calm."), json!([]), none),
    ];
    let records = [&asks[..], &rest].concat();
    let lines = |records: &[Value]| records.iter().map(|record| format!("{record}\n")).collect::<String>();
    // Some write down the messages alone.
    let alone: Vec<Value> = records.iter().map(|record| record[0].clone()).collect();
    for text in [lines(&records), json!(records).to_string(), lines(&alone)] {
        with(&text, |run| {
            assert_eq!(steps(run), ["message assistant", "call tide", "call wind", "message assistant"], "{text}");
            assert_eq!(field(run, 1, "args"), r#"{"at":"quay"}"#);
            assert_eq!((field(run, 1, "result"), field(run, 2, "result")), ("\"low\"".into(), "\"calm\"".into()));
            assert_eq!((field(run, 0, "text"), root(run, "output")), ("\"I look.\"".into(), "\"Low, calm.\"".into()));
            assert!(root(run, "usage").contains(r#""input_tokens":9,"output_tokens":5"#), "{}", root(run, "usage"));
            assert!(run.complete, "{:?}", run.warnings);
        });
    }
    with(&lines(&asks[..4]), |run| assert!(!run.complete, "{:?}", steps(run)));
}
