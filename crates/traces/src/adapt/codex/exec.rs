//! The events of `codex exec --json`: items as they start and end. It has no times.

use crate::adapt::calls::TokenUsage;
use crate::adapt::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use crate::adapt::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, key_table};
use crate::adapt::format::{IN_FULL, TraceFormat};
use crate::adapt::nodes::{first_of, items_of, list_of, node_object, object_items, object_of, text_of};
use crate::adapt::repeated_records::RecordIds;
use crate::adapt::run_builder::{RunBuilder, absent_node};
use crate::adapt::tools::ArgsKey;
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::{StepKind, StepStatus};
use rustc_hash::FxHashSet;

key_table! {
    ExecEventKey {
        Type = "type",
        Item = "item",
        Thread = "thread_id",
        Usage = "usage",
        Error = "error",
        Message = "message",
        Events = "events",
    }
}

key_table! {
    ExecItemKey {
        Id = "id",
        Type = "type",
        TypeBefore = "item_type",
        Words = "text",
        Command = "command",
        Output = "aggregated_output",
        ExitCode = "exit_code",
        Status = "status",
        Tool = "tool",
        Arguments = "arguments",
        Result = "result",
        Error = "error",
        Changes = "changes",
        Path = "path",
        Query = "query",
        Prompt = "prompt",
        Receivers = "receiver_thread_ids",
        States = "agents_states",
        Message = "message",
    }
}

key_table! {
    ExecEventType {
        Thread = "thread.started",
        Turn = "turn.started",
        Started = "item.started" | "item.updated",
        Completed = "item.completed",
        TurnEnd = "turn.completed",
        Failed = "turn.failed",
        /// May be recoverable, as a reconnect: the end of the turn tells.
        Error = "error",
    }
}

key_table! {
    ExecItemType {
        Said = "agent_message" | "assistant_message",
        Thought = "reasoning",
        Command = "command_execution",
        Change = "file_change",
        Mcp = "mcp_tool_call",
        Collab = "collab_tool_call",
        Search = "web_search",
        Silent = "todo_list" | "plan_update",
        Error = "error",
    }
}

key_table! {
    AgentState {
        Broken = "errored" | "not_found",
    }
}

key_table! {
    /// Tools for other agents that succeed however those ended.
    CollabTool {
        Close = "close_agent",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "codex exec events",
    known_by: "`item.started`, `item.completed`, `thread.started` or `turn.completed` events of Codex",
    description: "events of `codex exec --json` (one a line, or `events`)",
    marks: &[ExecEventKey::Events.key()],
    near: &[ExecEventKey::Thread.key()],
    object: |object| {
        list_of(object, ExecEventKey::Events)
            .is_some_and(|events| object_items(events).any(|(_, event)| is_event(event)))
    },
    item_marks: &[ExecEventKey::Item.key(), ExecEventKey::Thread.key()],
    element: is_event,
    line: is_event,
    record_ids: RecordIds::of_run(&[&[ExecEventKey::Thread.key()]]),
    read: read_run,
    ..IN_FULL
};

fn is_event(event: Object<'_>) -> bool {
    match text_of(event, ExecEventKey::Type).and_then(ExecEventType::from_key) {
        Some(ExecEventType::Thread) => text_of(event, ExecEventKey::Thread).is_some(),
        Some(ExecEventType::Started | ExecEventType::Completed) => {
            object_of(event, ExecEventKey::Item).and_then(type_of).is_some()
        }
        _ => false,
    }
}

fn type_of(item: Object<'_>) -> Option<&str> {
    first_of(item, &[ExecItemKey::Type, ExecItemKey::TypeBefore]).and_then(crate::adapt::nodes::node_text)
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let events = items_of(root, &[ExecEventKey::Events]);
    let mut conversation = ConversationBuilder::new(builder);
    let (mut seen, mut wrong) = (FxHashSet::default(), None);
    for node in events {
        conversation.builder.count_record();
        let event = node_object(*node);
        let kind = event.and_then(|event| text_of(event, ExecEventKey::Type)).and_then(ExecEventType::from_key);
        let (Some(event), Some(kind)) = (event, kind) else {
            conversation.builder.skip_value(node, "an event of unknown type is skipped");
            continue;
        };
        match kind {
            ExecEventType::Thread => conversation.builder.set_some(of_run::ID, event.field(ExecEventKey::Thread)),
            ExecEventType::Turn => {}
            ExecEventType::Started | ExecEventType::Completed => {
                if let Some((node, item)) =
                    event.field(ExecEventKey::Item).and_then(|node| Some((node, node_object(node)?)))
                {
                    read_item(&mut conversation, node, item, kind == ExecEventType::Completed, &mut seen);
                }
            }
            ExecEventType::TurnEnd => {
                wrong = None;
                if let Some(counts) = object_of(event, ExecEventKey::Usage) {
                    let mut usage = TokenUsage::default();
                    usage.add_usage(counts);
                    conversation.usage.merge_usage(&usage);
                }
            }
            ExecEventType::Failed | ExecEventType::Error => {
                wrong = first_of(event, &[ExecEventKey::Error, ExecEventKey::Message]).or(wrong);
            }
        }
    }
    conversation.builder.set_some(of_run::ERROR, wrong);
    conversation.finish_with_tools();
    Ok(())
}

fn read_item<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    item: Object<'run>,
    is_over: bool,
    seen: &mut FxHashSet<&'run str>,
) {
    let meta = StepMeta::default();
    let Some(kind) = type_of(item).and_then(ExecItemType::from_key) else {
        let word = type_of(item).unwrap_or_default();
        conversation.builder.skip_value(node, format!("an item of unknown type `{word}` is skipped"));
        return;
    };
    let words = item.field(ExecItemKey::Words);
    match kind {
        ExecItemType::Said if is_over => {
            words.into_iter().for_each(|words| conversation.add_message(Speaker::Assistant, words, &meta, node.origin))
        }
        ExecItemType::Thought if is_over => {
            words.into_iter().for_each(|words| conversation.add_message(Speaker::Thinking, words, &meta, node.origin))
        }
        ExecItemType::Command
        | ExecItemType::Change
        | ExecItemType::Mcp
        | ExecItemType::Collab
        | ExecItemType::Search => {
            let id = text_of(item, ExecItemKey::Id);
            if id.is_none_or(|id| seen.insert(id)) {
                add_call(conversation, node, item, kind);
            }
            if is_over {
                end_call(conversation, node, item, id, kind);
                if kind == ExecItemType::Change {
                    add_changes(conversation, node, item);
                }
            }
        }
        ExecItemType::Said | ExecItemType::Thought | ExecItemType::Silent | ExecItemType::Error => {}
    }
}

