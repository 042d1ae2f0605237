//! Names for assertions that have none: the words of their text, so that a person can read, say and type them.

use averment_base::limits::{FuelMeter, Limits};
use averment_builtins::detect::find_credentials;

/// A name of so many characters still holds all words.
const LONGEST: usize = 60;
/// What is left of a longer one, in front of its digits.
const CUT: usize = 44;
/// Longer words are keys, hashes or nonsense, and nobody says them.
const LONGEST_WORD: usize = 24;
/// The name of a text without a word.
const NO_WORDS: &str = "assertion";

/// A name, and whether it holds all words of its text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SpokenName {
    pub(crate) words: String,
    pub(crate) is_whole: bool,
}

impl SpokenName {
    /// `refund.amount <= 100` is `refund.amount-at-most-100`. Depends on nothing but the texts: those of the blocks around an assertion, and its own.
    pub(crate) fn from_texts(headers: &[String], text: &str) -> Self {
        let shows_literal = |text: &str| text.contains(['"', '\'', '/']);
        let hides = |text: &str| {
            shows_literal(text)
                && find_credentials(text, &mut FuelMeter::new(&Limits::default()))
                    .map_or(true, |found| !found.is_empty())
        };
        if hides(text) || headers.iter().any(|header| hides(header)) {
            return Self { words: NO_WORDS.to_owned(), is_whole: false };
        }
        let mut all = WordCollector::default();
        headers.iter().for_each(|header| all.read_text(header));
        all.read_text(text);
        let whole = all.finish();
        if whole.is_whole || headers.is_empty() {
            return whole;
        }
        let mut own = WordCollector::default();
        own.read_text(text);
        Self { is_whole: false, ..own.finish() }
    }
}

/// What stands for an operator.
const OPERATORS: [(&str, &str); 9] = [
    ("->", "then"),
    ("==", "is"),
    ("!=", "is-not"),
    ("<=", "at-most"),
    (">=", "at-least"),
    ("..", "to"),
    ("<", "below"),
    (">", "above"),
    ("%", "percent"),
];

#[derive(Default)]
struct WordCollector {
    name: String,
    last: String,
    is_cut: bool,
}

impl WordCollector {
    fn read_text(&mut self, text: &str) {
        let mut rest = text;
        while let Some(letter) = rest.chars().next().filter(|_| self.name.len() <= LONGEST) {
            let word_end = rest.find(|letter: char| !is_word_letter(letter)).unwrap_or(rest.len());
            let taken = if word_end > 0 {
                let end = path_end(rest, word_end);
                self.add_word(rest.get(..end).unwrap_or_default());
                end
            } else if let Some((sign, word)) = OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign)) {
                self.add_word(word);
                sign.len()
            } else {
                self.is_cut |= letter.is_alphanumeric();
                // `\d` and `\n` are no words.
                let escaped = rest.get(1..).and_then(|rest| rest.chars().next()).filter(|_| letter == '\\');
                letter.len_utf8().saturating_add(escaped.map_or(0, char::len_utf8))
            };
            rest = rest.get(taken..).unwrap_or_default();
        }
        self.is_cut |= !rest.is_empty();
    }

    /// A word that stands twice in a row, as in `id: $id`, is said once.
    fn add_word(&mut self, word: &str) {
        let word = word.trim_matches('_');
        if word.is_empty() || word == self.last {
            return;
        }
        if word.split('.').any(|part| part.len() > LONGEST_WORD) {
            self.is_cut = true;
            return;
        }
        if !self.name.is_empty() {
            self.name.push('-');
        }
        self.name.push_str(word);
        word.clone_into(&mut self.last);
    }

    fn finish(mut self) -> SpokenName {
        if self.name.len() > LONGEST {
            let end = self.name.get(..=CUT).and_then(|start| start.rfind('-')).unwrap_or(0);
            self.name.truncate(end);
            self.is_cut = true;
        }
        match self.name.is_empty() {
            true => SpokenName { words: NO_WORDS.to_owned(), is_whole: false },
            false => SpokenName { words: self.name, is_whole: !self.is_cut },
        }
    }
}

fn is_word_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Where a path or a number goes on behind a point, as in `output.status` and `0.05`.
fn path_end(text: &str, mut end: usize) -> usize {
    while let Some(rest) = text.get(end..).and_then(|rest| rest.strip_prefix('.')) {
        let next = rest.find(|letter: char| !is_word_letter(letter)).unwrap_or(rest.len());
        let part = rest.get(..next).unwrap_or_default();
        if part.trim_matches('_').is_empty() {
            break;
        }
        end = end.saturating_add(next).saturating_add(1);
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(text: &str) -> String {
        let name = SpokenName::from_texts(&[], text);
        format!("{}{}", name.words, if name.is_whole { "" } else { " …" })
    }

    #[test]
    fn a_name_is_what_a_person_would_say() {
        let rows = [
            (r#"output.status == "refunded""#, "output.status-is-refunded"),
            ("never admin_*, drop_table", "never-admin-drop_table"),
            ("cost <= $0.05", "cost-at-most-0.05"),
            ("count api_call in 1..4", "count-api_call-in-1-to-4"),
            ("before approve(id: $id) -> refund(id: $id)", "before-approve-id-then-refund-id"),
            (r"output.url matches /^https:\/\/shop\.example\/r\/\d+$/", "output.url-matches-https-shop-example-r"),
            ("no secrets in calls[*].args", "no-secrets-in-calls-args"),
            ("rate >= 95%", "rate-at-least-95-percent"),
            ("3 <= length(x)", "3-at-most-length-x"),
            (r#"output contains "größe""#, "output-contains-gr-e …"),
            ("\"退款\" == \"退\"", "is …"),
            ("\"退款\"", "assertion …"),
        ];
        for (text, name) in rows {
            assert_eq!(name_of(text), name, "{text}");
        }
    }

    #[test]
    fn long_texts_keep_their_beginning_and_say_that_they_are_cut() {
        let long = "output contains \"the refund was paid out to the account of the customer in full\"";
        assert_eq!(name_of(long), "output-contains-the-refund-was-paid-out-to …");
        assert_eq!(name_of(&format!("output == \"{}\"", "a".repeat(80))), "output-is …");
        let header = ["when output.status == \"refunded\" and cost > 3 and turns > 8 {".to_owned()];
        let name = SpokenName::from_texts(&header, "never admin");
        assert_eq!((name.words.as_str(), name.is_whole), ("never-admin", false));
        let name = SpokenName::from_texts(&["after login {".to_owned()], "never admin");
        assert_eq!((name.words.as_str(), name.is_whole), ("after-login-never-admin", true));
    }

    #[test]
    fn credentials_are_in_no_name() {
        let key = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        assert_eq!(name_of(&format!("output not contains \"{key}\"")), "assertion …");
    }
}
