//! Checks of candidates after an anchor: decodable tokens, PEM keys, passwords in URLs.

use self::KeyAlphabet::{Alnum, Dotted, Hex, Upper, Url};
use super::random::{is_filler, is_stand_in, looks_chosen, looks_random, varies_like_key};
use super::{byte_before, is_word, run_end};
use crate::encoding::decode_base64;
use std::ops::Range;

/// Alphabets of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyAlphabet {
    /// Letters and digits.
    Alnum,
    /// Upper-case letters and digits.
    Upper,
    /// Lower-case hexadecimal.
    Hex,
    /// Letters, digits, `-` and `_`.
    Url,
    /// The `Url` alphabet and a dot.
    Dotted,
    /// Both alphabets of base64, with padding.
    Base64,
}

impl KeyAlphabet {
    pub(super) fn contains(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'='),
        }
    }
}

/// True if a key may start here: neither inside a word nor after a dash, as in `task-list`.
fn starts_word(bytes: &[u8], at: usize) -> bool {
    byte_before(bytes, at).is_none_or(|byte| !is_word(byte) && byte != b'-')
}

/// Matches a prefix and its body. The alphabet must end where the key ends; a longer run is no key.
pub(super) fn match_body(
    text: &str,
    prefix: Range<usize>,
    alphabet: KeyAlphabet,
    least: usize,
    most: usize,
) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let end = run_end(bytes, prefix.end, most + 1, |byte| alphabet.contains(byte));
    let length = end - prefix.end;
    let ends = bytes.get(end).is_none_or(|byte| !is_word(*byte));
    let key = bytes.get(prefix.end..end)?;
    // Keys of only capitals need no digit, because some providers use that alphabet.
    let varied = varies_like_key(key) || alphabet == Upper && !is_filler(key);
    (starts_word(bytes, prefix.start) && (least..=most).contains(&length) && ends && varied)
        .then_some(prefix.start..end)
}

/// Matches `xoxb-…`: a letter for the kind, then at least two parts of letters and digits.
pub(super) fn match_slack_token(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let &[kind, dash] = bytes.get(start + 3..start + 5)? else { return None };
    if !starts_word(bytes, start) || !b"abeoprs".contains(&kind) || dash != b'-' {
        return None;
    }
    let end = run_end(bytes, start + 5, 256, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let body = bytes.get(start + 5..end)?;
    (body.len() >= 20 && body.contains(&b'-') && varies_like_key(body)).then_some(start..end)
}

/// Matches path segments after a URL, each of letters and digits (and `-`, `_`), with a minimum length.
fn path_parts(text: &str, start: usize, anchor: &str, least: &[usize]) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = start + anchor.len();
    for (index, least) in least.iter().enumerate() {
        if index > 0 {
            at = (bytes.get(at) == Some(&b'/')).then_some(at + 1)?;
        }
        let end = run_end(bytes, at, 200, |byte| Url.contains(byte));
        if end - at < *least {
            return None;
        }
        at = end;
    }
    bytes.get(start..at).is_some_and(varies_like_key).then_some(start..at)
}

pub(super) fn slack_webhook(text: &str, start: usize) -> Option<Range<usize>> {
    path_parts(text, start, "hooks.slack.com/services/", &[8, 8, 20])
}

pub(super) fn discord_webhook(text: &str, start: usize) -> Option<Range<usize>> {
    path_parts(text, start, "discord.com/api/webhooks/", &[16, 60])
}

/// Matches `SG.` followed by parts of 22 and 43 characters.
pub(super) fn match_sendgrid(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let first = run_end(bytes, start + 3, 23, |byte| Url.contains(byte));
    let second = run_end(bytes, first + 1, 44, |byte| Url.contains(byte));
    let fits = first - start == 25 && bytes.get(first) == Some(&b'.') && second == first + 44;
    (fits && starts_word(bytes, start) && varies_like_key(bytes.get(start..second)?)).then_some(start..second)
}

/// Matches the number of a bot, a colon, and 35 characters that start with `AA`.
pub(super) fn match_telegram(text: &str, colon: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let digits = bytes.get(..colon)?.iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    let end = run_end(bytes, colon + 1, 36, |byte| Url.contains(byte));
    let start = colon - digits;
    // In API URLs, the number follows `bot`.
    let free = starts_word(bytes, start) || bytes.get(..start)?.ends_with(b"/bot");
    let fits = (8..=10).contains(&digits) && end - colon == 36 && free;
    (fits && varies_like_key(bytes.get(colon..end)?)).then_some(start..end)
}

