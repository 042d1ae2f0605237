//! promptfoo: a test with assertions about an answer: whether it passes, its score and its named scores.

use super::{BesideInput, compare};
use crate::choices::Choices;
use crate::promptfoo::{Imported, import};
use serde_json::{Value as Json, json};

const ANSWERS: &[&str] = &[
    "Hello Bob, your order o-1 is on its way.",
    "hello bob",
    "",
    "  two   words\n",
    "{\"a\": 1, \"b\": [\"x\", \"y\"]}",
    "[1, 2, 3]",
    "42",
    "the answer is {\"a\": 2} and more",
    "a, b and c",
    "Grüße, “Bob” – naïve? ÄÖ",
    "line one\nline two",
    "null",
    "the cat sat on the mat",
    "<p>Hello Bob</p>",
    "so <a>b</a> & <br/>",
    "Tom &amp; Bob <!-- hello -->",
    "<!DOCTYPE html>\n<html><body><odd>hello</odd></body></html>",
    "<a><b x=\"1\">hello bob</b><c/></a>",
    "SELECT name FROM users WHERE id = 5",
    "She said: \"the cat sat.\" It's 3:45, isn't it?",
    "we cannot, e.g. gonna sit on the mat... (the cat sat)",
];

/// Texts to compare with the answer.
const REFERENCES: &[&str] = &[
    "the cat sat on a mat",
    "hello bob",
    "The cat sat on the mat",
    "nothing alike",
    "the cat cannot sit.",
    "It isn't 3:45, the cat said.",
    "",
];

fn text(at: &mut Choices) -> Json {
    json!(at.one_of(&["Bob", "bob", "{{name}}", "order {{id}}", "o-1", "a", "{{ name | upper }}", "[", "ä", "Grüße"]))
}

fn texts(at: &mut Choices) -> Json {
    at.one_of(&[
        json!(["Bob", "zzz"]),
        json!(["hello", "{{name}}"]),
        json!("a, b"),
        json!("\"Bob, your\", zzz"),
        json!(["", "zzz"]),
        json!([1, 42]),
        json!(["zzz", "yyy"]),
    ])
}

fn schema(at: &mut Choices) -> Json {
    at.one_of(&[
        json!({"type": "object", "required": ["a"]}),
        json!({"type": "object", "properties": {"a": {"type": "integer", "minimum": 2}}}),
        json!({"type": "array", "items": {"type": "number"}}),
        json!("type: object\nrequired: [b]"),
    ])
}

