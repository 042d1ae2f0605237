//! Dify: messages of an app with the thoughts of its agent. A thought names its tools with what each was given and gave.

use super::block_session;
use super::blocks::{BlockCall, BlockResult};
use super::calls::parse_arguments;
use super::conversation::{ConversationBuilder, Speaker, StepMeta, instant_node};
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{list_of, node_object, node_text, object_items, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object};
use averment_runs::normal::of_run;
use averment_runs::run::{StepKind, StepStatus};

key_table! {
    DifyKey {
        Data = "data",
        Conversation = "conversation_id",
        Query = "query",
        Answer = "answer",
        Thoughts = "agent_thoughts",
        Time = "created_at",
        Thought = "thought",
        Tool = "tool",
        Given = "tool_input",
        Gave = "observation",
    }
}

key_table! {
    /// Between the names of several tools of a thought.
    ToolDivider {
        Any = ";",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Dify messages",
    known_by: "messages with `query`, `answer` and `agent_thoughts`",
    description: "messages of Dify's apps (`agent_thoughts`; one, a list, one a line, `data`)",
    marks: &[DifyKey::Thoughts.key(), DifyKey::Data.key()],
    near: &[DifyKey::Thoughts.key()],
    object: |object| {
        is_message(object)
            || object_items(list_of(object, DifyKey::Data).unwrap_or_default()).any(|(_, one)| is_message(one))
    },
    item_marks: &[DifyKey::Thoughts.key()],
    element: is_message,
    line: is_message,
    read: read_run,
    ..IN_FULL
};

fn is_message(message: Object<'_>) -> bool {
    list_of(message, DifyKey::Thoughts).is_some() && message.field(DifyKey::Query).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::from_parts(builder);
    let mut tells_calls = true;
    for node in super::nodes::items_of(root, &[DifyKey::Data]) {
        conversation.builder.count_record();
        let Some(message) = node_object(*node).filter(|message| is_message(*message)) else {
            conversation.builder.skip_value(node, "what is no message with `agent_thoughts` is skipped");
            continue;
        };
        // Apps that are no agents have none: what their workflows did stands elsewhere.
        tells_calls &= list_of(message, DifyKey::Thoughts).is_some_and(|thoughts| !thoughts.is_empty());
        add_message(&mut conversation, *node, message);
    }
    let builder = conversation.finish_run();
    if !tells_calls {
        builder.mark_unrecorded(StepKind::Call);
    }
    Ok(())
}

fn add_message<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, message: Object<'run>) {
    let id = value_of(message, DifyKey::Conversation).filter(|_| !conversation.builder.has_entry(of_run::ID));
    conversation.builder.set_some(of_run::ID, id);
    let meta = StepMeta { time: value_of(message, DifyKey::Time).and_then(instant_node), ..StepMeta::default() };
    if let Some(asked) = value_of(message, DifyKey::Query) {
        conversation.add_content(Speaker::User, asked, &meta, node.origin);
    }
    for (at, thought) in conversation.builder.record_objects(list_of(message, DifyKey::Thoughts).unwrap_or_default()) {
        add_thought(conversation, at, thought);
    }
    if let Some(answer) = value_of(message, DifyKey::Answer) {
        conversation.begin_message();
        // The time is that of the question.
        conversation.add_content(Speaker::Assistant, answer, &StepMeta::default(), node.origin);
    }
}

/// What an agent thought, and the tools that it used for that.
pub(super) fn add_thought<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    at: Node<'run>,
    thought: Object<'run>,
) {
    if thought.field(DifyKey::Tool).is_none() && thought.field(DifyKey::Thought).is_none() {
        return conversation.builder.skip_record(at.origin, "a thought without `thought` and `tool` is skipped");
    }
    conversation.begin_turn();
    if let Some(words) = value_of(thought, DifyKey::Thought) {
        conversation.add_content(Speaker::Thinking, words, &StepMeta::default(), at.origin);
    }
    add_tools(conversation, at, thought);
}

/// The arguments and the results stand under the names of the tools.
fn add_tools<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, thought: Object<'run>) {
    let names = text_of(thought, DifyKey::Tool).unwrap_or_default();
    let is_given = value_of(thought, DifyKey::Given).and_then(node_text).is_some_and(|given| !given.is_empty());
    let is_wrong = value_of(thought, DifyKey::Tool).map_or(is_given, |tool| node_text(tool).is_none());
    if names.is_empty() && is_wrong {
        return conversation.builder.skip_record(node.origin, "a call without the name of its tool is skipped");
    }
    let given = value_of(thought, DifyKey::Given).map(|given| parse_arguments(conversation.builder, given));
    let gave = value_of(thought, DifyKey::Gave).map(|gave| parse_arguments(conversation.builder, gave));
    let origin = thought.field(DifyKey::Tool).unwrap_or(node);
    for divider in ToolDivider::Any.keys() {
        for name in names.split(divider).filter(|name| !name.is_empty()) {
            let of_tool = |held: Option<Node<'run>>| {
                let inner = held.and_then(node_object).and_then(|held| held.get(name));
                inner.or(held.filter(|held| node_object(*held).is_none() || node_text(*held).is_some()))
            };
            let tool = block_session::text_node(conversation.builder, name, origin);
            let answer = BlockResult {
                result: of_tool(gave),
                is_value: true,
                status: Some(StepStatus::Unknown),
                ..BlockResult::default()
            };
            let call = BlockCall { tool: Some(tool), args: of_tool(given), id: None, answer: Some(answer) };
            block_session::add_call(conversation, node, call, &StepMeta::default());
        }
    }
}
