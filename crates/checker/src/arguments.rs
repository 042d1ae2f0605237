//! The entries in a pattern's parentheses: `path: value`, `path: $x` and tests.

use super::Checker;
use super::expr::CheckedExpr;
use super::kinds;
use super::kinds::AlternativeDraft;
use super::scope::{LookupSide, NameScope};
use super::ty::{ComparisonClass, Ty};
use crate::ir::{self, Constant, ExprKind, LocalId, NameTest};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_runs::command;
use averment_runs::normal::of_step;
use averment_runs::run::StepKind;
use averment_syntax::ast::{self, BinaryOperator, ExprQuantifier, PatternArgument, TestKind};

impl<'a> Checker<'a> {
    /// All entries of a pattern's parentheses, in their order.
    pub(super) fn check_entries(
        &mut self,
        scope: &NameScope<'a>,
        arguments: &'a [PatternArgument],
        part: &mut AlternativeDraft,
    ) {
        let mut before = None;
        for argument in arguments {
            match argument {
                PatternArgument::Matches { path, value, .. } => self.entry_matches(scope, path, value, part),
                PatternArgument::Test(expr) if is_positional(expr) => self.report_positional(expr, before, part),
                PatternArgument::Test(expr) => self.entry_test(scope, expr, part),
            }
            before = Some(argument);
        }
    }

    /// Each conjunct is checked separately, so that `path == $x` can bind.
    pub(super) fn entry_test(&mut self, scope: &NameScope<'a>, expr: &'a ast::Expr, part: &mut AlternativeDraft) {
        match &expr.kind {
            ast::ExprKind::Binary { operator: BinaryOperator::And, left, right, .. } => {
                stacker::maybe_grow(128 << 10, 1 << 20, || {
                    self.entry_test(scope, left, part);
                    self.entry_test(scope, right, part);
                });
            }
            ast::ExprKind::Group(inner) => self.entry_test(scope, inner, part),
            _ => match binding_equality(expr) {
                Some((path, name)) => self.entry_binds(scope, path, name, part),
                None => {
                    let condition = self.condition_expr(scope, expr);
                    part.tests.push(condition);
                }
            },
        }
    }

    fn entry_binds(&mut self, scope: &NameScope<'a>, path: &'a ast::Expr, name: &str, part: &mut AlternativeDraft) {
        if let Some(field) = call_part(path, part) {
            let number = self.bind_name(scope, name);
            part.binds.push((number, field));
            return;
        }
        let path = self.left_path(scope, path);
        let number = self.bind_name(scope, name);
        self.bindings.note_word_set(number, path.ty.word_set());
        part.binds.push((number, path.expr));
    }

    fn entry_matches(
        &mut self,
        scope: &NameScope<'a>,
        path: &'a ast::Expr,
        value: &'a ast::Expr,
        part: &mut AlternativeDraft,
    ) {
        if let ast::ExprKind::Binding(name) = &value.kind {
            return self.entry_binds(scope, path, name, part);
        }
        let subject = self.left_path(scope, path);
        let text = self.source_line(path.span);
        if let ast::ExprKind::Not(inner) = &value.kind
            && matches!(inner.kind, ast::ExprKind::Text(_) | ast::ExprKind::Number(_) | ast::ExprKind::List(_))
        {
            let sign = if matches!(inner.kind, ast::ExprKind::List(_)) { "not in" } else { "!=" };
            let inner = self.source_line(inner.span);
            self.report_diagnostic(
                Diagnostic::new(
                    Slug::NotAnAssertion,
                    value.span,
                    "`not` turns conditions round, not values".to_owned(),
                )
                .with_help(format!("write `{text} {sign} {inner}`")),
            );
            return;
        }
        let operand = match &value.kind {
            ast::ExprKind::Regex(regex) => self.regex_literal(regex, Some(&text)),
            _ => self.check_expr(&scope.on_side(LookupSide::Plain), value),
        };
        if part.kind == StepKind::Command
            && let ExprKind::StepField(field) = &subject.expr.kind
            && matches!(field.as_str(), "args" | "flags")
        {
            let field = field.clone();
            part.tests.push(self.command_list(scope, &field, subject.expr, operand));
            return;
        }
        let kind = match operand.ty.comparison_class() {
            Some(ComparisonClass::Regex) => TestKind::Matches,
            Some(ComparisonClass::Range | ComparisonClass::List) => TestKind::In,
            _ => TestKind::Equal,
        };
        let operator = Span { start: path.span.end, end: value.span.start, ..path.span };
        let written = ast::ValueTest { kind, negated: false, operand: None, name: None, operator, span: operator };
        self.check_test(&written, &subject, &text, &operand);
        part.tests.push(kinds::positive_test(kind, subject.expr, operand.expr));
    }

