//! Whole sessions, mostly with the real program over standard input and output.

use super::client::Client;
use lsp_server::{Message, Notification, RequestId};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const LIB: &str = "param limit: number = 100\noutput.amount < limit\n";
const FIRST: &str = "use \"./lib.assert\"\noutput.amount <= limit\n";
const SECOND: &str = "use \"../lib.assert\" (limit)\neach refund: args.amount <= 10 * limit\n";

fn edits_of(answer: &Value) -> BTreeMap<String, Vec<(u64, u64, String)>> {
    let changes = answer["changes"].as_object().unwrap();
    let mut all = BTreeMap::new();
    for (uri, edits) in changes {
        let name = uri.rsplit('/').next().unwrap().to_owned();
        let one = |edit: &Value| {
            let start = &edit["range"]["start"];
            let text = edit["newText"].as_str().unwrap().to_owned();
            (start["line"].as_u64().unwrap(), start["character"].as_u64().unwrap(), text)
        };
        all.insert(name, edits.as_array().unwrap().iter().map(one).collect());
    }
    all
}

#[test]
fn a_name_is_renamed_across_files_open_and_closed() {
    let files = [("lib.assert", LIB), ("first.assert", FIRST), ("deep/second.assert", SECOND)];
    let mut client = Client::over_stdio(&files, json!({}));
    client.open("first.assert", FIRST);
    assert_eq!(client.messages("first.assert", 1), Vec::<String>::new());
    let mut parameters = client.at("first.assert", 1, 18);
    parameters["newName"] = json!("ceiling");
    let answer = client.request("textDocument/rename", parameters.clone()).unwrap();
    let new = "ceiling".to_owned();
    let wanted = BTreeMap::from([
        ("first.assert".to_owned(), vec![(1, 17, new.clone())]),
        ("lib.assert".to_owned(), vec![(0, 6, new.clone()), (1, 16, new.clone())]),
        ("second.assert".to_owned(), vec![(0, 21, new.clone()), (1, 33, new)]),
    ]);
    assert_eq!(edits_of(&answer), wanted);
    parameters["newName"] = json!("not a name");
    let refused = client.request("textDocument/rename", parameters).unwrap_err();
    assert_eq!(refused.message, "`not a name` is no name: letters, digits and `_`, and no digit in front");
    assert_eq!(client.leave(), 0);
}

#[test]
fn open_buffers_hide_what_is_on_disk() {
    let mut client = Client::over_stdio(&[("lib.assert", LIB), ("first.assert", FIRST)], json!({}));
    client.open("first.assert", FIRST);
    assert!(client.messages("first.assert", 1).is_empty());
    // The name was removed in the buffer, but not on disk.
    client.open("lib.assert", LIB);
    assert!(client.messages("lib.assert", 1).is_empty() && client.messages("first.assert", 1).is_empty());
    client.replace("lib.assert", 2, "param bound: number = 100\noutput.amount < bound\n");
    assert!(client.messages("lib.assert", 2).is_empty());
    let messages = client.messages("first.assert", 1);
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].starts_with("2: [unknown-name] unknown name `limit`"), "{messages:?}");
    // After closing, the file on disk counts again.
    let uri = client.uri("lib.assert");
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    assert!(client.messages("first.assert", 1).is_empty());
    assert_eq!(client.leave(), 0);
}

#[test]
fn mistakes_of_files_that_are_not_open_are_told_at_their_place_and_taken_back() {
    let mut client = Client::over_stdio(&[("lib.assert", "let a = wrong_name\n")], json!({}));
    client.open("first.assert", "use \"./lib.assert\"\noutput == a\n");
    assert!(client.messages("first.assert", 1).is_empty());
    assert_eq!(client.messages("lib.assert", -1).len(), 1);
    client.replace("first.assert", 2, "output == 1\n");
    assert!(client.messages("lib.assert", -1).is_empty());
    assert_eq!(client.leave(), 0);
}

