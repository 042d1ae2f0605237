//! Texts in rules that every run spells differently: a warning beside the report, or no evidence.

use crate::folder::Folder;
use crate::near_names::warned;

/// Texts that every run spells differently: each kind, in every place where it can occur.
#[test]
fn what_is_there_in_another_spelling_is_told() {
    let of_value = |value: &str| {
        let value = serde_json::Value::from(value);
        format!(
            "{{\"calls\": [{{\"tool\": \"send\", \"args\": {{\"note\": {value}, \"notes\": [{value}]}}, \"result\": {value}}}], \"messages\": [{{\"role\": \"assistant\", \"text\": {value}}}], \"output\": {value}, \"error\": null}}"
        )
    };
    let places = |test: &str, kind: &str| {
        let texts =
            ["never send(note TEST)", "no send: args.note TEST", "never (send where result TEST)", "not (output TEST)"];
        let mut rules: Vec<String> = texts.iter().map(|rule| rule.replace("TEST", test)).collect();
        rules.push(format!("never assistant {kind}"));
        rules
    };
    for (test, kind, value) in [
        ("matches /error|denied/", "/error|denied/", "Error: no"),
        ("matches /\\berror: \\d+/", "/\\berror: \\d+/", "x ERROR: 12"),
        ("matches /drop table/", "/drop table/", "DROP TABLE x"),
        ("contains \"DROP TABLE\"", "\"DROP TABLE\"", "drop table x"),
        ("contains \"\\\"ok\\\": false\"", "\"\\\"ok\\\": false\"", "it is {\"ok\":false}"),
        ("contains \"go on\"", "\"go on\"", "please go  on"),
        ("contains \"https://a.example\"", "\"https://a.example\"", "see http://a.example/x"),
        ("contains \"{\\\"err\\\": 1}\"", "\"{\\\"err\\\": 1}\"", "it is {\"err\":1}"),
        ("contains \"terraform destroy\"", "\"terraform destroy\"", "terraform -chdir=x destroy"),
        ("starts with \"http://a.example\"", "\"http://a.example\"", "https://a.example/x"),
    ] {
        for rule in places(test, kind) {
            let said = warned(&rule, &of_value(value));
            assert_eq!(said.matches("warning:").count(), 1, "{rule} on {value}: {said}");
        }
    }
    for (test, kind, value) in [
        ("matches /error/i", "/error/i", "Error"),
        ("matches /[A-Z]{3} error/", "/[A-Z]{3} error/", "abc error"),
        ("matches /ERROR/", "/ERROR/", "error"),
        ("matches /no\\d/", "/no\\d/", "NO1"),
        ("contains \"https://\"", "\"https://\"", "http://a.example"),
    ] {
        for rule in places(test, kind) {
            assert_eq!(warned(&rule, &of_value(value)), "", "{rule} on {value}");
        }
    }
    for (rule, words) in [
        ("output not in [\"refused\", \"sorry\"]", "no value is `sorry` as a whole"),
        ("never send(note: \"sorry\")", "no value is `sorry` as a whole"),
        ("no send: \"sorry\" in args.notes", "no value is `sorry` as a whole"),
    ] {
        assert!(warned(rule, &of_value("I am sorry, no")).contains(words), "{rule}");
        assert!(warned(rule, &of_value("x@sorry")).contains(words), "{rule}");
        assert_eq!(warned(rule, &of_value("very sorry")), "", "{rule}");
    }
    for (rule, value, words) in [
        (
            "no send: args.note starts with \"rm\"",
            "sudo rm -r x",
            "no value begins with `rm`, and some value holds it further in",
        ),
        ("no send: args.note ends with \"sorry\"", "sorry, no", "no value ends with `sorry`, and some value holds it"),
        ("no send: args.note starts with \"tests/\"", "Tests/x", "`tests/` stands in no value in this letter case"),
    ] {
        assert!(warned(rule, &of_value(value)).contains(words), "{rule} on {value}");
    }
    for (rule, value) in [
        ("no send: args.note starts with \"tests/\"", "src/Tests/x"),
        ("no send: args.note starts with \"rm\"", "farm x"),
        ("no send: args.note ends with \"sorry\"", "Sorry, no"),
    ] {
        assert_eq!(warned(rule, &of_value(value)), "", "{rule} on {value}");
    }
    let both = format!("{}\n{}", of_value("Error"), of_value("an error"));
    let folder = Folder::new(&[("rules.assert", "no send: args.note matches /error/"), ("runs.jsonl", &both)]);
    assert_eq!(folder.aver("check rules.assert runs.jsonl").err, "");
}

