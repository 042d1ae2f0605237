//! How results say that a call went wrong, where no status is recorded.

/// The key of a result that says whether the call went well.
pub const SUCCESS: &str = "success";

/// Words at the start of a text that say that something went wrong.
const WORDS: [&str; 5] = ["error", "exception", "failure", "failed", "fatal"];

/// Signs that stand in front of such a word, and close it again: `[ERROR] …`, `**Error:** …`, `<error>…`.
const SIGNS: [char; 12] = ['[', ']', '(', ')', '*', '<', '>', '#', '_', '`', '❌', '⚠'];

/// True for a text that reads like a failure: `Error: …`, `[ERROR] …`, `ValueError(…)`, `Failed to …`, a traceback.
#[must_use]
pub fn reads_like_failure(text: &str) -> bool {
    let trimmed = text.trim_start();
    let start = trimmed.trim_start_matches(|sign: char| SIGNS.contains(&sign) || sign == '\u{fe0f}' || sign == ' ');
    let is_signed = start.len() < trimmed.len();
    let end = start.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(start.len());
    let (word, behind) = start.split_at(end);
    let is_name = ["Error", "Exception"].iter().any(|ending| word.ends_with(ending));
    let is_word = WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)) || is_name;
    is_word && (behind.is_empty() || behind.starts_with([':', '!', '(']) || is_signed && behind.starts_with(SIGNS))
        || word == "Traceback"
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
