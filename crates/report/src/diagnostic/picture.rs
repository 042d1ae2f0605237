//! Diagnostics in the form that miette draws.

use crate::redact::mask_secrets;
use averment_base::diagnostic::render::{one_line, printable};
use averment_base::diagnostic::window::LineWindow;
use averment_base::diagnostic::{Diagnostic, Severity, SpanLabel};
use averment_base::source::{SourceFile, SourceMap, Span};
use miette::{LabeledSpan, MietteError, MietteSpanContents, SourceSpan};
use std::borrow::Cow;

#[derive(Debug)]
enum PictureSource<'a> {
    File(FilePiece<'a>),
    Window(LineWindow, Cow<'a, str>),
}

impl miette::SourceCode for PictureSource<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn miette::SpanContents<'a> + 'a>, MietteError> {
        match self {
            Self::File(piece) => piece.read_span(span, before, after),
            Self::Window(window, name) => Ok(Box::new(MietteSpanContents::new_named(
                name.clone().into_owned(),
                window.text.as_bytes(),
                (0, window.text.len()).into(),
                window.line - 1,
                if before == 0 { window.column - 1 } else { 0 },
                1,
            ))),
        }
    }
}

impl PictureSource<'_> {
    fn source_place(&self, span: Span) -> Option<SourceSpan> {
        match self {
            Self::File(_) => Some((span.start as usize, span.len()).into()),
            Self::Window(window, _) => window.span_range(span).map(|place| (place.start, place.len()).into()),
        }
    }
}

/// A source file for miette. Uses the line table of the file, so that reading an excerpt takes time only for its length.
#[derive(Debug)]
struct FilePiece<'a> {
    file: &'a SourceFile,
    text: Cow<'a, str>,
}

impl miette::SourceCode for FilePiece<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn miette::SpanContents<'a> + 'a>, MietteError> {
        let place = |offset: usize| self.file.line_column(u32::try_from(offset).unwrap_or(u32::MAX));
        let from = place(span.offset());
        let first = from.line.saturating_sub(before).max(1);
        let last = place(span.offset() + span.len()).line.saturating_add(after).min(self.file.line_count());
        // Without context, miette asks for the header of the drawing, which shows the column of the span itself.
        let column = if before == 0 { from.column - 1 } else { 0 };
        let (start, end) = (self.file.line_start(first), self.file.line_start(last + 1));
        let data = self.text.get(start..end).ok_or(MietteError::OutOfBounds)?;
        Ok(Box::new(MietteSpanContents::new_named(
            one_line(&self.file.name).into_owned(),
            data.as_bytes(),
            (start, end - start).into(),
            first - 1,
            column,
            last - first + 1,
        )))
    }
}

#[derive(Debug)]
pub(super) struct DiagnosticView<'a> {
    diagnostic: &'a Diagnostic,
    message: Cow<'a, str>,
    help: Option<String>,
    source: Option<PictureSource<'a>>,
}

/// A label in another file than the main one.
#[derive(Debug)]
pub(super) struct OtherFileLabel<'a> {
    label: &'a SpanLabel,
    sources: &'a SourceMap,
    source: Option<PictureSource<'a>>,
}

fn picture_source<'a>(span: Span, others: &[SpanLabel], sources: &'a SourceMap) -> Option<PictureSource<'a>> {
    let file = sources.get(span.file).filter(|file| !file.is_data)?;
    let others = others.iter().map(|other| other.span).filter(|other| other.file == span.file);
    Some(match LineWindow::around_span(file, span, others) {
        Some(window) => PictureSource::Window(window, one_line(&file.name)),
        None => PictureSource::File(FilePiece { file, text: shown_text(&file.text) }),
    })
}

/// Returns a file's text as shown in drawings; offsets stay the same.
fn shown_text(text: &str) -> Cow<'_, str> {
    match mask_secrets(text) {
        Cow::Borrowed(text) => printable(text),
        Cow::Owned(clean) => Cow::Owned(printable(&clean).into_owned()),
    }
}

fn help_text(diagnostic: &Diagnostic) -> Option<String> {
    let shown =
        diagnostic.witness.as_ref().map(|witness| format!("on the run {} this {}", witness.run, witness.verdict));
    let parts: Vec<&str> = diagnostic.help.iter().chain(&shown).map(String::as_str).collect();
    (!parts.is_empty()).then(|| printable(&parts.join("\n")).into_owned())
}

fn mark_label(place: SourceSpan, text: &str, main: bool) -> LabeledSpan {
    let text = (!text.is_empty()).then(|| one_line(text).into_owned());
    if main { LabeledSpan::new_primary_with_span(text, place) } else { LabeledSpan::new_with_span(text, place) }
}

impl<'a> OtherFileLabel<'a> {
    pub(super) fn new(label: &'a SpanLabel, sources: &'a SourceMap) -> Self {
        Self { label, sources, source: picture_source(label.span, &[], sources) }
    }
}

impl<'a> DiagnosticView<'a> {
    pub(super) fn new(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Self {
        Self {
            diagnostic,
            message: printable(&diagnostic.message),
            help: help_text(diagnostic),
            source: picture_source(diagnostic.span, &diagnostic.others, sources),
        }
    }
}

impl std::fmt::Display for DiagnosticView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DiagnosticView<'_> {}

impl miette::Diagnostic for DiagnosticView<'_> {
    fn code<'b>(&'b self) -> Option<Box<dyn std::fmt::Display + 'b>> {
        Some(Box::new(self.diagnostic.slug.as_str()))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.diagnostic.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Info => miette::Severity::Advice,
        })
    }

    fn help<'b>(&'b self) -> Option<Box<dyn std::fmt::Display + 'b>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn std::fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.source.as_ref().map(|source| source as &dyn miette::SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let (main, source) = (self.diagnostic.span, self.source.as_ref()?);
        let others = self.diagnostic.others.iter().filter(move |other| other.span.file == main.file);
        let others = others.filter_map(|other| Some(mark_label(source.source_place(other.span)?, &other.text, false)));
        let own = source.source_place(main).map(|place| mark_label(place, &self.diagnostic.label, true));
        Some(Box::new(own.into_iter().chain(others)))
    }
}

impl std::fmt::Display for OtherFileLabel<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without an excerpt, the location is written as text.
        if self.source.is_none() {
            let (name, at) = (self.sources.file_name(self.label.span), self.sources.line_column(self.label.span));
            write!(f, "{}:{}:{}: ", one_line(name), at.line, at.column)?;
        }
        f.write_str(&one_line(&self.label.text))
    }
}

impl std::error::Error for OtherFileLabel<'_> {}

impl miette::Diagnostic for OtherFileLabel<'_> {
    fn severity(&self) -> Option<miette::Severity> {
        Some(miette::Severity::Advice)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.source.as_ref().map(|source| source as &dyn miette::SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.source.as_ref()?.source_place(self.label.span)?;
        Some(Box::new(std::iter::once(mark_label(place, "", true))))
    }
}
