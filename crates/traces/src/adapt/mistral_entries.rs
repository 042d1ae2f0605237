//! Mistral's conversations: the entries of a history, or the outputs of an answer. The type of an entry says what it is. Events stream the
//! same entries in pieces.

mod streamed;

use super::block_session;
use super::blocks::{BlockCall, BlockResult};
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, Speaker, StepMeta, instant_node};
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::MessageRole;
use super::nodes::{items_of, list_of, node_object, object_items, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run};
use averment_runs::run::StepStatus;
use streamed::StreamedEntries;

key_table! {
    EntryKey {
        Entries = "entries" | "outputs",
        Conversation = "conversation_id",
        Usage = "usage",
        Object = "object",
        Type = "type",
        Role = "role",
        Content = "content",
        Model = "model",
        Id = "id",
        Call = "tool_call_id",
        Name = "name",
        Arguments = "arguments",
        Result = "result",
        Info = "info",
        Time = "created_at",
        End = "completed_at",
        Agent = "next_agent_name",
    }
}

key_table! {
    EntryType {
        Given = "message.input",
        Said = "message.output",
        Call = "function.call",
        Result = "function.result",
        /// A tool of the service: what it gave stands in the entry, or in the answer.
        Hosted = "tool.execution",
        Handover = "agent.handoff",
    }
}

key_table! {
    EntryObject {
        Entry = "entry",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Mistral conversation",
    known_by: "`entries` or `outputs` whose `object` is `entry`, or events whose `type` is `conversation.response.started`, `message.output.delta` and so on",
    description: "conversations of Mistral's API (`entries`, `outputs`; a list of entries), streamed events included",
    marks: &[EntryKey::Conversation.key()],
    near: &[],
    object: |object| object_items(list_of(object, EntryKey::Entries).unwrap_or_default()).any(|(_, one)| is_entry(one)),
    item_marks: &[EntryKey::Object.key(), EntryKey::Type.key()],
    element: |object| is_entry(object) || streamed::is_event(object),
    line: |object| is_entry(object) || streamed::is_event(object),
    read: read_run,
    ..IN_FULL
};

fn is_entry(entry: Object<'_>) -> bool {
    text_of(entry, EntryKey::Object).and_then(EntryObject::from_key).is_some()
        && text_of(entry, EntryKey::Type).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let run = node_object(root);
    builder.set_some(of_run::ID, run.and_then(|run| value_of(run, EntryKey::Conversation)));
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::from_parts(builder);
    let mut stream = StreamedEntries::default();
    for node in items_of(root, &[EntryKey::Entries]) {
        conversation.builder.count_record();
        let entry = node_object(*node);
        if entry.is_some_and(|event| stream.add_event(*node, event, &mut conversation)) {
            continue;
        }
        let entry = entry.filter(|entry| is_entry(*entry));
        let kind = entry.and_then(|entry| EntryType::from_key(text_of(entry, EntryKey::Type)?));
        match entry.zip(kind) {
            Some((entry, kind)) => add_entry(&mut conversation, *node, entry, kind),
            None => conversation.builder.skip_value(node, "an entry of unknown type is skipped"),
        }
    }
    let is_over = stream.end_stream(&mut conversation);
    run.into_iter().for_each(|run| count_usage(&mut conversation, run));
    let builder = conversation.finish_run();
    if !is_over {
        builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
    Ok(())
}

/// What an answer took.
fn count_usage<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, answer: Object<'run>) {
    let Some(counts) = object_of(answer, EntryKey::Usage) else { return };
    let mut usage = TokenUsage::default();
    usage.add_usage(counts);
    conversation.add_usage(&usage, None);
}

fn add_entry<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    entry: Object<'run>,
    kind: EntryType,
) {
    let at = |key| value_of(entry, key).and_then(instant_node);
    let meta = StepMeta { time: at(EntryKey::Time), ..StepMeta::default() };
    let [tool, args] = [EntryKey::Name, EntryKey::Arguments].map(|key| value_of(entry, key));
    match kind {
        EntryType::Given | EntryType::Said => {
            let role = conversation.builder.role_of(node, text_of(entry, EntryKey::Role));
            let speaker = if kind == EntryType::Said { Speaker::Assistant } else { Speaker::from_role(role) };
            if speaker == Speaker::Assistant || role == Some(MessageRole::Assistant) {
                conversation.begin_turn();
            }
            conversation.add_meta(of_meta::MODEL, value_of(entry, EntryKey::Model));
            if let Some(content) = entry.field(EntryKey::Content) {
                conversation.add_content(speaker, content, &meta, node.origin);
            }
        }
        EntryType::Call => {
            let id = value_of(entry, EntryKey::Call);
            block_session::add_call(conversation, node, BlockCall { tool, args, id, answer: None }, &meta);
        }
        EntryType::Result => {
            let answer = BlockResult {
                id: text_of(entry, EntryKey::Call),
                result: value_of(entry, EntryKey::Result),
                is_value: true,
                status: Some(StepStatus::Unknown),
                ..BlockResult::default()
            };
            block_session::add_result(conversation, node, &answer, None, &meta);
        }
        EntryType::Hosted => {
            let is_over = value_of(entry, EntryKey::End).is_some();
            let answer = BlockResult {
                result: value_of(entry, EntryKey::Info),
                is_value: true,
                status: Some(StepStatus::Unknown),
                ..BlockResult::default()
            };
            let call =
                BlockCall { tool, args, id: value_of(entry, EntryKey::Id), answer: Some(answer).filter(|_| is_over) };
            block_session::add_call(conversation, node, call, &meta);
        }
        EntryType::Handover => {
            value_of(entry, EntryKey::Agent).into_iter().for_each(|to| conversation.hand_over(to, &meta, node.origin));
        }
    }
}
