//! Renders diagnostics: for people (miette), on one line each, and as data.
//!
//! Rule files are untrusted: characters that steer a terminal are replaced before anything is printed.

use super::{Diagnostic, Diagnostics, Label, Severity};
use crate::source::{SourceFile, SourceMap, Span};
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceSpan};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write as _;

/// How text for people looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Draw lines with box characters instead of ASCII.
    pub unicode: bool,
    /// Use terminal colours.
    pub color: bool,
    /// Columns to fill.
    pub width: usize,
}

impl Style {
    /// What fits every terminal, file and pipe: ASCII, no colour, 80 columns.
    pub const PLAIN: Self = Self { unicode: false, color: false, width: 80 };
}

/// The few colours of text.
#[derive(Clone, Copy)]
pub enum Ink {
    /// Failures.
    Red,
    /// Warnings.
    Yellow,
    /// Success.
    Green,
    /// Titles.
    Bold,
    /// Remarks.
    Dim,
}

/// The text in a colour where the style has colours.
#[must_use]
pub fn paint(style: Style, ink: Ink, text: &str) -> String {
    let code = match ink {
        Ink::Red => "1;31",
        Ink::Yellow => "33",
        Ink::Green => "32",
        Ink::Bold => "1",
        Ink::Dim => "2",
    };
    if style.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// More than this many diagnostics are counted, not drawn: nobody reads them, and each costs a piece of the file.
const DRAWN: usize = 50;

/// Draws diagnostics for people, each with its piece of the source, and a line that counts them.
/// Gives an empty text when there are none.
#[must_use]
pub fn graphical(diagnostics: &Diagnostics, sources: &SourceMap, style: Style) -> String {
    let theme = match (style.unicode, style.color) {
        (true, true) => GraphicalTheme::unicode(),
        (true, false) => GraphicalTheme::unicode_nocolor(),
        (false, true) => {
            GraphicalTheme { characters: miette::ThemeCharacters::ascii(), styles: miette::ThemeStyles::ansi() }
        }
        (false, false) => GraphicalTheme::none(),
    };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(style.width).with_links(false).with_urls(false);
    let mut text = String::new();
    for diagnostic in diagnostics.0.iter().take(DRAWN) {
        // Writing to a text cannot fail; what could is a span outside of its file, which then goes without its picture.
        if handler.render_report(&mut text, &View::new(diagnostic, sources)).is_err() {
            line(&mut text, diagnostic, sources);
        }
        for label in diagnostic.others.iter().filter(|other| other.span.file != diagnostic.span.file) {
            let _ = handler.render_report(&mut text, &Elsewhere { label, source: piece(label.span, sources) });
        }
        text.push('\n');
    }
    if let Some(count) = counted(diagnostics) {
        let _ = writeln!(text, "{count}");
    }
    text
}

/// `2 errors, 1 warning`; `None` when there is nothing to count.
#[must_use]
pub fn counted(diagnostics: &Diagnostics) -> Option<String> {
    let parts: Vec<String> = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "remark")]
        .into_iter()
        .filter_map(|(severity, word)| {
            let count = diagnostics.0.iter().filter(|one| one.severity == severity).count();
            (count > 0).then(|| format!("{count} {word}{}", if count == 1 { "" } else { "s" }))
        })
        .collect();
    let hidden = diagnostics.0.len().saturating_sub(DRAWN);
    let rest = if hidden > 0 { format!(" (the last {hidden} are not shown)") } else { String::new() };
    (!parts.is_empty()).then(|| format!("{}{rest}", parts.join(", ")))
}

/// One line per diagnostic: `FILE:LINE:COLUMN: severity[slug]: message; help: what to write`. Columns count characters, from 1.
#[must_use]
pub fn short(diagnostics: &Diagnostics, sources: &SourceMap) -> String {
    let mut text = String::new();
    for diagnostic in &diagnostics.0 {
        line(&mut text, diagnostic, sources);
    }
    text
}

fn line(text: &mut String, diagnostic: &Diagnostic, sources: &SourceMap) {
    let at = sources.position(diagnostic.span);
    let _ = write!(
        text,
        "{}:{}:{}: {}[{}]: {}",
        one_line(sources.name(diagnostic.span)),
        at.line,
        at.column,
        word(diagnostic.severity),
        diagnostic.slug.as_str(),
        one_line(&diagnostic.message)
    );
    if let Some(help) = &diagnostic.help {
        let _ = write!(text, "; help: {}", one_line(help));
    }
    text.push('\n');
}

