//! Lists that are made in an expression: `E of A` and `count A` over the steps that match a pattern, `E of LIST` and `LIST where COND` over a list.

use super::Checker;
use super::expr::CheckedExpr;
use super::patterns::LoweredPattern;
use super::scope::{FileSymbol, LookupSide, NameScope, ScopeVariable, VariableValue};
use super::ty::{ComparisonClass, Ty};
use super::walk;
use crate::ir::{
    self, AssertionCheck, BindingId, CheckedPattern, CollectMode, ExprKind, SelectionReach, StepSelection,
};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_builtins::table as builtins;
use averment_syntax::ast::{self, AtomSubject, PatternForm, SoFarReach};

const ELEMENT: &str = "it";

impl<'a> Checker<'a> {
    /// `count A` as a number.
    pub(super) fn check_step_count(
        &mut self,
        scope: &NameScope<'a>,
        step: &'a ast::StepPattern,
        so_far: Option<SoFarReach>,
        span: Span,
    ) -> CheckedExpr {
        self.check_selection(scope, None, step, so_far, span)
    }

    /// `E of A` and `E of LIST`.
    pub(super) fn check_of(
        &mut self,
        scope: &NameScope<'a>,
        value: &'a ast::Expr,
        target: &'a ast::PredicateTarget,
        so_far: Option<SoFarReach>,
        span: Span,
    ) -> CheckedExpr {
        match (&target.expr, &target.step) {
            (Some(list), _) => {
                let list = self.check_expr(scope, list);
                self.check_collect(scope, CollectMode::Of, list, value, span)
            }
            (None, Some(step)) => match self.list_named_like(scope, step) {
                Some(list) if so_far.is_some() => {
                    let message = "`so far` works only on steps, and this is a list";
                    self.report_diagnostic(
                        Diagnostic::new(Slug::Misplaced, step.span, message)
                            .with_help("leave `so far` out; a tool of that name is quoted"),
                    );
                    list
                }
                Some(list) => self.check_collect(scope, CollectMode::Of, list, value, span),
                None => self.check_selection(scope, Some(value), step, so_far, span),
            },
            (None, None) => CheckedExpr::broken_at(span),
        }
    }

    /// `LIST where COND`.
    pub(super) fn check_filter(
        &mut self,
        scope: &NameScope<'a>,
        list: &'a ast::Expr,
        condition: &'a ast::Expr,
        span: Span,
    ) -> CheckedExpr {
        let values = self.check_expr(scope, list);
        self.check_collect(scope, CollectMode::Where, values, condition, span)
    }

    /// The body sees the element's fields by name, and the element as `it`.
    fn check_collect(
        &mut self,
        scope: &NameScope<'a>,
        collecting: CollectMode,
        list: CheckedExpr,
        body: &'a ast::Expr,
        span: Span,
    ) -> CheckedExpr {
        if list.is_broken() {
            return CheckedExpr::broken_at(span);
        }
        self.check_collected(&list, collecting);
        let (mut inner, local) = scope.on_side(LookupSide::Plain).with_local(ELEMENT, list.ty.element_type());
        inner.element = true;
        let (body, ty) = match collecting {
            CollectMode::Where => (self.condition_expr(&inner, body), Ty::list_of(list.ty.element_type())),
            CollectMode::Of => {
                let value = self.check_expr(&inner, body);
                (value.expr, Ty::list_of(value.ty))
            }
        };
        let kind = ExprKind::Collect(collecting, local, Box::new(list.expr), Box::new(body));
        CheckedExpr::new(kind, span, ty)
    }

    fn check_collected(&mut self, list: &CheckedExpr, collecting: CollectMode) {
        let word = if collecting == CollectMode::Where { "where" } else { "of" };
        let Some(class) = list
            .ty
            .comparison_class()
            .filter(|class| !matches!(class, ComparisonClass::List | ComparisonClass::Object))
        else {
            return;
        };
        let message = format!("`{word}` goes through a list, not {}", class.noun());
        self.report_diagnostic(Diagnostic::new(Slug::TypeMismatch, list.expr.span, message).with_help(
            "name a list, such as `output.items` or `calls`, or the steps themselves: `args.amount of refund`",
        ));
    }

    /// The list that a bare name after `of` refers to; `None` if the name is a tool.
    fn list_named_like(&mut self, scope: &NameScope<'a>, step: &'a ast::StepPattern) -> Option<CheckedExpr> {
        let (name, condition) = match &step.kind {
            PatternForm::Where { step, condition } => (bare_name(step)?, Some(condition)),
            _ => (bare_name(step)?, None),
        };
        let mut keys = name.text.split('.');
        let first = keys.next()?;
        let known = scope.find_variable(first).is_some()
            || scope.element && !self.catalogue.is_known(first) && self.resolve_symbol(scope.file, first).is_none()
            || scope.step.as_ref().is_some_and(|shape| shape.has_field(first))
            || matches!(self.resolve_symbol(scope.file, first), Some((FileSymbol::Let(_) | FileSymbol::Param(_), _)));
        if !known {
            return None;
        }
        let mut value = self.check_name(scope, first, name.span);
        for key in keys {
            value = self.member_of(value, key, name.span, name.span, name.span);
        }
        Some(match condition {
            None => value,
            Some(condition) => self.check_collect(scope, CollectMode::Where, value, condition, step.span),
        })
    }

