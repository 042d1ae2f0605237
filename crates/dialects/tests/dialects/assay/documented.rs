//! The examples of the documentation: the violations that each one reports on a run, with their locations.

use crate::judged::Given;
use averment::{Rules, Verdict};
use averment_checker::files::Memory;

const SUITE: &str = "mcp-eval.yaml";

fn calls(names: &[&str]) -> String {
    let calls: Vec<String> = names.iter().map(|name| format!("{{\"tool\": \"{name}\", \"args\": {{}}}}")).collect();
    format!("{{\"calls\": [{}]}}", calls.join(", "))
}

/// Returns the lines of a trace in the documented format.
fn lines(calls: &[(&str, &str)]) -> String {
    let line = |(at, (tool, args)): (usize, &(&str, &str))| {
        let at = at + 1;
        format!(
            "{{\"type\":\"tool_call\",\"id\":\"call_{at:03}\",\"tool\":\"{tool}\",\"arguments\":{args}}}\n{{\"type\":\"tool_result\",\"id\":\"call_{at:03}\",\"result\":{{}}}}\n"
        )
    };
    calls.iter().enumerate().map(line).collect()
}

/// Returns the violations: the location of the violated rule, the step, and the line of the trace.
fn violations(given: &Given<'_>, run: &str) -> Vec<String> {
    given.judge(run).unwrap();
    let rules = Rules::builder().files(Memory::new(given.beside.iter().copied())).text(given.name, given.text).build();
    let outcome = rules.unwrap().check_one(run).unwrap();
    let mut found = Vec::new();
    for result in outcome.results().filter(|result| result.verdict() == Verdict::Fail) {
        let at = result.assertion().place();
        for one in result.violations() {
            let line = one.place().map_or(0, |place| place.line);
            let step = one.step().unwrap_or(0);
            found.push(format!("{}:{}: {}: call {step}, line {line}", at.file, at.line, result.rule().unwrap_or("")));
        }
    }
    found
}

