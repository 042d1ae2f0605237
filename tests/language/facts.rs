//! What rules say of tools: when a call failed, its other names, its tags. One row per rule and run.

use crate::values::judge;

/// A chat: the format says nothing of how calls end.
const CHAT: &str = r#"[
  {"role": "user", "content": "go"},
  {"role": "assistant", "content": null, "tool_calls": [
    {"id": "1", "type": "function", "function": {"name": "deploy", "arguments": "{}"}},
    {"id": "2", "type": "function", "function": {"name": "mcp__git__delete_repo", "arguments": "{\"repo\": \"a\"}"}},
    {"id": "3", "type": "function", "function": {"name": "lookup", "arguments": "{}"}}]},
  {"role": "tool", "tool_call_id": "1", "content": "Error: no such target"},
  {"role": "tool", "tool_call_id": "2", "content": "{\"code\": 0}"},
  {"role": "tool", "tool_call_id": "3", "content": "{\"code\": 7}"},
  {"role": "assistant", "content": "done"}
]"#;

#[test]
fn what_failure_is_where_the_format_does_not_say() {
    let error = "tool any fails when result starts with \"Error\"\n";
    let says = |rule: &str| -> &'static str { format!("{error}{rule}").leak() };
    judge(&[
        ("never deploy failed", CHAT, "undecided", "say what failure is: `tool any fails when result starts with"),
        ("all c in calls: c.ok", CHAT, "undecided", "tool any fails when"),
        (says("never deploy failed"), CHAT, "fail", "deploy"),
        (says("require deploy ok"), CHAT, "fail", ""),
        (says("count any failed == 1"), CHAT, "pass", ""),
        (says("calls[*].status == [\"failed\", \"ok\", \"ok\"]"), CHAT, "pass", ""),
        (says("calls[*].ok == [false, true, true]"), CHAT, "pass", ""),
        (says("require (lookup where ok)"), CHAT, "pass", ""),
        // The name of the tool itself is nearer than `any`.
        (says("tool lookup fails when result.code != 0\ncount any failed == 2"), CHAT, "pass", ""),
        (says("tool look* fails when result.code != 0\nnever lookup failed"), CHAT, "fail", ""),
        // What is not there says nothing of how a call ended.
        ("tool any fails when result.code != 0\nnever deploy failed", CHAT, "undecided", ""),
        ("tool any fails when result.code != 0\nnever lookup failed", CHAT, "fail", ""),
    ]);
}

#[test]
fn what_the_run_says_of_itself_comes_first() {
    let said = r#"{"calls": [{"tool": "a", "result": "Error", "status": "ok"}, {"tool": "b", "result": "fine", "status": "failed"}]}"#;
    let unsaid = r#"{"calls": [{"tool": "a", "result": "Error: no"}, {"tool": "b", "result": {"code": 0}}]}"#;
    let error = "tool any fails when result starts with \"Error\"\n";
    let says = |rule: &str| -> &'static str { format!("{error}{rule}").leak() };
    judge(&[
        (says("never a failed"), said, "pass", ""),
        (says("never b failed"), said, "fail", ""),
        // A result that reads like a failure does not say that the call went well.
        ("never a failed", unsaid, "undecided", "say what failure is"),
        (says("never a failed"), unsaid, "fail", ""),
        (says("require b ok"), unsaid, "pass", ""),
        // What the tool itself fails by is not recorded of this call.
        ("tool b fails when result.status != 0\nnever b failed", unsaid, "undecided", ""),
        ("tool b fails when result.code != 0\nnever b failed", unsaid, "pass", ""),
    ]);
}

/// However a run leaves open how a call ended, and whatever stands in the result for it.
#[test]
fn what_says_nothing_of_an_end_leaves_it_to_the_rules() {
    let error = "tool any fails when result starts with \"Error\"\n";
    for beside in ["", r#""status": null, "#, r#""ok": null, "#, r#""status": "pending", "#, r#""error": null, "#] {
        let run = format!(
            r#"{{"calls": [{{"tool": "a", {beside}"result": "Error: no"}}, {{"tool": "b", {beside}"result": "fine"}}]}}"#
        );
        let run: &'static str = run.leak();
        let says = |rule: &str| -> &'static str { format!("{error}{rule}").leak() };
        judge(&[
            (says("never any failed"), run, "fail", "a"),
            (says("require b ok"), run, "pass", ""),
            ("never any failed", run, "undecided", "say what failure is"),
        ]);
    }
    let results = [
        r#""Error""#,
        r#""error: no""#,
        r#""ValueError: no""#,
        r#""Failed to connect""#,
        r#""Exception(no)""#,
        r#""Traceback (most recent call last): x""#,
        r#"{"success": false, "id": 1}"#,
        r#"{"ok": false}"#,
        r#"{"error": "no", "id": 1}"#,
        r#"{"status": "failed"}"#,
        r#""{\"success\": false}""#,
    ];
    for result in results {
        let run: &'static str = format!(r#"{{"calls": [{{"tool": "deploy", "result": {result}}}]}}"#).leak();
        judge(&[("never deploy failed", run, "undecided", ""), ("require deploy ok", run, "undecided", "")]);
    }
    let results = [
        r#""Errors: 0""#,
        r#""fine""#,
        r#"{"success": true}"#,
        r#"{"error": null, "id": 1}"#,
        r#"{"status": "open"}"#,
        r#""Failed logins: 3""#,
        "0",
        "[]",
        r#""{\"ok\": true}""#,
    ];
    for result in results {
        let run: &'static str = format!(r#"{{"calls": [{{"tool": "deploy", "result": {result}}}]}}"#).leak();
        judge(&[("never deploy failed", run, "pass", ""), ("require deploy ok", run, "pass", "")]);
    }
}

