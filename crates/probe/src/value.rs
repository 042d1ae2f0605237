//! Evaluates the arguments of calls: values from the rules, and answers of earlier calls in the same sequence.

use averment_checker::ir::{Constant, DeclaredParam};
use averment_engine::bytecode::program::Program;
use averment_syntax::ast::{Expr, ExprKind, NumberUnit, TextPart};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::rc::Rc;

#[derive(Debug, Clone)]
pub(crate) struct MadeCall {
    pub arguments: Map<String, Value>,
    pub result: Value,
    pub envelope: Value,
}

#[derive(Debug, Default)]
pub(crate) struct KnownCalls {
    /// Calls made so far, by name.
    pub made: BTreeMap<String, MadeCall>,
    /// Parameter values, by name.
    pub params: Rc<BTreeMap<String, Value>>,
    /// The tool of `for each tool`.
    pub tool: Option<String>,
}

/// Returns the parameter values of rules, by name.
pub(crate) fn param_values(program: &Program) -> BTreeMap<String, Value> {
    let value = |param: &DeclaredParam| Some((param.name.clone(), json_value(param.default.as_ref()?)?));
    program.params.iter().filter_map(value).collect()
}

fn json_value(constant: &Constant) -> Option<Value> {
    Some(match constant {
        Constant::Null => Value::Null,
        Constant::Boolean(value) => Value::Bool(*value),
        Constant::Number(text) => serde_json::from_str(text).ok()?,
        Constant::Text(text) => Value::String(text.clone()),
        Constant::List(elements) => Value::Array(elements.iter().map(json_value).collect::<Option<_>>()?),
        Constant::Object(entries) => {
            let entries = entries.iter().map(|(name, value)| Some((name.clone(), json_value(value)?)));
            Value::Object(entries.collect::<Option<_>>()?)
        }
    })
}

impl KnownCalls {
    /// Evaluates an expression.
    ///
    /// # Errors
    /// Why the expression has no value.
    pub fn evaluate_expr(&self, expr: &Expr) -> Result<Value, String> {
        match &expr.kind {
            ExprKind::Null => Ok(Value::Null),
            ExprKind::Boolean(value) => Ok(Value::Bool(*value)),
            ExprKind::Number(number) if number.unit == NumberUnit::None => {
                serde_json::from_str(&number.value).map_err(|error| error.to_string())
            }
            ExprKind::Negate(inner) => match &inner.kind {
                ExprKind::Number(number) if number.unit == NumberUnit::None => {
                    serde_json::from_str(&format!("-{}", number.value)).map_err(|error| error.to_string())
                }
                _ => Err(no_value_error()),
            },
            ExprKind::Group(inner) => self.evaluate_expr(inner),
            ExprKind::List(list) => list.iter().map(|one| self.evaluate_expr(one)).collect(),
            ExprKind::Object(entries) => {
                let entries = entries.iter().map(|(name, value)| Ok((name.text.clone(), self.evaluate_expr(value)?)));
                entries.collect::<Result<Map<_, _>, String>>().map(Value::Object)
            }
            ExprKind::Text(text) => {
                let mut made = String::new();
                for part in &text.parts {
                    match part {
                        TextPart::Literal(text) => made.push_str(text),
                        TextPart::Interpolation(expr) => match self.evaluate_expr(expr)? {
                            Value::String(text) => made.push_str(&text),
                            other => made.push_str(&other.to_string()),
                        },
                    }
                }
                Ok(Value::String(made))
            }
            ExprKind::Name(name) if name == "tool" && self.tool.is_some() => Ok(json!(self.tool)),
            ExprKind::Name(name) => match self.made.get(name) {
                Some(MadeCall { arguments, result, .. }) => Ok(
                    json!({"response": result, "result": result, "output": result, "args": arguments, "input": arguments}),
                ),
                None => self.params.get(name).cloned().ok_or_else(|| format!("`{name}` is no call that was made")),
            },
            // Packs of wallfacer are imported with calls of `answer`.
            ExprKind::Call { name, arguments, .. } if name.text == "answer" => match arguments.as_slice() {
                [Expr { kind: ExprKind::Name(name), .. }] => {
                    let made = self.made.get(name).ok_or_else(|| format!("`{name}` is no call that was made"))?;
                    Ok(made.envelope.clone())
                }
                _ => Err(no_value_error()),
            },
            ExprKind::Field { base, name } => value_member(&self.evaluate_expr(base)?, &json!(name.text)),
            ExprKind::Index { base, index } => value_member(&self.evaluate_expr(base)?, &self.evaluate_expr(index)?),
            _ => Err(no_value_error()),
        }
    }
}

fn no_value_error() -> String {
    "it is made of values, texts and paths into what earlier calls answered, and of nothing else".to_owned()
}

/// Returns a member of an object or list, also if it is JSON inside a string.
fn value_member(base: &Value, key: &Value) -> Result<Value, String> {
    let held = base.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let base = held.as_ref().unwrap_or(base);
    let found = match (base, key) {
        (Value::Object(entries), Value::String(name)) => entries.get(name),
        (Value::Array(list), Value::Number(at)) => {
            let at = at.as_u64().and_then(|at| usize::try_from(at).ok());
            at.and_then(|at| list.get(at))
        }
        _ => None,
    };
    found.cloned().ok_or_else(|| format!("an earlier call answered without {key}"))
}
