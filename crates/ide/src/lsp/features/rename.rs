//! Rename, across files; a rename that would break something is rejected.

use super::super::analysis::Analysis;
use super::super::publish::lsp_range;
use super::super::request_error::{LspResult, RequestError};
use super::super::server::LspServer;
use super::navigation::{DeclaredSymbol, NameMeaning, all_places, name_at};
use averment_base::source::Span;
use averment_checker::DeclarationKind as K;
use averment_syntax::words;
use lsp_types::{PrepareRenameResponse, RenameParams, TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit};
use std::collections::BTreeMap;

/// `textDocument/prepareRename`.
pub fn prepare_rename(
    server: &mut LspServer,
    parameters: TextDocumentPositionParams,
) -> LspResult<Option<PrepareRenameResponse>> {
    let encoding = server.encoding;
    let (analysis, at) = super::analysis_at(server, &parameters)?;
    let Some((span, _)) = rename_target(analysis, at)? else { return Ok(None) };
    let span = unquoted_span(analysis, span);
    let placeholder = analysis.sources.span_text(span).to_owned();
    Ok(Some(PrepareRenameResponse::RangeWithPlaceholder { range: lsp_range(analysis, span, encoding), placeholder }))
}

fn rename_target(analysis: &Analysis, at: usize) -> LspResult<Option<(Span, NameMeaning)>> {
    let Some(found) = name_at(analysis, at) else { return Ok(None) };
    match &found {
        NameMeaning::Local(places) => {
            let own = places.iter().find(|bytes| bytes.start <= at && at <= bytes.end).cloned();
            Ok(own.map(|bytes| (analysis.span(bytes), found)))
        }
        NameMeaning::Declared(declared) => {
            if declared.file.is_none() {
                return Err(RequestError::new(format!("`{}` is declared in the standard set", declared.name)));
            }
            let holds =
                |span: &Span| span.file == analysis.root && span.start as usize <= at && at <= span.end as usize;
            let symbols = &analysis.checked.symbols;
            let all =
                symbols.references.iter().map(|(span, _)| *span).chain(symbols.declarations.iter().map(|one| one.span));
            Ok(all.filter(holds).min_by_key(|span| span.len()).map(|span| (span, found)))
        }
    }
}

fn unquoted_span(analysis: &Analysis, span: Span) -> Span {
    let text = analysis.sources.span_text(span);
    let quoted = text.len() >= 2 && text.starts_with(['"', '\'']);
    if quoted { Span { start: span.start.saturating_add(1), end: span.end.saturating_sub(1), ..span } } else { span }
}

/// `textDocument/rename`.
pub fn rename_symbol(server: &mut LspServer, parameters: RenameParams) -> LspResult<Option<WorkspaceEdit>> {
    let encoding = server.encoding;
    let new = parameters.new_name.trim().to_owned();
    let (analysis, at) = super::analysis_at(server, &parameters.text_document_position)?;
    let Some((_, found)) = rename_target(analysis, at)? else {
        return Err(RequestError::new("there is no name here that can be renamed"));
    };
    let mut changes: BTreeMap<String, (Uri, Vec<TextEdit>)> = BTreeMap::new();
    match found {
        NameMeaning::Local(places) => {
            let first = places.first().and_then(|bytes| analysis.source_text().get(bytes.clone())).unwrap_or("");
            let new = if first.starts_with('$') { format!("${}", new.trim_start_matches('$')) } else { new };
            check_identifier(new.trim_start_matches('$'), !first.starts_with('$'))?;
            let edits = places.into_iter().map(|bytes| TextEdit {
                range: lsp_range(analysis, analysis.span(bytes), encoding),
                new_text: new.clone(),
            });
            changes.insert(analysis.uri.as_str().to_owned(), (analysis.uri.clone(), edits.collect()));
        }
        NameMeaning::Declared(declared) => {
            check_name(&declared, &new)?;
            for (key, spans) in all_places(server, &declared, true) {
                let Some(analysis) = server.cached_analysis(&key) else { continue };
                check_unused(analysis, &declared, &new)?;
                let edits = spans.into_iter().map(|span| TextEdit {
                    range: lsp_range(analysis, unquoted_span(analysis, span), encoding),
                    new_text: new.clone(),
                });
                changes.insert(analysis.uri.as_str().to_owned(), (analysis.uri.clone(), edits.collect()));
            }
        }
    }
    #[expect(
        clippy::mutable_key_type,
        reason = "the type of the protocol library has this map; the keys are never changed"
    )]
    let changes = changes.into_values().collect();
    Ok(Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }))
}

fn check_name(declared: &DeclaredSymbol, new: &str) -> LspResult<()> {
    match declared.kind {
        K::Schema => {
            check_identifier(new, false)?;
            if new.starts_with(|first: char| first.is_ascii_uppercase()) {
                Ok(())
            } else {
                Err(RequestError::new(format!("`{new}` is no name of a schema: they start with a capital")))
            }
        }
        K::Rule | K::Case | K::Invariant => check_label(new),
        K::Tool => check_tool(new),
        K::Param | K::Let | K::Def | K::DefStep => check_identifier(new, true),
    }
}

fn check_identifier(new: &str, reserved: bool) -> LspResult<()> {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if new.is_empty() || !new.chars().all(letter) || new.starts_with(|first: char| first.is_ascii_digit()) {
        return Err(RequestError::new(format!("`{new}` is no name: letters, digits and `_`, and no digit in front")));
    }
    if reserved && (words::is_reserved(new) || averment_builtins::table::find_builtin(new).is_some()) {
        return Err(RequestError::new(format!("`{new}` is a word of the language")));
    }
    Ok(())
}

fn check_label(new: &str) -> LspResult<()> {
    if words::is_label(new) {
        Ok(())
    } else {
        Err(RequestError::new(format!("`{new}` is no name of a rule: letters, digits, `_`, `-` and `.`")))
    }
}

fn check_tool(new: &str) -> LspResult<()> {
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    if ends(new.chars().next())
        && ends(new.chars().next_back())
        && new.chars().all(letter)
        && !words::KINDS.contains(&new)
    {
        Ok(())
    } else {
        Err(RequestError::new(format!("`{new}` is no bare name of a tool")))
    }
}

fn check_unused(analysis: &Analysis, declared: &DeclaredSymbol, new: &str) -> LspResult<()> {
    let same_space = |kind: K| match declared.kind {
        K::Rule | K::Case | K::Invariant => matches!(kind, K::Rule | K::Case | K::Invariant),
        K::Schema => kind == K::Schema,
        K::Tool => kind == K::Tool,
        _ => matches!(kind, K::Param | K::Let | K::Def | K::DefStep),
    };
    let taken = analysis.checked.symbols.declarations.iter().any(|one| one.name == new && same_space(one.kind));
    if taken && new != declared.name {
        return Err(RequestError::new(format!("`{new}` is declared already")));
    }
    Ok(())
}
