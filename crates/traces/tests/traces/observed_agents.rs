//! Traces of agents in Langfuse: messages that do not say whose they are, definitions of tools among them, events of tools, and tokens that
//! stand in details.

use super::formats::{field, root, steps, with};
use averment_runs::run::{Run, StepKind};
use serde_json::{Value as Json, json};

fn observed(id: &str, kind: &str, second: u32, more: &Json) -> Json {
    let mut one = json!({"id": id, "traceId": "t", "type": kind, "name": id, "level": "DEFAULT", "parentObservationId": "run",
        "startTime": format!("2026-03-01T10:00:{second:02}Z"), "endTime": format!("2026-03-01T10:00:{second:02}.5Z")});
    for (key, value) in more.as_object().unwrap() {
        one[key] = value.clone();
    }
    one
}

fn trace(observations: &[Json]) -> String {
    let run = observed("run", "AGENT", 0, &json!({"parentObservationId": null}));
    let observations = [&[run], observations].concat();
    json!({"trace": {"id": "t"}, "observations": observations}).to_string()
}

fn model(id: &str, second: u32, given: &Json, said: &Json) -> Json {
    observed(id, "GENERATION", second, &json!({"model": "m", "input": given.to_string(), "output": said.to_string()}))
}

fn asks(calls: &[(&str, &str)]) -> Json {
    let calls: Vec<_> =
        calls.iter().map(|(id, tool)| json!({"id": id, "name": tool, "args": {}, "type": "tool_call"})).collect();
    json!({"role": "assistant", "content": "", "tool_calls": calls})
}

fn calls(run: &Run<'_>, name: &str) -> Vec<String> {
    let is_call = |place: &usize| run.steps[*place].kind == StepKind::Call;
    (0..run.steps.len())
        .filter(is_call)
        .map(|place| format!("{} {}", run.steps[place].name, field(run, place, name)))
        .collect()
}

fn said_by_user(run: &Run<'_>) -> usize {
    steps(run).iter().filter(|step| *step == "message user").count()
}

