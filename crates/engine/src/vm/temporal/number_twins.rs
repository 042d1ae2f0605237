//! Steps that do not meet because one binds a number and the other the text that spells it: `7` and `"7"` are two values.

use super::explain;
use super::view::MonitorView;
use averment_base::value::Value;
use averment_base::value::json::to_json;
use std::collections::BTreeMap;

/// A remark for a statement that holds although its patterns bind a number and a text spelled alike.
pub(super) fn twin_remark(view: &MonitorView<'_, '_>) -> Option<Box<str>> {
    if !view.timeline.values.has_twins() {
        return None;
    }
    for first in 0..view.operands.len() {
        for second in first + 1..view.operands.len() {
            for name in view.shared_names(first, second) {
                let (one, two) = (bound_values(view, first, name), bound_values(view, second, name));
                let twin = one.iter().find(|((spelled, number), _)| two.contains_key(&(spelled.clone(), !number)));
                let Some(((spelled, number), step)) = twin else { continue };
                let other = two.get(&(spelled.clone(), !number))?;
                let (number, text) = if *number { (step, other) } else { (other, step) };
                let binding = view.entry.and_then(|entry| entry.binding_names.get(name as usize));
                let words = format!(
                    "`${}` is the number {} in {} and the text \"{}\" in {}: these are two values",
                    binding.map_or("", String::as_str),
                    explain::short_text(spelled),
                    view.describe_step(*number),
                    explain::short_text(spelled),
                    view.describe_step(*text)
                );
                return Some(words.into());
            }
        }
    }
    None
}

fn bound_values(view: &MonitorView<'_, '_>, operand: usize, name: u32) -> BTreeMap<(String, bool), u32> {
    let mut found = BTreeMap::new();
    let (Some(unique), Some(matches)) =
        (view.unique_pattern(operand), view.operands.get(operand).and_then(|one| view.timeline.matches_of(one.unique)))
    else {
        return found;
    };
    let Ok(position) = unique.names.binary_search(&name) else { return found };
    for (number, event) in (0..).zip(&matches.events) {
        let id = matches.value_ids(number, unique.names.len()).get(position).copied();
        let Some(node) = id.and_then(|id| view.timeline.values.value_node(id)) else { continue };
        if let Some(key) = spelled_number(&node.value) {
            found.entry(key).or_insert(event.step);
        }
    }
    found
}

/// The spelling of a number or number-like text; the bool tells which.
pub(super) fn spelled_number(value: &Value<'_>) -> Option<(String, bool)> {
    match value {
        Value::Number(_) => Some((to_json(value), true)),
        Value::Text(text) => {
            let text = text.as_str();
            let is_number = text.len() <= 40 && text.bytes().any(|byte| byte.is_ascii_digit());
            (is_number && text.bytes().all(|byte| byte.is_ascii_digit() || b"-.".contains(&byte)))
                .then(|| (text.to_owned(), false))
        }
        _ => None,
    }
}
