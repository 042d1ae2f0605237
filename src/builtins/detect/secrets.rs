//! Credentials that providers mark with a prefix, tokens that can be decoded, keys in armour, passwords in addresses.

use super::random::{is_filler, is_stand_in, looks_random, varies};
use super::{Finding, Found, assigned, before, is_word, run_end};
use crate::builtins::encoding::decode_base64;
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use std::ops::{ControlFlow, Range};
use std::sync::LazyLock;

/// Alphabets of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    /// Letters and digits.
    Alnum,
    /// Upper-case letters and digits.
    Upper,
    /// Lower-case hexadecimal.
    Hex,
    /// Letters, digits, `-` and `_`.
    Url,
    /// The same and a dot.
    Dotted,
}

impl Alphabet {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'),
        }
    }
}

/// What stands behind an anchor.
enum Shape {
    /// So many characters of an alphabet, from least to most; they vary like a key.
    Body(Alphabet, usize, usize),
    /// A function finds out.
    Checked(fn(&str, usize) -> Option<Range<usize>>),
}

use Alphabet::{Alnum, Dotted, Hex, Upper, Url};
use Shape::{Body, Checked};

/// Anchors with what has to follow, and the kind that is reported. Of anchors that start alike the longer stands first.
static ANCHORS: &[(&str, &str, Shape)] = &[
    ("AKIA", "aws-access-key", Body(Upper, 16, 16)),
    ("ASIA", "aws-access-key", Body(Upper, 16, 16)),
    ("sk-ant-", "anthropic-key", Body(Url, 32, 200)),
    ("sk-proj-", "openai-key", Body(Url, 32, 220)),
    ("sk-svcacct-", "openai-key", Body(Url, 32, 220)),
    ("sk-admin-", "openai-key", Body(Url, 32, 220)),
    ("sk-or-v1-", "openrouter-key", Body(Hex, 64, 64)),
    ("sk-", "openai-key", Body(Alnum, 20, 64)),
    ("ghp_", "github-token", Body(Alnum, 36, 255)),
    ("gho_", "github-token", Body(Alnum, 36, 255)),
    ("ghu_", "github-token", Body(Alnum, 36, 255)),
    ("ghs_", "github-token", Body(Alnum, 36, 255)),
    ("ghr_", "github-token", Body(Alnum, 36, 255)),
    ("github_pat_", "github-token", Body(Url, 60, 255)),
    ("glpat-", "gitlab-token", Body(Dotted, 20, 64)),
    ("xox", "slack-token", Checked(slack)),
    ("xapp-", "slack-token", Body(Url, 40, 200)),
    ("hooks.slack.com/services/", "slack-webhook", Checked(slack_webhook)),
    ("AIza", "google-key", Body(Url, 35, 35)),
    ("ya29.", "google-token", Body(Url, 30, 512)),
    ("GOCSPX-", "google-client-secret", Body(Url, 28, 28)),
    ("sk_live_", "stripe-key", Body(Alnum, 16, 128)),
    ("rk_live_", "stripe-key", Body(Alnum, 16, 128)),
    ("whsec_", "stripe-webhook-secret", Body(Alnum, 32, 64)),
    ("npm_", "npm-token", Body(Alnum, 36, 36)),
    ("pypi-AgE", "pypi-token", Body(Url, 50, 512)),
    ("SG.", "sendgrid-key", Checked(sendgrid)),
    ("hf_", "hugging-face-token", Body(Alnum, 34, 40)),
    ("gsk_", "groq-key", Body(Alnum, 40, 64)),
    ("pplx-", "perplexity-key", Body(Alnum, 40, 64)),
    ("xai-", "xai-key", Body(Alnum, 60, 100)),
    ("dop_v1_", "digitalocean-token", Body(Hex, 64, 64)),
    ("shpat_", "shopify-token", Body(Hex, 32, 32)),
    ("shpss_", "shopify-token", Body(Hex, 32, 32)),
    ("dckr_pat_", "docker-token", Body(Url, 27, 40)),
    ("hvs.", "vault-token", Body(Url, 24, 200)),
    ("glsa_", "grafana-token", Body(Url, 40, 64)),
    ("lin_api_", "linear-key", Body(Alnum, 32, 64)),
    ("AGE-SECRET-KEY-1", "age-key", Body(Upper, 58, 58)),
    ("discord.com/api/webhooks/", "discord-webhook", Checked(discord_webhook)),
    (":AA", "telegram-token", Checked(telegram)),
    ("eyJ", "jwt", Checked(jwt)),
    ("-----BEGIN ", "private-key", Checked(private_key)),
    ("Bearer ", "bearer-token", Checked(bearer)),
    ("Basic ", "basic-credentials", Checked(basic)),
    ("://", "password-in-url", Checked(url_password)),
];

