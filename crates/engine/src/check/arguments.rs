//! The entries in a pattern's parentheses: `path: value`, `path: $x` and tests.

use super::Checker;
use super::expr::Typed;
use super::kinds;
use super::patterns::AlternativeDraft;
use super::scope::{LookupSide, Scope};
use super::ty::{Class, Ty};
use crate::ir::{self, Constant, ExprKind, Local};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_runs::command;
use averment_runs::run::Kind;
use averment_syntax::ast::{self, Argument, BinaryOperator, ExprQuantifier, TestKind};

impl<'a> Checker<'a> {
    /// One entry.
    pub(super) fn entry(&mut self, scope: &Scope<'a>, argument: &'a Argument, part: &mut AlternativeDraft) {
        match argument {
            Argument::Matches { path, value, .. } => self.entry_matches(scope, path, value, part),
            Argument::Test(expr) if is_positional(expr) => self.report_positional(expr, part),
            Argument::Test(expr) => self.entry_test(scope, expr, part),
        }
    }

    /// A condition: each conjunct for itself, so that `path == $x` can bind.
    pub(super) fn entry_test(&mut self, scope: &Scope<'a>, expr: &'a ast::Expr, part: &mut AlternativeDraft) {
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
                    let condition = self.condition(scope, expr);
                    part.tests.push(condition);
                }
            },
        }
    }

    fn entry_binds(&mut self, scope: &Scope<'a>, path: &'a ast::Expr, name: &str, part: &mut AlternativeDraft) {
        let path = self.left_path(scope, path).expr;
        let number = self.bind(scope, name);
        part.binds.push((number, path));
    }

    /// `path: value`.
    fn entry_matches(
        &mut self,
        scope: &Scope<'a>,
        path: &'a ast::Expr,
        value: &'a ast::Expr,
        part: &mut AlternativeDraft,
    ) {
        if let ast::ExprKind::Binding(name) = &value.kind {
            return self.entry_binds(scope, path, name, part);
        }
        let subject = self.left_path(scope, path);
        let text = self.written(path.span);
        let operand = match &value.kind {
            ast::ExprKind::Regex(regex) => self.regex_literal(regex, Some(&text)),
            _ => self.expr(&scope.on(LookupSide::Plain), value),
        };
        if part.kind == Kind::Command
            && let ExprKind::StepField(field) = &subject.expr.kind
            && matches!(field.as_str(), "args" | "flags")
        {
            let field = field.clone();
            part.tests.push(self.command_list(scope, &field, subject.expr, operand));
            return;
        }
        let kind = match operand.ty.class() {
            Some(Class::Regex) => TestKind::Matches,
            Some(Class::Range | Class::List) => TestKind::In,
            _ => TestKind::Equal,
        };
        let operator = Span { start: path.span.end, end: value.span.start, ..path.span };
        let written = ast::ValueTest { kind, negated: false, operand: None, name: None, operator, span: operator };
        self.check_test(&written, &subject, &text, &operand);
        part.tests.push(kinds::test(kind, subject.expr, operand.expr));
    }

    /// `args: ["test"]` and `flags: ["--watch"]` of a parsed command: contains all, for `args` in order.
    fn command_list(&mut self, scope: &Scope<'a>, field: &str, subject: ir::Expr, operand: Typed) -> ir::Expr {
        let span = subject.span.to(operand.expr.span);
        let operand = if field == "flags" { meant_flags(operand) } else { operand };
        match operand.ty.class() {
            Some(Class::Regex) => {
                let local = Local(scope.next_local);
                let element = Typed::new(ExprKind::Local(local), span, Ty::String).expr;
                let matches = kinds::test(TestKind::Matches, element, operand.expr);
                let kind = ExprKind::Quantifier(ExprQuantifier::Any, local, Box::new(subject), Box::new(matches));
                Typed::new(kind, span, Ty::Boolean).expr
            }
            Some(Class::Text) => kinds::test(TestKind::Contains, subject, operand.expr),
            _ if field == "args" => {
                let call = ExprKind::Builtin("contains_in_order", vec![subject, operand.expr]);
                Typed::new(call, span, Ty::Boolean).expr
            }
            _ => kinds::test(TestKind::ContainsAll, subject, operand.expr),
        }
    }

    /// A left-hand path; its root is a name or a quoted key.
    fn left_path(&mut self, scope: &Scope<'a>, path: &'a ast::Expr) -> Typed {
        match &path.kind {
            ast::ExprKind::Text(text) => match text.literal() {
                Some(key) => self.quoted_key(scope, key, path.span),
                None => self.expr(scope, path),
            },
            ast::ExprKind::Field { base, name } if quoted_root(base).is_some() => {
                let value = self.left_path(scope, base);
                self.member(value, &name.text, name.span, base.span, path.span)
            }
            ast::ExprKind::Index { base, index } if quoted_root(base).is_some() => {
                let value = self.left_path(scope, base);
                let index = self.expr(&scope.on(LookupSide::Plain), index);
                let ty = value.ty.element();
                let kind = match &index.expr.kind {
                    ExprKind::Constant(Constant::Text(key)) => ExprKind::Field(Box::new(value.expr), key.clone()),
                    _ => ExprKind::Index(Box::new(value.expr), Box::new(index.expr)),
                };
                Typed::new(kind, path.span, ty)
            }
            _ => self.expr(scope, path),
        }
    }

    /// `"user-id": 3` in the parentheses of a call is a key of its arguments.
    fn quoted_key(&mut self, scope: &Scope<'a>, key: &str, span: Span) -> Typed {
        let shape = scope.step.clone().unwrap_or_default();
        let base = if shape.kinds == [Kind::Call] {
            Typed::new(ExprKind::StepField("args".to_owned()), span, shape.field("args"))
        } else {
            Typed::new(ExprKind::Step, span, Ty::Step(shape))
        };
        self.member(base, key, span, span, span)
    }

    fn report_positional(&mut self, expr: &ast::Expr, part: &AlternativeDraft) {
        if self.scopes.iter().any(|scope| scope.incomplete) {
            return;
        }
        let text = self.written(expr.span);
        let name = match part.kind {
            Kind::Call => "amount",
            kind => kind.fields().first().copied().unwrap_or("name"),
        };
        self.report(
            Diagnostic::new(Slug::UnknownArgument, expr.span, "an argument has a name".to_owned())
                .label("a value alone says nothing")
                .help(format!("write `{name}: {text}`")),
        );
    }
}

/// A value that stands alone: it tests nothing.
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

/// A path that gives one value.
fn is_path(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ast::ExprKind::Name(_) => true,
        ast::ExprKind::Field { base, .. } | ast::ExprKind::Index { base, .. } => is_path(base),
        ast::ExprKind::Group(inner) => is_path(inner),
        _ => false,
    }
}

/// The quoted key that a path starts with.
fn quoted_root(expr: &ast::Expr) -> Option<&ast::Text> {
    match &expr.kind {
        ast::ExprKind::Text(text) => Some(text),
        ast::ExprKind::Field { base, .. } | ast::ExprKind::Index { base, .. } => quoted_root(base),
        _ => None,
    }
}

/// The flags that a rule names: of a cluster such as `-rf` each letter.
fn meant_flags(operand: Typed) -> Typed {
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
    Typed::new(ExprKind::Constant(list), operand.expr.span, Ty::list(Ty::String))
}

fn text_in(item: &ir::Expr) -> Option<&str> {
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
