//! Values for the parameters of rules, checked against their types.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::units::{DURATIONS, SIZES, number_text, sum_units};
use crate::error::Problem;
use averment_base::diagnostic::suggest::suggest_name;
use averment_checker::constant_of;
use averment_checker::ir::{Constant, DeclaredParam, Type};
use averment_engine::bytecode::program::Program;
use serde_json::Value;

/// A value with the name of its parameter.
#[derive(Debug, Clone)]
pub struct ParamValue {
    /// The name of the parameter.
    pub name: String,
    /// The value.
    pub value: ValueSyntax,
}

impl ParamValue {
    /// Returns the value as text: strings unchanged, other values as JSON.
    #[must_use]
    pub fn value_text(&self) -> String {
        match &self.value {
            ValueSyntax::Text(text) | ValueSyntax::Json(Value::String(text)) => text.clone(),
            ValueSyntax::Json(value) => value.to_string(),
        }
    }
}

/// The syntax of a value.
#[derive(Debug, Clone)]
pub enum ValueSyntax {
    /// As in rules: `30s`, `$0.05`.
    Text(String),
    /// As JSON. Values with units are strings.
    Json(Value),
}

/// Returns the first parameter without a value, with an example of the expected form.
pub fn missing_param(programs: &[Program]) -> Option<(&DeclaredParam, &'static str)> {
    let param = programs.iter().flat_map(|program| &program.params).find(|param| param.default.is_none())?;
    Some((param, expected_form(param.ty)))
}

/// True if some program declares a parameter of this name.
pub fn is_declared(programs: &[Program], name: &str) -> bool {
    programs.iter().flat_map(|program| &program.params).any(|param| param.name == name)
}

/// Sets a parameter in all programs that declare it.
///
/// # Errors
/// Returns an error if no program declares it, or if the value has another type.
pub fn set_param(programs: &mut [Program], given: &ParamValue) -> Result<(), Problem> {
    let mut known = false;
    for param in programs.iter_mut().flat_map(|program| &mut program.params) {
        if param.name == given.name {
            known = true;
            param.default = Some(parse_constant(given, param.ty)?);
        }
    }
    if known {
        return Ok(());
    }
    let mut names: Vec<&str> =
        programs.iter().flat_map(|program| &program.params).map(|param| param.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let help = match (suggest_name(&given.name, names.iter().copied()), names.is_empty()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, true) => "the rules declare no parameter".to_owned(),
        (None, false) => {
            format!("the rules declare {}", names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
        }
    };
    Err(Problem::new(format!("there is no parameter `{}`", given.name), help))
}

fn parse_constant(given: &ParamValue, ty: Type) -> Result<Constant, Problem> {
    let (found, shown) = match &given.value {
        ValueSyntax::Text(text) => (from_text(text, ty), text.clone()),
        ValueSyntax::Json(value) => (from_json(value, ty), value.to_string()),
    };
    found.ok_or_else(|| {
        Problem::new(
            format!("`{shown}` does not fit the parameter `{}`", given.name),
            format!("write {}", expected_form(ty)),
        )
    })
}

fn expected_form(ty: Type) -> &'static str {
    match ty {
        Type::String => "a text",
        Type::Number => "a number, such as `2.5`",
        Type::Integer => "a whole number, such as `3`",
        Type::Boolean => "`true` or `false`",
        Type::Duration => "a duration, such as `30s`, `1h30m` or `250ms`",
        Type::Money => "an amount, such as `$0.05`",
        Type::Size => "a size, such as `10KB` or `4MiB`",
        Type::List => "a list in JSON, such as `[\"EUR\", \"USD\"]`",
        Type::Object => "an object in JSON, such as `{\"a\": 1}`",
        _ => "a value in JSON, or text",
    }
}

/// Parses a constant. Units are written as in rules.
fn from_text(text: &str, ty: Type) -> Option<Constant> {
    let trimmed = text.trim();
    match ty {
        Type::String => Some(Constant::Text(text.to_owned())),
        Type::Duration => sum_units(trimmed, DURATIONS).map(Constant::Number),
        Type::Size => sum_units(trimmed, SIZES).map(Constant::Number),
        Type::Money => number_text(trimmed.strip_prefix('$').unwrap_or(trimmed)).map(Constant::Number),
        Type::Any => Some(match serde_json::from_str(trimmed) {
            Ok(value) => constant_of(&value),
            Err(_) => Constant::Text(text.to_owned()),
        }),
        Type::Number => {
            number_text(trimmed.strip_suffix('%').unwrap_or(trimmed)).map(|number| match trimmed.ends_with('%') {
                false => Constant::Number(number),
                true => Constant::Number(hundredth_text(&number)),
            })
        }
        Type::Integer => from_json(&serde_json::from_str(&number_text(trimmed)?).ok()?, ty),
        _ => from_json(&serde_json::from_str(trimmed).ok()?, ty),
    }
}

/// Divides a number by 100: `95` becomes `0.95`. Only the exponent changes, so the digits are exact.
fn hundredth_text(number: &str) -> String {
    let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let exponent: i64 = exponent.parse().unwrap_or(0);
    format!("{digits}e{}", exponent.saturating_sub(2))
}

fn from_json(value: &Value, ty: Type) -> Option<Constant> {
    let fits = match ty {
        Type::Boolean => value.is_boolean(),
        Type::Integer => value.is_i64() || value.is_u64(),
        Type::Number => value.is_number(),
        Type::List => value.is_array(),
        Type::Object => value.is_object(),
        Type::String => value.is_string(),
        // A value with a unit is a string, or a number in the base unit.
        Type::Duration | Type::Money | Type::Size => match value {
            Value::String(text) => return from_text(text, ty),
            other => return other.is_number().then(|| constant_of(other)),
        },
        _ => true,
    };
    fits.then(|| constant_of(value))
}
