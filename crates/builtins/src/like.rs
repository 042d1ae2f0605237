//! Values that are like an expected part: what `VALUE like PART` asks.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::call::{BuiltinCall, BuiltinResult};
use super::part_match::{IgnoredKeys, PartFit, PartRules};
use averment_base::value::json::parse;
use averment_base::value::{Node, Value};

/// The most values that one comparison looks at.
const MOST_COMPARED: usize = 2_000_000;
/// The words of the option that takes lists in any order.
pub const ANY_ORDER: &str = "in any order";
/// The word of the option that folds texts.
pub const FOLDED: &str = "folded";

/// Whether a value holds the part.
pub(super) fn is_like<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let keys = call.list_argument(2);
    let texts = keys.iter().filter_map(|key| match key.value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let ignored: Vec<&str> = texts.collect();
    if ignored.len() != keys.len() {
        return call.give_missing();
    }
    call.look_through(0)?;
    call.look_through(1)?;
    let (mut given, wanted) = (call.argument_node(0).value, call.argument_node(1).value);
    if let (Value::Text(text), Value::Object(_) | Value::List(_)) = (given, wanted) {
        match parse(text.as_str(), 0, call.arena, call.limits) {
            Ok(document) => given = document.node.value,
            Err(_) => return Ok(Node::computed(Value::Boolean(false))),
        }
    }
    let options = call.text_argument(3);
    let rules = PartRules {
        open: true,
        any_order: options.contains(ANY_ORDER),
        folded: options.contains(FOLDED),
        ignored: IgnoredKeys::new(ignored),
        budget: Some(MOST_COMPARED),
        ..PartRules::default()
    };
    let fit = rules.value_fit(&wanted, &given, None);
    if rules.is_exhausted() {
        call.meter.charge_fuel(u64::MAX)?;
    }
    call.meter.charge_fuel(rules.take_looked() as u64)?;
    Ok(Node::computed(match fit {
        PartFit::Yes => Value::Boolean(true),
        PartFit::No => Value::Boolean(false),
        PartFit::Unknown => Value::Absent,
    }))
}

/// The value itself as the score of the assertion, where it is one.
pub(super) fn score<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let value = call.number_argument(0).to_f64();
    if (0.0..=1.0).contains(&value) { Ok(call.argument_node(0)) } else { call.give_missing() }
}
