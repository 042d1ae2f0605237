//! Diagnostics as data. Stages push them; only `render` makes text of them.
//!
//! Message style: lower case, no full stop, the user's text in backticks; the message says what is wrong *here*,
//! `help` says what to write. Suggestions come from [`suggest`].

pub mod catalog;
mod level;
pub mod render;
pub mod suggest;
pub mod window;

use crate::source::Span;
pub use catalog::Slug;
pub use level::{Family, LintLevel};

/// How grave a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; never changes an exit code.
    Info,
    /// Probably a mistake; the rules still compile.
    Warning,
    /// The rules do not compile.
    Error,
}

/// A place with a remark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanLabel {
    /// The place.
    pub span: Span,
    /// The note; may be empty.
    pub text: String,
}

/// One replacement of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceEdit {
    /// What to replace; empty to insert.
    pub span: Span,
    /// The new text.
    pub text: String,
}

/// A change of the source that removes the reason of a diagnostic. Tests apply every fix and compile again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The edit as an imperative: `replace with \`length\``.
    pub title: String,
    /// The edits, not overlapping.
    pub edits: Vec<SourceEdit>,
}

/// One thing to say about the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of diagnostic, from the table in [`catalog`].
    pub slug: Slug,
    /// The severity; the slug's default unless changed.
    pub severity: Severity,
    /// What is wrong here.
    pub message: String,
    /// The main place. Its start is what `--format short` prints.
    pub span: Span,
    /// A remark at the main place; empty for none.
    pub label: String,
    /// Other places that matter.
    pub others: Vec<SpanLabel>,
    /// What to write instead.
    pub help: Option<String>,
    /// The help as an edit, if it can be applied automatically.
    pub fix: Option<Fix>,
    /// A run that shows what is meant.
    pub witness: Option<WitnessRun>,
}

/// A run that shows what a diagnostic says, with the verdict of the statement at the main place on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WitnessRun {
    /// The run in the native form, as JSON text.
    pub run: String,
    /// `passes`, `fails`, `is vacuous`, `is undecided`.
    pub verdict: &'static str,
}

impl Diagnostic {
    /// A diagnostic with the severity of its slug.
    #[must_use]
    pub fn new(slug: Slug, span: Span, message: impl Into<String>) -> Self {
        Self {
            slug,
            severity: slug.severity(),
            message: message.into(),
            span,
            label: String::new(),
            others: Vec::new(),
            help: None,
            fix: None,
            witness: None,
        }
    }

    /// Adds what to write instead.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a remark at the main place.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn with_other(mut self, span: Span, text: impl Into<String>) -> Self {
        self.others.push(SpanLabel { span, text: text.into() });
        self
    }

    /// Adds a run that shows what is meant; `verdict` is what becomes of the statement on it (`passes`, `fails`, `is vacuous`, `is undecided`).
    #[must_use]
    pub fn with_witness(mut self, run: Option<&serde_json::Value>, verdict: &'static str) -> Self {
        self.witness = run.map(|run| WitnessRun { run: run.to_string(), verdict });
        self
    }

    /// Adds a fix of one edit.
    #[must_use]
    pub fn with_fix(mut self, title: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        self.fix = Some(Fix { title: title.into(), edits: vec![SourceEdit { span, text: text.into() }] });
        self
    }
}

/// All that the stages have to say, in the order in which it was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds all of another list.
    pub fn extend(&mut self, others: Diagnostics) {
        self.0.extend(others.0);
    }

    /// True when something is an error, so that nothing can be compiled.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Brings them into file order: file, then place, then slug; equal ones are kept once.
    pub fn sort_by_place(&mut self) {
        self.0.sort_by(|a, b| {
            (a.span.file, a.span.start, a.span.end, a.slug, &a.message).cmp(&(
                b.span.file,
                b.span.start,
                b.span.end,
                b.slug,
                &b.message,
            ))
        });
        self.0.dedup();
    }
}
