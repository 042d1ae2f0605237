//! One row of the tables: what is written, what is said of it, and what to write instead.

use super::pattern::{Pattern, PatternMatch};
use super::view::View;
use averment_base::diagnostic::{Diagnostic, Fix, Slug};

/// A hint that no row can give: `None` when this is not its mistake.
pub(super) type Ask = fn(&View<'_, '_>) -> Option<Diagnostic>;

/// How a mistake is known.
#[derive(Debug, Clone, Copy)]
enum Known {
    By(&'static str),
    Asked(Ask),
}

/// What of the statement is rewritten.
#[derive(Debug, Clone, Copy)]
enum Edited {
    Nothing,
    /// All that the pattern takes.
    Line(&'static str),
    /// What is underlined.
    Wrong(&'static str),
}

/// A row: a mistake with an example, and templates for what is said of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hint {
    /// A text with just this mistake.
    #[cfg_attr(not(test), expect(dead_code, reason = "it is there for the reader, and for the tests"))]
    pub example: &'static str,
    known: Known,
    slug: Slug,
    message: &'static str,
    help: &'static str,
    shown: &'static str,
    edited: Edited,
    title: &'static str,
}

/// Not this: a statement that a pattern fits.
pub(super) const fn not(example: &'static str, pattern: &'static str) -> Hint {
    Hint::new(example, Known::By(pattern))
}

/// Not this: a statement that a function knows.
pub(super) const fn ask(example: &'static str, function: Ask) -> Hint {
    Hint::new(example, Known::Asked(function))
}

impl Hint {
    const fn new(example: &'static str, known: Known) -> Self {
        let (slug, edited) = (Slug::Syntax, Edited::Nothing);
        Self { example, known, slug, message: "", help: "", shown: "", edited, title: "" }
    }

    pub(super) const fn slug(mut self, slug: Slug) -> Self {
        self.slug = slug;
        self
    }

    /// What is wrong.
    pub(super) const fn says(mut self, message: &'static str) -> Self {
        self.message = message;
        self
    }

    /// What to write instead of all that the pattern takes.
    pub(super) const fn write(mut self, text: &'static str) -> Self {
        self.shown = text;
        if matches!(self.edited, Edited::Nothing) {
            self.edited = Edited::Line(text);
        }
        self
    }

    /// What all that the pattern takes becomes, where that is not what [`Hint::write`] shows.
    pub(super) const fn line(mut self, text: &'static str) -> Self {
        self.edited = Edited::Line(text);
        self
    }

    /// What the underlined tokens become.
    pub(super) const fn swap(mut self, text: &'static str) -> Self {
        self.edited = Edited::Wrong(text);
        self
    }

    /// What is said in place of `write …`.
    pub(super) const fn help(mut self, text: &'static str) -> Self {
        self.help = text;
        self
    }

    /// What the fix is called in place of `write …`.
    pub(super) const fn title(mut self, text: &'static str) -> Self {
        self.title = text;
        self
    }

    /// Whether the row offers a rewriting.
    #[cfg(test)]
    pub(super) fn rewrites(&self) -> bool {
        !matches!(self.edited, Edited::Nothing)
    }

    /// The conditions that the pattern names.
    #[cfg(test)]
    pub(super) fn conditions(&self) -> impl Iterator<Item = &'static str> {
        let written = if let Known::By(pattern) = self.known { pattern } else { "" };
        written.split(' ').filter_map(|part| part.strip_prefix('@'))
    }

    /// All templates of the row.
    #[cfg(test)]
    pub(super) fn templates(&self) -> Vec<&'static str> {
        let edited = match self.edited {
            Edited::Nothing => "",
            Edited::Line(text) | Edited::Wrong(text) => text,
        };
        vec![self.message, self.help, self.shown, edited, self.title]
    }

    /// The pattern, for a row that has one.
    pub(super) fn pattern(&self) -> Option<Pattern> {
        match self.known {
            Known::By(pattern) => Some(Pattern::new(pattern)),
            Known::Asked(_) => None,
        }
    }
}

/// A row with its pattern taken apart.
pub(super) struct Prepared {
    pub hint: Hint,
    pub pattern: Option<Pattern>,
}

/// Tokens of a statement in which patterns are looked for: looking takes time that grows faster than the statement.
const LONGEST: usize = 2_000;

impl Prepared {
    pub(super) fn new(hint: &Hint) -> Self {
        Self { hint: *hint, pattern: hint.pattern() }
    }

    /// What the row says of a statement, where that has the mistake.
    pub(super) fn tell(&self, view: &View<'_, '_>) -> Option<Diagnostic> {
        let told = match (&self.pattern, self.hint.known) {
            (Some(_), _) if view.len() > LONGEST => None,
            (Some(pattern), _) => self.told(&pattern.find(view)?),
            (None, Known::Asked(function)) => function(view),
            (None, Known::By(_)) => None,
        };
        #[cfg(test)]
        if told.is_some() {
            super::tests::spoke(self.hint.example);
        }
        told
    }

    fn told(&self, found: &PatternMatch<'_, '_, '_>) -> Option<Diagnostic> {
        let Hint { slug, message, help, shown, edited, title, .. } = self.hint;
        let mut diagnostic = Diagnostic::new(slug, found.wrong_span(), found.fill(message)?);
        let (scope, new) = match edited {
            Edited::Nothing => ((0, 0), None),
            Edited::Line(text) => ((found.from, found.to), Some(text)),
            Edited::Wrong(text) => (found.wrong, Some(text)),
        };
        let shown = if shown.is_empty() { new.unwrap_or("") } else { shown };
        let write = format!("write `{}`", found.fill(shown)?);
        if let Some(text) = new {
            let title = if title.is_empty() { write.clone() } else { found.fill(title)? };
            diagnostic.fix = Some(Fix { title, edits: found.edits(scope, text)? });
        }
        let help = if help.is_empty() { Some(write).filter(|_| !shown.is_empty()) } else { Some(found.fill(help)?) };
        Some(Diagnostic { help, ..diagnostic })
    }
}