    /// `args: ["test"]` and `flags: ["--watch"]` of a parsed command mean `contains all`, in order for `args`.
    fn command_list(
        &mut self,
        scope: &NameScope<'a>,
        field: &str,
        subject: ir::TypedExpr,
        operand: CheckedExpr,
    ) -> ir::TypedExpr {
        let span = subject.span.cover_with(operand.expr.span);
        let operand = if field == "flags" { meant_flags(operand) } else { operand };
        match operand.ty.comparison_class() {
            Some(ComparisonClass::Regex) => {
                let local = LocalId(scope.next_local);
                let element = CheckedExpr::new(ExprKind::Local(local), span, Ty::String).expr;
                let matches = kinds::positive_test(TestKind::Matches, element, operand.expr);
                let kind = ExprKind::Quantifier(ExprQuantifier::Any, local, Box::new(subject), Box::new(matches));
                CheckedExpr::new(kind, span, Ty::Boolean).expr
            }
            // Whole words are meant, not parts of them.
            Some(ComparisonClass::Text) => kinds::positive_test(TestKind::In, operand.expr, subject),
            _ if field == "args" => {
                let call = ExprKind::Builtin("contains_in_order", vec![subject, operand.expr]);
                CheckedExpr::new(call, span, Ty::Boolean).expr
            }
            Some(ComparisonClass::List) => {
                let local = LocalId(scope.next_local);
                let element = CheckedExpr::new(ExprKind::Local(local), span, Ty::String).expr;
                let is_there = Box::new(kinds::positive_test(TestKind::In, element, subject));
                let kind = ExprKind::Quantifier(ExprQuantifier::All, local, Box::new(operand.expr), is_there);
                CheckedExpr::new(kind, span, Ty::Boolean).expr
            }
            _ => kinds::positive_test(TestKind::ContainsAll, subject, operand.expr),
        }
    }

    fn left_path(&mut self, scope: &NameScope<'a>, path: &'a ast::Expr) -> CheckedExpr {
        match &path.kind {
            ast::ExprKind::Text(text) => match text.literal_text() {
                Some(key) => self.quoted_key(scope, key, path.span),
                None => self.check_expr(scope, path),
            },
            ast::ExprKind::Field { base, name } if quoted_root(base).is_some() => {
                let value = self.left_path(scope, base);
                self.member_of(value, &name.text, name.span, base.span, path.span)
            }
            ast::ExprKind::Index { base, index } if quoted_root(base).is_some() => {
                let value = self.left_path(scope, base);
                let index = self.check_expr(&scope.on_side(LookupSide::Plain), index);
                let ty = value.ty.element_type();
                let kind = match &index.expr.kind {
                    ExprKind::Constant(Constant::Text(key)) => ExprKind::Field(Box::new(value.expr), key.clone()),
                    _ => ExprKind::Index(Box::new(value.expr), Box::new(index.expr)),
                };
                CheckedExpr::new(kind, path.span, ty)
            }
            _ => self.check_expr(scope, path),
        }
    }

    /// `"user-id": 3` in a call's parentheses is a key of its arguments.
    fn quoted_key(&mut self, scope: &NameScope<'a>, key: &str, span: Span) -> CheckedExpr {
        let shape = scope.step.clone().unwrap_or_default();
        let base = if shape.kinds == [StepKind::Call] {
            CheckedExpr::new(ExprKind::StepField("args".to_owned()), span, shape.field_type("args"))
        } else {
            CheckedExpr::new(ExprKind::Step, span, Ty::Step(shape))
        };
        self.member_of(base, key, span, span, span)
    }

