//! Values that no output shows: credentials and the environment, in every format of every command, even in truncated texts.

use crate::folder::Folder;
use crate::html;
use averment_report::Format;

const TOKEN: &str = "ghp_1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R";
const VARIABLE: &str = "correct-horse-battery-staple";

/// Commands that print parts of a run.
const COMMANDS: [&str; 16] = [
    "check rules.assert run.json --format human",
    "check rules.assert run.json --format summary",
    "check rules.assert run.json --format short",
    "check rules.assert run.json --format json",
    "check rules.assert run.json --format jsonl",
    "check rules.assert run.json --format html",
    "explain rules.assert run.json --all",
    "explain rules.assert run.json --all --format html",
    "explain rules.assert run.json --all --format json",
    "trace show run.json",
    "test rules.assert",
    "test rules.assert --format short",
    "test rules.assert --format json",
    "test rules.assert --format junit",
    "test rules.assert --update",
    "repl rules.assert --on run.json",
];

/// Rules whose reasons quote the output, an argument, or a part of them.
const RULES: &str = "\
schema Short = { type: \"object\", properties: { note: { type: \"string\", maxLength: 3 } } }
output == \"x\" message \"it said ${output}\"
output.note == \"x\" message \"it said ${output.note}\"
output is Short
output.note ends with \"x\"
output.note is json
output.note contains json
each send: args.body == \"x\"
before get(body: $b) -> send(body: $b)
any x in [output.note]: x
";

const SESSION: &str = "\
output.note
calls[1].args.body
:explain
:trace
each send: args.body == \"x\"
:step 2
";

fn run(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(
        r#"{{"env": {{"PASSPHRASE": "{VARIABLE}"}}, "output": {{"note": {text}}}, "calls": [{{"tool": "get", "args": {{"body": 1}}}}, {{"tool": "send", "args": {{"body": {text}}}}}]}}"#
    )
}

/// Asserts that no command shows the first or last characters of the secret, whatever the length of the text before it.
fn nothing_shows(secret: &str) {
    let glimpses = [&secret[..12], &secret[secret.len() - 12..]];
    for before in (0..440).step_by(9) {
        let text = format!("{}{secret} is what we use for all of the other things, too", "word ".repeat(before / 5));
        let inline = run(&text);
        let rules = format!("{RULES}test \"it is said\" expect pass {inline}\n");
        let folder = Folder::new(&[("rules.assert", &rules), ("run.json", &inline)]);
        // Each length is tried with a third of the commands, in turns.
        for command in COMMANDS.iter().skip(before / 9 % 3).step_by(3) {
            let ran = folder.aver_with(command, SESSION);
            let said = format!("{}{}", html::everything(&ran.out), ran.err);
            assert!(ran.code <= 1, "{command}: {ran:?}");
            let seen = glimpses.iter().find_map(|glimpse| said.split_once(glimpse));
            let around = seen.map(|(before, _)| before.chars().rev().take(200).collect::<Vec<_>>());
            let around = around.map(|around| around.into_iter().rev().collect::<String>());
            assert_eq!(around, None, "{command} shows it behind this, with {before} characters before it");
        }
        let kept = std::fs::read_to_string(folder.path().join("rules.snap")).unwrap_or_default();
        assert!(
            !glimpses.iter().any(|glimpse| kept.contains(glimpse)),
            "the snapshot with {before} characters before it: {kept}"
        );
    }
}

#[test]
fn no_output_shows_a_credential_nor_the_beginning_of_one() {
    nothing_shows(TOKEN);
}

#[test]
fn no_output_shows_the_environment_nor_the_beginning_of_it() {
    nothing_shows(VARIABLE);
}

/// Rules about everything that repeats [`found_by_a_predicate`]. Their text does not contain the secrets that they look for.
const BESIDE: &str = "\
def mine(s) = s matches /hunt.r/ or s == 4111 * 1000000000000 + 111111111111
no mine in output.first
no mine in calls[*].result
no mine in (send where true)
output.note == \"x\" message \"it said ${output.note}\"
output.note ends with \"x\"
output == \"x\"
any x in [output.note]: x
output.card == 1
output.whole == 1 message \"all of ${output}\"
each send: args.body == \"x\"
each send: args.card == 1
no send: args.body contains \"hunt\"
before get(body: $b) -> send(body: $b)
before list(card: $c) -> send(card: $c)
never command \"echo\"
";

