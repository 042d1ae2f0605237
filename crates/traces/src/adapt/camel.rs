//! CAMEL: records of an agent's memory, one a line. A message of the class for functions is a call, or what a function gave.

use super::blocks::{self, BlockCall, BlockResult};
use super::conversation::instant_node;
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::listed_messages::{ListedMessage, read_messages};
use super::messages::MessageRole;
use super::nodes::{node_text, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::run::StepStatus;

key_table! {
    CamelKey {
        Role = "role_at_backend",
        Message = "message",
        Id = "uuid",
        Time = "timestamp",
        Content = "content",
        Tool = "func_name",
        Args = "args",
        Result = "result",
        Call = "tool_call_id",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "CAMEL memory",
    known_by: "records with `role_at_backend` and a `message`",
    description: "records of the memory of CAMEL's agents (one a line, or a list)",
    marks: &[CamelKey::Role.key()],
    object: is_record,
    item_marks: &[CamelKey::Role.key()],
    element: is_record,
    line: is_record,
    record_ids: RecordIds::unique(&[&[CamelKey::Id.key()]]),
    read: read_run,
    ..IN_FULL
};

fn is_record(record: Object<'_>) -> bool {
    record.field(CamelKey::Role).is_some() && object_of(record, CamelKey::Message).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let view = |record: Object<'run>| {
        let message = object_of(record, CamelKey::Message)?;
        let role = text_of(record, CamelKey::Role).and_then(MessageRole::from_key);
        let tool = value_of(message, CamelKey::Tool);
        let id = value_of(message, CamelKey::Call);
        let answer = BlockResult {
            id: id.and_then(node_text),
            result: value_of(message, CamelKey::Result).or_else(|| value_of(message, CamelKey::Content)),
            is_value: true,
            failed: false,
            status: Some(StepStatus::Unknown),
        };
        let call = tool.filter(|_| role == Some(MessageRole::Assistant)).map(|tool| {
            (tool, BlockCall { tool: Some(tool), args: value_of(message, CamelKey::Args), id, answer: None })
        });
        let is_said = |content: &Node<'run>| node_text(*content) != Some("");
        Some(ListedMessage {
            role,
            contents: value_of(message, CamelKey::Content).filter(is_said).into_iter().collect(),
            calls: call.into_iter().collect(),
            result: (role == Some(MessageRole::Result)).then_some(answer),
            tool: tool.and_then(node_text),
            time: value_of(record, CamelKey::Time).and_then(instant_node),
            agent: None,
        })
    };
    let items = match root.value {
        Value::List(items) => items,
        _ => std::slice::from_ref(root),
    };
    read_messages(items, builder, view, blocks::classify_block).finish_run();
    Ok(())
}
