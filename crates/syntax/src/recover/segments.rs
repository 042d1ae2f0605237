//! Splits a file or a body into segments. Each is one statement, judging by line ends and brackets.

use super::brackets::{BracketEnd, BracketTable};
use super::text::{TokenText, ends_operand};
use crate::statements;
use crate::token::TokenKind;
use crate::words;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TokenSegment {
    pub start: usize,
    pub end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SegmentBody {
    pub open: usize,
    pub close: BracketEnd,
    pub kind: BodyKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyKind {
    Items,
    Settings,
}

pub(super) fn split_segments(
    text: &TokenText<'_>,
    brackets: &BracketTable,
    start: usize,
    end: usize,
) -> Vec<TokenSegment> {
    let mut segments = Vec::new();
    let mut at = start;
    while at < end {
        if text.token_kind(at) == TokenKind::LineEnd || text.token_is(at, ";") || brackets.is_stray(at) {
            at += 1;
            continue;
        }
        let segment = TokenSegment { start: at, end: segment_end(text, brackets, at, end) };
        at = segment.end;
        segments.push(segment);
    }
    segments
}

fn segment_end(text: &TokenText<'_>, brackets: &BracketTable, start: usize, end: usize) -> usize {
    let mut at = start;
    let mut doubtful = 0;
    while at < end {
        match brackets.bracket_end(at) {
            Some(BracketEnd::At(close)) => at = close + 1,
            Some(BracketEnd::Missing(outside)) => {
                at = outside.max(at + 1);
                // Text after a missing bracket is the next statement.
                if text.opens_line(at) || text.token_kind(at) == TokenKind::LineEnd {
                    return at.min(end);
                }
            }
            None if text.token_is(at, ";") || brackets.is_stray(at) => return at,
            None if text.token_kind(at) == TokenKind::LineEnd => {
                let next = text.skip_lines(at);
                doubtful += usize::from(is_doubtful(text, at, next));
                if next >= end || doubtful > MOST_DOUBTFUL || !goes_on(text, brackets, start, at, next) {
                    return at;
                }
                at = next;
            }
            None => at += 1,
        }
    }
    end.min(at)
}

/// Maximum number of doubtful continuations in a statement that is still tried as a whole.
const MOST_DOUBTFUL: usize = 8;

/// True for a line end after a sign that rarely continues on an unindented line, or before a line that starts a statement.
pub(super) fn is_doubtful(text: &TokenText<'_>, line_end: usize, next: usize) -> bool {
    const SIGNS: &[&str] = &[
        "==",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "+",
        "-",
        "*",
        "/",
        "%",
        "in",
        "contains",
        "icontains",
        "mentions",
        "matches",
        "with",
    ];
    const DECLARATIONS: &[&str] = &["rule", "test", "suite", "let", "param", "def", "use", "invariant"];
    let last = text.token_text(line_end.saturating_sub(1));
    let named = text.token_kind(next + 1) == TokenKind::LineEnd
        || matches!(text.token_text(next + 1), ":" | "." | "," | "==" | "!=" | "|");
    let first = text.token_text(next);
    let begins = statements::find_head(first).is_some_and(|head| head.sure) || DECLARATIONS.contains(&first);
    SIGNS.contains(&last) || begins && !named
}

fn goes_on(text: &TokenText<'_>, brackets: &BracketTable, start: usize, line_end: usize, next: usize) -> bool {
    if matches!(text.token_text(next), "and" | "or" | "->" | "then" | "else") {
        return true;
    }
    if line_end.checked_sub(1).is_some_and(|last| last >= start && joins_next(text, last)) {
        return true;
    }
    takes_modifiers(text, brackets, start, line_end) && is_modifier_line(text, brackets, next)
}

pub(super) fn joins_next(text: &TokenText<'_>, last: usize) -> bool {
    let word = text.token_text(last);
    let before = last.checked_sub(1);
    match text.token_kind(last) {
        TokenKind::Sign => {
            let touches = before.is_some_and(|before| text.span(before).end == text.span(last).start);
            match word {
                // A glob, or a star that stands alone.
                "*" => {
                    !touches
                        && before.is_some_and(|before| ends_operand(text.token_kind(before), text.token_text(before)))
                }
                "==" | "!=" | "===" | "!==" | "<" | "<=" | ">" | ">=" | "+" | "-" | "/" | "%" | "|" | "," | ":"
                | "->" | "=" => true,
                _ => false,
            }
        }
        TokenKind::Word => {
            let operand = before.is_some_and(|before| ends_operand(text.token_kind(before), text.token_text(before)));
            let pair = before.map_or("", |before| text.token_text(before));
            match word {
                "and" | "or" | "implies" | "then" | "else" | "contains" | "icontains" | "mentions" | "matches" => {
                    operand || pair == "not"
                }
                "in" => operand || pair == "not",
                "with" => matches!(pair, "starts" | "ends" | "start" | "end"),
                "all" | "any" | "none" => pair == "contains",
                "match" | "contain" => pair == "not",
                _ => false,
            }
        }
        _ => false,
    }
}

/// True for assertions and rule names; other declarations and settings have no modifiers.
fn takes_modifiers(text: &TokenText<'_>, brackets: &BracketTable, start: usize, end: usize) -> bool {
    let (first, second) = (text.token_text(start), start + 1);
    match first {
        "rule" | "suite" | "case" | "invariant" if text.token_kind(second) != TokenKind::Sign => {
            return body_of(text, brackets, TokenSegment { start, end }).is_none();
        }
        "pre" | "post" if text.token_is(second, "{") => return false,
        "when" => return body_of(text, brackets, TokenSegment { start, end }).is_some(),
        "tool" | "env" if text.token_is(label_end(text, second), "is") => return true,
        _ => {}
    }
    let operator = words::is_joining(text.token_text(second)) || text.token_is(second, "exists");
    let named = matches!(text.token_kind(second), TokenKind::Word | TokenKind::Text | TokenKind::Number) && !operator;
    let head =
        words::DECLARATIONS.contains(&first) || words::MODIFIERS.contains(&first) || words::SETTINGS.contains(&first);
    !(named && head)
}

pub(super) fn is_modifier_line(text: &TokenText<'_>, brackets: &BracketTable, at: usize) -> bool {
    let next = at + 1;
    let ends = |index: usize| {
        text.token_kind(index) == TokenKind::LineEnd
            || matches!(text.token_text(index), ";" | "}" | "{")
            || words::MODIFIERS.contains(&text.token_text(index))
    };
    let plain =
        |index: usize| text.token_kind(index) == TokenKind::Word && !words::OPERATORS.contains(&text.token_text(index));
    match text.token_text(at) {
        "weight" | "threshold" => text.token_kind(next) == TokenKind::Number || text.token_is(next, "-"),
        "severity" | "as" | "id" => plain(next) && ends(label_end(text, next)),
        "must" => ends(next),
        "message" | "class" => {
            matches!(text.token_kind(next), TokenKind::Text | TokenKind::OpenText | TokenKind::OpenInterpolation)
        }
        "tags" | "deny" | "allow" => {
            plain(next) && (ends(label_end(text, next)) || text.token_is(label_end(text, next), ","))
        }
        "expect" => text.token_is(next, "fail"),
        "when" if (next..text.line_end(at)).any(|at| text.token_is(at, ":")) => false,
        "when" => body_of(text, brackets, TokenSegment { start: at, end: text.line_end(at) }).is_none() && !ends(next),
        _ => false,
    }
}

pub(super) fn label_end(text: &TokenText<'_>, start: usize) -> usize {
    let mut end = start + 1;
    while text.span(end).start == text.span(end - 1).end
        && (matches!(text.token_text(end), "-" | ".")
            || matches!(text.token_kind(end), TokenKind::Word | TokenKind::Number))
    {
        end += 1;
    }
    end
}

pub(super) fn body_of(text: &TokenText<'_>, brackets: &BracketTable, segment: TokenSegment) -> Option<SegmentBody> {
    let mut head = segment.start;
    while text.token_is(head, "not") {
        head += 1;
    }
    let kind = match text.token_text(head) {
        "workspace" | "runner" => BodyKind::Settings,
        "rule" | "suite" | "case" | "pre" | "post" | "invariant" => BodyKind::Items,
        "for" if text.token_is(head + 1, "each") => BodyKind::Items,
        first if statements::has_block(first, text.token_text(head + 1)) => BodyKind::Items,
        _ => return None,
    };
    let mut at = head + 1;
    while at < segment.end {
        if text.token_is(at, "{") && opens_body(text, at) {
            return brackets.bracket_end(at).map(|close| SegmentBody { open: at, close, kind });
        }
        match brackets.bracket_end(at) {
            Some(BracketEnd::At(close)) => at = close + 1,
            Some(BracketEnd::Missing(_)) => return None,
            None if matches!(text.token_text(at), ":" | "->" | "=" | ";") => return None,
            None => at += 1,
        }
    }
    None
}

/// True for a brace after something complete; after an operator, a brace opens an object.
fn opens_body(text: &TokenText<'_>, at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return true };
    let word = text.token_text(before);
    let glob = matches!(word, "*" | "?")
        && text.span(before).start == before.checked_sub(1).map_or(0, |left| text.span(left).end);
    ends_operand(text.token_kind(before), word)
        || glob
        || words::is_ending_word(word)
        || text.token_kind(before) == TokenKind::LineEnd
}
