//! Completion at a position.

mod steps;
mod values;
mod words;

use super::context::CursorContext;
use super::cursor::{ComparedWhole, CursorState, StatementPart};
use super::vocabulary::{self, Word};
use super::word_role::Role;
use std::ops::Range;

/// The kind of inserted text, for the editor's icon.
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

/// One completion candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The shown text, which is matched against the typed text.
    pub label: String,
    /// The kind of completion.
    pub kind: CompletionKind,
    /// Its type or signature, short.
    pub detail: String,
    /// More, as Markdown; may be empty.
    pub doc: String,
    /// The inserted snippet, with `${1:…}` for placeholders; see [`plain`].
    pub insert: String,
}

/// All candidates at a position, the most likely first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Completions {
    /// The bytes that a completion replaces.
    pub range: Range<usize>,
    /// The candidates. They are not filtered by the text typed so far.
    pub items: Vec<Completion>,
    /// Inside of a string that names a file: the part of the path typed so far. The caller, who can read files, supplies the names.
    pub path: Option<String>,
}

impl Completions {
    /// Returns the candidates whose label begins with the typed text, ignoring case.
    pub fn starting_with<'c>(&'c self, typed: &str) -> impl Iterator<Item = &'c Completion> {
        let typed = typed.to_lowercase();
        self.items.iter().filter(move |item| item.label.to_lowercase().starts_with(&typed))
    }
}

/// Returns a snippet as plain text: `before ${1:approve} -> ${2:refund}` becomes `before approve -> refund`.
#[must_use]
pub fn strip_placeholders(snippet: &str) -> String {
    let mut out = String::new();
    let mut letters = snippet.chars().peekable();
    // Number of open placeholders, so that only their closing braces are dropped.
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

fn escape_snippet(text: &str) -> String {
    text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}")
}

/// Returns the completions at a byte offset.
#[must_use]
pub fn complete_at(text: &str, at: usize, context: &CursorContext) -> Completions {
    let cursor = CursorState::new(text, at);
    let mut found = CompletionBuilder { cursor: &cursor, context, items: Vec::new(), path: None };
    found.add_candidates();
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
    cursor: &'c CursorState<'t>,
    context: &'c CursorContext,
    items: Vec<Completion>,
    path: Option<String>,
}

impl CompletionBuilder<'_, '_> {
    fn add_candidates(&mut self) {
        if self.cursor.in_comment {
            self.complete_comment();
        } else if self.cursor.in_text {
            self.complete_text();
        } else if self.cursor.chain.is_some() {
            self.add_members();
        } else {
            self.add_for_part(self.cursor.mode.clone());
        }
    }

    fn push_item(&mut self, kind: CompletionKind, label: &str, insert: &str, detail: &str, doc: &str) {
        self.items.push(Completion {
            label: label.to_owned(),
            kind,
            detail: detail.to_owned(),
            doc: doc.to_owned(),
            insert: insert.to_owned(),
        });
    }

    fn add_for_part(&mut self, mode: StatementPart) {
        let behind = self.cursor.behind_operand;
        match mode {
            StatementPart::Start(body) => self.add_statements(body),
            StatementPart::Step if behind => self.behind_step(),
            StatementPart::Step => self.add_steps(),
            StatementPart::Expression if behind => self.add_operators(),
            StatementPart::Expression => self.add_operands(),
            StatementPart::Arguments(_) if behind => self.add_tests(),
            StatementPart::Arguments(steps) => self.add_arguments(&steps),
            StatementPart::Value(steps, path) => self.argument_values(&steps, &path),
            StatementPart::Type => self.add_words(Role::Type, CompletionKind::Type),
            StatementPart::Severity if behind && self.cursor.before.last() != Some(&"severity") => self.add_modifiers(),
            StatementPart::Severity => self.add_words(Role::Severity, CompletionKind::Value),
            StatementPart::Use => self.add_modules(),
            StatementPart::Test => self.test_words(),
            StatementPart::Call => self.add_tools(false),
            StatementPart::Object(entry) => self.add_entries(entry),
            StatementPart::Within => self.add_within(),
            // After the object of `like`, which ends with a brace like a body.
            StatementPart::Free
                if self.cursor.compared == ComparedWhole::Part && self.cursor.before.last() == Some(&"}") =>
            {
                self.add_words(Role::LikeClause, CompletionKind::Operator);
                self.add_modifiers();
            }
            StatementPart::Free if behind => self.add_modifiers(),
            StatementPart::Free => self.header_words(),
        }
    }

    fn add_words(&mut self, role: Role, kind: CompletionKind) {
        for word in vocabulary::words_with_role(role) {
            self.add_word(word, kind);
        }
    }

    fn add_word(&mut self, word: &Word, kind: CompletionKind) {
        let doc = super::hover::word_page(word);
        let detail = word.doc.split_once(": ").map_or("", |(ty, _)| ty);
        let detail = if matches!(word.role, Role::Root | Role::Field) { detail } else { word.role.noun() };
        self.push_item(kind, word.word, word.snippet, detail, &doc);
    }
}
