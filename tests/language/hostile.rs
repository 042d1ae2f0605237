//! Hostile rules and runs: every one ends soon, within its memory, with a verdict or a message that says what is too much.

use averment_base::truth::Verdict;
use averment_fixtures::Rules;
use serde_json::{Value as Json, json};
use std::time::{Duration, Instant};

/// Generous: a slow machine, no optimisation, other tests beside it.
const SOON: Duration = Duration::from_secs(60);

/// The verdict of one assertion with its reason, in time; what the compiler says where it does not compile.
fn judge(rules: &str, run: &Json) -> Result<(Verdict, String), String> {
    let start = Instant::now();
    let rules = Rules::from_text("hostile.assert", rules).map_err(|error| error.to_string())?;
    let outcome = rules.check_json(&run.to_string()).map_err(|error| format!("{error:?}"))?;
    assert!(start.elapsed() < SOON, "it took {:?}", start.elapsed());
    let result = outcome.results.first().unwrap();
    Ok((result.verdict, result.reason.clone()))
}

/// The evaluation ends with the verdict `error` and names the limit.
#[track_caller]
fn too_much(rules: &str, run: &Json) {
    let (verdict, reason) = judge(rules, run).unwrap();
    assert_eq!(verdict, Verdict::Error, "{reason}");
    assert!(reason.contains("limit"), "{reason}");
}

#[track_caller]
fn refused(rules: &str, said: &str) {
    let error = judge(rules, &json!({})).unwrap_err();
    assert!(error.contains(said), "{said:?} is not said: {error}");
}

#[test]
fn regular_expressions_take_bounded_time_and_memory() {
    let text = json!({ "output": "ab".repeat(100_000) });
    let branches: Vec<String> = (0..10_000).map(|number| format!("word{number}x")).collect();
    let verdict = |pattern: &str| judge(&format!("output matches /{pattern}/"), &text).unwrap().0;
    assert_eq!(verdict(&format!("({})$", branches.join("|"))), Verdict::Fail);
    assert_eq!(verdict("^(a+b*)+c$"), Verdict::Fail);
    assert_eq!(verdict("(.*.*)*x"), Verdict::Fail);
    refused("output matches /((a{0,1000}){0,1000}){0,1000}/", "takes more than");
    refused(r"output matches /\p{L}{5000}/u", "takes more than");
    refused(&format!("output matches /{}a{}/", "(".repeat(300), ")*".repeat(300)), "nested deeper");
    // What an automaton keeps up with is no hostile expression, however large the counts are.
    let line = json!({ "output": format!("{}b", "a".repeat(20_000_000)) });
    assert_eq!(judge("output matches /^a{1000,2000}b$/", &line).unwrap().0, Verdict::Fail);
    assert_eq!(judge("output matches /a{1000}b/", &line).unwrap().0, Verdict::Pass);
    // A thousand possibilities at each of millions of characters.
    let mut state = 1_u64;
    let mut letter = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if state >> 40 & 1 == 0 { 'a' } else { 'b' }
    };
    let large = json!({ "output": (0..10_000_000).map(&mut letter).collect::<String>() });
    too_much("output matches /[ab]*a[ab]{1000}[^ab]/", &large);
    too_much("output matches /a[ab]{100}[^ab]/", &large);
    assert_eq!(judge("output matches /c$/", &large).unwrap().0, Verdict::Fail);
}

#[test]
fn schemas_that_multiply_themselves_end_at_a_limit() {
    let run = json!({ "inputs": { "x": 1 }, "output": "a" });
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let mut definitions = json!({ "d0": { "type": "string" } });
        for number in 1..40 {
            let before = json!({ "$ref": format!("#/$defs/d{}", number - 1) });
            definitions[format!("d{number}")] = json!({ keyword: [before, before] });
        }
        let schema = json!({ "$ref": "#/$defs/d39", "$defs": definitions });
        too_much(&format!("schema S = {schema}\ninputs is S"), &run);
        too_much(&format!("schema S = {schema}\noutput contains json S"), &json!({ "output": "see {\"a\": 1}" }));
        let catalogue = format!("tool t {schema}\nargs valid");
        too_much(&catalogue, &json!({ "calls": [{ "tool": "t", "args": { "a": 1 } }] }));
    }
    let again =
        json!({ "type": "array", "items": { "anyOf": [{ "$ref": "#" }, { "$ref": "#" }, { "type": "integer" }] } });
    let nested = (0..40).fold(json!("x"), |inner, _| json!([inner, "x"]));
    too_much(&format!("schema S = {again}\ninputs is S"), &json!({ "inputs": nested }));
}

#[test]
fn schemas_that_refer_to_themselves_end() {
    let run = json!({ "inputs": { "child": { "child": {} } } });
    for (schema, verdict) in [
        (json!({ "$ref": "#" }), Verdict::Pass),
        (json!({ "allOf": [{ "$ref": "#" }, { "$ref": "#" }] }), Verdict::Pass),
        (
            json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }),
            Verdict::Pass,
        ),
        (json!({ "properties": { "child": { "$ref": "#" } }, "additionalProperties": false }), Verdict::Pass),
        (json!({ "properties": { "child": { "$ref": "#" } }, "required": ["child"] }), Verdict::Fail),
    ] {
        assert_eq!(judge(&format!("schema S = {schema}\ninputs is S"), &run).unwrap().0, verdict, "{schema}");
    }
}

