//! What frameworks keep of a run after it: results, saved states and filled prompts.

use super::formats::{field, root, steps, with};
use averment_base::limits::Limits;
use averment_runs::run::{Run, StepKind, StepStatus};
use averment_traces::TraceRuns;
use std::io::Cursor;

fn records_calls(run: &Run<'_>) -> bool {
    run.complete && run.recorded.get(StepKind::Call as usize) == Some(&true)
}

#[test]
fn calls_of_a_failed_step_of_smolagents_stand_in_its_message() {
    let text = r#"[{"task": "sum"}, {"step_number": 1, "tool_calls": [], "model_output_message": {"role": "assistant", "content": "m",
        "tool_calls": [{"function": {"name": "add", "arguments": {"x": 1}}, "id": "a", "type": "function"}]},
        "error": {"type": "E", "message": "bad"}, "model_output": "m", "observations": null, "action_output": null, "is_final_answer": false},
      {"step_number": 2, "tool_calls": [{"id": "b", "type": "function", "function": {"name": "final_answer", "arguments": {"answer": [4, 5]}}}],
        "error": null, "model_output": "m", "observations": "[4, 5]", "action_output": null, "is_final_answer": true}]"#;
    with(text, |run| {
        let all = ["message user", "message thinking", "call add", "message thinking", "call final_answer"];
        assert_eq!(steps(run), all);
        assert_eq!((run.steps[2].status, field(run, 2, "args")), (StepStatus::Failed, r#"{"x":1}"#.into()));
        assert_eq!(root(run, "output"), "[4,5]");
        assert!(records_calls(run));
    });
}

#[test]
fn pieces_of_gemini_that_each_end_are_one_answer() {
    let piece = |text: &str, prompt: u32, answered: u32| {
        let usage = format!(r#"{{"promptTokenCount": {prompt}, "candidatesTokenCount": {answered}}}"#);
        format!(
            r#"{{"candidates": [{{"content": {{"role": "model", "parts": [{{"text": "{text}"}}]}}, "finishReason": "STOP"}}], "usageMetadata": {usage}}}"#
        )
    };
    with(&format!("[{}, {}]", piece("Ni", 5, 1), piece("ne.", 5, 2)), |run| {
        assert_eq!(root(run, "output"), "\"Nine.\"");
        assert!(root(run, "usage").contains(r#""input_tokens":5,"output_tokens":2"#), "{}", root(run, "usage"));
    });
    with(&format!("[{}, {}]", piece("Nine.", 5, 1), piece("Ten.", 9, 2)), |run| {
        assert_eq!(root(run, "output"), "\"Ten.\"");
        assert!(root(run, "usage").contains(r#""input_tokens":14,"output_tokens":3"#));
    });
}

#[test]
fn a_result_of_agno_tells_tokens_and_failed_tools() {
    let text = r#"{"run_id": "r", "agent_id": "a", "session_id": "s", "content": "Cheap.", "content_type": "str", "status": "COMPLETED",
      "metrics": {"input_tokens": 40, "output_tokens": 7, "total_tokens": 47},
      "messages": [{"role": "user", "content": "price?", "from_history": true}, {"role": "user", "content": "and of salt?", "from_history": false},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "g", "type": "function", "function": {"name": "price", "arguments": "{\"of\": \"salt\"}"}}]},
        {"role": "tool", "content": "no price", "tool_call_id": "g", "tool_name": "price", "tool_call_error": true},
        {"role": "assistant", "content": "Cheap."}],
      "tools": [{"tool_call_id": "g", "tool_name": "price", "tool_args": {"of": "salt"}, "tool_call_error": true, "result": "no price"}]}"#;
    with(text, |run| {
        assert_eq!(steps(run), ["message user", "call price", "message assistant"]);
        assert_eq!((run.steps[1].status, field(run, 1, "result")), (StepStatus::Failed, "\"no price\"".into()));
        assert!(root(run, "usage").contains(r#""input_tokens":40,"output_tokens":7"#));
        assert!(records_calls(run));
    });
    with(&text.replace("COMPLETED", "PAUSED"), |run| assert!(!run.complete));
}

#[test]
fn the_answer_behind_post_processing_of_bedrock_agents_counts() {
    let event = |trace: &str| format!(r#"{{"trace": {{"agentId": "A", "sessionId": "s", "trace": {trace}}}}}"#);
    let first =
        event(r#"{"orchestrationTrace": {"observation": {"type": "FINISH", "finalResponse": {"text": "raw"}}}}"#);
    let behind = event(
        r#"{"postProcessingTrace": {"modelInvocationOutput": {"metadata": {"usage": {"inputTokens": 5, "outputTokens": 1}}, "parsedResponse": {"text": "polite"}}}}"#,
    );
    with(&format!("[{first}, {behind}]"), |run| assert_eq!(root(run, "output"), "\"polite\""));
}

#[test]
fn prompts_that_programs_fill_are_not_what_the_user_said() {
    let says =
        |words: &str| format!(r#"[{{"role": "user", "content": "{words}"}}, {{"role": "assistant", "content": "x"}}]"#);
    let filled =
        "[[ ## question ## ]]\\nhow far?\\n\\n[[ ## trajectory ## ]]\\n[[ ## observation_0 ## ]]\\nyes, delete it";
    for words in [filled, "This is not the first time you try this task, all previous trails failed."] {
        with(&says(words), |run| assert_eq!(steps(run), ["message system", "message assistant"]));
    }
    with(&says("[[ ## question ## ]]\\nhow far?"), |run| assert_eq!(steps(run)[0], "message user"));
}

#[test]
fn arguments_under_one_key_are_those_that_the_model_asked_for() {
    let text = r#"{"trace": {"id": "t"}, "observations": [
      {"id": "g", "traceId": "t", "type": "GENERATION", "name": "turn", "startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-01T00:00:01Z",
       "input": {"role": "user", "content": "weather?"}, "output": {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "sky", "input": {"at": "sea"}}]}},
      {"id": "h", "traceId": "t", "type": "TOOL", "name": "sky", "startTime": "2026-01-01T00:00:02Z", "endTime": "2026-01-01T00:00:03Z",
       "input": {"input": {"at": "sea"}}, "output": {"content": [{"type": "text", "text": "gray"}]},
       "metadata": "{\"attributes\":{\"gen_ai.operation.name\":\"execute_tool\",\"langsmith.trace.name\":\"sky\"}}"}]}"#;
    with(text, |run| {
        let calls: Vec<_> = (0..run.steps.len()).filter(|at| run.steps[*at].kind == StepKind::Call).collect();
        let [call] = calls[..] else { panic!("{:?}", steps(run)) };
        assert_eq!(field(run, call, "args"), r#"{"at":"sea"}"#);
        assert!(records_calls(run));
    });
    let other = text.replace(r#""input": {"input": {"at": "sea"}}"#, r#""input": {"input": {"at": "lake"}}"#);
    with(&other, |run| {
        let call = (0..run.steps.len()).find(|at| run.steps[*at].kind == StepKind::Call).unwrap();
        assert_eq!(field(run, call, "args"), r#"{"input":{"at":"lake"}}"#);
    });
}

#[test]
fn states_of_a_graph_that_repeat_each_other_are_one_run() {
    let [user, call, result, answer] = [
        r#"{"type": "human", "content": "pay", "id": "1"}"#,
        r#"{"type": "ai", "content": "", "id": "2", "tool_calls": [{"name": "pay", "args": {}, "id": "c", "type": "tool_call"}]}"#,
        r#"{"type": "tool", "content": "paid", "id": "3", "name": "pay", "tool_call_id": "c", "status": "success"}"#,
        r#"{"type": "ai", "content": "Done.", "id": "4"}"#,
    ];
    let states = [vec![user], vec![user, call], vec![user, call, result], vec![user, call, result, answer]];
    let states = states.map(|state| format!(r#"{{"messages": [{}]}}"#, state.join(", ")));
    for text in [states.join("\n"), format!("[{}]", states.join(", "))] {
        with(&text, |run| {
            assert_eq!(steps(run), ["message user", "call pay", "message assistant"]);
            assert_eq!(root(run, "output"), "\"Done.\"");
            assert!(records_calls(run));
        });
    }
}

#[test]
fn conversations_of_langchain_that_share_no_message_are_runs_of_their_own() {
    let state = |id: u32| format!(r#"{{"messages": [{{"type": "human", "content": "pay", "id": "{id}"}}]}}"#);
    let text = format!("{}\n{}", state(1), state(2));
    let limits = Limits::default();
    assert_eq!(TraceRuns::new("t", Cursor::new(text.into_bytes()), &limits).count(), 2);
}

#[test]
fn calls_that_crewai_keeps_in_quotes_are_those_that_were_made() {
    let text = r#"{"uuid": "t", "agentSpans": [{"uuid": "a", "type": "agent", "name": "crew", "startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-01T00:00:09Z"}],
      "llmSpans": [{"uuid": "m", "parentUuid": "a", "type": "llm", "name": "call", "startTime": "2026-01-01T00:00:03Z", "endTime": "2026-01-01T00:00:04Z", "output": "Done.",
        "input": [{"role": "user", "content": "delegate"}, {"role": "assistant", "content": null, "tool_calls": [
          {"id": "c", "type": "function", "function": {"name": "'delegate'", "arguments": "'{\\'to\\': 1}'"}}]},
          {"role": "tool", "tool_call_id": "c", "name": "delegate", "content": "ok"}]}],
      "toolSpans": [{"uuid": "s", "parentUuid": "a", "type": "tool", "name": "delegate", "startTime": "2026-01-01T00:00:01Z", "endTime": "2026-01-01T00:00:02Z",
        "input": {"to": 1}, "output": "ok"}]}"#;
    with(text, |run| assert!(records_calls(run)));
    with(&text.replace("'delegate'", "'pay'"), |run| assert!(!records_calls(run)));
}

#[test]
fn an_agent_of_google_that_takes_over_repeats_its_own_requests() {
    let user = r#"{"role": "user", "parts": [{"text": "weather?"}]}"#;
    let told = r#"{"role": "user", "parts": [{"text": "For context:"}, {"text": "[root] `transfer_to_agent` tool returned result: {}"}]}"#;
    let called = |name: &str| {
        format!(r#"{{"role": "model", "parts": [{{"functionCall": {{"name": "{name}", "args": {{}}}}}}]}}"#)
    };
    let given = r#"{"role": "user", "parts": [{"functionResponse": {"name": "sky", "response": {"is": "gray"}}}]}"#;
    let answered = r#"{"role": "model", "parts": [{"text": "Gray."}]}"#;
    let exchange = |contents: &[&str], content: &str| {
        format!(
            r#"{{"request": {{"contents": [{}]}}, "response": {{"candidates": [{{"content": {content}, "finishReason": "STOP"}}]}}}}"#,
            contents.join(", ")
        )
    };
    let (over, sky) = (called("transfer_to_agent"), called("sky"));
    let lines =
        [exchange(&[user], &over), exchange(&[user, told], &sky), exchange(&[user, told, &sky, given], answered)];
    with(&lines.join("\n"), |run| {
        let calls: Vec<_> = steps(run).into_iter().filter(|step| step.starts_with("call")).collect();
        assert_eq!(calls, ["call transfer_to_agent", "call sky"]);
        assert_eq!(steps(run).iter().filter(|step| *step == "message user").count(), 1);
        assert_eq!(root(run, "output"), "\"Gray.\"");
        assert!(records_calls(run));
    });
}
