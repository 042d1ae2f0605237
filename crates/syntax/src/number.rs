//! Parses numbers and converts them to their base unit exactly: decimal digits are added and multiplied as text, never as floats.

// Arithmetic on numbers from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::ast::NumberUnit;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NumberError {
    UnknownUnit {
        at: usize,
        unit: String,
    },
    /// Units of two families, or in ascending order; `at` is the start of the second unit.
    MixedUnits {
        at: usize,
    },
    /// An excessive number of digits or exponent, or a value beyond all comparable numbers.
    TooLong,
    /// So small that it would compare as 0.
    TooSmall,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NumberValue {
    /// The value as decimal text that JSON accepts.
    pub value: String,
    /// The family.
    pub unit: NumberUnit,
}

const LONGEST: usize = 400;

/// The units, with their family and their size in the base unit.
const UNITS: &[(&str, NumberUnit, u64)] = &[
    ("ms", NumberUnit::Duration, 1),
    ("s", NumberUnit::Duration, 1_000),
    ("m", NumberUnit::Duration, 60_000),
    ("h", NumberUnit::Duration, 3_600_000),
    ("d", NumberUnit::Duration, 86_400_000),
    ("B", NumberUnit::Size, 1),
    ("KB", NumberUnit::Size, 1_000),
    ("MB", NumberUnit::Size, 1_000_000),
    ("GB", NumberUnit::Size, 1_000_000_000),
    ("KiB", NumberUnit::Size, 1 << 10),
    ("MiB", NumberUnit::Size, 1 << 20),
    ("GiB", NumberUnit::Size, 1 << 30),
];

const OTHER_NAMES: &[(&str, &str)] = &[
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("min", "m"),
    ("mins", "m"),
    ("minute", "m"),
    ("minutes", "m"),
    ("hr", "h"),
    ("hrs", "h"),
    ("hour", "h"),
    ("hours", "h"),
    ("day", "d"),
    ("days", "d"),
    ("msec", "ms"),
    ("msecs", "ms"),
    ("millis", "ms"),
    ("millisecond", "ms"),
    ("milliseconds", "ms"),
    ("byte", "B"),
    ("bytes", "B"),
    ("k", "KB"),
    ("g", "GB"),
];

pub(super) fn meant_unit(letters: &str) -> Option<&'static str> {
    if let Some((_, unit)) = OTHER_NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(letters)) {
        return Some(unit);
    }
    UNITS.iter().map(|(name, ..)| *name).find(|name| name.eq_ignore_ascii_case(letters))
}

/// Reads a number, for example `1h30m`, `$0.05`, `95%` or `1_000`.
pub(super) fn read_number(text: &str) -> Result<NumberValue, NumberError> {
    let reading = parse_number(text)?;
    match reading.value.parse::<f64>() {
        Ok(value) if value.is_infinite() => Err(NumberError::TooLong),
        Ok(0.0) if has_digits(&reading.value) => Err(NumberError::TooSmall),
        _ => Ok(reading),
    }
}

fn has_digits(value: &str) -> bool {
    let digits = value.split(['e', 'E']).next().unwrap_or(value);
    digits.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
}

fn parse_number(text: &str) -> Result<NumberValue, NumberError> {
    if let Some(amount) = text.strip_prefix('$') {
        let (decimal, rest) = DecimalDigits::take_decimal(amount)?;
        let at = text.len().saturating_sub(rest.len());
        return match rest {
            "" => Ok(NumberValue { value: decimal.to_text(), unit: NumberUnit::Money }),
            _ => Err(NumberError::UnknownUnit { at, unit: rest.to_owned() }),
        };
    }
    let (decimal, rest) = DecimalDigits::take_decimal(text)?;
    match rest {
        "" => Ok(NumberValue { value: plain_number(text), unit: NumberUnit::None }),
        "%" => Ok(NumberValue { value: decimal.shift_exponent(-2).to_text(), unit: NumberUnit::None }),
        _ => with_units(text, decimal, rest),
    }
}

/// Returns the number without `_`. Its form is kept because `===` compares it.
fn plain_number(text: &str) -> String {
    let digits: String = text.chars().filter(|&c| c != '_').collect();
    let whole = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let zeros = digits.bytes().take_while(|&b| b == b'0').count().min(whole.saturating_sub(1));
    digits.get(zeros..).unwrap_or(&digits).to_owned()
}

