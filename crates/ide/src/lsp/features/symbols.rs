//! Symbols of a document and of the workspace.

use super::super::analysis::Analysis;
use super::super::publish::{lsp_location, lsp_range};
use super::super::request_error::LspResult;
use super::super::server::LspServer;
use super::super::text::Encoding;
use super::super::workspace::rule_files;
use averment_base::source::Span;
use averment_syntax::ast::{ItemKind, SyntaxItem};
use lsp_types::{
    DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, OneOf, SymbolKind, WorkspaceSymbol,
    WorkspaceSymbolParams, WorkspaceSymbolResponse,
};

/// Maximum symbols returned.
const TOLD: usize = 1_000;
/// Maximum characters of a statement's symbol.
const LETTERS: usize = 72;

/// `textDocument/documentSymbol`.
pub fn document_symbols(
    server: &mut LspServer,
    parameters: DocumentSymbolParams,
) -> LspResult<Option<DocumentSymbolResponse>> {
    let encoding = server.encoding;
    let analysis = super::document_analysis(server, &parameters.text_document.uri)?;
    Ok(Some(DocumentSymbolResponse::Nested(item_symbols(analysis, &analysis.checked.ast.items, encoding))))
}

fn item_symbols(analysis: &Analysis, items: &[SyntaxItem], encoding: Encoding) -> Vec<DocumentSymbol> {
    items.iter().filter_map(|item| item_symbol(analysis, item, encoding)).collect()
}

struct NamedItem<'a> {
    name: String,
    detail: String,
    kind: SymbolKind,
    place: Span,
    body: &'a [SyntaxItem],
}

#[expect(deprecated, reason = "a field of the protocol's type that has to be written")]
fn item_symbol(analysis: &Analysis, item: &SyntaxItem, encoding: Encoding) -> Option<DocumentSymbol> {
    let named = named_item(analysis, item)?;
    let children = item_symbols(analysis, named.body, encoding);
    Some(DocumentSymbol {
        name: if named.name.is_empty() { "…".to_owned() } else { named.name },
        detail: (!named.detail.is_empty()).then_some(named.detail),
        kind: named.kind,
        tags: None,
        deprecated: None,
        range: lsp_range(analysis, item.span, encoding),
        selection_range: lsp_range(analysis, named.place, encoding),
        children: (!children.is_empty()).then_some(children),
    })
}

fn named_item<'a>(analysis: &Analysis, item: &'a SyntaxItem) -> Option<NamedItem<'a>> {
    let one = |name: &averment_syntax::ast::Name, detail: &str, kind, body: &'a [SyntaxItem]| {
        Some(NamedItem { name: name.text.clone(), detail: detail.to_owned(), kind, place: name.span, body })
    };
    match &item.kind {
        ItemKind::Param(param) => one(&param.name, &format!("param: {}", param.ty.text), SymbolKind::VARIABLE, &[]),
        ItemKind::Let { name, .. } => one(name, "let", SymbolKind::CONSTANT, &[]),
        ItemKind::Def { name, .. } => one(name, "def", SymbolKind::FUNCTION, &[]),
        ItemKind::DefStep { name, .. } => one(name, "def step", SymbolKind::EVENT, &[]),
        ItemKind::Schema { name, .. } => one(name, "schema", SymbolKind::STRUCT, &[]),
        ItemKind::Tool { name, .. } => one(name, "tool", SymbolKind::METHOD, &[]),
        ItemKind::ToolFacts { tools, .. } => {
            tools.first().and_then(|tool| one(&tool.name, "tool", SymbolKind::METHOD, &[]))
        }
        ItemKind::Use(import) => one(&import.target, "use", SymbolKind::MODULE, &[]),
        ItemKind::Rule(rule) => {
            let sentence =
                rule.sentence.as_ref().and_then(averment_syntax::ast::TextLiteral::literal_text).unwrap_or("rule");
            one(&rule.name, sentence, SymbolKind::CLASS, &rule.body)
        }
        ItemKind::Invariant(rule) => one(&rule.name, "invariant", SymbolKind::CLASS, &rule.body),
        ItemKind::Suite { name, body, .. } => one(name, "suite", SymbolKind::NAMESPACE, body),
        ItemKind::Case { name, body, .. } => one(name, "case", SymbolKind::CLASS, body),
        ItemKind::Test(test) => one(&test.name, &format!("test, expect {}", test.expect.text), SymbolKind::OBJECT, &[]),
        ItemKind::Runner { name, .. } => one(name, "runner", SymbolKind::OBJECT, &[]),
        ItemKind::Pre { body } => Some(of_word(item, "pre", body)),
        ItemKind::Post { body } => Some(of_word(item, "post", body)),
        ItemKind::Assertion(assertion) => {
            let text =
                analysis.sources.span_text(assertion.statement.span).split_whitespace().collect::<Vec<_>>().join(" ");
            let short: String = text.chars().take(LETTERS).collect();
            let name = if short.len() < text.len() { format!("{short}…") } else { short };
            Some(NamedItem {
                name,
                detail: String::new(),
                kind: SymbolKind::BOOLEAN,
                place: assertion.statement.span,
                body: &[],
            })
        }
        _ => None,
    }
}

fn of_word<'a>(item: &'a SyntaxItem, word: &str, body: &'a [SyntaxItem]) -> NamedItem<'a> {
    let length = u32::try_from(word.len()).unwrap_or(0);
    let place = Span { end: item.span.start.saturating_add(length), ..item.span };
    NamedItem { name: word.to_owned(), detail: String::new(), kind: SymbolKind::NAMESPACE, place, body }
}

/// `workspace/symbol`.
pub fn workspace_symbols(
    server: &mut LspServer,
    parameters: WorkspaceSymbolParams,
) -> LspResult<Option<WorkspaceSymbolResponse>> {
    let encoding = server.encoding;
    let wanted = parameters.query.to_lowercase();
    let mut found = Vec::new();
    for key in rule_files(&server.documents) {
        let Some(analysis) = server.analysis_for(&key) else { continue };
        let root = analysis.root;
        let own = analysis.checked.symbols.declarations.iter().filter(|one| one.span.file == root);
        for one in own.filter(|one| matches_query(&one.name, &wanted)) {
            let Some(location) = lsp_location(analysis, one.span, encoding) else { continue };
            let container_name = key.file_name().map(|name| name.to_string_lossy().into_owned());
            found.push(WorkspaceSymbol {
                name: one.name.clone(),
                kind: symbol_kind(one.kind),
                tags: None,
                container_name,
                location: OneOf::Left(location),
                data: None,
            });
        }
        if found.len() >= TOLD {
            found.truncate(TOLD);
            break;
        }
    }
    Ok(Some(WorkspaceSymbolResponse::Nested(found)))
}

fn matches_query(name: &str, wanted: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    wanted.chars().all(|letter| letters.any(|own| own == letter))
}

fn symbol_kind(kind: averment_checker::DeclarationKind) -> SymbolKind {
    use averment_checker::DeclarationKind as K;
    match kind {
        K::Param => SymbolKind::VARIABLE,
        K::Let => SymbolKind::CONSTANT,
        K::Def => SymbolKind::FUNCTION,
        K::DefStep => SymbolKind::EVENT,
        K::Schema => SymbolKind::STRUCT,
        K::Tool => SymbolKind::METHOD,
        K::Rule | K::Case | K::Invariant => SymbolKind::CLASS,
    }
}
