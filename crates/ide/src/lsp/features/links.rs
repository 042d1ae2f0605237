//! Links to the files named in `use` and `from`.

use super::super::analysis::Analysis;
use super::super::place::{path_key, path_to_uri};
use super::super::publish::lsp_range;
use super::super::request_error::LspResult;
use super::super::server::LspServer;
use averment_syntax::ast::{ItemKind, Name, SchemaSource, SyntaxItem, TestRun};
use lsp_types::{DocumentLink, DocumentLinkParams, Uri};

fn file_names(items: &[SyntaxItem]) -> Vec<&Name> {
    let mut found = Vec::new();
    for item in items {
        match &item.kind {
            ItemKind::Use(import) if import.is_path => found.push(&import.target),
            ItemKind::ToolsFrom { path } | ItemKind::Schema { source: SchemaSource::File(path), .. } => {
                found.push(path)
            }
            ItemKind::Test(test) => {
                if let TestRun::File(path) = &test.run {
                    found.push(path);
                }
            }
            ItemKind::Rule(rule) | ItemKind::Invariant(rule) => found.extend(file_names(&rule.body)),
            ItemKind::Suite { body, .. } | ItemKind::Case { body, .. } => found.extend(file_names(body)),
            _ => {}
        }
    }
    found
}

fn link_target(analysis: &Analysis, name: &Name) -> Option<Uri> {
    let folder = analysis.source_file()?.folder.clone()?;
    let path = folder.join(&name.text);
    path.is_file().then(|| path_to_uri(&path_key(&path)))?
}

/// Returns the file that is named at a byte offset.
pub fn target_at(analysis: &Analysis, at: usize) -> Option<Uri> {
    let names = file_names(&analysis.checked.ast.items);
    let own = names.into_iter().find(|name| name.span.start as usize <= at && at <= name.span.end as usize)?;
    link_target(analysis, own)
}

/// `textDocument/documentLink`.
pub fn document_links(server: &mut LspServer, parameters: DocumentLinkParams) -> LspResult<Option<Vec<DocumentLink>>> {
    let encoding = server.encoding;
    let analysis = super::document_analysis(server, &parameters.text_document.uri)?;
    let links = file_names(&analysis.checked.ast.items).into_iter().filter_map(|name| {
        let target = Some(link_target(analysis, name)?);
        // The quotes are not part of the link.
        let span = averment_base::source::Span {
            start: name.span.start.saturating_add(1),
            end: name.span.end.saturating_sub(1).max(name.span.start.saturating_add(1)),
            ..name.span
        };
        Some(DocumentLink { range: lsp_range(analysis, span, encoding), target, tooltip: None, data: None })
    });
    Ok(Some(links.collect()))
}
