//! What every word and sign of a text is, for colours. It works on any text, also on one that cannot be read.

use super::cursor::{Mode, Walk, tokens};
use super::vocabulary::{self, Role};
use averment_builtins::table;
use averment_syntax::ast::TestKind;
use averment_syntax::statements;
use averment_syntax::token::{Kind, Token};
use averment_syntax::words as language;
use std::ops::Range;

/// What a part of a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "most are the word itself")]
pub enum Class {
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
    /// A name that every run has.
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
    /// A comment that documents what follows.
    Doc,
}

/// A painted part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Painted {
    /// Its bytes; they may go over several lines.
    pub range: Range<usize>,
    /// What it is.
    pub class: Class,
    /// True where the name is declared.
    pub declares: bool,
}

/// The parts of a text that have a class, in order.
#[must_use]
pub fn paint(text: &str) -> Vec<Painted> {
    let scan = tokens(text);
    let mut out = Vec::with_capacity(scan.tokens.len());
    let mut walk = Walk::new(text, &scan.tokens);
    walk.run_with(&mut |walk, index| paint_token(walk, index, &mut out));
    for remark in &scan.remarks {
        let body = text.get(remark.start..remark.end).unwrap_or("");
        let doc = body.starts_with("##") && !body.starts_with("###");
        let class = if doc { Class::Doc } else { Class::Comment };
        out.push(Painted { range: remark.start..remark.end, class, declares: false });
    }
    out.sort_by_key(|one| one.range.start);
    out
}

fn paint_token(walk: &Walk<'_, '_>, index: usize, out: &mut Vec<Painted>) {
    let Some(token) = walk.token(index) else { return };
    if matches!(token.kind, Kind::Text | Kind::OpenInterpolation) && paint_interpolated(walk.text(), &token, out) {
        return;
    }
    let class = match token.kind {
        Kind::Text | Kind::OpenText | Kind::OpenInterpolation => Class::Text,
        Kind::Regex | Kind::OpenRegex => Class::Regex,
        Kind::Number => Class::Number,
        Kind::Binding => Class::Binding,
        Kind::Sign if is_operator(walk.word(index)) => Class::Operator,
        Kind::Word => word_class(walk, index),
        _ => return,
    };
    let declares = token.kind == Kind::Word && is_declared(walk, index);
    out.push(Painted { range: token.start..token.end, class, declares });
}

/// A string with `${…}`: its text and what stands in the braces.
fn paint_interpolated(text: &str, token: &Token, out: &mut Vec<Painted>) -> bool {
    let written = text.get(token.start..token.end).unwrap_or("");
    if written.starts_with('\'') || !written.contains("${") {
        return false;
    }
    let mut at = 0;
    while let Some(open) = written.get(at..).and_then(|rest| rest.find("${")).map(|open| open + at + 2) {
        let close = written.get(open..).and_then(|rest| rest.find('}')).map_or(written.len(), |close| close + open);
        text_part(token.start + at..token.start + open - 2, out);
        // Inside it is an expression.
        let inner = paint_expression(written.get(open..close).unwrap_or(""));
        let base = token.start + open;
        out.extend(inner.into_iter().map(|one| Painted { range: one.range.start + base..one.range.end + base, ..one }));
        at = (close + 1).min(written.len());
    }
    text_part(token.start + at..token.end, out);
    true
}

fn text_part(range: Range<usize>, out: &mut Vec<Painted>) {
    if !range.is_empty() {
        out.push(Painted { range, class: Class::Text, declares: false });
    }
}

