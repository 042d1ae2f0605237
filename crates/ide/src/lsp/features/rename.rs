//! Rename, across files; what would break something is refused.

use super::super::analysis::Analysis;
use super::super::dispatch::{Answer, Refused};
use super::super::publish::range;
use super::super::server::Server;
use super::navigation::{Declared, NameMeaning, all_places, meaning};
use averment_base::source::Span;
use averment_engine::check::DeclarationKind as K;
use averment_syntax::words;
use lsp_types::{PrepareRenameResponse, RenameParams, TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit};
use std::collections::BTreeMap;

/// `textDocument/prepareRename`.
pub fn prepare(server: &mut Server, parameters: TextDocumentPositionParams) -> Answer<Option<PrepareRenameResponse>> {
    let encoding = server.encoding;
    let (analysis, at) = super::place(server, &parameters)?;
    let Some((span, _)) = renamed(analysis, at)? else { return Ok(None) };
    let span = bare(analysis, span);
    let placeholder = analysis.sources.text(span).to_owned();
    Ok(Some(PrepareRenameResponse::RangeWithPlaceholder { range: range(analysis, span, encoding), placeholder }))
}

/// What a rename at an offset is of, with the place itself.
fn renamed(analysis: &Analysis, at: usize) -> Answer<Option<(Span, NameMeaning)>> {
    let Some(found) = meaning(analysis, at) else { return Ok(None) };
    match &found {
        NameMeaning::Local(places) => {
            let own = places.iter().find(|bytes| bytes.start <= at && at <= bytes.end).cloned();
            Ok(own.map(|bytes| (analysis.span(bytes), found)))
        }
        NameMeaning::Declared(declared) => {
            if declared.file.is_none() {
                return Err(Refused::new(format!("`{}` is declared in the standard set", declared.name)));
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

/// A place without the quotes around it.
fn bare(analysis: &Analysis, span: Span) -> Span {
    let text = analysis.sources.text(span);
    let quoted = text.len() >= 2 && text.starts_with(['"', '\'']);
    if quoted { Span { start: span.start.saturating_add(1), end: span.end.saturating_sub(1), ..span } } else { span }
}

/// `textDocument/rename`.
pub fn rename(server: &mut Server, parameters: RenameParams) -> Answer<Option<WorkspaceEdit>> {
    let encoding = server.encoding;
    let new = parameters.new_name.trim().to_owned();
    let (analysis, at) = super::place(server, &parameters.text_document_position)?;
    let Some((_, found)) = renamed(analysis, at)? else {
        return Err(Refused::new("there is no name here that can be renamed"));
    };
    let mut changes: BTreeMap<String, (Uri, Vec<TextEdit>)> = BTreeMap::new();
    match found {
        NameMeaning::Local(places) => {
            let first = places.first().and_then(|bytes| analysis.text().get(bytes.clone())).unwrap_or("");
            let new = if first.starts_with('$') { format!("${}", new.trim_start_matches('$')) } else { new };
            identifier(new.trim_start_matches('$'), !first.starts_with('$'))?;
            let edits = places.into_iter().map(|bytes| TextEdit {
                range: range(analysis, analysis.span(bytes), encoding),
                new_text: new.clone(),
            });
            changes.insert(analysis.uri.as_str().to_owned(), (analysis.uri.clone(), edits.collect()));
        }
        NameMeaning::Declared(declared) => {
            valid(&declared, &new)?;
            for (key, spans) in all_places(server, &declared, true) {
                let Some(analysis) = server.known(&key) else { continue };
                free(analysis, &declared, &new)?;
                let edits = spans.into_iter().map(|span| TextEdit {
                    range: range(analysis, bare(analysis, span), encoding),
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

/// Refuses what is no name of its kind.
fn valid(declared: &Declared, new: &str) -> Answer<()> {
    match declared.kind {
        K::Schema => {
            identifier(new, false)?;
            if new.starts_with(|first: char| first.is_ascii_uppercase()) {
                Ok(())
            } else {
                Err(Refused::new(format!("`{new}` is no name of a schema: they start with a capital")))
            }
        }
        K::Rule | K::Case | K::Invariant => label(new),
        K::Tool => tool(new),
        K::Param | K::Let | K::Def | K::DefStep => identifier(new, true),
    }
}

fn identifier(new: &str, reserved: bool) -> Answer<()> {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if new.is_empty() || !new.chars().all(letter) || new.starts_with(|first: char| first.is_ascii_digit()) {
        return Err(Refused::new(format!("`{new}` is no name: letters, digits and `_`, and no digit in front")));
    }
    if reserved && (words::is_reserved(new) || averment_builtins::table::lookup(new).is_some()) {
        return Err(Refused::new(format!("`{new}` is a word of the language")));
    }
    Ok(())
}

fn label(new: &str) -> Answer<()> {
    if words::is_label(new) {
        Ok(())
    } else {
        Err(Refused::new(format!("`{new}` is no name of a rule: letters, digits, `_`, `-` and `.`")))
    }
}

fn tool(new: &str) -> Answer<()> {
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    if ends(new.chars().next())
        && ends(new.chars().next_back())
        && new.chars().all(letter)
        && !words::KINDS.contains(&new)
    {
        Ok(())
    } else {
        Err(Refused::new(format!("`{new}` is no bare name of a tool")))
    }
}

/// Refuses a name that a file has already.
fn free(analysis: &Analysis, declared: &Declared, new: &str) -> Answer<()> {
    let same_space = |kind: K| match declared.kind {
        K::Rule | K::Case | K::Invariant => matches!(kind, K::Rule | K::Case | K::Invariant),
        K::Schema => kind == K::Schema,
        K::Tool => kind == K::Tool,
        _ => matches!(kind, K::Param | K::Let | K::Def | K::DefStep),
    };
    let taken = analysis.checked.symbols.declarations.iter().any(|one| one.name == new && same_space(one.kind));
    if taken && new != declared.name {
        return Err(Refused::new(format!("`{new}` is declared already")));
    }
    Ok(())
}