#[test]
fn addresses_and_commands_in_another_spelling_are_told() {
    for (rule, run) in [
        ("never http \"https://evil.example\"", "{\"http\": [{\"url\": \"http://evil.example/a\"}]}"),
        ("never http \"http://evil.example\"", "{\"http\": [{\"url\": \"https://evil.example/a\"}]}"),
        ("never http /evil/", "{\"http\": [{\"url\": \"https://a.example/EVIL\"}]}"),
        ("never command \"DROP TABLE\"", "{\"commands\": [\"psql -c 'drop table x'\"]}"),
        ("never command /drop table/", "{\"commands\": [\"psql -c 'DROP TABLE x'\"]}"),
        ("never command \"cat x | wc -l\"", "{\"commands\": [\"cat x|wc -l\"]}"),
    ] {
        let said = warned(rule, run);
        assert_eq!(said.matches("warning:").count(), 1, "{rule}: {said}");
    }
}

#[test]
fn a_percent_beside_a_number_above_1_is_told() {
    let run = |score: &str| format!("{{\"calls\": [{{\"tool\": \"eval\", \"result\": {{\"score\": {score}}}}}]}}");
    for rule in [
        "require eval(result.score >= 50%)",
        "each eval: result.score > 50%",
        "require (eval where result.score >= 50%)",
        "require eval(result.score >= 0.5)",
        "never eval(result.score <= 50%)",
    ] {
        assert!(warned(rule, &run("60")).contains("write `50`"), "{rule}");
        assert_eq!(warned(rule, &run("0.6")), "", "{rule}");
        assert_eq!(warned(&rule.replace("50%", "150%").replace("0.5", "1.5"), &run("1.7")), "", "{rule}");
    }
    // An amount may be below 1.
    assert_eq!(
        warned("each pay: args.amount >= 0.5", "{\"calls\": [{\"tool\": \"pay\", \"args\": {\"amount\": 60}}]}"),
        ""
    );
}

#[test]
fn a_glob_that_stops_above_the_files_is_told() {
    for (glob, path, told) in [
        ("src", "src/a.py", "`src/**`"),
        ("src/*", "x/src/a/b.py", "`src/**`"),
        ("/etc", "/etc/passwd", "`/etc/**`"),
        ("/etc/*", "/etc/ssh/key", "`/etc/**`"),
        (".ssh", "/home/me/.ssh/id", "`.ssh/**`"),
        ("/repo/src/**", "src/a.py", "begins at the root"),
        ("/Etc/*", "/etc/passwd", "letter case"),
    ] {
        let run = format!("{{\"writes\": [\"{path}\"]}}");
        let said = warned(&format!("never write \"{glob}\""), &run);
        assert!(said.contains(told) && said.matches("warning:").count() == 1, "{glob}: {said}");
    }
    for (glob, path) in
        [("src", "src.py"), ("src/*.py", "src/a/b.py"), ("a.py", "a.py/x"), ("/etc/**", "src/etc.py"), ("*", "a/b")]
    {
        let run = format!("{{\"writes\": [\"{path}\"]}}");
        assert_eq!(warned(&format!("count write \"{glob}\" <= 9"), &run), "", "{glob} {path}");
    }
}

/// `in` on an object tests its keys. A value that contains the text does not prove that the key is missing.
#[test]
fn a_text_in_a_value_of_an_object_is_no_missing_key() {
    let folder = Folder::new(&[("run.json", "{\"calls\": [{\"tool\": \"send\", \"args\": {\"to\": \"evil corp\"}}]}")]);
    for (rule, said) in [
        ("no any: \"evil\" in args", "vacuous: it holds"),
        ("each send: \"evil\" not in args", "vacuous: it holds"),
        ("each send: \"cc\" not in args", "passed: 1 passed"),
        ("each send: \"to\" in args", "passed: 1 passed"),
    ] {
        folder.write("rules.assert", rule.as_bytes());
        let ran = folder.aver("check rules.assert run.json");
        assert!(ran.out.contains(said), "{rule}: {ran:?}");
    }
    folder.write("run.json", b"{\"calls\": [], \"inputs\": \"please refund me\"}");
    for (rule, code) in [("inputs contains \"refund me\"", 0), ("inputs matches /cancel/", 1)] {
        folder.write("rules.assert", rule.as_bytes());
        assert_eq!(folder.aver("check rules.assert run.json").code, code, "{rule}");
    }
}
