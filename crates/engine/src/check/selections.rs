//! Lists that are made in an expression: `E of A` and `count A` over the steps that match a pattern, `E of LIST` and `LIST where COND` over a list.

use super::Checker;
use super::expr::Typed;
use super::patterns::Lowered;
use super::scope::{LookupSide, Scope, Symbol, Variable, VariableValue};
use super::ty::{Class, Ty};
use super::walk;
use crate::ir::{self, Binding, Check, Collecting, ExprKind, Pattern, Reach, Selection};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_builtins::table as builtins;
use averment_syntax::ast::{self, StepKind, Subject};

/// What the element of a list is called.
const ELEMENT: &str = "it";

impl<'a> Checker<'a> {
    /// `count A` as a number.
    pub(super) fn counted(&mut self, scope: &Scope<'a>, step: &'a ast::Step, so_far: bool, span: Span) -> Typed {
        self.selection(scope, None, step, so_far, span)
    }

    /// `E of A` and `E of LIST`.
    pub(super) fn of(
        &mut self,
        scope: &Scope<'a>,
        value: &'a ast::Expr,
        target: &'a ast::PredicateTarget,
        so_far: bool,
        span: Span,
    ) -> Typed {
        match (&target.expr, &target.step) {
            (Some(list), _) => {
                let list = self.expr(scope, list);
                self.collect(scope, Collecting::Of, list, value, span)
            }
            (None, Some(step)) => match self.list_named_like(scope, step) {
                Some(list) if so_far => {
                    let message = "`so far` speaks of steps, and this is a list";
                    self.report(
                        Diagnostic::new(Slug::Misplaced, step.span, message)
                            .help("leave `so far` out; a tool of that name is quoted"),
                    );
                    list
                }
                Some(list) => self.collect(scope, Collecting::Of, list, value, span),
                None => self.selection(scope, Some(value), step, so_far, span),
            },
            (None, None) => Typed::broken(span),
        }
    }

    /// `LIST where COND`.
    pub(super) fn filtered(
        &mut self,
        scope: &Scope<'a>,
        list: &'a ast::Expr,
        condition: &'a ast::Expr,
        span: Span,
    ) -> Typed {
        let values = self.expr(scope, list);
        self.collect(scope, Collecting::Where, values, condition, span)
    }

    /// The body sees the fields of an element by their names, and the element as `it`.
    fn collect(
        &mut self,
        scope: &Scope<'a>,
        collecting: Collecting,
        list: Typed,
        body: &'a ast::Expr,
        span: Span,
    ) -> Typed {
        if list.is_broken() {
            return Typed::broken(span);
        }
        self.check_collected(&list, collecting);
        let (mut inner, local) = scope.on(LookupSide::Plain).with_local(ELEMENT, list.ty.element());
        inner.element = true;
        let (body, ty) = match collecting {
            Collecting::Where => (self.condition(&inner, body), Ty::list(list.ty.element())),
            Collecting::Of => {
                let value = self.expr(&inner, body);
                (value.expr, Ty::list(value.ty))
            }
        };
        let kind = ExprKind::Collect(collecting, local, Box::new(list.expr), Box::new(body));
        Typed::new(kind, span, ty)
    }

    fn check_collected(&mut self, list: &Typed, collecting: Collecting) {
        let word = if collecting == Collecting::Where { "where" } else { "of" };
        let Some(class) = list.ty.class().filter(|class| !matches!(class, Class::List | Class::Object)) else { return };
        let message = format!("`{word}` goes through a list, not {}", class.noun());
        self.report(
            Diagnostic::new(Slug::TypeMismatch, list.expr.span, message).help(
                "name a list, such as `output.items` or `calls`, or the steps themselves: `args.amount of refund`",
            ),
        );
    }

    /// The list that a bare name behind `of` stands for, where something in scope has it; any other name is a tool.
    fn list_named_like(&mut self, scope: &Scope<'a>, step: &'a ast::Step) -> Option<Typed> {
        let (name, condition) = match &step.kind {
            StepKind::Where { step, condition } => (bare_name(step)?, Some(condition)),
            _ => (bare_name(step)?, None),
        };
        let mut keys = name.text.split('.');
        let first = keys.next()?;
        let known = scope.variable(first).is_some()
            || scope.element && !self.catalogue.knows(first) && self.symbol(scope.file, first).is_none()
            || scope.step.as_ref().is_some_and(|shape| shape.has(first))
            || matches!(self.symbol(scope.file, first), Some((Symbol::Let(_) | Symbol::Param(_), _)));
        if !known {
            return None;
        }
        let mut value = self.name(scope, first, name.span);
        for key in keys {
            value = self.member(value, key, name.span, name.span, name.span);
        }
        Some(match condition {
            None => value,
            Some(condition) => self.collect(scope, Collecting::Where, value, condition, step.span),
        })
    }

