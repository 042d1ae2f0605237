//! Ordering of texts. Dates, times and versions are ordered by their meaning, and only among each other; other texts by code points.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::time::text_instant;
use averment_base::value::Number;
use averment_base::value::Value;
use averment_base::value::compare::compare_values;
use std::cmp::Ordering;

/// Orders two numbers or two texts; `None` if there is no order.
#[must_use]
pub fn order_values(left: &Value<'_>, right: &Value<'_>) -> Option<Ordering> {
    match (left, right) {
        (Value::Text(a), Value::Text(b)) => order_texts(a.as_str(), b.as_str()),
        _ => compare_values(left, right),
    }
}

/// Orders two texts. `None` if only one is a date, a time, a version or a number, or if their letters do not determine the order.
#[must_use]
pub fn order_texts(a: &str, b: &str) -> Option<Ordering> {
    TextOrder::shared([a, b].into_iter())?.compare(a, b)
}

/// The criterion for ordering texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextOrder {
    Instants,
    Times,
    Versions,
    Letters,
}

impl TextOrder {
    /// Returns the criterion that fits all of these texts.
    pub(super) fn shared<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Option<Self> {
        // Fast path: without digits, a text is no date, time or version.
        if !texts.clone().any(|text| text.bytes().any(|byte| byte.is_ascii_digit())) {
            return Some(Self::Letters);
        }
        if texts.clone().all(|text| text_instant(text).is_some()) {
            return Some(Self::Instants);
        }
        if texts.clone().all(|text| time_of_day(text).is_some()) {
            return Some(Self::Times);
        }
        if texts.clone().any(is_other_date) {
            return None;
        }
        if texts.clone().any(|text| is_plain_version(&Version::read(text))) {
            return texts.clone().all(|text| Version::read(text).is_some()).then_some(Self::Versions);
        }
        (!texts.clone().any(is_no_word)).then_some(Self::Letters)
    }

    /// Compares for sorting: letters decide even if embedded numbers have another order.
    pub(super) fn compare_fully(self, a: &str, b: &str) -> Ordering {
        match self {
            Self::Letters => a.cmp(b),
            _ => self.compare(a, b).unwrap_or(Ordering::Equal),
        }
    }

    /// Compares two texts; `None` if letters and meaning give different orders: `30s` and `300s`, `medium` and `high`.
    pub(super) fn compare(self, a: &str, b: &str) -> Option<Ordering> {
        match self {
            Self::Instants => Some(text_instant(a)?.cmp(&text_instant(b)?)),
            Self::Times => Some(time_of_day(a)?.cmp(&time_of_day(b)?)),
            Self::Versions => Some(Version::read(a)?.compare(&Version::read(b)?)),
            Self::Letters => {
                let letters = a.cmp(b);
                let numbers = compare_naturally(a, b);
                let is_told = numbers.is_eq() || numbers == letters;
                (is_told && super::word_rank::rank_order(a, b).is_none_or(|ranks| ranks == letters)).then_some(letters)
            }
        }
    }
}

/// True for numbers, dates and times, because their letters do not determine their order.
fn is_no_word(text: &str) -> bool {
    Number::from_spelling(text).is_some() || text_instant(text).is_some() || time_of_day(text).is_some()
}

/// True for dates and times in formats that cannot be ordered: `31.12.2024`, `12/31/2024`, `2024-1-5`, `Jan 5 2025`, `5pm`, `9:30 PM`.
fn is_other_date(text: &str) -> bool {
    is_date_of_numbers(text) || names_month(text) || is_half_day(text)
}

fn is_date_of_numbers(text: &str) -> bool {
    let date = text.split([' ', 'T', ',']).next().unwrap_or_default();
    let Some(sign) = date.chars().find(|sign| !sign.is_ascii_digit()) else { return false };
    let parts: Vec<&str> = date.split(sign).collect();
    let is_number = |part: &&str| (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_year = |part: &&str| part.len() == 4 && (part.starts_with("19") || part.starts_with("20"));
    let ends = [parts.first(), parts.last()];
    parts.len() == 3
        && parts.iter().all(is_number)
        && match sign {
            '/' => true,
            '-' => ends.into_iter().flatten().any(&is_year),
            '.' => parts.last().is_some_and(is_year),
            _ => false,
        }
}

fn names_month(text: &str) -> bool {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let mut words = text.split(|letter: char| !letter.is_ascii_alphabetic()).filter(|word| word.len() >= 3);
    let is_month = |word: &str| {
        MONTHS.iter().any(|month| {
            let short = month.get(..3).unwrap_or_default();
            word.eq_ignore_ascii_case(month) || word.eq_ignore_ascii_case(short)
        })
    };
    words.any(is_month)
}

fn is_half_day(text: &str) -> bool {
    let half = text.len().checked_sub(2).and_then(|at| text.split_at_checked(at));
    half.is_some_and(|(clock, half)| {
        let clock = clock.trim_end();
        (half.eq_ignore_ascii_case("am") || half.eq_ignore_ascii_case("pm"))
            && !clock.is_empty()
            && clock.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
    })
}

/// Compares by letters, and embedded numbers by value.
fn compare_naturally(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    loop {
        let (one, two) = (take_digits(&mut a), take_digits(&mut b));
        if one.is_empty() || two.is_empty() {
            let (Some(x), Some(y)) = (one.first().or(a.first()), two.first().or(b.first())) else {
                return one.len().saturating_add(a.len()).cmp(&two.len().saturating_add(b.len()));
            };
            if x != y {
                return x.cmp(y);
            }
            // If the two bytes were equal, both would be digits or neither. Here neither is a digit.
            (a, b) = (a.get(1..).unwrap_or_default(), b.get(1..).unwrap_or_default());
            continue;
        }
        let order = compare_digits(one, two);
        if order.is_ne() {
            return order;
        }
    }
}

fn take_digits<'a>(text: &mut &'a [u8]) -> &'a [u8] {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end).unwrap_or((text, &[]));
    *text = rest;
    digits
}

