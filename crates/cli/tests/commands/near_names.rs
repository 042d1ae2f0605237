//! A name that no run has, although some run has a similar one: one warning beside the report, independent of the verdict.

use crate::folder::Folder;
use averment_report::Format;

/// Returns what `aver check` prints to standard error for rules on one run.
#[track_caller]
pub(crate) fn warned(rules: &str, run: &str) -> String {
    let folder = Folder::new(&[("rules.assert", rules), ("run.json", run)]);
    let plain = folder.aver("check rules.assert run.json");
    for way in ["--strict", "--format json", "--format summary", "--threads 2"] {
        let other = folder.aver(&format!("check rules.assert run.json {way}"));
        assert_eq!(plain.err, other.err, "{way}");
    }
    plain.err
}

fn calls(tools: &[&str]) -> String {
    let calls: Vec<String> = tools.iter().map(|tool| format!("{{\"tool\": \"{tool}\", \"args\": {{}}}}")).collect();
    format!("{{\"calls\": [{}]}}", calls.join(", "))
}

#[test]
fn a_tool_that_no_run_calls_while_some_calls_nearly_it_is_named() {
    for (rule, tool) in [
        ("never refnd", "refund"),
        ("count refnd <= 1", "refund"),
        ("none of { require refnd }", "refund"),
        ("never delete_repo", "mcp__github__delete_repo"),
        ("never send_email", "functions.send_email"),
        ("never refund", "Refund"),
        ("never refunds", "refund"),
        ("count refund <= 1", "refunds"),
    ] {
        let said = warned(rule, &calls(&[tool, tool]));
        assert_eq!(said.matches("warning:").count(), 1, "{rule}: {said}");
        assert!(said.contains("rules.assert:1:") && said.contains(&format!("`{tool}`")), "{rule}: {said}");
    }
    assert!(warned("never refund", &calls(&["refund "])).contains("some run calls `refund `"));
    assert!(warned("never refund", &calls(&["r\u{435}fund"])).contains("r\\u{435}fund"));
}

#[test]
fn names_in_conditions_and_in_front_of_globs_are_looked_for_too() {
    for rule in [
        "no x in calls: x.tool == \"refnd\"",
        "no x in calls: x.tool in [\"drop\", \"refnd\"]",
        "each any: tool != \"refnd\"",
    ] {
        let said = warned(rule, &calls(&["refund"]));
        assert_eq!(said.matches("warning:").count(), 1, "{rule}: {said}");
        assert!(said.contains("no run calls `refnd`, and some run calls `refund`"), "{rule}: {said}");
    }
    let said = warned("never refnd_*", &calls(&["refund_order"]));
    assert!(said.contains("no run calls `refnd_*`, and some run calls `refund_order`"), "{said}");
    assert_eq!(warned("no x in calls: x.tool == \"refund\"", &calls(&["refund", "refunnd"])), "");
    assert_eq!(warned("no x in calls: x.args.kind == \"refnd\"", &calls(&["refund"])), "");
    assert_eq!(warned("never refund_*", &calls(&["refund_order", "refnd_order"])), "");
    assert_eq!(warned("never get_*", &calls(&["set_user"])), "");
}

#[test]
fn names_that_the_catalogue_knows_or_a_run_calls_are_no_slips() {
    let catalogue = "tool refunnd { type: \"object\" }\ntool refund { type: \"object\" }\n";
    assert_eq!(warned(&format!("{catalogue}never refund"), &calls(&["refunnd"])), "");
    assert_eq!(warned("never refund", &calls(&["refund", "refunnd"])), "");
    assert!(warned("never refund*", &calls(&["Refund"])).contains("some run calls `Refund`"));
    assert_eq!(warned("never refund*", &calls(&["refund", "Refund"])), "");
    assert_eq!(warned("never get_user", &calls(&["set_user"])), "");
    assert_eq!(warned("never list_orders\nrequire list_order", &calls(&["list_order"])), "");
}

#[test]
fn a_key_that_a_path_does_not_find_is_named_where_nearly_it_stands_in_its_place() {
    let refund = r#"{"calls": [{"tool": "refund", "args": {"amount": 5000}}], "output": {"errors": ["x"]}}"#;
    for (rule, wanted, found) in [
        ("never refund(amout > 100)", "amout", "amount"),
        ("sum(calls[*].args.amout) <= 100", "amout", "amount"),
        ("output.erors != 3", "erors", "errors"),
        ("no x in calls: x.args.Amount > 100", "Amount", "amount"),
    ] {
        let said = warned(rule, refund);
        assert_eq!(said.matches("warning:").count(), 1, "{rule}: {said}");
        assert!(said.contains(&format!("`{wanted}`")) && said.contains(&format!("`{found}`")), "{rule}: {said}");
    }
    assert_eq!(warned("never refund(amt > 100)", refund), "");
}

