//! Numbers in prose, and their values.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use averment_base::value::Number;
use std::borrow::Cow;

/// The magnitude of a number: digits without outer zeros, times a power of ten. The sign is ignored.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct UnsignedDecimal {
    digits: String,
    exponent: i64,
}

impl UnsignedDecimal {
    /// Creates `whole.fraction * 10^exponent`.
    fn new(whole: &str, fraction: &str, exponent: i64) -> Self {
        let digits = format!("{whole}{fraction}");
        let significant = digits.trim_start_matches('0').trim_end_matches('0');
        if significant.is_empty() {
            return Self { digits: String::new(), exponent: 0 };
        }
        let zeros = digits.len().saturating_sub(digits.trim_end_matches('0').len());
        let shift = i64::try_from(zeros).unwrap_or(0).saturating_sub(i64::try_from(fraction.len()).unwrap_or(0));
        Self { digits: significant.to_owned(), exponent: exponent.saturating_add(shift) }
    }

    fn scale_by(&self, power: i64) -> Self {
        let exponent = if self.digits.is_empty() { 0 } else { self.exponent.saturating_add(power) };
        Self { digits: self.digits.clone(), exponent }
    }

    /// Writes the number in JSON notation, with all zeros unless there are too many to read.
    pub(super) fn spell_number(&self, is_negative: bool) -> String {
        const READABLE: i64 = 30;
        let sign = if is_negative { "-" } else { "" };
        let Self { digits, exponent } = self;
        if digits.is_empty() {
            return "0".to_owned();
        }
        let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
        let point = i64::try_from(digits.len()).unwrap_or(i64::MAX).saturating_add(*exponent);
        if exponent.saturating_abs() > READABLE || point.saturating_abs() > READABLE {
            return format!("{sign}{digits}e{exponent}");
        }
        match usize::try_from(point).ok().filter(|_| *exponent < 0).and_then(|point| digits.split_at_checked(point)) {
            Some(("", fraction)) => format!("{sign}0.{fraction}"),
            Some((whole, fraction)) => format!("{sign}{whole}.{fraction}"),
            None if point < 0 => format!("{sign}0.{}{digits}", zeros(point.saturating_neg())),
            None => format!("{sign}{digits}{}", zeros(*exponent)),
        }
    }

    pub(super) fn from_number(number: Number<'_>) -> Self {
        parse_plain(number.to_string().trim_start_matches('-')).unwrap_or(Self { digits: String::new(), exponent: 0 })
    }
}

/// Parses a number without thousands separators: `12`, `1.5`, `2e-3`.
fn parse_plain(text: &str) -> Option<UnsignedDecimal> {
    let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let power = power.strip_prefix('+').unwrap_or(power);
    let spelled = digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty());
    (spelled && !mantissa.ends_with('.')).then(|| Some(UnsignedDecimal::new(whole, fraction, power.parse().ok()?)))?
}

/// Words after a number that keep its value.
const UNITS: [&str; 48] = [
    "s", "sec", "secs", "ms", "us", "ns", "min", "mins", "m", "h", "hr", "hrs", "d", "days", "w", "y", "yr", "yrs",
    "g", "kg", "mg", "lb", "lbs", "oz", "mm", "cm", "km", "mi", "ft", "in", "l", "ml", "x", "px", "pt", "am", "pm",
    "st", "nd", "rd", "th", "kb", "mb", "gb", "tb", "kw", "kwh", "pp",
];

/// Words that scale by a power of ten.
const MAGNITUDES: [(&str, i64); 8] =
    [("k", 3), ("K", 3), ("M", 6), ("mn", 6), ("mio", 6), ("B", 9), ("bn", 9), ("T", 12)];

