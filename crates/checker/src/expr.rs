//! Expressions: one small function for each form. Every one gives a checked expression with its type; what makes no sense is
//! reported and becomes a broken value of type `any`, of which nothing further is said.

use super::Checker;
use super::scope::{LookupSide, NameScope};
use super::ty::{NumberMeasure, Ty};
use crate::ir::{self, Constant};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::{self, BinaryOperator, ExprKind, ExprQuantifier, TestKind};

/// Maximum nesting of an expression; each `and` or `+` of a chain adds a level.
const DEPTH: usize = 4_000;

/// A checked expression with what the checker knows of its value.
#[derive(Debug, Clone)]
pub struct CheckedExpr {
    /// The expression.
    pub expr: ir::TypedExpr,
    /// Its type.
    pub ty: Ty,
    broken: bool,
}

impl CheckedExpr {
    /// An expression of a type.
    pub fn new(kind: ir::ExprKind, span: Span, ty: Ty) -> Self {
        Self { expr: ir::TypedExpr { kind, span, ty: ty.to_ir_type() }, ty, broken: false }
    }

    /// The placeholder for an expression that was reported.
    pub fn broken_at(span: Span) -> Self {
        Self { broken: true, ..Self::new(ir::ExprKind::Constant(Constant::Null), span, Ty::Any) }
    }

    /// True for what stands for an expression that was reported.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// True for a count of steps, elements, words, tokens or turns.
    pub fn is_count(&self) -> bool {
        self.ty.is_count()
    }

    /// Replaces the type.
    pub fn with_type(mut self, ty: Ty) -> Self {
        self.expr.ty = ty.to_ir_type();
        self.ty = ty;
        self
    }

    /// Replaces the place.
    pub fn with_span(mut self, span: Span) -> Self {
        self.expr.span = span;
        self
    }

