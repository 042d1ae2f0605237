//! Whole assertions and lists of them, said in the language and judged by the whole pipeline.

use crate::common::{lines, shared};
use crate::sentences::{Unsaid, sentence};
use averment::Rules;
use averment::truth::Verdict;
use averment::vm::outcome::Outcome;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// What a vector showed.
enum Result {
    Agree,
    /// One of the differences that docs/reference/runsight.md decides.
    Documented(&'static str),
    Wrong(String),
}

use Result::{Agree, Documented, Wrong};

/// A rule file of sentences, each with its modifiers.
fn file(configs: &[Json]) -> std::result::Result<String, Unsaid> {
    let mut text = String::new();
    for config in configs {
        let sentence = sentence(config)?;
        if sentence.ends_with("json S") || sentence.contains("json S)") {
            let schema = match &config["value"] {
                Json::Bool(true) => json!({}),
                Json::Bool(false) => json!({"not": {}}),
                schema => schema.clone(),
            };
            text.push_str(&format!("schema S = {}\n", crate::sentences::object(&schema)));
        }
        text.push_str(&sentence);
        if let Some(weight) = config.get("weight").filter(|weight| !weight.is_null()) {
            let weight = weight.as_bool().map_or(weight.to_string(), |weight| u8::from(weight).to_string());
            text.push_str(&format!(" weight {weight}"));
        }
        if let Some(metric) = config.get("metric").and_then(Json::as_str).filter(|metric| !metric.is_empty()) {
            text.push_str(&format!(" as {metric}"));
        }
        text.push('\n');
    }
    Ok(text)
}

fn judge(text: &str, vector: &Json) -> std::result::Result<Outcome, String> {
    let rules = Rules::from_text("runsight.assert", text).map_err(|error| format!("{text}\n{error}"))?;
    let context = &vector["context"];
    let run = json!({"output": vector["output"], "cost": context["cost_usd"], "duration": context["latency_ms"]});
    rules.check_json(&run.to_string()).map_err(|error| format!("{run}\n{error:?}"))
}

/// Compares one assertion.
fn compare(vector: &Json) -> Result {
    let aborts = vector.get("expected_error").is_some();
    let text = match file(std::slice::from_ref(vector)) {
        Ok(text) => text,
        Err(Unsaid::Nonsense(_)) if aborts => return Agree,
        Err(Unsaid::Nonsense(reason) | Unsaid::Different(reason)) => return unsaid(vector, reason),
    };
    let outcome = match judge(&text, vector) {
        Ok(outcome) => outcome,
        Err(_) if aborts => return Agree,
        Err(error) => return refused(vector, error),
    };
    let result = &outcome.results[0];
    let passed = matches!(result.verdict, Verdict::Pass | Verdict::Vacuous);
    let same_verdict = vector["expected_passed"] == passed;
    let same_score = result.score.map(f64::to_bits) == vector["expected_score"].as_f64().map(f64::to_bits);
    if same_verdict && same_score && !aborts {
        return Agree;
    }
    match known(vector, result.verdict) {
        Some(reason) => Documented(reason),
        None => Wrong(format!(
            "{} {text}  output {}\n  {:?} {:?}: {}",
            vector["id"], vector["output"], result.verdict, result.score, result.reason
        )),
    }
}

/// There is no sentence for what means something there.
fn unsaid(vector: &Json, reason: &'static str) -> Result {
    match vector["type"].as_str().unwrap_or_default().trim_start_matches("not-") {
        "is-json" | "contains-json" => Documented("a schema that cannot be used"),
        "word-count" => Documented("a bound that is no number"),
        _ => Documented(if reason == "there is no such type" { "what aborts there is judged here" } else { reason }),
    }
}

/// A rule file that does not compile.
fn refused(vector: &Json, error: String) -> Result {
    if vector["weight"].as_f64().is_some_and(|weight| weight < 0.0) {
        return Documented("a weight is never negative");
    }
    match vector["type"].as_str().unwrap_or_default().trim_start_matches("not-") {
        "regex" => Documented("a pattern that cannot be used"),
        "is-json" | "contains-json" if error.contains("[bad-schema]") => Documented("a schema that cannot be used"),
        _ => Wrong(error),
    }
}

/// The differences that are decided, by what can be seen of the vector.
fn known(vector: &Json, verdict: Verdict) -> Option<&'static str> {
    let (kind, output) = (vector["type"].as_str()?.trim_start_matches("not-"), vector["output"].as_str()?);
    let constants =
        ["NaN", "Infinity"].iter().any(|name| output.contains(name) || vector["value"].to_string().contains(name));
    if vector.get("expected_error").is_some() {
        return Some("what aborts there is judged here");
    }
    if verdict == Verdict::Vacuous {
        return Some("what holds only because something is missing is vacuous");
    }
    match kind {
        "equals" if vector["config"]["mode"] == "json" && constants => Some("NaN and Infinity are no JSON"),
        "equals" if vector["config"]["mode"] == "json" => Some("true is not 1"),
        "is-json" | "contains-json" if constants => Some("NaN and Infinity are no JSON"),
        "is-json" | "contains-json" if vector["value"].get("dependencies").is_some() => {
            Some("`dependencies` is understood in every dialect")
        }
        "contains-json" if verdict_differs(vector, verdict) => Some("any JSON of the text may fit the schema"),
        "regex" if output.contains(['\u{1c}', '\u{1d}', '\u{1e}', '\u{1f}']) => {
            Some("`\\s` in a pattern does not match U+001C to U+001F")
        }
        "regex" if vector["value"].as_str()?.contains("(?i)") => {
            Some("case-insensitive patterns fold each character by itself")
        }
        _ if vector.get("transform").is_some() => Some("values that are no text are written as JSON"),
        _ => None,
    }
}

