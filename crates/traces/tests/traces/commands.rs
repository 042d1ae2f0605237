//! Parsed commands, against the vectors of a tool that people use for it.

use averment_runs::command::parse_plain;
use serde_json::{Value, json};

#[test]
fn the_plain_reading_agrees_with_the_vectors() {
    let Some(path) = averment_fixtures::shared("conformance/skillgym/golden_parse_command.jsonl") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let (mut good, mut all) = (0, 0);
    for line in text.lines() {
        let vector: Value = serde_json::from_str(line).unwrap();
        let command = vector["command"].as_str().unwrap();
        let found = parse_plain(command);
        let values = |values: Vec<Option<String>>| {
            values.into_iter().map(|value| value.map_or(json!(true), Into::into)).collect::<Value>()
        };
        let found = json!({
            "executable": found.executable,
            "positionals": found.positionals,
            "options": found.options.into_iter().map(|(name, list)| (name, values(list))).collect::<serde_json::Map<_, _>>(),
            "endOfOptions": found.end_of_options,
            "normalizedFromShell": found.unwrapped,
        });
        all += 1;
        good += usize::from(found == vector["expected"]);
        if found != vector["expected"] {
            eprintln!("{command}: {found} instead of {}", vector["expected"]);
        }
    }
    eprintln!("parsed commands: {good}/{all}");
    assert_eq!(good, all);
}

/// The verdict of one rule on a run with one command.
fn verdict(rule: &str, command: &str) -> &'static str {
    let rules = averment_fixtures::Rules::from_text("t", rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
    let run = json!({"commands": [{"command": command}], "calls": []}).to_string();
    rules.check_json(&run).unwrap().results[0].verdict.as_str()
}

#[test]
fn no_program_of_a_line_hides_behind_another() {
    for command in [
        "rm -rf build",
        "rm -r -f build",
        "npm test && rm -rf build",
        "bash -lc 'cd x; sudo rm -fr .'",
        "ls | xargs rm -rf",
        "echo $(rm -rf x)",
    ] {
        assert_eq!(verdict("never command rm(flags: [\"-r\", \"-f\"])", command), "fail", "{command}");
    }
    for command in ["rm x", "echo rm -rf x", "git rm -r -f x", "rm x && cp -rf a b"] {
        assert_eq!(verdict("never command rm(flags: [\"-r\", \"-f\"])", command), "pass", "{command}");
    }
    assert_eq!(
        verdict("require command npm(args: [\"test\"], flags: [\"--watch\"])", "cd app && npm --watch test"),
        "pass"
    );
    assert_eq!(verdict("require command npm(args: [\"test\"])", "npm ci && make test"), "fail");
    assert_eq!(verdict("require command npm(args == [\"run\", \"lint\"])", "npm run lint"), "pass");
    assert_eq!(verdict("require command \"npm*\"", "npm*"), "pass");
    assert_eq!(
        verdict("require command npm(options[\"--filter\"] contains \"unit\")", "npm test --filter=unit"),
        "pass"
    );
    assert_eq!(verdict("require command npm(exit_code == 0)", "npm test"), "undecided");
}

#[test]
fn the_fields_of_a_command_are_those_of_its_main_program() {
    assert_eq!(verdict("each command: program == \"npm\" and \"ci\" in args", "cd app && npm ci"), "pass");
    assert_eq!(verdict("require command where any p in parts: p.program == \"cd\"", "cd app && npm ci"), "pass");
    let rules = averment_fixtures::Rules::from_text("t", "require command npm(args: [\"x\"])").unwrap();
    let recorded = r#"{"commands": [{"command": "?", "program": "npm", "args": ["x"]}]}"#;
    assert_eq!(rules.check_json(recorded).unwrap().results[0].verdict.as_str(), "pass");
}

#[test]
fn a_binding_is_asked_of_the_program_it_stands_with() {
    let rule = "before read($_) -> command rm(args contains $p)".replace("read($_)", "read(path: $p)");
    let verdict = |run: &str| {
        let rules = averment_fixtures::Rules::from_text("t", &rule).unwrap_or_else(|error| panic!("{error}"));
        rules.check_json(run).unwrap().results[0].verdict.as_str()
    };
    let run = |line: &str| {
        format!(r#"{{"steps": [{{"kind": "read", "path": "a"}}, {{"kind": "command", "command": "{line}"}}]}}"#)
    };
    assert_eq!(verdict(&run("ls && rm a")), "pass");
    assert_eq!(verdict(&run("echo a && rm b")), "fail");
}
