//! Writes conditions on arguments in Cedar.

use super::export_reasons::Refusal;
use averment_syntax::ast::{BinaryOperator, Expr, ExprKind, NumberUnit, PatternArgument, TestKind, ValueTest};

const CONDITION: Refusal = "its condition has no counterpart there";

/// A bound name: `$id`.
pub(super) struct Binder;

impl Binder {
    /// Returns the name if the expression is one.
    pub(super) fn of(expr: &Expr) -> Option<&str> {
        match &expr.kind {
            ExprKind::Binding(name) => Some(name),
            _ => None,
        }
    }
}

/// The value that a path starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathStart {
    /// Left side of a test in the parentheses of a pattern: paths start at the arguments of the call.
    Arguments,
    /// Anywhere else: paths start at the fields of the call, or at the run.
    Fields,
}

/// Returns the event field of a path: `input.id`, `output.id`.
pub(super) fn field_path(path: &Expr, start: PathStart) -> Result<String, Refusal> {
    let mut names = Vec::new();
    let mut at = path;
    loop {
        match &at.kind {
            ExprKind::Name(name) => {
                names.push(name.as_str());
                break;
            }
            ExprKind::Field { base, name } => {
                names.push(name.text.as_str());
                at = base;
            }
            ExprKind::Group(inner) => at = inner,
            _ => return Err("a path there is a row of plain names"),
        }
    }
    names.reverse();
    if !names.iter().all(|name| crate::writer::is_identifier(name)) {
        return Err("a path there is a row of plain names");
    }
    let (root, rest) = match names.split_first() {
        Some((&"args", rest)) if !rest.is_empty() => ("input", rest),
        Some((&"result", rest)) if !rest.is_empty() => ("output", rest),
        Some((&"args" | &"result", _)) => return Err("it asks for all arguments or the whole answer of a call"),
        _ if start == PathStart::Fields => return Err("it asks for more than the arguments of the call"),
        _ => ("input", names.as_slice()),
    };
    Ok(format!("{root}.{}", rest.join(".")))
}

pub(super) fn cedar_literal(expr: &Expr) -> Result<String, Refusal> {
    match &expr.kind {
        ExprKind::Boolean(value) => Ok(value.to_string()),
        ExprKind::Number(number) if number.unit == NumberUnit::None => match number.value.parse::<i64>() {
            Ok(number) => Ok(number.to_string()),
            Err(_) => Err("numbers there are whole"),
        },
        ExprKind::Negate(inner) => cedar_literal(inner).map(|text| format!("-{text}")),
        ExprKind::Text(text) => {
            let text = text.literal_text().ok_or(CONDITION)?;
            let mut written = String::from("\"");
            for sign in text.chars() {
                match sign {
                    '"' | '\\' => {
                        written.push('\\');
                        written.push(sign);
                    }
                    sign if sign.is_control() => written.push_str(&format!("\\u{{{:x}}}", u32::from(sign))),
                    sign => written.push(sign),
                }
            }
            written.push('"');
            Ok(written)
        }
        ExprKind::Group(inner) => cedar_literal(inner),
        _ => Err(CONDITION),
    }
}

/// Writes a test in the parentheses of a pattern.
pub(super) fn field_test(argument: &PatternArgument) -> Result<String, Refusal> {
    match argument {
        PatternArgument::Matches { path, value, .. } => {
            let path = request_path(path, PathStart::Arguments)?;
            match &value.kind {
                ExprKind::List(items) => one_of(&path, items),
                _ => Ok(format!("{path} == {}", cedar_literal(value)?)),
            }
        }
        PatternArgument::Test(test) => cedar_condition(test, PathStart::Arguments),
    }
}

fn request_path(path: &Expr, start: PathStart) -> Result<String, Refusal> {
    let path = field_path(path, start)?;
    match path.starts_with("input.") {
        true => Ok(format!("context.{path}")),
        false => Err("it asks what a call answered, which nobody knows before the call"),
    }
}

fn one_of(path: &str, items: &[Expr]) -> Result<String, Refusal> {
    let items: Result<Vec<String>, Refusal> = items.iter().map(cedar_literal).collect();
    Ok(format!("[{}].contains({path})", items?.join(", ")))
}

/// Writes a condition on the arguments of a call.
pub(super) fn cedar_condition(expr: &Expr, start: PathStart) -> Result<String, Refusal> {
    match &expr.kind {
        ExprKind::Group(inner) => cedar_condition(inner, start),
        ExprKind::Not(inner) => Ok(format!("!({})", cedar_condition(inner, start)?)),
        ExprKind::Binary { operator, left, right, .. } => {
            let (left, right) = (cedar_condition(left, start)?, cedar_condition(right, start)?);
            match operator {
                BinaryOperator::And => Ok(format!("({left} && {right})")),
                BinaryOperator::Or => Ok(format!("({left} || {right})")),
                BinaryOperator::Implies => Ok(format!("(!({left}) || {right})")),
                _ => Err(CONDITION),
            }
        }
        ExprKind::Test { subject, test } => {
            let path = request_path(subject, start)?;
            let text = positive_test(&path, test)?;
            Ok(if test.negated { format!("!({text})") } else { text })
        }
        _ => Err(CONDITION),
    }
}

fn positive_test(path: &str, test: &ValueTest) -> Result<String, Refusal> {
    let operand = test.operand.as_deref().ok_or(CONDITION)?;
    let value = || match &operand.kind {
        ExprKind::Name(_) | ExprKind::Field { .. } => request_path(operand, PathStart::Fields),
        _ => cedar_literal(operand),
    };
    match (test.kind, &operand.kind) {
        (TestKind::In, ExprKind::List(items)) => one_of(path, items),
        (TestKind::Equal, _) => Ok(format!("{path} == {}", value()?)),
        // Cedar does not order texts or booleans.
        (_, ExprKind::Text(_) | ExprKind::Boolean(_)) => Err(CONDITION),
        (TestKind::Less | TestKind::LessOrEqual | TestKind::Greater | TestKind::GreaterOrEqual, _) => {
            Ok(format!("{path} {} {}", test.kind.written(), value()?))
        }
        _ => Err(CONDITION),
    }
}
