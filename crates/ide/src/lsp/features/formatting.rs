//! Formatting of a document and of a part of it.

use super::super::analysis::Analysis;
use super::super::dispatch::{Answer, Refused};
use super::super::publish::range as range_of;
use super::super::server::Server;
use super::super::text::Encoding;
use averment_base::diagnostic::{Diagnostics, render};
use averment_syntax::fmt::{self, Edit, Options};
use lsp_types::{DocumentFormattingParams, DocumentRangeFormattingParams, TextEdit};

/// `textDocument/formatting`.
pub fn document(server: &mut Server, parameters: DocumentFormattingParams) -> Answer<Option<Vec<TextEdit>>> {
    let encoding = server.encoding;
    let analysis = super::document(server, &parameters.text_document.uri)?;
    let text = fmt::format(&analysis.sources, analysis.root, &Options::default());
    let text = text.map_err(|mistakes| refused(analysis, &mistakes))?;
    Ok(Some(converted(analysis, fmt::edits(analysis.text(), &text), encoding)))
}

/// `textDocument/rangeFormatting`: the statements that the range touches.
pub fn range(server: &mut Server, parameters: DocumentRangeFormattingParams) -> Answer<Option<Vec<TextEdit>>> {
    let encoding = server.encoding;
    let analysis = super::document(server, &parameters.text_document.uri)?;
    let Some(file) = analysis.file() else { return Ok(None) };
    let bytes = encoding.bytes(file, parameters.range);
    let edits = fmt::edits_in(&analysis.sources, analysis.root, bytes, &Options::default());
    let edits = edits.map_err(|mistakes| refused(analysis, &mistakes))?;
    Ok(Some(converted(analysis, edits, encoding)))
}

fn converted(analysis: &Analysis, edits: Vec<Edit>, encoding: Encoding) -> Vec<TextEdit> {
    let edit =
        |edit: Edit| TextEdit { range: range_of(analysis, analysis.span(edit.range), encoding), new_text: edit.text };
    edits.into_iter().map(edit).collect()
}

/// A file with mistakes has no format; the first of them says where.
fn refused(analysis: &Analysis, mistakes: &Diagnostics) -> Refused {
    let said = render::short(mistakes, &analysis.sources);
    let first = said.lines().next().unwrap_or("").to_owned();
    Refused::new(format!("a file with mistakes cannot be formatted: {first}"))
}
