//! The meaning of each check.

use super::{imported, manifest, words};

/// Returns the result of a single check after the run.
fn check(check: &str, run: &str) -> &'static str {
    words(&manifest(&format!("assertions:\n  post:\n    - {check}\n")), run).unwrap()[0]
}

#[test]
fn a_manifest_reads_like_rules() {
    let text = r#"sop: "0.1"
name: publish-article
version: 1.2.0
description: Publishes an article
inputs:
  - { name: article_path, type: file_path, required: true }
  - { name: folder, type: dir_path, default: out }
outputs:
  - { name: article_url, type: url }
  - { name: words, type: number }
tools_used: [exec, web_fetch]
side_effects:
  - type: filesystem
    access: read
    paths: ["${inputs.article_path}"]
  - type: filesystem
    access: write
    paths: ["./${inputs.folder}/", "logs/*.txt"]
  - { type: network, destinations: [example.com] }
requirements: { env_vars: [SESSION] }
assertions:
  pre:
    - { check: file_exists, path: "${inputs.article_path}", message: "The article must exist" }
    - { check: env_var, name: SESSION, severity: warn }
    - { check: tool_available, tool: exec }
  post:
    - { check: output.article_url, matches: "^https://example\\.com/\\d+$" }
    - { check: output.words, not_empty: true, greater_than: 10, severity: error }
    - { check: file_not_empty, path: "${inputs.folder}/${outputs.name}.html" }
    - { check: http_status, url_pattern: example.com, equals: 200 }
    - { check: http_status, equals: 200 }
    - { check: duration, max_ms: 1500 }
    - { check: custom, command: "python3 check.py ${outputs.article_url}" }
"#;
    let formatted =
        averment_syntax::fmt::format_text(&imported(text), &averment_syntax::fmt::FormatOptions::default()).unwrap();
    let _scope = averment_fixtures::snapshots_in("crates/dialects/tests/dialects/stop");
    insta::assert_snapshot!("manifest", formatted);
    words(text, r#"{"output": {}}"#).unwrap();
}

#[test]
fn values_without_anything_in_them_are_empty() {
    let empty =
        |value: &str| check("{ check: output.v, not_empty: true }", &format!(r#"{{"output": {{"v": {value}}}}}"#));
    for value in ["null", "\"\"", "0", "false", "[]", "{}"] {
        assert_eq!(empty(value), "fail", "{value}");
    }
    for value in ["\" \"", "1", "-1", "true", "[0]", "{\"a\": 0}", "\"false\""] {
        assert_eq!(empty(value), "pass", "{value}");
    }
    assert_eq!(check("{ check: output.v, not_empty: true }", r#"{"output": {}}"#), "fail");
}

#[test]
fn outputs_are_looked_at_as_text_where_their_type_is_not_declared() {
    let matches = |pattern: &str, value: &str| {
        check(&format!("{{ check: output.v, matches: '{pattern}' }}"), &format!(r#"{{"output": {{"v": {value}}}}}"#))
    };
    assert_eq!(matches("^12$", "12"), "pass");
    assert_eq!(matches("^a,b$", r#"["a", "b"]"#), "pass");
    assert_eq!(matches("^$", "null"), "pass");
    assert_eq!(matches("null", "null"), "fail");
    assert_eq!(matches("^https:", "\"http://x\""), "fail");
}

#[test]
fn patterns_are_those_of_javascript() {
    let matches = |pattern: &str, text: &str| {
        check(&format!("{{ check: output.v, matches: '{pattern}' }}"), &format!(r#"{{"output": {{"v": "{text}"}}}}"#))
    };
    assert_eq!((matches("^a(?!b)", "ac"), matches("^a(?!b)", "ab")), ("pass", "fail"));
    assert_eq!((matches(r"(\w)\1", "aa"), matches(r"(\w)\1", "ab")), ("pass", "fail"));
    assert_eq!(matches("/x$", "a/x"), "pass");
    let file = |text: &str| {
        check(
            "{ check: file_matches, path: a, pattern: '(?<=: )ok' }",
            &format!(r#"{{"files": {{"a": "{text}"}}, "output": 1}}"#),
        )
    };
    assert_eq!((file("status: ok"), file("ok")), ("pass", "fail"));
}

#[test]
fn what_the_run_does_not_record_is_no_pass() {
    assert_eq!(check("{ check: duration, max_ms: 10 }", "{\"output\": {}}"), "fail");
    assert_eq!(check("{ check: tool_available, tool: exec }", "{\"output\": {}}"), "fail");
    assert_eq!(check("{ check: http_status, equals: 200 }", "{\"output\": {}}"), "fail");
    assert_eq!(check("{ check: output.v, equals: null }", "{\"output\": {}}"), "fail");
}

#[test]
fn steps_outside_of_what_is_declared_are_found() {
    let skill =
        |effects: &str| manifest(&format!("inputs: [{{ name: dir, type: dir_path }}]\nside_effects: {effects}\n"));
    let run = |writes: &str, url: &str| {
        format!(
            r#"{{"inputs": {{"dir": "./out"}}, "writes": [{writes}], "reads": [], "http": [{{"url": "{url}", "status": 200}}]}}"#
        )
    };
    let text = skill(
        r#"[{type: filesystem, access: write, paths: ["${inputs.dir}"]}, {type: network, destinations: [juejin.cn]}]"#,
    );
    let found = |writes: &str, url: &str| words(&text, &run(writes, url)).unwrap();
    assert_eq!(found("\"out/a.md\", \"./out/b/c.md\"", "https://juejin.cn/x"), ["pass", "pass"]);
    assert_eq!(found("\"outer/a.md\"", "https://api.juejin.cn:443/x"), ["fail", "pass"]);
    assert_eq!(found("\"out/../etc/passwd\"", "https://juejin.cn:a@example.com/"), ["fail", "fail"]);
    assert_eq!(found("\"out\"", "https://example.com/?to=https://juejin.cn/"), ["pass", "fail"]);
    let none = skill("[{type: message}]");
    assert_eq!(words(&none, &run("\"a\"", "https://juejin.cn/")).unwrap(), ["fail", "fail"]);
    let anywhere = skill("[{type: filesystem}, {type: network}]");
    assert_eq!(words(&anywhere, &run("\"a\"", "https://juejin.cn/")).unwrap(), [] as [&str; 0]);
}

#[test]
fn other_tools_than_the_declared_ones_are_found() {
    let text = manifest("tools_used: [exec, web-fetch, \"read file\"]\n");
    let run = |tool: &str| format!(r#"{{"calls": [{{"tool": "{tool}"}}]}}"#);
    for (tool, wanted) in [("exec", "pass"), ("web-fetch", "pass"), ("read file", "pass"), ("execute", "fail")] {
        assert_eq!(words(&text, &run(tool)).unwrap(), [wanted], "{tool}");
    }
    assert_eq!(words(&manifest("tools_used: []\n"), &run("exec")).unwrap(), ["fail"]);
}
