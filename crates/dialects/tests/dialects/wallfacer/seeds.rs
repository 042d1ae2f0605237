//! The pack in the original document.

use crate::judged::Given;
use averment_fixtures::shared;

/// The document prints a pack without its indentation, so the original pack is used. All fixtures named in the document have the documented result.
#[test]
fn the_pack_of_the_document_holds_its_fixtures() {
    let Some(folder) = shared("seeds") else { return };
    let Some(pack) = shared("conformance/wallfacer/crates/wallfacer-core/packs/error-shape.yaml") else { return };
    let names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let document = names.iter().find(|path| path.file_name().unwrap().to_string_lossy().starts_with("001")).unwrap();
    let (document, pack) = (std::fs::read_to_string(document).unwrap(), std::fs::read_to_string(pack).unwrap());
    let plain = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = pack.lines().map(plain).collect();
    for line in document.lines().map(plain).filter(|line| !line.is_empty()) {
        assert!(lines.contains(&line), "{line}");
    }
    let given = Given { name: "error-shape.yaml", text: &pack, ..Given::default() };
    let tested = given.tested().unwrap();
    let stated: Vec<&str> = document.lines().filter_map(|line| line.trim().strip_prefix("- name: \"")).collect();
    for (name, passed, verdicts) in &tested {
        assert!(stated.contains(&format!("{name}\"").as_str()), "{name}");
        assert!(passed, "{name}: {verdicts:?}");
    }
    assert_eq!(tested.len(), 8);
    given.imports_cleanly();
}

/// Only the calls that a pack is about are judged in a recorded run.
#[test]
fn a_recorded_run_is_judged_by_its_calls() {
    let Some(pack) = shared("conformance/wallfacer/crates/wallfacer-core/packs/error-shape.yaml") else { return };
    let text = std::fs::read_to_string(pack).unwrap();
    let given = Given { name: "error-shape.yaml", text: &text, ..Given::default() };
    let call = |args: &str, response: &str| {
        format!(r#"{{"calls": [{{"tool": "divide", "args": {args}, "response": {response}}}]}}"#)
    };
    let good = given
        .judge(&call(r#"{"a": 1, "b": 0}"#, r#"{"isError": true, "content": [{"type": "text", "text": "no"}]}"#))
        .unwrap();
    assert!(good.passed, "{good:?}");
    let leaks = given.judge(&call(
        r#"{"a": 1, "b": 0}"#,
        r#"{"isError": true, "content": [{"type": "text", "text": "at /home/ann/x.py"}]}"#,
    ));
    assert!(!leaks.unwrap().passed);
    let other =
        given.judge(&call(r#"{"a": 4, "b": 2}"#, r#"{"content": [{"type": "text", "text": "/home/ann"}]}"#)).unwrap();
    assert!(other.rules.iter().all(|(_, verdict, _)| *verdict == averment::Verdict::Skipped), "{other:?}");
}

/// The tags of a pack apply to its invariants. A pack that is extended keeps its own tags.
#[test]
fn tags_of_a_pack_are_those_of_its_invariants() {
    let check = "fixed: {}\n    assert: [{ kind: equals, lhs: { path: $.response.isError }, rhs: { value: true } }]";
    let pack = |name: &str, tags: &str, more: &str| {
        format!(
            "version: 3\nmetadata: {{ name: {name}, tags: {tags}{more} }}\ninvariants:\n  - name: {name}.i\n    tool: t\n    {check}\n"
        )
    };
    let (text, parent) = (pack("own", "[errors, two words, errors]", ", extends: [base]"), pack("base", "[old]", ""));
    let beside = [("packs/base.yaml", parent.as_str())];
    let given = Given { name: "own.yaml", text: &text, beside: &beside, ..Given::default() };
    let imported = given.imported().unwrap();
    assert!(imported.contains("invariant base.i tags old {"), "{imported}");
    assert!(imported.contains("invariant own.i tags errors, two-words {"), "{imported}");
    given.imports_cleanly();
}

const WITNESSES: &str = r#"version: 3
metadata:
  name: w
  parameters:
    witness: { description: "Fails.", type: string, default: divide }
    limit: { type: integer, default: 3 }
    shape: { type: string, default: object }
invariants:
  - name: w.paths
    tool: "{{witness}}"
    fixed: { a: 1, b: ["x-{{witness}}"], c: {{limit}} }
    assert:
      - kind: not
        assertion:
          kind: matches_regex
          path: $.response.text
          pattern: "/home/"
      - { kind: equals, lhs: { path: $.response.tool }, rhs: { value: "{{witness}}" } }
      - { kind: matches_schema, path: $.response, schema: { type: "{{shape}}" } }
sequences:
  - name: w.steps
    steps:
      - { call: "{{witness}}", with: { a: "{{witness}}" }, bind: one }
"#;

/// Imported rules keep the parameters of the pack. A parameter is inlined if a value is given or if the rule language has no place for it.
#[test]
fn imported_rules_keep_the_parameters_of_a_pack() {
    let import =
        |params| Given { name: "pack.yaml", text: WITNESSES, params, ..Given::default() }.import_rules(true).unwrap();
    let text = import(&[]);
    for line in [
        "# Fails.\nparam witness: string = \"divide\"\n",
        "param limit: number = 3\n",
        "# In paths, patterns, schemas, fixtures and names the parameter shape is written out: \"object\".\n",
        "call \"${witness}\" { a: 1, b: [\"x-${witness}\"], c: limit }",
        "=== \"${witness}\"",
        "where tool == \"${witness}\" and args.a == \"${witness}\")",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(!text.contains("param shape"), "{text}");
    let text = import(&[("witness", "boom")]);
    assert!(text.contains("call boom { a: 1, b: [\"x-boom\"], c: limit }"), "{text}");
}

/// A pattern that must not match is reported with the words and at the line of the pack.
#[test]
fn a_pattern_that_must_not_match_is_drawn_at_its_line() {
    let given = Given { name: "pack.yaml", text: WITNESSES, ..Given::default() };
    let run = |response: &str| {
        format!(
            r#"{{"calls": [{{"tool": "divide", "args": {{"a": 1, "b": ["x-divide"], "c": 3}}, "response": {response}}}]}}"#
        )
    };
    let judged = |response: &str| format!("{:?}", given.judge(&run(response)).unwrap());
    let failed = judged(r#"{"text": "at /home/ann", "tool": "divide"}"#);
    assert!(!failed.contains("is_text"), "{failed}");
    for response in [r#"{"text": "no", "tool": "divide"}"#, r#"{"tool": "divide"}"#, r#"{"text": 3, "tool": "divide"}"#]
    {
        let judged = given.judge(&run(response)).unwrap();
        assert!(judged.passed, "{response}: {judged:?}");
    }
}