#[test]
fn what_a_predicate_found_is_shown_by_no_finding_however_it_is_written_there() {
    let long = format!("{} and hunter at the end, as nobody guesses", "long words ".repeat(30));
    let texts =
        ["say \"hunter\"  two\nlines \\ as nobody guesses", "{\"a\": \"hunter\\n nobody guesses\"}", long.as_str()];
    for text in texts {
        let json = serde_json::to_string(text).unwrap();
        let nested = serde_json::to_string(&format!("{{\"body\": {json}}}")).unwrap();
        let command = serde_json::to_string(&format!("echo {text}")).unwrap();
        let run = format!(
            r#"{{"output": {{"first": {json}, "note": {json}, "whole": {{"card": 4111111111111111, "in": {nested}}}, "card": 4111111111111111}},
"calls": [{{"tool": "send", "args": {{"body": {json}, "card": 4111111111111111}}, "result": 4111111111111111}},
{{"tool": "send", "args": {{"body": {nested}, "card": 4111111111111111}}, "result": {nested}}}], "commands": [{{"command": {command}}}]}}"#
        );
        let line = run.replace('\n', " ");
        let inline = format!("{BESIDE}test \"it is said\" expect pass {line}\n");
        let folder = Folder::new(&[("rules.assert", &inline), ("run.json", &run), ("all.jsonl", &line)]);
        let commands = COMMANDS.iter().filter(|command| !command.starts_with("repl") && !command.starts_with("trace"));
        for command in commands.copied().chain(["check rules.assert all.jsonl --format jsonl --strict"]) {
            let ran = folder.aver(command);
            assert!(ran.code <= 1, "{command}: {ran:?}");
            let said = format!("{}{}", html::everything(&ran.out), ran.err);
            for glimpse in ["nobody", "guesses", "hunter\\", "hunter\"", "say \\\"", "41111111", "long words long"] {
                let around = said.find(glimpse).map(|at| &said[said.floor_char_boundary(at.saturating_sub(300))..at]);
                assert_eq!(around, None, "{command} shows `{glimpse}` behind this");
            }
        }
    }
}

#[test]
fn all_that_a_predicate_finds_is_told_of_and_hidden() {
    let run = r#"{"output": "the hunter is o-77", "calls": [{"tool": "get", "result": "hunter o-12"}, {"tool": "get", "result": "hunter o-34"}, {"tool": "get", "result": "nothing"}]}"#;
    let rules = "def mine(s) = s matches /hunt.r/\nno mine in calls[*].result\nno mine in get\neach get: result == \"nothing\"\nno get: result contains \"34\"\n";
    let more = "output == calls[1].result message \"${calls[1].result} is not ${output}\"\n";
    let other = "def mine(s) = s contains \"77\"\nno mine in output\n";
    let folder =
        Folder::new(&[("rules.assert", rules), ("more.assert", more), ("other.assert", other), ("run.json", run)]);
    for format in ["human", "short", "json", "jsonl"] {
        let ran = folder.aver(&format!("check rules.assert -r more.assert -r other.assert run.json --format {format}"));
        assert!(!ran.out.contains("o-12") && !ran.out.contains("o-34") && !ran.out.contains("o-77"), "{}", ran.out);
    }
    let report = folder.aver("check rules.assert run.json --format json").json();
    let first = &report["runs"][0]["results"][0];
    assert_eq!(
        first["reason"],
        "`mine` finds something at `/calls/0/result`, a text of 11 characters; and in 1 more value"
    );
    assert_eq!(first["evidence"][1]["path"], "/calls/1/result");
    assert_eq!(report["runs"][0]["results"][1]["evidence"][1]["step"], 2);
    let all = folder.aver("explain . run.json --all").out;
    assert!(!all.contains("o-77") && all.contains("[redacted]"), "{all}");
}

