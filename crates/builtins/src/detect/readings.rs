//! Readings of a text: unchanged, with resolved escapes, and decoded base64. Ranges can be mapped back to the text.

use crate::encoding::decode_base64;
use averment_base::limits::{FuelMeter, LimitError};
use std::ops::{ControlFlow, Range};

/// Maximum rounds of unescaping, for JSON in strings of JSON in strings.
const LAYERS: usize = 3;
const NESTING: usize = 2;
/// Minimum length of base64 that can contain a credential.
const SHORTEST_BASE64: usize = 20;

/// Receives one reading; the second argument maps its ranges back to the text.
type ReadingVisitor<'a> = &'a mut dyn FnMut(&str, &dyn Fn(Range<usize>) -> Range<usize>) -> ControlFlow<()>;

pub(super) fn each_reading(
    text: &str,
    meter: &mut FuelMeter,
    look: ReadingVisitor<'_>,
) -> Result<ControlFlow<()>, LimitError> {
    visit_readings(text, NESTING, meter, look)
}

fn visit_readings(
    text: &str,
    nesting: usize,
    meter: &mut FuelMeter,
    look: ReadingVisitor<'_>,
) -> Result<ControlFlow<()>, LimitError> {
    // Scanning a byte takes about half as long as an instruction.
    meter.charge_scan(text.len().saturating_mul(8))?;
    if look(text, &|range| range).is_break() || visit_base64(text, nesting, meter, &|range| range, look)?.is_break() {
        return Ok(ControlFlow::Break(()));
    }
    let mut layers: Vec<ResolvedText> = Vec::new();
    while layers.len() < LAYERS {
        let Some(next) = resolve_escapes(layers.last().map_or(text, |reading| &reading.text), meter)? else { break };
        layers.push(next);
        let place = |range| layers.iter().rev().fold(range, |range, reading| reading.outer_range(range));
        let Some(reading) = layers.last() else { break };
        if look(&reading.text, &place).is_break()
            || visit_base64(&reading.text, nesting, meter, &place, look)?.is_break()
        {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

struct ResolvedText {
    text: String,
    /// Copied stretches in order: offset here, offset in the original.
    stretches: Vec<(usize, usize)>,
}

impl ResolvedText {
    fn outer_offset(&self, at: usize) -> usize {
        let index = self.stretches.partition_point(|(here, _)| *here <= at).saturating_sub(1);
        self.stretches.get(index).map_or(at, |(here, there)| there + at.saturating_sub(*here))
    }

    fn outer_range(&self, range: Range<usize>) -> Range<usize> {
        self.outer_offset(range.start)..self.outer_offset(range.end)
    }
}

/// Zero-width and direction characters, soft hyphen and byte order mark.
const INVISIBLE: [&str; 20] = [
    "\u{200b}", "\u{200c}", "\u{200d}", "\u{200e}", "\u{200f}", "\u{2060}", "\u{2061}", "\u{2062}", "\u{2063}",
    "\u{2064}", "\u{202a}", "\u{202b}", "\u{202c}", "\u{202d}", "\u{202e}", "\u{feff}", "\u{00ad}", "\u{180e}",
    "\u{2066}", "\u{2069}",
];

const ESC: u8 = 0x1B;

/// Positions of `%`, `\\`, escape characters and first bytes of invisible characters, in order.
struct EscapeSigns<'a> {
    text: &'a [u8],
    next: [Option<usize>; 3],
}

impl<'a> EscapeSigns<'a> {
    fn new(text: &'a [u8]) -> Self {
        let mut signs = Self { text, next: [None; 3] };
        signs.next = [signs.find_ahead(0, 0), signs.find_ahead(1, 0), signs.find_ahead(2, 0)];
        signs
    }

    fn find_ahead(&self, group: usize, from: usize) -> Option<usize> {
        let rest = self.text.get(from..)?;
        let found = match group {
            0 => memchr::memchr3(b'%', b'\\', 0xE2, rest),
            1 => memchr::memchr3(0xC2, 0xE1, 0xEF, rest),
            _ => memchr::memchr(ESC, rest),
        };
        found.map(|offset| from + offset)
    }
}

impl Iterator for EscapeSigns<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let places = self.next.iter().enumerate();
        let (group, place) = places.filter_map(|(group, place)| Some((group, (*place)?))).min_by_key(|(_, at)| *at)?;
        let following = self.find_ahead(group, place + 1);
        *self.next.get_mut(group)? = following;
        Some(place)
    }
}

/// Resolves JSON and URL escapes and removes invisible characters; `None` if there are none.
fn resolve_escapes(text: &str, meter: &mut FuelMeter) -> Result<Option<ResolvedText>, LimitError> {
    let mut reading: Option<ResolvedText> = None;
    let mut copied = 0;
    for start in EscapeSigns::new(text.as_bytes()) {
        if start < copied {
            continue;
        }
        let Some((character, end)) = read_escape(text, start) else { continue };
        if reading.is_none() {
            meter.charge_scan(text.len())?;
            meter.check_memory(text.len().saturating_mul(4))?;
        }
        let reading = reading.get_or_insert_with(|| ResolvedText { text: String::new(), stretches: Vec::new() });
        reading.stretches.push((reading.text.len(), copied));
        reading.text.push_str(text.get(copied..start).unwrap_or_default());
        reading.stretches.push((reading.text.len(), start));
        reading.text.extend(character);
        copied = end;
    }
    if let Some(reading) = &mut reading {
        reading.stretches.push((reading.text.len(), copied));
        reading.text.push_str(text.get(copied..).unwrap_or_default());
    }
    Ok(reading)
}

