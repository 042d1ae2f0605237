//! What spans say of calls: which spans are one call, what was asked for, given and told, and how it ended.

use super::formats::{field, root, with};
use averment_runs::run::{Run, StepKind};
use serde_json::{Value as Json, json};

/// A span in a list, inside of another one.
fn span(id: &str, parent: &str, second: u32, attributes: &Json) -> Json {
    json!({"trace_id": "t", "span_id": id, "parent_span_id": parent, "name": format!("span {id}"),
        "start_time": format!("2025-03-01T10:00:{second:02}Z"), "end_time": format!("2025-03-01T10:00:{:02}Z", second + 1),
        "attributes": attributes, "status": {"code": "UNSET"}})
}

fn tool(attributes: &Json) -> Json {
    with_kind("execute_tool", attributes)
}

fn chat(attributes: &Json) -> Json {
    with_kind("chat", attributes)
}

fn with_kind(kind: &str, attributes: &Json) -> Json {
    let mut all = attributes.clone();
    all["gen_ai.operation.name"] = json!(kind);
    all
}

fn failed(mut span: Json, message: &str) -> Json {
    span["status"] = json!({"code": "ERROR", "message": message});
    span
}

/// The calls of a run, each with these fields.
fn calls(run: &Run<'_>, fields: &[&str]) -> Vec<String> {
    let of_call = |place: usize| {
        let shown: Vec<String> = fields.iter().map(|name| field(run, place, name).replace(' ', "")).collect();
        shown.join(" ")
    };
    (0..run.steps.len()).filter(|place| run.steps[*place].kind == StepKind::Call).map(of_call).collect()
}

fn told(spans: &[Json], fields: &[&str]) -> Vec<String> {
    with(&Json::from(spans.to_vec()).to_string(), |run| calls(run, fields))
}

#[test]
fn a_tool_that_calls_itself_is_as_many_calls_as_have_ids_or_arguments_of_their_own() {
    let fold = |id: Option<&str>, args: Option<Json>| {
        let mut attributes = tool(&json!({"gen_ai.tool.name": "fold"}));
        if let Some(id) = id {
            attributes["gen_ai.tool.call.id"] = json!(id);
        }
        if let Some(args) = args {
            attributes["gen_ai.tool.call.arguments"] = json!(args.to_string());
        }
        attributes
    };
    let (two, one) = (Some(json!({"depth": 2})), Some(json!({"depth": 1})));
    for (outer, inner, many) in [
        (fold(Some("x"), two.clone()), fold(Some("y"), two.clone()), 2),
        (fold(Some("x"), two.clone()), fold(Some("x"), one.clone()), 1),
        (fold(Some("x"), two.clone()), fold(None, one.clone()), 2),
        (fold(Some("x"), two.clone()), fold(None, two.clone()), 1),
        (fold(Some("x"), two), fold(None, None), 1),
        (fold(Some("x"), None), fold(None, one), 1),
    ] {
        let spans = [span("1", "", 1, &outer), span("2", "1", 2, &json!({})), span("3", "2", 3, &inner)];
        assert_eq!(told(&spans, &["tool"]).len(), many, "{outer} {inner}");
    }
}

