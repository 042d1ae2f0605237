//! Durations, money and sizes: mixing them is an error, a bare number against one a warning that says what to write.

use super::Checker;
use super::expr::Typed;
use super::ty::Measure;
use crate::ir::{Constant, ExprKind};
use averment_base::diagnostic::{Diagnostic, Slug};

impl Checker<'_> {
    /// Two numbers that are compared: `left` with `right`.
    pub(super) fn check_compared(&mut self, left: &Typed, right: &Typed) {
        let (Some(a), Some(b)) = (left.ty.measure(), right.ty.measure()) else { return };
        for (count, other, unit) in [(left, right, b), (right, left, a)] {
            if count.is_count() && !matches!(unit, Measure::Plain | Measure::Instant) {
                return self.report_unit_of_count(count, other, unit);
            }
        }
        self.check_measures(a, b, Some(left), right, "is compared with");
    }

    /// A count that is compared with a duration, money or a size.
    fn report_unit_of_count(&mut self, count: &Typed, other: &Typed, unit: Measure) {
        let text = self.written(count.expr.span);
        let of_steps = matches!(count.expr.kind, ExprKind::Local(_));
        let text = if of_steps { format!("count {text}") } else { text };
        let message = format!("`{text}` is a count, and a count has no unit: it is compared with {}", unit.noun());
        let place = other.expr.span;
        let diagnostic = Diagnostic::new(Slug::MixedUnits, place, message);
        self.report(match other.number().and_then(|value| without_unit(&self.written(place), value, unit)) {
            Some(bare) => diagnostic.help(format!("write the number alone: `{bare}`")).fix(
                format!("write `{bare}`"),
                place,
                bare.clone(),
            ),
            None => diagnostic.help("write a number without a unit"),
        });
    }

    /// Two numbers that should count the same.
    ///
    /// Gives whether they can.
    pub(super) fn check_measures(
        &mut self,
        a: Measure,
        b: Measure,
        left: Option<&Typed>,
        right: &Typed,
        verb: &str,
    ) -> bool {
        match (a, b) {
            _ if a == b => true,
            (Measure::Instant, Measure::Plain | Measure::Duration)
            | (Measure::Plain | Measure::Duration, Measure::Instant) => true,
            (unit, Measure::Plain) => {
                self.warn_bare(unit, right);
                true
            }
            (Measure::Plain, unit) => {
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
                self.report(Diagnostic::new(Slug::MixedUnits, right.expr.span, message).help(wanted(a)));
                false
            }
        }
    }

    /// Two numbers that are added or subtracted.
    ///
    /// Gives whether they can be.
    pub(super) fn check_sum(&mut self, a: Measure, b: Measure, left: &Typed, right: &Typed, verb: &str) -> bool {
        match (a, b) {
            (unit, Measure::Plain) => {
                self.warn_bare(unit, right);
                true
            }
            (Measure::Plain, unit) => {
                self.warn_bare(unit, left);
                true
            }
            _ => {
                let sign = if verb == "added to" { "+" } else { "-" };
                let message = format!("{} is {verb} {}", b.noun(), a.noun());
                self.report(
                    Diagnostic::new(Slug::MixedUnits, right.expr.span, message)
                        .help(format!("both sides of `{sign}` must have one type")),
                );
                false
            }
        }
    }

    /// The ends of a range.
    pub(super) fn check_units_of_range(&mut self, start: &Typed, end: &Typed) -> bool {
        match (start.ty.measure(), end.ty.measure()) {
            (Some(a), Some(b)) => self.check_measures(a, b, Some(start), end, "is the start of a range that ends with"),
            _ => true,
        }
    }

    /// A number that is compared with a range or a list: each end and element counts.
    pub(super) fn check_units_inside(&mut self, left: &Typed, right: &Typed) {
        let parts: Vec<Typed> = match &right.expr.kind {
            ExprKind::Range(start, end) => start.iter().chain(end).map(|side| retyped(side)).collect(),
            ExprKind::List(elements) if right.ty.element().is_count() => {
                elements.iter().map(|element| retyped(element).typed(right.ty.element())).collect()
            }
            ExprKind::List(elements) => elements.iter().map(retyped).collect(),
            ExprKind::Constant(Constant::List(_)) => vec![right.clone().typed(right.ty.element())],
            _ => return,
        };
        for part in parts {
            self.check_compared(left, &part);
        }
    }

    /// A number as it is written, without a unit, where one belongs. Zero has every unit.
    fn warn_bare(&mut self, unit: Measure, value: &Typed) {
        let Some(text) = value.number() else { return };
        if text.parse::<f64>().is_ok_and(|number| number == 0.0) {
            return;
        }
        let written = self.written(value.expr.span);
        let written = if written.ends_with('%') { text.to_owned() } else { written };
        let (read_as, write) = match unit {
            Measure::Money => ("USD", format!("${written}")),
            Measure::Size => ("bytes", format!("{written}B")),
            _ => ("milliseconds", format!("{written}ms")),
        };
        self.report(
            Diagnostic::new(
                Slug::BareNumber,
                value.expr.span,
                format!("a bare number against {} is read as {read_as}", unit.noun()),
            )
            .help(format!("write `{write}`"))
            .fix(format!("write `{write}`"), value.expr.span, write.clone()),
        );
    }
}

/// A checked expression whose type is the one that was kept.
fn retyped(expr: &crate::ir::Expr) -> Typed {
    Typed::new(expr.kind.clone(), expr.span, super::ty::Ty::of(expr.ty))
}

/// A number as it was probably meant without its unit: of `5s` the 5, of `50KB` the 50,000.
fn without_unit(written: &str, value: &str, unit: Measure) -> Option<String> {
    match unit {
        Measure::Size => Some(value.to_owned()),
        _ => Some(bare(written)).filter(|bare| bare.parse::<f64>().is_ok()).map(str::to_owned),
    }
}

/// What is written of a number beside its unit: of `5s` and `$5` the 5.
pub(super) fn bare(written: &str) -> &str {
    written.trim_start_matches('$').trim_end_matches(|letter: char| letter.is_ascii_alphabetic())
}

/// What to write where this is wanted.
fn wanted(unit: Measure) -> String {
    match unit {
        Measure::Plain => "write a number".to_owned(),
        Measure::Instant => "compare it with another point in time".to_owned(),
        Measure::Money => format!("write money such as `{}`", unit.example()),
        _ => format!("write {} such as `{}`", unit.noun(), unit.example()),
    }
}
