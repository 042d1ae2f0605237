//! The normal form: what a run has, what is derived, what is not recorded.

use averment_base::limits::Limits;
use averment_base::value::json::to_json;
use averment_base::value::{Node, Value};
use averment_runs::run::{Run, StepKind, StepStatus};
use averment_traces::read_str;
use bumpalo::Bump;

fn with<R>(text: &str, look: impl FnOnce(&Run<'_>) -> R) -> R {
    let arena = Bump::new();
    let run = read_str(text, &arena, &Limits::default()).unwrap_or_else(|error| panic!("{error}: {text}"));
    look(&run)
}

fn refused(text: &str) -> String {
    let arena = Bump::new();
    match read_str(text, &arena, &Limits::default()) {
        Ok(_) => panic!("accepted {text}"),
        Err(error) => format!("{error}; {}", error.help),
    }
}

/// A value as a user would print it; `absent` and `missing` by name.
fn shown(node: Option<Node<'_>>) -> String {
    match node.map(|node| node.value) {
        None | Some(Value::Missing) => "missing".to_owned(),
        Some(Value::Absent) => "absent".to_owned(),
        Some(value) => to_json(&value),
    }
}

fn field(run: &Run<'_>, step: usize, name: &str) -> String {
    shown(run.steps[step].object.get(name))
}

fn names(run: &Run<'_>) -> Vec<String> {
    run.steps.iter().map(|step| step.name.to_owned()).collect()
}

#[test]
fn a_call_has_all_fields_recorded_or_derived() {
    with(
        r#"{"calls": [{"tool": "refund", "args": {"id": 1}, "result": "done", "start": 1000, "duration": 250, "note": 7}]}"#,
        |run| {
            let call = |name| field(run, 0, name);
            assert_eq!(call("tool"), "\"refund\"");
            assert_eq!((call("ok"), call("status")), ("true".into(), "\"ok\"".into()));
            assert_eq!((call("start"), call("end"), call("duration")), ("1000".into(), "1250".into(), "250".into()));
            assert_eq!((call("index"), call("kind"), call("note")), ("0".into(), "\"call\"".into(), "7".into()));
            assert_eq!(call("turn"), "absent");
            assert_eq!(
                (call("error"), call("id"), call("agent")),
                ("missing".into(), "missing".into(), "missing".into())
            );
            assert_eq!(shown(Some(run.root_value("calls"))), shown(Some(run.root_value("steps"))));
        },
    );
}

#[test]
fn what_the_run_does_not_record_is_absent_not_empty() {
    with(r#"{"output": "x"}"#, |run| {
        for root in ["calls", "steps", "messages", "usage", "cost", "duration", "turns", "inputs", "env"] {
            assert_eq!(shown(Some(run.root_value(root))), "absent", "{root}");
        }
        assert_eq!(shown(Some(run.root_value("error"))), "missing");
        assert!(!run.records_kind(StepKind::Call));
    });
    with(r#"{"calls": [], "usage": null, "cost": null}"#, |run| {
        assert_eq!(shown(Some(run.root_value("calls"))), "[]");
        assert_eq!(
            (shown(Some(run.root_value("usage"))), shown(Some(run.root_value("cost")))),
            ("absent".into(), "absent".into())
        );
        assert!(run.records_kind(StepKind::Call) && !run.records_kind(StepKind::Message));
    });
}

#[test]
fn results_are_absent_only_when_no_call_says_how_it_ended() {
    with(r#"{"calls": [{"tool": "a"}, {"tool": "b"}]}"#, |run| {
        assert_eq!(
            (field(run, 0, "result"), field(run, 0, "ok"), field(run, 0, "args")),
            ("absent".into(), "absent".into(), "absent".into())
        );
        assert_eq!(run.steps[0].status, StepStatus::Unknown);
    });
    with(r#"{"calls": [{"tool": "a", "args": {}, "result": 1}, {"tool": "b"}]}"#, |run| {
        assert_eq!(
            (field(run, 1, "result"), field(run, 1, "ok"), field(run, 1, "args")),
            ("missing".into(), "absent".into(), "missing".into())
        );
    });
}

