//! Values in reports: redacted and shortened.

use super::redact::{REDACTED, redact};
use averment_base::diagnostic::render::one_line;
use averment_base::value::json::{ENTRIES, LEVELS, TEXT};
use serde_json::Value;
use serde_json::value::RawValue;

/// Maximum size of a value in machine formats, in bytes of JSON. Larger values are pruned.
const WHOLE: usize = 2_000;
/// Returns a value for machine formats, from the JSON text of the evidence. Secrets are replaced. If the value is larger than 2,000 bytes, its texts,
/// lists and objects are shortened. Text that is no JSON becomes a string.
pub fn for_machines(json: &str, masked: bool) -> Option<Box<RawValue>> {
    if masked {
        return RawValue::from_string(format!("\"{REDACTED}\"")).ok();
    }
    // Escapes could hide a secret (`\u0041KIA…`), so strings with escapes are searched after decoding.
    if json.len() <= WHOLE
        && !json.contains('\\')
        && super::redact::find_secrets(json).is_empty()
        && let Ok(raw) = RawValue::from_string(json.to_owned())
    {
        return Some(raw);
    }
    let value = serde_json::from_str(json).unwrap_or_else(|_| Value::String(json.to_owned()));
    let levels = if json.len() <= WHOLE { usize::MAX } else { LEVELS };
    let text = serde_json::to_string(&prune_value(value, levels, json.len() <= WHOLE)).ok()?;
    RawValue::from_string(text).ok()
}

/// Redacts texts and, unless `whole`, shortens them. The JSON reader and `levels` bound the depth.
fn prune_value(value: Value, levels: usize, whole: bool) -> Value {
    let (text, entries) = if whole { (usize::MAX, usize::MAX) } else { (TEXT, ENTRIES) };
    match value {
        Value::String(content) => Value::String(shorten_text(&redact(&content), text)),
        Value::Array(_) | Value::Object(_) if levels == 0 => Value::String("…".to_owned()),
        Value::Array(list) => {
            let rest = if is_cut(list.len(), list.last()) { 0 } else { list.len().saturating_sub(entries) };
            let entries = if rest > 0 { entries } else { list.len() };
            let more = (rest > 0).then(|| Value::String(format!("… {rest} more")));
            list.into_iter().take(entries).map(|one| prune_value(one, levels - 1, whole)).chain(more).collect()
        }
        Value::Object(object) => {
            let rest = if is_cut(object.len(), object.get("…")) { 0 } else { object.len().saturating_sub(entries) };
            let entries = if rest > 0 { entries } else { object.len() };
            let more = (rest > 0).then(|| ("…".to_owned(), Value::String(format!("{rest} more"))));
            let kept = object.into_iter().take(entries);
            kept.map(|(key, one)| (shorten_text(&redact(&key), text), prune_value(one, levels - 1, whole)))
                .chain(more)
                .collect()
        }
        other => other,
    }
}

/// True if a value was pruned before, so that its last entry has the number of missing ones.
fn is_cut(length: usize, last: Option<&Value>) -> bool {
    length == ENTRIES + 1 && last.and_then(Value::as_str).is_some_and(|last| last.ends_with(" more"))
}

/// Returns a value for people: redacted, on one line, at most `length` characters.
pub fn for_people(json: &str, masked: bool, length: usize) -> String {
    if masked {
        return REDACTED.to_owned();
    }
    let is_json = serde_json::from_str::<serde::de::IgnoredAny>(json).is_ok();
    let shown = match for_machines(json, false).filter(|_| is_json) {
        Some(raw) => raw.get().to_owned(),
        None => redact(json).into_owned(),
    };
    shorten_text(&one_line(&shown), length)
}

/// Shortens a text to `length` characters, and marks the cut.
pub fn shorten_text(text: &str, length: usize) -> String {
    if text.len() <= length {
        return text.to_owned();
    }
    match text.char_indices().nth(length) {
        None => text.to_owned(),
        Some(_) => {
            let cut = text.char_indices().nth(length.saturating_sub(1)).map_or(0, |(at, _)| at);
            format!("{}…", text.get(..cut).unwrap_or(""))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machines(json: &str) -> String {
        for_machines(json, false).map_or_else(String::new, |raw| raw.get().to_owned())
    }

    #[test]
    fn small_values_stand_as_they_are() {
        for json in ["\"o-1\"", "12345678901234567890123", "1.50", "{\"b\": 1, \"a\": [null]}"] {
            assert_eq!(machines(json), json);
        }
        assert_eq!(machines("not json"), "\"not json\"");
    }

    #[test]
    fn long_texts_and_lists_are_cut_and_stay_json() {
        let text = format!("\"{}\"", "é".repeat(5_000));
        assert!(machines(&text).len() < 1_000 && machines(&text).ends_with("…\""));
        let list = format!("[{}0]", "1,".repeat(5_000));
        assert!(machines(&list).ends_with("\"… 4985 more\"]"), "{}", machines(&list));
        let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100)) + &" ".repeat(3_000);
        assert_eq!(machines(&deep), "[[[[[[\"…\"]]]]]]");
    }

    #[test]
    fn what_a_predicate_found_is_not_shown() {
        assert_eq!(for_machines("\"tok-123\"", true).unwrap().get(), "\"[redacted]\"");
        assert_eq!(for_people("\"tok-123\"", true, 80), "[redacted]");
    }

    #[test]
    fn people_see_one_short_line() {
        assert_eq!(for_people("\"a\u{1b}b\"", false, 80), "\"a?b\"");
        assert_eq!(for_people(&format!("\"{}\"", "x".repeat(500)), false, 10), "\"xxxxxxxx…");
    }
}