fn with_units(text: &str, first: DecimalDigits, rest: &str) -> Result<NumberValue, NumberError> {
    let mut total = DecimalDigits::default();
    let (mut amount, mut rest) = (first, rest);
    let mut last: Option<(NumberUnit, u64)> = None;
    loop {
        let at = text.len().saturating_sub(rest.len());
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let (letters, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let Some(&(_, unit, factor)) = UNITS.iter().find(|(name, ..)| *name == letters) else {
            let word = rest.find('.').and_then(|dot| rest.get(..dot)).unwrap_or(rest);
            let unit = if meant_unit(letters).is_some() { letters } else { word };
            return Err(NumberError::UnknownUnit { at, unit: unit.to_owned() });
        };
        if last.is_some_and(|(family, size)| family != unit || unit != NumberUnit::Duration || factor >= size) {
            return Err(NumberError::MixedUnits { at });
        }
        last = Some((unit, factor));
        total = total.add_decimal(&amount.multiply_by(factor));
        if behind.is_empty() {
            return Ok(NumberValue { value: total.to_text(), unit });
        }
        let (next, after) = DecimalDigits::take_decimal(behind)?;
        if after.is_empty() || after.len() == behind.len() {
            return Err(NumberError::UnknownUnit { at, unit: rest.to_owned() });
        }
        (amount, rest) = (next, after);
    }
}

/// Decimal digits, least significant first, and the number of digits after the point.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct DecimalDigits {
    digits: Vec<u8>,
    scale: usize,
}

impl DecimalDigits {
    fn take_decimal(text: &str) -> Result<(Self, &str), NumberError> {
        let (whole, rest) = take_digits(text);
        let (fraction, rest) = match rest.strip_prefix('.').map(take_digits) {
            Some((fraction, behind)) if !fraction.is_empty() => (fraction, behind),
            _ => (String::new(), rest),
        };
        let (exponent, rest) = take_exponent(rest)?;
        if whole.len().saturating_add(fraction.len()) > LONGEST {
            return Err(NumberError::TooLong);
        }
        let digits = fraction.bytes().rev().chain(whole.bytes().rev()).map(|byte| byte.wrapping_sub(b'0')).collect();
        Ok((Self { digits, scale: fraction.len() }.shift_exponent(exponent), rest))
    }

    fn shift_exponent(mut self, exponent: i32) -> Self {
        let by = exponent.unsigned_abs() as usize;
        if exponent < 0 {
            self.scale = self.scale.saturating_add(by);
        } else {
            let shared = by.min(self.scale);
            self.scale = self.scale.saturating_sub(shared);
            self.digits.splice(0..0, std::iter::repeat_n(0, by.saturating_sub(shared)));
        }
        self
    }

    fn multiply_by(&self, factor: u64) -> Self {
        let mut digits = Vec::with_capacity(self.digits.len().saturating_add(20));
        let mut carry = 0_u128;
        for &digit in &self.digits {
            // A digit times 64 bits plus a carry of at most that size is far below 128 bits.
            let product = u128::from(digit).saturating_mul(u128::from(factor)).saturating_add(carry);
            digits.push(u8::try_from(product % 10).unwrap_or(0));
            carry = product / 10;
        }
        while carry > 0 {
            digits.push(u8::try_from(carry % 10).unwrap_or(0));
            carry /= 10;
        }
        Self { digits, scale: self.scale }
    }

    fn add_decimal(&self, other: &Self) -> Self {
        let scale = self.scale.max(other.scale);
        let padded = |number: &Self| {
            let zeros = std::iter::repeat_n(0, scale.saturating_sub(number.scale));
            zeros.chain(number.digits.iter().copied()).collect::<Vec<u8>>()
        };
        let (left, right) = (padded(self), padded(other));
        let mut digits = Vec::with_capacity(left.len().max(right.len()).saturating_add(1));
        let mut carry = 0_u8;
        for place in 0..left.len().max(right.len()) {
            let (a, b) = (left.get(place).unwrap_or(&0), right.get(place).unwrap_or(&0));
            let sum = a.saturating_add(*b).saturating_add(carry);
            digits.push(sum % 10);
            carry = sum / 10;
        }
        if carry > 0 {
            digits.push(carry);
        }
        Self { digits, scale }
    }

