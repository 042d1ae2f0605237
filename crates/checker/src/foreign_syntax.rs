//! What a line was meant to be that can be read and does not compile: `len(output.items) > 3`, `output.a != None`.

use averment_base::diagnostic::{Diagnostic, Diagnostics, Fix, Severity, Slug, SourceEdit};
use averment_base::source::{SourceMap, Span};
use averment_syntax::ast::walk::{self, SyntaxVisitor};
use averment_syntax::ast::{Expr, ExprKind, NumberUnit, RuleFile};
use averment_syntax::foreign_statement;
use std::ops::Range;

/// Parse errors that are examined.
const ASKED: usize = 50;

pub(super) fn suggest_spellings(map: &SourceMap, diagnostics: &mut Diagnostics) {
    let asked = diagnostics.0.iter_mut().filter(|one| one.severity == Severity::Error);
    for one in asked.take(ASKED) {
        suggest_spelling(map, one);
    }
}

/// The text around a place that may be one statement: its line, or what stands there between the signs of a rule in one line.
fn statement_around(text: &str, place: Span) -> Option<(usize, &str)> {
    let start = text.get(..place.start as usize)?.rfind('\n').map_or(0, |at| at.saturating_add(1));
    let end = text.get(start..)?.find('\n').map_or(text.len(), |at| start.saturating_add(at));
    let line = text.get(start..end)?;
    if !line.trim_start().starts_with("rule ") {
        return Some((start, line));
    }
    let before = text.get(start..place.start as usize)?;
    let begin = before.rfind(['{', ';']).map_or(start, |at| start.saturating_add(at).saturating_add(1));
    let behind = text.get(place.end as usize..end).unwrap_or_default();
    let stop = behind.find(['}', ';']).map_or(end, |at| at.saturating_add(place.end as usize));
    Some((begin, text.get(begin..stop)?))
}

fn suggest_spelling(map: &SourceMap, one: &mut Diagnostic) -> Option<()> {
    let text = &map.get(one.span.file)?.text;
    let (start, line) = statement_around(text, one.span)?;
    let start = start.saturating_add(line.len().saturating_sub(line.trim_start().len()));
    let line = line.trim();
    // What offers a fix or names the keys there are knows better, but for what is known to be something else.
    let says_enough = one.fix.is_some() || one.slug == Slug::UnknownField;
    let meant = foreign_statement(line).filter(|meant| !says_enough || meant.overrides_fix)?;
    let title = format!("write `{}`", meant.text);
    let place = |range: &Range<usize>| {
        Span::new(one.span.file, start.saturating_add(range.start), start.saturating_add(range.end))
    };
    let wrong = meant.wrong.map(|(message, range)| (message, place(&range)));
    // A guess is about what was complained of, no value inside of a text, and a declared name is what it was declared as.
    let is_beside = |span: &Span| one.span.end <= span.start || span.end <= one.span.start;
    let is_elsewhere = || {
        let in_text = text.get(start..one.span.start as usize).is_some_and(|t| t.matches('"').count() % 2 == 1);
        in_text || one.slug == Slug::TypeMismatch || wrong.as_ref().is_some_and(|(_, span)| is_beside(span))
    };
    if !meant.certain && !meant.overrides_fix && is_elsewhere() {
        return None;
    }
    if let Some((message, span)) = wrong {
        one.message = message;
        one.span = span;
    }
    one.help = Some(title.clone());
    let edit = SourceEdit { span: Span::new(one.span.file, start, start.saturating_add(line.len())), text: meant.text };
    one.fix = meant.certain.then(|| Fix { title, edits: vec![edit] });
    Some(())
}

/// Explains that `output.items.length > 0` reads a field and does not count elements.
pub(super) fn warn_length_fields(map: &SourceMap, file: &RuleFile, diagnostics: &mut Diagnostics) {
    let mut lengths = LengthVisitor(Vec::new());
    walk::walk_file(file, &mut lengths);
    let said: Vec<Span> = diagnostics.0.iter().map(|one| one.span).collect();
    let touches = |place: Span| said.iter().any(|other| other.start < place.end && place.start < other.end);
    for (whole, name) in lengths.0.into_iter().filter(|(whole, _)| !touches(*whole)).take(ASKED) {
        let message = format!("this is a field with the name `{name}`, not how many there are");
        let mut one = Diagnostic { severity: Severity::Warning, ..Diagnostic::new(Slug::UnknownField, whole, message) };
        if suggest_spelling(map, &mut one).is_some() {
            // An object may have such a field.
            one.fix = None;
            diagnostics.push(one);
        }
    }
}

struct LengthVisitor(Vec<(Span, String)>);

impl SyntaxVisitor<'_> for LengthVisitor {
    fn visit_expr(&mut self, expr: &Expr) {
        let ExprKind::Test { subject, test } = &expr.kind else { return };
        let number = |operand: &Expr| match &operand.kind {
            ExprKind::Number(number) => number.unit == NumberUnit::None,
            _ => false,
        };
        if let ExprKind::Field { name, base } = &subject.kind
            && matches!(name.text.as_str(), "length" | "size")
            && matches!(base.kind, ExprKind::Field { .. } | ExprKind::Name(_) | ExprKind::Index { .. })
            && test.operand.as_deref().is_some_and(number)
        {
            self.0.push((subject.span, name.text.clone()));
        }
    }
}
