//! What is wrong with a text that is not JSON, and what to write instead.

use crate::memory::note_refusal;
use std::fmt;

/// Why a text was not read. Its message reads behind the place: `line 3, column 7: expected …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    /// Byte offset in the text that was given.
    pub offset: usize,
    /// Line of that text, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to write.
    pub help: String,
    /// It may be JSON, and takes more memory than a run may have, or than the system has.
    pub lacks_memory: bool,
}

/// What to do with a run that takes too much memory.
pub const TOO_LARGE: &str = "split the file into several runs";

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for JsonError {}

fn at_offset(text: &str, offset: usize, message: impl Into<String>, help: impl Into<String>) -> JsonError {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    JsonError {
        offset,
        line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
        column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
        message: message.into(),
        help: help.into(),
        lacks_memory: false,
    }
}

/// Words that other languages use for JSON's, and prefixes of JSON's own.
const KNOWN: [&str; 16] = [
    "true",
    "false",
    "null",
    "none",
    "nil",
    "nan",
    "inf",
    "-inf",
    "+inf",
    "infinity",
    "-infinity",
    "+infinity",
    "undefined",
    "yes",
    "no",
    "-nan",
];

/// Quotes only the first character of a word that may be an unquoted password.
fn found_words(text: &str, offset: usize) -> String {
    let rest = text.get(offset..).unwrap_or_default();
    let word = leading_word(rest);
    let told = KNOWN.iter().any(|known| known.eq_ignore_ascii_case(word)) || is_like_a_number(word);
    let free = || memchr::memchr(b':', text.as_bytes().get(..offset).unwrap_or_default()).is_none();
    match rest.chars().next() {
        Some(first) if !word.is_empty() && word.len() > first.len_utf8() && !told && !free() => format!("`{first}…`"),
        _ => found_key(text, offset),
    }
}

/// For an expected key, which may be quoted in full.
fn found_key(text: &str, offset: usize) -> String {
    let rest = text.get(offset..).unwrap_or_default();
    let word: String = leading_word(rest).chars().take(24).collect();
    match rest.chars().next() {
        None => "the end".to_owned(),
        Some(first) if word.is_empty() => shown_char(first),
        Some(_) => format!("`{word}`"),
    }
}

fn leading_word(rest: &str) -> &str {
    let end = rest.find(|c: char| !c.is_alphanumeric() && !"_-+.".contains(c)).unwrap_or(rest.len());
    rest.get(..end).unwrap_or_default()
}

/// Digits, signs and at most one letter: `007`, `1.`, `.5e`.
fn is_like_a_number(word: &str) -> bool {
    let others = word.bytes().filter(|byte| !byte.is_ascii_digit() && !b"+-.".contains(byte)).count();
    others <= 1 && word.bytes().any(|byte| byte.is_ascii_digit())
}

/// In backticks; an invisible character by its code point.
fn shown_char(character: char) -> String {
    if character.is_control() || character == '`' || (character.is_whitespace() && character != ' ') {
        format!("the character U+{:04X}", u32::from(character))
    } else {
        format!("`{character}`")
    }
}

pub(super) fn no_value(text: &str, offset: usize, in_object: Option<bool>) -> JsonError {
    let rest = text.get(offset..).unwrap_or_default();
    let found = found_words(text, offset);
    let word = |word: &str| rest.starts_with(word);
    let after_comma = text.get(..offset).is_some_and(|before| before.trim_end().ends_with(','));
    let (message, help) = if matches!(rest.chars().next(), Some('}' | ']')) && after_comma {
        (format!("{found} behind a comma"), "remove the comma".to_owned())
    } else if word("True") || word("False") || word("None") {
        let json = if word("True") {
            "true"
        } else if word("False") {
            "false"
        } else {
            "null"
        };
        (format!("{found} is not JSON"), format!("write `{json}`"))
    } else if word("NaN") || word("Infinity") || word("undefined") {
        (format!("{found} is not JSON"), "write `null`, or leave the key out".to_owned())
    } else if word("'") {
        ("text in single quotes".to_owned(), "write it in double quotes".to_owned())
    } else if word("//") || word("/*") {
        ("a comment".to_owned(), "remove it: JSON has no comments".to_owned())
    } else if word(".") || word("+") {
        (format!("{found} is not a number of JSON"), "start it with a digit or `-`".to_owned())
    } else if rest.starts_with(|c: char| c.is_alphabetic()) {
        (format!("expected a value, found {found}"), "write text in double quotes".to_owned())
    } else {
        let place = match in_object {
            Some(true) => " of the key",
            Some(false) => " of the list",
            None => "",
        };
        let help = "write an object, a list, text in double quotes, a number, `true`, `false` or `null`";
        (format!("expected a value{place}, found {found}"), help.to_owned())
    };
    at_offset(text, offset, message, help)
}

