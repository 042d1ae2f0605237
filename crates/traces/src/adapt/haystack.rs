//! Haystack: chat messages as `ChatMessage.to_dict` writes them. The only key of a part of the content says what it is.

use super::block_session;
use super::blocks::{self, BlockCall, BlockResult};
use super::calls::TokenUsage;
use super::content;
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::MessageRole;
use super::nodes::{items_of, list_of, node_list, node_object, object_items, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_meta;
use averment_runs::run::StepStatus;

key_table! {
    HaystackKey {
        /// An agent gives `messages`, a generator `replies`.
        Messages = "messages" | "replies",
        /// Older versions write the names of the fields of the class.
        Role = "role" | "_role",
        Content = "content" | "_content",
        Meta = "meta" | "_meta",
        Usage = "usage",
        Model = "model",
    }
}

key_table! {
    HaystackPart {
        Text = "text",
        Call = "tool_call",
        Result = "tool_call_result",
        Thought = "reasoning",
        Silent = "image" | "file",
    }
}

key_table! {
    HaystackPartKey {
        Tool = "tool_name",
        Arguments = "arguments",
        Id = "id",
        Result = "result",
        Of = "origin",
        Failed = "error",
        Thought = "reasoning_text",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Haystack messages",
    known_by: "messages with `role`, `meta` and `content`, whose parts have one key such as `tool_call`",
    description: "chat messages of Haystack (`meta`, `content` with `tool_call`; a list, one a line, `messages`, `replies`)",
    marks: HaystackKey::Messages.keys(),
    near: &[HaystackKey::Role.last_key(), HaystackKey::Content.last_key()],
    object: |object| {
        list_of(object, HaystackKey::Messages).is_some_and(|list| super::nodes::are_mostly(list.iter(), is_message))
    },
    item_marks: HaystackKey::Meta.keys(),
    element: is_message,
    line: is_message,
    record_ids: RecordIds::of_call(&[
        &[HaystackKey::Content.key(), HaystackPart::Call.key(), HaystackPartKey::Id.key()],
        &[HaystackKey::Content.last_key(), HaystackPart::Call.key(), HaystackPartKey::Id.key()],
    ]),
    read: read_run,
    ..IN_FULL
};

fn part_of(part: Object<'_>) -> Option<(HaystackPart, Node<'_>)> {
    match part.entries() {
        [only] => Some((HaystackPart::from_key(only.key)?, only.node)),
        _ => None,
    }
}

fn is_message(message: Object<'_>) -> bool {
    let parts = list_of(message, HaystackKey::Content).unwrap_or_default();
    text_of(message, HaystackKey::Role).is_some()
        && message.field(HaystackKey::Meta).is_some()
        && !parts.is_empty()
        && super::nodes::are_mostly(parts.iter(), |part| part_of(part).is_some())
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::from_parts(builder);
    for node in items_of(root, &[HaystackKey::Messages]) {
        conversation.builder.count_record();
        let message = node_object(*node);
        let parts = message.and_then(|message| Some((message, list_of(message, HaystackKey::Content)?)));
        let Some((message, parts)) = parts else {
            conversation.builder.skip_value(node, "a message without its parts is skipped");
            continue;
        };
        let role = conversation.builder.role_of(*node, text_of(message, HaystackKey::Role));
        if role == Some(MessageRole::Assistant) {
            conversation.begin_turn();
            count_usage(&mut conversation, message);
        }
        for (at, part) in conversation.builder.record_objects(parts) {
            add_part(&mut conversation, at, part, Speaker::from_role(role));
        }
    }
    conversation.finish_run();
    Ok(())
}

fn count_usage<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, message: Object<'run>) {
    let Some(meta) = object_of(message, HaystackKey::Meta) else { return };
    let model = value_of(meta, HaystackKey::Model);
    conversation.add_meta(of_meta::MODEL, model);
    if let Some(counts) = object_of(meta, HaystackKey::Usage) {
        let mut usage = TokenUsage::default();
        usage.add_usage(counts);
        conversation.add_usage(&usage, model);
    }
}

fn add_part<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    part: Object<'run>,
    speaker: Speaker,
) {
    let about = StepMeta::default();
    let inside = |held: Node<'run>| node_object(held);
    match part_of(part) {
        Some((HaystackPart::Text, words)) => conversation.add_message(speaker, words, &about, node.origin),
        Some((HaystackPart::Thought, held)) => {
            let words = inside(held).and_then(|held| value_of(held, HaystackPartKey::Thought)).unwrap_or(held);
            conversation.add_message(Speaker::Thinking, words, &about, node.origin);
        }
        Some((HaystackPart::Call, held)) if inside(held).is_some() => {
            let field = |key: HaystackPartKey| inside(held).and_then(|call| value_of(call, key));
            let [tool, args, id] = [HaystackPartKey::Tool, HaystackPartKey::Arguments, HaystackPartKey::Id].map(field);
            block_session::add_call(conversation, node, BlockCall { tool, args, id, answer: None }, &about);
        }
        Some((HaystackPart::Result, held)) if inside(held).is_some() => {
            let Some(given) = inside(held) else { return };
            let call = object_of(given, HaystackPartKey::Of);
            let word = |key| call.and_then(|call| text_of(call, key));
            let failed =
                matches!(value_of(given, HaystackPartKey::Failed).map(|it| it.value), Some(Value::Boolean(true)));
            let gave = given.field(HaystackPartKey::Result);
            let answer = BlockResult {
                id: word(HaystackPartKey::Id),
                result: gave.map(|gave| joined_parts(conversation.builder, gave)),
                is_value: true,
                failed,
                status: Some(if failed { StepStatus::Failed } else { StepStatus::Ok }),
            };
            block_session::add_result(conversation, node, &answer, word(HaystackPartKey::Tool), &about);
        }
        Some((HaystackPart::Silent, _)) => {}
        _ => conversation.builder.skip_record(node.origin, blocks::UNKNOWN),
    }
}

/// A result may be parts of text and images.
fn joined_parts<'run>(builder: &RunBuilder<'run, '_>, gave: Node<'run>) -> Node<'run> {
    match node_list(gave) {
        Some(parts) if object_items(parts).any(|(_, part)| part_of(part).is_some()) => {
            content::content_text(gave, builder.arena).unwrap_or(gave)
        }
        _ => gave,
    }
}