fn assertion(at: &mut Choices) -> Json {
    let (kind, value) = match at.below(22) {
        0 => ("contains", Some(text(at))),
        1 => ("icontains", Some(text(at))),
        2 => ("starts-with", Some(text(at))),
        3 => ("contains-any", Some(texts(at))),
        4 => ("contains-all", Some(texts(at))),
        5 => ("icontains-any", Some(texts(at))),
        6 => ("icontains-all", Some(texts(at))),
        7 => (
            "equals",
            Some(at.one_of(&[
                json!("hello bob"),
                json!("hello {{name | lower}}"),
                json!(42),
                json!({"b": ["x", "y"], "a": 1}),
                json!([1, 2, 3]),
                json!(null),
            ])),
        ),
        8 => (
            "regex",
            Some(json!(at.one_of(&[
                "^hello",
                "\\bBob\\b",
                "o-\\d+",
                "(?<=order )o",
                "^line two",
                "[A-Z]{2}",
                "{{name}}.*",
                "w\\w+$"
            ]))),
        ),
        9 => ("is-json", Some(schema(at)).filter(|_| at.below(2) == 0)),
        10 => ("contains-json", Some(schema(at)).filter(|_| at.below(2) == 0)),
        11 => (
            "word-count",
            Some(at.one_of(&[json!(2), json!("3"), json!({"min": 2}), json!({"max": 4}), json!({"min": 2, "max": 8})])),
        ),
        12 => ("levenshtein", Some(json!(at.one_of(&["hello bob", "Hello {{name}}", "{{id}}"])))),
        13 => ("latency", None),
        14 => ("cost", None),
        15 => (at.one_of(&["rouge-n", "bleu", "gleu"]), Some(json!(at.one_of(REFERENCES)))),
        16 => (at.one_of(&["perplexity", "perplexity-score"]), None),
        17 => ("guardrails", None),
        18 => ("contains-html", None),
        19 => (at.one_of(&["is-html", "is-xml", "contains-xml", "is-sql", "contains-sql"]), None),
        20 => (
            "skill-used",
            Some(at.one_of(&[json!("billing"), json!(["billing", "search"]), json!({"pattern": "s*", "max": 1})])),
        ),
        _ => ("finish-reason", Some(json!(at.one_of(&["stop", "STOP", "length"])))),
    };
    let mut made = json!({"type": if at.below(3) == 0 { format!("not-{kind}") } else { kind.to_owned() }});
    if let Some(value) = value {
        made["value"] = value;
    }
    match kind {
        "latency" => made["threshold"] = json!(at.one_of(&[100, 500])),
        "cost" => made["threshold"] = json!(at.one_of(&[0.001, 0.5])),
        "rouge-n" | "bleu" | "gleu" if at.below(2) == 0 => {
            made["threshold"] = json!(at.one_of(&[0.3, 0.6, 1.0]));
        }
        "perplexity" => made["threshold"] = json!(at.one_of(&[1.2, 2.0])),
        "perplexity-score" => made["threshold"] = json!(at.one_of(&[0.4, 0.6])),
        "levenshtein" if at.below(2) == 0 => made["threshold"] = json!(at.one_of(&[0, 3, 40])),
        _ => {}
    }
    if at.below(3) == 0 {
        made["weight"] = json!(at.one_of(&[json!(0), json!(2), json!(0.5), json!(3)]));
    }
    if at.below(3) == 0 {
        made["metric"] = json!(at.one_of(&["tone", "form"]));
    }
    if at.below(8) == 0 {
        made["transform"] =
            json!(at.one_of(&["output.trim()", "output.toLowerCase()", "JSON.parse(output).a", "output"]));
    }
    made
}

fn generate(at: &mut Choices) -> BesideInput {
    let mut asserts: Vec<Json> = (0..1 + at.below(3)).map(|_| assertion(at)).collect();
    if at.below(3) == 0 {
        let mut set =
            json!({"type": "assert-set", "assert": (0..1 + at.below(3)).map(|_| assertion(at)).collect::<Vec<_>>()});
        for inner in set["assert"].as_array_mut().unwrap() {
            // promptfoo weights a metric name in two different ways if it occurs inside and outside of a set.
            inner.as_object_mut().unwrap().remove("metric");
        }
        if at.below(2) == 0 {
            set["threshold"] = json!(at.one_of(&[0.4, 0.5, 1.0]));
        }
        if at.below(2) == 0 {
            set["weight"] = json!(at.one_of(&[2, 3]));
        }
        asserts.push(set);
    }
    let mut test = json!({"vars": {"name": "Bob", "id": "o-1"}, "assert": asserts});
    if at.below(3) == 0 {
        test["threshold"] = json!(at.one_of(&[0.3, 0.5, 0.75, 1.0]));
    }
    let mut response = json!({"output": at.one_of(ANSWERS)});
    if at.below(3) > 0 {
        response["cost"] = json!(at.one_of(&[0.0005, 0.02]));
    }
    if at.below(2) == 0 {
        response["finishReason"] = json!(at.one_of(&["stop", "Length"]));
    }
    if at.below(3) == 0 {
        response["metadata"] =
            json!({"skillCalls": [{"name": at.one_of(&["billing", "search"]), "is_error": at.below(3) == 0}]});
    }
    if at.below(2) == 0 {
        response["logProbs"] = at.one_of(&[json!([-0.1, -0.2]), json!([-0.9, -1.5]), json!([])]);
    }
    if at.below(3) == 0 {
        response["guardrails"] = json!({"flagged": at.below(2) == 0});
    }
    let mut asked = json!({"test": test, "response": response});
    if at.below(3) > 0 {
        asked["latencyMs"] = json!(at.one_of(&[20, 300, 900]));
    }
    BesideInput { found: outcome(&asked), asked }
}

