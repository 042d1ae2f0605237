//! Finding where values and lines end, without reading them.

/// `None` if the text ends inside. Only brackets and quotes are checked: the reader validates the rest.
pub(super) fn end_of_value(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_text(bytes, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' if depth == 0 => return Some(at),
            b'}' | b']' => {
                depth -= 1;
                at += 1;
            }
            b',' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => return Some(at),
            _ => {
                at += 1;
                continue;
            }
        }
        // Brackets and texts end by themselves, words and numbers with what follows them.
        if depth == 0 {
            return Some(at);
        }
    }
    (depth == 0 && at > start).then_some(at)
}

fn end_of_text(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        match bytes.get(at) {
            Some(b'"') => return Some(at + 1),
            _ => at += 2,
        }
    }
}

pub(super) fn skip_blank(text: &str, start: usize) -> usize {
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    start + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count()
}

pub(super) fn nonblank_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |newline| newline + 1);
        let line = rest.get(..length)?;
        let offset = start;
        start += length;
        Some((offset, line))
    })
    .filter(|(_, line)| !line.trim_ascii().is_empty())
}

/// The last one may be cut off by the end of the text.
pub(super) fn json_values(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = skip_blank(text, 0);
    std::iter::from_fn(move || {
        let start = next;
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let end = end_of_value(text, start).unwrap_or(text.len()).max(start + 1);
        let end = (end..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        next = skip_blank(text, end);
        Some((start, rest.get(..end - start)?))
    })
}

/// Offsets must ascend; each part of the text is scanned once.
#[derive(Debug, Default)]
pub(super) struct LineCounter {
    ends: usize,
    /// Characters since the last line end.
    characters: usize,
    counted: usize,
}

impl LineCounter {
    /// From 1, in characters.
    pub(super) fn line_and_column(&mut self, text: &str, offset: usize) -> (usize, usize) {
        let mut passed = text.get(self.counted..offset).unwrap_or_default();
        if let Some(newline) = memchr::memrchr(b'\n', passed.as_bytes()) {
            self.ends += memchr::memchr_iter(b'\n', passed.as_bytes()).count();
            self.characters = 0;
            passed = passed.get(newline + 1..).unwrap_or_default();
        }
        self.characters += passed.chars().count();
        self.counted = self.counted.max(offset);
        (self.ends + 1, self.characters + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_end_where_their_brackets_close() {
        for (text, end) in [
            (r#"{"a": "}"} x"#, Some(10)),
            (r#"{"a": "\"}"}"#, Some(12)),
            ("[1, [2]], 3", Some(8)),
            ("12, 3", Some(2)),
            ("true]", Some(4)),
            ("42", Some(2)),
            (r#""a b" c"#, Some(5)),
            ("{\"a\": [1", None),
            ("\"abc", None),
            ("\"abc\\", None),
            ("", None),
        ] {
            assert_eq!(end_of_value(text, 0), end, "{text}");
        }
    }

    #[test]
    fn values_stand_one_behind_the_other() {
        let found: Vec<_> = json_values(" {\"a\": 1}\n[2] ü {\"b\":").collect();
        assert_eq!(found, [(1, "{\"a\": 1}"), (10, "[2]"), (14, "ü"), (17, "{\"b\":")]);
    }

    #[test]
    fn blank_lines_are_no_lines() {
        let found: Vec<_> = nonblank_lines("a\n\n  \r\nb\r\nc").collect();
        assert_eq!(found, [(0, "a\n"), (7, "b\r\n"), (10, "c")]);
    }
}
