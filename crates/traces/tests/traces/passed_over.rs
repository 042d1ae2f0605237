//! What programs of agents write down, and what was passed over before: calls, ends, errors.

use super::formats::{root, with};
use super::told::calls;

fn of_run(text: &str, key: &str) -> String {
    with(text, |run| root(run, key))
}

/// How many records of a run were not understood.
fn not_understood(text: &str) -> u64 {
    with(text, |run| run.records.not_understood)
}

#[test]
fn commands_of_mini_swe_agent_are_calls_in_whatever_they_stand() {
    let said = |words: &str, rest: &str| format!(r#"{{"role": "assistant", "content": "{words}"{rest}}}"#);
    let gave = |code: u8| format!(r#"{{"role": "user", "content": "<returncode>{code}</returncode>"}}"#);
    let xml = "Look.\\n```bash\\nls\\n```\\n<mswea_bash_command>rm -rf a</mswea_bash_command>";
    let two = "<mswea_bash_command>ls</mswea_bash_command><mswea_bash_command>pwd</mswea_bash_command>";
    let messages = [
        said(xml, ""),
        gave(0),
        said(two, ""),
        r#"{"role": "user", "content": "One action, please."}"#.to_owned(),
        said("Now.", r#", "extra": {"actions": [{"command": "make"}, {"command": "make test"}]}"#),
        gave(0),
        gave(2),
        said("I would run\\n```bash\\nls\\n```", r#", "extra": {"actions": []}"#),
    ]
    .join(",");
    let expected = [
        r#"bash {"command":"rm -rf a"} => <returncode>0</returncode> ok"#,
        r#"bash {"command":"make"} => <returncode>0</returncode> ok"#,
        r#"bash {"command":"make test"} => <returncode>2</returncode> failed"#,
    ];
    for text in [
        format!("[{messages}]"),
        format!(r#"{{"trajectory_format": "mini-swe-agent-1.1", "info": {{}}, "messages": [{messages}]}}"#),
    ] {
        assert_eq!(calls(&text), expected, "{text}");
        assert_eq!(not_understood(&text), 0);
    }
}

#[test]
fn the_response_beside_messages_belongs_to_the_conversation() {
    let asked = r#""messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "seen"}]"#;
    let said = r#"{"role": "assistant", "content": "Done.", "tool_calls": [{"id": "c2", "function": {"name": "drop", "arguments": "{\"n\":1}"}}]}"#;
    let counts = r#""usage": {"prompt_tokens": 10, "completion_tokens": 5}"#;
    let expected = ["look {} => seen -", r#"drop {"n":1} => - -"#];
    let response = format!(r#"{{"object": "chat.completion", "choices": [{{"message": {said}}}], {counts}}}"#);
    for text in [
        format!(r#"{{{asked}, "response": {response}, "response_cost": 0.25}}"#),
        format!(r#"{{{asked}, "response": {response}, {counts}, "cost": 0.25, "latency_sec": 1}}"#),
    ] {
        assert_eq!(calls(&text), expected, "{text}");
        assert_eq!(of_run(&text, "output"), r#""Done.""#);
        assert_eq!(of_run(&text, "usage"), r#"{"input_tokens":10,"output_tokens":5,"total_tokens":15}"#);
        assert_eq!(of_run(&text, "cost"), "0.25");
    }
    // The answer alone, and nothing that is one.
    assert_eq!(calls(&format!(r#"{{{asked}, "response": {said}}}"#)), expected);
    assert_eq!(calls(&format!(r#"{{{asked}, "response": null}}"#)), expected[..1]);
    with(&format!(r#"{{{asked}, "response": "data: {{}}"}}"#), |run| assert!(!run.warnings.is_empty()));
}
