//! Arithmetic on decimals of few digits, as people count money: `0.1 + 0.2` is `0.3`.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::Number;

/// A whole number divided by a power of ten.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShortDecimal {
    digits: i128,
    /// Digits behind the point.
    scale: u32,
}

/// Digits behind the point; more are not of money.
const LONGEST: u32 = 30;
/// Digits of a double that are as they were meant; one with more is itself the result of rounding.
const EXACT: usize = 15;
/// Digits that a quotient may have more than its sides.
const QUOTIENT: u32 = 18;

impl ShortDecimal {
    /// `None` for more digits than are computed with.
    pub(super) fn of_number(number: Number<'_>) -> Option<Self> {
        match number {
            Number::Written(text) => Self::of_text(text),
            Number::Integer(value) => Some(Self { digits: i128::from(value), scale: 0 }),
            Number::Wide(..) => None,
            Number::Real(_) => {
                let text = number.to_string();
                let digits = text.split(['e', 'E']).next()?.bytes().filter(u8::is_ascii_digit).count();
                if digits > EXACT { None } else { Self::of_text(&text) }
            }
        }
    }

    fn of_text(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.len().checked_add(fraction.len())? > 36 {
            return None;
        }
        let digits: i128 = [whole, fraction].concat().parse().ok()?;
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        match u32::try_from(scale) {
            Ok(scale) => (scale <= LONGEST).then_some(Self { digits, scale }),
            Err(_) => Some(Self { digits: digits.checked_mul(power_of_ten(scale.unsigned_abs())?)?, scale: 0 }),
        }
    }

    fn with_scale(self, scale: u32) -> Option<i128> {
        self.digits.checked_mul(power_of_ten(scale.checked_sub(self.scale)?)?)
    }

    /// Adds, subtracts or takes the rest: both sides have the same unit then.
    pub(super) fn combine(self, other: Self, with: impl Fn(i128, i128) -> Option<i128>) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        Some(Self { digits: with(self.with_scale(scale)?, other.with_scale(scale)?)?, scale })
    }

    pub(super) fn multiply(self, other: Self) -> Option<Self> {
        Some(Self { digits: self.digits.checked_mul(other.digits)?, scale: self.scale.checked_add(other.scale)? })
    }

    /// `None` for a quotient without an end.
    pub(super) fn divide(self, other: Self) -> Option<Self> {
        let scale = self.scale.max(other.scale).checked_add(QUOTIENT)?;
        let (left, right) = (self.with_scale(scale)?, other.with_scale(scale.checked_sub(QUOTIENT)?)?);
        (left.checked_rem(right)? == 0).then_some(Self { digits: left.checked_div(right)?, scale: QUOTIENT })
    }

    /// The double of this decimal.
    pub(super) fn to_f64(self) -> Option<f64> {
        format!("{}e-{}", self.digits, self.scale).parse().ok()
    }
}

fn power_of_ten(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}