/// Whether the difference is that another JSON of the text fits here: it holds here and not there, or the other way round when negated.
fn verdict_differs(vector: &Json, verdict: Verdict) -> bool {
    let negated = vector["type"].as_str().is_some_and(|kind| kind.starts_with("not-"));
    (verdict == Verdict::Pass) != negated && vector["expected_passed"] == negated
}

#[derive(Default)]
struct Summary {
    agree: usize,
    documented: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
}

impl Summary {
    fn add(&mut self, result: Result) {
        match result {
            Agree => self.agree += 1,
            Documented(reason) => *self.documented.entry(reason).or_default() += 1,
            Wrong(what) => self.wrong.push(what),
        }
    }

    /// Prints the numbers; at least this share (in percent) has to agree, and the page has to decide every other.
    fn finish(self, name: &str, share: usize) {
        let documented: usize = self.documented.values().sum();
        let all = self.agree + documented + self.wrong.len();
        println!("{name}: {}/{all} agree, {documented} documented differences", self.agree);
        self.documented.iter().for_each(|(reason, count)| println!("  {count:3} {reason}"));
        assert!(self.wrong.is_empty(), "{} differ:\n{}", self.wrong.len(), self.wrong.join("\n"));
        let page = include_str!("../../docs/reference/runsight.md");
        for reason in self.documented.keys() {
            assert!(page.contains(reason), "docs/reference/runsight.md does not decide: {reason}");
        }
        assert!(self.agree * 100 >= all * share, "{name}: only {} of {all} agree", self.agree);
    }
}

#[test]
fn assertions_have_the_same_verdicts_and_scores() {
    let Some(path) = shared("conformance/runsight/golden_assertions.jsonl") else { return };
    let mut summary = Summary::default();
    lines(&path).iter().for_each(|vector| summary.add(compare(vector)));
    summary.finish("assertions", 90);
}

/// Compares a list: every member, the weighted score, the metrics.
fn compare_list(vector: &Json) -> Result {
    let configs = vector["assertions"].as_array().unwrap();
    let aborts = vector.get("expected_error").is_some();
    let text = match file(configs) {
        Ok(text) => text,
        Err(_) if aborts => return Agree,
        Err(Unsaid::Nonsense(reason) | Unsaid::Different(reason)) => {
            return Wrong(format!("{}: {reason}", vector["id"]));
        }
    };
    let negative = configs.iter().any(|config| config["weight"].as_f64().is_some_and(|weight| weight < 0.0));
    let outcome = match judge(&text, vector) {
        Ok(outcome) => outcome,
        Err(_) if aborts => return Agree,
        Err(_) if negative => return Documented("a weight is never negative"),
        Err(error) => return Wrong(error),
    };
    let expected = &vector["expected"];
    let scores: Vec<Option<f64>> = outcome.results.iter().map(|result| result.score).collect();
    let members: Vec<Option<f64>> =
        expected["results"].as_array().unwrap().iter().map(|member| member["score"].as_f64()).collect();
    let named: serde_json::Map<String, Json> =
        outcome.named_scores.iter().map(|(name, score)| (name.clone(), json!(score))).collect();
    let same = scores == members
        && outcome.score.unwrap_or(0.0).to_bits() == expected["aggregate_score"].as_f64().unwrap().to_bits()
        && Json::Object(named) == expected["named_scores"]
        && outcome.passed == expected["passed"];
    let mut names: Vec<&str> = configs.iter().filter_map(|config| config["metric"].as_str()).collect();
    names.sort_unstable();
    let twice = names.windows(2).any(|pair| pair[0] == pair[1]);
    if same {
        Agree
    } else if twice && scores == members {
        Documented("a metric that is named twice records the mean")
    } else {
        Wrong(format!("{}\n{text}{outcome:#?}", vector["id"]))
    }
}

