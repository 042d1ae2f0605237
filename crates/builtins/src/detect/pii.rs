//! Personal data that can be verified: e-mail addresses, payment cards (check digit and issuer range), bank accounts (check digits and country
//! length), social security numbers, and phone numbers in an unambiguous form.

use super::{DetectorFinding, FindingSink, byte_before, is_word, run_end};
use std::ops::{ControlFlow, Range};

pub(super) fn scan_pii(text: &str, found: FindingSink<'_>) -> ControlFlow<()> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(offset) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| is_sign(*byte))) {
        let start = at + offset;
        let finding = starting_at(text, start);
        at = start + 1;
        match finding {
            Some((kind, range)) => {
                at = at.max(range.end);
                found(DetectorFinding { kind, range })?;
            }
            // No other finding can start inside these digits, so they are skipped. After a blank, one may start.
            None if bytes.get(start).is_some_and(u8::is_ascii_digit) => {
                at = run_end(bytes, start, usize::MAX, |byte| byte.is_ascii_digit());
            }
            None => {}
        }
    }
    ControlFlow::Continue(())
}

fn is_sign(byte: u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_uppercase() || matches!(byte, b'@' | b'+' | b'(')
}

pub(super) const KINDS: [&str; 5] = ["email", "phone", "iban", "social-security-number", "payment-card"];

fn starting_at(text: &str, start: usize) -> Option<(&'static str, Range<usize>)> {
    let bytes = text.as_bytes();
    let named = |kind: &'static str, range: Option<Range<usize>>| range.map(|range| (kind, range));
    match bytes.get(start)? {
        b'@' => named("email", match_email(text, start)),
        b'+' => named("phone", match_international_phone(bytes, start)),
        b'(' => named("phone", match_domestic_phone(bytes, start)),
        byte if byte.is_ascii_uppercase() => named("iban", match_iban(bytes, start)),
        _ => named("social-security-number", social_security(bytes, start))
            .or_else(|| named("payment-card", match_card(bytes, start)))
            .or_else(|| named("phone", match_domestic_phone(bytes, start)))
            .or_else(|| named("iban", start.checked_sub(2).and_then(|start| match_iban(bytes, start))))
            .or_else(|| named("phone", match_labeled_phone(bytes, start))),
    }
}

fn free_before(bytes: &[u8], at: usize) -> bool {
    match byte_before(bytes, at) {
        None => true,
        Some(b'.' | b'-' | b'+' | b'/' | b'=' | b'#' | b':') => {
            // A sign after a digit joins the two numbers. A sign after a blank or at the start does not.
            !byte_before(bytes, at - 1).is_some_and(|byte| byte.is_ascii_digit())
        }
        Some(byte) => !is_word(byte),
    }
}

fn free_after(bytes: &[u8], at: usize) -> bool {
    match bytes.get(at) {
        None => true,
        Some(b'.' | b'-' | b'/') => !bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
        Some(byte) => !is_word(*byte),
    }
}

const NOT_DOMAINS: [&str; 24] = [
    "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "css", "js", "ts", "mjs", "py", "rs", "go", "md", "json", "txt",
    "html", "xml", "yml", "yaml", "toml", "lock", "local",
];

fn match_email(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let of_local = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-');
    let length = bytes.get(..at)?.iter().rev().take(65).take_while(|byte| of_local(**byte)).count();
    let start = at - length;
    let local = text.get(start..at)?.trim_start_matches(['.', '-', '%', '+']);
    if local.is_empty() || length > 64 || local.ends_with('.') || local.contains("..") || local == "git" {
        return None;
    }
    // `user:password@host` is no e-mail address.
    if byte_before(bytes, start) == Some(b':') && in_authority(bytes, start) {
        return None;
    }
    // A domain may use any script, but its last part is ASCII.
    let of_domain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-') || byte >= 0x80;
    let end = run_end(bytes, at + 1, 253, of_domain);
    let domain = text.get(at + 1..end)?.trim_end_matches(['.', '-']);
    let (name, top) = domain.rsplit_once('.')?;
    let top_fits = (2..=24).contains(&top.len())
        && top.bytes().all(|byte| byte.is_ascii_alphabetic())
        && !NOT_DOMAINS.contains(&top.to_ascii_lowercase().as_str());
    let labels_fit = name.split('.').all(|label| !label.is_empty() && !label.starts_with('-') && !label.ends_with('-'));
    (top_fits && labels_fit).then(|| at - local.len()..at + 1 + domain.len())
}

