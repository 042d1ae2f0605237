//! Who takes the steps of a run, and who hands the work to whom.

use super::StepBuilder;
use super::fields::{StepFields, required_text, wrong_type};
use crate::error::PlacedError;
use averment_base::value::{Node, Number, TextOrigin, Value};
use averment_runs::normal::{MAIN_AGENT, of_step};

pub(super) fn names_agent(step: &Node<'_>) -> bool {
    let Value::Object(object) = step.value else { return false };
    matches!(object.get(of_step::AGENT).map(|agent| agent.value), Some(Value::Text(_)))
}

/// Depth as recorded, as before, or one below the agent that hands over.
pub(super) fn build_handover<'run>(
    builder: &mut StepBuilder<'run>,
    fields: &mut StepFields<'run>,
    origin: TextOrigin,
) -> Result<&'run str, PlacedError> {
    let to = required_text(fields, of_step::TO, "a handover", origin)?;
    let from = fields.field_text(of_step::AGENT, "a handover")?.map_or(MAIN_AGENT, |(agent, _)| agent);
    let given = match fields.known_field(of_step::DEPTH) {
        Some(Node { value: Value::Number(depth), .. }) => depth.as_i64().filter(|depth| *depth >= 0),
        _ => None,
    };
    if let Some(node) = fields.known_field(of_step::DEPTH).filter(|_| given.is_none()) {
        return Err(wrong_type(node, "a handover", of_step::DEPTH, "a whole number, not negative"));
    }
    let depths = &mut builder.depths;
    let above = depths.get(from).copied().unwrap_or(0);
    // Whoever hands something over without having been given it stands at the top.
    depths.entry(from).or_insert(0);
    let depth = given.or_else(|| depths.get(to).copied()).unwrap_or(above.saturating_add(1));
    depths.insert(to, depth);
    if given.is_none() {
        fields.set_field(of_step::DEPTH, Node::computed(Value::Number(Number::Integer(depth))));
    }
    Ok(to)
}