pub(super) fn no_key(text: &str, offset: usize) -> JsonError {
    let after_comma = text.get(..offset).is_some_and(|before| before.trim_end().ends_with(','));
    let found = found_key(text, offset);
    if after_comma && text.get(offset..).is_some_and(|rest| rest.starts_with('}')) {
        return at_offset(text, offset, "`}` behind a comma", "remove the comma");
    }
    at_offset(
        text,
        offset,
        format!("expected a key, found {found}"),
        "write the key in double quotes: `\"key\": value`",
    )
}

pub(super) fn no_colon(text: &str, offset: usize) -> JsonError {
    let found = found_words(text, offset);
    at_offset(text, offset, format!("expected `:` after the key, found {found}"), "write `\"key\": value`")
}

pub(super) fn no_separator(text: &str, offset: usize, in_object: bool) -> JsonError {
    let (end, what) = if in_object { ('}', "entry") } else { (']', "element") };
    let found = found_words(text, offset);
    at_offset(
        text,
        offset,
        format!("expected `,` or `{end}` behind the {what}, found {found}"),
        format!("put a comma between two of them, or close with `{end}`"),
    )
}

pub(super) fn behind_the_value(text: &str, offset: usize) -> JsonError {
    let found = found_words(text, offset);
    at_offset(
        text,
        offset,
        format!("{found} after the end of the value"),
        "one value is expected here: remove the rest",
    )
}

/// `open`: for each open bracket from the innermost, whether it is an object.
pub(super) fn cut_off(text: &str, open: &[bool]) -> JsonError {
    let end = text.trim_end().len();
    let Some(&innermost) = open.first() else {
        return at_offset(text, end, "expected a value, found the end", "write a JSON value");
    };
    let what = if innermost { "an object" } else { "a list" };
    let brackets: String = open.iter().map(|&object| if object { '}' } else { ']' }).collect();
    at_offset(
        text,
        end,
        format!("the text ends inside {what}"),
        format!("close it with `{brackets}`; was the file cut off?"),
    )
}

pub(super) fn open_text(text: &str, offset: usize) -> JsonError {
    at_offset(text, offset, "text that is never closed", "close it with `\"`; was the file cut off?")
}

pub(super) fn control_character(text: &str, offset: usize) -> JsonError {
    let (message, help) = match text.as_bytes().get(offset) {
        Some(b'\n' | b'\r') => {
            ("a line end inside text".to_owned(), "write `\\n`, or close the text with `\"`".to_owned())
        }
        Some(b'\t') => ("a tab inside text".to_owned(), "write `\\t`".to_owned()),
        other => {
            let code = other.copied().unwrap_or(0);
            (format!("the control character U+{code:04X} inside text"), format!("write `\\u{code:04x}`"))
        }
    };
    at_offset(text, offset, message, help)
}

pub(super) fn bad_escape(text: &str, offset: usize) -> JsonError {
    let rest = text.get(offset..).unwrap_or_default();
    let shown: String =
        rest.chars().take(if rest.starts_with("\\u") { 6 } else { 2 }).filter(|c| !c.is_control()).collect();
    let help = if rest.starts_with("\\u") {
        "write four hexadecimal digits after `\\u`"
    } else {
        "write `\\\\` for a backslash; known are `\\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u0000`"
    };
    at_offset(text, offset, format!("unknown escape `{shown}`"), help)
}

pub(super) fn bad_number(text: &str, offset: usize) -> JsonError {
    let found = found_words(text, offset);
    let digits = text.get(offset..).unwrap_or_default().trim_start_matches('-');
    let help = if digits.starts_with('0')
        && digits.get(1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    {
        "remove the leading zero, or write text in double quotes"
    } else if digits.starts_with("Infinity") {
        "write `null`, or leave the key out"
    } else {
        "write digits on both sides of `.` and after `e`, or write text in double quotes"
    };
    at_offset(text, offset, format!("{found} is not a number of JSON"), help)
}

pub(super) fn too_deep(text: &str, offset: usize, limit: usize) -> JsonError {
    at_offset(
        text,
        offset,
        format!("nested deeper than {limit} levels"),
        "no run needs that: look at what wrote this file",
    )
}

pub(super) fn no_memory(text: &str, offset: usize) -> JsonError {
    let help = "give more memory, or judge with fewer `--threads`";
    without_memory(text, offset, "there is not enough memory to read this run any further".to_owned(), help)
}

pub(super) fn too_large(text: &str, offset: usize, message: String) -> JsonError {
    without_memory(text, offset, message, TOO_LARGE)
}

fn without_memory(text: &str, offset: usize, message: String, help: &str) -> JsonError {
    note_refusal();
    JsonError { lacks_memory: true, ..at_offset(text, offset, message, help) }
}
