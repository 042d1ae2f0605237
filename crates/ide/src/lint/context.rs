//! The input of lints, and the collection of their findings.

use super::{LintLevel, LintOptions};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::{FileId, SourceMap, Span};
use averment_checker::CheckResult;
use averment_checker::ir::CheckedAssertion;
use averment_syntax::ast;

/// One file with its sources and the result of the checker.
pub struct LintContext<'a> {
    /// All sources.
    pub sources: &'a SourceMap,
    /// The file to lint.
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

    /// Creates a context without findings.
    pub fn new(sources: &'a SourceMap, root: FileId, checked: &'a CheckResult, options: &'a LintOptions) -> Self {
        Self { sources, root, checked, options, found: Vec::new() }
    }

    /// Returns the syntax tree.
    pub fn ast(&self) -> &'a ast::RuleFile {
        &self.checked.ast
    }

    /// Returns the text of a span.
    pub fn span_text(&self, span: Span) -> &'a str {
        self.sources.span_text(span)
    }

    /// Reports a finding, at the level of its lint. Findings in other files are ignored.
    pub fn report(&mut self, mut diagnostic: Diagnostic) {
        if diagnostic.span.file != self.root {
            return;
        }
        if let Some(severity) = self.options.levels.level_of(diagnostic.slug).severity() {
            diagnostic.severity = severity;
            self.found.push(diagnostic);
        }
    }

    /// Returns the line of a span and its translation, if the line is certainly in another language.
    pub fn foreign_line(&self, place: Span) -> Option<(Span, String)> {
        let text = &self.sources.get(place.file)?.text;
        let start = text.get(..place.start as usize)?.rfind('\n').map_or(0, |at| at + 1);
        let line = text.get(start..)?.lines().next()?;
        let meant = averment_syntax::foreign_statement(line.trim())?;
        let start = start + line.len() - line.trim_start().len();
        meant.certain.then(|| (Span::new(place.file, start, start + line.trim().len()), meant.text))
    }

    /// Reports a finding that is less certain than the lint usually is: with level info, unless a level was chosen for the lint.
    pub fn report_info(&mut self, mut diagnostic: Diagnostic) {
        let level = self.options.levels.chosen_level(diagnostic.slug);
        let level = level.unwrap_or_else(|| self.options.levels.level_of(diagnostic.slug).min(LintLevel::Info));
        if let Some(severity) = level.severity().filter(|_| diagnostic.span.file == self.root) {
            diagnostic.severity = severity;
            self.found.push(diagnostic);
        }
    }

    /// Returns true if a lint is enabled.
    pub fn is_enabled(&self, slug: Slug) -> bool {
        self.options.levels.level_of(slug).severity().is_some()
    }
}
