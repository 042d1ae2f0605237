//! Hostile rules and runs end.

use crate::run::{rules, run, verdict, verdicts};
use averment::limits::Limits;
use averment::truth::Verdict;
use averment::vm::evaluate::EvaluateOptions;
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
