//! Inlay hints: types of names, and plain words for statements about order.

use super::super::analysis::Analysis;
use super::super::request_error::LspResult;
use super::super::server::LspServer;
use crate::assist;
use averment_builtins::table::type_word;
use averment_checker::ir::Type;
use averment_syntax::ast::walk::{self, SyntaxVisitor};
use averment_syntax::ast::{ItemKind, Statement, StatementKind, SyntaxItem};
use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, InlayHintParams};
use std::ops::Range;

/// `textDocument/inlayHint`.
pub fn inlay_hints(server: &mut LspServer, parameters: InlayHintParams) -> LspResult<Option<Vec<InlayHint>>> {
    if !server.settings.inlay_hints {
        return Ok(Some(Vec::new()));
    }
    let encoding = server.encoding;
    let analysis = super::document_analysis(server, &parameters.text_document.uri)?;
    let Some(file) = analysis.source_file() else { return Ok(None) };
    let bytes = encoding.to_bytes(file, parameters.range);
    let mut collector = HintCollector { analysis, hints: Vec::new() };
    walk::walk_file(&analysis.checked.ast, &mut collector);
    let shown = collector.hints.into_iter().filter(|(at, ..)| bytes.start <= *at && *at <= bytes.end);
    let hint = |at, label, kind: Option<InlayHintKind>| InlayHint {
        position: encoding.position_at(file, at),
        label: InlayHintLabel::String(label),
        padding_left: Some(kind.is_none()),
        kind,
        text_edits: None,
        tooltip: None,
        padding_right: None,
        data: None,
    };
    Ok(Some(shown.map(|(at, label, kind)| hint(at, label, kind)).collect()))
}

struct HintCollector<'a> {
    analysis: &'a Analysis,
    hints: Vec<(usize, String, Option<InlayHintKind>)>,
}

impl<'a> SyntaxVisitor<'a> for HintCollector<'_> {
    fn visit_item(&mut self, item: &'a SyntaxItem) {
        let module = &self.analysis.checked.module;
        let here = |span: averment_base::source::Span| span.file == self.analysis.root;
        let (at, ty) = match &item.kind {
            ItemKind::Let { name, .. } => {
                let known = module.lets.iter().find(|one| one.name == name.text && here(one.value.span));
                (name.span.end, known.map(|one| one.value.ty))
            }
            ItemKind::Def { name, parameters, body } => {
                let known = module.defs.iter().find(|one| one.name == name.text && here(one.body.span));
                let open = parameters.last().map_or(name.span.end, |last| last.span.end) as usize;
                let between: Range<usize> = open..body.span.start as usize;
                let close = self.analysis.source_text().get(between).and_then(|text| text.find(')'));
                let Some(close) = close else { return };
                (u32::try_from(open.saturating_add(close).saturating_add(1)).unwrap_or(0), known.map(|one| one.body.ty))
            }
            _ => return,
        };
        if let Some(ty) = ty.filter(|ty| *ty != Type::Any) {
            self.hints.push((at as usize, format!(": {}", type_word(ty)), Some(InlayHintKind::TYPE)));
        }
    }

    fn visit_statement(&mut self, statement: &'a Statement) {
        if let Some(reading) = assist::misreading_hint(statement, &self.analysis.sources) {
            let at = match &statement.kind {
                StatementKind::Block { body, .. } => block_head(self.analysis, statement, body),
                _ => statement.span.end as usize,
            };
            self.hints.push((at, reading, None));
        }
    }
}

fn block_head(analysis: &Analysis, statement: &Statement, body: &[SyntaxItem]) -> usize {
    let end = body.first().map_or(statement.span.end, |first| first.span.start) as usize;
    let head = analysis.source_text().get(statement.span.start as usize..end).unwrap_or("");
    head.rfind('{').map_or(end, |open| statement.span.start as usize + open + 1)
}
