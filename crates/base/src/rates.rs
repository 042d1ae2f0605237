//! Rates of few runs: how sure they are, and whether two of them differ.

use serde::Serialize;

/// How often something passed, of how many results that count. Reports write it as a list of the two numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(into = "(u64, u64)")]
pub struct PassCount {
    /// The results that passed.
    pub passed: u64,
    /// All results that count.
    pub total: u64,
}

impl From<PassCount> for (u64, u64) {
    fn from(count: PassCount) -> Self {
        (count.passed, count.total)
    }
}

/// The interval of Wilson for a rate, two-sided, with a confidence between 0 and 1; `None` of nothing (Wilson, "Probable inference, the law of
/// succession, and statistical inference", 1927).
#[must_use]
pub fn wilson_interval(passed: u64, total: u64, confidence: f64) -> Option<(f64, f64)> {
    if total == 0 {
        return None;
    }
    let z = normal_quantile(0.5 + confidence / 2.0);
    let (passed, total) = (to_float(passed), to_float(total));
    let rate = passed / total;
    let square = z * z / total;
    let middle = (rate + square / 2.0) / (1.0 + square);
    let half = z / (1.0 + square) * (rate * (1.0 - rate) / total + square / (4.0 * total)).sqrt();
    // What was never seen to fail may be perfect, what was never seen to pass hopeless: rounding takes neither away.
    let low = if passed > 0.0 { (middle - half).max(0.0) } else { 0.0 };
    let high = if passed < total { (middle + half).min(1.0) } else { 1.0 };
    Some((low, high))
}

/// The quantile of the standard normal distribution for at least one half, by bisection.
fn normal_quantile(part: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if normal_cdf(middle) < part {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The standard normal distribution for a non-negative point (Marsaglia, 2004).
fn normal_cdf(point: f64) -> f64 {
    if point > 8.0 {
        return 1.0;
    }
    let (mut sum, mut term, mut odd) = (point, point, 1.0);
    while term > 1e-17 {
        odd += 2.0;
        term *= point * point / odd;
        sum += term;
    }
    0.5 + sum * (-0.5 * point * point - 0.918_938_533_204_672_7).exp()
}

/// The p-value of the difference between two rates: Fisher's exact test, two-sided.
#[must_use]
pub fn fisher_exact(first: PassCount, second: PassCount) -> f64 {
    let passed = first.passed + second.passed;
    let (least, most) = (passed.saturating_sub(second.total), passed.min(first.total));
    // Logarithms of the likelihood of each table, from one to the next.
    let mut likely = Vec::new();
    let mut log = 0.0;
    for in_first in least..=most {
        if in_first > least {
            let above = to_float(passed - in_first + 1) * to_float(first.total - in_first + 1);
            let below = to_float(in_first) * to_float(second.total + in_first - passed);
            log += (above / below).ln();
        }
        likely.push((in_first, log));
    }
    let highest = likely.iter().map(|(_, log)| *log).fold(f64::NEG_INFINITY, f64::max);
    let seen = likely.iter().find(|(in_first, _)| *in_first == first.passed).map_or(highest, |(_, log)| *log);
    // Equally likely tables differ in their last digits.
    let (mut extreme, mut all) = (0.0, 0.0);
    for (_, log) in likely {
        let weight = (log - highest).exp();
        all += weight;
        if log <= seen + 1e-7 {
            extreme += weight;
        }
    }
    if all > 0.0 { (extreme / all).min(1.0) } else { 1.0 }
}

/// Corrects such numbers for how many there are, as Holm does it: so many comparisons do not find something by chance.
pub fn holm_correct(values: &mut [&mut f64]) {
    values.sort_by(|a, b| a.total_cmp(b));
    let mut left = to_float(values.len() as u64);
    let mut highest: f64 = 0.0;
    for value in values {
        highest = highest.max((**value * left).min(1.0));
        **value = highest;
        left -= 1.0;
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of runs are far below what a double holds exactly")]
fn to_float(count: u64) -> f64 {
    count as f64
}

/// A part of a whole as a percentage, as it was written: with at most ten decimals.
#[must_use]
pub fn percent_text(part: f64) -> String {
    format!("{}%", round_to(part * 100.0, 10))
}

/// A part of a whole as a percentage, with two decimals, and more where these would make it equal to nothing, to all, or to another part
/// that it is held against.
#[must_use]
pub fn percent_beside(part: f64, other: f64) -> String {
    let same = |places: i32| {
        let percent = round_to(part * 100.0, places);
        [0.0, 1.0, other].iter().any(|whole| part != *whole && percent == round_to(whole * 100.0, 10))
    };
    let places = (2..10).find(|places| !same(*places)).unwrap_or(10);
    format!("{}%", round_to(part * 100.0, places))
}

/// A number with so many decimals.
#[must_use]
pub fn round_to(number: f64, places: i32) -> f64 {
    let scale = 10_f64.powi(places);
    (number * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 5e-7
    }

    /// The values are those of `scipy.stats`, and of `statsmodels` for the interval.
    #[test]
    fn intervals_and_tests_are_those_of_other_programs() {
        let interval = |passed, total| wilson_interval(passed, total, 0.95).unwrap();
        for (passed, total, low, high) in
            [(19, 20, 0.763_868_8, 0.991_118_6), (0, 10, 0.0, 0.277_532_8), (10, 10, 0.722_467_2, 1.0)]
        {
            let found = interval(passed, total);
            assert!(near(found.0, low) && near(found.1, high), "{passed} of {total}: {found:?}");
        }
        assert_eq!(wilson_interval(0, 0, 0.95), None);
        // Tables of the normal distribution.
        for (part, point) in [(0.975, 1.959_964), (0.95, 1.644_854), (0.9995, 3.290_527)] {
            assert!((normal_quantile(part) - point).abs() < 1e-6, "{part}");
        }
        let count = |(passed, total)| PassCount { passed, total };
        for (a, b, value) in [
            ((8, 10), (1, 6), 0.034_965_03),
            ((3, 3), (0, 3), 0.1),
            ((4, 4), (0, 4), 0.028_571_43),
            ((5, 10), (5, 10), 1.0),
            ((0, 0), (0, 0), 1.0),
        ] {
            assert!(near(fisher_exact(count(a), count(b)), value), "{a:?} {b:?}: {}", fisher_exact(count(a), count(b)));
            assert!(near(fisher_exact(count(b), count(a)), value), "{b:?} {a:?}: {}", fisher_exact(count(b), count(a)));
        }
    }

    #[test]
    fn many_comparisons_are_corrected() {
        let (mut a, mut b, mut c) = (0.04, 0.01, 0.03);
        holm_correct(&mut [&mut a, &mut b, &mut c]);
        assert!(near(b, 0.03) && near(c, 0.06) && near(a, 0.06), "{a} {b} {c}");
    }
}
