//! Values that differ by their type or their writing alone, and values that hold another one: neither is evidence of a difference
//! (`docs/reference/expressions.md`, "Unfit values").

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::compare::with_deep_stack;
use super::json::parse;
use super::{Number, Value, ValueText};
use crate::limits::Limits;
use crate::near::{appearance_chars, text_appearance};
use crate::truth::Truth;
use bumpalo::Bump;

/// Which values are the same: those of `==` or of `===`.
pub type EqualityTest = fn(&Value<'_>, &Value<'_>) -> bool;

/// Whether two values are equal; those that are alike, or of which one holds the other, are no evidence of a difference.
#[must_use]
pub fn whole_equality(left: &Value<'_>, right: &Value<'_>, same: EqualityTest) -> Truth {
    match (left, right) {
        _ if same(left, right) => Truth::True,
        _ if is_alike(left, right, same) => Truth::FalseByMissing,
        _ => Truth::False,
    }
}

/// Whether values that are not equal differ by type or writing alone, or one holds the other, at any depth and in any writing.
fn is_alike(left: &Value<'_>, right: &Value<'_>, same: EqualityTest) -> bool {
    is_spelled_alike(left, right) || holds_value(left, right, same) || holds_value(right, left, same)
}

/// A text that spells the other value or differs by letter case, by white space or by characters that look alike; a number that stands for
/// the boolean.
fn is_spelled_alike(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Text(a), Value::Text(b)) => {
            let (a, b) = (a.as_str(), b.as_str());
            begin_alike(a, b) && (is_written_like(a, b) || looks_like(a, b)) || is_json_like(a, b)
        }
        _ => stands_for(left, right) || stands_for(right, left),
    }
}

/// Whether a text spells a number or a boolean, or a number stands for the boolean.
fn stands_for(value: &Value<'_>, other: &Value<'_>) -> bool {
    match value {
        Value::Text(text) => spells_scalar(text.as_str().trim(), other),
        Value::Number(number) => {
            boolean_answer(other).is_some_and(|answer| number.compare(Number::from_count(usize::from(answer))).is_eq())
        }
        _ => false,
    }
}

/// Whether a value stands inside of another one, or nearly does.
#[must_use]
pub fn holds_value(whole: &Value<'_>, part: &Value<'_>, same: EqualityTest) -> bool {
    if is_nothing(part) {
        return false;
    }
    match whole {
        Value::List(items) => with_deep_stack(|| items.iter().any(|item| is_value_or_holds(&item.value, part, same))),
        Value::Object(object) => {
            with_deep_stack(|| object.entries().iter().any(|entry| is_value_or_holds(&entry.node.value, part, same)))
        }
        Value::Text(text) if may_hold(text.as_str(), part) => {
            with_opened(*text, |inner| is_value_or_holds(inner, part, same))
        }
        _ => false,
    }
}

fn is_value_or_holds(value: &Value<'_>, part: &Value<'_>, same: EqualityTest) -> bool {
    is_nearly_equal(value, part, same) || holds_value(value, part, same)
}

/// Equal but for writing, part by part. What holds another value is not looked for here, so that the work grows with the size of the values.
fn is_nearly_equal(value: &Value<'_>, part: &Value<'_>, same: EqualityTest) -> bool {
    match (value, part) {
        (Value::List(a), Value::List(b)) => {
            let alike = || a.iter().zip(*b).all(|(a, b)| is_nearly_equal(&a.value, &b.value, same));
            a.len() == b.len() && with_deep_stack(alike)
        }
        (Value::Object(a), Value::Object(b)) => {
            let other = |key: &str| b.get(key).map(|node| node.value);
            let is_like = |key: &str, value: &Value<'_>| other(key).is_some_and(|b| is_nearly_equal(value, &b, same));
            let alike = || a.entries().iter().all(|entry| is_like(entry.key, &entry.node.value));
            a.entries().len() == b.entries().len() && with_deep_stack(alike)
        }
        (Value::List(_) | Value::Object(_), Value::Text(text)) => {
            with_opened(*text, |inner| is_nearly_equal(value, inner, same))
        }
        // Every second object holds a 0 or a 1: only the boolean itself, or a text that spells it, is meant.
        (Value::Number(_), other) if boolean_answer(other).is_some() => false,
        (other, Value::Number(_)) if boolean_answer(other).is_some() => false,
        _ => same(value, part) || is_spelled_alike(value, part),
    }
}

/// Nearly every object holds these somewhere, and nobody looks for them.
fn is_nothing(part: &Value<'_>) -> bool {
    match part {
        Value::List(items) => items.is_empty(),
        Value::Object(object) => object.entries().is_empty(),
        Value::Missing | Value::Absent | Value::Null => true,
        _ => false,
    }
}

