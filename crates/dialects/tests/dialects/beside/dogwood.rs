//! Dogwood: imported policies and exported rules, on generated traces of requests and responses.

use super::{BesideInput, compare_cases};
use crate::choices::Choices;
use crate::dogwood::corpus::{CallDecision, decisions, with_opposites};
use crate::dogwood::exported::exported;
use crate::dogwood::trace_log::read_trace;
use crate::judged::Given;
use averment::{Rules, Verdict};
use serde_json::{Value as Json, json};

const SCHEMA: &str = r#"namespace Shop {
    entity User;
    entity Store;
    type Input = { k: Long, n: Long };
    type Output = { ok: Bool };
    action "a" appliesTo { principal: [User], resource: [Store], context: { input: Input, output?: Output } };
    action "b" appliesTo { principal: [User], resource: [Store], context: { input: Input, output?: Output } };
    action "c" appliesTo { principal: [User], resource: [Store], context: { input: Input, output?: Output } };
}"#;

/// Rules to export. The flag is true if, according to the documentation page, the exported policy differs for calls that overlap or fail; traces with
/// such calls are then not compared.
const RULES: &[(&str, bool)] = &[
    ("before a ok -> b", false),
    ("before a(k: $k) ok -> b(k: $k)", false),
    ("before a(k: $k) -> b(k: $k, n > 2)", true),
    ("before (a | c(k: 1)) -> b", true),
    ("before a(result.ok: true) ok -> b, c", false),
    ("starts before a -> b within 5s", false),
    ("starts before (a(k: 1) | c) -> b", false),
    ("immediately before a -> b", true),
    ("never b(n > 3)", false),
    ("never b(k: 1), c(n in [1, 2])", false),
    ("never b after a(k: 1)", false),
    ("never b(k: $k) after a(k: $k) within 6s", false),
    ("never b after a until c", true),
    ("never b(k: $k) after a(k: $k) until c(k: $k)", true),
    ("count b <= 2", false),
    ("count b(k: $k) <= 1", false),
    ("count b <= 1 within 8s", false),
    ("count b(k: $k, n: 2) < 2 within 9s", false),
    ("sum(args.n of b) <= 6", false),
    ("sum(args.n of b(k: $k)) <= 5", false),
    ("sum(args.n of b) <= 5 within 9s", false),
    ("each b: args.n <= 3 or args.k == 0", false),
    ("no b: args.n > args.k", false),
    ("only a, b", false),
];

const CONDITIONS: &[&str] = &[
    r#"formerly within 4s Shop::Action::"a"::response{ input.k: context.input.k }"#,
    r#"formerly within 1h Shop::Action::"a"::error{}"#,
    r#"previous within 3s Shop::Action::"c"::response{ output.ok: true }"#,
    r#"!Shop::Action::"c"::response{ input.k: context.input.k } since within 1h Shop::Action::"a"::request{ input.k: context.input.k }"#,
    r#"!Shop::Action::"c"::request{} since within 6s Shop::Action::"a"::response{ output.ok: true }"#,
    r#"exists (x: Long). (formerly within 1h Shop::Action::"a"::request{ input.n: x } && x > context.input.n)"#,
    r#"exists (t: Long). (count_within(8s, Shop::Action::"b"::request{}) == t && t > 1)"#,
    r#"(count for (t: Timepoint). where (formerly within 7s (Shop::Action::"b"::request{ input.k: context.input.k } && tp(t)))) > 1"#,
    r#"(sum x for (x: Long), (t: Timepoint). where (formerly within 9s (Shop::Action::"b"::request{ input.n: x } && tp(t)))) > 5"#,
    r#"formerly within 5s (Shop::Action::"b"::request{} && formerly within 3s Shop::Action::"a"::response{})"#,
];

