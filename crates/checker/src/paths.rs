//! Paths: `a.b`, `a["k y"]`, `a[0]`, `a[*].b`, `a[**].b`; and what is known of the fields on the way.

use super::Checker;
use super::described_values::DescribedMember;
use super::expr::CheckedExpr;
use super::names::root_type;
use super::scope::{self, LookupSide, NameScope, VariableValue};
use super::ty::{ComparisonClass, StepShape, Ty, USAGE};
use crate::ir::ExprKind;
use averment_base::diagnostic::{Diagnostic, Slug, suggest};
use averment_base::source::Span;
use averment_builtins::table as builtins;
use averment_syntax::ast;

impl<'a> Checker<'a> {
    pub(super) fn check_field(
        &mut self,
        scope: &NameScope<'a>,
        whole: &'a ast::Expr,
        base: &'a ast::Expr,
        name: &ast::Name,
    ) -> CheckedExpr {
        if let Some(response) = self.response_of_call(scope, base, name, whole.span) {
            return response;
        }
        let value = self.check_expr(scope, base);
        if is_spread(base) {
            return self.map_field(value, name, whole.span);
        }
        self.member_of(value, &name.text, name.span, base.span, whole.span)
    }

    pub(super) fn check_index(
        &mut self,
        scope: &NameScope<'a>,
        whole: &'a ast::Expr,
        base: &'a ast::Expr,
        index: &'a ast::Expr,
    ) -> CheckedExpr {
        let value = self.check_expr(scope, base);
        let index = self.check_expr(&scope.on_side(LookupSide::Plain), index);
        if let Some(key) = index.known_text().map(str::to_owned) {
            let name = ast::Name { text: key, span: index.expr.span };
            if is_spread(base) {
                return self.map_field(value, &name, whole.span);
            }
            return self.member_of(value, &name.text, name.span, base.span, whole.span);
        }
        if index.ty.comparison_class() == Some(ComparisonClass::Range) {
            let text = self.source_line(base.span);
            self.report_diagnostic(
                Diagnostic::new(
                    Slug::TypeMismatch,
                    index.expr.span,
                    "an element has one position, and a range has many",
                )
                .with_help(format!("write `{text}[0]` for one element, `{text}[*]` for every element")),
            );
            return CheckedExpr::broken_at(whole.span);
        }
        let ty = if is_spread(base) { Ty::list_of(Ty::Any) } else { value.ty.element_type() };
        let kind = ExprKind::Index(Box::new(value.expr), Box::new(index.expr));
        if value.ty.comparison_class() == Some(ComparisonClass::Text)
            || value.ty.comparison_class() == Some(ComparisonClass::Number)
        {
            return self.report_no_elements(&value.ty, whole.span, base.span);
        }
        CheckedExpr::new(kind, whole.span, ty)
    }

    fn report_no_elements(&mut self, ty: &Ty, whole: Span, base: Span) -> CheckedExpr {
        let noun = ty.comparison_class().map_or("this", ComparisonClass::noun);
        let text = self.source_line(base);
        self.report_diagnostic(
            Diagnostic::new(Slug::UnknownField, whole, format!("{noun} has no elements"))
                .with_help(format!("a text's words are `words({text})`, its characters `split({text}, \"\")`")),
        );
        CheckedExpr::broken_at(whole)
    }

    pub(super) fn check_every(&mut self, scope: &NameScope<'a>, base: &'a ast::Expr, span: Span) -> CheckedExpr {
        let value = self.check_expr(scope, base);
        let ty = Ty::list_of(value.ty.element_type());
        CheckedExpr::new(ExprKind::Every(Box::new(value.expr)), span, ty)
    }

    pub(super) fn check_deep(&mut self, scope: &NameScope<'a>, base: &'a ast::Expr, span: Span) -> CheckedExpr {
        let value = self.check_expr(scope, base);
        CheckedExpr::new(ExprKind::Deep(Box::new(value.expr)), span, Ty::list_of(Ty::Any))
    }

