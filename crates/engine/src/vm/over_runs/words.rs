//! Shares, numbers and counts as they are told.

use super::rate::RateCounts;
use averment_base::rates::{percent_text, round_to};
use averment_base::truth::Verdict;
use averment_base::words::count_noun;
use averment_checker::ir::RateBound;
use averment_syntax::ast::NumberUnit;

pub(super) fn undecided_count(count: u64) -> String {
    format!("{} left out: what its `when` looks at is not recorded", count_noun(count, "run"))
}

pub(super) fn share_words(share: RateBound) -> String {
    match share {
        RateBound::Least(share) | RateBound::Power { share, .. } => format!("at least {} is", percent_text(share)),
        RateBound::Most(share) => format!("at most {} is", percent_text(share)),
        RateBound::LeastOf { passes, of } => format!("at least {passes} of {of} are"),
    }
}

pub(super) fn undecided_words(verdict: Verdict, runs: RateCounts, confidence: Option<f64>) -> &'static str {
    match verdict {
        Verdict::Undecided if runs.open == 0 && confidence.is_some() => ": too few runs to say so",
        Verdict::Undecided if runs.open == 0 => ": there are fewer runs than that",
        _ => "",
    }
}

pub(super) fn measured_words(number: f64, unit: NumberUnit) -> String {
    with_unit(number, unit, six_digits)
}

pub(super) fn full_number(number: f64, unit: NumberUnit) -> String {
    with_unit(number, unit, |number| number)
}

pub(super) fn rounded_as_shown(number: f64, unit: NumberUnit) -> f64 {
    match unit {
        NumberUnit::Duration if number.abs() >= 1_000.0 => six_digits(number / 1_000.0) * 1_000.0,
        _ => six_digits(number),
    }
}

fn with_unit(number: f64, unit: NumberUnit, digits: fn(f64) -> f64) -> String {
    match unit {
        NumberUnit::Duration if number.abs() >= 1_000.0 => format!("{}s", digits(number / 1_000.0)),
        NumberUnit::Duration => format!("{}ms", digits(number)),
        NumberUnit::Money => format!("${}", digits(number)),
        NumberUnit::Size => format!("{}B", digits(number)),
        NumberUnit::None => format!("{}", digits(number)),
    }
}

/// Rounds to six significant digits, but keeps all digits before the decimal point.
fn six_digits(number: f64) -> f64 {
    if number == 0.0 || number.fract() == 0.0 {
        return number;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the exponent of a double")]
    let digits = 5 - number.abs().log10().floor() as i32;
    let rounded = round_to(number, digits.clamp(0, 300));
    if rounded.is_finite() { rounded } else { number }
}