    fn report_positional(&mut self, expr: &ast::Expr, before: Option<&PatternArgument>, part: &AlternativeDraft) {
        if self.scopes.iter().any(|scope| scope.incomplete) {
            return;
        }
        let text = self.source_line(expr.span);
        let of_kind = match part.kind {
            StepKind::Command => Some("command"),
            StepKind::Read => Some("read"),
            StepKind::Write => Some("write"),
            StepKind::Skill => Some("skill"),
            StepKind::Http => Some("http"),
            StepKind::Span => Some("span"),
            StepKind::Handover => Some("handover"),
            StepKind::Call | StepKind::Message => None,
        };
        let is_text = matches!(expr.kind, ast::ExprKind::Text(_) | ast::ExprKind::Regex(_));
        if let Some(kind) = of_kind.filter(|_| is_text && part.name == NameTest::Any) {
            self.report_diagnostic(
                Diagnostic::new(Slug::UnknownArgument, expr.span, "an argument has a name".to_owned())
                    .with_label("put the text directly after the kind of step")
                    .with_help(format!("write `{kind} {text}`")),
            );
            return;
        }
        // `query: "a", "b"`: a second value of the argument in front of it.
        if let Some(PatternArgument::Matches { path, value, .. }) = before
            && std::mem::discriminant(&value.kind) == std::mem::discriminant(&expr.kind)
        {
            let (path, first) = (self.source_line(path.span), self.source_line(value.span));
            self.report_diagnostic(
                Diagnostic::new(Slug::UnknownArgument, expr.span, "an argument has one value here".to_owned())
                    .with_help(format!("for one of several write `{path} in [{first}, {text}]`")),
            );
            return;
        }
        let name = match part.kind {
            StepKind::Call => "amount",
            kind => kind.field_names().first().copied().unwrap_or("name"),
        };
        self.report_diagnostic(
            Diagnostic::new(Slug::UnknownArgument, expr.span, "an argument has a name".to_owned())
                .with_label("a value alone is not a test")
                .with_help(format!("write `{name}: {text}`")),
        );
    }
}

fn is_positional(expr: &ast::Expr) -> bool {
    matches!(
        expr.kind,
        ast::ExprKind::Number(_)
            | ast::ExprKind::Text(_)
            | ast::ExprKind::Regex(_)
            | ast::ExprKind::Null
            | ast::ExprKind::List(_)
            | ast::ExprKind::Object(_)
            | ast::ExprKind::Range { .. }
            | ast::ExprKind::Binding(_)
    )
}

/// `path == $x`, not negated.
fn binding_equality(expr: &ast::Expr) -> Option<(&ast::Expr, &str)> {
    let ast::ExprKind::Test { subject, test } = &expr.kind else { return None };
    let operand = test.operand.as_deref()?;
    match &operand.kind {
        ast::ExprKind::Binding(name) if test.kind == TestKind::Equal && !test.negated && is_path(subject) => {
            Some((subject, name))
        }
        _ => None,
    }
}

fn is_path(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ast::ExprKind::Name(_) => true,
        ast::ExprKind::Field { base, .. } | ast::ExprKind::Index { base, .. } => is_path(base),
        ast::ExprKind::Group(inner) => is_path(inner),
        _ => false,
    }
}

fn quoted_root(expr: &ast::Expr) -> Option<&ast::TextLiteral> {
    match &expr.kind {
        ast::ExprKind::Text(text) => Some(text),
        ast::ExprKind::Field { base, .. } | ast::ExprKind::Index { base, .. } => quoted_root(base),
        _ => None,
    }
}

/// Splits a flag cluster such as `-rf` into its letters.
fn meant_flags(operand: CheckedExpr) -> CheckedExpr {
    let words: Option<Vec<&str>> = match &operand.expr.kind {
        ExprKind::Constant(Constant::List(items)) => items.iter().map(text_of).collect(),
        ExprKind::Constant(word) => text_of(word).map(|word| vec![word]),
        ExprKind::List(items) => items.iter().map(text_in).collect(),
        _ => None,
    };
    // A list in which something else stands is taken as it is written.
    let Some(words) = words else { return operand };
    let meant: Vec<String> = words.iter().flat_map(|word| command::meant_flags(word)).collect();
    if meant.len() == words.len() {
        return operand;
    }
    let list = Constant::List(meant.into_iter().map(Constant::Text).collect());
    CheckedExpr::new(ExprKind::Constant(list), operand.expr.span, Ty::list_of(Ty::String))
}

fn text_in(item: &ir::TypedExpr) -> Option<&str> {
    match &item.kind {
        ExprKind::Constant(constant) => text_of(constant),
        _ => None,
    }
}

fn text_of(constant: &Constant) -> Option<&str> {
    match constant {
        Constant::Text(text) => Some(text),
        _ => None,
    }
}

/// `any(tool: $t, args: $a)`: where a pattern matches several tools, these are parts of the call; an argument of the name is `args.tool`.
fn call_part(path: &ast::Expr, part: &AlternativeDraft) -> Option<ir::TypedExpr> {
    let ast::ExprKind::Name(name) = &path.kind else { return None };
    let several = matches!(part.name, NameTest::Any | NameTest::Glob(_) | NameTest::Matches(_));
    let is_part = matches!(name.as_str(), of_step::TOOL | of_step::ARGS);
    (part.kind == StepKind::Call && several && is_part).then(|| kinds::step_field(name, path.span))
}
