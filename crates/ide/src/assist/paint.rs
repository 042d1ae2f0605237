//! Syntax highlighting: the class of every word and sign of a text. It works on any text, also on one that cannot be parsed.

use super::cursor::{StatementPart, TokenWalk, scan_bounded};
use super::vocabulary;
use super::word_role::Role;
use averment_builtins::table;
use averment_syntax::ast::TestKind;
use averment_syntax::statements;
use averment_syntax::token::{Token, TokenKind};
use averment_syntax::words as language;
use std::ops::Range;

/// The syntax class of a part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "most are the word itself")]
pub enum HighlightClass {
    /// A statement, declaration, modifier or setting.
    Keyword,
    /// `and`, `contains`, `->`, `<=`.
    Operator,
    /// A kind of step: `command`, `user`.
    StepKind,
    /// A tool or a named step.
    Tool,
    /// A function or predicate.
    Function,
    /// A field, an argument, a key.
    Field,
    /// A root that every run has.
    Root,
    /// A declared name or a variable.
    Name,
    /// `$x`.
    Binding,
    /// The name of a rule, case or invariant.
    Rule,
    /// A type or a schema.
    Type,
    /// A module.
    Module,
    /// `true`, a verdict, a severity.
    Constant,
    Text,
    Number,
    Regex,
    Comment,
    /// A doc comment.
    Doc,
}

/// A highlighted part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HighlightToken {
    /// Its byte range, which may span several lines.
    pub range: Range<usize>,
    /// The syntax class.
    pub class: HighlightClass,
    /// True if the name is declared here.
    pub declares: bool,
}

/// Returns the parts of a text that have a class, in order.
#[must_use]
pub fn highlight_tokens(text: &str) -> Vec<HighlightToken> {
    let scan = scan_bounded(text);
    let mut out = Vec::with_capacity(scan.tokens.len());
    let mut walk = TokenWalk::new(text, &scan.tokens);
    walk.run_with(&mut |walk, index| paint_token(walk, index, &mut out));
    for remark in &scan.remarks {
        let body = text.get(remark.start..remark.end).unwrap_or("");
        let doc = body.starts_with("##") && !body.starts_with("###");
        let class = if doc { HighlightClass::Doc } else { HighlightClass::Comment };
        out.push(HighlightToken { range: remark.start..remark.end, class, declares: false });
    }
    out.sort_by_key(|one| one.range.start);
    out
}

fn paint_token(walk: &TokenWalk<'_, '_>, index: usize, out: &mut Vec<HighlightToken>) {
    let Some(token) = walk.token_at(index) else { return };
    if matches!(token.kind, TokenKind::Text | TokenKind::OpenInterpolation)
        && paint_interpolated(walk.text(), &token, out)
    {
        return;
    }
    let class = match token.kind {
        TokenKind::Text | TokenKind::OpenText | TokenKind::OpenInterpolation => HighlightClass::Text,
        TokenKind::Regex | TokenKind::OpenRegex => HighlightClass::Regex,
        TokenKind::Number => HighlightClass::Number,
        TokenKind::Binding => HighlightClass::Binding,
        TokenKind::Sign if is_operator(walk.word_at(index)) => HighlightClass::Operator,
        TokenKind::Word => word_class(walk, index),
        _ => return,
    };
    let declares = token.kind == TokenKind::Word && is_declared(walk, index);
    out.push(HighlightToken { range: token.start..token.end, class, declares });
}

fn paint_interpolated(text: &str, token: &Token, out: &mut Vec<HighlightToken>) -> bool {
    let written = text.get(token.start..token.end).unwrap_or("");
    if written.starts_with('\'') || !written.contains("${") {
        return false;
    }
    let mut at = 0;
    while let Some(open) = written.get(at..).and_then(|rest| rest.find("${")).map(|open| open + at + 2) {
        let close = written.get(open..).and_then(|rest| rest.find('}')).map_or(written.len(), |close| close + open);
        text_part(token.start + at..token.start + open - 2, out);
        // The inside is an expression.
        let inner = paint_expression(written.get(open..close).unwrap_or(""));
        let base = token.start + open;
        out.extend(
            inner.into_iter().map(|one| HighlightToken { range: one.range.start + base..one.range.end + base, ..one }),
        );
        at = (close + 1).min(written.len());
    }
    text_part(token.start + at..token.end, out);
    true
}

