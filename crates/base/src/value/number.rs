//! Numbers: the text of the trace until compared, then exact decimals.
//!
//! Two numbers are equal when their values are: `1`, `1.0` and `1e0` are one number, and integers are exact at any size. A computed
//! [`Number::Real`] stands for the shortest decimal that reads back as the same double, so that `0.1` computed and `0.1` written are equal.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

mod decimal;
mod short_decimal;

use decimal::ExactDecimal;
use short_decimal::ShortDecimal;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A number.
#[derive(Debug, Clone, Copy)]
pub enum Number<'run> {
    /// As written in the trace; valid JSON number syntax.
    Written(&'run str),
    /// A computed integer.
    Integer(i64),
    /// A computed integer beyond 64 bits: the upper and the lower half of its 128 bits.
    Wide(i64, u64),
    /// A computed number; finite.
    Real(f64),
}

impl<'run> Number<'run> {
    /// The number that a text spells as JSON does: `-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?`.
    #[must_use]
    pub fn from_spelling(text: &'run str) -> Option<Self> {
        is_json_number(text).then_some(Self::Written(text))
    }

    /// Whether a text spells this number as JSON does, in whatever form.
    #[must_use]
    pub fn is_spelled(self, text: &str) -> bool {
        Number::from_spelling(text).is_some_and(|spelled| spelled == self)
    }

