//! Hostile rules and runs end.

use crate::run::{rules, run, verdict, verdicts};
use averment::limits::Limits;
use averment::truth::Verdict;
use averment::vm::evaluate::EvaluateOptions;
use serde_json::json;
use std::fmt::Write;

#[test]
fn a_flow_beyond_all_bounds_is_an_error() {
    let rules = rules("flow (((a){1000}){1000}){1000}\nrequire a");
    assert_eq!(verdicts(&rules, &run("a")), [Verdict::Error, Verdict::Pass]);
}

#[test]
fn a_rule_that_takes_too_long_ends_alone() {
    let mut text = String::new();
    for number in 0..400 {
        let _ = write!(text, "a{{\"n\":{number}}} b{{\"n\":{number}}} ");
    }
    let rules = rules("sequence a(n: $x) -> b(n: $y) -> c(n > $x, m > $y)\nrequire a");
    let options =
        EvaluateOptions { limits: Limits { fuel: 50_000, ..Limits::default() }, ..EvaluateOptions::default() };
    let outcome = rules.check_json_with(&run(&text).to_string(), &options).unwrap();
    let said: Vec<Verdict> = outcome.results.iter().map(|result| result.verdict).collect();
    assert_eq!(said, [Verdict::Error, Verdict::Pass]);
    assert!(outcome.results[0].reason.contains("limit"), "{}", outcome.results[0].reason);
}

#[test]
fn a_bound_rule_takes_no_pairs() {
    // 20,000 distinct values on both sides: pairs would be 400 million.
    let mut text = String::new();
    for number in 0..20_000 {
        let _ = write!(text, "approve{{\"id\":\"o-{number}\"}} refund{{\"id\":\"o-{number}\"}} ");
    }
    let run = run(&text);
    for rule in [
        "before approve(id: $x) -> refund(id: $x)",
        "after each approve(id: $x) -> refund(id: $x)",
        "never approve(id: $x) after refund(id: $x)",
        "if refund(id: $x) then approve(id: $x)",
        "count refund(id: $x) <= 1",
        "after approve(id: $x) until refund(id: $x) { never approve(id: $x) }",
        "after approve(id: $x) { require refund(id: $x) }",
    ] {
        assert_eq!(verdict(rule, &run), Verdict::Pass, "{rule}");
    }
}

#[test]
fn tests_on_values_of_other_patterns_are_looked_up() {
    // 4,000 lists and 4,000 values: pairs would be 16 million tests, beyond the fuel given here.
    let calls = |result: fn(usize) -> serde_json::Value| {
        let mut calls = Vec::new();
        for number in 0..4_000 {
            calls
                .push(json!({"tool": "list", "args": {"ids": [number, -1]}, "result": result(number), "status": "ok"}));
        }
        for number in 0..4_000 {
            let args = json!({"id": format!("order-{number:05}."), "n": number});
            calls.push(json!({"tool": "delete", "args": args, "result": null, "status": "ok"}));
        }
        json!({"calls": calls})
    };
    let text = calls(|number| json!(format!("found order-{number:05}. and nothing else")));
    let list = calls(|number| json!(["x", format!("order-{number:05}.")]));
    let object = calls(|number| json!({format!("order-{number:05}."): true}));
    let options =
        EvaluateOptions { limits: Limits { fuel: 3_000_000, ..Limits::default() }, ..EvaluateOptions::default() };
    for (rule, run) in [
        ("before list(result contains $id) -> delete(id: $id)", &text),
        ("before list(result contains $id) -> delete(id: $id)", &list),
        ("before list(result contains $id) -> delete(id: $id)", &object),
        ("before list(ids: $ids) -> delete(n in $ids)", &list),
        ("if delete(id: $id) then list(result contains $id)", &text),
        ("not after delete(id: $id) -> list(result contains $id)", &list),
        ("never list(result contains $id) after delete(id: $id)", &text),
    ] {
        let outcome = rules(rule).check_json_with(&run.to_string(), &options).unwrap();
        let result = &outcome.results[0];
        assert_eq!(result.verdict, Verdict::Pass, "{rule}: {}", result.reason);
    }
}
