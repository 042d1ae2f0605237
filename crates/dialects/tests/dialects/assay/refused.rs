//! Unusable files: location, message and suggestion of each diagnostic.

use crate::judged::Given;

fn said(text: &str) -> String {
    said_beside(text, &[])
}

fn said_beside(text: &str, beside: &[(&str, &str)]) -> String {
    Given { name: "s.yaml", text, beside, ..Given::default() }.imported().unwrap_err()
}

const HEAD: &str = "version: \"1\"\nsuite: s\ntests:\n";

#[test]
fn an_unknown_metric_is_told_what_there_is_and_how_to_add_one() {
    let text = "suite: s\ntests:\n  - id: a\n    metric: my_metric\n";
    let found = said(text);
    for part in
        ["there is no metric `my_metric`", "args_valid, sequence_valid, tool_blocklist", "Rules::builder().metric"]
    {
        assert!(found.contains(part), "{found}");
    }
    let near = said(&text.replace("my_metric", "args_vald"));
    assert!(near.contains("did you mean `args_valid`?"), "{near}");
}

#[test]
fn each_mistake_is_said_where_it_stands() {
    let cases = [
        (
            "  - { id: t, metric: args_valdi }\n",
            "s.yaml:4:22: there is no metric `args_valdi` (did you mean `args_valid`?)",
        ),
        (
            "  - { id: t, metric: tool_blocklist, blockist: [a] }\n",
            "s.yaml:4:38: a test of `tool_blocklist` has no key `blockist` (did you mean `blocklist`?)\ns.yaml:4:5: there is no `blocklist` (write `blocklist: [TOOL, …]`)",
        ),
        (
            "  - { id: t, metric: sequence_valid, rules: [{ type: befor, first: a, then: b }] }\n",
            "s.yaml:4:54: there is no rule `befor` (did you mean `before`?)",
        ),
        (
            "  - { id: t, metric: sequence_valid, rules: [{ type: count, tool: a }] }\n",
            "s.yaml:4:46: the rule has neither `min` nor `max` nor `exact`: it could never fail (write `max: 3`)",
        ),
        (
            "  - { id: t, metric: sequence_valid, rules: [{ type: count, tool: a, min: 3, max: 1 }] }\n",
            "s.yaml:4:46: `min` is 3 and `max` is 1: no number is between them (write the smaller one as `min`)",
        ),
        (
            "  - { id: t, metric: args_valid, tool: a, constraints: { x: { type: string, max: 3 } } }\n",
            "s.yaml:4:77: `max` asks nothing of a value of this type (leave it out, or write another `type`)",
        ),
        (
            "  - { id: t, metric: args_valid, policy: no.yaml }\n",
            "s.yaml:4:42: the file `no.yaml` does not exist (paths are relative to the file that names them)",
        ),
        (
            "  - { id: t, input: p, expected: { type: must_contain, must_contain: [] } }\n",
            "s.yaml:4:70: `must_contain` is empty: it could never fail (write a list of texts)",
        ),
        (
            "  - { id: t, input: p, expected: { type: judge_criteria, judge_criteria: nice } }\n",
            "s.yaml:4:42: `judge_criteria` cannot be decided on recorded runs (a model would have to judge it: write what the output has to contain)",
        ),
        (
            "  - { id: t, metric: tool_blocklist, blocklist: [a] }\n  - { id: t, metric: tool_blocklist, blocklist: [b] }\n",
            "s.yaml:5:11: there are two tests `t` (give each its own `id`)",
        ),
        (
            "  - { id: t, metric: tool_blocklist, blocklist: [a], blocklist: [b] }\n",
            "s.yaml:4:54: the key `blocklist` occurs twice in one mapping (keep one of them)",
        ),
        (
            "  - { id: t, input: p, expected: { type: json_schema, json_schema: 'no' } }\n",
            "s.yaml:4:68: `json_schema` holds no JSON Schema (write `'{\"type\": …}'`)",
        ),
    ];
    for (tests, wanted) in cases {
        assert_eq!(said(&format!("{HEAD}{tests}")), wanted);
    }
}

#[test]
fn a_bad_expression_is_said_where_it_stands() {
    let tests = "  - { id: t, input: p, expected: { type: regex_match, pattern: '([' } }\n";
    let found = said(&format!("{HEAD}{tests}"));
    assert!(found.starts_with("s.yaml:4:64: the regular expression cannot be read: unclosed"), "{found}");
}

#[test]
fn a_bad_file_beside_it_is_said_in_that_file() {
    let tests = format!("{HEAD}  - {{ id: t, metric: args_valid, policy: p.yaml }}\n");
    let tab = said_beside(&tests, &[("p.yaml", "tools:\n\ta: 1\n")]);
    assert!(tab.starts_with("p.yaml:2:"), "{tab}");
    let type_ = said_beside(&tests, &[("p.yaml", "tools:\n  a:\n    arguments:\n      x: { type: strng }\n")]);
    assert_eq!(type_, "p.yaml:4:18: there is no type `strng` (did you mean `string`?)");
    let schema = said_beside(&tests, &[("p.yaml", "a:\n  type: object\n  properties: { x: { type: nothing } }\n")]);
    assert!(schema.starts_with("p.yaml:"), "{schema}");
    let circle = "tools:\n  a:\n    arguments:\n      x: { $ref: \"#/definitions/y\" }\ndefinitions:\n  y: { $ref: \"#/definitions/y\" }\n";
    assert!(said_beside(&tests, &[("p.yaml", circle)]).contains("circle"));
}

#[test]
fn reports_that_a_suite_asks_for_are_flags() {
    let text =
        format!("{HEAD}  - {{ id: t, metric: tool_blocklist, blocklist: [a] }}\noutput:\n  format: [sarif, junit]\n");
    let given = Given { name: "s.yaml", text: &text, ..Given::default() };
    given.imports_cleanly();
    assert!(given.judge("{\"calls\": []}").unwrap().passed);
}
