//! Looking for JSON in texts.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use averment_base::limits::{Exhausted, Limits, Meter};
use averment_base::value::json::parse_prefix;
use averment_base::value::{Node, Value};
use bumpalo::Bump;
use std::ops::Range;

/// Whether a text is JSON as a whole, white space around it allowed.
#[must_use]
pub fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Finds JSON inside a text: the first object from the left that `accept` takes, else the first list. Only whole values count, not
/// what is inside them; objects in a list stand for themselves as well, since answers often wrap one object into a list.
///
/// # Errors
/// Only when a limit is reached.
pub fn find_json(
    text: &str,
    limits: &Limits,
    meter: &mut Meter,
    mut accept: impl FnMut(&Value<'_>, &mut Meter) -> Result<bool, Exhausted>,
) -> Result<Option<Range<usize>>, Exhausted> {
    let mut lists = Vec::new();
    let mut found = None;
    each_json(text, limits, meter, &mut |node, meter| {
        if let (Value::List(_), Some(range)) = (node.value, node.origin.range()) {
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

/// The first object that fits: the value itself, or one in lists.
fn first_object(
    node: &Node<'_>,
    meter: &mut Meter,
    accept: &mut impl FnMut(&Value<'_>, &mut Meter) -> Result<bool, Exhausted>,
) -> Result<Option<Range<usize>>, Exhausted> {
    match node.value {
        Value::Object(_) if accept(&node.value, meter)? => Ok(node.origin.range()),
        Value::List(items) => averment_base::value::compare::deeper(|| {
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

/// Shows the objects and lists that stand in a text and in no other, from the left, while `show` returns true.
fn each_json(
    text: &str,
    limits: &Limits,
    meter: &mut Meter,
    show: &mut dyn FnMut(&Node<'_>, &mut Meter) -> Result<bool, Exhausted>,
) -> Result<(), Exhausted> {
    let mut arena = Bump::new();
    let mut at = 0;
    meter.scan(text.len())?;
    while let Some(offset) = text.as_bytes().get(at..).and_then(|rest| memchr::memchr2(b'{', b'[', rest)) {
        let start = at.saturating_add(offset);
        arena.reset();
        match parse_prefix(text.get(start..).unwrap_or_default(), start, &arena, limits) {
            Ok(document) => {
                meter.scan(document.end.saturating_mul(4))?;
                at = start.saturating_add(document.end);
                if !show(&document.node, meter)? {
                    return Ok(());
                }
            }
            Err(error) => {
                meter.scan(error.offset.saturating_mul(4))?;
                at = start.saturating_add(1);
            }
        }
    }
    Ok(())
}
