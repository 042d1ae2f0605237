//! Answers of models that stand alone: one on a line or in a list is a run, until something says that they belong together.

use super::formats::{root, steps, with};
use averment_base::limits::Limits;
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use std::io::Cursor;

/// The runs of a file, each as its id, if it has one, and how often the model answered.
fn runs(text: &str) -> Vec<(Option<String>, u64)> {
    let limits = Limits::default();
    let mut found = Vec::new();
    for raw in TraceRuns::new("answers", Cursor::new(text.to_owned().into_bytes()), &limits) {
        let raw = raw.unwrap();
        let arena = Bump::new();
        let run = parse_run(&raw, &arena, &limits).unwrap();
        found.push((run.id.map(str::to_owned), root(&run, "turns").parse().unwrap()));
    }
    found
}

/// The same records on lines and in a list.
fn both(records: &[&str]) -> [String; 2] {
    [records.join("\n"), format!("[{}]", records.join(",\n"))]
}

const RESPONSE: &str = r#"{"id":"resp_1","object":"response","status":"completed","previous_response_id":null,"output":[{"type":"function_call","call_id":"c1","name":"look","arguments":"{}"}]}"#;
const OTHER: &str = r#"{"id":"resp_2","object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}]}"#;
const MESSAGE: &str = r#"{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"look","input":{}}],"stop_reason":"tool_use"}"#;
const LAST: &str = r#"{"id":"msg_2","type":"message","role":"assistant","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn"}"#;

#[test]
fn answers_that_say_nothing_of_each_other_are_a_run_each_with_their_ids() {
    for (records, ids) in [([RESPONSE, OTHER], ["resp_1", "resp_2"]), ([MESSAGE, LAST], ["msg_1", "msg_2"])] {
        for text in both(&records) {
            assert_eq!(runs(&text), ids.map(|id| (Some(id.to_owned()), 1)), "{text}");
        }
    }
}

#[test]
fn answers_that_go_on_are_one_conversation() {
    let goes_on = OTHER.replace(r#""status""#, r#""previous_response_id":"resp_1","status""#);
    let in_one = OTHER.replace(r#""status""#, r#""conversation":{"id":"conv_1"},"status""#);
    let told = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"found"}]}"#;
    let asked = r#"{"request":{"model":"m","input":"go"},"response":{"id":"resp_0","object":"response","output":[]}}"#;
    for records in [vec![RESPONSE, &goes_on], vec![RESPONSE, &in_one], vec![MESSAGE, told, LAST], vec![asked, OTHER]] {
        for text in both(&records) {
            let found = runs(&text);
            assert_eq!(found.len(), 1, "{text}");
            assert!(found[0].0.is_none(), "{found:?}");
        }
    }
}

#[test]
fn results_of_a_batch_are_runs_with_the_names_that_their_requests_have() {
    let line = |name: &str, body: &str| {
        format!(r#"{{"id":"b","custom_id":"{name}","response":{{"status_code":200,"body":{body}}},"error":null}}"#)
    };
    let of_anthropic = format!(r#"{{"custom_id":"c","result":{{"type":"succeeded","message":{MESSAGE}}}}}"#);
    let text = [line("a", RESPONSE), line("b", OTHER), of_anthropic].join("\n");
    assert_eq!(runs(&text), ["a", "b", "c"].map(|id| (Some(id.to_owned()), 1)));
}

/// An answer of Gemini that holds no part says nothing, however it is kept.
#[test]
fn a_response_without_a_part_is_no_answer() {
    let trace = |parts: &str| {
        let gave = format!(
            r#"{{"model_version": "m", "content": {{"role": "model"{parts}}}, "finish_reason": "STOP", "usage_metadata": {{"total_token_count": 3}}}}"#
        );
        let gave = serde_json::Value::from(gave);
        format!(
            r#"{{"uuid": "t", "agentSpans": [{{"uuid": "1", "name": "agent", "type": "agent", "input": "go", "output": {gave}}}],
            "llmSpans": [{{"uuid": "2", "parentUuid": "1", "name": "call_llm", "type": "llm", "input": "go", "output": {gave}}}]}}"#
        )
    };
    with(&trace(r#", "parts": [{"text": "Done."}]"#), |run| assert_eq!(root(run, "output"), "\"Done.\""));
    with(&trace(""), |run| {
        assert_eq!(root(run, "output"), "absent");
        assert_eq!(steps(run).iter().filter(|step| *step == "message assistant").count(), 0, "{:?}", steps(run));
    });
}

/// A program writes what it sent or kept where others write the answer.
#[test]
fn what_stands_in_the_place_of_an_answer_is_none() {
    let trace = |output: &serde_json::Value| {
        serde_json::json!({"trace": {"id": "t"}, "observations": [
            {"id": "1", "traceId": "t", "type": "SPAN", "name": "run", "startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-01T00:00:05Z", "input": "go", "output": output},
            {"id": "2", "traceId": "t", "parentObservationId": "1", "type": "GENERATION", "name": "m", "startTime": "2026-01-01T00:00:01Z", "endTime": "2026-01-01T00:00:02Z",
                "input": [{"role": "user", "content": "go"}], "output": {"role": "assistant", "content": "Done."}}]})
        .to_string()
    };
    let none = [
        serde_json::json!({"messages": []}),
        serde_json::json!({"status": 200, "headers": {"content-type": "text/html"}, "body": "x"}),
        serde_json::json!([{"name": "look", "description": "Looks.", "inputParameters": {"at": 1}}]),
    ];
    for output in none {
        with(&trace(&output), |run| assert_eq!(root(run, "output"), "\"Done.\"", "{output}"));
    }
    let answer = serde_json::json!({"status": "open", "hours": 3});
    with(&trace(&answer), |run| assert!(root(run, "output").contains("hours"), "{}", root(run, "output")));
}
