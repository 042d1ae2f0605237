//! Draws diagnostics over the source, with miette.

mod picture;

use crate::redact::redact_diagnostic;
use averment_base::diagnostic::Diagnostics;
use averment_base::diagnostic::render::{DRAWN, TextStyle, count_by_severity, push_line};
use averment_base::source::SourceMap;
use miette::{GraphicalReportHandler, GraphicalTheme};
use picture::{DiagnosticView, OtherFileLabel};
use std::fmt::Write as _;

/// Draws diagnostics with excerpts of the source, followed by a line with their counts. Empty if there are none.
#[must_use]
pub fn draw_diagnostics(diagnostics: &Diagnostics, sources: &SourceMap, style: TextStyle) -> String {
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
        let mut diagnostic = diagnostic.clone();
        redact_diagnostic(&mut diagnostic);
        let diagnostic = &diagnostic;
        // Writing to memory cannot fail. The only error is a span outside of its file, which is then shown without a drawing.
        if handler.render_report(&mut text, &DiagnosticView::new(diagnostic, sources)).is_err() {
            push_line(&mut text, diagnostic, sources);
        }
        for label in diagnostic.others.iter().filter(|other| other.span.file != diagnostic.span.file) {
            let _ = handler.render_report(&mut text, &OtherFileLabel::new(label, sources));
        }
        text.push('\n');
    }
    if let Some(count) = count_by_severity(diagnostics) {
        let _ = writeln!(text, "{count}");
    }
    text
}

#[cfg(test)]
mod tests;
