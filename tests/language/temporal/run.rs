//! Runs in short: `approve{"id":1} refund!@2 ...` is two calls and more to come.

use averment_base::truth::Verdict;
use averment_fixtures::Rules;
use serde_json::{Value, json};

/// A run of calls, one word each: the tool, then its arguments as a JSON object (none: `{}`), then marks: `!` failed, `?` status not
/// recorded, `~` arguments not recorded, `-` denied, `@N` turn, `+N` start, `=N` end. A word `...` says that the run is not complete.
pub fn run(text: &str) -> Value {
    let mut calls = Vec::new();
    let mut run = json!({});
    for word in words(text) {
        if word == "..." {
            run["complete"] = Value::Bool(false);
        } else {
            calls.push(call(word));
        }
    }
    run["calls"] = Value::Array(calls);
    run
}

fn words(text: &str) -> Vec<&str> {
    let (mut words, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, character) in text.char_indices().chain([(text.len(), ' ')]) {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ' ' if depth == 0 => {
                words.extend(Some(&text[start..at]).filter(|word| !word.is_empty()));
                start = at + 1;
            }
            _ => {}
        }
    }
    words
}

fn call(word: &str) -> Value {
    let end = word.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(word.len());
    let (tool, mut rest) = word.split_at(end);
    let mut call = json!({"tool": tool, "args": {}, "status": "ok"});
    if rest.starts_with('{') {
        let end = rest.rfind('}').unwrap() + 1;
        call["args"] = serde_json::from_str(&rest[..end]).unwrap();
        rest = &rest[end..];
    }
    let mut marks = rest;
    while let Some(mark) = marks.chars().next() {
        let behind = &marks[1..];
        let digits = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        let number = || json!(behind[..digits].parse::<u64>().unwrap());
        match mark {
            '!' => call["status"] = json!("failed"),
            '?' => drop(call.as_object_mut().unwrap().remove("status")),
            '~' => drop(call.as_object_mut().unwrap().remove("args")),
            '-' => call["status"] = json!("denied"),
            '@' => call["turn"] = number(),
            '+' => call["start"] = number(),
            '=' => call["end"] = number(),
            other => panic!("no mark: `{other}` in `{word}`"),
        }
        marks = if matches!(mark, '@' | '+' | '=') { &behind[digits..] } else { behind };
    }
    call
}

/// The rules of a text; panics with the diagnostics when they do not compile.
pub fn rules(text: &str) -> Rules {
    Rules::from_text("rules.assert", text).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// The verdicts of all assertions on a run.
pub fn verdicts(rules: &Rules, run: &Value) -> Vec<Verdict> {
    let outcome = rules.check_json(&run.to_string()).unwrap_or_else(|error| panic!("{run}\n{error}"));
    outcome.results.iter().map(|result| result.verdict).collect()
}

/// The verdict of one assertion.
pub fn verdict(rule: &str, run: &Value) -> Verdict {
    let verdicts = verdicts(&rules(rule), run);
    assert_eq!(verdicts.len(), 1, "{rule}");
    verdicts[0]
}

/// Checks a table: a rule with runs and their verdicts.
pub fn check(rows: &[(&str, &[(&str, Verdict)])]) {
    let mut wrong = Vec::new();
    for (rule, cases) in rows {
        for (text, expected) in *cases {
            let found = verdict(rule, &run(text));
            if found != *expected {
                wrong.push(format!("{rule}\n  on {text}\n  should be {}, is {}", expected.as_str(), found.as_str()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