    /// A computed number; `None` for an infinity or what is no number, which a value can never be.
    #[must_use]
    pub fn from_f64(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self::Real(value))
    }

    /// A count.
    #[must_use]
    pub fn from_count(count: usize) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "only for counts that no memory can hold")]
        i64::try_from(count).map_or(Self::Real(count as f64), Self::Integer)
    }

    /// The nearest double; infinite for a written number beyond the range of doubles, such as `1e999`.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Written(text) => match short_integer(text) {
                Some(value) => nearest_float(value),
                None => text.parse().unwrap_or(f64::NAN),
            },
            Self::Integer(value) => nearest_float(value),
            Self::Wide(upper, lower) => nearest_wide(join_halves(upper, lower)),
            Self::Real(value) => value,
        }
    }

    /// The exact value as an integer; `None` for a fraction or beyond 64 bits. `1.0` and `1e2` are integers.
    #[must_use]
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(value),
            Self::Wide(..) => None,
            Self::Written(text) => short_integer(text).or_else(|| i64::try_from(self.exact_integer()?).ok()),
            Self::Real(_) => i64::try_from(self.exact_integer()?).ok(),
        }
    }

    /// True for a whole number of any size: `2`, `2.0`, `1e300`.
    #[must_use]
    pub fn is_integer(self) -> bool {
        self.with_decimal(|decimal| decimal.is_integer())
    }

    /// True when it is in the JSON form of an integer, without fraction and exponent: `2`, but neither `2.0` nor `2e0`.
    #[must_use]
    pub fn has_integer_form(self) -> bool {
        match self {
            Self::Written(text) => !text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')),
            Self::Integer(_) | Self::Wide(..) => true,
            Self::Real(_) => false,
        }
    }

    /// The same number, written in the one way that all of its spellings share: `1.0` and `1e0` as `1`, `2.50` as `2.5`. As it is where no
    /// double holds its digits.
    #[must_use]
    pub fn in_one_spelling(self) -> Self {
        if self.has_integer_form() {
            return self;
        }
        match self.as_i64() {
            Some(value) => Self::Integer(value),
            None => Self::from_f64(self.to_f64()).filter(|real| *real == self).unwrap_or(self),
        }
    }

    /// The test `===`: equal by value, and both in integer form or both not. `1` and `1.0` differ, `1.0` and `1.00` do not.
    #[must_use]
    pub fn is_identical(self, other: Number<'_>) -> bool {
        self.has_integer_form() == other.has_integer_form() && self == other
    }

    /// Exact comparison by value. (Exponents beyond 18 digits are all the same to it.)
    #[must_use]
    pub fn compare(self, other: Number<'_>) -> Ordering {
        match (self.small_integer(), other.small_integer()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => self.with_decimal(|a| other.with_decimal(|b| a.compare(&b))),
        }
    }

    /// `a + b`, exact for decimals of few digits; `None` when the result is beyond the range of doubles.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "an operator cannot say that there is no result")]
    pub fn add(self, other: Number<'_>) -> Option<Number<'static>> {
        let decimals = |a: ShortDecimal, b| a.combine(b, i128::checked_add);
        self.combine_exact(other, i128::checked_add, decimals, |a, b| a + b)
    }

    /// `a - b`, exact for decimals of few digits; `None` when the result is beyond the range of doubles.
    #[must_use]
    pub fn subtract(self, other: Number<'_>) -> Option<Number<'static>> {
        let decimals = |a: ShortDecimal, b| a.combine(b, i128::checked_sub);
        self.combine_exact(other, i128::checked_sub, decimals, |a, b| a - b)
    }

    /// `a * b`, exact for decimals of few digits; `None` when the result is beyond the range of doubles.
    #[must_use]
    pub fn multiply(self, other: Number<'_>) -> Option<Number<'static>> {
        self.combine_exact(other, i128::checked_mul, ShortDecimal::multiply, |a, b| a * b)
    }

    /// `a / b`: an integer where two integers divide without rest. `None` for a division by zero.
    #[must_use]
    pub fn divide(self, other: Number<'_>) -> Option<Number<'static>> {
        let exact = |a: i128, b: i128| if a.checked_rem(b)? == 0 { a.checked_div(b) } else { None };
        self.combine_exact(other, exact, ShortDecimal::divide, |a, b| a / b)
    }

    /// `a % b` with the sign of `a`. `None` for a division by zero.
    #[must_use]
    pub fn remainder(self, other: Number<'_>) -> Option<Number<'static>> {
        let decimals = |a: ShortDecimal, b| a.combine(b, i128::checked_rem);
        self.combine_exact(other, i128::checked_rem, decimals, |a, b| a % b)
    }

    /// `-a`.
    #[must_use]
    pub fn negate(self) -> Option<Number<'static>> {
        Number::Integer(0).subtract(self)
    }

    /// Integers are exact within 128 bits, and so are decimals of few digits; otherwise doubles are used. Never overflows.
    fn combine_exact(
        self,
        other: Number<'_>,
        integers: impl Fn(i128, i128) -> Option<i128>,
        decimals: impl Fn(ShortDecimal, ShortDecimal) -> Option<ShortDecimal>,
        reals: impl Fn(f64, f64) -> f64,
    ) -> Option<Number<'static>> {
        if let (Some(a), Some(b)) = (self.integer_operand(), other.integer_operand())
            && let Some(result) = integers(a, b)
        {
            return Some(Number::of_exact(result));
        }
        let both = ShortDecimal::of_number(self).zip(ShortDecimal::of_number(other));
        let exact = both.and_then(|(a, b)| decimals(a, b)?.to_f64());
        Number::from_f64(exact.unwrap_or_else(|| reals(self.to_f64(), other.to_f64())))
    }

    fn integer_operand(self) -> Option<i128> {
        match self.small_integer() {
            Some(value) => Some(i128::from(value)),
            None if self.has_integer_form() => self.exact_integer(),
            None => None,
        }
    }

    fn exact_integer(self) -> Option<i128> {
        match self {
            Self::Wide(upper, lower) => Some(join_halves(upper, lower)),
            _ => self.with_decimal(|decimal| decimal.to_i128()),
        }
    }

    fn of_exact(value: i128) -> Number<'static> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the two halves are what is asked for"
        )]
        i64::try_from(value).map_or(Number::Wide((value >> 64) as i64, value as u64), Number::Integer)
    }

    /// Fast path: most numbers in traces are short integers.
    fn small_integer(self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(value),
            Self::Written(text) => short_integer(text),
            Self::Wide(..) | Self::Real(_) => None,
        }
    }

    fn with_decimal<R>(self, then: impl FnOnce(ExactDecimal<'_>) -> R) -> R {
        match self {
            Self::Written(text) => then(ExactDecimal::from_text(text)),
            Self::Integer(value) => {
                then(ExactDecimal::from_text(DigitBuffer::from_arguments(format_args!("{value}")).as_str()))
            }
            Self::Wide(upper, lower) => then(ExactDecimal::from_text(
                DigitBuffer::from_arguments(format_args!("{}", join_halves(upper, lower))).as_str(),
            )),
            Self::Real(value) => {
                then(ExactDecimal::from_text(DigitBuffer::from_arguments(format_args!("{value:e}")).as_str()))
            }
        }
    }
}

