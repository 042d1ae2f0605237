//! Keys of expressions and patterns. Two of them have one key if they have the same structure and, in one scope, the same meaning.

use averment_checker::ir::{CheckedPattern, ExprKind, NameTest, PatternAlternative, TypedExpr, TypedTest};
use averment_checker::json_text;
use std::fmt::Write as _;

/// Returns the key of an expression.
#[must_use]
pub fn expr_key(expr: &TypedExpr) -> String {
    let mut out = String::new();
    write_key(expr, &mut out);
    out
}

/// Returns the key of a pattern.
#[must_use]
pub fn pattern_key(pattern: &CheckedPattern) -> String {
    pattern.alternatives.iter().map(alternative_key).collect::<Vec<_>>().join(" | ")
}

/// Returns the key of one alternative.
#[must_use]
pub fn alternative_key(one: &PatternAlternative<TypedExpr>) -> String {
    let mut out = name_key(one);
    for (binding, path) in &one.binds {
        let _ = write!(out, " ${binding}={}", expr_key(path));
    }
    for condition in one.condition.iter().chain(&one.joins) {
        let _ = write!(out, " where {}", expr_key(condition));
    }
    out
}

/// Returns the key of an alternative without its conditions.
#[must_use]
pub fn name_key(one: &PatternAlternative<TypedExpr>) -> String {
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

fn write_key(expr: &TypedExpr, out: &mut String) {
    stacker::maybe_grow(64 << 10, 1 << 20, || write_form(expr, out));
}

fn write_list(name: &str, all: &[TypedExpr], out: &mut String) {
    out.push_str(name);
    out.push('(');
    for (index, one) in all.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_key(one, out);
    }
    out.push(')');
}

fn write_form(expr: &TypedExpr, out: &mut String) {
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
            write_key(base, out);
            let _ = write!(out, ".{name:?}");
        }
        ExprKind::Index(base, index) => {
            write_key(base, out);
            write_list("[]", std::slice::from_ref(index), out);
        }
        ExprKind::Every(base) => write_list("every", std::slice::from_ref(base), out),
        ExprKind::Deep(base) => write_list("deep", std::slice::from_ref(base), out),
        ExprKind::Negate(inner) => write_list("-", std::slice::from_ref(inner), out),
        ExprKind::Not(inner) => write_list("not", std::slice::from_ref(inner), out),
        ExprKind::Binary(operator, left, right) => {
            let _ = write!(out, "{operator:?}(");
            write_key(left, out);
            out.push(',');
            write_key(right, out);
            out.push(')');
        }
        ExprKind::Exercised(left, right) => {
            out.push_str("exercised(");
            write_key(left, out);
            out.push(',');
            write_key(right, out);
            out.push(')');
        }
        ExprKind::Range(start, end) => {
            start.iter().for_each(|start| write_key(start, out));
            out.push_str("..");
            end.iter().for_each(|end| write_key(end, out));
        }
        ExprKind::Test(tested) => write_test(tested, out),
        ExprKind::If(condition, then, otherwise) => {
            out.push_str("if(");
            [condition, then, otherwise].into_iter().for_each(|part| {
                write_key(part, out);
                out.push(',');
            });
            out.push(')');
        }
        ExprKind::Quantifier(quantifier, local, source, body) => {
            let _ = write!(out, "{quantifier:?} #{} in ", local.0);
            write_key(source, out);
            out.push(':');
            write_key(body, out);
        }
        // Equal only to itself, because its inner expressions refer to other steps.
        ExprKind::Select(_) | ExprKind::Collect(..) => {
            let _ = write!(out, "taken@{}:{}..{}", expr.span.file.0, expr.span.start, expr.span.end);
        }
        ExprKind::Builtin(name, all) => write_list(name, all, out),
        ExprKind::Def(number, all) => write_list(&format!("def{number}"), all, out),
        ExprKind::List(all) => write_list("list", all, out),
        ExprKind::Join(all) => write_list("join", all, out),
        ExprKind::Object(entries) => {
            out.push('{');
            for (name, value) in entries {
                let _ = write!(out, "{name:?}:");
                write_key(value, out);
            }
            out.push('}');
        }
    }
}

fn write_test(tested: &TypedTest, out: &mut String) {
    out.push('(');
    write_key(&tested.subject, out);
    let not = if tested.negated { " not" } else { "" };
    let _ = write!(out, "{not} {:?} ", tested.kind);
    tested.operand.iter().for_each(|operand| write_key(operand, out));
    out.push(')');
}