    /// Whether a step is the bare word `runs`: a tool of that name is quoted behind `of`.
    fn names_all_runs(step: &ast::Step) -> bool {
        let named = if let StepKind::Where { step, .. } = &step.kind { bare_name(step) } else { bare_name(step) };
        named.is_some_and(|name| name.text == "runs")
    }

    fn selection(
        &mut self,
        scope: &Scope<'a>,
        value: Option<&'a ast::Expr>,
        step: &'a ast::Step,
        so_far: bool,
        span: Span,
    ) -> Typed {
        if scope.windowed {
            let message = "this looks at the steps of the whole run, and the block at those of a window";
            self.report(Diagnostic::new(Slug::Misplaced, span, message).help(
                "write it outside of the block; in a window steps are counted by a statement: `count search <= 3`",
            ));
            return Typed::broken(span);
        }
        if so_far && scope.step.is_none() {
            let message = "`so far` needs a step: it means what was known when that one was asked for";
            self.report(
                Diagnostic::new(Slug::Misplaced, span, message)
                    .help("write `each refund: …` around it, or leave it out"),
            );
            return Typed::broken(span);
        }
        self.check_not_a_function(step);
        if value.is_some() && Self::names_all_runs(step) {
            let message = "`of runs` is of all runs that are checked, and takes no `where` and nothing else behind it";
            self.report(Diagnostic::new(Slug::Misplaced, step.span, message).help(
                "choose runs behind the assertion: `avg(turns of runs) <= 20 when meta.stage == \"nightly\"`; a tool of the name is quoted",
            ));
            return Typed::broken(span);
        }
        let (inner, captured) = self.captured(scope);
        let before = self.bindings.bound();
        let Lowered { pattern, shape } = self.pattern(&inner, step);
        self.note_selected(scope, &pattern, before);
        let mut within = inner.with_step(shape);
        within.own = true;
        within.side = LookupSide::Plain;
        let value = value.map(|value| self.expr(&within, value));
        let ty = value.as_ref().map_or(Ty::Count, |value| Ty::list(value.ty.clone()));
        let value = value.map(|value| value.expr);
        let given = given(&pattern, value.as_ref(), &captured, span);
        let reach = if so_far { Reach::SoFar } else { scope.reach.unwrap_or(Reach::Run) };
        let selection = Selection { pattern, value, reach, given };
        Typed::new(ExprKind::Select(Box::new(selection)), span, ty)
    }

    /// `x of distinct(…)` reads as the arguments of a tool.
    fn check_not_a_function(&mut self, step: &ast::Step) {
        let StepKind::Atom(atom) = &step.kind else { return };
        let Subject::Tool(name) = &atom.subject else { return };
        if atom.arguments.is_some() && builtins::lookup(&name.text).is_some() && !self.catalogue.knows(&name.text) {
            let written = self.written(step.span);
            let message = format!("`{}` is a function, and behind `of` this is the call of a tool", name.text);
            self.report(Diagnostic::new(Slug::TypeMismatch, step.span, message).help(format!(
                "give the list a name, `let found = {written}`, and write `of found`; a tool of that name is quoted: `\"{}\"`",
                name.text
            )));
        }
    }

    /// The scope of a selection: variables of the code around it are handed in as bindings.
    fn captured(&mut self, scope: &Scope<'a>) -> (Scope<'a>, Vec<(u32, ir::Expr)>) {
        let mut captured = Vec::new();
        let mut inner = scope.clone();
        for variable in &mut inner.variables {
            let VariableValue::Local(local, ty) = &variable.value else { continue };
            let number = self.bindings.capture(variable.name, local.0);
            captured.push((number, Typed::new(ExprKind::Local(*local), Span::default(), ty.clone()).expr));
            *variable = Variable { name: variable.name, value: VariableValue::Bound(number, ty.clone()) };
        }
        inner.next_local = 0;
        inner.element = false;
        (inner, captured)
    }

