//! Slips that leave a check green: each is told on standard error, whatever the report is.

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