fn text_part(range: Range<usize>, out: &mut Vec<HighlightToken>) {
    if !range.is_empty() {
        out.push(HighlightToken { range, class: HighlightClass::Text, declares: false });
    }
}

fn paint_expression(text: &str) -> Vec<HighlightToken> {
    // A string nested in an interpolation of a nested string stays text.
    if text.contains("${") { Vec::new() } else { highlight_tokens(text) }
}

fn is_operator(sign: &str) -> bool {
    matches!(
        sign,
        "->" | "=="
            | "!="
            | "==="
            | "!=="
            | "<"
            | "<="
            | ">"
            | ">="
            | "+"
            | "-"
            | "*"
            | "/"
            | "%"
            | "|"
            | ".."
            | "="
            | "?"
    )
}

fn word_class(walk: &TokenWalk<'_, '_>, index: usize) -> HighlightClass {
    let (word, mode) = (walk.word_at(index), walk.current_part());
    let field = walk.previous_word(index) == "." && walk.touches_previous(index);
    match &mode {
        StatementPart::Use => return HighlightClass::Module,
        StatementPart::Step | StatementPart::Call if field => return HighlightClass::Tool,
        _ if field => return HighlightClass::Field,
        _ => {}
    }
    let called = walk.word_at(index + 1) == "(" && walk.touches_previous(index + 1);
    match mode {
        StatementPart::Start(_) => start_class(word, called),
        StatementPart::Step => step_class(walk, index),
        StatementPart::Call => HighlightClass::Tool,
        StatementPart::Type => HighlightClass::Type,
        StatementPart::Severity => HighlightClass::Constant,
        StatementPart::Test => test_class(walk, index),
        StatementPart::Object(_) => object_class(walk, index, called),
        StatementPart::Arguments(_) if !walk.is_behind_operand(index) => HighlightClass::Field,
        StatementPart::Within => HighlightClass::Keyword,
        StatementPart::Free => free_class(walk, index),
        _ => expression_class(walk, index, called),
    }
}

fn start_class(word: &str, called: bool) -> HighlightClass {
    let statement = vocabulary::find_word(word, &[Role::Statement]).is_some();
    if called && !statement {
        return HighlightClass::Function;
    }
    let known = language::STATEMENTS.contains(&word)
        || language::DECLARATIONS.contains(&word)
        || language::MODIFIERS.contains(&word)
        || language::SETTINGS.contains(&word) && !language::ROOTS.contains(&word);
    match word {
        "cost" | "duration" | "output" | "usage" | "turns" | "error" | "prompt" => HighlightClass::Root,
        _ if known => HighlightClass::Keyword,
        _ if language::ROOTS.contains(&word) => HighlightClass::Root,
        _ if language::LITERALS.contains(&word) => HighlightClass::Constant,
        _ => HighlightClass::Name,
    }
}

fn step_class(walk: &TokenWalk<'_, '_>, index: usize) -> HighlightClass {
    const WORDS: &[&str] = &[
        "both", "proposed", "ok", "failed", "by", "tagged", "fails", "also", "iff", "and", "or", "where", "for",
        "else", "not",
    ];
    let word = walk.word_at(index);
    let behind = walk.is_behind_operand(index);
    if WORDS.contains(&word) || statements::is_inner_word(word) || behind && language::MODIFIERS.contains(&word) {
        return HighlightClass::Keyword;
    }
    if !behind && language::KINDS.contains(&word) {
        return HighlightClass::StepKind;
    }
    HighlightClass::Tool
}

fn test_class(walk: &TokenWalk<'_, '_>, index: usize) -> HighlightClass {
    match (walk.previous_word(index), walk.word_at(index)) {
        (_, "expect" | "from") => HighlightClass::Keyword,
        ("expect", _) => HighlightClass::Constant,
        _ => HighlightClass::Rule,
    }
}

