//! The events of `codex exec --json`: items as they start and end. It has no times.

use crate::adapt::calls::Usage;
use crate::adapt::draft::Draft;
use crate::adapt::fields::{Parsed, Record, Shape, Shapes, key_table};
use crate::adapt::format::{Format, IN_FULL};
use crate::adapt::nodes::{first_of, items_of, list_of, object, object_of, objects, text_of};
use crate::adapt::talk::{About, Made, Outcome, Speaker, Talk};
use crate::adapt::tools::OfArgs;
use crate::build::word_status;
use averment_base::value::{Entry, Node, Object, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::{Kind, Status};
use rustc_hash::FxHashSet;

key_table! {
    /// An event.
    OfEvent {
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
    /// An item.
    OfItem {
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
    /// The types of events.
    EventType {
        Thread = "thread.started",
        Turn = "turn.started",
        Started = "item.started" | "item.updated",
        Completed = "item.completed",
        TurnEnd = "turn.completed",
        Failed = "turn.failed",
        /// It may be one that the program gets over, as a connection that it opens again: the end of the turn tells.
        Error = "error",
    }
}

key_table! {
    /// The types of items.
    ItemType {
        Said = "agent_message" | "assistant_message",
        Thought = "reasoning",
        Command = "command_execution",
        Change = "file_change",
        Mcp = "mcp_tool_call",
        /// What is done with other agents.
        Collab = "collab_tool_call",
        Search = "web_search",
        Silent = "todo_list" | "plan_update",
        Error = "error",
    }
}

key_table! {
    /// The states of an agent that went wrong.
    AgentState {
        Broken = "errored" | "not_found",
    }
}

key_table! {
    /// The tools for other agents that go well however these ended.
    CollabTool {
        Close = "close_agent",
    }
}

/// `codex exec --json`.
pub(crate) const FORMAT: Format = Format {
    name: "codex exec events",
    known_by: "`item.started`, `item.completed`, `thread.started` or `turn.completed` events of Codex",
    description: "events of `codex exec --json` (one a line, or `events`)",
    marks: &[OfEvent::Events.key()],
    near: &[OfEvent::Thread.key()],
    object: |object| {
        list_of(object, OfEvent::Events).is_some_and(|events| objects(events).any(|(_, event)| is_event(event)))
    },
    item_marks: &[OfEvent::Item.key(), OfEvent::Thread.key()],
    element: is_event,
    line: is_event,
    read,
    ..IN_FULL
};

fn is_event(event: Object<'_>) -> bool {
    match text_of(event, OfEvent::Type).and_then(EventType::from_key) {
        Some(EventType::Thread) => text_of(event, OfEvent::Thread).is_some(),
        Some(EventType::Started | EventType::Completed) => object_of(event, OfEvent::Item).and_then(type_of).is_some(),
        _ => false,
    }
}

fn type_of(item: Object<'_>) -> Option<&str> {
    first_of(item, &[OfItem::Type, OfItem::TypeBefore]).and_then(crate::adapt::nodes::text)
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let root = draft.arena.alloc(root);
    let events = items_of(root, &[OfEvent::Events]);
    let mut talk = Talk::new(draft);
    let (mut seen, mut wrong) = (FxHashSet::default(), None);
    for node in events {
        talk.draft.record();
        let event = object(*node);
        let kind = event.and_then(|event| text_of(event, OfEvent::Type)).and_then(EventType::from_key);
        let (Some(event), Some(kind)) = (event, kind) else {
            talk.draft.not_understood(node.origin, "an event of unknown type is passed over");
            continue;
        };
        match kind {
            EventType::Thread => talk.draft.set_some(of_run::ID, event.field(OfEvent::Thread)),
            EventType::Turn => {}
            EventType::Started | EventType::Completed => {
                if let Some((node, item)) = event.field(OfEvent::Item).and_then(|node| Some((node, object(node)?))) {
                    of_item(&mut talk, node, item, kind == EventType::Completed, &mut seen);
                }
            }
            EventType::TurnEnd => {
                wrong = None;
                if let Some(counts) = object_of(event, OfEvent::Usage) {
                    let mut usage = Usage::default();
                    usage.add(counts);
                    talk.usage.join(&usage);
                }
            }
            EventType::Failed | EventType::Error => {
                wrong = first_of(event, &[OfEvent::Error, OfEvent::Message]).or(wrong);
            }
        }
    }
    talk.draft.set_some(of_run::ERROR, wrong);
    talk.finish_with_tools();
    Ok(())
}

fn of_item<'run>(
    talk: &mut Talk<'_, 'run, '_>,
    node: Node<'run>,
    item: Object<'run>,
    is_over: bool,
    seen: &mut FxHashSet<&'run str>,
) {
    let about = About::default();
    let Some(kind) = type_of(item).and_then(ItemType::from_key) else {
        let word = type_of(item).unwrap_or_default();
        talk.draft.not_understood(node.origin, format!("an item of unknown type `{word}` is passed over"));
        return;
    };
    let words = item.field(OfItem::Words);
    match kind {
        ItemType::Said if is_over => {
            words.into_iter().for_each(|words| talk.say(Speaker::Assistant, words, &about, node.origin))
        }
        ItemType::Thought if is_over => {
            words.into_iter().for_each(|words| talk.say(Speaker::Thinking, words, &about, node.origin))
        }
        ItemType::Command | ItemType::Change | ItemType::Mcp | ItemType::Collab | ItemType::Search => {
            let id = text_of(item, OfItem::Id);
            if id.is_none_or(|id| seen.insert(id)) {
                call(talk, node, item, kind);
            }
            if is_over {
                end(talk, node, item, id);
                if kind == ItemType::Change {
                    changes(talk, node, item);
                }
            }
        }
        ItemType::Said | ItemType::Thought | ItemType::Silent | ItemType::Error => {}
    }
}

fn call<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, item: Object<'run>, kind: ItemType) {
    let of = |talk: &Talk<'_, 'run, '_>, key: &'static str, field: OfItem| {
        item.field(field).map(|node| talk.draft.object(&[Entry { key, node }]))
    };
    let word = || first_of(item, &[OfItem::Type, OfItem::TypeBefore]);
    let (tool, args) = match kind {
        ItemType::Mcp => (item.field(OfItem::Tool), item.field(OfItem::Arguments)),
        ItemType::Collab => (item.field(OfItem::Tool), Some(told(talk, item))),
        ItemType::Command => (word(), of(talk, OfArgs::Command.key(), OfItem::Command)),
        ItemType::Change => (word(), of(talk, OfItem::Changes.key(), OfItem::Changes)),
        _ => (word(), of(talk, OfItem::Query.key(), OfItem::Query)),
    };
    let tool = tool.unwrap_or(Node::computed(Value::Null));
    talk.call(Made { tool, args, id: item.field(OfItem::Id), origin: node.origin }, &About::default());
}

/// What another agent is told, and which one.
fn told<'run>(talk: &Talk<'_, 'run, '_>, item: Object<'run>) -> Node<'run> {
    let says = |node: &Node<'run>| !matches!(node.value, Value::Null | Value::List([]));
    let entry = |of: OfItem| Some(Entry { key: of.key(), node: item.field(of).filter(says)? });
    let entries: Vec<_> = [OfItem::Prompt, OfItem::Receivers].into_iter().filter_map(entry).collect();
    talk.draft.object(&entries)
}

/// What an agent that went wrong says, where a call is told of one.
fn broken(item: Object<'_>) -> Option<Node<'_>> {
    let closes = text_of(item, OfItem::Tool).and_then(CollabTool::from_key) == Some(CollabTool::Close);
    let states = object_of(item, OfItem::States).filter(|_| !closes)?.entries();
    let state = states.iter().filter_map(|entry| object(entry.node));
    let mut wrong = state.filter(|state| text_of(*state, OfItem::Status).and_then(AgentState::from_key).is_some());
    wrong.find_map(|state| first_of(state, &[OfItem::Message, OfItem::Status]))
}

fn end<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, item: Object<'run>, id: Option<&'run str>) {
    let known = |field| item.field(field).filter(|node| !Parsed.is(*node, Shape::Null));
    let status = text_of(item, OfItem::Status).and_then(word_status).filter(|status| *status != Status::Unknown);
    let broken = broken(item);
    let status = broken.map(|_| Status::Failed).or(status);
    let outcome = Outcome {
        result: known(OfItem::Output).or(known(OfItem::Result)).or(known(OfItem::States)),
        error: known(OfItem::Error).or(broken),
        exit_code: known(OfItem::ExitCode).filter(|code| Parsed.is(*code, Shape::Number)),
        status,
        ..Outcome::default()
    };
    talk.answer(id, None, outcome, &About::default(), node.origin);
}

/// The files of a change that was made.
fn changes<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, item: Object<'run>) {
    let status = text_of(item, OfItem::Status).and_then(word_status);
    if matches!(status, Some(Status::Failed | Status::Denied)) {
        return;
    }
    for (_, change) in talk.draft.objects(list_of(item, OfItem::Changes).unwrap_or_default()) {
        if let Some(path) = change.field(OfItem::Path).filter(|path| Parsed.is_text(*path)) {
            let mut fields =
                vec![Entry { key: of_step::PATH, node: path }, Entry { key: of_step::TURN, node: talk.turn() }];
            let known = status.filter(|status| *status != Status::Unknown).and(item.field(OfItem::Status));
            fields.extend(known.map(|node| Entry { key: of_step::STATUS, node }));
            talk.draft.step(Kind::Write, fields, node.origin);
        }
    }
}
