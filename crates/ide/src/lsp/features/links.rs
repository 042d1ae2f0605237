//! Links: the files that `use` and `from` name.

use super::super::analysis::Analysis;
use super::super::dispatch::Answer;
use super::super::place::{key_of, uri_of};
use super::super::publish::range;
use super::super::server::Server;
use averment_syntax::ast::{Item, ItemKind, Literal, Name, TestRun};
use lsp_types::{DocumentLink, DocumentLinkParams, Uri};

/// The names of files in a document.
fn named(items: &[Item]) -> Vec<&Name> {
    let mut found = Vec::new();
    for item in items {
        match &item.kind {
            ItemKind::Use(import) if import.is_path => found.push(&import.target),
            ItemKind::ToolsFrom { path } | ItemKind::Schema { source: Literal::File(path), .. } => found.push(path),
            ItemKind::Test(test) => {
                if let TestRun::File(path) = &test.run {
                    found.push(path);
                }
            }
            ItemKind::Rule(rule) | ItemKind::Invariant(rule) => found.extend(named(&rule.body)),
            ItemKind::Suite { body, .. } | ItemKind::Case { body, .. } => found.extend(named(body)),
            _ => {}
        }
    }
    found
}

fn target(analysis: &Analysis, name: &Name) -> Option<Uri> {
    let folder = analysis.file()?.folder.clone()?;
    let path = folder.join(&name.text);
    path.is_file().then(|| uri_of(&key_of(&path)))?
}

/// The file that is named at a byte offset.
pub fn target_at(analysis: &Analysis, at: usize) -> Option<Uri> {
    let names = named(&analysis.checked.ast.items);
    let own = names.into_iter().find(|name| name.span.start as usize <= at && at <= name.span.end as usize)?;
    target(analysis, own)
}

/// `textDocument/documentLink`.
pub fn links(server: &mut Server, parameters: DocumentLinkParams) -> Answer<Option<Vec<DocumentLink>>> {
    let encoding = server.encoding;
    let analysis = super::document(server, &parameters.text_document.uri)?;
    let links = named(&analysis.checked.ast.items).into_iter().filter_map(|name| {
        let target = Some(target(analysis, name)?);
        // The quotes are no part of the link.
        let span = averment_base::source::Span {
            start: name.span.start.saturating_add(1),
            end: name.span.end.saturating_sub(1).max(name.span.start.saturating_add(1)),
            ..name.span
        };
        Some(DocumentLink { range: range(analysis, span, encoding), target, tooltip: None, data: None })
    });
    Ok(Some(links.collect()))
}