/// One workflow command of GitHub Actions per diagnostic: `::warning file=…,line=…::message`.
#[must_use]
pub fn annotations(diagnostics: &Diagnostics, sources: &SourceMap) -> String {
    let mut text = String::new();
    for diagnostic in &diagnostics.0 {
        let kind = match diagnostic.severity {
            Severity::Info => "notice",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let (from, to) = (sources.position(diagnostic.span), sources.position(diagnostic.span.at_end()));
        let help = diagnostic.help.as_ref().map(|help| format!("; help: {help}")).unwrap_or_default();
        let property = |text: &str| escaped(text).replace(':', "%3A").replace(',', "%2C");
        let _ = writeln!(
            text,
            "::{kind} file={},line={},col={},endLine={},endColumn={},title={}::{}",
            property(sources.name(diagnostic.span)),
            from.line,
            from.column,
            to.line,
            to.column,
            diagnostic.slug.as_str(),
            escaped(&format!("{}{help}", diagnostic.message)),
        );
    }
    text
}

/// Text in a workflow command: a line break in it would start another command.
fn escaped(text: &str) -> String {
    printable(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The diagnostics as data: a list of objects in the order given.
#[must_use]
pub fn json(diagnostics: &Diagnostics, sources: &SourceMap) -> Value {
    diagnostics.0.iter().map(|diagnostic| object(diagnostic, sources)).collect()
}

fn object(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let others: Vec<Value> = diagnostic
        .others
        .iter()
        .map(|other| json!({"text": other.text, "location": location(other.span, sources)}))
        .collect();
    let fix = diagnostic.fix.as_ref().map(|fix| {
        let edits: Vec<Value> =
            fix.edits.iter().map(|edit| json!({"location": location(edit.span, sources), "text": edit.text})).collect();
        json!({"title": fix.title, "edits": edits})
    });
    json!({
        "slug": diagnostic.slug.as_str(),
        "severity": word(diagnostic.severity),
        "message": diagnostic.message,
        "location": location(diagnostic.span, sources),
        "label": diagnostic.label,
        "others": others,
        "help": diagnostic.help,
        "fix": fix,
        "witness": diagnostic.witness.as_ref().map(|one| json!({"run": one.run, "verdict": one.verdict})),
    })
}

/// A place as data: lines and columns from 1, columns in characters; `start` and `end` in bytes.
fn location(span: Span, sources: &SourceMap) -> Value {
    let (from, to) = (sources.position(span), sources.position(span.at_end()));
    json!({
        "file": sources.name(span), "line": from.line, "column": from.column,
        "end_line": to.line, "end_column": to.column, "start": span.start, "end": span.end,
    })
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// True for characters that steer a terminal or turn the direction of writing: they must not come from a file to a terminal.
#[must_use]
pub fn steers(character: char) -> bool {
    (character.is_control() && character != '\n' && character != '\t')
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// The text with every character that [`steers`] replaced by one of the same length in bytes, so that places stay true.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|character| steers(character) && character != '\r') {
        return Cow::Borrowed(text);
    }
    let stand_in = |character: char| match character.len_utf8() {
        _ if !steers(character) || character == '\r' => character,
        1 => '?',
        2 => '\u{b7}',
        _ => '\u{fffd}',
    };
    Cow::Owned(text.chars().map(stand_in).collect())
}

/// The text on one line: line breaks and tabs become spaces, see [`printable`] for the rest.
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    match printable(text) {
        clean if !clean.contains(['\n', '\r', '\t']) => clean,
        clean => Cow::Owned(clean.replace("\r\n", " ").replace(['\n', '\r', '\t'], " ")),
    }
}

/// A file as miette reads it: found by the file's own table of lines, so that a piece costs nothing but its own length.
#[derive(Debug)]
struct Piece<'a> {
    file: &'a SourceFile,
    text: Cow<'a, str>,
}

impl miette::SourceCode for Piece<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn miette::SpanContents<'a> + 'a>, MietteError> {
        let place = |offset: usize| self.file.position(u32::try_from(offset).unwrap_or(u32::MAX));
        let from = place(span.offset());
        let first = from.line.saturating_sub(before).max(1);
        let last = place(span.offset() + span.len()).line.saturating_add(after).min(self.file.line_count());
        // Without context the header of a picture is asked for: the column of the span itself.
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

/// A diagnostic as miette sees it.
#[derive(Debug)]
struct View<'a> {
    diagnostic: &'a Diagnostic,
    message: Cow<'a, str>,
    help: Option<String>,
    source: Option<Piece<'a>>,
}

/// A place in another file than the main one.
#[derive(Debug)]
struct Elsewhere<'a> {
    label: &'a Label,
    source: Option<Piece<'a>>,
}

fn piece(span: Span, sources: &SourceMap) -> Option<Piece<'_>> {
    sources.get(span.file).map(|file| Piece { file, text: printable(&file.text) })
}

/// What to write, and a run that shows why.
fn help(diagnostic: &Diagnostic) -> Option<String> {
    let shown =
        diagnostic.witness.as_ref().map(|witness| format!("on the run {} this {}", witness.run, witness.verdict));
    let parts: Vec<&str> = diagnostic.help.iter().chain(&shown).map(String::as_str).collect();
    (!parts.is_empty()).then(|| printable(&parts.join("\n")).into_owned())
}

fn mark(span: Span, text: &str, main: bool) -> LabeledSpan {
    let text = (!text.is_empty()).then(|| one_line(text).into_owned());
    let place: SourceSpan = (span.start as usize, span.len()).into();
    if main { LabeledSpan::new_primary_with_span(text, place) } else { LabeledSpan::new_with_span(text, place) }
}

impl<'a> View<'a> {
    fn new(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Self {
        Self {
            diagnostic,
            message: printable(&diagnostic.message),
            help: help(diagnostic),
            source: piece(diagnostic.span, sources),
        }
    }
}

impl std::fmt::Display for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for View<'_> {}

impl miette::Diagnostic for View<'_> {
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
        let main = self.diagnostic.span;
        let others = self.diagnostic.others.iter().filter(move |other| other.span.file == main.file);
        Some(Box::new(
            std::iter::once(mark(main, &self.diagnostic.label, true))
                .chain(others.map(|other| mark(other.span, &other.text, false))),
        ))
    }
}

impl std::fmt::Display for Elsewhere<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&one_line(&self.label.text))
    }
}

impl std::error::Error for Elsewhere<'_> {}

impl miette::Diagnostic for Elsewhere<'_> {
    fn severity(&self) -> Option<miette::Severity> {
        Some(miette::Severity::Advice)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.source.as_ref().map(|source| source as &dyn miette::SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(mark(self.label.span, "", true))))
    }
}

#[cfg(test)]
mod tests;
