//! Diagnostics of wrong packs, and the effects of parameters.

use crate::judged::Given;
use averment::Verdict;

/// Returns the diagnostics of a pack.
fn said(text: &str) -> String {
    Given { name: "pack.yaml", text, ..Given::default() }.imported().unwrap_err()
}

/// Returns a pack with one assertion.
fn asserting(assertion: &str) -> String {
    format!("version: 3\ninvariants:\n  - name: v\n    tool: t\n    fixed: {{}}\n    assert:\n      - {assertion}\n")
}

#[test]
fn a_bad_pack_is_told_where_and_what_to_write() {
    let rows: &[(&str, &str)] = &[
        (
            "invariants: []\n",
            "pack.yaml:1:1: a pack has no `version` (packs of the versions 1, 2 and 3 are read: write `version: 3`)",
        ),
        (
            "version: 4\ninvariants: []\n",
            "pack.yaml:1:10: there is no version 4 (packs of the versions 1, 2 and 3 are read: write `version: 3`)",
        ),
        (
            "version: 3\ninvariants: []\nfor_each_tools: []\n",
            "pack.yaml:3:1: a pack has no key `for_each_tools` (did you mean `for_each_tool`?)",
        ),
        (
            "version: 3\ninvariants:\n  - { name: a, tool: t, assert: [] }\n",
            "pack.yaml:3:7: the invariant `a` has to have `fixed` or `generate`, and not both (write `fixed: { … }` for one call, or `fixed: {}` for every call)\npack.yaml:3:25: the invariant `a` asserts nothing: it holds whatever is answered (write an assertion into `assert`)",
        ),
        (
            "version: 3\ninvariants:\n  - { name: a, tool: \"{{tol}}\", fixed: {}, assert: [] }\nmetadata: { parameters: { tool: { default: x } } }\n",
            "pack.yaml:3:23: `{{tol}}` is no parameter of this pack (did you mean `{{tool}}`?)\npack.yaml:3:44: the invariant `a` asserts nothing: it holds whatever is answered (write an assertion into `assert`)",
        ),
        (
            "version: 3\nmetadata: { parameters: { s: { type: array, default: x } } }\ninvariants: []\n",
            "pack.yaml:2:38: there is no type of a parameter `array` (write `string`, `integer`, `number` and `boolean`)",
        ),
        (
            "version: 3\nmetadata: { parameters: { s: { type: string } } }\ninvariants: []\n",
            "pack.yaml:2:27: the parameter `s` has no `default` (write `default: …`: a pack runs as it stands)",
        ),
        (
            "version: 3\nmetadata: { extends: [other] }\ninvariants: []\n",
            "pack.yaml:2:23: the pack `other` is neither in `packs/other.yaml` nor in `other.yaml` (put the pack there; packs that are built into other programs are not known here)",
        ),
        (
            "version: 3\ninvariants: []\nsequences:\n  - { name: s, steps: [{ call: a, with: { id: \"{{steps.x.response.id}}\" } }] }\n",
            "pack.yaml:4:47: no step before this one is bound as `x` (write `bind: x` at the step that it refers to)",
        ),
        (
            "version: 3\ninvariants: []\nsequences:\n  - { name: s, steps: [{ call: a }], test_fixtures: [{ name: f, responses: [], expect: pass }] }\n",
            "pack.yaml:4:76: the sequence has 1 steps and this fixture 0 responses (write a response for each step)",
        ),
    ];
    for (text, wanted) in rows {
        assert_eq!(&said(text), wanted, "{text}");
    }
}

#[test]
fn a_bad_assertion_is_told_where_and_what_to_write() {
    let rows = [
        ("{ kind: equal, lhs: 1, rhs: 1 }", "7:17: there is no kind of assertion `equal` (did you mean `equals`?)"),
        ("{ kind: equals, lhs: 1 }", "7:17: `equals` has no `rhs` (write `rhs: …` beside `kind`)"),
        (
            "{ kind: equals, lhs: 1, rhs: 1, mesage: x }",
            "7:41: `equals` has no key `mesage` (`equals` may have `kind`, `lhs` and `rhs`)",
        ),
        (
            "{ kind: is_type, path: $.response, type: null }",
            "7:50: `type: null` without quotes is no type but nothing at all (write `type: \"null\"`)",
        ),
        (
            "{ kind: is_type, path: $.response, type: String }",
            "7:50: there is no type `String` (did you mean `string`?)",
        ),
        (
            "{ kind: is_type, path: response.v, type: string }",
            "7:32: a JSONPath begins with `$` (write `$.response.response.v`)",
        ),
    ];
    for (assertion, wanted) in rows {
        assert_eq!(said(&asserting(assertion)), format!("pack.yaml:{wanted}"), "{assertion}");
    }
    let places = [
        (
            "{ kind: matches_regex, path: $.response, pattern: \"(\" }",
            "pack.yaml:7:59: the regular expression cannot be used",
        ),
        (
            "{ kind: matches_regex, path: $.response, pattern: '(a)\\1' }",
            "pack.yaml:7:59: the regular expression cannot be used",
        ),
        ("{ kind: equals, lhs: { path: \"$.response[\" }, rhs: 1 }", "pack.yaml:7:38:"),
        ("{ kind: matches_schema, path: $.response, schema: { type: text } }", "pack.yaml:7:"),
    ];
    for (assertion, wanted) in places {
        let said = said(&asserting(assertion));
        assert!(said.starts_with(wanted), "{assertion}: {said}");
    }
}

