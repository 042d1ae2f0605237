//! Points in time as text (RFC 3339), with all digits that a column has.

use arrow_schema::TimeUnit;
use jiff::Timestamp;
use jiff::civil::{Date, Time, date};
use jiff::tz::TimeZone;

fn nanoseconds(value: i64, unit: TimeUnit) -> i128 {
    let factor: i128 = match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    };
    i128::from(value) * factor
}

/// An instant in UTC, or what a clock shows where no zone is recorded.
pub(crate) fn instant_text(value: i64, unit: TimeUnit, zoned: bool) -> Option<String> {
    let instant = Timestamp::from_nanosecond(nanoseconds(value, unit)).ok()?;
    if zoned {
        return Some(instant.to_string());
    }
    Some(instant.to_zoned(TimeZone::UTC).datetime().to_string())
}

/// A date from days since 1970.
pub(crate) fn date_text(days: i64) -> Option<String> {
    let span = jiff::Span::new().try_days(days).ok()?;
    let date: Date = date(1970, 1, 1).checked_add(span).ok()?;
    Some(date.to_string())
}

/// A time of a day.
pub(crate) fn clock_text(value: i64, unit: TimeUnit) -> Option<String> {
    let nanoseconds = i64::try_from(nanoseconds(value, unit)).ok()?;
    let time = Time::midnight().checked_add(jiff::SignedDuration::from_nanos(nanoseconds)).ok()?;
    Some(time.to_string())
}
