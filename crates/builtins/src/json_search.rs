//! Searches for JSON in texts.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use averment_base::limits::{FuelMeter, LimitError, Limits};
use averment_base::value::compare::with_deep_stack;
use averment_base::value::json::parse_prefix;
use averment_base::value::{Node, Value};
use bumpalo::Bump;
use std::ops::Range;

/// True if a whole text is JSON, with optional surrounding white space.
#[must_use]
pub fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Finds JSON inside a text: the first object from the left that `accept` takes, otherwise the first list. Only outermost values count. But objects
/// in a list count as well, since answers often wrap one object in a list.
///
/// # Errors
/// Returns an error only if a limit is reached.
pub fn find_json(
    text: &str,
    limits: &Limits,
    meter: &mut FuelMeter,
    mut accept: impl FnMut(&Value<'_>, &mut FuelMeter) -> Result<bool, LimitError>,
) -> Result<Option<Range<usize>>, LimitError> {
    let mut lists = Vec::new();
    let mut found = None;
    each_json(text, limits, meter, &mut |node, meter| {
        if let (Value::List(_), Some(range)) = (node.value, node.origin.byte_range()) {
            lists.push(range);
        }
        found = first_object(node, meter, &mut accept)?;
        Ok(found.is_none())
    })?;
    for range in lists {
        if found.is_some() {
            break;
        }
        let list = text.get(range.clone()).unwrap_or_default();
        each_json(list, limits, meter, &mut |node, meter| {
            found = accept(&node.value, meter)?.then(|| range.clone());
            Ok(false)
        })?;
    }
    Ok(found)
}

/// True if `accept` takes an object or a list that is nested inside of another one in the text.
///
/// # Errors
/// Returns an error only if a limit is reached.
pub fn holds_inner_json(
    text: &str,
    limits: &Limits,
    meter: &mut FuelMeter,
    mut accept: impl FnMut(&Value<'_>, &mut FuelMeter) -> Result<bool, LimitError>,
) -> Result<bool, LimitError> {
    let mut found = false;
    each_json(text, limits, meter, &mut |node, meter| {
        found = any_inside(&node.value, meter, &mut accept)?;
        Ok(!found)
    })?;
    Ok(found)
}

fn any_inside(
    value: &Value<'_>,
    meter: &mut FuelMeter,
    accept: &mut impl FnMut(&Value<'_>, &mut FuelMeter) -> Result<bool, LimitError>,
) -> Result<bool, LimitError> {
    let inner: Vec<Value<'_>> = match value {
        Value::List(items) => items.iter().map(|item| item.value).collect(),
        Value::Object(object) => object.entries().iter().map(|entry| entry.node.value).collect(),
        _ => Vec::new(),
    };
    for inner in inner {
        meter.charge_fuel(1)?;
        let is_whole = matches!(inner, Value::Object(_) | Value::List(_));
        if is_whole && (accept(&inner, meter)? || with_deep_stack(|| any_inside(&inner, meter, accept))?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the first object that fits: the value itself, or one in lists.
fn first_object(
    node: &Node<'_>,
    meter: &mut FuelMeter,
    accept: &mut impl FnMut(&Value<'_>, &mut FuelMeter) -> Result<bool, LimitError>,
) -> Result<Option<Range<usize>>, LimitError> {
    match node.value {
        Value::Object(_) if accept(&node.value, meter)? => Ok(node.origin.byte_range()),
        Value::List(items) => with_deep_stack(|| {
            for item in items {
                if let Some(found) = first_object(item, meter, accept)? {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        }),
        _ => Ok(None),
    }
}

/// Calls `show` with the outermost objects and lists of a text, from the left, while it returns true.
pub(super) fn each_json(
    text: &str,
    limits: &Limits,
    meter: &mut FuelMeter,
    show: &mut dyn FnMut(&Node<'_>, &mut FuelMeter) -> Result<bool, LimitError>,
) -> Result<(), LimitError> {
    let mut arena = Bump::new();
    let mut at = 0;
    meter.charge_scan(text.len())?;
    while let Some(offset) = text.as_bytes().get(at..).and_then(|rest| memchr::memchr2(b'{', b'[', rest)) {
        let start = at.saturating_add(offset);
        arena.reset();
        match parse_prefix(text.get(start..).unwrap_or_default(), start, &arena, limits) {
            Ok(document) => {
                meter.charge_scan(document.end.saturating_mul(4))?;
                at = start.saturating_add(document.end);
                if !show(&document.node, meter)? {
                    return Ok(());
                }
            }
            Err(error) => {
                meter.charge_scan(error.offset.saturating_mul(4))?;
                at = start.saturating_add(1);
            }
        }
    }
    Ok(())
}
