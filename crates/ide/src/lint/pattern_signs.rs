//! Detects texts that were written as a regular expression or a glob.

use super::regex::any_node;
use regex_syntax::ast::{
    AssertionKind, Ast, ClassSet, ClassSetItem, GroupKind, LiteralKind, RepetitionKind, parse::Parser,
};

/// The context of a text, which decides what its signs may mean other than a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextPlace {
    /// In prose, arguments, results.
    Text,
    /// In the text of a shell command, where `*` and quoted patterns are part of the command.
    Command,
    /// A position that takes a glob: `read`, `skill`.
    Glob,
}

/// The kind of pattern that a text looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternSign {
    /// Certainly a regular expression: `Ref.*`.
    SureRegex,
    /// A regular expression that may also be plain text: `yes|no`.
    LikelyRegex,
    /// A glob that may also be plain text: `*refund*`.
    LikelyGlob,
}

/// Returns the kind of pattern in a text; `None` for plain text.
pub fn sign_of(text: &str, place: TextPlace) -> Option<PatternSign> {
    if place == TextPlace::Command && quotes_pattern(text) {
        return None;
    }
    if place == TextPlace::Text && slashed_regex(text).is_some() {
        return Some(PatternSign::LikelyRegex);
    }
    if ["(?=", "(?!", "(?<"].iter().any(|sign| text.contains(sign)) {
        return Some(PatternSign::SureRegex);
    }
    if let Ok(tree) = Parser::new().parse(text) {
        let signs = RegexSigns { text, place, names_paths: names_paths(text) };
        if any_node(&tree, &|node| signs.is_sure(node)) || signs.is_sure_whole(&tree) {
            return Some(PatternSign::SureRegex);
        }
        if place == TextPlace::Text && (any_node(&tree, &is_choice) || ends_anchored(text, &tree)) {
            return Some(PatternSign::LikelyRegex);
        }
    }
    (place == TextPlace::Text && (is_glob(text) || is_sql_like(text))).then_some(PatternSign::LikelyGlob)
}

/// Returns the pattern and flags of a text such as `/refund/i`; `None` if it may be the path of a folder.
pub fn slashed_regex(text: &str) -> Option<(&str, &str)> {
    let (pattern, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
    let has_flags = !flags.is_empty() && flags.chars().all(|flag| "gimsuy".contains(flag));
    (has_flags && pattern.chars().count() > 1 && !pattern.contains('/')).then_some((pattern, flags))
}

/// True for a command with its own pattern: `grep "a.*b"`.
fn quotes_pattern(text: &str) -> bool {
    let is_search = |word: &str| matches!(word, "grep" | "egrep" | "rg" | "sed" | "awk" | "perl" | "find" | "ag");
    text.contains(['"', '\'']) || text.split([' ', '|', ';']).any(is_search)
}

/// True if backslashes only separate the names of a path: `bin\debug`, `C:\data`.
fn names_paths(text: &str) -> bool {
    let mut parts = text.split('\\');
    let first = parts.next().unwrap_or("");
    let is_word = |part: &str| part.chars().take(2).filter(char::is_ascii_alphanumeric).count() == 2;
    first.ends_with(':') || text.starts_with("\\\\") || parts.all(is_word)
}

struct RegexSigns<'t> {
    text: &'t str,
    place: TextPlace,
    names_paths: bool,
}

impl RegexSigns<'_> {
    fn is_sure(&self, node: &Ast) -> bool {
        match node {
            Ast::Flags(_) => true,
            Ast::Group(group) => match &group.kind {
                GroupKind::CaptureIndex(_) => false,
                GroupKind::CaptureName { .. } | GroupKind::NonCapturing(_) => true,
            },
            Ast::ClassPerl(_) => !self.names_paths,
            Ast::Assertion(assertion) => {
                matches!(assertion.kind, AssertionKind::WordBoundary | AssertionKind::NotWordBoundary)
                    && !self.names_paths
            }
            Ast::Literal(literal) => literal.c == '.' && literal.kind == LiteralKind::Meta && self.is_escaped_dot(),
            Ast::ClassBracketed(class) => self.place != TextPlace::Glob && has_letter_range(&class.kind),
            Ast::Repetition(repetition) => match &*repetition.ast {
                Ast::Dot(dot) => self.is_any_text(dot.start.offset, &repetition.op.kind),
                Ast::ClassBracketed(_) => !matches!(repetition.op.kind, RepetitionKind::ZeroOrOne),
                _ => false,
            },
            _ => false,
        }
    }

    /// True for `^Error` or `^42$`. A caret before a version (`^1.2`) or for a key (`^C`) is text.
    fn is_sure_whole(&self, tree: &Ast) -> bool {
        let Ast::Concat(concat) = tree else { return false };
        let is_line = |node: Option<&Ast>, wanted: &AssertionKind| matches!(node, Some(Ast::Assertion(assertion)) if assertion.kind == *wanted);
        let has_word = self.text.chars().skip(1).take(2).filter(|letter| letter.is_alphabetic()).count() == 2;
        is_line(concat.asts.first(), &AssertionKind::StartLine)
            && (has_word || is_line(concat.asts.last(), &AssertionKind::EndLine))
    }

    fn is_escaped_dot(&self) -> bool {
        self.place != TextPlace::Command
            && !self.names_paths
            && !self.text.starts_with(|sign: char| sign.is_ascii_digit())
    }

    /// True for `.*` and `.+` at an offset of the text, except in code such as `import os.*`, `select t.*`, `rm .*`, `...*`, `1.+`.
    fn is_any_text(&self, at: usize, kind: &RepetitionKind) -> bool {
        let before = self.text.get(..at).and_then(|before| before.chars().next_back());
        let after = self.text.get(at.saturating_add(2)..).unwrap_or("");
        let is_plus = matches!(kind, RepetitionKind::OneOrMore);
        let is_star = matches!(kind, RepetitionKind::ZeroOrMore);
        if !(is_plus || is_star) || before == Some('.') || (is_plus && before.is_some_and(|sign| sign.is_ascii_digit()))
        {
            return false;
        }
        let lower = self.text.to_ascii_lowercase();
        let is_code = is_star && ["import ", "select ", "from "].iter().any(|word| lower.contains(word));
        let is_in_first_word = !self.text.get(..at).unwrap_or("").contains([' ', '/']);
        match self.place {
            TextPlace::Text => !is_code,
            TextPlace::Command => is_plus || (is_in_first_word && at > 0) || after.starts_with(char::is_alphanumeric),
            TextPlace::Glob => is_plus,
        }
    }
}

