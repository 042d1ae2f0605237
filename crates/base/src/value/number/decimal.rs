//! Exact decimals, read from the text of a number without a heap allocation.

use std::cmp::Ordering;
use std::hash::Hasher;

/// `0.HEADTAIL * 10^exponent`, without leading and trailing zeros; no digits for zero.
pub(super) struct ExactDecimal<'a> {
    negative: bool,
    head: &'a [u8],
    tail: &'a [u8],
    exponent: i64,
}

impl<'a> ExactDecimal<'a> {
    pub(super) fn from_text(text: &'a str) -> Self {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let head = whole.trim_start_matches('0');
        let tail = if head.is_empty() { fraction.trim_start_matches('0') } else { fraction }.trim_end_matches('0');
        let leading = || text_length(fraction.trim_end_matches('0')).saturating_sub(text_length(tail));
        let point = if head.is_empty() { leading().saturating_neg() } else { text_length(head) };
        let head = if tail.is_empty() { head.trim_end_matches('0') } else { head };
        if head.is_empty() && tail.is_empty() {
            return Self { negative: false, head: &[], tail: &[], exponent: 0 };
        }
        let exponent = read_exponent(power).saturating_add(point);
        Self { negative, head: head.as_bytes(), tail: tail.as_bytes(), exponent }
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.head.iter().chain(self.tail).copied()
    }

    fn is_zero(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }

    fn digit_count(&self) -> i64 {
        i64::try_from(self.head.len().saturating_add(self.tail.len())).unwrap_or(i64::MAX)
    }

    pub(super) fn is_integer(&self) -> bool {
        self.is_zero() || self.exponent >= self.digit_count()
    }

    pub(super) fn compare(&self, other: &ExactDecimal<'_>) -> Ordering {
        match (self.sign(), other.sign()) {
            (0, 0) => Ordering::Equal,
            (a, b) if a != b => a.cmp(&b),
            (sign, _) => {
                let size = self.exponent.cmp(&other.exponent).then_with(|| self.digits().cmp(other.digits()));
                if sign < 0 { size.reverse() } else { size }
            }
        }
    }

    fn sign(&self) -> i8 {
        match (self.is_zero(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    pub(super) fn to_i128(&self) -> Option<i128> {
        if self.is_zero() {
            return Some(0);
        }
        if !self.is_integer() || self.exponent > 39 {
            return None;
        }
        let zeros = usize::try_from(self.exponent.checked_sub(self.digit_count())?).ok()?;
        let digits = self.digits().chain(std::iter::repeat_n(b'0', zeros));
        let mut value = 0_i128;
        for digit in digits {
            let digit = i128::from(digit.wrapping_sub(b'0'));
            // Counted downwards: the smallest integer has no positive counterpart.
            value = value.checked_mul(10)?.checked_sub(digit)?;
        }
        if self.negative { Some(value) } else { value.checked_neg() }
    }

    pub(super) fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_i8(self.sign());
        state.write_i64(self.exponent);
        let mut packed = 0_u64;
        for (position, digit) in self.digits().enumerate() {
            packed = (packed << 4) | u64::from(digit.wrapping_sub(b'0'));
            if position % 16 == 15 {
                state.write_u64(packed);
                packed = 0;
            }
        }
        state.write_u64(packed);
    }
}

fn text_length(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}

/// More than 18 digits saturate.
fn read_exponent(text: &str) -> i64 {
    let negative = text.starts_with('-');
    let digits = text.trim_start_matches(['+', '-']).trim_start_matches('0');
    let limit = i64::MAX / 4;
    let value = if digits.is_empty() { 0 } else { digits.parse::<i64>().unwrap_or(limit).min(limit) };
    if negative { value.saturating_neg() } else { value }
}
