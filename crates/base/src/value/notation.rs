//! Values as the language writes them, for people: bounded in length, with what is left out counted.
//!
//! Nothing in it steers a terminal: such characters are written as escapes.

use super::compare::with_deep_stack;
use super::{Number, Value};
use crate::diagnostic::render::is_steering;
use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns the start of a truncated text that may be shown: at most this many characters.
pub type TextShortener = for<'a> fn(&'a str, usize) -> Cow<'a, str>;

fn shorten_plainly(text: &str, most: usize) -> Cow<'_, str> {
    Cow::Borrowed(text.char_indices().nth(most).and_then(|(at, _)| text.get(..at)).unwrap_or(text))
}

/// The value in the notation of the language, about `most` characters at most: `{id: "o-1", amount: 250, … 3 more}`.
/// What a path does not find is `missing`, what the run does not record `not recorded`.
#[must_use]
pub fn value_notation(value: &Value<'_>, most: usize) -> String {
    notation_with(value, most, shorten_plainly)
}

/// Hides what `beginning` withholds from the start of a truncated text, such as a secret.
#[must_use]
pub fn notation_with(value: &Value<'_>, most: usize, beginning: TextShortener) -> String {
    let mut writer = NotationWriter { out: String::new(), left: most, beginning };
    writer.write_value(value);
    writer.out
}

/// A text in quotes as the language writes it, at most about `most` characters of it.
#[must_use]
pub fn quoted_text(text: &str, most: usize) -> String {
    let mut writer = NotationWriter { out: String::new(), left: most, beginning: shorten_plainly };
    writer.write_text(text);
    writer.out
}

/// True if a value's notation is a literal of the language: nothing missing, no range, no regular expression.
#[must_use]
pub fn is_literal(value: &Value<'_>) -> bool {
    match value {
        Value::Missing | Value::Absent | Value::Range(_) | Value::Regex(_) => false,
        Value::Truth(truth) => truth.plain_answer().is_some(),
        Value::List(items) => items.iter().all(|item| with_deep_stack(|| is_literal(&item.value))),
        Value::Object(object) => object.entries().iter().all(|entry| {
            matches!(entry.node.value, Value::Absent) || with_deep_stack(|| is_literal(&entry.node.value))
        }),
        Value::Null | Value::Boolean(_) | Value::Number(_) | Value::Text(_) => true,
    }
}

struct NotationWriter {
    out: String,
    left: usize,
    beginning: TextShortener,
}

impl NotationWriter {
    fn push(&mut self, text: &str) {
        self.left = self.left.saturating_sub(text.chars().count());
        self.out.push_str(text);
    }

    fn write_number(&mut self, number: Number<'_>) {
        self.push(&number.to_string());
    }

    fn write_value(&mut self, value: &Value<'_>) {
        match value {
            Value::Missing => self.push("missing"),
            Value::Absent => self.push("not recorded"),
            Value::Null => self.push("null"),
            Value::Boolean(value) => self.push(if *value { "true" } else { "false" }),
            Value::Truth(truth) => self.push(match truth.plain_answer() {
                Some(true) => "true",
                Some(false) => "false",
                None => "undecided",
            }),
            Value::Number(number) => self.write_number(*number),
            Value::Text(text) => self.write_text(text.as_str()),
            Value::List(items) => self.write_sequence('[', ']', items.len(), |writer, at| {
                if let Some(item) = items.get(at) {
                    writer.write_value(&item.value);
                }
            }),
            Value::Object(object) => {
                // Steps have entries for what a run could record: those that it does not are left out.
                let recorded = || object.entries().iter().filter(|entry| !matches!(entry.node.value, Value::Absent));
                let mut entries = recorded();
                self.write_sequence('{', '}', recorded().count(), |writer, _| {
                    if let Some(entry) = entries.next() {
                        writer.write_key(entry.key);
                        writer.push(": ");
                        writer.write_value(&entry.node.value);
                    }
                });
            }
            Value::Range(range) => {
                range.start.into_iter().for_each(|number| self.write_number(number));
                self.push("..");
                range.end.into_iter().for_each(|number| self.write_number(number));
            }
            Value::Regex(_) => self.push("a regular expression"),
        }
    }

    /// Entries until there is no more room; the others are counted.
    fn write_sequence(&mut self, open: char, close: char, count: usize, mut entry: impl FnMut(&mut Self, usize)) {
        self.out.push(open);
        for at in 0..count {
            let comma = if at > 0 { ", " } else { "" };
            if self.left < LEAST {
                let _ = write!(self.out, "{comma}… {}", more_words(count - at));
                break;
            }
            self.push(comma);
            with_deep_stack(|| entry(self, at));
        }
        self.out.push(close);
        self.left = self.left.saturating_sub(2);
    }

