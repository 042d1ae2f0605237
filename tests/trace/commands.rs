//! Parsed commands, against the vectors of a tool that people use for it.

use averment::trace::command::plain;
use serde_json::{Value, json};

#[test]
fn the_plain_reading_agrees_with_the_vectors() {
    let Some(path) = crate::shared("conformance/skillgym/golden_parse_command.jsonl") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let (mut good, mut all) = (0, 0);
    for line in text.lines() {
        let vector: Value = serde_json::from_str(line).unwrap();
        let command = vector["command"].as_str().unwrap();
        let found = plain(command);
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