fn with_opened(text: ValueText<'_>, then: impl FnOnce(&Value<'_>) -> bool) -> bool {
    open_text(text.as_str(), then).unwrap_or(false)
}

/// What is made of the object or list that a text is in JSON as a whole.
pub fn open_text<T>(text: &str, then: impl FnOnce(&Value<'_>) -> T) -> Option<T> {
    if !is_framed(text) {
        return None;
    }
    let arena = Bump::new();
    let document = parse(text, 0, &arena, &Limits::default()).ok()?;
    Some(then(&document.node.value))
}

/// Whether a text may be an object or a list in JSON.
#[must_use]
pub fn is_framed(text: &str) -> bool {
    let inner = text.trim_ascii();
    let has_ends = |ends: [char; 2]| inner.starts_with(ends[0]) && inner.ends_with(ends[1]);
    text.len() <= LARGEST && (has_ends(['{', '}']) || has_ends(['[', ']']))
}

/// Whether it is worth while to read a text as JSON.
fn may_hold(text: &str, part: &Value<'_>) -> bool {
    if !is_framed(text) {
        return false;
    }
    match part {
        Value::Text(part) => {
            let part = part.as_str().trim();
            // The beginning tells enough, and takes no time that grows with both texts.
            let start = first_bytes(part);
            let is_plain = text.is_ascii() && start.is_ascii() && !text.contains('\\') && !is_framed(part);
            !is_plain || contains_ignoring_ascii_case(text, start) || may_hold_spelled(text, part)
        }
        Value::Number(_) => has_digit(text),
        _ => true,
    }
}

/// Whether JSON may hold what a text spells in other letters: `"1"` is `true`, `"250"` is `2.5e2`.
fn may_hold_spelled(text: &str, part: &str) -> bool {
    Number::from_spelling(part).is_some() && has_digit(text)
        || [true, false].iter().any(|answer| {
            let word = if *answer { "true" } else { "false" };
            spells_boolean(part, *answer) && text.contains(word)
        })
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

fn contains_ignoring_ascii_case(text: &str, part: &str) -> bool {
    let Some(first) = part.bytes().next() else { return true };
    let (text, part) = (text.as_bytes(), part.as_bytes());
    memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), text).any(|at| {
        text.get(at..).and_then(|rest| rest.get(..part.len())).is_some_and(|at| at.eq_ignore_ascii_case(part))
    })
}

/// True if texts differ only in letter case or surrounding whitespace.
#[must_use]
pub fn is_written_like(text: &str, other: &str) -> bool {
    fn lower(text: &str) -> impl Iterator<Item = char> {
        text.chars().flat_map(char::to_lowercase)
    }
    let (text, other) = (text.trim(), other.trim());
    text.eq_ignore_ascii_case(other) || may_look_alike(text, other) && lower(text).eq(lower(other))
}

/// Two texts of JSON that differ by the white space in them alone.
fn is_json_like(text: &str, other: &str) -> bool {
    fn parts(text: &str) -> impl Iterator<Item = u8> {
        text.bytes().filter(|byte| !byte.is_ascii_whitespace())
    }
    is_framed(text) && is_framed(other) && parts(text).eq(parts(other))
}

fn spells_scalar(text: &str, other: &Value<'_>) -> bool {
    match other {
        Value::Number(number) => number.is_spelled(text),
        other => boolean_answer(other).is_some_and(|answer| spells_boolean(text, answer)),
    }
}

fn boolean_answer(value: &Value<'_>) -> Option<bool> {
    match value {
        Value::Boolean(value) => Some(*value),
        Value::Truth(truth) => truth.plain_answer(),
        _ => None,
    }
}

