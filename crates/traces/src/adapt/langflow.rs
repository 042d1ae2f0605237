//! Langflow: messages of a chat with its flows. What an agent did stands in blocks of the answer, each tool with what it was given and
//! gave.

use super::blocks::{self, BlockCall, BlockResult, ContentBlock};
use super::cutting::RunCutting;
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::listed_messages::{ListedMessage, read_messages};
use super::messages::MessageRole;
use super::nodes::{list_of, node_list, node_object, objects_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use super::spans::ways;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::{StepKind, StepStatus};

key_table! {
    LangflowKey {
        Id = "id",
        Session = "session_id",
        Sender = "sender",
        Text = "text",
        Blocks = "content_blocks",
        Contents = "contents",
        Type = "type",
        Tool = "name",
        Given = "tool_input",
        Gave = "output",
        Error = "error",
    }
}

key_table! {
    LangflowSender {
        User = "User",
        Machine = "Machine" | "AI",
    }
}

key_table! {
    LangflowContent {
        Tool = "tool_use",
        /// What was asked and answered once more, and what is shown to people.
        Silent = "text" | "error" | "media" | "json" | "code",
    }
}

ways! {
    SESSION = [["session_id"]];
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Langflow messages",
    known_by: "messages with `sender`, `text` and `content_blocks`",
    description: "messages of Langflow's chats (a list, one a line), a run for each session",
    marks: &[LangflowKey::Blocks.key()],
    object: is_message,
    item_marks: &[LangflowKey::Blocks.key()],
    element: is_message,
    line: is_message,
    record_ids: RecordIds::updated(&[&[LangflowKey::Id.key()]]),
    read: read_run,
    runs: &[RunCutting { within: &[], way: &[], by: SESSION, keeps: &[], joins: None }],
    ..IN_FULL
};

fn is_message(message: Object<'_>) -> bool {
    list_of(message, LangflowKey::Blocks).is_some()
        && text_of(message, LangflowKey::Sender).is_some()
        && message.field(LangflowKey::Text).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let items = node_list(*root).unwrap_or(std::slice::from_ref(root));
    let first = items.iter().find_map(|node| node_object(*node));
    builder.set_some(of_run::ID, first.and_then(|message| value_of(message, LangflowKey::Session)));
    let blocks_of = |message| objects_of(list_of(message, LangflowKey::Blocks).unwrap_or_default());
    for message in items.iter().filter_map(|node| node_object(*node)) {
        for (node, block) in builder.known_objects(list_of(message, LangflowKey::Blocks).unwrap_or_default()) {
            if list_of(block, LangflowKey::Contents).is_none() {
                builder.note_unknown(node.origin, blocks::UNKNOWN);
            }
        }
    }
    // Only agents write down what they did.
    let is_of_agent = |node: &Node<'run>| node_object(*node).is_some_and(|message| blocks_of(message).next().is_some());
    let tells_calls = items.iter().any(is_of_agent);
    let view = |message: Object<'run>| {
        list_of(message, LangflowKey::Blocks)?;
        let role = match text_of(message, LangflowKey::Sender).and_then(LangflowSender::from_key) {
            Some(LangflowSender::User) => Some(MessageRole::User),
            Some(LangflowSender::Machine) => Some(MessageRole::Assistant),
            None => None,
        };
        let mut contents: Vec<_> =
            blocks_of(message).filter_map(|block| value_of(block, LangflowKey::Contents)).collect();
        contents.extend(value_of(message, LangflowKey::Text));
        // A time of its own making is none: `2026-03-01 10:00:00 UTC`.
        Some(ListedMessage { role, contents, ..ListedMessage::default() })
    };
    let builder = read_messages(items, builder, view, classify_content).finish_run();
    if !tells_calls {
        builder.warn_once(root.origin, "calls count as not recorded: no message has blocks of an agent".to_owned());
        builder.mark_unrecorded(StepKind::Call);
    }
    Ok(())
}

fn classify_content(content: Object<'_>) -> ContentBlock<'_> {
    match text_of(content, LangflowKey::Type).and_then(LangflowContent::from_key) {
        Some(LangflowContent::Tool) => {
            let error =
                value_of(content, LangflowKey::Error).filter(|error| !matches!(error.value, Value::Boolean(false)));
            let gave = value_of(content, LangflowKey::Gave).or(error);
            let status = if error.is_some() { StepStatus::Failed } else { StepStatus::Unknown };
            let answer =
                BlockResult { id: None, result: gave, is_value: true, failed: error.is_some(), status: Some(status) };
            ContentBlock::Calls(BlockCall {
                tool: value_of(content, LangflowKey::Tool),
                args: value_of(content, LangflowKey::Given),
                id: None,
                answer: gave.map(|_| answer),
            })
        }
        Some(LangflowContent::Silent) => ContentBlock::Silent,
        None => blocks::classify_block(content),
    }
}