fn given(text: &'static str) -> Given<'static> {
    Given { name: SUITE, text, ..Given::default() }
}

#[test]
fn a_violation_of_an_argument_points_at_the_line_of_its_policy_and_of_the_trace() {
    let policy = "tools:\n  apply_discount:\n    arguments:\n      percent:\n        type: number\n        min: 0\n        max: 30\n      reason:\n        type: string\n        required: true\n";
    let text = "version: \"1\"\nsuite: discounts\ntests:\n  - id: args\n    metric: args_valid\n    policy: policies/discounts.yaml\n";
    let beside = [("policies/discounts.yaml", policy)];
    let suite = Given { name: SUITE, text, beside: &beside, ..Given::default() };
    let trace = lines(&[
        ("apply_discount", r#"{"percent": 30, "reason": "loyal"}"#),
        ("apply_discount", r#"{"percent": 50}"#),
        ("apply_discount", r#"{"percent": "5", "reason": null}"#),
        ("other", "{}"),
    ]);
    let found = [
        "policies/discounts.yaml:5: args: call 3, line 5",
        "policies/discounts.yaml:7: args: call 2, line 3",
        "policies/discounts.yaml:9: args: call 3, line 5",
        "policies/discounts.yaml:10: args: call 2, line 3",
    ];
    let mut all = violations(&suite, &trace);
    all.sort_by_key(|line| line.split(':').nth(1).unwrap().parse::<u32>().unwrap());
    assert_eq!(all, found);
    suite.imports_cleanly();
}

#[test]
fn only_the_tools_that_are_named_are_checked_and_strict_knows_no_others() {
    let policy = "tools:\n  process_payment:\n    arguments:\n      amount: { type: number, required: true }\n  refund:\n    arguments:\n      id: { type: string, required: true }\n";
    let text = "version: \"1\"\nsuite: payments\ntests:\n  - id: check_specific_tools\n    metric: args_valid\n    policy: policies/payments.yaml\n    tools: [refund]\n  - id: strict_mode\n    metric: args_valid\n    policy: policies/payments.yaml\n    strict: true\n";
    let beside = [("policies/payments.yaml", policy)];
    let suite = Given { name: SUITE, text, beside: &beside, ..Given::default() };
    suite.imports_cleanly();
    let verdicts = |run: &str| -> Vec<Verdict> { suite.judge(run).unwrap().rules.iter().map(|rule| rule.1).collect() };
    let run = r#"{"calls": [{"tool": "process_payment", "args": {}}, {"tool": "refund", "args": {"id": "r-1"}}]}"#;
    assert_eq!(verdicts(run), [Verdict::Pass, Verdict::Fail]);
    let run = r#"{"calls": [{"tool": "transfer", "args": {}}, {"tool": "refund", "args": {"id": "r-1"}}]}"#;
    assert_eq!(verdicts(run), [Verdict::Pass, Verdict::Fail]);
}

#[test]
fn an_order_of_calls() {
    let suite = given(
        "version: \"1\"\nsuite: records\ntests:\n  - id: flow\n    metric: sequence_valid\n    rules:\n      - type: require\n        tool: authenticate\n      - type: before\n        first: authenticate\n        then: get_patient_record\n",
    );
    assert_eq!(
        violations(&suite, &calls(&["get_patient_record"])),
        ["mcp-eval.yaml:7: flow: call 0, line 0", "mcp-eval.yaml:9: flow: call 1, line 1"]
    );
    assert!(violations(&suite, &calls(&["authenticate", "get_patient_record"])).is_empty());
    suite.imports_cleanly();
    assert!(
        suite
            .imported()
            .unwrap()
            .contains("  require authenticate\n  starts before authenticate -> get_patient_record\n")
    );
}

#[test]
fn rules_are_joined_and_every_one_is_told() {
    let suite = given(
        "version: \"1\"\nsuite: secure\ntests:\n  - id: secure_workflow\n    metric: sequence_valid\n    rules:\n      - type: require\n        tool: authenticate\n      - type: before\n        first: authenticate\n        then: [read_data, write_data, delete_data]\n      - type: blocklist\n        tools: [admin_*, debug_*]\n      - type: count\n        tool: api_call\n        max: 2\n",
    );
    suite.imports_cleanly();
    let run = calls(&["write_data", "authenticate", "admin_delete", "api_call", "api_call", "api_call", "debug_dump"]);
    assert_eq!(
        violations(&suite, &run),
        [
            "mcp-eval.yaml:9: secure_workflow: call 1, line 1",
            "mcp-eval.yaml:12: secure_workflow: call 3, line 1",
            "mcp-eval.yaml:12: secure_workflow: call 7, line 1",
            "mcp-eval.yaml:14: secure_workflow: call 4, line 1",
        ]
    );
}

#[test]
fn globs_of_a_blocklist_are_found_where_they_stand() {
    let suite = given(
        "version: \"1\"\nsuite: s\ntests:\n  - id: no_admin_tools\n    metric: tool_blocklist\n    blocklist:\n      - admin_*         # Matches admin_delete, admin_create, etc.\n      - \"*_dangerous\"\n      - debug_*\n",
    );
    suite.imports_cleanly();
    assert_eq!(
        violations(&suite, &calls(&["run_dangerous", "admin_delete", "read"])),
        ["mcp-eval.yaml:7: no_admin_tools: call 2, line 1", "mcp-eval.yaml:8: no_admin_tools: call 1, line 1"]
    );
}

#[test]
fn every_constraint_of_an_argument() {
    let spec = "tool: t\n    constraints:\n";
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("{ type: string }", &["\"\"", "\"5\""], &["5", "null", "[]"]),
        ("{ type: number }", &["5", "0.5"], &["\"5\"", "true"]),
        ("{ type: integer }", &["5", "5.0"], &["5.5"]),
        ("{ type: boolean }", &["true"], &["\"true\"", "1"]),
        ("{ type: array }", &["[]"], &["{}", "\"[]\""]),
        ("{ type: object }", &["{}"], &["[]"]),
        ("{ enum: [EUR, 1, null] }", &["\"EUR\"", "1", "null"], &["\"eur\"", "\"1\"", "2"]),
        ("{ type: number, min: 1, max: 3 }", &["1", "3"], &["0.9", "3.1"]),
        ("{ type: number, minimum: 1, maximum: 3 }", &["1", "3"], &["0.9", "3.1"]),
        ("{ type: number, exclusiveMin: 1, exclusiveMax: 3 }", &["1.1"], &["1", "3"]),
        ("{ type: number, multipleOf: 0.01 }", &["0.07", "19.99", "3"], &["0.075"]),
        ("{ type: number, multipleOf: 0.05 }", &["0.15", "1"], &["0.07"]),
        ("{ type: integer, multipleOf: 5 }", &["10", "0"], &["7"]),
        ("{ type: string, minLength: 2, maxLength: 3 }", &["\"äö\"", "\"abc\""], &["\"ä\"", "\"abcd\""]),
        ("{ type: string, pattern: '^ord_\\d+$' }", &["\"ord_1\""], &["\"ord_\"", "\"xord_1\""]),
        ("{ type: string, format: email }", &["\"a@b.example\""], &["\"a@b\"", "\"a b@c.d\""]),
        ("{ type: string, format: uri }", &["\"https://x.example/\""], &["\"x.example\""]),
        (
            "{ type: string, format: uuid }",
            &["\"123e4567-e89b-42d3-a456-426614174000\""],
            &["\"123e4567-e89b-12d3-a456-426614174000\"", "\"x\""],
        ),
        ("{ type: string, format: date }", &["\"2026-02-28\""], &["\"2026-13-01\"", "\"28.2.2026\""]),
        ("{ type: string, format: datetime }", &["\"2026-02-28T10:00:00Z\""], &["\"2026-02-28\""]),
        ("{ type: string, format: time }", &["\"10:00:00\""], &["\"25:00:00\""]),
        ("{ type: string, format: ipv4 }", &["\"10.0.0.255\""], &["\"10.0.0.256\"", "\"1.2.3\"", "\"1.2.3.4.\""]),
        ("{ type: string, format: ipv6 }", &["\"::1\"", "\"fe80::1:2\""], &["\"1::2::3\"", "\"10.0.0.1\""]),
        ("{ type: string, format: hostname }", &["\"a-b.example\""], &["\"-a.example\"", "\"a_b\""]),
        ("{ type: array, minItems: 1, maxItems: 2 }", &["[1]", "[1, 2]"], &["[]", "[1, 2, 3]"]),
        ("{ type: array, uniqueItems: true }", &["[1, 2]"], &["[1, 1.0]"]),
        ("{ type: array, items: { type: number, max: 3 } }", &["[3]", "[]"], &["[4]", "[\"3\"]"]),
        (
            "{ type: object, properties: { zip: { type: string, pattern: '^[0-9]{5}$', required: true } } }",
            &["{\"zip\": \"12345\"}", "{\"zip\": \"12345\", \"x\": 1}"],
            &["{}", "{\"zip\": \"1\"}"],
        ),
        (
            "{ type: object, properties: { a: { type: string } }, additionalProperties: false }",
            &["{\"a\": \"\"}"],
            &["{\"b\": 1}"],
        ),
        ("{ type: object, required: [a] }", &["{\"a\": null}"], &["{}"]),
        ("{ required: true }", &["null", "1"], &[]),
    ];
    for (constraint, good, bad) in cases {
        let text = format!(
            "version: \"1\"\nsuite: s\ntests:\n  - id: t\n    metric: args_valid\n    {spec}      x: {constraint}\n"
        );
        let suite = Given { name: SUITE, text: &text, ..Given::default() };
        for (values, verdict) in [(good, Verdict::Pass), (bad, Verdict::Fail)] {
            for value in *values {
                let run = format!("{{\"calls\": [{{\"tool\": \"t\", \"args\": {{\"x\": {value}}}}}]}}");
                let judged = suite.judge(&run).unwrap_or_else(|said| panic!("{constraint}: {said}"));
                assert_eq!(judged.rules[0].1, verdict, "{constraint} of {value}: {}", suite.imported().unwrap());
            }
        }
        let without = suite.judge(r#"{"calls": [{"tool": "t", "args": {}}]}"#).unwrap();
        let wanted = if constraint.starts_with("{ required: true") { Verdict::Fail } else { Verdict::Vacuous };
        assert_eq!(without.rules[0].1, wanted, "{constraint} without the argument");
    }
}

#[test]
fn what_other_arguments_say_references_and_violations_that_only_warn() {
    let policy = "tools:\n  pay:\n    arguments:\n      method: { enum: [card, cash] }\n      number: { $ref: \"common.yaml#/definitions/number\", required_if: { method: card } }\n      note: { type: string, maxLength: 3, on_violation: warn }\n";
    let common = "definitions:\n  number:\n    type: string\n    minLength: 4\n";
    let beside = [("policies/pay.yaml", policy), ("policies/common.yaml", common)];
    let text = "version: \"1\"\nsuite: s\ntests:\n  - { id: t, metric: args_valid, policy: policies/pay.yaml }\n";
    let suite = Given { name: SUITE, text, beside: &beside, ..Given::default() };
    suite.imports_cleanly();
    let run = |args: &str| format!("{{\"calls\": [{{\"tool\": \"pay\", \"args\": {args}}}]}}");
    assert_eq!(violations(&suite, &run(r#"{"method": "card"}"#)), ["policies/pay.yaml:5: t: call 1, line 1"]);
    assert_eq!(violations(&suite, &run(r#"{"number": "123"}"#)), ["policies/common.yaml:4: t: call 1, line 1"]);
    assert!(violations(&suite, &run(r#"{"method": "cash"}"#)).is_empty());
    assert!(suite.judge(&run(r#"{"note": "long"}"#)).unwrap().passed);
}

#[test]
fn a_rule_may_ask_for_a_context() {
    let suite = given(
        "version: \"1\"\nsuite: s\ntests:\n  - id: t\n    metric: sequence_valid\n    rules:\n      - { type: require, tool: verify, when: { context.user_role: standard } }\n",
    );
    suite.imports_cleanly();
    let run = |role: &str| format!("{{\"calls\": [{{\"tool\": \"a\"}}], \"meta\": {{\"user_role\": \"{role}\"}}}}");
    assert!(!suite.judge(&run("standard")).unwrap().passed);
    assert!(suite.judge(&run("admin")).unwrap().passed);
}

#[test]
fn an_expression_of_a_schema_may_look_around_and_refer_back() {
    let text = "version: \"2.0\"\nname: payments\nschemas:\n  pay:\n    type: object\n    properties:\n      iban: { type: string, pattern: '^(?!XX)[A-Z]{2}[0-9]+$' }\n      to: { type: object, properties: { code: { pattern: '^(a|b)\\1$' } } }\n";
    let policy = Given { name: "policy.yaml", text, ..Given::default() };
    policy.imports_cleanly();
    for (args, wanted) in [
        (r#"{"iban": "DE12"}"#, Verdict::Pass),
        (r#"{"iban": "XX12"}"#, Verdict::Fail),
        (r#"{"iban": 12}"#, Verdict::Fail),
        (r#"{"to": {"code": "aa"}}"#, Verdict::Pass),
        (r#"{"to": {"code": "ab"}}"#, Verdict::Fail),
        ("{}", Verdict::Pass),
    ] {
        let run = format!("{{\"calls\": [{{\"tool\": \"pay\", \"args\": {args}}}]}}");
        assert_eq!(policy.judge(&run).unwrap().results[0].1, wanted, "{args}");
    }
}
