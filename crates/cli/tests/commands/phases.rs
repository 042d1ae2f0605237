//! Conditions before and after a run: selected by phase, evaluated before a run without a trace, and reported as spans.

use crate::folder::Folder;
use serde_json::Value;

const RULES: &str = "pre {\n  file \"${inputs.path}\" exists\n  inputs.count == 2\n}\npost { output.url exists }\nrule other { output == 1 }\n";

/// Returns the verdicts of a JSON report, each after the id of its assertion.
fn verdicts(json: &Value) -> Vec<String> {
    let results = json["runs"][0]["results"].as_array().unwrap();
    results.iter().map(|one| format!("{} {}", one["id"].as_str().unwrap(), one["verdict"].as_str().unwrap())).collect()
}

#[test]
fn before_a_run_there_is_no_trace() {
    let folder = Folder::new(&[("r.assert", RULES), ("a.md", "x")]);
    let ran = folder.aver("check r.assert --phase pre --input path=a.md --input count=2 --format json");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.json()["runs"][0]["run"], "before the run");
    assert_eq!(verdicts(&ran.json()), ["pre.1 pass", "pre.2 pass"]);
    let ran = folder.aver("check r.assert --phase pre --input path=b.md --input count=two --format json");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(verdicts(&ran.json()), ["pre.1 fail", "pre.2 fail"]);
}

#[test]
fn inputs_may_stand_in_a_trace() {
    let folder =
        Folder::new(&[("r.assert", RULES), ("a.md", "x"), ("t.json", r#"{"inputs": {"path": "a.md", "count": 2}}"#)]);
    let ran = folder.aver("check r.assert t.json --phase pre --format json");
    assert_eq!(verdicts(&ran.json()), ["pre.1 pass", "pre.2 pass"], "{ran:?}");
    let ran = folder.aver("check r.assert t.json --phase pre --input path=a.md");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("`--input path=a.md` needs `--phase pre` and no trace"), "{ran:?}");
}

#[test]
fn phases_are_selected() {
    let run = r#"{"inputs": {"path": "a.md", "count": 2}, "output": {"url": "x"}}"#;
    let folder = Folder::new(&[("r.assert", RULES), ("a.md", "x"), ("t.json", run), ("n.assert", "output exists")]);
    let of = |options: &str| verdicts(&folder.aver(&format!("check r.assert t.json --format json {options}")).json());
    assert_eq!(of("--phase post"), ["post.1 pass"]);
    assert_eq!(of("--phase post --phase pre"), ["pre.1 pass", "pre.2 pass", "post.1 pass"]);
    let ran = folder.aver("check n.assert t.json --phase pre");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("nothing to check: no assertion is selected"), "{ran:?}");
    let ran = folder.aver("check r.assert --phase post");
    assert!(ran.err.contains("no trace is given"), "{ran:?}");
}

/// Converts OTLP attribute values to plain JSON.
fn plain(value: &Value) -> Value {
    if let Some(text) = value.get("stringValue") {
        return text.clone();
    }
    if let Some(number) = value.get("intValue") {
        return serde_json::from_str(number.as_str().unwrap()).unwrap();
    }
    if let Some(list) = value.get("arrayValue") {
        return list["values"].as_array().unwrap().iter().map(plain).collect();
    }
    let entries = value["kvlistValue"]["values"].as_array().unwrap();
    entries
        .iter()
        .map(|one| (one["key"].as_str().unwrap().to_owned(), plain(&one["value"])))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[test]
fn results_of_a_manifest_are_spans_of_stop() {
    let manifest = r#"sop: "0.1"
name: juejin-publish
version: 1.2.0
description: Publishes
inputs: [{ name: path, type: string }]
outputs: [{ name: article_url, type: url }, { name: article_id, type: string }]
assertions:
  post:
    - { check: output.article_url, matches: "^https://juejin\\.cn/post/\\d+$" }
    - { check: output.article_id, not_empty: true }
    - { check: http_status, url_pattern: juejin.cn, equals: 200 }
    - { check: file_exists, path: "${inputs.path}" }
    - { check: tool_available, tool: exec }
"#;
    let run = r#"{"output": {"article_url": "https://juejin.cn/post/123", "article_id": "123"}, "inputs": {"path": "a.md"}, "tools": ["exec"],
        "files": [{"path": "a.md", "size": 3}], "http": [{"url": "https://juejin.cn/api", "status": 200}]}"#;
    let folder = Folder::new(&[("skill.yaml", manifest), ("t.json", run)]);
    let ran = folder.aver("check skill.yaml t.json --format spans");
    assert_eq!(ran.code, 0, "{ran:?}");
    let json = ran.json();
    let spans = json["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    let span = spans.iter().find(|span| span["name"] == "post-conditions").unwrap();
    let attribute = |key: &str| {
        plain(&span["attributes"].as_array().unwrap().iter().find(|one| one["key"] == key).unwrap()["value"])
    };
    assert_eq!(attribute("kind"), "assertion.check");
    assert_eq!(
        [attribute("assertions.total"), attribute("assertions.passed"), attribute("assertions.failed")],
        [5, 5, 0]
    );
    let wanted = serde_json::json!([
        {"check": "output.article_url", "status": "pass", "value": "https://juejin.cn/post/123"},
        {"check": "output.article_id", "status": "pass", "value": "123"},
        {"check": "http_status", "status": "pass", "value": 200},
        {"check": "file_exists", "status": "pass", "value": "a.md"},
        {"check": "tool_available", "status": "pass", "value": "exec"}
    ]);
    assert_eq!(attribute("assertions.results"), wanted);
    let trace = folder.aver("check skill.yaml t.json --format stop-trace").out;
    let lines: Vec<serde_json::Value> = trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{trace}");
    for (key, value) in
        [("span_id", "s_assert_001"), ("kind", "assertion.check"), ("name", "post-conditions"), ("status", "ok")]
    {
        assert_eq!(lines[0][key], value);
    }
    assert_eq!(lines[0]["attributes"]["assertions.results"], wanted);
    assert_eq!(lines[0]["attributes"]["assertions.passed"], 5);
    // The spans are again readable as a STOP trace.
    folder.write("spans.jsonl", trace.as_bytes());
    folder.write("any.assert", b"never http\n");
    let read = folder.aver("check any.assert spans.jsonl --format short --allow empty");
    assert!(!read.err.contains("error"), "{read:?}");
    assert!(spans.iter().all(|span| span["name"] != "pre-conditions"));
}
