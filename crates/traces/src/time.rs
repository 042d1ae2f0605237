//! Points in time of a trace, as milliseconds since 1970.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use averment_base::value::{Number, Value};

/// Milliseconds of RFC 3339 text (without an offset it counts as UTC) or of a number, which are milliseconds already.
/// `None` for anything else.
#[must_use]
pub fn to_milliseconds(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Number(number) => Some(number.to_f64()).filter(|number| number.is_finite()),
        Value::Text(text) => of_text(text.as_str()),
        _ => None,
    }
}

fn of_text(text: &str) -> Option<f64> {
    // Longer than any point in time.
    if text.len() > 64 {
        return None;
    }
    let instant = text.parse::<jiff::Timestamp>().ok().or_else(|| {
        let civil = text.parse::<jiff::civil::DateTime>().ok().filter(|_| !text.contains('['))?;
        Some(civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    })?;
    #[expect(clippy::cast_precision_loss, reason = "exact to the microsecond for every year that can be written")]
    let milliseconds = instant.as_microsecond() as f64 / 1000.0;
    Some(milliseconds)
}

/// True if a number is a plausible date in seconds, and in January 1970 in milliseconds.
#[must_use]
pub fn is_in_seconds(value: &Value<'_>) -> bool {
    const SECONDS: std::ops::Range<f64> = 1e9..1e11;
    matches!(value, Value::Number(number) if SECONDS.contains(&number.to_f64()))
}

/// By more than a tenth: clocks and rounding differ a little.
#[must_use]
pub(crate) fn is_too_short(duration: f64, first: f64, last: f64) -> bool {
    duration < (last - first) * 0.9
}

pub(crate) const IN_SECONDS: &str =
    "a point in time is a number of seconds since 1970, where milliseconds are wanted: it counts as not recorded";

/// A number of milliseconds as a value: an integer where it is whole.
#[must_use]
pub fn milliseconds_value<'run>(milliseconds: f64) -> Value<'run> {
    if !milliseconds.is_finite() {
        return Value::Absent;
    }
    // Within this every whole double is an integer of 64 bits.
    let is_whole = milliseconds.trunc() == milliseconds && milliseconds.abs() < 9e15;
    #[expect(clippy::cast_possible_truncation, reason = "whole, and within the bound")]
    let number = if is_whole { Number::Integer(milliseconds as i64) } else { Number::Real(milliseconds) };
    Value::Number(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use averment_base::value::ValueText;

    #[test]
    fn times_are_read_in_every_offset() {
        let read = |text| to_milliseconds(&Value::Text(ValueText::Plain(text)));
        assert_eq!(read("1970-01-01T00:00:01Z"), Some(1000.0));
        assert_eq!(read("2025-01-31T12:00:00.123456Z"), Some(1_738_324_800_123.456));
        assert_eq!(read("2025-01-31T12:00:00+01:00"), read("2025-01-31T11:00:00Z"));
        assert_eq!(read("2025-01-31T12:00:00"), read("2025-01-31T12:00:00Z"));
        assert_eq!(read("yesterday"), None);
        assert_eq!(to_milliseconds(&Value::Number(Number::Written("1e999"))), None);
        assert_eq!(to_milliseconds(&Value::Null), None);
    }
}
