//! Diagnostics of unusable manifests: location, message and suggestion.

use super::{manifest, refused};

/// Returns the diagnostics of a manifest with `rest` after its four required keys, which take four lines.
fn said(rest: &str) -> String {
    refused(&manifest(rest))
}

fn of_check(check: &str) -> String {
    said(&format!("assertions:\n  post:\n    - {check}\n"))
}

#[test]
fn the_four_keys_have_to_be_there() {
    let found = refused("sop: \"0.1\"\nname: a\ndescription: \"\"\n");
    assert_eq!(
        found,
        "skill.yaml:1:1: the manifest has no `version` (write `version: …`)\n\
         skill.yaml:3:14: the manifest has no `description` (write `description: …`)"
    );
}

#[test]
fn unknown_words_have_a_suggestion() {
    let cases = [
        ("tool_used: []\n", "5:1: a manifest has no key `tool_used` (did you mean `tools_used`?)"),
        ("inputs: [{ name: a, type: str }]\n", "5:27: there is no type of values `str`"),
        ("inputs: [{ name: a, typ: string }]\n", "5:21: an input has no key `typ` (did you mean `type`?)"),
        (
            "side_effects: [{ type: netwerk }]\n",
            "5:24: there is no type of side effects `netwerk` (did you mean `network`?)",
        ),
        ("observability: { level: L4 }\n", "5:25: there is no level of observability `L4`"),
        ("assertions: { before: [] }\n", "5:15: `assertions` has no key `before`"),
        ("requirements: { env: [A] }\n", "5:17: `requirements` has no key `env`"),
    ];
    for (rest, wanted) in cases {
        let found = said(rest);
        assert!(found.starts_with(&format!("skill.yaml:{wanted}")), "{found}");
    }
}

#[test]
fn checks_are_told_with_what_they_lack() {
    let cases = [
        (
            "{ check: file_exist, path: a }",
            "7:16: there is no type of checks `file_exist` (did you mean `file_exists`?)",
        ),
        (
            "{ check: outputs.url, not_empty: true }",
            "7:16: there is no type of checks `outputs.url` (did you mean `output.url`?)",
        ),
        ("{ path: a }", "7:7: an assertion has no `check` (write `check: …`)"),
        ("{ check: file_exists }", "7:7: a check `file_exists` has no `path` (write `path: …`)"),
        ("{ check: file_exists, path: 5 }", "7:35: `path` of a check `file_exists` is a number"),
        ("{ check: file_exists, path: a, pattern: b }", "7:38: a check `file_exists` has no key `pattern`"),
        ("{ check: file_matches, path: a, pattern: '(' }", "7:48: the regular expression cannot be used"),
        ("{ check: file_matches, path: a, pattern: '(?i)a' }", "7:48: the regular expression cannot be used"),
        ("{ check: env_var, name: A-B }", "7:31: `A-B` is no name of an environment variable"),
        ("{ check: duration, max_ms: 30s }", "7:34: `max_ms` of a check `duration` is a text"),
        ("{ check: http_status, url_pattern: a }", "7:7: a check `http_status` has no `equals`"),
        (
            "{ check: custom, command: \"a | b\" }",
            "7:33: a command is run without a shell, for which `|` would be an argument",
        ),
        ("{ check: custom, command: a, exit_code: one }", "7:47: `exit_code` of a check `custom` is a text"),
        ("{ check: custom, command: \"${inputs.a}\" }", "7:33: `${inputs.a}` names no declared input"),
        ("{ check: output.v, equals: [1] }", "7:34: `equals` is a list, and STOP finds no two of them equal"),
        ("{ check: output.v, not_empty: yes }", "7:37: `not_empty` of a check of an output is a text"),
        ("{ check: output.v, severity: warning }", "7:36: there is no severity `warning` (did you mean `warn`?)"),
        ("file_exists", "7:7: an assertion is a text"),
    ];
    for (check, wanted) in cases {
        let found = of_check(check);
        assert!(found.starts_with(&format!("skill.yaml:{wanted}")), "{check}\n{found}");
    }
}

#[test]
fn a_command_is_not_chosen_by_the_run() {
    let found = of_check("{ check: custom, command: \"${outputs.program} -v\" }");
    assert!(found.starts_with("skill.yaml:7:33: an interpolated value cannot be the program that is run"), "{found}");
}

#[test]
fn inputs_are_declared_wherever_they_are_named() {
    let found = said(
        "inputs: [{ name: article_path, type: file_path }]\nside_effects:\n  - type: filesystem\n    paths: [\"${inputs.artcle_path}\"]\n",
    );
    assert_eq!(
        found,
        "skill.yaml:8:13: `${inputs.artcle_path}` names no declared input (did you mean `${inputs.article_path}`?)"
    );
}

#[test]
fn what_is_no_yaml_is_told() {
    for (text, wanted) in [
        ("sop: \"0.1\"\nsop: \"0.1\"\n", "2:1: the key `sop` occurs twice in one mapping"),
        ("sop: \"0.1\"\n\tname: a\n", "2:2: this is not YAML"),
        ("sop: !version 0.1\n", "1:6: a value with a tag is not read"),
    ] {
        let found = refused(text);
        assert!(found.starts_with(&format!("skill.yaml:{wanted}")), "{found}");
    }
}
