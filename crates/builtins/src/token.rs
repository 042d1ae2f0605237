//! Tokens of a text, for `mentions`.
//!
//! A token is a maximal run of letters, digits and `_`. A single `-`, `.`, `@` or `+` with such characters on both sides is part of it: `o-1`,
//! `a.b@example.com`, `2.5`, `snake_case`. `docs/reference/expressions.md` has the definition.

use averment_base::value::Number;

/// True if `part` occurs in the text and neither starts nor ends inside a token.
#[must_use]
pub fn mentions_text(text: &str, part: &str) -> bool {
    if part.is_empty() {
        return false;
    }
    let finder = memchr::memmem::Finder::new(part.as_bytes());
    let mut from = 0;
    while let Some(rest) = text.as_bytes().get(from..)
        && let Some(found) = finder.find(rest)
    {
        let start = from.saturating_add(found);
        let end = start.saturating_add(part.len());
        if !is_inside(text, start) && !is_inside(text, end) {
            return true;
        }
        from = start.saturating_add(1);
    }
    false
}

/// True if a whole token spells the number; a `-` before it is its sign.
pub(crate) fn mentions_number(text: &str, wanted: Number<'_>) -> bool {
    let signed = |start: usize| text.get(..start).is_some_and(|front| front.ends_with('-'));
    let with_sign = |start: usize, token: &str| {
        text.get(start.saturating_sub(usize::from(signed(start)))..start.saturating_add(token.len()))
    };
    split_tokens(text).filter_map(|(start, token)| with_sign(start, token)).any(|token| wanted.is_spelled(token))
}

/// True if digits in groups of three spell the number: `1,286`, `1.286.000`, `1 286`, `1'286.50`. Such a text may also be a list of numbers.
#[must_use]
pub fn mentions_grouped(text: &str, wanted: Number<'_>) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0_usize;
    while let Some(found) = bytes.get(at..).and_then(|rest| rest.iter().position(u8::is_ascii_digit)) {
        let start = at.saturating_add(found);
        let (spelled, end) = read_groups(text, start);
        if spelled.is_some_and(|number| wanted.is_spelled(&number)) {
            return true;
        }
        at = end;
    }
    false
}

/// Returns a number in digit groups at a position, without its separators, and its end.
fn read_groups(text: &str, start: usize) -> (Option<String>, usize) {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.bytes().take_while(u8::is_ascii_digit).count()
    };
    let first = digits(start);
    let mut end = start.saturating_add(first);
    let separator = text.get(end..).and_then(|rest| rest.chars().next());
    let groups =
        separator.filter(|sign| first <= 3 && matches!(sign, ',' | '.' | '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}'));
    let Some(separator) = groups else { return (None, end) };
    let mut number = text.get(start..end).unwrap_or_default().to_owned();
    let mut grouped = false;
    while text.get(end..).is_some_and(|rest| rest.starts_with(separator)) {
        let from = end.saturating_add(separator.len_utf8());
        if digits(from) != 3 {
            break;
        }
        end = from.saturating_add(3);
        number.push_str(text.get(from..end).unwrap_or_default());
        grouped = true;
    }
    if !grouped {
        return (None, end);
    }
    let point = text.get(end..).and_then(|rest| rest.chars().next()).filter(|sign| matches!(sign, '.' | ','));
    if let Some(point) = point.filter(|point| *point != separator) {
        let from = end.saturating_add(point.len_utf8());
        let fraction = digits(from);
        if fraction > 0 {
            end = from.saturating_add(fraction);
            number.push('.');
            number.push_str(text.get(from..end).unwrap_or_default());
        }
    }
    let signed = text.get(..start).is_some_and(|front| front.ends_with('-'));
    (Some(if signed { format!("-{number}") } else { number }), end)
}

pub(crate) fn split_tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (offset, _) = text.get(at..)?.char_indices().find(|(_, letter)| is_word(*letter))?;
        let start = at.saturating_add(offset);
        let mut end = start;
        for letter in text.get(start..)?.chars() {
            if end > start && !is_inside(text, end) {
                break;
            }
            end = end.saturating_add(letter.len_utf8());
        }
        at = end;
        Some((start, text.get(start..end)?))
    })
}

fn is_inside(text: &str, place: usize) -> bool {
    let Some((front, behind)) = text.split_at_checked(place) else { return false };
    let (mut front, mut behind) = (front.chars().rev(), behind.chars());
    let (Some(before), Some(after)) = (front.next(), behind.next()) else { return false };
    match (is_word(before), is_word(after)) {
        (true, true) => true,
        // `o|-1`: the sign joins if a word character follows it.
        (true, false) => is_joint(after) && behind.next().is_some_and(is_word),
        (false, true) => is_joint(before) && front.next().is_some_and(is_word),
        (false, false) => false,
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn is_joint(letter: char) -> bool {
    matches!(letter, '-' | '.' | '@' | '+')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_mentioned_as_a_whole_token() {
        for text in ["o-1", "order o-1.", "(o-1)", "id=o-1,o-12", "\"o-1\"", "/orders/o-1?x", "o-12 o-1", "--o-1"] {
            assert!(mentions_text(text, "o-1"), "{text}");
        }
        for text in ["", "o-12", "po-1", "x-o-1", "o-1.5", "o-1-2", "O-1", "o_1", "xo-1"] {
            assert!(!mentions_text(text, "o-1"), "{text}");
        }
        assert!(mentions_text("mail a@b.example now", "a@b.example"));
        assert!(!mentions_text("mail x+a@b.example now", "a@b.example"));
        assert!(mentions_text("the ACME Corp. order", "ACME Corp"));
        assert!(!mentions_text("ÄÖ1", "Ö1"));
        assert!(!mentions_text("a", ""));
    }

    #[test]
    fn a_number_is_mentioned_by_its_value() {
        let number = |text| Number::from_spelling(text).expect("a number");
        for text in ["250", "$250.00 was charged", "a: 250;", "2.5e2", "[1,250]"] {
            assert!(mentions_number(text, number("250")), "{text}");
        }
        for text in ["2500", "o-250", "250-300", "-250", "250kg", "0250"] {
            assert!(!mentions_number(text, number("250")), "{text}");
        }
        assert!(mentions_number("it is -5 outside", number("-5")));
        for text in ["$1,286", "1.286", "1'286.00 USD", "(1\u{a0}286)", "[1,286]", "1,286."] {
            assert!(mentions_grouped(text, number("1286")), "{text}");
        }
        for text in ["1286", "1,28", "1,2865", "12,86", "1;286", "1,286,000", "-1,286", "1,286.5"] {
            assert!(!mentions_grouped(text, number("1286")), "{text}");
        }
        assert!(mentions_grouped("it is -1,286.50", number("-1286.5")));
    }
}
