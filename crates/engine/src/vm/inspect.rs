//! The value of one expression, for a session in which somebody asks for it.

use super::context::ExpressionScope;
use super::fault::Fault;
use super::machine::Machine;
use super::prepare::PreparedProgram;
use super::why::derivation::{DerivationPart, ShownValue};
use crate::bytecode::program::{CodeId, Program};
use averment_base::limits::Limits;
use averment_base::truth::Truth;
use averment_base::value::Value;
use averment_base::value::notation::{is_literal, notation_with, value_notation};
use averment_builtins::detect::redacted_start;
use averment_runs::run::Run;
use bumpalo::Bump;

/// The value of an expression on a run.
#[derive(Debug, Clone)]
pub struct InspectedValue {
    /// Its value; reports decide what of it is shown.
    pub shown: ShownValue,
    /// The name of its type in the language.
    pub type_name: &'static str,
    /// Why it is not true, in words; empty for everything else.
    pub reason: String,
    /// Its parts with their values.
    pub part: DerivationPart,
    /// The value as a literal of the language, where it is not too long for one.
    pub literal: Option<String>,
    /// Fuel that it took.
    pub fuel: u64,
}

/// Characters shown of a value.
const LONGEST: usize = 2_000;
/// Characters of a value that can be reused as a literal.
const LITERAL: usize = 200_000;

/// Evaluates an expression of a program that sees the run and nothing else, such as that of a `let`.
///
/// # Errors
/// What ended the evaluation.
pub fn inspect_expression<'run>(
    program: &'run Program,
    prepared: &'run PreparedProgram,
    run: &'run Run<'run>,
    arena: &'run Bump,
    limits: Limits,
    code: CodeId,
) -> Result<InspectedValue, Fault> {
    let mut machine = Machine::new(program, prepared, run, arena, limits);
    let scope = ExpressionScope::default();
    let before = machine.meter.fuel_left();
    let node = machine.evaluate_code(code, &scope)?;
    let fuel = before.saturating_sub(machine.meter.fuel_left());
    let shown = ShownValue { text: notation_with(&node.value, LONGEST, redacted_start), ..machine.shown_value(&node) };
    let is_true = match node.value {
        Value::Truth(truth) => truth == Truth::True,
        _ => true,
    };
    let reason = if is_true { String::new() } else { machine.explain_condition(code, &scope).reason };
    let part = machine.trace_expression(code, &scope);
    let literal = is_literal(&node.value).then(|| value_notation(&node.value, LITERAL));
    // What was cut is none.
    let literal = literal.filter(|text| text.len() < LITERAL && !text.contains('\u{2026}'));
    Ok(InspectedValue { shown, type_name: node.value.type_name(), reason, part, literal, fuel })
}