fn object_class(walk: &TokenWalk<'_, '_>, index: usize, called: bool) -> HighlightClass {
    match walk.word_at(index) {
        _ if walk.word_at(index + 1) == ":" => HighlightClass::Field,
        word if language::LITERALS.contains(&word) => HighlightClass::Constant,
        _ if called => HighlightClass::Function,
        _ => HighlightClass::Name,
    }
}

fn free_class(walk: &TokenWalk<'_, '_>, index: usize) -> HighlightClass {
    let word = walk.word_at(index);
    match walk.previous_word(index) {
        "rule" | "case" | "invariant" | "id" => HighlightClass::Rule,
        "let" | "param" | "as" | "tags" | "runner" => HighlightClass::Name,
        "def" if word == "step" => HighlightClass::Keyword,
        "def" => HighlightClass::Function,
        "step" | "tool" => HighlightClass::Tool,
        "schema" => HighlightClass::Type,
        "(" | "," => HighlightClass::Name,
        _ if language::MODIFIERS.contains(&word)
            || matches!(word, "from" | "valid" | "strict" | "for" | "of" | "set" | "is") =>
        {
            HighlightClass::Keyword
        }
        _ if language::LITERALS.contains(&word) => HighlightClass::Constant,
        _ if language::OPERATORS.contains(&word)
            || matches!(word, "tool" | "each" | "available" | "least" | "timeout") =>
        {
            HighlightClass::Keyword
        }
        _ => HighlightClass::Name,
    }
}

fn expression_class(walk: &TokenWalk<'_, '_>, index: usize, called: bool) -> HighlightClass {
    let word = walk.word_at(index);
    let behind = walk.is_behind_operand(index);
    if called && (table::find_builtin(word).is_some() || !language::is_reserved(word)) {
        return HighlightClass::Function;
    }
    if matches!(walk.previous_word(index), "is" | "json") && !matches!(word, "not" | "json" | "empty" | "missing") {
        return HighlightClass::Type;
    }
    match word {
        "any" | "all" | "no" | "count" | "if" | "then" | "else" | "none" => HighlightClass::Keyword,
        _ if language::LITERALS.contains(&word) => HighlightClass::Constant,
        _ if language::OPERATORS.contains(&word) || behind && TestKind::has_word(word) => HighlightClass::Operator,
        _ if TestKind::has_word(word)
            && matches!(walk.previous_word(index), "is" | "not" | "starts" | "ends" | "does" | "contains") =>
        {
            HighlightClass::Operator
        }
        _ if behind && language::MODIFIERS.contains(&word) => HighlightClass::Keyword,
        _ if walk.step_has(word) => HighlightClass::Field,
        _ if language::ROOTS.contains(&word) => HighlightClass::Root,
        _ => HighlightClass::Name,
    }
}

fn is_declared(walk: &TokenWalk<'_, '_>, index: usize) -> bool {
    let free = matches!(walk.current_part(), StatementPart::Free);
    let named = matches!(
        walk.previous_word(index),
        "rule" | "case" | "invariant" | "let" | "param" | "def" | "schema" | "step"
    );
    free && named && walk.word_at(index) != "step" && table::find_builtin(walk.word_at(index)).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_in_order_and_do_not_overlap() {
        let text = "## doc\nrule a { before b(id: $x) -> c } # end\n\"${ \"a${b}\" } x ${cost}\" == output weight 2\n";
        let painted = highlight_tokens(text);
        for pair in painted.windows(2) {
            assert!(pair[0].range.end <= pair[1].range.start, "{pair:?}");
        }
        let class = |word: &str| {
            let at = text.find(word).unwrap();
            painted.iter().find(|one| one.range.start == at).map(|one| one.class)
        };
        assert_eq!(class("## doc"), Some(HighlightClass::Doc));
        assert_eq!(class("before"), Some(HighlightClass::Keyword));
        assert_eq!(class("$x"), Some(HighlightClass::Binding));
        assert_eq!(class("cost"), Some(HighlightClass::Root));
        assert_eq!(class("weight"), Some(HighlightClass::Keyword));
    }
}
