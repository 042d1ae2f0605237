//! Characters and strings that break the text after them.

use super::rewrites::negated_verb;
use super::table::meant;
use super::view::{StatementView, SuggestText};
use crate::recover::can_be_read;
use crate::token::TokenKind;
use averment_base::diagnostic::{Diagnostic, Fix, Slug, SourceEdit};
use averment_base::source::Span;

/// Returns the intended sign, and the name of the look-alike character.
fn look_alike(character: char) -> Option<(String, &'static str)> {
    let (sign, what) = meant("LOOKALIKE", &format!("{:X}", u32::from(character)))?.split_once(' ')?;
    Some((sign.replace('_', " "), what))
}

/// Replaces all look-alikes of the statement at once.
pub(super) fn odd_characters(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let first = (0..view.len()).find(|&at| view.token_kind(at) == TokenKind::Odd)?;
    let character = view.token_text(first).chars().next()?;
    let code = format!("U+{:04X}", u32::from(character));
    let Some((sign, what)) = look_alike(character) else {
        return Some(odd_character(view, first, character, &code));
    };
    let shown = if what.contains("space") || what.contains("invisible") { code } else { format!("`{character}`") };
    let instead = match sign.trim() {
        "" if sign.is_empty() => "remove it".to_owned(),
        "" => "write an ordinary space".to_owned(),
        "\"" => "write straight quotes, `\"`, as in `\"refunded\"`".to_owned(),
        sign => format!("write `{sign}`"),
    };
    let all = (first..view.len()).filter(|&at| view.token_kind(at) == TokenKind::Odd);
    let edits: Vec<SourceEdit> = all
        .filter_map(|at| {
            look_alike(view.token_text(at).chars().next()?)
                .map(|(sign, _)| SourceEdit { span: view.span(at), text: sign })
        })
        .collect();
    let mut diagnostic = view.syntax_error(first, first + 1, format!("{shown} is {what}")).with_help(instead.clone());
    diagnostic.fix = Some(Fix { title: instead, edits });
    Some(diagnostic)
}

fn odd_character(view: &StatementView<'_, '_>, at: usize, character: char, code: &str) -> Diagnostic {
    if character.is_alphanumeric() {
        return odd_letter(view, at, character);
    }
    let shown =
        if character.is_control() || character.is_whitespace() { code.to_owned() } else { format!("`{character}`") };
    view.syntax_error(at, at + 1, format!("{shown} means nothing here"))
        .with_help("remove it, or put it into quotes when it belongs to a text")
}

fn odd_letter(view: &StatementView<'_, '_>, at: usize, letter: char) -> Diagnostic {
    let part = |here: usize| view.token_kind(here) == TokenKind::Odd || view.is_word(here) || view.is_number(here);
    let mut start = at;
    while start > 0 && view.touches_previous(start) && part(start - 1) {
        start -= 1;
    }
    let mut end = at + 1;
    while end < view.len() && view.touches_previous(end) && part(end) {
        end += 1;
    }
    let name = view.source_text(start, end);
    let message = format!("`{letter}` stands in a name, and bare names are made of a-z, A-Z, 0-9 and `_`");
    let diagnostic = view.syntax_error(at, at + 1, message);
    if start > 1 && view.token_is(start - 1, ".") && view.touches_previous(start) {
        return diagnostic
            .suggest_text(format!("[\"{name}\"]"), vec![view.replace_tokens(start - 1, end, format!("[\"{name}\"]"))]);
    }
    diagnostic.with_help(format!("quote the name of a tool, a key or a text: `\"{name}\"`"))
}

/// Reports a text, value or pattern whose opening signs are not closed.
fn unclosed(span: Span, signs: u32, message: &str) -> Diagnostic {
    Diagnostic::new(Slug::Unclosed, Span { end: span.start + signs, ..span }, message)
}