#[test]
fn the_status_is_given_or_follows_from_error_and_result() {
    let status = |call: &str| with(&format!("{{\"calls\": [{{\"tool\": \"a\", {call}}}]}}"), |run| run.steps[0].status);
    for (call, expected) in [
        (r#""status": "SUCCESS""#, StepStatus::Ok),
        (r#""status": "completed""#, StepStatus::Ok),
        (r#""status": "error""#, StepStatus::Failed),
        (r#""status": "rejected""#, StepStatus::Denied),
        (r#""status": "pending""#, StepStatus::Pending),
        (r#""status": "blue""#, StepStatus::Unknown),
        (r#""ok": false"#, StepStatus::Failed),
        (r#""ok": true"#, StepStatus::Ok),
        (r#""error": "boom""#, StepStatus::Failed),
        (r#""error": {"type": "x"}, "status": "ok""#, StepStatus::Failed),
        (r#""error": "not allowed", "status": "denied""#, StepStatus::Denied),
        (r#""error": null, "result": null"#, StepStatus::Unknown),
        (r#""error": """#, StepStatus::Unknown),
        (r#""result": {}"#, StepStatus::Ok),
        (r#""id": "x""#, StepStatus::Unknown),
    ] {
        assert_eq!(status(call), expected, "{call}");
    }
    with(r#"{"calls": [{"tool": "a", "status": "done"}, {"tool": "b", "status": "blue"}]}"#, |run| {
        assert_eq!(field(run, 0, "status"), "\"ok\"");
        assert_eq!(run.warnings[0].message, "unknown status `blue`: it counts as not recorded");
    });
}

#[test]
fn calls_stand_in_the_order_of_their_starts() {
    with(
        r#"{"calls": [{"tool": "c", "start": "2025-01-01T00:00:03Z"}, {"tool": "a", "start": "2025-01-01T00:00:01Z"}, {"tool": "b", "start": "2025-01-01T02:00:01+02:00"}]}"#,
        |run| {
            assert_eq!(names(run), ["a", "b", "c"]);
            assert_eq!(field(run, 0, "index"), "0");
            assert_eq!(run.steps[2].start.unwrap() - run.steps[0].start.unwrap(), 2000.0);
        },
    );
    // One call without a start: the recorded order stands.
    with(r#"{"calls": [{"tool": "b", "start": 2}, {"tool": "a", "start": 1}, {"tool": "c"}]}"#, |run| {
        assert_eq!(names(run), ["b", "a", "c"]);
    });
    // Calls of one turn keep their recorded order, where the earliest of them starts.
    with(
        r#"{"calls": [{"tool": "x", "start": 5, "turn": 1}, {"tool": "b", "start": 9, "turn": 2}, {"tool": "a", "start": 2, "turn": 2}]}"#,
        |run| {
            assert_eq!(names(run), ["b", "a", "x"]);
            assert_eq!(run.steps[0].start, Some(9.0));
        },
    );
}

#[test]
fn positions_count_executed_calls() {
    with(r#"{"calls": [{"tool": "a"}, {"tool": "b", "status": "denied"}, {"tool": "c"}]}"#, |run| {
        let positions: Vec<_> = run.steps.iter().map(|step| step.call_position).collect();
        assert_eq!(positions, [0, 1, 1]);
    });
}

#[test]
fn steps_order_the_kinds_and_may_hold_the_steps_themselves() {
    let text = r#"{"steps": [{"kind": "message", "role": "user", "text": "hi"}, {"kind": "call", "tool": "a"}, {"kind": "read", "path": "x.md"}, {"kind": "call", "tool": "b"}]}"#;
    with(text, |run| {
        assert_eq!(names(run), ["user", "a", "x.md", "b"]);
        assert!(run.is_ordered(StepKind::Call, StepKind::Message));
        assert_eq!(shown(Some(run.root_value("reads"))).matches("\"path\"").count(), 1);
        // A run with `steps` records every kind.
        assert_eq!(shown(Some(run.root_value("http"))), "[]");
    });
    let text =
        r#"{"calls": [{"tool": "a"}, {"tool": "b"}], "reads": ["x"], "steps": ["call", {"kind": "read"}, "call"]}"#;
    with(text, |run| assert_eq!(names(run), ["a", "x", "b"]));
    assert_eq!(
        refused(r#"{"calls": [{"tool": "a"}], "steps": ["call", "call"]}"#),
        "<text>:1:46: `steps` has more steps of kind `call` than the 1 in `calls`; leave `calls` out, or list every step in both"
    );
    assert_eq!(
        refused(r#"{"steps": [{"kind": "tool_call"}]}"#),
        "<text>:1:21: unknown kind of step `tool_call`; write one of `call`, `message`, `command`, `read`, `write`, `skill`, `http`, `span`, `handover`"
    );
}

#[test]
fn kinds_without_steps_times_and_turns_have_no_common_order() {
    with(r#"{"calls": [{"tool": "a"}], "reads": ["x"], "messages": []}"#, |run| {
        assert!(!run.is_ordered(StepKind::Call, StepKind::Read));
        assert!(run.is_ordered(StepKind::Call, StepKind::Call));
        assert!(run.is_ordered(StepKind::Call, StepKind::Message));
    });
}

#[test]
fn times_order_kinds_and_turns_do_where_times_lack() {
    with(
        r#"{"calls": [{"tool": "a", "start": 10, "turn": 1}, {"tool": "b", "start": 30, "turn": 2}],
            "commands": [{"command": "ls", "start": 20}],
            "messages": [{"role": "user", "text": "u", "turn": 1}, {"role": "assistant", "text": "v", "turn": 2}],
            "reads": ["x"]}"#,
        |run| {
            assert_eq!(names(run), ["user", "a", "ls", "assistant", "b", "x"]);
            assert!(run.is_ordered(StepKind::Call, StepKind::Command));
            assert!(run.is_ordered(StepKind::Call, StepKind::Message));
            assert!(!run.is_ordered(StepKind::Command, StepKind::Message));
            assert!(!run.is_ordered(StepKind::Call, StepKind::Read));
        },
    );
}

#[test]
fn turns_that_contradict_the_times_order_nothing_else() {
    with(
        r#"{"calls": [{"tool": "a", "start": 10, "turn": 2}], "commands": [{"command": "ls", "start": 20, "turn": 1}],
            "messages": [{"role": "user", "text": "u", "turn": 1}]}"#,
        |run| {
            assert!(run.is_ordered(StepKind::Call, StepKind::Command));
            assert!(!run.is_ordered(StepKind::Call, StepKind::Message));
        },
    );
}

#[test]
fn in_one_turn_the_user_comes_first_and_derived_steps_last() {
    with(
        r#"{"commands": [{"command": "ls", "turn": 1}], "calls": [{"tool": "a", "turn": 1}],
            "messages": [{"role": "user", "text": "", "turn": 1}, {"role": "assistant", "text": "", "turn": 1}]}"#,
        |run| assert_eq!(names(run), ["user", "assistant", "a", "ls"]),
    );
}

#[test]
fn turns_and_total_tokens_are_derived_where_they_can_be() {
    let root = |text: &str, name: &str| with(text, |run| shown(Some(run.root_value(name))));
    assert_eq!(root(r#"{"calls": [{"tool": "a", "turn": 3}]}"#, "turns"), "3");
    assert_eq!(root(r#"{"calls": [{"tool": "a", "turn": 0}, {"tool": "a", "turn": 1}]}"#, "turns"), "2");
    assert_eq!(
        root(r#"{"messages": [{"role": "user", "text": "x"}, {"role": "assistant", "text": "y"}]}"#, "turns"),
        "1"
    );
    assert_eq!(root(r#"{"turns": 9, "calls": [{"tool": "a", "turn": 3}]}"#, "turns"), "9");
    assert_eq!(root(r#"{"calls": [{"tool": "a"}]}"#, "turns"), "absent");
    let usage = r#"{"usage": {"input_tokens": 3, "output_tokens": 4, "reasoning_tokens": null}}"#;
    assert_eq!(root(usage, "usage"), r#"{"input_tokens":3,"output_tokens":4,"total_tokens":7}"#);
    assert_eq!(root(r#"{"usage": {"input_tokens": 3}}"#, "usage"), r#"{"input_tokens":3}"#);
}

#[test]
fn one_text_may_stand_for_a_command_a_path_a_skill_or_an_address() {
    with(
        r#"{"commands": ["npm test"], "reads": ["a"], "writes": ["b"], "skills": ["s"], "http": ["https://x"]}"#,
        |run| {
            assert_eq!(names(run), ["npm test", "a", "b", "s", "https://x"]);
            assert_eq!(field(run, 0, "program"), "\"npm\"");
            assert_eq!(field(run, 1, "path"), "\"a\"");
        },
    );
}

#[test]
fn commands_and_requests_know_how_they_ended() {
    with(
        r#"{"commands": [{"command": "a", "exit_code": 0}, {"command": "b", "exit_code": 2}, {"command": "c"}],
            "http": [{"url": "u", "status": 204}, {"url": "u", "status": 404}, {"url": "u"}]}"#,
        |run| {
            let status: Vec<_> = run.steps.iter().map(|step| step.status).collect();
            use StepStatus::{Failed, Ok, Unknown};
            assert_eq!(status, [Ok, Failed, Unknown, Ok, Failed, Unknown]);
            assert_eq!(field(run, 1, "status"), "\"failed\"");
            assert_eq!(field(run, 4, "status"), "404");
            assert_eq!((field(run, 2, "exit_code"), field(run, 5, "status")), ("absent".into(), "absent".into()));
        },
    );
}

#[test]
fn the_text_of_a_message_may_be_its_content() {
    let text = |message: &str| with(&format!("{{\"messages\": [{message}]}}"), |run| field(run, 0, "text"));
    assert_eq!(text(r#"{"role": "user", "content": "hi"}"#), "\"hi\"");
    assert_eq!(
        text(r#"{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}, "b"]}"#),
        "\"a\\nb\""
    );
    assert_eq!(text(r#"{"role": "assistant", "content": null}"#), "missing");
}

#[test]
fn an_unfinished_run_says_so() {
    assert!(with(r#"{"calls": []}"#, |run| run.complete));
    assert!(!with(r#"{"calls": [], "complete": false}"#, |run| run.complete));
}

#[test]
fn duplicate_keys_warn_and_the_last_counts() {
    with(r#"{"calls": [{"tool": "a", "tool": "b"}]}"#, |run| {
        assert_eq!(names(run), ["b"]);
        assert_eq!(run.warnings[0].message, "the key `tool` stands more than once in its object; the last one counts");
    });
}

#[test]
fn every_field_keeps_its_place_in_the_file() {
    let text = r#"{"calls": [{"tool": "a", "status": "done", "start": "1970-01-01T00:00:01Z"}]}"#;
    with(text, |run| {
        let at = |name: &str| run.steps[0].object.get(name).unwrap().origin.byte_range().map(|range| &text[range]);
        assert_eq!(at("status"), Some("\"done\""));
        assert_eq!(at("start"), Some("\"1970-01-01T00:00:01Z\""));
        assert_eq!(at("ok"), None);
        assert_eq!(run.steps[0].node.origin.byte_range().map(|range| &text[range]), Some(&text[11..75]));
    });
}

#[test]
fn wrong_types_are_errors_with_their_place() {
    for (text, expected) in [
        ("[]", "<text>:1:1: a run is an object, found list; write `{ … }`"),
        (
            r#"{"calls": {}}"#,
            "<text>:1:11: the `calls` of a run must be a list, found object; write a list, or leave `calls` out",
        ),
        (
            r#"{"calls": [1]}"#,
            "<text>:1:12: an element of `calls` must be an object, found number; write `{ tool: … }`",
        ),
        (
            r#"{"reads": [1]}"#,
            "<text>:1:12: an element of `reads` must be an object or text, found number; write `{ path: … }`",
        ),
        (
            r#"{"calls": [{"args": {}}]}"#,
            "<text>:1:12: a call without `tool`: its keys are `args`; add `\"tool\": \"…\"`",
        ),
        (
            "{\"calls\": [\n  {\"tool\": 5}\n]}",
            "<text>:2:12: the `tool` of a call must be text, found number; write text, or leave `tool` out",
        ),
        (
            r#"{"calls": [{"tool": "a", "start": "noon"}]}"#,
            "<text>:1:35: the `start` of a step is no point in time; write RFC 3339 text such as `2025-01-31T12:00:00Z`, or milliseconds",
        ),
        (
            r#"{"calls": [{"tool": "a", "turn": -1}]}"#,
            "<text>:1:34: the `turn` of a step must be a whole number, not negative, found number; write a whole number, not negative, or leave `turn` out",
        ),
        (
            r#"{"duration": "5s"}"#,
            "<text>:1:14: the `duration` of a run must be a number, found string; write a number, or leave `duration` out",
        ),
        (
            r#"{"complete": 1}"#,
            "<text>:1:14: the `complete` of a run must be `true` or `false`, found number; write `true` or `false`, or leave `complete` out",
        ),
        (
            r#"{"messages": [{"text": "x"}]}"#,
            "<text>:1:15: a message without `role`: its keys are `text`; add `\"role\": \"…\"`",
        ),
    ] {
        assert_eq!(refused(text), expected, "{text}");
    }
}

/// What a format does not record is not concluded when the run is read again.
#[test]
fn a_kind_that_is_not_recorded_is_written_as_null() {
    let text = |text: &str| with(text, averment_runs::write_normal::normal_form);
    let stop = r#"{"calls": [{"tool": "Bash", "args": {"command": "ls"}}], "commands": null}"#;
    let concluded = r#"{"calls": [{"tool": "Bash", "args": {"command": "ls"}}]}"#;
    with(&text(concluded), |run| assert!(run.records_kind(StepKind::Command)));
    for source in [stop, &stop.replace("Bash", "look")] {
        let written = text(source);
        assert!(written.contains("\"commands\":null"), "{written}");
        with(&written, |run| {
            assert!(!run.records_kind(StepKind::Command) && run.records_kind(StepKind::Call));
            assert_eq!(text(&written), written);
        });
    }
    assert!(!text(r#"{"output": "x", "prompt": "y"}"#).contains("null"));
}
