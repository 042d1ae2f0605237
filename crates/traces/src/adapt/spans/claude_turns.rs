//! Turns of the Claude Agent SDK as LangSmith's integration writes them, also into stores of others: whatever comes back to the agent
//! stands in the user's name there, such as the text of a skill and what a sub-agent is told.

use super::SpanAct;
use super::attributes::Fact;
use super::span_messages::{read_messages, read_node};
use super::tree::SpanTree;
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{node_object, node_text};
use crate::adapt::run_builder::RunBuilder;
use averment_base::value::Node;
use averment_runs::normal::role;
use rustc_hash::FxHashSet;

key_table! {
    ClaudeTurnName {
        Any = "claude.assistant.turn",
    }
}

key_table! {
    SubAgentKey {
        Type = "subagent_type",
    }
}

/// The texts of the user, by what stands around a turn; `None` for any other request.
pub(super) fn words_of_user<'run>(
    tree: &SpanTree<'run>,
    model: usize,
    builder: &RunBuilder<'run, '_>,
) -> Option<FxHashSet<&'run str>> {
    let name = tree.spans.get(model)?.name.and_then(node_text)?;
    ClaudeTurnName::from_key(name)?;
    let is_told = |input: Node<'run>| {
        let object = node_object(read_node(input, builder));
        object.is_some_and(|input| value_of(input, SubAgentKey::Type).is_some())
    };
    let mut words = FxHashSet::default();
    for span in std::iter::successors(tree.parent_of(model), |span| tree.parent_of(*span)) {
        let Some(span) = tree.spans.get(span) else { break };
        // What is inside of a tool its caller told.
        if span.act == SpanAct::Tool {
            words.clear();
            continue;
        }
        let input = [Fact::Input, Fact::MessagesIn].into_iter().find_map(|fact| span.facts.fact_node(fact));
        let Some(input) = input.filter(|input| !is_told(*input)) else { continue };
        let said = read_messages(input, role::USER, builder);
        let of_user = said.iter().filter(|said| said.role == Some(role::USER));
        words.extend(of_user.flat_map(|said| &said.texts).filter_map(|text| node_text(*text)));
    }
    Some(words)
}
