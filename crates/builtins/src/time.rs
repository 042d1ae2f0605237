//! Functions for times. There is no clock: rules can only use times from the run or from themselves. Times are in UTC or in a named zone. The rules
//! of time zones are built in, so that neither system files nor the system's zone are read.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::call::{BuiltinCall, BuiltinResult};
use averment_base::value::{Number, Value};
use jiff::Timestamp;
use jiff::civil::{DateTime, Weekday};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use std::sync::LazyLock;

/// Parses the first argument: RFC 3339 text, possibly without offset (UTC), a date, or milliseconds since 1970.
fn argument_instant(call: &BuiltinCall<'_, '_>) -> Option<Timestamp> {
    match call.argument_node(0).value {
        Value::Text(text) => parse_timestamp(text.as_str().trim()),
        Value::Number(number) => from_milliseconds(number),
        _ => None,
    }
}

fn parse_timestamp(text: &str) -> Option<Timestamp> {
    // Longer than any time; limits the work of the library.
    if text.len() > 64 {
        return None;
    }
    let utc = |time: DateTime| time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    // The library would ignore a time zone in brackets, so it is rejected.
    let local = || text.parse::<DateTime>().ok().filter(|_| !text.contains('[')).and_then(utc);
    text.parse::<Timestamp>().ok().or_else(local)
}

/// Returns the nanoseconds since 1970 of a date or time in RFC 3339 format, in UTC if it has no offset; `None` for other texts.
#[must_use]
pub fn text_instant(text: &str) -> Option<i128> {
    let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let has_form = (0..4).all(is_digit) && text.as_bytes().get(4) == Some(&b'-') && is_digit(5);
    has_form.then(|| parse_timestamp(text))?.map(Timestamp::as_nanosecond)
}

fn from_milliseconds(number: Number<'_>) -> Option<Timestamp> {
    if let Some(whole) = number.as_i64() {
        return Timestamp::from_millisecond(whole).ok();
    }
    #[expect(clippy::cast_possible_truncation, reason = "saturates, and the library refuses what is out of range")]
    let nanoseconds = (number.to_f64() * 1e6) as i128;
    Timestamp::from_nanosecond(nanoseconds).ok()
}

pub(super) fn timestamp<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let node = call.argument_node(0);
    if let Value::Number(_) = node.value {
        return Ok(node);
    }
    let Some(instant) = argument_instant(call) else { return call.give_missing() };
    if instant.subsec_nanosecond() % 1_000_000 == 0 {
        return call.give_number(Some(Number::Integer(instant.as_millisecond())));
    }
    #[expect(clippy::cast_precision_loss, reason = "fractions of a millisecond are as exact as a double can be")]
    let milliseconds = instant.as_nanosecond() as f64 / 1e6;
    call.give_real(milliseconds)
}

/// The time zone rules at build time.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Returns a time zone by its IANA name, in any case.
fn find_zone(name: &str) -> Option<TimeZone> {
    // Longer than any name; limits the work of the library.
    if name.len() > 64 {
        return None;
    }
    ZONES.get(name).ok().filter(|zone| !zone.is_unknown())
}

/// True if there is a time zone with this name.
#[must_use]
pub fn is_zone(name: &str) -> bool {
    find_zone(name).is_some()
}

/// Returns the names of all time zones.
#[must_use]
pub fn zone_names() -> Vec<String> {
    ZONES.available().map(|name| name.as_str().to_owned()).collect()
}

fn local_time(call: &BuiltinCall<'_, '_>) -> Option<DateTime> {
    let zone = if call.has_argument(1) { find_zone(call.text_argument(1))? } else { TimeZone::UTC };
    argument_instant(call).map(|instant| zone.to_datetime(instant))
}

pub(super) fn date<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let Some(time) = local_time(call) else { return call.give_missing() };
    call.give_text(&time.date().to_string())
}

pub(super) fn weekday<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let Some(time) = local_time(call) else { return call.give_missing() };
    call.give_text(match time.weekday() {
        Weekday::Monday => "monday",
        Weekday::Tuesday => "tuesday",
        Weekday::Wednesday => "wednesday",
        Weekday::Thursday => "thursday",
        Weekday::Friday => "friday",
        Weekday::Saturday => "saturday",
        Weekday::Sunday => "sunday",
    })
}

pub(super) fn hour<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let Some(time) = local_time(call) else { return call.give_missing() };
    call.give_number(Some(Number::Integer(i64::from(time.hour()))))
}