#[test]
fn schemas_fetch_nothing_and_take_no_pattern_that_could_hang() {
    for reference in
        ["https://example.org/x.json", "http://localhost/x", "file:///etc/passwd", "../../etc/passwd", "/etc/passwd"]
    {
        refused(&format!("schema S = {}\noutput is S", json!({ "$ref": reference })), "leads out of the folder");
    }
    refused(
        r#"schema S = { "$dynamicRef": "http://example.org/x" }
output is S"#,
        "bad-schema",
    );
    refused(
        r#"schema S = { pattern: "((a{0,1000}){0,1000}){0,1000}" }
output is S"#,
        "bad-schema",
    );
    let pattern = "schema S = { pattern: '^(a+)+$', patternProperties: { '^(.*.*)*x$': {} } }\noutput is S";
    assert_eq!(judge(pattern, &json!({ "output": format!("{}!", "a".repeat(200_000)) })).unwrap().0, Verdict::Fail);
    // What looks around is followed back and forth, so that its steps are counted.
    let looks = "schema S = { pattern: '^(?=(a+)+$)(a|a)+$' }\noutput is S";
    let long = json!({ "output": format!("{}!", "a".repeat(5_000)) });
    assert!(matches!(judge(looks, &long).unwrap().0, Verdict::Fail | Verdict::Error));
}

#[test]
fn paths_that_multiply_what_they_select_end_at_a_limit() {
    let nested = (0..200).fold(json!(1), |inner, _| json!({ "child": inner }));
    let run = json!({ "inputs": { "deep": nested, "list": (0..5_000).collect::<Vec<_>>() } });
    for path in [
        "$..*..*..*..*".to_owned(),
        format!("${}", "..*".repeat(50)),
        format!("${}", "[*,*,*,*]".repeat(30)),
        "$..child..child..child..child..child".to_owned(),
        "$..[?search(@, '(a*)*b')]".to_owned(),
    ] {
        too_much(&format!("jsonpath(inputs, \"{path}\") == []"), &run);
    }
    let long = format!("${}", "['x']".repeat(5_000));
    assert_eq!(judge(&format!("jsonpath(inputs, \"{long}\") == []"), &run).unwrap().0, Verdict::Pass);
}

#[test]
fn json_that_is_nested_without_end_is_no_json() {
    let deep = "[".repeat(200_000) + &"]".repeat(200_000);
    let run = json!({ "output": deep, "inputs": "{\"a\":".repeat(100_000) });
    for (rule, verdict) in [
        ("json(output) is missing", Verdict::Pass),
        ("output contains json", Verdict::Pass),
        ("inputs contains json", Verdict::Fail),
        ("inputs is json", Verdict::Fail),
        ("schema S = { type: \"array\" }\noutput is json S", Verdict::Fail),
    ] {
        let (found, reason) = judge(rule, &run).unwrap();
        assert_eq!(found, verdict, "{rule}: {reason}");
    }
    let rules = Rules::from_text("hostile.assert", "output == 1").unwrap();
    assert!(rules.check_json(&format!("{{\"output\":{deep}}}")).is_err(), "a run is nested to a limit");
}

#[test]
fn large_texts_end_in_every_function() {
    let words = ["alpha", "beta", "42", "o-17", "http://x.y/z", "a@b.co", "{\"a\":[1]}"];
    let text: String = (0..200_000).map(|number| words[number * 7 % 13 % 7].to_owned() + " ").collect();
    let run = json!({ "output": text });
    for rule in [
        "levenshtein(output, output) == 1",
        "similarity(output, reverse(output) | join()) > 0.5",
        "length(split(output, \"\")) == length(distinct(split(output, \"\")))",
        "join([output, output, output, output, output, output, output, output], output) == \"\"",
        "replace(output, \"a\", output) == \"\"",
    ] {
        let (verdict, reason) = judge(rule, &run).unwrap();
        assert_ne!(verdict, Verdict::Pass, "{rule}: {reason}");
    }
    for function in [
        "lower(output)",
        "upper(output)",
        "trim(output)",
        "words(output)",
        "lines(output)",
        "length(output)",
        "word_count(output)",
        "json(output)",
        "number(output)",
        "reverse(output)",
        "sha256(output)",
        "base64_encode(output)",
        "base64_decode(output)",
        "url_decode(output)",
        "timestamp(output)",
        "text([output])",
        "bleu(output, \"alpha beta\")",
        "rouge_l(output, \"alpha beta\")",
        "rouge_n(output, output, 2)",
        "levenshtein(output, \"alpha\")",
        "find_pii(output)",
        "find_secrets(output)",
        "parse_command(output)",
        "ungrounded(output, [\"42\"])",
        "jsonpath(json(output), \"$..a\")",
        "replace(output, /a(.)/, \"$1$1\")",
        "split(output, /a|b/)",
    ] {
        // Any verdict will do: it has to end.
        let (verdict, reason) = judge(&format!("[{function}] == [output]"), &run).unwrap();
        assert_ne!(verdict, Verdict::Undecided, "{function}: {reason}");
    }
}