/// Asserts that no command shows a part of the hidden values: on one run, on many runs, and with a profile.
fn hides(rules: &str, run: &str, glimpses: &[&str]) {
    let tested = format!("{rules}test \"it is said\" expect pass {run}\n");
    let lines = format!("{run}\n").repeat(3);
    let folder = Folder::new(&[
        ("rules.assert", tested.as_str()),
        ("alone.assert", rules),
        ("run.json", run),
        ("all.jsonl", lines.as_str()),
    ]);
    let formats = ["human", "summary", "short", "json", "jsonl"];
    let of_lines = formats.map(|format| format!("check alone.assert all.jsonl --format {format}"));
    let more = [
        "check alone.assert run.json --profile --format human",
        "new --from all.jsonl --stdout",
        "trace show all.jsonl",
    ];
    let more = of_lines.into_iter().chain(more.map(str::to_owned));
    for command in COMMANDS.map(str::to_owned).into_iter().chain(more) {
        let ran = folder.aver_with(&command, SESSION);
        assert!(ran.code <= 1, "{command}: {ran:?}");
        let said = format!("{}{}", html::everything(&ran.out), ran.err);
        assert!(said.len() > 20, "{command} says nothing");
        for glimpse in glimpses {
            assert!(!said.contains(glimpse), "{command} shows `{glimpse}`:\n{said}");
        }
    }
}

