//! Tests of a value: `== 3`, `not matches /x/`, `is Refund`, `is empty`.

use super::Checker;
use super::expr::CheckedExpr;
use super::scope::{LookupSide, NameScope};
use super::ty::Ty;
use crate::ir::{ExprKind, Type, TypedTest, ValueTest};
use averment_base::diagnostic::{Diagnostic, Slug, suggest};
use averment_base::source::Span;
use averment_syntax::ast::{self, TestKind};

/// Types allowed after `is`; values with units are plain numbers in traces.
const TYPES: [(&str, Type); 8] = [
    ("string", Type::String),
    ("number", Type::Number),
    ("integer", Type::Integer),
    ("boolean", Type::Boolean),
    ("list", Type::List),
    ("object", Type::Object),
    ("null", Type::Null),
    ("any", Type::Any),
];

impl<'a> Checker<'a> {
    pub(super) fn check_value_test(
        &mut self,
        scope: &NameScope<'a>,
        subject: &'a ast::Expr,
        test: &'a ast::ValueTest,
        span: Span,
    ) -> CheckedExpr {
        let value = self.check_expr(scope, subject);
        let text = self.source_line(subject.span);
        self.test_of(scope, value, &text, test, span)
    }

    pub(super) fn test_of(
        &mut self,
        scope: &NameScope<'a>,
        subject: CheckedExpr,
        text: &str,
        test: &'a ast::ValueTest,
        span: Span,
    ) -> CheckedExpr {
        if let Some(function) = text_format_function(test) {
            return self.text_format_test(subject, function, test, span);
        }
        let operand = test.operand.as_deref().map(|operand| self.check_operand(scope, operand, test, text));
        let Some(kind) = self.test_kind(scope.file, test) else { return CheckedExpr::broken_at(span) };
        if let Some(operand) = &operand {
            self.check_test(test, &subject, text, operand);
        } else {
            self.check_unary_test(test, &subject, text);
        }
        let tested = TypedTest {
            kind,
            negated: test.negated,
            subject: Box::new(subject.expr),
            operand: operand.map(|operand| Box::new(operand.expr)),
        };
        CheckedExpr::new(ExprKind::Test(tested), span, Ty::Boolean)
    }

    /// `is xml` and `is sql` are short for functions.
    fn text_format_test(
        &mut self,
        subject: CheckedExpr,
        function: &'static str,
        test: &ast::ValueTest,
        span: Span,
    ) -> CheckedExpr {
        if function == "is_sql" && !averment_builtins::text_format::READS_SQL {
            let place = test.name.as_ref().map_or(span, |name| name.span);
            let message = "this program was built without the parser of SQL";
            let help = "take a program with the feature `sql`, which releases have";
            self.report_diagnostic(Diagnostic::new(Slug::UnknownType, place, message).with_help(help));
            return CheckedExpr::broken_at(span);
        }
        if subject.is_broken() {
            return CheckedExpr::broken_at(span);
        }
        let tested = CheckedExpr::new(ExprKind::Builtin(function, vec![subject.expr]), span, Ty::Boolean);
        if test.negated { CheckedExpr::new(ExprKind::Not(Box::new(tested.expr)), span, Ty::Boolean) } else { tested }
    }

    /// Regular expressions and bindings receive the subject, for their messages.
    fn check_operand(
        &mut self,
        scope: &NameScope<'a>,
        operand: &'a ast::Expr,
        test: &ast::ValueTest,
        subject: &str,
    ) -> CheckedExpr {
        match &operand.kind {
            ast::ExprKind::Regex(regex) => self.regex_literal(regex, Some(subject)),
            ast::ExprKind::Binding(_) => {
                let value = self.check_expr(&scope.on_side(LookupSide::Plain), operand);
                let operator = self.source_line(test.operator);
                self.note_test_of_binding(operand.span, &operator, subject);
                value
            }
            _ => self.check_expr(&scope.on_side(LookupSide::Plain), operand),
        }
    }

    fn test_kind(&mut self, file: usize, test: &ast::ValueTest) -> Option<ValueTest> {
        let Some(name) = &test.name else { return Some(ValueTest::Plain(test.kind)) };
        let capital = name.text.starts_with(|first: char| first.is_ascii_uppercase());
        if test.kind == TestKind::Is && !capital {
            return self.type_test(name).map(ValueTest::IsType);
        }
        let schema = self.schema_named(file, name)?;
        Some(match test.kind {
            TestKind::IsJson => ValueTest::IsJsonSchema(schema),
            TestKind::ContainsJson => ValueTest::ContainsJsonSchema(schema),
            _ => ValueTest::IsSchema(schema),
        })
    }

    fn type_test(&mut self, name: &ast::Name) -> Option<Type> {
        let units = ["duration", "money", "size"];
        if units.contains(&name.text.as_str()) {
            return Some(Type::Number);
        }
        if let Some((_, ty)) = TYPES.iter().find(|(word, _)| *word == name.text) {
            return Some(*ty);
        }
        let words = TYPES.map(|(word, _)| word);
        let mut diagnostic = Diagnostic::new(Slug::UnknownType, name.span, format!("unknown type `{}`", name.text));
        let all = format!("the types are {}; a schema's name starts with a capital", words.join(", "));
        diagnostic = match suggest::suggest_name(&name.text, words) {
            _ if matches!(name.text.as_str(), "defined" | "set" | "present" | "there" | "given" | "available") => {
                diagnostic.with_help("whether there is a value is asked with `exists`: `args.reason exists`")
            }
            _ if matches!(name.text.as_str(), "called" | "used" | "invoked" | "executed" | "run") => diagnostic
                .with_help("to check whether a tool is called, write `require`, `never` or `count`: `require refund`"),
            _ if matches!(name.text.as_str(), "undefined" | "absent" | "unset") => {
                diagnostic.with_help("whether a value is missing is asked with `is missing`: `args.reason is missing`")
            }
            _ if matches!(name.text.as_str(), "true" | "false") => {
                diagnostic.with_help(format!("`is` asks for a type; a value is compared: `== {}`", name.text))
            }
            Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")).with_fix(
                format!("replace with `{near}`"),
                name.span,
                near,
            ),
            None => diagnostic.with_help(all),
        };
        self.report_diagnostic(diagnostic);
        None
    }
}

/// The function that a word behind `is` stands for.
fn text_format_function(test: &ast::ValueTest) -> Option<&'static str> {
    let name = test.name.as_ref().filter(|_| test.kind == TestKind::Is)?;
    match name.text.as_str() {
        "xml" => Some("is_xml"),
        "sql" => Some("is_sql"),
        _ => None,
    }
}
