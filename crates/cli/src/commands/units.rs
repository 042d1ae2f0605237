//! Numbers with units on the command line, written as in rules.

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
pub fn number(text: &str) -> Option<String> {
    let plain = text.replace('_', "");
    serde_json::from_str::<serde_json::Number>(&plain).ok().map(|_| plain)
}

/// A sum of numbers with units, `1h30m`, as the text of a JSON number in the base unit; a bare number is in the base unit.
pub fn sum(text: &str, units: &[(&str, u32)]) -> Option<String> {
    if let Some(number) = number(text) {
        return (!number.starts_with('-')).then_some(number);
    }
    let (mut rest, mut sum) = (text, 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).filter(|&at| at > 0)?;
        let (amount, behind) = rest.split_at_checked(digits)?;
        let length = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at_checked(length)?;
        let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
        sum += number(amount)?.parse::<f64>().ok()? * f64::from(*factor);
        rest = behind;
    }
    let sum = serde_json::Number::from_f64(sum).filter(|_| !text.is_empty())?.to_string();
    Some(sum.strip_suffix(".0").unwrap_or(&sum).to_owned())
}

/// A size in bytes, `64MiB`.
pub fn bytes(text: &str) -> Option<usize> {
    sum(text.trim(), SIZES)?.parse().ok()
}

/// A time of at least a millisecond and at most a day, `10s`.
pub fn time(text: &str) -> Option<std::time::Duration> {
    let milliseconds = sum(text.trim(), DURATIONS)?.parse().ok()?;
    (1..=86_400_000).contains(&milliseconds).then(|| std::time::Duration::from_millis(milliseconds))
}

/// A number of threads.
pub fn threads(text: &str) -> Result<std::num::NonZeroUsize, String> {
    text.parse().map_err(|_| "write how many, from 1 on".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_whole_milliseconds_of_a_day() {
        assert_eq!(time("1m30s"), Some(std::time::Duration::from_secs(90)));
        assert_eq!(time("250"), Some(std::time::Duration::from_millis(250)));
        for wrong in ["", "s", "-1s", "0s", "0.1ms", "2d", "soon"] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sizes_are_whole_numbers_of_bytes() {
        assert_eq!(bytes("64MiB"), Some(64 << 20));
        assert_eq!(bytes("1.5KB"), Some(1_500));
        assert_eq!(bytes("100"), Some(100));
        for wrong in ["", "MiB", "-1", "1XB", "1.5", "1.0001KB", "99999999999999999999999GB"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }
}