/// Returns the character of an escape (none if invisible) and its end; `None` without an escape.
fn read_escape(text: &str, start: usize) -> Option<(Option<char>, usize)> {
    let bytes = text.as_bytes();
    match bytes.get(start)? {
        b'%' => read_percent_escape(text, start),
        b'\\' => match bytes.get(start + 1)? {
            b'e' => Some((Some(char::from(ESC)), start + 2)),
            b'0' if text.get(start + 2..start + 4) == Some("33") => Some((Some(char::from(ESC)), start + 4)),
            b'x' => {
                let code = u8::from_str_radix(text.get(start + 2..start + 4)?, 16).ok().filter(u8::is_ascii)?;
                Some((Some(char::from(code)), start + 4))
            }
            b'n' => Some((Some('\n'), start + 2)),
            b'r' => Some((Some('\r'), start + 2)),
            b't' => Some((Some('\t'), start + 2)),
            b'u' => {
                // `\u001b`, or `\u{1b}` as reports write it.
                let (digits, end) = match bytes.get(start + 2)? {
                    b'{' => {
                        let end = super::run_end(bytes, start + 3, 6, |byte| byte.is_ascii_hexdigit());
                        (start + 3..end, end + usize::from(bytes.get(end) == Some(&b'}')))
                    }
                    _ => (start + 2..start + 6, start + 6),
                };
                let character = char::from_u32(u32::from_str_radix(text.get(digits)?, 16).ok()?)?;
                let visible = !INVISIBLE.iter().any(|invisible| invisible.starts_with(character));
                Some((visible.then_some(character), end))
            }
            quoted @ (b'"' | b'\'' | b'\\' | b'/') => Some((Some(char::from(*quoted)), start + 2)),
            _ => None,
        },
        &ESC => Some((None, terminal_sequence_end(bytes, start))),
        _ => {
            let rest = text.get(start..)?;
            let invisible = INVISIBLE.iter().find(|invisible| rest.starts_with(**invisible))?;
            Some((None, start + invisible.len()))
        }
    }
}

/// Returns the end of a terminal sequence: color, title, link, or one letter after ESC.
fn terminal_sequence_end(bytes: &[u8], start: usize) -> usize {
    let from = start + 2;
    match bytes.get(start + 1) {
        Some(b'[') => {
            let end = super::run_end(bytes, from, 64, |byte| (0x20..0x40).contains(&byte));
            end + usize::from(bytes.get(end).is_some_and(|last| (0x40..0x7F).contains(last)))
        }
        Some(b']') => {
            let end = super::run_end(bytes, from, 2048, |byte| byte >= b' ');
            end + usize::from(bytes.get(end) == Some(&0x07))
        }
        Some(letter) if letter.is_ascii_graphic() => from,
        _ => start + 1,
    }
}

fn read_percent_escape(text: &str, start: usize) -> Option<(Option<char>, usize)> {
    let byte = |position: usize| -> Option<u8> {
        let at = start + 3 * position;
        let hex = text.get(at..at + 3)?.strip_prefix('%')?;
        u8::from_str_radix(hex, 16).ok()
    };
    let first = byte(0)?;
    let length = match first {
        0..=0x7F => 1,
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return None,
    };
    let bytes = (0..length).map(byte).collect::<Option<Vec<u8>>>()?;
    let character = std::str::from_utf8(&bytes).ok()?.chars().next()?;
    Some((Some(character), start + 3 * length))
}

fn visit_base64(
    text: &str,
    nesting: usize,
    meter: &mut FuelMeter,
    place: &dyn Fn(Range<usize>) -> Range<usize>,
    look: ReadingVisitor<'_>,
) -> Result<ControlFlow<()>, LimitError> {
    if nesting == 0 {
        return Ok(ControlFlow::Continue(()));
    }
    for run in base64_runs(text.as_bytes()) {
        let Some(inner) = text.get(run.clone()).and_then(readable_text) else { continue };
        let whole =
            &mut |reading: &str, _: &dyn Fn(Range<usize>) -> Range<usize>| look(reading, &|_| place(run.clone()));
        if visit_readings(&inner, nesting - 1, meter, whole)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

#[expect(clippy::indexing_slicing, reason = "computed while compiling; every byte has its place")]
static OF_BASE64: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    loop {
        table[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
        if byte == u8::MAX {
            break;
        }
        byte += 1;
    }
    table
};

fn of_base64(byte: u8) -> bool {
    OF_BASE64.get(usize::from(byte)).copied().unwrap_or(false)
}

/// Returns runs of sufficient length. Probing one byte per minimum length finds them fast.
fn base64_runs(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let probe = at + SHORTEST_BASE64 - 1;
            if !of_base64(*text.get(probe)?) {
                at = probe + 1;
                continue;
            }
            let back = text.get(at..probe)?.iter().rev().take_while(|byte| of_base64(**byte)).count();
            let start = probe - back;
            let end = super::run_end(text, probe, usize::MAX, of_base64);
            at = end + 1;
            if end - start >= SHORTEST_BASE64 {
                return Some(start..end);
            }
        }
    })
}

/// Returns the decoded text if it is printable.
fn readable_text(encoded: &str) -> Option<String> {
    // Fast check first: the start of words and of random keys rarely decodes to printable bytes.
    let start = decode_base64(encoded.get(..16)?)?;
    let printable =
        |byte: &u8| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\n' | b'\r' | b'\t') || *byte >= 0x80;
    if !start.iter().all(printable) {
        return None;
    }
    // A run may include a trailing character that is not part of the encoding, such as the slash of a path.
    let whole = encoded.len() - encoded.len() % 4;
    let decoded = decode_base64(encoded).or_else(|| decode_base64(encoded.get(..whole)?))?;
    String::from_utf8(decoded).ok().filter(|text| text.bytes().all(|byte| printable(&byte)))
}
