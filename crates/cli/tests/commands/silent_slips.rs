//! Mistakes that would let a check pass silently: each is reported on standard error, in every report format.

use crate::folder::Folder;
use crate::near_names::warned;

fn calls(tools: &[&str]) -> String {
    let calls: Vec<String> = tools.iter().map(|tool| format!("{{\"tool\": \"{tool}\", \"args\": {{}}}}")).collect();
    format!("{{\"calls\": [{}]}}", calls.join(", "))
}

#[test]
fn patterns_in_quotes_and_units_of_names_are_told_by_check() {
    for (rule, told) in [
        ("not (output contains \"Ref.*und\")", "write `matches /Ref.*und/`"),
        ("never user \"*refund*\"", "write `user \"refund\"`"),
        ("no search: args.timeout_seconds > 30s", "write `30`"),
    ] {
        let run = "{\"calls\": [{\"tool\": \"search\", \"args\": {\"timeout_seconds\": 60}}], \"messages\": [{\"role\": \"user\", \"text\": \"hi\"}], \"output\": \"Refund\"}";
        let said = warned(rule, run);
        assert_eq!(said.matches("warning:").count(), 1, "{rule}: {said}");
        assert!(said.contains("rules.assert:1:") && said.contains(told), "{rule}: {said}");
    }
    assert_eq!(warned("# allow: regex-as-text\nnot (output contains \"Ref.*und\")", "{\"output\": \"x\"}"), "");
}

/// Top-level keys of a run, read partly and in full, give the same reports.
#[test]
fn a_misspelt_key_of_a_run_is_told() {
    for (entry, key, known) in [
        ("\"eror\": \"x\"", "eror", "error"),
        ("\"cots\": 3", "cots", "cost"),
        ("\"outptu\": \"x\"", "outptu", "output"),
        ("\"Duration\": 5", "Duration", "duration"),
        ("\"mesages\": [{\"role\": \"user\", \"text\": \"hi\"}]", "mesages", "messages"),
        ("\"metaa\": {\"a\": 1}", "metaa", "meta"),
    ] {
        let plain = "{\"calls\": [{\"tool\": \"find\", \"args\": {}}]}\n".repeat(200);
        let odd = format!("{{\"calls\": [{{\"tool\": \"find\", \"args\": {{}}}}], {entry}}}\n");
        let folder =
            Folder::new(&[("r.assert", "never drop\ncount find <= 1"), ("a.jsonl", &format!("{plain}{odd}{plain}"))]);
        let told = format!(
            "the run has the key `{key}` and no `{known}`: rules about `{known}` do not see it; rename the key"
        );
        let json = folder.aver("check r.assert a.jsonl --format json");
        assert_eq!(json.out.matches(&told).count(), 1, "{entry}");
        assert_eq!(folder.aver("check r.assert a.jsonl --format json --threads 2").out, json.out);
        assert!(folder.aver("check r.assert a.jsonl").out.contains(known), "{entry}");
        assert_eq!(folder.aver("check r.assert a.jsonl --strict").code, 4, "{entry}");
    }
    for entry in [
        "\"eror\": null",
        "\"errors\": 2",
        "\"cots\": \"x\"",
        "\"completed\": true",
        "\"mine\": 1",
        "\"input\": \"x\"",
        "\"error\": null, \"eror\": \"x\"",
        "\"model\": \"m\"",
        "\"duration_ms\": 5",
        "\"durationMs\": 5",
    ] {
        let run = format!("{{\"calls\": [{{\"tool\": \"find\", \"args\": {{}}}}], {entry}}}\n");
        let folder = Folder::new(&[("r.assert", "never drop"), ("a.jsonl", &run)]);
        let ran = folder.aver("check r.assert a.jsonl --format short");
        assert!(!ran.out.contains("warning"), "{entry}: {ran:?}");
    }
}

