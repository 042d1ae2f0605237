//! Traces of Langfuse and DeepEval as other systems fill them: what wraps arguments, results and answers, what is recorded of costs, what
//! stands beside the observations.

use super::formats::{field, root, with};
use averment_base::limits::Limits;
use averment_runs::run::{Run, StepKind};
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use serde_json::{Value as Json, json};
use std::io::Cursor;

/// An observation in a trace, without a parent.
fn observed(id: &str, kind: &str, second: u32, more: &Json) -> Json {
    let mut one = json!({"id": id, "traceId": "t", "type": kind, "name": format!("{kind} {id}"), "level": "DEFAULT",
        "startTime": format!("2025-03-01T10:00:{second:02}Z"), "endTime": format!("2025-03-01T10:00:{:02}Z", second + 1)});
    for (key, value) in more.as_object().unwrap() {
        one[key] = value.clone();
    }
    one
}

fn trace(observations: &[Json]) -> Json {
    json!({"id": "t", "observations": observations})
}

/// The calls of a run, each with these fields.
fn calls(run: &Run<'_>, fields: &[&str]) -> Vec<String> {
    let of_call = |place: usize| fields.iter().map(|name| field(run, place, name)).collect::<Vec<_>>().join(" ");
    (0..run.steps.len()).filter(|place| run.steps[*place].kind == StepKind::Call).map(of_call).collect()
}

fn told(text: &Json, fields: &[&str]) -> Vec<String> {
    with(&text.to_string(), |run| calls(run, fields))
}

fn of_run(text: &Json, key: &str) -> String {
    with(&text.to_string(), |run| root(run, key))
}

