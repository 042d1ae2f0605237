//! Fields and functions that give one of a closed set of words: a literal that is not among them is never equal to them.

use super::Checker;
use super::expr::CheckedExpr;
use super::ty::Ty;
use super::word_set::WordSet;
use crate::ir::{BindingId, Constant, ExprKind, TypedExpr};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_runs::path::normal_path;
use averment_syntax::ast::{TestKind, ValueTest};

/// A test of a binding with literals, decided when all patterns of the statement are known.
#[derive(Debug, Clone)]
pub struct BindingWords {
    number: u32,
    kind: TestKind,
    literals: Vec<(String, Span)>,
}

impl Checker<'_> {
    /// Reports literals that a value of a closed set is never equal to, on either side of a test.
    pub(super) fn check_words(&mut self, test: &ValueTest, left: &CheckedExpr, text: &str, right: &CheckedExpr) {
        for (value, other) in [(left, right), (right, left)] {
            if let ExprKind::Binding(BindingId(number)) = value.expr.kind
                && value.ty == Ty::Any
            {
                let literals = self.literals_within(&other.expr);
                if !literals.is_empty() {
                    self.bindings.note_words(BindingWords { number, kind: test.kind, literals });
                }
            }
            let Some(set) = value.ty.word_set().or_else(|| value.ty.element_type().word_set()) else { continue };
            self.check_word_regex(set, text, &other.expr);
            let literals = self.literals_within(&other.expr);
            let shown = if std::ptr::eq(value, left) { text.to_owned() } else { self.source_line(value.expr.span) };
            let is_subject = std::ptr::eq(value, left);
            let has_elements = matches!(left.ty, Ty::List(_));
            self.report_words(test.kind, set, &shown, &literals, WordPlace { is_subject, has_elements });
        }
    }

    /// Reports a regular expression that finds nothing in any word of the set.
    pub(super) fn check_word_regex(&mut self, set: WordSet, text: &str, other: &TypedExpr) {
        let ExprKind::Regex(number) = other.kind else { return };
        let Some(regex) = self.module.regexes.get(number as usize).filter(|_| !set.is_open()) else { return };
        // One that looks around is not tried.
        let Ok(built) = regex::Regex::new(&regex.pattern) else { return };
        if set.words().iter().any(|word| built.is_match(word)) {
            return;
        }
        let message = format!("`{text}` never matches {}", regex.text);
        let help = match set.meant_word(regex.pattern.trim_matches(|sign: char| !sign.is_alphanumeric())) {
            Some(meant) => format!("compare it with `\"{meant}\"`; it is one of {}", set.listed_words()),
            None => format!("it is one of {}", set.listed_words()),
        };
        self.report_diagnostic(Diagnostic::new(Slug::UnknownWord, other.span, message).with_help(help));
    }

    /// Reports the tests of bindings whose every pattern binds a word of one closed set.
    pub(super) fn report_words_of_bindings(&mut self) {
        for one in self.bindings.take_words() {
            if let Some(set) = self.bindings.word_set(one.number) {
                let name = format!("${}", self.bindings.name(one.number));
                let place = WordPlace { is_subject: true, has_elements: false };
                self.report_words(one.kind, set, &name, &one.literals, place);
            }
        }
    }

    pub(super) fn report_words(
        &mut self,
        kind: TestKind,
        set: WordSet,
        text: &str,
        literals: &[(String, Span)],
        place: WordPlace,
    ) {
        for (word, at) in literals {
            if !set.excludes_word(word) || part_fits(kind, set, word, place) {
                continue;
            }
            let message = format!("`{text}` is never \"{word}\"");
            let meant = match set {
                WordSet::Path => normal_path(word),
                _ => set.meant_word(word).map(str::to_owned),
            };
            let all = set.listed_words();
            let help = match &meant {
                Some(meant) if set.is_open() => format!("write `\"{meant}\"`"),
                Some(meant) => format!("write `\"{meant}\"`; it is one of {all}"),
                None => format!("it is one of {all}"),
            };
            let mut diagnostic = Diagnostic::new(Slug::UnknownWord, *at, message).with_help(help);
            if let Some(meant) = meant
                && self.map.span_text(*at).trim_matches(['"', '\'']) == word
            {
                let quoted = format!("\"{meant}\"");
                diagnostic = diagnostic.with_fix(format!("write `{quoted}`"), *at, quoted);
            }
            self.report_diagnostic(diagnostic);
        }
    }

    /// The texts that are written in an expression, with the place of each.
    pub(super) fn literals_within(&self, expr: &TypedExpr) -> Vec<(String, Span)> {
        let mut found = Vec::new();
        match &expr.kind {
            ExprKind::List(items) => {
                items.iter().for_each(|item| found.extend(self.literals_within(item)));
                return found;
            }
            ExprKind::If(_, then, otherwise) => {
                found.extend(self.literals_within(then));
                found.extend(self.literals_within(otherwise));
                return found;
            }
            _ => {}
        }
        let written = self.map.span_text(expr.span);
        let place = |word: &str| {
            let quoted = [format!("\"{word}\""), format!("'{word}'")];
            let at = quoted.iter().find_map(|quoted| Some((written.find(quoted.as_str())?, quoted.len())));
            at.map_or(expr.span, |(at, length)| {
                let start = (expr.span.start as usize).saturating_add(at);
                Span::new(expr.span.file, start, start.saturating_add(length))
            })
        };
        let constant = match expr.kind {
            // What a command line may give in its place is not known.
            ExprKind::Param(number) => self.module.params.get(number as usize).and_then(|one| one.default.clone()),
            _ => self.constant_value(expr),
        };
        match constant {
            Some(Constant::Text(word)) => {
                let at = place(&word);
                found.push((word, at));
            }
            Some(Constant::List(items)) => found.extend(items.into_iter().filter_map(|item| match item {
                Constant::Text(word) => {
                    let at = place(&word);
                    Some((word, at))
                }
                _ => None,
            })),
            _ => {}
        }
        found
    }
}

