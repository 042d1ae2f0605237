//! Assertion types about the cost, time and size of a run.

use super::kinds::{GraderInput, GraderScore, LowerGrader, number_from, truth};
use crate::Lowering;
use averment_base::diagnostic::Slug;

pub(super) const METRIC_KINDS: &[(&str, LowerGrader)] = &[
    ("latency", |one, lowering| bound(one, "threshold", lowering).map(|most| truth(format!("duration <= {most}ms")))),
    ("cost", |one, lowering| bound(one, "budget", lowering).map(|most| truth(format!("cost <= ${most}")))),
    ("token-usage", token_usage),
    ("execution-metrics", execution_metrics),
];

fn bound(one: &GraderInput<'_>, key: &str, lowering: &mut Lowering<'_>) -> Option<f64> {
    match number_from(one.node, key, 0.0, f64::MAX, lowering)? {
        Some(most) => Some(most),
        None => {
            let message = format!("`{}` has no `{key}`", one.kind);
            lowering.sink.error(Slug::TypeMismatch, one.node.span, message, format!("write `{key}: …`"));
            None
        }
    }
}

/// Returns a test for each bound that is set; `keys` pairs each key with the expression that it bounds.
fn bounded_tests(one: &GraderInput<'_>, keys: &[(&str, &str)], lowering: &mut Lowering<'_>) -> Option<Vec<String>> {
    let mut tests = Vec::new();
    for (key, value) in keys {
        let Some(most) = number_from(one.node, key, 0.0, f64::MAX, lowering)? else { continue };
        tests.push(match *key {
            "max_cost_usd" => format!("{value} <= ${most}"),
            "max_duration_ms" => format!("{value} <= {most}ms"),
            _ => format!("{value} <= {most}"),
        });
    }
    if tests.is_empty() {
        let names: Vec<&str> = keys.iter().map(|(key, _)| *key).collect();
        let message = format!("`{}` has no bound", one.kind);
        let help = format!("write one of {}", crate::shape::listed_names(&names));
        lowering.sink.error(Slug::TypeMismatch, one.node.span, message, help);
        return None;
    }
    Some(tests)
}

fn token_usage(one: &GraderInput<'_>, lowering: &mut Lowering<'_>) -> Option<GraderScore> {
    let keys = [
        ("max_input", "usage.input_tokens"),
        ("max_output", "usage.output_tokens"),
        ("max_total", "usage.input_tokens + usage.output_tokens + coalesce(usage.cache_read_tokens, 0)"),
    ];
    Some(truth(bounded_tests(one, &keys, lowering)?.join(" and ")))
}

/// Writes the share of bounds that hold.
fn execution_metrics(one: &GraderInput<'_>, lowering: &mut Lowering<'_>) -> Option<GraderScore> {
    for key in ["max_llm_calls", "target_exploration_ratio"] {
        if one.node.get(key).is_some() {
            return Some(GraderScore::Elsewhere(format!("`{key}` asks for what a run does not record")));
        }
    }
    let keys = [
        ("max_tool_calls", "length(calls)"),
        ("max_tokens", "usage.input_tokens + usage.output_tokens"),
        ("max_cost_usd", "cost"),
        ("max_duration_ms", "duration"),
    ];
    let tests = bounded_tests(one, &keys, lowering)?;
    if let [only] = tests.as_slice() {
        return Some(truth(only.clone()));
    }
    let parts: Vec<String> = tests.iter().map(|test| format!("(if {test} then 1 else 0)")).collect();
    Some(GraderScore::Share(format!("({}) / {}", parts.join(" + "), parts.len())))
}