impl PartialEq<Number<'_>> for Number<'_> {
    fn eq(&self, other: &Number<'_>) -> bool {
        self.compare(*other) == Ordering::Equal
    }
}

impl Eq for Number<'_> {}

impl Hash for Number<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Whatever form an integer has, it is the same one: short ones need no decimal.
        match self.small_integer() {
            Some(value) => value.hash(state),
            None => self.with_decimal(|decimal| match decimal.to_i128().map(i64::try_from) {
                Some(Ok(value)) => value.hash(state),
                _ => decimal.hash(state),
            }),
        }
    }
}

impl fmt::Display for Number<'_> {
    /// Valid JSON: the text of the trace, or the shortest text that reads back as the same number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Written(text) => f.write_str(text),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Wide(upper, lower) => write!(f, "{}", join_halves(*upper, *lower)),
            Self::Real(value) => write!(f, "{value:?}"),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "the nearest double is what is asked for")]
fn nearest_float(value: i64) -> f64 {
    value as f64
}

fn join_halves(upper: i64, lower: u64) -> i128 {
    (i128::from(upper) << 64) | i128::from(lower)
}

#[expect(clippy::cast_precision_loss, reason = "the nearest double is what is asked for")]
fn nearest_wide(value: i128) -> f64 {
    value as f64
}

/// At most 19 digits with an optional minus: enough for nanoseconds since 1970.
fn short_integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let mut value = 0_u64;
    for byte in digits.bytes() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        // Nineteen digits fit into 64 bits: nothing wraps.
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    let value = i64::try_from(value).ok()?;
    Some(if digits.len() == text.len() { value } else { value.wrapping_neg() })
}

/// Whether a text is a number of JSON: `-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?`.
fn is_json_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(digits)
}

/// Formats without a heap allocation; no integer or double needs more than 48 bytes.
struct DigitBuffer {
    bytes: [u8; 48],
    length: usize,
}

impl DigitBuffer {
    fn from_arguments(text: fmt::Arguments<'_>) -> Self {
        let mut digits = Self { bytes: [0; 48], length: 0 };
        // Cannot fail: see the size above. A cut text would still be a number.
        let _ = fmt::write(&mut digits, text);
        digits
    }

    fn as_str(&self) -> &str {
        self.bytes.get(..self.length).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or("0")
    }
}

