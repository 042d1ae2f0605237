//! Hints for mistakes in single signs and words: strings and brackets that are not closed, signs of other languages, characters that only look right.

use super::hint::{Hint, ask, not};
use super::view::{View, Write};
use crate::recover::{Text, Trouble, ends_operand};
use crate::token::Kind;
use averment_base::diagnostic::{Diagnostic, Edit, Fix, Slug};
use averment_base::source::Span;

/// What is looked for before anything else: these spoil the reading of all that follows.
pub(super) const TABLE: &[Hint] = &[
    ask("output.a == \u{201c}x\u{201d}", odd_characters),
    ask("output.a == \"x", open_text),
    ask("output.a == \"${x\"", open_interpolation),
    ask("output.a matches /x", open_regex),
    not("require search // first", ".. @apart < //|'/*' > ...")
        .says("`{wrong}` starts no comment here")
        .help("a comment starts with `#`: `# {...}`")
        .swap("#")
        .title("write `#`"),
    not("output.a == `x`", "..( < '`' > t:..( '`'").says("text stands in `\"…\"`, not in backticks").write("\"{t}\""),
    not("output.a == `x", "..( < '`' >").says("text stands in `\"…\"`, not in backticks").help("remove the backtick"),
];

/// Characters that look like a sign of the language, and the sign.
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

/// A character that means nothing outside of strings; all look-alikes of the statement are replaced at once.
fn odd_characters(view: &View<'_, '_>) -> Option<Diagnostic> {
    let first = (0..view.len()).find(|&at| view.kind(at) == Kind::Odd)?;
    let character = view.word(first).chars().next()?;
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
    let all = (first..view.len()).filter(|&at| view.kind(at) == Kind::Odd);
    let edits: Vec<Edit> = all
        .filter_map(|at| {
            look_alike(view.word(at).chars().next()?)
                .map(|(_, sign, _)| Edit { span: view.span(at), text: (*sign).to_owned() })
        })
        .collect();
    let mut diagnostic = view.wrong(first, first + 1, format!("{shown} is {what}")).help(instead.clone());
    diagnostic.fix = Some(Fix { title: instead, edits });
    Some(diagnostic)
}

fn odd_character(view: &View<'_, '_>, at: usize, character: char, code: &str) -> Diagnostic {
    if character.is_alphanumeric() {
        return odd_letter(view, at, character);
    }
    let shown =
        if character.is_control() || character.is_whitespace() { code.to_owned() } else { format!("`{character}`") };
    view.wrong(at, at + 1, format!("{shown} means nothing here"))
        .help("remove it, or put it into quotes when it belongs to a text")
}

/// A letter of another alphabet in a bare name.
fn odd_letter(view: &View<'_, '_>, at: usize, letter: char) -> Diagnostic {
    let part = |here: usize| view.kind(here) == Kind::Odd || view.is_word(here) || view.is_number(here);
    let mut start = at;
    while start > 0 && view.touches(start) && part(start - 1) {
        start -= 1;
    }
    let mut end = at + 1;
    while end < view.len() && view.touches(end) && part(end) {
        end += 1;
    }
    let name = view.source(start, end);
    let message = format!("`{letter}` stands in a name, and bare names are made of a-z, A-Z, 0-9 and `_`");
    let diagnostic = view.wrong(at, at + 1, message);
    if start > 1 && view.is(start - 1, ".") && view.touches(start) {
        return diagnostic.write(format!("[\"{name}\"]"), vec![view.edit(start - 1, end, format!("[\"{name}\"]"))]);
    }
    diagnostic.help(format!("quote the name of a tool, a key or a text: `\"{name}\"`"))
}

fn open_text(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (0..view.len()).find(|&at| view.kind(at) == Kind::OpenText)?;
    let written = view.word(at);
    let span = view.span(at);
    if at > 1
        && written.starts_with('\'')
        && view.touches(at)
        && view.touches(at - 1)
        && view.is_text(at - 2)
        && view.is_word(at - 1)
    {
        let inner = view.source(at - 2, at);
        let text = format!("\"{}\"", inner.trim_start_matches('\''));
        let place = view.span(at - 2);
        let edit = Edit { span: Span { end: span.start + 1, ..place }, text: text.clone() };
        return Some(view.wrong(at - 2, at - 1, "an apostrophe ends this raw string").write(text, vec![edit]));
    }
    let diagnostic = |message: &str| Diagnostic::new(Slug::Unclosed, Span { end: span.start + 1, ..span }, message);
    Some(if written.starts_with("\"\"\"") {
        diagnostic("this `\"\"\"` is not closed before the end of the file").help("add `\"\"\"` behind the text")
    } else if written.starts_with('\'') {
        diagnostic("this raw string is not closed on its line")
            .help("add `'`; a text with an apostrophe stands in `\"…\"`")
    } else {
        let line = view.source(0, at + 1);
        diagnostic("this string is not closed on its line")
            .help(format!("add `\"`: write `{line}\"`, or use `\"\"\"` for text of several lines"))
    })
}

fn open_interpolation(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (0..view.len()).find(|&at| view.kind(at) == Kind::OpenInterpolation)?;
    let offset = open_value(view.word(at));
    let start = view.span(at).start + u32::try_from(offset).unwrap_or(0);
    let span = Span { start, end: start + 2, ..view.span(at) };
    Some(
        Diagnostic::new(Slug::Unclosed, span, "this `${` is not closed")
            .help("add `}` behind the expression, or use a raw string `'…'` to keep the characters"),
    )
}

/// The offset of the first `${` of a string that is not closed.
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