    /// The text, where it is one that is known.
    pub fn known_text(&self) -> Option<&str> {
        match &self.expr.kind {
            ir::ExprKind::Constant(Constant::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The number's text, where it is written here.
    pub fn number_text(&self) -> Option<&str> {
        match &self.expr.kind {
            ir::ExprKind::Constant(Constant::Number(text)) => Some(text),
            _ => None,
        }
    }
}

/// Characters quoted in a suggestion.
const LINE: usize = 100;

impl<'a> Checker<'a> {
    /// A self-contained expression (a `let`, a `def`, a default): bindings of a statement are not in scope.
    pub(super) fn top_expr(&mut self, scope: &NameScope<'a>, expr: &'a ast::Expr) -> CheckedExpr {
        let saved = std::mem::take(&mut self.bindings);
        let depth = std::mem::replace(&mut self.depth, 0);
        let value = self.check_expr(scope, expr);
        self.report_unbound();
        self.bindings = saved;
        self.depth = depth;
        value
    }

    pub(super) fn check_expr(&mut self, scope: &NameScope<'a>, expr: &'a ast::Expr) -> CheckedExpr {
        if self.depth >= DEPTH {
            let message = format!("the expression is nested deeper than {DEPTH} operators");
            self.report_diagnostic(
                Diagnostic::new(Slug::TooDeep, expr.span, message)
                    .with_help("split it with `let` or into several assertions"),
            );
            return CheckedExpr::broken_at(expr.span);
        }
        self.depth = self.depth.saturating_add(1);
        let value = stacker::maybe_grow(128 << 10, 1 << 20, || self.expr_form(scope, expr));
        self.depth = self.depth.saturating_sub(1);
        value
    }

    fn expr_form(&mut self, scope: &NameScope<'a>, expr: &'a ast::Expr) -> CheckedExpr {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Null => CheckedExpr::new(ir::ExprKind::Constant(Constant::Null), span, Ty::Null),
            ExprKind::Boolean(value) => {
                CheckedExpr::new(ir::ExprKind::Constant(Constant::Boolean(*value)), span, Ty::Boolean)
            }
            ExprKind::Number(number) => self.number_literal(number),
            ExprKind::Text(text) => self.text_literal(scope, text),
            ExprKind::Regex(regex) => self.regex_literal(regex, None),
            ExprKind::List(elements) => self.list_literal(scope, elements, span),
            ExprKind::Object(entries) => self.object_literal(scope, entries, span),
            ExprKind::Name(name) => self.check_name(scope, name, span),
            ExprKind::Binding(name) => self.binding_value(scope, name, span),
            ExprKind::Field { base, name } => self.check_field(scope, expr, base, name),
            ExprKind::Index { base, index } => self.check_index(scope, expr, base, index),
            ExprKind::Every { base } => self.check_every(scope, base, span),
            ExprKind::Deep { base } => self.check_deep(scope, base, span),
            ExprKind::Call { name, arguments, piped } => self.check_call(scope, name, arguments, *piped, span),
            ExprKind::Negate(inner) => self.check_negate(scope, inner, span),
            ExprKind::Not(inner) => self.check_not(scope, inner, span),
            ExprKind::Binary { operator, operator_span, left, right } => match operator {
                BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Implies => {
                    self.check_logical(scope, *operator, left, right, span)
                }
                _ => self.check_arithmetic(scope, *operator, *operator_span, left, right, span),
            },
            ExprKind::Range { start, end } => self.check_range(scope, start.as_deref(), end.as_deref(), span),
            ExprKind::Test { subject, test } => self.check_value_test(scope, subject, test, span),
            ExprKind::If { condition, then, otherwise } => self.if_else(scope, condition, then, otherwise, span),
            ExprKind::Quantifier { quantifier, variable, source, body } => {
                self.check_quantifier(scope, *quantifier, variable, source, body, span)
            }
            ExprKind::Counted { step, so_far } => self.check_step_count(scope, step, *so_far, span),
            ExprKind::Of { value, target, so_far } => self.check_of(scope, value, target, *so_far, span),
            ExprKind::OverRuns { .. } => self.loose_value_of_runs(span),
            ExprKind::Filtered { list, condition } => self.check_filter(scope, list, condition, span),
            ExprKind::Group(inner) => self.check_expr(scope, inner).with_span(span),
        }
    }

    pub(super) fn condition_expr(&mut self, scope: &NameScope<'a>, expr: &'a ast::Expr) -> ir::TypedExpr {
        let value = self.check_expr(scope, expr);
        self.check_condition(expr, &value);
        value.expr
    }

    pub(super) fn check_condition(&mut self, expr: &ast::Expr, value: &CheckedExpr) {
        if value.broken || value.ty == Ty::KeyedPlace || !value.ty.is_no_condition() {
            return;
        }
        let text = self.source_line(expr.span);
        let noun = value.ty.comparison_class().map_or("a value", |class| class.noun());
        let bare = match value.ty.number_measure() {
            Some(NumberMeasure::Plain) => "a bare number",
            Some(measure) => measure.noun(),
            None => noun,
        };
        let help = self.comparison_for(expr, value, &text);
        self.report_diagnostic(
            Diagnostic::new(Slug::NotAnAssertion, expr.span, format!("{bare} is not an assertion"))
                .with_label("neither true nor false")
                .with_help(help),
        );
    }

    fn comparison_for(&self, expr: &ast::Expr, value: &CheckedExpr, text: &str) -> String {
        if let Some(counted) = self.count_with_test(expr) {
            return format!("the test belongs to the body; write `{counted}`");
        }
        let simple = matches!(
            expr.kind,
            ExprKind::Name(_)
                | ExprKind::Field { .. }
                | ExprKind::Index { .. }
                | ExprKind::Call { .. }
                | ExprKind::Text(_)
                | ExprKind::Number(_)
                | ExprKind::Regex(_)
                | ExprKind::Range { .. }
                | ExprKind::Every { .. }
                | ExprKind::List(_)
                | ExprKind::Quantifier { .. }
                | ExprKind::Counted { .. }
                | ExprKind::Group(_)
        );
        let text = &match simple {
            // What is longer than a line helps nobody.
            _ if text.chars().count() > LINE => "…".to_owned(),
            true => text.to_owned(),
            false => format!("({text})"),
        };
        match (&expr.kind, value.ty.without_schema()) {
            (ExprKind::Quantifier { quantifier: ExprQuantifier::Count, .. }, _) => format!("write `({text}) >= 1`"),
            (ExprKind::Counted { .. }, _) => format!("compare it: `{text} <= 3`"),
            (ExprKind::Call { name, .. }, _) if name.text == "length" => format!("compare it: `{text} <= 10`"),
            (_, Ty::Duration) => format!("compare it: `{text} <= 30s`"),
            (_, Ty::Money) => format!("compare it: `{text} <= $0.05`"),
            (_, Ty::Size) => format!("compare it: `{text} <= 10KB`"),
            (_, Ty::Number | Ty::Integer | Ty::Count | Ty::Share) => format!("compare it: `{text} >= 1`"),
            (_, Ty::Regex) => format!("write `output matches {text}`"),
            (_, Ty::Range) => format!("write `output in {text}`"),
            (_, Ty::String | Ty::Word(_)) => format!("compare it: `{text} == \"…\"`"),
            _ => format!("test it: `{text} is not empty`"),
        }
    }

    /// `count x in xs: x.ok >= 2` with the test moved out: `(count x in xs: x.ok) >= 2`.
    fn count_with_test(&self, expr: &ast::Expr) -> Option<String> {
        let ExprKind::Quantifier { quantifier: ExprQuantifier::Count, body, .. } = &expr.kind else { return None };
        let ExprKind::Test { subject, test } = &body.kind else { return None };
        let is_number = test
            .operand
            .as_deref()
            .is_some_and(|operand| matches!(operand.kind, ExprKind::Number(_) | ExprKind::Range { .. }));
        let head = Span { end: subject.span.end, ..expr.span };
        is_number.then(|| format!("({}) {}", self.source_line(head), self.source_line(test.span)))
    }

    fn check_not(&mut self, scope: &NameScope<'a>, inner: &'a ast::Expr, span: Span) -> CheckedExpr {
        let inner = self.condition_expr(scope, inner);
        CheckedExpr::new(ir::ExprKind::Not(Box::new(inner)), span, Ty::Boolean)
    }

    fn check_logical(
        &mut self,
        scope: &NameScope<'a>,
        operator: BinaryOperator,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        span: Span,
    ) -> CheckedExpr {
        if operator != BinaryOperator::Implies
            && let Some(help) = self.one_of_texts(operator, left, right)
        {
            let word = if operator == BinaryOperator::Or { "or" } else { "and" };
            let help = format!("`{word}` joins conditions; write `{help}`");
            self.report_diagnostic(
                Diagnostic::new(Slug::NotAnAssertion, right.span, "text is not an assertion")
                    .with_label("neither true nor false")
                    .with_help(help),
            );
            let kind = ir::ExprKind::Constant(ir::Constant::Boolean(true));
            return CheckedExpr::new(kind, span, Ty::Boolean);
        }
        let left = self.condition_expr(scope, left);
        let right = self.condition_expr(scope, right);
        CheckedExpr::new(ir::ExprKind::Binary(operator, Box::new(left), Box::new(right)), span, Ty::Boolean)
    }

    /// `output.a == "x" or "y"` and `a: "x" or "y"`, rewritten with a list.
    fn one_of_texts(&self, operator: BinaryOperator, left: &ast::Expr, right: &ast::Expr) -> Option<String> {
        let is_text = |expr: &ast::Expr| matches!(expr.kind, ExprKind::Text(_));
        if !is_text(right) {
            return None;
        }
        let last = self.source_line(right.span);
        let is_or = operator == BinaryOperator::Or;
        if is_or && is_text(left) {
            return Some(format!("[{}, {last}]", self.source_line(left.span)));
        }
        let ExprKind::Test { subject, test } = &left.kind else { return None };
        let operand = test.operand.as_deref().filter(|operand| is_text(operand))?;
        let word = match (test.kind, test.negated) {
            (TestKind::Contains, false) if !is_or => "contains all",
            (TestKind::Equal, false) if !is_or => return None,
            (TestKind::Equal, false) => "in",
            (TestKind::Equal, true) => "not in",
            (TestKind::Contains, false) => "contains any",
            (TestKind::Contains, true) => "not contains any",
            _ => return None,
        };
        Some(format!("{} {word} [{}, {last}]", self.source_line(subject.span), self.source_line(operand.span)))
    }

    fn if_else(
        &mut self,
        scope: &NameScope<'a>,
        condition: &'a ast::Expr,
        then: &'a ast::Expr,
        otherwise: &'a ast::Expr,
        span: Span,
    ) -> CheckedExpr {
        let condition = self.condition_expr(scope, condition);
        let then = self.check_expr(scope, then);
        let otherwise = self.check_expr(scope, otherwise);
        let ty = then.ty.clone().join_types(otherwise.ty.clone());
        let kind = ir::ExprKind::If(Box::new(condition), Box::new(then.expr), Box::new(otherwise.expr));
        CheckedExpr::new(kind, span, ty)
    }

    fn check_quantifier(
        &mut self,
        scope: &NameScope<'a>,
        quantifier: ExprQuantifier,
        variable: &'a ast::Name,
        source: &'a ast::Expr,
        body: &'a ast::Expr,
        span: Span,
    ) -> CheckedExpr {
        let values = self.check_expr(scope, source);
        self.check_iterable(&values);
        let (inner, local) = scope.with_local(&variable.text, values.ty.element_type());
        let mut body = self.condition_expr(&inner, body);
        if quantifier == ExprQuantifier::All {
            body = self.as_exercised(body);
        }
        let counts = quantifier == ExprQuantifier::Count;
        let ty = if counts { Ty::Count } else { Ty::Boolean };
        let kind = ir::ExprKind::Quantifier(quantifier, local, Box::new(values.expr), Box::new(body));
        CheckedExpr::new(kind, span, ty)
    }

    fn check_iterable(&mut self, values: &CheckedExpr) {
        use super::ty::ComparisonClass;
        let Some(class) = values.ty.comparison_class() else { return };
        if !matches!(class, ComparisonClass::List | ComparisonClass::Object) {
            let message = format!("a quantifier goes through a list, not {}", class.noun());
            let text = self.source_line(values.expr.span);
            let help = match class {
                ComparisonClass::Text => format!("for its words write `words({text})`"),
                _ => "name a list, such as `output.items` or `calls`".to_owned(),
            };
            self.report_diagnostic(Diagnostic::new(Slug::TypeMismatch, values.expr.span, message).with_help(help));
        }
    }

    fn check_range(
        &mut self,
        scope: &NameScope<'a>,
        start: Option<&'a ast::Expr>,
        end: Option<&'a ast::Expr>,
        span: Span,
    ) -> CheckedExpr {
        let plain = scope.on_side(LookupSide::Plain);
        let start = start.map(|expr| self.check_expr(&plain, expr));
        let end = end.map(|expr| self.check_expr(&plain, expr));
        let mut good = true;
        for side in start.iter().chain(&end) {
            good &= self.check_range_end(side);
        }
        if let (Some(start), Some(end)) = (&start, &end) {
            good = good && self.check_units_of_range(start, end) && self.check_order_of_range(start, end, span);
        }
        if !good {
            return CheckedExpr::broken_at(span).with_type(Ty::Range);
        }
        let kind = ir::ExprKind::Range(start.map(|side| Box::new(side.expr)), end.map(|side| Box::new(side.expr)));
        CheckedExpr::new(kind, span, Ty::Range)
    }

    fn check_range_end(&mut self, side: &CheckedExpr) -> bool {
        let Some(class) = side.ty.comparison_class() else { return true };
        let fits = class == super::ty::ComparisonClass::Number;
        if !fits {
            let message = format!("a range goes from a number to a number, not {}", class.noun());
            self.report_diagnostic(
                Diagnostic::new(Slug::TypeMismatch, side.expr.span, message)
                    .with_help("write `1..3`, `50..` or `..10`"),
            );
        }
        fits
    }

    fn check_order_of_range(&mut self, start: &CheckedExpr, end: &CheckedExpr, span: Span) -> bool {
        let value = |side: &CheckedExpr| side.number_text().and_then(|text| text.parse::<f64>().ok());
        if let (Some(low), Some(high)) = (value(start), value(end))
            && low > high
        {
            self.report_empty_range(start.expr.span, end.expr.span, span);
            return false;
        }
        true
    }

    pub(super) fn report_empty_range(&mut self, start: Span, end: Span, span: Span) {
        let (low, high) = (self.source_line(start), self.source_line(end));
        let turned = format!("{high}..{low}");
        let empty = Diagnostic::new(Slug::Impossible, span, format!("the range {low}..{high} is empty"));
        // Hours that go over midnight are no mistake of order.
        let late = low.parse::<u8>().is_ok_and(|hour| (13..=24).contains(&hour));
        self.report_diagnostic(match late {
            true => empty
                .with_help(format!("write `{turned}`; over midnight: `hour(start) >= {low} or hour(start) <= {high}`")),
            false => {
                empty.with_help(format!("write `{turned}`")).with_fix(format!("write `{turned}`"), span, turned.clone())
            }
        });
    }
}
