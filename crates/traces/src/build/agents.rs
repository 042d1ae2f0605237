//! Who takes the steps of a run, and who hands the work to whom.

use super::Builder;
use super::fields::{Fields, required, wrong_type};
use crate::error::Placed;
use averment_base::value::{Node, Number, Origin, Value};
use averment_runs::normal::{MAIN_AGENT, of_step};

/// Whether a step names the agent that takes it.
pub(super) fn names_agent(step: &Node<'_>) -> bool {
    let Value::Object(object) = step.value else { return false };
    matches!(object.get(of_step::AGENT).map(|agent| agent.value), Some(Value::Text(_)))
}

/// The agent that takes over, and how deep it stands: as recorded, where it stood before, else one deeper than the agent that hands over.
pub(super) fn handover<'run>(
    builder: &mut Builder<'run>,
    fields: &mut Fields<'run>,
    origin: Origin,
) -> Result<&'run str, Placed> {
    let to = required(fields, of_step::TO, "a handover", origin)?;
    let from = fields.text(of_step::AGENT, "a handover")?.map_or(MAIN_AGENT, |(agent, _)| agent);
    let given = match fields.known(of_step::DEPTH) {
        Some(Node { value: Value::Number(depth), .. }) => depth.as_i64().filter(|depth| *depth >= 0),
        _ => None,
    };
    if let Some(node) = fields.known(of_step::DEPTH).filter(|_| given.is_none()) {
        return Err(wrong_type(node, "a handover", of_step::DEPTH, "a whole number, not negative"));
    }
    let depths = &mut builder.depths;
    let above = depths.get(from).copied().unwrap_or(0);
    // Whoever hands something over without having been given it stands at the top.
    depths.entry(from).or_insert(0);
    let depth = given.or_else(|| depths.get(to).copied()).unwrap_or(above.saturating_add(1));
    depths.insert(to, depth);
    if given.is_none() {
        fields.set(of_step::DEPTH, Node::computed(Value::Number(Number::Integer(depth))));
    }
    Ok(to)
}
