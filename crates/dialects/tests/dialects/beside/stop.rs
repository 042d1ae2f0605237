//! STOP: the checks of a phase in a context; each passes or fails.

use super::{BesideInput, compare};
use crate::choices::Choices;
use crate::judged::Given;
use serde_json::{Value as Json, json};

fn value(at: &mut Choices) -> Json {
    at.one_of(&[
        json!("https://example.org/a.md"),
        json!("draft"),
        json!(""),
        json!(0),
        json!(3),
        json!(12.5),
        json!(true),
        json!(false),
        json!(["a"]),
        json!({"k": 1}),
        Json::Null,
    ])
}

fn check(at: &mut Choices) -> Json {
    let path = at.one_of(&["a.md", "out/b.txt", "empty.txt", "none.md", "${inputs.name}.md"]);
    let output = format!("output.{}", at.one_of(&["url", "count", "flag", "gone"]));
    match at.below(12) {
        0 => json!({"check": "file_exists", "path": path}),
        1 => json!({"check": "file_not_empty", "path": path}),
        2 => {
            json!({"check": "file_matches", "path": path, "pattern": at.one_of(&["^# ", "done$", "\\bb\\b", "[0-9]+"])})
        }
        3 => json!({"check": "env_var", "name": at.one_of(&["TOKEN", "EMPTY", "NOBODY"])}),
        4 => json!({"check": "tool_available", "tool": at.one_of(&["exec", "web", "mail"])}),
        5 => json!({"check": "duration", "max_ms": at.one_of(&[0, 500, 1200, 60000])}),
        6 | 7 => json!({"check": output, "not_empty": true}),
        8 => json!({"check": output, "matches": at.one_of(&["^https?://", "a", "^$", "\\d", "true|draft"])}),
        9 => {
            json!({"check": output, "equals": at.one_of(&[json!("draft"), json!(3), json!(true), json!(0), json!(""), json!("3")])})
        }
        10 => json!({"check": output, "greater_than": at.one_of(&[json!(0), json!(2), json!(12.5), json!(-1)])}),
        _ => json!({"check": output, "not_empty": true, "matches": "a", "greater_than": 1}),
    }
}

fn generate(at: &mut Choices) -> BesideInput {
    let phase = at.one_of(&["pre", "post"]);
    let checks: Vec<Json> = (0..1 + at.below(3))
        .map(|_| check(at))
        .filter(|check| {
            phase == "post" || !check["check"].as_str().unwrap().starts_with("output.") && check["check"] != "duration"
        })
        .collect();
    let checks = if checks.is_empty() { vec![json!({"check": "env_var", "name": "TOKEN"})] } else { checks };
    let files = json!({"a.md": "# Title\ndone", "out/b.txt": "a b 12", "empty.txt": ""});
    let context = json!({
        "inputs": {"name": at.one_of(&["a", "zz"])},
        "env": {"TOKEN": "x", "EMPTY": ""},
        "tools": at.one_of(&[json!(["exec"]), json!([]), json!(["web", "mail"])]),
        "outputs": {"url": value(at), "count": value(at), "flag": value(at)},
        "duration_ms": at.one_of(&[0, 500, 1300]),
    });
    let text = format!(
        "sop: \"0.1\"\nname: a-skill\nversion: 1.0.0\ndescription: A skill\ninputs: [{{name: name, type: string}}]\nassertions: {}\n",
        json!({phase: checks})
    );
    let run = json!({
        "inputs": context["inputs"], "output": context["outputs"], "env": context["env"], "files": files,
        "tools": context["tools"], "duration": context["duration_ms"],
    });
    let given = Given { name: "skill.yaml", text: &text, ..Given::default() };
    let dialect = averment_dialects::DIALECTS.iter().find(|dialect| dialect.name() == "STOP").unwrap();
    let found = match given.judge(&run.to_string()) {
        Ok(judged) => {
            let word = |verdict| dialect.verdicts.word_for(verdict).unwrap().word.to_string();
            Json::from(judged.results.iter().map(|(_, verdict, _)| word(*verdict)).collect::<Vec<_>>())
        }
        Err(said) => {
            println!("refused: {said}");
            Json::from("refused")
        }
    };
    BesideInput { asked: json!({"phase": phase, "rules": checks, "context": context, "files": files}), found }
}

#[test]
fn beside_stop() {
    let passes = |outcome: &Json| outcome.as_array().is_some_and(|all| all.iter().all(|one| one == "pass"));
    compare("STOP", generate, passes, |_, _| None);
}
