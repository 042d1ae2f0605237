//! The rows of the table: a mistake, its message, and what to write instead.

use super::pattern::{HintPattern, PatternMatch};
use super::table;
use super::view::StatementView;
use averment_base::diagnostic::{Diagnostic, Fix, Slug};
use std::ops::Range;
use std::sync::LazyLock;

/// The rows in order, and the errors of rows that could not be read; a test asserts that there are none.
pub(super) static ROWS: LazyLock<(Vec<HintRow>, Vec<String>)> = LazyLock::new(read_rows);

/// Diagnoses a statement; returns `None` if it does not have this mistake.
pub(super) type HintFn = fn(&StatementView<'_, '_>) -> Option<Diagnostic>;
/// Returns the byte range of the statement to replace, and its replacement.
pub(super) type RewriteFn = fn(&StatementView<'_, '_>) -> Option<(Range<usize>, String)>;

/// The purpose of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum RowScope {
    /// A message about a statement that the grammar rejects.
    #[default]
    Hints,
    /// The intended statement, also for a statement that parses.
    Always,
    /// The intended statement, only for a statement that does not parse.
    Unread,
}

impl RowScope {
    pub(super) fn parse(name: &str) -> Option<Self> {
        match name {
            "hints" => Some(Self::Hints),
            "always" => Some(Self::Always),
            "unread" => Some(Self::Unread),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(super) enum RowMatcher {
    Pattern(HintPattern),
    Diagnose(HintFn),
    Rewrite(RewriteFn),
}

impl Default for RowMatcher {
    fn default() -> Self {
        Self::Pattern(HintPattern::default())
    }
}

/// A mistake with an example, and templates for its message.
#[derive(Debug, Default)]
pub(super) struct HintRow {
    /// Its line in the table.
    pub line: usize,
    /// Its section in the page of mistakes.
    pub title: &'static str,
    pub scope: RowScope,
    /// Texts with exactly this mistake.
    #[cfg_attr(not(test), expect(dead_code, reason = "it is there for the reader, and for the tests"))]
    pub examples: &'static str,
    pub matcher: RowMatcher,
    slug: Option<Slug>,
    pub message: &'static str,
    help: &'static str,
    pub write: String,
    /// Replaces everything that the pattern matches, or only the mistake.
    edited: Option<String>,
    swaps_wrong: bool,
    fix_title: &'static str,
    pub is_guess: bool,
    /// True if the rewrites of other rows would not express what was meant.
    pub overrides_fix: bool,
}

/// Maximum number of tokens, because matching time grows faster than the length of the statement.
const LONGEST: usize = 2_000;

impl HintRow {
    /// Reads `example :: pattern :: what to write`; the head of the table documents the other columns.
    pub(super) fn parse(entry: &'static str, scope: RowScope, message: &'static str) -> Result<Self, String> {
        let mut columns = entry.split(" ::").map(str::trim);
        let (Some(examples), Some(pattern)) = (columns.next(), columns.next()) else {
            return Err("a row is `example :: pattern :: what to write`".to_owned());
        };
        let mut row = Self { scope, examples, ..Self::default() };
        match pattern.strip_prefix("do ") {
            Some(name) => {
                row.matcher = super::find_function(name).ok_or_else(|| format!("there is no function `{name}`"))?;
            }
            None => (row.matcher, row.message) = (RowMatcher::Pattern(HintPattern::new(pattern)?), message),
        }
        for column in columns {
            row.read_column(column, pattern);
        }
        Ok(row)
    }

    fn read_column(&mut self, column: &'static str, pattern: &str) {
        let (word, rest) = column.split_once(' ').unwrap_or((column, ""));
        match word {
            "help" => self.help = rest,
            "show" => rest.clone_into(&mut self.write),
            "title" => self.fix_title = rest,
            "edit" => self.edited = Some(rest.to_owned()),
            "swap" => (self.edited, self.swaps_wrong) = (Some(rest.to_owned()), true),
            _ if column.split(' ').all(|mark| self.read_mark(mark)) => {}
            _ => {
                self.write = complete_write(column, pattern);
                self.edited.get_or_insert_with(|| self.write.clone());
            }
        }
    }

    fn read_mark(&mut self, mark: &str) -> bool {
        match mark {
            "guess" => self.is_guess = true,
            "instead" => self.overrides_fix = true,
            "quiet" => self.message = "",
            "unknown" => self.slug = Some(Slug::UnknownStatement),
            "misplaced" => self.slug = Some(Slug::Misplaced),
            "stray" => self.slug = Some(Slug::UnknownModifier),
            _ => return false,
        }
        true
    }

    /// Returns the examples as they are written in files.
    #[cfg(test)]
    pub(super) fn example_texts(&self) -> impl Iterator<Item = String> {
        self.examples.split(" ;; ").map(|example| example.replace("\\n", "\n"))
    }

    #[cfg(test)]
    pub(super) fn rewrites(&self) -> bool {
        self.edited.is_some()
    }

    #[cfg(test)]
    pub(super) fn templates(&self) -> Vec<&str> {
        vec![self.message, self.help, &self.write, self.edited.as_deref().unwrap_or(""), self.fix_title]
    }

    /// Returns the diagnostic for a statement, if it has this mistake.
    pub(super) fn diagnose_statement(&self, view: &StatementView<'_, '_>) -> Option<Diagnostic> {
        let told = match &self.matcher {
            RowMatcher::Pattern(_) if view.len() > LONGEST => None,
            RowMatcher::Pattern(pattern) => self.build_diagnostic(&pattern.find_match(view)?),
            RowMatcher::Diagnose(function) => function(view),
            RowMatcher::Rewrite(_) => None,
        };
        #[cfg(test)]
        if told.is_some() {
            super::tests::spoke(self);
        }
        told
    }

    fn build_diagnostic(&self, found: &PatternMatch<'_, '_, '_>) -> Option<Diagnostic> {
        let slug = self.slug.unwrap_or(Slug::Syntax);
        let mut diagnostic = Diagnostic::new(slug, found.wrong_span(), found.fill_template(self.message)?);
        let edited = self.edited.as_deref();
        let shown = if self.write.is_empty() { edited.unwrap_or("") } else { &self.write };
        let write = format!("write `{}`", found.fill_template(shown)?);
        if let Some(text) = edited {
            let from = if text.contains("{left}") { found.left_start() } else { found.from };
            let scope = if self.swaps_wrong { found.wrong } else { (from, found.to) };
            let title = if self.fix_title.is_empty() { write.clone() } else { found.fill_template(self.fix_title)? };
            diagnostic.fix = Some(Fix { title, edits: found.template_edits(scope, text)? });
        }
        let help = match self.help {
            "" => Some(write).filter(|_| !shown.is_empty()),
            help => Some(found.fill_template(help)?),
        };
        Some(Diagnostic { help, ..diagnostic })
    }

    /// Returns the byte range to rewrite and the new text, if this row applies.
    pub(super) fn rewrite_statement(
        &self,
        view: &StatementView<'_, '_>,
        budget: &mut usize,
    ) -> Option<(Range<usize>, String)> {
        match &self.matcher {
            RowMatcher::Rewrite(function) => function(view),
            RowMatcher::Pattern(pattern) => {
                let found = pattern.find_within(view, budget)?;
                let new = match self.write.split_once("fill ") {
                    Some((before, meaning)) => format!("{before}{}", found.fill_meaning(meaning)?),
                    None => found.fill_unshortened(&self.write)?,
                };
                Some((view.token_range(found.from, found.to), new))
            }
            RowMatcher::Diagnose(_) => None,
        }
    }
}

/// Appends the rest of the statement to the rewrite, and drops the articles of steps in prose.
fn complete_write(written: &str, pattern: &str) -> String {
    let steps = pattern.split_whitespace().filter_map(|part| part.strip_suffix(":C"));
    let bare = |text: String, name| text.replace(&format!("{{{name}}}"), &format!("{{{name}|step}}"));
    let behind = if pattern.split_whitespace().any(|part| part == "$") { " {...}" } else { "" };
    steps.fold(written.to_owned(), bare) + behind
}

fn read_rows() -> (Vec<HintRow>, Vec<String>) {
    let (mut rows, mut errors) = (Vec::new(), Vec::new());
    let (mut scope, mut title, mut message) = (None, "", "");
    for (line, entry) in table::entries() {
        let mut wrong = |what: &str| errors.push(format!("hints.table:{line}: {what}"));
        let mut row = entry;
        if let Some(heading) = entry.strip_prefix("== ") {
            let (name, rest) = heading.split_once(": ").unwrap_or((heading, ""));
            (scope, title, message) = (RowScope::parse(name), rest, "");
            if scope.is_none() && entry != table::WORDS_HEADING {
                wrong("a heading is `hints`, `always`, `unread` or `words`");
            }
            continue;
        }
        if let Some(text) = entry.strip_prefix('>') {
            (message, row) = text.split_once(" :: ").unwrap_or((text, ""));
            message = message.trim();
        }
        let Some(scope) = scope.filter(|_| !row.is_empty()) else { continue };
        match HintRow::parse(row, scope, message) {
            Ok(mut row) => {
                (row.line, row.title) = (line, title);
                rows.push(row);
            }
            Err(what) => wrong(&what),
        }
    }
    (rows, errors)
}
