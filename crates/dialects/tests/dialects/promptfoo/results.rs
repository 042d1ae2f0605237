//! Result files are judged by the assertions that they contain.

use super::{Imported, import_file};
use averment::Verdict;
use serde_json::{Value as Json, json};

const RESULTS: &str = r#"{"evalId":"e","results":{"version":3,"results":[
 {"promptIdx":0,"testIdx":0,"success":true,"vars":{"name":"Bob"},"response":{"output":"Hello Bob"},
  "testCase":{"vars":{"name":"Bob"},"assert":[{"type":"contains","value":"{{name}}"},{"type":"llm-rubric","value":"polite"},{"type":"is-json"}]},
  "gradingResult":{"pass":true,"score":1,"componentResults":[
   {"pass":true,"score":1,"assertion":{"type":"contains","value":"{{name}}"}},
   {"pass":true,"score":0.8,"assertion":{"type":"llm-rubric","value":"polite"}},
   {"pass":true,"score":1,"assertion":{"type":"is-json"}}]}},
 {"promptIdx":1,"testIdx":0,"success":true,"traceId":"t","vars":{"name":"Al"},"response":{"output":"x"},
  "testCase":{"vars":{"name":"Al"},"assert":[{"type":"trace-span-count","value":{"pattern":"none*","max":2}},{"type":"odd"}]}}
]},"traces":[{"traceId":"t","spans":[{"spanId":"0000000000000001","name":"db","startTime":1700000000000,"endTime":1700000000005}]}]}"#;

#[test]
fn results_are_judged_by_their_own_assertions() {
    let Imported::Rules { rules, .. } = import_file("results.json", RESULTS, &[], false) else { panic!("refused") };
    let outcomes: Vec<Vec<(Verdict, bool)>> = rules
        .check(RESULTS)
        .map(|outcome| {
            let outcome = outcome.unwrap();
            outcome
                .results()
                .filter(|one| one.verdict() != Verdict::Skipped)
                .filter(|one| one.verdict() != Verdict::Pass || !one.text().starts_with("(if"))
                .map(|one| (one.verdict(), one.text().starts_with("(if")))
                .collect()
        })
        .collect();
    // The second verdict of `is-json` is the line that compares it with the recorded verdict.
    let first = [(Verdict::Pass, false), (Verdict::Pass, false), (Verdict::Fail, false), (Verdict::Fail, true)];
    assert_eq!(outcomes[0], first);
    assert_eq!(outcomes[1], [(Verdict::Vacuous, false), (Verdict::Undecided, false)]);
}