/// Matches three base64 parts. The first two must be JSON objects, and the first one names an algorithm.
pub(super) fn match_jwt(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    // No character of the alphabet may precede the start, so that each byte is scanned only once.
    if !starts_word(bytes, start) {
        return None;
    }
    let header = start..run_end(bytes, start, 1024, |byte| Url.contains(byte));
    // A JSON object in base64 starts with `eyJ`, so the payload does too.
    if header.len() < 16 || !bytes.get(header.end..)?.starts_with(b".eyJ") {
        return None;
    }
    let payload = header.end + 1..run_end(bytes, header.end + 1, 16_384, |byte| Url.contains(byte));
    let signature = payload.end + 1..run_end(bytes, payload.end + 1, 1024, |byte| Url.contains(byte));
    let object = |part: &Range<usize>| -> Option<serde_json::Map<String, serde_json::Value>> {
        serde_json::from_slice(&decode_base64(text.get(part.clone())?)?).ok()
    };
    let signed = bytes.get(payload.end) == Some(&b'.') && signature.len() >= 16;
    (signed && object(&header)?.contains_key("alg") && object(&payload).is_some()).then_some(start..signature.end)
}

/// Matches a PEM private key with key material. Certificates and public keys do not match.
pub(super) fn private_key(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let label_start = start + "-----BEGIN ".len();
    let label_end = run_end(bytes, label_start, 40, |byte| byte.is_ascii_uppercase() || byte == b' ');
    let label = text.get(label_start..label_end)?;
    let closed = bytes.get(label_end..)?.starts_with(b"-----");
    if !closed || !(label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK")) {
        return None;
    }
    // Line ends may be escaped. Headers such as `Proc-Type: 4,ENCRYPTED` may precede the key material.
    let body = label_end + "-----".len();
    let window = bytes.get(body..)?.iter().take(400);
    let mut run = 0_usize;
    for (offset, byte) in window.enumerate() {
        run = if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=') { run + 1 } else { 0 };
        if run >= MATERIAL {
            return Some(start..armour_end(bytes, body + offset + 1));
        }
    }
    None
}

/// Minimum number of consecutive base64 characters that count as key material instead of words.
const MATERIAL: usize = 16;
/// Maximum size of a PEM private key, in bytes.
const LONGEST_KEY: usize = 8 << 10;

/// Returns the end of a private key: after its last line, or after its key material if that line is missing.
fn armour_end(bytes: &[u8], from: usize) -> usize {
    const LAST: &[u8] = b"-----END ";
    let near = bytes.get(from..bytes.len().min(from + LONGEST_KEY)).unwrap_or_default();
    let next = memchr::memmem::find(near, b"-----BEGIN ").unwrap_or(near.len());
    if let Some(last) = near.get(..next).and_then(|near| memchr::memmem::find(near, LAST)) {
        let label = from + last + LAST.len();
        let label_end = run_end(bytes, label, 40, |byte| byte.is_ascii_uppercase() || byte == b' ');
        return run_end(bytes, label_end, 5, |byte| byte == b'-');
    }
    let of_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let mut end = run_end(bytes, from, LONGEST_KEY, of_base64);
    while end - from < LONGEST_KEY {
        // Line ends may be escaped.
        let line = run_end(bytes, end, 8, |byte| byte.is_ascii_whitespace() || byte == b'\\');
        let line_end = run_end(bytes, line, LONGEST_KEY, of_base64);
        if line == end || line_end - line < MATERIAL {
            break;
        }
        end = line_end;
    }
    end
}

/// Matches `Bearer` with a token that looks random.
pub(super) fn match_bearer(text: &str, start: usize) -> Option<Range<usize>> {
    let from = start + "Bearer ".len();
    let end =
        run_end(text.as_bytes(), from, 2048, |byte| Dotted.contains(byte) || matches!(byte, b'~' | b'+' | b'/' | b'='));
    let token = text.get(from..end)?;
    (token.len() >= 20 && !is_stand_in(token) && looks_random(token.as_bytes())).then_some(from..end)
}

/// Matches `SSWS` with the 42 characters of a token that starts with two zeros.
pub(super) fn match_okta(text: &str, start: usize) -> Option<Range<usize>> {
    let from = start + "SSWS ".len();
    let end = run_end(text.as_bytes(), from, 64, |byte| Url.contains(byte));
    let token = text.as_bytes().get(from..end)?;
    ((40..=44).contains(&token.len()) && token.starts_with(b"00") && varies_like_key(token)).then_some(from..end)
}

