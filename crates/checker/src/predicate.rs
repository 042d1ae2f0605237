//! `no PREDICATE in EXPR` and `no PREDICATE in A`: which of the two it is, and what the predicate is.

use super::Checker;
use super::expr::CheckedExpr;
use super::scope::{self, FileSymbol, NameScope};
use super::ty::{ComparisonClass, Ty};
use crate::ir::{self, CheckedPattern, ExprKind, LocalId, Temporal, Type};
use averment_base::diagnostic::{Diagnostic, Slug, suggest};
use averment_builtins::table as builtins;
use averment_syntax::ast;

impl<'a> Checker<'a> {
    pub(super) fn check_no_predicate(
        &mut self,
        scope: &NameScope<'a>,
        predicate: &'a ast::Name,
        target: &'a ast::PredicateTarget,
    ) -> Temporal<CheckedPattern, ir::TypedExpr> {
        let test = self.check_predicate(scope, predicate);
        match (&target.expr, &target.step) {
            (Some(expr), step) if step.is_none() || self.is_value(scope, expr) => {
                let values = self.check_expr(scope, expr).expr;
                Temporal::NoneIn { values, predicate: test }
            }
            (_, Some(step)) => Temporal::NoneInSteps { step: self.lower_pattern(scope, step).pattern, predicate: test },
            (_, None) => Temporal::Never { steps: Vec::new() },
        }
    }

    /// True if a value follows `in`: it begins with a name of the run or file, or a near miss of a root.
    fn is_value(&self, scope: &NameScope<'a>, expr: &ast::Expr) -> bool {
        let expr = match &expr.kind {
            ast::ExprKind::Group(inner) if matches!(inner.kind, ast::ExprKind::Filtered { .. }) => inner,
            _ => expr,
        };
        // A text alone names a tool.
        if matches!(expr.kind, ast::ExprKind::Text(_)) {
            return false;
        }
        let Some(name) = first_name(expr) else { return true };
        if scope.find_variable(name).is_some() || scope::find_root(name).is_some() || matches!(name, "run" | "response")
        {
            return true;
        }
        if scope.step.as_ref().is_some_and(|shape| shape.has_field(name)) {
            return true;
        }
        match self.resolve_symbol(scope.file, name) {
            Some((FileSymbol::Step(_), _)) => return false,
            Some(_) => return true,
            None => {}
        }
        // `f(x)` is a step with arguments unless there is such a function.
        if matches!(expr.kind, ast::ExprKind::Call { .. }) {
            return builtins::find_builtin(name).is_some();
        }
        // A name with a condition is a list only where it is one: calls with a condition look alike.
        if matches!(expr.kind, ast::ExprKind::Filtered { .. }) {
            return false;
        }
        // Outside of steps, `args` are those of all calls, and no tool is called so.
        let is_field = matches!(name, "args" | "arguments" | "result");
        let near = suggest::suggest_name(name, scope::root_names());
        let is_near = near.is_some_and(|near| strsim::osa_distance(name, near) <= 2);
        (is_field || is_near) && !self.catalogue.is_known(name)
    }

    fn check_predicate(&mut self, scope: &NameScope<'a>, name: &'a ast::Name) -> ir::TypedExpr {
        let value = CheckedExpr::new(ExprKind::Local(LocalId::VALUE), name.span, Ty::Any).expr;
        let typed = match self.resolve_symbol(scope.file, &name.text) {
            Some((FileSymbol::Def(number), declared)) if self.definitions.def_parameters(number).len() == 1 => {
                self.symbols.add_reference(name.span, declared);
                let ty = self.def_type(number, Some(name.span));
                CheckedExpr::new(ExprKind::Def(number, vec![value]), name.span, ty)
            }
            Some((FileSymbol::Broken, _)) => CheckedExpr::broken_at(name.span),
            Some((FileSymbol::Def(number), _)) => {
                let count = self.definitions.def_parameters(number).len();
                let message = format!("`{}` takes {count} arguments, and a predicate takes one", name.text);
                self.report_diagnostic(
                    Diagnostic::new(Slug::ArgumentCount, name.span, message)
                        .with_help("write `no x in …: …` or a `def` of one parameter"),
                );
                CheckedExpr::broken_at(name.span)
            }
            _ => match builtins::find_builtin(&name.text).filter(|builtin| builtin.arity().0 == 1) {
                Some(builtin) => CheckedExpr::new(
                    ExprKind::Builtin(builtin.name, vec![value]),
                    name.span,
                    Ty::from_ir(builtin.result),
                ),
                None => {
                    self.report_unknown_predicate(scope.file, name);
                    CheckedExpr::broken_at(name.span)
                }
            },
        };
        if let Some(class) = typed.ty.comparison_class().filter(|class| *class != ComparisonClass::Boolean) {
            let message = format!("`{}` gives {}, and a predicate is true or false", name.text, class.noun());
            self.report_diagnostic(
                Diagnostic::new(Slug::TypeMismatch, name.span, message)
                    .with_help(format!("compare it in a definition: `def found(x) = {}(x) is not empty`", name.text)),
            );
        }
        typed.expr
    }

    fn report_unknown_predicate(&mut self, file: usize, name: &ast::Name) {
        let Some(scope) = self.scopes.get(file) else { return };
        if scope.incomplete {
            return;
        }
        let one = |symbol: FileSymbol| matches!(symbol, FileSymbol::Def(number) if self.definitions.def_parameters(number).len() == 1);
        let defs = scope.names.iter().filter(|(_, declared)| one(declared.symbol)).map(|(name, _)| name.as_str());
        let functions = builtins::BUILTINS
            .iter()
            .filter(|builtin| builtin.arity().0 == 1 && builtin.result == Type::Boolean)
            .map(|builtin| builtin.name);
        let near = suggest::suggest_name(&name.text, defs.chain(functions));
        let diagnostic =
            Diagnostic::new(Slug::UnknownFunction, name.span, format!("unknown predicate `{}`", name.text));
        let diagnostic = match near {
            Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")).with_fix(
                format!("replace with `{near}`"),
                name.span,
                near,
            ),
            None => match self.module_near(&name.text) {
                Some((near, module)) => {
                    let diagnostic = diagnostic.with_help(format!("`{near}` comes with `use {module}`"));
                    let start = averment_base::source::Span { start: 0, end: 0, ..name.span };
                    let exact = near == name.text;
                    if exact { diagnostic.with_fix("import it", start, format!("use {module}\n")) } else { diagnostic }
                }
                None => diagnostic.with_help(format!(
                    "define it: `def {}(value) = …`; a quantifier is written `no x in xs: …`",
                    name.text
                )),
            },
        };
        self.report_diagnostic(diagnostic);
    }
}

fn first_name(expr: &ast::Expr) -> Option<&str> {
    match &expr.kind {
        ast::ExprKind::Name(name) => Some(name),
        ast::ExprKind::Call { name, .. } => Some(&name.text),
        ast::ExprKind::Field { base, .. }
        | ast::ExprKind::Index { base, .. }
        | ast::ExprKind::Every { base }
        | ast::ExprKind::Deep { base } => first_name(base),
        // A pattern with a condition reads as a list with one.
        ast::ExprKind::Filtered { list, .. } => first_name(list),
        // `A | B` between names reads as a pipe.
        ast::ExprKind::Binary { left, .. } => first_name(left),
        _ => None,
    }
}