pub(super) fn open_text(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let at = (0..view.len()).find(|&at| view.token_kind(at) == TokenKind::OpenText)?;
    let written = view.token_text(at);
    let span = view.span(at);
    if at > 1
        && written.starts_with('\'')
        && view.touches_previous(at)
        && view.touches_previous(at - 1)
        && view.is_text(at - 2)
        && view.is_word(at - 1)
    {
        let inner = view.source_text(at - 2, at);
        let text = format!("\"{}\"", inner.trim_start_matches('\''));
        let place = view.span(at - 2);
        let edit = SourceEdit { span: Span { end: span.start + 1, ..place }, text: text.clone() };
        return Some(
            view.syntax_error(at - 2, at - 1, "an apostrophe ends this raw string").suggest_text(text, vec![edit]),
        );
    }
    let diagnostic = |message| unclosed(span, 1, message);
    Some(if written.starts_with("\"\"\"") {
        diagnostic("this `\"\"\"` is not closed before the end of the file").with_help("add `\"\"\"` behind the text")
    } else if written.starts_with('\'') {
        diagnostic("this raw string is not closed on its line")
            .with_help("add `'`; a text with an apostrophe stands in `\"…\"`")
    } else {
        let line = format!("{}\"", view.source_text(0, at + 1));
        let shown = if can_be_read(&line) { format!(": write `{line}`,") } else { " where the text ends,".to_owned() };
        diagnostic("this string is not closed on its line")
            .with_help(format!("add `\"`{shown} or use `\"\"\"` for text of several lines"))
    })
}

pub(super) fn open_interpolation(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let at = (0..view.len()).find(|&at| view.token_kind(at) == TokenKind::OpenInterpolation)?;
    let offset = open_value(view.token_text(at));
    let start = view.span(at).start + u32::try_from(offset).unwrap_or(0);
    let diagnostic = unclosed(Span { start, ..view.span(at) }, 2, "this `${` is not closed");
    Some(diagnostic.with_help("add `}` behind the expression, or use a raw string `'…'` to keep the characters"))
}

/// Returns the start of the first `${` without a `}` after it.
fn open_value(written: &str) -> usize {
    let is_open = |start: &usize| !written.get(*start..).is_some_and(|rest| rest.contains('}'));
    written.match_indices("${").map(|(start, _)| start).find(is_open).or_else(|| written.find("${")).unwrap_or(0)
}

pub(super) fn open_regex(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let at = (0..view.len()).find(|&at| view.token_kind(at) == TokenKind::OpenRegex)?;
    let span = view.span(at);
    let pattern = view.token_text(at);
    let class = pattern.rfind('[').and_then(|open| pattern.get(open..));
    if class.is_some_and(|rest| !rest.contains(']') && rest.contains('/')) {
        let closed = closed_class(&view.source_text(0, at + 1));
        let message = "a `[` in this regular expression is not closed, so neither is the expression";
        let help = format!("add `]`: write `{closed}`; or write `\\[` for the character");
        return Some(unclosed(span, 1, message).with_help(help));
    }
    let line = format!("{}/", view.source_text(0, at + 1));
    let shown = if can_be_read(&line) { format!(": write `{line}`") } else { String::new() };
    let diagnostic = unclosed(span, 1, "this regular expression is not closed on its line");
    Some(diagnostic.with_help(format!("add `/` behind the pattern{shown}; `\\/` is a slash in it")))
}

/// Closes a character class after its last range or letter.
fn closed_class(line: &str) -> String {
    let Some(open) = line.rfind('[') else { return line.to_owned() };
    let (before, inside) = line.split_at(open + 1);
    let end = inside.find(|sign: char| !sign.is_alphanumeric() && !matches!(sign, '-' | '_' | '\\' | '^')).unwrap_or(0);
    let (class, behind) = inside.split_at(end);
    format!("{before}{class}]{behind}")
}

/// Diagnoses `output doesn't contain "x"`, in which the apostrophe opens a text.
pub(super) fn negated_contraction(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let (range, right) = negated_verb(view)?;
    let written = view.whole_text().get(range.clone())?;
    let is_test = matches!(written, "doesn't" | "isn't") && view.whole_text().get(range.end..)?.starts_with(' ');
    let (start, end) = (u32::try_from(range.start).ok()?, u32::try_from(range.end).ok()?);
    let place = Span { start, end, ..view.end_span() };
    let diagnostic = Diagnostic::new(Slug::Syntax, place, format!("`{written}` is written `{right}`"));
    is_test.then(|| diagnostic.suggest_text(right.clone(), vec![SourceEdit { span: place, text: right }]))
}