/// Currency codes written without a blank beside a number.
const CURRENCIES: [&str; 12] = ["USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "CAD", "AUD", "US", "usd", "eur"];

/// Returns the possible values of a spelled number; empty if it is none. `12%` is 12 and 0.12, `2k` is 2 and 2000.
pub(super) fn parse_readings(word: &str) -> Vec<UnsignedDecimal> {
    let plain = plain_digits(word);
    let mut text =
        plain.trim_start_matches(['-', '+', '−']).trim_start_matches(is_currency).trim_end_matches(is_currency);
    for code in CURRENCIES {
        text = text.strip_prefix(code).or_else(|| text.strip_suffix(code)).unwrap_or(text);
    }
    let text = text.trim_start_matches(['-', '+', '−']).trim_start_matches(is_currency);
    if let Some(share) = text.strip_suffix('%') {
        return parse_separated(share).map(|value| vec![value.scale_by(-2), value]).unwrap_or_default();
    }
    if let Some(value) = parse_separated(text) {
        return vec![value];
    }
    let unit_start = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    let (head, unit) = text.split_at_checked(unit_start).unwrap_or((text, ""));
    let Some(value) = parse_separated(head) else { return Vec::new() };
    if let Some((_, power)) = MAGNITUDES.iter().find(|(name, _)| *name == unit) {
        return vec![value.scale_by(*power), value];
    }
    if UNITS.contains(&unit.to_ascii_lowercase().as_str()) { vec![value] } else { Vec::new() }
}

pub(super) fn is_currency(letter: char) -> bool {
    matches!(letter, '$' | '€' | '£' | '¥' | '₹')
}

/// Fraction characters that are whole thousandths.
const FRACTIONS: [(char, &str); 11] = [
    ('½', ".5"),
    ('¼', ".25"),
    ('¾', ".75"),
    ('⅕', ".2"),
    ('⅖', ".4"),
    ('⅗', ".6"),
    ('⅘', ".8"),
    ('⅛', ".125"),
    ('⅜', ".375"),
    ('⅝', ".625"),
    ('⅞', ".875"),
];

/// Replaces full-width characters by ASCII ones, and `½` by `.5`.
pub(super) fn plain_digits(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return Cow::Borrowed(word);
    }
    let mut plain = String::with_capacity(word.len());
    for letter in word.chars() {
        match FRACTIONS.iter().find(|(sign, _)| *sign == letter) {
            Some((_, written)) => plain.push_str(written),
            None => plain.push(match u32::from(letter) {
                wide @ 0xff01..=0xff5e => char::from_u32(wide.saturating_sub(0xfee0)).unwrap_or(letter),
                _ => letter,
            }),
        }
    }
    Cow::Owned(plain)
}

/// Parses a number with separators. Of two separators, the last is decimal. A comma before exactly three digits separates thousands; a single dot
/// never does.
fn parse_separated(text: &str) -> Option<UnsignedDecimal> {
    if !text.bytes().next()?.is_ascii_digit() && !text.starts_with('.') {
        return None;
    }
    if !text.contains([',', '\'', '_']) && text.matches('.').count() <= 1 {
        return parse_plain(text);
    }
    let last = text.rfind(['.', ',']);
    let (commas, dots) = (text.matches(',').count(), text.matches('.').count());
    let point = match (commas, dots) {
        (0, 0) => None,
        (0, 1) => last,
        (1, 0) => last.filter(|comma| {
            !ungroup_digits(text, ',').is_some_and(|_| text.len().saturating_sub(*comma) == 4 && !text.starts_with('0'))
        }),
        (0, _) | (_, 0) => None,
        // The decimal separator occurs once, and last.
        (_, _) if text.matches(text.get(last?..last?.checked_add(1)?)?).count() == 1 => last,
        (_, _) => return None,
    };
    let (whole, fraction) = match point {
        Some(point) => (text.get(..point)?, text.get(point.checked_add(1)?..)?),
        None => (text, ""),
    };
    let separator = whole.chars().find(|c| !c.is_ascii_digit());
    let whole = match separator {
        Some(separator) => ungroup_digits(whole, separator)?,
        None => whole.to_owned(),
    };
    let fits = fraction.bytes().all(|byte| byte.is_ascii_digit()) && (point.is_none() || !fraction.is_empty());
    fits.then(|| UnsignedDecimal::new(&whole, fraction, 0))
}

/// Returns the digits of `1,234,567`: one to three, then groups of three.
fn ungroup_digits(text: &str, separator: char) -> Option<String> {
    let mut groups = text.split(separator);
    let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().filter(|group| (1..=3).contains(&group.len()) && digits(group))?;
    let mut whole = first.to_owned();
    for group in groups {
        if group.len() != 3 || !digits(group) {
            return None;
        }
        whole.push_str(group);
    }
    Some(whole)
}
