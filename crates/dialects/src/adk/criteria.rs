//! Criteria: the metrics that an evaluation requests, and the threshold of each.

use crate::Lowering;
use crate::spelling::field;
use crate::yaml::{self, YamlNode, YamlSchema};
use averment_base::diagnostic::Slug;
use averment_base::source::{SourceFile, Span};
use averment_checker::files::{FileError, display_name};

/// Name of the file where ADK's own test runner looks for the criteria of a folder.
const CONFIG: &str = "test_config.json";

/// The way in which the calls of a turn are compared with the expected calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrajectoryMatch {
    /// Exactly the expected calls, in the expected order.
    Exact,
    /// The expected calls in the expected order; other calls may occur between them.
    InOrder,
    /// The expected calls in any order; other calls are allowed.
    AnyOrder,
}

/// The criterion about tool calls.
pub(super) struct TrajectoryCriterion {
    pub(super) threshold: f64,
    pub(super) order: TrajectoryMatch,
    pub(super) ignores_args: bool,
    /// Location of the threshold in the file; `None` for the default threshold.
    pub(super) place: Option<Span>,
}

/// All criteria of an eval set.
pub(super) struct EvalCriteria {
    pub(super) trajectory: Option<TrajectoryCriterion>,
    /// Minimum ROUGE-1 score of an answer.
    pub(super) response: Option<f64>,
    /// Names and locations of metrics that need a model or a program to judge them.
    pub(super) judged: Vec<(String, Span)>,
}

/// Metrics that ADK reports but never fails an evaluation for.
const INFORMATIONAL: [&str; 4] =
    ["tool_call_count_v1", "inference_call_count_v1", "token_usage_v1", "invocation_duration_v1"];

/// Reads the criteria from the file beside the eval set; without that file, returns ADK's defaults.
pub(super) fn read_criteria(lowering: &mut Lowering<'_>) -> EvalCriteria {
    let usual = TrajectoryCriterion { threshold: 1.0, order: TrajectoryMatch::Exact, ignores_args: false, place: None };
    let usual = EvalCriteria { trajectory: Some(usual), response: Some(0.8), judged: Vec::new() };
    let Some(from) = lowering.sources.get(lowering.root) else { return usual };
    let (Some(folder), name) = (from.folder.clone(), display_name(&from.name, CONFIG)) else { return usual };
    let found = match lowering.files.read(&folder, CONFIG, Some(&folder)) {
        Ok(found) => found,
        Err(FileError::NotFound | FileError::NotPermitted) => return usual,
        Err(error) => {
            let start = Span::new(lowering.root, 0, 0);
            let help = "fix the file, or remove it to take the usual criteria";
            lowering.sink.error(Slug::MissingFile, start, error.describe_for(CONFIG), help);
            return usual;
        }
    };
    let file = lowering.sources.add_file(SourceFile::new(name, Some(&found.folder), found.text.clone()));
    match yaml::parse_document(&found.text, file, YamlSchema::Core) {
        Ok(document) => criteria_of(&document, lowering),
        Err(error) => {
            lowering.sink.diagnostics.0.push(*error);
            usual
        }
    }
}

fn criteria_of(document: &YamlNode, lowering: &mut Lowering<'_>) -> EvalCriteria {
    let mut all = EvalCriteria { trajectory: None, response: None, judged: Vec::new() };
    let Some(criteria) = document.get("criteria") else {
        let help = "write `{\"criteria\": {\"tool_trajectory_avg_score\": 1.0}}`";
        lowering.sink.error(Slug::TypeMismatch, document.span.at_start(), "the config has no `criteria`", help);
        return all;
    };
    if !criteria.is_map() {
        lowering.sink.wrong_shape(criteria, "`criteria`", "a mapping from metrics to thresholds");
    }
    for (key, value) in criteria.entries() {
        let name = key.key_text();
        match name.as_str() {
            "tool_trajectory_avg_score" => all.trajectory = trajectory_criterion(value, lowering),
            "response_match_score" => all.response = read_threshold(value, lowering),
            known if INFORMATIONAL.contains(&known) => {}
            _ => all.judged.push((name, key.span)),
        }
    }
    all
}

/// Reads a threshold: a number, or a mapping with the key `threshold`.
fn read_threshold(node: &YamlNode, lowering: &mut Lowering<'_>) -> Option<f64> {
    let number = if node.is_map() { node.get("threshold") } else { Some(node) };
    let value = number.and_then(YamlNode::as_number).and_then(|number| number.parse::<f64>().ok());
    if value.is_none() {
        lowering.sink.wrong_shape(number.unwrap_or(node), "the threshold of a criterion", "a number from 0 to 1");
    }
    value
}

fn trajectory_criterion(node: &YamlNode, lowering: &mut Lowering<'_>) -> Option<TrajectoryCriterion> {
    let threshold = read_threshold(node, lowering)?;
    let order = match field(node, "match_type") {
        None => TrajectoryMatch::Exact,
        Some(order) => {
            let name = order.key_text().trim().to_uppercase().replace(['-', ' '], "_");
            match name.as_str() {
                "EXACT" | "0" => TrajectoryMatch::Exact,
                "IN_ORDER" | "1" => TrajectoryMatch::InOrder,
                "ANY_ORDER" | "2" => TrajectoryMatch::AnyOrder,
                _ => {
                    lowering.sink.unknown_word(order, "match type", &["EXACT", "IN_ORDER", "ANY_ORDER"]);
                    return None;
                }
            }
        }
    };
    let ignored = field(node, "ignore_args");
    if let Some(ignored) = ignored.filter(|node| node.as_boolean().is_none()) {
        lowering.sink.wrong_shape(ignored, "`ignore_args`", "`true` or `false`");
    }
    let ignores_args = ignored.and_then(YamlNode::as_boolean) == Some(true);
    Some(TrajectoryCriterion { threshold, order, ignores_args, place: Some(node.span) })
}
