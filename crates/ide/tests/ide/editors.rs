//! Checks that the files of the editor packages agree with the language. `UPDATE_GENERATED=1 cargo test -p averment-ide --test ide editors` updates
//! the snippets.

use averment_ide::assist::{Role, Word, words_with_role};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

fn vscode() -> PathBuf {
    averment_fixtures::root().join("editors/vscode")
}

fn snippet(word: &Word) -> Value {
    let body: Vec<&str> = word.snippet.split('\n').collect();
    json!({ "prefix": word.word, "body": body, "description": word.doc })
}

#[test]
fn snippets_are_those_of_completion() {
    let mut all = Map::new();
    for word in [Role::Statement, Role::Declaration]
        .into_iter()
        .flat_map(words_with_role)
        .filter(|word| word.snippet.contains("${"))
    {
        all.insert(format!("{} {}", word.role.noun(), word.word), snippet(word));
    }
    let text = serde_json::to_string_pretty(&Value::Object(all)).unwrap() + "\n";
    averment_fixtures::compare_generated(&vscode().join("snippets/assert.json"), &text);
}

#[test]
fn the_extension_serves_the_settings_and_files_of_the_server() {
    let manifest: Value =
        serde_json::from_str(&std::fs::read_to_string(vscode().join("package.json")).unwrap()).unwrap();
    let properties = manifest["contributes"]["configuration"]["properties"].as_object().unwrap();
    for setting in ["averment.run", "averment.lint", "averment.inlayHints", "averment.codeLens"] {
        assert!(properties.contains_key(setting), "{setting}");
    }
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(manifest["contributes"]["languages"][0]["extensions"], json!([".assert"]));
}