/// Parses `9:30`, `09:30` and `09:30:15.5`; returns seconds, and the digits of the fraction.
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

/// A version such as `1.10.0`, `v2.1` or `1.2.3-rc.1+build`.
struct Version<'a> {
    numbers: Vec<&'a str>,
    before: Option<&'a str>,
    marked: bool,
}

/// True for a version. Two numbers alone are a decimal number; they need a `v` before them, or a third number.
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

    /// Compares by the rules of Semantic Versioning. Missing numbers are 0.
    fn compare(&self, other: &Self) -> Ordering {
        for place in 0..self.numbers.len().max(other.numbers.len()) {
            let number = |version: &Self| version.numbers.get(place).copied().unwrap_or("0");
            let order = compare_digits(number(self).as_bytes(), number(other).as_bytes());
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

/// Compares numbers of any length by value.
fn compare_digits(a: &[u8], b: &[u8]) -> Ordering {
    let without_zeros = |digits: &[u8]| {
        let start = digits.iter().position(|digit| *digit != b'0').unwrap_or(digits.len());
        digits.len().saturating_sub(start)
    };
    let (of_a, of_b) = (without_zeros(a), without_zeros(b));
    let tail = |digits: &'_ [u8], length: usize| digits.len().saturating_sub(length);
    of_a.cmp(&of_b).then_with(|| a.get(tail(a, of_a)..).cmp(&b.get(tail(b, of_b)..)))
}

/// A pre-release identifier after `-`. Numbers are ordered before words.
#[derive(PartialEq, Eq)]
struct Identifier<'a>(&'a str);

impl Ord for Identifier<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        match (is_number(self.0), is_number(other.0)) {
            (true, true) => compare_digits(self.0.as_bytes(), other.0.as_bytes()).then_with(|| self.0.cmp(other.0)),
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
    use super::{TextOrder, order_texts};
    use proptest::prelude::*;
    use std::cmp::Ordering::{Equal, Greater, Less};

    #[test]
    fn dates_times_and_versions_are_ordered_as_what_they_are() {
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
            ("30s", "300s", None),
            ("release-9", "release-10", None),
            ("release-9", "release-09", Some(Greater)),
            ("step 1", "step 2", Some(Less)),
            ("12/31/2024", "01/02/2025", None),
            ("31.12.2024", "01.02.2025", None),
            ("Mar 1 2024", "Jan 5 2025", None),
            ("5pm", "9am", None),
            ("low", "high", None),
            ("High", "Medium", None),
            ("high", "low", None),
            ("high", "medium", None),
            ("low", "medium", Some(Less)),
            ("low", "lower", Some(Less)),
            ("monday", "Friday", None),
            ("march", "april", None),
        ] {
            assert_eq!(order_texts(a, b), wanted, "{a} {b}");
            assert_eq!(order_texts(b, a), wanted.map(std::cmp::Ordering::reverse), "{b} {a}");
        }
    }

    proptest! {
        /// The order is antisymmetric, and lists can be sorted by it.
        #[test]
        fn texts_have_one_order(texts in prop::collection::vec(text(), 2..6)) {
            for (a, b) in texts.iter().zip(texts.iter().skip(1)) {
                prop_assert_eq!(order_texts(a, b), order_texts(b, a).map(std::cmp::Ordering::reverse));
            }
            if let Some(order) = TextOrder::shared(texts.iter().map(String::as_str)) {
                let mut sorted = texts.clone();
                sorted.sort_by(|a, b| order.compare_fully(a, b));
                for pair in sorted.windows(2) {
                    prop_assert!(order_texts(&pair[0], &pair[1]).is_none_or(|order| order != Greater), "{pair:?}");
                }
            }
        }

        /// Numbers in texts are ordered by value, or not at all.
        #[test]
        fn a_number_in_a_text_is_never_ordered_by_its_letters(a in 0_u32..2000, b in 0_u32..2000, unit in "(s|ms| days|-x|%|MB)?", front in "(release-|v|P|step |#)?") {
            let order = order_texts(&format!("{front}{a}{unit}"), &format!("{front}{b}{unit}"));
            prop_assert!(order.is_none_or(|order| order == a.cmp(&b)), "{front}{a}{unit} {b}");
        }
    }

    fn text() -> impl Strategy<Value = String> {
        let date = (1_u8..13, 1_u8..29).prop_map(|(month, day)| format!("2024-{month:02}-{day:02}"));
        prop_oneof![
            date,
            "v?[0-9]{1,2}(\\.[0-9]{1,2}){0,2}",
            "[0-9]{1,2}:[0-9]{2}",
            "[a-c]{0,2}[0-9]{0,3}[a-c]{0,2}",
            "[01][0-9]/[0-9]{2}/2024"
        ]
    }
}