#[test]
fn lists_have_the_same_scores_weights_and_metrics() {
    let Some(path) = shared("conformance/runsight/golden_lists.jsonl") else { return };
    let mut summary = Summary::default();
    lines(&path).iter().for_each(|vector| summary.add(compare_list(vector)));
    summary.finish("lists", 90);
}

/// The value that a transform selects, where it is text.
fn compare_transform(vector: &Json) -> Result {
    let (output, transform) = (&vector["output"], vector["transform"].clone());
    let aborts = vector.get("expected_error").is_some();
    let wanted = vector.get("expected_output").and_then(Json::as_str);
    let config = json!({"type": "equals", "value": wanted.unwrap_or("?"), "transform": transform});
    let text = match file(std::slice::from_ref(&config)) {
        Ok(text) => text,
        Err(_) if aborts => return Agree,
        Err(Unsaid::Different(reason)) if wanted.is_none() => return Documented(reason),
        Err(Unsaid::Nonsense(_) | Unsaid::Different(_)) => return Documented("paths that RFC 9535 does not know"),
    };
    let vector_of_run = json!({"output": output, "context": {"cost_usd": 0, "latency_ms": 0}});
    let outcome = match judge(&text, &vector_of_run) {
        Ok(outcome) => outcome,
        Err(error) => return Wrong(error),
    };
    let passed = outcome.results[0].verdict == Verdict::Pass;
    match wanted {
        Some(_) if passed => Agree,
        None if !passed && !aborts => Agree,
        None if !passed => Documented("what aborts there is judged here"),
        Some(wanted)
            if wanted.starts_with(['{', '['])
                || ["True", "False", "None"].contains(&wanted)
                || wanted.parse::<f64>().is_ok() =>
        {
            Documented("values that are no text are written as JSON")
        }
        _ => Documented("paths that RFC 9535 does not know"),
    }
}

#[test]
fn transforms_select_the_same_values() {
    let Some(path) = shared("conformance/runsight/golden_transforms.jsonl") else { return };
    let mut summary = Summary::default();
    lines(&path).iter().for_each(|vector| summary.add(compare_transform(vector)));
    summary.finish("transforms", 60);
}

/// The weighted mean and what a threshold says of it.
fn compare_scoring(vector: &Json) -> Result {
    let members = vector["results"].as_array().unwrap();
    let part = |member: &Json| (member["weight"].as_f64().unwrap(), member["score"].as_f64().unwrap());
    let parts: Vec<(f64, f64)> = members.iter().map(part).collect();
    if parts.iter().any(|(weight, _)| *weight < 0.0) {
        return Documented("a weight is never negative");
    }
    let score = averment::vm::score::weighted_mean(parts).unwrap_or(0.0);
    let expected = &vector["expected"];
    let thresholds = expected["passed_at"].as_object().unwrap();
    let same = score.to_bits() == expected["aggregate_score"].as_f64().unwrap().to_bits()
        && thresholds.iter().all(|(threshold, passed)| *passed == (score >= threshold.parse::<f64>().unwrap()));
    if same { Agree } else { Wrong(format!("{}: {score}", vector["id"])) }
}

#[test]
fn weighted_means_are_the_same_to_the_last_bit() {
    let Some(path) = shared("conformance/runsight/golden_scoring.jsonl") else { return };
    let mut summary = Summary::default();
    lines(&path).iter().for_each(|vector| summary.add(compare_scoring(vector)));
    summary.finish("weighted means", 85);
}
