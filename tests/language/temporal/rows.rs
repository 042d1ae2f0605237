//! Every row of the table of statements in `docs/reference/course.md`.

use crate::temporal::run::{check, rules, run, verdict, verdicts};
use averment_base::truth::Verdict::{self, Fail, Pass, Vacuous};
use serde_json::json;

#[test]
fn occurrence() {
    check(&[
        ("require a", &[("a", Pass), ("b", Fail), ("", Fail), ("a-", Fail)]),
        ("require a 2 times", &[("a a", Pass), ("a", Fail), ("a a a", Fail)]),
        ("require a 1..2 times", &[("a a", Pass), ("", Fail), ("a a a", Fail)]),
        ("require a ..1 times", &[("", Pass), ("a", Pass), ("a a", Fail)]),
        (
            "require a(id: $x) 1..2 times",
            &[
                (r#"a{"id":1} a{"id":1} a{"id":2}"#, Pass),
                (r#"a{"id":1} a{"id":1} a{"id":1.0}"#, Fail),
                (r#"a{"id":1} a{"id":1} a{"id":"1"}"#, Pass),
                ("", Fail),
                ("a", Fail),
            ],
        ),
        ("count a <= 1", &[("", Pass), ("a b", Pass), ("a a", Fail)]),
        ("count a in [0, 2]", &[("", Pass), ("a", Fail), ("a a", Pass)]),
        ("count a(id: $x) <= 1", &[(r#"a{"id":1} a{"id":2}"#, Pass), (r#"a{"id":1} a{"id":1}"#, Fail), ("", Pass)]),
        ("never a, b", &[("c", Pass), ("", Pass), ("c b", Fail), ("a", Fail)]),
        ("either a or b or c", &[("c", Pass), ("d", Fail), ("", Fail)]),
        ("only a, b*", &[("a bx a", Pass), ("a c", Fail), ("c", Fail), ("", Vacuous), ("c-", Vacuous)]),
        ("if a then b", &[("a b", Pass), ("b a", Pass), ("a", Fail), ("b", Vacuous)]),
        (
            "if a(id: $x) then b(id: $x)",
            &[
                (r#"a{"id":1} b{"id":2} b{"id":1}"#, Pass),
                (r#"a{"id":1} b{"id":2}"#, Fail),
                (r#"a{"id":1} a{"id":2} b{"id":2}"#, Fail),
            ],
        ),
        ("a iff b", &[("a b", Pass), ("a", Fail), ("b", Fail), ("c", Vacuous)]),
        ("not both a, b", &[("a", Pass), ("a b", Fail), ("b a", Fail), ("c", Vacuous)]),
        ("not both a(id: $x), b(id: $x)", &[(r#"a{"id":1} b{"id":2}"#, Pass), (r#"b{"id":2} a{"id":2}"#, Fail)]),
    ]);
}

#[test]
fn places_in_the_call_list() {
    check(&[
        ("first a", &[("a b", Pass), ("b a", Fail), ("", Fail), ("b- a", Pass)]),
        ("last a", &[("b a", Pass), ("a b", Fail), ("", Fail), ("a b-", Pass)]),
        ("first (a | proposed b)", &[("b- a c", Pass), ("b- c a", Fail)]),
        ("last (a | proposed b)", &[("c a b-", Pass), ("a c b-", Fail)]),
        ("immediately before a -> b", &[("a b", Pass), ("a c b", Fail), ("b", Fail), ("a", Vacuous), ("a c- b", Pass)]),
        ("immediately after a -> b", &[("a b", Pass), ("a c b", Fail), ("a", Fail), ("b", Vacuous), ("a a b", Fail)]),
        (
            "immediately before a(id: $x) -> b(id: $x)",
            &[(r#"a{"id":1} b{"id":1}"#, Pass), (r#"a{"id":2} b{"id":1}"#, Fail)],
        ),
        (
            "never repeat a more than 2 times",
            &[("a a b a a", Pass), ("a a a", Fail), ("b", Vacuous), ("a a a- a", Fail)],
        ),
        (
            "never repeat any more than 1 times",
            &[
                (r#"a{"n":1} a{"n":3} a{"n":1}"#, Pass),
                (r#"a{"n":1} a{"n":2}"#, Vacuous),
                (r#"a{"n":1,"m":2} a{"m":2,"n":1.0}"#, Fail),
            ],
        ),
        ("sequence exactly a", &[("a", Pass), ("a a", Fail), ("b", Fail), ("b a", Fail), ("a b-", Pass), ("", Fail)]),
        ("sequence only a", &[("a", Pass), ("x a y", Pass), ("a x a", Fail), ("b", Fail), ("", Fail)]),
        ("sequence exactly a -> b", &[("a b", Pass), ("a b c", Fail), ("a c b", Fail), ("a", Fail), ("", Fail)]),
        ("flow a -> (b | c)* -> d", &[("a d", Pass), ("a b c b d", Pass), ("a", Fail), ("a d b", Fail), ("", Fail)]),
        ("flow (a)*", &[("", Pass), ("a a", Pass), ("a b", Fail)]),
        (
            "flow (a(id: $x))+ -> b(id: $x)",
            &[(r#"a{"id":1} a{"id":1} b{"id":1}"#, Pass), (r#"a{"id":1} a{"id":2} b{"id":1}"#, Fail)],
        ),
    ]);
}

#[test]
fn order() {
    check(&[
        ("before a -> b", &[("a b b", Pass), ("b a", Fail), ("b a b", Fail), ("a", Vacuous), ("", Vacuous)]),
        ("b only after a", &[("a b", Pass), ("b a", Fail), ("a", Vacuous)]),
        ("before a -> b, c", &[("a b c", Pass), ("a b", Pass), ("c a b", Fail), ("a", Vacuous)]),
        (
            "before a(id: $x) -> b(id: $x)",
            &[(r#"a{"id":1} a{"id":2} b{"id":2} b{"id":1}"#, Pass), (r#"a{"id":1} b{"id":2}"#, Fail)],
        ),
        ("before each a -> b", &[("a b a b", Pass), ("a b b", Fail), ("a a b b", Fail), ("a", Vacuous)]),
        (
            "before each a(id: $x) -> b(id: $x)",
            &[
                (r#"a{"id":1} a{"id":2} b{"id":2} b{"id":1}"#, Pass),
                (r#"a{"id":1} b{"id":1} a{"id":2} b{"id":1}"#, Fail),
            ],
        ),
        (
            "before each login -> b(id: $x)",
            &[(r#"login b{"id":1} b{"id":2}"#, Pass), (r#"login b{"id":1} b{"id":1}"#, Fail)],
        ),
        ("after a -> b", &[("a b", Pass), ("a a b", Pass), ("a b a", Fail), ("b", Vacuous)]),
        ("after each a -> b", &[("a b a b", Pass), ("a a b", Fail), ("b", Vacuous)]),
        (
            "after each a(id: $x) -> b(id: $x)",
            &[(r#"a{"id":1} a{"id":2} b{"id":1} b{"id":2}"#, Pass), (r#"a{"id":1} a{"id":1} b{"id":1}"#, Fail)],
        ),
        ("after a -> b, c", &[("a b c", Pass), ("a b", Fail)]),
        ("sequence a -> b -> c", &[("a x b y c", Pass), ("c a b", Fail), ("", Fail), ("a b b c", Pass)]),
        ("sequence a -> a", &[("a", Fail), ("a a", Pass)]),
        (
            "sequence a(id: $x) -> b -> c(id: $x)",
            &[(r#"a{"id":1} a{"id":2} b c{"id":1}"#, Pass), (r#"a{"id":1} b a{"id":2} c{"id":2}"#, Fail)],
        ),
        ("starts before a -> b", &[("a+0=9 b+5=7", Pass), ("b+0=9 a+5=7", Fail), ("a", Vacuous)]),
        (
            "nested a(id: $x) -> b(id: $x)",
            &[
                (r#"a{"id":1} a{"id":2} b{"id":2} b{"id":1}"#, Pass),
                (r#"a{"id":1} a{"id":2} b{"id":1} b{"id":2}"#, Fail),
                (r#"a{"id":1}"#, Fail),
                ("c", Vacuous),
            ],
        ),
        ("sequence only a -> b", &[("x a y b", Pass), ("a b b", Fail), ("b a", Fail), ("a", Fail)]),
        ("never b after a", &[("b a", Pass), ("a x b", Fail), ("b", Vacuous)]),
        (
            "never b(id: $x) after a(id: $x)",
            &[(r#"a{"id":1} b{"id":2}"#, Pass), (r#"a{"id":1} a{"id":2} b{"id":1}"#, Fail)],
        ),
        ("never b after a until c", &[("a c b", Pass), ("a b c", Fail), ("a c a b", Fail), ("b", Vacuous)]),
        (
            "never b(id: $x) after a(id: $x) until c(id: $x)",
            &[(r#"a{"id":1} c{"id":1} b{"id":1}"#, Pass), (r#"a{"id":1} c{"id":2} b{"id":1}"#, Fail)],
        ),
        ("never b before a", &[("a b", Pass), ("b a", Fail), ("b", Vacuous)]),
        ("never b between a and c", &[("a c b", Pass), ("a b c", Fail), ("b", Vacuous), ("a", Vacuous)]),
    ]);
    assert_eq!(verdict("never b between a and c", &run("a b")), Verdict::Undecided);
}

#[test]
fn bounds() {
    check(&[
        ("before a -> b within 1 call", &[("a b", Pass), ("a x b", Fail), ("a x a b", Pass)]),
        ("after a -> b within 2 calls", &[("a x b", Pass), ("a x x b", Fail)]),
        ("sequence a -> b -> c within 1 call", &[("a b c", Pass), ("a b x c", Fail), ("a b x a b c", Pass)]),
        ("never b after a within 1 call", &[("a x b", Pass), ("a b", Fail)]),
        ("never b before a within 1 call", &[("b x a", Pass), ("b a", Fail)]),
        ("before a -> b within 1 turn", &[("a@1 b@2", Pass), ("a@1 b@3", Fail), ("a@1 a@2 b@3", Pass)]),
        ("after a -> b within 5s", &[("a+0 b+5000", Pass), ("a+0 b+5001", Fail)]),
        ("before each a -> b within 1 call", &[("a b a b", Pass), ("a x b", Fail)]),
    ]);
}

#[test]
fn together_and_apart() {
    check(&[
        (
            "together a, b",
            &[
                ("a@1 b@1", Pass),
                ("a@1+0=10 b@2+5=8", Pass),
                ("a@1+0=10 b@2+10=12", Fail),
                ("a@1+3=3 b@2+3=3", Pass),
                ("a@1", Fail),
            ],
        ),
        ("apart a, b", &[("a@1 b@1", Fail), ("a@1+0=10 b@2+20=30", Pass), ("a@1", Vacuous), ("", Vacuous)]),
        ("together a, a", &[("a@1", Fail), ("a@1 a@1", Pass)]),
        ("apart a(id: $x), b(id: $x)", &[(r#"a{"id":1}@1 b{"id":2}@1"#, Pass), (r#"a{"id":1}@1 b{"id":1}@1"#, Fail)]),
    ]);
}

#[test]
fn conditions_on_steps() {
    check(&[
        ("each a: args.n < 3", &[(r#"a{"n":1} a{"n":2}"#, Pass), (r#"a{"n":1} a{"n":3}"#, Fail), ("b", Vacuous)]),
        ("each a: args.n != 3", &[("a", Vacuous), (r#"a a{"n":1}"#, Pass), (r#"a a{"n":3}"#, Fail)]),
        ("some a: args.n < 3", &[(r#"a{"n":5} a{"n":2}"#, Pass), (r#"a{"n":5}"#, Fail), ("", Fail)]),
        ("no a: args.n >= 3", &[(r#"a{"n":1}"#, Pass), (r#"a{"n":3}"#, Fail), ("b", Vacuous)]),
        ("no a: args.force != true", &[(r#"a{"force":true}"#, Pass), ("a", Fail)]),
        ("require a failed", &[("a!", Pass), ("a", Fail)]),
        ("require proposed a", &[("a-", Pass), ("a", Fail)]),
        ("only proposed a", &[("b a-", Pass), ("a- b-", Fail), ("a", Vacuous)]),
        ("never (a | b) where args.n > 3", &[(r#"a{"n":5}"#, Fail), (r#"b{"n":1}"#, Pass), ("a", Vacuous)]),
    ]);
}

#[test]
fn tests_on_values_of_other_patterns() {
    check(&[
        (
            "before list(ids: $ids) -> delete(id in $ids)",
            &[
                (r#"list{"ids":[1,2]} delete{"id":2}"#, Pass),
                (r#"list{"ids":[1,2]} delete{"id":3}"#, Fail),
                (r#"list{"ids":[1,2]} list{"ids":[3]} delete{"id":3} delete{"id":1}"#, Pass),
            ],
        ),
        ("never b(n > $x) after a(n: $x)", &[(r#"a{"n":2} b{"n":1}"#, Pass), (r#"a{"n":2} b{"n":3}"#, Fail)]),
        ("sequence a(n > $x) -> b(n: $x)", &[(r#"a{"n":2} b{"n":1}"#, Pass), (r#"a{"n":2} b{"n":3}"#, Fail)]),
        ("flow a(n > $x) -> b(n: $x)", &[(r#"a{"n":2} b{"n":1}"#, Pass), (r#"a{"n":2} b{"n":3}"#, Fail)]),
        ("if a(n > $x) then b(n: $x)", &[(r#"b{"n":1} a{"n":2}"#, Pass), (r#"a{"n":2} b{"n":3}"#, Fail)]),
    ]);
    let rule = "before list(result contains $id) -> delete(id: $id)";
    let run = |found: &str| {
        json!({"calls": [
            {"tool": "list", "args": {}, "result": ["o-1", found]},
            {"tool": "delete", "args": {"id": "o-2"}, "result": null}
        ]})
    };
    assert_eq!(verdict(rule, &run("o-2")), Pass);
    assert_eq!(verdict(rule, &run("o-3")), Fail);
}

#[test]
fn a_choice_may_bind_in_some_alternatives_only() {
    check(&[(
        "before (approve(id: $x) | admin_ok) -> refund(id: $x)",
        &[
            (r#"approve{"id":1} refund{"id":1}"#, Pass),
            (r#"approve{"id":1} refund{"id":2}"#, Fail),
            (r#"admin_ok refund{"id":2}"#, Pass),
        ],
    )]);
}

#[test]
fn predicates_look_into_every_value() {
    let rules = rules("def bad(v) = v == \"bad\"\nno bad in output\nno bad in a\nno bad in inputs");
    let of = |output: serde_json::Value, arg: &str| {
        let run = json!({"output": output, "inputs": {}, "calls": [{"tool": "a", "args": {"x": [{"y": arg}]}}]});
        verdicts(&rules, &run)
    };
    assert_eq!(of(json!({"deep": [1, {"x": "bad"}]}), "bad"), [Fail, Fail, Vacuous]);
    assert_eq!(of(json!({"bad": "good"}), "good"), [Pass, Pass, Vacuous]);
    assert_eq!(verdicts(&rules, &json!({"calls": []})), [Verdict::Undecided, Vacuous, Verdict::Undecided]);
}

#[test]
fn arguments_fit_what_the_tools_declare() {
    let tool = "tool a { type: \"object\", properties: { n: { type: \"integer\" } }, required: [\"n\"] }\n";
    let said = |rule: &str, text: &str| verdict(&format!("{tool}{rule}"), &run(text));
    assert_eq!(said("args valid", r#"a{"n":1} other"#), Pass);
    assert_eq!(said("args valid", r#"a{"n":"x"}"#), Fail);
    assert_eq!(said("args valid", "a"), Fail);
    assert_eq!(said("args valid", "other"), Vacuous);
    assert_eq!(said("args valid strict", r#"a{"n":1} other"#), Fail);
    assert_eq!(said("args valid for a", r#"a{"n":1}"#), Pass);
    assert_eq!(said("args valid for a", ""), Vacuous);
    assert_eq!(said("args valid", "a~"), Verdict::Undecided);
}

#[test]
fn several_steps_in_a_window_each_stand_for_themselves() {
    check(&[
        ("never b, d after a", &[("b d a", Pass), ("a d", Fail), ("a b", Fail), ("d", Vacuous)]),
        ("never b(id: $x), b(other: $x) after a(id: $x)", &[(r#"a{"id":1} b{"id":2,"other":1}"#, Fail)]),
        ("never b, d between a and c", &[("a d c", Fail), ("a c b d", Pass)]),
        ("never b, d before a", &[("a b d", Pass), ("d a", Fail)]),
        ("never b before a(id: $x)", &[(r#"a{"id":1} b a{"id":1}"#, Pass), (r#"a{"id":1} b a{"id":2}"#, Fail)]),
    ]);
}

#[test]
fn tests_on_values_that_come_later() {
    check(&[
        (
            "never b(n: $x) before a(n > $x)",
            &[
                (r#"a{"n":2} b{"n":1}"#, Pass),
                (r#"b{"n":3} a{"n":2}"#, Pass),
                (r#"b{"n":1} a{"n":2}"#, Fail),
                (r#"a{"n":2} b{"n":1} a{"n":3}"#, Pass),
            ],
        ),
        (
            "sequence only a(ids contains $x) -> b(id: $x)",
            &[(r#"a{"ids":[]} a{"ids":[1]} b{"id":1}"#, Pass), (r#"a{"ids":[1]} a{"ids":[1]} b{"id":1}"#, Fail)],
        ),
    ]);
}
