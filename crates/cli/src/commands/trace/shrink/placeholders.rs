//! Placeholders for the texts, keys and words of a trace. Equal originals get the same placeholder, so that equality is preserved.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Maps originals to placeholders.
#[derive(Debug, Clone, Default)]
pub(super) struct Placeholders {
    texts: BTreeMap<String, String>,
    keys: BTreeMap<String, String>,
    words: BTreeMap<String, String>,
}

/// The kind of an original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplacedPart {
    Text,
    Key,
    /// One word of a text that is otherwise kept.
    Word,
}

impl ReplacedPart {
    fn prefix(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Key => "key",
            Self::Word => "w",
        }
    }
}

impl Placeholders {
    fn table(&mut self, part: ReplacedPart) -> &mut BTreeMap<String, String> {
        match part {
            ReplacedPart::Text => &mut self.texts,
            ReplacedPart::Key => &mut self.keys,
            ReplacedPart::Word => &mut self.words,
        }
    }

    pub(super) fn replace(&mut self, part: ReplacedPart, pairs: &[(String, String)]) {
        self.table(part).extend(pairs.iter().cloned());
    }

    pub(super) fn restore(&mut self, part: ReplacedPart, pairs: &[(String, String)]) {
        let table = self.table(part);
        pairs.iter().for_each(|(from, _)| drop(table.remove(from)));
    }

    pub(super) fn is_replaced_text(&self, text: &str) -> bool {
        self.texts.contains_key(text)
    }

    pub(super) fn key_of<'a>(&'a self, key: &'a str) -> &'a str {
        self.keys.get(key).map_or(key, String::as_str)
    }

    pub(super) fn text_of<'a>(&'a self, text: &'a str) -> Cow<'a, str> {
        if let Some(placeholder) = self.texts.get(text) {
            return Cow::Borrowed(placeholder);
        }
        if self.words.is_empty() {
            return Cow::Borrowed(text);
        }
        let word_of = |piece: &'a str| self.words.get(piece).map_or(piece, String::as_str);
        Cow::Owned(word_pieces(text).map(word_of).collect())
    }
}

/// Splits a text into words and the pieces between them.
fn word_pieces(text: &str) -> impl Iterator<Item = &str> {
    let in_word = |sign: char| sign.is_alphanumeric() || sign == '_';
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_word = in_word(rest.chars().next()?);
        let end = rest.find(|sign| in_word(sign) != is_word).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at_checked(end)?;
        rest = behind;
        Some(piece)
    })
}

pub(super) fn words_of(text: &str) -> impl Iterator<Item = &str> {
    word_pieces(text).filter(|piece| piece.chars().any(char::is_alphabetic))
}

/// Pairs each of `found` with a placeholder that is not among `taken`: `text1`, `text2`, ….
pub(super) fn pair_up(part: ReplacedPart, found: Vec<&str>, taken: &BTreeSet<&str>) -> Vec<(String, String)> {
    let mut number = 0_usize;
    let mut next = || {
        loop {
            number = number.saturating_add(1);
            let placeholder = format!("{}{number}", part.prefix());
            if !taken.contains(placeholder.as_str()) {
                return placeholder;
            }
        }
    };
    found.into_iter().map(|text| (text.to_owned(), next())).collect()
}

/// True if a text, key or word is a placeholder of an earlier run of the command.
pub(super) fn is_placeholder(part: ReplacedPart, text: &str) -> bool {
    let number = text.strip_prefix(part.prefix()).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// True if a text looks like a word of a format, such as `tool_call` or `message/delta`.
pub(super) fn is_format_word(text: &str) -> bool {
    let in_word = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-' | '.' | '/' | ':' | '$' | '#');
    text.len() <= 48
        && text.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_')
        && text.chars().all(in_word)
}

/// Returns the shape of a date or a hexadecimal number, such as `xxxx-xx-xx`; `None` for any other text.
pub(super) fn code_shape(text: &str) -> Option<String> {
    let shape_of = |sign: char| match sign {
        '0'..='9' | 'a'..='f' | 'A'..='F' => Some('x'),
        'T' | 'Z' | ':' | '.' | '+' | '-' | ' ' => Some(sign),
        _ => None,
    };
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    text.chars().map(shape_of).collect::<Option<String>>().filter(|_| has_digit && text.len() >= 8)
}
