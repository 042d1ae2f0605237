//! A catalogue says which tools and arguments there are: what is wrong with a rule, never what a run holds.

use averment::Rules;
use serde_json::json;

/// The verdict, or that the rule is refused.
fn verdict(rule: &str, run: &serde_json::Value) -> String {
    match Rules::from_text("rules.assert", rule) {
        Ok(rules) => rules.check_one(&*run.to_string()).unwrap().results().map(|one| one.verdict().as_str()).collect(),
        Err(_) => "refused".to_owned(),
    }
}

const CATALOGUE: &str = "tool refund { type: \"object\", properties: { id: { type: \"string\" }, to: { type: \"object\", properties: { name: {} } } }, additionalProperties: false }\n";

#[test]
fn an_argument_that_no_schema_lists_is_read_all_the_same() {
    let runs = [
        json!({"calls": [{"tool": "refund", "args": {"id": "A", "note": "gift", "amount": 900, "to": {"name": "a", "iban": "X"}}}]}),
        json!({"calls": [{"tool": "refund", "args": {"id": "A", "to": {}}}, {"tool": "ref", "args": {"amount": 900}}]}),
        json!({"calls": []}),
    ];
    for rule in [
        "never refund(amount > 500)",
        "never refund(note: /gift/)",
        "never ref*(note: /gift/)",
        "never refund(to.iban: \"X\")",
        "never refund(reason is missing)",
        "never refund(amount exists)",
        "never (refund where args.note matches /gift/)",
        "never refund where args.note == \"gift\" and args.amount > 1",
        "never refund(amount > 500) after refund",
        "never repeat refund(amount: $a) more than 1 times",
        "only refund(amount > 500)",
        "only ref*(amount > 500), other",
        "no refund: args.note matches /gift/",
        "no refund: args.to.iban exists",
        "when true { never refund(amount > 500) }",
    ] {
        for run in &runs {
            assert_eq!(verdict(&format!("{CATALOGUE}{rule}"), run), verdict(rule, run), "{rule} on {run}");
        }
    }
    assert_eq!(verdict(&format!("{CATALOGUE}never refund(amount > 500)"), &runs[0]), "fail");
    assert_eq!(verdict(&format!("{CATALOGUE}require refund(amount > 500)"), &runs[0]), "refused");
}
