//! Names of tools that hold values: `never "${tool}"`, `call "${witness}" { … }`.

use super::Checker;
use super::expr::CheckedExpr;
use super::kinds;
use super::kinds::AlternativeDraft;
use super::scope::{FileSymbol, NameScope};
use super::ty::Ty;
use crate::ir::{self, Constant, ExprKind, NameTest, Type};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_runs::normal::of_step;
use averment_runs::run::StepKind;
use averment_syntax::ast::{self, BinaryOperator, TestKind, TextPart};

impl<'a> Checker<'a> {
    /// Calls of the tool that a text names. Which one it is, is known when the rules are judged: no schema says what its arguments are.
    pub(super) fn described_tool(&mut self, scope: &NameScope<'a>, text: &'a ast::TextLiteral) -> AlternativeDraft {
        let wanted = self.text_literal(scope, text).expr;
        let test = self.tool_test(wanted, text.span);
        let mut part = AlternativeDraft::any_of_kind(StepKind::Call, NameTest::Any);
        // A call of another tool is no candidate, as behind a bare name.
        part.ask_text(test);
        AlternativeDraft { lenient: true, ..part }
    }

    /// `tool == TEXT`, or the tool is known by another name that is declared for it.
    fn tool_test(&mut self, wanted: ir::TypedExpr, span: Span) -> ir::TypedExpr {
        let boolean = |operator, left: ir::TypedExpr, right: ir::TypedExpr| {
            let kind = ExprKind::Binary(operator, Box::new(left), Box::new(right));
            CheckedExpr::new(kind, span, Ty::Boolean).expr
        };
        let mut test = kinds::positive_test(TestKind::Equal, kinds::step_field(of_step::TOOL, span), wanted.clone());
        for (name, other) in self.catalogue.all_other_names().to_vec() {
            let text = |text: String| CheckedExpr::new(ExprKind::Constant(Constant::Text(text)), span, Ty::String).expr;
            let (kind, known) = match other {
                NameTest::Exactly(other) => (TestKind::Equal, text(other)),
                NameTest::Glob(glob) => {
                    let number = self.add_regex(super::regex::of_glob(&glob), glob);
                    (TestKind::Matches, CheckedExpr::new(ExprKind::Regex(number), span, Ty::Any).expr)
                }
                _ => continue,
            };
            let is_meant = kinds::positive_test(TestKind::Equal, wanted.clone(), text(name));
            let is_other = kinds::positive_test(kind, kinds::step_field(of_step::TOOL, span), known);
            test = boolean(BinaryOperator::Or, test, boolean(BinaryOperator::And, is_meant, is_other));
        }
        test
    }

    /// The test of the called tool, where its name holds parameters. Nothing else may stand there: the tool is called before there is a run.
    pub(super) fn called_tool_test(
        &mut self,
        scope: &NameScope<'a>,
        call: &'a ast::InvariantCall,
    ) -> Option<ir::TypedExpr> {
        let text = call.tool_text.as_ref()?;
        for part in &text.parts {
            let TextPart::Interpolation(value) = part else { continue };
            if self.param_of(scope.file, value).is_none() {
                self.report_diagnostic(
                    Diagnostic::new(Slug::Misplaced, value.span, "the tool of a `call` can only contain a parameter")
                        .with_help("declare it, `param NAME: string = \"…\"`, and write its name alone: `${NAME}`"),
                );
            }
        }
        let wanted = self.text_literal(&NameScope { step: None, response: false, ..scope.clone() }, text).expr;
        Some(self.tool_test(wanted, text.span))
    }

    fn param_of(&self, file: usize, value: &ast::Expr) -> Option<u32> {
        let ast::ExprKind::Name(name) = &value.kind else { return None };
        match self.resolve_symbol(file, name) {
            Some((FileSymbol::Param(number), _)) => Some(number),
            _ => None,
        }
    }

    /// The tool of a call in a test of its invariant: under the defaults of its parameters.
    pub(super) fn default_tool(&self, call: &ast::InvariantCall) -> Option<String> {
        let parts = call.tool_text.iter().flat_map(|text| &text.parts).map(|part| match part {
            TextPart::Literal(text) => Some(text.clone()),
            TextPart::Interpolation(value) => match self.default_of(self.param_of(0, value)?)? {
                Constant::Text(text) => Some(text),
                _ => None,
            },
        });
        parts.collect()
    }

    fn default_of(&self, number: u32) -> Option<Constant> {
        self.module.params.get(number as usize)?.default.clone()
    }

    /// The value of an argument in a test of its invariant: a parameter has its default there.
    pub(super) fn value_in_test(&self, expr: &ir::TypedExpr) -> Option<Constant> {
        match &expr.kind {
            ExprKind::Param(number) => self.default_of(*number),
            ExprKind::Join(parts) => {
                let texts = parts.iter().map(|part| self.value_in_test(part).map(|value| super::fold::text_of(&value)));
                texts.collect::<Option<_>>().map(Constant::Text)
            }
            _ => self.constant_value(expr),
        }
    }

    /// The parts of the tool of a call by which its inputs are made.
    pub(super) fn tool_parts(&self, file: usize, call: &ast::InvariantCall) -> Vec<ir::ToolNamePart> {
        let parts = call.tool_text.iter().flat_map(|text| &text.parts).filter_map(|part| match part {
            TextPart::Literal(text) => Some(ir::ToolNamePart::Text(text.clone())),
            TextPart::Interpolation(value) => self.param_of(file, value).map(ir::ToolNamePart::Param),
        });
        parts.collect()
    }

    /// Reports a bare name in a `call` that is a parameter.
    pub(super) fn report_param_as_tool(&mut self, scope: &NameScope<'a>, name: &ast::Name) {
        if let Some((FileSymbol::Param(number), _)) = self.resolve_symbol(scope.file, &name.text)
            && self.source_line(name.span) == name.text
        {
            self.report_bare_param(number, name);
        }
    }

    /// A bare name that is a parameter which can hold the name of a tool: which of both is meant has to be written.
    pub(super) fn report_bare_param(&mut self, number: u32, name: &ast::Name) {
        let Some(param) = self.module.params.get(number as usize) else { return };
        if !matches!(param.ty, Type::String | Type::Any) {
            return;
        }
        let text = &name.text;
        let message = format!("`{text}` is a parameter, and this names a tool");
        let help = format!(
            "write `\"${{{text}}}\"` for the tool that the parameter names, or `\"{text}\"` for the tool of this name"
        );
        let fix = format!("\"${{{text}}}\"");
        self.report_diagnostic(Diagnostic::new(Slug::Misplaced, name.span, message).with_help(help).with_fix(
            "name the tool by the parameter",
            name.span,
            fix,
        ));
    }
}