/// A misspelled name is reported even if another rule has the right name.
#[test]
fn a_slip_beside_the_right_name_is_told() {
    let refund = r#"{"calls": [{"tool": "refund", "args": {"amount": 5000}}], "output": {"errors": ["x"]}}"#;
    let tool = ["never refnd", "count refnd == 0", "only refund, refnd", "no x in calls: x.tool == \"refnd\""];
    let key = [
        "never refund(amout > 100)",
        "never (refund where args.amout > 100)",
        "count (refund where args.amout > 9) == 0",
    ];
    let beside = [
        "count refund <= 3",
        "each refund: args.amount > 0",
        "require refund(amount > 1)",
        "sum(args.amount of refund) > 1",
        "no x in calls: x.tool == \"refund\" and x.args.amount > 9000",
    ];
    for (slips, wanted) in [(tool.as_slice(), "refnd"), (key.as_slice(), "amout")] {
        for slip in slips {
            for right in beside {
                for rules in [
                    format!("{slip}\n{right}"),
                    format!("{right}\n{slip}"),
                    format!("rule r {{\n  {right}\n  {slip}\n}}"),
                ] {
                    let said = warned(&rules, refund);
                    assert_eq!(said.matches(&format!("`{wanted}`")).count(), 1, "{rules}: {said}");
                }
            }
        }
    }
    assert!(warned("never refund(amout > 100 or amount > 9000)", refund).contains("`amout`"));
}

/// Two spellings of a name in one statement are intended, so there is no warning.
#[test]
fn two_spellings_in_one_statement_are_meant() {
    let run = r#"{"calls": [{"tool": "delete_repo", "args": {"userId": 1}}], "output": {"x": 1}}"#;
    for rules in [
        "never Delete_Repo, delete_repo",
        "never (mcp__github__delete_repo | delete_repo)",
        "no x in calls: x.tool in [\"DeleteRepo\", \"delete_repo\"]",
        "each delete_repo: args.user_id == 1 or args.userId == 1",
    ] {
        assert_eq!(warned(rules, run), "", "{rules}");
    }
    assert!(warned("never Delete_Repo\nnever delete_repo", run).contains("`Delete_Repo`"));
}

#[test]
fn what_is_nearly_a_name_fails_where_that_is_asked_in_every_format() {
    let run = r#"{"calls": [{"tool": "Delete_Repo", "args": {"amount": 1}}]}"#;
    let rules = "never delete_repo\nnever any(amout > 100)\ncount Delete_Repo <= 3\n";
    let folder = Folder::new(&[("r.assert", rules), ("run.json", run), ("runs.jsonl", &format!("{run}\n").repeat(30))]);
    for trace in ["run.json", "runs.jsonl"] {
        assert_eq!(folder.aver(&format!("check r.assert {trace}")).code, 0);
        for format in Format::ALL.map(Format::as_str) {
            let ran = folder.aver(&format!("check r.assert {trace} --deny near-names --format {format}"));
            assert_eq!(ran.code, 1, "{trace} {format}: {ran:?}");
            if !matches!(format, "summary" | "html" | "csv") {
                let out = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(out.contains("no run calls") && out.contains("Delete_Repo"), "{trace} {format}: {out}");
            }
        }
    }
    folder.write("averment.toml", b"deny = [\"near-names\"]\n");
    assert_eq!(folder.aver("check r.assert run.json").code, 1);
    assert_eq!(folder.aver("check r.assert run.json --no-project").code, 0);
    folder.write("r.assert", b"never Delete_Repo when length(calls) > 3\nnever any(amount > 100)\n");
    assert_eq!(folder.aver("check r.assert run.json").code, 0);
}

#[test]
fn a_key_that_another_run_has_is_no_slip() {
    let lines = r#"{"calls": [{"tool": "refund", "args": {"amount": 5}}]}
{"calls": [{"tool": "refund", "args": {"amout": 5}}]}"#;
    let folder = Folder::new(&[("rules.assert", "never refund(amout > 100)"), ("runs.jsonl", lines)]);
    assert_eq!(folder.aver("check rules.assert runs.jsonl").err, "");
    let far = format!("{}\n{}", r#"{"calls": [{"tool": "refund", "args": {"amount": 5}}]}"#, {
        let filler = format!("{{\"calls\": [], \"output\": \"{}\"}}\n", "x".repeat(1000)).repeat(100);
        format!("{filler}{}", r#"{"calls": [{"tool": "refund", "args": {"amout": 5}}]}"#)
    });
    folder.write("far.jsonl", far.as_bytes());
    assert_eq!(folder.aver("check rules.assert far.jsonl").err, "");
}

