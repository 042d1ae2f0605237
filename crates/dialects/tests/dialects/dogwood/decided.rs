//! Policies on runs, and the diagnostics of broken policies.

use crate::judged::Given;
use averment::Verdict;

const SCHEMA: (&str, &str) = (
    "schema.cedarschema",
    r#"namespace Shop { action "Harmless"; action "look" in [Action::"Harmless"]; action "pay"; action "approve"; }"#,
);

fn verdict(policy: &str, run: &str) -> Vec<Verdict> {
    let given = Given { name: "policy.dw", text: policy, beside: &[SCHEMA], ..Given::default() };
    given.judge(run).unwrap().rules.into_iter().map(|(_, verdict, _)| verdict).collect()
}

fn said(policy: &str) -> String {
    Given { name: "policy.dw", text: policy, beside: &[SCHEMA], ..Given::default() }.imported().unwrap_err()
}

fn pay_when(condition: &str) -> String {
    format!(r#"permit (principal, action == Shop::Action::"pay", resource) when {condition};"#)
}

const PAID: &str =
    r#"{"calls": [{"tool": "pay", "args": {"n": 5}, "start": 1700000000000, "end": 1700000001000, "status": "ok"}]}"#;

#[test]
fn what_no_policy_permits_is_denied() {
    let look = r#"permit (principal, action in Shop::Action::"Harmless", resource);"#;
    assert_eq!(verdict(look, PAID), [Verdict::Fail]);
    assert_eq!(verdict(look, &PAID.replace("pay", "look")), [Verdict::Pass]);
    let forbidden = format!(
        "permit (principal, action, resource); {}",
        pay_when("{ context.input.n > 4 }").replace("permit", "forbid")
    );
    assert_eq!(verdict(&forbidden, PAID), [Verdict::Pass, Verdict::Fail]);
}

#[test]
fn what_is_not_recorded_is_undecided() {
    let principal = pay_when(r#"{ principal == Shop::User::"ann" }"#);
    assert_eq!(verdict(&principal, PAID), [Verdict::Undecided]);
    let named = |name: &str| PAID.replacen('{', &format!(r#"{{"meta": {{"principal": "{name}"}}, "#), 1);
    assert_eq!(verdict(&principal, &named("ann")), [Verdict::Pass]);
    assert_eq!(verdict(&principal, &named("bob")), [Verdict::Fail]);
    let guarded = pay_when("guardrail { Risk::Elevated(context.input.n).high == false }");
    assert_eq!(verdict(&guarded, PAID), [Verdict::Undecided]);
    let recorded =
        PAID.replace(r#""status""#, r#""meta": {"guardrails": {"Risk::Elevated": {"high": false}}}, "status""#);
    assert_eq!(verdict(&guarded, &recorded), [Verdict::Pass]);
}

#[test]
fn a_request_counts_before_it_has_ended() {
    let policy = format!(
        "{} {}",
        pay_when(r#"temporal { formerly within 1h Shop::Action::"approve"::request{} }"#),
        r#"permit (principal, action == Shop::Action::"approve", resource);"#
    );
    let run = r#"{"calls": [{"tool": "approve", "args": {}, "start": 1700000000000, "end": 1700000009000, "status": "ok"},
        {"tool": "pay", "args": {}, "start": 1700000001000, "end": 1700000002000, "status": "ok"}]}"#;
    assert_eq!(verdict(&policy, run), [Verdict::Pass]);
    assert_eq!(verdict(&policy.replace("::request", "::response"), run), [Verdict::Fail]);
}

#[test]
fn macros_are_expanded() {
    let own = r#"def temporal twice(?event) { count_within(1h, ?event) >= 2 };"#;
    let policy = format!("{own} {}", pay_when(r#"temporal { !twice(Shop::Action::"pay"::request{ input.n: _ }) }"#));
    assert_eq!(verdict(&policy, PAID), [Verdict::Pass]);
    let two = PAID.replace(r#""calls": ["#, r#""calls": [{"tool": "pay", "args": {"n": 1}, "start": 1699999999000, "end": 1699999999500, "status": "ok"}, "#);
    assert_eq!(verdict(&policy, &two), [Verdict::Fail]);
}

#[test]
fn mistakes_have_their_place() {
    for (policy, wanted) in [
        (
            r#"permit (principal, action == Shop::Action::"pya", resource);"#,
            "policy.dw:1:30: the schema has no action `pya` (did you mean `pay`?)",
        ),
        ("permit (principal, action);", "policy.dw:1:8: the scope has 2 parts"),
        (&pay_when("temporal { formerly Shop }"), "policy.dw:1:86: expected `within`, found `Shop`"),
        (
            &pay_when(r#"temporal { formerly within 1h Shop::Action::"pay"::asked{} }"#),
            "there is no kind of event `asked`",
        ),
        (
            &pay_when(r#"temporal { formerly within 1h Shop::Action::"pay"::request{ output.x: 1 } }"#),
            "a request has no output",
        ),
        (&pay_when("temporal { x > 3 }"), "nothing gives `x` a value here"),
        (&pay_when("temporal { counted(1h) > 3 }"), "there is no macro `counted`"),
        (&pay_when(r#"{ ip("::1").isLoopback() }"#), "`ip(…)` cannot be checked on a recorded run"),
        (
            "def temporal again() { again() }; permit (principal, action, resource) when temporal { again() };",
            "nested too deep",
        ),
        ("", "the file has no policy"),
        ("permit (principal, action, resource) when { \"a };", "this text is not closed"),
    ] {
        let found = said(policy);
        assert!(found.contains(wanted), "{policy}\n{found}\nlacks: {wanted}");
    }
}

#[test]
fn lints_find_what_is_always_and_what_is_never_decided() {
    let forbid = |condition: &str| pay_when(condition).replacen("permit", "forbid", 1);
    let all = "permit (principal, action, resource) when { context.input.n > 0 };";
    for (policy, wanted) in [
        ("permit (principal, action, resource);".to_owned(), "this permits every call"),
        ("permit (principal, action, resource) when { true };".to_owned(), "this permits every call"),
        (format!("{all} forbid (principal, action, resource);"), "this forbids every call"),
        (forbid("{ context.input.n > 4 }"), "no policy permits anything"),
        (pay_when("{ false }"), "no policy permits anything"),
        (format!("{all} {}", forbid("{ false }")), "this forbids no call: its condition is never met"),
        (format!("{all} {}", forbid("{ context.input.n > 4 && false }")), "this forbids no call"),
        (format!("{all} {}", forbid("{ true }").replace("when", "unless")), "this forbids no call"),
        (pay_when("{ context.input.n > 4 || true }"), "the condition of this policy is always met"),
        (
            pay_when(r#"temporal { formerly within 1h Shop::Action::"pay"::request{} }"#),
            "the condition of this policy is always met",
        ),
        (pay_when(r#"temporal { formerly within 1h Shop::Action::"pay"::request{ input.n: 4 } }"#), ""),
        (pay_when(r#"temporal { formerly within 1h Shop::Action::"approve"::request{} }"#), ""),
        (all.to_owned(), ""),
    ] {
        let given = Given { name: "policy.dw", text: &policy, beside: &[SCHEMA], ..Given::default() };
        let found = given.linted();
        let is_found = if wanted.is_empty() { found.is_empty() } else { found.contains(wanted) };
        assert!(is_found, "{policy}\n{found}\nlacks: {wanted}");
    }
}
