//! Assay: a rule about the order of calls, or the schema of a tool, applied to the calls of a run.

use super::{BesideInput, compare};
use crate::choices::Choices;
use crate::judged::Given;
use averment::Verdict;
use serde_json::{Value as Json, json};

const TOOLS: [&str; 4] = ["search", "read", "pay", "mail"];

fn selector(at: &mut Choices) -> Json {
    if at.one_in(5) {
        return json!({"tool": at.one_of(&TOOLS), "args_match": {"id": at.one_of(&["^a", "\\d+", "b$"])}});
    }
    if at.one_in(6) { json!("Out") } else { json!(at.one_of(&TOOLS)) }
}

fn rule(at: &mut Choices) -> Json {
    match at.below(8) {
        0 => json!({"type": "require", "tool": selector(at)}),
        1 => json!({"type": "before", "first": selector(at), "then": selector(at)}),
        2 => json!({"type": "blocklist", "pattern": at.one_of(&["pay", "ma", "x"])}),
        3 => json!({"type": "max_calls", "tool": selector(at), "max": at.below(3)}),
        4 => json!({"type": "after", "trigger": selector(at), "then": selector(at), "within": 1 + at.below(3)}),
        5 => json!({"type": "never_after", "trigger": selector(at), "forbidden": selector(at)}),
        6 => json!({"type": "eventually", "tool": selector(at), "within": 1 + at.below(4)}),
        _ => json!({"type": "sequence", "tools": [selector(at), selector(at)], "strict": at.one_in(2)}),
    }
}

fn schema(at: &mut Choices) -> Json {
    at.one_of(&[
        json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "string", "pattern": "^[a-c]"}}}),
        json!({"type": "object", "properties": {"amount": {"type": "number", "maximum": 50, "exclusiveMinimum": 0}}, "additionalProperties": false}),
        json!({"type": "object", "properties": {"tags": {"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 1}}}),
        json!({"type": "object", "anyOf": [{"required": ["id"]}, {"required": ["amount"]}]}),
        json!({"type": "object", "properties": {"id": {"minLength": 2, "maxLength": 3}}, "if": {"required": ["amount"]}, "then": {"required": ["id"]}}),
    ])
}

fn arguments(at: &mut Choices) -> Json {
    at.one_of(&[
        json!({}),
        json!({"id": "a1"}),
        json!({"id": "b"}),
        json!({"id": 7}),
        json!({"amount": 50}),
        json!({"amount": 51.5, "id": "abc"}),
        json!({"amount": "50"}),
        json!({"tags": ["x"]}),
        json!({"tags": ["z"], "id": "abcd"}),
        json!({"tags": []}),
    ])
}

fn generate(at: &mut Choices) -> BesideInput {
    let of_schema = at.one_in(3);
    let (policy, calls) = if of_schema {
        let policy = json!({"version": "2.0", "name": "policy", "schemas": {"pay": schema(at)}});
        (policy, vec![json!({"tool": "pay", "args": arguments(at)})])
    } else {
        let policy =
            json!({"version": "1.1", "name": "policy", "aliases": {"Out": ["pay", "mail"]}, "sequences": [rule(at)]});
        let calls = (0..at.below(6)).map(|_| json!({"tool": at.one_of(&TOOLS), "args": arguments(at)})).collect();
        (policy, calls)
    };
    let text = policy.to_string();
    let given = Given { name: "policy.yaml", text: &text, ..Given::default() };
    let found = match given.judge(&json!({"calls": calls}).to_string()) {
        Ok(judged) if of_schema && judged.results[0].1 != Verdict::Fail => "allowed".to_owned(),
        Ok(_) if of_schema => "blocked".to_owned(),
        Ok(judged) => match judged.results[0].1 {
            Verdict::Pass => "held",
            Verdict::Fail => "violated",
            Verdict::Vacuous | Verdict::Undecided => "not_exercised",
            _ => "error",
        }
        .to_owned(),
        Err(said) => {
            println!("refused: {said}");
            "refused".to_owned()
        }
    };
    BesideInput { asked: json!({"policy": policy, "calls": calls}), found: Json::from(found) }
}

#[test]
fn beside_assay() {
    let passes = |outcome: &Json| ["held", "not_exercised", "allowed"].iter().any(|word| outcome == *word);
    compare("ASSAY", generate, passes, |_, _| None);
}
