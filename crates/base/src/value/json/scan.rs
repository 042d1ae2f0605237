//! The inner loops of the reader: the ends of strings and numbers.

use super::error::{self, JsonError};
use crate::value::ObjectEntry;

#[derive(Debug, Clone, Copy)]
pub(super) struct StringEnd {
    pub(super) end: usize,
    pub(super) escaped: bool,
}

pub(super) fn scan_string(text: &str, start: usize) -> Result<StringEnd, JsonError> {
    let bytes = text.as_bytes();
    let mut at = start;
    let mut escaped = false;
    loop {
        at += plain_length(bytes.get(at..).unwrap_or_default());
        match bytes.get(at) {
            Some(b'"') => return Ok(StringEnd { end: at, escaped }),
            Some(b'\\') => {
                at += escape_length(text, at)?;
                escaped = true;
            }
            Some(_) => return Err(error::control_character(text, at)),
            None => return Err(error::open_text(text, start.saturating_sub(1))),
        }
    }
}

/// Bytes before the next quote, backslash or control character, scanned eight at a time.
fn plain_length(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zero_in = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
    let mut length = 0;
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        let word = u64::from_le_bytes(*chunk);
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        let found = control | zero_in(word ^ (ONES * u64::from(b'"'))) | zero_in(word ^ (ONES * u64::from(b'\\')));
        if found != 0 {
            return length + (found.trailing_zeros() / 8) as usize;
        }
        length += 8;
    }
    length + rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1F)).count()
}

fn escape_length(text: &str, at: usize) -> Result<usize, JsonError> {
    let bytes = text.as_bytes();
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(2),
        Some(b'u') => match bytes.get(at + 2..at + 6) {
            Some(hex) if hex.iter().all(u8::is_ascii_hexdigit) => Ok(6),
            _ => Err(error::bad_escape(text, at)),
        },
        _ => Err(error::bad_escape(text, at)),
    }
}

/// `start` is at a minus or a digit.
pub(super) fn scan_number(text: &str, start: usize) -> Result<usize, JsonError> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
    let whole = digits(at);
    if whole == 0 || (whole > 1 && bytes.get(at) == Some(&b'0')) {
        return Err(error::bad_number(text, start));
    }
    at += whole;
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == 0 {
            return Err(error::bad_number(text, start));
        }
        at += 1 + fraction;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let power = digits(at + 1 + sign);
        if power == 0 {
            return Err(error::bad_number(text, start));
        }
        at += 1 + sign + power;
    }
    match bytes.get(at) {
        Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'+') => {
            Err(error::bad_number(text, start))
        }
        _ => Ok(at),
    }
}

/// A cheap test: true if no two keys can be equal, false if a closer look is needed.
pub(super) fn keys_surely_distinct(members: &[ObjectEntry<'_>]) -> bool {
    let mut seen = [0_u64; 4];
    for member in members {
        let key = member.key.as_bytes();
        let byte = |at: usize| usize::from(key.get(at).copied().unwrap_or(0));
        let mixed = byte(0).wrapping_mul(31) ^ byte(key.len() / 2).wrapping_mul(167) ^ byte(key.len().wrapping_sub(1));
        let mark = mixed.wrapping_mul(7).wrapping_add(key.len().wrapping_mul(89));
        let Some(word) = seen.get_mut((mark / 64) % 4) else { return false };
        if *word & (1 << (mark % 64)) != 0 {
            return false;
        }
        *word |= 1 << (mark % 64);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_scan_finds_what_a_plain_loop_finds() {
        let interesting =
            [b'"', b'\\', 0, 0x1F, 0x20, b'!', b'#', b'[', b']', 0x7F, 0x80, 0xA0, 0xA2, 0xDC, 0xFF, b'a'];
        for length in 0..20 {
            for at in 0..length {
                for byte in interesting {
                    for follower in interesting {
                        let mut bytes = vec![b'x'; length];
                        bytes[at] = byte;
                        if let Some(next) = bytes.get_mut(at + 1) {
                            *next = follower;
                        }
                        let slow = bytes.iter().take_while(|b| !matches!(b, b'"' | b'\\' | 0..=0x1F)).count();
                        assert_eq!(plain_length(&bytes), slow, "{bytes:?}");
                    }
                }
            }
        }
    }
}
