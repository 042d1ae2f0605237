//! Genkit: messages whose parts are a text, a `toolRequest` or a `toolResponse`.

use super::blocks::{BlockCall, BlockResult, ContentBlock};
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::listed_messages::{ListedMessage, read_messages};
use super::messages::MessageRole;
use super::nodes::{items_of, list_of, node_object, object_of, objects_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object};
use averment_runs::run::StepStatus;

key_table! {
    GenkitKey {
        Messages = "messages",
        Role = "role",
        Content = "content",
        Id = "ref",
        Name = "name",
        Input = "input",
        Output = "output",
    }
}

key_table! {
    GenkitPart {
        Text = "text",
        Thought = "reasoning",
        Call = "toolRequest",
        Result = "toolResponse",
        Silent = "media" | "data" | "resource" | "custom",
        /// What a part says of itself.
        About = "metadata",
    }
}

key_table! {
    GenkitRole {
        Assistant = "model",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Genkit messages",
    known_by: "messages with a part that is a `toolRequest` or a `toolResponse`",
    description: "messages of Genkit (`content` with `toolRequest`; a list, one a line, `messages`)",
    marks: &[GenkitKey::Messages.key()],
    near: &[],
    object: |object| objects_of(list_of(object, GenkitKey::Messages).unwrap_or_default()).any(is_message),
    item_marks: &[GenkitKey::Role.key()],
    element: is_message,
    line: is_message,
    beside: |message| text_of(message, GenkitKey::Role).is_some() && list_of(message, GenkitKey::Content).is_some(),
    record_ids: RecordIds::of_call(&[&[GenkitKey::Content.key(), GenkitPart::Call.key(), GenkitKey::Id.key()]]),
    read: read_run,
    ..IN_FULL
};

fn is_message(message: Object<'_>) -> bool {
    let is_tool =
        |part: Object<'_>| [GenkitPart::Call, GenkitPart::Result].into_iter().any(|key| object_of(part, key).is_some());
    text_of(message, GenkitKey::Role).is_some()
        && objects_of(list_of(message, GenkitKey::Content).unwrap_or_default()).any(is_tool)
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    read_messages(items_of(root, &[GenkitKey::Messages]), builder, view_message, classify_part).finish_run();
    Ok(())
}

fn view_message(message: Object<'_>) -> Option<ListedMessage<'_>> {
    let word = text_of(message, GenkitKey::Role)?;
    let role = GenkitRole::from_key(word).map_or_else(|| MessageRole::from_key(word), |_| Some(MessageRole::Assistant));
    Some(ListedMessage { role, contents: vec![value_of(message, GenkitKey::Content)?], ..ListedMessage::default() })
}

fn classify_part(part: Object<'_>) -> ContentBlock<'_> {
    let known = part.entries().iter().filter_map(|entry| Some((GenkitPart::from_key(entry.key)?, entry.node)));
    match known.into_iter().find(|(kind, _)| *kind != GenkitPart::About) {
        Some((GenkitPart::Text, words)) => ContentBlock::Says(words),
        Some((GenkitPart::Thought, words)) => ContentBlock::Thinks(words),
        Some((GenkitPart::Call, held)) => node_object(held).map_or(ContentBlock::Unknown, |call| {
            let [tool, args, id] = [GenkitKey::Name, GenkitKey::Input, GenkitKey::Id].map(|key| value_of(call, key));
            ContentBlock::Calls(BlockCall { tool, args, id, answer: None })
        }),
        Some((GenkitPart::Result, held)) => node_object(held).map_or(ContentBlock::Unknown, |given| {
            ContentBlock::Answers(BlockResult {
                id: text_of(given, GenkitKey::Id),
                result: value_of(given, GenkitKey::Output),
                is_value: true,
                status: Some(StepStatus::Unknown),
                ..BlockResult::default()
            })
        }),
        Some((GenkitPart::Silent | GenkitPart::About, _)) => ContentBlock::Silent,
        None => ContentBlock::Unknown,
    }
}