#[test]
fn what_stands_below_the_name_of_a_credential_is_hidden_in_lists_and_objects_however_deep() {
    let rules = "calls[0].args.api_key == \"1\"\ncalls[0].args.secret.a == \"1\"\ncalls[0].args.passwords[0][0].of == \"1\"
calls[0].args.client.Tokens contains \"1\"\neach send: args.secret == 1\nno send: args.api_key contains \"zzz\"\noutput == \"x\" message \"${calls[0].args}\"
before get(id: $id) -> send(secret: $id)\n";
    let run = r#"{"output": "done with zzz-listed-1 and nested-one-77", "calls": [{"tool": "send", "args": {"api_key": ["zzz-listed-1", {"b": ["inner-key-5"]}], "secret": {"a": "nested-one-77", "until": "2025-01-31"}, "passwords": [[{"of": "correct-horse"}]], "client": {"Tokens": ["abc-12345678"]}}}, {"tool": "get"}]}"#;
    hides(
        rules,
        run,
        &["zzz-l", "listed", "inner", "key-5", "nested", "one-77", "correct", "horse", "abc-1", "12345678"],
    );
    let folder = Folder::new(&[("rules.assert", rules), ("run.json", run)]);
    let said = folder.aver("check rules.assert run.json --format short").out;
    assert!(said.contains(r#"is ["[redacted]",{"b":["[redacted]"]}]"#), "{said}");
    assert!(said.contains("2025-01-31"), "when a secret expires is none: {said}");
}

#[test]
fn words_and_counts_below_the_name_of_a_credential_stay() {
    let rules = "calls[0].args.token == \"1\"\ncalls[0].args.auth.kind == \"1\"\ncalls[0].args.tokens == 1\ncalls[0].args.page_token == \"1\"\n";
    let run = r#"{"calls": [{"tool": "send", "args": {"token": "expired", "auth": {"kind": "oauth2-client"}, "tokens": {"input": 7, "at": "step-12345"}, "page_token": "page-12345"}}]}"#;
    let folder = Folder::new(&[("rules.assert", rules), ("run.json", run)]);
    let said = folder.aver("check rules.assert run.json --format short").out;
    for word in ["expired", "oauth2-client", "step-12345", "page-12345"] {
        assert!(said.contains(word), "`{word}` is hidden: {said}");
    }
}

#[test]
fn a_credential_behind_a_name_is_hidden() {
    for name in ["log_AKIAQWERTYUIOPASDFGH".to_owned(), format!("to-{TOKEN}"), format!("a.log_{TOKEN}_at")] {
        let run =
            format!(r#"{{"output": "{name}", "calls": [{{"tool": "{name}"}}, {{"tool": "{name}", "status": "ok"}}]}}"#);
        hides(
            "never *o*\nnever *log*\noutput == \"x\"\nany x in calls: x.tool == \"x\"\n",
            &run,
            &["AKIAQW", "PASDFGH", "ghp_1a2B", "7P6q"],
        );
    }
}

/// Commands that read `run.jsonl`.
const READERS: [&str; 12] = [
    "check rules.assert run.jsonl --format human",
    "check rules.assert run.jsonl --format short",
    "check rules.assert run.jsonl --format summary",
    "check rules.assert run.jsonl --format json",
    "check rules.assert run.jsonl --format jsonl",
    "check rules.assert run.jsonl --strict --format human",
    "check rules.assert run.jsonl --strict --format jsonl",
    "check rules.assert run.jsonl --strict --profile --format json",
    "explain rules.assert run.jsonl",
    "trace show run.jsonl",
    "new --from run.jsonl --stdout",
    "repl rules.assert --on run.jsonl",
];

#[test]
fn what_cannot_be_read_is_not_repeated_where_it_may_be_a_secret() {
    let lines = [
        format!(r#"{{"{TOKEN}": 1, "{TOKEN}": 2, "calls": []}}"#),
        format!(r#"{{"calls": [{{"tool": "a", "status": "{TOKEN}"}}]}}"#),
        format!(r#"{{"env": {{"A": "{VARIABLE}"}}, "calls": [{{"tool": "a", "status": "{VARIABLE}"}}]}}"#),
        r#"{"calls": [{"tool": "a", "args": {"password": hunter2correct}}]}"#.to_owned(),
        r#"{"calls": [{"tool": "a", "args": {"password": ["hunter2"correct]}}]}"#.to_owned(),
        r#"{"calls": [{"tool": "a", "args": {"password": 12hunter}}]}"#.to_owned(),
        r#"{"calls": [{"tool": "a", "args": {"password" hunter}}]}"#.to_owned(),
        r#"{"messages": [{"role": "assistant", "content": "x", "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{\"password\": hunter2correct}"}}]}]}"#.to_owned(),
    ];
    for line in &lines {
        let folder = Folder::new(&[("rules.assert", "output == \"x\"\n"), ("run.jsonl", line)]);
        for command in READERS {
            let ran = folder.aver_with(command, "1\n");
            let said = format!("{}{}", html::everything(&ran.out), ran.err);
            assert!(!said.is_empty() && ran.code <= 4, "{command}: {ran:?}");
            for glimpse in ["hunter", "correct", &TOKEN[..12], &TOKEN[28..]] {
                assert!(!said.contains(glimpse), "{command} shows `{glimpse}` of {line}:\n{said}");
            }
        }
    }
    let known = Folder::new(&[("rules.assert", "output == \"x\"\n"), ("run.jsonl", r#"{"output": undefined}"#)]);
    let said = known.aver("check rules.assert run.jsonl").out;
    assert!(said.contains("`undefined`"), "a word that is known is told: {said}");
}

/// Rules that contain a credential, in every place where rules have text.
#[test]
fn a_credential_in_rules_is_shown_by_no_command() {
    let rules = format!(
        "## why {TOKEN}\nnever refund\nno refund: args.a == \"{TOKEN}\"\noutput.note == 3 message \"see {TOKEN}\"\nlet t = \"{TOKEN}\"\n\
         output.note contains \"{TOKEN}\"\nnever {TOKEN}\nrule r \"said {TOKEN}\" {{ output.note == 3 class \"c-{TOKEN}\" \"{TOKEN}\" }}\n\
         \"{TOKEN}\" == t when output.note == 4\ncalls[*].tool == [\"{TOKEN}\"] expect fail \"{TOKEN}\"\n"
    );
    hides(&rules, &run("words"), &[&TOKEN[..12], &TOKEN[28..]]);
    let wrong = format!("output == \"{TOKEN}\" and outputt == \"{TOKEN}\"\nnevr {TOKEN}\n\"{TOKEN}\" {TOKEN}\n");
    let folder = Folder::new(&[("rules.assert", &rules), ("wrong.assert", &wrong), ("run.json", &run("words"))]);
    let of_check = Format::ALL.map(|format| format!("check rules.assert run.json --format {}", format.as_str()));
    for command in of_check.iter().map(String::as_str).chain([
        "lint rules.assert",
        "lint wrong.assert",
        "lint wrong.assert --format short",
        "lint wrong.assert --format json",
        "lint wrong.assert --format sarif",
        "lint rules.assert --fix --diff",
        "fmt wrong.assert --check",
        "fmt rules.assert --diff",
        "check wrong.assert run.json --format json",
        "check rules.assert run.json --profile=json",
        "disasm rules.assert",
        "test wrong.assert",
    ]) {
        let ran = folder.aver(command);
        let said = format!("{}{}", ran.out, ran.err);
        for glimpse in [&TOKEN[..12], &TOKEN[28..]] {
            assert!(!said.contains(glimpse), "{command} shows `{glimpse}`:\n{said}");
        }
    }
}

#[test]
fn words_of_a_command_are_hidden_where_the_command_is() {
    let rules = "commands[*].args == [\"1\"]\ncommands[0].args[1] == \"zz\"\ncommands[0].args == [\"a\"]\n";
    let run = r#"{"commands": [{"command": "mysql --password hunter2Secret9 -h x"}], "calls": [{"tool": "bash", "args": {"command": "curl -u admin:hunter2Secret9 https://x"}}, {"tool": "a"}], "output": "it was hunter2Secret9"}"#;
    hides(&format!("{rules}output == \"x\"\n"), run, &["hunter2Secret9"]);
}

#[test]
fn an_environment_is_hidden_in_whatever_form_it_is_recorded() {
    let rules = "output.note == \"x\"\noutput.note contains \"zz\"\n";
    for env in [
        r#"["A=Xenv1value", "B=Xenv2value"]"#,
        r#"[{"name": "A", "value": "Xenv1value"}, {"key": "B", "value": "Xenv2value"}]"#,
        r#"{"A": ["Xenv1value"], "B": {"deep": {"deeper": ["Xenv2value"]}}}"#,
        r#"{"key": "Xenv1value", "name": "Xenv2value"}"#,
        r#""A=Xenv1value\nB=Xenv2value""#,
        r#"{"A": 7317731, "B": [7317732]}"#,
    ] {
        let run = format!(
            r#"{{"env": {env}, "output": {{"note": "so Xenv1value and Xenv2value, 7317731 and 7317732"}}, "calls": [{{"tool": "a"}}, {{"tool": "b"}}]}}"#
        );
        let hidden: &[&str] = if env.contains("Xenv") { &["Xenv1", "Xenv2"] } else { &["7317731", "7317732"] };
        hides(rules, &run, hidden);
    }
}

#[test]
fn more_secrets_than_are_kept_apart_hide_everything_and_not_nothing() {
    let decoys: Vec<String> = (0..10_500)
        .map(|number| format!(r#"{{"tool": "t", "args": {{"password": "decoy{number}Pass9x"}}}}"#))
        .collect();
    let run = format!(
        r#"{{"calls": [{}, {{"tool": "t", "args": {{"password": "realSecret77Zz"}}}}], "output": {{"note": "it is realSecret77Zz"}}}}"#,
        decoys.join(", ")
    );
    let folder =
        Folder::new(&[("r.assert", "output.note == \"x\" message \"so ${output.note}\"\nnever t\n"), ("t.json", &run)]);
    for command in ["human", "short", "json", "jsonl", "summary", "html", "junit"]
        .map(|format| format!("check r.assert t.json --format {format}"))
    {
        let ran = folder.aver(&command);
        assert!(ran.code == 1 && !ran.out.contains("realSecret"), "{command}: {ran:?}");
    }
    for command in ["explain r.assert t.json", "explain r.assert t.json --format json"] {
        let ran = folder.aver(command);
        assert!(ran.code == 0 && !ran.out.contains("realSecret"), "{command}: {ran:?}");
    }
    // One value in many calls counts once.
    let same =
        decoys.iter().map(|_| r#"{"tool": "t", "args": {"password": "onlyOne77Zz"}}"#).collect::<Vec<_>>().join(", ");
    folder.write("s.json", format!(r#"{{"calls": [{same}], "output": {{"note": "plain"}}}}"#).as_bytes());
    assert!(folder.aver("check r.assert s.json --format short").out.contains("plain"));
}
