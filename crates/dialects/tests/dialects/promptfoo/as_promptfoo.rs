//! With `--compat promptfoo`, anything that ends a whole test with an error in promptfoo fails the test, whatever its weight.

use super::{Imported, import};
use serde_json::{Value as Json, json};

/// Returns true if a test with this assertion, one that holds, and this response passes.
fn passes(assertion: &Json, threshold: Option<f64>, response: &Json, as_promptfoo: bool) -> bool {
    let mut test = json!({"vars": {}, "assert": [assertion, {"type": "contains", "value": "o"}]});
    if let Some(threshold) = threshold {
        test["threshold"] = json!(threshold);
    }
    let config = json!({"prompts": ["ask"], "tests": [test]}).to_string();
    let run =
        json!({"testIdx": 0, "promptIdx": 0, "success": true, "testCase": test, "vars": {}, "response": response});
    match import(&config, as_promptfoo) {
        Imported::Refused(said) => panic!("{assertion}: {said}"),
        Imported::Rules { rules, text } => {
            rules.check_one(run.to_string()).unwrap_or_else(|error| panic!("{error}\n{text}")).passed()
        }
    }
}

#[test]
fn what_ends_a_test_fails_it_whatever_it_weighs() {
    let response = json!({"output": "no object"});
    for assertion in [
        json!({"type": "cost", "threshold": 1}),
        json!({"type": "not-cost", "threshold": 1}),
        json!({"type": "latency", "threshold": 1}),
        json!({"type": "contains", "value": "a", "transform": "JSON.parse(output).a"}),
        json!({"type": "not-contains", "value": "a", "transform": "output.a"}),
        json!({"type": "trace-span-count", "value": {"pattern": "*", "max": 9}}),
    ] {
        let mut weightless = assertion.clone();
        weightless["weight"] = json!(0);
        assert!(passes(&weightless, None, &response, false), "{weightless}");
        for (assertion, threshold) in [(&weightless, None), (&assertion, Some(0.1)), (&weightless, Some(0.1))] {
            assert!(!passes(assertion, threshold, &response, true), "{assertion} {threshold:?}");
        }
        let set =
            json!({"type": "assert-set", "threshold": 0.1, "assert": [assertion, {"type": "contains", "value": "o"}]});
        assert!(!passes(&set, None, &response, true), "{set}");
    }
}

#[test]
fn what_can_be_judged_or_fails_alone_ends_no_test() {
    let response = json!({"output": "{\"a\": \"no\"}", "cost": 5});
    for assertion in [
        json!({"type": "cost", "threshold": 1, "weight": 0}),
        json!({"type": "contains", "value": "z", "transform": "JSON.parse(output).a", "weight": 0}),
        json!({"type": "finish-reason", "value": "stop", "weight": 0}),
        json!({"type": "llm-rubric", "value": "kind", "weight": 0}),
    ] {
        assert!(passes(&assertion, None, &response, true), "{assertion}");
    }
}
