//! Hover and signature help.

use super::super::analysis::Analysis;
use super::super::publish::lsp_range;
use super::super::request_error::LspResult;
use super::super::server::LspServer;
use crate::assist;
use averment_base::source::Span;
use averment_engine::vm::online_use::OnlineUse;
use averment_syntax::ast::{ItemKind, Statement, StatementKind, SyntaxItem};
use lsp_types::{
    Documentation, Hover, HoverContents, HoverParams, MarkupContent, MarkupKind, ParameterInformation, ParameterLabel,
    SignatureHelp, SignatureHelpParams, SignatureInformation,
};
use std::fmt::Write as _;

/// `textDocument/hover`.
pub fn document_hover(server: &mut LspServer, parameters: HoverParams) -> LspResult<Option<Hover>> {
    let (encoding, recorded) = (server.encoding, server.run.as_ref().map(|run| run.recorded.clone()));
    let (analysis, at) = super::analysis_at(server, &parameters.text_document_position_params)?;
    let mut context = analysis.context.clone();
    context.run = recorded;
    let Some(found) = assist::hover_at(analysis.source_text(), at, &context) else { return Ok(None) };
    let mut text = found.text;
    // On the words that begin a statement: its plain words.
    if let Some(statement) = statement_at(&analysis.checked.ast.items, at)
        && statement.span.start as usize == found.range.start
        && let Some(reading) = assist::statement_reading(statement, &analysis.sources)
    {
        text = format!("*{reading}*\n\n{text}");
        if let Some(used) = online_use(analysis, statement.span) {
            let _ = write!(text, "\n\nWith `aver guard` it {}.", used.sentence());
        }
    }
    let range = lsp_range(analysis, Span::new(analysis.root, found.range.start, found.range.end), encoding);
    Ok(Some(Hover { contents: HoverContents::Markup(markdown_content(text)), range: Some(range) }))
}

/// Returns the effect, in an unfinished run, of the assertion around a statement of the document.
fn online_use(analysis: &Analysis, statement: Span) -> Option<OnlineUse> {
    let program = &analysis.compiled()?.program;
    let is_around =
        |span: Span| span.file == statement.file && span.start <= statement.start && statement.start < span.end;
    let assertion = program.assertions.iter().find(|one| is_around(one.span))?;
    Some(OnlineUse::of_assertion(program, assertion))
}

/// Returns the innermost statement at a byte offset.
pub fn statement_at(items: &[SyntaxItem], at: usize) -> Option<&Statement> {
    let holds = |span: Span| span.start as usize <= at && at <= span.end as usize;
    let item = items.iter().find(|item| holds(item.span))?;
    match &item.kind {
        ItemKind::Assertion(assertion) => inner_statement(&assertion.statement, at),
        ItemKind::Rule(rule) | ItemKind::Invariant(rule) => statement_at(&rule.body, at),
        ItemKind::Suite { body, .. }
        | ItemKind::Case { body, .. }
        | ItemKind::Pre { body }
        | ItemKind::Post { body }
        | ItemKind::ForEachTool { body, .. } => statement_at(body, at),
        _ => None,
    }
}

fn inner_statement(statement: &Statement, at: usize) -> Option<&Statement> {
    match &statement.kind {
        StatementKind::Block { body, .. } | StatementKind::Group { body, .. } => {
            Some(statement_at(body, at).unwrap_or(statement))
        }
        _ => Some(statement),
    }
}

/// Wraps Markdown for the protocol.
pub fn markdown_content(value: String) -> MarkupContent {
    MarkupContent { kind: MarkupKind::Markdown, value }
}

/// `textDocument/signatureHelp`.
pub fn signature_help(server: &mut LspServer, parameters: SignatureHelpParams) -> LspResult<Option<SignatureHelp>> {
    let recorded = server.run.as_ref().map(|run| run.recorded.clone());
    let (analysis, at) = super::analysis_at(server, &parameters.text_document_position_params)?;
    let mut context = analysis.context.clone();
    context.run = recorded;
    let found = assist::signature_at(analysis.source_text(), at, &context);
    Ok(found.map(|found| {
        let parameters = found.parameters.into_iter();
        let parameters =
            parameters.map(|label| ParameterInformation { label: ParameterLabel::Simple(label), documentation: None });
        let active = Some(super::super::text::protocol_number(found.active));
        let signature = SignatureInformation {
            label: found.label,
            documentation: (!found.doc.is_empty()).then(|| Documentation::MarkupContent(markdown_content(found.doc))),
            parameters: Some(parameters.collect()),
            active_parameter: active,
        };
        SignatureHelp { signatures: vec![signature], active_signature: Some(0), active_parameter: active }
    }))
}
