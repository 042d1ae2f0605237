//! Assertions about the position between two characters.

use regex_syntax::hir::Look;

pub(super) fn look_matches(look: Look, text: &str, at: usize) -> bool {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let (left, right) = (before.chars().next_back(), after.chars().next());
    let ascii = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let any = |letter: Option<char>| {
        ascii(letter) || letter.is_some_and(|letter| regex_syntax::try_is_word_character(letter).unwrap_or(false))
    };
    match look {
        Look::Start => left.is_none(),
        Look::End => right.is_none(),
        Look::StartLF => left.is_none_or(|left| left == '\n'),
        Look::EndLF => right.is_none_or(|right| right == '\n'),
        Look::StartCRLF => left.is_none_or(|left| left == '\n' || left == '\r' && right != Some('\n')),
        Look::EndCRLF => right.is_none_or(|right| right == '\r' || right == '\n' && left != Some('\r')),
        Look::WordAscii => ascii(left) != ascii(right),
        Look::WordAsciiNegate => ascii(left) == ascii(right),
        Look::WordUnicode => any(left) != any(right),
        Look::WordUnicodeNegate => any(left) == any(right),
        Look::WordStartAscii => !ascii(left) && ascii(right),
        Look::WordEndAscii => ascii(left) && !ascii(right),
        Look::WordStartUnicode => !any(left) && any(right),
        Look::WordEndUnicode => any(left) && !any(right),
        Look::WordStartHalfAscii => !ascii(left),
        Look::WordEndHalfAscii => !ascii(right),
        Look::WordStartHalfUnicode => !any(left),
        Look::WordEndHalfUnicode => !any(right),
    }
}
