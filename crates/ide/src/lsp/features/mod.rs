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
use super::dispatch::{Answer, Refused};
use super::documents::document_key;
use super::server::Server;
use lsp_types::{TextDocumentPositionParams, Uri};
use std::path::PathBuf;

/// The document of a URI, analyzed.
fn document<'s>(server: &'s mut Server, uri: &Uri) -> Answer<&'s Analysis> {
    server.analysis_of(uri).ok_or_else(|| Refused::new(format!("`{}` cannot be read", uri.as_str())))
}

/// The document of a place with the place as a byte offset.
fn place<'s>(server: &'s mut Server, place: &TextDocumentPositionParams) -> Answer<(&'s Analysis, usize)> {
    let encoding = server.encoding;
    let analysis = document(server, &place.text_document.uri)?;
    let at = analysis.file().map_or(0, |file| encoding.offset(file, place.position));
    Ok((analysis, at))
}

/// What tells the document of a URI from others; it is analyzed.
fn analyzed(server: &mut Server, uri: &Uri) -> Answer<PathBuf> {
    let key = document_key(uri);
    server.analyze(&key).ok_or_else(|| Refused::new(format!("`{}` cannot be read", uri.as_str())))?;
    Ok(key)
}

/// The same with the rules as a whole: as a program that can be run.
fn settled(server: &mut Server, uri: &Uri) -> Answer<PathBuf> {
    let key = analyzed(server, uri)?;
    server.settle(&key);
    Ok(key)
}
