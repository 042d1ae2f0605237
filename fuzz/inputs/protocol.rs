//! The language server: a document, edits and requests, well formed or not.
//!
//! An input is a document, then lines that begin with `#>`: `#> hover LINE COLUMN`, `#> change LINE COLUMN LINE COLUMN TEXT`, or
//! `#> raw JSON` for a message as it is.

use averment_ide::lsp::serve;
use lsp_server::{Connection, Message};
use serde_json::{Value, json};

const URI: &str = "file:///averment-nowhere/main.assert";

/// Serves a client that says what an input holds.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (server, client) = Connection::memory();
    let Connection { sender, receiver } = client;
    std::thread::scope(|scope| {
        let served = scope.spawn(move || serve(server));
        scope.spawn(move || receiver.iter().for_each(drop));
        for message in messages(&text).into_iter().filter_map(|value| serde_json::from_value::<Message>(value).ok()) {
            if sender.send(message).is_err() {
                break;
            }
        }
        drop(sender);
        assert!(served.join().is_ok(), "the server broke down");
    });
}

/// The messages of a session.
fn messages(text: &str) -> Vec<Value> {
    let (document, said): (Vec<&str>, Vec<&str>) = text.split('\n').partition(|line| !line.starts_with("#>"));
    let item = json!({"uri": URI, "languageId": "assert", "version": 1, "text": document.join("\n")});
    let mut all = vec![
        json!({"id": 1, "method": "initialize", "params": {"capabilities": {}, "processId": null, "rootUri": null}}),
        json!({"method": "initialized", "params": {}}),
        json!({"method": "textDocument/didOpen", "params": {"textDocument": item}}),
    ];
    all.extend(
        said.iter().take(60).enumerate().filter_map(|(number, line)| message(2 + number, line.get(2..)?.trim_start())),
    );
    all.push(json!({"id": 1000, "method": "shutdown"}));
    all.push(json!({"method": "exit"}));
    all
}

/// What one line stands for.
fn message(id: usize, line: &str) -> Option<Value> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    if word == "raw" {
        return serde_json::from_str(rest).ok();
    }
    let mut words = rest.splitn(5, ' ');
    let mut number = || words.next().and_then(|word| word.parse::<u32>().ok()).unwrap_or(0);
    let place = json!({"line": number(), "character": number()});
    let document = json!({"uri": URI, "version": id});
    if word == "change" {
        let end = json!({"line": number(), "character": number()});
        let change =
            json!({"range": {"start": place, "end": end}, "text": words.next().unwrap_or("").replace("\\n", "\n")});
        let params = json!({"textDocument": document, "contentChanges": [change]});
        return Some(json!({"method": "textDocument/didChange", "params": params}));
    }
    let whole = json!({"start": {"line": 0, "character": 0}, "end": place});
    let params = json!({
        "textDocument": {"uri": URI},
        "position": place,
        "positions": [place],
        "range": whole,
        "newName": rest.rsplit(' ').next().unwrap_or(""),
        "context": {"diagnostics": [], "includeDeclaration": true},
        "options": {"tabSize": 2, "insertSpaces": true},
        "query": rest,
    });
    let method = if word.contains('/') { word.to_owned() } else { format!("textDocument/{word}") };
    Some(json!({"id": id, "method": method, "params": params}))
}
