//! Snapshot tests of requests. Each folder of `tests/golden/lsp` is a request. Each file in it is a document with cursors `<|>`, followed by other
//! files after `#--- NAME`. Each snapshot holds the server's answers, with their locations marked in the text.

use super::client::Client;
use averment_fixtures as fixtures;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const MARK: &str = "<|>";

/// A document with cursors, and the other files of its workspace.
struct Fixture {
    name: String,
    text: String,
    marks: Vec<(u32, u32)>,
    files: Vec<(String, String)>,
}

fn folder(feature: &str) -> PathBuf {
    fixtures::project("tests/golden/lsp").join(feature)
}

fn fixtures(feature: &str) -> Vec<Fixture> {
    fixtures::rule_files(&folder(feature)).iter().map(|path| fixture(path)).collect()
}

fn fixture(path: &Path) -> Fixture {
    let written = std::fs::read_to_string(path).unwrap();
    let mut parts = written.split("#--- ");
    let main = parts.next().unwrap();
    let files = parts.map(|part| part.split_once('\n').unwrap()).map(|(name, text)| (name.to_owned(), text.to_owned()));
    let files = files.collect();
    let (mut text, mut marks) = (String::new(), Vec::new());
    for part in main.split(MARK) {
        text.push_str(part);
        let line = text.matches('\n').count();
        let column = text.rsplit('\n').next().unwrap().encode_utf16().count();
        marks.push((u32::try_from(line).unwrap(), u32::try_from(column).unwrap()));
    }
    marks.pop();
    Fixture { name: fixtures::stem(path), text, marks, files }
}

impl Fixture {
    fn client(&self) -> Client {
        self.client_with(json!({}))
    }

    fn client_with(&self, settings: Value) -> Client {
        let mut files: Vec<(&str, &str)> =
            self.files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        files.push(("main.assert", &self.text));
        let capabilities = json!({
            "general": { "positionEncodings": ["utf-16"] },
            "textDocument": { "completion": { "completionItem": { "snippetSupport": true } } },
        });
        let mut client = Client::in_memory_with(&files, capabilities, settings);
        client.open("main.assert", &self.text);
        client
    }

    /// Returns the line of a cursor, with the cursor in it.
    fn line(&self, mark: (u32, u32)) -> String {
        let line = self.text.lines().nth(mark.0 as usize).unwrap_or("");
        let (front, back) = split(line, mark.1);
        format!("{front}{MARK}{back}")
    }

    /// Returns the text of a range.
    fn under(&self, range: &Value) -> String {
        text_of(&self.text, range)
    }

    fn file_under(&self, uri: &str, range: &Value) -> String {
        let name = uri.rsplit('/').next().unwrap();
        let text = self.files.iter().find(|(file, _)| file == name).map_or(&self.text, |(_, text)| text);
        format!("{name}:{} `{}`", place(range), text_of(text, range))
    }
}

fn split(line: &str, column: u32) -> (String, String) {
    let units: Vec<u16> = line.encode_utf16().collect();
    let at = (column as usize).min(units.len());
    (String::from_utf16(&units[..at]).unwrap(), String::from_utf16(&units[at..]).unwrap())
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn offset(text: &str, position: &Value) -> usize {
    let (line, column) = (number(&position["line"]), number(&position["character"]));
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let line = text[start..].lines().next().unwrap_or("");
    start + split(line, u32::try_from(column).unwrap()).0.len()
}

fn text_of(text: &str, range: &Value) -> String {
    text[offset(text, &range["start"])..offset(text, &range["end"])].replace('\n', "⏎")
}

/// Returns the start of a range, such as `3:5`, counted from 1.
fn place(range: &Value) -> String {
    format!("{}:{}", number(&range["start"]["line"]) + 1, number(&range["start"]["character"]) + 1)
}

/// Applies edits to a text.
fn edited(text: &str, edits: &[Value]) -> String {
    let mut edits: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            (offset(text, &range["start"]), offset(text, &range["end"]), edit["newText"].as_str().unwrap())
        })
        .collect();
    edits.sort();
    let mut out = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        out.replace_range(start..end, new);
    }
    out
}