fn open_regex(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = (0..view.len()).find(|&at| view.kind(at) == Kind::OpenRegex)?;
    let span = view.span(at);
    let span = Span { end: span.start + 1, ..span };
    let pattern = view.word(at);
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
        .help(format!("add `]`: write `{}`; or write `\\[` for the character", closed_class(&view.source(0, at + 1)))),
        None => {
            let line = view.source(0, at + 1);
            Diagnostic::new(Slug::Unclosed, span, "this regular expression is not closed on its line")
                .help(format!("add `/` behind the pattern: write `{line}/`; `\\/` is a slash in it"))
        }
    })
}

/// A line with a class of characters closed where its last range or letter ends.
fn closed_class(line: &str) -> String {
    let Some(open) = line.rfind('[') else { return line.to_owned() };
    let (before, inside) = line.split_at(open + 1);
    let end = inside.find(|sign: char| !sign.is_alphanumeric() && !matches!(sign, '-' | '_' | '\\' | '^')).unwrap_or(0);
    let (class, behind) = inside.split_at(end);
    format!("{before}{class}]{behind}")
}

/// What to say of a bracket.
pub(crate) fn bracket(text: &Text<'_>, trouble: Trouble, inner: &[usize]) -> Diagnostic {
    match trouble {
        Trouble::Unclosed(open, outside) if text.is(open, "{") => unclosed_brace(text, open, outside),
        Trouble::Unclosed(open, outside) => unclosed_bracket(text, open, outside, inner),
        Trouble::Crossed(open, close) => {
            let right = closing(text.word(open));
            let message = format!("this `{}` is closed by `{}`", text.word(open), text.word(close));
            Diagnostic::new(Slug::Unclosed, text.span(close), message)
                .help(format!("write `{right}`"))
                .other(text.span(open), "opened here")
                .fix(format!("write `{right}`"), text.span(close), right)
        }
        Trouble::Stray(close) => {
            let sign = text.word(close);
            Diagnostic::new(Slug::Unclosed, text.span(close), format!("this `{sign}` closes nothing"))
                .help(format!("remove it, or open it with `{}` where it belongs", opening(sign)))
                .fix("remove it", text.span(close), "")
        }
    }
}

fn closing(open: &str) -> &'static str {
    match open {
        "(" => ")",
        "[" => "]",
        _ => "}",
    }
}

fn opening(close: &str) -> &'static str {
    match close {
        ")" => "(",
        "]" => "[",
        _ => "{",
    }
}

fn unclosed_brace(text: &Text<'_>, open: usize, outside: usize) -> Diagnostic {
    let place = if outside >= text.tokens.len() {
        "the end of the file".to_owned()
    } else {
        format!("`{}` in line {}", text.source_line(outside), text.source_line_number(outside))
    };
    let diagnostic = Diagnostic::new(Slug::Unclosed, text.span(open), "this `{` is not closed")
        .help(format!("a `}}` is missing before {place}"));
    let last = text.last_before(text.tokens.len());
    let end = text.span(last).range().end;
    if outside < text.tokens.len() || last <= open || !text.source.is_char_boundary(end) {
        return diagnostic;
    }
    let apart = text.source_line_number(open) != text.source_line_number(last);
    diagnostic.fix("add `}`", text.span(last).at_end(), if apart { "\n}" } else { " }" })
}

fn unclosed_bracket(text: &Text<'_>, open: usize, outside: usize, inner: &[usize]) -> Diagnostic {
    const LONGEST: usize = 80;
    let message = format!("this `{}` is not closed", text.word(open));
    let diagnostic = Diagnostic::new(Slug::Unclosed, text.span(open), message);
    let last = text.last_before(outside.min(open + LONGEST)).max(open);
    let line_end = text.last_before(text.line_end(open));
    let last = if line_end > open { last.min(line_end) } else { last };
    let last = last_inside(text, open, last);
    let unclosed = inner.iter().rev().filter(|&&bracket| bracket <= last).chain([&open]);
    let close: String = unclosed.take(LONGEST).map(|&bracket| closing(text.word(bracket))).collect();
    let touching = open
        .checked_sub(1)
        .filter(|&before| text.span(before).end == text.span(open).start && text.kind(before) == Kind::Word);
    let start = text.span(touching.unwrap_or(open)).start as usize;
    let end = text.span(last).end as usize;
    let operator =
        text.kind(open + 1) == Kind::Sign && !matches!(text.word(open + 1), "(" | "[" | "{" | "-" | "/" | "*" | "..");
    if end - start > LONGEST || outside > open + LONGEST || operator {
        return diagnostic.help(format!("add `{}`", closing(text.word(open))));
    }
    let written: String = text.source.get(start..end).unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
    diagnostic.help(format!("write `{written}{close}`")).fix(format!("add `{close}`"), text.span(last).at_end(), close)
}

/// The last token that an open bracket can hold: the statement goes on behind it with a word that stands in no parentheses.
fn last_inside(text: &Text<'_>, open: usize, last: usize) -> usize {
    const BEHIND: &[&str] =
        &["->", "after", "before", "between", "until", "within", "iff", "then", "weight", "severity", "must", "{"];
    let index = text.is(open, "[") && open > 0 && text.span(open - 1).end == text.span(open).start;
    if index && matches!(text.kind(open + 1), Kind::Number | Kind::Text) {
        return last.min(open + 1);
    }
    let mut depth = 0_usize;
    for at in open + 1..=last {
        match text.word(at) {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            word if depth == 0 && at > open + 1 && BEHIND.contains(&word) => {
                let before = text.last_before(at);
                if ends_operand(text.kind(before), text.word(before)) {
                    return before;
                }
            }
            _ => {}
        }
    }
    last
}
