//! Intermediate values: words, BLEU, ROUGE, JSON inside text.

use averment_base::limits::{FuelMeter, Limits};
use averment_base::value::json::{parse, to_json};
use averment_base::value::{Node, Value, ValueText};
use averment_builtins::CallEnvironment;
use averment_builtins::json::{JsonCache, find_json};
use averment_builtins::table::find_builtin;
use averment_fixtures::{lines, shared};
use bumpalo::Bump;
use serde_json::Value as Json;

/// The result of a function on texts, as JSON.
fn call(name: &str, texts: &[&str], number: Option<&str>) -> Json {
    let arena = Bump::new();
    let limits = Limits::default();
    let text = |text: &&'_ str| Node::computed(Value::Text(ValueText::Plain(arena.alloc_str(text))));
    let number = number.map(|number| parse(arena.alloc_str(number), 0, &arena, &limits).unwrap().node);
    let arguments: Vec<Node<'_>> = texts.iter().map(text).chain(number).collect();
    let environment = CallEnvironment {
        arena: &arena,
        limits: &limits,
        meter: &mut FuelMeter::new(&limits),
        regex: &|_| None,
        cache: &JsonCache::default(),
    };
    let result = find_builtin(name).unwrap().call(arena.alloc_slice_copy(&arguments), environment).unwrap();
    serde_json::from_str(&to_json(&result.value)).unwrap()
}

fn text<'a>(vector: &'a Json, key: &str) -> &'a str {
    vector[key].as_str().unwrap()
}

/// Compares results with expectations and says how many agree.
struct Tally {
    name: &'static str,
    agree: usize,
    differ: Vec<String>,
}

impl Tally {
    fn new(name: &'static str) -> Self {
        Self { name, agree: 0, differ: Vec::new() }
    }

    fn compare(&mut self, what: impl FnOnce() -> String, ours: &Json, theirs: &Json) {
        if ours == theirs { self.agree += 1 } else { self.differ.push(format!("{}: {ours} and not {theirs}", what())) }
    }

    /// A score has to be the same double.
    fn compare_score(&mut self, what: impl FnOnce() -> String, ours: &Json, theirs: &Json) {
        let same = ours.as_f64().unwrap().to_bits() == theirs.as_f64().unwrap().to_bits();
        if same { self.agree += 1 } else { self.differ.push(format!("{}: {ours} and not {theirs}", what())) }
    }

    fn finish(self) {
        println!("{}: {}/{} agree", self.name, self.agree, self.agree + self.differ.len());
        assert!(self.differ.is_empty(), "{}", self.differ.join("\n"));
        assert!(self.agree > 0);
    }
}

#[test]
fn words_and_lower_case_are_the_same() {
    let Some(path) = shared("conformance/runsight/golden_tokenization.jsonl") else { return };
    let mut tally = Tally::new("words, lower case and lengths");
    for vector in lines(&path) {
        let given = text(&vector, "text");
        let what = || format!("{given:?}");
        tally.compare(what, &call("words", &[given], None), &vector["py_split"]);
        tally.compare(what, &call("lower", &[given], None), &vector["lower"]);
        tally.compare(what, &call("length", &[given], None), &vector["codepoints"]);
    }
    tally.finish();
}

#[test]
fn bleu_is_the_same_to_the_last_bit() {
    let Some(path) = shared("conformance/runsight/golden_bleu_detail.jsonl") else { return };
    let mut tally = Tally::new("bleu");
    for vector in lines(&path) {
        let (candidate, reference) = (text(&vector, "candidate"), text(&vector, "reference"));
        let ours = call("bleu", &[candidate, reference], None);
        tally.compare_score(|| format!("{candidate:?} {reference:?}"), &ours, &vector["bleu"]);
    }
    tally.finish();
}

#[test]
fn rouge_is_the_same_to_the_last_bit() {
    let Some(path) = shared("conformance/runsight/golden_rouge_detail.jsonl") else { return };
    let mut tally = Tally::new("rouge 1, 2 and L");
    for vector in lines(&path) {
        let sides = [text(&vector, "prediction"), text(&vector, "reference")];
        for (name, n, key) in
            [("rouge_n", Some("1"), "rouge1"), ("rouge_n", Some("2"), "rouge2"), ("rouge_l", None, "rougeL")]
        {
            let ours = call(name, &sides, n);
            tally.compare_score(|| format!("{key} {sides:?}"), &ours, &vector[key]["fmeasure"]);
        }
    }
    tally.finish();
}

#[test]
fn json_inside_text_is_found_at_the_same_place() {
    let Some(path) = shared("conformance/runsight/golden_extract_json.jsonl") else { return };
    let limits = Limits::default();
    let mut tally = Tally::new("json inside text");
    for vector in lines(&path) {
        let given = text(&vector, "text");
        let found = find_json(given, &limits, &mut FuelMeter::new(&limits), |_, _| Ok(true)).unwrap();
        let read = |range: std::ops::Range<usize>| serde_json::from_str::<Json>(&given[range]).unwrap();
        let ours = found.map_or(Json::Null, read);
        tally.compare(|| format!("{given:?}"), &ours, &vector["extracted"]);
    }
    tally.finish();
}

#[test]
fn weighted_means_are_the_same_to_the_last_bit() {
    let Some(path) = shared("conformance/runsight/golden_scoring.jsonl") else { return };
    for vector in lines(&path) {
        let members = vector["results"].as_array().unwrap();
        let part = |member: &Json| (member["weight"].as_f64().unwrap(), member["score"].as_f64().unwrap());
        let parts: Vec<(f64, f64)> = members.iter().map(part).collect();
        // No weight of the language is negative.
        if parts.iter().any(|(weight, _)| *weight < 0.0) {
            continue;
        }
        let score = averment_engine::vm::score::weighted_mean(parts).unwrap_or(0.0);
        assert_eq!(Some(score.to_bits()), vector["expected"]["aggregate_score"].as_f64().map(f64::to_bits), "{vector}");
        for (threshold, passed) in vector["expected"]["passed_at"].as_object().unwrap() {
            assert_eq!(*passed, score >= threshold.parse::<f64>().unwrap(), "{vector} at {threshold}");
        }
    }
}
