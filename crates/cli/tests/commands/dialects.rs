//! Rule files of other systems on the command line.

use crate::folder::Folder;
use averment_fixtures as fixtures;
use serde_json::{Value, json};

const WORKFLOW: &str = "blocks:\n  answer:\n    assertions:\n      - type: contains\n        value: refund\n      - type: bleu\n        value: Your refund is on its way.\n        threshold: 0.9\n";
const RUN: &str = r#"{"blocks": {"answer": {"output": "Your refund is on hold.", "cost_usd": 0.01}}}"#;

/// Verdicts and scores, without places and what the system itself says.
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
        ("blocks:\n  a: 1\n  a: 2\n", "stands twice"),
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

/// What each kind of a dialect becomes, as people read it.
#[test]
fn every_kind_is_imported_as_a_sentence_that_is_formatted_and_without_a_lint() {
    let golden = fixtures::project("tests/golden/import");
    let files: Vec<_> =
        fixtures::files(&golden).into_iter().filter(|path| path.extension().is_some_and(|it| it == "yaml")).collect();
    assert!(files.len() >= 8, "{files:?}");
    for path in files {
        let name = fixtures::stem(&path);
        let text = std::fs::read_to_string(&path).unwrap();
        let folder = Folder::new(&[("rules.yaml", text.as_str()), ("run.json", RUN)]);
        let imported = folder.aver("import rules.yaml");
        assert_eq!(imported.code, 0, "{name}: {imported:?}");
        fixtures::compare_file(&golden.join(format!("{name}.assert")), &imported.out);
        folder.write("rules.assert", imported.out.as_bytes());
        assert_eq!(folder.aver("fmt --check rules.assert").code, 0, "{name}");
        let linted = folder.aver("lint rules.assert --format short");
        assert_eq!((linted.code, linted.out.as_str()), (0, ""), "{name}");
        let judge =
            |rules: &str| folder.aver(&format!("check {rules} run.json --format json --allow undecided")).json();
        assert_eq!(judged(&judge("rules.yaml")), judged(&judge("rules.assert")), "{name}");
    }
}

#[test]
fn what_holds_whatever_comes_out_is_told() {
    let rows = [
        ("blocks: {a: {assertions: [{type: contains, value: ''}]}}", "`contains` of nothing holds"),
        ("blocks: {a: {assertions: [{type: contains-any, value: [x, '']}]}}", "`contains-any` of nothing holds"),
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
        ran.code == 3 && told.lines().count() < 600 && told.contains("mend these first"),
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
