//! How results say that a call went wrong, where no status is recorded.

/// Words at the start of a text that say that something went wrong.
const WORDS: [&str; 5] = ["error", "exception", "failure", "failed", "fatal"];

/// Signs that stand in front of such a word, and close it again: `[ERROR] …`, `**Error:** …`, `<error>…`.
const SIGNS: [char; 12] = ['[', ']', '(', ')', '*', '<', '>', '#', '_', '`', '❌', '⚠'];

/// How Python begins to tell of an exception.
const TRACEBACK: &str = "Traceback";

/// True for a text that begins with a word with which no failure begins. It may still be escaped.
#[must_use]
pub fn begins_without_failure(raw: &str) -> bool {
    let (word, behind) = first_word(raw);
    // An escape may stand for a letter of the word.
    !(word.is_empty() || behind.starts_with('\\') || is_failure_word(word) || word == TRACEBACK)
}

fn first_word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(text.len()))
}

fn is_failure_word(word: &str) -> bool {
    let is_name = ["Error", "Exception"].iter().any(|ending| word.ends_with(ending));
    WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)) || is_name
}

/// True for a text that reads like a failure: `Error: …`, `[ERROR] …`, `ValueError(…)`, `Failed to …`, a traceback.
#[must_use]
pub fn reads_like_failure(text: &str) -> bool {
    let trimmed = text.trim_start();
    let start = trimmed.trim_start_matches(|sign: char| SIGNS.contains(&sign) || sign == '\u{fe0f}' || sign == ' ');
    let is_signed = start.len() < trimmed.len();
    let (word, behind) = first_word(start);
    is_failure_word(word)
        && (behind.is_empty() || behind.starts_with([':', '!', '(']) || is_signed && behind.starts_with(SIGNS))
        || word == TRACEBACK
        || word.eq_ignore_ascii_case("failed") && behind.starts_with(" to ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_by_its_first_word() {
        for text in [
            "Error: no",
            " error",
            "ValueError(1)",
            "Traceback (most recent call last)",
            "failed to open",
            "[ERROR] no",
            "**Error**: no",
            "<error>no</error>",
            "❌ Error: no",
        ] {
            assert!(reads_like_failure(text), "{text}");
        }
        for text in [
            "",
            "Errors were not found",
            "no error: all well",
            "Failed logins: 3",
            "error rate 3 %",
            "ok",
            "[Errors]",
            "(no error)",
            "# Error handling",
        ] {
            assert!(!reads_like_failure(text), "{text}");
        }
    }
}
