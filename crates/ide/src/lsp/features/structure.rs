//! Folding and selection ranges, from brackets and lines, so that they work on any text.

use super::super::analysis::Analysis;
use super::super::publish::lsp_range;
use super::super::request_error::LspResult;
use super::super::server::LspServer;
use super::super::text::protocol_number;
use crate::assist::{HighlightClass, bracket_pairs, highlight_tokens};
use averment_base::source::SourceFile;
use averment_syntax::ast::{ItemKind, StatementKind, SyntaxItem};
use lsp_types::{FoldingRange, FoldingRangeKind, FoldingRangeParams, SelectionRange, SelectionRangeParams};
use std::ops::Range;

/// `textDocument/foldingRange`.
pub fn folding_ranges(server: &mut LspServer, parameters: FoldingRangeParams) -> LspResult<Option<Vec<FoldingRange>>> {
    let analysis = super::document_analysis(server, &parameters.text_document.uri)?;
    let Some(file) = analysis.source_file() else { return Ok(None) };
    let mut found: Vec<(u32, u32, Option<FoldingRangeKind>)> = Vec::new();
    for pair in bracket_pairs(&file.text) {
        // The line of the closing bracket stays visible.
        let (first, last) = (line_at(file, pair.start), line_at(file, pair.end.saturating_sub(1)).saturating_sub(1));
        found.extend((last > first).then_some((first, last, None)));
    }
    found.extend(comment_folds(file));
    found.extend(import_fold(analysis, file));
    found.sort_by_key(|(first, last, _)| (*first, *last));
    found.dedup_by_key(|(first, ..)| *first);
    let range = |(start_line, end_line, kind)| FoldingRange { start_line, end_line, kind, ..FoldingRange::default() };
    Ok(Some(found.into_iter().map(range).collect()))
}

/// Returns the line of a byte offset, counted from 0.
fn line_at(file: &SourceFile, at: usize) -> u32 {
    protocol_number(file.line_column(protocol_number(at)).line.saturating_sub(1))
}

fn comment_folds(file: &SourceFile) -> Vec<(u32, u32, Option<FoldingRangeKind>)> {
    let mut found: Vec<(u32, u32, Option<FoldingRangeKind>)> = Vec::new();
    for index in 1..=file.line_count() {
        if !file.line_text(index).trim_start().starts_with('#') {
            continue;
        }
        let here = protocol_number(index - 1);
        match found.last_mut() {
            Some((_, last, _)) if last.saturating_add(1) == here => *last = here,
            _ => found.push((here, here, Some(FoldingRangeKind::Comment))),
        }
    }
    found.retain(|(first, last, _)| last > first);
    found
}

fn import_fold(analysis: &Analysis, file: &SourceFile) -> Option<(u32, u32, Option<FoldingRangeKind>)> {
    let is_import = |item: &&SyntaxItem| matches!(item.kind, ItemKind::Use(_) | ItemKind::ToolsFrom { .. });
    let all: Vec<&SyntaxItem> =
        analysis.checked.ast.items.iter().skip_while(|item| !is_import(item)).take_while(is_import).collect();
    let (first, last) = (all.first()?, all.last()?);
    let lines = (line_at(file, first.span.start as usize), line_at(file, last.span.start as usize));
    (lines.1 > lines.0).then_some((lines.0, lines.1, Some(FoldingRangeKind::Imports)))
}

/// `textDocument/selectionRange`.
pub fn selection_ranges(
    server: &mut LspServer,
    parameters: SelectionRangeParams,
) -> LspResult<Option<Vec<SelectionRange>>> {
    let encoding = server.encoding;
    let analysis = super::document_analysis(server, &parameters.text_document.uri)?;
    let Some(file) = analysis.source_file() else { return Ok(None) };
    let grown = parameters.positions.into_iter().map(|position| {
        let at = encoding.offset_at(file, position);
        let mut ranges = enclosing_ranges(analysis, at);
        ranges.retain(|bytes| bytes.start <= at && at <= bytes.end);
        ranges.sort_by_key(|bytes| (bytes.end.saturating_sub(bytes.start), bytes.start));
        ranges.dedup();
        // Each range has to contain the previous one.
        let mut chain: Vec<Range<usize>> = Vec::new();
        for bytes in ranges {
            if chain.last().is_none_or(|last| bytes.start <= last.start && last.end <= bytes.end) {
                chain.push(bytes);
            }
        }
        let whole =
            SelectionRange { range: lsp_range(analysis, analysis.span(0..file.text.len()), encoding), parent: None };
        chain.into_iter().rev().fold(whole, |parent, bytes| SelectionRange {
            range: lsp_range(analysis, analysis.span(bytes), encoding),
            parent: Some(Box::new(parent)),
        })
    });
    Ok(Some(grown.collect()))
}

fn enclosing_ranges(analysis: &Analysis, at: usize) -> Vec<Range<usize>> {
    let text = analysis.source_text();
    let words =
        highlight_tokens(text).into_iter().filter(|one| one.class != HighlightClass::Operator).map(|one| one.range);
    let mut found: Vec<Range<usize>> = words.filter(|range| range.start <= at && at <= range.end).collect();
    for pair in bracket_pairs(text).into_iter().filter(|pair| pair.start <= at && at <= pair.end) {
        found.push(pair.start.saturating_add(1)..pair.end.saturating_sub(1).max(pair.start.saturating_add(1)));
        found.push(pair);
    }
    items_around(&analysis.checked.ast.items, at, &mut found);
    found
}

fn items_around(items: &[SyntaxItem], at: usize, found: &mut Vec<Range<usize>>) {
    let Some(item) = items.iter().find(|item| item.span.start as usize <= at && at <= item.span.end as usize) else {
        return;
    };
    found.push(item.span.as_range());
    match &item.kind {
        ItemKind::Rule(rule) | ItemKind::Invariant(rule) => items_around(&rule.body, at, found),
        ItemKind::Suite { body, .. }
        | ItemKind::Case { body, .. }
        | ItemKind::Pre { body }
        | ItemKind::Post { body }
        | ItemKind::ForEachTool { body, .. } => items_around(body, at, found),
        ItemKind::Assertion(assertion) => {
            found.push(assertion.statement.span.as_range());
            if let StatementKind::Block { body, .. } | StatementKind::Group { body, .. } = &assertion.statement.kind {
                items_around(body, at, found);
            }
        }
        _ => {}
    }
}
