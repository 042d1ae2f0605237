//! What spans leave to be found elsewhere: the result of a call in the next request to a model, the call of what was asked for without an
//! id.

use super::formats::{field, root, with};
use averment_runs::run::StepKind;
use serde_json::{Value as Json, json};

fn span(id: &str, second: u32, kind: &str, attributes: &Json) -> Json {
    let mut attributes = attributes.clone();
    attributes["gen_ai.operation.name"] = json!(kind);
    json!({"trace_id": "t", "span_id": id, "name": format!("{kind} {id}"), "start_time": format!("2025-03-01T10:00:{second:02}Z"),
        "end_time": format!("2025-03-01T10:00:{:02}Z", second + 1), "attributes": attributes, "status": {"code": "UNSET"}})
}

fn tool(id: &str, second: u32, call: &str) -> Json {
    span(id, second, "execute_tool", &json!({"gen_ai.tool.name": "look", "gen_ai.tool.call.id": call}))
}

/// A request to a model that was told results, each with the id of its call.
fn told(id: &str, second: u32, results: &[(&str, &str)]) -> Json {
    let parts: Vec<Json> = results
        .iter()
        .map(|(call, result)| json!({"type": "tool_call_response", "id": call, "response": result}))
        .collect();
    span(id, second, "chat", &json!({"gen_ai.input.messages": [{"role": "tool", "parts": parts}]}))
}

/// Each call as its id, its result and its status, and what was odd.
fn calls(spans: &[Json]) -> (Vec<String>, Vec<String>) {
    with(&Json::from(spans.to_vec()).to_string(), |run| {
        let places = (0..run.steps.len()).filter(|place| run.steps[*place].kind == StepKind::Call);
        let shown = places.map(|place| ["id", "result", "status"].map(|name| field(run, place, name)).join(" "));
        (shown.collect(), run.warnings.iter().map(|warning| warning.message.clone()).collect())
    })
}

#[test]
fn a_result_that_no_span_of_a_tool_holds_is_what_the_next_request_was_told() {
    let spans = [tool("2", 2, "b"), tool("3", 2, "a"), told("4", 4, &[("a", "red"), ("b", "blue")])];
    let (found, _) = calls(&spans);
    assert_eq!(found, [r#""b" "blue" "ok""#, r#""a" "red" "ok""#]);
    // The same in an event, and an id that comes again.
    let event = |call: &str, result: &str| json!({"name": "gen_ai.tool.message", "attributes": {"id": call, "content": result}});
    let mut second = span("3", 3, "chat", &json!({}));
    second["events"] = json!([event("a", "red")]);
    let mut last = span("5", 7, "chat", &json!({}));
    last["events"] = json!([event("a", "red"), event("a", "blue")]);
    let (found, _) = calls(&[tool("2", 2, "a"), second, tool("4", 5, "a"), last]);
    assert_eq!(found, [r#""a" "red" "ok""#, r#""a" "blue" "ok""#]);
    // What a span says itself counts, and what was told of another call says nothing of this one.
    let mut own = tool("2", 2, "a");
    own["attributes"]["gen_ai.tool.call.result"] = json!("green");
    let (found, _) = calls(&[own, tool("3", 3, "b"), told("4", 5, &[("a", "red"), ("c", "blue")])]);
    assert_eq!(found, [r#""a" "green" "ok""#, r#""b" missing absent"#]);
}

#[test]
fn a_span_with_an_id_carries_out_what_was_asked_for_without_one() {
    let asked = |calls: &[Json]| {
        let parts: Vec<Json> = calls.iter().map(|call| json!({"function_call": call})).collect();
        span(
            "1",
            1,
            "chat",
            &json!({"gcp.vertex.agent.llm_response": json!({"content": {"role": "model", "parts": parts}}).to_string()}),
        )
    };
    let look = |args: &Json| json!({"name": "look", "args": args});
    let carried = |id: &str, second: u32, call: &str, args: &Json| {
        let mut span = tool(id, second, call);
        span["attributes"]["gen_ai.tool.call.arguments"] = args.clone();
        span["attributes"]["gen_ai.tool.call.result"] = json!(call);
        span
    };
    let (one, two) = (json!({"n": 1}), json!({"n": 2}));
    let spans = [asked(&[look(&one), look(&two)]), carried("2", 2, "b", &two), carried("3", 3, "a", &one)];
    let (found, warnings) = calls(&spans);
    assert_eq!(found, [r#""b" "b" "ok""#, r#""a" "a" "ok""#]);
    assert_eq!(warnings, Vec::<String>::new());
    // What no span is left for is said.
    let (found, warnings) = calls(&[asked(&[look(&one), look(&two)]), carried("2", 2, "b", &two)]);
    assert_eq!((found.len(), warnings.len()), (1, 1), "{warnings:?}");
}

/// The answer of a run is that of the agent which the work was handed over to.
#[test]
fn an_agent_that_takes_over_answers_for_the_run() {
    let around = |id: &str, parent: &str, second: u32, kind: &str, attributes: &Json| {
        let mut span = span(id, second, kind, attributes);
        span["parent_span_id"] = json!(parent);
        span
    };
    let agent = |id: &str, second: u32, name: &str| {
        around(id, "0", second, "invoke_agent", &json!({"gen_ai.agent.name": name}))
    };
    let says = |id: &str, parent: &str, second: u32, text: &str| {
        let said = json!([{"role": "assistant", "parts": [{"type": "text", "content": text}]}]);
        around(id, parent, second, "chat", &json!({"gen_ai.output.messages": said.to_string()}))
    };
    let handover = json!({"gen_ai.handoff.from_agent": "clerk", "gen_ai.handoff.to_agent": "porter"});
    let mut spans = vec![
        around("0", "", 0, "invoke_agent", &json!({})),
        agent("1", 1, "clerk"),
        says("2", "1", 2, "to the porter"),
        agent("4", 5, "porter"),
        says("5", "4", 6, "room 3"),
    ];
    let output = |spans: &[Json]| with(&Json::from(spans.to_vec()).to_string(), |run| root(run, "output"));
    // An agent beside the first one that was handed nothing over is none of these.
    assert_eq!(output(&spans), r#""to the porter""#);
    spans.push(around("3", "1", 3, "agent_handoff", &handover));
    assert_eq!(output(&spans), r#""room 3""#);
    spans.extend([agent("6", 8, "clerk"), says("7", "6", 9, "room 3, he says")]);
    assert_eq!(output(&spans), r#""room 3, he says""#);
}

#[test]
fn content_that_stands_whole_and_in_parts_is_one_text() {
    let key = |part: &str| format!("llm.output_messages.0.message.{part}");
    let part = |number: u8| key(&format!("contents.{number}.message_content.text"));
    for (attributes, expected) in [
        (json!({key("content"): "room 3", part(0): "room 3"}), vec!["room 3"]),
        (json!({key("content"): "", part(0): "room", part(1): "3"}), vec!["room", "3"]),
        (json!({key("content"): "room 3"}), vec!["room 3"]),
    ] {
        let mut attributes = attributes;
        attributes[key("role")] = json!("assistant");
        let found = with(&Json::from(vec![span("1", 1, "chat", &attributes)]).to_string(), |run| {
            let said = (0..run.steps.len()).filter(|place| run.steps[*place].kind == StepKind::Message);
            said.map(|place| field(run, place, "text").trim_matches('"').to_owned()).collect::<Vec<_>>()
        });
        assert_eq!(found, expected, "{attributes}");
    }
}
