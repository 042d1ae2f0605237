//! `calls match`: expected calls in data, each by a call of its own.

use crate::temporal::run::{check, rules, run, verdict, verdicts};
use averment_base::truth::Verdict::{self, Fail, Pass, Undecided, Vacuous};
use serde_json::{Value, json};

const AB: &str = r#"[{ tool: "a", args: { id: 1 } }, { tool: "b" }]"#;

fn judge(rule: &str, text: &str, expected: &Value) -> Verdict {
    let mut run = run(text);
    run["inputs"] = json!({ "expected": expected });
    verdict(rule, &run)
}

/// The score of the only assertion on a run, where it has one.
fn score(rule: &str, text: &str) -> Option<f64> {
    let outcome = rules(rule).check_json(&run(text).to_string()).unwrap();
    outcome.results.first().unwrap().score
}

#[test]
fn calls_are_the_expected_ones_in_order_or_in_any() {
    check(&[
        (
            &format!("calls match {AB}"),
            &[
                (r#"a{"id":1} b{"x":2}"#, Pass),
                (r#"b a{"id":1}"#, Fail),
                (r#"a{"id":1}"#, Fail),
                (r#"a{"id":1} b c"#, Fail),
                (r#"a{"id":1,"x":2} b"#, Fail),
                (r#"a b"#, Fail),
                (r#"a~ b"#, Undecided),
                (r#"a~ c"#, Fail),
                (r#"a{"id":1} b c-"#, Pass),
            ],
        ),
        (&format!("calls match {AB} in any order"), &[(r#"b a{"id":1}"#, Pass), (r#"b a{"id":1} b"#, Fail)]),
        (&format!("calls match superset of {AB}"), &[(r#"b c a{"id":1}"#, Pass), ("b c", Fail)]),
        (
            &format!("calls match superset of {AB} in order"),
            &[(r#"b c a{"id":1}"#, Fail), (r#"c a{"id":1} c b"#, Pass)],
        ),
        (&format!("calls match subset of {AB}"), &[("b", Pass), ("b b", Fail), ("", Vacuous), ("c", Fail)]),
        (r#"calls match ["a", "a"]"#, &[("a a", Pass), ("a", Fail), ("a a a", Fail)]),
        ("calls match []", &[("", Vacuous), ("a", Fail)]),
        ("calls match superset of []", &[("", Vacuous), ("a", Vacuous)]),
    ]);
}

#[test]
fn a_call_stands_for_one_expected_call_even_where_it_fits_several() {
    let rule = r#"calls match [{ tool: "a", args: { x: 1 } }, { tool: "a" }] in any order"#;
    check(&[(rule, &[(r#"a{"x":2} a{"x":1}"#, Pass), (r#"a{"x":1} a{"x":2}"#, Pass), (r#"a{"x":2} a{"x":2}"#, Fail)])]);
}

#[test]
fn with_repeats_ignored_a_call_stands_for_several_expected_ones() {
    check(&[
        (r#"calls match superset of ["a", "a"] repeats ignored"#, &[("a", Pass), ("a b", Pass), ("b", Fail)]),
        (r#"calls match subset of ["a"] repeats ignored"#, &[("a a", Pass), ("a b", Fail), ("", Vacuous)]),
        (
            r#"calls match ["a", "b"] repeats ignored"#,
            &[("b a a b", Pass), ("a a", Fail), ("a b c", Fail), ("a b ...", Undecided), ("a c ...", Fail)],
        ),
        (r#"calls match ["a", "b"] repeats ignored score >= 0.8"#, &[("a b a c", Pass), ("c ...", Undecided)]),
        (r#"calls match [{ tool: "a", args: { x: 1 } }, "a"] repeats ignored"#, &[(r#"a{"x":1}"#, Pass)]),
    ]);
    assert_eq!(score(r#"calls match ["a", "b"] repeats ignored"#, "a a c"), Some(0.6));
    assert_eq!(score(r#"calls match subset of ["a"] repeats ignored"#, "a a a c"), Some(0.75));
    let message = |rule: &str| averment::Rules::builder().text("r.assert", rule).build().unwrap_err().to_string();
    assert!(
        message(r#"calls match ["a"] in order repeats ignored"#).contains("stands behind another clause of its kind")
    );
    assert!(message(r#"calls match ["a"] arguments ignored folded"#).contains("`folded` has no meaning here"));
}

#[test]
fn expected_arguments_may_be_absent_and_texts_written_otherwise() {
    let optional = r#"calls match [{ tool: "a", args: { id: 1, u: { n: "Al", age: 3 } } }] arguments optional"#;
    let folded = r#"calls match [{ tool: "a", args: { city: "New  York", tags: ["X"] } }] folded"#;
    let accepted = r#"calls match [{ a: { city: ["New York", "Paris"] } }] arguments accepted folded"#;
    let tool = "tool a { type: \"object\", properties: { n: { type: \"integer\", default: 10 } } }\n";
    let defaults = format!("{tool}calls match [{{ tool: \"a\", args: {{ n: 1 }} }}] arguments optional");
    let unproved = r#"not calls match [{ tool: "a", args: { u: { n: 1 } } }] arguments optional"#;
    check(&[
        (
            optional,
            &[
                (r#"a{"u":{"n":"Al"}}"#, Pass),
                ("a", Pass),
                ("a~", Undecided),
                (r#"a{"id":1,"x":1}"#, Fail),
                (r#"a{"id":2}"#, Fail),
                (r#"a{"u":{"n":"Al","more":1}}"#, Fail),
            ],
        ),
        (folded, &[(r#"a{"city":"new york","tags":["x"]}"#, Pass), (r#"a{"city":"newyork","tags":["x"]}"#, Fail)]),
        (accepted, &[(r#"a{"city":"NEW YORK"}"#, Pass), (r#"a{"city":"Rome"}"#, Fail)]),
        (&defaults, &[("a", Pass), (r#"a{"n":2}"#, Fail)]),
        (unproved, &[(r#"a{"u":{"n":2}}"#, Pass), (r#"a{"u":{"n":"1"}}"#, Vacuous), (r#"a{"u":{}}"#, Fail)]),
    ]);
}

#[test]
fn what_does_not_matter_is_left_aside() {
    let named = r#"calls match [{ tool: "a", args: { u: { n: "Al" } } }] arguments named"#;
    let ignoring = r#"calls match [{ tool: "a", args: { id: 1, u: { id: 2, n: "Al" } } }] ignoring [id]"#;
    let path = r#"calls match [{ tool: "a", args: { id: 1, u: { id: 2 } } }] ignoring ["u.id"]"#;
    let per_key = r#"calls match [{ name: "a", arguments: { id: 1, t: 2 }, compare_args: ["id"] }]"#;
    check(&[
        (named, &[(r#"a{"u":{"n":"Al","age":3},"x":1}"#, Pass), (r#"a{"u":{"n":"Bo"}}"#, Fail), ("a", Fail)]),
        (ignoring, &[(r#"a{"u":{"n":"Al","id":9}}"#, Pass), (r#"a{"id":1,"u":{"n":"Bo","id":2}}"#, Fail)]),
        (path, &[(r#"a{"id":1,"u":{"id":7}}"#, Pass), (r#"a{"id":7,"u":{"id":2}}"#, Fail)]),
        (per_key, &[(r#"a{"id":1,"t":9}"#, Pass), (r#"a{"id":2,"t":2}"#, Fail)]),
        (r#"calls match [{ tool: "a", args: { x: 1 } }] arguments ignored"#, &[(r#"a{"x":2}"#, Pass), ("b", Fail)]),
    ]);
}

#[test]
fn lists_of_accepted_values_and_defaults_of_schemas() {
    let accepted = r#"calls match [{ weather: { city: ["Berlin", "Bonn"], unit: ["", "c"] } }] arguments accepted"#;
    let tool = "tool a { type: \"object\", properties: { n: { type: \"integer\", default: 10 } } }\n";
    let defaults = format!("{tool}calls match [{{ tool: \"a\", args: {{ q: 1 }} }}]");
    check(&[
        (
            accepted,
            &[
                (r#"weather{"city":"Bonn"}"#, Pass),
                (r#"weather{"city":"Berlin","unit":"c"}"#, Pass),
                (r#"weather{"city":"Berlin","unit":"f"}"#, Fail),
                (r#"weather{"unit":"c"}"#, Fail),
                (r#"weather{"city":"Bonn","x":1}"#, Fail),
            ],
        ),
        (&defaults, &[(r#"a{"q":1,"n":10}"#, Pass), (r#"a{"q":1}"#, Pass), (r#"a{"q":1,"n":11}"#, Fail)]),
    ]);
}

#[test]
fn one_of_several_routes_is_enough() {
    let rule = r#"calls match [["a", "b"], ["c"]]"#;
    check(&[(rule, &[("a b", Pass), ("c", Pass), ("a", Fail), ("b", Fail)])]);
    let inputs = json!({ "alternatives": [["a"], ["b", "c"]] });
    assert_eq!(judge("calls match inputs.expected", "b c", &inputs), Pass);
    let outcome = rules(rule).check_json(&run("a x").to_string()).unwrap();
    let reason = &outcome.results[0].reason;
    assert!(
        reason.starts_with("route 1 of 2 came nearest, 1 of 2 expected calls matched: `b` was not made"),
        "{reason}"
    );
}

#[test]
fn the_share_that_matches_is_the_score() {
    let rule = |clause: &str| format!(r#"calls match ["a", "b", "c", "d", "e"] {clause}"#);
    assert_eq!(score(&rule("in any order"), "a b c d"), Some(0.8));
    assert_eq!(score(&rule("in order"), "b a c d e"), Some(0.8));
    assert_eq!(score(r#"calls match ["a"]"#, "a x"), Some(0.5));
    assert_eq!(score(r#"calls match superset of ["a", "b"]"#, "a x y"), Some(0.5));
    assert_eq!(score(r#"calls match subset of ["a", "b"]"#, "a x y z"), Some(0.25));
    check(&[
        (&rule("score >= 0.8"), &[("a b c d", Pass), ("a b c", Fail), ("a b x d e", Pass)]),
        (&rule("in any order score >= 80%"), &[("e d c b", Pass), ("e d c", Fail)]),
    ]);
}

#[test]
fn calls_of_data_sets_and_conversations_are_read() {
    let openai = json!([
        { "role": "user", "content": "hi" },
        { "role": "assistant", "tool_calls": [{ "function": { "name": "a", "arguments": "{\"id\": 1}" } }] },
    ]);
    assert_eq!(judge("calls match inputs.expected", r#"a{"id":1}"#, &openai), Pass);
    assert_eq!(judge("calls match inputs.expected", r#"a{"id":2}"#, &openai), Fail);
    // Who speaks, and what a tool answered, is no call; one that stands in the older form or among the parts of a message is.
    let messages = [
        json!({ "role": "assistant", "function_call": { "name": "a", "arguments": "{\"id\": 1}" } }),
        json!({ "role": "assistant", "content": [{ "type": "text" }, { "type": "tool_use", "name": "a", "input": { "id": 1 } }] }),
        json!({ "type": "ai", "content": "", "tool_calls": [{ "name": "a", "args": { "id": 1 } }] }),
    ];
    for message in messages {
        let user = json!({ "role": "user", "name": "bob", "content": "hi" });
        let conversation = json!([user, message, { "role": "tool", "name": "a", "content": "done" }, { "type": "human", "content": "" }]);
        assert_eq!(judge("calls match inputs.expected", r#"a{"id":1}"#, &conversation), Pass, "{conversation}");
        assert_eq!(
            judge("calls match superset of inputs.expected", r#"a{"id":2}"#, &conversation),
            Fail,
            "{conversation}"
        );
    }
    for key in ["args", "arguments", "input", "input_parameters", "tool_input"] {
        let expected = json!([{ "name": "a", (key): { "id": 1 } }]);
        assert_eq!(judge("calls match inputs.expected", r#"a{"id":2}"#, &expected), Fail, "{key}");
    }
    // What is no call is evidence of nothing.
    for other in [json!([1]), json!("a"), json!([{ "id": 1 }]), json!(null), json!([[1]]), json!({ "alternatives": 1 })]
    {
        assert_eq!(judge("calls match inputs.expected", "a", &other), Undecided, "{other}");
        assert_eq!(judge("not calls match inputs.expected", "a", &other), Undecided, "{other}");
    }
    assert_eq!(verdict("calls match meta.expected.calls", &run("a")), Undecided);
    assert_eq!(verdicts(&rules(r#"calls match ["a"]"#), &json!({ "output": "x" })), [Undecided]);
}

#[test]
fn arguments_that_differ_by_their_writing_are_no_other_calls() {
    for (expected, run) in [(r#"{ n: 250 }"#, r#"a{"n":"250"}"#), (r#"{ to: "Bob" }"#, r#"a{"to":"bob "}"#)] {
        let rule = format!("calls match [{{ tool: \"a\", args: {expected} }}]");
        assert_eq!(judge(&rule, run, &json!(null)), Fail, "{rule}");
        assert_eq!(judge(&format!("not {rule}"), run, &json!(null)), Vacuous, "{rule}");
    }
    assert_eq!(judge(r#"not calls match [{ tool: "a", args: { n: 2 } }]"#, r#"a{"n":3}"#, &json!(null)), Pass);
}

#[test]
fn an_unfinished_run_is_decided_where_nothing_can_change_it() {
    check(&[
        (
            r#"calls match ["a", "b"]"#,
            &[("a ...", Undecided), ("a b ...", Undecided), ("b ...", Fail), ("a c ...", Fail)],
        ),
        (r#"calls match ["a", "b"] in any order"#, &[("b ...", Undecided), ("c ...", Fail)]),
        (r#"calls match superset of ["a"]"#, &[("b a ...", Pass), ("b ...", Undecided)]),
        (r#"calls match subset of ["a"]"#, &[("a ...", Undecided), ("a a ...", Fail)]),
        (r#"calls match ["a", "b"] score >= 0.5"#, &[("x ...", Undecided), ("x y z ...", Fail)]),
    ]);
}

#[test]
fn a_failure_tells_what_is_missing_what_is_too_much_and_the_nearest() {
    let rule = r#"calls match [{ tool: "refund", args: { id: 7, amount: 40 } }, { tool: "notify" }]"#;
    let outcome = rules(rule).check_json(&run(r#"refund{"id":7,"amount":45} notfy"#).to_string()).unwrap();
    let result = &outcome.results[0];
    assert_eq!(
        result.reason,
        "0 of 2 expected calls matched: `refund(id: 7, amount: 40)` was not made; the nearest is refund at call 1: `amount` is 45, expected 40"
    );
    let reasons: Vec<&str> = result.violations.listed.iter().map(|one| one.reason.as_str()).collect();
    let others = [
        "`notify` was not made; did the run mean `notfy`?",
        "refund at call 1 is not expected",
        "notfy at call 2 is not expected",
    ];
    assert_eq!(reasons.get(1..), Some(&others[..]));
}

#[test]
fn two_hundred_expected_and_made_calls_are_matched() {
    let expected: Vec<Value> = (0..200).map(|id| json!({ "tool": "a", "args": { "id": id % 20, "n": id } })).collect();
    let calls: Vec<String> = (0..200).rev().map(|id| format!(r#"a{{"id":{},"n":{id}}}"#, id % 20)).collect();
    assert_eq!(judge("calls match inputs.expected in any order", &calls.join(" "), &json!(expected)), Pass);
    assert_eq!(judge("calls match inputs.expected score >= 0.1", &calls.join(" "), &json!(expected)), Fail);
}