    fn map_field(&mut self, value: CheckedExpr, name: &ast::Name, span: Span) -> CheckedExpr {
        let element = CheckedExpr::broken_at(value.expr.span).with_type(value.ty.element_type());
        let ty = match &value.ty.element_type() {
            // What is nested deeper than lists of steps stays unknown.
            Ty::Step(_) | Ty::Usage | Ty::Described(_) => self.member_of(element, &name.text, name.span, span, span).ty,
            _ => Ty::Any,
        };
        CheckedExpr::new(ExprKind::Field(Box::new(value.expr), name.text.clone()), span, Ty::list_of(ty))
    }

    /// `place` is the field's name, `base` the path in front of it, `whole` both.
    pub(super) fn member_of(
        &mut self,
        value: CheckedExpr,
        name: &str,
        place: Span,
        base: Span,
        whole: Span,
    ) -> CheckedExpr {
        if value.is_broken() && value.ty == Ty::Any {
            return CheckedExpr::broken_at(whole);
        }
        if value.expr.kind == ExprKind::Run {
            return self.run_field(name, place, whole);
        }
        let ty = match &value.ty {
            Ty::Step(shape) => self.step_field(&shape.clone(), name, place),
            Ty::Usage => self.usage_field(name, place),
            Ty::Described(described) => match described.field(name) {
                DescribedMember::Known(field) => Some(Ty::Described(field)),
                DescribedMember::Open => self.scalar_field(&value, name, base, whole),
                DescribedMember::Unknown(names) => {
                    self.report_unknown_argument(described.tool_names(), name, &names, place, whole);
                    // Where that is only a warning, a run may have the argument all the same.
                    self.catalogue.lenient.then_some(Ty::Any)
                }
            },
            _ => self.scalar_field(&value, name, base, whole),
        };
        match ty {
            Some(ty) => CheckedExpr::new(ExprKind::Field(Box::new(value.expr), name.to_owned()), whole, ty),
            None => CheckedExpr::broken_at(whole),
        }
    }

    fn run_field(&mut self, name: &str, place: Span, whole: Span) -> CheckedExpr {
        if let Some(root) = scope::find_root(name) {
            return CheckedExpr::new(ExprKind::Root(root), whole, root_type(root));
        }
        if let Some(near) = near_miss(name, scope::root_names()) {
            self.report_near_field("the run", name, near, place);
            return CheckedExpr::broken_at(whole);
        }
        let run = CheckedExpr::new(ExprKind::Run, whole, Ty::Any).expr;
        CheckedExpr::new(ExprKind::Field(Box::new(run), name.to_owned()), whole, Ty::Any)
    }

    /// Steps may have unlisted fields, so only a near miss is reported.
    fn step_field(&mut self, shape: &StepShape, name: &str, place: Span) -> Option<Ty> {
        if shape.has_field(name) {
            return Some(shape.field_type(name));
        }
        match near_miss(name, shape.all_fields()) {
            Some(near) => {
                let kind = shape.kinds.first().map_or("step", |kind| kind.as_str());
                let what = if shape.kinds.len() > 1 { "a step".to_owned() } else { format!("a {kind} of the run") };
                self.report_near_field(&what, name, near, place);
                None
            }
            None => Some(Ty::Any),
        }
    }

    fn usage_field(&mut self, name: &str, place: Span) -> Option<Ty> {
        if USAGE.contains(&name) {
            return Some(Ty::Share);
        }
        match near_miss(name, USAGE) {
            Some(near) => {
                self.report_near_field("`usage`", name, near, place);
                None
            }
            None => Some(Ty::Any),
        }
    }

    fn report_near_field(&mut self, what: &str, name: &str, near: &str, place: Span) {
        self.report_diagnostic(
            Diagnostic::new(Slug::UnknownField, place, format!("{what} has no field `{name}`"))
                .with_help(format!("did you mean `{near}`?"))
                .with_fix(format!("replace with `{near}`"), place, near),
        );
    }

