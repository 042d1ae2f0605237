//! Assignments whose name says that the value is a credential: `api_key = '…'`, `"client_secret": "…"`, `PASSWORD=…`.

use super::checks::is_pair;
use super::random::{is_stand_in, looks_chosen, looks_random};
use super::{before, run_end};
use std::ops::Range;

/// What a name makes of its value; what is hidden below a later one is more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worth {
    /// `user:password` in base64.
    Pair,
    /// The value of a header: a scheme and a token.
    Header,
    /// A key or token: drawn at random.
    Key,
    /// A password: chosen.
    Password,
}

/// Parts of names, in the lower case and without the signs that join words.
const NAMES: [(&str, Worth); 22] = [
    ("apikey", Worth::Key),
    ("secretkey", Worth::Key),
    ("accesskey", Worth::Key),
    ("privatekey", Worth::Key),
    ("authkey", Worth::Key),
    ("signingkey", Worth::Key),
    ("encryptionkey", Worth::Key),
    ("accountkey", Worth::Key),
    ("masterkey", Worth::Key),
    ("adminkey", Worth::Key),
    ("servicekey", Worth::Key),
    ("deploykey", Worth::Key),
    ("sharedkey", Worth::Key),
    ("apisecret", Worth::Key),
    ("secret", Worth::Key),
    ("token", Worth::Key),
    ("credential", Worth::Key),
    ("password", Worth::Password),
    ("passwd", Worth::Password),
    ("passphrase", Worth::Password),
    ("authorization", Worth::Header),
    ("auth", Worth::Pair),
];

/// Names of this kind are no credentials although they end like one.
const HARMLESS: [&str; 28] = [
    "cache",
    "primary",
    "foreign",
    "partition",
    "sort",
    "idempotency",
    "routing",
    "translation",
    "object",
    "bucket",
    "dedup",
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
pub(super) const STEMS: [&str; 9] =
    ["key", "secret", "token", "credential", "password", "passwd", "passphrase", "authorization", "auth"];

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
        Worth::Header if value.len() >= 20 && looks_random(value.as_bytes()) => Some("assigned-key"),
        Worth::Pair if value.len() >= 12 && is_pair(value) => Some("basic-credentials"),
        _ => None,
    }
}

/// The ends of the stems, written out: this is asked of every key of a run that is reported, and mostly the last letter says no.
#[inline]
pub(super) fn may_end(name: &[u8]) -> bool {
    let mut letters = name.iter().rev().filter(|byte| byte.is_ascii_alphabetic()).map(u8::to_ascii_lowercase);
    let Some(last @ (b'y' | b't' | b'n' | b'l' | b'd' | b'e' | b'h')) = letters.next() else { return false };
    let (Some(middle), Some(first)) = (letters.next(), letters.next()) else { return false };
    matches!(&[first, middle, last], b"key" | b"ret" | b"ken" | b"ial" | b"ord" | b"swd" | b"ase" | b"ion" | b"uth")
}

/// Whether a name is one of a credential, or of several, whatever its value looks like; `list` says that this is a list.
#[inline]
pub fn names_credential(name: &[u8], list: bool) -> bool {
    of_credentials(name, list).is_some()
}

/// What a name of one credential says, or of several. `tokens` that are no list are counted.
#[inline]
pub(super) fn of_credentials(name: &[u8], list: bool) -> Option<Worth> {
    let one = match name {
        [one @ .., b's' | b'S'] if list || !matches!(one, [.., b'n' | b'N']) => one,
        _ => name,
    };
    may_end(one).then(|| worth(one)).flatten()
}

/// The fewest characters of a password and of a key that are hidden whatever they look like.
const FEWEST: (usize, usize) = (6, 8);

/// Whether a text below a name is shown nowhere. More than is found is hidden: keys that nobody drew at random, passwords that nobody took
/// care to choose. Words such as `expired` stay.
pub(super) fn is_hidden(worth: Worth, value: &str) -> bool {
    let value = value.trim();
    if is_stand_in(value) || is_date(value.as_bytes()) {
        return false;
    }
    let has = |of: fn(&u8) -> bool| value.bytes().any(|byte| of(&byte));
    let digits = has(u8::is_ascii_digit);
    let odd = || has(u8::is_ascii_punctuation) || value.bytes().skip(1).any(|byte| byte.is_ascii_uppercase());
    match worth {
        Worth::Password => value.len() >= FEWEST.0 && (digits || odd()),
        Worth::Key => {
            looks_random(value.as_bytes()) || value.len() >= FEWEST.1 && digits && has(u8::is_ascii_alphabetic)
        }
        Worth::Header | Worth::Pair => looks_random(value.as_bytes()) || judge(worth, value).is_some(),
    }
}

