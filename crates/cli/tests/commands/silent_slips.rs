//! Slips that leave a check green: each is told on standard error, whatever the report is.

use crate::folder::Folder;
use crate::near_names::warned;

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

/// Keys at the top of a run, in full and in part: the reports of both are alike.
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
    ] {
        let run = format!("{{\"calls\": [{{\"tool\": \"find\", \"args\": {{}}}}], {entry}}}\n");
        let folder = Folder::new(&[("r.assert", "never drop"), ("a.jsonl", &run)]);
        let ran = folder.aver("check r.assert a.jsonl --format short");
        assert!(!ran.out.contains("warning"), "{entry}: {ran:?}");
    }
}