/// Matches `Basic` with base64 of `user:password`.
pub(super) fn match_basic(text: &str, start: usize) -> Option<Range<usize>> {
    let from = start + "Basic ".len();
    let end = run_end(text.as_bytes(), from, 1024, |byte| Alnum.contains(byte) || matches!(byte, b'+' | b'/' | b'='));
    is_pair(text.get(from..end)?).then_some(from..end)
}

/// True if base64 text contains `user:password`.
pub(super) fn is_pair(encoded: &str) -> bool {
    let decoded = decode_base64(encoded).and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let printable = decoded.bytes().all(|byte| byte.is_ascii_graphic());
    let pair = decoded.split_once(':');
    printable && pair.is_some_and(|(user, password)| !user.is_empty() && is_real_password(password))
}

/// Matches `curl -u user:password`. `docker run -u 1000:1000` contains no password.
pub(super) fn user_option(text: &str, start: usize) -> Option<Range<usize>> {
    let from = start + text.get(start + 1..)?.find(' ')? + 2;
    let bytes = text.as_bytes();
    let from = from + usize::from(matches!(bytes.get(from), Some(b'"' | b'\'')));
    let end = run_end(bytes, from, 256, |byte| byte > b' ' && !matches!(byte, b'"' | b'\'' | b'`' | b'\\'));
    let (user, password) = text.get(from..end)?.split_once(':')?;
    let chosen = looks_chosen(password.as_bytes()) || looks_random(password.as_bytes());
    (!user.is_empty() && chosen && is_real_password(password)).then_some(from + user.len() + 1..end)
}

/// Default passwords from documentation, which are no secrets.
const KNOWN_PASSWORDS: [&str; 14] = [
    "password", "passwd", "pass", "secret", "postgres", "mysql", "root", "admin", "guest", "user", "test", "minio",
    "rabbitmq", "token",
];

fn is_real_password(password: &str) -> bool {
    password.len() >= 6
        && !is_stand_in(password)
        && !is_filler(password.as_bytes())
        && !KNOWN_PASSWORDS.contains(&password)
}

/// Matches `scheme://user:password@host`.
pub(super) fn url_password(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let from = start + "://".len();
    let end = run_end(bytes, from, 256, |byte| {
        byte > b' ' && !matches!(byte, b'@' | b'/' | b'"' | b'\'' | b'<' | b'>' | b'?' | b'#')
    });
    if bytes.get(end) != Some(&b'@') || !byte_before(bytes, start)?.is_ascii_alphanumeric() {
        return None;
    }
    let (user, password) = text.get(from..end)?.split_once(':')?;
    (!user.contains('$') && is_real_password(password)).then_some(from + user.len() + 1..end)
}

/// Matches three characters, a digit, `Q~`, and 31 to 34 more characters.
pub(super) fn azure_secret(text: &str, sign: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let of_secret = |byte: u8| Dotted.contains(byte) || byte == b'~';
    let start = sign.checked_sub(4)?;
    let end = run_end(bytes, sign + 2, 35, of_secret);
    let head = bytes.get(start..sign)?;
    let fits = head.iter().all(|byte| of_secret(*byte)) && head.last()?.is_ascii_digit();
    (fits && (31..=34).contains(&(end - sign - 2)) && !byte_before(bytes, start).is_some_and(is_word))
        .then_some(start..end)
}

/// Matches the signature of a shared-access URL: base64 of 32 bytes, possibly URL-escaped.
pub(super) fn azure_signature(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let from = start + "sig=".len();
    let end = run_end(bytes, from, 80, |byte| KeyAlphabet::Base64.contains(byte) || byte == b'%');
    let in_query = matches!(byte_before(bytes, start), Some(b'&' | b'?'));
    (in_query && (43..=64).contains(&(end - from)) && varies_like_key(bytes.get(from..end)?)).then_some(from..end)
}

pub(super) fn teams_webhook(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let end = run_end(bytes, start, 400, |byte| Dotted.contains(byte) || matches!(byte, b'/' | b'@'));
    (end - start > 120 && varies_like_key(bytes.get(start..end)?)).then_some(start..end)
}