#[test]
fn files_of_a_folder_that_are_nearly_rule_files_are_told_by_every_command() {
    for name in ["b.asert", "d.assert.txt", "deep/i.ASSERT"] {
        let folder = Folder::new(&[("rules/a.assert", "never drop"), ("run.json", &calls(&["find"]))]);
        folder.write(&format!("rules/{name}"), b"never find");
        for command in ["check rules run.json", "check rules run.json --format json", "lint rules", "test rules"] {
            let ran = folder.aver(command);
            let told = format!("warning: `rules/{name}` is skipped");
            assert_eq!(ran.err.matches(&told).count(), 1, "{command} {name}: {ran:?}");
        }
        assert_eq!(folder.aver("check rules run.json").code, 0);
        assert_eq!(folder.aver(&format!("check rules/{name} run.json")).code, 1);
    }
}

#[test]
fn misspelt_parts_of_the_names_of_tools_are_told() {
    for (rule, tool) in [
        ("not (calls[*].tool contains \"refnd\")", "refund"),
        ("\"refnd\" not in calls[*].tool", "refund"),
        ("not (calls[*].tool contains any [\"refnd\", \"drop\"])", "refund"),
        ("no x in calls: x.tool contains \"refnd\"", "issue_refund"),
        ("no x in calls: x.tool icontains \"Refnd\"", "issue_refund"),
        ("no x in calls: x.tool starts with \"refnd_\"", "refund_order"),
        ("no x in calls: x.tool ends with \"refnd\"", "issueRefund"),
        ("no x in calls: x.tool matches /^refnd/", "refund_order"),
        ("no x in calls: x.tool matches /^refnd_.*$/", "refund_order"),
        ("no x in calls: x.tool matches /refnd|dropp/i", "refund_order"),
        ("no x in calls: x.tool in [\"refnd\", \"drop\"]", "refund"),
        ("never (any where tool matches /refnd/)", "issue_refund"),
        ("each any: not tool contains \"refnd\"", "issue_refund"),
    ] {
        let said = warned(rule, &calls(&[tool, "find"]));
        assert_eq!(said.matches("warning:").count(), 1, "{rule}: {said}");
        assert!(
            said.contains("rules.assert:1:") && said.contains(&format!("some run calls `{tool}`")),
            "{rule}: {said}"
        );
    }
    let said = warned("no x in calls: x.tool contains \"Refund\"", &calls(&["refund_order"]));
    assert_eq!(said.matches("warning:").count(), 1, "{said}");
    for (rule, tools) in [
        ("no x in calls: x.tool contains \"refund\"", &["issue_refund", "refnd"][..]),
        ("no x in calls: x.tool contains \"get\"", &["set_user"]),
        ("no x in calls: x.tool matches /refund|delete/", &["delete_order", "refnd"]),
        ("no x in calls: x.tool matches /./", &["refund"]),
        ("no x in calls: x.tool starts with \"unlock\"", &["lock_door"]),
        ("no x in calls: x.args.kind contains \"refnd\"", &["refund"]),
        ("no x in calls: x.tool contains \"Refund\" or x.tool contains \"refund\"", &["refund_order"]),
    ] {
        let said = warned(rule, &calls(tools));
        assert!(!said.contains("no run calls"), "{rule}: {said}");
    }
    let folder = Folder::new(&[
        (
            "r.assert",
            "rule a { no x in calls: x.tool contains \"refnd\" }\nrule b { sum(args.n of isue_refund) <= 5 }\ndef is_pay(c) = c.tool == \"chrge\"\nrule c { no x in calls: is_pay(x) }\n",
        ),
        ("run.json", &calls(&["issue_refund", "charge"])),
    ]);
    for (rule, wanted) in [("a", "`refnd`"), ("b", "`isue_refund`"), ("c", "`chrge`")] {
        let ran = folder.aver(&format!("check r.assert run.json --rule {rule}"));
        assert_eq!(ran.err.matches("warning:").count(), 1, "{rule}: {ran:?}");
        assert!(ran.err.contains(wanted), "{rule}: {ran:?}");
    }
    let denied = folder.aver("check r.assert run.json --rule a --deny near-names");
    assert_eq!(denied.code, 1, "{denied:?}");
}

