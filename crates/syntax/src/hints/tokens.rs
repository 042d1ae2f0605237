//! Hints for mistakes in single signs and words: strings and brackets that are not closed, signs of other languages, characters that only look right.

use super::hint::{Hint, function_hint, pattern_hint};
use super::view::{StatementView, SuggestText};
use crate::recover::{BracketError, TokenText, can_be_read, ends_operand};
use crate::token::TokenKind;
use averment_base::diagnostic::{Diagnostic, Fix, Slug, SourceEdit};
use averment_base::source::Span;

/// Checked first: these break the reading of all that follows.
pub(super) const TABLE: &[Hint] = &[
    function_hint("output.a == \u{201c}x\u{201d}", odd_characters),
    function_hint("output.a == \"x", open_text),
    function_hint("output.a == \"${x\"", open_interpolation),
    function_hint("output.a matches /x", open_regex),
    pattern_hint("require search // first", ".. @apart < //|'/*' > ...")
        .with_message("`{wrong}` starts no comment here")
        .with_help("a comment starts with `#`: `# {...}`")
        .with_swap("#")
        .with_title("write `#`"),
    pattern_hint("output.a == `x`", "..( < '`' > t:..( '`'")
        .with_message("text stands in `\"…\"`, not in backticks")
        .with_rewrite("\"{t}\""),
    pattern_hint("output.a == `x", "..( < '`' >")
        .with_message("text stands in `\"…\"`, not in backticks")
        .with_help("remove the backtick"),
];

const LOOK_ALIKES: &[(char, &str, &str)] = &[
    ('\u{201c}', "\"", "a typographic quote"),
    ('\u{201d}', "\"", "a typographic quote"),
    ('\u{201e}', "\"", "a typographic quote"),
    ('\u{ab}', "\"", "a typographic quote"),
    ('\u{bb}', "\"", "a typographic quote"),
    ('\u{2018}', "'", "a typographic quote"),
    ('\u{2019}', "'", "a typographic quote"),
    ('\u{2013}', "-", "a dash"),
    ('\u{2014}', "-", "a dash"),
    ('\u{2212}', "-", "a typographic minus"),
    ('\u{2192}', "->", "a typographic arrow"),
    ('\u{21d2}', "->", "a typographic arrow"),
    ('\u{2264}', "<=", "a typographic sign"),
    ('\u{2265}', ">=", "a typographic sign"),
    ('\u{2260}', "!=", "a typographic sign"),
    ('\u{2026}', "..", "a typographic ellipsis"),
    ('\u{d7}', "*", "a typographic sign"),
    ('\u{f7}', "/", "a typographic sign"),
    ('\u{2208}', " in ", "a typographic sign"),
    ('\u{2227}', " and ", "a typographic sign"),
    ('\u{2228}', " or ", "a typographic sign"),
    ('\u{ac}', " not ", "a typographic sign"),
    ('\u{ff08}', "(", "a full-width parenthesis"),
    ('\u{ff09}', ")", "a full-width parenthesis"),
    ('\u{ff1a}', ":", "a full-width colon"),
    ('\u{ff0c}', ",", "a full-width comma"),
    ('\u{ff1b}', ";", "a full-width semicolon"),
    ('\u{a0}', " ", "a no-break space"),
    ('\u{3000}', " ", "a full-width space"),
    ('\u{202f}', " ", "a narrow no-break space"),
    ('\u{2007}', " ", "a figure space"),
    ('\u{2009}', " ", "a thin space"),
    ('\u{200b}', "", "an invisible character"),
    ('\u{200c}', "", "an invisible character"),
    ('\u{200d}', "", "an invisible character"),
    ('\u{feff}', "", "an invisible byte order mark"),
    ('\u{20ac}', "$", "the sign of euro, and amounts are in US dollars"),
    ('\u{a3}', "$", "the sign of pound, and amounts are in US dollars"),
];

fn look_alike(character: char) -> Option<&'static (char, &'static str, &'static str)> {
    LOOK_ALIKES.iter().find(|(odd, ..)| *odd == character)
}