/// Anchors and stems of names in one automaton: one step for each byte, whatever the text.
static SEARCH: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let anchors = ANCHORS.iter().map(|(anchor, _, _)| *anchor).chain(assigned::STEMS);
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .prefilter(false)
        .build(anchors)
        .ok()
});

/// Reports the credentials in a text.
pub(super) fn scan(text: &str, found: Found<'_>) -> ControlFlow<()> {
    let Some(search) = &*SEARCH else { return ControlFlow::Continue(()) };
    let mut assigned_until = 0;
    for hit in search.find_iter(text) {
        if let Some(anchor) = ANCHORS.get(hit.pattern().as_usize()) {
            if let Some(finding) = anchored(text, hit.range(), anchor) {
                found(finding)?;
            }
        } else if hit.start() >= assigned_until
            && let Some((range, kind)) = assigned::assignment(text, hit.end())
        {
            assigned_until = range.end;
            found(Finding { kind, range })?;
        }
    }
    ControlFlow::Continue(())
}

/// The credential that an anchor begins. Letters of anchors count as they are, apart from those of a scheme: `bearer`.
fn anchored(text: &str, at: Range<usize>, (anchor, kind, shape): &(&str, &'static str, Shape)) -> Option<Finding> {
    if text.get(at.clone()) != Some(*anchor) && !anchor.ends_with(' ') {
        return None;
    }
    let range = match shape {
        Body(alphabet, least, most) => body(text, at, *alphabet, *least, *most),
        Checked(check) => check(text, at.start),
    }?;
    Some(Finding { kind, range })
}

/// Whether a key may start at a place: not inside a word, and not behind a dash, as in `task-list`.
fn starts_word(bytes: &[u8], at: usize) -> bool {
    before(bytes, at).is_none_or(|byte| !is_word(byte) && byte != b'-')
}

/// A prefix and its body. The body has to end where the key ends: more of the alphabet makes it something else.
fn body(text: &str, prefix: Range<usize>, alphabet: Alphabet, least: usize, most: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let end = run_end(bytes, prefix.end, most + 1, |byte| alphabet.has(byte));
    let length = end - prefix.end;
    let ends = bytes.get(end).is_none_or(|byte| !is_word(*byte));
    let key = bytes.get(prefix.end..end)?;
    // Capitals alone are the alphabet of some providers: they need no digit.
    let varied = varies(key) || alphabet == Upper && !is_filler(key);
    (starts_word(bytes, prefix.start) && (least..=most).contains(&length) && ends && varied)
        .then_some(prefix.start..end)
}

/// `xoxb-…`: a letter for the kind, then at least two parts of letters and digits.
fn slack(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let &[kind, dash] = bytes.get(start + 3..start + 5)? else { return None };
    if !starts_word(bytes, start) || !b"abeoprs".contains(&kind) || dash != b'-' {
        return None;
    }
    let end = run_end(bytes, start + 5, 256, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let body = bytes.get(start + 5..end)?;
    (body.len() >= 20 && body.contains(&b'-') && varies(body)).then_some(start..end)
}

/// Parts of a path behind an address, each of letters and digits (and `-`, `_`) of at least that length.
fn path_parts(text: &str, start: usize, anchor: &str, least: &[usize]) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = start + anchor.len();
    for (index, least) in least.iter().enumerate() {
        if index > 0 {
            at = (bytes.get(at) == Some(&b'/')).then_some(at + 1)?;
        }
        let end = run_end(bytes, at, 200, |byte| Url.has(byte));
        if end - at < *least {
            return None;
        }
        at = end;
    }
    bytes.get(start..at).is_some_and(varies).then_some(start..at)
}

fn slack_webhook(text: &str, start: usize) -> Option<Range<usize>> {
    path_parts(text, start, "hooks.slack.com/services/", &[8, 8, 20])
}

fn discord_webhook(text: &str, start: usize) -> Option<Range<usize>> {
    path_parts(text, start, "discord.com/api/webhooks/", &[16, 60])
}

/// `SG.` with 22 and 43 characters.
fn sendgrid(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let first = run_end(bytes, start + 3, 23, |byte| Url.has(byte));
    let second = run_end(bytes, first + 1, 44, |byte| Url.has(byte));
    let fits = first - start == 25 && bytes.get(first) == Some(&b'.') && second == first + 44;
    (fits && starts_word(bytes, start) && varies(bytes.get(start..second)?)).then_some(start..second)
}

/// The number of a bot, a colon, and 35 characters that start with `AA`.
fn telegram(text: &str, colon: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let digits = bytes.get(..colon)?.iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    let end = run_end(bytes, colon + 1, 36, |byte| Url.has(byte));
    let start = colon - digits;
    let fits = (8..=10).contains(&digits) && end - colon == 36 && starts_word(bytes, start);
    (fits && varies(bytes.get(colon..end)?)).then_some(start..end)
}

/// Three parts in base64, of which the first two are JSON objects and the first names an algorithm.
fn jwt(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    // Nothing of the alphabet stands in front, so that no byte is looked at for two starts.
    if !starts_word(bytes, start) {
        return None;
    }
    let header = start..run_end(bytes, start, 1024, |byte| Url.has(byte));
    // An object in base64 starts with `eyJ`, too.
    if header.len() < 16 || !bytes.get(header.end..)?.starts_with(b".eyJ") {
        return None;
    }
    let payload = header.end + 1..run_end(bytes, header.end + 1, 16_384, |byte| Url.has(byte));
    let signature = payload.end + 1..run_end(bytes, payload.end + 1, 1024, |byte| Url.has(byte));
    let object = |part: &Range<usize>| -> Option<serde_json::Map<String, serde_json::Value>> {
        serde_json::from_slice(&decode_base64(text.get(part.clone())?)?).ok()
    };
    let signed = bytes.get(payload.end) == Some(&b'.') && signature.len() >= 16;
    (signed && object(&header)?.contains_key("alg") && object(&payload).is_some()).then_some(start..signature.end)
}

/// The armour of a private key with key material in it; certificates and public keys are none.
fn private_key(text: &str, start: usize) -> Option<Range<usize>> {
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
        if run >= 16 {
            return Some(start..body + offset + 1);
        }
    }
    None
}

