//! Configs, expanded as promptfoo expands them.

use super::imported_text;

fn holds(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.lines().any(|one| one.trim() == *line), "no line `{line}`:\n{text}");
    }
}

#[test]
fn a_config_is_imported_as_cases() {
    let config = r##"
prompts: ["Answer {{name}}"]
providers: [echo]
assertTemplates:
  polite: {type: not-icontains, value: sorry}
defaultTest:
  vars: {lang: en}
  assert: [{$ref: "#/assertTemplates/polite"}]
tests:
  - description: both names
    vars: {name: [Bob, Al]}
    assert:
      - {type: contains, value: "{{ name }} {{ lang }}", metric: Named by}
      - {type: latency, threshold: 500, weight: 0}
  - threshold: 0.5
    vars: {name: Zed}
    options: {disableDefaultAsserts: true}
    assert:
      - {type: icontains, value: zed, weight: 2}
      - {type: assert-set, threshold: 0.5, assert: [{type: is-json}, {type: starts-with, value: Z}]}
"##;
    let text = imported_text(config, &[]);
    let polite = "lower(answer) not matches /sorry/";
    holds(&text, &["case test-0 {", "# both names", polite, "answer contains \"Bob en\" as Named-by"]);
    holds(&text, &["case test-1 {", "answer contains \"Al en\" as Named-by"]);
    holds(&text, &["duration <= 500ms weight 0 severity info"]);
    holds(&text, &["case test-2 {", "lower(answer) contains \"zed\" weight 2 severity info"]);
    holds(&text, &["answer is json weight 0.5 severity info", "answer starts with \"Z\" weight 0.5 severity info"]);
    assert_eq!(text.matches(polite).count(), 2, "{text}");
    assert!(text.contains("/ 3) >= 0.5 weight 0 message"), "{text}");
}

#[test]
fn tests_come_from_files() {
    let config = "prompts: [a]\ntests: ['cases/*.yaml', more.csv, lines.jsonl]\n";
    let beside = [
        ("cases/a.yaml", "- {vars: {x: 1}, assert: [{type: equals, value: one}]}"),
        ("cases/b.yaml", "{vars: {x: 2}, assert: [{type: equals, value: 'file://two.txt'}]}"),
        ("cases/two.txt", "two\n"),
        ("more.csv", "x,__expected,__metric\n3,\"contains: three\",tone\n"),
        ("lines.jsonl", "{\"vars\": {\"x\": 4}, \"assert\": [{\"type\": \"regex\", \"value\": \"fo?ur\"}]}\n"),
    ];
    let text = imported_text(config, &beside);
    holds(
        &text,
        &["answer == \"one\"", "answer == \"two\"", "answer contains \"three\" as tone", "answer matches /fo?ur/"],
    );
}