    /// True for the bare word `runs`; a tool of that name must be quoted after `of`.
    fn names_all_runs(step: &ast::StepPattern) -> bool {
        let named = if let PatternForm::Where { step, .. } = &step.kind { bare_name(step) } else { bare_name(step) };
        named.is_some_and(|name| name.text == "runs")
    }

    fn check_selection(
        &mut self,
        scope: &NameScope<'a>,
        value: Option<&'a ast::Expr>,
        step: &'a ast::StepPattern,
        so_far: Option<SoFarReach>,
        span: Span,
    ) -> CheckedExpr {
        if scope.windowed {
            let message = "this looks at the steps of the whole run, and the block at those of a window";
            self.report_diagnostic(Diagnostic::new(Slug::Misplaced, span, message).with_help(
                "write it outside of the block; in a window steps are counted by a statement: `count search <= 3`",
            ));
            return CheckedExpr::broken_at(span);
        }
        if so_far.is_some() && scope.step.is_none() {
            let message = "`so far` needs a step: it means what was known when that one was asked for";
            self.report_diagnostic(
                Diagnostic::new(Slug::Misplaced, span, message)
                    .with_help("write `each refund: …` around it, or leave it out"),
            );
            return CheckedExpr::broken_at(span);
        }
        self.check_not_a_function(step);
        if value.is_some() && Self::names_all_runs(step) {
            let message = "`of runs` means all runs that are checked; it takes no `where`, and nothing may follow it";
            self.report_diagnostic(Diagnostic::new(Slug::Misplaced, step.span, message).with_help(
                "choose runs after the assertion: `avg(turns of runs) <= 20 when meta.stage == \"nightly\"`; a tool of the name is quoted",
            ));
            return CheckedExpr::broken_at(span);
        }
        let (inner, captured) = self.capture_variables(scope);
        let before = self.bindings.bound_flags();
        let LoweredPattern { pattern, shape } = self.lower_pattern(&inner, step);
        self.note_selected(scope, &pattern, before);
        let mut within = inner.with_step(shape);
        within.own = true;
        within.side = LookupSide::Plain;
        let value = value.map(|value| self.check_expr(&within, value));
        let ty = value.as_ref().map_or(Ty::Count, |value| Ty::list_of(value.ty.clone()));
        let value = value.map(|value| value.expr);
        let given = given_bindings(&pattern, value.as_ref(), &captured, span);
        let reach = match so_far {
            Some(SoFarReach::Known) => SelectionReach::SoFar,
            Some(SoFarReach::Started) => SelectionReach::StartedSoFar,
            None => scope.reach.unwrap_or(SelectionReach::Run),
        };
        let selection = StepSelection { pattern, value, reach, given };
        CheckedExpr::new(ExprKind::Select(Box::new(selection)), span, ty)
    }

    /// Reports `x of distinct(…)`, which reads as a tool with arguments.
    fn check_not_a_function(&mut self, step: &ast::StepPattern) {
        let PatternForm::Atom(atom) = &step.kind else { return };
        let AtomSubject::Tool(name) = &atom.subject else { return };
        if atom.arguments.is_some()
            && builtins::find_builtin(&name.text).is_some()
            && !self.catalogue.is_known(&name.text)
        {
            let written = self.source_line(step.span);
            let message = format!("`{}` is a function, but after `of` a call of a tool is expected", name.text);
            self.report_diagnostic(Diagnostic::new(Slug::TypeMismatch, step.span, message).with_help(format!(
                "give the list a name, `let found = {written}`, and write `of found`; a tool of that name is quoted: `\"{}\"`",
                name.text
            )));
        }
    }

    fn capture_variables(&mut self, scope: &NameScope<'a>) -> (NameScope<'a>, Vec<(u32, ir::TypedExpr)>) {
        let mut captured = Vec::new();
        let mut inner = scope.clone();
        for variable in &mut inner.variables {
            let VariableValue::Local(local, ty) = &variable.value else { continue };
            let number = self.bindings.capture_local(variable.name, local.0);
            captured.push((number, CheckedExpr::new(ExprKind::Local(*local), Span::default(), ty.clone()).expr));
            *variable = ScopeVariable { name: variable.name, value: VariableValue::Bound(number, ty.clone()) };
        }
        inner.next_local = 0;
        inner.element = false;
        (inner, captured)
    }

