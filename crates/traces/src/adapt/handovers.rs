//! Tools by which frameworks hand the work to another agent. The name of a tool alone says little (`transfer_to_human_agents` calls for a
//! person): its arguments or its result have to say to whom.

use super::draft::{Draft, field};
use super::fields::key_table;
use super::nodes::{object, text};
use averment_base::value::json::parse_text;
use averment_base::value::{Entry, Node, Value};
use averment_runs::normal::of_step;
use averment_runs::run::{Kind, Status};

key_table! {
    /// Tools that are told to whom.
    Told {
        /// Google ADK.
        Transfer = "transfer_to_agent" | "transferToAgent",
        /// Strands.
        Handoff = "handoff_to_agent",
    }
}

key_table! {
    /// The arguments that say it.
    OfTransfer {
        To = "agent_name" | "agentName",
    }
}

/// How the names of tools begin that stand for one agent.
const NAMED: [&str; 3] = ["transfer_to_", "transfer_back_to_", "handoff_to_"];
/// What the result says then, in front of the name: LangGraph, AutoGen.
const RESULTS: [&str; 3] = ["Successfully transferred to ", "Successfully transferred back to ", "Transferred to "];
/// Behind the name in a result of AutoGen.
const ADOPTING: &str = ", adopting the role of ";
/// The only key of a result of OpenAI's SDK.
const ASSISTANT: &str = "assistant";

/// Whether the name of a tool is one of those by which work is handed over.
pub(super) fn may_hand_over(tool: &str) -> bool {
    NAMED.iter().any(|start| tool.starts_with(start))
}

/// The hand-over that a call is, where it says so and it is known who makes it.
pub(super) fn of_call<'run>(draft: &Draft<'run, '_>, call: &[Entry<'run>]) -> Vec<(Kind, Vec<Entry<'run>>)> {
    let of = |key: &str| call.iter().find(|field| field.key == key).map(|field| field.node);
    let failed = of(of_step::STATUS).and_then(text) == Status::Failed.as_str();
    let (Some(tool), Some(agent)) = (of(of_step::TOOL).and_then(text), of(of_step::AGENT).filter(|_| !failed)) else {
        return Vec::new();
    };
    let to = match Told::from_key(tool) {
        Some(_) => of(of_step::ARGS).and_then(object).and_then(|args| super::fields::value_of(args, OfTransfer::To)),
        None if may_hand_over(tool) => of(of_step::RESULT).and_then(|result| named_in(result, draft)),
        None => None,
    };
    let Some(to) = to.filter(|to| text(*to).is_some()) else { return Vec::new() };
    let mut fields = vec![field(of_step::TO, to), field(of_step::AGENT, agent)];
    fields.extend([of_step::START, of_step::TURN].into_iter().filter_map(|key| Some(field(key, of(key)?))));
    vec![(Kind::Handover, fields)]
}

/// The agent that a result names as the one that takes over.
fn named_in<'run>(result: Node<'run>, draft: &Draft<'run, '_>) -> Option<Node<'run>> {
    let named = |name: &'run str| Node::new(Value::plain(name), result.origin);
    match result.value {
        Value::Object(_) => only_assistant(result),
        Value::Text(words) => {
            let behind = RESULTS.iter().find_map(|start| words.as_str().strip_prefix(start));
            let name =
                behind.map(|rest| rest.split_once(ADOPTING).map_or(rest, |(name, _)| name).trim_end_matches('.'));
            let name = name.filter(|name| !name.is_empty() && !name.contains('\n'));
            let in_json = || parse_text(words, result.origin, draft.arena, draft.limits).ok().map(|read| read.node);
            name.map(named).or_else(|| only_assistant(in_json()?))
        }
        _ => None,
    }
}

fn only_assistant(node: Node<'_>) -> Option<Node<'_>> {
    match object(node)?.entries() {
        [only] if only.key == ASSISTANT => Some(only.node),
        _ => None,
    }
}
