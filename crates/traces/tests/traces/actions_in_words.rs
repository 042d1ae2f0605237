//! Actions that a model writes in its words, conversations that stand in one text, and what nobody knows of an answer: none of them is
//! evidence that nothing was done.

use super::formats::with;
use averment_runs::run::{Run, StepKind};
use serde_json::{Value, json};

const ACTIONS: [&str; 7] = [
    "{\"action\": \"wipe_disk\", \"action_input\": {}}",
    "Thought: free it\nAction: wipe_disk\nAction Input: {}",
    "<tool_call>\n{\"name\": \"wipe_disk\", \"arguments\": {}}\n</tool_call>",
    "<function=wipe_disk>{}</function>",
    "[TOOL_CALLS][{\"name\": \"wipe_disk\"}]",
    "<|python_tag|>wipe_disk.call()",
    "[[ ## next_tool_name ## ]]\nwipe_disk\n",
];

fn tells_calls(run: &Run<'_>) -> bool {
    run.records_kind(StepKind::Call) && run.complete && run.records.lost == 0
}

/// One answer, as the APIs give it.
fn answers(words: &str) -> Vec<(&'static str, Value)> {
    let tools = json!([{"type": "function", "function": {"name": "search", "parameters": {}}}]);
    let asked = json!([{"role": "user", "content": "free space"}]);
    let chat = json!({"id": "c", "object": "chat.completion", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": words}, "finish_reason": "stop"}]});
    let message = json!({"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": words}]});
    let response = json!({"id": "r", "object": "response", "status": "completed", "model": "m", "output": [
        {"id": "o", "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": words}]}]});
    let said = json!({"role": "model", "parts": [{"text": words}]});
    let gemini = json!({"candidates": [{"content": said, "finishReason": "STOP"}]});
    vec![
        ("chat", chat.clone()),
        ("chat with tools", json!([{"request": {"model": "m", "messages": asked, "tools": tools}, "response": chat}])),
        (
            "messages",
            json!({"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": words}], "tools": tools}),
        ),
        ("Messages API", json!([{"request": {"model": "m", "max_tokens": 9, "messages": asked}, "response": message}])),
        ("Responses", response.clone()),
        ("Responses with a request", json!([{"request": {"model": "m", "input": "free space"}, "response": response}])),
        (
            "Gemini",
            json!([{"request": {"contents": [{"role": "user", "parts": [{"text": "x"}]}]}, "response": gemini}]),
        ),
    ]
}

#[test]
fn an_action_in_the_words_of_a_model_is_no_run_without_calls() {
    for action in ACTIONS {
        for (form, answer) in answers(action) {
            with(&answer.to_string(), |run| assert!(!tells_calls(run), "{form}: {action}"));
        }
    }
    for (form, answer) in answers("Nothing to do. Actions: none.") {
        with(&answer.to_string(), |run| assert!(run.complete && run.records.lost == 0, "{form}"));
    }
    // What ends such a loop is no call, and neither is what a run with calls explains.
    for (form, answer) in answers("Thought: done\nAction: Final Answer\nAction Input: 42") {
        with(&answer.to_string(), |run| assert!(run.complete && run.records.lost == 0, "{form}"));
    }
}

#[test]
fn a_conversation_in_one_text_with_a_tool_in_it_does_not_tell_its_calls() {
    for told in [
        "user: delete it\ntool: yes, confirmed",
        "### User\ndelete it\n### Tool\nyes, confirmed",
        "**Human:** go\n**Function:** yes",
    ] {
        let run = json!({"messages": [{"role": "user", "content": told}, {"role": "assistant", "content": "Done."}], "tools": []});
        with(&run.to_string(), |run| {
            assert!(!tells_calls(run), "{told}");
            assert!(run.steps.iter().all(|step| step.name != "user"), "{told}");
        });
    }
    let plain = json!({"messages": [{"role": "user", "content": "# Users\nlist the tool: names"}, {"role": "assistant", "content": "Done."}],
        "tools": []});
    with(&plain.to_string(), |run| assert!(tells_calls(run) && run.steps.iter().any(|step| step.name == "user")));
}

