//! Parts of values, numbers as scores, and the tool of a call as a bound value.

use crate::temporal::run::{check, rules, verdict};
use averment_base::truth::Verdict::{self, Fail, Pass, Undecided, Vacuous};
use serde_json::{Value, json};

fn judge(rule: &str, output: &Value) -> Verdict {
    verdict(rule, &json!({ "output": output, "calls": [] }))
}

#[test]
fn a_value_is_like_its_parts() {
    let output = json!({ "status": "ok", "user": { "name": "Al", "id": 7 }, "tags": ["a", "b"], "ts": 1 });
    let holds = [
        r#"output like { status: "ok", user: { name: "Al" } }"#,
        r#"output like { user: { name: "Al", id: 9 } } ignoring ["user.id"]"#,
        r#"output like { tags: ["b", "a"], ts: 2 } in any order ignoring [ts]"#,
        r#"output.user like { name: " aL " } folded"#,
        r#"output not like { tags: ["a"] }"#,
        r#"output.tags like ["a", "b"]"#,
    ];
    let fails = [
        r#"output like { status: "OK" }"#,
        r#"output like { tags: ["b", "a"] }"#,
        r#"output like { user: { name: "Al", id: 9 } }"#,
        r#"output like { user: { id: 9 } } ignoring ["id.user"]"#,
        r#"output not like { status: "ok" }"#,
    ];
    for rule in holds {
        assert_eq!(judge(rule, &output), Pass, "{rule}");
        assert_eq!(judge(rule, &json!(output.to_string())), Pass, "as a text: {rule}");
    }
    for rule in fails {
        assert_eq!(judge(rule, &output), Fail, "{rule}");
    }
    let no_evidence = [
        "output like {}",
        r#"output not like { status: "ok", missing: 1 }"#,
        r#"output not like { status: " OK" }"#,
        r#"output not like { user: { id: "7" } }"#,
        r#"output not like { tags: ["B", "a"] } in any order"#,
        r#"not (output like { user: "{\"name\": \"Al\", \"id\": 7}" })"#,
    ];
    for rule in no_evidence {
        assert_eq!(judge(rule, &output), Vacuous, "{rule}");
    }
    assert_eq!(judge(r#"output not like { a: 1 }"#, &json!("no JSON")), Vacuous);
    assert_eq!(verdict(r#"output like { a: 1 }"#, &json!({ "calls": [] })), Undecided);
}

#[test]
fn texts_are_asked_for_their_format() {
    let page = json!({ "page": "<a x=\"1\"><b/></a>", "text": "<p>one<p>two", "list": ["<a/>"], "n": 5 });
    for (rule, verdict) in [
        ("output.page is xml", Pass),
        ("output.page is not xml", Fail),
        ("output.text is xml", Fail),
        ("output.text is not xml", Pass),
        ("output.list is not xml", Pass),
        ("output.n is xml", Fail),
        ("output.list[0] is xml", Pass),
        ("output.gone is xml", Fail),
        ("output.gone is not xml", Vacuous),
    ] {
        assert_eq!(judge(rule, &page), verdict, "{rule}");
    }
    let bomb = "<!DOCTYPE a [<!ENTITY b \"bb\">]><a>&b;</a>";
    assert_eq!(judge("output is xml", &json!(bomb)), Undecided);
    assert_eq!(judge("output is not xml", &json!(bomb)), Undecided);
    assert_eq!(judge("output is xml", &json!("<!DOCTYPE a><a/>")), Pass);
    let call = json!({ "calls": [{ "tool": "save", "args": { "body": "<a/>" } }] });
    assert_eq!(verdict("each save: args.body is xml", &call), Pass);
    assert_eq!(verdict("never save(body is xml)", &call), Fail);
}

#[test]
fn the_words_of_texts_are_compared() {
    let rule = "score f1(output, \"Paris, France\") >= 0.6";
    assert_eq!(judge(rule, &json!("In PARIS, France.")), Pass);
    assert_eq!(judge(rule, &json!("Lyon")), Fail);
    assert_eq!(judge("score f1(output.ids, [1, 2]) >= 0.6", &json!({ "ids": [2, 1] })), Pass);
}

#[test]
fn what_is_not_like_its_part_says_where() {
    let rule = rules(r#"output like { user: { name: "Bo" } }"#);
    let reason = |output: Value| {
        let outcome = rule.check_json(&json!({ "output": output, "calls": [] }).to_string()).unwrap();
        outcome.results[0].reason.clone()
    };
    let differs = reason(json!({ "user": { "name": "Al" } }));
    assert!(differs.contains("at `user.name`: it is \"Al\", expected \"Bo\""), "{differs}");
    let missing = reason(json!({ "user": {} }));
    assert!(missing.contains("has no `user.name`, expected \"Bo\""), "{missing}");
}

#[test]
fn a_number_is_the_score_of_its_assertion() {
    let run = json!({ "output": { "ids": ["a", "b"], "n": 3 }, "calls": [] }).to_string();
    let said = |rule: &str| {
        let outcome = rules(rule).check_json(&run).unwrap();
        (outcome.results[0].verdict, outcome.results[0].score)
    };
    assert_eq!(said(r#"score f1(output.ids, ["a", "c"]) >= 0.5"#), (Pass, Some(0.5)));
    assert_eq!(said(r#"score f1(output.ids, ["a", "c"]) >= 0.8"#), (Fail, Some(0.5)));
    assert_eq!(said(r#"score f1(output.ids, ["a", "c"])"#), (Pass, Some(0.5)));
    assert_eq!(said(r#"score f1(output.ids, ["a", "c"]) threshold 0.8"#), (Fail, Some(0.5)));
    assert_eq!(said("score output.n / 4 >= 50%"), (Pass, Some(0.75)));
    assert_eq!(said("score(output.n / 4) >= 0.9"), (Fail, Some(0.75)));
    // What is no score passes nothing.
    assert_eq!(said("score output.n").0, Fail);
    assert_eq!(said("score output.nothing").0, Fail);
}

#[test]
fn the_tool_of_a_call_and_its_arguments_are_values() {
    check(&[
        (
            "count any(tool: $t, args: $a) <= 1",
            &[(r#"a{"x":1} a{"x":2} b{"x":1}"#, Pass), (r#"a{"x":1} b a{"x":1}"#, Fail)],
        ),
        ("count a*(args: $a) <= 1", &[(r#"ab{"x":1} ac{"x":2}"#, Pass), (r#"ab{"x":1} ac{"x":1}"#, Fail)]),
        // Of one tool it is an argument like others.
        (
            "count exec(tool: $t) <= 1",
            &[(r#"exec{"tool":"x"} exec{"tool":"y"}"#, Pass), (r#"exec{"tool":"x"} exec{"tool":"x"}"#, Fail)],
        ),
    ]);
}
