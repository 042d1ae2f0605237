//! Hides credentials in displayed text: at cuts, and in values whose names mark them as credentials.

use super::assignments::{self, CredentialName};
use super::{Detector, DetectorFinding, byte_before, run_end, secrets};
use averment_base::limits::{FuelMeter, LimitError, Limits};
use averment_base::value::Value;
use averment_base::value::compare::with_deep_stack;
use averment_base::value::json::{parse_recorded, to_json};
use bumpalo::Bump;
use std::borrow::Cow;
use std::ops::{ControlFlow, Range};

/// Replaces a secret in messages and reports.
pub const REDACTED: &str = "[redacted]";

/// Number of bytes examined after a cut. No credential is longer.
const REACH: usize = 8 << 10;

/// Returns the first `most` characters of a text, for display. Credentials before the cut and across the cut are replaced, because a part of a
/// credential could not be detected later.
#[must_use]
pub fn redacted_start(text: &str, most: usize) -> Cow<'_, str> {
    let cut = prefix_end(text, most);
    if cut == text.len() {
        return Cow::Borrowed(text);
    }
    match without_credentials(text.get(..text.floor_char_boundary(cut.saturating_add(REACH))).unwrap_or(text), cut) {
        Cow::Borrowed(_) => Cow::Borrowed(text.get(..cut).unwrap_or_default()),
        Cow::Owned(mut shown) => {
            shown.truncate(prefix_end(&shown, most));
            Cow::Owned(shown)
        }
    }
}

/// Returns the last `most` characters of a text, redacted as by [`redacted_start`].
#[must_use]
pub fn redacted_end(text: &str, most: usize) -> Cow<'_, str> {
    let cut = text.char_indices().rev().take(most).last().map_or(text.len(), |(at, _)| at);
    let near = text.get(text.floor_char_boundary(cut.saturating_sub(REACH))..).unwrap_or(text);
    match without_credentials(near, near.len()) {
        Cow::Borrowed(_) => Cow::Borrowed(text.get(cut..).unwrap_or_default()),
        Cow::Owned(shown) => {
            let cut = shown.char_indices().rev().take(most).last().map_or(0, |(at, _)| at);
            Cow::Owned(shown.get(cut..).unwrap_or_default().to_owned())
        }
    }
}

/// Redacts credentials that start before `end`; borrowed if there are none.
fn without_credentials(text: &str, end: usize) -> Cow<'_, str> {
    let Ok(found) = find_credentials(text, &mut FuelMeter::new(&Limits::default())) else {
        return Cow::Owned(REDACTED.to_owned());
    };
    let (mut shown, mut at) = (String::new(), 0);
    for range in found.iter().filter(|range| range.start < end) {
        shown.push_str(text.get(at..range.start).unwrap_or_default());
        shown.push_str(REDACTED);
        at = range.end;
    }
    if at == 0 {
        return Cow::Borrowed(text);
    }
    shown.push_str(text.get(at..end).unwrap_or_default());
    Cow::Owned(shown)
}

fn prefix_end(text: &str, most: usize) -> usize {
    if text.len() <= most {
        return text.len();
    }
    text.char_indices().nth(most).map_or(text.len(), |(at, _)| at)
}

/// Returns the ranges of credentials in displayed text, sorted and without overlaps. Besides the detector's findings, these are credentials with a
/// name in front, such as `log_AKIA…`, which the detector does not report.
///
/// # Errors
/// Returns an error only if a limit is reached.
pub fn find_credentials(text: &str, meter: &mut FuelMeter) -> Result<Vec<Range<usize>>, LimitError> {
    let found = Detector::Secrets.find(text, meter)?;
    let mut found: Vec<Range<usize>> = found.into_iter().map(|finding| finding.range).collect();
    let known = found.len();
    for (word, part) in long_words(text) {
        let free = found.iter().take(known).all(|range| range.end <= word.start || range.start >= word.end);
        found.extend(free.then(|| behind_a_name(text, word, part)).flatten());
    }
    found.sort_by_key(|range| range.start);
    Ok(found)
}

/// Minimum length of the alphanumeric part that every credential has.
const SHORTEST_PART: usize = 14;
const PARTS: usize = 8;

fn long_words(text: &str) -> impl Iterator<Item = (Range<usize>, usize)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            // Every part of this length covers such a probe position, so only these positions are checked first.
            let probe = at + SHORTEST_PART - 1;
            if !bytes.get(probe)?.is_ascii_alphanumeric() {
                at = probe + 1;
                continue;
            }
            let near = bytes.get(at..probe)?.iter().rev();
            let start = probe - near.take_while(|byte| byte.is_ascii_alphanumeric()).count();
            let end = run_end(bytes, probe, usize::MAX, |byte| byte.is_ascii_alphanumeric());
            at = end;
            if end - start >= SHORTEST_PART && matches!(byte_before(bytes, start), Some(b'_' | b'-')) {
                let back = bytes.get(..start)?.iter().rev().take(REACH).take_while(|byte| is_of_word(**byte)).count();
                at = run_end(bytes, end, REACH, is_of_word);
                return Some((start - back..at, end));
            }
        }
    })
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Returns a credential that starts after `_` or `-` in a word, and ends with the word or its long part.
fn behind_a_name(text: &str, word: Range<usize>, part: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes().get(word.clone())?;
    let joints = bytes.iter().enumerate().filter(|(_, byte)| matches!(byte, b'_' | b'-'));
    let starts = joints.take(PARTS).map(|(at, _)| word.start + at + 1).filter(|start| *start < part);
    starts.flat_map(|start| [start..word.end, start..part]).find_map(|range| {
        let mut length = None;
        let _ = secrets::scan_secrets(text.get(range.clone())?, &mut |finding: DetectorFinding| {
            length = (finding.range.start == 0).then_some(finding.range.end);
            ControlFlow::Break(())
        });
        Some(range.start..range.start + length?)
    })
}

