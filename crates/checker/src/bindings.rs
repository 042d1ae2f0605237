//! Bindings `$x`: numbered per statement, those of block headers first; every use has to be bound somewhere.

use super::Checker;
use super::closed_words::BindingWords;
use super::expr::CheckedExpr;
use super::scope::NameScope;
use super::ty::Ty;
use super::word_set::WordSet;
use crate::ir::{BindingId, ExprKind};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;

/// Definitions that one statement may put in their places.
pub const EXPANSIONS: u32 = 10_000;

/// Alternatives that the definitions of one statement may put in their places: each takes about half a kilobyte.
pub const ALTERNATIVES: usize = 200_000;

/// The bindings of one statement.
#[derive(Debug, Clone, Default)]
pub struct StatementBindings {
    entries: Vec<BindingEntry>,
    uses: Vec<BindingUse>,
    words: Vec<BindingWords>,
    /// Number of expanded `def step`s; makes their own bindings distinct.
    expanded: u32,
    /// Number of alternatives that these came to.
    alternatives: usize,
}

#[derive(Debug, Clone)]
struct BindingEntry {
    key: String,
    name: String,
    bound: bool,
    /// The closed set of each path that binds it.
    sets: Vec<Option<WordSet>>,
}

#[derive(Debug, Clone)]
struct BindingUse {
    number: u32,
    span: Span,
    test: Option<(String, String)>,
}

impl StatementBindings {
    fn binding_number(&mut self, key: &str, name: &str) -> u32 {
        let known = self.entries.iter().position(|entry| entry.key == key);
        let index = known.unwrap_or_else(|| {
            self.entries.push(BindingEntry {
                key: key.to_owned(),
                name: name.to_owned(),
                bound: false,
                sets: Vec::new(),
            });
            self.entries.len().saturating_sub(1)
        });
        super::to_number(index)
    }

    fn bind_key(&mut self, key: &str, name: &str) -> u32 {
        let number = self.binding_number(key, name);
        if let Some(entry) = self.entries.get_mut(number as usize) {
            entry.bound = true;
        }
        number
    }

    /// A binding that comes from outside.
    pub fn bind_outer(&mut self, name: &str) -> u32 {
        self.bind_key(name, name)
    }

    /// A binding that no author can name, for the response of a named call.
    pub fn bind_call(&mut self, name: &str) -> u32 {
        self.bind_key(&format!("call {name}"), name)
    }

    /// The number under which a variable of an expression is handed to a selection.
    pub fn capture_local(&mut self, name: &str, local: u32) -> u32 {
        self.bind_key(&format!("local {local} {name}"), name)
    }

    /// Which bindings some pattern binds, by number.
    pub fn bound_flags(&self) -> Vec<bool> {
        self.entries.iter().map(|entry| entry.bound).collect()
    }

    /// Only these are bound.
    pub fn restore_bound(&mut self, bound: &[bool]) {
        let known = bound.iter().copied().chain(std::iter::repeat(false));
        self.entries.iter_mut().zip(known).for_each(|(entry, bound)| entry.bound = bound);
    }

    /// Notes that a binding is used at a place.
    pub fn note_use(&mut self, number: u32, span: Span) {
        self.uses.push(BindingUse { number, span, test: None });
    }

    /// Notes the closed set of a path that binds.
    pub fn note_word_set(&mut self, number: u32, set: Option<WordSet>) {
        if let Some(entry) = self.entries.get_mut(number as usize) {
            entry.sets.push(set);
        }
    }

    /// The closed set that every path which binds it is of.
    pub fn word_set(&self, number: u32) -> Option<WordSet> {
        let sets = &self.entries.get(number as usize)?.sets;
        let first = (*sets.first()?)?;
        sets.iter().all(|set| *set == Some(first)).then_some(first)
    }

    /// Notes a test of a binding with literals.
    pub fn note_words(&mut self, words: BindingWords) {
        self.words.push(words);
    }

    /// The noted tests, which are noted no longer.
    pub fn take_words(&mut self) -> Vec<BindingWords> {
        std::mem::take(&mut self.words)
    }

    /// The name of a binding for people.
    pub fn name(&self, number: u32) -> &str {
        self.entries.get(number as usize).map_or("", |entry| &entry.name)
    }

    /// The names for people, by number.
    pub fn display_names(&self) -> Vec<String> {
        self.entries.iter().map(|entry| entry.name.clone()).collect()
    }