/// Whether a text begins with a date: when a token expires is no secret.
fn is_date(value: &[u8]) -> bool {
    let fits = |at: usize, byte: u8| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    value.len() >= 10 && value.iter().take(10).enumerate().all(|(at, byte)| fits(at, *byte))
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
    let known = NAMES.iter().find(|(stem, _)| folded.ends_with(stem)).copied();
    // Of variables of the environment, whoever they belong to: `AZURE_OPENAI_KEY`.
    let (stem, worth) = known.or_else(|| name.ends_with(b"_KEY").then_some(("key", Worth::Key)))?;
    let rest = folded.strip_suffix(stem).unwrap_or_default();
    (!HARMLESS.iter().any(|word| rest.ends_with(word))).then_some(worth)
}

/// Where a name of two words begins that ends at a place: `api key`, `admin key`, `access token`.
fn two_words(bytes: &[u8], start: usize) -> usize {
    let blank = matches!(before(bytes, start), Some(b' '));
    let word = bytes.get(..start.saturating_sub(1)).unwrap_or_default();
    let length = word.iter().rev().take(16).take_while(|byte| byte.is_ascii_alphabetic()).count();
    if blank && length > 1 { start - 1 - length } else { start }
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
    let alone = worth(bytes.get(name_start..name_end)?);
    let worth = alone.or_else(|| worth(bytes.get(two_words(bytes, name_start)..name_end)?))?;
    let signed = separator_end(bytes, name_start, tail);
    let value_start = signed.or_else(|| unsigned(bytes, tail))?;
    let value_start = if worth == Worth::Header { behind_scheme(bytes, value_start)? } else { value_start };
    let range = value(bytes, value_start)?;
    let text = text.get(range.clone())?;
    // Without a sign nothing says that what follows is the value, but that it looks like one and like nothing else.
    let option = bytes.get(name_start) == Some(&b'-');
    let quoted = matches!(before(bytes, range.start), Some(b'"' | b'\''));
    let sure = signed.is_some() || quoted && worth == Worth::Password || looks_random(text.as_bytes());
    let named = signed.is_some() || worth == Worth::Password || option;
    (sure && named).then(|| judge(worth, text)).flatten().map(|kind| (range, kind))
}

/// The value behind a name without a sign between: `--token …`, `password …`.
fn unsigned(bytes: &[u8], from: usize) -> Option<usize> {
    let value = run_end(bytes, from, 2, |byte| byte == b' ');
    (value > from).then_some(value)
}

/// A header's value without the word for its scheme; `None` for the schemes that are anchors of their own.
fn behind_scheme(bytes: &[u8], from: usize) -> Option<usize> {
    let word = run_end(bytes, from, 16, |byte| byte.is_ascii_alphabetic());
    let scheme = bytes.get(from..word)?.to_ascii_lowercase();
    let behind = word > from && bytes.get(word) == Some(&b' ');
    match scheme.as_slice() {
        b"bearer" | b"basic" | b"ssws" => None,
        _ if behind => Some(word + 1),
        _ => Some(from),
    }
}

/// The place behind `=`, `:`, `=>`, `:=`, `is`, or the `>` of an element, with the quotes and blanks around it.
fn separator_end(bytes: &[u8], name: usize, from: usize) -> Option<usize> {
    let of_quote = |byte: u8| matches!(byte, b'"' | b'\'' | b'`' | b']' | b'\\');
    let blank = |byte: u8| matches!(byte, b' ' | b'\t');
    let quoted = run_end(bytes, from, 3, of_quote);
    let spaced = run_end(bytes, quoted, 8, blank);
    let sign = run_end(bytes, spaced, 2, |byte| matches!(byte, b'=' | b':' | b'>'));
    let text = bytes.get(spaced..sign)?;
    let rest = bytes.get(spaced..)?;
    if spaced > from && (rest.starts_with(b"is ") || rest.starts_with(b"was ")) {
        return Some(run_end(bytes, spaced + 2 + usize::from(rest.starts_with(b"was")), 8, blank));
    }
    if text == b">" && before(bytes, name) == Some(b'<') {
        return Some(sign);
    }
    // Without a sign there is no assignment; a comparison is none either.
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
