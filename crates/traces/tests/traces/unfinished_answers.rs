//! Whole answers that are not over, or that a limit cut off: what they do not hold may have been asked for.

use super::formats::{root, steps, with};
use averment_runs::run::StepKind;
use serde_json::{Value as Json, json};

fn call_count(text: &str) -> (usize, bool) {
    with(text, |run| (run.steps.iter().filter(|step| step.kind == StepKind::Call).count(), run.complete))
}

fn function_call(args: &str) -> Json {
    json!({"type": "function_call", "id": "f", "call_id": "k", "name": "pay", "arguments": args})
}

fn response(status: &str, output: &Json) -> Json {
    json!({"object": "response", "id": "r", "status": status, "model": "m", "output": output, "tools": []})
}

#[test]
fn a_response_that_is_not_over_leaves_its_run_open() {
    let call = json!([function_call("{\"n\":1}")]);
    for status in ["queued", "in_progress"] {
        assert_eq!(call_count(&response(status, &json!([])).to_string()), (0, false));
        assert_eq!(call_count(&response(status, &call).to_string()), (1, false));
    }
    for status in ["completed", "incomplete"] {
        assert_eq!(call_count(&response(status, &call).to_string()), (1, true), "{status}");
    }
    assert_eq!(call_count(&response("completed", &json!([])).to_string()), (0, true));
}

/// Of a response that is made in the background who asked has it told again and again.
#[test]
fn a_response_that_is_told_again_is_one_answer() {
    let request = json!({"model": "m", "input": "pay", "background": true});
    let exchange =
        |status: &str, output: &Json| json!({"request": request, "response": response(status, output)}).to_string();
    let (none, call) = (json!([]), json!([function_call("{\"n\":1}")]));
    let text = [exchange("queued", &none), exchange("in_progress", &call), exchange("completed", &call)].join("\n");
    assert_eq!(call_count(&text), (1, true));
    let text = [exchange("queued", &none), exchange("in_progress", &call)].join("\n");
    assert_eq!(call_count(&text), (1, false));
    with(&text, |run| assert_eq!(root(run, "output"), "absent"));
}

#[test]
fn a_call_that_is_broken_off_in_a_response_that_is_cut_off_is_open() {
    for args in ["{\"n\":", ""] {
        assert_eq!(call_count(&response("incomplete", &json!([function_call(args)])).to_string()), (0, false));
    }
    let mut whole = function_call("{\"n\":");
    whole["status"] = json!("completed");
    assert_eq!(call_count(&response("incomplete", &json!([whole])).to_string()), (1, true));
}

#[test]
fn a_chat_call_that_a_limit_cut_off_is_one_where_it_gave_something() {
    let call = |args: &str| json!({"id": "k", "type": "function", "function": {"name": "pay", "arguments": args}});
    let answer = |args: &str, reason: &str| {
        json!({"id": "c", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "finish_reason": reason,
            "message": {"role": "assistant", "content": null, "tool_calls": [call(args)]}}]})
    };
    let user = json!({"role": "user", "content": "pay"});
    let exchange = |args: &str, reason: &str| json!({"request": {"model": "m", "messages": [user], "tools": []}, "response": answer(args, reason)});
    let shapes = |args: &str, reason: &str| [answer(args, reason).to_string(), exchange(args, reason).to_string()];
    shapes("{\"n\":", "length").iter().for_each(|text| assert_eq!(call_count(text), (0, false), "{text}"));
    shapes("", "content_filter").iter().for_each(|text| assert_eq!(call_count(text), (0, false), "{text}"));
    shapes("{\"n\":1}", "length").iter().for_each(|text| assert_eq!(call_count(text), (1, true), "{text}"));
    shapes("{\"n\":", "tool_calls").iter().for_each(|text| assert_eq!(call_count(text), (1, true), "{text}"));
    let gave = json!({"role": "tool", "tool_call_id": "k", "content": "broken arguments"});
    let asked = answer("{\"n\":", "length")["choices"][0]["message"].clone();
    let next = json!({"request": {"model": "m", "messages": [user, asked, gave], "tools": []},
        "response": {"id": "d", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": "Sorry."}}]}});
    let text = format!("{}\n{next}", exchange("{\"n\":", "length"));
    with(&text, |run| assert_eq!(steps(run), ["message user", "call pay", "message assistant"]));
    assert_eq!(call_count(&text), (1, true));
    // As programs read them that speak with several APIs.
    let mixed = format!(
        "{}\n{}",
        exchange("{\"n\":", "length"),
        json!({"request": {"model": "m", "max_tokens": 9, "system": "so", "messages": [user]},
            "response": {"type": "message", "id": "x", "role": "assistant", "content": [{"type": "text", "text": "Yes."}], "stop_reason": "end_turn"}})
    );
    assert_eq!(call_count(&mixed), (0, false));
    let cohere = json!({"request": {"model": "m", "messages": [user], "tools": []},
        "response": {"id": "c", "finish_reason": "MAX_TOKENS", "message": {"role": "assistant", "tool_calls": [call("{\"n\":")]}}});
    assert_eq!(call_count(&cohere.to_string()), (0, false));
}