/// Where the value of a closed set stands in a test.
#[derive(Debug, Clone, Copy)]
pub struct WordPlace {
    /// In front of the word of the test.
    pub is_subject: bool,
    /// The front is a list, of which elements are asked for and no parts of texts.
    pub has_elements: bool,
}

/// True where the test asks for a part of a text, and some word of the set has the answer yes.
fn part_fits(kind: TestKind, set: WordSet, literal: &str, place: WordPlace) -> bool {
    let lower = literal.to_lowercase();
    if set == WordSet::Path {
        let has_parts = ["//", "/./", "/../", "\\"].iter().any(|part| literal.contains(part));
        let is_whole = matches!(kind, TestKind::Equal | TestKind::Identical | TestKind::In) || place.has_elements;
        let begins_here = kind == TestKind::StartsWith && literal.starts_with("./");
        return !(is_whole || has_parts || begins_here);
    }
    if place.has_elements {
        return kind == TestKind::ContainsIgnoringCase && set.words().contains(&lower.as_str());
    }
    set.words().iter().any(|word| {
        let (whole, part) = if place.is_subject { (*word, lower.as_str()) } else { (lower.as_str(), *word) };
        match kind {
            TestKind::Contains | TestKind::ContainsAll | TestKind::ContainsAny | TestKind::ContainsNone => {
                whole.contains(part) && lower == literal
            }
            TestKind::ContainsIgnoringCase | TestKind::Mentions => whole.contains(part),
            TestKind::StartsWith => whole.starts_with(part) && lower == literal,
            TestKind::EndsWith => whole.ends_with(part) && lower == literal,
            TestKind::Less | TestKind::LessOrEqual | TestKind::Greater | TestKind::GreaterOrEqual => true,
            _ => false,
        }
    })
}
