//! Credentials that providers mark with a prefix, tokens that can be decoded, keys in armour, passwords in addresses.

use super::providers::KeyAlphabet::{self, Alnum, Dotted, Hex, Upper, Url};
use super::providers::KeyShape::{Body, Checked};
use super::providers::{ANCHORS, AnchorRow};
use super::random::{is_filler, is_stand_in, looks_chosen, looks_random, varies_like_key};
use super::{DetectorFinding, FindingSink, assignments, byte_before, is_word, run_end};
use crate::encoding::decode_base64;
use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};
use std::ops::{ControlFlow, Range};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Anchors and name stems in one automaton: one is quick to build, one quick to search.
static SEARCHES: [LazyLock<Option<AhoCorasick>>; 2] = [
    LazyLock::new(|| build_automaton(AhoCorasickKind::ContiguousNFA)),
    // One step for each byte.
    LazyLock::new(|| build_automaton(AhoCorasickKind::DFA)),
];

/// Text size from which the automaton that is slower to build pays off.
const PAID: usize = 1 << 16;

fn build_automaton(kind: AhoCorasickKind) -> Option<AhoCorasick> {
    let anchors = ANCHORS.iter().map(|(anchor, _, _)| *anchor).chain(assignments::STEMS);
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .ascii_case_insensitive(true)
        .kind(Some(kind))
        .prefilter(false)
        .build(anchors)
        .ok()
}

fn choose_automaton(length: usize) -> Option<&'static AhoCorasick> {
    static LOOKED_AT: AtomicUsize = AtomicUsize::new(0);
    let [quickly_built, quick] = &SEARCHES;
    if LOOKED_AT.load(Ordering::Relaxed) >= PAID {
        return quick.as_ref();
    }
    LOOKED_AT.fetch_add(length.min(PAID), Ordering::Relaxed);
    quickly_built.as_ref()
}

pub(super) fn scan_secrets(text: &str, found: FindingSink<'_>) -> ControlFlow<()> {
    let Some(search) = choose_automaton(text.len()) else { return ControlFlow::Continue(()) };
    let mut assigned_until = 0;
    let mut at = 0;
    // Anchors overlap: in `.ghp_` another one ends where this begins.
    while let Some(hit) = search.find(Input::new(text).span(at..text.len())) {
        at = hit.start() + 1;
        if let Some(anchor) = ANCHORS.get(hit.pattern().as_usize()) {
            if let Some(finding) = match_anchor(text, hit.range(), anchor) {
                found(finding)?;
            }
        } else if hit.start() >= assigned_until
            && let Some((range, kind)) = assignments::find_assignment(text, hit.end())
        {
            assigned_until = range.end;
            found(DetectorFinding { kind, range })?;
        }
    }
    ControlFlow::Continue(())
}

/// Anchors are case-sensitive, except schemes such as `bearer`.
fn match_anchor(text: &str, at: Range<usize>, (anchor, kind, shape): &AnchorRow) -> Option<DetectorFinding> {
    if text.get(at.clone()) != Some(*anchor) && !anchor.ends_with(' ') {
        return None;
    }
    let range = match shape {
        Body(alphabet, least, most) => match_body(text, at, *alphabet, *least, *most),
        Checked(check) => check(text, at.start),
    }?;
    Some(DetectorFinding { kind, range })
}

/// Not inside a word nor after a dash, as in `task-list`.
fn starts_word(bytes: &[u8], at: usize) -> bool {
    byte_before(bytes, at).is_none_or(|byte| !is_word(byte) && byte != b'-')
}

/// A prefix and its body; a longer run of the alphabet is something else.
fn match_body(
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
    // Capitals alone are the alphabet of some providers: they need no digit.
    let varied = varies_like_key(key) || alphabet == Upper && !is_filler(key);
    (starts_word(bytes, prefix.start) && (least..=most).contains(&length) && ends && varied)
        .then_some(prefix.start..end)
}

/// `xoxb-…`: a letter for the kind, then at least two parts of letters and digits.
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

/// Path parts after an address, of letters, digits, `-` and `_`, with these minimum lengths.
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

/// `SG.` with 22 and 43 characters.
pub(super) fn match_sendgrid(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let first = run_end(bytes, start + 3, 23, |byte| Url.contains(byte));
    let second = run_end(bytes, first + 1, 44, |byte| Url.contains(byte));
    let fits = first - start == 25 && bytes.get(first) == Some(&b'.') && second == first + 44;
    (fits && starts_word(bytes, start) && varies_like_key(bytes.get(start..second)?)).then_some(start..second)
}

/// Bot number, colon, and 35 characters that start with `AA`.
pub(super) fn match_telegram(text: &str, colon: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let digits = bytes.get(..colon)?.iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    let end = run_end(bytes, colon + 1, 36, |byte| Url.contains(byte));
    let start = colon - digits;
    // In an address of the API the number stands behind `bot`.
    let free = starts_word(bytes, start) || bytes.get(..start)?.ends_with(b"/bot");
    let fits = (8..=10).contains(&digits) && end - colon == 36 && free;
    (fits && varies_like_key(bytes.get(colon..end)?)).then_some(start..end)
}

