//! Mistakes in quantifiers and conditional expressions.

use super::Find;
use super::view::{View, Write};
use crate::words;
use averment_base::diagnostic::Diagnostic;

pub(super) const TABLE: &[Find] = &[
    quantifier_without_in,
    quantifier_without_colon,
    quantifier_in_call,
    quantifier_without_variable,
    condition_without_else,
];

const QUANTIFIERS: &[&str] = &["any", "all", "no", "count"];

/// `all x of output.items: …`.
fn quantifier_without_in(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (0..view.len()).find(|&at| {
        let joint = view.is_any(at + 2, &["of", "from", "at", "on", "among", "=", "within", "inside", "<-"]);
        view.is_any(at, QUANTIFIERS) && view.is_word(at + 1) && joint && (3..view.len()).any(|here| view.is(here, ":"))
    })?;
    let text = format!("{} {} in {}", view.word(at), view.word(at + 1), view.source(at + 3, view.len()));
    Some(
        view.wrong(at + 2, at + 3, "a quantifier names its values with `in`")
            .write(text, vec![view.edit(at + 2, at + 3, "in")]),
    )
}

/// `all x in output.items x.price > 0`, `all x in output.items, x.price > 0`.
fn quantifier_without_colon(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at =
        (0..view.len()).find(|&at| view.is_any(at, QUANTIFIERS) && view.is_word(at + 1) && view.is(at + 2, "in"))?;
    let depth_end = view.len();
    if (at + 3..depth_end).any(|here| view.is(here, ":") && view.is_outer(here) == view.is_outer(at)) {
        return None;
    }
    let quantifier = view.word(at);
    let mut end = at + 3;
    while end < view.len() && (end == at + 3 || view.touches(end)) && !view.is_any(end, &[",", ":", ")", "]", "}"]) {
        end = if view.is_any(end, &["(", "["]) { view.behind_bracket(end) } else { end + 1 };
    }
    let (head, variable) = (view.source(at, end), view.word(at + 1));
    let message = format!("`{quantifier} {variable} in …` needs `:` and a condition");
    let skip = usize::from(
        view.is_any(end, &[",", "=>", "->", "|", "where", "with", "if", "satisfies", "have", "has", "such"]),
    );
    let skip = skip + usize::from(view.is(end, "such") && view.is(end + 1, "that"));
    let condition = view.source(end + skip, view.len());
    if condition.is_empty() || view.is_any(end, &[")", "]", "}"]) {
        return Some(view.wrong_behind(end, message).help(format!("write `{head}: {variable}.ok == true`")));
    }
    let edit = if skip == 0 {
        view.append(end - 1, ":")
    } else {
        view.edit(end - 1, end + skip, format!("{}:", view.word(end - 1)))
    };
    Some(view.wrong(end, end + 1, message).write(format!("{head}: {condition}"), vec![edit]))
}

/// `any(x in xs: c)`, `all(x.ok for x in xs)`.
fn quantifier_in_call(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (0..view.len()).find(|&at| {
        let open = view.is(at + 1, "(") && view.touches(at + 1);
        view.is_any(at, QUANTIFIERS)
            && open
            && (at + 2..view.behind_bracket(at + 1)).any(|here| view.is_any(here, &["in", "=>", "->"]))
    })?;
    let end = view.behind_bracket(at + 1);
    let quantifier = view.word(at);
    let help = if view.is_word(at + 2) && view.is(at + 3, "in") {
        let inner = view.source(at + 2, end.saturating_sub(1));
        format!("write `({quantifier} {inner})`")
    } else {
        format!("write `({quantifier} x in output.items: x.ok == true)`")
    };
    Some(
        view.wrong(at + 1, at + 2, format!("`{quantifier}` is no function: the parentheses stand around all of it"))
            .help(help),
    )
}

/// `any output.items > 2`, `all output.items.ok`.
fn quantifier_without_variable(view: &View<'_, '_>) -> Option<Diagnostic> {
    let is_root = |at: usize| words::ROOTS.contains(&view.word(at)) && view.is_any(at + 1, &[".", "["]);
    let at = (0..view.len()).find(|&at| view.is_any(at, QUANTIFIERS) && is_root(at + 1) && view.failed >= at)?;
    let mut end = at + 2;
    while end < view.len() && view.touches(end) && !view.is_any(end, &[",", ":", ")", "]", "}"]) {
        end = if view.is_any(end, &["(", "["]) { view.behind_bracket(end) } else { end + 1 };
    }
    let (quantifier, path) = (view.word(at), view.source(at + 1, end));
    let test = if view.is(end, ":") { end + 1 } else { end };
    let condition = match view.source(test, view.len()) {
        rest if rest.is_empty() => "x == true".to_owned(),
        rest => format!("x {rest}"),
    };
    let message = format!("`{quantifier}` looks at the values of a list by a name, and none is given");
    Some(view.wrong(at + 1, end, message).help(format!("write `{quantifier} x in {path}: {condition}`")))
}

/// `let x = if a then b`.
fn condition_without_else(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (1..view.len()).rev().find(|&at| view.is(at, "if") && !view.is(at - 1, "."))?;
    let then = (at + 1..view.len()).find(|&here| view.is(here, "then"));
    let Some(then) = then else {
        let colon = (at + 1..view.len()).find(|&here| view.is_any(here, &[":", "{", "?"]));
        let place = colon.unwrap_or(view.len());
        let diagnostic = if colon.is_some() {
            view.wrong(place, place + 1, "`then` is missing")
        } else {
            view.missing_at_end("`then` is missing")
        };
        return Some(diagnostic.help("write `if c then a else b`"));
    };
    let other =
        (then + 1..view.len()).find(|&here| view.is_any(here, &["else", "otherwise", "elif", "elsif", "elseif"]));
    match other {
        None => {
            let text = format!("{} else …", view.source(at, view.len()));
            Some(
                view.missing_at_end("`else` is missing: a value has to be given for both cases")
                    .help(format!("write `{text}`")),
            )
        }
        Some(other) if !view.is(other, "else") => {
            let right = if view.is(other, "otherwise") { "else" } else { "else if" };
            Some(
                view.wrong(other, other + 1, format!("this is written `{right}`"))
                    .write(right, vec![view.edit(other, other + 1, right)]),
            )
        }
        Some(_) => None,
    }
}
