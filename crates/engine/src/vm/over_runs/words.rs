//! Shares, numbers and counts as they are told.

use super::rate::Runs;
use crate::ir::Share;
use averment_base::truth::Verdict;
use averment_syntax::ast::Unit;

/// Runs that are left out.
pub(super) fn left_out(count: u64) -> String {
    format!("{} left out: what its `when` looks at is not recorded", counted(count, "run"))
}

/// What is asked for.
pub(super) fn wanted(share: Share) -> String {
    match share {
        Share::Least(share) | Share::Power { share, .. } => format!("at least {} is", percent(share)),
        Share::Most(share) => format!("at most {} is", percent(share)),
        Share::LeastOf { passes, of } => format!("at least {passes} of {of} are"),
    }
}

/// Why it is not decided.
pub(super) fn few(verdict: Verdict, runs: Runs, confidence: Option<f64>) -> &'static str {
    match verdict {
        Verdict::Undecided if runs.open == 0 && confidence.is_some() => ": too few runs to say so",
        Verdict::Undecided if runs.open == 0 => ": there are fewer runs than that",
        _ => "",
    }
}

/// So many of something.
pub(super) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A part of a whole as a percentage, as it was written: with at most ten decimals.
pub(super) fn percent(part: f64) -> String {
    format!("{}%", rounded(part * 100.0, 10))
}

/// A part of a whole as a percentage, with two decimals, and more where these would make it equal to nothing, to all, or to another part
/// that it is held against.
pub(super) fn percent_beside(part: f64, other: f64) -> String {
    let same = |places: i32| {
        let percent = rounded(part * 100.0, places);
        [0.0, 1.0, other].iter().any(|whole| part != *whole && percent == rounded(whole * 100.0, 10))
    };
    let places = (2..10).find(|places| !same(*places)).unwrap_or(10);
    format!("{}%", rounded(part * 100.0, places))
}

/// A number with so many decimals.
fn rounded(number: f64, places: i32) -> f64 {
    let scale = 10_f64.powi(places);
    (number * scale).round() / scale
}

/// A number with its unit.
pub(super) fn measured(number: f64, unit: Unit) -> String {
    match unit {
        Unit::Duration if number.abs() >= 1_000.0 => format!("{}s", shown(number / 1_000.0)),
        Unit::Duration => format!("{}ms", shown(number)),
        Unit::Money => format!("${}", shown(number)),
        Unit::Size => format!("{}B", shown(number)),
        Unit::None => shown(number),
    }
}

/// A number with six significant digits, or all of those in front of its point.
fn shown(number: f64) -> String {
    if number == 0.0 || number.fract() == 0.0 && number.abs() < 1e15 {
        return format!("{number}");
    }
    #[expect(clippy::cast_possible_truncation, reason = "the exponent of a double")]
    let digits = 5 - number.abs().log10().floor() as i32;
    let scale = 10_f64.powi(digits.clamp(0, 300));
    let rounded = (number * scale).round() / scale;
    format!("{}", if rounded.is_finite() { rounded } else { number })
}