#[test]
fn files_that_change_on_disk_are_read_again() {
    let tools = r#"{ "refund": { "type": "object" } }"#;
    let mut client = Client::over_stdio(
        &[("tools.json", tools)],
        json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } }),
    );
    let text = "tools from \"tools.json\"\nrequire refnd\n";
    client.open("first.assert", text);
    assert_eq!(client.messages("first.assert", 1).len(), 1);
    assert!(client.asked.iter().any(|one| one.method == "client/registerCapability"));
    std::fs::write(client.path("tools.json"), r#"{ "refnd": { "type": "object" } }"#).unwrap();
    let uri = client.uri("tools.json");
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": uri, "type": 2 }] }));
    assert!(client.messages("first.assert", 1).is_empty());
    // The project sets the levels of lints.
    client.replace("first.assert", 2, "let unused = 1\nrequire refund\n");
    assert_eq!(client.messages("first.assert", 2).len(), 1);
    std::fs::write(client.path("averment.toml"), "[lint]\nunused-let = \"allow\"\n").unwrap();
    let uri = client.uri("averment.toml");
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": uri, "type": 1 }] }));
    assert!(client.messages("first.assert", 2).is_empty());
    assert_eq!(client.leave(), 0);
}

#[test]
fn what_the_project_says_of_tools_is_known_and_followed() {
    let facts = "tool issue_refund also make_refund\ntool any fails when result starts with \"Error\"\n";
    let files = [
        ("averment.toml", "tools = [\"tools.assert\", \"mcp.json\"]\n"),
        ("tools.assert", facts),
        ("mcp.json", r#"{"lookup": {"type": "object", "properties": {"order_id": {"type": "string"}}}}"#),
    ];
    let mut client = Client::over_stdio(&files, json!({}));
    // An alias of a tool is known; a misspelled name is reported.
    client.open("first.assert", "require lookup\nrequire lokup\n");
    let messages = client.messages("first.assert", 1);
    assert!(messages.len() == 1 && messages[0].contains("lokup"), "{messages:?}");
    // An incremental check uses the tool files, too.
    client.change("first.assert", 2, [1, 8, 1, 13], "lookup");
    assert!(client.messages("first.assert", 2).is_empty());
    let at = client.at("first.assert", 1, 10);
    let hover = client.request("textDocument/hover", at).unwrap().to_string();
    assert!(hover.contains("order_id"), "{hover}");
    client.replace("first.assert", 3, "require \n");
    let at = client.at("first.assert", 0, 8);
    let offered = client.request("textDocument/completion", at).unwrap().to_string();
    assert!(offered.contains("lookup") && offered.contains("issue_refund"), "{offered}");
    client.replace("first.assert", 4, "require make_refund\n");
    let at = client.at("first.assert", 0, 10);
    let hover = client.request("textDocument/hover", at).unwrap().to_string();
    assert!(hover.contains("Another name of `issue_refund`"), "{hover}");
    // An open tool file is used immediately.
    client.replace("first.assert", 5, "require lookop\n");
    assert_eq!(client.messages("first.assert", 5).len(), 1);
    client.open("tools.assert", "tool lookop { type: \"object\" }\n");
    assert!(client.messages("first.assert", 5).is_empty());
    assert_eq!(client.leave(), 0);
}

#[test]
fn text_is_changed_in_the_unit_of_columns_that_was_agreed_on() {
    // 🙂 has two UTF-16 units and four UTF-8 bytes.
    for (offered, column) in
        [(json!(["utf-16"]), 20), (json!(["utf-8", "utf-16"]), 22), (json!(["utf-32"]), 19), (Value::Null, 20)]
    {
        let mut client = Client::over_stdio(&[], json!({ "general": { "positionEncodings": offered } }));
        client.open("first.assert", "output contains \"🙂\" and cost <= $1\n");
        client.diagnostics("first.assert", 1);
        client.change("first.assert", 2, [0, column, 0, column + 4], " ends");
        let messages = client.messages("first.assert", 2);
        assert_eq!(messages.len(), 1, "{messages:?}");
        client.change("first.assert", 3, [0, column, 0, column + 5], " and");
        assert_eq!(client.messages("first.assert", 3), Vec::<String>::new());
        assert_eq!(client.leave(), 0);
    }
}

#[test]
fn what_is_no_message_does_not_end_the_session() {
    let mut client = Client::over_stdio(&[], json!({}));
    client.send_raw(b"Content-Length: 1\r\n\r\n{");
    client.send_raw(b"nonsense\r\n\r\nContent-Length: 4\r\n\r\nnull");
    client.send_raw(b"Content-Length: 24\r\n\r\n{\"id\": 99, \"what\": true}");
    let answered = client.answer(&RequestId::from(99)).response_result.unwrap_err();
    assert_eq!(answered.code, -32600);
    let refused = client.request("textDocument/hover", json!({ "position": "here" })).unwrap_err();
    assert_eq!(refused.code, -32602);
    let unknown = client.request("textDocument/levitate", json!({})).unwrap_err();
    assert_eq!(unknown.code, -32601);
    client.notify("textDocument/didChange", json!({ "textDocument": 3 }));
    let uri = client.uri("nowhere.assert");
    client.notify(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [{ "text": "x" }] }),
    );
    assert!(client.request("textDocument/hover", client.at("nowhere.assert", 1, 1)).is_err());
    let refused: Vec<i64> = client
        .said
        .iter()
        .filter(|one| one.method == "refused")
        .map(|one| one.params["code"].as_i64().unwrap())
        .collect();
    assert_eq!(refused, [-32700, -32600]);
    for uri in ["untitled:Untitled-1", "git:/a.assert?x", "file:///"] {
        let document = json!({ "uri": uri, "languageId": "assert", "version": 1, "text": "require x\nlet a = " });
        client.notify("textDocument/didOpen", json!({ "textDocument": document }));
        let position = json!({ "line": 0, "character": 9 });
        let answer =
            client.request("textDocument/completion", json!({ "textDocument": { "uri": uri }, "position": position }));
        assert!(answer.is_ok(), "{uri}: {answer:?}");
    }
    assert_eq!(client.leave(), 0);
}