fn add_call<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    item: Object<'run>,
    kind: ExecItemType,
) {
    let of = |conversation: &ConversationBuilder<'_, 'run, '_>, key: &'static str, field: ExecItemKey| {
        item.field(field).map(|node| conversation.builder.object_node(&[ObjectEntry { key, node }]))
    };
    let word = || first_of(item, &[ExecItemKey::Type, ExecItemKey::TypeBefore]);
    let (tool, args) = match kind {
        ExecItemType::Mcp => (item.field(ExecItemKey::Tool), item.field(ExecItemKey::Arguments)),
        ExecItemType::Collab => (item.field(ExecItemKey::Tool), Some(collab_arguments(conversation, item))),
        ExecItemType::Command => (word(), of(conversation, ArgsKey::Command.key(), ExecItemKey::Command)),
        ExecItemType::Change => (word(), of(conversation, ExecItemKey::Changes.key(), ExecItemKey::Changes)),
        _ => (word(), of(conversation, ExecItemKey::Query.key(), ExecItemKey::Query)),
    };
    let tool = tool.unwrap_or(Node::computed(Value::Null));
    conversation
        .add_call(ToolCall { tool, args, id: item.field(ExecItemKey::Id), origin: node.origin }, &StepMeta::default());
}

fn collab_arguments<'run>(conversation: &ConversationBuilder<'_, 'run, '_>, item: Object<'run>) -> Node<'run> {
    let says = |node: &Node<'run>| !matches!(node.value, Value::Null | Value::List([]));
    let entry = |of: ExecItemKey| Some(ObjectEntry { key: of.key(), node: item.field(of).filter(says)? });
    let entries: Vec<_> = [ExecItemKey::Prompt, ExecItemKey::Receivers].into_iter().filter_map(entry).collect();
    conversation.builder.object_node(&entries)
}

/// A failed agent's message, if a call is about one.
fn agent_failure(item: Object<'_>) -> Option<Node<'_>> {
    let closes = text_of(item, ExecItemKey::Tool).and_then(CollabTool::from_key) == Some(CollabTool::Close);
    let states = object_of(item, ExecItemKey::States).filter(|_| !closes)?.entries();
    let state = states.iter().filter_map(|entry| node_object(entry.node));
    let mut wrong = state.filter(|state| text_of(*state, ExecItemKey::Status).and_then(AgentState::from_key).is_some());
    wrong.find_map(|state| first_of(state, &[ExecItemKey::Message, ExecItemKey::Status]))
}

fn end_call<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    item: Object<'run>,
    id: Option<&'run str>,
    kind: ExecItemType,
) {
    let known = |field| item.field(field).filter(|node| !NodeShapes.has_shape(*node, ValueShape::Null));
    let status = text_of(item, ExecItemKey::Status)
        .and_then(StepStatus::from_word)
        .filter(|status| *status != StepStatus::Unknown);
    let broken = agent_failure(item);
    let status = broken.map(|_| StepStatus::Failed).or(status);
    let outcome = CallResult {
        result: known(ExecItemKey::Output).or(known(ExecItemKey::Result)).or(known(ExecItemKey::States)),
        error: known(ExecItemKey::Error).or(broken),
        exit_code: known(ExecItemKey::ExitCode).filter(|code| NodeShapes.has_shape(*code, ValueShape::Number)),
        status,
        ..CallResult::default()
    };
    let call = conversation.add_result(id, None, outcome, &StepMeta::default(), node.origin);
    // What was found, and what a patch gave, is never told.
    if let Some(call) =
        call.filter(|_| matches!(kind, ExecItemType::Change | ExecItemType::Search) && outcome.result.is_none())
    {
        conversation.builder.set_field(call, of_step::RESULT, absent_node());
    }
}

fn add_changes<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, item: Object<'run>) {
    let status = text_of(item, ExecItemKey::Status).and_then(StepStatus::from_word);
    if matches!(status, Some(StepStatus::Failed | StepStatus::Denied)) {
        return;
    }
    for (at, change) in conversation.builder.record_objects(list_of(item, ExecItemKey::Changes).unwrap_or_default()) {
        let path = change.field(ExecItemKey::Path).filter(|path| NodeShapes.is_text(*path));
        if path.is_none() {
            conversation.builder.skip_record(at.origin, "a change without `path` is skipped");
        }
        if let Some(path) = path {
            let mut fields = vec![
                ObjectEntry { key: of_step::PATH, node: path },
                ObjectEntry { key: of_step::TURN, node: conversation.turn_node() },
            ];
            let known = status.filter(|status| *status != StepStatus::Unknown).and(item.field(ExecItemKey::Status));
            fields.extend(known.map(|node| ObjectEntry { key: of_step::STATUS, node }));
            conversation.builder.add_step(StepKind::Write, fields, node.origin);
        }
    }
}