/// Replaces all look-alikes of the statement at once.
fn odd_characters(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let first = (0..view.len()).find(|&at| view.token_kind(at) == TokenKind::Odd)?;
    let character = view.token_text(first).chars().next()?;
    let code = format!("U+{:04X}", u32::from(character));
    let Some((_, sign, what)) = look_alike(character) else {
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
                .map(|(_, sign, _)| SourceEdit { span: view.span(at), text: (*sign).to_owned() })
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

fn open_text(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
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
    let diagnostic = |message: &str| Diagnostic::new(Slug::Unclosed, Span { end: span.start + 1, ..span }, message);
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

fn open_interpolation(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let at = (0..view.len()).find(|&at| view.token_kind(at) == TokenKind::OpenInterpolation)?;
    let offset = open_value(view.token_text(at));
    let start = view.span(at).start + u32::try_from(offset).unwrap_or(0);
    let span = Span { start, end: start + 2, ..view.span(at) };
    Some(
        Diagnostic::new(Slug::Unclosed, span, "this `${` is not closed")
            .with_help("add `}` behind the expression, or use a raw string `'…'` to keep the characters"),
    )
}

fn open_value(written: &str) -> usize {
    let mut at = 0;
    while let Some(start) = written.get(at..).and_then(|rest| rest.find("${")).map(|found| at + found) {
        match written.get(start..).and_then(|rest| rest.find('}')) {
            Some(close) => at = start + close + 1,
            None => return start,
        }
    }
    written.find("${").unwrap_or(0)
}

fn open_regex(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let at = (0..view.len()).find(|&at| view.token_kind(at) == TokenKind::OpenRegex)?;
    let span = view.span(at);
    let span = Span { end: span.start + 1, ..span };
    let pattern = view.token_text(at);
    let class = pattern
        .rfind('[')
        .and_then(|open| pattern.get(open..))
        .filter(|rest| !rest.contains(']') && rest.contains('/'));
    Some(match class {
        Some(_) => Diagnostic::new(
            Slug::Unclosed,
            span,
            "a `[` in this regular expression is not closed, so neither is the expression",
        )
        .with_help(format!(
            "add `]`: write `{}`; or write `\\[` for the character",
            closed_class(&view.source_text(0, at + 1))
        )),
        None => {
            let line = format!("{}/", view.source_text(0, at + 1));
            let shown = if can_be_read(&line) { format!(": write `{line}`") } else { String::new() };
            Diagnostic::new(Slug::Unclosed, span, "this regular expression is not closed on its line")
                .with_help(format!("add `/` behind the pattern{shown}; `\\/` is a slash in it"))
        }
    })
}

/// Closes a character class where its last range or letter ends.
fn closed_class(line: &str) -> String {
    let Some(open) = line.rfind('[') else { return line.to_owned() };
    let (before, inside) = line.split_at(open + 1);
    let end = inside.find(|sign: char| !sign.is_alphanumeric() && !matches!(sign, '-' | '_' | '\\' | '^')).unwrap_or(0);
    let (class, behind) = inside.split_at(end);
    format!("{before}{class}]{behind}")
}

pub(crate) fn bracket_mistake(text: &TokenText<'_>, trouble: BracketError, inner: &[usize]) -> Diagnostic {
    match trouble {
        BracketError::Unclosed(open, outside) if text.token_is(open, "{") => unclosed_brace(text, open, outside),
        BracketError::Unclosed(open, outside) => unclosed_bracket(text, open, outside, inner),
        BracketError::Crossed(open, close) => {
            let right = closing_bracket(text.token_text(open));
            let message = format!("this `{}` is closed by `{}`", text.token_text(open), text.token_text(close));
            Diagnostic::new(Slug::Unclosed, text.span(close), message)
                .with_help(format!("write `{right}`"))
                .with_other(text.span(open), "opened here")
                .with_fix(format!("write `{right}`"), text.span(close), right)
        }
        BracketError::Stray(close) => {
            let sign = text.token_text(close);
            Diagnostic::new(Slug::Unclosed, text.span(close), format!("this `{sign}` closes nothing"))
                .with_help(format!("remove it, or open it with `{}` where it belongs", opening_bracket(sign)))
                .with_fix("remove it", text.span(close), "")
        }
    }
}

fn closing_bracket(open: &str) -> &'static str {
    match open {
        "(" => ")",
        "[" => "]",
        _ => "}",
    }
}

fn opening_bracket(close: &str) -> &'static str {
    match close {
        ")" => "(",
        "]" => "[",
        _ => "{",
    }
}

fn unclosed_brace(text: &TokenText<'_>, open: usize, outside: usize) -> Diagnostic {
    let place = if outside >= text.tokens.len() {
        "the end of the file".to_owned()
    } else {
        format!("`{}` in line {}", text.source_line(outside), text.source_line_number(outside))
    };
    let diagnostic = Diagnostic::new(Slug::Unclosed, text.span(open), "this `{` is not closed")
        .with_help(format!("a `}}` is missing before {place}"));
    let last = text.last_before(text.tokens.len());
    let end = text.span(last).as_range().end;
    if outside < text.tokens.len() || last <= open || !text.source.is_char_boundary(end) {
        return diagnostic;
    }
    let apart = text.source_line_number(open) != text.source_line_number(last);
    diagnostic.with_fix("add `}`", text.span(last).at_end(), if apart { "\n}" } else { " }" })
}

fn unclosed_bracket(text: &TokenText<'_>, open: usize, outside: usize, inner: &[usize]) -> Diagnostic {
    const LONGEST: usize = 80;
    let message = format!("this `{}` is not closed", text.token_text(open));
    let diagnostic = Diagnostic::new(Slug::Unclosed, text.span(open), message);
    let last = text.last_before(outside.min(open + LONGEST)).max(open);
    let line_end = text.last_before(text.line_end(open));
    let last = if line_end > open { last.min(line_end) } else { last };
    let last = last_inside(text, open, last);
    let unclosed = inner.iter().rev().filter(|&&bracket| bracket <= last).chain([&open]);
    let close: String = unclosed.take(LONGEST).map(|&bracket| closing_bracket(text.token_text(bracket))).collect();
    let touching = open
        .checked_sub(1)
        .filter(|&before| text.span(before).end == text.span(open).start && text.token_kind(before) == TokenKind::Word);
    let start = text.span(touching.unwrap_or(open)).start as usize;
    let end = text.span(last).end as usize;
    let operator = text.token_kind(open + 1) == TokenKind::Sign
        && !matches!(text.token_text(open + 1), "(" | "[" | "{" | "-" | "/" | "*" | "..");
    if end - start > LONGEST || outside > open + LONGEST || operator {
        return diagnostic.with_help(format!("add `{}`", closing_bracket(text.token_text(open))));
    }
    let written: String = text.source.get(start..end).unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
    let code = format!("{written}{close}");
    let help = if can_be_read(&code) { format!("write `{code}`") } else { format!("add `{close}`") };
    diagnostic.with_help(help).with_fix(format!("add `{close}`"), text.span(last).at_end(), close)
}

/// The last token that an open bracket can contain.
fn last_inside(text: &TokenText<'_>, open: usize, last: usize) -> usize {
    const BEHIND: &[&str] =
        &["->", "after", "before", "between", "until", "within", "iff", "then", "weight", "severity", "must", "{"];
    let index = text.token_is(open, "[") && open > 0 && text.span(open - 1).end == text.span(open).start;
    if index && matches!(text.token_kind(open + 1), TokenKind::Number | TokenKind::Text) {
        return last.min(open + 1);
    }
    let mut depth = 0_usize;
    for at in open + 1..=last {
        match text.token_text(at) {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            word if depth == 0 && at > open + 1 && BEHIND.contains(&word) => {
                let before = text.last_before(at);
                if ends_operand(text.token_kind(before), text.token_text(before)) {
                    return before;
                }
            }
            _ => {}
        }
    }
    last
}
