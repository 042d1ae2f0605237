//! Functions over text.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::call::{BuiltinCall, BuiltinResult, SearchNeedle, borrowed_text, first_gap};
use super::matcher::RegexMatcher;
use super::pattern::LinearRegex;
use averment_base::limits::{FuelMeter, LimitError};
use averment_base::value::json::to_json;
use averment_base::value::{Node, Number, Object, ObjectEntry, Value};
use averment_runs::command::{WantedCommand, parse_plain, searched_for};

/// True for white space that separates words: Unicode white space, and the four ASCII separators U+001C to U+001F.
#[must_use]
pub fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{1c}'..='\u{1f}')
}

/// Returns the words of a text.
pub fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

pub(super) fn lower<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let text = call.text_argument(0);
    call.meter.charge_scan(text.len())?;
    call.give_text(&text.to_lowercase())
}

pub(super) fn upper<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let text = call.text_argument(0);
    call.meter.charge_scan(text.len())?;
    call.give_text(&text.to_uppercase())
}

pub(super) fn trim<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    Ok(borrowed_text(call.text_argument(0).trim_matches(is_space)))
}

pub(super) fn words<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let text = call.text_argument(0);
    call.meter.charge_scan(text.len())?;
    call.give_list(split_words(text).map(borrowed_text))
}

pub(super) fn lines<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let text = call.text_argument(0);
    call.meter.charge_scan(text.len())?;
    call.give_list(text.lines().map(borrowed_text))
}

pub(super) fn word_count<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let text = call.text_argument(0);
    call.meter.charge_scan(text.len())?;
    call.give_count(split_words(text).count())
}

pub(super) fn length<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let count = match call.argument_node(0).value {
        Value::List(items) => items.len(),
        Value::Object(object) => object.entries().len(),
        _ => {
            let text = call.text_argument(0);
            call.meter.charge_scan(text.len())?;
            text.chars().count()
        }
    };
    call.give_count(count)
}

pub(super) fn replace<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let (text, to) = (call.text_argument(0), call.text_argument(2));
    call.meter.charge_scan(text.len())?;
    let replaced = match call.needle_argument(1) {
        None => return call.give_missing(),
        Some(SearchNeedle::Text("")) => text.to_owned(),
        Some(SearchNeedle::Text(from)) => replace_text(text, from, to, call.meter)?,
        Some(SearchNeedle::Regex(RegexMatcher::Linear(pattern))) => replace_matches(text, pattern, to, call.meter)?,
        Some(SearchNeedle::Regex(RegexMatcher::Backtracking(number, pattern))) => {
            pattern.replace(*number, text, to, call.meter)?
        }
    };
    call.give_text(&replaced)
}

fn replace_text(text: &str, from: &str, to: &str, meter: &mut FuelMeter) -> Result<String, LimitError> {
    let count = memchr::memmem::find_iter(text.as_bytes(), from).count();
    // The size is checked before the text is built, because a short text can grow enormously.
    let size = text.len().saturating_add(count.saturating_mul(to.len()));
    meter.check_memory(size)?;
    meter.charge_scan(size)?;
    Ok(text.replace(from, to))
}

fn replace_matches(text: &str, pattern: &LinearRegex, to: &str, meter: &mut FuelMeter) -> Result<String, LimitError> {
    let mut out = String::new();
    let mut copied = 0;
    // Finding groups takes additional work.
    pattern.pay_for_matches(text, 4, meter)?;
    for captures in pattern.regex.captures_iter(text) {
        let Some(found) = captures.get(0) else { continue };
        out.push_str(text.get(copied..found.start()).unwrap_or_default());
        // Each mention of a group can insert at most the match, since groups are parts of it.
        meter.charge_fuel(16)?;
        meter.check_memory(out.len().saturating_add(to.len().saturating_mul(found.len().saturating_add(1))))?;
        captures.expand(to, &mut out);
        copied = found.end();
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Ok(out)
}

pub(super) fn split<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let text = call.text_argument(0);
    call.meter.charge_scan(text.len())?;
    match call.needle_argument(1) {
        None => call.give_missing(),
        Some(SearchNeedle::Text("")) => {
            let characters = text.char_indices().map(|(at, character)| {
                borrowed_text(text.get(at..at.saturating_add(character.len_utf8())).unwrap_or_default())
            });
            call.give_list(characters)
        }
        Some(SearchNeedle::Text(separator)) => call.give_list(text.split(separator).map(borrowed_text)),
        Some(SearchNeedle::Regex(RegexMatcher::Backtracking(number, pattern))) => {
            let parts = pattern.split(*number, text, call.meter)?;
            call.give_list(parts.into_iter().map(borrowed_text))
        }
        Some(SearchNeedle::Regex(RegexMatcher::Linear(pattern))) => {
            pattern.pay_for_matches(text, 1, call.meter)?;
            call.give_list(pattern.regex.split(text).map(borrowed_text))
        }
    }
}

