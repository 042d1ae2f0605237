//! Wallfacer: an invariant about the response of a call: pass, fail or error.

use super::{BesideInput, compare};
use crate::choices::Choices;
use crate::judged::Given;
use crate::wallfacer::word_of_verdict;
use serde_json::{Value as Json, json};

const PATHS: [&str; 9] = [
    "$.response.isError",
    "$.response.content",
    "$.response.content[0].text",
    "$.response.structuredContent.count",
    "$.response.structuredContent.items",
    "$.response.structuredContent",
    "$.input.limit",
    "$.response.missing",
    "$.response.content[*].type",
];

fn path(at: &mut Choices) -> Json {
    json!(at.one_of(&PATHS))
}

fn operand(at: &mut Choices) -> Json {
    at.one_of(&[
        json!({"value": 3}),
        json!({"value": true}),
        json!({"value": "ok"}),
        json!({"path": "$.input.limit"}),
        json!({"value": 2.5}),
        json!({"value": false}),
    ])
}

fn assertion(at: &mut Choices, deep: usize) -> Json {
    let bound =
        |at: &mut Choices| at.one_of(&[json!({"value": 1}), json!({"value": 3}), json!({"path": "$.input.limit"})]);
    match at.below(if deep == 0 { 9 } else { 13 }) {
        0 => json!({"kind": at.one_of(&["equals", "not_equals"]), "lhs": {"path": path(at)}, "rhs": operand(at)}),
        1 => json!({"kind": at.one_of(&["at_most", "at_least"]), "path": path(at), "value": bound(at)}),
        2 => {
            json!({"kind": at.one_of(&["length_eq", "length_at_most", "length_at_least"]), "path": path(at), "value": bound(at)})
        }
        3 | 4 => {
            json!({"kind": "is_type", "path": path(at), "type": at.one_of(&["string", "number", "integer", "boolean", "array", "object", "null"])})
        }
        5 | 6 => {
            json!({"kind": "matches_regex", "path": path(at), "pattern": at.one_of(&["^ok", "/home/", "(?i)ERROR", "^\\d+$", "text"])})
        }
        7 | 8 => {
            json!({"kind": "matches_schema", "path": at.one_of(&["$.response", "$.response.structuredContent", "$.response.content"]), "schema": at.one_of(&[
                json!({"type": "object", "required": ["content"], "properties": {"isError": {"type": "boolean", "enum": [true]}}}),
                json!({"type": "array", "minItems": 1, "items": {"type": "object", "required": ["type"]}}),
                json!({"type": "object", "properties": {"count": {"type": "integer", "maximum": 3}, "items": {"type": "array", "uniqueItems": true}}}),
                json!({"type": ["object", "null"], "minProperties": 2}),
            ])})
        }
        9 => json!({"kind": "not", "assertion": assertion(at, deep - 1)}),
        10 => {
            json!({"kind": at.one_of(&["any_of", "all_of"]), "assert": [assertion(at, deep - 1), assertion(at, deep - 1)]})
        }
        11 => {
            json!({"kind": "for_each", "path": at.one_of(&["$.response.content[*]", "$.response.structuredContent.items[*]"]), "assert": [
                at.one_of(&[
                    json!({"kind": "is_type", "path": "$.item", "type": "string"}),
                    json!({"kind": "matches_regex", "path": "$.item.text", "pattern": "^ok|fine"}),
                    json!({"kind": "equals", "lhs": {"path": "$.item.type"}, "rhs": {"value": "text"}}),
                ]),
            ]})
        }
        _ => {
            json!({"kind": "not", "assertion": {"kind": "matches_regex", "path": path(at), "pattern": at.one_of(&["/home/", "ok", "Traceback"])}})
        }
    }
}

fn response(at: &mut Choices) -> Json {
    let text = at.one_of(&["ok", "ok /home/me/x", "Error: no", "12", "", "{\"count\": 3}"]);
    let mut made = json!({"content": at.one_of(&[json!([{"type": "text", "text": text}]), json!([]), json!([{"type": "text", "text": text}, {"type": "image"}])])});
    if at.one_in(2) {
        made["isError"] = at.one_of(&[json!(true), json!(false)]);
    }
    if !at.one_in(3) {
        made["structuredContent"] = at.one_of(&[
            json!({"count": 3, "items": ["a", "b"]}),
            json!({"count": 4.5, "items": []}),
            json!({"count": "3", "items": ["a", "a"]}),
            json!({}),
            Json::Null,
        ]);
    }
    made
}

fn generate(at: &mut Choices) -> BesideInput {
    let assertions: Vec<Json> = (0..1 + at.below(2)).map(|_| assertion(at, 2)).collect();
    let (input, response) = (at.one_of(&[json!({}), json!({"limit": 3}), json!({"limit": 2})]), response(at));
    let pack = json!({"version": 3, "invariants": [{"name": "v", "tool": "t", "fixed": input, "assert": assertions}]});
    let text = pack.to_string();
    let given = Given { name: "pack.yaml", text: &text, ..Given::default() };
    let run = json!({"tools": [], "calls": [{"tool": "t", "args": input, "response": response}]});
    let found = match given.judge(&run.to_string()) {
        Ok(judged) => word_of_verdict(judged.rules[0].1).to_owned(),
        Err(said) => {
            println!("refused: {said}");
            "refused".to_owned()
        }
    };
    BesideInput { asked: json!({"pack": text, "input": input, "response": response}), found: Json::from(found) }
}

#[test]
fn beside_wallfacer() {
    compare(
        "WALLFACER",
        generate,
        |outcome| outcome == "pass",
        |input, there| {
            let is_bound = input.asked["pack"].as_str().unwrap().contains("\"value\":{\"path\"");
            let is_missing = there == "structural" && input.found == "fail" && input.asked["input"] == json!({});
            (is_bound && is_missing).then_some("a bound that is missing beside a value of another type is a fail")
        },
    );
}
