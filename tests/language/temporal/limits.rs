//! Hostile rules and runs end.

use crate::temporal::run::{rules, run, verdict, verdicts};
use averment_base::limits::Limits;
use averment_base::truth::Verdict;
use averment_engine::vm::evaluate::EvaluateOptions;
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

/// What a rule says of a run with this much fuel.
fn with_fuel(rule: &str, run: &serde_json::Value, fuel: u64) -> (Verdict, String) {
    let options = EvaluateOptions { limits: Limits { fuel, ..Limits::default() }, ..EvaluateOptions::default() };
    let outcome = rules(rule).check_json_with(&run.to_string(), &options).unwrap();
    (outcome.results[0].verdict, outcome.results[0].reason.clone())
}

#[test]
fn windows_that_have_closed_are_not_looked_at_again() {
    // 3,000 windows, each closed before the next B: a look at all of them for every B would be 9 million.
    let text: Vec<String> = (0..3_000).map(|n| format!("a{{\"id\":{n}}} c b{{\"id\":{n}}} d")).collect();
    let run = run(&text.join(" "));
    for rule in ["never d between a(id: $x) and b(id: $x)", "never d after a(id: $x) until b(id: $x)"] {
        assert_eq!(with_fuel(rule, &run, 600_000), (Verdict::Pass, String::new()), "{rule}");
    }
    // A window opens again at the next A of its values.
    let again = run_again();
    for rule in ["never d between a(id: $x) and b(id: $x)", "never d after a(id: $x) until b(id: $x)"] {
        assert_eq!(verdict(rule, &again), Verdict::Fail, "{rule}");
    }
}

#[test]
fn lists_of_steps_go_on_from_the_step_before() {
    let calls = |count: u32| -> serde_json::Value {
        let call = |n: u32| {
            // Three calls of a turn run beside each other.
            let turn = n / 3;
            json!({ "tool": "a", "args": { "n": n % 7, "id": n / 2 }, "turn": turn, "start": turn * 10, "end": turn * 10 + 5 })
        };
        json!({ "calls": (0..count).map(call).collect::<Vec<_>>() })
    };
    let (few, many) = (calls(2_000), calls(20_000));
    for rule in [
        "each a: sum(args.n of a so far) >= 0",
        "each a: count a so far >= 0",
        "each a: (count (a where args.n > 3) so far) >= 0",
        "each any: length(tool of any so far) >= 0",
        "each a(turn > 0): max(args.n of a so far) <= 9 and (min(args.n of a so far) <= 9 or args.n >= 0)",
        "each a(id: $x): count a(id: $x) so far <= 1",
        "each a(id: $x): sum(args.n of a(id: $x)) <= 12",
        "each a: args.n <= sum(args.n of a)",
        "each a: count a so far >= 0 implies args.n >= 0",
        "count a(id: $x) <= 2 * count a(id: $x)",
        "count a <= 20000 within 1000s",
        "sum(args.n of a) <= 100000 within 10000 calls",
        "length(it of a(id: $x)) <= 2 within 50s",
        "count a <= 20000 in a row",
        "sum(args.n of a(id: $x)) <= 12 in a row",
    ] {
        for (run, length) in [(&few, 2_000), (&many, 20_000)] {
            let (verdict, reason) = with_fuel(rule, run, length * 150);
            assert_ne!(verdict, Verdict::Error, "{rule} over {length} calls: {reason}");
        }
    }
}

/// Many closed windows, then one of them once more with a `d` inside.
fn run_again() -> serde_json::Value {
    let text: Vec<String> = (0..20).map(|n| format!("a{{\"id\":{n}}} b{{\"id\":{n}}} d")).collect();
    run(&format!("{} a{{\"id\":3}} d b{{\"id\":3}}", text.join(" ")))
}

#[test]
fn what_cannot_be_cheap_ends_with_an_error() {
    let text: Vec<String> =
        (0..900).map(|n| format!("a{{\"id\":{n}}} b{{\"n\":{n}}} c{{\"id\":-1,\"n\":-1}}")).collect();
    let run = run(&text.join(" "));
    for rule in [
        "each any { each any { require a } }",
        "each any { each any { each any { require a } } }",
        "sequence a(id: $x) -> b(n: $y) -> c(id: $x, n: $y)",
        "sequence a(id: $x) -> b(n: $y) -> c(id != $x, n != $y) -> d(n: $x)",
        "flow (a(id > $x) | a | b | c | a(id < $x))* -> d(n: $x)",
    ] {
        let (verdict, reason) = with_fuel(rule, &run, 1_000_000);
        assert_eq!(verdict, Verdict::Error, "{rule}");
        assert!(reason.contains("limit"), "{reason}");
    }
}

#[test]
fn deep_and_wide_rules_end() {
    let nested = |open: &str, depth: usize| format!("{}require a{}", open.repeat(depth), " }".repeat(depth));
    let wide = (0..2_000).map(|n| format!("t{n}")).collect::<Vec<_>>();
    let groups = (0..600).map(|n| format!("any of {{ require t{n}; never a }}")).collect::<Vec<_>>().join("; ");
    for (rule, expected) in [
        (nested("after a { ", 30), Verdict::Pass),
        (nested("any of { ", 60), Verdict::Pass),
        (format!("flow ({})* -> a", wide.join(" | ")), Verdict::Fail),
        (format!("require ({})", wide.join(" | ")), Verdict::Fail),
        ("flow (a){2,1000000}".to_owned(), Verdict::Fail),
        ("flow ((a)* | (a)* | (a)* | (a | a)*)*".to_owned(), Verdict::Pass),
        (format!("any of {{ {groups} }}"), Verdict::Fail),
    ] {
        let run =
            run("a a{\"n\":1} a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a");
        let found = verdict(&rule, &run);
        assert!(found == expected || found == Verdict::Error, "{}: {found:?}", &rule[..rule.len().min(80)]);
    }
}

#[test]
fn a_bound_rule_takes_no_pairs() {
    // 4,000 distinct values on both sides: pairs would be 16 million.
    let mut text = String::new();
    for number in 0..4_000 {
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
        assert_eq!(with_fuel(rule, &run, 2_000_000), (Verdict::Pass, String::new()), "{rule}");
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