/// Matches consecutive parts of fixed alphabets and lengths, separated by a sign.
fn match_parts(
    text: &str,
    start: usize,
    from: usize,
    sign: u8,
    parts: &[(KeyAlphabet, usize)],
) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = from;
    for (index, (alphabet, length)) in parts.iter().enumerate() {
        if index > 0 {
            at = (bytes.get(at) == Some(&sign)).then_some(at + 1)?;
        }
        let end = run_end(bytes, at, length + 1, |byte| alphabet.contains(byte));
        at = (end - at == *length).then_some(end)?;
    }
    let ends = bytes.get(at).is_none_or(|byte| !is_word(*byte));
    (starts_word(bytes, start) && ends && varies_like_key(bytes.get(from..at)?)).then_some(start..at)
}

pub(super) fn cloudflare_origin(text: &str, start: usize) -> Option<Range<usize>> {
    match_parts(text, start, start + 5, b'-', &[(Hex, 24), (Hex, 146)])
}

pub(super) fn match_resend(text: &str, start: usize) -> Option<Range<usize>> {
    match_parts(text, start, start + 3, b'_', &[(Alnum, 8), (Alnum, 24)])
}

pub(super) fn match_airtable(text: &str, start: usize) -> Option<Range<usize>> {
    match_parts(text, start, start + 3, b'.', &[(Alnum, 14), (Hex, 64)])
}

pub(super) fn match_braintree(text: &str, start: usize) -> Option<Range<usize>> {
    match_parts(text, start, start + "access_token$production$".len(), b'$', &[(Alnum, 16), (Hex, 32)])
}

/// Matches 14 characters, `.atlasv1.`, and at least 60 characters.
pub(super) fn match_terraform(text: &str, dot: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let start = dot
        .checked_sub(14)
        .filter(|start| bytes.get(*start..dot).is_some_and(|id| id.iter().all(|byte| Alnum.contains(*byte))))?;
    let end = run_end(bytes, dot + ".atlasv1.".len(), 80, |byte| Url.contains(byte));
    (starts_word(bytes, start) && end - dot >= 60 && varies_like_key(bytes.get(dot..end)?)).then_some(start..end)
}

/// Matches `EAAA` with 60 characters, or `EAA` with at least a hundred.
pub(super) fn meta_or_square(text: &str, start: usize) -> Option<Range<usize>> {
    let square =
        text.get(start..)?.starts_with("EAAA").then(|| match_body(text, start..start + 4, Url, 58, 62)).flatten();
    square.or_else(|| match_body(text, start..start + 3, Alnum, 100, 512))
}

/// Matches 32 hexadecimal digits, `-us` and the number of a data center.
pub(super) fn match_mailchimp(text: &str, dash: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let start = dash.checked_sub(32)?;
    let end = run_end(bytes, dash + 3, 3, |byte| byte.is_ascii_digit());
    let key = bytes.get(start..dash)?;
    let fits = key.iter().all(|byte| Hex.contains(*byte)) && (1..=2).contains(&(end - dash - 3));
    (fits && starts_word(bytes, start) && bytes.get(end).is_none_or(|byte| !is_word(*byte)) && varies_like_key(key))
        .then_some(start..end)
}

/// Matches the number of an account in base64, a time, and a signature.
pub(super) fn discord_token(text: &str, dot: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let length = bytes.get(..dot)?.iter().rev().take(29).take_while(|byte| Url.contains(**byte)).count();
    let start = dot - length;
    let account = decode_base64(text.get(start..dot)?)?;
    let number = (17..=19).contains(&account.len()) && account.iter().all(u8::is_ascii_digit);
    let time = run_end(bytes, dot + 1, 8, |byte| Url.contains(byte));
    let end = run_end(bytes, time + 1, 41, |byte| Url.contains(byte));
    let fits = time - dot == 7 && bytes.get(time) == Some(&b'.') && (27..=40).contains(&(end - time - 1));
    (number && fits && starts_word(bytes, start)).then_some(start..end)
}

/// Matches the private part of a PuTTY key: lines of base64.
pub(super) fn putty_key(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let end = run_end(bytes, start + "Private-Lines:".len(), 4_096, |byte| {
        KeyAlphabet::Base64.contains(byte) || matches!(byte, b' ' | b'\n' | b'\r' | b'\\')
    });
    let body = bytes.get(start + "Private-Lines:".len()..end)?;
    body.split(|byte| !KeyAlphabet::Base64.contains(*byte))
        .any(|line| line.len() >= 40 && varies_like_key(line))
        .then_some(start..end)
}
