//! Functions over numbers. Whole numbers keep their spelling, at any size.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::call::{BuiltinCall, BuiltinResult};
use averment_base::value::{Node, Number, Value};
use std::cmp::Ordering;

/// Converts a double; to an integer if it is whole and fits 64 bits.
fn to_number(value: f64) -> Option<Number<'static>> {
    let number = Number::from_f64(value)?;
    Some(number.as_i64().map_or(number, Number::Integer))
}

fn round_whole<'run>(call: &mut BuiltinCall<'_, 'run>, toward: fn(f64) -> f64) -> BuiltinResult<'run> {
    let number = call.number_argument(0);
    if number.is_integer() {
        return Ok(Node::computed(Value::Number(number)));
    }
    call.give_number(to_number(toward(number.to_f64())))
}

pub(super) fn floor<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    round_whole(call, f64::floor)
}

pub(super) fn ceil<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    round_whole(call, f64::ceil)
}

pub(super) fn exp<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    call.give_real(call.number_argument(0).to_f64().exp())
}

pub(super) fn abs<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let number = call.number_argument(0);
    if number.compare(Number::Integer(0)) != Ordering::Less {
        return call.give_number(Some(number));
    }
    match number {
        Number::Written(text) => call.give_number(text.strip_prefix('-').map(Number::Written)),
        _ => call.give_number(number.negate()),
    }
}

pub(super) fn round<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let number = call.number_argument(0);
    let digits = if call.has_argument(1) { call.number_argument(1).as_i64() } else { Some(0) };
    let Some(digits) =
        digits.and_then(|digits| i32::try_from(digits).ok()).filter(|digits| digits.unsigned_abs() <= 15)
    else {
        return call.give_missing();
    };
    if digits >= 0 && number.is_integer() {
        return Ok(Node::computed(Value::Number(number)));
    }
    call.give_number(round_decimal(number.to_f64(), digits))
}

/// Rounds the shortest decimal form, with halves away from zero: 1.005 gives 1.01, as readers expect.
fn round_decimal(value: f64, digits: i32) -> Option<Number<'static>> {
    let text = format!("{:e}", value.abs());
    let (mantissa, exponent) = text.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let all: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    // Number of kept digits: those before the point, and `digits` after it.
    let kept = exponent.checked_add(1)?.checked_add(digits)?;
    let Ok(kept) = usize::try_from(kept) else { return Some(Number::Integer(0)) };
    if kept >= all.len() {
        return to_number(value);
    }
    let (head, tail) = all.split_at_checked(kept)?;
    let up = u64::from(tail.starts_with(['5', '6', '7', '8', '9']));
    let scaled: u64 = if head.is_empty() { up } else { head.parse::<u64>().ok()?.checked_add(up)? };
    let sign = if value < 0.0 { "-" } else { "" };
    to_number(format!("{sign}{scaled}e{}", digits.checked_neg()?).parse().ok()?)
}
