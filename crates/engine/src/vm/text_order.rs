//! The order of texts. A date, a time or a version is ordered as what it is, and only against another one; everything else by code points.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::value_likeness::spells_number;
use averment_base::value::ValueText;
use averment_builtins::time::text_instant;
use std::cmp::Ordering;

/// `None` where one text is a date, a time, a version or a number, and the other is not.
pub(super) fn order_texts(left: ValueText<'_>, right: ValueText<'_>) -> Option<Ordering> {
    let (a, b) = (left.as_str(), right.as_str());
    let begins_with_digit = |text: &str| text.bytes().next().is_some_and(|byte| byte.is_ascii_digit() || byte == b'v');
    // Nearly all texts are none of these.
    if !begins_with_digit(a) && !begins_with_digit(b) {
        return if spells_number(left) || spells_number(right) { None } else { Some(a.cmp(b)) };
    }
    if let (Some(a), Some(b)) = (text_instant(a), text_instant(b)) {
        return Some(a.cmp(&b));
    }
    if let (Some(a), Some(b)) = (time_of_day(a), time_of_day(b)) {
        return Some(a.cmp(&b));
    }
    let (one, two) = (Version::read(a), Version::read(b));
    if is_plain_version(&one) || is_plain_version(&two) {
        return one.zip(two).map(|(one, two)| one.compare(&two));
    }
    let is_special = |text: &str| text_instant(text).is_some() || time_of_day(text).is_some();
    let differ = spells_number(left) || spells_number(right) || is_special(a) || is_special(b);
    (!differ).then(|| a.cmp(b))
}

/// Seconds, and the digits of a fraction, of `9:30`, `09:30` and `09:30:15.5`.
fn time_of_day(text: &str) -> Option<(u32, &str)> {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = clock.split(':');
    let mut part = |most: u32, shortest: usize| {
        let part = parts.next()?;
        let fits = part.bytes().all(|byte| byte.is_ascii_digit()) && (shortest..=2).contains(&part.len());
        fits.then(|| part.parse::<u32>().ok()).flatten().filter(|part| *part <= most)
    };
    let (hour, minute) = (part(24, 1)?, part(59, 2)?);
    let second = if clock.matches(':').count() == 2 { part(60, 2)? } else { 0 };
    let whole = clock.matches(':').count() <= 2 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = hour.checked_mul(3600)?.checked_add(minute.checked_mul(60)?)?.checked_add(second)?;
    whole.then(|| (seconds, fraction.trim_end_matches('0')))
}

/// `1.10.0`, `v2.1`, `1.2.3-rc.1+build`.
struct Version<'a> {
    numbers: Vec<&'a str>,
    before: Option<&'a str>,
    marked: bool,
}

/// Two numbers alone are a number; with a `v` before them or a third one they are a version.
fn is_plain_version(version: &Option<Version<'_>>) -> bool {
    let least = |version: &Version<'_>| if version.marked { 2 } else { 3 };
    version.as_ref().is_some_and(|version| version.numbers.len() >= least(version))
}

impl<'a> Version<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let (rest, marked) = text.strip_prefix('v').map_or((text, false), |rest| (rest, true));
        let rest = rest.split_once('+').map_or(rest, |(front, _)| front);
        let (numbers, before) = match rest.split_once('-') {
            Some((numbers, before)) => (numbers, Some(before)),
            None => (rest, None),
        };
        let numbers: Vec<&str> = numbers.split('.').collect();
        let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let named = before.is_none_or(|before| !before.is_empty());
        (named && numbers.iter().all(is_number)).then_some(Self { numbers, before, marked })
    }

    /// The rules of Semantic Versioning; numbers that are left out are 0.
    fn compare(&self, other: &Self) -> Ordering {
        for place in 0..self.numbers.len().max(other.numbers.len()) {
            let number = |version: &Self| version.numbers.get(place).copied().unwrap_or("0");
            let order = compare_digits(number(self), number(other));
            if order.is_ne() {
                return order;
            }
        }
        match (self.before, other.before) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(a), Some(b)) => a.split('.').map(Identifier).cmp(b.split('.').map(Identifier)),
        }
    }
}

/// Numbers of any length, by value.
fn compare_digits(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// A part of what stands behind `-`: numbers come before words.
#[derive(PartialEq, Eq)]
struct Identifier<'a>(&'a str);

impl Ord for Identifier<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        match (is_number(self.0), is_number(other.0)) {
            (true, true) => compare_digits(self.0, other.0).then_with(|| self.0.cmp(other.0)),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self.0.cmp(other.0),
        }
    }
}

impl PartialOrd for Identifier<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::order_texts;
    use averment_base::value::ValueText;
    use std::cmp::Ordering::{Equal, Greater, Less};

    #[test]
    fn dates_times_and_versions_are_ordered_as_what_they_are() {
        let order = |a, b| order_texts(ValueText::Plain(a), ValueText::Plain(b));
        for (a, b, wanted) in [
            ("1.9.0", "1.10.0", Some(Less)),
            ("1.9", "1.10.0", Some(Less)),
            ("v1.10", "v1.9", Some(Greater)),
            ("1.10.0", "v1.10.0", Some(Equal)),
            ("1.10.0-rc.1", "1.10.0", Some(Less)),
            ("1.10.0-rc.2", "1.10.0-rc.10", Some(Less)),
            ("1.10.0-1", "1.10.0-rc", Some(Less)),
            ("1.10.0+a", "1.10.0+b", Some(Equal)),
            ("latest", "1.10.0", None),
            ("1.10.0", "", None),
            ("2024-12-31", "2025-01-01", Some(Less)),
            ("2025-01-01", "2025-01-01T00:00:00Z", Some(Equal)),
            ("2025-01-01T01:00:00+02:00", "2025-01-01", Some(Less)),
            ("9/9/2024", "2025-01-01", None),
            ("2025-01-01", "tomorrow", None),
            ("9:30", "10:00", Some(Less)),
            ("09:30:15", "9:30", Some(Greater)),
            ("9:30 PM", "10:00", None),
            ("10:00", "2025-01-01", None),
            ("5", "7", None),
            ("5", "a", None),
            ("a", "b", Some(Less)),
            ("vb", "va", Some(Greater)),
            ("Z", "a", Some(Less)),
            ("1a", "1b", Some(Less)),
        ] {
            assert_eq!(order(a, b), wanted, "{a} {b}");
            assert_eq!(order(b, a), wanted.map(std::cmp::Ordering::reverse), "{b} {a}");
        }
    }
}
