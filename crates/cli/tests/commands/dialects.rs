//! Rule files of other systems on the command line.

use crate::folder::Folder;
use averment_fixtures as fixtures;
use serde_json::{Value, json};

const WORKFLOW: &str = "blocks:\n  answer:\n    assertions:\n      - type: contains\n        value: refund\n      - type: bleu\n        value: Your refund is on its way.\n        threshold: 0.9\n";
const RUN: &str = r#"{"blocks": {"answer": {"output": "Your refund is on hold.", "cost_usd": 0.01}}}"#;

/// Returns verdicts and scores, without locations and messages.
fn judged(report: &Value) -> Vec<Value> {
    let results = report["runs"][0]["results"].as_array().unwrap();
    results.iter().map(|one| json!([one["id"], one["verdict"], one["score"]])).collect()
}

#[test]
fn a_foreign_file_is_checked_at_its_own_lines_and_as_it_is_imported() {
    let folder = Folder::new(&[("w.yaml", WORKFLOW), ("run.json", RUN)]);
    let own = folder.aver("check w.yaml run.json --format json");
    assert_eq!(own.code, 1, "{own:?}");
    let results = own.json()["runs"][0]["results"].clone();
    assert_eq!(results[0]["own"], json!({"system": "Runsight", "verdict": "passed", "score": 1.0}));
    assert_eq!(results[1]["location"], json!({"file": "w.yaml", "line": 6, "column": 9}));
    assert_eq!(results[1]["own"]["verdict"], "failed");
    assert_eq!(results[1]["own"]["score"], results[1]["score"]);
    let imported = folder.aver("import w.yaml");
    assert_eq!((imported.code, imported.err.as_str()), (0, ""), "{imported:?}");
    let folder = Folder::new(&[("i.assert", imported.out.as_str()), ("run.json", RUN)]);
    let again = folder.aver("check -r i.assert run.json --format json");
    assert_eq!(judged(&again.json()), judged(&own.json()), "{again:?}");
    assert_eq!(again.json()["runs"][0]["results"][0].get("own"), None);
    assert_eq!(folder.aver("fmt --check i.assert").code, 0);
    assert_eq!(folder.aver("lint i.assert").code, 0);
}

#[test]
fn what_is_wrong_with_a_foreign_file_is_told_at_its_line() {
    let rows = [
        ("blocks: {a: {assertions: [{type: containz, value: x}]}}", "did you mean `contains`?"),
        ("blocks: {a: {assertions: [{type: contains, valeu: x}]}}", "did you mean `value`?"),
        ("blocks: {a: {assertions: [{type: regex, value: '(a'}]}}", "is no regular expression of Python"),
        ("blocks:\n  a: 1\n  a: 2\n", "occurs twice"),
        ("blocks:\n\ta: 1\n", "spaces for the tab"),
        ("blocks: !x {a: 1}\n", "tag"),
        ("blocks: {a: {assertions: []}}", "has no assertion"),
        ("name: nothing of ours\n", "no rules of a system"),
        ("suit: x\ntest: []\n", "did you mean `suite`?"),
    ];
    for (text, said) in rows {
        let folder = Folder::new(&[("w.yaml", text), ("run.json", RUN)]);
        let ran = folder.aver("check w.yaml run.json --format short");
        assert_eq!(ran.code, 3, "{text}: {ran:?}");
        let told = format!("{}{}", ran.out, ran.err);
        assert!(told.contains("w.yaml:") && told.contains(said), "{text}: {told}");
        assert_eq!(folder.aver("import w.yaml").code, 3, "{text}");
    }
}

#[test]
fn cases_with_recorded_outputs_are_tests() {
    let suite = "eval:\n  threshold: 0.5\n  cases:\n    - id: one\n      fixtures: {a: fine}\n      expected: {a: [{type: contains, value: fine}]}\n    - id: two\n      fixtures: {a: bad}\n      expected: {a: [{type: contains, value: fine}]}\n";
    let folder = Folder::new(&[("s.yaml", suite)]);
    assert_eq!(folder.aver("test s.yaml").code, 0);
    let folder = Folder::new(&[("s.yaml", suite.replace("0.5", "0.6").as_str())]);
    assert_eq!(folder.aver("test s.yaml").code, 1);
}

/// Snapshots of the imported rules for each kind of check of each dialect.
#[test]
fn every_kind_is_imported_as_a_sentence_that_is_formatted_and_without_a_lint() {
    let golden = fixtures::project("tests/golden/import");
    let mut files = fixtures::files(&golden);
    files.retain(|path| path.extension().is_some_and(|it| it == "yaml" || it == "ts"));
    assert!(files.len() >= 9, "{files:?}");
    for path in files {
        let name = fixtures::stem(&path);
        let text = std::fs::read_to_string(&path).unwrap();
        let own = format!("rules.{}", path.extension().unwrap().display());
        let folder = Folder::new(&[(own.as_str(), text.as_str()), ("run.json", RUN)]);
        let imported = folder.aver(&format!("import {own}"));
        assert_eq!(imported.code, 0, "{name}: {imported:?}");
        let _scope = fixtures::snapshot_beside(&path);
        insta::assert_snapshot!(name.as_str(), imported.out);
        folder.write("rules.assert", imported.out.as_bytes());
        assert_eq!(folder.aver("fmt --check rules.assert").code, 0, "{name}");
        let linted = folder.aver("lint rules.assert --format short");
        assert_eq!((linted.code, linted.out.as_str()), (0, ""), "{name}");
        let judge =
            |rules: &str| folder.aver(&format!("check {rules} run.json --format json --allow undecided")).json();
        // A suite with parts that only a program can decide cannot be checked directly.
        if imported.out.contains("not read: ") {
            let refused = folder.aver(&format!("check {own} run.json --format short"));
            assert!(refused.code == 3 && refused.out.contains("not read: "), "{refused:?}");
        } else {
            assert_eq!(judged(&judge(&own)), judged(&judge("rules.assert")), "{name}");
        }
    }
}

