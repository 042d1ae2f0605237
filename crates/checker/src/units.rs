//! Durations, money and sizes: mixing them is an error, a bare number against one a warning that says what to write.

use super::Checker;
use super::expr::CheckedExpr;
use super::ty::NumberMeasure;
use crate::ir::{Constant, ExprKind};
use averment_base::diagnostic::{Diagnostic, Slug};

impl Checker<'_> {
    pub(super) fn check_compared(&mut self, left: &CheckedExpr, right: &CheckedExpr) {
        let (Some(a), Some(b)) = (left.ty.number_measure(), right.ty.number_measure()) else { return };
        for (count, other, unit) in [(left, right, b), (right, left, a)] {
            if count.is_count() && !matches!(unit, NumberMeasure::Plain | NumberMeasure::Instant) {
                return self.report_unit_of_count(count, other, unit);
            }
        }
        self.check_measures(a, b, Some(left), right, "is compared with");
    }

    fn report_unit_of_count(&mut self, count: &CheckedExpr, other: &CheckedExpr, unit: NumberMeasure) {
        let text = self.source_line(count.expr.span);
        let of_steps = matches!(count.expr.kind, ExprKind::Local(_));
        let text = if of_steps { format!("count {text}") } else { text };
        let message = format!("`{text}` is a count, and a count has no unit: it is compared with {}", unit.noun());
        let place = other.expr.span;
        let diagnostic = Diagnostic::new(Slug::MixedUnits, place, message);
        self.report_diagnostic(
            match other.number_text().and_then(|value| without_unit(&self.source_line(place), value, unit)) {
                Some(bare) => diagnostic.with_help(format!("write the number alone: `{bare}`")).with_fix(
                    format!("write `{bare}`"),
                    place,
                    bare.clone(),
                ),
                None => diagnostic.with_help("write a number without a unit"),
            },
        );
    }

    pub(super) fn check_measures(
        &mut self,
        a: NumberMeasure,
        b: NumberMeasure,
        left: Option<&CheckedExpr>,
        right: &CheckedExpr,
        verb: &str,
    ) -> bool {
        match (a, b) {
            _ if a == b => true,
            (NumberMeasure::Instant, NumberMeasure::Plain | NumberMeasure::Duration)
            | (NumberMeasure::Plain | NumberMeasure::Duration, NumberMeasure::Instant) => true,
            (unit, NumberMeasure::Plain) => {
                self.warn_bare(unit, right);
                true
            }
            (NumberMeasure::Plain, unit) => {
                if let Some(left) = left {
                    self.warn_bare(unit, left);
                }
                true
            }
            _ => {
                let message = match left {
                    Some(_) => format!("{} {verb} {}", a.noun(), b.noun()),
                    None => format!("{} is given where {} belongs", b.noun(), a.noun()),
                };
                self.report_diagnostic(
                    Diagnostic::new(Slug::MixedUnits, right.expr.span, message).with_help(wanted_spelling(a)),
                );
                false
            }
        }
    }

    pub(super) fn check_sum(
        &mut self,
        a: NumberMeasure,
        b: NumberMeasure,
        left: &CheckedExpr,
        right: &CheckedExpr,
        verb: &str,
    ) -> bool {
        match (a, b) {
            (unit, NumberMeasure::Plain) => {
                self.warn_bare(unit, right);
                true
            }
            (NumberMeasure::Plain, unit) => {
                self.warn_bare(unit, left);
                true
            }
            _ => {
                let sign = if verb == "added to" { "+" } else { "-" };
                let message = format!("{} is {verb} {}", b.noun(), a.noun());
                self.report_diagnostic(
                    Diagnostic::new(Slug::MixedUnits, right.expr.span, message)
                        .with_help(format!("both sides of `{sign}` must have one type")),
                );
                false
            }
        }
    }

    pub(super) fn check_units_of_range(&mut self, start: &CheckedExpr, end: &CheckedExpr) -> bool {
        match (start.ty.number_measure(), end.ty.number_measure()) {
            (Some(a), Some(b)) => self.check_measures(a, b, Some(start), end, "is the start of a range that ends with"),
            _ => true,
        }
    }

    pub(super) fn check_units_inside(&mut self, left: &CheckedExpr, right: &CheckedExpr) {
        let parts: Vec<CheckedExpr> = match &right.expr.kind {
            ExprKind::Range(start, end) => start.iter().chain(end).map(|side| checked_again(side)).collect(),
            ExprKind::List(elements) if right.ty.element_type().is_count() => {
                elements.iter().map(|element| checked_again(element).with_type(right.ty.element_type())).collect()
            }
            ExprKind::List(elements) => elements.iter().map(checked_again).collect(),
            ExprKind::Constant(Constant::List(_)) => vec![right.clone().with_type(right.ty.element_type())],
            _ => return,
        };
        for part in parts {
            self.check_compared(left, &part);
        }
    }

    /// Warns about a bare number where a unit belongs. Zero fits every unit.
    fn warn_bare(&mut self, unit: NumberMeasure, value: &CheckedExpr) {
        let Some(text) = value.number_text() else { return };
        if text.parse::<f64>().is_ok_and(|number| number == 0.0) {
            return;
        }
        let written = self.source_line(value.expr.span);
        let written = if written.ends_with('%') { text.to_owned() } else { written };
        let (read_as, write) = match unit {
            NumberMeasure::Money => ("USD", format!("${written}")),
            NumberMeasure::Size => ("bytes", format!("{written}B")),
            _ => ("milliseconds", format!("{written}ms")),
        };
        let message = format!("a bare number against {} is read as {read_as}", unit.noun());
        let diagnostic = Diagnostic::new(Slug::BareNumber, value.expr.span, message);
        // Who writes `duration <= 30` may have meant seconds: nothing is certain there.
        let diagnostic = if read_as == "milliseconds" {
            diagnostic.with_help(format!("write `{written}s` for seconds, `{write}` for milliseconds"))
        } else {
            diagnostic.with_help(format!("write `{write}`")).with_fix(
                format!("write `{write}`"),
                value.expr.span,
                write.clone(),
            )
        };
        self.report_diagnostic(diagnostic);
    }
}

fn checked_again(expr: &crate::ir::TypedExpr) -> CheckedExpr {
    CheckedExpr::new(expr.kind.clone(), expr.span, super::ty::Ty::from_ir(expr.ty))
}

/// The number without its unit as it was probably meant: 5 for `5s`, 50,000 for `50KB`.
fn without_unit(written: &str, value: &str, unit: NumberMeasure) -> Option<String> {
    match unit {
        NumberMeasure::Size => Some(value.to_owned()),
        _ => Some(bare_number(written)).filter(|bare| bare.parse::<f64>().is_ok()).map(str::to_owned),
    }
}

/// The digits of a written number without its unit: 5 for `5s` and `$5`.
pub(super) fn bare_number(written: &str) -> &str {
    written.trim_start_matches('$').trim_end_matches(|letter: char| letter.is_ascii_alphabetic())
}

fn wanted_spelling(unit: NumberMeasure) -> String {
    match unit {
        NumberMeasure::Plain => "write a number".to_owned(),
        NumberMeasure::Instant => "compare it with another point in time".to_owned(),
        NumberMeasure::Money => format!("write money such as `{}`", unit.example_literal()),
        _ => format!("write {} such as `{}`", unit.noun(), unit.example_literal()),
    }
}
