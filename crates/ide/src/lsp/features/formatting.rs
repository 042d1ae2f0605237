//! Formatting of a document or a part of it.

use super::super::analysis::Analysis;
use super::super::publish::lsp_range as range_of;
use super::super::request_error::{LspResult, RequestError};
use super::super::server::LspServer;
use super::super::text::Encoding;
use averment_base::diagnostic::{Diagnostics, render};
use averment_syntax::fmt::{self, FormatEdit, FormatOptions};
use lsp_types::{DocumentFormattingParams, DocumentRangeFormattingParams, TextEdit};

/// `textDocument/formatting`.
pub fn format_document(
    server: &mut LspServer,
    parameters: DocumentFormattingParams,
) -> LspResult<Option<Vec<TextEdit>>> {
    let encoding = server.encoding;
    let analysis = super::document_analysis(server, &parameters.text_document.uri)?;
    let text = fmt::format_file(&analysis.sources, analysis.root, &FormatOptions::default());
    let text = text.map_err(|mistakes| format_error(analysis, &mistakes))?;
    Ok(Some(text_edits(analysis, fmt::line_edits(analysis.source_text(), &text), encoding)))
}

/// `textDocument/rangeFormatting`: the statements that the range touches.
pub fn format_range(
    server: &mut LspServer,
    parameters: DocumentRangeFormattingParams,
) -> LspResult<Option<Vec<TextEdit>>> {
    let encoding = server.encoding;
    let analysis = super::document_analysis(server, &parameters.text_document.uri)?;
    let Some(file) = analysis.source_file() else { return Ok(None) };
    let bytes = encoding.to_bytes(file, parameters.range);
    let edits = fmt::edits_in(&analysis.sources, analysis.root, bytes, &FormatOptions::default());
    let edits = edits.map_err(|mistakes| format_error(analysis, &mistakes))?;
    Ok(Some(text_edits(analysis, edits, encoding)))
}

fn text_edits(analysis: &Analysis, edits: Vec<FormatEdit>, encoding: Encoding) -> Vec<TextEdit> {
    let edit = |edit: FormatEdit| TextEdit {
        range: range_of(analysis, analysis.span(edit.range), encoding),
        new_text: edit.text,
    };
    edits.into_iter().map(edit).collect()
}

fn format_error(analysis: &Analysis, mistakes: &Diagnostics) -> RequestError {
    let said = render::render_short(mistakes, &analysis.sources);
    let first = said.lines().next().unwrap_or("").to_owned();
    RequestError::new(format!("a file with mistakes cannot be formatted: {first}"))
}