#[test]
fn a_suite_in_typescript_is_checked_at_its_own_lines() {
    let suite = "import { assert } from \"skillgym\";\nexport default [\n  { id: \"c\", prompt: \"p\", assert(report) {\n    assert.commands.includes(report, \"npm test\", { message: \"run them\" });\n    assert.output.notEmpty(report);\n  } },\n];\n";
    let run = r#"{"prompt": "p", "output": "done", "commands": [{"command": "npm ci"}]}"#;
    let folder = Folder::new(&[("a-suite.ts", suite), ("run.json", run)]);
    let ran = folder.aver("check a-suite.ts run.json --format short");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.starts_with("a-suite.ts:4:5: error[c.1]: fail in run.json: run them: "), "{ran:?}");
    let report = folder.aver("check a-suite.ts run.json --format json").json();
    assert_eq!(report["runs"][0]["results"][0]["own"], json!({"system": "SkillGym", "verdict": "failed"}));
    folder
        .aver("run a-suite.ts --allow-run")
        .refused(&["`a-suite.ts` is a file of SkillGym", "aver import a-suite.ts > suite.assert"]);
    // A file that is no suite is rejected with a hint about what a suite contains.
    for (name, text, said) in [
        ("b.ts", "const x = 1;\n", "it has no default export"),
        ("c.js", "", "it has no default export"),
        ("d.mts", "export default {", "is a bracket or a quote open?"),
    ] {
        let folder = Folder::new(&[(name, text), ("run.json", run)]);
        let ran = folder.aver(&format!("check {name} run.json --format short"));
        assert!(ran.code == 3 && ran.out.contains(said), "{name}: {ran:?}");
        assert_eq!(folder.aver(&format!("import {name}")).code, 3);
    }
}

#[test]
fn what_holds_whatever_comes_out_is_told() {
    let rows = [
        ("blocks: {a: {assertions: [{type: contains, value: ''}]}}", "`contains` without a value holds"),
        ("blocks: {a: {assertions: [{type: contains-any, value: [x, '']}]}}", "`contains-any` without a value holds"),
        (
            "eval: {threshold: 0, cases: [{id: a, fixtures: {b: x}, expected: {b: [{type: contains, value: y}]}}]}",
            "passes whatever comes out",
        ),
        ("version: 2\ninvariants: [{name: a, tool: t, fixed: {}, assert: []}]", "`a` asserts nothing"),
        (
            "version: 2\ninvariants: [{name: a, tool: t, fixed: {}, assert: [{kind: all_of, assert: []}]}]",
            "asserts nothing",
        ),
    ];
    for (text, said) in rows {
        let folder = Folder::new(&[("w.yaml", text)]);
        let ran = folder.aver("lint w.yaml --format short");
        assert!(ran.code == 1 && ran.out.contains("warning[always-true]") && ran.out.contains(said), "{text}: {ran:?}");
    }
}

#[test]
fn a_file_with_very_many_mistakes_is_told_of_in_bounds() {
    let keys: String = (0..20_000).map(|number| format!("k{number}: 1\n")).collect();
    let text = format!("version: '1'\nsuite: x\ntests: [{{id: a, metric: tool_blocklist, blocklist: [b]}}]\n{keys}");
    let folder = Folder::new(&[("w.yaml", text.as_str()), ("run.json", RUN)]);
    let ran = folder.aver("check w.yaml run.json --format short");
    let told = format!("{}{}", ran.out, ran.err);
    assert!(
        ran.code == 3 && told.lines().count() < 600 && told.contains("fix these first"),
        "{}",
        told.lines().count()
    );
}

#[test]
fn a_value_that_fits_no_schema_names_the_line_of_the_schema() {
    let policy =
        "version: \"2.0\"\nschemas:\n  pay:\n    type: object\n    properties:\n      amount:\n        maximum: 30\n";
    let run = r#"{"calls": [{"tool": "pay", "args": {"amount": 50}}]}"#;
    let folder = Folder::new(&[("policy.yaml", policy), ("run.json", run)]);
    let ran = folder.aver("check policy.yaml run.json --format json");
    let reason = ran.json()["runs"][0]["results"][0]["reason"].as_str().unwrap().to_owned();
    assert!(ran.code == 1 && reason.contains("by policy.yaml:7)"), "{reason}");
}