#[test]
fn a_text_in_another_letter_case_is_told_where_a_rule_holds_by_it() {
    let run = |text: &str| {
        format!(
            "{{\"calls\": [{{\"tool\": \"send\", \"args\": {{\"to\": \"{text}\"}}, \"result\": \"{text}\"}}], \"messages\": [{{\"role\": \"user\", \"text\": \"{text}\"}}]}}"
        )
    };
    for (rule, text) in [
        ("never send(to contains \"Ann\")", "ann@shop.example"),
        ("never user \"Ann\"", "mail ann@shop.example"),
        ("no send: args.to matches /ssn/", "SSN: 12"),
        ("no send: args.to contains \"ssn\"", "my SSN_x"),
        ("tool any fails when result contains \"Error\"\nnever send failed", "error: no"),
        ("tool send fails when result matches /Denied/\nnever send failed", "access denied"),
    ] {
        let said = warned(rule, &run(text));
        assert_eq!(said.matches("in this letter case").count(), 1, "{rule}: {said}");
    }
    for (rule, text) in [
        ("never send(to contains \"Ann\" or to contains \"ann\")", "xann@shop.example"),
        ("rule r {\n  never send(to contains \"Ann\")\n  never send(to contains \"ann\")\n}", "ann@shop.example"),
        ("rule r {\n  never send(to contains \"Ann\")\n  never send(to matches /ann/i)\n}", "ann@shop.example"),
        ("never send(to contains \"Ann\")", "channel"),
        ("never send(to contains \"ANN\")", "ann"),
        ("tool any fails when result contains \"Error\"\nnever send failed", "Error: no"),
    ] {
        let said = warned(rule, &run(text));
        assert!(!said.contains("letter case"), "{rule}: {said}");
    }
    // A run with recorded call statuses needs no `fails when` line.
    let recorded =
        "{\"calls\": [{\"tool\": \"send\", \"args\": {}, \"result\": \"error: no\", \"status\": \"failed\"}]}";
    assert_eq!(warned("tool any fails when result contains \"Error\"\nrequire send failed", recorded), "");
}

#[test]
fn a_path_that_hides_nothing_is_told_by_explain_too() {
    let run = "{\"calls\": [{\"tool\": \"pay\", \"args\": {\"card\": \"4111\"}}], \"output\": \"4111\"}";
    let folder = Folder::new(&[("r.assert", "output == \"x\""), ("run.json", run)]);
    let told = "warning: no run has `calls[*].args.crad`, which `--redact` names: nothing is hidden for it\n";
    assert_eq!(folder.aver("explain r.assert run.json --redact calls[*].args.crad").err, told);
    assert_eq!(folder.aver("explain r.assert run.json --redact calls[*].args.card").err, "");
}

#[test]
fn a_misspelt_value_and_the_end_of_an_address_are_told_by_check() {
    let run = "{\"calls\": [{\"tool\": \"order\", \"args\": {\"reason\": \"late\", \"to\": \"bob@shop.example\", \"model\": \"gpt-4o\"}, \"result\": {\"status\": \"open\"}}]}";
    let (typo, case, part) =
        ("differs from it by a typo", "in this letter case", "no value is `@shop.example` as a whole");
    for (rule, told) in [
        ("each order: result.status != \"opne\"", typo),
        ("no c in calls: c.result.status == \"opne\"", typo),
        ("no c in calls: c.result.status in [\"opne\", \"wating\"]", typo),
        ("never order(reason: \"lates\")", typo),
        ("never order(to ends with \"@Shop.example\")", case),
        ("never order(to contains \"@Shop\")", case),
        ("never order(to: \"@shop.example\")", part),
    ] {
        let said = warned(rule, run);
        assert!(said.contains(told) && said.matches("warning:").count() == 1, "{rule}: {said}");
    }
    for rule in [
        "each order: result.status in [\"open\", \"opens\"]",
        "no c in calls: c.args.model == \"gpt-4\"",
        "never order(reason: \"rate\")",
        "never order(to: \"rob@shop.example\")",
    ] {
        assert_eq!(warned(rule, run), "", "{rule}");
    }
    // A value that some run has is no typo.
    let folder = Folder::new(&[
        ("r.assert", "each order: result.status != \"opne\"\n"),
        ("a.jsonl", &format!("{run}\n{}\n", run.replace("open", "opne"))),
    ]);
    assert!(!folder.aver("check r.assert a.jsonl").err.contains("typo"));
}
