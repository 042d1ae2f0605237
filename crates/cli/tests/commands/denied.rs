//! `deny` and `allow` on single assertions.

use super::folder::Folder;

/// A run without any step.
const IDLE: &str = r#"{"calls": []}"#;

/// Rules with command-line options, and the exit codes without and with the options.
const GATED: &[(&str, &str, i32, i32)] = &[
    ("before approve -> refund deny vacuous", "", 1, 1),
    ("before approve -> refund allow vacuous", "--deny vacuous", 0, 0),
    ("before approve -> refund severity warn deny vacuous", "--deny vacuous", 0, 0),
    ("cost <= $1 allow undecided", "", 0, 0),
    ("cost <= $1 deny undecided", "--allow undecided", 1, 1),
    ("never search(amount > 1)\n  deny unjudged", "", 1, 1),
    ("never search(amount > 1) allow unjudged", "--deny unjudged", 0, 0),
    ("never search(amount > 1)", "--deny unjudged", 0, 1),
    ("rule r deny vacuous { before a -> b; before c -> d allow vacuous }", "", 1, 1),
    ("rule r { allow undecided; cost <= $1; duration <= 1s deny undecided }", "", 1, 1),
    ("rule r threshold 0.5 { before approve -> refund deny vacuous; never x }", "", 1, 1),
    ("rule r threshold 0.5 { before approve -> refund; never x }", "--deny vacuous", 0, 0),
    ("rule r threshold 0.5 allow undecided { cost <= $1 }", "", 0, 0),
    ("rule r threshold 0.5 { cost <= $1 }", "--allow undecided", 1, 0),
];

#[test]
fn what_an_assertion_denies_and_allows_wins_over_the_command_line_in_every_way_of_checking() {
    let run = r#"{"complete": true, "calls": [{"tool": "search", "args": {"amount": 0}}, {"tool": "search", "args": {"q": "x"}}]}"#;
    for (rule, words, without, with) in GATED {
        let rules = format!("{rule}\nnever nothing\n");
        let folder =
            Folder::new(&[("r.assert", &rules), ("one.json", run), ("many.jsonl", &format!("{run}\n").repeat(40))]);
        assert_eq!(folder.aver("compile r.assert -o r.assertc").code, 0, "{rule}");
        // Without options there is only one case.
        let cases = [("", without), (*words, with)].into_iter().take(1 + usize::from(!words.is_empty()));
        for (words, code) in cases {
            let all: &[_] = &["human", "summary", "short", "json", "jsonl", "junit", "sarif", "github", "markdown"];
            // A compiled program uses the same code, so fewer formats are tested.
            for (rules, traces, formats) in
                [("r.assert", "one.json", all), ("r.assertc", "one.json", &["json"]), ("r.assert", "many.jsonl", all)]
            {
                for format in formats {
                    let ran = folder.aver(&format!("check {rules} {traces} {words} --format {format}"));
                    assert_eq!(ran.code, *code, "{rule} | {words} | {rules} {traces} | {format}: {}", ran.out);
                }
            }
        }
    }
}

#[test]
fn deny_undecided_takes_back_what_rules_allow() {
    let cases = [
        ("cost <= $1 allow undecided", "", 0),
        ("cost <= $1 allow undecided", "--deny undecided", 1),
        ("cost <= $1", "--allow undecided --deny undecided", 1),
        ("cost <= $1 severity warn allow undecided", "--deny undecided", 0),
        ("rule r threshold 0.5 allow undecided { cost <= $1 }", "--deny undecided", 1),
    ];
    let folder = Folder::new(&[("one.json", IDLE), ("many.jsonl", &format!("{IDLE}\n").repeat(3))]);
    for (rule, words, code) in cases {
        folder.write("r.assert", format!("{rule}\nnever nothing\n").as_bytes());
        for traces in ["one.json", "many.jsonl --format summary"] {
            let ran = folder.aver(&format!("check r.assert {traces} {words}"));
            assert_eq!(ran.code, code, "{rule} | {words} | {traces}: {}", ran.out);
        }
    }
    folder.write("averment.toml", b"deny = [\"undecided\"]\n");
    folder.write("r.assert", b"cost <= $1 allow undecided\n");
    assert_eq!(folder.aver("check r.assert one.json").code, 1, "as in a project");
}

#[test]
fn reports_say_where_a_rule_itself_denies_or_allows() {
    let rules =
        "before approve -> refund deny vacuous\ncost <= $1 allow undecided\nnever search(amount > 1) deny unjudged\n";
    let run = r#"{"calls": [{"tool": "search", "args": {"amount": 0}}, {"tool": "search", "args": {"q": "x"}}]}"#;
    let folder = Folder::new(&[("r.assert", rules), ("one.json", run), ("many.jsonl", &format!("{run}\n").repeat(40))]);
    for (traces, words) in [
        (
            "one.json",
            [
                "which `deny vacuous` makes a failure",
                "which `allow undecided` lets pass",
                "which `deny unjudged` makes a failure",
            ],
        ),
        ("many.jsonl", ["(deny vacuous) before approve", "(allow undecided) cost", "(deny unjudged) never search"]),
    ] {
        let ran = folder.aver(&format!("check r.assert {traces}")).out;
        let out = ran.split_whitespace().collect::<Vec<_>>().join(" ");
        for said in words {
            assert!(out.contains(said), "{traces}: {said}: {ran}");
        }
    }
    let short = folder.aver("check r.assert one.json --format short").out;
    assert!(short.contains("r.assert:1:1: error[") && short.contains("r.assert:2:1: warning["), "{short}");
}

#[test]
fn what_is_nothing_to_deny_is_told_with_what_is() {
    let folder = Folder::new(&[("idle.json", IDLE)]);
    for (rule, said) in [
        ("never refund deny vacous", "did you mean `vacuous`?"),
        ("never refund allow failures", "`deny` and `allow` take vacuous, undecided, unjudged"),
        ("never refund deny vacuous allow vacuous", "`deny vacuous` is already set here"),
    ] {
        folder.write("r.assert", rule.as_bytes());
        let ran = folder.aver("check r.assert idle.json");
        assert!(ran.code == 3 && ran.err.contains(said), "{rule}: {}", ran.err);
    }
}