fn paint_expression(text: &str) -> Vec<Painted> {
    // A string in a string in a string: the innermost stay text.
    if text.contains("${") { Vec::new() } else { paint(text) }
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

fn word_class(walk: &Walk<'_, '_>, index: usize) -> Class {
    let (word, mode) = (walk.word(index), walk.mode());
    let field = walk.previous(index) == "." && walk.touches(index);
    match &mode {
        Mode::Use => return Class::Module,
        Mode::Step | Mode::Call if field => return Class::Tool,
        _ if field => return Class::Field,
        _ => {}
    }
    let called = walk.word(index + 1) == "(" && walk.touches(index + 1);
    match mode {
        Mode::Start(_) => start_class(word, called),
        Mode::Step => step_class(walk, index),
        Mode::Call => Class::Tool,
        Mode::Type => Class::Type,
        Mode::Severity => Class::Constant,
        Mode::Test => test_class(walk, index),
        Mode::Object(_) => object_class(walk, index, called),
        Mode::Arguments(_) if !walk.is_behind_operand(index) => Class::Field,
        Mode::Within => Class::Keyword,
        Mode::Free => free_class(walk, index),
        _ => expression_class(walk, index, called),
    }
}

fn start_class(word: &str, called: bool) -> Class {
    let statement = vocabulary::word(word, &[Role::Statement]).is_some();
    if called && !statement {
        return Class::Function;
    }
    let known = language::STATEMENTS.contains(&word)
        || language::DECLARATIONS.contains(&word)
        || language::MODIFIERS.contains(&word)
        || language::SETTINGS.contains(&word) && !language::ROOTS.contains(&word);
    match word {
        "cost" | "duration" | "output" | "usage" | "turns" | "error" | "prompt" => Class::Root,
        _ if known => Class::Keyword,
        _ if language::ROOTS.contains(&word) => Class::Root,
        _ if language::LITERALS.contains(&word) => Class::Constant,
        _ => Class::Name,
    }
}

fn step_class(walk: &Walk<'_, '_>, index: usize) -> Class {
    const WORDS: &[&str] = &[
        "both", "proposed", "ok", "failed", "by", "tagged", "fails", "also", "iff", "and", "or", "where", "for",
        "else", "not",
    ];
    let word = walk.word(index);
    let behind = walk.is_behind_operand(index);
    if WORDS.contains(&word) || statements::is_inner(word) || behind && language::MODIFIERS.contains(&word) {
        return Class::Keyword;
    }
    if !behind && language::KINDS.contains(&word) {
        return Class::StepKind;
    }
    Class::Tool
}

fn test_class(walk: &Walk<'_, '_>, index: usize) -> Class {
    match (walk.previous(index), walk.word(index)) {
        (_, "expect" | "from") => Class::Keyword,
        ("expect", _) => Class::Constant,
        _ => Class::Rule,
    }
}

fn object_class(walk: &Walk<'_, '_>, index: usize, called: bool) -> Class {
    match walk.word(index) {
        _ if walk.word(index + 1) == ":" => Class::Field,
        word if language::LITERALS.contains(&word) => Class::Constant,
        _ if called => Class::Function,
        _ => Class::Name,
    }
}

fn free_class(walk: &Walk<'_, '_>, index: usize) -> Class {
    let word = walk.word(index);
    match walk.previous(index) {
        "rule" | "case" | "invariant" | "id" => Class::Rule,
        "let" | "param" | "as" | "tags" | "runner" => Class::Name,
        "def" if word == "step" => Class::Keyword,
        "def" => Class::Function,
        "step" | "tool" => Class::Tool,
        "schema" => Class::Type,
        "(" | "," => Class::Name,
        _ if language::MODIFIERS.contains(&word)
            || matches!(word, "from" | "valid" | "strict" | "for" | "of" | "set" | "is") =>
        {
            Class::Keyword
        }
        _ if language::LITERALS.contains(&word) => Class::Constant,
        _ if language::OPERATORS.contains(&word)
            || matches!(word, "tool" | "each" | "available" | "least" | "timeout") =>
        {
            Class::Keyword
        }
        _ => Class::Name,
    }
}

fn expression_class(walk: &Walk<'_, '_>, index: usize, called: bool) -> Class {
    let word = walk.word(index);
    let behind = walk.is_behind_operand(index);
    if called && (table::lookup(word).is_some() || !language::is_reserved(word)) {
        return Class::Function;
    }
    if matches!(walk.previous(index), "is" | "json") && !matches!(word, "not" | "json" | "empty" | "missing") {
        return Class::Type;
    }
    match word {
        "any" | "all" | "no" | "count" | "if" | "then" | "else" | "none" => Class::Keyword,
        _ if language::LITERALS.contains(&word) => Class::Constant,
        _ if language::OPERATORS.contains(&word) || behind && TestKind::has_word(word) => Class::Operator,
        _ if TestKind::has_word(word)
            && matches!(walk.previous(index), "is" | "not" | "starts" | "ends" | "does" | "contains") =>
        {
            Class::Operator
        }
        _ if behind && language::MODIFIERS.contains(&word) => Class::Keyword,
        _ if walk.step_has(word) => Class::Field,
        _ if language::ROOTS.contains(&word) => Class::Root,
        _ => Class::Name,
    }
}

/// True for the name in front of which its declaration's word stands.
fn is_declared(walk: &Walk<'_, '_>, index: usize) -> bool {
    let free = matches!(walk.mode(), Mode::Free);
    let named =
        matches!(walk.previous(index), "rule" | "case" | "invariant" | "let" | "param" | "def" | "schema" | "step");
    free && named && walk.word(index) != "step" && table::lookup(walk.word(index)).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_in_order_and_do_not_overlap() {
        let text = "## doc\nrule a { before b(id: $x) -> c } # end\n\"${ \"a${b}\" } x ${cost}\" == output weight 2\n";
        let painted = paint(text);
        for pair in painted.windows(2) {
            assert!(pair[0].range.end <= pair[1].range.start, "{pair:?}");
        }
        let class = |word: &str| {
            let at = text.find(word).unwrap();
            painted.iter().find(|one| one.range.start == at).map(|one| one.class)
        };
        assert_eq!(class("## doc"), Some(Class::Doc));
        assert_eq!(class("before"), Some(Class::Keyword));
        assert_eq!(class("$x"), Some(Class::Binding));
        assert_eq!(class("cost"), Some(Class::Root));
        assert_eq!(class("weight"), Some(Class::Keyword));
    }
}
