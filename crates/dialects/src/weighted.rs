//! Weighted means of scores, as expressions of the rule language.

/// A score and its weight.
#[derive(Debug, Clone)]
pub(crate) struct WeightedScore {
    pub(crate) weight: f64,
    /// Expression of the score.
    pub(crate) score: String,
}

impl WeightedScore {
    pub(crate) fn new(weight: f64, score: impl Into<String>) -> Self {
        Self { weight, score: score.into() }
    }
}

/// Returns the weighted mean of scores; 0 if the total weight is 0.
pub(crate) fn mean_text(parts: &[WeightedScore]) -> String {
    let total: f64 = parts.iter().map(|part| part.weight).sum();
    if total <= 0.0 {
        return "0".to_owned();
    }
    let sum = sum_text(parts);
    match (parts.iter().filter(|part| part.weight > 0.0).count() == 1, total == 1.0) {
        (true, true) => sum,
        _ => format!("(({sum}) / {total})"),
    }
}

fn sum_text(parts: &[WeightedScore]) -> String {
    let part = |part: &WeightedScore| match part.weight == 1.0 {
        true => part.score.clone(),
        false => format!("{} * {}", part.weight, part.score),
    };
    parts.iter().filter(|part| part.weight > 0.0).map(part).collect::<Vec<_>>().join(" + ")
}

/// Returns the condition that the weighted mean reaches the threshold.
pub(crate) fn gate_text(parts: &[WeightedScore], threshold: f64) -> String {
    format!("{} >= {threshold}", mean_text(parts))
}

/// Definition for means with a part that is judged elsewhere. The result is decided only if that part cannot change it: if the rest suffices without
/// it, or falls short even with all of it.
pub(crate) const SUFFICES: &str = "def suffices(earned, elsewhere, total, least) = \
(earned + elsewhere) / total >= least and (earned / total >= least or undecided(\"the rest is judged elsewhere\"))";

/// Returns the condition for a threshold if a part of the weight is judged elsewhere: a call of [`SUFFICES`].
pub(crate) fn bounded_gate(known: &[WeightedScore], elsewhere: f64, threshold: f64) -> String {
    if elsewhere <= 0.0 {
        return gate_text(known, threshold);
    }
    let total: f64 = known.iter().map(|part| part.weight).sum::<f64>() + elsewhere;
    let sum = match sum_text(known) {
        sum if sum.is_empty() => "0".to_owned(),
        sum => sum,
    };
    format!("suffices({sum}, {elsewhere}, {total}, {threshold})")
}
