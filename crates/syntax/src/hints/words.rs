//! Mistakes in words, lists and bodies that no pattern can recognize.

use super::classes::is_infix;
use super::table::{list, meant};
use super::view::{StatementView, SuggestText};
use crate::token::TokenKind;
use crate::{near_keywords, words};
use averment_base::diagnostic::suggest::suggest_name;
use averment_base::diagnostic::{Diagnostic, Slug, SourceEdit};

/// True if no operator follows the first word.
pub(super) fn is_head(view: &StatementView<'_, '_>) -> bool {
    let next = view.token_kind(1);
    let follows = matches!(next, TokenKind::Word | TokenKind::Text | TokenKind::Regex)
        || view.is_number(1)
        || view.is_any(1, &["{", "*", "?"])
        || view.token_is(1, "(") && !view.touches_previous(1);
    view.is_word(0) && follows && !words::is_joining(view.token_text(1)) && !is_infix(view) && view.failed <= 3
}

/// The words that a line can begin with.
const HEADS: [&[&str]; 4] = [words::STATEMENTS, words::DECLARATIONS, words::MODIFIERS, words::SETTINGS];

/// Diagnoses a misspelled word at the start of a line, such as `iff close`.
pub(super) fn near_statement(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let word = view.token_text(0);
    let known = HEADS.iter().any(|heads| heads.contains(&word)) || words::ROOTS.contains(&word);
    if known || !is_head(view) || view.is_any(1, &["exists", "starts", "ends", "does", "where", "ok", "failed", "of"]) {
        return None;
    }
    let meant = suggest_name(&word.to_ascii_lowercase(), HEADS.concat())?;
    let diagnostic = Diagnostic::new(Slug::UnknownStatement, view.span(0), format!("unknown statement `{word}`"));
    let help = diagnostic.with_help(format!("did you mean `{meant}`?"));
    Some(help.with_fix(format!("write `{meant}`"), view.span(0), meant))
}

/// True where the grammar failed before a word in the position of a modifier.
pub(super) fn is_stray_modifier(view: &StatementView<'_, '_>, at: usize) -> bool {
    let word = view.token_text(at);
    let behind = at > 0 && (view.ends_operand(at - 1) || view.is_any(at - 1, &["exists", "json", "empty", "*"]));
    let can_follow = || view.expected.iter().any(|rule| format!("{rule:?}").starts_with("modifier"));
    let other = words::is_joining(word)
        || list("INSIDE").contains(&word)
        || words::STATEMENTS.contains(&word) && view.is_word(at + 1);
    let simple = at + 1 >= view.len()
        || view.is_number(at + 1)
        || view.is_text(at + 1)
        || view.is_word(at + 1)
        || view.is_any(at + 1, &[":", "=", "-", "["]);
    let placed = view.failed == at && behind && view.is_word(at) && view.is_outer(at);
    placed && !other && simple && !words::MODIFIERS.contains(&word) && can_follow()
}

/// True if a word is followed by a value and then a modifier or the end, and is not a misspelled word of another kind.
pub(super) fn is_modifier_like(view: &StatementView<'_, '_>, at: usize) -> bool {
    let valued = view.is_number(at + 1)
        || view.is_text(at + 1)
        || (view.is_word(at + 1) && !words::is_joining(view.token_text(at + 1)));
    let end = at + 1 + usize::from(valued && at + 1 < view.len());
    let ends = end >= view.len() || words::MODIFIERS.contains(&view.token_text(end));
    ends && near_keywords::near_words(view.token_text(at)).is_empty()
}

pub(super) fn meant_modifier(word: &str) -> Option<&'static str> {
    meant("MODIFIERWORD", word).or_else(|| suggest_name(word, words::MODIFIERS.iter().copied()))
}

/// Returns the test for SQL's `like "%x%"`, and its text; `None` if the text contains wildcards inside.
pub(super) fn like_test(text: &str) -> Option<(&'static str, String)> {
    let test = match (text.starts_with('%'), text.ends_with('%')) {
        (false, true) => "starts with",
        (true, false) => "ends with",
        _ => "contains",
    };
    let part = text.trim_matches('%');
    (!part.is_empty() && !part.contains(['%', '_'])).then(|| (test, format!("\"{part}\"")))
}

/// Diagnoses `rule refunds: never refund`, and a body that is indented below.
pub(super) fn colon_body(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let colon = view.behind_name(1);
    if !view.is_any(0, &["rule", "case"])
        || !view.token_is(colon, ":")
        || colon + 1 >= view.len()
        || view.token_is(colon + 1, "{")
    {
        return None;
    }
    let head = view.source_text(0, colon);
    let body = view.span(colon + 1);
    let below = view.whole_text().get(view.span(colon).as_range().end..body.as_range().start)?.contains('\n');
    let end = if below { view.indented_end(colon + 1)? } else { view.end_span() };
    let rest = view.whole_text().get(body.as_range().start..end.as_range().end)?;
    let shown = rest.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
    let close = if below { "\n}" } else { " }" };
    let edits = vec![view.replace_tokens(colon, colon + 1, " {"), SourceEdit { span: end, text: close.to_owned() }];
    let message = format!("the body of a {} stands in braces, not behind a colon", view.token_text(0));
    Some(view.syntax_error(colon, colon + 1, message).suggest_text(format!("{head} {{ {shown} }}"), edits))
}

pub(super) fn missing_comma(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    let begins = view.begins_operand(at) || view.is_any(at, &["{", "[", "("]);
    if view.is_outer(at) || !begins || words::is_joining(view.token_text(at)) || !view.is_behind_operand(at) {
        return None;
    }
    let open = view.bracket_around(at)?;
    let what = match view.token_text(open) {
        "[" => "elements of a list",
        "{" => "entries of an object",
        _ if open > 0 && view.touches_previous(open) => "entries in parentheses",
        _ => return None,
    };
    // Two words in a row are more likely a mistake in a word.
    if view.is_word(at) && view.is_word(at - 1) && !view.is_any(at + 1, &[":", ","]) && !view.token_is(0, "def") {
        return None;
    }
    let before = view.token_text(at - 1);
    let text = match before {
        "]" | "}" | ")" => format!("{before},"),
        _ => format!("{before}, {}", view.token_text(at)),
    };
    Some(
        view.syntax_error(at, at + 1, format!("a comma is missing between two {what}"))
            .suggest_text(text, vec![view.insert_after(at - 1, ",")]),
    )
}
