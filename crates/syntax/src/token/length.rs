//! The lengths of numbers and regular expressions.

/// Returns the length of a number with its fraction, exponent, unit and percent sign.
pub(super) fn number_length(text: &str, skip: usize) -> usize {
    let bytes = text.as_bytes();
    let mut length = skip;
    while let Some(&byte) = bytes.get(length) {
        let next = bytes.get(length + 1).copied().unwrap_or(b' ');
        let fraction = byte == b'.' && next.is_ascii_digit();
        let sign = matches!(byte, b'+' | b'-') && next.is_ascii_digit() && ends_with_exponent(text, skip, length);
        if !(byte.is_ascii_alphanumeric() || byte == b'_' || fraction || sign) {
            break;
        }
        length += 1;
    }
    let next = bytes.get(length + 1).copied().unwrap_or(b' ');
    let percent =
        bytes.get(length) == Some(&b'%') && !(next.is_ascii_alphanumeric() || matches!(next, b'_' | b'(' | b'$'));
    length + usize::from(percent)
}

/// True for digits followed by an `e`, so that a sign belongs to the number.
fn ends_with_exponent(text: &str, skip: usize, length: usize) -> bool {
    // Only a limited number of digits is examined; a longer text is not a sensible number.
    let digits =
        text.get(skip..length).filter(|digits| digits.len() < 400).and_then(|digits| digits.strip_suffix(['e', 'E']));
    digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_')))
}

pub(super) fn is_word_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

pub(super) fn word_length(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// Returns the length of a regular expression with its flags; `None` if it, or a class in it, is not closed on its line.
pub(super) fn regex_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'\n' => return None,
            b'\\' => at += 1 + usize::from(bytes.get(at + 1) != Some(&b'\n')),
            b'[' => at += class_length(text.get(at..)?)?,
            b'/' => return Some(at + 1 + word_length(text.get(at + 1..)?)),
            _ => at += 1,
        }
    }
}

/// Returns the length of a character class; `None` if it is not closed on its line.
fn class_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1 + usize::from(bytes.get(1) == Some(&b'^'));
    at += usize::from(bytes.get(at) == Some(&b']'));
    loop {
        match bytes.get(at)? {
            b'\n' => return None,
            b'\\' => at += 2,
            b']' => return Some(at + 1),
            _ => at += 1,
        }
    }
}