#[test]
fn a_request_that_is_taken_back_while_it_waits_is_not_answered_in_full() {
    let mut client = Client::in_memory(&[]);
    client.open("first.assert", &"require search\n".repeat(3_000));
    // The server reads all messages before it answers the first one.
    let first = client.begin("textDocument/hover", client.at("first.assert", 0, 0));
    let second = client.begin("textDocument/hover", client.at("first.assert", 1, 0));
    let number = |id: &RequestId| serde_json::to_value(id).unwrap();
    let cancel = json!({ "id": number(&second) });
    client.send(Message::Notification(Notification::new("$/cancelRequest".to_owned(), cancel)));
    let (one, two) = (client.answer(&first), client.answer(&second));
    assert!(one.response_result.is_ok());
    // The answer may have been sent before the cancellation.
    if let Err(error) = two.response_result {
        assert_eq!(error.code, -32800);
    }
    assert_eq!(client.leave(), 0);
}

#[test]
fn the_exit_code_says_whether_the_session_was_shut_down() {
    assert_eq!(Client::over_stdio(&[], json!({})).leave(), 0);
    let mut client = Client::over_stdio(&[], json!({}));
    client.notify("exit", Value::Null);
    assert_eq!(client.ended(), 1);
    assert_eq!(Client::over_stdio(&[], json!({})).hang_up(), 1);
    // After `shutdown`, requests are refused.
    let mut client = Client::over_stdio(&[], json!({}));
    client.request("shutdown", Value::Null).unwrap();
    assert_eq!(client.request("workspace/symbol", json!({ "query": "" })).unwrap_err().code, -32600);
    client.notify("exit", Value::Null);
    assert_eq!(client.ended(), 0);
}

const RUN: &str =
    r#"{ "calls": [{ "tool": "search", "args": { "query": "weather" } }], "output": { "status": "done" } }"#;

