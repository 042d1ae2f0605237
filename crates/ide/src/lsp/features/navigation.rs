//! Definition, references, highlights.

use super::super::analysis::Analysis;
use super::super::dispatch::Answer;
use super::super::publish::location;
use super::super::server::Server;
use super::super::workspace::rule_files;
use averment_base::source::Span;
use averment_engine::check::{Declaration, DeclarationKind};
use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams, GotoDefinitionParams, GotoDefinitionResponse,
    Location, ReferenceParams,
};
use std::ops::Range;
use std::path::PathBuf;

/// What a place means.
#[derive(Debug, Clone)]
pub enum NameMeaning {
    /// A declared name.
    Declared(Declared),
    /// A name of one statement or definition, with all its places.
    Local(Vec<Range<usize>>),
}

/// A declaration that every file can be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: DeclarationKind,
    /// The file that declares it; `None` for a module of the standard set.
    pub file: Option<PathBuf>,
    /// The place of the name there.
    pub bytes: Range<usize>,
}

impl Declared {
    fn of(analysis: &Analysis, one: &Declaration) -> Self {
        let path = if one.span.file == analysis.root {
            Some(super::super::documents::document_key(&analysis.uri))
        } else {
            analysis.path(one.span.file).map(|path| super::super::place::key_of(&path))
        };
        Self { name: one.name.clone(), kind: one.kind, file: path, bytes: one.span.range() }
    }
}

/// What stands at a byte offset.
pub fn meaning(analysis: &Analysis, at: usize) -> Option<NameMeaning> {
    let place = analysis.span(at..at);
    if let Some(local) = super::locals::places(analysis, at) {
        return Some(NameMeaning::Local(local));
    }
    analysis.checked.symbols.at(place).map(|one| NameMeaning::Declared(Declared::of(analysis, one)))
}

/// The places of a declared name in one file, its declaration among them.
pub fn places(analysis: &Analysis, declared: &Declared, with_declaration: bool) -> Vec<Span> {
    let symbols = &analysis.checked.symbols;
    let number = symbols.declarations.iter().position(|one| Declared::of(analysis, one) == *declared);
    let Some(number) = number else { return Vec::new() };
    let uses = symbols.references.iter().filter(|(span, meant)| *meant == number && span.file == analysis.root);
    let mut places: Vec<Span> = uses.map(|(span, _)| *span).collect();
    let own = symbols.declarations.get(number).map(|one| one.span).filter(|span| span.file == analysis.root);
    places.extend(own.filter(|_| with_declaration));
    places.sort();
    places.dedup();
    places
}

/// The places of a declared name in all files of the workspace, by file.
pub fn all_places(server: &mut Server, declared: &Declared, with_declaration: bool) -> Vec<(PathBuf, Vec<Span>)> {
    let mut found = Vec::new();
    for key in rule_files(server) {
        if let Some(analysis) = server.analysis(&key) {
            let places = places(analysis, declared, with_declaration);
            if !places.is_empty() {
                found.push((key, places));
            }
        }
    }
    found
}

/// `textDocument/definition`.
pub fn definition(server: &mut Server, parameters: GotoDefinitionParams) -> Answer<Option<GotoDefinitionResponse>> {
    let encoding = server.encoding;
    let (analysis, at) = super::place(server, &parameters.text_document_position_params)?;
    if let Some(link) = super::links::target_at(analysis, at) {
        let location = Location { uri: link, range: lsp_types::Range::default() };
        return Ok(Some(GotoDefinitionResponse::Scalar(location)));
    }
    let place = match meaning(analysis, at) {
        Some(NameMeaning::Local(places)) => places.first().map(|bytes| analysis.span(bytes.clone())),
        Some(NameMeaning::Declared(_)) => analysis.checked.symbols.at(analysis.span(at..at)).map(|one| one.span),
        None => None,
    };
    Ok(place.and_then(|span| location(analysis, span, encoding)).map(GotoDefinitionResponse::Scalar))
}

/// `textDocument/references`.
pub fn references(server: &mut Server, parameters: ReferenceParams) -> Answer<Option<Vec<Location>>> {
    let encoding = server.encoding;
    let with_declaration = parameters.context.include_declaration;
    let (analysis, at) = super::place(server, &parameters.text_document_position)?;
    match meaning(analysis, at) {
        None => Ok(None),
        Some(NameMeaning::Local(places)) => {
            let spans = places.into_iter().skip(usize::from(!with_declaration)).map(|bytes| analysis.span(bytes));
            Ok(Some(spans.filter_map(|span| location(analysis, span, encoding)).collect()))
        }
        Some(NameMeaning::Declared(declared)) => {
            let mut locations = Vec::new();
            for (key, spans) in all_places(server, &declared, with_declaration) {
                let Some(analysis) = server.known(&key) else { continue };
                locations.extend(spans.into_iter().filter_map(|span| location(analysis, span, encoding)));
            }
            Ok(Some(locations))
        }
    }
}

/// `textDocument/documentHighlight`.
pub fn highlights(server: &mut Server, parameters: DocumentHighlightParams) -> Answer<Option<Vec<DocumentHighlight>>> {
    let encoding = server.encoding;
    let (analysis, at) = super::place(server, &parameters.text_document_position_params)?;
    let Some(meaning) = meaning(analysis, at) else { return Ok(None) };
    let (spans, declared) = match meaning {
        NameMeaning::Local(places) => {
            let first = places.first().cloned();
            (places.into_iter().map(|bytes| analysis.span(bytes)).collect(), first)
        }
        NameMeaning::Declared(declared) => (places(analysis, &declared, true), Some(declared.bytes)),
    };
    let highlight = |span: Span| DocumentHighlight {
        range: super::super::publish::range(analysis, span, encoding),
        kind: Some(if declared.as_ref() == Some(&span.range()) {
            DocumentHighlightKind::WRITE
        } else {
            DocumentHighlightKind::READ
        }),
    };
    Ok(Some(spans.into_iter().map(highlight).collect()))
}
