//! A complete session, with every message on the wire.

use super::client::Client;
use serde_json::{Value, json};
use std::fmt::Write as _;

fn written(root: &str, value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap();
    text.replace(root, "ROOT").replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

#[test]
fn a_recorded_session() {
    let mut client = Client::in_memory(&[("lib.assert", "let limit = 3\n")]);
    let root = client.root().display().to_string();
    let mut out = String::new();
    client.open("main.assert", "use \"./lib.assert\"\nturns <= limt\n");
    let said = client.diagnostics("main.assert", 1);
    writeln!(out, "<- publishDiagnostics {}", written(&root, &json!(said))).unwrap();
    client.change("main.assert", 2, [1, 9, 1, 13], "limit");
    let said = client.diagnostics("main.assert", 2);
    writeln!(out, "<- publishDiagnostics {}", written(&root, &json!(said))).unwrap();
    for method in ["hover", "definition", "prepareRename", "documentHighlight"] {
        let parameters = client.at("main.assert", 1, 11);
        writeln!(out, "-> {method} {}", written(&root, &parameters)).unwrap();
        let answer = client.request(&format!("textDocument/{method}"), parameters).unwrap();
        writeln!(out, "<- {}", written(&root, &answer)).unwrap();
    }
    let _scope = averment_fixtures::snapshots_in("tests/golden/lsp");
    insta::assert_snapshot!("a-recorded-session", out);
    assert_eq!(client.leave(), 0);
}
