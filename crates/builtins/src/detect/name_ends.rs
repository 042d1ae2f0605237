//! A fast filter for names by their last two letters: it tells if a name may equal one of some words, or end in one.
//!
//! Reports examine hundreds of keys per run, and almost none of them is a searched name.

use super::assignments::ENDS;

/// The last two letters of some words, in any case.
pub struct NameEnds {
    /// For each byte, the words that end with it, one bit each.
    last: [u32; 256],
    /// For each byte, the words that have it before the last letter.
    before: [u32; 256],
}

impl NameEnds {
    /// Creates the filter for some words and for all credential names.
    #[expect(clippy::indexing_slicing, reason = "computed while compiling, where there is no `get`")]
    #[must_use]
    pub const fn with_credentials(words: &[&str]) -> Self {
        let mut all = Self { last: [0; 256], before: [0; 256] };
        let (mut bit, mut place) = (0, 0);
        while place < words.len() {
            all = all.with_word(words[place], bit, false);
            (bit, place) = (bit + 1, place + 1);
        }
        place = 0;
        while place < ENDS.len() {
            all = all.with_word(ENDS[place], bit, false).with_word(ENDS[place], bit + 1, true);
            (bit, place) = (bit + 2, place + 1);
        }
        all.with_others()
    }

    /// False if a name certainly is no credential name, none of the words, and does not end in one of them.
    #[inline]
    #[must_use]
    pub fn may_fit(&self, name: &[u8]) -> bool {
        let Some([before, last]) = name.last_chunk::<2>() else { return true };
        let [before, last] = [self.before.get(usize::from(*before)), self.last.get(usize::from(*last))];
        before.copied().unwrap_or(u32::MAX) & last.copied().unwrap_or(u32::MAX) != 0
    }

    /// Adds the last two letters of a word; for a plural, its last letter and an `s`.
    #[expect(
        clippy::indexing_slicing,
        reason = "computed while compiling, where there is no `get`: a byte has its place"
    )]
    const fn with_word(mut self, word: &str, bit: usize, plural: bool) -> Self {
        let word = word.as_bytes();
        let bit = 1_u32 << (bit % 32);
        let end = word.len();
        let (before, last) = if plural { (word[end - 1], b's') } else { (word[end - 2], word[end - 1]) };
        self.before[before.to_ascii_lowercase() as usize] |= bit;
        self.before[before.to_ascii_uppercase() as usize] |= bit;
        self.last[last.to_ascii_lowercase() as usize] |= bit;
        self.last[last.to_ascii_uppercase() as usize] |= bit;
        self
    }

    /// Adds all bytes that are no letters, so that such names are examined in full.
    #[expect(clippy::indexing_slicing, reason = "as above")]
    const fn with_others(mut self) -> Self {
        let mut byte = 0;
        while byte < 256 {
            #[expect(clippy::cast_possible_truncation, reason = "the loop ends in front of 256")]
            if !(byte as u8).is_ascii_alphabetic() {
                self.before[byte] = u32::MAX;
                self.last[byte] = u32::MAX;
            }
            byte += 1;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::names_credential;
    use super::*;
    use proptest::prelude::*;

    static KEYS: NameEnds = NameEnds::with_credentials(&["env", "command"]);

    #[test]
    fn words_and_names_of_credentials_fit() {
        for name in ["env", "command", "ENV", "a", "", "key_", "k_ey", "apiKeys", "TOKEN", "é"] {
            assert!(KEYS.may_fit(name.as_bytes()), "{name}");
        }
        for name in ["args", "result", "content", "role", "duration_ms", "score", "id"] {
            assert!(!KEYS.may_fit(name.as_bytes()), "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_name_of_a_credential_is_passed_over(
            start in "[a-zA-Z_]{0,4}",
            name in prop::sample::select(vec![
                "apikey", "secret", "token", "credential", "password", "passwd", "passphrase", "authorization", "auth", "API_KEY",
            ]),
            odd in prop::option::of((0..13_usize, prop::sample::select(vec!['_', '-', '1', 'é']))),
            upper in any::<bool>(),
            end in "[sS_1]{0,2}",
            list in any::<bool>(),
        ) {
            let mut name = if upper { name.to_uppercase() } else { name.to_owned() };
            if let Some((at, odd)) = odd {
                name.insert(at.min(name.len()), odd);
            }
            let name = format!("{start}{name}{end}");
            prop_assert!(KEYS.may_fit(name.as_bytes()) || !names_credential(name.as_bytes(), list), "{name}");
        }
    }
}
