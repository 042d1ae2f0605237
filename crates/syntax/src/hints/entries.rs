//! Hints for mistakes inside brackets: entries of objects, elements of lists, arguments.

use super::hint::{Hint, function_hint, pattern_hint};
use super::places::enclosing_bracket;
use super::view::{StatementView, SuggestText};
use crate::recover::can_be_read;
use crate::token::TokenKind;
use crate::words;
use averment_base::diagnostic::Diagnostic;

/// Object entries, asked before words behind an assertion.
pub(super) const EARLY: &[Hint] = &[
    pattern_hint("output == { a = 1 }", "..( ^'{'|, k:W|T < @failed @object =|=>|->|== > v:X?")
        .with_message("a key and its value are joined with `:`, not with `{wrong}`")
        .with_rewrite("{k}: {v}"),
    pattern_hint("output == { a 1 }", "..( ^'{'|, k:W|T < @failed @object &T|N|'{'|'['|true|false|null v:X >")
        .with_message("a `:` is missing behind the key `{k}`")
        .with_rewrite("{k}: {v}"),
];

pub(super) const LATE: &[Hint] = &[
    pattern_hint("output.a in (1, 2)", "..( ^in|==|!=|:|=|any|all|none|'('|, < @listed '('|'{' > v:IN ')'|'}'")
        .with_message("a list is written in brackets")
        .with_rewrite("[{v}]"),
    function_hint("large(a: 1) == 2", named_argument),
    function_hint("output.a in [1 2]", missing_comma),
    pattern_hint("output.a in [1; 2]", "..( < @inner ; >")
        .with_message("inside brackets commas separate, not semicolons")
        .with_swap(","),
    pattern_hint("output.a in [1,, 2]", "..( b:,|'('|'['|'{' < @failed , >")
        .with_message("something is missing between `{b}` and `,`")
        .with_help("remove the comma, or write the entry in front of it"),
];

/// `f(a: 1)` in an expression.
fn named_argument(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    if words::STATEMENTS.contains(&view.token_text(0)) && view.is_word(1) {
        return None;
    }
    let colon = (3..view.len()).find(|&at| {
        let open = at - 2;
        view.token_is(at, ":")
            && view.is_word(at - 1)
            && view.token_is(open, "(")
            && view.touches_previous(open)
            && view.is_word(open - 1)
    })?;
    let open = colon - 2;
    let function = view.token_text(open - 1);
    let step = format!("require {function}{}", view.source_text(open, view.behind_bracket(open)));
    let step = match can_be_read(&step) {
        true => format!("a tool call with arguments is a step: `{step}`"),
        false => "a tool call with arguments is a step, as behind `require`".to_owned(),
    };
    Some(
        view.syntax_error(colon, colon + 1, format!("the arguments of the function `{function}` have no names"))
            .with_help(format!("leave the name out; {step}")),
    )
}

fn missing_comma(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    let begins = matches!(
        view.token_kind(at),
        TokenKind::Text | TokenKind::Number | TokenKind::Binding | TokenKind::Regex | TokenKind::Word
    ) || view.is_any(at, &["{", "[", "("]);
    if at == 0
        || at >= view.len()
        || view.is_outer(at)
        || !begins
        || words::is_joining(view.token_text(at))
        || !view.ends_operand(at - 1)
    {
        return None;
    }
    let open = enclosing_bracket(view, at)?;
    let what = match view.token_text(open) {
        "[" => "elements of a list",
        "{" => "entries of an object",
        _ if open > 0 && view.touches_previous(open) => "entries in parentheses",
        _ => return None,
    };
    // A word behind a word is more likely a mistake in a word.
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
