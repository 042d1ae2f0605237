//! Completion; the details of a candidate are resolved when it is selected.

use super::super::analysis::Analysis;
use super::super::documents::FileOverlay;
use super::super::publish::lsp_range;
use super::super::request_error::LspResult;
use super::super::server::LspServer;
use super::super::text::protocol_number;
use super::hover::markdown_content;
use crate::assist::{self, Completion, CompletionKind, Completions, CursorContext};
use averment_checker::files::Files as _;
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionParams, CompletionResponse, CompletionTextEdit,
    Documentation, InsertTextFormat, TextEdit,
};
use serde_json::json;

/// Maximum offered file names.
const FILES: usize = 200;

/// `textDocument/completion`.
pub fn completion_list(server: &mut LspServer, parameters: CompletionParams) -> LspResult<Option<CompletionResponse>> {
    let (encoding, snippets) = (server.encoding, server.client.snippets);
    let uri = parameters.text_document_position.text_document.uri.clone();
    let key = super::analyze_document(server, &uri)?;
    let recorded = server.run.as_ref().map(|run| run.recorded.clone());
    let Some(analysis) = server.cached_analysis(&key) else { return Ok(None) };
    let position = parameters.text_document_position.position;
    let at = analysis.source_file().map_or(0, |file| encoding.offset_at(file, position));
    let mut found =
        assist::complete_at(analysis.source_text(), at, &CursorContext { run: recorded, ..analysis.context.clone() });
    if let Some(path) = found.path.clone() {
        found = complete_files(server, analysis, &path, at, found);
    }
    let replaced = lsp_range(analysis, analysis.span(found.range.clone()), encoding);
    let data = json!({ "uri": uri.as_str(), "line": position.line, "character": position.character });
    let items = found.items.into_iter().enumerate();
    let items = items.map(|(index, item)| {
        let text = if snippets { item.insert } else { assist::strip_placeholders(&item.insert) };
        CompletionItem {
            label: item.label,
            kind: Some(completion_kind(item.kind)),
            detail: (!item.detail.is_empty()).then_some(item.detail),
            sort_text: Some(format!("{:05}", protocol_number(index))),
            insert_text_format: Some(if snippets { InsertTextFormat::SNIPPET } else { InsertTextFormat::PLAIN_TEXT }),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit { range: replaced, new_text: text })),
            data: Some(data.clone()),
            ..CompletionItem::default()
        }
    });
    Ok(Some(CompletionResponse::List(CompletionList { is_incomplete: false, items: items.collect() })))
}

fn complete_files(server: &LspServer, analysis: &Analysis, path: &str, at: usize, found: Completions) -> Completions {
    let Some(folder) = analysis.source_file().and_then(|file| file.folder.clone()) else { return found };
    let front = path.rfind('/').map_or(0, |slash| slash + 1);
    let (before, _) = path.split_at(front);
    let looked = folder.join(before);
    let names = FileOverlay::new(&server.documents, Some(&folder)).names(&folder, &format!("{before}x"));
    let line = analysis.source_text().get(..at).and_then(|text| text.rsplit('\n').next()).unwrap_or("");
    // `use` refers to rules, everything else to data.
    let rules = line.trim_start().starts_with("use");
    let own = analysis.source_file().map_or("", |file| &file.name);
    let fits = |name: &String| {
        let is_rules = name.ends_with(".assert");
        !name.starts_with('.') && (looked.join(name).is_dir() || is_rules == rules && (!rules || name != own))
    };
    let items = names.into_iter().filter(fits).take(FILES).map(|name| {
        let is_folder = looked.join(&name).is_dir();
        let label = if is_folder { format!("{name}/") } else { name };
        Completion {
            insert: label.clone(),
            kind: if is_folder { CompletionKind::Module } else { CompletionKind::File },
            detail: if is_folder { "folder".to_owned() } else { "file".to_owned() },
            doc: String::new(),
            label,
        }
    });
    // Only the last part of the path is replaced.
    let start = at.saturating_sub(path.len() - front);
    Completions { range: start..found.range.end, items: items.collect(), path: None }
}

fn completion_kind(kind: CompletionKind) -> CompletionItemKind {
    use CompletionKind as K;
    match kind {
        K::Statement | K::Declaration => CompletionItemKind::SNIPPET,
        K::Modifier | K::StepKind => CompletionItemKind::KEYWORD,
        K::Operator => CompletionItemKind::OPERATOR,
        K::Root => CompletionItemKind::CONSTANT,
        K::Field | K::Argument | K::Key => CompletionItemKind::FIELD,
        K::Tool => CompletionItemKind::METHOD,
        K::Step => CompletionItemKind::EVENT,
        K::Function => CompletionItemKind::FUNCTION,
        K::Variable => CompletionItemKind::VARIABLE,
        K::Schema => CompletionItemKind::STRUCT,
        K::Rule => CompletionItemKind::CLASS,
        K::Type => CompletionItemKind::TYPE_PARAMETER,
        K::Value => CompletionItemKind::VALUE,
        K::Module => CompletionItemKind::MODULE,
        K::File => CompletionItemKind::FILE,
        K::Slug => CompletionItemKind::ENUM_MEMBER,
    }
}

/// `completionItem/resolve`.
pub fn resolve_completion(server: &mut LspServer, mut item: CompletionItem) -> LspResult<CompletionItem> {
    if let Some(doc) = completion_docs(server, &item) {
        item.documentation = Some(Documentation::MarkupContent(markdown_content(doc)));
    }
    Ok(item)
}

fn completion_docs(server: &mut LspServer, item: &CompletionItem) -> Option<String> {
    use std::str::FromStr as _;
    let data = item.data.as_ref()?;
    let uri = lsp_types::Uri::from_str(data.get("uri")?.as_str()?).ok()?;
    let number = |key: &str| data.get(key)?.as_u64().and_then(|value| u32::try_from(value).ok());
    let position = lsp_types::Position { line: number("line")?, character: number("character")? };
    let (encoding, recorded) = (server.encoding, server.run.as_ref().map(|run| run.recorded.clone()));
    let analysis = server.analysis_for_uri(&uri)?;
    let at = encoding.offset_at(analysis.source_file()?, position);
    let found =
        assist::complete_at(analysis.source_text(), at, &CursorContext { run: recorded, ..analysis.context.clone() });
    let wanted =
        found.items.into_iter().find(|one| one.label == item.label && item.kind == Some(completion_kind(one.kind)))?;
    (!wanted.doc.is_empty()).then_some(wanted.doc)
}
