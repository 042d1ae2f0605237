//! Tools that the provider of a chat API ran itself before it answered. Groq's systems list them in the message; of the searches of others
//! only what they found stands beside the words, and no call.

use super::conversation::{CallResult, ConversationBuilder, StepMeta, ToolCall};
use super::fields::{key_table, value_of};
use super::nodes::{node_list, objects_of, text_of};
use super::run_builder::RunBuilder;
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

key_table! {
    /// What a search found.
    SearchKey {
        /// Beside the choices: Perplexity and xAI.
        Found = "search_results" | "citations",
        /// In a message: OpenAI's models that search, and OpenRouter. Files that were read stand there, too.
        Cited = "annotations",
        Kind = "type",
    }
}

/// The key of the tools of a message.
pub(super) const TOOLS: &str = ExecutedKey::Tools.key();

const CITED_PAGE: &str = "url_citation";

/// A message with so few keys says nothing of tools.
const PLAIN_KEYS: usize = 2;

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

/// See [`executed_in`]: of a message among many, of which most say nothing of tools.
pub(super) fn executed_in_message<'run>(message: Object<'run>) -> &'run [Node<'run>] {
    if message.entries().len() > PLAIN_KEYS { executed_in(message) } else { &[] }
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
    talk: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    tool: Object<'run>,
    about: &StepMeta<'run>,
) {
    let ExecutedTool { tool, args, result } = executed_tool(tool);
    if let Some(step) = talk.add_call(ToolCall { tool, args, id: None, origin: node.origin }, about) {
        talk.end_within(step, CallResult { result, ..CallResult::default() }, about);
    }
}

/// What a search found that no call tells of, in an answer and its message: which tool it was nobody knows.
pub(super) fn note_searches<'run>(answer: Object<'run>, message: Object<'run>, draft: &RunBuilder<'run, '_>) {
    if !executed_in(message).is_empty() {
        return;
    }
    let found = value_of(answer, SearchKey::Found).filter(|found| !matches!(found.value, Value::List([])));
    let cites = |list: &Node<'run>| {
        let list = node_list(*list).unwrap_or_default();
        objects_of(list).any(|one| text_of(one, SearchKey::Kind) == Some(CITED_PAGE))
    };
    let cited = value_of(message, SearchKey::Cited).filter(cites);
    if let Some(found) = found.or(cited) {
        draft.note_unknown(found.origin, "what a search of the provider found stands there, and no call of it");
    }
}