fn span_assertion(at: &mut Choices) -> Json {
    let bounds = at.one_of(&[json!({"min": 1}), json!({"max": 1}), json!({"min": 1, "max": 2}), json!({"max": 0})]);
    let with = |mut value: Json| {
        value.as_object_mut().unwrap().extend(bounds.as_object().unwrap().clone());
        value
    };
    let glob = at.one_of(&["db.*", "*", "none*", "tool.?all", "TOOL*"]);
    let (kind, value) = match at.below(9) {
        0 => ("trace-span-count", with(json!({"pattern": glob}))),
        1 => ("trace-span-duration", json!({"pattern": glob, "max": at.one_of(&[5, 15, 100])})),
        2 => (
            "trace-span-duration",
            json!({"pattern": glob, "max": at.one_of(&[5, 15, 100]), "percentile": at.one_of(&[50, 95])}),
        ),
        3 => (
            "trace-error-spans",
            at.one_of(&[json!(0), json!(1), json!({"pattern": "db.*", "max_count": 1}), json!({"max_percentage": 40})]),
        ),
        4 => (
            "trajectory:tool-used",
            at.one_of(&[
                json!("search"),
                json!(["search", "pay"]),
                json!("se*"),
                json!({"name": "search", "max": 1}),
                json!({"pattern": "*", "min": 2}),
            ]),
        ),
        5 => (
            "trajectory:tool-sequence",
            at.one_of(&[
                json!(["search", "pay"]),
                json!(["pay", "search"]),
                json!({"mode": "exact", "steps": ["search", "pay"]}),
            ]),
        ),
        6 | 7 => {
            let mut value = bounds.clone();
            if at.below(4) > 0 {
                value["type"] = at.one_of(&[
                    json!("tool"),
                    json!("command"),
                    json!("search"),
                    json!("reasoning"),
                    json!("message"),
                    json!("span"),
                    json!(["tool", "command"]),
                ]);
            }
            if at.below(2) == 0 {
                value["pattern"] = json!(at.one_of(&["*", "s*", "git*", "db.?u*", "reasoning*", "tool.call"]));
            }
            ("trajectory:step-count", value)
        }
        _ => (
            "trajectory:tool-args-match",
            at.one_of(&[
                json!({"name": "search", "args": {"q": "x"}}),
                json!({"name": "search", "args": {"q": "x"}, "mode": "exact"}),
                json!({"name": "search", "args": {"q": "x"}, "mode": "exact", "ignore": "n*"}),
                json!({"name": "search", "args": {"q": "x"}, "mode": "exact", "defaults": {"n": 1}}),
                json!({"name": "pay", "args": {"to": {"id": 5}}}),
            ]),
        ),
    };
    let may_negate = kind.starts_with("trajectory");
    json!({"type": if may_negate && at.below(3) == 0 { format!("not-{kind}") } else { kind.to_owned() }, "value": value})
}

fn span(at: &mut Choices, number: usize) -> Json {
    let start = 1_700_000_000_000_u64 + 10 * number as u64;
    let mut span = json!({
        "spanId": format!("{number:016}"), "startTime": start, "endTime": start + at.one_of(&[2, 10, 30]), "statusCode": at.one_of(&[0, 1, 2]),
    });
    let (name, attributes) = match at.below(12) {
        0 => ("db.query", json!({})),
        1 => ("db.write", json!({"error": true})),
        2 => (
            "tool.call",
            json!({"tool.name": "search", "tool.arguments": at.one_of(&["{\"q\":\"x\"}", "{\"q\":\"x\",\"n\":1}", "{\"q\":\"y\"}"])}),
        ),
        3 => ("tool.call", json!({"tool.name": "search"})),
        4 => ("find docs", json!({"query": "orders"})),
        5 => ("search \"orders\"", json!({})),
        6 => ("mcp shop/pay", json!({"input": "{\"to\":{\"id\":5}}"})),
        7 => ("exec git log", json!({"codex.command": " "})),
        8 => (
            "run",
            json!({"tool.name": "Shell", "tool.args": at.one_of(&["{\"cmd\":[\"git\",\"log\"]}", "{\"n\":1}"])}),
        ),
        9 => (
            at.one_of(&["reasoning_a", "agent response", "x"]),
            json!({"codex.item.type": at.one_of(&["reasoning", "odd"])}),
        ),
        10 => ("x", json!({"my_tool_name": "pay", "args": "{\"to\":{\"id\":5}}", "tool_status": "ok"})),
        _ => ("tool.call", json!({"tool.name": "pay", "tool.arguments": "{\"to\":{\"id\":5,\"name\":\"A\"}}"})),
    };
    span["name"] = json!(name);
    span["attributes"] = attributes;
    span
}

