//! Numbers with units outside of rules, in the syntax of rules.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

/// Units of durations, in milliseconds.
pub const DURATIONS: &[(&str, u32)] = &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
/// Units of sizes, in bytes.
pub const SIZES: &[(&str, u32)] = &[
    ("B", 1),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// Returns the text of a JSON number, without underscores.
pub fn number_text(text: &str) -> Option<String> {
    let plain = text.replace('_', "");
    serde_json::from_str::<serde_json::Number>(&plain).ok().map(|_| plain)
}

/// Adds numbers with units, such as `1h30m`; returns a JSON number in the base unit. A number without a unit is in the base unit.
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
