//! Invariants: what calls of a tool must answer. On a recorded run every executed call of the tool with the same arguments is
//! judged: each assertion becomes a block `each CALL { … }` in which `response` is the call's result. A call that uses what an
//! earlier one answered (`made.response`) stands in a block of that one.

use super::Checker;
use super::blocks::{BlockWrap, BodyKind};
use super::body::AssertionPlace;
use super::expr::CheckedExpr;
use super::fold;
use super::invariant_inputs::{GenerateClause, GeneratedTool};
use super::kinds;
use super::scope::{NameScope, ScopeVariable, VariableValue};
use super::settings::OwnModifiers;
use super::ty::{StepShape, Ty};
use super::walk;
use crate::ir::{self, AssertionCheck, Constant, ExprKind, LocalId, NameTest, PatternAlternative, RuleRole};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_runs::run::StepKind;
use averment_syntax::ast::{self, BodySetting, CallInput, ExprQuantifier, ItemKind, TestKind};

#[derive(Debug, Clone)]
struct LoweredCall<'a> {
    alias: Option<&'a str>,
    pattern: ir::CheckedPattern,
    shape: StepShape,
    needs: Vec<usize>,
}

#[derive(Debug, Clone, Default)]
struct InvariantReading<'a> {
    calls: Vec<LoweredCall<'a>>,
    variables: Vec<ScopeVariable<'a>>,
    tool: Option<ir::TypedExpr>,
}

impl<'a> Checker<'a> {
    pub(super) fn check_invariant(&mut self, place: &AssertionPlace<'a>, rule: &'a ast::RuleBlock) {
        let id = self.rule_id("invariant", &rule.name);
        let sentence = rule.sentence.as_ref().and_then(|sentence| self.plain_text(sentence));
        let inner =
            self.open_rule(place, id, RuleRole::Invariant, sentence, rule.name.span, &rule.modifiers, &rule.body);
        let outer = std::mem::take(&mut self.bindings);
        let mut reading = InvariantReading::default();
        self.invariant_items(&inner, &rule.body, &mut reading);
        self.bindings = outer;
    }

    fn invariant_items(
        &mut self,
        place: &AssertionPlace<'a>,
        items: &'a [ast::SyntaxItem],
        reading: &mut InvariantReading<'a>,
    ) {
        let mut opening = true;
        for (number, item) in (1_usize..).zip(items) {
            match &item.kind {
                ItemKind::Call(call) => {
                    opening = false;
                    let fails = call.expects_error(items.get(number..).unwrap_or_default());
                    self.read_call(place, call, fails, reading);
                }
                ItemKind::ForEachTool { condition, body } => {
                    self.for_each_tool(place, condition.as_ref(), body);
                }
                ItemKind::Setting(BodySetting::Key { key, value, .. }) if key.text == "expect" => {
                    self.check_expectation(place, value.as_ref(), reading, item.span);
                }
                ItemKind::Assertion(assertion) => match self.call_place(place, assertion.span, reading) {
                    Some(inner) => self.check_assertion(&inner, assertion),
                    None => self.report_without_call(place, assertion.span),
                },
                _ => self.body_item(place, item, BodyKind::Invariant, &mut opening),
            }
        }
    }

    fn report_without_call(&mut self, place: &AssertionPlace<'a>, span: Span) {
        let header = place.rule.and_then(|rule| self.module.rules.get(rule as usize)).map(|rule| rule.span);
        if header.is_some_and(|header| self.is_unread_between(header, span)) {
            return;
        }
        self.report_diagnostic(
            Diagnostic::new(
                Slug::Misplaced,
                span,
                "an assertion of an invariant is about the call before it, and there is none",
            )
            .with_help("write `call TOOL { … }` first"),
        );
    }

