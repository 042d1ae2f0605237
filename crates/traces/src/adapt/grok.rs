//! Grok's command line: the history of a session (`chat_history.jsonl`, a row a line). Rows have no times.

use super::block_session::{self, UserWords};
use super::blocks::{self, BlockCall, BlockResult};
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, items_of, list_of, node_object, node_text, object_items, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, absent_node};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_step};
use averment_runs::run::StepStatus;

key_table! {
    GrokKey {
        Type = "type",
        Content = "content",
        Calls = "tool_calls",
        Call = "tool_call_id",
        Injected = "synthetic_reason",
        Summary = "summary",
        Words = "text",
        Model = "model_id",
        Id = "id",
        Name = "name",
        Args = "arguments",
        /// Of a call that the provider ran.
        Hosted = "kind",
        Tool = "tool_type",
        Action = "action",
        Status = "status",
    }
}

key_table! {
    GrokRowType {
        System = "system",
        User = "user",
        Assistant = "assistant",
        Thinking = "reasoning",
        Result = "tool_result",
        /// A tool that the provider runs itself; what it gave is not written down.
        Hosted = "backend_tool_call",
    }
}

key_table! {
    /// Why a message in the user's name is none of the prompts; what is said between them is the user's all the same.
    GrokReason {
        User = "interjection",
    }
}

const WORDS: UserWords<'static> = UserWords { tags: &["user_query"], are_last: true, untagged: Speaker::User };

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Grok session",
    known_by: "rows of type `assistant` with `tool_calls` of `name` and `arguments`, or `tool_result` with `tool_call_id`",
    description: "sessions of Grok's command line (`chat_history.jsonl`)",
    marks: &[GrokKey::Injected.key()],
    // Not the calls: runs of many other forms have such a list, and each would be read whole to see that it is no row.
    item_marks: &[GrokKey::Content.key()],
    element: is_row,
    line: is_row,
    beside: |row| {
        let fields = [GrokKey::Content, GrokKey::Summary, GrokKey::Hosted];
        row_type(row).is_some() && fields.into_iter().any(|field| row.field(field).is_some())
    },
    record_ids: RecordIds::of_call(&[&[GrokKey::Calls.key(), GrokKey::Id.key()], &[GrokKey::Call.key()]]),
    read: read_run,
    ..IN_FULL
};

fn row_type(row: Object<'_>) -> Option<GrokRowType> {
    text_of(row, GrokKey::Type).and_then(GrokRowType::from_key)
}

fn is_row(row: Object<'_>) -> bool {
    let has = |field| row.field(field).is_some();
    let calls = || object_items(list_of(row, GrokKey::Calls).unwrap_or_default());
    match row_type(row) {
        Some(GrokRowType::Assistant) => {
            calls().any(|(_, call)| text_of(call, GrokKey::Name).is_some() && text_of(call, GrokKey::Args).is_some())
                && has(GrokKey::Content)
        }
        Some(GrokRowType::Result) => has(GrokKey::Call) && has(GrokKey::Content),
        Some(GrokRowType::User) => has(GrokKey::Injected) && has(GrokKey::Content),
        _ => false,
    }
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::from_parts(builder);
    for node in items_of::<GrokKey>(root, &[]) {
        conversation.builder.count_record();
        match node_object(*node).and_then(|row| Some((row, row_type(row)?))) {
            Some((row, kind)) => read_row(&mut conversation, *node, row, kind),
            None => conversation.builder.skip_value(node, "a row of unknown type is skipped"),
        }
    }
    conversation.finish_with_tools();
    Ok(())
}

fn is_injected(row: Object<'_>) -> bool {
    first_of(row, &[GrokKey::Injected]).is_some_and(|why| node_text(why).and_then(GrokReason::from_key).is_none())
}

fn read_row<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    row: Object<'run>,
    kind: GrokRowType,
) {
    let meta = StepMeta::default();
    let content = first_of(row, &[GrokKey::Content]);
    let say = |conversation: &mut ConversationBuilder<'_, 'run, '_>, speaker| {
        if let Some(content) = content {
            block_session::add_content(conversation, content, speaker, &WORDS, &meta, blocks::classify_block);
        }
    };
    match kind {
        GrokRowType::System => say(conversation, Speaker::System),
        GrokRowType::User if is_injected(row) => say(conversation, Speaker::System),
        GrokRowType::User => say(conversation, Speaker::User),
        GrokRowType::Thinking => {
            for (node, part) in object_items(list_of(row, GrokKey::Summary).unwrap_or_default()) {
                let words = part.field(GrokKey::Words);
                words
                    .into_iter()
                    .for_each(|words| conversation.add_message(Speaker::Thinking, words, &meta, node.origin));
            }
            content
                .into_iter()
                .for_each(|words| conversation.add_message(Speaker::Thinking, words, &meta, node.origin));
        }
        GrokRowType::Assistant => {
            conversation.begin_turn();
            conversation.add_meta(of_meta::MODEL, row.field(GrokKey::Model));
            say(conversation, Speaker::Assistant);
            for (node, call) in conversation.builder.record_objects(list_of(row, GrokKey::Calls).unwrap_or_default()) {
                let made = BlockCall {
                    tool: call.field(GrokKey::Name),
                    args: call.field(GrokKey::Args),
                    id: call.field(GrokKey::Id),
                    answer: None,
                };
                block_session::add_call(conversation, node, made, &meta);
            }
        }
        GrokRowType::Hosted => match object_of(row, GrokKey::Hosted) {
            Some(call) => {
                let status = text_of(call, GrokKey::Status).and_then(StepStatus::from_word);
                let made = ToolCall {
                    tool: call.field(GrokKey::Tool).unwrap_or(Node::computed(Value::Null)),
                    args: call.field(GrokKey::Action),
                    id: call.field(GrokKey::Id),
                    origin: node.origin,
                };
                if let Some(step) = conversation.add_call(made, &meta) {
                    conversation.builder.set_field(step, of_step::RESULT, absent_node());
                    let status = status.or(Some(StepStatus::Unknown));
                    conversation.end_within(step, CallResult { status, ..CallResult::default() }, &meta);
                }
            }
            None => conversation.builder.skip_record(node.origin, "a call without the name of its tool is skipped"),
        },
        GrokRowType::Result => {
            // Whether it went well is not written down.
            let id = text_of(row, GrokKey::Call);
            let status = Some(StepStatus::Unknown);
            let answer = BlockResult { id, result: content, status, ..BlockResult::default() };
            block_session::add_result(conversation, node, &answer, None, &meta);
        }
    }
}
