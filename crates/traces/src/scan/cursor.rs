//! Walking the values of indexed bytes.

use super::{ByteIndex, ScanWord, simd};

static IN_WORDS: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_usize;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "the loop ends in front of 256")]
        let this = byte as u8;
        #[expect(clippy::indexing_slicing, reason = "the loop ends in front of 256; there is no `get` here")]
        {
            table[byte] = matches!(this, b'0'..=b'9' | b'a'..=b'z' | b'.' | b'+' | b'-' | b'E');
        }
        byte += 1;
    }
    table
};

/// Walks values. Offsets count in the indexed bytes; what would lead behind them gives `None`.
#[derive(Debug, Clone, Copy)]
pub struct ScanCursor<'a> {
    bytes: &'a [u8],
    words: &'a [ScanWord],
    depth: u32,
}

impl<'a> ScanCursor<'a> {
    /// A cursor over bytes and their index. Values nested deeper than `depth` are not skipped.
    #[must_use]
    pub fn new(bytes: &'a [u8], index: &'a ByteIndex, depth: usize) -> Self {
        Self { bytes, words: index.words(), depth: u32::try_from(depth).unwrap_or(u32::MAX) }
    }

    /// The byte at an offset; 0 behind the end.
    #[inline]
    #[must_use]
    pub fn byte_at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// The sixteen bytes at an offset, where there are so many.
    #[inline]
    #[must_use]
    pub fn sixteen_at(&self, at: usize) -> Option<&'a [u8; 16]> {
        self.bytes.get(at..)?.first_chunk()
    }

    /// The bytes of a range; none where it is no range of them.
    #[inline]
    #[must_use]
    pub fn slice(&self, start: usize, end: usize) -> &'a [u8] {
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// The offset of the next byte that is no white space.
    #[inline]
    #[must_use]
    pub fn skip_blank(&self, mut at: usize) -> usize {
        while matches!(self.byte_at(at), b' ' | b'\t' | b'\r' | b'\n') {
            at = at.wrapping_add(1);
        }
        at
    }

    /// The offset of the first byte of a line that is no white space; its end where there is none.
    #[must_use]
    pub fn blank_in_line(&self, start: usize, end: usize) -> usize {
        self.skip_blank(start).min(end)
    }

    /// The offset of the first quote of a string at or behind an offset.
    #[inline]
    #[must_use]
    pub fn next_quote(&self, from: usize) -> Option<usize> {
        self.next_bit(from, |word| word.quote)
    }

    /// The offset of the first backslash at or behind an offset.
    #[inline]
    #[must_use]
    pub fn next_backslash(&self, from: usize) -> Option<usize> {
        self.next_bit(from, |word| word.slash)
    }

    #[inline]
    fn next_bit(&self, from: usize, of: impl Fn(&ScanWord) -> u64) -> Option<usize> {
        let mut number = from / 64;
        let mut bits = of(self.words.get(number)?) & (u64::MAX << (from % 64));
        while bits == 0 {
            number = number.wrapping_add(1);
            bits = of(self.words.get(number)?);
        }
        Some(number.wrapping_mul(64).wrapping_add(bits.trailing_zeros() as usize))
    }

    /// Whether any string in a range is one of those, by the offsets of its quotes; `None` if the last one is not closed there. One is asked
    /// about after the other.
    #[inline]
    pub fn any_string(&self, start: usize, end: usize, mut fits: impl FnMut(usize, usize) -> bool) -> Option<bool> {
        let (first, last) = (start / 64, end.checked_sub(1)? / 64);
        let mut before = None;
        for (number, word) in (first..).zip(self.words.get(first..=last)?) {
            let mut bits = word.quote;
            if number == first {
                bits &= u64::MAX << (start % 64);
            }
            if number == last {
                bits &= u64::MAX >> (63 - end.wrapping_sub(1) % 64);
            }
            while bits != 0 {
                let at = number.wrapping_mul(64).wrapping_add(bits.trailing_zeros() as usize);
                bits &= bits.wrapping_sub(1);
                match before.take() {
                    None => before = Some(at),
                    Some(open) if fits(open, at) => return Some(true),
                    Some(_) => {}
                }
            }
        }
        before.is_none().then_some(false)
    }

    /// Whether a backslash stands in a range.
    #[inline]
    #[must_use]
    pub fn has_escape(&self, start: usize, end: usize) -> bool {
        if start >= end {
            return false;
        }
        let (first, last) = (start / 64, end.wrapping_sub(1) / 64);
        let slash = |number: usize| self.words.get(number).map_or(0, |word| word.slash);
        let head = u64::MAX << (start % 64);
        let tail = u64::MAX >> (63 - end.wrapping_sub(1) % 64);
        if first == last {
            return slash(first) & head & tail != 0;
        }
        slash(first) & head != 0 || slash(last) & tail != 0 || (first.wrapping_add(1)..last).any(|one| slash(one) != 0)
    }

    /// The offset behind the object or list whose bracket stands at an offset.
    #[inline]
    #[must_use]
    pub fn container_end(&self, at: usize) -> Option<usize> {
        simd::closing_bracket(self.words, at, self.depth)
    }

    /// The offset behind the value at an offset. Of numbers and words only the end is looked for.
    #[inline]
    #[must_use]
    pub fn value_end(&self, at: usize) -> Option<usize> {
        match self.byte_at(at) {
            b'"' => Some(self.next_quote(at.wrapping_add(1))?.wrapping_add(1)),
            _ => self.end_of_other(at),
        }
    }

    /// The offset behind a value that is no text.
    fn end_of_other(&self, at: usize) -> Option<usize> {
        match self.byte_at(at) {
            b'{' | b'[' => self.container_end(at),
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                let mut end = at.wrapping_add(1);
                while IN_WORDS.get(usize::from(self.byte_at(end))) == Some(&true) {
                    end = end.wrapping_add(1);
                }
                Some(end)
            }
            _ => None,
        }
    }

    /// `None` if the text only begins like `null`.
    #[inline]
    #[must_use]
    pub fn is_null(&self, start: usize, end: usize) -> Option<bool> {
        match self.byte_at(start) {
            b'n' => (self.slice(start, end) == b"null").then_some(true),
            _ => Some(false),
        }
    }

    /// The strings inside of a range that are no keys, by the offsets of their quotes.
    #[inline]
    pub fn each_text(&self, start: usize, end: usize, mut each: impl FnMut(usize, usize)) -> Option<()> {
        let mut at = start;
        loop {
            let Some(open) = self.next_quote(at).filter(|open| *open < end) else { return Some(()) };
            let close = self.next_quote(open.wrapping_add(1)).filter(|close| *close < end)?;
            at = close.wrapping_add(1);
            if self.byte_at(self.skip_blank(at)) != b':' {
                each(open, close);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<R>(text: &str, then: impl Fn(ScanCursor<'_>) -> R) -> R {
        let mut index = ByteIndex::default();
        index.build_index(text.as_bytes()).unwrap();
        then(ScanCursor::new(text.as_bytes(), &index, 256))
    }

    #[test]
    fn values_end_where_their_brackets_and_quotes_do() {
        for padding in [0, 30, 55, 60, 61, 62, 63, 64, 120, 128] {
            for (value, more) in [
                (r#"{"a":"}]\"{","b":[1,{"c":[]}]}"#, ","),
                (r#"[["]"],[]]"#, "]"),
                (r#""a\"b\\""#, ":"),
                ("-12.5e+3", ","),
                ("null", "}"),
                ("[]", ""),
            ] {
                let text = format!("{}{value}{more}", " ".repeat(padding));
                assert_eq!(with(&text, |cursor| cursor.value_end(padding)), Some(padding + value.len()), "{text}");
            }
            for broken in ["[[]", "\"abc", "{", "x", ""] {
                let text = format!("{}{broken}", " ".repeat(padding));
                assert_eq!(with(&text, |cursor| cursor.value_end(padding)), None, "{text}");
            }
        }
    }

    #[test]
    fn nesting_beyond_the_limit_is_not_passed_over() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(with(&deep(256), |cursor| cursor.value_end(0).is_some()));
        assert!(with(&deep(2_000), |cursor| cursor.value_end(0).is_none()));
    }

    #[test]
    fn texts_are_found_without_keys() {
        let text = format!(r#"{}{{"a" : "b","c":["d",{{"e":"f\"g"}}],"":""}}"#, " ".repeat(40));
        let found = with(&text, |cursor| {
            let mut found = Vec::new();
            cursor.each_text(0, text.len(), |open, close| found.push(text[open + 1..close].to_owned())).unwrap();
            found
        });
        assert_eq!(found, ["b", "d", r#"f\"g"#, ""]);
    }

    #[test]
    fn every_string_in_a_range_is_asked_about() {
        for padding in [0, 40, 58, 59, 60, 61, 62, 63, 64, 130] {
            let text = format!(r#"{}{{"a" : "b{}\"c","":"d"}}, "e""#, " ".repeat(padding), "-".repeat(padding));
            let asked = |start: usize, end: usize, last: &str| {
                with(&text, |cursor| {
                    let mut asked = Vec::new();
                    let any = cursor.any_string(start, end, |open, close| {
                        asked.push(text[open + 1..close].to_owned());
                        asked.last().is_some_and(|one| one == last)
                    });
                    (asked, any)
                })
            };
            let long = format!("b{}\\\"c", "-".repeat(padding));
            let all = ["a", &long, "", "d", "e"];
            assert_eq!(asked(0, text.len(), "?"), (all.map(str::to_owned).to_vec(), Some(false)), "{text}");
            assert_eq!(
                asked(padding, text.len() - 5, "?"),
                (all[..4].iter().map(|one| (*one).to_owned()).collect(), Some(false))
            );
            assert_eq!(
                asked(padding, text.len(), &long),
                (all[..2].iter().map(|one| (*one).to_owned()).collect(), Some(true))
            );
            assert_eq!(asked(padding, padding + 8, "?"), (vec!["a".to_owned()], None));
            assert_eq!((asked(0, 0, "?").1, asked(0, text.len() + 999, "?").1), (None, None));
        }
    }

    #[test]
    fn escapes_are_seen_in_their_range_only() {
        for padding in [0, 60, 63, 64, 200] {
            let text = format!("{}\"ab\\ncd\"", "x".repeat(padding));
            let seen =
                |start: usize, end: usize| with(&text, |cursor| cursor.has_escape(padding + start, padding + end));
            assert_eq!((seen(1, 3), seen(1, 4), seen(3, 8), seen(4, 8), seen(3, 3)), (false, true, true, false, false));
        }
    }
}
