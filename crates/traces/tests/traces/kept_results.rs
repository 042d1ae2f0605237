//! What frameworks keep of a run after it: results, saved states and filled prompts.

use super::formats::{field, root, steps, with};
use averment_runs::run::{Run, StepKind, StepStatus};

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