/// True inside `scheme://user:`.
fn in_authority(bytes: &[u8], at: usize) -> bool {
    let head = bytes.get(at.saturating_sub(128)..at).unwrap_or_default();
    let word = head.iter().rev().take_while(|byte| **byte > b' ').count();
    let word = head.get(head.len() - word..).unwrap_or_default();
    memchr::memmem::find(word, b"://").is_some()
}

/// Returns the digits from a position on (with single blanks or dashes), the ends of their groups, and the end.
fn digit_groups(bytes: &[u8], start: usize, most: usize) -> (Vec<u8>, Vec<usize>, usize) {
    let (mut digits, mut lengths, mut at) = (Vec::new(), Vec::new(), start);
    let mut separator = None;
    loop {
        let end = run_end(bytes, at, most + 1, |byte| byte.is_ascii_digit());
        digits.extend(bytes.get(at..end).unwrap_or_default().iter().map(|byte| byte - b'0'));
        lengths.push(end - at);
        let next = bytes.get(end).copied().filter(|byte| matches!(byte, b' ' | b'-'));
        let goes_on = next.is_some()
            && (separator.is_none() || separator == next)
            && bytes.get(end + 1).is_some_and(u8::is_ascii_digit)
            && digits.len() <= most;
        if !goes_on {
            return (digits, lengths, end);
        }
        separator = next;
        at = end + 1;
    }
}

/// Matches 13 to 19 digits in the usual groups, of a known issuer, with a valid check digit.
fn match_card(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let first = run_end(bytes, start, 20, |byte| byte.is_ascii_digit()) - start;
    if !matches!(first, 4 | 13..=19) || !free_before(bytes, start) {
        return None;
    }
    let (digits, lengths, end) = digit_groups(bytes, start, 19);
    let grouped = matches!(lengths.as_slice(), [_] | [4, 4, 4, 1..=4] | [4, 4, 4, 4, 1..=3] | [4, 6, 4 | 5]);
    (grouped && is_issued(&digits) && passes_luhn(&digits) && free_after(bytes, end)).then_some(start..end)
}

fn is_issued(digits: &[u8]) -> bool {
    let head = |length: usize| digits.iter().take(length).fold(0_u32, |sum, digit| sum * 10 + u32::from(*digit));
    let alike = digits.iter().all(|digit| Some(digit) == digits.first());
    let issued = match digits.len() {
        14 => matches!(head(3), 300..=305) || matches!(head(2), 36 | 38 | 39),
        15 => matches!(head(2), 34 | 37),
        13 => head(1) == 4,
        16 => {
            head(1) == 4
                || matches!(head(2), 51..=55 | 62 | 64 | 65)
                || matches!(head(4), 2221..=2720 | 3528..=3589 | 6011)
        }
        17..=19 => matches!(head(2), 62) || head(4) == 6011,
        _ => false,
    };
    issued && !alike
}

fn passes_luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(position, digit)| match (position % 2, u32::from(*digit)) {
            (0, digit) => digit,
            (_, digit) if digit > 4 => digit * 2 - 9,
            (_, digit) => digit * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}

