//! A first look at names: whether one may be among some words, or end in one of them, told by its last two letters.
//!
//! Reports are made of runs with hundreds of keys each, and next to none of these is one that anybody looks for.

use super::assignments::ENDS;

/// The last two letters of some words, whatever their case.
pub struct NameEnds {
    /// By a letter, the words that have it last, each a bit.
    last: [u32; 256],
    /// By a letter, the words that have it in front of the last.
    before: [u32; 256],
}

impl NameEnds {
    /// Those of some words, and of all names of credentials.
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

    /// False if a name surely is none of the words, neither of these with other letters in front of it, and no name of a credential.
    #[inline]
    #[must_use]
    pub fn may_fit(&self, name: &[u8]) -> bool {
        let Some([before, last]) = name.last_chunk::<2>() else { return true };
        let [before, last] = [self.before.get(usize::from(*before)), self.last.get(usize::from(*last))];
        before.copied().unwrap_or(u32::MAX) & last.copied().unwrap_or(u32::MAX) != 0
    }

    /// With the last two letters of a word, or with its last one and an `s`.
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

    /// With all bytes that are no letters: such names are looked at as a whole.
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