/// Three base64 parts: two JSON objects, the first naming an algorithm.
pub(super) fn match_jwt(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    // Nothing of the alphabet stands in front, so that no byte is looked at for two starts.
    if !starts_word(bytes, start) {
        return None;
    }
    let header = start..run_end(bytes, start, 1024, |byte| Url.contains(byte));
    // An object in base64 starts with `eyJ`, too.
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

/// Only with key material; certificates and public keys do not count.
pub(super) fn private_key(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let label_start = start + "-----BEGIN ".len();
    let label_end = run_end(bytes, label_start, 40, |byte| byte.is_ascii_uppercase() || byte == b' ');
    let label = text.get(label_start..label_end)?;
    let closed = bytes.get(label_end..)?.starts_with(b"-----");
    if !closed || !(label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK")) {
        return None;
    }
    // White space may stand as an escape; headers such as `Proc-Type: 4,ENCRYPTED` come before the material.
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

/// Base64 characters in a row that are key material rather than a word.
const MATERIAL: usize = 16;
const LONGEST_KEY: usize = 8 << 10;

/// End of the armor, or of the material if the last line is missing.
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
        // Ends of lines may stand there as escapes.
        let line = run_end(bytes, end, 8, |byte| byte.is_ascii_whitespace() || byte == b'\\');
        let line_end = run_end(bytes, line, LONGEST_KEY, of_base64);
        if line == end || line_end - line < MATERIAL {
            break;
        }
        end = line_end;
    }
    end
}

/// The token must look random.
pub(super) fn match_bearer(text: &str, start: usize) -> Option<Range<usize>> {
    let from = start + "Bearer ".len();
    let end =
        run_end(text.as_bytes(), from, 2048, |byte| Dotted.contains(byte) || matches!(byte, b'~' | b'+' | b'/' | b'='));
    let token = text.get(from..end)?;
    (token.len() >= 20 && !is_stand_in(token) && looks_random(token.as_bytes())).then_some(from..end)
}

/// `SSWS` and 42 characters that start with two zeros.
pub(super) fn match_okta(text: &str, start: usize) -> Option<Range<usize>> {
    let from = start + "SSWS ".len();
    let end = run_end(text.as_bytes(), from, 64, |byte| Url.contains(byte));
    let token = text.as_bytes().get(from..end)?;
    ((40..=44).contains(&token.len()) && token.starts_with(b"00") && varies_like_key(token)).then_some(from..end)
}

/// `Basic` with base64 of `user:password`.
pub(super) fn match_basic(text: &str, start: usize) -> Option<Range<usize>> {
    let from = start + "Basic ".len();
    let end = run_end(text.as_bytes(), from, 1024, |byte| Alnum.contains(byte) || matches!(byte, b'+' | b'/' | b'='));
    is_pair(text.get(from..end)?).then_some(from..end)
}

pub(super) fn is_pair(encoded: &str) -> bool {
    let decoded = decode_base64(encoded).and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let printable = decoded.bytes().all(|byte| byte.is_ascii_graphic());
    let pair = decoded.split_once(':');
    printable && pair.is_some_and(|(user, password)| !user.is_empty() && is_real_password(password))
}

/// `curl -u user:password`; `docker run -u 1000:1000` holds no password.
pub(super) fn user_option(text: &str, start: usize) -> Option<Range<usize>> {
    let from = start + text.get(start + 1..)?.find(' ')? + 2;
    let bytes = text.as_bytes();
    let from = from + usize::from(matches!(bytes.get(from), Some(b'"' | b'\'')));
    let end = run_end(bytes, from, 256, |byte| byte > b' ' && !matches!(byte, b'"' | b'\'' | b'`' | b'\\'));
    let (user, password) = text.get(from..end)?.split_once(':')?;
    let chosen = looks_chosen(password.as_bytes()) || looks_random(password.as_bytes());
    (!user.is_empty() && chosen && is_real_password(password)).then_some(from + user.len() + 1..end)
}

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

/// `scheme://user:password@host`.
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

/// Three characters, a digit, `Q~`, and 31 to 34 characters more.
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

/// Base64 of 32 bytes, escaped or not.
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

/// Fixed-length parts of given alphabets, separated by a sign.
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

/// `.atlasv1.` between 14 and at least 60 characters.
pub(super) fn match_terraform(text: &str, dot: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let start = dot
        .checked_sub(14)
        .filter(|start| bytes.get(*start..dot).is_some_and(|id| id.iter().all(|byte| Alnum.contains(*byte))))?;
    let end = run_end(bytes, dot + ".atlasv1.".len(), 80, |byte| Url.contains(byte));
    (starts_word(bytes, start) && end - dot >= 60 && varies_like_key(bytes.get(dot..end)?)).then_some(start..end)
}

/// `EAAA` and 60 characters, or `EAA` and 100 or more.
pub(super) fn meta_or_square(text: &str, start: usize) -> Option<Range<usize>> {
    let square =
        text.get(start..)?.starts_with("EAAA").then(|| match_body(text, start..start + 4, Url, 58, 62)).flatten();
    square.or_else(|| match_body(text, start..start + 3, Alnum, 100, 512))
}

/// 32 hexadecimal digits, `-us` and a data center number.
pub(super) fn match_mailchimp(text: &str, dash: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let start = dash.checked_sub(32)?;
    let end = run_end(bytes, dash + 3, 3, |byte| byte.is_ascii_digit());
    let key = bytes.get(start..dash)?;
    let fits = key.iter().all(|byte| Hex.contains(*byte)) && (1..=2).contains(&(end - dash - 3));
    (fits && starts_word(bytes, start) && bytes.get(end).is_none_or(|byte| !is_word(*byte)) && varies_like_key(key))
        .then_some(start..end)
}

/// Account number in base64, time, signature.
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