const IBAN_LENGTHS: [(&[u8; 2], usize); 48] = [
    (b"AD", 24),
    (b"AE", 23),
    (b"AT", 20),
    (b"AZ", 28),
    (b"BA", 20),
    (b"BE", 16),
    (b"BG", 22),
    (b"BH", 22),
    (b"BR", 29),
    (b"CH", 21),
    (b"CY", 28),
    (b"CZ", 24),
    (b"DE", 22),
    (b"DK", 18),
    (b"EE", 20),
    (b"EG", 29),
    (b"ES", 24),
    (b"FI", 18),
    (b"FR", 27),
    (b"GB", 22),
    (b"GE", 22),
    (b"GI", 23),
    (b"GR", 27),
    (b"HR", 21),
    (b"HU", 28),
    (b"IE", 22),
    (b"IL", 23),
    (b"IS", 26),
    (b"IT", 27),
    (b"KZ", 20),
    (b"LI", 21),
    (b"LT", 20),
    (b"LU", 20),
    (b"LV", 21),
    (b"MC", 27),
    (b"MT", 31),
    (b"NL", 18),
    (b"NO", 15),
    (b"PL", 28),
    (b"PT", 25),
    (b"QA", 29),
    (b"RO", 24),
    (b"RS", 22),
    (b"SA", 24),
    (b"SE", 24),
    (b"SI", 19),
    (b"SK", 24),
    (b"TR", 26),
];

/// Matches country, length, and remainder 1 modulo 97. Lower-case letters are accepted.
fn match_iban(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let &[first, second, tens, ones] = bytes.get(start..start + 4)? else { return None };
    let country = [first.to_ascii_uppercase(), second.to_ascii_uppercase()];
    if !(tens.is_ascii_digit() && ones.is_ascii_digit()) || byte_before(bytes, start).is_some_and(is_word) {
        return None;
    }
    let (_, length) = IBAN_LENGTHS.iter().find(|(code, _)| **code == country)?;
    let mut compact = Vec::with_capacity(*length);
    let mut at = start;
    while compact.len() < *length {
        let byte = *bytes.get(at)?;
        match byte {
            b' ' if compact.len() % 4 == 0 && byte_before(bytes, at) != Some(b' ') => {}
            _ if byte.is_ascii_alphanumeric() => compact.push(byte.to_ascii_uppercase()),
            _ => return None,
        }
        at += 1;
    }
    (remainder_97(&compact) == Some(1) && free_after(bytes, at)).then_some(start..at)
}

fn remainder_97(compact: &[u8]) -> Option<u32> {
    let (head, rest) = compact.split_at_checked(4)?;
    rest.iter().chain(head).try_fold(0_u32, |remainder, byte| {
        let value = char::from(*byte).to_digit(36)?;
        Some((if value > 9 { remainder * 100 } else { remainder * 10 } + value) % 97)
    })
}

/// Well-known invalid social security numbers, which were printed in advertisements.
const PRINTED: [&[u8; 9]; 3] = [b"078051120", b"219099999", b"457555462"];

/// Matches `123-45-6789` in an issued range. Other spellings need a hint in the preceding words.
fn social_security(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let end = run_end(bytes, start, 12, |byte| byte.is_ascii_digit() || matches!(byte, b'-' | b' '));
    let text = bytes.get(start..end)?.trim_ascii_end();
    let end = start + text.len();
    let digits: Vec<u8> = text.iter().copied().filter(u8::is_ascii_digit).collect();
    let groups: Vec<usize> = text.split(|byte| !byte.is_ascii_digit()).map(<[u8]>::len).collect();
    let shape = match groups.as_slice() {
        [3, 2, 4] if text.contains(&b'-') && !text.contains(&b' ') => true,
        [3, 2, 4] | [9] => said_before(bytes, start, &["ssn", "social security"]),
        _ => false,
    };
    let part = |range: Range<usize>| digits.get(range).unwrap_or_default();
    let given = !matches!(part(0..3), b"000" | b"666" | [b'9', ..]) && part(3..5) != b"00" && part(5..9) != b"0000";
    let real = given && !PRINTED.iter().any(|printed| printed.as_slice() == digits);
    (shape && real && free_before(bytes, start) && free_after(bytes, end)).then_some(start..end)
}

