//! Weighted means of scores, as expressions of the language.

/// A score with its weight.
#[derive(Debug, Clone)]
pub(crate) struct WeightedScore {
    pub(crate) weight: f64,
    /// The expression of the score.
    pub(crate) score: String,
}

impl WeightedScore {
    /// A score with its weight.
    pub(crate) fn new(weight: f64, score: impl Into<String>) -> Self {
        Self { weight, score: score.into() }
    }
}

/// The weighted mean of scores; 0 where nothing has a weight.
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

/// What has to hold for the weighted mean to suffice.
pub(crate) fn gate_text(parts: &[WeightedScore], threshold: f64) -> String {
    format!("{} >= {threshold}", mean_text(parts))
}

/// What is decided elsewhere counts both ways: the rest may suffice without it, or fall short with all of it.
pub(crate) const SUFFICES: &str = "def suffices(earned, elsewhere, total, least) = \
(earned + elsewhere) / total >= least and (earned / total >= least or undecided(\"the rest is judged elsewhere\"))";

/// What has to hold where a part of the weight is decided elsewhere: a call of [`SUFFICES`].
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