/// A line that cannot be decided says nothing, and the next is asked: lines of the tool, of a part of its name, of any tool.
#[test]
fn the_next_line_is_asked_where_one_says_nothing() {
    let run =
        r#"{"calls": [{"tool": "mcp__x", "result": "Error: no"}, {"tool": "mcp__y", "result": {"isError": false}}]}"#;
    let any = "tool any fails when result starts with \"Error\"\n";
    for nearer in ["mcp__x", "mcp__*", "mcp__x, mcp__y", "any"] {
        for condition in ["result.isError == true", "result.code != 0", "turn == 3"] {
            let rule = format!("{any}tool {nearer} fails when {condition}\nnever mcp__x failed");
            judge(&[(rule.leak(), run, "fail", "")]);
        }
    }
}

#[test]
fn a_tool_has_other_names() {
    let also = "tool delete_repo also mcp__*__delete_repo, \"repo:delete\"\n";
    let says = |rule: &str| -> &'static str { format!("{also}{rule}").leak() };
    judge(&[
        ("never delete_repo", CHAT, "pass", ""),
        (says("never delete_repo"), CHAT, "fail", "mcp__git__delete_repo"),
        (says("require delete_repo(repo: \"a\")"), CHAT, "pass", ""),
        (says("never delete_repo(repo: \"b\")"), CHAT, "pass", ""),
        (says("tool delete_repo tagged destructive\nnever any tagged destructive"), CHAT, "fail", ""),
        (says("tool delete_repo fails when result.code == 0\nrequire delete_repo failed"), CHAT, "pass", ""),
        (says("never delete_repo"), r#"{"calls": [{"tool": "repo:delete"}]}"#, "fail", ""),
    ]);
}

#[test]
fn the_envelope_of_a_protocol_is_reachable() {
    let run = r#"{"calls": [{"tool": "a", "result": "no", "response": {"isError": true, "content": [{"text": "no"}]}},
        {"tool": "b", "result": "yes"}]}"#;
    judge(&[
        ("never a failed", run, "fail", "a"),
        ("calls[0].response.content[0].text == calls[0].result", run, "pass", ""),
        ("never (any where response.isError == true)", run, "fail", ""),
        ("calls[1].response is missing", run, "pass", ""),
        (r#"each b: response == "yes""#, run, "fail", "response"),
    ]);
}

#[test]
fn tags_are_fields_of_calls() {
    let run = r#"{"calls": [{"tool": "drop_table"}, {"tool": "look", "tags": ["slow"]}]}"#;
    let listed = r#"{"tools": [{"name": "drop_table", "annotations": {"destructiveHint": true}},
        {"function": {"name": "look", "annotations": {"readOnlyHint": true, "destructiveHint": false}}}],
        "calls": [{"tool": "drop_table"}, {"tool": "look"}, {"tool": "other"}]}"#;
    let tags = "tool delete_*, drop_* tagged destructive, admin\n";
    let says = |rule: &str| -> &'static str { format!("{tags}{rule}").leak() };
    judge(&[
        (says("never (any where \"destructive\" in tags) before user /yes/i"), run, "undecided", "messages"),
        (says("never any tagged destructive"), run, "fail", "drop_table"),
        (says("never look tagged destructive"), run, "pass", ""),
        (says("calls[*].tags == [[\"destructive\", \"admin\"], [\"slow\"]]"), run, "pass", ""),
        ("never any tagged destructive", r#"{"calls": [{"tool": "drop_table"}]}"#, "vacuous", ""),
        // The hints of a catalogue are tags by themselves.
        ("never any tagged destructive", listed, "fail", "drop_table"),
        ("count any tagged read-only == 1", listed, "pass", ""),
        ("each look: annotations.readOnlyHint == true", listed, "pass", ""),
        // Of a tool that the catalogue does not list nothing is known.
        ("never other tagged destructive", listed, "vacuous", ""),
    ]);
}
