//! Schemas: formats are asserted wherever a schema is asked, in every draft; a pattern means what ECMA-262 says; a draft that is not named is
//! told from what only it has.

use averment::Rules;

const DRAFTS: &[&str] = &[
    "",
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

/// A format, a text that has it, one that does not.
const FORMATS: &[(&str, &str, &str)] = &[
    ("date", "2025-03-01", "2025-13-01"),
    ("date-time", "2025-03-01T10:00:00Z", "tomorrow"),
    ("time", "10:00:00Z", "ten"),
    ("duration", "P1D", "a day"),
    ("email", "a@example.com", "nope"),
    ("hostname", "example.com", "not a host"),
    ("ipv4", "127.0.0.1", "999.1.1.1"),
    ("ipv6", "::1", "1.2.3.4"),
    ("uri", "https://example.com/a", "not a uri"),
    ("uri-reference", "/a", "a b"),
    ("uuid", "00000000-0000-4000-8000-000000000000", "1234"),
    ("json-pointer", "/a", "a"),
    ("regex", "^a$", "("),
];

fn verdicts(rules: &str, run: &str) -> Vec<String> {
    let compiled = Rules::from_text("rules.assert", rules).unwrap_or_else(|error| panic!("{rules}\n{error}"));
    let outcome = compiled.check_one(run).unwrap_or_else(|error| panic!("{run}\n{error}"));
    outcome.results().map(|result| result.verdict().as_str().to_owned()).collect()
}

#[test]
fn a_format_is_asserted_wherever_a_schema_is_asked_and_in_every_draft() {
    for draft in DRAFTS {
        for (format, good, bad) in FORMATS {
            let named = if draft.is_empty() { String::new() } else { format!("\"$schema\": \"{draft}\", ") };
            let schema = format!(
                "{{ {named}\"type\": \"object\", \"required\": [\"v\"], \"properties\": {{ \"v\": {{ \"format\": \"{format}\" }} }} }}"
            );
            let rules = format!(
                "schema S = {schema}\ntool book {schema}\noutput is S\nmeta.text is json S\nmeta.text contains json S\nargs valid\n"
            );
            for (text, verdict) in [(good, "pass"), (bad, "fail")] {
                let value = serde_json::json!({"v": text});
                let run = serde_json::json!({
                    "output": value, "meta": {"text": value.to_string()}, "calls": [{"tool": "book", "args": value}]
                });
                assert_eq!(verdicts(&rules, &run.to_string()), [verdict; 4], "{draft} {format} {text}");
            }
        }
    }
}

#[test]
fn a_pattern_may_look_around_and_keeps_its_bounds() {
    let rules = r#"schema S = { "type": "string", "pattern": "^(?!.*\\.\\.)[\\w/]+$" }
schema Same = { "type": "string", "pattern": "^(a|b)\\1$" }
schema Slow = { "type": "string", "pattern": "^(?=(a+)+$)b" }
output.path is S
output.same is Same
not output.path is S
"#;
    let run = r#"{"output": {"path": "a/b", "same": "aa"}, "calls": []}"#;
    assert_eq!(verdicts(rules, run), ["pass", "pass", "fail"]);
    let run = r#"{"output": {"path": "a/../b", "same": "ab"}, "calls": []}"#;
    assert_eq!(verdicts(rules, run), ["fail", "fail", "pass"]);
    let slow = format!("{rules}output.slow is Slow\n");
    let run = format!(r#"{{"output": {{"slow": "{}!"}}, "calls": []}}"#, "a".repeat(60));
    assert_eq!(verdicts(&slow, &run).last().map(String::as_str), Some("error"));
}

#[test]
fn a_draft_is_told_from_what_only_it_has() {
    let rules = r#"schema Tuple = { "type": "array", "items": [{ "type": "string" }, { "type": "integer" }], "additionalItems": false }
schema Bound = { "type": "number", "minimum": 0, "exclusiveMinimum": true }
schema Both = { "items": [{ "minimum": 0, "exclusiveMinimum": true }] }
output.tuple is Tuple
output.bound is Bound
output.both is Both
"#;
    let run = |tuple: &str, bound: &str, both: &str| {
        format!(r#"{{"output": {{"tuple": {tuple}, "bound": {bound}, "both": {both}}}, "calls": []}}"#)
    };
    assert_eq!(verdicts(rules, &run(r#"["a", 1]"#, "0.5", "[1]")), ["pass"; 3]);
    assert_eq!(verdicts(rules, &run(r#"[1, "a"]"#, "0", "[0]")), ["fail"; 3]);
    assert_eq!(verdicts(rules, &run(r#"["a", 1, 2]"#, "0.5", "[1]")), ["fail", "pass", "pass"]);
}