/// A missing key beside a similar one is not decisive, independent of earlier runs.
#[test]
fn what_is_said_of_a_missing_key_does_not_depend_on_other_runs() {
    let (plain, near) = (r#"{"calls": [], "output": {"a": 1}}"#, r#"{"calls": [], "output": {"Errors": [1]}}"#);
    for (runs, wanted) in [([plain, near], ["pass", "vacuous"]), ([near, plain], ["vacuous", "pass"])] {
        for rule in ["output.errors is empty", "output.errors is missing", "not output.errors exists"] {
            let folder = Folder::new(&[("rules.assert", rule), ("runs.jsonl", &runs.join("\n"))]);
            let out = folder.aver("check rules.assert runs.jsonl --format jsonl").out;
            let verdict = |line: &str| {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                line["verdicts"][0].as_str().unwrap_or_default().to_owned()
            };
            let said: Vec<String> = out.lines().skip(1).take(2).map(verdict).collect();
            assert_eq!(said, wanted, "{rule}: {out}");
        }
    }
}

#[test]
fn paths_that_differ_by_letter_case_are_named() {
    let run = r#"{"calls": [], "writes": ["docs/readme.md"]}"#;
    assert!(warned("never write \"**/README.md\"", run).contains("`docs/readme.md`"));
    let both = r#"{"calls": [], "writes": ["docs/readme.md", "README.md"]}"#;
    assert_eq!(warned("count write \"**/README.md\" <= 2", both), "");
}

#[test]
fn a_number_and_the_text_that_spells_it_do_not_meet_and_that_is_said() {
    let run = r#"{"calls": [{"tool": "cancel", "args": {"id": 7}}, {"tool": "refund", "args": {"id": "7"}}]}"#;
    let folder = Folder::new(&[("rules.assert", "never refund(id: $id) after cancel(id: $id)"), ("run.json", run)]);
    let said = folder.aver("check rules.assert run.json").out;
    assert!(
        said.contains("`$id` is the number 7 in cancel at call 1 and the text \"7\" in refund at call 2"),
        "{said}"
    );
}

#[test]
fn a_member_of_a_group_that_something_missing_skips_in_every_run_is_told() {
    let rule = "all of {\n  never refund when inputs.plan == \"vip\"\n  never drop\n}\n";
    let without = r#"{"calls": [{"tool": "refund"}], "inputs": {"x": 1}}"#;
    let said = warned(rule, without);
    assert!(
        said.contains("rules.assert:2:") && said.contains("judged no run: its `when inputs.plan == \"vip\"`"),
        "{said}"
    );
    assert_eq!(said.matches("warning:").count(), 1, "{said}");
    let other = r#"{"calls": [{"tool": "a"}], "inputs": {"plan": "vip"}}"#;
    let folder = Folder::new(&[("rules.assert", rule), ("runs.jsonl", &format!("{without}\n{other}"))]);
    assert_eq!(folder.aver("check rules.assert runs.jsonl").err, "");
    let known = rule.replace("inputs.plan == \"vip\"", "inputs.plan exists");
    assert_eq!(warned(&known, without), "");
}

#[test]
fn a_rule_that_something_missing_skips_in_every_run_is_told() {
    let rules = "rule vip {\n  when inputs.plan == \"vip\"\n  never refund\n}\n";
    let said = warned(rules, &calls(&["refund"]).replace("}]}", "}], \"inputs\": {\"x\": 1}}"));
    assert!(said.contains("`vip` judged no run: its `when inputs.plan == \"vip\"`"), "{said}");
    let some = format!(
        "{}\n{}",
        r#"{"calls": [], "inputs": {"x": 1}}"#, r#"{"calls": [{"tool": "a"}], "inputs": {"plan": "vip"}}"#
    );
    let folder = Folder::new(&[("rules.assert", rules), ("runs.jsonl", &some)]);
    assert_eq!(folder.aver("check rules.assert runs.jsonl").err, "");
    let said = warned("when inputs.tier exists { never refund }", r#"{"calls": [], "inputs": {"x": 1}}"#);
    assert_eq!(said.matches("judged no run").count(), 0, "{said}");
}

/// With very many names in rules and runs, the time to compare them and the number of warnings are bounded.
#[test]
fn many_names_are_compared_and_told_within_bounds() {
    let rules: String = (0..6_000).map(|number| format!("never tol_{number}\n")).collect();
    let tools: Vec<String> = (0..30_000).map(|number| format!("tool_{number}")).collect();
    let run = calls(&tools.iter().map(String::as_str).collect::<Vec<_>>());
    let folder = Folder::new(&[("rules.assert", &rules), ("run.json", &run)]);
    let said = folder.aver("check rules.assert run.json --format summary").err;
    assert_eq!(said.matches("no run calls `tol_").count(), 100, "{said}");
    assert!(said.contains("more names that no run has are nearly those that some run has"), "{said}");
}

/// Every kind of name in a rule has this warning, and it disappears if some run has the name.
#[test]
fn names_of_every_kind_are_compared_with_those_of_runs() {
    let named = |key: &str, name: &str| match key {
        "skill" => format!("{{\"skills\": [{{\"name\": \"{name}\"}}]}}"),
        "handover" => format!("{{\"handovers\": [{{\"to\": \"{name}\"}}]}}"),
        "agent" => format!("{{\"calls\": [{{\"tool\": \"t\", \"args\": {{}}, \"agent\": \"{name}\"}}]}}"),
        _ => format!("{{\"calls\": [{{\"tool\": \"t\", \"args\": {{}}, \"tags\": [\"{name}\"]}}]}}"),
    };
    for (key, rules) in [
        ("skill", ["never skill \"billing\"", "count skill \"billing\" <= 3"]),
        ("handover", ["never handover \"billing\"", "not require handover \"billing\""]),
        ("agent", ["never t by billing", "no c in calls: c.agent == \"billing\""]),
        ("tag", ["never any tagged billing", "never (any where \"billing\" in tags)"]),
    ] {
        for rule in rules {
            for name in ["biling", "Billing", "bililng"] {
                let said = warned(rule, &named(key, name));
                assert!(said.contains("`billing`") && said.contains(&format!("`{name}`")), "{rule} {name}: {said}");
            }
            assert_eq!(warned(rule, &named(key, "sales")), "", "{rule}");
            assert_eq!(warned(rule, &named(key, "billing")), "", "{rule}");
        }
    }
    assert!(warned("never any tagged destructve\ntool t tagged destructive", &calls(&["t"])).contains("`destructive`"));
    for (glob, tool) in
        [("github_delete*", "github__delete_repo"), ("Delete_*", "delete_user"), ("delete-*", "deleteUser")]
    {
        assert!(warned(&format!("never {glob}"), &calls(&[tool])).contains(&format!("`{tool}`")), "{glob}");
    }
    assert_eq!(warned("never get_*", &calls(&["getaway"])), "");
}

#[test]
fn a_text_that_stands_in_a_value_only_as_a_part_or_in_another_letter_case_is_told() {
    let run = |text: &str| {
        format!("{{\"calls\": [{{\"tool\": \"send\", \"args\": {{\"note\": \"{text}\"}}}}], \"output\": \"\"}}")
    };
    for (rule, value) in [
        ("never send(note: \"Evil Corp\")", "gift for Evil Corp"),
        ("no send: args.note == \"git push --force\"", "git push --force origin"),
        ("never send(note: \"evil.com\")", "http://evil.com/a"),
        ("never send(note contains \"Password\")", "my password"),
        ("no any: args.note starts with \"Error\"", "error: no"),
    ] {
        let said = warned(rule, &run(value));
        assert_eq!(said.matches("warning:").count(), 1, "{rule}: {said}");
    }
    for (rule, value) in [
        // A word, a word in capitals, a part of a word, and a value that some run has.
        ("never send(note: \"ok\")", "not ok"),
        ("never send(note contains \"TODO\")", "todo"),
        ("never send(note contains \"Rome\")", "chrome"),
        ("never send(note: \"a b.c\") after send(note: \"a b.c\")", "a b.c"),
    ] {
        assert_eq!(warned(rule, &run(value)), "", "{rule}");
    }
    let folder =
        Folder::new(&[("rules.assert", "never send(note: \"Evil Corp\")"), ("run.json", &run("for Evil Corp"))]);
    let denied = folder.aver("check rules.assert run.json --deny near-names");
    assert_eq!(denied.code, 0, "{}", denied.err);
}

#[test]
fn another_word_for_a_role_is_told() {
    let run = "{\"messages\": [{\"role\": \"user\", \"text\": \"hi\"}]}";
    let said = warned("never message(role: \"human\")", run);
    assert!(said.contains("no run has the role `human`, and some run has `user`"), "{said}");
    assert_eq!(warned("never message(role: \"critic\")", run), "");
}

#[test]
fn lints_that_are_certain_are_told_by_check() {
    let said = warned("never pay(id: $x) after plan", &calls(&["plan"]));
    assert!(said.contains("rules.assert:1:15: `$x` is used nowhere else"), "{said}");
    assert_eq!(warned("# allow: binding-used-once\nnever pay(id: $x) after plan", &calls(&["plan"])), "");
    let said = warned("never write(path: \"src/**\")", "{\"writes\": []}");
    assert!(said.contains("write `write \"src/**\"`"), "{said}");
}