/// Calls `found` with every text and number that a name marks as a credential: the value of `password`, and all values in a list or an object of that
/// name, at any depth. Also searches objects in JSON strings.
pub fn visit_named_texts(value: &Value<'_>, found: &mut dyn FnMut(&str)) {
    visit_value_texts(None, value, TEXTS, found);
}

/// Maximum nesting of JSON in strings: tool results contain server responses, and these contain documents.
const TEXTS: usize = 4;

fn visit_value_texts(name: Option<CredentialName>, value: &Value<'_>, texts: usize, found: &mut dyn FnMut(&str)) {
    match value {
        Value::List(items) => {
            with_deep_stack(|| items.iter().for_each(|item| visit_value_texts(name, &item.value, texts, found)));
        }
        Value::Object(object) => with_deep_stack(|| {
            for entry in object.entries() {
                let list = matches!(entry.node.value, Value::List(_));
                let name = name.max(assignments::of_credentials(entry.key.as_bytes(), list));
                visit_value_texts(name, &entry.node.value, texts, found);
            }
        }),
        Value::Text(text) => {
            let text = text.as_str();
            if name.is_some_and(|name| assignments::is_hidden(name, text)) {
                found(text);
            } else if texts > 0 && (name.is_some() || assignments::may_name_credential(text)) {
                visit_json_text(name, text, texts - 1, found);
            }
        }
        Value::Number(_) => {
            let number = to_json(value);
            if name.is_some_and(|name| assignments::is_hidden(name, &number)) {
                found(&number);
            }
        }
        _ => {}
    }
}

fn visit_json_text(name: Option<CredentialName>, text: &str, texts: usize, found: &mut dyn FnMut(&str)) {
    if !text.trim_start().starts_with(['{', '[', '"']) {
        return;
    }
    let arena = Bump::new();
    if let Ok(document) = parse_recorded(text, 0, &arena, &Limits::default()) {
        visit_value_texts(name, &document.node.value, texts, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "ghp_1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R";

    #[test]
    fn no_cut_goes_through_a_credential() {
        for before in 0..60 {
            let text = format!("{}{KEY} and more behind it", " é".repeat(before));
            for most in 1..text.chars().count() {
                let shown = redacted_start(&text, most);
                assert!(!shown.contains("ghp_"), "{most}: {shown}");
                assert!(shown.chars().count() <= most || !shown.contains(REDACTED));
            }
        }
        for behind in 0..60 {
            let text = format!("{} {KEY} {}", "x ".repeat(40), "é ".repeat(behind));
            for most in 1..140 {
                assert!(!redacted_end(&text, most).contains("7q8R"), "{most}: {}", redacted_end(&text, most));
            }
        }
        let assigned = format!("{}\"password\": \"hunter22Xq9vTz7w\"}}", " ".repeat(50));
        assert!(!redacted_start(&assigned, 70).contains("hunter"));
    }

    #[test]
    fn a_credential_behind_a_name_is_shown_nowhere() {
        let found = |text: &str| find_credentials(text, &mut FuelMeter::new(&Limits::default())).unwrap();
        for name in ["log_", "log-", "a_b_", "x.log_"] {
            for key in [KEY, "AKIAQWERTYUIOPASDFGH"] {
                let text = format!("never {name}{key} at call 1, nor {name}{key}");
                let [first, second] = &found(&text)[..] else { panic!("{text}") };
                assert_eq!((&text[first.clone()], &text[second.clone()]), (key, key));
            }
        }
        for harmless in ["log_in_to_internationalisation", "task-abcdefghijklmnopqrst", "_", "é_ééééééééééééééééé"]
        {
            assert!(found(harmless).is_empty(), "{harmless}");
        }
    }

    #[test]
    fn names_hide_values_wherever_they_stand() {
        let found = |json: &str| {
            let (arena, mut texts) = (Bump::new(), Vec::new());
            let document = parse_recorded(json, 0, &arena, &Limits::default()).unwrap();
            visit_named_texts(&document.node.value, &mut |text| texts.push(text.to_owned()));
            texts.sort();
            texts
        };
        let object = r#"{"a": [{"user": "ann", "password": "respw9z8", "pin": 1, "db_password": 48151623}]}"#;
        let mut text = object.to_owned();
        for _ in 0..=TEXTS {
            assert_eq!(found(&text), ["48151623", "respw9z8"], "{text}");
            text = serde_json::to_string(&serde_json::json!({ "result": text })).unwrap();
        }
        assert_eq!(found(r#"{"password": "[\"respw9z8\"]"}"#).len(), 1);
        for harmless in [r#"{"tokens": 48151623, "r": "{\"max_tokens\": 48151623}"}"#, r#""password: {""#] {
            assert_eq!(found(harmless), [""; 0], "{harmless}");
        }
    }

    #[test]
    fn what_is_not_cut_stays() {
        assert_eq!(redacted_start(KEY, 200), KEY);
        assert_eq!(redacted_start("an ordinary sentence", 11), "an ordinary");
        assert_eq!(redacted_start("ééé", 2), "éé");
        assert_eq!(redacted_end("aéé", 2), "éé");
    }
}
