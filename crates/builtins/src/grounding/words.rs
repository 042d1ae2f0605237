//! The words of a text that can be claims.

use super::number::{UnsignedDecimal, parse_readings, plain_digits};

#[derive(Debug)]
pub(super) enum ClaimWord<'a> {
    Url(&'a str),
    Number {
        text: &'a str,
        values: Vec<UnsignedDecimal>,
        /// True for `1.` or `2)` at the start of a line.
        numbering: bool,
    },
    Id(&'a str),
    /// Only in sources: a part of a list without blanks that may be one number, such as the 12 of `12,345`.
    Part(UnsignedDecimal),
}

pub(super) fn each_word<'a>(text: &'a str, show: &mut dyn FnMut(ClaimWord<'a>)) {
    let mut line_start = true;
    for piece in text.split_inclusive(is_break) {
        let breaks = piece.chars().next_back().filter(|c| is_break(*c));
        let word = breaks.map_or(piece, |last| piece.get(..piece.len() - last.len_utf8()).unwrap_or_default());
        if let Some(url) = find_url(word) {
            show(ClaimWord::Url(url));
        } else {
            classify_word(
                word,
                line_start && breaks.is_some_and(|c| c == ')' || c == ' ') && is_numbering(word, breaks),
                show,
            );
        }
        line_start = match breaks {
            Some('\n') => true,
            _ => line_start && word.trim_matches(['-', '*', '#', '>']).is_empty(),
        };
    }
}

fn is_numbering(word: &str, behind: Option<char>) -> bool {
    let digits = if behind == Some(')') { Some(word) } else { word.strip_suffix(['.', ':']) };
    digits.is_some_and(|digits| {
        !digits.is_empty() && digits.len() <= 3 && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// True for characters that end a number, URL or id.
fn is_break(character: char) -> bool {
    character.is_whitespace()
        || matches!(character, '"' | '`' | '<' | '>' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | ';' | '!' | '*' | '\\')
        || matches!(character, '\u{2010}'..='\u{201f}' | '…' | '«' | '»' | '、' | '。' | '，' | '：')
}

/// Finds a URL in a word, without trailing punctuation of the sentence.
fn find_url(word: &str) -> Option<&str> {
    let lower = word.contains("://").then(|| word.to_ascii_lowercase())?;
    let scheme = lower.find("https://").or_else(|| lower.find("http://"))?;
    let url = word.get(scheme..)?.trim_end_matches(['.', ',', ':', '\'', '?', '/']);
    (url.len() > "https://".len()).then_some(url)
}

fn classify_word<'a>(word: &'a str, numbering: bool, show: &mut dyn FnMut(ClaimWord<'a>)) {
    let word = word.strip_suffix("'s").unwrap_or(word);
    let word =
        word.trim_matches(['.', ',', ':', '\'', '?', '/', '&', '=', '~', '#', '@', '_']).trim_end_matches(['-', '+']);
    let is_plain = word.bytes().any(|byte| byte.is_ascii_digit());
    if !is_plain && !plain_digits(word).bytes().any(|byte| byte.is_ascii_digit()) {
        return;
    }
    let values = parse_readings(word);
    if !values.is_empty() {
        if word.contains(',') {
            word.split(',').flat_map(parse_readings).for_each(|value| show(ClaimWord::Part(value)));
        }
        show(ClaimWord::Number { text: word, values, numbering });
        return;
    }
    // Names in full-width characters are no ids, like names without digits.
    match split_joined(word).filter(|_| is_plain) {
        Some((left, right)) => {
            classify_word(left, false, show);
            classify_word(right, false, show);
        }
        None if is_plain => show(ClaimWord::Id(word)),
        None => {}
    }
}

/// Splits two joined words: `id=7`, `total:7`, `3-5`, `a1,b2`.
fn split_joined(word: &str) -> Option<(&str, &str)> {
    let has_digit = |text: &str| text.bytes().any(|byte| byte.is_ascii_digit());
    if let Some((left, right)) = word.split_once(',').or_else(|| word.split_once('=')) {
        return Some((left, right));
    }
    if let Some((left, right)) = word.split_once(':').filter(|(left, _)| !has_digit(left)) {
        return Some((left, right));
    }
    let is_number = |text: &str| !parse_readings(text).is_empty();
    word.split_once(['-', '/'])
        .filter(|(left, right)| is_number(left) && is_number(right) && !right.contains(['-', '/']))
}