fn spells_boolean(text: &str, value: bool) -> bool {
    let words = if value { ["true", "yes", "on", "1"] } else { ["false", "no", "off", "0"] };
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// True if a failed text test would hold for the appearance: composition, other scripts, invisible characters. Whatever text holds the other
/// by the test, contains it.
#[must_use]
pub fn look_alike(text: &str, other: &str, test: impl Fn(&str, &str) -> bool) -> bool {
    if !may_look_alike(text, other) || other.is_empty() {
        return false;
    }
    let wanted = text_appearance(other);
    let may_hold = || strange_parts(text, wanted.len()).any(|part| text_appearance(part).contains(&wanted));
    (!other.is_ascii() || may_hold()) && test(&text_appearance(text), &wanted)
}

/// The parts of a text in which another one of ASCII may stand in strange letters: its characters outside ASCII, with so many bytes around
/// them as the other one has at most. Between two ASCII texts alone nobody takes letters for others.
fn strange_parts(text: &str, margin: usize) -> impl Iterator<Item = &str> {
    let (bytes, mut from) = (text.as_bytes(), 0_usize);
    let strange = move |range: std::ops::Range<usize>| -> Option<usize> {
        let at = bytes.get(range.clone())?.iter().position(|byte| !byte.is_ascii())?;
        Some(range.start.saturating_add(at))
    };
    std::iter::from_fn(move || {
        let first = strange(from..bytes.len())?;
        let start = first.saturating_sub(margin).max(from);
        let mut end = first.saturating_add(1);
        while let Some(next) = strange(end..end.saturating_add(margin.saturating_mul(2)).min(bytes.len())) {
            end = next.saturating_add(1);
        }
        from = end.saturating_add(margin).min(bytes.len());
        text.get(start..from)
    })
}

/// The same for a test that does not distinguish letter case: `I` looks like `l` and `i` does not, so that letters are lowered first.
#[must_use]
pub fn look_alike_in_lower_case(text: &str, other: &str, test: impl Fn(&str, &str) -> bool) -> bool {
    may_look_alike(text, other) && look_alike(&text.to_lowercase(), &other.to_lowercase(), test)
}

fn looks_like(text: &str, other: &str) -> bool {
    let lower = |text: &str| text.trim().to_lowercase();
    may_look_alike(text, other)
        && (appearance_chars(text).eq(appearance_chars(other))
            || appearance_chars(&lower(text)).eq(appearance_chars(&lower(other))))
}

/// Whether long texts look alike where they begin: a list of many texts is compared with a long one in the time that the list takes to read.
fn begin_alike(text: &str, other: &str) -> bool {
    let (text, other) = (text.trim(), other.trim());
    if text.len().max(other.len()) <= BEGINNING {
        return true;
    }
    if differ_plainly(text, other) {
        return false;
    }
    let start = |text: &str| -> (String, bool) {
        let letters = text.chars().take(BEGINNING).flat_map(char::to_lowercase);
        // The last sigma of a word is the same letter.
        let start: String = letters.map(|letter| if letter == 'ς' { 'σ' } else { letter }).collect();
        let seen: String = appearance_chars(&start).take(SEEN).collect();
        let is_known = seen.chars().count() == SEEN || text.chars().nth(BEGINNING).is_none();
        (seen, is_known)
    };
    let (text, other) = (start(text), start(other));
    text.0 == other.0 || !(text.1 && other.1)
}

/// The beginning of a text, up to a whole character.
fn first_bytes(text: &str) -> &str {
    text.get(..text.floor_char_boundary(BEGINNING)).unwrap_or(text)
}

/// Characters at the beginning of a long text that tell it apart from others.
const BEGINNING: usize = 64;

/// As many of them as are compared, where nobody sees the others.
const SEEN: usize = 8;

/// Whether the first characters that differ are of those that nobody takes for others, or one text goes on where the other ends.
fn differ_plainly(text: &str, other: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() && !TAKEN_FOR_OTHERS.contains(&byte.to_ascii_lowercase());
    let (mut text, mut other) = (text.bytes(), other.bytes());
    loop {
        match (text.next(), other.next()) {
            (Some(one), Some(two)) if one.is_ascii() && one.eq_ignore_ascii_case(&two) => {}
            (Some(one), Some(two)) => return is_plain(one) && is_plain(two),
            (Some(next), None) | (None, Some(next)) => return next.is_ascii_graphic() || next == b' ',
            (None, None) => return false,
        }
    }
}

/// `l` is taken for `i`, `m` for `rn`, `0` for `o`.
const TAKEN_FOR_OTHERS: &[u8] = b"ilmor01";

/// Bytes of a text that is examined again.
const LARGEST: usize = 1 << 20;

fn may_look_alike(text: &str, other: &str) -> bool {
    text.len().max(other.len()) <= LARGEST && !(text.is_ascii() && other.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::look_alike;
    use proptest::prelude::*;

    proptest! {
        /// Only what stands around strange letters is looked at: a word in strange letters is found wherever it stands.
        #[test]
        fn a_word_in_strange_letters_is_found_anywhere(
            before in "[a-z ]{0,40}(é[a-z]{0,3}){0,2}",
            word in "(ра|[a-z]{1,5}|\u{200b}|е\u{301}?){0,3}[аеорсух\u{ad}](m|1|[a-z]{1,12}){0,3}",
            behind in "(—? ?[a-z]{0,9}){0,4}",
        ) {
            let plain: String = crate::near::text_appearance(&word);
            prop_assume!(plain.is_ascii() && !plain.is_empty());
            let text = format!("{before}{word}{behind}");
            prop_assert!(text.contains(&plain) || look_alike(&text, &plain, |text, part| text.contains(part)));
        }
    }

    #[test]
    fn letters_of_one_script_are_not_taken_for_others() {
        let holds = |text: &str, part: &str| text.contains(part);
        assert!(look_alike("to раураl — now", "paypal", holds));
        assert!(!look_alike("naïve: ba1ance", "balance", holds));
    }
}
