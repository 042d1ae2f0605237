//! Credentials in every part of a run, and all reports about it: none shows one, complete or truncated.

use crate::folder::Folder;
use serde_json::{Value as Json, json};

/// Returns credentials, each with the part that must stay hidden. They are assembled here, so that none is in the source.
fn credentials() -> Vec<(String, &'static str)> {
    let lines: Vec<String> =
        (0..9).map(|line| format!("{line}x9Qw3RtYuIoPaSdFgHjKlZxCvBnM0987654321qWeRbq8z1T")).collect();
    let key = format!("-----BEGIN RSA {0}-----\n{1}\n-----END RSA {0}-----", "PRIVATE KEY", lines.join("\n"));
    vec![
        (format!("ghp_{}", "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R"), "1a2B3c4D"),
        (format!("AKIA{}", "Z7QX3LM2VB5NTRW4"), "7QX3LM2VB5"),
        (format!("sk-proj-{}", "9fK2mQ7xVb4LzT8wYp3RnD6sHj1GcA5eUo0iXkWvMt"), "9fK2mQ7x"),
        (key, "QWeRbq8z1T".trim_start_matches('Q')),
    ]
}

/// Returns a run with this text in every place where a run can have text.
fn run_with(text: &str, name: &str) -> Json {
    json!({
        "id": name, "prompt": text, "output": text, "inputs": { "x": text, name: text }, "env": { "TOKEN": name }, "error": text,
        "calls": [
            { "tool": "fetch", "args": { "q": text, "id": name }, "result": text, "id": name },
            { "tool": name, "args": { name: 2, "q": [text] }, "result": { "v": text }, "error": text },
            { "tool": "refund", "args": { "id": format!("{name}x") }, "result": text },
        ],
        "messages": [{ "role": "user", "text": text }], "commands": [{ "command": format!("echo {text}"), "exit_code": 1 }],
        "reads": [name], "writes": [format!("/tmp/{name}")], "skills": [{ "name": name }],
        "http": [{ "method": "GET", "url": format!("https://x.example/?t={name}"), "status": 500 }],
        "files": { "a.txt": text }, "meta": { "m": text },
    })
}

const RULES: &str = r#"
output == "x"
inputs == 1
inputs.x starts with "zz"
calls[*].args.q contains 7
text(inputs) == "q"
each any: args.q == "x" and result == 3
before approve(id: $id) -> refund(id: $id)
before refund(id: $id) -> fetch(id: $id)
only refund
first refund
require fetch(q: "abc")
sequence exactly fetch -> refund
flow refund -> fetch
never command /echo/
never user /./
never http "x.example"
never read "**"
never write "**"
never skill "*"
error is missing
http "x.example" status == 200
file "a.txt" == "x"
never repeat fetch more than 0 times
length(output) > 999999999
schema S = { type: "object", additionalProperties: { type: "integer" } }
inputs is S
schema E = { enum: ["a"] }
output is E
inputs
grounded(output, "nothing")
output matches /^zzz/ message "the output ${output} and ${inputs.x} was ${text(inputs)}"
jsonpath(inputs, "$..*") == []
meta.m == 1
inputs["gone"] == 3
env.TOKEN == "q"
"#;

/// Returns the output of each command about a run.
fn reports(folder: &Folder) -> Vec<(String, String)> {
    let checks = ["human", "short", "json", "jsonl", "summary"]
        .map(|format| format!("check r.assert t.json --format {format} --max-failures 1000"));
    let explained = ["human", "html", "json"].map(|format| format!("explain r.assert t.json --all --format {format}"));
    let others = ["trace show t.json", "new --from t.json --stdout"].map(str::to_owned);
    let asked = checks.into_iter().chain(explained).chain(others);
    let mut said: Vec<(String, String)> = asked
        .map(|line| {
            let ran = folder.aver(&line);
            assert!(!ran.out.is_empty(), "{line}: {ran:?}");
            (line, ran.out + &ran.err)
        })
        .collect();
    let session = "inputs\ninputs.x\ncalls\ncalls[0].args\noutput\n:trace\n:step 1\n:step 2\n:explain\nenv\nerror\n";
    let ran = folder.aver_with("repl r.assert --on t.json", session);
    said.push(("repl".to_owned(), ran.out + &ran.err));
    said
}

