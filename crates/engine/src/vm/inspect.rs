//! The value of one expression, for a session in which somebody asks for it.

use super::context::ExpressionScope;
use super::fault::Fault;
use super::machine::Machine;
use super::prepare::PreparedProgram;
use super::why::derivation::{DerivationPart, ShownValue};
use crate::bytecode::program::{CodeId, Program};
use averment_base::limits::Limits;
use averment_base::truth::Truth;
use averment_base::value::notation::{is_literal, notation_with, value_notation};
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_builtins::detect::redacted_start;
use averment_runs::run::Run;
use bumpalo::Bump;
use rustc_hash::FxHashSet;

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
    /// Its elements in rows, where it is a list or an object.
    pub table: Option<ValueTable>,
    /// Fuel that it took.
    pub fuel: u64,
}

/// A list or an object in rows and columns.
#[derive(Debug, Clone, Default)]
pub struct ValueTable {
    /// The heads of the columns.
    pub columns: Vec<String>,
    /// A row for each element: its values in the notation of the language, empty where the element has no such key.
    pub rows: Vec<Vec<String>>,
    /// Elements behind the last row.
    pub hidden_rows: usize,
    /// Keys behind the last column.
    pub hidden_columns: usize,
}

/// The head of the first column of an object.
pub const KEY_HEAD: &str = "key";
/// Rows of a table.
const ROWS: usize = 1_000;
/// Columns of a table, beside the first.
const COLUMNS: usize = 12;
/// Characters of a cell.
const CELL: usize = 200;

impl ValueTable {
    /// A row for each element of a list, with the keys of its objects as columns; a row for each key of an object. `None` for other values.
    fn from_value(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::List(items) => Some(Self::from_items(items)),
            Value::Object(object) => {
                let entries = object.entries();
                let rows =
                    entries.iter().take(ROWS).map(|entry| vec![entry.key.to_owned(), cell_text(&entry.node.value)]);
                Some(Self {
                    columns: [KEY_HEAD, "value"].map(str::to_owned).to_vec(),
                    rows: rows.collect(),
                    hidden_rows: entries.len().saturating_sub(ROWS),
                    hidden_columns: 0,
                })
            }
            _ => None,
        }
    }

    fn from_items(items: &[Node<'_>]) -> Self {
        let shown = items.get(..ROWS).unwrap_or(items);
        let (mut keys, mut seen) = (Vec::new(), FxHashSet::default());
        let mut has_others = false;
        for item in shown {
            match item.value {
                Value::Object(object) => keys.extend(recorded_keys(&object).filter(|key| seen.insert(*key))),
                _ => has_others = true,
            }
        }
        let hidden_columns = keys.len().saturating_sub(COLUMNS);
        keys.truncate(COLUMNS);
        let rows = (1..).zip(shown).map(|(number, item)| {
            let mut row = vec![usize::to_string(&number)];
            match item.value {
                Value::Object(object) => {
                    row.extend(has_others.then(String::new));
                    let cell = |key: &&str| object.get(key).filter(|node| !node.value.is_absent());
                    row.extend(
                        keys.iter().map(|key| cell(key).map_or_else(String::new, |node| cell_text(&node.value))),
                    );
                }
                ref other => {
                    row.push(cell_text(other));
                    row.extend(keys.iter().map(|_| String::new()));
                }
            }
            row
        });
        let heads = std::iter::once("#").chain(has_others.then_some("value")).chain(keys.iter().copied());
        Self {
            rows: rows.collect(),
            columns: heads.map(str::to_owned).collect(),
            hidden_rows: items.len().saturating_sub(ROWS),
            hidden_columns,
        }
    }
}

/// The keys that the run records: of a step that has no result there is nothing to show.
fn recorded_keys<'run>(object: &Object<'run>) -> impl Iterator<Item = &'run str> + use<'run> {
    let recorded = |entry: &&ObjectEntry<'run>| !entry.node.value.is_absent();
    object.entries().iter().filter(recorded).map(|entry| entry.key)
}

fn cell_text(value: &Value<'_>) -> String {
    notation_with(value, CELL, redacted_start)
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
    let table = ValueTable::from_value(&node.value);
    Ok(InspectedValue { shown, type_name: node.value.type_name(), reason, part, literal, table, fuel })
}