    /// A key is bare if it is a name.
    fn write_key(&mut self, key: &str) {
        let mut characters = key.chars();
        let starts = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
        if starts && characters.all(|one| one.is_ascii_alphanumeric() || one == '_') {
            self.push(key);
        } else {
            self.write_text(key);
        }
    }

    fn write_text(&mut self, text: &str) {
        let room = self.left.max(LEAST);
        self.out.push('"');
        let before = self.out.len();
        let (mut written, mut count) = (0, 0);
        for (at, character) in text.char_indices() {
            if written >= room {
                self.out.truncate(before);
                return self.write_cut(text, count, at);
            }
            written += self.write_character(character, text.get(at + character.len_utf8()..).unwrap_or(""));
            count += 1;
        }
        self.out.push('"');
        self.left = self.left.saturating_sub(written + 2);
    }

    /// Shows only `count` characters; they must end at `at`.
    fn write_cut(&mut self, text: &str, count: usize, at: usize) {
        let shown = (self.beginning)(text, count);
        for (at, character) in shown.char_indices() {
            self.write_character(character, shown.get(at + character.len_utf8()..).unwrap_or(""));
        }
        // Writing to a string never fails.
        let _ = write!(self.out, "…\" ({} in all)", length_words(text, at));
        self.left = 0;
    }

    /// Returns the number of characters written, including escapes.
    fn write_character(&mut self, character: char, behind: &str) -> usize {
        let before = self.out.len();
        match character {
            '"' => self.out.push_str("\\\""),
            '\\' => self.out.push_str("\\\\"),
            '\n' => self.out.push_str("\\n"),
            '\r' => self.out.push_str("\\r"),
            '\t' => self.out.push_str("\\t"),
            '$' if behind.starts_with('{') => self.out.push_str("\\$"),
            other if is_steering(other) => {
                // Writing to a string never fails.
                let _ = write!(self.out, "\\u{{{:x}}}", u32::from(other));
            }
            other => {
                self.out.push(other);
                return 1;
            }
        }
        self.out.len() - before
    }
}

/// With less room, nothing further is started.
const LEAST: usize = 4;

fn more_words(count: usize) -> String {
    format!("{count} more")
}

/// Counts exactly up to a point, then estimates in bytes: counting megabytes would be slow.
fn length_words(text: &str, from: usize) -> String {
    const COUNTED: usize = 1 << 20;
    if text.len() - from > COUNTED {
        return format!("{} bytes", text.len());
    }
    format!("{} characters", text.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::value::json::parse;
    use bumpalo::Bump;

    fn shown(json: &str, most: usize) -> String {
        let arena = Bump::new();
        value_notation(&parse(json, 0, &arena, &Limits::default()).unwrap().node.value, most)
    }

    #[test]
    fn values_read_as_the_language_writes_them() {
        assert_eq!(
            shown(r#"{"id":"o-1","user id":7,"n":[1,2.50,null,true]}"#, 200),
            r#"{id: "o-1", "user id": 7, n: [1, 2.50, null, true]}"#
        );
        assert_eq!(shown(r#""a \"b\" \\ \n ${x} €""#, 200), r#""a \"b\" \\ \n \${x} €""#);
        assert_eq!(shown("[]", 200), "[]");
    }

    #[test]
    fn what_steers_a_terminal_is_written_as_an_escape() {
        assert_eq!(shown(r#""\u001b[2J\u202e""#, 200), r#""\u{1b}[2J\u{202e}""#);
    }

    #[test]
    fn what_is_left_out_is_counted() {
        assert_eq!(shown("[1,2,3,4,5,6,7,8,9,10]", 12), "[1, 2, 3, 4, … 6 more]");
        assert_eq!(shown(&format!("\"{}\"", "x".repeat(1000)), 10), "\"xxxxxxxxxx…\" (1000 characters in all)");
        let long = shown(&format!("[{}0]", "\"abcdefgh\",".repeat(100_000)), 80);
        assert!(long.len() < 120 && long.contains(" more]"), "{long}");
    }

    #[test]
    fn what_is_not_there_has_words() {
        assert_eq!(value_notation(&Value::Missing, 80), "missing");
        assert_eq!(value_notation(&Value::Absent, 80), "not recorded");
    }
}
