//! Tools that the provider of a chat API ran itself before it answered, as Groq's systems list them in the message. Pages that an answer
//! cites are no calls: the search behind them is the answer's, and the agent can do nothing else by it.

use super::conversation::{CallResult, ConversationBuilder, StepMeta, ToolCall};
use super::fields::{key_table, value_of};
use super::nodes::node_list;
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object, Value};

key_table! {
    ExecutedKey {
        Tools = "executed_tools",
        /// Of the tools of some models, whose kind is `function`.
        Name = "name",
        Kind = "type",
        Arguments = "arguments",
        Output = "output",
        Found = "search_results" | "code_results" | "browser_results",
        Index = "index",
    }
}

/// The key of the tools of a message.
pub(super) const TOOLS: &str = ExecutedKey::Tools.key();

#[derive(Debug, Clone, Copy)]
pub(super) struct ExecutedTool<'run> {
    pub(super) tool: Node<'run>,
    pub(super) args: Option<Node<'run>>,
    pub(super) result: Option<Node<'run>>,
}

/// The tools of a message, or of a piece of one.
pub(super) fn executed_in<'run>(message: Object<'run>) -> &'run [Node<'run>] {
    value_of(message, ExecutedKey::Tools).and_then(node_list).unwrap_or_default()
}

/// Whether two pieces of an answer tell of the same tool: what it gave comes later.
pub(super) fn is_same_tool<'run>(a: Object<'run>, b: Object<'run>) -> bool {
    let [a, b] = [a, b].map(|tool| value_of(tool, ExecutedKey::Index));
    a.zip(b).is_some_and(|(a, b)| values_equal(&a.value, &b.value))
}

pub(super) fn executed_tool<'run>(tool: Object<'run>) -> ExecutedTool<'run> {
    let of = |key| value_of(tool, key);
    ExecutedTool {
        tool: of(ExecutedKey::Name).or(of(ExecutedKey::Kind)).unwrap_or(Node::computed(Value::Null)),
        args: of(ExecutedKey::Arguments),
        result: of(ExecutedKey::Output).or(of(ExecutedKey::Found)),
    }
}

pub(super) fn add_executed<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    tool: Object<'run>,
    meta: &StepMeta<'run>,
) {
    let ExecutedTool { tool, args, result } = executed_tool(tool);
    if let Some(step) = conversation.add_call(ToolCall { tool, args, id: None, origin: node.origin }, meta) {
        conversation.end_within(step, CallResult { result, ..CallResult::default() }, meta);
    }
}