    fn scalar_field(&mut self, value: &CheckedExpr, name: &str, base: Span, whole: Span) -> Option<Ty> {
        let class = value.ty.comparison_class();
        let text = self.source_line(base);
        let dotted = dotted_key(name);
        let function = builtins::find_builtin(name).filter(|builtin| builtin.arity().0 == 1);
        let (message, help) = match class {
            None | Some(ComparisonClass::Object) => return Some(Ty::Any),
            Some(class @ (ComparisonClass::Text | ComparisonClass::List)) if function.is_some() => {
                (format!("{} has no fields", class.noun()), format!("`{name}` is a function: write `{name}({text})`"))
            }
            Some(class @ (ComparisonClass::Text | ComparisonClass::List))
                if matches!(name, "count" | "size" | "len") =>
            {
                (format!("{} has no fields", class.noun()), format!("write `length({text})`"))
            }
            Some(ComparisonClass::Text) => ("text has no fields".to_owned(), format!("write `json({text}){dotted}`")),
            Some(ComparisonClass::List) => (
                "a list has no fields".to_owned(),
                format!("write `{text}[*]{dotted}` for every element, or `{text}[0]{dotted}` for the first"),
            ),
            Some(class) => (format!("{} has no fields", class.noun()), format!("compare `{text}` itself")),
        };
        self.report_diagnostic(Diagnostic::new(Slug::UnknownField, whole, message).with_help(help));
        None
    }

    fn report_unknown_argument(&mut self, tool: &str, name: &str, names: &[String], place: Span, whole: Span) {
        // The path up to the wrong name, as it is written.
        let path = self.source_line(Span { end: place.end, ..whole });
        let front = path.strip_suffix(name).unwrap_or("").to_owned();
        let listed = names.join(", ");
        let mut diagnostic =
            Diagnostic::new(Slug::UnknownArgument, place, format!("`{tool}` has no argument `{path}`"));
        if self.catalogue.lenient {
            diagnostic.severity = averment_base::diagnostic::Severity::Warning;
        }
        diagnostic = match suggest::suggest_name(name, names.iter().map(String::as_str)) {
            Some(near) => diagnostic.with_help(format!("did you mean `{front}{near}`?")).with_fix(
                format!("replace with `{near}`"),
                place,
                near,
            ),
            None if listed.is_empty() => diagnostic.with_help(format!("the schema of `{tool}` allows none here")),
            None => diagnostic.with_help(format!("the schema of `{tool}` has {listed}")),
        };
        self.report_diagnostic(diagnostic);
    }

    fn response_of_call(
        &mut self,
        scope: &NameScope<'a>,
        base: &ast::Expr,
        name: &ast::Name,
        span: Span,
    ) -> Option<CheckedExpr> {
        let ast::ExprKind::Name(base) = &base.kind else { return None };
        let VariableValue::Call(number) = scope.find_variable(base)?.value else { return None };
        if name.text != "response" {
            let message = format!("the call `{base}` has no field `{}`", name.text);
            self.report_diagnostic(
                Diagnostic::new(Slug::UnknownField, name.span, message)
                    .with_help(format!("what it answered is `{base}.response`")),
            );
            return Some(CheckedExpr::broken_at(span));
        }
        Some(CheckedExpr::new(ExprKind::Binding(crate::ir::BindingId(number)), span, Ty::Any))
    }
}

/// The name that was probably meant; sharing a prefix is not enough.
fn near_miss<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let near = suggest::suggest_name(name, names)?;
    (strsim::osa_distance(name, near) <= (name.chars().count() / 3).max(1)).then_some(near)
}

/// A path whose value is a list over which a field maps: it has `[*]` or `[**]`.
pub fn is_spread(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ast::ExprKind::Every { .. } | ast::ExprKind::Deep { .. } => true,
        ast::ExprKind::Field { base, .. } | ast::ExprKind::Index { base, .. } => is_spread(base),
        ast::ExprKind::Group(inner) => is_spread(inner),
        _ => false,
    }
}

/// `.b`, or `["k y"]` for a key that is no name.
fn dotted_key(name: &str) -> String {
    let plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !name.starts_with(|first: char| first.is_ascii_digit());
    if plain && !name.is_empty() { format!(".{name}") } else { format!("[\"{name}\"]") }
}
