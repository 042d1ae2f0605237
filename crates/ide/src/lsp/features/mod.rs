//! One file per feature of the protocol.

pub mod actions;
pub mod commands;
pub mod completion;
pub mod formatting;
pub mod hints;
pub mod hover;
pub mod lenses;
pub mod links;
mod locals;
pub mod navigation;
pub mod rename;
pub mod structure;
pub mod symbols;
pub mod tokens;

use super::analysis::Analysis;
use super::documents::document_key;
use super::request_error::{LspResult, RequestError};
use super::server::LspServer;
use lsp_types::{TextDocumentPositionParams, Uri};
use std::path::PathBuf;

fn document_analysis<'s>(server: &'s mut LspServer, uri: &Uri) -> LspResult<&'s Analysis> {
    server.analysis_for_uri(uri).ok_or_else(|| RequestError::new(format!("`{}` cannot be read", uri.as_str())))
}

fn analysis_at<'s>(server: &'s mut LspServer, place: &TextDocumentPositionParams) -> LspResult<(&'s Analysis, usize)> {
    let encoding = server.encoding;
    let analysis = document_analysis(server, &place.text_document.uri)?;
    let at = analysis.source_file().map_or(0, |file| encoding.offset_at(file, place.position));
    Ok((analysis, at))
}

fn analyze_document(server: &mut LspServer, uri: &Uri) -> LspResult<PathBuf> {
    let key = document_key(uri);
    server.ensure_analysis(&key).ok_or_else(|| RequestError::new(format!("`{}` cannot be read", uri.as_str())))?;
    Ok(key)
}

fn settle_document(server: &mut LspServer, uri: &Uri) -> LspResult<PathBuf> {
    let key = analyze_document(server, uri)?;
    server.settle_document(&key);
    Ok(key)
}