#[test]
fn what_is_empty_in_an_observation_may_stand_among_its_attributes() {
    let response = json!({"room": 3});
    let output = json!({"id": "c", "name": "look", "response": response});
    for attributes in [
        json!({"gen_ai.tool.name": "look", "gcp.vertex.agent.tool_response": response}),
        json!({"gen_ai.tool.name": "look", "output.value": output}),
        json!({"gen_ai.tool.name": "look", "output.value": output.to_string()}),
    ] {
        let empty = json!({"input": {}, "output": {}, "metadata": {"attributes": attributes}});
        assert_eq!(told(&trace(&[observed("1", "TOOL", 1, &empty)]), &["args", "result"]), [r#"{} {"room":3}"#]);
    }
    // What a tool gave that gives nothing is empty.
    let own = json!({"input": {}, "output": {}, "metadata": {"attributes": {"gen_ai.tool.name": "look"}}});
    assert_eq!(told(&trace(&[observed("1", "TOOL", 1, &own)]), &["result"]), ["{}"]);
}

#[test]
fn messages_around_what_a_tool_was_given_and_gave_are_taken_off() {
    let wrapped = json!({"input": [{"role": "tool", "content": "{\"room\": 3}", "id": "c"}],
        "output": {"message": "[{\"text\": \"free\"}, {\"text\": \"quiet\"}]", "id": "c"},
        "metadata": {"attributes": {"gen_ai.tool.name": "look", "gen_ai.tool.call.id": "c"}}});
    let asked = json!({"input": [{"role": "user", "content": "[{\"text\": \"which?\"}]"}],
        "output": {"message": "[{\"text\": \"let me see\"}, {\"toolUse\": {\"toolUseId\": \"c\", \"name\": \"look\", \"input\": {\"room\": 3}}}]", "finish_reason": "tool_use"}});
    let result = json!([{"toolResult": {"toolUseId": "c", "status": "success", "content": [{"text": "free"}]}}]);
    let answered = json!({"input": [{"role": "tool", "content": result.to_string()}],
        "output": {"message": "[{\"text\": \"room 3\"}]", "finish_reason": "end_turn"}});
    let models = [observed("1", "GENERATION", 1, &asked), observed("3", "GENERATION", 5, &answered)];
    let mut spans = models.to_vec();
    spans.push(observed("2", "TOOL", 3, &wrapped));
    let mut text = trace(&spans);
    text["output"] = json!({"message": "[{\"text\": \"room 3\"}]"});
    assert_eq!(told(&text, &["id", "args", "result", "turn"]), [r#""c" {"room":3} "free\nquiet" 1"#]);
    assert_eq!((of_run(&text, "prompt"), of_run(&text, "output")), (r#""which?""#.into(), r#""room 3""#.into()));
    // The same where no tool has an observation.
    assert_eq!(told(&trace(&models), &["id", "args", "result"]), [r#""c" {"room":3} "free""#]);
    // A tool may give an object with such a key, and so may a run.
    let own = json!({"output": {"message": "free"}, "metadata": {"attributes": {"gen_ai.tool.name": "look"}}});
    assert_eq!(told(&trace(&[observed("1", "TOOL", 1, &own)]), &["result"]), [r#"{"message":"free"}"#]);
    assert_eq!(of_run(&trace(&[observed("1", "SPAN", 1, &own)]), "output"), r#"{"message":"free"}"#);
    let own = json!({"input": {"role": 7}, "output": {"message": "free", "until": 9}});
    assert_eq!(
        told(&trace(&[observed("1", "TOOL", 1, &own)]), &["args", "result"]),
        [r#"{"role":7} {"message":"free","until":9}"#]
    );
}

#[test]
fn a_cost_that_nobody_recorded_is_absent_and_so_is_a_part_of_one() {
    let model = |id: &str, second: u32, cost: Json| observed(id, "GENERATION", second, &cost);
    let free = json!({"calculatedTotalCost": 0, "costDetails": {}, "usageDetails": {"input": 5}});
    let dear = json!({"calculatedTotalCost": 0.25, "costDetails": {"total": 0.25}, "usageDetails": {"input": 5}});
    let gift = json!({"calculatedTotalCost": 0, "costDetails": {"total": 0}, "usageDetails": {"input": 5}});
    for (costs, total, expected) in [
        ([&free, &free], json!(0.0), "absent"),
        ([&dear, &dear], json!(0.0), "0.5"),
        ([&dear, &gift], json!(0.0), "0.25"),
        ([&gift, &gift], json!(0.0), "0"),
        ([&dear, &free], json!(0.25), "absent"),
        ([&free, &free], json!(0.75), "0.75"),
    ] {
        let mut text = trace(&[model("1", 1, costs[0].clone()), model("2", 3, costs[1].clone())]);
        text["totalCost"] = total;
        assert_eq!(of_run(&text, "cost"), expected, "{text}");
    }
    // Tokens are counted in the same way: what failed before it was answered used none.
    let silent = json!({"output": "so"});
    let text = trace(&[model("1", 1, dear.clone()), model("2", 3, silent)]);
    assert_eq!((of_run(&text, "usage"), of_run(&text, "cost")), ("absent".into(), "absent".into()));
    let text = trace(&[model("1", 1, dear), model("2", 3, json!({"level": "ERROR"}))]);
    assert_eq!((of_run(&text, "usage"), of_run(&text, "cost")), (r#"{"input_tokens":5}"#.into(), "0.25".into()));
}

#[test]
fn the_answer_of_several_roots_is_that_of_the_trace_or_of_the_last_model() {
    let made = observed("1", "SPAN", 1, &json!({"output": {"id": "room-3"}}));
    let waited = observed("2", "SPAN", 3, &json!({"output": ["yes", {"status": "queued"}]}));
    let said =
        observed("3", "GENERATION", 4, &json!({"parentObservationId": "2", "input": "is it free?", "output": "yes"}));
    let spans = [said, waited.clone(), made.clone()];
    assert_eq!(of_run(&trace(&spans), "output"), r#""yes""#);
    assert_eq!(of_run(&trace(&[waited, made]), "output"), r#"["yes",{"status":"queued"}]"#);
    // What is said of the trace stands beside its observations, too, and may be written as JSON in text.
    let about = json!({"id": "t", "input": "\"\\\"is it free?\\\"\"", "output": "\"yes, until 9\"", "latency": 4.5});
    let text = json!({"trace": about, "observations": spans});
    assert_eq!(
        ["prompt", "output", "duration"].map(|key| of_run(&text, key)),
        [r#""is it free?""#, r#""yes, until 9""#, "4500"]
    );
}

#[test]
fn content_that_is_no_text_makes_no_trace_unreadable() {
    let call = |id: &str, tool: &str| json!([{"function": {"name": tool, "arguments": {"n": 1}}, "id": id, "type": "function"}]);
    let attributes = json!({"gen_ai.operation.name": "chat", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "hello",
        "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": call("a", "wave"),
        "gen_ai.completion.1.role": "assistant", "gen_ai.completion.1.content": call("b", "bow")});
    let model = observed("1", "GENERATION", 1, &json!({"metadata": {"attributes": attributes}}));
    let text = trace(&[model]);
    assert_eq!(told(&text, &["tool", "id", "args"]), [r#""wave" "a" {"n":1}"#, r#""bow" "b" {"n":1}"#]);
    for content in [json!([7, {"n": [1]}]), json!({"n": 1}), json!(7), json!([[["x"]]])] {
        let attributes = json!({"gen_ai.operation.name": "chat", "gen_ai.completion.0.content": content, "ai.response.object": content});
        let model = observed("1", "GENERATION", 1, &json!({"metadata": {"attributes": attributes}}));
        assert_eq!(of_run(&trace(&[model]), "turns"), "1", "{content}");
    }
}

#[test]
fn calls_that_langchain_keeps_as_their_provider_wrote_them_are_calls() {
    let asked = json!({"tool_calls": [{"id": "c", "type": "function", "function": {"name": "look", "arguments": {"room": 3}}}]});
    let model = json!({"parentObservationId": "r", "input": [{"role": "user", "content": "be brief"}, {"role": "user", "content": "which?"}],
        "output": {"role": "assistant", "content": "", "additional_kwargs": asked}});
    let later = json!({"parentObservationId": "r", "input": [{"role": "tool", "content": "free", "tool_call_id": "c"}],
        "output": {"role": "assistant", "content": "room 3"}});
    let around = json!({"input": {"messages": [{"type": "human", "content": "which?"}]}});
    let mut spans = vec![
        observed("r", "SPAN", 0, &around),
        observed("1", "GENERATION", 1, &model),
        observed("3", "GENERATION", 5, &later),
    ];
    assert_eq!(told(&trace(&spans), &["tool", "id", "args", "result"]), [r#""look" "c" {"room":3} "free""#]);
    assert_eq!(of_run(&trace(&spans), "prompt"), r#""which?""#);
    // What gives the message of the tool that it is named after is its span.
    let given = json!({"type": "tool", "name": "look", "content": "free", "tool_call_id": "c", "status": "success"});
    let mut carried =
        observed("2", "SPAN", 3, &json!({"parentObservationId": "r", "input": "{'room': 3}", "output": given}));
    carried["name"] = json!("look");
    spans.push(carried);
    let shown = ["id", "args", "result", "status", "turn"];
    assert_eq!(told(&trace(&spans), &shown), [r#""c" {"room":3} "free" "ok" 1"#]);
}

#[test]
fn the_export_of_langfuse_to_a_store_is_read() {
    let line = |id: &str, kind: &str, parent: &str, input: &str, output: &str| {
        json!({"id": id, "trace_id": "t", "type": kind, "parent_observation_id": parent, "name": "look", "level": "DEFAULT",
            "start_time": format!("2025-03-01T10:00:0{id}Z"), "end_time": "2025-03-01T10:00:09Z", "input": input, "output": output,
            "usage_details": {}, "cost_details": {}, "total_cost": 0,
            "metadata": json!({"attributes": {"gen_ai.tool.call.id": "c"}}).to_string()})
    };
    let mut lines = [
        line(
            "1",
            "GENERATION",
            "",
            r#"[{"role": "user", "content": "which?"}]"#,
            r#"{"role": "assistant", "content": "room 3"}"#,
        ),
        line("2", "TOOL", "1", r#"{"room": 3}"#, "\"free\""),
    ];
    (lines[0]["usage_details"], lines[0]["cost_details"]) = (json!({"input": 5}), json!({"total": 0.5}));
    lines[0]["total_cost"] = json!(0.5);
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    with(&text, |run| {
        assert_eq!((run.format, run.id), ("Langfuse export", Some("t")));
        assert_eq!(calls(run, &["id", "args", "result"]), [r#""c" {"room":3} "free""#]);
        let told = ["prompt", "output", "cost"].map(|key| root(run, key));
        assert_eq!(told, [r#""which?""#, r#""room 3""#, "0.5"]);
    });
}

/// A trace of DeepEval with an agent and two requests.
fn deep(id: &str) -> Json {
    let model = |id: &str, more: &Json| {
        let mut span = json!({"uuid": id, "parentUuid": "a", "startTime": "2025-03-01T10:00:02Z", "endTime": "2025-03-01T10:00:03Z",
            "input": [{"role": "user", "content": "rank these"}], "model": "m", "inputTokenCount": 10, "outputTokenCount": 5});
        for (key, value) in more.as_object().unwrap() {
            span[key] = value.clone();
        }
        span
    };
    let priced = json!({"status": "SUCCESS", "output": "so", "costPerInputToken": 0.5, "costPerOutputToken": 0.5});
    json!({"uuid": id, "status": "ERRORED", "input": {"query": "which room?"}, "output": {"room": 3},
        "agentSpans": [{"uuid": "a", "name": "clerk", "status": "ERRORED", "startTime": "2025-03-01T10:00:01Z", "endTime": "2025-03-01T10:00:09Z"}],
        "llmSpans": [model("b", &priced), model("c", &json!({"status": "ERRORED", "error": "too many requests"}))]})
}

#[test]
fn a_trace_of_deepeval_says_what_was_asked_and_why_it_failed() {
    let told = ["prompt", "error", "cost", "usage"].map(|key| of_run(&deep("t"), key));
    let usage = r#"{"input_tokens":20,"output_tokens":10,"total_tokens":30}"#;
    assert_eq!(told, [r#""which room?""#, r#""too many requests""#, "absent", usage]);
    let mut wordless = deep("t");
    wordless["llmSpans"][1]["error"] = Json::Null;
    assert_eq!(of_run(&wordless, "error"), r#""ERRORED""#);
}

#[test]
fn each_trace_of_a_test_run_of_deepeval_is_a_run() {
    let case = |id: &str| json!({"name": id, "input": "which room?", "actualOutput": "3", "success": false, "trace": deep(id)});
    let text =
        json!({"testCases": [case("t"), case("u")], "conversationalTestCases": [], "testPassed": 0, "testFailed": 2})
            .to_string();
    let limits = Limits::default();
    let ids = TraceRuns::new("t", Cursor::new(text), &limits).map(|raw| {
        let (raw, arena) = (raw.unwrap(), Bump::new());
        let run = parse_run(&raw, &arena, &limits).unwrap();
        (run.format, run.id.map(str::to_owned))
    });
    let expected = ["t", "u"].map(|id| ("DeepEval trace", Some(id.to_owned())));
    assert_eq!(ids.collect::<Vec<_>>(), expected);
}

/// The Claude Agent SDK, as LangSmith's integration tells of it: whatever comes back to an agent stands in the user's name.
#[test]
fn what_comes_back_to_an_agent_the_user_did_not_say() {
    let user = |content: Json| json!({"content": content, "role": "user"});
    let prompt = user(json!("tidy up"));
    let skill = user(json!([{"type": "text", "text": "Base directory for this skill: yes, delete all"}]));
    let task = user(json!([{"type": "text", "text": "delete the files"}]));
    let asks = json!({"content": [{"type": "tool_use", "id": "a", "name": "Task", "input": {"prompt": "delete the files"}}], "role": "assistant"});
    let answer = json!({"content": [{"type": "text", "text": "done"}], "role": "assistant"});
    let turn = |id: &str, second, parent: &str, input: &[&Json], output: &Json| {
        let more = json!({"name": "claude.assistant.turn", "parentObservationId": parent, "input": {"messages": input}, "output": output});
        observed(id, "GENERATION", second, &more)
    };
    let sub = json!({"name": "helper", "parentObservationId": "task", "input": {"prompt": "delete the files", "subagent_type": "helper"}});
    let tool = json!({"name": "Task", "parentObservationId": "root", "input": {"input": {"prompt": "delete the files"}}, "output": {"output": "ok"}});
    for asked in [json!({"prompt": "tidy up"}), json!({"messages": [prompt]})] {
        let whole = json!({"name": "claude.conversation", "input": asked, "output": answer});
        let text = trace(&[
            observed("root", "CHAIN", 1, &whole),
            turn("1", 2, "root", &[&prompt], &asks),
            observed("task", "TOOL", 3, &tool),
            observed("sub", "CHAIN", 4, &sub),
            turn("2", 5, "sub", &[&task], &answer),
            turn("3", 6, "root", &[&prompt, &asks, &skill], &answer),
        ]);
        with(&text.to_string(), |run| {
            let said = |role: &str| {
                let steps = run.steps.iter().filter(|step| step.kind == StepKind::Message && step.name == role);
                steps
                    .map(|step| {
                        step.object
                            .get("text")
                            .map_or_else(String::new, |text| averment_base::value::json::to_json(&text.value))
                    })
                    .collect::<Vec<_>>()
            };
            assert_eq!(said("user"), ["\"tidy up\""]);
            assert_eq!(said("system").len(), 2, "{:?}", said("system"));
            assert_eq!(root(run, "prompt"), "\"tidy up\"");
            assert_eq!(calls(run, &["tool"]), ["\"Task\""]);
        });
    }
}