    /// Counts one more definition that is put in its place. Gives what tells its bindings apart, or `None` when there are too many:
    /// definitions that use each other twice double with every step.
    pub fn begin_expansion(&mut self) -> Option<String> {
        self.expanded = self.expanded.saturating_add(1);
        (self.expanded <= EXPANSIONS).then(|| format!("#{}", self.expanded))
    }

    /// Counts what a definition came to. False once there is too much of it, which a definition that is kept may bring with no expansion.
    pub fn count_alternatives(&mut self, count: usize) -> bool {
        self.alternatives = self.alternatives.saturating_add(count);
        let fits = self.alternatives <= ALTERNATIVES;
        if !fits {
            self.expanded = self.expanded.max(EXPANSIONS).saturating_add(1);
        }
        fits
    }

    /// True the first time that there are too many.
    pub fn has_just_overflowed(&self) -> bool {
        self.expanded == EXPANSIONS.saturating_add(1)
    }
}

/// The key that a binding's name stands for in the statement.
pub fn binding_key(scope: &NameScope<'_>, name: &str) -> String {
    match &scope.renamed {
        None => name.to_owned(),
        Some(renamed) => renamed.given.get(name).cloned().unwrap_or_else(|| format!("{name}{}", renamed.suffix)),
    }
}

impl Checker<'_> {
    pub(super) fn binding_value(&mut self, scope: &NameScope<'_>, name: &str, span: Span) -> CheckedExpr {
        let number = self.bindings.binding_number(&binding_key(scope, name), name);
        self.bindings.uses.push(BindingUse { number, span, test: None });
        CheckedExpr::new(ExprKind::Binding(BindingId(number)), span, Ty::Any)
    }

    pub(super) fn bind_name(&mut self, scope: &NameScope<'_>, name: &str) -> u32 {
        self.bindings.bind_key(&binding_key(scope, name), name)
    }

    pub(super) fn note_test_of_binding(&mut self, place: Span, operator: &str, path: &str) {
        if let Some(last) = self.bindings.uses.iter_mut().rev().find(|one| one.span == place) {
            last.test = Some((operator.to_owned(), path.to_owned()));
        }
    }

    /// Does something that is asked before or after a statement: of bindings it sees those of blocks around the statement, by the flags
    /// `outer`.
    pub(super) fn with_outer_bindings<T>(&mut self, outer: &[bool], work: impl FnOnce(&mut Self) -> T) -> T {
        let bound = self.bindings.bound_flags();
        self.bindings.restore_bound(outer);
        let value = work(self);
        self.report_uses(&bound);
        self.bindings.restore_bound(&bound);
        value
    }

    pub(super) fn report_unbound(&mut self) {
        self.report_uses(&[]);
    }

    /// `of_statement` are flags of the bindings that the statement binds, where what is reported stands beside it.
    fn report_uses(&mut self, of_statement: &[bool]) {
        self.report_words_of_bindings();
        let mut said: Vec<u32> = Vec::new();
        for one in std::mem::take(&mut self.bindings.uses) {
            let Some(entry) = self.bindings.entries.get(one.number as usize) else { continue };
            if entry.bound || said.contains(&one.number) {
                continue;
            }
            said.push(one.number);
            let name = entry.name.clone();
            let inside = of_statement.get(one.number as usize).is_some_and(|bound| *bound);
            let diagnostic = match one.test {
                _ if inside => Diagnostic::new(
                    Slug::Binding,
                    one.span,
                    format!("`${name}` has a value only inside of its statement"),
                )
                .with_help(
                    "test it in the pattern that binds it, or bind it in the header of a block around the statement",
                ),
                Some((operator, path)) => {
                    Diagnostic::new(Slug::Binding, one.span, format!("`{operator}` does not bind `${name}`"))
                        .with_help(format!("bind it with `{path}: ${name}` in one of the patterns"))
                }
                None => Diagnostic::new(Slug::Binding, one.span, format!("nothing binds `${name}` here"))
                    .with_help(format!("bind it with `path: ${name}` in one of the patterns of the statement")),
            };
            self.report_diagnostic(diagnostic);
        }
    }
}

impl Checker<'_> {
    /// A binding passed to a `def step` gets its number here.
    pub(super) fn note_binding(&mut self, scope: &NameScope<'_>, name: &str) {
        let key = binding_key(scope, name);
        self.bindings.binding_number(&key, name);
    }
}