impl fmt::Write for DigitBuffer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length.saturating_add(text.len());
        let place = self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Number::{self, Integer, Real, Written};
    use std::cmp::Ordering::{Equal, Greater, Less};
    use std::hash::BuildHasher;

    #[test]
    fn equal_values_are_equal_whatever_their_form() {
        for (a, b) in [
            ("1", "1.0"),
            ("1", "1e0"),
            ("100", "1E+2"),
            ("0.5", "5e-1"),
            ("0", "-0"),
            ("0.0", "-0e9"),
            ("1200", "12e2"),
            ("0.0012", "1.2e-3"),
            ("10.10", "10.1"),
            ("123456789012345678901234567890", "1.2345678901234567890123456789e29"),
        ] {
            assert_eq!(Written(a).compare(Written(b)), Equal, "{a} {b}");
            let hasher = rustc_hash::FxBuildHasher;
            assert_eq!(hasher.hash_one(Written(a)), hasher.hash_one(Written(b)), "{a} {b}");
        }
    }

    #[test]
    fn integers_are_exact_at_any_size() {
        assert_eq!(Written("9007199254740993").compare(Written("9007199254740992")), Greater);
        assert_eq!(Written("18446744073709551616").compare(Written("18446744073709551615")), Greater);
        assert_eq!(Written("-18446744073709551616").compare(Written("-18446744073709551615")), Less);
        assert_eq!(Written("9007199254740993").compare(Real(9_007_199_254_740_992.0)), Greater);
        assert_eq!(Integer(i64::MIN).compare(Written("-9223372036854775808")), Equal);
        assert_eq!(Written("-9223372036854775808").as_i64(), Some(i64::MIN));
        assert_eq!(Written("9223372036854775808").as_i64(), None);
        assert_eq!(Written("1e400").compare(Written("1e399")), Greater);
        assert_eq!(Written("1e-400").compare(Written("0")), Greater);
    }

    #[test]
    fn a_computed_number_is_its_shortest_decimal() {
        assert_eq!(Real(0.1), Written("0.10"));
        assert_ne!(Real(0.1 + 0.2), Written("0.3"));
        assert_eq!(Real(5e-324), Written("5e-324"));
        assert_eq!(Real(f64::MAX), Written("1.7976931348623157e308"));
        assert_eq!(Real(-2.0), Integer(-2));
        assert_eq!(Real(-2.0).as_i64(), Some(-2));
        assert_eq!(Real(-2.5).as_i64(), None);
    }

    #[test]
    fn identical_numbers_share_the_json_form() {
        assert!(Written("1").is_identical(Integer(1)));
        assert!(!Written("1").is_identical(Written("1.0")));
        assert!(Written("1.0").is_identical(Written("1.00")));
        assert!(!Written("1e2").is_identical(Written("100")));
    }

    #[test]
    fn arithmetic_never_overflows() {
        let text = |number: Option<Number<'_>>| number.map(|number| number.to_string());
        assert_eq!(text(Integer(i64::MAX).add(Integer(1))).as_deref(), Some("9223372036854775808"));
        assert_eq!(text(Written("2").multiply(Written("3"))).as_deref(), Some("6"));
        assert_eq!(text(Written("6").divide(Written("3"))).as_deref(), Some("2"));
        assert_eq!(text(Written("7").divide(Written("2"))).as_deref(), Some("3.5"));
        assert_eq!(text(Written("-7").remainder(Written("3"))).as_deref(), Some("-1"));
        assert_eq!(text(Written("1.0").add(Written("1"))).as_deref(), Some("2.0"));
        assert_eq!(text(Integer(i64::MIN).negate()).as_deref(), Some("9223372036854775808"));
        assert_eq!(text(Integer(i64::MIN).divide(Integer(-1))).as_deref(), Some("9223372036854775808"));
        let large = Written("170141183460469231731687303715884105727");
        assert_eq!(text(large.add(Integer(0))).as_deref(), Some("170141183460469231731687303715884105727"));
        assert_eq!(text(large.add(Integer(1))).as_deref(), Some("1.7014118346046923e38"));
        assert_eq!(text(large.subtract(large)).as_deref(), Some("0"));
        assert_eq!(text(Written("0.1").add(Written("0.2"))).as_deref(), Some("0.3"));
        assert_eq!(text(Real(0.3).subtract(Written("0.1"))).as_deref(), Some("0.2"));
        assert_eq!(text(Written("0.1").multiply(Written("3"))).as_deref(), Some("0.3"));
        assert_eq!(text(Written("0.3").divide(Written("3"))).as_deref(), Some("0.1"));
        assert_eq!(text(Written("1").divide(Written("3"))).as_deref(), Some("0.3333333333333333"));
        assert_eq!(text(Written("0.3").remainder(Written("0.1"))).as_deref(), Some("0.0"));
        assert_eq!(Written("1").divide(Written("0")).map(Number::to_f64), None);
        assert_eq!(Written("0").remainder(Written("0.0")).map(Number::to_f64), None);
        assert_eq!(Written("1e308").multiply(Written("10")).map(Number::to_f64), None);
    }
}
