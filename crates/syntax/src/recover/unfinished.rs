//! Whether a text goes on: what somebody types line by line is read when it does not.

use super::brackets::{self, Trouble};
use super::segments::joins;
use super::text::Text;
use crate::token::{Kind, Scan};
use averment_base::source::FileId;

/// Whether the text ends inside brackets or a text of several lines, or behind a sign or word that wants something behind it.
pub(crate) fn is_unfinished(source: &str, scan: Scan) -> bool {
    let text = Text::new(FileId(0), source, scan.tokens);
    let brackets = brackets::matched(&text);
    // A bracket that nothing can close any more is a mistake, and waiting does not mend it.
    if brackets.troubles.iter().any(|trouble| !matches!(trouble, Trouble::Unclosed(..))) {
        return false;
    }
    let given_up = |trouble: &Trouble| matches!(trouble, Trouble::Unclosed(_, outside) if text.opens_line(*outside) && text.kind(*outside) != Kind::LineEnd);
    if brackets.troubles.iter().any(given_up) {
        return false;
    }
    if !brackets.troubles.is_empty() {
        return true;
    }
    let Some(last) = text.before(text.tokens.len()) else { return false };
    let open_text = text.kind(last) == Kind::OpenText && text.word(last).starts_with("\"\"\"");
    open_text || joins(&text, last)
}
