//! Values from prose: captures of a regular expression, and the numbers of a text.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::call::{BuiltinCall, BuiltinResult, SearchNeedle, borrowed_text};
use super::grounding;
use super::pattern::CapturedGroup;
use averment_base::value::{Node, Number, Object, ObjectEntry, Value};

pub(super) fn capture<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let Some(SearchNeedle::Regex(pattern)) = call.needle_argument(1) else { return call.give_missing() };
    let Some(captured) = pattern.capture_groups(call.text_argument(0), call.meter)? else {
        return call.give_missing();
    };
    let (whole, groups) = captured.split_first().map_or((None, &[][..]), |(whole, groups)| (whole.text, groups));
    let text = |text: Option<&'run str>, otherwise| text.map_or(Node::computed(otherwise), borrowed_text);
    match groups {
        [] => Ok(text(whole, Value::Missing)),
        groups if groups.iter().any(|group| group.name.is_some()) => give_named(call, groups),
        [group] => Ok(text(group.text, Value::Missing)),
        groups => call.give_list(groups.iter().map(|group| text(group.text, Value::Null))),
    }
}

/// Returns an object with a key for each named group that took part.
fn give_named<'run>(call: &mut BuiltinCall<'_, 'run>, groups: &[CapturedGroup<'_, 'run>]) -> BuiltinResult<'run> {
    let mut entries = Vec::new();
    for (name, text) in groups.iter().filter_map(|group| group.name.zip(group.text)) {
        call.meter.charge_memory(size_of::<ObjectEntry<'_>>().saturating_add(name.len()))?;
        entries.push(ObjectEntry { key: call.arena.alloc_str(name), node: borrowed_text(text) });
    }
    Ok(Node::computed(Value::Object(Object::new(call.arena, call.arena.alloc_slice_copy(&entries)))))
}

pub(super) fn numbers<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let text = call.text_argument(0);
    call.meter.charge_scan(text.len().saturating_mul(8))?;
    let mut found = Vec::new();
    for spelled in grounding::spelled_numbers(text) {
        call.meter.charge_memory(spelled.len())?;
        let number = Number::from_spelling(call.arena.alloc_str(&spelled));
        found.extend(number.map(|number| Node::computed(Value::Number(number))));
    }
    call.give_list(found)
}