/// True for a class with a letter range such as `[a-z]`, which plain text never has in brackets. Other classes are recognized by their repetition.
fn has_letter_range(set: &ClassSet) -> bool {
    let ClassSet::Item(item) = set else { return false };
    let items = match item {
        ClassSetItem::Union(union) => union.items.as_slice(),
        one => std::slice::from_ref(one),
    };
    items.iter().any(|item| {
        matches!(item, ClassSetItem::Range(range)
            if matches!((range.start.c, range.end.c), ('a' | 'A', 'f' | 'F' | 'z' | 'Z') | ('0', '9')))
    })
}

/// True for `yes|no` and `cannot|unable to`: words on both sides, and no space around the bar.
fn is_choice(node: &Ast) -> bool {
    let Ast::Alternation(alternation) = node else { return false };
    let word_edge = |edge: Option<&Ast>| match edge {
        Some(Ast::Literal(literal)) => literal.c.is_alphanumeric(),
        _ => false,
    };
    alternation.asts.iter().all(|one| match one {
        Ast::Concat(concat) => word_edge(concat.asts.first()) && word_edge(concat.asts.last()),
        _ => false,
    })
}

/// True for `failed$`; `US$` and `100$` are amounts of money.
fn ends_anchored(text: &str, tree: &Ast) -> bool {
    let Ast::Concat(concat) = tree else { return false };
    let is_end = matches!(concat.asts.last(), Some(Ast::Assertion(one)) if one.kind == AssertionKind::EndLine);
    is_end && text.trim_end_matches('$').chars().rev().take(2).filter(char::is_ascii_lowercase).count() == 2
}

/// True for `*refund*`, `refund_*`, `*.pdf`, `src/**`: a star next to a word. `**bold**`, `* item`, `2*3` and `SELECT *` are text.
fn is_glob(text: &str) -> bool {
    if text.contains("**/") || text.contains("/**") {
        return !text.contains(' ') && !text.contains("/**/");
    }
    if text.contains("**") || !text.contains('*') || text.contains(['(', ')', ';', '=']) {
        return false;
    }
    let letters: Vec<char> = text.chars().collect();
    let is_word = |sign: Option<&char>| sign.is_some_and(|sign| sign.is_alphabetic() || matches!(sign, '_' | '-'));
    let at_start = letters.first() == Some(&'*') && (letters.get(1) == Some(&'.') || is_word(letters.get(1)));
    let at_end = letters.last() == Some(&'*') && is_word(letters.len().checked_sub(2).and_then(|at| letters.get(at)));
    let has_space = text.contains(char::is_whitespace);
    let stars = text.matches('*').count();
    (at_start && at_end && stars == 2)
        || (stars == 1 && at_end && !is_pointer(text))
        || (stars == 1 && at_start && !has_space && text != "*args")
        || (stars == 1 && !at_start && !at_end && !has_space && is_inside(text))
}

/// True for a C pointer type such as `char*`.
fn is_pointer(text: &str) -> bool {
    let word = text.trim_end_matches('*').rsplit(' ').next().unwrap_or("");
    matches!(word, "char" | "int" | "void" | "float" | "double" | "long" | "short" | "struct" | "const")
}

/// True for `ref*fund`: more letters on both sides than in a product.
fn is_inside(text: &str) -> bool {
    let is_long = |part: &str| part.chars().filter(|sign| sign.is_alphabetic()).count() > 2;
    text.split_once('*').is_some_and(|(before, after)| is_long(before) && is_long(after))
}

/// True for SQL's `%refund%`; `%PATH%` is a variable.
fn is_sql_like(text: &str) -> bool {
    let inner = text.strip_prefix('%').and_then(|rest| rest.strip_suffix('%')).unwrap_or("");
    inner.chars().count() > 2 && !inner.contains('%') && inner.chars().any(char::is_lowercase)
}
