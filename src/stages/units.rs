//! Numbers with units outside of rules, written as in them.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

/// Durations, in milliseconds.
pub const DURATIONS: &[(&str, u32)] = &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
/// Sizes, in bytes.
pub const SIZES: &[(&str, u32)] = &[
    ("B", 1),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// The text of a JSON number; underscores between digits are left out.
pub fn number_text(text: &str) -> Option<String> {
    let plain = text.replace('_', "");
    serde_json::from_str::<serde_json::Number>(&plain).ok().map(|_| plain)
}

/// A sum of numbers with units, `1h30m`, as the text of a JSON number in the base unit; a bare number is in the base unit.
pub fn sum_units(text: &str, units: &[(&str, u32)]) -> Option<String> {
    if let Some(number) = number_text(text) {
        return (!number.starts_with('-')).then_some(number);
    }
    let (mut rest, mut sum) = (text, 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).filter(|&at| at > 0)?;
        let (amount, behind) = rest.split_at_checked(digits)?;
        let length = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at_checked(length)?;
        let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
        sum += number_text(amount)?.parse::<f64>().ok()? * f64::from(*factor);
        rest = behind;
    }
    let sum = serde_json::Number::from_f64(sum).filter(|_| !text.is_empty())?.to_string();
    Some(sum.strip_suffix(".0").unwrap_or(&sum).to_owned())
}