    fn read_call(
        &mut self,
        place: &AssertionPlace<'a>,
        call: &'a ast::InvariantCall,
        fails: bool,
        reading: &mut InvariantReading<'a>,
    ) {
        let is_each = call.tool.text == "tool" && reading.tool.is_some();
        let named = self.called_tool_test(&place.scope, call);
        let mut name = NameTest::Any;
        let mut shape = StepShape::of_kind(StepKind::Call);
        if !is_each && named.is_none() {
            self.report_param_as_tool(&place.scope, &call.tool);
            self.check_tool(&place.scope, &call.tool.text, call.tool.span);
            name = NameTest::Exactly(call.tool.text.clone());
            // What has to be refused may be what the schema of the tool does not allow.
            shape.arguments = if fails { None } else { self.catalogue.tool_arguments(&call.tool.text) };
        }
        // Without a condition there is nothing to test: every tool is meant.
        let every = |tool: &ir::TypedExpr| matches!(tool.kind, ExprKind::Constant(Constant::Boolean(true)));
        let mut tests: Vec<ir::TypedExpr> =
            reading.tool.iter().filter(|tool| is_each && !every(tool)).cloned().collect();
        tests.extend(named);
        let mut scope = NameScope { variables: reading.variables.clone(), ..place.scope.clone() };
        if is_each {
            // Among its arguments the tool is known by its name.
            let called = VariableValue::Fact(Box::new(kinds::step_field("tool", call.tool.span)));
            scope.variables.push(ScopeVariable { name: "tool", value: called });
        }
        match &call.input {
            CallInput::Object(object) => self.call_arguments(&scope, &shape, object, &mut tests),
            CallInput::Generate { inputs, cases, seed, seed_name } => {
                let made = GenerateClause { inputs, cases, seed, seed_name: seed_name.as_ref() };
                let parts = self.tool_parts(place.scope.file, call);
                let tool = GeneratedTool { name: &call.tool, parts, each: is_each };
                self.generated_inputs(place.rule, tool, &made);
            }
        }
        let needs = reading
            .calls
            .iter()
            .enumerate()
            .filter(|(_, earlier)| tests.iter().any(|test| uses_call(test, earlier, &reading.variables)))
            .map(|(index, _)| index)
            .collect();
        let mut binds = Vec::new();
        if let Some(alias) = &call.alias {
            let number = self.bindings.bind_call(&alias.text);
            binds.push((number, kinds::step_field("result", alias.span)));
            reading.variables.push(ScopeVariable { name: &alias.text, value: VariableValue::Call(number) });
        }
        let pattern = self.call_pattern_of(call, name, tests, binds);
        let alias = call.alias.as_ref().map(|alias| alias.text.as_str());
        reading.calls.push(LoweredCall { alias, pattern, shape, needs });
        if let Some(expect) = &call.expect {
            self.expect_outcome(place, &expect.text, reading, expect.span);
        }
    }

    fn call_pattern_of(
        &self,
        call: &ast::InvariantCall,
        name: NameTest,
        tests: Vec<ir::TypedExpr>,
        binds: Vec<(u32, ir::TypedExpr)>,
    ) -> ir::CheckedPattern {
        let (joins, conditions) = tests.into_iter().partition::<Vec<_>, _>(walk::uses_binding);
        let condition = conditions.into_iter().fold(None, |all, one| Some(walk::join_and(all, one)));
        let end = match &call.input {
            CallInput::Object(object) => object.span,
            CallInput::Generate { .. } => call.tool.span,
        };
        let alternative = PatternAlternative {
            kind: StepKind::Call,
            name,
            proposed: false,
            succeeded: None,
            text: None,
            condition,
            binds,
            joins,
        };
        let span = call.tool.span.cover_with(end);
        ir::CheckedPattern { text: self.source_line(span), span, alternatives: vec![alternative] }
    }

    fn call_arguments(
        &mut self,
        scope: &NameScope<'a>,
        shape: &StepShape,
        object: &'a ast::Expr,
        tests: &mut Vec<ir::TypedExpr>,
    ) {
        let ast::ExprKind::Object(entries) = &object.kind else { return };
        let plain = NameScope { step: None, response: false, ..scope.clone() };
        for (name, value) in entries {
            let arguments =
                CheckedExpr::new(ExprKind::StepField("args".to_owned()), name.span, shape.field_type("args"));
            let path = self.member_of(arguments, &name.text, name.span, name.span, name.span);
            let value = self.check_expr(&plain, value);
            tests.push(kinds::positive_test(TestKind::Equal, path.expr, value.expr));
        }
        self.report_unbound();
    }

    /// `for each tool where … {…}`.
    fn for_each_tool(
        &mut self,
        place: &AssertionPlace<'a>,
        condition: Option<&'a ast::Expr>,
        body: &'a [ast::SyntaxItem],
    ) {
        let mut reading =
            InvariantReading { tool: Some(self.tool_condition(place, condition)), ..InvariantReading::default() };
        self.invariant_items(place, body, &mut reading);
    }

    fn tool_condition(&mut self, place: &AssertionPlace<'a>, condition: Option<&'a ast::Expr>) -> ir::TypedExpr {
        let Some(condition) = condition else {
            return CheckedExpr::new(ExprKind::Constant(Constant::Boolean(true)), place_span(), Ty::Boolean).expr;
        };
        let span = condition.span;
        let tool = kinds::step_field("tool", span);
        if self.catalogue.is_declared() {
            let all = self.module.tools.iter().map(|tool| (tool.name.clone(), tool_object(tool))).collect();
            let all = CheckedExpr::new(ExprKind::Constant(Constant::Object(all)), span, Ty::Object).expr;
            let one = CheckedExpr::new(ExprKind::Index(Box::new(all), Box::new(tool)), span, Ty::Object).expr;
            return self.condition_expr(&facts_scope(&place.scope, &one), condition);
        }
        let local = LocalId(place.scope.next_local);
        let one = CheckedExpr::new(ExprKind::Local(local), span, Ty::Object).expr;
        let mut scope = facts_scope(&place.scope, &one);
        scope.next_local = scope.next_local.saturating_add(1);
        let is_it = kinds::positive_test(TestKind::Equal, tool_fact(&one, "name"), tool);
        let body = walk::join_and(Some(is_it), self.condition_expr(&scope, condition));
        let tools = CheckedExpr::new(ExprKind::Root("tools"), span, Ty::Any).expr;
        let kind = ExprKind::Quantifier(ExprQuantifier::Any, local, Box::new(tools), Box::new(body));
        CheckedExpr::new(kind, span, Ty::Boolean).expr
    }