/// `Bearer` with a token that looks drawn at random.
fn bearer(text: &str, start: usize) -> Option<Range<usize>> {
    let from = start + "Bearer ".len();
    let end =
        run_end(text.as_bytes(), from, 2048, |byte| Dotted.has(byte) || matches!(byte, b'~' | b'+' | b'/' | b'='));
    let token = text.get(from..end)?;
    (token.len() >= 20 && !is_stand_in(token) && looks_random(token.as_bytes())).then_some(from..end)
}

/// `Basic` with base64 of `user:password`.
fn basic(text: &str, start: usize) -> Option<Range<usize>> {
    let from = start + "Basic ".len();
    let end = run_end(text.as_bytes(), from, 1024, |byte| Alnum.has(byte) || matches!(byte, b'+' | b'/' | b'='));
    let decoded = String::from_utf8(decode_base64(text.get(from..end)?)?).ok()?;
    let (user, password) = decoded.split_once(':')?;
    let printable = decoded.bytes().all(|byte| byte.is_ascii_graphic());
    (printable && !user.is_empty() && is_real_password(password)).then_some(from..end)
}

/// Passwords that stand in every manual.
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
fn url_password(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let from = start + "://".len();
    let end = run_end(bytes, from, 256, |byte| {
        byte > b' ' && !matches!(byte, b'@' | b'/' | b'"' | b'\'' | b'<' | b'>' | b'?' | b'#')
    });
    if bytes.get(end) != Some(&b'@') || !before(bytes, start)?.is_ascii_alphanumeric() {
        return None;
    }
    let (user, password) = text.get(from..end)?.split_once(':')?;
    (!user.contains('$') && is_real_password(password)).then_some(from + user.len() + 1..end)
}