#[test]
fn an_item_or_a_tool_of_unknown_type_may_call_what_it_names_otherwise() {
    let response = |kind: &str| {
        json!({"id": "r", "object": "response", "status": "completed", "model": "m", "output": [
            {"id": "a", "type": kind, "status": "completed", "action": {"target": "refund"}}]})
    };
    with(&response("remote_action_call").to_string(), |run| assert!(run.records.lost > 0));
    with(&response("web_search_call").to_string(), |run| assert!(tells_calls(run)));
    let step = |kind: &str| {
        json!({"data": [{"id": "s", "object": "thread.run.step", "run_id": "r", "type": "tool_calls", "status": "completed",
            "step_details": {"type": "tool_calls", "tool_calls": [{"id": "c", "type": kind, kind: {"target": "refund"}}]}}]})
    };
    with(&step("remote").to_string(), |run| assert!(run.records.lost > 0));
    with(&step("code_interpreter").to_string(), |run| assert_eq!(run.records.lost, 0));
}

#[test]
fn an_answer_that_is_not_understood_or_not_there_is_told_whatever_failed_before() {
    let request = json!({"model": "m", "input": "go"});
    let failed = json!({"request": request, "response": {"error": {"message": "server error"}}});
    for response in [json!({"status": "x", "action": "refund"}), json!("garbled refund"), Value::Null] {
        let first = json!({"request": request, "response": {"id": "r", "object": "response", "status": "completed", "model": "m",
            "output": [{"id": "o", "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}]}});
        let run = json!([first, failed, {"request": request, "response": response}]);
        with(&run.to_string(), |run| assert!(run.records.lost > 0, "{response}"));
        let asked = json!({"model": "m", "messages": [{"role": "user", "content": "go"}], "tools": []});
        let run = json!([{"request": asked, "response": response}]);
        with(&run.to_string(), |run| assert!(run.records.lost > 0, "chat: {response}"));
    }
}

#[test]
fn what_stands_beside_the_result_of_a_tool_may_be_the_users() {
    let run = json!([
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "delete it"}]},
        {"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": "ask", "args": {}, "tool_call_id": "c1"}]},
        {"kind": "request", "parts": [
            {"part_kind": "tool-return", "tool_name": "ask", "content": "r", "tool_call_id": "c1"},
            {"part_kind": "user-prompt", "content": "yes, go on"}]},
        {"kind": "response", "parts": [{"part_kind": "text", "content": "ok"}]},
    ]);
    with(&run.to_string(), |run| {
        assert!(run.steps.iter().filter(|step| step.name == "user").count() == 1);
        assert!(run.unrecorded_role(|role| role == "user").is_some());
    });
}

#[test]
fn a_prompt_that_holds_what_actions_gave_is_not_the_users() {
    let said = |words: &str| {
        let run = json!([{"request": {"model": "m", "messages": [{"role": "user", "content": words}]},
            "response": {"choices": [{"message": {"role": "assistant", "content": "Final Answer: paid"}}]}}]);
        with(&run.to_string(), |run| run.steps.iter().filter(|step| step.name == "user").count())
    };
    for prompt in [
        "Question: pay\nThought: x\nAction: look\nAction Input: {}\nObservation: the user agrees\nThought:",
        "Question: pay\nThought 1: x\nAction 1: look[a]\nObservation 1: the user agrees\n",
    ] {
        assert_eq!(said(prompt), 0, "{prompt}");
    }
    for words in ["Actions:\n- pay\nObservations: none", "Observation: is it\n", "x\nObservation: rain\nAction: stay"] {
        assert_eq!(said(words), usize::from(!words.starts_with("Observation:")), "{words}");
    }
}

#[test]
fn a_text_that_a_model_goes_on_with_is_nobodys_words_and_may_hold_actions() {
    let completion = |text: &str| {
        json!({"id": "c", "object": "text_completion", "created": 1, "model": "m", "choices": [{"text": text, "index": 0, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 4, "completion_tokens": 2, "total_tokens": 6}})
    };
    let exchange =
        |prompt: &str, text: &str| json!({"request": {"model": "m", "prompt": prompt}, "response": completion(text)});
    let alone = completion("Action: wipe_disk");
    let asked = json!([
        exchange("Question: pay", "Action: wipe_disk"),
        exchange("Question: pay\nAction: wipe_disk\nObservation: the user agrees", "Done.")
    ]);
    for (text, tokens) in [(alone, 4), (asked, 8)] {
        with(&text.to_string(), |run| {
            assert!(!tells_calls(run) && run.steps.iter().all(|step| step.name != "user"));
            assert!(run.unrecorded_role(|role| role == "user").is_some());
            let usage = super::formats::root(run, "usage");
            assert!(usage.starts_with(&format!("{{\"input_tokens\":{tokens}")), "{usage}");
        });
    }
}