    fn check_expectation(
        &mut self,
        place: &AssertionPlace<'a>,
        value: Option<&ast::Expr>,
        reading: &InvariantReading<'a>,
        span: Span,
    ) {
        if let Some(ast::Expr { kind: ast::ExprKind::Name(word), .. }) = value {
            self.expect_outcome(place, word, reading, span);
        }
    }

    /// `expect ok` and `expect error`: how the call ended.
    fn expect_outcome(&mut self, place: &AssertionPlace<'a>, word: &str, reading: &InvariantReading<'a>, span: Span) {
        let ok = match word {
            "ok" => true,
            "error" => false,
            _ => {
                self.report_diagnostic(
                    Diagnostic::new(Slug::Syntax, span, format!("a call ends `ok` or with an `error`, not `{word}`"))
                        .with_help("write `expect ok` or `expect error`"),
                );
                return;
            }
        };
        let Some(inner) = self.call_place(place, span, reading) else { return self.report_without_call(place, span) };
        let wanted = CheckedExpr::new(ExprKind::Constant(Constant::Boolean(ok)), span, Ty::Boolean).expr;
        let test = kinds::positive_test(TestKind::Equal, kinds::step_field("ok", span), wanted);
        self.add_assertion(
            &inner,
            OwnModifiers::default(),
            AssertionCheck::Expression(test),
            format!("expect {word}"),
            span,
        );
    }

    fn call_place(
        &mut self,
        place: &AssertionPlace<'a>,
        span: Span,
        reading: &InvariantReading<'a>,
    ) -> Option<AssertionPlace<'a>> {
        let last = reading.calls.len().checked_sub(1)?;
        let text = self.source_line(span);
        let mut needed = vec![false; reading.calls.len()];
        for (needs, call) in needed.iter_mut().zip(&reading.calls) {
            *needs = call.alias.is_some_and(|alias| text.contains(&format!("{alias}.")));
        }
        if let Some(own) = needed.get_mut(last) {
            *own = true;
        }
        for index in (0..reading.calls.len()).rev() {
            let needs = needed.get(index).copied().unwrap_or(false);
            for earlier in reading.calls.get(index).filter(|_| needs).map(|call| call.needs.clone()).unwrap_or_default()
            {
                if let Some(earlier) = needed.get_mut(earlier) {
                    *earlier = true;
                }
            }
        }
        let mut inner = place.clone();
        for (call, _) in reading.calls.iter().zip(&needed).filter(|(_, needed)| **needed) {
            inner.wraps.push(BlockWrap::Window(ir::WindowScope::Each { step: call.pattern.clone() }));
            inner.headers.push(call.pattern.text.clone());
        }
        inner.scope.step = reading.calls.last().map(|call| call.shape.clone());
        inner.scope.response = true;
        inner.scope.variables.extend(reading.variables.iter().cloned());
        Some(inner)
    }
}

fn uses_call(test: &ir::TypedExpr, call: &LoweredCall<'_>, variables: &[ScopeVariable<'_>]) -> bool {
    let Some(alias) = call.alias else { return false };
    let number =
        variables.iter().rev().find(|variable| variable.name == alias).and_then(|variable| match variable.value {
            VariableValue::Call(number) => Some(number),
            _ => None,
        });
    walk::any_kind(test, &|kind| matches!(kind, ExprKind::Binding(binding) if Some(binding.0) == number))
}

fn tool_fact(tool: &ir::TypedExpr, name: &str) -> ir::TypedExpr {
    CheckedExpr::new(ExprKind::Field(Box::new(tool.clone()), name.to_owned()), tool.span, Ty::Any).expr
}

fn facts_scope<'a>(scope: &NameScope<'a>, tool: &ir::TypedExpr) -> NameScope<'a> {
    let mut scope = scope.clone();
    for name in ["name", "title", "description", "annotations", "strict"] {
        scope.variables.push(ScopeVariable { name, value: VariableValue::Fact(Box::new(tool_fact(tool, name))) });
    }
    scope
}

fn tool_object(tool: &ir::CatalogTool) -> Constant {
    let said = tool.annotations.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let mut entries = match said.as_ref().map(fold::constant_of) {
        Some(Constant::Object(entries)) => entries,
        _ => Vec::new(),
    };
    if !entries.iter().any(|(name, _)| name == "name") {
        entries.push(("name".to_owned(), Constant::Text(tool.name.clone())));
    }
    Constant::Object(entries)
}

fn place_span() -> Span {
    Span::default()
}
