//! Escapes invisible and direction-changing characters in JSON. JSON readers restore them.

use averment_base::diagnostic::render::{holds_steering, is_steering};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Returns JSON with such characters escaped. They occur only inside strings.
#[must_use]
pub fn escape_json(text: &str) -> Cow<'_, str> {
    if !holds_steering(text) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to memory cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

fn is_hidden(character: char) -> bool {
    character != '\r' && is_steering(character)
}

/// A writer that escapes such characters in JSON.
pub struct EscapedJson<W: Write> {
    inner: W,
    /// The first bytes of an incomplete character.
    begun: Vec<u8>,
}

impl<W: Write> EscapedJson<W> {
    /// Wraps another writer.
    pub fn new(inner: W) -> Self {
        Self { inner, begun: Vec::new() }
    }
}

impl<W: Write> Write for EscapedJson<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.begun.is_empty()
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            self.inner.write_all(escape_json(text).as_bytes())?;
            return Ok(bytes.len());
        }
        self.begun.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.begun) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let rest = self.begun.split_off(whole);
        let text = std::mem::replace(&mut self.begun, rest);
        self.inner.write_all(escape_json(&String::from_utf8_lossy(&text)).as_bytes())?;
        // UTF-8 characters have at most four bytes, so these bytes are invalid and passed on unchanged.
        if self.begun.len() >= 4 {
            let odd = std::mem::take(&mut self.begun);
            self.inner.write_all(&odd)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_escaped_wherever_a_text_is_cut() {
        let value =
            serde_json::json!({"a\u{202e}": "é\u{200b} \u{e0041}\u{7f} \u{1f600} plain\r\n\u{1b}", "b": "日本"});
        let text = value.to_string();
        let whole = escape_json(&text).into_owned();
        assert!(!whole.chars().any(is_steering), "{whole}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&whole).unwrap(), value);
        for size in 1..9 {
            let mut out = Vec::new();
            let mut writer = EscapedJson::new(&mut out);
            text.as_bytes().chunks(size).for_each(|chunk| writer.write_all(chunk).unwrap());
            writer.flush().unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), whole, "{size}");
        }
        assert!(matches!(escape_json("{\"a\": \"日本 é\"}"), Cow::Borrowed(_)));
    }
}
