//! What can be written at a place.

mod steps;
mod values;
mod words;

use super::context::CursorContext;
use super::cursor::{Cursor, Mode};
use super::vocabulary::{self, Role, Word};
use std::ops::Range;

/// What a completion inserts, for the icon beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is the word itself")]
pub enum CompletionKind {
    Statement,
    Declaration,
    Modifier,
    Root,
    Field,
    Argument,
    Tool,
    StepKind,
    Step,
    Function,
    Variable,
    Schema,
    Rule,
    Operator,
    Type,
    Value,
    Module,
    File,
    Key,
    Slug,
}

/// One thing that can be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// What is shown and matched against what is typed.
    pub label: String,
    /// What it is.
    pub kind: CompletionKind,
    /// Its type or signature, short.
    pub detail: String,
    /// More, as Markdown; may be empty.
    pub doc: String,
    /// What to insert, with `${1:…}` for what is to be filled in; see [`plain`].
    pub insert: String,
}

/// Everything that can be written at a place, the likeliest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Completions {
    /// The bytes that a completion replaces.
    pub range: Range<usize>,
    /// The candidates. They are not chosen by what is typed already.
    pub items: Vec<Completion>,
    /// In a string that names a file: what is typed of its path. The names come from whoever reads files.
    pub path: Option<String>,
}

impl Completions {
    /// Those whose label begins with what is typed, upper and lower case alike.
    pub fn starting_with<'c>(&'c self, typed: &str) -> impl Iterator<Item = &'c Completion> {
        let typed = typed.to_lowercase();
        self.items.iter().filter(move |item| item.label.to_lowercase().starts_with(&typed))
    }
}

/// A snippet as plain text: `before ${1:approve} -> ${2:refund}` becomes `before approve -> refund`.
#[must_use]
pub fn plain(snippet: &str) -> String {
    let mut out = String::new();
    let mut letters = snippet.chars().peekable();
    // Places that are open, so that only their braces are left out.
    let mut open = 0_usize;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => out.extend(letters.next()),
            '}' if open > 0 => open -= 1,
            '$' if letters.next_if_eq(&'{').is_some() => {
                while letters.next_if(char::is_ascii_digit).is_some() {}
                if letters.next_if_eq(&'|').is_some() {
                    first_choice(&mut letters, &mut out);
                } else {
                    letters.next_if_eq(&':');
                    open += 1;
                }
            }
            '$' if letters.peek().is_some_and(char::is_ascii_digit) => {
                while letters.next_if(char::is_ascii_digit).is_some() {}
            }
            other => out.push(other),
        }
    }
    out
}

/// The first of `a,b,c|}`.
fn first_choice(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    let mut first = true;
    while let Some(letter) = letters.next() {
        match letter {
            '|' if letters.next_if_eq(&'}').is_some() => return,
            ',' => first = false,
            _ if first => out.push(letter),
            _ => {}
        }
    }
}

/// A text that stands in a snippet as it is.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}")
}

/// What can be written at a byte offset.
#[must_use]
pub fn complete(text: &str, at: usize, context: &CursorContext) -> Completions {
    let cursor = Cursor::new(text, at);
    let mut found = CompletionBuilder { cursor: &cursor, context, items: Vec::new(), path: None };
    found.collect();
    let CompletionBuilder { items, path, .. } = found;
    let mut distinct: Vec<Completion> = Vec::with_capacity(items.len());
    let mut seen = std::collections::BTreeSet::new();
    for item in items {
        if seen.insert((item.label.clone(), item.kind)) {
            distinct.push(item);
        }
    }
    Completions { range: cursor.range.clone(), items: distinct, path }
}

struct CompletionBuilder<'c, 't> {
    cursor: &'c Cursor<'t>,
    context: &'c CursorContext,
    items: Vec<Completion>,
    path: Option<String>,
}

impl CompletionBuilder<'_, '_> {
    fn collect(&mut self) {
        if self.cursor.in_comment {
            self.comment();
        } else if self.cursor.in_text {
            self.text();
        } else if self.cursor.chain.is_some() {
            self.members();
        } else {
            self.by_mode(self.cursor.mode.clone());
        }
    }

    fn push(&mut self, kind: CompletionKind, label: &str, insert: &str, detail: &str, doc: &str) {
        self.items.push(Completion {
            label: label.to_owned(),
            kind,
            detail: detail.to_owned(),
            doc: doc.to_owned(),
            insert: insert.to_owned(),
        });
    }

    fn by_mode(&mut self, mode: Mode) {
        let behind = self.cursor.behind_operand;
        match mode {
            Mode::Start(body) => self.start(body),
            Mode::Step if behind => self.behind_step(),
            Mode::Step => self.steps(),
            Mode::Expression if behind => self.operators(),
            Mode::Expression => self.operands(),
            Mode::Arguments(_) if behind => self.tests(),
            Mode::Arguments(steps) => self.arguments(&steps),
            Mode::Value(steps, path) => self.argument_values(&steps, &path),
            Mode::Type => self.words(Role::Type, CompletionKind::Type),
            Mode::Severity if behind && self.cursor.before.last() != Some(&"severity") => self.modifiers(),
            Mode::Severity => self.words(Role::Severity, CompletionKind::Value),
            Mode::Use => self.modules(),
            Mode::Test => self.test_words(),
            Mode::Call => self.tools(false),
            Mode::Object(entry) => self.entries(entry),
            Mode::Within => self.within(),
            Mode::Free if behind => self.modifiers(),
            Mode::Free => self.header_words(),
        }
    }

    fn words(&mut self, role: Role, kind: CompletionKind) {
        for word in vocabulary::words(role) {
            self.word(word, kind);
        }
    }

    fn word(&mut self, word: &Word, kind: CompletionKind) {
        let doc = super::hover::of_word(word);
        let detail = word.doc.split_once(": ").map_or("", |(ty, _)| ty);
        let detail = if matches!(word.role, Role::Root | Role::Field) { detail } else { word.role.noun() };
        self.push(kind, word.word, word.snippet, detail, &doc);
    }
}
