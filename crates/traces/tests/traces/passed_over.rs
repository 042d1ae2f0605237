//! What programs of agents write down, and what was passed over before: calls, ends, errors.

use super::formats::with;
use super::told::calls;

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