    /// Returns the number as text without leading zeros, and without trailing zeros after the point.
    fn to_text(&self) -> String {
        let skip = self.digits.iter().take(self.scale).take_while(|&&digit| digit == 0).count();
        let mut text = String::new();
        let places = self.digits.len().max(self.scale.saturating_add(1));
        for place in (skip..places).rev() {
            let digit = self.digits.get(place).copied().unwrap_or(0);
            let leading = text.is_empty() && digit == 0 && place > self.scale;
            if !leading {
                text.push(char::from(b'0'.saturating_add(digit)));
            }
            if place == self.scale && place > skip {
                text.push('.');
            }
        }
        text
    }
}

fn take_digits(text: &str) -> (String, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    (digits.chars().filter(|&c| c != '_').collect(), rest)
}

fn take_exponent(text: &str) -> Result<(i32, &str), NumberError> {
    let Some(behind) = text.strip_prefix(['e', 'E']) else { return Ok((0, text)) };
    let (negative, behind) = match behind.strip_prefix('-') {
        Some(behind) => (true, behind),
        None => (false, behind.strip_prefix('+').unwrap_or(behind)),
    };
    let (digits, rest) = take_digits(behind);
    if digits.is_empty() {
        return Ok((0, text));
    }
    match digits.parse::<i32>() {
        Ok(size) if size <= 400 => Ok((if negative { size.saturating_neg() } else { size }, rest)),
        _ => Err(NumberError::TooLong),
    }
}

#[cfg(test)]
mod tests {
    use super::{NumberError, NumberUnit, NumberValue, read_number};

    fn value(text: &str) -> (String, NumberUnit) {
        let NumberValue { value, unit } = read_number(text).unwrap();
        (value, unit)
    }

    #[test]
    fn every_unit_comes_to_its_base_exactly() {
        for (text, expected, unit) in [
            ("1", "1", NumberUnit::None),
            ("007", "7", NumberUnit::None),
            ("1_000", "1000", NumberUnit::None),
            ("1.50", "1.50", NumberUnit::None),
            ("1e3", "1e3", NumberUnit::None),
            ("0", "0", NumberUnit::None),
            ("95%", "0.95", NumberUnit::None),
            ("0.5%", "0.005", NumberUnit::None),
            ("100%", "1", NumberUnit::None),
            ("$0.05", "0.05", NumberUnit::Money),
            ("$1", "1", NumberUnit::Money),
            ("$1_000.10", "1000.1", NumberUnit::Money),
            ("250ms", "250", NumberUnit::Duration),
            ("1.5s", "1500", NumberUnit::Duration),
            ("1h30m", "5400000", NumberUnit::Duration),
            ("1m0.5s", "60500", NumberUnit::Duration),
            ("0.0001s", "0.1", NumberUnit::Duration),
            ("2d", "172800000", NumberUnit::Duration),
            ("1e3s", "1000000", NumberUnit::Duration),
            ("10KB", "10000", NumberUnit::Size),
            ("4MiB", "4194304", NumberUnit::Size),
            ("0.1KiB", "102.4", NumberUnit::Size),
            ("0s", "0", NumberUnit::Duration),
            ("9007199254740993s", "9007199254740993000", NumberUnit::Duration),
        ] {
            assert_eq!(value(text), (expected.to_owned(), unit), "{text}");
        }
    }

    #[test]
    fn what_is_no_unit_says_where_it_starts() {
        assert_eq!(read_number("30sec"), Err(NumberError::UnknownUnit { at: 2, unit: "sec".into() }));
        assert_eq!(read_number("1h30"), Err(NumberError::UnknownUnit { at: 1, unit: "h30".into() }));
        assert_eq!(read_number("1s2h"), Err(NumberError::MixedUnits { at: 3 }));
        assert_eq!(read_number("1KB2MB"), Err(NumberError::MixedUnits { at: 4 }));
        for large in ["1e999999999", "1e400", "1e309", "1e400s", "1e306s", "$1e400", "1e308GiB"] {
            assert_eq!(read_number(large), Err(NumberError::TooLong), "{large}");
        }
        for small in ["1e-400", "0.1e-399", "1e-323%"] {
            assert_eq!(read_number(small), Err(NumberError::TooSmall), "{small}");
        }
        assert_eq!(value("0e-400").0, "0e-400");
        assert_eq!(value("1e308").0, "1e308");
    }
}
