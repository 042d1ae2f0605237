//! What a run tells in places that are easily passed over: beside a call, behind it, or summed up.

use super::formats::{field, root, steps, with};
use serde_json::{Value as Json, json};

fn lines(values: &[Json]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

#[test]
fn the_tokens_of_a_run_of_assistants_hold_those_of_its_steps() {
    let usage = |input: u32| json!({"prompt_tokens": input, "completion_tokens": 1});
    let step = |id: &str, run: &str, input: u32| {
        json!({"id": id, "object": "thread.run.step", "run_id": run, "type": "tool_calls", "status": "completed", "usage": usage(input),
            "step_details": {"type": "tool_calls", "tool_calls": [{"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}}]}})
    };
    let run = |usage: Json| json!({"id": "r", "object": "thread.run", "status": "completed", "usage": usage});
    let told = |records: &[Json]| with(&lines(records), |run| root(run, "usage"));
    let of_steps = r#"{"input_tokens":30,"output_tokens":2,"total_tokens":32}"#;
    assert_eq!(told(&[step("a", "r", 10), step("b", "r", 20)]), of_steps);
    assert_eq!(told(&[run(Json::Null), step("a", "r", 10), step("b", "r", 20), run(Json::Null)]), of_steps);
    let whole = [run(Json::Null), step("a", "r", 10), run(usage(50))];
    assert_eq!(told(&whole), r#"{"input_tokens":50,"output_tokens":1,"total_tokens":51}"#);
    // Of another run only the steps tell.
    let both = [whole.as_slice(), &[step("b", "other", 7)]].concat();
    assert_eq!(told(&both), r#"{"input_tokens":57,"output_tokens":2,"total_tokens":59}"#);
}