#[test]
fn a_message_without_a_role_among_others_is_not_the_users() {
    let asked = json!({"role": "user", "content": "clear the shelf"});
    let gave = |words: &str| json!({"content": words, "additional_kwargs": {}});
    let one = [
        model("1", 1, &json!([asked]), &asks(&[("a", "ask")])),
        model(
            "2",
            2,
            &json!([asked, asks(&[("a", "ask")]), gave("yes, all")]),
            &json!({"role": "assistant", "content": "Cleared."}),
        ),
    ];
    with(&trace(&one), |run| {
        assert_eq!((said_by_user(run), calls(run, "result")), (1, vec![r#"ask "yes, all""#.to_owned()]));
        assert!(!root(run, "unrecorded_roles").contains("user"));
    });
    // Of two that wait nobody knows which one it answers, nor whose it is.
    let both = asks(&[("a", "ask"), ("b", "look")]);
    let two = [
        model("1", 1, &json!([asked]), &both),
        model(
            "2",
            2,
            &json!([asked, both, gave("yes, all"), gave("full")]),
            &json!({"role": "assistant", "content": "Cleared."}),
        ),
    ];
    with(&trace(&two), |run| {
        assert_eq!(
            (said_by_user(run), calls(run, "result")),
            (1, vec!["ask absent".to_owned(), "look absent".to_owned()])
        );
        assert!(root(run, "unrecorded_roles").contains("user"));
    });
}

#[test]
fn a_definition_of_a_tool_is_no_result_in_the_form_of_anthropic_either() {
    let defined = |name: &str| json!({"role": "tool", "content": {"name": name, "description": "d", "input_schema": {"type": "object"}}});
    let asked = json!({"role": "user", "content": "how many, how much?"});
    let call = |id: &str, tool: &str| json!({"type": "tool_use", "id": id, "name": tool, "input": {}});
    let both = json!({"role": "assistant", "content": [call("a", "count"), call("b", "price")]});
    // The text stands as it is, or in a part.
    let gave = |id: &str| {
        let content = if id == "a" { json!([{"type": "text", "text": "5"}]) } else { json!("5") };
        json!({"role": "tool", "content": content, "tool_call_id": id})
    };
    let observations = [
        model("1", 1, &json!([asked, defined("count"), defined("price")]), &both),
        model(
            "2",
            2,
            &json!([asked, both, gave("b"), gave("a"), defined("count"), defined("price")]),
            &json!({"role": "assistant", "content": "Five."}),
        ),
    ];
    with(&trace(&observations), |run| assert_eq!(calls(run, "result"), [r#"count "5""#, r#"price "5""#]));
}

#[test]
fn items_of_responses_are_calls_and_results_in_their_order() {
    let item = |id: &str, tool: &str| json!({"type": "function_call", "call_id": id, "name": tool, "arguments": "{}"});
    let gave = |id: &str, words: &str| json!({"type": "function_call_output", "call_id": id, "output": words});
    let asked = json!({"role": "user", "content": "both"});
    let said = json!([{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}]);
    let models = [
        model("1", 1, &json!([asked]), &json!([item("a", "second"), item("b", "first")])),
        model("2", 4, &json!([asked, item("a", "second"), item("b", "first"), gave("b", "B"), gave("a", "A")]), &said),
    ];
    // No span of a tool: the items alone tell of the calls.
    with(&trace(&models), |run| {
        assert_eq!(calls(run, "result"), [r#"second "A""#, r#"first "B""#]);
        assert_eq!(root(run, "output"), "\"Done.\"");
    });
    // Calls that started together stand as the model asked for them.
    let tool = |name: &str, gave: &str| observed(name, "TOOL", 2, &json!({"input": "{}", "output": gave}));
    let [first, last] = models;
    with(&trace(&[first, tool("first", "B"), tool("second", "A"), last]), |run| {
        assert_eq!(calls(run, "result"), [r#"second "A""#, r#"first "B""#]);
    });
}

#[test]
fn errors_and_retries_inside_of_a_call_of_beeai_are_no_calls() {
    let attributes = |more: Json| json!({"attributes": more, "scope": {"name": "openinference.instrumentation.beeai"}});
    let event = |word: &str, parent: &str| {
        let path = format!("tool.hours.{word}");
        let metadata = attributes(json!({"openinference.span.kind": "TOOL", "metadata.path": path}));
        json!({"name": word, "parentObservationId": parent, "input": "{\"error\": \"late\"}", "metadata": metadata})
    };
    let call = json!({"name": "hours", "input": "{\"day\": 1}", "output": "closed",
        "metadata": attributes(json!({"openinference.span.kind": "TOOL", "tool.name": "hours"}))});
    let observations = [
        observed("1", "TOOL", 1, &call),
        observed("2", "TOOL", 1, &event("error", "1")),
        observed("3", "TOOL", 1, &event("retry", "1")),
    ];
    with(&trace(&observations), |run| assert_eq!(calls(run, "result"), [r#"hours "closed""#]));
    // A tool of that name says so.
    let mut own = event("error", "run");
    own["metadata"]["attributes"]["tool.name"] = json!("error");
    with(&trace(&[observed("1", "TOOL", 1, &own)]), |run| assert_eq!(calls(run, "status"), ["error absent"]));
}

#[test]
fn tokens_of_details_belong_to_what_they_are_details_of() {
    let usage = |counts: Json| {
        let mut one =
            model("1", 1, &json!([{"role": "user", "content": "hi"}]), &json!({"role": "assistant", "content": "Hi."}));
        one["usageDetails"] = counts;
        with(&trace(&[one]), |run| root(run, "usage"))
    };
    let taken_out = usage(json!({"input": 20, "input_cache_read": 7, "output": 8, "output_reasoning": 2, "total": 37}));
    assert!(taken_out.contains(r#""input_tokens":27,"output_tokens":10,"total_tokens":37"#), "{taken_out}");
    let left_in = usage(json!({"input": 27, "input_cache_read": 7, "output": 10, "output_reasoning": 2, "total": 37}));
    assert_eq!(taken_out, left_in);
    let of_anthropic = usage(json!({"input": 4, "cache_read_input_tokens": 3, "output": 5, "total": 12}));
    assert!(of_anthropic.contains(r#""input_tokens":7,"output_tokens":5"#), "{of_anthropic}");
}

#[test]
fn an_agent_that_took_over_answers_and_its_arguments_are_what_the_model_asked_for() {
    let asked = json!({"role": "user", "content": "pay back 7"});
    let refund = json!({"role": "assistant", "content": "", "tool_calls": [{"id": "b", "type": "function", "function": {"name": "refund", "arguments": "{\"n\": 7}"}}]});
    let inside = |mut one: Json| {
        one["parentObservationId"] = json!("billing");
        one
    };
    let mut observations = vec![
        model("1", 1, &json!([asked]), &asks(&[("a", "transfer_to_billing")])),
        observed("transfer_to_billing", "TOOL", 2, &json!({"input": "{}", "output": "transferred"})),
        observed("billing", "AGENT", 3, &json!({})),
        inside(model("2", 4, &json!([asked]), &refund)),
        inside(observed("refund", "TOOL", 5, &json!({"input": "{'n': 7}", "output": "done"}))),
        inside(model(
            "3",
            6,
            &json!([asked, refund, {"role": "tool", "tool_call_id": "b", "content": "done"}]),
            &json!({"role": "assistant", "content": "Paid back."}),
        )),
    ];
    with(&trace(&observations), |run| {
        assert_eq!(calls(run, "args"), ["transfer_to_billing {}", r#"refund {"n":7}"#]);
        assert_eq!(root(run, "output"), "\"Paid back.\"");
    });
    // What the main agent says then is the answer.
    observations.push(model("4", 8, &json!([asked]), &json!({"role": "assistant", "content": "All is settled."})));
    with(&trace(&observations), |run| assert_eq!(root(run, "output"), "\"All is settled.\""));
}
