//! Shares, numbers and counts as they are told.

use super::rate::Runs;
use crate::ir::Share;
use averment_base::rates::{percent, rounded};
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

/// A number with its unit.
pub(super) fn measured(number: f64, unit: Unit) -> String {
    with_unit(number, unit, six_digits)
}

/// The same with all of its digits.
pub(super) fn in_full(number: f64, unit: Unit) -> String {
    with_unit(number, unit, |number| number)
}

/// The number that [`measured`] tells.
pub(super) fn rounded_as_shown(number: f64, unit: Unit) -> f64 {
    match unit {
        Unit::Duration if number.abs() >= 1_000.0 => six_digits(number / 1_000.0) * 1_000.0,
        _ => six_digits(number),
    }
}

fn with_unit(number: f64, unit: Unit, digits: fn(f64) -> f64) -> String {
    match unit {
        Unit::Duration if number.abs() >= 1_000.0 => format!("{}s", digits(number / 1_000.0)),
        Unit::Duration => format!("{}ms", digits(number)),
        Unit::Money => format!("${}", digits(number)),
        Unit::Size => format!("{}B", digits(number)),
        Unit::None => format!("{}", digits(number)),
    }
}

/// A number rounded to six significant digits, or to all of those in front of its point.
fn six_digits(number: f64) -> f64 {
    if number == 0.0 || number.fract() == 0.0 {
        return number;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the exponent of a double")]
    let digits = 5 - number.abs().log10().floor() as i32;
    let rounded = rounded(number, digits.clamp(0, 300));
    if rounded.is_finite() { rounded } else { number }
}
