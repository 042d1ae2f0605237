//! Expressions and patterns as keys: two that mean the same thing in the same scope and are built alike have the same key.

use averment_engine::check::json_text;
use averment_engine::ir::{Alternative, Expr, ExprKind, NameTest, Pattern, Tested};
use std::fmt::Write as _;

/// The key of an expression.
#[must_use]
pub fn of_expr(expr: &Expr) -> String {
    let mut out = String::new();
    write(expr, &mut out);
    out
}

/// The key of a pattern.
#[must_use]
pub fn of_pattern(pattern: &Pattern) -> String {
    pattern.alternatives.iter().map(of_alternative).collect::<Vec<_>>().join(" | ")
}

/// The key of one alternative.
#[must_use]
pub fn of_alternative(one: &Alternative<Expr>) -> String {
    let mut out = of_name(one);
    for (binding, path) in &one.binds {
        let _ = write!(out, " ${binding}={}", of_expr(path));
    }
    for condition in one.condition.iter().chain(&one.joins) {
        let _ = write!(out, " where {}", of_expr(condition));
    }
    out
}

/// The key of what an alternative says beside its conditions.
#[must_use]
pub fn of_name(one: &Alternative<Expr>) -> String {
    let name = match &one.name {
        NameTest::Any => "any".to_owned(),
        NameTest::Exactly(name) => format!("={name:?}"),
        NameTest::OneOf(names) => format!("in{names:?}"),
        NameTest::Glob(glob) => format!("~{glob:?}"),
        NameTest::PathGlob(glob) => format!("path{glob:?}"),
        NameTest::Contains(text) => format!("contains{text:?}"),
        NameTest::Matches(number) => format!("regex{number}"),
    };
    let proposed = if one.proposed { "proposed " } else { "" };
    let status = one.succeeded.map_or("", |succeeded| if succeeded { " ok" } else { " failed" });
    format!("{proposed}{} {name}{status}", one.kind.as_str())
}

fn write(expr: &Expr, out: &mut String) {
    stacker::maybe_grow(64 << 10, 1 << 20, || write_form(expr, out));
}

fn list(name: &str, all: &[Expr], out: &mut String) {
    out.push_str(name);
    out.push('(');
    for (index, one) in all.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(one, out);
    }
    out.push(')');
}

fn write_form(expr: &Expr, out: &mut String) {
    match &expr.kind {
        ExprKind::Constant(constant) => out.push_str(&json_text(constant)),
        ExprKind::Regex(number) => drop(write!(out, "regex{number}")),
        ExprKind::Root(name) => out.push_str(name),
        ExprKind::Run => out.push_str("run"),
        ExprKind::Step => out.push_str("@step"),
        ExprKind::StepField(name) => drop(write!(out, "@{name}")),
        ExprKind::StepOrRoot(name) => drop(write!(out, "@?{name}")),
        ExprKind::StepOwn(name) => drop(write!(out, "@!{name}")),
        ExprKind::Response => out.push_str("@response"),
        ExprKind::Param(number) => drop(write!(out, "param{number}")),
        ExprKind::Let(number) => drop(write!(out, "let{number}")),
        ExprKind::Local(local) => drop(write!(out, "#{}", local.0)),
        ExprKind::Binding(binding) => drop(write!(out, "${}", binding.0)),
        ExprKind::Field(base, name) => {
            write(base, out);
            let _ = write!(out, ".{name:?}");
        }
        ExprKind::Index(base, index) => {
            write(base, out);
            list("[]", std::slice::from_ref(index), out);
        }
        ExprKind::Every(base) => list("every", std::slice::from_ref(base), out),
        ExprKind::Deep(base) => list("deep", std::slice::from_ref(base), out),
        ExprKind::Negate(inner) => list("-", std::slice::from_ref(inner), out),
        ExprKind::Not(inner) => list("not", std::slice::from_ref(inner), out),
        ExprKind::Binary(operator, left, right) => {
            let _ = write!(out, "{operator:?}(");
            write(left, out);
            out.push(',');
            write(right, out);
            out.push(')');
        }
        ExprKind::Exercised(left, right) => {
            out.push_str("exercised(");
            write(left, out);
            out.push(',');
            write(right, out);
            out.push(')');
        }
        ExprKind::Range(start, end) => {
            start.iter().for_each(|start| write(start, out));
            out.push_str("..");
            end.iter().for_each(|end| write(end, out));
        }
        ExprKind::Test(tested) => write_test(tested, out),
        ExprKind::If(condition, then, otherwise) => {
            out.push_str("if(");
            [condition, then, otherwise].into_iter().for_each(|part| {
                write(part, out);
                out.push(',');
            });
            out.push(')');
        }
        ExprKind::Quantifier(quantifier, local, source, body) => {
            let _ = write!(out, "{quantifier:?} #{} in ", local.0);
            write(source, out);
            out.push(':');
            write(body, out);
        }
        // Equal only to itself: what stands in it sees other steps.
        ExprKind::Select(_) | ExprKind::Collect(..) => {
            let _ = write!(out, "taken@{}:{}..{}", expr.span.file.0, expr.span.start, expr.span.end);
        }
        ExprKind::Builtin(name, all) => list(name, all, out),
        ExprKind::Def(number, all) => list(&format!("def{number}"), all, out),
        ExprKind::List(all) => list("list", all, out),
        ExprKind::Join(all) => list("join", all, out),
        ExprKind::Object(entries) => {
            out.push('{');
            for (name, value) in entries {
                let _ = write!(out, "{name:?}:");
                write(value, out);
            }
            out.push('}');
        }
    }
}

fn write_test(tested: &Tested, out: &mut String) {
    out.push('(');
    write(&tested.subject, out);
    let not = if tested.negated { " not" } else { "" };
    let _ = write!(out, "{not} {:?} ", tested.kind);
    tested.operand.iter().for_each(|operand| write(operand, out));
    out.push(')');
}