#[test]
fn scores_are_judged_where_the_formula_is_known() {
    let judged = |assertion: &Json, response: &Json, recorded: Option<f64>| {
        let config = json!({"prompts": ["ask"], "tests": [{"vars": {}, "assert": [assertion]}]}).to_string();
        let Imported::Rules { rules, text } = import_file("promptfooconfig.yaml", &config, &[], false) else {
            panic!("{assertion}: refused")
        };
        let grading = recorded.map(
            |score| json!({"pass": true, "componentResults": [{"pass": true, "score": score, "assertion": assertion}]}),
        );
        let run = json!({
            "testIdx": 0, "promptIdx": 0, "success": true, "vars": {}, "response": response, "gradingResult": grading,
            "testCase": {"assert": [assertion]},
        });
        let outcome = rules.check_one(run.to_string()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        outcome.results().next().map(|one| (one.verdict(), one.score())).unwrap()
    };
    let cat = json!({"output": "the cat sat", "logProbs": [-0.5, -0.7], "guardrails": {"flagged": false}});
    let other = json!({"output": "a cat; it sat"});
    let of = |kind: &str, threshold: f64| json!({"type": kind, "value": "The cat sat", "threshold": threshold});
    let quoting = json!({"type": "rouge-n", "value": "he said \"yes\"", "threshold": 0.9});
    let quoted = json!({"output": "\"yes\" he said"});
    for (assertion, response, recorded, verdict) in [
        (of("rouge-n", 0.9), &cat, None, Verdict::Pass),
        (of("not-rouge-n", 0.9), &cat, None, Verdict::Fail),
        (of("rouge-n", 0.5), &other, None, Verdict::Pass),
        (of("rouge-n", 0.51), &other, Some(0.95), Verdict::Fail),
        (quoting.clone(), &quoted, None, Verdict::Undecided),
        (quoting.clone(), &quoted, Some(0.95), Verdict::Pass),
        (of("bleu", 0.9), &cat, None, Verdict::Pass),
        (of("gleu", 0.9), &json!({"output": "none of it."}), None, Verdict::Fail),
        (of("gleu", 0.1), &json!({"output": ""}), None, Verdict::Undecided),
        (of("bleu", 0.2), &other, None, Verdict::Fail),
        (json!({"type": "bleu", "value": ["no", "The cat sat down"], "threshold": 0.7}), &cat, None, Verdict::Pass),
        (json!({"type": "perplexity", "threshold": 2}), &cat, None, Verdict::Pass),
        (json!({"type": "perplexity", "threshold": 1.7}), &cat, None, Verdict::Fail),
        (json!({"type": "perplexity", "threshold": 2}), &other, None, Verdict::Undecided),
        (json!({"type": "perplexity-score", "threshold": 0.3}), &cat, None, Verdict::Pass),
        (json!({"type": "guardrails"}), &cat, None, Verdict::Pass),
        (json!({"type": "guardrails"}), &other, None, Verdict::Vacuous),
        (json!({"type": "is-xml"}), &cat, None, Verdict::Fail),
        (json!({"type": "not-is-xml"}), &cat, None, Verdict::Pass),
        (json!({"type": "is-xml"}), &json!({"output": "<a>x</a>\n"}), None, Verdict::Pass),
        (json!({"type": "is-xml"}), &json!({"output": "<a>x</b>"}), None, Verdict::Fail),
        (
            json!({"type": "not-is-xml"}),
            &json!({"output": "<a><b x=\"1\">&amp;</b><!-- c --></a>"}),
            None,
            Verdict::Fail,
        ),
        (json!({"type": "is-xml"}), &json!({"output": "<!DOCTYPE a><a/>"}), None, Verdict::Undecided),
        (json!({"type": "contains-xml"}), &json!({"output": "<a><b x=\"1\"/></a>"}), None, Verdict::Pass),
        (json!({"type": "is-xml", "value": "a.b"}), &json!({"output": "<a>x</a>"}), None, Verdict::Undecided),
        (json!({"type": "is-xml", "value": "a.b"}), &json!({"output": "<a>x</a>"}), Some(1.0), Verdict::Pass),
        (json!({"type": "contains-xml"}), &json!({"output": "so: <a>x</a>."}), None, Verdict::Pass),
        (json!({"type": "contains-xml"}), &json!({"output": "a < b > c"}), None, Verdict::Fail),
        (json!({"type": "is-html"}), &json!({"output": "see <b>this</b>"}), None, Verdict::Fail),
        (json!({"type": "is-html"}), &json!({"output": "<ul><li>a</li></ul>"}), None, Verdict::Pass),
        (json!({"type": "is-html"}), &json!({"output": "<div><odd></div>"}), None, Verdict::Undecided),
        (json!({"type": "contains-html"}), &json!({"output": "see <b>this</b>"}), None, Verdict::Pass),
        (json!({"type": "not-contains-html"}), &json!({"output": "a < b &amp; c"}), None, Verdict::Pass),
        (json!({"type": "contains-html"}), &json!({"output": "a < b &amp; c"}), None, Verdict::Fail),
        (json!({"type": "is-sql"}), &json!({"output": "SELECT `a FROM b"}), None, Verdict::Fail),
        (json!({"type": "is-sql"}), &json!({"output": "SELECT a FROM b"}), None, Verdict::Undecided),
        (json!({"type": "contains-sql"}), &json!({"output": " "}), None, Verdict::Fail),
        (
            json!({"type": "contains-json", "value": {"type": "array"}}),
            &json!({"output": "so [1, 2]"}),
            None,
            Verdict::Fail,
        ),
        (json!({"type": "not-contains-json"}), &json!({"output": "so [[{\"a\": 1}]]"}), None, Verdict::Fail),
        (json!({"type": "contains-json"}), &json!({"output": "[1] and {\"a\": 1}"}), None, Verdict::Pass),
        (json!({"type": "not-contains-json"}), &json!({"output": "so {a: 1}"}), None, Verdict::Undecided),
        (json!({"type": "not-contains-json"}), &json!({"output": "so {a: 1}"}), Some(1.0), Verdict::Pass),
    ] {
        assert_eq!(judged(&assertion, response, recorded).0, verdict, "{assertion} {response}");
    }
    let score = |assertion: &Json, response: &Json| (judged(assertion, response, None).1.unwrap() * 1e9).round() / 1e9;
    assert_eq!(score(&of("rouge-n", 0.1), &json!({"output": "the cat"})), 0.8);
    assert_eq!(score(&of("not-gleu", 0.9), &json!({"output": "the cat"})), 0.5);
    assert_eq!(score(&json!({"type": "perplexity-score", "threshold": 0.3}), &cat), 0.354_343_694);
}

#[test]
fn expected_calls_of_a_test_are_no_calls_of_its_run() {
    let assertion = json!({"type": "not-trajectory:tool-args-match", "value": {"name": "pay", "args": {"to": 5}}});
    let config = json!({"prompts": ["ask"], "tests": [{"vars": {}, "assert": [assertion]}]}).to_string();
    let Imported::Rules { rules, .. } = import_file("promptfooconfig.yaml", &config, &[], false) else { panic!() };
    let attributes = json!({"tool.name": "search", "tool.arguments": "{\"q\":\"x\"}"});
    let span = json!({"spanId": "1", "name": "tool.call", "startTime": 1, "endTime": 2, "attributes": attributes});
    let result = json!({
        "testIdx": 0, "promptIdx": 0, "success": true, "vars": {}, "response": {"output": "done"},
        "testCase": {"assert": [assertion]}, "gradingResult": {"pass": true, "componentResults": [{"assertion": assertion}]},
    });
    let run = json!({"traces": [{"traceId": "t", "spans": [span]}], "result": result});
    let outcome = rules.check_one(run.to_string()).unwrap();
    assert_eq!(outcome.results().next().map(|one| one.verdict()), Some(Verdict::Pass));
}

#[test]
fn steps_of_a_trace_are_those_that_promptfoo_sees() {
    let spans = json!([
        {"spanId": "3", "name": "agent response", "startTime": 30, "attributes": {}},
        {"spanId": "1", "name": "tool.call", "startTime": 10, "endTime": 11, "attributes": {"tool.name": "search"}},
        {"spanId": "2", "name": "call", "startTime": 20, "attributes": {"tool.name": "shell", "tool.args": "{\"cmd\": [\"git\", \"log\"]}"}},
        {"spanId": "0", "name": "x", "startTime": 5, "attributes": {"my_tool_name": "pay", "arguments": "{\"to\": 5}"}},
    ]);
    let judged = |kind: &str, value: Json, spans: &Json| {
        let assertion = json!({"type": kind, "value": value});
        let config = json!({"prompts": ["ask"], "tests": [{"vars": {}, "assert": [assertion]}]}).to_string();
        let Imported::Rules { rules, .. } = import_file("promptfooconfig.yaml", &config, &[], false) else { panic!() };
        let row = json!({"testIdx": 0, "promptIdx": 0, "success": true, "testCase": {"vars": {}}, "vars": {}, "response": {"output": "x"}});
        let run = json!({"traces": [{"traceId": "t", "spans": spans}], "result": row});
        let outcome = rules.check_one(run.to_string()).unwrap();
        outcome.results().next().map(|one| one.verdict()).unwrap()
    };
    for (kind, value, verdict) in [
        // A call without arguments, and a call whose tool is named only by another key.
        ("trajectory:tool-used", json!(["search", "pay"]), Verdict::Pass),
        ("not-trajectory:tool-used", json!("search"), Verdict::Fail),
        ("trajectory:tool-used", json!("tool.c*"), Verdict::Pass),
        ("not-trajectory:tool-used", json!("shell"), Verdict::Pass),
        ("trajectory:tool-sequence", json!({"mode": "exact", "steps": ["pay", "search"]}), Verdict::Pass),
        ("trajectory:tool-args-match", json!({"name": "pay", "args": {"to": 5}}), Verdict::Pass),
        ("trajectory:step-count", json!({"type": "command", "min": 1, "max": 1}), Verdict::Pass),
        ("trajectory:step-count", json!({"type": ["tool", "message"], "min": 3}), Verdict::Pass),
        ("trajectory:step-count", json!({"pattern": "git*", "max": 0}), Verdict::Fail),
        ("not-trajectory:step-count", json!({"type": "span", "min": 1}), Verdict::Pass),
    ] {
        assert_eq!(judged(kind, value.clone(), &spans), verdict, "{kind} {value}");
    }
    // A trace without spans.
    let count = json!({"pattern": "db*", "max": 5});
    assert_eq!(judged("trace-span-count", count, &json!([])), Verdict::Vacuous);
}
