//! Tools by which frameworks hand the work to another agent. The name of a tool alone says little (`transfer_to_human_agents` calls for a
//! person): its arguments or its result have to say to whom.

use super::fields::key_table;
use super::nodes::{node_object, node_text};
use super::run_builder::{RunBuilder, field_entry};
use averment_base::value::json::parse_text;
use averment_base::value::{Node, ObjectEntry, Value};
use averment_runs::normal::of_step;
use averment_runs::run::{StepKind, StepStatus};

key_table! {
    /// Tools whose arguments name the target agent.
    HandoverTool {
        Transfer = "transfer_to_agent" | "transferToAgent",
        Handoff = "handoff_to_agent",
    }
}

key_table! {
    TransferKey {
        To = "agent_name" | "agentName",
    }
}

/// Prefixes of tools for one specific agent.
const NAMED: [&str; 3] = ["transfer_to_", "transfer_back_to_", "handoff_to_"];
/// Result texts before the name: LangGraph, AutoGen.
const RESULTS: [&str; 3] = ["Successfully transferred to ", "Successfully transferred back to ", "Transferred to "];
/// AutoGen: text behind the name in a result.
const ADOPTING: &str = ", adopting the role of ";
/// OpenAI SDK: the only key of a result.
const ASSISTANT: &str = "assistant";

pub(super) fn may_hand_over(tool: &str) -> bool {
    NAMED.iter().any(|start| tool.starts_with(start))
}

/// Empty if the call is no handover or its agent is unknown.
pub(super) fn derive_handover<'run>(
    builder: &RunBuilder<'run, '_>,
    call: &[ObjectEntry<'run>],
) -> Vec<(StepKind, Vec<ObjectEntry<'run>>)> {
    let of = |key: &str| call.iter().find(|field| field.key == key).map(|field| field.node);
    let failed = of(of_step::STATUS).and_then(node_text) == StepStatus::Failed.as_str();
    let (Some(tool), Some(agent)) = (of(of_step::TOOL).and_then(node_text), of(of_step::AGENT).filter(|_| !failed))
    else {
        return Vec::new();
    };
    let to = match HandoverTool::from_key(tool) {
        Some(_) => {
            of(of_step::ARGS).and_then(node_object).and_then(|args| super::fields::value_of(args, TransferKey::To))
        }
        None if may_hand_over(tool) => of(of_step::RESULT).and_then(|result| agent_in_result(result, builder)),
        None => None,
    };
    let Some(to) = to.filter(|to| node_text(*to).is_some()) else { return Vec::new() };
    let mut fields = vec![field_entry(of_step::TO, to), field_entry(of_step::AGENT, agent)];
    fields.extend([of_step::START, of_step::TURN].into_iter().filter_map(|key| Some(field_entry(key, of(key)?))));
    vec![(StepKind::Handover, fields)]
}

fn agent_in_result<'run>(result: Node<'run>, builder: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
    let named = |name: &'run str| Node::new(Value::plain_text(name), result.origin);
    match result.value {
        Value::Object(_) => assistant_value(result),
        Value::Text(words) => {
            let behind = RESULTS.iter().find_map(|start| words.as_str().strip_prefix(start));
            let name =
                behind.map(|rest| rest.split_once(ADOPTING).map_or(rest, |(name, _)| name).trim_end_matches('.'));
            let name = name.filter(|name| !name.is_empty() && !name.contains('\n'));
            let in_json = || parse_text(words, result.origin, builder.arena, builder.limits).ok().map(|read| read.node);
            name.map(named).or_else(|| assistant_value(in_json()?))
        }
        _ => None,
    }
}

fn assistant_value(node: Node<'_>) -> Option<Node<'_>> {
    match node_object(node)?.entries() {
        [only] if only.key == ASSISTANT => Some(only.node),
        _ => None,
    }
}