#[test]
fn parameters_are_typed_and_stay_values() {
    let text = "version: 3\nmetadata:\n  parameters:\n    tool: { default: echo }\n    most: { type: integer, default: 3 }\n    key: { default: items }\ninvariants:\n  - name: v\n    tool: \"{{tool}}\"\n    fixed: { \"{{key}}\": {{most}}, text: \"{{most}}\" }\n    assert: [{ kind: at_most, path: \"$.response['{{key}}']\", value: {{ most }} }]\n";
    let given = Given { name: "pack.yaml", text, ..Given::default() };
    let imported = given.imported().unwrap();
    assert!(imported.contains("call echo { items: 3, text: \"3\" }"), "{imported}");
    assert!(imported.contains("required(envelope.items) <= 3"), "{imported}");
    let odd = "a\"\n    cases: 7\n    # ";
    let params = [("tool", odd), ("most", "5"), ("key", "a b")];
    let given = Given { params: &params, ..given };
    let imported = given.imported().unwrap();
    assert!(imported.contains(r#"call "a\"\n    cases: 7\n    # " { "a b": 5, text: "5" }"#), "{imported}");
    assert!(imported.contains(r#"required(envelope["a b"]) <= 5"#), "{imported}");
}

#[test]
fn a_pack_counts_before_those_that_it_extends() {
    let parent = "version: 3\ninvariants:\n  - { name: x, tool: old, fixed: {}, assert: [] }\n  - { name: y, tool: kept, fixed: {}, assert: [] }\nsequences:\n  - { name: s, steps: [{ call: c }] }\n";
    let text =
        "version: 3\nmetadata: { extends: [parent] }\ninvariants:\n  - { name: x, tool: new, fixed: {}, assert: [] }\n";
    let given = Given { name: "pack.yaml", text, beside: &[("packs/parent.yaml", parent)], ..Given::default() };
    let imported = given.imported().unwrap();
    assert!(
        imported.contains("call new {}") && imported.contains("call kept {}") && !imported.contains("call old"),
        "{imported}"
    );
    assert!(imported.contains("rule s {"), "{imported}");
    given.imports_cleanly();
}

/// A missing value is distinguished from a condition that fails.
#[test]
fn what_cannot_be_judged_is_an_error() {
    let text = asserting("{ kind: equals, lhs: { path: $.response.structuredContent.n }, rhs: 1 }");
    let given = Given { name: "pack.yaml", text: &text, ..Given::default() };
    let verdict = |response: &str| {
        let judged = given.judge(&format!(r#"{{"calls": [{{"tool": "t", "args": {{}}, "response": {response}}}]}}"#));
        judged.unwrap().results[0].1
    };
    assert_eq!(verdict(r#"{"structuredContent": {"n": 1}}"#), Verdict::Pass);
    assert_eq!(verdict(r#"{"structuredContent": {"n": 1.0}}"#), Verdict::Fail);
    assert_eq!(verdict(r#"{"structuredContent": {}}"#), Verdict::Error);
    assert_eq!(verdict(r#"{"content": []}"#), Verdict::Error);
}

/// A run without recorded results is no evidence about the contents of results.
#[test]
fn what_is_not_recorded_passes_nothing() {
    let text = asserting("{ kind: not, assertion: { kind: matches_regex, path: $.response.text, pattern: secret } }");
    let given = Given { name: "pack.yaml", text: &text, ..Given::default() };
    let verdict = |call: &str| given.judge(&format!(r#"{{"calls": [{call}]}}"#)).unwrap().results[0].1;
    assert_eq!(verdict(r#"{"tool": "t", "args": {}}"#), Verdict::Undecided);
    assert_eq!(verdict(r#"{"tool": "t", "args": {}, "response": {}}"#), Verdict::Pass);
    assert_eq!(verdict(r#"{"tool": "t", "args": {}, "response": {"text": 5}}"#), Verdict::Pass);
    assert_eq!(verdict(r#"{"tool": "t", "args": {}, "response": {"text": "a secret"}}"#), Verdict::Fail);
}