fn snapshot(feature: &str, name: &str, text: &str) {
    let _scope = fixtures::snapshot_beside(&folder(feature).join(format!("{name}.assert")));
    insta::assert_snapshot!(name, text);
}

/// Sends a request at every cursor, and snapshots the output of `show` for each answer.
fn at_cursors(feature: &str, method: &str, extra: &Value, show: impl Fn(&Fixture, &Value) -> String) {
    for fixture in fixtures(feature) {
        let mut client = fixture.client();
        let mut out = String::new();
        for &mark in &fixture.marks {
            let mut parameters = client.at("main.assert", mark.0, mark.1);
            for (key, value) in extra.as_object().unwrap() {
                parameters[key] = value.clone();
            }
            writeln!(out, "{}", fixture.line(mark)).unwrap();
            match client.request(method, parameters) {
                Ok(Value::Null) => out.push_str("  nothing\n"),
                Ok(answer) => out.push_str(&show(&fixture, &answer)),
                Err(error) => writeln!(out, "  refused: {}", error.message).unwrap(),
            }
        }
        snapshot(feature, &fixture.name, &out);
        assert_eq!(client.leave(), 0);
    }
}

/// Sends one request for each document.
fn of_documents(
    feature: &str,
    method: &str,
    extra: &Value,
    settings: &Value,
    show: impl Fn(&Fixture, &Value) -> String,
) {
    for fixture in fixtures(feature) {
        let mut client = fixture.client_with(settings.clone());
        let mut parameters = json!({ "textDocument": { "uri": client.uri("main.assert") } });
        for (key, value) in extra.as_object().unwrap() {
            parameters[key] = value.clone();
        }
        let out = match client.request(method, parameters) {
            Ok(answer) => show(&fixture, &answer),
            Err(error) => format!("refused: {}\n", error.message),
        };
        snapshot(feature, &fixture.name, &out);
    }
}

