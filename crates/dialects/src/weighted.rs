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
    let counted: Vec<&WeightedScore> = parts.iter().filter(|part| part.weight > 0.0).collect();
    let part = |part: &&WeightedScore| match part.weight == 1.0 {
        true => part.score.clone(),
        false => format!("{} * {}", part.weight, part.score),
    };
    let sum = counted.iter().map(part).collect::<Vec<_>>().join(" + ");
    match (counted.len() == 1, total == 1.0) {
        (true, true) => sum,
        _ => format!("(({sum}) / {total})"),
    }
}

/// What has to hold for the weighted mean to suffice.
pub(crate) fn gate_text(parts: &[WeightedScore], threshold: f64) -> String {
    format!("{} >= {threshold}", mean_text(parts))
}

/// The same where a part of the weight is decided elsewhere: the rest may suffice without it, or fall short with all of it.
pub(crate) fn bounded_gate(known: &[WeightedScore], elsewhere: f64, why: &str, threshold: f64) -> String {
    if elsewhere <= 0.0 {
        return gate_text(known, threshold);
    }
    let with = |score: &str| {
        let parts: Vec<WeightedScore> = known.iter().cloned().chain([WeightedScore::new(elsewhere, score)]).collect();
        gate_text(&parts, threshold)
    };
    let why = crate::writer::quote_text(why);
    format!("{} and ({} or undecided({why}))", with("1"), with("0"))
}