#[track_caller]
fn unseen(folder: &Folder, part: &str, text: &str) {
    for (line, said) in reports(folder) {
        let at = said.lines().find(|line| line.contains(part)).and_then(|line| Some((line, line.find(part)?)));
        if let Some((shown, at)) = at {
            let start = shown.floor_char_boundary(at.saturating_sub(120));
            panic!("`aver {line}` shows it: {}\nfor {text:?}", &shown[start..at + part.len()]);
        }
    }
}

#[test]
fn no_report_shows_a_credential_or_a_part_of_one() {
    for (credential, part) in credentials() {
        let folder = Folder::new(&[("r.assert", RULES)]);
        let long = format!("{}{credential}{}", "x ".repeat(180), " y".repeat(3_000));
        for text in [credential.clone(), format!("the token is {credential}; use it well"), long] {
            // Duplicate keys are reported.
            let run = run_with(&text, &credential).to_string();
            let twice = format!("{{{0}:1,{0}:2,{1}", Json::from(credential.as_str()), &run[1..]);
            folder.write("t.json", twice.as_bytes());
            unseen(&folder, part, &text);
        }
    }
}

#[test]
fn no_report_shows_a_credential_that_a_terminal_would_colour() {
    let (token, part) = credentials().swap_remove(0);
    let (head, tail) = token.split_at(20);
    let folder = Folder::new(&[("r.assert", RULES)]);
    for text in [
        format!("\u{1b}[31m{token}\u{1b}[0m"),
        format!("x:\u{1b}[01;31m\u{1b}[K{head}\u{1b}[m\u{1b}[K{tail}"),
        format!("\u{1b}]8;;https://x.example\u{7}{token}\u{1b}]8;;\u{7}"),
        format!("\u{1b}M{token}"),
        format!("\\u001b[31m{token}\\u001b[0m"),
        format!("\\x1b[31m{token}\\x1b[0m"),
        format!("\\033[1m{token}"),
        format!("\\e[1m{token}"),
    ] {
        folder.write("t.json", run_with(&text, "name").to_string().as_bytes());
        unseen(&folder, part, &text);
    }
}

#[test]
fn what_only_its_name_makes_a_secret_is_shown_nowhere() {
    let secret = "hunter22Xq9vTz7w";
    let run = json!({
        "output": { "password": secret, "said": format!("I used {secret} there") },
        "inputs": { "api_key": secret, "nested": { "client_secret": secret }, "list": [{ "password": secret }], "tokens": [secret] },
        "calls": [{ "tool": "login", "args": { "password": secret } }, { "tool": "pay", "args": { "password": format!("{secret}X") } }],
    });
    let rules = r#"
inputs == 1
inputs.api_key == 3
inputs.list[*].password == []
inputs.tokens == 1
values(inputs) == []
jsonpath(inputs, "$..client_secret") == []
output.said == "x"
all p in calls[*].args.password: p == "q"
each login(password: $p): args.user == $p
before pay(password: $p) -> login(password: $p)
never repeat login more than 0 times
file "${inputs.api_key}" exists
file "/${inputs.api_key}/x" exists
output.said matches /^zzz/ message "pw ${output.password} of ${inputs.api_key}"
"#;
    let folder = Folder::new(&[("r.assert", rules), ("t.json", &run.to_string())]);
    unseen(&folder, &secret[..12], secret);
}

#[test]
fn what_a_predicate_has_found_is_shown_by_no_other_assertion_either() {
    let card = "4111 1111 1111 1111";
    let run = json!({ "output": { "card": card }, "calls": [{ "tool": "pay", "args": { "card": card } }] });
    let rules =
        "use std.pii\nno pii in output\noutput.card == \"x\"\noutput == 1\nnever pay(card: \"4111 1111 1111 1111\")\n";
    let folder = Folder::new(&[("r.assert", rules), ("t.json", &run.to_string())]);
    for format in ["short", "json", "jsonl", "human"] {
        let ran = folder.aver(&format!("check r.assert t.json --format {format}"));
        assert_eq!(ran.code, 1);
        let seen: Vec<&str> =
            ran.out.lines().filter(|line| line.contains(card) && !line.contains("never pay")).collect();
        assert!(seen.is_empty(), "{format}: {seen:?}");
    }
}