#[test]
fn a_run_is_picked_in_the_settings_and_by_a_command() {
    let capabilities = json!({ "workspace": { "configuration": true, "codeLens": { "refreshSupport": true } } });
    let files = [("run.json", RUN), ("many.jsonl", "{\"calls\": []}\n{\"calls\": [{\"tool\": \"second\"}]}\n")];
    let mut client = Client::in_memory_with(&files, capabilities, json!({}));
    client.open("first.assert", "require \n");
    client.diagnostics("first.assert", 1);
    let tools = |client: &mut Client| {
        let answer = client.request("textDocument/completion", client.at("first.assert", 0, 8)).unwrap();
        let items = answer["items"].as_array().unwrap().clone();
        let tools =
            items.iter().filter(|item| item["kind"] == 2).map(|item| item["label"].as_str().unwrap().to_owned());
        tools.collect::<Vec<_>>()
    };
    assert!(tools(&mut client).is_empty());
    client.settings = json!({ "run": "run.json" });
    client.notify("workspace/didChangeConfiguration", json!({ "settings": null }));
    assert!(tools(&mut client).is_empty() || client.asked.iter().any(|one| one.method == "workspace/configuration"));
    assert_eq!(tools(&mut client), ["search"]);
    let picked = json!({ "command": "averment.pickRun", "arguments": ["many.jsonl#2"] });
    assert_eq!(client.request("workspace/executeCommand", picked).unwrap(), json!("many.jsonl#2"));
    assert_eq!(tools(&mut client), ["second"]);
    assert!(client.asked.iter().any(|one| one.method == "workspace/codeLens/refresh"));
    let wrong = json!({ "command": "averment.pickRun", "arguments": ["nothing.json"] });
    assert_eq!(client.request("workspace/executeCommand", wrong).unwrap(), Value::Null);
    assert!(client.shown().iter().any(|message| message.contains("nothing.json")), "{:?}", client.shown());
    assert_eq!(client.leave(), 0);
}

#[test]
fn tests_and_runs_are_run_by_commands() {
    let text = "rule searched { require search }\ntest \"nothing\" expect fail searched { calls: [] }\n\
                test \"wrong\" expect pass searched { calls: [] }\n";
    let mut client = Client::in_memory_with(&[("run.json", RUN)], json!({}), json!({ "run": "run.json" }));
    client.open("first.assert", text);
    let uri = client.uri("first.assert");
    let mut command = |name: &str, arguments: Value| {
        client.request("workspace/executeCommand", json!({ "command": name, "arguments": arguments }))
    };
    let passed = command("averment.runTest", json!([uri, "nothing"])).unwrap();
    assert_eq!(passed["passed"], true);
    let failed = command("averment.runTest", json!([uri, "wrong"])).unwrap();
    assert_eq!(failed["reason"], "`searched` is fail, not pass");
    assert_eq!(command("averment.runTest", json!([uri, "other"])).unwrap_err().message, "there is no test `other`");
    let checked = command("averment.checkRun", json!([uri])).unwrap();
    assert_eq!(checked["summary"], "run.json: 1 pass");
    let page = command("averment.explain", json!(["unknown-tool"])).unwrap();
    assert!(page["page"].as_str().unwrap().starts_with("# unknown-tool"));
    assert!(command("averment.levitate", json!([])).is_err());
    let shown = client.shown();
    assert_eq!(shown[0], "test \"nothing\" passed");
    assert_eq!(shown[1], "test \"wrong\" failed: `searched` is fail, not pass");
    assert_eq!(client.leave(), 0);
}

#[test]
fn what_is_known_of_a_completion_comes_when_it_is_looked_at() {
    let mut client = Client::in_memory(&[]);
    client.open("first.assert", "length(output) == rou\n");
    let answer = client.request("textDocument/completion", client.at("first.assert", 0, 21)).unwrap();
    let items = answer["items"].as_array().unwrap();
    let round = items.iter().find(|item| item["label"] == "round").unwrap().clone();
    assert_eq!(round.get("documentation"), None);
    let resolved = client.request("completionItem/resolve", round).unwrap();
    assert!(resolved["documentation"]["value"].as_str().unwrap().contains("the nearest number"));
    assert_eq!(client.leave(), 0);
}

