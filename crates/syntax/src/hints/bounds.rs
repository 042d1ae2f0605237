//! Numbers and bounds in words.

use super::table::{meant, pairs};
use super::view::StatementView;

/// Reads a comparison in words, such as `is not greater than or equal to`, at the start of a sequence of words. Returns the number of its words and
/// its sign.
pub(super) fn worded_comparison<'t>(word: impl Fn(usize) -> &'t str) -> Option<(usize, &'static str)> {
    let mut here = usize::from(matches!(word(0), "is" | "was" | "be"));
    let negated = word(here) == "not";
    here += usize::from(negated);
    let found = longest_phrase("COMPARISON", |index| word(here + index))
        .filter(|_| word(here) != "same" || word(here + 1) == "as");
    // `is "ok"`: a value in place of a type.
    let begins = |sign: char| sign.is_ascii_digit() || matches!(sign, '"' | '\'' | '$');
    let value = (here > 0 && (word(here).is_empty() || word(here).starts_with(begins))).then_some((0, "=="));
    let (length, mut sign) = found.or(value)?;
    here += length;
    here += usize::from(length > 0 && matches!(word(here), "than" | "to" | "as"));
    if length > 0 && word(here) == "or" && matches!(word(here + 1), "equal" | "equals") {
        here += 2 + usize::from(word(here + 2) == "to");
        sign = match sign {
            ">" => ">=",
            "<" => "<=",
            other => other,
        };
    }
    Some((here, if negated { opposite_sign(sign) } else { sign }))
}

/// Returns the longest phrase of a table that the words begin with: its number of words, and its comparison.
fn longest_phrase<'t>(table: &str, word: impl Fn(usize) -> &'t str) -> Option<(usize, &'static str)> {
    let fits = |phrase: &str| phrase.split(' ').enumerate().all(|(index, part)| word(index) == part);
    let found = pairs(table).filter(|(phrase, _)| fits(phrase));
    found.map(|(phrase, sign)| (phrase.split(' ').count(), sign)).max_by_key(|(length, _)| *length)
}

/// Returns a number in digits; it may be written as a word.
pub(super) fn number_digits(text: &str) -> Option<String> {
    let number = text.starts_with(|sign: char| sign.is_ascii_digit() || sign == '$');
    if number { Some(text.to_owned()) } else { number_word(text).map(str::to_owned) }
}

/// Returns the index of the token after a bound such as `more than 3 times`.
pub(super) fn behind_bound(view: &StatementView<'_, '_>, at: usize) -> Option<usize> {
    let (words, _) = longest_phrase("BOUND", |index| view.token_text(at + index))?;
    let number = at + words;
    let end = number + 1 + usize::from(view.is_any(number + 1, &["times", "x", "time"]));
    number_digits(view.token_text(number)).map(|_| end)
}

/// Returns the index of the token after a number of times that `never` cannot take: `more than 3 times`, `3 times`, `twice`.
pub(super) fn behind_limit(view: &StatementView<'_, '_>, at: usize) -> Option<usize> {
    if let Some(end) = behind_bound(view, at) {
        return Some(end);
    }
    let number = number_digits(view.token_text(at))?;
    match view.token_text(at + 1) {
        "times" => Some(at + 2),
        "or" => None,
        _ => (number != view.token_text(at)).then_some(at + 1),
    }
}

/// Returns a bound as a comparison: `<= 3` for `at most three times`.
pub(super) fn comparison_of(text: &str) -> Option<String> {
    let (sign, number) = sign_of(text)?;
    Some(format!("{sign} {number}"))
}

/// Returns the comparison that a count satisfies if it does not reach a limit: `<= 3` for `more than 3 times`, `< 2` for `twice`.
pub(super) fn within_limit(text: &str) -> Option<String> {
    match sign_of(text) {
        Some((sign, number)) => Some(format!("{} {number}", opposite_sign(sign))),
        None => Some(format!("< {}", number_digits(text.split(' ').next()?)?)),
    }
}

/// Returns the number of calls that a bound on repetitions allows, as a comparison. The first call is not a repetition.
pub(super) fn limit_of_tries(text: &str) -> Option<String> {
    let limit = within_limit(text)?;
    let (sign, number) = limit.split_once(' ')?;
    Some(format!("{sign} {}", number.parse::<u32>().ok()?.checked_add(1)?))
}

/// Returns a bound as a range of times: `3..` for `at least three times`.
pub(super) fn range_of(text: &str) -> Option<String> {
    let (sign, number) = sign_of(text)?;
    let value: u32 = number.parse().ok()?;
    Some(match sign {
        ">=" => format!("{value}.."),
        "<=" => format!("..{value}"),
        ">" => format!("{}..", value.saturating_add(1)),
        "<" => format!("..{}", value.saturating_sub(1)),
        _ => value.to_string(),
    })
}

/// Returns the comparison of a bound and its number: `never more than 3` is at most 3.
fn sign_of(text: &str) -> Option<(&'static str, String)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let Some((length, sign)) = longest_phrase("BOUND", |index| words.get(index).copied().unwrap_or("")) else {
        let (sign, number) = sign_of(text.strip_prefix("never ").or_else(|| text.strip_prefix("not "))?)?;
        return Some((opposite_sign(sign), number));
    };
    Some((sign, number_digits(words.get(length)?)?))
}

pub(super) fn opposite_sign(sign: &str) -> &'static str {
    meant("OPPOSITE", sign).unwrap_or("!=")
}

/// Returns a number word in digits.
pub(super) fn number_word(word: &str) -> Option<&'static str> {
    meant("NUMBERWORD", word)
}
