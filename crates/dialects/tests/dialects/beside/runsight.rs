//! Runsight: an assertion about the output of a block: pass, fail or error.

use super::{BesideInput, compare};
use crate::choices::Choices;
use crate::judged::Given;
use averment::Verdict;
use serde_json::{Value as Json, json};

const OUTPUTS: [&str; 12] = [
    "The order 4711 was refunded.",
    "Order refused",
    "",
    "{\"status\": \"ok\", \"items\": [1, 2, {\"id\": \"a\"}]}",
    "Sure: {\"status\": \"late\", \"items\": []} as asked",
    "[1, 2.5, \"three\"]",
    "error: no such order\nplease try again",
    "refund refund refund",
    "  padded  ",
    "42",
    "{\"status\": {\"code\": 7}, \"note\": \"Ok\"}",
    "The quick brown fox jumps over the lazy dog",
];
const TEXTS: [&str; 14] = [
    "order",
    "Order",
    "ok",
    "",
    "refund",
    "4711",
    "The order 4711 was refunded.",
    "42",
    "error",
    "late",
    "7",
    "fox jumps",
    "padded",
    "[1, 2.5, \"three\"]",
];
const PATTERNS: [&str; 10] = [
    "^The",
    "\\d{4}",
    "(?i)ORDER",
    "ok$",
    "refund( refund)+",
    "no such|refused",
    "\\s{2,}",
    "^$",
    "[.]$",
    "(?m)^please",
];

fn schema(at: &mut Choices) -> Json {
    at.one_of(&[
        json!({"type": "object", "required": ["status"]}),
        json!({"type": "object", "properties": {"status": {"type": "string", "enum": ["ok", "late"]}}}),
        json!({"type": "array", "minItems": 2}),
        json!({"type": "object", "properties": {"items": {"type": "array", "maxItems": 2}}, "required": ["items"]}),
        json!({"type": ["number", "object"]}),
        json!({"type": "object", "properties": {"note": {"pattern": "^O"}}, "additionalProperties": false}),
    ])
}

fn words(at: &mut Choices) -> Json {
    let count = 1 + at.below(3);
    Json::from((0..count).map(|_| at.one_of(&TEXTS[..])).filter(|text| !text.is_empty()).collect::<Vec<_>>())
}

fn assertion(at: &mut Choices) -> Json {
    let mut made = match at.below(14) {
        0 => json!({"type": "equals", "value": at.one_of(&TEXTS)}),
        1 => json!({"type": "contains", "value": at.one_of(&TEXTS)}),
        2 => json!({"type": "icontains", "value": at.one_of(&TEXTS)}),
        3 => json!({"type": "contains-all", "value": words(at)}),
        4 => json!({"type": "contains-any", "value": words(at)}),
        5 => json!({"type": "starts-with", "value": at.one_of(&TEXTS)}),
        6 => json!({"type": "regex", "value": at.one_of(&PATTERNS)}),
        7 if at.one_in(2) => json!({"type": "word-count", "value": at.below(8)}),
        7 => json!({"type": "word-count", "value": {"min": at.below(4), "max": 3 + at.below(6)}}),
        8 => json!({"type": "is-json", "value": schema(at)}),
        9 => json!({"type": "contains-json", "value": schema(at)}),
        10 => json!({"type": "cost", "threshold": at.one_of(&[0.01, 0.02, 0.5])}),
        11 => json!({"type": "latency", "threshold": at.one_of(&[100, 750, 2000])}),
        12 => json!({"type": "levenshtein", "value": at.one_of(&TEXTS), "threshold": at.below(30)}),
        _ => {
            json!({"type": at.one_of(&["bleu", "rouge-n"]), "value": at.one_of(&["The order was refunded", "refund", "a quick brown fox"]), "threshold": at.one_of(&[0.1, 0.5, 0.9])})
        }
    };
    if at.one_in(4) {
        made["type"] = json!(format!("not-{}", made["type"].as_str().unwrap()));
    }
    if at.one_in(5) {
        made["transform"] = json!(format!(
            "json_path:{}",
            at.one_of(&["$.status", "$.items", "$.items[0]", "$.status.code", "$.note", "$[1]"])
        ));
    }
    made
}

fn generate(at: &mut Choices) -> BesideInput {
    let (assertion, output) = (assertion(at), at.one_of(&OUTPUTS));
    let (cost, latency) = (at.one_of(&[0.0, 0.01, 0.03]), at.one_of(&[80, 750, 1500]));
    let text = format!("assertions: {}", json!([assertion]));
    let run = json!({"output": output, "cost": cost, "duration": latency}).to_string();
    // The newest release, which is the one in the package registry.
    let given = Given { name: "block.yaml", text: &text, newest: true, ..Given::default() };
    let found = given.judge(&run).map(|judged| match judged.results[0].1 {
        Verdict::Pass | Verdict::Vacuous => "passed",
        Verdict::Fail | Verdict::Undecided => "failed",
        _ => "error",
    });
    BesideInput {
        asked: json!({"assertion": assertion, "output": output, "cost": cost, "latency": latency}),
        found: Json::from(found.unwrap_or("refused")),
    }
}

#[test]
fn beside_runsight() {
    compare(
        "RUNSIGHT",
        generate,
        |outcome| outcome == "passed",
        |input, there| match () {
            () if there == "error" => Some("what aborts there is judged, or said of the file"),
            () if input.found == "refused" => Some("a bad file is refused"),
            () => None,
        },
    );
}
