//! The segments of a file or a body: each is one statement as far as its line ends and brackets tell.

use super::brackets::{Brackets, Close};
use super::text::{Text, ends_operand};
use crate::statements;
use crate::token::Kind;
use crate::words;

/// Tokens of one statement: from the first to behind the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    pub start: usize,
    pub end: usize,
}

/// A body in braces: the tokens `open` and behind the last inner one, and what kind of lines it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Body {
    pub open: usize,
    pub close: Close,
    pub kind: BodyKind,
}

/// What stands in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyKind {
    Items,
    Settings,
}

/// Cuts the tokens from `start` to `end` into statements.
pub(super) fn split(text: &Text<'_>, brackets: &Brackets, start: usize, end: usize) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut at = start;
    while at < end {
        if text.kind(at) == Kind::LineEnd || text.is(at, ";") || brackets.is_stray(at) {
            at += 1;
            continue;
        }
        let segment = Segment { start: at, end: segment_end(text, brackets, at, end) };
        at = segment.end;
        segments.push(segment);
    }
    segments
}

fn segment_end(text: &Text<'_>, brackets: &Brackets, start: usize, end: usize) -> usize {
    let mut at = start;
    let mut doubtful = 0;
    while at < end {
        match brackets.close(at) {
            Some(Close::At(close)) => at = close + 1,
            Some(Close::Missing(outside)) => {
                at = outside.max(at + 1);
                // What stands behind a missing bracket is the next statement.
                if text.opens_line(at) || text.kind(at) == Kind::LineEnd {
                    return at.min(end);
                }
            }
            None if text.is(at, ";") || brackets.is_stray(at) => return at,
            None if text.kind(at) == Kind::LineEnd => {
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

/// Statements that go on in doubtful ways more often than this are not tried as one.
const MOST_DOUBTFUL: usize = 8;

/// True for a line end behind a sign from which few go on without indentation, or before a line that begins a statement.
pub(super) fn is_doubtful(text: &Text<'_>, line_end: usize, next: usize) -> bool {
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
    let last = text.word(line_end.saturating_sub(1));
    let named =
        text.kind(next + 1) == Kind::LineEnd || matches!(text.word(next + 1), ":" | "." | "," | "==" | "!=" | "|");
    let first = text.word(next);
    let begins = statements::head(first).is_some_and(|head| head.sure) || DECLARATIONS.contains(&first);
    SIGNS.contains(&last) || begins && !named
}

/// Whether the statement from `start` goes on behind a line end, in the line that starts with token `next`.
fn goes_on(text: &Text<'_>, brackets: &Brackets, start: usize, line_end: usize, next: usize) -> bool {
    if matches!(text.word(next), "and" | "or" | "->" | "then" | "else") {
        return true;
    }
    if line_end.checked_sub(1).is_some_and(|last| last >= start && joins(text, last)) {
        return true;
    }
    takes_modifiers(text, brackets, start, line_end) && is_modifier_line(text, brackets, next)
}

/// True for a last token of a line behind which the statement goes on.
pub(super) fn joins(text: &Text<'_>, last: usize) -> bool {
    let word = text.word(last);
    let before = last.checked_sub(1);
    match text.kind(last) {
        Kind::Sign => {
            let touches = before.is_some_and(|before| text.span(before).end == text.span(last).start);
            match word {
                // A glob, or one that stands alone.
                "*" => !touches && before.is_some_and(|before| ends_operand(text.kind(before), text.word(before))),
                "==" | "!=" | "===" | "!==" | "<" | "<=" | ">" | ">=" | "+" | "-" | "/" | "%" | "|" | "," | ":"
                | "->" | "=" => true,
                _ => false,
            }
        }
        Kind::Word => {
            let operand = before.is_some_and(|before| ends_operand(text.kind(before), text.word(before)));
            let pair = before.map_or("", |before| text.word(before));
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

/// Assertions take modifiers, and so do the names of rules; other declarations and settings do not.
fn takes_modifiers(text: &Text<'_>, brackets: &Brackets, start: usize, end: usize) -> bool {
    let (first, second) = (text.word(start), start + 1);
    match first {
        "rule" | "suite" | "case" | "invariant" if text.kind(second) != Kind::Sign => {
            return body_of(text, brackets, Segment { start, end }).is_none();
        }
        "pre" | "post" if text.is(second, "{") => return false,
        "when" => return body_of(text, brackets, Segment { start, end }).is_some(),
        "tool" | "env" if text.is(label_end(text, second), "is") => return true,
        _ => {}
    }
    let operator = words::is_joining(text.word(second)) || text.is(second, "exists");
    let named = matches!(text.kind(second), Kind::Word | Kind::Text | Kind::Number) && !operator;
    let head =
        words::DECLARATIONS.contains(&first) || words::MODIFIERS.contains(&first) || words::SETTINGS.contains(&first);
    !(named && head)
}

/// A modifier with what it takes.
pub(super) fn is_modifier_line(text: &Text<'_>, brackets: &Brackets, at: usize) -> bool {
    let next = at + 1;
    let ends = |index: usize| {
        text.kind(index) == Kind::LineEnd
            || matches!(text.word(index), ";" | "}" | "{")
            || words::MODIFIERS.contains(&text.word(index))
    };
    let plain = |index: usize| text.kind(index) == Kind::Word && !words::OPERATORS.contains(&text.word(index));
    match text.word(at) {
        "weight" | "threshold" => text.kind(next) == Kind::Number || text.is(next, "-"),
        "severity" | "as" | "id" => plain(next) && ends(label_end(text, next)),
        "must" => ends(next),
        "message" | "class" => matches!(text.kind(next), Kind::Text | Kind::OpenText | Kind::OpenInterpolation),
        "tags" | "deny" | "allow" => {
            plain(next) && (ends(label_end(text, next)) || text.is(label_end(text, next), ","))
        }
        "expect" => text.is(next, "fail"),
        "when" if (next..text.line_end(at)).any(|at| text.is(at, ":")) => false,
        "when" => body_of(text, brackets, Segment { start: at, end: text.line_end(at) }).is_none() && !ends(next),
        _ => false,
    }
}

/// The token behind a name with dots and dashes.
pub(super) fn label_end(text: &Text<'_>, start: usize) -> usize {
    let mut end = start + 1;
    while text.span(end).start == text.span(end - 1).end
        && (matches!(text.word(end), "-" | ".") || matches!(text.kind(end), Kind::Word | Kind::Number))
    {
        end += 1;
    }
    end
}

/// The body of a statement that has one.
pub(super) fn body_of(text: &Text<'_>, brackets: &Brackets, segment: Segment) -> Option<Body> {
    let mut head = segment.start;
    while text.is(head, "not") {
        head += 1;
    }
    let kind = match text.word(head) {
        "workspace" | "runner" => BodyKind::Settings,
        "rule" | "suite" | "case" | "pre" | "post" | "invariant" => BodyKind::Items,
        "for" if text.is(head + 1, "each") => BodyKind::Items,
        first if statements::has_block(first, text.word(head + 1)) => BodyKind::Items,
        _ => return None,
    };
    let mut at = head + 1;
    while at < segment.end {
        if text.is(at, "{") && opens_body(text, at) {
            return brackets.close(at).map(|close| Body { open: at, close, kind });
        }
        match brackets.close(at) {
            Some(Close::At(close)) => at = close + 1,
            Some(Close::Missing(_)) => return None,
            None if matches!(text.word(at), ":" | "->" | "=" | ";") => return None,
            None => at += 1,
        }
    }
    None
}

/// A brace behind something complete; behind an operator it is an object.
fn opens_body(text: &Text<'_>, at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return true };
    let word = text.word(before);
    let glob = matches!(word, "*" | "?")
        && text.span(before).start == before.checked_sub(1).map_or(0, |left| text.span(left).end);
    ends_operand(text.kind(before), word) || glob || words::is_ending_word(word) || text.kind(before) == Kind::LineEnd
}
