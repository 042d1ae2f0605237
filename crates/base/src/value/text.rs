//! Text: a slice of the run, unescaped when somebody looks.

use std::cell::OnceCell;
use std::fmt;

/// Text of a run or a computed one.
#[derive(Clone, Copy)]
pub enum ValueText<'run> {
    /// Text without escapes.
    Plain(&'run str),
    /// Text of the trace that holds escapes.
    Escaped(&'run EscapedText<'run>),
}

/// Escaped text with its unescaped form once somebody has looked.
pub struct EscapedText<'run> {
    raw: &'run str,
    plain: OnceCell<&'run str>,
    arena: &'run bumpalo::Bump,
}

impl<'run> EscapedText<'run> {
    /// Text as it stands between the quotes of valid JSON.
    #[must_use]
    pub fn new(raw: &'run str, arena: &'run bumpalo::Bump) -> Self {
        Self { raw, plain: OnceCell::new(), arena }
    }

    /// The text as it stands between the quotes.
    #[must_use]
    pub fn raw_text(&self) -> &'run str {
        self.raw
    }

    fn as_str(&self) -> &'run str {
        self.plain.get_or_init(|| unescape_text(self.raw, self.arena))
    }
}

impl<'run> ValueText<'run> {
    /// The text. The first look at escaped text unescapes it into the arena of the run.
    #[must_use]
    pub fn as_str(self) -> &'run str {
        match self {
            Self::Plain(text) => text,
            Self::Escaped(escaped) => escaped.as_str(),
        }
    }

    /// The text as it stands between the quotes; of a computed one the text itself.
    #[must_use]
    pub fn raw_text(self) -> &'run str {
        match self {
            Self::Plain(text) => text,
            Self::Escaped(escaped) => escaped.raw_text(),
        }
    }

    /// True for the empty text, without unescaping.
    #[must_use]
    pub fn is_empty(self) -> bool {
        match self {
            Self::Plain(text) => text.is_empty(),
            // An escape always stands for a character.
            Self::Escaped(_) => false,
        }
    }
}

impl PartialEq<ValueText<'_>> for ValueText<'_> {
    fn eq(&self, other: &ValueText<'_>) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for ValueText<'_> {}

impl fmt::Debug for ValueText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Debug for EscapedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for ValueText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EscapeSegment<'a> {
    Plain(&'a str),
    /// A decoded escape (or surrogate pair) and its length in bytes; a lone surrogate becomes U+FFFD.
    Escape(char, usize),
}

pub(crate) fn text_segments(raw: &str) -> impl Iterator<Item = EscapeSegment<'_>> {
    let mut rest = raw;
    std::iter::from_fn(move || {
        let stop = before_escape(rest.as_bytes());
        if stop > 0 {
            let (plain, behind) = rest.split_at_checked(stop)?;
            rest = behind;
            return Some(EscapeSegment::Plain(plain));
        }
        let (character, length) = read_escape(rest)?;
        rest = rest.get(length..)?;
        Some(EscapeSegment::Escape(character, length))
    })
}

/// Usually few: JSON in a text has a quote every few characters.
fn before_escape(bytes: &[u8]) -> usize {
    const NEAR: usize = 16;
    let near = bytes.get(..NEAR).unwrap_or(bytes);
    match near.iter().position(|byte| *byte == b'\\') {
        Some(found) => found,
        None => {
            let far = bytes.get(near.len()..).unwrap_or_default();
            near.len() + memchr::memchr(b'\\', far).unwrap_or(far.len())
        }
    }
}

/// The character of the escape at the start of `text`, and its length in bytes.
pub fn read_escape(text: &str) -> Option<(char, usize)> {
    let character = match text.as_bytes().get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return Some(read_unicode(text)),
        &other => char::from(other),
    };
    Some((character, 2))
}

fn read_unicode(text: &str) -> (char, usize) {
    let first = code_unit(text, 0).unwrap_or(0xFFFD);
    if (0xD800..0xDC00).contains(&first)
        && let Some(second) = code_unit(text, 6)
        && (0xDC00..0xE000).contains(&second)
    {
        let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
}

fn code_unit(text: &str, at: usize) -> Option<u32> {
    let hex = text.get(at..at + 6)?.strip_prefix("\\u")?;
    u32::from_str_radix(hex, 16).ok()
}

/// The characters of escaped text.
#[must_use]
pub fn unescape_text<'run>(raw: &str, arena: &'run bumpalo::Bump) -> &'run str {
    let mut plain = bumpalo::collections::String::with_capacity_in(raw.len(), arena);
    for segment in text_segments(raw) {
        match segment {
            EscapeSegment::Plain(text) => plain.push_str(text),
            EscapeSegment::Escape(character, _) => plain.push(character),
        }
    }
    plain.into_bump_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_escape_is_read() {
        let arena = bumpalo::Bump::new();
        let read = |raw| unescape_text(raw, &arena);
        assert_eq!(read(r#"a\"b\\c\/d\b\f\n\r\t"#), "a\"b\\c/d\u{8}\u{c}\n\r\t");
        assert_eq!(read(r"\u00e9\u20AC\uD83D\uDE00!"), "é€😀!");
        assert_eq!(read("Zürich"), "Zürich");
    }

    #[test]
    fn a_lone_surrogate_is_the_replacement_character() {
        let arena = bumpalo::Bump::new();
        let read = |raw| unescape_text(raw, &arena);
        assert_eq!(read(r"a\ud800b"), "a\u{FFFD}b");
        assert_eq!(read(r"\udc00\ud800"), "\u{FFFD}\u{FFFD}");
        assert_eq!(read(r"\ud800\u0041"), "\u{FFFD}A");
        assert_eq!(read(r"\ud800\ud83d\ude00"), "\u{FFFD}😀");
    }

    #[test]
    fn text_compares_by_its_characters() {
        let arena = bumpalo::Bump::new();
        let escaped = EscapedText::new(r"\u0061b", &arena);
        assert_eq!(ValueText::Escaped(&escaped), ValueText::Plain("ab"));
    }
}
