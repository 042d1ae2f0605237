//! Entity names and literals, shared by Cedar conditions and conditions on the past.

use super::cursor::{ReaderState, TokenCursor};
use super::tree::EntityName;
use crate::writer::quote_text;

/// Reads `Namespace::Type::"id"`.
pub(super) fn entity_name(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<EntityName> {
    let start = from.span();
    let mut kind = from.need_name("the name of a type", state)?.0.to_string();
    loop {
        from.need_sign("::", state)?;
        if let Some((id, _)) = from.take_text() {
            let span = start.cover_with(from.last_span());
            return Some(EntityName { kind, id: id.to_string(), span });
        }
        kind.push_str("::");
        kind.push_str(&from.need_name("a name, or an id in quotes", state)?.0);
    }
}

/// Reads a literal in the notation of the rule language. Returns `None` if there is no literal here, `Some(None)` if it is unusable.
pub(super) fn literal_term(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<Option<String>> {
    if let Some((text, _)) = from.take_text() {
        return Some(Some(quote_text(&text)));
    }
    if from.is_sign("-") {
        let mut behind = from.clone();
        behind.take_token();
        let number = behind.take_number()?;
        *from = behind;
        return Some(whole_number(&format!("-{number}"), from, state));
    }
    if let Some(number) = from.take_number() {
        return Some(whole_number(&number, from, state));
    }
    match from.word_ahead(0)? {
        word @ ("true" | "false") => {
            let word = word.to_owned();
            from.take_token();
            Some(Some(word))
        }
        "decimal" if from.is_sign_ahead(1, "(") => {
            from.take_token();
            Some(decimal_literal(from, state))
        }
        _ => None,
    }
}

fn whole_number(text: &str, from: &TokenCursor, state: &mut ReaderState<'_>) -> Option<String> {
    match text.parse::<i64>() {
        Ok(number) => Some(number.to_string()),
        Err(_) => state.refuse(from.last_span(), "this number has more than 64 bits", "write a smaller one"),
    }
}

/// Reads `decimal("1.50")`, which becomes a number.
fn decimal_literal(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<String> {
    let mut inside = from.take_group(state)?;
    let place = inside.span();
    let Some((text, _)) = inside.take_text() else { return inside.expected("a number in quotes", state) };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(&text);
    let is_decimal =
        unsigned.split_once('.').is_some_and(|(whole, part)| digits(whole) && digits(part) && part.len() <= 4);
    if !is_decimal {
        return state.refuse(place, "this is no decimal", "write digits, a point and up to four digits: \"1.50\"");
    }
    inside.need_end(state)?;
    let (sign, unsigned) = if text.starts_with('-') { ("-", unsigned) } else { ("", unsigned) };
    let (whole, part) = unsigned.split_once('.')?;
    let whole = whole.trim_start_matches('0');
    Some(format!("{sign}{}.{part}", if whole.is_empty() { "0" } else { whole }))
}

/// Reads `Namespace::Type`.
pub(super) fn type_name(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<String> {
    let mut kind = from.need_name("the name of a type", state)?.0.to_string();
    while from.take_sign("::") {
        kind.push_str("::");
        kind.push_str(&from.need_name("the name of a type", state)?.0);
    }
    Some(kind)
}

/// Reads an entity, or several in brackets.
pub(super) fn entity_list(from: &mut TokenCursor, state: &mut ReaderState<'_>) -> Option<Vec<EntityName>> {
    if !from.is_sign("[") {
        return Some(vec![entity_name(from, state)?]);
    }
    let parts = from.take_group(state)?.split_at_commas();
    let one = |mut part: TokenCursor| {
        let name = entity_name(&mut part, state)?;
        part.need_end(state)?;
        Some(name)
    };
    parts.into_iter().map(one).collect()
}