fn log(at: &mut Choices, in_turn: bool) -> String {
    let scope = r#"scope(principal: Shop::User::"u", resource: Shop::Store::"s")"#;
    let caller = r#"callerPrincipal: Shop::User::"u", callerResource: Shop::Store::"s""#;
    let (mut lines, mut open, mut time) = (Vec::new(), Vec::new(), 0);
    for call in 0..2 + at.below(8) {
        time += 1 + at.below(3);
        let tool = at.one_of(&["a", "b", "b", "c"]);
        let input = format!("input: {{ k: {}, n: {} }}", at.below(3), 1 + at.below(4));
        lines.push(format!(
            "@{time} {scope} request_context({input}) Shop::Action::\"{tool}\"::request({input}, {caller}, requestId: \"u{call}\")"
        ));
        open.push((tool, input, call));
        while !open.is_empty() && (in_turn || at.one_in(2)) {
            time += 1;
            let (tool, input, call) = open.remove(at.below(open.len()));
            let answer = match in_turn || !at.one_in(4) {
                true => format!("response({input}, output: {{ ok: {} }}, ", at.one_in(2)),
                false => format!("error({input}, "),
            };
            lines.push(format!("@{time} {scope} Shop::Action::\"{tool}\"::{answer}{caller}, requestId: \"u{call}\")"));
        }
    }
    lines.join("\n")
}

/// Returns the first call that breaks a rule.
fn first_broken(rule: &str, run: &Json) -> Option<usize> {
    let rules = Rules::builder().text("rules.assert", rule).build().unwrap();
    let mut calls = run["calls"].as_array().unwrap().clone();
    // A call without a response was executed, but its end is unknown.
    for call in calls.iter_mut().filter(|call| call["status"] == "pending") {
        call.as_object_mut().unwrap().remove("status");
        call["end"] = json!(1_800_000_000_000_u64);
    }
    (0..calls.len()).find(|last| {
        let begun = json!({"calls": calls[..=*last], "complete": true});
        let outcome = rules.check_one(begun.to_string()).unwrap();
        outcome.results().any(|one| one.verdict() == Verdict::Fail)
    })
}

fn written(at: &mut Choices) -> BesideInput {
    let (rule, in_turn) = at.one_of(RULES);
    let log = log(at, in_turn);
    let policy = format!("permit (principal, action, resource);\n{}", exported(rule));
    let found = json!(first_broken(rule, &read_trace(&log).run));
    BesideInput { asked: json!({"schema": SCHEMA, "policy": policy, "log": log, "first": true}), found }
}

fn read(at: &mut Choices) -> BesideInput {
    let log = log(at, false);
    let condition = at.one_of(CONDITIONS);
    let (verb, word) = (at.one_of(&["permit", "forbid"]), at.one_of(&["when", "unless"]));
    let others = if verb == "permit" { "action == Shop::Action::\"a\"" } else { "action" };
    let policy = format!(
        "permit (principal, {others}, resource);\n{verb} (principal, action == Shop::Action::\"b\", resource) {word} temporal {{ {condition} }};"
    );
    let given =
        Given { name: "policy.dw", text: &policy, beside: &[("schema.cedarschema", SCHEMA)], ..Given::default() };
    let text = with_opposites(&given.import_rules(false).unwrap());
    let rules = Rules::builder().text("policy.assert", text.as_str()).build().unwrap();
    let found: Vec<Option<bool>> = decisions(&rules, &read_trace(&log).run)
        .into_iter()
        .map(|decision| match decision {
            CallDecision::Allowed => Some(true),
            CallDecision::Denied => Some(false),
            CallDecision::Undecided => None,
        })
        .collect();
    BesideInput { asked: json!({"schema": SCHEMA, "policy": policy, "log": log, "first": false}), found: json!(found) }
}

fn generate(at: &mut Choices) -> BesideInput {
    if at.one_in(2) { written(at) } else { read(at) }
}

#[test]
fn beside_dogwood() {
    compare_cases("DOGWOOD", 12, generate, |_| false, |_, _| None);
}
