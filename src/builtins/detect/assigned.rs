//! Assignments whose name says that the value is a credential: `api_key = '…'`, `"client_secret": "…"`, `PASSWORD=…`.

use super::random::{is_stand_in, looks_chosen, looks_random};
use super::{before, run_end};
use std::ops::Range;

/// What a name makes of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Worth {
    /// A key or token: drawn at random.
    Key,
    /// A password: chosen.
    Password,
}

/// Parts of names, in the lower case and without the signs that join words.
const NAMES: [(&str, Worth); 16] = [
    ("apikey", Worth::Key),
    ("secretkey", Worth::Key),
    ("accesskey", Worth::Key),
    ("privatekey", Worth::Key),
    ("authkey", Worth::Key),
    ("signingkey", Worth::Key),
    ("encryptionkey", Worth::Key),
    ("accountkey", Worth::Key),
    ("masterkey", Worth::Key),
    ("apisecret", Worth::Key),
    ("secret", Worth::Key),
    ("token", Worth::Key),
    ("credential", Worth::Key),
    ("password", Worth::Password),
    ("passwd", Worth::Password),
    ("passphrase", Worth::Password),
];

/// Names of this kind are no credentials although they end like one.
const HARMLESS: [&str; 17] = [
    "page",
    "next",
    "cursor",
    "continuation",
    "sync",
    "csrf",
    "xsrf",
    "pad",
    "eos",
    "bos",
    "stop",
    "special",
    "mask",
    "public",
    "sample",
    "max",
    "num",
];

/// What stands at the end of a name of a credential, in any case.
pub(super) const STEMS: [&str; 7] = ["key", "secret", "token", "credential", "password", "passwd", "passphrase"];

/// The longest name and the longest value that are looked at.
const LONGEST_NAME: usize = 64;
const LONGEST_VALUE: usize = 512;

/// The kind of credential that the value under a name is, for objects.
pub(super) fn of_name(name: &str, value: &str) -> Option<&'static str> {
    let worth = worth(name.as_bytes())?;
    let value = value.trim();
    if value.len() > LONGEST_VALUE || value.contains(char::is_whitespace) {
        return None;
    }
    judge(worth, value)
}

fn judge(worth: Worth, value: &str) -> Option<&'static str> {
    if is_stand_in(value) {
        return None;
    }
    match worth {
        Worth::Key if looks_random(value.as_bytes()) => Some("assigned-key"),
        Worth::Password if looks_chosen(value.as_bytes()) || looks_random(value.as_bytes()) => {
            Some("assigned-password")
        }
        _ => None,
    }
}

/// What a whole name says; `apiKey`, `API-KEY` and `api_key` say the same.
fn worth(name: &[u8]) -> Option<Worth> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    let folded: String = name
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect();
    let (stem, worth) = NAMES.iter().find(|(stem, _)| folded.ends_with(stem)).copied()?;
    let rest = folded.strip_suffix(stem).unwrap_or_default();
    (!HARMLESS.iter().any(|word| rest.ends_with(word))).then_some(worth)
}

/// The value that is assigned to the name which ends at a place.
pub(super) fn assignment(text: &str, name_end: usize) -> Option<(Range<usize>, &'static str)> {
    let bytes = text.as_bytes();
    let of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    // `secret_1` and `token2` are names too, `tokens` and `secretary` are none.
    let tail = run_end(bytes, name_end, 4, |byte| byte.is_ascii_digit() || byte == b'_');
    if bytes.get(tail).is_some_and(|byte| of_name(*byte)) {
        return None;
    }
    let name_start =
        name_end - bytes.get(..name_end)?.iter().rev().take(LONGEST_NAME).take_while(|byte| of_name(**byte)).count();
    let worth = worth(bytes.get(name_start..name_end)?)?;
    let value_start = separator_end(bytes, tail)?;
    let range = value(bytes, value_start)?;
    let kind = judge(worth, text.get(range.clone())?)?;
    Some((range, kind))
}

/// The place behind `=`, `:`, `=>` or `:=` with the quotes and blanks around it.
fn separator_end(bytes: &[u8], from: usize) -> Option<usize> {
    let of_quote = |byte: u8| matches!(byte, b'"' | b'\'' | b'`' | b']' | b'\\');
    let blank = |byte: u8| matches!(byte, b' ' | b'\t');
    let quoted = run_end(bytes, from, 3, of_quote);
    let spaced = run_end(bytes, quoted, 8, blank);
    let sign = run_end(bytes, spaced, 2, |byte| matches!(byte, b'=' | b':' | b'>'));
    // Without a sign there is no assignment; a comparison is none either.
    let text = bytes.get(spaced..sign)?;
    if text.is_empty() || text == b"==" || text == b"::" || text == b">" {
        return None;
    }
    Some(run_end(bytes, sign, 8, blank))
}

/// The value from a place on: up to the closing quote, or to the next sign that ends a word.
fn value(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let escaped = run_end(bytes, from, 3, |byte| byte == b'\\');
    let quote = bytes.get(escaped).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    let start = escaped + usize::from(quote.is_some());
    let end = match quote {
        Some(quote) => run_end(bytes, start, LONGEST_VALUE, |byte| byte != quote && byte != b'\\' && byte > b' '),
        None => run_end(bytes, start, LONGEST_VALUE, |byte| {
            byte > b' '
                && byte != b'='
                && !matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b'&' | b'<' | b'>' | b')' | b']' | b'}' | b'\\')
        }),
    };
    let ended = match quote {
        Some(quote) => bytes.get(end).is_some_and(|byte| *byte == quote || *byte == b'\\'),
        None => bytes.get(end).is_none_or(|byte| *byte != b'('),
    };
    (ended && end > start && before(bytes, start).is_some()).then_some(start..end)
}
