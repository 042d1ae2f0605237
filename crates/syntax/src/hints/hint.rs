//! One row of the tables: what is written, what is said of it, and what to write instead.

use super::pattern::{HintPattern, PatternMatch};
use super::view::StatementView;
use averment_base::diagnostic::{Diagnostic, Fix, Slug};

/// `None` if this is not the mistake it knows.
pub(super) type HintFn = fn(&StatementView<'_, '_>) -> Option<Diagnostic>;

#[derive(Debug, Clone, Copy)]
enum HintMatcher {
    Pattern(&'static str),
    Function(HintFn),
}

#[derive(Debug, Clone, Copy)]
enum HintEdit {
    Nothing,
    /// Everything that the pattern matches.
    Line(&'static str),
    Wrong(&'static str),
}

/// A mistake with an example, and templates for its message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hint {
    /// A text with just this mistake.
    #[cfg_attr(not(test), expect(dead_code, reason = "it is there for the reader, and for the tests"))]
    pub example: &'static str,
    matcher: HintMatcher,
    slug: Slug,
    message: &'static str,
    help: &'static str,
    shown: &'static str,
    edited: HintEdit,
    title: &'static str,
}

pub(super) const fn pattern_hint(example: &'static str, pattern: &'static str) -> Hint {
    Hint::new(example, HintMatcher::Pattern(pattern))
}

pub(super) const fn function_hint(example: &'static str, function: HintFn) -> Hint {
    Hint::new(example, HintMatcher::Function(function))
}

impl Hint {
    const fn new(example: &'static str, known: HintMatcher) -> Self {
        let (slug, edited) = (Slug::Syntax, HintEdit::Nothing);
        Self { example, matcher: known, slug, message: "", help: "", shown: "", edited, title: "" }
    }

    pub(super) const fn with_slug(mut self, slug: Slug) -> Self {
        self.slug = slug;
        self
    }

    pub(super) const fn with_message(mut self, message: &'static str) -> Self {
        self.message = message;
        self
    }

    /// The replacement of everything that the pattern matches.
    pub(super) const fn with_rewrite(mut self, text: &'static str) -> Self {
        self.shown = text;
        if matches!(self.edited, HintEdit::Nothing) {
            self.edited = HintEdit::Line(text);
        }
        self
    }

    /// The replacement of everything matched, if it differs from what is shown.
    pub(super) const fn with_line_edit(mut self, text: &'static str) -> Self {
        self.edited = HintEdit::Line(text);
        self
    }

    /// The replacement of the underlined tokens.
    pub(super) const fn with_swap(mut self, text: &'static str) -> Self {
        self.edited = HintEdit::Wrong(text);
        self
    }

    /// Help text in place of `write …`.
    pub(super) const fn with_help(mut self, text: &'static str) -> Self {
        self.help = text;
        self
    }

    /// Fix title in place of `write …`.
    pub(super) const fn with_title(mut self, text: &'static str) -> Self {
        self.title = text;
        self
    }

    #[cfg(test)]
    pub(super) fn rewrites(&self) -> bool {
        !matches!(self.edited, HintEdit::Nothing)
    }

    #[cfg(test)]
    pub(super) fn conditions(&self) -> impl Iterator<Item = &'static str> {
        let written = if let HintMatcher::Pattern(pattern) = self.matcher { pattern } else { "" };
        written.split(' ').filter_map(|part| part.strip_prefix('@'))
    }

    #[cfg(test)]
    pub(super) fn templates(&self) -> Vec<&'static str> {
        let edited = match self.edited {
            HintEdit::Nothing => "",
            HintEdit::Line(text) | HintEdit::Wrong(text) => text,
        };
        vec![self.message, self.help, self.shown, edited, self.title]
    }

    pub(super) fn compile_pattern(&self) -> Option<HintPattern> {
        match self.matcher {
            HintMatcher::Pattern(pattern) => Some(HintPattern::new(pattern)),
            HintMatcher::Function(_) => None,
        }
    }
}

pub(super) struct CompiledHint {
    pub hint: Hint,
    pub pattern: Option<HintPattern>,
}

/// Maximum tokens: matching time grows faster than the statement.
const LONGEST: usize = 2_000;

impl CompiledHint {
    pub(super) fn new(hint: &Hint) -> Self {
        Self { hint: *hint, pattern: hint.compile_pattern() }
    }

    pub(super) fn diagnose_statement(&self, view: &StatementView<'_, '_>) -> Option<Diagnostic> {
        let told = match (&self.pattern, self.hint.matcher) {
            (Some(_), _) if view.len() > LONGEST => None,
            (Some(pattern), _) => self.build_diagnostic(&pattern.find_match(view)?),
            (None, HintMatcher::Function(function)) => function(view),
            (None, HintMatcher::Pattern(_)) => None,
        };
        #[cfg(test)]
        if told.is_some() {
            super::tests::spoke(self.hint.example);
        }
        told
    }

    fn build_diagnostic(&self, found: &PatternMatch<'_, '_, '_>) -> Option<Diagnostic> {
        let Hint { slug, message, help, shown, edited, title, .. } = self.hint;
        let mut diagnostic = Diagnostic::new(slug, found.wrong_span(), found.fill_template(message)?);
        let (scope, new) = match edited {
            HintEdit::Nothing => ((0, 0), None),
            HintEdit::Line(text) => ((found.from, found.to), Some(text)),
            HintEdit::Wrong(text) => (found.wrong, Some(text)),
        };
        let shown = if shown.is_empty() { new.unwrap_or("") } else { shown };
        let write = format!("write `{}`", found.fill_template(shown)?);
        if let Some(text) = new {
            let title = if title.is_empty() { write.clone() } else { found.fill_template(title)? };
            diagnostic.fix = Some(Fix { title, edits: found.template_edits(scope, text)? });
        }
        let help =
            if help.is_empty() { Some(write).filter(|_| !shown.is_empty()) } else { Some(found.fill_template(help)?) };
        Some(Diagnostic { help, ..diagnostic })
    }
}