fn list(answer: &Value) -> &[Value] {
    answer.as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn diagnostics_with_their_places_and_related_ones() {
    for fixture in fixtures("diagnostics") {
        let mut client = fixture.client();
        let mut out = String::new();
        for one in client.diagnostics("main.assert", 1) {
            let severity = one["severity"].as_u64().unwrap();
            let (code, message) = (one["code"].as_str().unwrap(), one["message"].as_str().unwrap());
            let place = place(&one["range"]);
            writeln!(out, "{place} `{}` {severity} {code}: {message}", fixture.under(&one["range"])).unwrap();
            for related in list(&one["relatedInformation"]) {
                let at =
                    fixture.file_under(related["location"]["uri"].as_str().unwrap(), &related["location"]["range"]);
                writeln!(out, "  {at}: {}", related["message"].as_str().unwrap()).unwrap();
            }
            if one["tags"] == json!([1]) {
                out.push_str("  faded\n");
            }
        }
        snapshot("diagnostics", &fixture.name, &out);
    }
}

#[test]
fn hover() {
    at_cursors("hover", "textDocument/hover", &json!({}), |fixture, answer| {
        let text: String =
            answer["contents"]["value"].as_str().unwrap().lines().map(|line| format!("  | {line}\n")).collect();
        format!("  `{}`\n{text}", fixture.under(&answer["range"]))
    });
}

#[test]
fn completion() {
    at_cursors("completion", "textDocument/completion", &json!({}), |fixture, answer| {
        let mut out = String::new();
        let items = list(&answer["items"]);
        for item in items.iter().take(6) {
            let edit = &item["textEdit"];
            let detail = item["detail"].as_str().unwrap_or("");
            let replaced = fixture.under(&edit["range"]);
            writeln!(
                out,
                "  {} ({detail}): `{replaced}` -> `{}`",
                item["label"].as_str().unwrap(),
                edit["newText"].as_str().unwrap()
            )
            .unwrap();
        }
        writeln!(out, "  {} in all", items.len()).unwrap();
        out
    });
}

#[test]
fn signature_help() {
    at_cursors("signature", "textDocument/signatureHelp", &json!({}), |_, answer| {
        let one = &answer["signatures"][0];
        let active = number(&answer["activeParameter"]);
        let parameter = one["parameters"].get(active).map_or("none", |one| one["label"].as_str().unwrap());
        format!("  {} at `{parameter}`\n", one["label"].as_str().unwrap())
    });
}

#[test]
fn definition() {
    at_cursors("definition", "textDocument/definition", &json!({}), |fixture, answer| {
        format!("  {}\n", fixture.file_under(answer["uri"].as_str().unwrap(), &answer["range"]))
    });
}

#[test]
fn references() {
    let context = json!({ "context": { "includeDeclaration": true } });
    at_cursors("references", "textDocument/references", &context, |fixture, answer| {
        let line = |one: &Value| format!("  {}\n", fixture.file_under(one["uri"].as_str().unwrap(), &one["range"]));
        list(answer).iter().map(line).collect()
    });
}

#[test]
fn highlights() {
    at_cursors("highlights", "textDocument/documentHighlight", &json!({}), |fixture, answer| {
        let line = |one: &Value| {
            let kind = if one["kind"] == 3 { "declared" } else { "used" };
            format!("  {} `{}` {kind}\n", place(&one["range"]), fixture.under(&one["range"]))
        };
        list(answer).iter().map(line).collect()
    });
}

#[test]
fn prepare_rename() {
    at_cursors("rename", "textDocument/prepareRename", &json!({}), |fixture, answer| {
        format!("  `{}` is {}\n", fixture.under(&answer["range"]), answer["placeholder"])
    });
}

#[test]
fn rename_to_many_names() {
    for fixture in fixtures("renamed") {
        let mut client = fixture.client();
        let mut out = String::new();
        for (&mark, new) in
            fixture.marks.iter().zip(["cap", "Money", "$order", "each", "9lives", "is large", "next.rule", "secret"])
        {
            writeln!(out, "{} -> {new}", fixture.line(mark)).unwrap();
            let mut parameters = client.at("main.assert", mark.0, mark.1);
            parameters["newName"] = json!(new);
            match client.request("textDocument/rename", parameters) {
                Ok(answer) => {
                    for (uri, edits) in answer["changes"].as_object().unwrap() {
                        let name = uri.rsplit('/').next().unwrap();
                        let text =
                            fixture.files.iter().find(|(file, _)| file == name).map_or(&fixture.text, |(_, text)| text);
                        let after = edited(text, edits.as_array().unwrap());
                        for (before, after) in text.lines().zip(after.lines()).filter(|(before, after)| before != after)
                        {
                            writeln!(out, "  {name}: {}  =>  {}", before.trim(), after.trim()).unwrap();
                        }
                    }
                }
                Err(error) => writeln!(out, "  refused: {}", error.message).unwrap(),
            }
        }
        snapshot("renamed", &fixture.name, &out);
    }
}

#[test]
fn document_symbols() {
    fn tree(symbols: &[Value], depth: usize, out: &mut String) {
        for one in symbols {
            let detail = one["detail"].as_str().map_or(String::new(), |detail| format!(" ({detail})"));
            let name = one["name"].as_str().unwrap();
            writeln!(out, "{}{name}{detail} at {}", "  ".repeat(depth), place(&one["selectionRange"])).unwrap();
            tree(list(&one["children"]), depth + 1, out);
        }
    }
    of_documents("symbols", "textDocument/documentSymbol", &json!({}), &json!({}), |_, answer| {
        let mut out = String::new();
        tree(list(answer), 0, &mut out);
        out
    });
}

#[test]
fn workspace_symbols() {
    let fixture = fixtures("symbols").remove(0);
    let mut client = fixture.client();
    let mut out = String::new();
    for query in ["", "appr", "lrg", "zzz"] {
        let answer = client.request("workspace/symbol", json!({ "query": query })).unwrap();
        writeln!(out, "{query:?}").unwrap();
        for one in list(&answer) {
            let at = fixture.file_under(one["location"]["uri"].as_str().unwrap(), &one["location"]["range"]);
            writeln!(out, "  {} in {}: {at}", one["name"].as_str().unwrap(), one["containerName"].as_str().unwrap())
                .unwrap();
        }
    }
    let _scope = averment_fixtures::exact_snapshots();
    insta::assert_snapshot!(out, @r#"
    ""
      limit in main.assert: main.assert:2:7 `limit`
      total in main.assert: main.assert:3:5 `total`
      large in main.assert: main.assert:4:5 `large`
      paid in main.assert: main.assert:5:10 `paid`
      Refund in main.assert: main.assert:6:8 `Refund`
      refund in main.assert: main.assert:7:6 `refund`
      approval in main.assert: main.assert:8:6 `approval`
      elsewhere in other.assert: other.assert:1:6 `elsewhere`
    "appr"
      approval in main.assert: main.assert:8:6 `approval`
    "lrg"
      large in main.assert: main.assert:4:5 `large`
    "zzz"
    "#);
}

#[test]
fn formatting() {
    let options = json!({ "options": { "tabSize": 2, "insertSpaces": true } });
    of_documents("formatting", "textDocument/formatting", &options, &json!({}), |fixture, answer| {
        edited(&fixture.text, list(answer))
    });
}

#[test]
fn formatting_of_a_range_leaves_the_rest_alone() {
    let mut client = Client::in_memory(&[]);
    let text = "never  a\n\nnever   b\n\nnever    c\n";
    client.open("main.assert", text);
    let parameters = json!({
        "textDocument": { "uri": client.uri("main.assert") },
        "range": { "start": { "line": 2, "character": 0 }, "end": { "line": 2, "character": 3 } },
        "options": { "tabSize": 2, "insertSpaces": true },
    });
    let answer = client.request("textDocument/rangeFormatting", parameters).unwrap();
    assert_eq!(edited(text, list(&answer)), "never  a\n\nnever b\n\nnever    c\n");
}

#[test]
fn code_actions() {
    for fixture in fixtures("actions") {
        let mut client = fixture.client();
        let mut out = String::new();
        for &mark in &fixture.marks {
            let position = json!({ "line": mark.0, "character": mark.1 });
            let parameters = json!({
                "textDocument": { "uri": client.uri("main.assert") },
                "range": { "start": position, "end": position },
                "context": { "diagnostics": [] },
            });
            writeln!(out, "{}", fixture.line(mark)).unwrap();
            let answer = client.request("textDocument/codeAction", parameters).unwrap();
            for one in list(&answer) {
                let kind = one["kind"].as_str().unwrap();
                writeln!(out, "  {} [{kind}]", one["title"].as_str().unwrap()).unwrap();
                for (uri, edits) in one["edit"]["changes"].as_object().into_iter().flatten() {
                    let name = uri.rsplit('/').next().unwrap();
                    let text =
                        fixture.files.iter().find(|(file, _)| file == name).map_or(&fixture.text, |(_, text)| text);
                    let after = edited(text, edits.as_array().unwrap());
                    let changed = similar::TextDiff::from_lines(text.as_str(), &after);
                    for change in changed.iter_all_changes().filter(|change| change.tag() != similar::ChangeTag::Equal)
                    {
                        write!(out, "    {} {}", change.tag(), change.to_string_lossy()).unwrap();
                    }
                }
            }
        }
        snapshot("actions", &fixture.name, &out);
    }
}

#[test]
fn semantic_tokens() {
    const TYPES: [&str; 15] = [
        "keyword", "operator", "kind", "tool", "function", "property", "variable", "binding", "rule", "type", "module",
        "constant", "string", "number", "regexp",
    ];
    of_documents("tokens", "textDocument/semanticTokens/full", &json!({}), &json!({}), |fixture, answer| {
        let (mut line, mut column) = (0, 0);
        let mut out = String::new();
        for token in list(&answer["data"]).chunks(5) {
            let [delta_line, delta_start, length, ty, modifiers] = token else { panic!("five numbers") };
            column = if number(delta_line) == 0 { column } else { 0 } + number(delta_start);
            line += number(delta_line);
            let end = json!({ "line": line, "character": column + number(length) });
            let range = json!({ "start": { "line": line, "character": column }, "end": end });
            let marks = match number(modifiers) {
                0 => "",
                1 => " declared",
                _ => " of the language",
            };
            writeln!(out, "{} `{}` {}{marks}", place(&range), fixture.under(&range), TYPES[number(ty)]).unwrap();
        }
        out
    });
}

#[test]
fn semantic_tokens_of_a_range_are_those_of_the_whole_there() {
    let mut client = Client::in_memory(&[]);
    client.open("main.assert", "require a\nrequire b\nrequire c\n");
    let range = json!({ "start": { "line": 1, "character": 0 }, "end": { "line": 1, "character": 9 } });
    let parameters = json!({ "textDocument": { "uri": client.uri("main.assert") }, "range": range });
    let answer = client.request("textDocument/semanticTokens/range", parameters).unwrap();
    assert_eq!(answer["data"], json!([1, 0, 7, 0, 0, 0, 8, 1, 3, 0]));
}

#[test]
fn inlay_hints() {
    let all = json!({ "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 9999, "character": 0 } } });
    of_documents("hints", "textDocument/inlayHint", &all, &json!({}), |fixture, answer| {
        let mut text = fixture.text.clone();
        for hint in list(answer).iter().rev() {
            let at = offset(&fixture.text, &hint["position"]);
            let pad = if hint["paddingLeft"] == true { " " } else { "" };
            text.insert_str(at, &format!("{pad}‹{}›", hint["label"].as_str().unwrap()));
        }
        text
    });
}

#[test]
fn folding_ranges() {
    of_documents("folding", "textDocument/foldingRange", &json!({}), &json!({}), |fixture, answer| {
        let mut out = String::new();
        for (index, line) in fixture.text.lines().enumerate() {
            let fold = list(answer).iter().find(|one| number(&one["startLine"]) == index);
            let mark = fold.map_or(String::new(), |one| {
                let kind = one["kind"].as_str().map_or(String::new(), |kind| format!(" {kind}"));
                format!("  «to line {}{kind}»", number(&one["endLine"]) + 1)
            });
            writeln!(out, "{line}{mark}").unwrap();
        }
        out
    });
}

#[test]
fn selection_ranges() {
    for fixture in fixtures("selection") {
        let mut client = fixture.client();
        let positions: Vec<Value> =
            fixture.marks.iter().map(|mark| json!({ "line": mark.0, "character": mark.1 })).collect();
        let uri = client.uri("main.assert");
        let parameters = json!({ "textDocument": { "uri": uri }, "positions": positions });
        let answer = client.request("textDocument/selectionRange", parameters).unwrap();
        let mut out = String::new();
        for (mark, one) in fixture.marks.iter().zip(list(&answer)) {
            writeln!(out, "{}", fixture.line(*mark)).unwrap();
            let mut next = Some(one);
            while let Some(one) = next {
                writeln!(out, "  {}", fixture.under(&one["range"])).unwrap();
                next = one.get("parent");
            }
        }
        snapshot("selection", &fixture.name, &out);
    }
}

#[test]
fn document_links() {
    of_documents("links", "textDocument/documentLink", &json!({}), &json!({}), |fixture, answer| {
        let line = |one: &Value| {
            let target = one["target"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
            format!("{} `{}` -> {target}\n", place(&one["range"]), fixture.under(&one["range"]))
        };
        list(answer).iter().map(line).collect()
    });
}

#[test]
fn code_lenses() {
    let settings = json!({ "run": "run.json" });
    of_documents("lenses", "textDocument/codeLens", &json!({}), &settings, |fixture, answer| {
        let mut out = String::new();
        for (index, line) in fixture.text.lines().enumerate() {
            for one in list(answer).iter().filter(|one| number(&one["range"]["start"]["line"]) == index) {
                writeln!(out, "‹{}›", one["command"]["title"].as_str().unwrap()).unwrap();
            }
            writeln!(out, "{line}").unwrap();
        }
        out
    });
}
