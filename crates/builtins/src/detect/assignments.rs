//! Assignments whose name marks the value as a credential: `api_key = '…'`, `"client_secret": "…"`, `PASSWORD=…`.

use super::checks::is_pair;
use super::random::{is_stand_in, looks_chosen, looks_random};
use super::{byte_before, run_end};
use std::ops::Range;

/// The meaning of a name for its value. Later variants hide more values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CredentialName {
    Pair,
    Header,
    Key,
    Password,
}

/// Parts of names, in lower case without separators.
const NAMES: [(&str, CredentialName); 22] = [
    ("apikey", CredentialName::Key),
    ("secretkey", CredentialName::Key),
    ("accesskey", CredentialName::Key),
    ("privatekey", CredentialName::Key),
    ("authkey", CredentialName::Key),
    ("signingkey", CredentialName::Key),
    ("encryptionkey", CredentialName::Key),
    ("accountkey", CredentialName::Key),
    ("masterkey", CredentialName::Key),
    ("adminkey", CredentialName::Key),
    ("servicekey", CredentialName::Key),
    ("deploykey", CredentialName::Key),
    ("sharedkey", CredentialName::Key),
    ("apisecret", CredentialName::Key),
    ("secret", CredentialName::Key),
    ("token", CredentialName::Key),
    ("credential", CredentialName::Key),
    ("password", CredentialName::Password),
    ("passwd", CredentialName::Password),
    ("passphrase", CredentialName::Password),
    ("authorization", CredentialName::Header),
    ("auth", CredentialName::Pair),
];

/// Names that look like credentials but are not.
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

pub(super) const STEMS: [&str; 9] =
    ["key", "secret", "token", "credential", "password", "passwd", "passphrase", "authorization", "auth"];

const LONGEST_NAME: usize = 64;
const LONGEST_VALUE: usize = 512;

pub(super) fn kind_by_name(name: &str, value: &str) -> Option<&'static str> {
    let worth = classify_name(name.as_bytes())?;
    let value = value.trim();
    if value.len() > LONGEST_VALUE || value.contains(char::is_whitespace) {
        return None;
    }
    judge_value(worth, value)
}

/// The kinds of findings that come from a name or a value, in addition to those of the providers.
pub(super) const KINDS: [&str; 3] = ["assigned-key", "assigned-password", "basic-credentials"];

fn judge_value(worth: CredentialName, value: &str) -> Option<&'static str> {
    if is_stand_in(value) {
        return None;
    }
    match worth {
        CredentialName::Key if looks_random(value.as_bytes()) => Some("assigned-key"),
        CredentialName::Password if looks_chosen(value.as_bytes()) || looks_random(value.as_bytes()) => {
            Some("assigned-password")
        }
        CredentialName::Header if value.len() >= 20 && looks_random(value.as_bytes()) => Some("assigned-key"),
        CredentialName::Pair if value.len() >= 12 && is_pair(value) => Some("basic-credentials"),
        _ => None,
    }
}

/// The last three letters of all credential names.
pub(super) const ENDS: [&str; 9] = ["key", "ret", "ken", "ial", "ord", "swd", "ase", "ion", "uth"];

/// Checks the last letters of a name. Must be fast, because it runs for every key of a reported run.
#[inline]
pub(super) fn may_end(name: &[u8]) -> bool {
    let is_end = |end: [u8; 3]| ENDS.iter().any(|known| known.as_bytes() == end);
    // Fast path: most names end in letters.
    if let Some(&[first, middle, last]) = name.last_chunk::<3>()
        && first.is_ascii_alphabetic()
        && middle.is_ascii_alphabetic()
        && last.is_ascii_alphabetic()
    {
        return is_end([first | LOWER, middle | LOWER, last | LOWER]);
    }
    let mut letters = name.iter().rev().filter(|byte| byte.is_ascii_alphabetic()).map(|byte| byte | LOWER);
    let (Some(last), Some(middle), Some(first)) = (letters.next(), letters.next(), letters.next()) else {
        return false;
    };
    is_end([first, middle, last])
}

/// The bit that distinguishes lower-case from upper-case ASCII letters.
const LOWER: u8 = 0x20;

/// True if a name denotes a credential, independent of its value. `list` means that the value is a list.
#[inline]
pub fn names_credential(name: &[u8], list: bool) -> bool {
    of_credentials(name, list).is_some()
}

/// Returns the meaning of a credential's name. `tokens` is a count, unless its value is a list.
#[inline]
pub(super) fn of_credentials(name: &[u8], list: bool) -> Option<CredentialName> {
    let one = match name {
        [one @ .., b's' | b'S'] if list || !matches!(one, [.., b'n' | b'N']) => one,
        _ => name,
    };
    may_end(one).then(|| classify_name(one)).flatten()
}

/// True if JSON text may have a key that denotes a credential. Only then it must be parsed.
pub(super) fn may_name_credential(text: &str) -> bool {
    memchr::memchr_iter(b':', text.as_bytes()).any(|at| {
        let before = text.as_bytes().get(..at).unwrap_or_default().trim_ascii_end();
        let quoted = before.strip_suffix(b"\"").unwrap_or_default();
        let end = quoted.iter().rposition(u8::is_ascii_alphabetic).map_or(0, |last| last + 1);
        let near = quoted.get(end.saturating_sub(NEAR)..end).unwrap_or_default();
        may_end(near) || near.split_last().is_some_and(|(_, one)| may_end(one))
    })
}

