//! Publishes diagnostics to the client.

use super::analysis::Analysis;
use super::server::LspServer;
use super::text::Encoding;
use averment_base::diagnostic::{Diagnostic, Severity, Slug};
use averment_base::source::Span;
use lsp_types::{
    DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Location, NumberOrString,
    PublishDiagnosticsParams, Uri,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Maximum diagnostics of one document.
const TOLD: usize = 500;

/// Publishes the diagnostics of a document, and of imported files that are not open.
pub fn publish_diagnostics(server: &mut LspServer, key: &Path) {
    let Some(version) = server.documents.get(key).map(|document| document.version) else { return };
    let Some(analysis) = server.cached_analysis(key) else { return };
    let encoding = server.encoding;
    let mut lists: BTreeMap<String, (Uri, Vec<lsp_types::Diagnostic>)> = BTreeMap::new();
    lists.insert(analysis.uri.as_str().to_owned(), (analysis.uri.clone(), Vec::new()));
    for one in &analysis.diagnostics.0 {
        let Some(uri) = analysis.file_uri(one.span.file) else { continue };
        let own = one.span.file == analysis.root;
        if !own && server.documents.get(&super::documents::document_key(&uri)).is_some() {
            continue;
        }
        let (_, list) = lists.entry(uri.as_str().to_owned()).or_insert((uri, Vec::new()));
        if list.len() < TOLD {
            list.push(lsp_diagnostic(analysis, one, encoding));
        }
    }
    let said: BTreeSet<String> = lists.keys().cloned().collect();
    let own = analysis.uri.clone();
    let before = server.published.by_root.insert(key.to_path_buf(), said.clone()).unwrap_or_default();
    for uri in before.difference(&said) {
        clear_diagnostics(server, uri);
    }
    for (uri, diagnostics) in lists.into_values() {
        let version = (uri == own).then_some(version);
        server.notify_client("textDocument/publishDiagnostics", PublishDiagnosticsParams { uri, diagnostics, version });
    }
}

/// Withdraws the diagnostics of a closed document.
pub fn withdraw_diagnostics(server: &mut LspServer, key: &Path) {
    for uri in server.published.by_root.remove(key).unwrap_or_default() {
        clear_diagnostics(server, &uri);
    }
}

fn clear_diagnostics(server: &LspServer, uri: &str) {
    server.notify_client("textDocument/publishDiagnostics", serde_json::json!({ "uri": uri, "diagnostics": [] }));
}

/// Converts a diagnostic to the protocol.
pub fn lsp_diagnostic(analysis: &Analysis, one: &Diagnostic, encoding: Encoding) -> lsp_types::Diagnostic {
    let mut message = one.message.clone();
    if !one.label.is_empty() {
        message.push_str(&format!("\n{}", one.label));
    }
    if let Some(help) = &one.help {
        message.push_str(&format!("\nhelp: {help}"));
    }
    let related: Vec<DiagnosticRelatedInformation> = one
        .others
        .iter()
        .filter_map(|label| {
            let location = lsp_location(analysis, label.span, encoding)?;
            Some(DiagnosticRelatedInformation { location, message: label.text.clone() })
        })
        .collect();
    lsp_types::Diagnostic {
        range: lsp_range(analysis, one.span, encoding),
        severity: Some(match one.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Info => DiagnosticSeverity::INFORMATION,
        }),
        code: Some(NumberOrString::String(one.slug.as_str().to_owned())),
        code_description: None,
        source: Some("averment".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        tags: is_unused(one.slug).then(|| vec![DiagnosticTag::UNNECESSARY]),
        data: None,
    }
}

/// True for findings about removable code, which editors fade.
fn is_unused(slug: Slug) -> bool {
    slug.as_str().starts_with("unused-")
}

/// Returns the range of a span.
pub fn lsp_range(analysis: &Analysis, span: Span, encoding: Encoding) -> lsp_types::Range {
    analysis
        .sources
        .get(span.file)
        .map_or_else(lsp_types::Range::default, |file| encoding.to_range(file, span.as_range()))
}

/// Returns the location of a span; `None` for a span without a file.
pub fn lsp_location(analysis: &Analysis, span: Span, encoding: Encoding) -> Option<Location> {
    Some(Location { uri: analysis.file_uri(span.file)?, range: lsp_range(analysis, span, encoding) })
}
