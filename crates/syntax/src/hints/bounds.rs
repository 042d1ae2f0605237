//! How many: numbers and bounds in words.

use super::view::StatementView;

/// How many, in words: the comparison, the number, and the token behind it.
pub(super) struct WordedBound {
    pub(super) sign: &'static str,
    pub(super) number: String,
    pub(super) end: usize,
}

/// Phrases in front of a number, each with its comparison.
const PHRASES: &[(&[&str], &str)] = &[
    (&["no", "more", "than"], "<="),
    (&["not", "more", "than"], "<="),
    (&["no", "less", "than"], ">="),
    (&["no", "fewer", "than"], ">="),
    (&["not", "less", "than"], ">="),
    (&["is", "at", "most"], "<="),
    (&["is", "at", "least"], ">="),
    (&["is", "less", "than"], "<"),
    (&["is", "more", "than"], ">"),
    (&["is", "greater", "than"], ">"),
    (&["is", "below"], "<"),
    (&["is", "above"], ">"),
    (&["more", "than"], ">"),
    (&["greater", "than"], ">"),
    (&["less", "than"], "<"),
    (&["fewer", "than"], "<"),
    (&["shorter", "than"], "<"),
    (&["longer", "than"], ">"),
    (&["smaller", "than"], "<"),
    (&["larger", "than"], ">"),
    (&["bigger", "than"], ">"),
    (&["higher", "than"], ">"),
    (&["lower", "than"], "<"),
    (&["at", "least"], ">="),
    (&["at", "most"], "<="),
    (&["at", "max"], "<="),
    (&["up", "to"], "<="),
    (&["maximum", "of"], "<="),
    (&["minimum", "of"], ">="),
    (&["exactly"], "=="),
    (&["equals"], "=="),
    (&["is"], "=="),
    (&["max"], "<="),
    (&["maximum"], "<="),
    (&["min"], ">="),
    (&["minimum"], ">="),
    (&["over"], ">"),
    (&["above"], ">"),
    (&["exceeds"], ">"),
    (&["under"], "<"),
    (&["below"], "<"),
];

/// The bound that begins with a token: `more than 3`, `at most three times`.
pub(super) fn read_bound(view: &StatementView<'_, '_>, at: usize) -> Option<WordedBound> {
    let (words, sign) = PHRASES.iter().find(|(words, _)| view.tokens_are(at, words))?;
    let here = at + words.len();
    let number = number_at(view, here)?;
    let end = here + 1 + usize::from(view.is_any(here + 1, &["times", "x", "time"]));
    Some(WordedBound { sign, number, end })
}

/// How many, in digits.
pub(super) fn number_digits(text: &str) -> Option<String> {
    let number = text.starts_with(|sign: char| sign.is_ascii_digit() || sign == '$');
    if number { Some(text.to_owned()) } else { number_word(text).map(|number| number.to_string()) }
}

/// The number at a token, in digits.
pub(super) fn number_at(view: &StatementView<'_, '_>, at: usize) -> Option<String> {
    if view.is_number(at) {
        return Some(view.token_text(at).to_owned());
    }
    number_word(view.token_text(at)).map(|number| number.to_string())
}

/// The token behind a bound: `more than 3 times`.
pub(super) fn behind_bound(view: &StatementView<'_, '_>, at: usize) -> Option<usize> {
    read_bound(view, at).map(|bound| bound.end)
}

/// The token behind a number of times that `never` cannot take: `more than 3 times`, `3 times`, `twice`.
pub(super) fn behind_limit(view: &StatementView<'_, '_>, at: usize) -> Option<usize> {
    if let Some(bound) = read_bound(view, at) {
        return Some(bound.end);
    }
    let number = number_at(view, at)?;
    match view.token_text(at + 1) {
        "times" => Some(at + 2),
        "or" => None,
        _ => (number != view.token_text(at)).then_some(at + 1),
    }
}

/// A bound as a comparison: `<= 3` for `at most three times`.
pub(super) fn comparison_of(text: &str) -> Option<String> {
    let (sign, number) = sign_of(text)?;
    Some(format!("{sign} {number}"))
}

/// What holds of a count where a limit does not: `<= 3` for `more than 3 times`, `< 2` for `twice`.
pub(super) fn within_limit(text: &str) -> Option<String> {
    match sign_of(text) {
        Some((sign, number)) => Some(format!("{} {number}", opposite_sign(sign))),
        None => Some(format!("< {}", number_digits(text.split(' ').next()?)?)),
    }
}

/// The comparison of a bound, and its number.
fn sign_of(text: &str) -> Option<(&'static str, String)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (phrase, sign) = PHRASES.iter().find(|(phrase, _)| words.starts_with(phrase))?;
    Some((sign, number_digits(words.get(phrase.len())?)?))
}

pub(super) fn opposite_sign(sign: &str) -> &'static str {
    match sign {
        ">" => "<=",
        ">=" => "<",
        "<" => ">=",
        "<=" => ">",
        _ => "!=",
    }
}

pub(super) fn number_word(word: &str) -> Option<u32> {
    match word {
        "once" | "one" => Some(1),
        "twice" | "two" => Some(2),
        "thrice" | "three" => Some(3),
        "four" => Some(4),
        "five" => Some(5),
        _ => None,
    }
}
