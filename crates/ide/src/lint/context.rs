//! What a lint sees, and where it says what it found.

use super::{LintLevel, LintOptions};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::{FileId, SourceMap, Span};
use averment_checker::CheckResult;
use averment_checker::ir::CheckedAssertion;
use averment_syntax::ast;

/// One file with everything that is known of it.
pub struct LintContext<'a> {
    /// All sources.
    pub sources: &'a SourceMap,
    /// The file that is looked at.
    pub root: FileId,
    /// The checker's result.
    pub checked: &'a CheckResult,
    options: &'a LintOptions,
    /// The findings.
    pub found: Vec<Diagnostic>,
}

impl<'a> LintContext<'a> {
    /// The assertions of the linted file itself, without those of imported files.
    pub(super) fn own_assertions(&self) -> Vec<&'a CheckedAssertion> {
        self.checked.module.assertions.iter().filter(|one| one.span.file == self.root).collect()
    }

    /// A context in which nothing was found.
    pub fn new(sources: &'a SourceMap, root: FileId, checked: &'a CheckResult, options: &'a LintOptions) -> Self {
        Self { sources, root, checked, options, found: Vec::new() }
    }

    /// The syntax tree.
    pub fn ast(&self) -> &'a ast::RuleFile {
        &self.checked.ast
    }

    /// The text under a span.
    pub fn span_text(&self, span: Span) -> &'a str {
        self.sources.span_text(span)
    }

    /// Says something, at its level. What lies in another file is not this file's business.
    pub fn report(&mut self, mut diagnostic: Diagnostic) {
        if diagnostic.span.file != self.root {
            return;
        }
        if let Some(severity) = self.options.levels.level_of(diagnostic.slug).severity() {
            diagnostic.severity = severity;
            self.found.push(diagnostic);
        }
    }

    /// The line of a place and how it is said here, where it is surely in the words of another language.
    pub fn foreign_line(&self, place: Span) -> Option<(Span, String)> {
        let text = &self.sources.get(place.file)?.text;
        let start = text.get(..place.start as usize)?.rfind('\n').map_or(0, |at| at + 1);
        let line = text.get(start..)?.lines().next()?;
        let meant = averment_syntax::foreign_statement(line.trim())?;
        let start = start + line.len() - line.trim_start().len();
        meant.certain.then(|| (Span::new(place.file, start, start + line.trim().len()), meant.text))
    }

    /// Says something that is less sure than its lint usually is: as a remark, unless somebody chose a level for the lint.
    pub fn report_info(&mut self, mut diagnostic: Diagnostic) {
        let level = self.options.levels.chosen_level(diagnostic.slug);
        let level = level.unwrap_or_else(|| self.options.levels.level_of(diagnostic.slug).min(LintLevel::Info));
        if let Some(severity) = level.severity().filter(|_| diagnostic.span.file == self.root) {
            diagnostic.severity = severity;
            self.found.push(diagnostic);
        }
    }

    /// True if a lint is enabled.
    pub fn is_enabled(&self, slug: Slug) -> bool {
        self.options.levels.level_of(slug).severity().is_some()
    }
}
