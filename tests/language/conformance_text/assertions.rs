//! Whole assertions and lists of them, said in the language and judged by the whole pipeline.

use crate::conformance_text::differences::{self, Refusal};
use crate::conformance_text::paths::select;
use crate::conformance_text::sentences::Unsaid::{self, Different, Nonsense};
use crate::conformance_text::sentences::{path_of, sentence};
use averment_base::truth::Verdict;
use averment_engine::vm::outcome::Outcome;
use averment_fixtures::Rules;
use averment_fixtures::{lines, shared};
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
            text.push_str(&format!("schema S = {}\n", crate::conformance_text::sentences::object(&schema)));
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

/// The outcome of a vector that can be said and compiles.
pub fn judged(vector: &Json) -> Option<Outcome> {
    let text = file(std::slice::from_ref(vector)).ok()?;
    judge(&text, vector).ok()
}

/// Whether the verdict and the score are the same.
pub fn agrees(vector: &Json) -> bool {
    let Some(outcome) = judged(vector) else { return false };
    let result = &outcome.results[0];
    let passed = matches!(result.verdict, Verdict::Pass | Verdict::Vacuous);
    let same_score = result.score.map(f64::to_bits) == vector["expected_score"].as_f64().map(f64::to_bits);
    vector.get("expected_error").is_none() && vector["expected_passed"] == passed && same_score
}

/// Compares one assertion.
fn compare(vector: &Json) -> Result {
    let aborts = vector.get("expected_error").is_some();
    let refused = |why: Refusal| match differences::refused(vector, &why) {
        Some(reason) => Documented(reason),
        None => Wrong(match why {
            Refusal::Unsaid(Nonsense(reason) | Different(reason)) => format!("{}: {reason}: {vector}", vector["id"]),
            Refusal::Error(error) => error,
        }),
    };
    let text = match file(std::slice::from_ref(vector)) {
        Ok(text) => text,
        Err(Nonsense(_)) if aborts => return Agree,
        Err(why) => return refused(Refusal::Unsaid(why)),
    };
    let outcome = match judge(&text, vector) {
        Ok(outcome) => outcome,
        Err(_) if aborts => return Agree,
        Err(error) => return refused(Refusal::Error(error)),
    };
    if agrees(vector) {
        return Agree;
    }
    let result = &outcome.results[0];
    match differences::judged_otherwise(vector, result.verdict) {
        Some(reason) => Documented(reason),
        None => Wrong(format!(
            "{} {text}  output {}\n  {:?} {:?}: {}",
            vector["id"], vector["output"], result.verdict, result.score, result.reason
        )),
    }
}

#[derive(Default)]
struct Summary {
    agree: usize,
    documented: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
}

impl Summary {
    fn add(&mut self, vector: &Json, result: Result) {
        match result {
            Agree => self.agree += 1,
            Documented(reason) => {
                if std::env::var_os("AVERMENT_DIFFERENCES").is_some() {
                    println!("{reason}: {vector}");
                }
                *self.documented.entry(reason).or_default() += 1;
            }
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
        let page = include_str!("../../../docs/reference/runsight.md");
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
    lines(&path).iter().for_each(|vector| summary.add(vector, compare(vector)));
    summary.finish("assertions", 90);
}

/// Compares a list: every member, the weighted score, the metrics.
fn compare_list(vector: &Json) -> Result {
    let configs = vector["assertions"].as_array().unwrap();
    let aborts = vector.get("expected_error").is_some();
    let text = match file(configs) {
        Ok(text) => text,
        Err(_) if aborts => return Agree,
        Err(Nonsense(reason) | Different(reason)) => {
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
    } else if twice && scores == members && only_the_mean(&names, expected, &outcome) {
        Documented("a metric that is named twice records the mean")
    } else {
        Wrong(format!("{}\n{text}{outcome:#?}", vector["id"]))
    }
}

/// Metrics that are named once are the same; of one that is named twice the last member stays there.
fn only_the_mean(names: &[&str], expected: &Json, outcome: &Outcome) -> bool {
    outcome.named_scores.iter().all(|(name, score)| {
        let several = names.iter().filter(|one| *one == name).count() > 1;
        several || expected["named_scores"][name].as_f64().map(f64::to_bits) == Some(score.to_bits())
    })
}

#[test]
fn lists_have_the_same_scores_weights_and_metrics() {
    let Some(path) = shared("conformance/runsight/golden_lists.jsonl") else { return };
    let mut summary = Summary::default();
    lines(&path).iter().for_each(|vector| summary.add(vector, compare_list(vector)));
    summary.finish("lists", 90);
}

/// What a transform selects, as text.
fn compare_transform(vector: &Json) -> Result {
    let (output, transform) = (vector["output"].as_str().unwrap(), vector["transform"].as_str().unwrap());
    let aborts = vector.get("expected_error").is_some();
    let wanted = vector.get("expected_output").and_then(Json::as_str);
    let path = match path_of(transform) {
        Ok(path) => path,
        Err(_) if aborts => return Agree,
        Err(why) => {
            return differences::refused(vector, &Refusal::Unsaid(why))
                .map_or_else(|| Wrong(format!("{}: {transform} is not said", vector["id"])), Documented);
        }
    };
    let Some(selected) = select(output, &path) else {
        let constants = ["NaN", "Infinity"].iter().any(|constant| output.contains(constant));
        return match (wanted, aborts) {
            (None, false) => Agree,
            _ if constants => Documented("NaN and Infinity are no JSON"),
            _ => Wrong(format!("{}: {output} is no JSON", vector["id"])),
        };
    };
    match (wanted, selected.first()) {
        (Some(wanted), Some(first)) if first.text == wanted => Agree,
        (None, None) if !aborts => Agree,
        _ => differences::selected_otherwise(vector, &path, &selected).map_or_else(
            || {
                let texts: Vec<&String> = selected.iter().map(|one| &one.text).collect();
                Wrong(format!("{}: {transform} as {path} in {output}: {wanted:?}, and here {texts:?}", vector["id"]))
            },
            Documented,
        ),
    }
}

#[test]
fn transforms_select_the_same_values() {
    let Some(path) = shared("conformance/runsight/golden_transforms.jsonl") else { return };
    let mut summary = Summary::default();
    lines(&path).iter().for_each(|vector| summary.add(vector, compare_transform(vector)));
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
    let score = averment_engine::vm::score::weighted_mean(parts).unwrap_or(0.0);
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
    lines(&path).iter().for_each(|vector| summary.add(vector, compare_scoring(vector)));
    summary.finish("weighted means", 85);
}
