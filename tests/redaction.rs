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
