//! Mistakes in a config are reported at their locations.

use super::imported_text;

fn said(text: &str) -> String {
    imported_text(text, &[("texts/a.txt", "words"), ("bad.yaml", "- vars: [")])
}

#[test]
fn broken_configs_are_refused_at_their_place() {
    let config =
        |assertion: &str| format!("prompts: [a]\ntests:\n  - vars: {{x: 1}}\n    assert:\n      - {assertion}\n");
    for (assertion, message) in [
        ("{type: contain, value: a}", "5:16: there is no type of assertion `contain` (did you mean `contains`?)"),
        ("{value: a}", "5:9: an assertion has no `type`"),
        ("{type: contains}", "5:9: `contains` has no value"),
        ("{type: contains, value: [a]}", "5:33: `contains` has a list"),
        ("{type: regex, value: '('}", "5:30: `(` is no regular expression of JavaScript"),
        ("{type: contains, value: '{{ x '}", "5:33: the template cannot be filled"),
        ("{type: contains, value: '{{ x | nothing }}'}", "5:33: the template cannot be filled: unknown filter"),
        ("{type: contains, value: file://gone.txt}", "5:33: the file `gone.txt` does not exist"),
        ("{type: contains, value: file://../up.txt}", "5:33: "),
        (
            "{type: contains, value: a, treshold: 1}",
            "5:36: an assertion has no key `treshold` (did you mean `threshold`?)",
        ),
        ("{type: latency}", "5:9: `latency` has no threshold"),
        ("{type: contains, value: a, weight: -1}", "5:44: a weight is below zero"),
        ("{type: contains-any, value: '\"a'}", "5:37: the list of texts has an open quote"),
        ("{type: assert-set, assert: []}", "5:9: the assertion set has no assertions"),
        ("{$ref: '#/assertTemplates/gone'}", "5:16: `#/assertTemplates/gone` leads nowhere"),
        ("{type: is-json, value: {type: nothing}}", "5:"),
        ("{type: 'trajectory:step-count', value: {type: tools, max: 3}}", "names no kind of step"),
        ("{type: 'trajectory:tool-args-match', value: {name: a, args: {}, mode: odd}}", "`mode` is neither"),
        ("{type: is-sql, value: MySQL}", "5:31: `is-sql` has a text"),
        ("{type: contains-xml, value: {elements: [a]}}", "5:37: `contains-xml` has a mapping"),
        ("{type: not-skill-used, value: {name: a, max: 1}}", "5:39: promptfoo refuses `not-skill-used`"),
        ("{type: not-trace-span-count, value: {pattern: a, max: 1}}", "promptfoo ignores `not-`"),
    ] {
        let said = said(&config(assertion));
        assert!(said.contains(message) && said.contains("promptfooconfig.yaml:5:"), "{assertion}: {said}");
    }
}

#[test]
fn files_that_cannot_be_had_are_said() {
    for (text, message) in [
        ("prompts: [a]\ntests: gone.csv\n", "2:8: the file `gone.csv` does not exist"),
        (
            "prompts: [a]\ntests: file://cases/*.yaml\n",
            "2:8: no file in the folder of this config matches `cases/*.yaml`",
        ),
        ("prompts: [a]\ntests: https://example.org/a.csv\n", "is not a file with tests"),
        ("prompts: [a]\ntests: file://tests.py:make\n", "is not a file with tests"),
        ("prompts: [a]\ntests: bad.yaml\n", "bad.yaml:"),
        ("prompts: [a]\ntests: 5\n", "2:8: a test is a number"),
        ("prompts: [a]\ntests: []\n", "1:1: the config has no tests"),
        (
            "prompts: [a]\ntests: [{vars: {x: file://gone.txt}, assert: [{type: is-json}]}]\n",
            "2:20: the file `gone.txt` does not exist",
        ),
    ] {
        let said = said(text);
        assert!(said.contains(message), "{text}: {said}");
    }
}

#[test]
fn hostile_configs_end() {
    let many = (0..6).map(|n| format!("v{n}: [{}]", vec!["a"; 20].join(", "))).collect::<Vec<_>>().join(", ");
    let combined = format!("prompts: [a]\ntests: [{{vars: {{{many}}}, assert: [{{type: is-json}}]}}]\n");
    assert!(said(&combined).contains("combinations"), "{}", said(&combined));
    let looped = "prompts: [a]\nassertTemplates: {a: {$ref: '#/assertTemplates/a'}}\ntests: [{assert: [{$ref: '#/assertTemplates/a'}]}]\n";
    assert!(said(looped).contains("leads to itself"), "{}", said(looped));
    let repeated = "prompts: [a]\ntests: [{options: {repeat: 999999999}, vars: {x: 1}, assert: [{type: is-json}]}]\n";
    assert!(!said(repeated).is_empty());
}