fn said_before(bytes: &[u8], at: usize, words: &[&str]) -> bool {
    const NEAR: usize = 28;
    let near = bytes.get(at.saturating_sub(NEAR)..at).unwrap_or_default().to_ascii_lowercase();
    words.iter().any(|word| {
        let finder = memchr::memmem::find_iter(&near, word.as_bytes());
        finder.into_iter().any(|found| !byte_before(&near, found).is_some_and(|byte| byte.is_ascii_alphabetic()))
    })
}

/// Matches 9 to 15 digits, if the preceding words announce a phone number.
fn match_labeled_phone(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    const WORDS: [&str; 8] = ["phone", "telephone", "mobile", "tel", "call", "cell", "whatsapp", "fax"];
    let of_phone = |byte: u8| byte.is_ascii_digit() || matches!(byte, b' ' | b'-' | b'.' | b'/');
    let end = start + bytes.get(start..run_end(bytes, start, 24, of_phone))?.trim_ascii_end().len();
    let body = bytes.get(start..end)?;
    let digits = body.iter().filter(|byte| byte.is_ascii_digit()).count();
    let single = body.windows(2).all(|pair| pair.iter().any(u8::is_ascii_digit));
    let fits = (9..=15).contains(&digits) && single && free_before(bytes, start) && free_after(bytes, end);
    (fits && said_before(bytes, start, &WORDS)).then_some(start..end)
}

/// Matches `+`, country and 8 to 15 digits in groups. Without groups, `+123456789` may be a number.
fn match_international_phone(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    if byte_before(bytes, start).is_some_and(|byte| is_word(byte) || byte == b'+') {
        return None;
    }
    let of_phone = |byte: u8| byte.is_ascii_digit() || matches!(byte, b' ' | b'-' | b'.' | b'(' | b')');
    let mut end = run_end(bytes, start + 1, 24, of_phone);
    while end > start && !byte_before(bytes, end).is_some_and(|byte| byte.is_ascii_digit()) {
        end -= 1;
    }
    let body = bytes.get(start + 1..end)?;
    let digits = body.iter().filter(|byte| byte.is_ascii_digit()).count();
    let country = body.first().is_some_and(|byte| matches!(byte, b'1'..=b'9'));
    let grouped = body.len() > digits || digits >= 10;
    let single = body.windows(2).all(|pair| pair.iter().any(u8::is_ascii_digit) || pair == b") " || pair == b" (");
    (country && single && grouped && (8..=15).contains(&digits) && free_after(bytes, end)).then_some(start..end)
}

/// Matches `(415) 555-2671`, `415-555-2671`, `415.555.2671`, `1-415-555-2671`. Area and exchange start with 2 to 9.
fn match_domestic_phone(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    if !free_before(bytes, start) {
        return None;
    }
    let trunk = usize::from(bytes.get(start) == Some(&b'1') && matches!(bytes.get(start + 1), Some(b'-' | b'.'))) * 2;
    let end = without_trunk(bytes, start + trunk)?;
    Some(start..end)
}

fn without_trunk(bytes: &[u8], start: usize) -> Option<usize> {
    let digits = |from: usize, count: usize| {
        let text = bytes.get(from..from + count)?;
        text.iter().all(u8::is_ascii_digit).then_some(text)
    };
    let real = |group: &[u8]| matches!(group.first(), Some(b'2'..=b'9'));
    let (area, behind) = match bytes.get(start)? {
        b'(' => {
            let area = digits(start + 1, 3)?;
            let close = start + 4;
            let blank = usize::from(bytes.get(close + 1) == Some(&b' '));
            (bytes.get(close) == Some(&b')')).then_some((area, close + 1 + blank))?
        }
        _ => {
            let area = digits(start, 3)?;
            matches!(bytes.get(start + 3), Some(b'-' | b'.')).then_some((area, start + 4))?
        }
    };
    let exchange = digits(behind, 3)?;
    let separated = matches!(bytes.get(behind + 3), Some(b'-' | b'.' | b' '));
    digits(behind + 4, 4)?;
    let end = behind + 8;
    (separated && real(area) && real(exchange) && free_after(bytes, end)).then_some(end)
}
