//! Mistakes inside brackets: entries of objects, elements of lists, arguments.

use super::Find;
use super::view::{View, Write};
use crate::token::Kind;
use crate::words;
use averment_base::diagnostic::{Diagnostic, Edit};

/// Entries of objects: asked before what a word behind an assertion may be.
pub(super) const EARLY: &[Find] = &[dashed_key, object_entry];
/// Lists and arguments.
pub(super) const LATE: &[Find] = &[list_in_parentheses, named_argument, missing_comma, semicolon_in_list, empty_entry];

/// `{ user-id: 3 }`; the strict grammar reads it, so this serves objects that have another mistake as well.
fn dashed_key(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    if view.is_outer(at) || !view.is(at, "-") || !view.is_word(at - 1) || !view.is_word(at + 1) {
        return None;
    }
    let end = view.behind_name(at - 1);
    if !view.is(end, ":") {
        return None;
    }
    let key = view.source(at - 1, end);
    Some(
        view.wrong(at, at + 1, format!("a key with `-` is quoted: `\"{key}\"`"))
            .write(format!("\"{key}\": …"), vec![Edit { span: view.span_of(at - 1, end), text: format!("\"{key}\"") }]),
    )
}

/// `{ a = 1 }`, `{ a 1 }`, `{ 1: 2 }` in an object.
fn object_entry(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    if view.is_outer(at) || at == 0 {
        return None;
    }
    let opener = enclosing(view, at)?;
    let key = at - 1;
    let begins = view.is_any(key.checked_sub(1)?, &["{", ","]) || opener + 1 == key;
    if !view.is(opener, "{") || !begins || !(view.is_word(key) || view.is_text(key)) {
        return None;
    }
    let name = view.word(key);
    match view.word(at) {
        "=" | "=>" | "->" | ":=" | "==" => {
            let text = format!("{name}: {}", view.word(at + 1));
            Some(
                view.wrong(
                    at,
                    at + 1,
                    format!("a key and its value are joined with `:`, not with `{}`", view.word(at)),
                )
                .write(text, vec![view.edit(key, at + 1, format!("{name}:"))]),
            )
        }
        _ if view.is_text(at) || view.is_number(at) || view.is_any(at, &["{", "[", "true", "false", "null"]) => {
            let text = format!("{name}: {}", view.word(at));
            Some(
                view.wrong(at, at + 1, format!("a `:` is missing behind the key `{name}`"))
                    .write(text, vec![view.append(key, ":")]),
            )
        }
        _ => None,
    }
}

/// The bracket that a token stands in.
fn enclosing(view: &View<'_, '_>, at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for here in (0..at).rev() {
        match view.word(here) {
            ")" | "]" | "}" => depth += 1,
            "(" | "[" | "{" if depth == 0 => return Some(here),
            "(" | "[" | "{" => depth -= 1,
            _ => {}
        }
    }
    None
}

/// `x in (1, 2)`, `x in {1, 2}`.
fn list_in_parentheses(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (1..view.len()).find(|&at| {
        let open =
            view.is_any(at, &["(", "{"]) && !(view.touches(at) && view.is_word(at - 1) && !view.is(at - 1, "in"));
        let placed = view.is_any(at - 1, &["in", "==", "!=", ":", "=", "any", "all", "none", "(", ","]);
        open && placed && comma_inside(view, at)
    })?;
    let end = view.behind_bracket(at);
    let inner = view.source(at + 1, end.saturating_sub(1));
    let edits = vec![view.edit(at, at + 1, "["), view.edit(end.saturating_sub(1), end, "]")];
    Some(view.wrong(at, at + 1, "a list is written in brackets").write(format!("[{inner}]"), edits))
}

fn comma_inside(view: &View<'_, '_>, open: usize) -> bool {
    let end = view.behind_bracket(open);
    let mut depth = 0_usize;
    let mut comma = false;
    for here in open..end {
        match view.word(here) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            ":" | "->" | "|" if depth == 1 => return false,
            "," if depth == 1 => comma = true,
            _ => {}
        }
    }
    comma
}

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

/// `[1; 2]`, `f(a; b)`.
fn semicolon_in_list(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (1..view.len()).find(|&at| view.is(at, ";") && !view.is_outer(at))?;
    Some(
        view.wrong(at, at + 1, "inside brackets commas separate, not semicolons")
            .write(",", vec![view.edit(at, at + 1, ",")]),
    )
}

/// `[1,, 2]`, `f(, a)`.
fn empty_entry(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    if !view.is(at, ",") || at == 0 || !view.is_any(at - 1, &[",", "(", "[", "{"]) {
        return None;
    }
    Some(
        view.wrong(at, at + 1, format!("something is missing between `{}` and `,`", view.word(at - 1)))
            .help("remove the comma, or write the entry in front of it"),
    )
}
