//! Rule files of other systems in an editor.

use super::client::Client;
use serde_json::{Value, json};

const WORKFLOW: &str = "blocks:\n  answer:\n    assertions:\n      - type: containz\n        value: refund\n      - type: regex\n        value: '(a'\n";
const PARENT: &str = "version: 2\nmetadata: { name: parent }\ninvariants:\n  - name: answers\n    tool: ping\n    fixed: {}\n    assert: [{ kind: is_type, path: \"$.response.isError\", type: boolean }]\n";

#[test]
fn what_is_wrong_is_shown_in_the_yaml_and_taken_back() {
    let mut client = Client::over_stdio(&[], json!({}));
    client.open("workflow.yaml", WORKFLOW);
    let shown = client.messages("workflow.yaml", 1);
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert!(shown[0].starts_with("4: ") && shown[0].contains("did you mean `contains`?"), "{shown:?}");
    assert!(shown[1].starts_with("7: ") && shown[1].contains("no regular expression of Python"), "{shown:?}");
    client.replace("workflow.yaml", 2, &WORKFLOW.replace("containz", "contains").replace("(a", "a"));
    assert!(client.messages("workflow.yaml", 2).is_empty());
    client.replace("workflow.yaml", 3, "blocks:\n\tanswer: 1\n");
    let shown = client.messages("workflow.yaml", 3);
    assert!(shown.len() == 1 && shown[0].starts_with("2: ") && shown[0].contains("spaces for the tab"), "{shown:?}");
    assert_eq!(client.leave(), 0);
}

#[test]
fn yaml_of_others_is_left_alone() {
    let mut client = Client::over_stdio(&[], json!({}));
    client.open("compose.yaml", "services:\n  web:\n    image: nginx\n");
    assert!(client.messages("compose.yaml", 1).is_empty());
    client.open("broken.yml", "services: [\n");
    assert!(client.messages("broken.yml", 1).is_empty());
    assert_eq!(client.leave(), 0);
}

#[test]
fn a_pack_is_judged_again_when_the_pack_that_it_extends_changes() {
    let own = "version: 2\nmetadata: { name: own, extends: [parent] }\ninvariants: []\n";
    let mut client = Client::over_stdio(&[("parent.yaml", PARENT)], json!({}));
    client.open("own.yaml", own);
    assert!(client.messages("own.yaml", 1).is_empty());
    client.open("parent.yaml", PARENT);
    assert!(client.messages("parent.yaml", 1).is_empty() && client.messages("own.yaml", 1).is_empty());
    client.replace("parent.yaml", 2, &PARENT.replace("is_type", "is_tipe"));
    let shown = client.messages("parent.yaml", 2);
    assert!(shown.len() == 1 && shown[0].starts_with("7: ") && shown[0].contains("`is_type`"), "{shown:?}");
    assert_eq!(client.leave(), 0);
}

#[test]
fn nothing_of_the_language_is_offered_in_yaml() {
    let mut client = Client::over_stdio(&[], json!({}));
    client.open("workflow.yaml", WORKFLOW);
    assert_eq!(client.messages("workflow.yaml", 1).len(), 2);
    let uri = client.uri("workflow.yaml");
    let options = json!({ "textDocument": { "uri": uri }, "options": { "tabSize": 2, "insertSpaces": true } });
    let nothing = |answer: &Value| answer.is_null() || answer.as_array().is_some_and(Vec::is_empty);
    let formatted = client.request("textDocument/formatting", options).unwrap();
    assert!(nothing(&formatted), "{formatted}");
    for (method, line, column) in [
        ("completion", 0, 0),
        ("completion", 3, 14),
        ("completion", 6, 0),
        ("hover", 0, 2),
        ("hover", 4, 16),
        ("definition", 3, 16),
    ] {
        let at = client.at("workflow.yaml", line, column);
        let answer = client.request(&format!("textDocument/{method}"), at).unwrap();
        let empty = nothing(&answer) || answer["items"].as_array().is_some_and(Vec::is_empty);
        assert!(empty, "{method} {line}:{column}: {answer}");
    }
    assert_eq!(client.leave(), 0);
}