#[test]
fn hostile_documents_are_answered() {
    let mut client = Client::over_stdio(&[], json!({}));
    let deep = "(".repeat(60_000);
    let texts = [
        String::new(),
        "\u{feff}".to_owned(),
        "\0".to_owned(),
        deep,
        "{".repeat(3_000) + &"}".repeat(2_999),
        "\"${".repeat(2_000),
        "a.".repeat(50_000),
        "require x\r\nnever y\r".to_owned(),
        "/".repeat(10_000),
        "# allow: ".to_owned() + &"x,".repeat(10_000),
        "\u{202e}\u{200b}require x".to_owned(),
    ];
    for (index, text) in texts.iter().enumerate() {
        let version = i32::try_from(index).unwrap() + 2;
        if index == 0 {
            client.open("first.assert", "x");
        }
        client.replace("first.assert", version, text);
        client.diagnostics("first.assert", version);
        let last = u32::try_from(text.encode_utf16().count().min(70_000)).unwrap();
        for character in [0, 1, last] {
            for method in ["hover", "completion", "signatureHelp", "definition", "documentHighlight"] {
                let answer = client.request(&format!("textDocument/{method}"), client.at("first.assert", 0, character));
                assert!(answer.is_ok(), "{method} of text {index}: {answer:?}");
            }
        }
        let uri = client.uri("first.assert");
        for method in ["documentSymbol", "foldingRange", "semanticTokens/full", "codeLens", "documentLink"] {
            let answer = client.request(&format!("textDocument/{method}"), json!({ "textDocument": { "uri": uri } }));
            assert!(answer.is_ok(), "{method} of text {index}: {answer:?}");
        }
    }
    assert_eq!(client.leave(), 0);
}

#[test]
fn a_header_without_a_length_and_one_that_promises_too_much_end_the_session() {
    for length in ["minus", "-1", "99999999999999"] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_aver"))
            .arg("lsp")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // The input stays open, but the server exits.
        let mut input = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut input, format!("Content-Length: {length}\r\n\r\n{{}}").as_bytes()).unwrap();
        let start = std::time::Instant::now();
        let code = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status.code();
            }
            if start.elapsed() > std::time::Duration::from_secs(30) {
                child.kill().unwrap();
                panic!("the server stays behind `Content-Length: {length}`");
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        };
        assert_eq!(code, Some(1), "{length}");
    }
}

#[test]
#[cfg(unix)]
fn what_lies_outside_of_the_workspace_is_neither_read_nor_listed() {
    let kept = tempfile::tempdir().unwrap();
    std::fs::write(kept.path().join("kept.json"), "{\"kumquat\": 1}").unwrap();
    std::fs::write(kept.path().join("kept.assert"), "let kumquat = 1\n").unwrap();
    let mut client = Client::in_memory(&[("lib.assert", "let limit = 3\n")]);
    std::os::unix::fs::symlink(kept.path(), client.path("out")).unwrap();
    for (number, rules) in
        ["use \"./out/kept.assert\"\n", "tools from \"out/kept.json\"\n", "schema S from \"out/kept.json\"\n"]
            .into_iter()
            .enumerate()
    {
        let name = format!("main{number}.assert");
        client.open(&name, rules);
        let said = client.messages(&name, 1).join("\n");
        assert!(said.contains("leads out of the folders"), "{rules}: {said}");
        assert!(!said.contains("kumquat"), "{rules}: {said}");
    }
    client.open("names.assert", "use \"./out/\"\n");
    let parameters = client.at("names.assert", 0, 11);
    let offered = client.request("textDocument/completion", parameters).unwrap().to_string();
    assert!(!offered.contains("kept"), "{offered}");
    assert_eq!(client.leave(), 0);
}
