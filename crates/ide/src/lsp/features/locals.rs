//! Names local to one statement or definition: bindings, variables of quantifiers, parameters of a `def`.

use super::super::analysis::Analysis;
use crate::assist::{HighlightClass, highlight_tokens};
use averment_base::source::Span;
use averment_syntax::ast::walk::{self, SyntaxVisitor};
use averment_syntax::ast::{Expr, ExprKind, ItemKind, Name, SyntaxItem};
use std::ops::Range;

/// Returns all locations of the local name at a byte offset, in order; `None` if there is no such name.
pub fn local_places(analysis: &Analysis, at: usize) -> Option<Vec<Range<usize>>> {
    binding_places(analysis, at).or_else(|| variable_places(analysis, at))
}

fn binding_places(analysis: &Analysis, at: usize) -> Option<Vec<Range<usize>>> {
    let text = analysis.source_text();
    let painted: Vec<Range<usize>> = highlight_tokens(text)
        .into_iter()
        .filter(|one| one.class == HighlightClass::Binding)
        .map(|one| one.range)
        .collect();
    let own = painted.iter().find(|range| range.start <= at && at <= range.end)?;
    let name = text.get(own.clone())?;
    let around = assertion_around(&analysis.checked.ast.items, own.start)?;
    let same = painted.iter().filter(|range| {
        around.start as usize <= range.start
            && range.end <= around.end as usize
            && text.get((*range).clone()) == Some(name)
    });
    Some(same.cloned().collect())
}

fn assertion_around(items: &[SyntaxItem], at: usize) -> Option<Span> {
    let item = items.iter().find(|item| item.span.start as usize <= at && at < item.span.end as usize)?;
    match &item.kind {
        ItemKind::Rule(rule) | ItemKind::Invariant(rule) => assertion_around(&rule.body, at),
        ItemKind::Suite { body, .. }
        | ItemKind::Case { body, .. }
        | ItemKind::Pre { body }
        | ItemKind::Post { body }
        | ItemKind::ForEachTool { body, .. } => assertion_around(body, at),
        _ => Some(item.span),
    }
}

struct LocalVariable<'a> {
    name: &'a Name,
    within: Span,
}

#[derive(Default)]
struct LocalCollector<'a> {
    known: Vec<LocalVariable<'a>>,
    names: Vec<(&'a str, Span)>,
}

impl<'a> SyntaxVisitor<'a> for LocalCollector<'a> {
    fn visit_item(&mut self, item: &'a SyntaxItem) {
        let (parameters, within) = match &item.kind {
            ItemKind::Def { parameters, body, .. } => (parameters, body.span),
            ItemKind::DefStep { parameters, body, .. } => (parameters, body.span),
            _ => return,
        };
        let plain = parameters.iter().filter(|parameter| !parameter.text.starts_with('$'));
        self.known.extend(plain.map(|name| LocalVariable { name, within }));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Quantifier { variable, body, .. } => {
                self.known.push(LocalVariable { name: variable, within: body.span });
            }
            ExprKind::Name(name) => self.names.push((name, expr.span)),
            _ => {}
        }
    }
}

fn variable_places(analysis: &Analysis, at: usize) -> Option<Vec<Range<usize>>> {
    let mut all = LocalCollector::default();
    walk::walk_file(&analysis.checked.ast, &mut all);
    let at_place = |span: Span| span.start as usize <= at && at <= span.end as usize;
    let declared = all.known.iter().position(|known| at_place(known.name.span));
    let used = all.names.iter().find(|(_, span)| at_place(*span));
    let own = declared.or_else(|| used.and_then(|(name, span)| innermost_variable(&all.known, name, *span)))?;
    let known = all.known.get(own)?;
    let uses = all.names.iter().filter(|(name, span)| innermost_variable(&all.known, name, *span) == Some(own));
    let mut places: Vec<Range<usize>> = uses.map(|(_, span)| span.as_range()).collect();
    places.push(known.name.span.as_range());
    places.sort_by_key(|range| range.start);
    places.dedup();
    Some(places)
}

fn innermost_variable(known: &[LocalVariable<'_>], name: &str, place: Span) -> Option<usize> {
    let fits = |one: &LocalVariable<'_>| {
        one.name.text == name && one.within.start <= place.start && place.end <= one.within.end
    };
    let all = known.iter().enumerate().filter(|(_, one)| fits(one));
    all.min_by_key(|(_, one)| one.within.len()).map(|(index, _)| index)
}