    /// Where an expression is a statement its selections bind; anywhere else they use what something around them binds.
    fn note_selected(&mut self, scope: &Scope<'a>, pattern: &Pattern, before: Vec<bool>) {
        if scope.binds {
            return;
        }
        self.bindings.restore_bound(&before);
        for (number, path) in pattern.alternatives.iter().flat_map(|alternative| &alternative.binds) {
            self.bindings.note_use(*number, path.span);
        }
    }

    /// An expression as a statement: where its selections bring values for bindings, or it compares their numbers, it is judged once for all
    /// values that occur.
    pub(super) fn over_values(&mut self, scope: &Scope<'a>, condition: ir::Expr) -> Check<Pattern, ir::Expr> {
        let mut found = Vec::new();
        selections(&condition, &mut found);
        let names = |pattern: &Pattern| -> Vec<u32> {
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
            return Check::Expression(condition);
        }
        let brings_all = |pattern: &Pattern| {
            let binds_all = |alternative: &ir::Alternative<ir::Expr>| {
                open.iter().all(|number| alternative.binds.iter().any(|bind| bind.0 == *number))
            };
            pattern.alternatives.iter().all(binds_all)
        };
        let steps: Vec<Pattern> = found.iter().map(|selection| selection.pattern.clone()).filter(brings_all).collect();
        if steps.is_empty() {
            let all: Vec<String> = open.iter().map(|number| format!("`${}`", self.bindings.name(*number))).collect();
            let message = format!("no step of this expression binds {} together", all.join(", "));
            self.report(
                Diagnostic::new(Slug::Binding, condition.span, message).help(
                    "it is judged once for all values that one step brings: bind them all in one of the patterns",
                ),
            );
            return Check::Expression(condition);
        }
        Check::Scoped { scope: ir::Scope::Values { steps }, body: Box::new(Check::Expression(condition)) }
    }
}

/// The name of a step that is nothing but a bare name.
fn bare_name(step: &ast::Step) -> Option<&ast::Name> {
    let StepKind::Atom(atom) = &step.kind else { return None };
    let alone = atom.arguments.is_none() && atom.status.is_none() && atom.by.is_none() && atom.tagged.is_none();
    match &atom.subject {
        Subject::Tool(name) if alone && !atom.proposed && !name.text.contains(['*', '?', '/', '-']) => Some(name),
        _ => None,
    }
}

/// The bindings that a selection uses, with their values at its place.
fn given(
    pattern: &Pattern,
    value: Option<&ir::Expr>,
    captured: &[(u32, ir::Expr)],
    span: Span,
) -> Vec<(Binding, ir::Expr)> {
    let mut used: Vec<u32> = Vec::new();
    for alternative in &pattern.alternatives {
        used.extend(alternative.binds.iter().map(|bind| bind.0));
        alternative.joins.iter().chain(&alternative.condition).for_each(|join| walk::bindings(join, &mut used));
    }
    value.iter().for_each(|value| walk::bindings(value, &mut used));
    used.sort_unstable();
    used.dedup();
    let place = |number: u32| {
        let local = captured.iter().find(|(captured, _)| *captured == number).map(|(_, local)| local.kind.clone());
        let kind = local.unwrap_or(ExprKind::Binding(Binding(number)));
        (Binding(number), ir::Expr { kind, span, ty: ir::Type::Any })
    };
    used.into_iter().map(place).collect()
}

/// The selections of an expression, those inside of others left out.
pub(super) fn selections<'e>(expr: &'e ir::Expr, into: &mut Vec<&'e Selection>) {
    if let ExprKind::Select(selection) = &expr.kind {
        into.push(selection);
        return;
    }
    stacker::maybe_grow(64 << 10, 1 << 20, || {
        for child in walk::children_of(expr) {
            selections(child, into);
        }
    });
}

/// Whether an expression is nothing but a comparison with numbers of steps on both sides.
fn compares_counts(expr: &ir::Expr) -> bool {
    let counts = |side: &ir::Expr| {
        walk::any(side, &|kind| matches!(kind, ExprKind::Select(selection) if selection.value.is_none()))
    };
    match &expr.kind {
        ExprKind::Test(tested) => counts(&tested.subject) && tested.operand.as_deref().is_some_and(counts),
        _ => false,
    }
}
