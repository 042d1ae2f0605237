//! Crush: a session as `crush session show --json` writes it, and messages as its database holds them, whose parts are JSON in a text.
//! The tokens of a session are those of its last request: they are not those of the run.

use super::blocks::{BlockCall, BlockResult, ContentBlock};
use super::conversation::instant_node;
use super::fields::{FieldRecord as _, NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::listed_messages::{ListedMessage, read_messages};
use super::messages::MessageRole;
use super::nodes::{
    items_of, list_of, node_list, node_object, node_text, object_items, object_of, objects_of, text_of,
};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object};
use averment_runs::normal::of_run;
use averment_runs::run::StepStatus;

key_table! {
    CrushKey {
        Meta = "meta",
        Messages = "messages",
        Session = "uuid",
        Cost = "cost",
        Role = "role",
        Parts = "parts",
        OfSession = "session_id",
        IsSummary = "is_summary_message",
        Time = "created" | "created_at",
        Type = "type",
        /// The database wraps what a part holds.
        Data = "data",
        Text = "text",
        Thinking = "thinking",
        Call = "tool_call_id",
        Id = "id",
        Name = "name",
        Input = "input",
        Content = "content",
        Failed = "is_error",
    }
}

key_table! {
    CrushPart {
        Text = "text",
        Thinking = "reasoning",
        Call = "tool_call",
        Result = "tool_result",
        /// A command that the user ran stands for itself: the agent did nothing.
        Silent = "image_url" | "binary" | "finish" | "shell_command",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Crush session",
    known_by: "messages with `parts` of a `type` such as `tool_call` and `finish`, beside `meta` or with a `session_id`",
    description: "sessions of Crush (`meta` with `messages`), messages of its database",
    marks: &[CrushKey::Messages.key(), CrushKey::Parts.key()],
    near: &[CrushKey::IsSummary.key()],
    object: |object| is_session(object) || is_row(object),
    item_marks: &[CrushKey::Parts.key()],
    element: is_row,
    line: is_row,
    record_ids: RecordIds { lists: &[CrushKey::Messages.key()], ..RecordIds::updated(&[&[CrushKey::Id.key()]]) },
    read: read_run,
    ..IN_FULL
};

fn is_session(session: Object<'_>) -> bool {
    let is_message = |message: Object<'_>| {
        text_of(message, CrushKey::Role).is_some()
            && text_of(message, CrushKey::Time).is_some()
            && list_of(message, CrushKey::Parts).is_some_and(|parts| {
                objects_of(parts).any(|part| text_of(part, CrushKey::Type).and_then(CrushPart::from_key).is_some())
            })
    };
    object_of(session, CrushKey::Meta).is_some_and(|meta| text_of(meta, CrushKey::Session).is_some())
        && list_of(session, CrushKey::Messages).is_some_and(|messages| objects_of(messages).any(is_message))
}

/// A row of the table of messages: its parts are a text, or were opened by whoever exported it.
fn is_row(row: Object<'_>) -> bool {
    let is_part = |part: Object<'_>| {
        object_of(part, CrushKey::Data).is_some()
            && text_of(part, CrushKey::Type).and_then(CrushPart::from_key).is_some()
    };
    let is_opened = || list_of(row, CrushKey::Parts).is_some_and(|parts| objects_of(parts).any(is_part));
    let is_text = || text_of(row, CrushKey::Parts).is_some_and(|parts| parts.trim_start().starts_with('['));
    text_of(row, CrushKey::OfSession).is_some() && text_of(row, CrushKey::Role).is_some() && (is_text() || is_opened())
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let (arena, limits) = (builder.arena, builder.limits);
    let items = items_of(root, &[CrushKey::Messages]);
    if let Some(meta) = node_object(*root).and_then(|session| object_of(session, CrushKey::Meta)) {
        builder.set_some(of_run::ID, value_of(meta, CrushKey::Session));
        builder.set_some(of_run::COST, value_of(meta, CrushKey::Cost));
    } else {
        let first = object_items(items).next();
        builder.set_some(of_run::ID, first.and_then(|(_, row)| value_of(row, CrushKey::OfSession)));
    }
    let view = |message: Object<'run>| {
        let written = value_of(message, CrushKey::Parts)?;
        let parts = if node_text(written).is_some() { written.parse_embedded(arena, limits)? } else { written };
        node_list(parts)?;
        Some(ListedMessage {
            role: text_of(message, CrushKey::Role).and_then(MessageRole::from_key),
            contents: vec![parts],
            time: value_of(message, CrushKey::Time).and_then(instant_node),
            ..ListedMessage::default()
        })
    };
    read_messages(items, builder, view, classify_part).finish_run();
    Ok(())
}

fn classify_part(part: Object<'_>) -> ContentBlock<'_> {
    let held = object_of(part, CrushKey::Data).unwrap_or(part);
    match text_of(part, CrushKey::Type).and_then(CrushPart::from_key) {
        Some(CrushPart::Text) => value_of(held, CrushKey::Text).map_or(ContentBlock::Silent, ContentBlock::Says),
        Some(CrushPart::Thinking) => {
            value_of(held, CrushKey::Thinking).map_or(ContentBlock::Silent, ContentBlock::Thinks)
        }
        Some(CrushPart::Call) => ContentBlock::Calls(BlockCall {
            tool: value_of(held, CrushKey::Name),
            args: value_of(held, CrushKey::Input),
            id: value_of(held, CrushKey::Call).or_else(|| value_of(held, CrushKey::Id)),
            answer: None,
        }),
        Some(CrushPart::Result) => {
            let failed = is_true(&held, &NodeShapes, CrushKey::Failed);
            ContentBlock::Answers(BlockResult {
                id: text_of(held, CrushKey::Call),
                result: held.field(CrushKey::Content),
                is_value: true,
                failed,
                status: Some(if failed { StepStatus::Failed } else { StepStatus::Ok }),
            })
        }
        Some(CrushPart::Silent) => ContentBlock::Silent,
        None => ContentBlock::Unknown,
    }
}