fn generate_traced(at: &mut Choices) -> BesideInput {
    let spans: Vec<Json> = (0..1 + at.below(4)).map(|number| span(at, number)).collect();
    let test = json!({"vars": {}, "assert": [span_assertion(at)]});
    let asked = json!({"test": test, "response": {"output": "done"}, "spans": spans});
    BesideInput { found: outcome(&asked), asked }
}

/// Returns the outcome here, with promptfoo's semantics.
fn outcome(asked: &Json) -> Json {
    let config = json!({"prompts": ["ask"], "tests": [asked["test"]]}).to_string();
    let mut row = json!({
        "testIdx": 0, "promptIdx": 0, "success": true, "testCase": asked["test"], "vars": asked["test"]["vars"], "response": asked["response"],
    });
    if let Some(latency) = asked.get("latencyMs") {
        row["latencyMs"] = latency.clone();
    }
    let run = match asked.get("spans") {
        Some(spans) => json!({"traces": [{"traceId": "t", "spans": spans}], "result": row}),
        None => row,
    };
    let round = |score: f64| (score * 1e9).round() / 1e9;
    match import(&config, true) {
        Imported::Refused(_) => json!("error"),
        Imported::Rules { rules, text } => {
            let outcome = rules.check_one(run.to_string()).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let mut named: Vec<(String, f64)> =
                outcome.named_scores().iter().map(|(name, score)| (name.clone(), round(*score))).collect();
            named.sort_by(|a, b| a.0.cmp(&b.0));
            let named: Vec<Json> = named.into_iter().map(|(name, score)| json!([name, score])).collect();
            json!({"pass": outcome.passed(), "score": outcome.score().map(round), "named": named})
        }
    }
}

/// Returns the reason for a difference: numbers are equal whatever their notation, and an exception there is a failure here.
fn decision(input: &BesideInput, there: &Json) -> Option<&'static str> {
    let number = |json: &Json| json["score"].as_f64();
    let same_named = || {
        let of = |json: &Json| -> Vec<(String, f64)> {
            let items = json["named"].as_array().cloned().unwrap_or_default();
            items
                .iter()
                .map(|one| (one[0].as_str().unwrap_or("").to_owned(), one[1].as_f64().unwrap_or(-1.0)))
                .collect()
        };
        of(&input.found) == of(there)
    };
    let same_pass = input.found["pass"] == there["pass"];
    let same = same_pass && number(&input.found) == number(there) && same_named();
    let is_error = *there == "error" && input.found["pass"] == json!(false);
    if same || is_error {
        return Some("the same, written otherwise");
    }
    let asked = input.asked.to_string();
    let asks = |kinds: &[&str]| kinds.iter().any(|kind| asked.contains(&format!("{kind}\"")));
    asks(&["is-html", "is-xml", "contains-xml", "is-sql", "contains-sql"]).then_some("markup and SQL that ask a parser")
}

#[test]
fn beside_promptfoo() {
    let passes = |outcome: &Json| outcome["pass"] == json!(true);
    compare("PROMPTFOO", generate, passes, decision);
}

#[test]
fn beside_promptfoo_traced() {
    let passes = |outcome: &Json| outcome["pass"] == json!(true);
    let decide = |input: &BesideInput, there: &Json| {
        let without_names = |json: &Json| json!([json["pass"], json["score"].as_f64()]);
        let same = without_names(&input.found) == without_names(there);
        same.then_some("the same, written otherwise").or_else(|| decision(input, there))
    };
    compare("PROMPTFOO", generate_traced, passes, decide);
}
