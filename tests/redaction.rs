//! What no output shows: credentials and the environment, in every format of every command, also where a text is cut.

#[path = "common/folder.rs"]
mod folder;

use folder::Folder;

const TOKEN: &str = "ghp_1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R";
const VARIABLE: &str = "correct-horse-battery-staple";

/// Commands that say something of a run.
const COMMANDS: [&str; 15] = [
    "check rules.assert run.json --format human",
    "check rules.assert run.json --format summary",
    "check rules.assert run.json --format short",
    "check rules.assert run.json --format json",
    "check rules.assert run.json --format jsonl",
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

/// Rules whose reasons quote the output, an argument and a part of either.
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

/// No command shows the first or last characters of the secret with a text before it, however long that is.
fn nothing_shows(secret: &str) {
    let glimpses = [&secret[..12], &secret[secret.len() - 12..]];
    for before in (0..440).step_by(9) {
        let text = format!("{}{secret} is what we use for all of the other things, too", "word ".repeat(before / 5));
        let inline = run(&text);
        let rules = format!("{RULES}test \"it is said\" expect pass {inline}\n");
        let folder = Folder::new(&[("rules.assert", &rules), ("run.json", &inline)]);
        // Each length is tried with some of the commands, each command with some of the lengths.
        for command in COMMANDS.iter().skip(before / 9 % 3).step_by(3) {
            let ran = folder.aver_with(command, SESSION);
            let said = format!("{}{}", ran.out, ran.err);
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

/// Rules that speak of everything in which [`found_by_a_predicate`] is repeated; what they look for they do not say.
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
            let said = format!("{}{}", ran.out, ran.err);
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
