//! Whether any of some words stands in a text, told in one pass over it.

use super::{ByteSet, TeddySearcher};

/// Bytes that are looked at to find a word.
const CANDIDATE: usize = 3;

/// Some words of two bytes or more.
pub(crate) struct AnyWord {
    words: Vec<&'static str>,
    /// A candidate has three bytes: shorter words at the end of a text are none.
    short: Vec<&'static str>,
    teddy: TeddySearcher,
}

impl AnyWord {
    /// Looks for all words of these lists.
    pub(crate) fn new(lists: &[&[&'static str]]) -> Self {
        let words: Vec<&'static str> = lists.iter().copied().flatten().copied().collect();
        let set = |byte: Option<&u8>| match byte {
            Some(byte) => ByteSet::single_byte(*byte),
            None => (0..=u8::MAX).fold(ByteSet::default(), |mut all, byte| {
                all.insert(byte);
                all
            }),
        };
        let start = |word: &&str| [0, 1, 2].map(|at| set(word.as_bytes().get(at)));
        let teddy = TeddySearcher::new(&words.iter().map(start).collect::<Vec<_>>());
        let short = words.iter().copied().filter(|word| word.len() < CANDIDATE).collect();
        Self { words, short, teddy }
    }

    /// Whether one of the words stands in a text.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        let mut found = false;
        self.teddy.find_candidates(text.as_bytes(), |at, word| {
            let rest = text.as_bytes().get(at..).unwrap_or_default();
            found = self.words.get(word as usize).is_some_and(|word| rest.starts_with(word.as_bytes()));
            found
        });
        found || self.short.iter().any(|word| text.ends_with(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_wherever_they_stand() {
        let words = AnyWord::new(&[&["output", "is_error"], &["\\u", "id"]]);
        for padding in [0, 1, 29, 30, 31, 32, 61, 62, 63, 64, 100] {
            let filler = "o".repeat(padding);
            for word in ["output", "is_error", "\\u", "id"] {
                for behind in ["", "x", "xy", "xyz"] {
                    assert!(words.is_in(&format!("{filler}{word}{behind}")), "{padding} {word} {behind}");
                }
            }
            for other in ["", "outpu", "is_erro", "\\", "i", "Output is error \\n i d"] {
                assert!(!words.is_in(&format!("{filler}{other}")), "{padding} {other}");
            }
        }
    }
}