pub(super) fn join<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let (items, separator) = (call.list_argument(0), call.text_argument(1));
    if let Some(value) = first_gap(items) {
        return Ok(Node::computed(value));
    }
    let mut out = String::new();
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(separator);
        }
        call.check_written(item, out.len())?;
        push_text(&item.value, &mut out);
        call.meter.charge_fuel(1)?;
        call.meter.check_memory(out.len())?;
    }
    call.give_text(&out)
}

pub(super) fn text<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let node = call.argument_node(0);
    if let Value::Text(_) = node.value {
        return Ok(node);
    }
    call.check_written(&node, 0)?;
    let json = to_json(&node.value);
    call.meter.charge_scan(json.len())?;
    call.give_text(&json)
}

/// Appends a value as text: text as it is, everything else as compact JSON.
pub fn push_text(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Text(text) => out.push_str(text.as_str()),
        other => averment_base::value::json::write_json(other, out),
    }
}

pub(super) fn number<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let node = call.argument_node(0);
    match node.value {
        Value::Text(text) => {
            let spelled = text.as_str().trim_matches(is_space);
            call.meter.charge_scan(spelled.len())?;
            call.give_number(Number::from_spelling(spelled))
        }
        _ => Ok(node),
    }
}

pub(super) fn parse_command<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let command = call.text_argument(0);
    call.meter.charge_scan(command.len())?;
    // Every word of the command is copied at most twice, and a word may be one letter.
    call.meter.check_memory(command.len().saturating_mul(16))?;
    call.meter.charge_memory(command.len().saturating_mul(2))?;
    let plain = parse_plain(command);
    let arena = call.arena;
    let text = |text: &str| borrowed_text(arena.alloc_str(text));
    let mut options = Vec::new();
    for (name, values) in &plain.options {
        let values: Vec<Node<'run>> =
            values.iter().map(|value| value.as_deref().map_or(Node::computed(Value::Boolean(true)), text)).collect();
        options.push((&*arena.alloc_str(name), call.give_list(values)?));
    }
    let positionals = call.give_list(plain.positionals.iter().map(|word| text(word)))?;
    let executable = plain.executable.as_deref().map_or(Node::computed(Value::Null), text);
    let options = object_node(arena, options);
    let end_of_options = Node::computed(Value::Boolean(plain.end_of_options));
    Ok(object_node(
        arena,
        vec![
            ("executable", executable),
            ("positionals", positionals),
            ("options", options),
            ("end_of_options", end_of_options),
        ],
    ))
}

pub(super) fn runs_command<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let command = call.text_argument(1);
    call.meter.charge_scan(command.len())?;
    let line = if call.has_argument(2) { call.text_argument(2) } else { "" };
    call.meter.charge_scan(line.len())?;
    let mut held = line.matches(command).count();
    let Some(wanted) = WantedCommand::read(command) else { return call.give_boolean(held > 0) };
    let mut is_hidden = false;
    for part in call.list_argument(0) {
        call.meter.charge_fuel(1)?;
        let Value::Object(part) = part.value else { continue };
        match wanted.is_run_by(&part) {
            Some(true) => return call.give_boolean(true),
            Some(false) => {}
            None => is_hidden = true,
        }
        held = held.saturating_sub(searched_for(&part, command));
    }
    // The rest of the line may run the command: through an unknown program, or a script that it writes.
    if held > 0 {
        return call.give_boolean(true);
    }
    if is_hidden { Ok(Node::computed(Value::Absent)) } else { call.give_boolean(false) }
}

/// Creates an object. The keys must be distinct.
fn object_node<'run>(arena: &'run bumpalo::Bump, entries: Vec<(&'run str, Node<'run>)>) -> Node<'run> {
    let entries = entries.into_iter().map(|(key, node)| ObjectEntry { key, node });
    let entries: Vec<ObjectEntry<'run>> = entries.collect();
    Node::computed(Value::Object(Object::new(arena, arena.alloc_slice_copy(&entries))))
}
