//! Hints for mistakes inside brackets: entries of objects, elements of lists, arguments.

use super::hint::{Hint, ask, not};
use super::places::enclosing;
use super::view::{View, Write};
use crate::token::Kind;
use crate::words;
use averment_base::diagnostic::Diagnostic;

/// Entries of objects: asked before what a word behind an assertion may be.
pub(super) const EARLY: &[Hint] = &[
    not("output == { a = 1 }", "..( ^'{'|, k:W|T < @failed @object =|=>|->|== > v:X?")
        .says("a key and its value are joined with `:`, not with `{wrong}`")
        .write("{k}: {v}"),
    not("output == { a 1 }", "..( ^'{'|, k:W|T < @failed @object &T|N|'{'|'['|true|false|null v:X >")
        .says("a `:` is missing behind the key `{k}`")
        .write("{k}: {v}"),
];

/// Lists and arguments.
pub(super) const LATE: &[Hint] = &[
    not("output.a in (1, 2)", "..( ^in|==|!=|:|=|any|all|none|'('|, < @listed '('|'{' > v:IN ')'|'}'")
        .says("a list is written in brackets")
        .write("[{v}]"),
    ask("large(a: 1) == 2", named_argument),
    ask("output.a in [1 2]", missing_comma),
    not("output.a in [1; 2]", "..( < @inner ; >").says("inside brackets commas separate, not semicolons").swap(","),
    not("output.a in [1,, 2]", "..( b:,|'('|'['|'{' < @failed , >")
        .says("something is missing between `{b}` and `,`")
        .help("remove the comma, or write the entry in front of it"),
];

/// `f(a: 1)` in an expression.
fn named_argument(view: &View<'_, '_>) -> Option<Diagnostic> {
    if words::STATEMENTS.contains(&view.word(0)) && view.is_word(1) {
        return None;
    }
    let colon = (3..view.len()).find(|&at| {
        let open = at - 2;
        view.is(at, ":") && view.is_word(at - 1) && view.is(open, "(") && view.touches(open) && view.is_word(open - 1)
    })?;
    let open = colon - 2;
    let function = view.word(open - 1);
    let inner = view.source(open, view.behind_bracket(open));
    Some(
        view.wrong(colon, colon + 1, format!("the arguments of the function `{function}` have no names"))
            .help(format!("leave the name out; a tool call with arguments is a step: `require {function}{inner}`")),
    )
}

/// Two values side by side in brackets.
fn missing_comma(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    let begins = matches!(view.kind(at), Kind::Text | Kind::Number | Kind::Binding | Kind::Regex | Kind::Word)
        || view.is_any(at, &["{", "[", "("]);
    if at == 0
        || at >= view.len()
        || view.is_outer(at)
        || !begins
        || words::is_joining(view.word(at))
        || !view.ends_operand(at - 1)
    {
        return None;
    }
    let open = enclosing(view, at)?;
    let what = match view.word(open) {
        "[" => "elements of a list",
        "{" => "entries of an object",
        _ if open > 0 && view.touches(open) => "entries in parentheses",
        _ => return None,
    };
    // A word behind a word is more likely a mistake in a word.
    if view.is_word(at) && view.is_word(at - 1) && !view.is_any(at + 1, &[":", ","]) && !view.is(0, "def") {
        return None;
    }
    let text = format!("{}, {}", view.word(at - 1), view.word(at));
    Some(
        view.wrong(at, at + 1, format!("a comma is missing between two {what}"))
            .write(text, vec![view.append(at - 1, ",")]),
    )
}
