//! `--redact`: paths whose values no report shows.

use crate::folder::Folder;
use crate::html;
use averment_report::Format;
use serde_json::json;

const RULES: &str = "\
output contains \"sent\"
each send: args.to == inputs.customer.email
never pay(card: $c)
inputs.customer.pin == 7
";

fn folder() -> Folder {
    let run = json!({
        "inputs": {"customer": {"email": "ada@lovelace.example", "pin": 42, "tags": ["countess"]}},
        "calls": [
            {"tool": "send", "args": {"to": "bob@b.example", "text": "for ada@lovelace.example, the countess"}},
            {"tool": "pay", "args": {"card": "4000-12345", "amount": 4242}},
        ],
        "output": "nothing for ada@lovelace.example with 42 and 4000-12345",
    });
    let lines = format!("{run}\n").repeat(12);
    Folder::new(&[("rules.assert", RULES), ("run.json", &run.to_string()), ("runs.jsonl", &lines)])
}

#[test]
fn no_format_shows_what_a_path_leads_to() {
    let folder = folder();
    let redact = "--redact inputs.customer[**] --redact calls[*].args.card";
    for format in Format::ALL {
        for trace in ["run.json", "runs.jsonl"] {
            let command = format!("check rules.assert {trace} --format {}", format.as_str());
            let shown = |text: &str| {
                let text = if format.as_str() == "html" { html::everything(text) } else { text.to_owned() };
                ["lovelace", "countess", "4000-12345"]
                    .into_iter()
                    .find(|secret| text.contains(secret))
                    .map(str::to_owned)
            };
            let ran = folder.aver(&format!("{command} {redact}"));
            assert_eq!((ran.code, shown(&ran.out)), (1, None), "{command}: {}", ran.out);
            // Without `--redact` the values are shown, so the test is meaningful.
            let plain = folder.aver(&command);
            if !["summary", "markdown"].contains(&format.as_str()) && trace == "run.json" {
                assert!(shown(&plain.out).is_some(), "{command}: {}", plain.out);
            }
            assert_eq!(plain.code, ran.code);
        }
    }
    for format in ["human", "html", "json"] {
        let ran = folder.aver(&format!("explain rules.assert run.json --all --format {format} {redact}"));
        assert!(ran.code == 0 && !ran.out.contains("lovelace") && !ran.out.contains("4000-12345"), "{}", ran.out);
    }
}

#[test]
fn short_values_are_hidden_where_they_stand_as_words() {
    let out = folder().aver("check rules.assert run.json --format short --redact inputs.customer.pin").out;
    assert!(out.contains("`inputs.customer.pin` is [redacted]") && out.contains("with [redacted] and 4000"), "{out}");
    assert!(!out.contains("is 42\n"), "{out}");
    let json = folder().aver("check rules.assert run.json --format json --redact inputs.customer.pin").json();
    assert!(json.to_string().contains("[redacted]"), "{json}");
}

#[test]
fn a_project_says_what_is_hidden_and_wrong_paths_are_told() {
    let folder = folder();
    folder.write("averment.toml", b"[report]\nredact = [\"inputs.customer[**]\"]\n");
    let out = folder.aver("check rules.assert run.json --format short").out;
    assert!(out.contains("[redacted]") && !out.contains("lovelace"), "{out}");
    folder.write("averment.toml", b"[report]\nredact = [\"inputs..email\"]\n");
    folder.aver("check rules.assert run.json").refused(&["`redact` of `averment.toml`", "is no step of a path"]);
    let slip = folder.aver("check rules.assert run.json --no-project --redact call[*].args.card");
    assert!(slip.code == 2 && slip.err.contains("did you mean `calls`?"), "{slip:?}");
    let wrong = folder.aver("check rules.assert run.json --no-project --redact inputs[x]");
    assert!(wrong.code == 2 && wrong.err.contains("`[x]` is no step of a path"), "{wrong:?}");
}

#[test]
fn a_path_that_no_run_has_is_told() {
    let folder = folder();
    let said = |traces: &str, path: &str| {
        let ran = folder.aver(&format!("check rules.assert {traces} --no-project --format summary --redact {path}"));
        ran.err.lines().filter(|line| line.contains("--redact")).map(str::to_owned).collect::<Vec<_>>()
    };
    for path in ["calls[*].args.crad", "inputs.custmer.pin", "prompt", "meta[**]", "calls[7].args"] {
        let warning = format!("warning: no run has `{path}`, which `--redact` names: nothing is hidden for it");
        for traces in ["run.json", "runs.jsonl"] {
            assert_eq!(said(traces, path), [warning.as_str()], "{traces}");
        }
    }
    for path in ["calls[*].args.card", "inputs.customer", "output", "calls[1].args.amount", "inputs[**]"] {
        assert_eq!(said("runs.jsonl", path), [""; 0], "{path}");
    }
}