#[test]
fn spans_of_one_call_say_together_what_it_was_given_and_how_it_ended() {
    let outer = json!({"openinference.span.kind": "TOOL", "tool.name": "ship", "input.value": "{\"to\": 7}", "output.value": "no such port"});
    let inner = tool(&json!({"gen_ai.tool.name": "ship", "gen_ai.tool.call.id": "s1"}));
    let ok = |mut span: Json| {
        span["status"] = json!({"code": "OK"});
        span
    };
    let shown = ["id", "args", "result", "status", "error"];
    let spans = [ok(span("1", "", 1, &outer)), failed(span("2", "1", 2, &inner), "PortError")];
    assert_eq!(told(&spans, &shown), [r#""s1" {"to":7} "nosuchport" "failed" "PortError""#]);
    // A server of MCP says in its result alone that the call went wrong.
    let served = tool(&json!({"gen_ai.tool.name": "ship", "gen_ai.tool.call.result": "{\"isError\": true}"}));
    let spans = [span("1", "", 1, &inner), span("2", "1", 2, &inner), span("3", "2", 3, &served)];
    assert_eq!(told(&spans, &["id", "status"]), [r#""s1" "failed""#]);
    // What was tried again has ended as it did at last.
    let tried = |id: &str, second: u32| span(id, "1", second, &tool(&json!({"gen_ai.tool.name": "ship"})));
    let again = [ok(span("1", "", 1, &outer)), failed(tried("2", 2), "busy"), ok(tried("3", 4))];
    assert_eq!(told(&again, &["status", "error"]), [r#""ok" missing"#]);
    let in_vain = [ok(span("1", "", 1, &outer)), ok(tried("2", 2)), failed(tried("3", 4), "busy")];
    assert_eq!(told(&in_vain, &["status", "error"]), [r#""failed" "busy""#]);
}

/// What a tool of LangChain gives is a message, which says whether it went wrong; each exporter wraps it in a way of its own.
#[test]
fn a_message_of_a_tool_is_its_text_its_id_and_its_end() {
    let fields = |status: &str| json!({"content": "no room", "name": "book", "tool_call_id": "b7", "status": status});
    let typed = |status: &str| {
        let mut message = fields(status);
        message["type"] = json!("tool");
        message
    };
    let class = |status: &str| json!({"lc": 1, "type": "constructor", "id": ["langchain", "ToolMessage"], "kwargs": typed(status)});
    for (status, end) in [("error", "failed"), ("success", "ok")] {
        for (key, value) in [
            ("output.value", json!({"type": "tool", "data": typed(status)})),
            ("output.value", typed(status)),
            ("output.value", json!({"output": class(status)})),
            ("traceloop.entity.output", json!({"output": class(status), "kwargs": {"color": "green"}})),
            ("gen_ai.tool.call.result", json!({"output": class(status), "kwargs": {"color": "green"}})),
        ] {
            let mut attributes = tool(&json!({"gen_ai.tool.name": "book"}));
            attributes[key] = json!(value.to_string());
            let found = told(&[span("1", "", 1, &attributes)], &["id", "result", "status"]);
            assert_eq!(found, [format!(r#""b7" "noroom" "{end}""#)], "{key} {value}");
        }
        let observation = json!({"id": "o", "traceId": "t", "type": "TOOL", "name": "book", "startTime": "2025-03-01T10:00:00Z",
            "level": "DEFAULT", "input": {"room": 3}, "output": typed(status)});
        let run = json!({"id": "r", "trace_id": "r", "run_type": "tool", "name": "book", "start_time": "2025-03-01T10:00:00Z",
            "dotted_order": "r", "inputs": {"room": 3}, "outputs": {"output": class(status)}});
        for text in [json!({"id": "t", "observations": [observation]}).to_string(), run.to_string()] {
            let found = with(&text, |run| calls(run, &["id", "args", "result", "status"]));
            assert_eq!(found, [format!(r#""b7" {{"room":3}} "noroom" "{end}""#)], "{text}");
        }
    }
    // A result of the tool's own stays as it is, and how the call ended is not known where it reads like a failure.
    let own = tool(&json!({"gen_ai.tool.name": "book", "gen_ai.tool.call.result": {"output": 1, "status": "error"}}));
    assert_eq!(told(&[span("1", "", 1, &own)], &["result", "status"]), [r#"{"output":1,"status":"error"} absent"#]);
}

#[test]
fn arguments_are_taken_out_of_what_a_run_of_langchain_was_begun_with() {
    let begun = json!({"input_str": "{'room': 3}", "tags": ["a"], "metadata": {"step": 2}, "inputs": {"room": 3}, "kwargs": {}});
    for key in ["gen_ai.tool.call.arguments", "traceloop.entity.input"] {
        let mut attributes = tool(&json!({"gen_ai.tool.name": "book"}));
        attributes[key] = json!(begun.to_string());
        assert_eq!(told(&[span("1", "", 1, &attributes)], &["args"]), [r#"{"room":3}"#], "{key}");
    }
    // Arguments may have such a name themselves.
    let own = tool(&json!({"gen_ai.tool.name": "book", "gen_ai.tool.call.arguments": {"inputs": {"room": 3}}}));
    assert_eq!(told(&[span("1", "", 1, &own)], &["args"]), [r#"{"inputs":{"room":3}}"#]);
}

#[test]
fn what_gathers_the_results_of_several_calls_is_none() {
    let call = |name: &str| tool(&json!({"gen_ai.tool.name": name, "gen_ai.tool.call.id": name}));
    let spans =
        [span("1", "", 1, &call("look")), span("2", "", 2, &call("book")), span("3", "", 3, &call("(merged tools)"))];
    assert_eq!(told(&spans, &["tool"]), [r#""look""#, r#""book""#]);
}

fn asked(calls: &[(&str, &str, Json)]) -> Json {
    let calls: Vec<Json> = calls
        .iter()
        .map(|(id, name, args)| json!({"type": "tool_call", "id": id, "name": name, "arguments": args}))
        .collect();
    chat(&json!({"gen_ai.output.messages": [{"role": "assistant", "parts": calls}]}))
}

fn answered(results: &[(&str, &str)]) -> Json {
    let parts: Vec<Json> = results
        .iter()
        .map(|(id, result)| json!({"type": "tool_call_response", "id": id, "response": result}))
        .collect();
    chat(&json!({"gen_ai.input.messages": [{"role": "tool", "parts": parts}],
        "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "so"}]}]}))
}

#[test]
fn a_span_without_an_id_carries_out_what_was_asked_for_with_its_arguments() {
    let book = |id: &str, second: u32, args: &Json| {
        span(id, "", second, &tool(&json!({"gen_ai.tool.name": "book", "gen_ai.tool.call.arguments": args})))
    };
    let model = span("1", "", 1, &asked(&[("a", "book", json!({"room": 1})), ("b", "book", json!({"room": 2}))]));
    let spans = [model.clone(), book("2", 3, &json!({"room": 2})), book("3", 4, &json!({"room": 1}))];
    assert_eq!(told(&spans, &["id", "args"]), [r#""b" {"room":2}"#, r#""a" {"room":1}"#]);
    // Where a framework has changed them, the order tells.
    let spans = [model, book("2", 3, &json!({"room": 1, "beds": 1})), book("3", 4, &json!({"room": 2, "beds": 1}))];
    assert_eq!(told(&spans, &["id"]), [r#""a""#, r#""b""#]);
    // What a tool does by itself nobody has asked for.
    let outer = span("1", "", 1, &asked(&[("a", "book", json!({"room": 1})), ("b", "book", json!({"room": 2}))]));
    let mut inner = book("3", 4, &json!({"room": 9}));
    inner["parent_span_id"] = json!("2");
    let spans = [outer, book("2", 3, &json!({"room": 1})), inner, book("4", 8, &json!({"room": 2}))];
    assert_eq!(told(&spans, &["id", "args"]), [r#""a" {"room":1}"#, r#"missing {"room":9}"#, r#""b" {"room":2}"#]);
}

#[test]
fn what_was_asked_for_and_answered_is_a_call_without_a_span_of_its_own() {
    let wanted = asked(&[("a", "look", json!({})), ("b", "drop", json!({"table": "t"})), ("c", "wait", json!({}))]);
    let look = tool(&json!({"gen_ai.tool.name": "look", "gen_ai.tool.call.id": "a"}));
    let spans = [
        span("1", "", 1, &wanted),
        span("2", "", 3, &look),
        span("3", "", 5, &answered(&[("a", "seen"), ("b", "gone")])),
    ];
    with(&Json::from(spans.to_vec()).to_string(), |run| {
        let shown = ["tool", "id", "args", "result", "turn"];
        let mut found = calls(run, &shown);
        found.sort();
        assert_eq!(found, [r#""drop" "b" {"table":"t"} "gone" 1"#, r#""look" "a" {} "seen" 1"#]);
        let left = run.warnings.iter().filter(|warning| warning.message.contains("a call that a model asked for"));
        assert_eq!(left.count(), 1, "{:?}", run.warnings);
    });
    // A framework may give calls ids of its own.
    let own = tool(&json!({"gen_ai.tool.name": "drop", "gen_ai.tool.call.id": "run-9"}));
    let spans = [span("1", "", 1, &wanted), span("2", "", 3, &own), span("3", "", 5, &answered(&[("b", "gone")]))];
    assert_eq!(told(&spans, &["tool"]), [r#""drop""#]);
}

#[test]
fn the_answer_of_a_run_is_that_of_what_is_around_its_agent() {
    let message = |kind: &str, text: &str| json!({"type": kind, "data": {"content": text, "type": kind}});
    let state = |messages: &[Json]| json!({"messages": messages}).to_string();
    let node = |messages: &[Json]| json!({"openinference.span.kind": "AGENT", "agent.name": "planner", "output.value": state(messages)});
    let graph = json!({"openinference.span.kind": "CHAIN", "input.value": json!({"messages": [["system", "be brief"], ["user", "which room?"]]}).to_string(),
        "output.value": state(&[message("human", "which room?"), message("ai", ""), message("ai", "room 3")])});
    let model = json!({"openinference.span.kind": "LLM"});
    let nodes = [
        span("2", "1", 2, &node(&[message("ai", "")])),
        span("3", "2", 3, &model),
        span("4", "1", 5, &node(&[message("ai", "room 3")])),
        span("5", "4", 6, &model),
    ];
    let mut spans = vec![span("1", "", 1, &graph)];
    spans.extend(nodes.clone());
    with(&Json::from(spans).to_string(), |run| {
        assert_eq!((root(run, "prompt"), root(run, "output")), (r#""which room?""#.into(), r#""room 3""#.into()));
    });
    // Where what is around it says nothing, its last answer counts.
    let mut spans = vec![span("1", "", 1, &json!({"openinference.span.kind": "CHAIN"}))];
    spans.extend(nodes);
    with(&Json::from(spans).to_string(), |run| assert_eq!(root(run, "output"), r#""room 3""#));
    // OpenLLMetry writes what a run of LangChain was given and gave among other things.
    let flow = json!({"traceloop.span.kind": "workflow",
        "traceloop.entity.input": json!({"inputs": {"messages": [["human", "which room?"]]}, "tags": [], "kwargs": {}}).to_string(),
        "traceloop.entity.output": json!({"outputs": {"messages": [message("ai", "room 3")]}, "kwargs": {}}).to_string()});
    with(&Json::from(vec![span("1", "", 1, &flow)]).to_string(), |run| {
        assert_eq!((root(run, "prompt"), root(run, "output")), (r#""which room?""#.into(), r#""room 3""#.into()));
    });
}

/// OpenLLMetry writes what a workflow gave as it came out of LangChain, or of a function.
#[test]
fn the_answer_of_a_workflow_is_its_text() {
    let said = json!({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {"content": "room 3", "type": "ai"}});
    let asked = json!({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"], "kwargs": {"content": "which?", "type": "human"}});
    let cases = [
        (
            json!({"outputs": {"messages": [asked, said], "step": 2}, "kwargs": {"tags": []}}).to_string(),
            json!("room 3"),
        ),
        (json!({"outputs": {"input": "which?", "output": "room 3"}, "kwargs": {}}).to_string(), json!("room 3")),
        (json!({"outputs": {"output": {"messages": [asked, said]}}, "kwargs": {}}).to_string(), json!("room 3")),
        (json!({"outputs": "room 3", "kwargs": {}}).to_string(), json!("room 3")),
        (json!({"output": "room 3", "kwargs": {}}).to_string(), json!("room 3")),
        (json!({"output": "room 3"}).to_string(), json!("room 3")),
        (json!("room 3").to_string(), json!("room 3")),
        ("room 3".to_owned(), json!("room 3")),
        // What is a value of the workflow's own stays one.
        (
            json!({"output": "room 3", "price": 12}).to_string(),
            json!({"output": "room 3", "price": 12}).to_string().into(),
        ),
        (json!({"outputs": {"room": 3}, "kwargs": {}}).to_string(), json!({"room": 3})),
        ("\"room\" 3".to_owned(), json!("\"room\" 3")),
    ];
    for kind in ["workflow", "agent"] {
        for (gave, expected) in &cases {
            let flow =
                json!({"traceloop.span.kind": kind, "traceloop.entity.name": "main", "traceloop.entity.output": gave});
            let found = with(&Json::from(vec![span("1", "", 1, &flow)]).to_string(), |run| root(run, "output"));
            assert_eq!(serde_json::from_str::<Json>(&found).unwrap(), *expected, "{kind} {gave}");
        }
    }
}

#[test]
fn the_prompt_is_the_first_text_of_a_user_in_pairs_of_role_and_text() {
    for (messages, prompt) in [
        (json!([["system", "be brief"], ["user", "which room?"]]), "which room?"),
        (json!([["user", "which room?"]]), "which room?"),
        (json!([["human", "which room?"], ["ai", "3"]]), "which room?"),
    ] {
        let run = json!({"id": "r", "trace_id": "r", "run_type": "chain", "name": "graph", "start_time": "2025-03-01T10:00:00Z",
            "dotted_order": "r", "inputs": {"messages": messages}, "outputs": {"output": "3"}});
        with(&run.to_string(), |run| assert_eq!(root(run, "prompt"), format!("{prompt:?}"), "{messages}"));
        let chain =
            json!({"openinference.span.kind": "CHAIN", "input.value": json!({"messages": messages}).to_string()});
        with(&Json::from(vec![span("1", "", 1, &chain)]).to_string(), |run| {
            assert_eq!(root(run, "prompt"), format!("{prompt:?}"), "{messages}");
        });
    }
}

#[test]
fn requests_that_state_no_total_have_their_input_and_output() {
    let request = |id: &str, second: u32, input: u32, total: Option<u32>| {
        let mut usage =
            json!({"openinference.span.kind": "LLM", "llm.token_count.prompt": input, "llm.token_count.completion": 5});
        if let Some(total) = total {
            usage["llm.token_count.total"] = json!(total);
        }
        span(id, "", second, &usage)
    };
    let usage = r#"{"input_tokens":50,"output_tokens":15,"total_tokens":66}"#;
    for totals in [[None, Some(26), None], [Some(16), None, None], [None, None, Some(26)]] {
        let spans = [request("1", 1, 10, totals[0]), request("2", 2, 20, totals[1]), request("3", 3, 20, totals[2])];
        with(&Json::from(spans.to_vec()).to_string(), |run| assert_eq!(root(run, "usage"), usage, "{totals:?}"));
    }
    let exchange = |input: u32, total: Option<u32>| {
        let mut usage = json!({"prompt_tokens": input, "completion_tokens": 5});
        if let Some(total) = total {
            usage["total_tokens"] = json!(total);
        }
        json!({"request": {"messages": [{"role": "user", "content": "hi"}]}, "response": {"object": "chat.completion",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "so"}}], "usage": usage}})
    };
    let exchanges = json!([exchange(10, Some(16)), exchange(20, None), exchange(20, None)]);
    with(&exchanges.to_string(), |run| assert_eq!(root(run, "usage"), usage));
}

#[test]
fn spans_are_read_as_tables_of_phoenix_and_traces_of_mlflow_hold_them() {
    let row = |id: &str, parent: Option<&str>, kind: &str, name: &str| {
        json!({"name": name, "span_kind": kind, "parent_id": parent, "start_time": "2025-03-01T10:00:00+00:00",
            "end_time": "2025-03-01T10:00:01+00:00", "status_code": "OK", "context.trace_id": "p", "context.span_id": id,
            "attributes.openinference.span.kind": kind, "attributes.input.value": "{\"room\": 3}", "attributes.output.value": "booked"})
    };
    let rows = json!([row("1", None, "AGENT", "clerk"), row("2", Some("1"), "TOOL", "book")]);
    with(&rows.to_string(), |run| {
        assert_eq!((run.format, run.id), ("OpenInference spans", Some("p")));
        assert_eq!(calls(run, &["tool", "args", "result", "status"]), [r#""book" {"room":3} "booked" "ok""#]);
        assert_eq!(root(run, "output"), r#""booked""#);
    });
    let span = |id: &str, parent: Option<&str>, name: &str, attributes: &Json| {
        json!({"trace_id": "m", "span_id": id, "parent_span_id": parent, "name": name, "start_time_unix_nano": 1_740_823_200_000_000_000_u64,
            "end_time_unix_nano": 1_740_823_201_000_000_000_u64, "status": {"code": "STATUS_CODE_ERROR", "message": "full"}, "attributes": attributes})
    };
    let trace = json!({"info": {"trace_id": "tr"}, "data": {"spans": [
        span("1", None, "clerk", &json!({"mlflow.spanType": "\"AGENT\"", "mlflow.spanOutputs": "\"no room\""})),
        span("2", Some("1"), "ask", &json!({"mlflow.spanType": "\"CHAT_MODEL\"", "mlflow.chat.tokenUsage": "{\"input_tokens\": 4, \"output_tokens\": 2}"})),
        span("3", Some("1"), "book", &json!({"mlflow.spanType": "\"TOOL\"", "mlflow.spanInputs": "{\"room\": 3}", "mlflow.spanOutputs": "null"})),
    ]}});
    with(&trace.to_string(), |run| {
        assert_eq!(
            (run.format, run.id, root(run, "output")),
            ("OpenTelemetry spans", Some("m"), r#""no room""#.into())
        );
        assert_eq!(calls(run, &["tool", "args", "status", "error"]), [r#""book" {"room":3} "failed" "full""#]);
        assert_eq!(root(run, "usage"), r#"{"input_tokens":4,"output_tokens":2,"total_tokens":6}"#);
    });
}

#[test]
fn the_events_of_a_tool_at_one_instant_are_one_call() {
    let event = |id: &str, second: u32, what: &str, gave: Json| {
        let mut span = span(id, "root", second, &gave);
        span["name"] = json!(format!("tool.search.wiki.{what}-12"));
        span["attributes"]["openinference.span.kind"] = json!("TOOL");
        span
    };
    let text = json!([
        event("a", 1, "start", json!({"tool.parameters": "{\"query\": \"sea\"}"})),
        event("b", 3, "finish", json!({})),
        event("c", 3, "success", json!({"output.value": "salt"})),
    ])
    .to_string();
    with(&text, |run| assert_eq!(calls(run, &["tool", "result"]), [r#""wiki" "salt""#]));
}

#[test]
fn a_whole_answer_in_a_span_tells_its_words_and_tokens() {
    let request = json!({"model": "m", "input": "how deep?"}).to_string();
    let answer = json!({"object": "response", "id": "r", "usage": {"input_tokens": 7, "output_tokens": 3},
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "9 m"}]}]});
    let attributes =
        json!({"openinference.span.kind": "LLM", "input.value": request, "output.value": answer.to_string()});
    with(&json!([span("a", "", 1, &attributes)]).to_string(), |run| {
        assert_eq!((root(run, "prompt"), root(run, "output")), ("\"how deep?\"".into(), "\"9 m\"".into()));
        assert!(root(run, "usage").contains(r#""input_tokens":7,"output_tokens":3"#), "{}", root(run, "usage"));
    });
}

#[test]
fn a_response_as_it_came_and_a_list_of_calls_are_no_answer() {
    let observation = |output: Json| {
        json!([{"id": "o", "traceId": "t", "type": "SPAN", "name": "run", "startTime": "2026-01-01T00:00:00Z", "input": "hi", "output": output},
            {"id": "g", "traceId": "t", "parentObservationId": "o", "type": "GENERATION", "name": "m", "startTime": "2026-01-01T00:00:01Z",
             "input": [{"role": "user", "content": "hi"}], "output": {"role": "assistant", "content": "9 m"}}])
        .to_string()
    };
    for output in [
        json!({"sdk_http_response": {"headers": {}}, "candidates": [{"content": {"role": "model", "parts": [{"text": "x"}]}}]}),
        json!([{"toolCallId": "c", "toolName": "depth", "input": "{}"}]),
    ] {
        with(&observation(output), |run| assert_eq!(root(run, "output"), "\"9 m\""));
    }
}

/// A span that names a tool without saying what it is, or what the tool was given or gave, may be a call or may be about one.
#[test]
fn a_span_that_only_names_a_tool_may_be_a_call() {
    let state = |attributes: &Json| {
        let call = tool(&json!({"gen_ai.tool.name": "read", "gen_ai.tool.call.id": "c1"}));
        let spans = [span("1", "", 1, &call), span("2", "1", 2, attributes)];
        with(&json!(spans).to_string(), |run| {
            let calls = run.steps.iter().filter(|step| step.kind == StepKind::Call);
            (calls.map(|call| call.name.to_owned()).collect::<Vec<_>>(), run.complete)
        })
    };
    let (read, send) = ("read".to_owned(), "send".to_owned());
    assert_eq!(state(&json!({"tool.name": "send"})), (vec![read.clone()], false));
    assert_eq!(state(&json!({"gen_ai.tool.name": "send"})), (vec![read.clone()], false));
    assert_eq!(
        state(&json!({"tool.name": "send", "openinference.span.kind": "TOOL"})),
        (vec![read.clone(), send], true)
    );
    assert_eq!(state(&json!({"tool.name": "send", "openinference.span.kind": "CHAIN"})), (vec![read], true));
}

#[test]
fn a_kind_of_span_that_the_agents_sdk_does_not_have_may_be_a_call() {
    let complete = |kind: &Json| {
        let span = |id: &str, data: Json| {
            json!({"object": "trace.span", "id": id, "trace_id": "t", "span_data": data}).to_string()
        };
        let call = span("s1", json!({"type": "function", "name": "read", "input": "{}", "output": "ok"}));
        with(&format!("{call}\n{}\n", span("s2", json!({"type": kind, "name": "send"}))), |run| run.complete)
    };
    for known in ["custom", "guardrail", "mcp_tools", "task", "turn"] {
        assert!(complete(&json!(known)), "{known}");
    }
    assert!(!complete(&json!("hosted_tool")) && !complete(&Json::Null));
}