    /// In a statement, selections bind; elsewhere they use bindings from around them.
    fn note_selected(&mut self, scope: &NameScope<'a>, pattern: &CheckedPattern, before: Vec<bool>) {
        if scope.binds {
            return;
        }
        self.bindings.restore_bound(&before);
        for (number, path) in pattern.alternatives.iter().flat_map(|alternative| &alternative.binds) {
            self.bindings.note_use(*number, path.span);
        }
    }

    /// An expression as a statement; if its selections bind, it is judged once per binding value that occurs.
    pub(super) fn over_values(
        &mut self,
        scope: &NameScope<'a>,
        condition: ir::TypedExpr,
    ) -> AssertionCheck<CheckedPattern, ir::TypedExpr> {
        let mut found = Vec::new();
        collect_selections(&condition, &mut found);
        let names = |pattern: &CheckedPattern| -> Vec<u32> {
            let all = pattern.alternatives.iter().flat_map(|alternative| alternative.binds.iter().map(|bind| bind.0));
            let mut all: Vec<u32> = all.filter(|number| !scope.given.contains(number)).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let mut open: Vec<u32> = found.iter().flat_map(|selection| names(&selection.pattern)).collect();
        open.sort_unstable();
        open.dedup();
        if open.is_empty() && !compares_counts(&condition) {
            return AssertionCheck::Expression(condition);
        }
        let brings_all = |pattern: &CheckedPattern| {
            let binds_all = |alternative: &ir::PatternAlternative<ir::TypedExpr>| {
                open.iter().all(|number| alternative.binds.iter().any(|bind| bind.0 == *number))
            };
            pattern.alternatives.iter().all(binds_all)
        };
        let steps: Vec<CheckedPattern> =
            found.iter().map(|selection| selection.pattern.clone()).filter(brings_all).collect();
        if steps.is_empty() {
            let all: Vec<String> = open.iter().map(|number| format!("`${}`", self.bindings.name(*number))).collect();
            let message = format!("no step of this expression binds {} together", all.join(", "));
            self.report_diagnostic(Diagnostic::new(Slug::Binding, condition.span, message).with_help(
                "it is judged once for all values that one step brings: bind them all in one of the patterns",
            ));
            return AssertionCheck::Expression(condition);
        }
        AssertionCheck::Scoped {
            scope: ir::WindowScope::Values { steps },
            body: Box::new(AssertionCheck::Expression(condition)),
        }
    }
}

fn bare_name(step: &ast::StepPattern) -> Option<&ast::Name> {
    let PatternForm::Atom(atom) = &step.kind else { return None };
    let alone = atom.arguments.is_none() && atom.status.is_none() && atom.by.is_none() && atom.tagged.is_none();
    match &atom.subject {
        AtomSubject::Tool(name) if alone && !atom.proposed && !name.text.contains(['*', '?', '/', '-']) => Some(name),
        _ => None,
    }
}

fn given_bindings(
    pattern: &CheckedPattern,
    value: Option<&ir::TypedExpr>,
    captured: &[(u32, ir::TypedExpr)],
    span: Span,
) -> Vec<(BindingId, ir::TypedExpr)> {
    let mut used: Vec<u32> = Vec::new();
    for alternative in &pattern.alternatives {
        used.extend(alternative.binds.iter().map(|bind| bind.0));
        alternative.joins.iter().chain(&alternative.condition).for_each(|join| walk::collect_bindings(join, &mut used));
    }
    value.iter().for_each(|value| walk::collect_bindings(value, &mut used));
    used.sort_unstable();
    used.dedup();
    let place = |number: u32| {
        let local = captured.iter().find(|(captured, _)| *captured == number).map(|(_, local)| local.kind.clone());
        let kind = local.unwrap_or(ExprKind::Binding(BindingId(number)));
        (BindingId(number), ir::TypedExpr { kind, span, ty: ir::Type::Any })
    };
    used.into_iter().map(place).collect()
}

pub(super) fn collect_selections<'e>(expr: &'e ir::TypedExpr, into: &mut Vec<&'e StepSelection>) {
    if let ExprKind::Select(selection) = &expr.kind {
        into.push(selection);
        return;
    }
    stacker::maybe_grow(64 << 10, 1 << 20, || {
        for child in walk::children_of(expr) {
            collect_selections(child, into);
        }
    });
}

fn compares_counts(expr: &ir::TypedExpr) -> bool {
    let counts = |side: &ir::TypedExpr| {
        walk::any_kind(side, &|kind| matches!(kind, ExprKind::Select(selection) if selection.value.is_none()))
    };
    match &expr.kind {
        ExprKind::Test(tested) => counts(&tested.subject) && tested.operand.as_deref().is_some_and(counts),
        _ => false,
    }
}
