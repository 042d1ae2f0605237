//! What the run does not record: the same verdict under every answer, or undecided.

use crate::temporal::run::{check, run, verdict};
use averment_base::truth::Verdict::{Fail, Pass, Undecided, Vacuous};
use serde_json::json;

#[test]
fn unknown_matches_are_answered_in_all_ways() {
    check(&[
        ("require a ok", &[("a?", Undecided), ("a? a", Pass), ("a? a!", Undecided)]),
        ("never a failed", &[("a?", Undecided), ("a? a!", Fail)]),
        ("count a ok <= 1", &[("a? a", Undecided), ("a?", Pass), ("a a a?", Fail)]),
        ("count a ok in [1, 3]", &[("a a?", Undecided), ("a a? a?", Undecided)]),
        ("before a ok -> b", &[("a? b", Undecided), ("a b a?", Pass), ("b", Fail), ("a?", Vacuous)]),
        ("before a -> b ok", &[("b?", Undecided), ("a b?", Undecided), ("a b", Pass), ("b? b", Fail)]),
        ("after a -> b ok", &[("a b?", Undecided), ("a b? b", Pass), ("a", Fail)]),
        ("after each a ok -> b", &[("a? a b", Undecided), ("a a? b", Undecided), ("a b a b a?", Undecided)]),
        ("never b after a ok", &[("a? b", Undecided), ("a? x", Undecided), ("a b?", Fail)]),
        ("never b after a until c ok", &[("a c? b", Undecided), ("a c b", Pass), ("a b c?", Fail)]),
        ("never b before a ok", &[("b a?", Undecided), ("a? b a", Undecided), ("b a? a", Fail), ("a? x a", Pass)]),
        ("never b between a and c ok", &[("a b c?", Undecided), ("a b c? c", Fail), ("a c? b c", Undecided)]),
        ("a iff b ok", &[("a b?", Undecided), ("b?", Undecided), ("a b? b", Pass), ("a", Fail)]),
        ("if a ok then b", &[("a? b", Undecided), ("a?", Undecided), ("a b a?", Pass)]),
        ("sequence a -> b ok -> c", &[("a b? c", Undecided), ("a b? b c", Pass), ("a c", Fail)]),
        ("sequence only a -> b ok", &[("a b?", Undecided), ("a b b?", Undecided), ("b? b? b b", Fail)]),
        ("sequence exactly a -> b ok", &[("a b?", Undecided), ("a b? b", Fail)]),
        ("flow a -> (b ok)* -> c", &[("a b? c", Undecided), ("a c", Pass), ("a b? b", Fail)]),
        ("first a ok", &[("a? b", Undecided), ("b a?", Fail)]),
        ("last a ok", &[("b a?", Undecided), ("a? b", Fail)]),
        ("only a ok, b", &[("a? b", Undecided), ("a? c", Fail)]),
        ("immediately before a ok -> b", &[("a? b", Undecided), ("x b", Fail)]),
        ("immediately after a -> b ok", &[("a b?", Undecided), ("a x", Fail)]),
        ("not both a ok, b", &[("a? b", Undecided), ("a? a b", Fail), ("a?", Undecided)]),
        ("either a ok or b", &[("a?", Undecided), ("a? b", Pass)]),
        ("each a ok: args.n == 1", &[(r#"a{"n":1} a{"n":2}?"#, Undecided), (r#"a{"n":1} a{"n":1}?"#, Pass)]),
        ("some a ok: args.n == 1", &[(r#"a{"n":1}?"#, Undecided), (r#"a{"n":1} a{"n":2}?"#, Pass)]),
        ("no a ok: args.n == 1", &[(r#"a{"n":1}?"#, Undecided), (r#"a{"n":1} a?"#, Fail)]),
        ("never repeat a ok more than 1 times", &[("a? a", Undecided), ("a a a?", Fail)]),
    ]);
}

#[test]
fn unknown_bounds_are_answered_in_all_ways() {
    check(&[
        ("before a -> b within 1 turn", &[("a@1 b", Undecided), ("a b@1", Undecided), ("a a@1 b@2", Pass)]),
        ("after a -> b within 1 turn", &[("a@1 b", Undecided), ("a b@1", Undecided), ("a@1 b b@2", Pass)]),
        ("sequence a -> b within 5s", &[("a b", Undecided), ("b a", Fail)]),
        ("never b after a within 1 turn", &[("a b", Undecided), ("a@1 b@9", Pass), ("a a@1 b@2", Fail)]),
        ("together a, b", &[("a b", Undecided), ("a@1 b@2", Fail), ("a+1 b+1", Pass), ("a@1+0=3 b+5=6", Fail)]),
        ("apart a, b", &[("a b", Undecided), ("a@1 b", Undecided)]),
    ]);
}

#[test]
fn a_binding_that_is_not_recorded_may_have_any_value() {
    check(&[
        ("before a(id: $x) -> b(id: $x)", &[("a~ b~", Undecided), ("b~", Undecided), ("a~", Vacuous)]),
        ("not both a(id: $x), b(id: $x)", &[("a~ b~", Undecided)]),
        ("count a(id: $x) <= 1", &[("a~", Pass), ("a~ a~", Undecided)]),
        ("require a(id: $x) 2 times", &[("a~", Fail), ("a~ a~", Undecided)]),
    ]);
}

#[test]
fn what_only_holds_by_missing_values_is_vacuous() {
    check(&[
        ("never a(force != false)", &[(r#"a{"force":false}"#, Pass), ("b", Pass), ("a", Fail)]),
        ("never a(force == true)", &[("a", Vacuous), (r#"a a{"force":false}"#, Pass)]),
        ("require a(force != true)", &[("a", Vacuous), (r#"a{"force":false}"#, Pass)]),
        ("before a(x != 1) -> b", &[("a b", Vacuous), (r#"a{"x":2} b"#, Pass)]),
        ("either a(x != 1) or b", &[("a", Vacuous), ("a b", Pass), ("c", Fail)]),
        ("either a(x != 1) or b(x != 1)", &[("a b", Vacuous), (r#"a b{"x":2}"#, Pass)]),
        ("if a(id: $x) then b(id: $x)", &[("a b", Vacuous)]),
        ("count a(id: $x) <= 1", &[("a a a", Vacuous)]),
    ]);
    let rule = "never send(body contains $secret) after read_secret(value: $secret)";
    let said = |field: &str| verdict(rule, &run(&format!(r#"read_secret{{"value":"k"}} send{{"{field}":"plain"}}"#)));
    assert_eq!(said("body"), Pass);
    assert_eq!(said("text"), Vacuous);
}

#[test]
fn kinds_that_are_not_recorded_or_not_ordered() {
    assert_eq!(verdict("require user", &run("a")), Undecided);
    assert_eq!(verdict("never user", &json!({"messages": []})), Pass);
    assert_eq!(verdict("first a", &json!({"messages": []})), Undecided);
    let run = json!({
        "calls": [{"tool": "a", "args": {}}],
        "messages": [{"role": "user", "text": "yes"}]
    });
    assert_eq!(verdict("before user -> a", &run), Undecided);
    assert_eq!(verdict("if a then user", &run), Pass);
    assert_eq!(verdict("before b -> a", &run), Fail);
    assert_eq!(verdict("before b -> user", &run), Fail);
    assert_eq!(verdict("before user { never a }", &run), Undecided);
    let mut ordered = run.clone();
    ordered["steps"] = json!(["message", "call"]);
    assert_eq!(verdict("before user -> a", &ordered), Pass);
}