/// Number of bytes before a colon in which the last letters of a name are searched.
const NEAR: usize = 24;

/// Minimum length of a password and of a key that are always hidden.
const FEWEST: (usize, usize) = (6, 8);

/// True if a value is always hidden. Hides more than detection reports; words such as `expired` stay.
pub(super) fn is_hidden(worth: CredentialName, value: &str) -> bool {
    let value = value.trim();
    if is_stand_in(value) || is_date(value.as_bytes()) {
        return false;
    }
    let has = |of: fn(&u8) -> bool| value.bytes().any(|byte| of(&byte));
    let digits = has(u8::is_ascii_digit);
    let odd = || has(u8::is_ascii_punctuation) || value.bytes().skip(1).any(|byte| byte.is_ascii_uppercase());
    match worth {
        CredentialName::Password => value.len() >= FEWEST.0 && (digits || odd()),
        CredentialName::Key => {
            looks_random(value.as_bytes()) || value.len() >= FEWEST.1 && digits && has(u8::is_ascii_alphabetic)
        }
        CredentialName::Header | CredentialName::Pair => {
            looks_random(value.as_bytes()) || judge_value(worth, value).is_some()
        }
    }
}

/// True for dates, which are no secrets: they tell when a token expires.
fn is_date(value: &[u8]) -> bool {
    let fits = |at: usize, byte: u8| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    value.len() >= 10 && value.iter().take(10).enumerate().all(|(at, byte)| fits(at, *byte))
}

/// Looks up a whole name; `apiKey`, `API-KEY` and `api_key` are equal.
fn classify_name(name: &[u8]) -> Option<CredentialName> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    let folded: String = name
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect();
    let known = NAMES.iter().find(|(stem, _)| folded.ends_with(stem)).copied();
    // Environment variables of any owner: `AZURE_OPENAI_KEY`.
    let (stem, worth) = known.or_else(|| name.ends_with(b"_KEY").then_some(("key", CredentialName::Key)))?;
    let rest = folded.strip_suffix(stem).unwrap_or_default();
    (!HARMLESS.iter().any(|word| rest.ends_with(word))).then_some(worth)
}

/// Returns the start of a two-word name that ends here: `api key`, `access token`.
fn two_words(bytes: &[u8], start: usize) -> usize {
    let blank = matches!(byte_before(bytes, start), Some(b' '));
    let word = bytes.get(..start.saturating_sub(1)).unwrap_or_default();
    let length = word.iter().rev().take(16).take_while(|byte| byte.is_ascii_alphabetic()).count();
    if blank && length > 1 { start - 1 - length } else { start }
}

pub(super) fn find_assignment(text: &str, name_end: usize) -> Option<(Range<usize>, &'static str)> {
    let bytes = text.as_bytes();
    let of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    // `secret_1` and `token2` are names too, but `tokens` and `secretary` are not.
    let tail = run_end(bytes, name_end, 4, |byte| byte.is_ascii_digit() || byte == b'_');
    if bytes.get(tail).is_some_and(|byte| of_name(*byte)) {
        return None;
    }
    let name_start =
        name_end - bytes.get(..name_end)?.iter().rev().take(LONGEST_NAME).take_while(|byte| of_name(**byte)).count();
    let alone = classify_name(bytes.get(name_start..name_end)?);
    let worth = alone.or_else(|| classify_name(bytes.get(two_words(bytes, name_start)..name_end)?))?;
    let signed = separator_end(bytes, name_start, tail);
    let value_start = signed.or_else(|| unsigned_value(bytes, tail))?;
    let value_start = if worth == CredentialName::Header { behind_scheme(bytes, value_start)? } else { value_start };
    let range = assigned_value(bytes, value_start)?;
    let text = text.get(range.clone())?;
    // Without a sign, only the form of the text shows that it is the value of the name.
    let option = bytes.get(name_start) == Some(&b'-');
    let quoted = matches!(byte_before(bytes, range.start), Some(b'"' | b'\''));
    let sure = signed.is_some() || quoted && worth == CredentialName::Password || looks_random(text.as_bytes());
    let named = signed.is_some() || worth == CredentialName::Password || option;
    (sure && named).then(|| judge_value(worth, text)).flatten().map(|kind| (range, kind))
}

/// Returns the start of a value that follows its name without a sign: `--token …`, `password …`.
fn unsigned_value(bytes: &[u8], from: usize) -> Option<usize> {
    let value = run_end(bytes, from, 2, |byte| byte == b' ');
    (value > from).then_some(value)
}

/// Returns the start of a header value after its scheme; `None` for schemes that are anchors themselves.
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

/// Returns the offset after `=`, `:`, `=>`, `:=`, `is` or an element's `>`, with surrounding quotes and blanks.
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
    if text == b">" && byte_before(bytes, name) == Some(b'<') {
        return Some(sign);
    }
    // Without a sign there is no assignment. A comparison is no assignment either.
    if text.is_empty() || text == b"==" || text == b"::" || text == b">" {
        return None;
    }
    Some(run_end(bytes, sign, 8, blank))
}

fn assigned_value(bytes: &[u8], from: usize) -> Option<Range<usize>> {
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
    (ended && end > start && byte_before(bytes, start).is_some()).then_some(start..end)
}
