//! Definition, references, highlights.

use super::super::analysis::Analysis;
use super::super::publish::lsp_location;
use super::super::request_error::LspResult;
use super::super::server::LspServer;
use super::super::workspace::rule_files;
use averment_base::source::Span;
use averment_checker::{Declaration, DeclarationKind};
use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams, GotoDefinitionParams, GotoDefinitionResponse,
    Location, ReferenceParams,
};
use std::ops::Range;
use std::path::PathBuf;

/// The meaning of a name.
#[derive(Debug, Clone)]
pub enum NameMeaning {
    /// A declared name.
    Declared(DeclaredSymbol),
    /// A name local to one statement or definition, with all its locations.
    Local(Vec<Range<usize>>),
}

/// A declaration, identified independently of the analysis of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredSymbol {
    /// The name.
    pub name: String,
    /// The kind.
    pub kind: DeclarationKind,
    /// The file that declares it; `None` for a module of the standard set.
    pub file: Option<PathBuf>,
    /// The location of the name in that file.
    pub bytes: Range<usize>,
}

impl DeclaredSymbol {
    fn from_declaration(analysis: &Analysis, one: &Declaration) -> Self {
        let path = if one.span.file == analysis.root {
            Some(super::super::documents::document_key(&analysis.uri))
        } else {
            analysis.file_path(one.span.file).map(|path| super::super::place::path_key(&path))
        };
        Self { name: one.name.clone(), kind: one.kind, file: path, bytes: one.span.as_range() }
    }
}

/// Returns the meaning of the name at a byte offset.
pub fn name_at(analysis: &Analysis, at: usize) -> Option<NameMeaning> {
    let place = analysis.span(at..at);
    if let Some(local) = super::locals::local_places(analysis, at) {
        return Some(NameMeaning::Local(local));
    }
    analysis
        .checked
        .symbols
        .declaration_at(place)
        .map(|one| NameMeaning::Declared(DeclaredSymbol::from_declaration(analysis, one)))
}

/// Returns the locations of a declared name in one file, with its declaration if requested.
pub fn places_in_file(analysis: &Analysis, declared: &DeclaredSymbol, with_declaration: bool) -> Vec<Span> {
    let symbols = &analysis.checked.symbols;
    let number =
        symbols.declarations.iter().position(|one| DeclaredSymbol::from_declaration(analysis, one) == *declared);
    let Some(number) = number else { return Vec::new() };
    let uses = symbols.references.iter().filter(|(span, meant)| *meant == number && span.file == analysis.root);
    let mut places: Vec<Span> = uses.map(|(span, _)| *span).collect();
    let own = symbols.declarations.get(number).map(|one| one.span).filter(|span| span.file == analysis.root);
    places.extend(own.filter(|_| with_declaration));
    places.sort();
    places.dedup();
    places
}

/// Returns the locations of a declared name in all files of the workspace, by file.
pub fn all_places(
    server: &mut LspServer,
    declared: &DeclaredSymbol,
    with_declaration: bool,
) -> Vec<(PathBuf, Vec<Span>)> {
    let mut found = Vec::new();
    for key in rule_files(&server.documents) {
        if let Some(analysis) = server.analysis_for(&key) {
            let places = places_in_file(analysis, declared, with_declaration);
            if !places.is_empty() {
                found.push((key, places));
            }
        }
    }
    found
}

/// `textDocument/definition`.
pub fn goto_definition(
    server: &mut LspServer,
    parameters: GotoDefinitionParams,
) -> LspResult<Option<GotoDefinitionResponse>> {
    let encoding = server.encoding;
    let (analysis, at) = super::analysis_at(server, &parameters.text_document_position_params)?;
    if let Some(link) = super::links::target_at(analysis, at) {
        let location = Location { uri: link, range: lsp_types::Range::default() };
        return Ok(Some(GotoDefinitionResponse::Scalar(location)));
    }
    let place = match name_at(analysis, at) {
        Some(NameMeaning::Local(places)) => places.first().map(|bytes| analysis.span(bytes.clone())),
        Some(NameMeaning::Declared(_)) => {
            analysis.checked.symbols.declaration_at(analysis.span(at..at)).map(|one| one.span)
        }
        None => None,
    };
    Ok(place.and_then(|span| lsp_location(analysis, span, encoding)).map(GotoDefinitionResponse::Scalar))
}

/// `textDocument/references`.
pub fn find_references(server: &mut LspServer, parameters: ReferenceParams) -> LspResult<Option<Vec<Location>>> {
    let encoding = server.encoding;
    let with_declaration = parameters.context.include_declaration;
    let (analysis, at) = super::analysis_at(server, &parameters.text_document_position)?;
    match name_at(analysis, at) {
        None => Ok(None),
        Some(NameMeaning::Local(places)) => {
            let spans = places.into_iter().skip(usize::from(!with_declaration)).map(|bytes| analysis.span(bytes));
            Ok(Some(spans.filter_map(|span| lsp_location(analysis, span, encoding)).collect()))
        }
        Some(NameMeaning::Declared(declared)) => {
            let mut locations = Vec::new();
            for (key, spans) in all_places(server, &declared, with_declaration) {
                let Some(analysis) = server.cached_analysis(&key) else { continue };
                locations.extend(spans.into_iter().filter_map(|span| lsp_location(analysis, span, encoding)));
            }
            Ok(Some(locations))
        }
    }
}

/// `textDocument/documentHighlight`.
pub fn document_highlights(
    server: &mut LspServer,
    parameters: DocumentHighlightParams,
) -> LspResult<Option<Vec<DocumentHighlight>>> {
    let encoding = server.encoding;
    let (analysis, at) = super::analysis_at(server, &parameters.text_document_position_params)?;
    let Some(meaning) = name_at(analysis, at) else { return Ok(None) };
    let (spans, declared) = match meaning {
        NameMeaning::Local(places) => {
            let first = places.first().cloned();
            (places.into_iter().map(|bytes| analysis.span(bytes)).collect(), first)
        }
        NameMeaning::Declared(declared) => (places_in_file(analysis, &declared, true), Some(declared.bytes)),
    };
    let highlight = |span: Span| DocumentHighlight {
        range: super::super::publish::lsp_range(analysis, span, encoding),
        kind: Some(if declared.as_ref() == Some(&span.as_range()) {
            DocumentHighlightKind::WRITE
        } else {
            DocumentHighlightKind::READ
        }),
    };
    Ok(Some(spans.into_iter().map(highlight).collect()))
}
