//! Who takes a step, and who hands the work to whom: one row per rule and run.

use crate::values::judge;

const DESK: &str = r#"{"steps": [
  {"kind": "message", "role": "user", "text": "my bill is wrong"},
  {"kind": "call", "tool": "lookup", "args": {"id": 1}, "status": "ok"},
  {"kind": "handover", "to": "billing"},
  {"kind": "call", "tool": "draft", "args": {"id": 1}, "agent": "billing", "status": "ok"},
  {"kind": "handover", "to": "audit", "agent": "billing"},
  {"kind": "call", "tool": "approve", "args": {"id": 1}, "agent": "audit", "status": "failed"},
  {"kind": "handover", "to": "billing", "agent": "audit"},
  {"kind": "call", "tool": "approve", "args": {"id": 1}, "agent": "billing", "status": "ok"}
]}"#;

#[test]
fn a_pattern_names_who_takes_the_step() {
    judge(&[
        ("require draft by billing", DESK, "pass", ""),
        ("never draft by main", DESK, "pass", ""),
        ("never lookup by main", DESK, "fail", "lookup"),
        ("count any by b* == 2", DESK, "pass", ""),
        ("count any by /^(audit|main)$/ == 2", DESK, "pass", ""),
        (r#"never approve by "billing" ok"#, DESK, "fail", "approve"),
        ("never approve ok by audit", DESK, "pass", ""),
        ("count approve by audit failed == 1", DESK, "pass", ""),
        ("require user by main", DESK, "pass", ""),
        ("not both draft(id: $i) by $a, approve(id: $i) by $a", DESK, "fail", "approve at step 8"),
        ("not both draft(id: $i) by $a, lookup(id: $i) by $a", DESK, "pass", ""),
        ("def step mine = lookup | draft\nrequire mine by billing", DESK, "pass", ""),
        ("require (draft where agent == \"billing\")", DESK, "pass", ""),
    ]);
}

#[test]
fn a_run_that_names_no_agent_has_none() {
    let alone = r#"{"calls": [{"tool": "pay"}]}"#;
    let named = r#"{"calls": [{"tool": "pay"}, {"tool": "note", "agent": "helper"}]}"#;
    judge(&[
        ("never pay by main", alone, "vacuous", ""),
        ("calls[0].agent is missing", alone, "pass", ""),
        ("never pay by main", named, "fail", "pay"),
        ("calls[*].agent == [\"main\", \"helper\"]", named, "pass", ""),
    ]);
}

#[test]
fn a_hand_over_is_a_step_with_its_depth() {
    judge(&[
        (r#"require handover "billing" by main"#, DESK, "pass", ""),
        (r#"never handover "billing" by researcher"#, DESK, "pass", ""),
        ("never handover by audit", DESK, "fail", "handover"),
        (r#"handovers[*].to == ["billing", "audit", "billing"] and handovers[*].depth == [1, 2, 1]"#, DESK, "pass", ""),
        ("never handover(depth > 2)", DESK, "pass", ""),
        (r#"before handover "billing" -> draft"#, DESK, "pass", ""),
        (r#"never handover /^aud/ after handover "billing""#, DESK, "fail", ""),
        ("never handover", r#"{"calls": []}"#, "undecided", "does not record `handovers`"),
        ("handovers[0].depth == 4", r#"{"handovers": [{"to": "a", "depth": 4}]}"#, "pass", ""),
        (r#"require handover "a""#, r#"{"handovers": ["a"]}"#, "pass", ""),
        (r#"require "handover""#, r#"{"calls": [{"tool": "handover"}]}"#, "pass", ""),
        ("never handover", r#"{"calls": [{"tool": "handover"}]}"#, "undecided", "for the tool write `\"handover\"`"),
    ]);
}
