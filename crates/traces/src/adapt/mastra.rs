//! Messages as Mastra stores them (versions 2 and 3): the parts stand in the content, with the calls that they hold. In version 2 a call has a
//! result whether it went well or not: where the tool or its check failed, the words of the error are the result. Rows of a store hold the
//! content as the text of its JSON.

use super::block_session::{self, UserWords};
use super::blocks::{self, BlockCall, BlockResult, ContentBlock};
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall, instant_node};
use super::fields::{FieldRecord as _, NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::MessageRole;
use super::nodes::{items_of, list_of, node_list, node_object, node_text, object_items, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_step;
use averment_runs::run::StepStatus;

key_table! {
    MastraKey {
        Messages = "messages",
        Role = "role",
        Content = "content",
        Version = "format",
        Parts = "parts",
        Time = "createdAt",
        Thread = "threadId",
        Type = "type",
        Thought = "reasoning",
        Details = "details",
        Text = "text",
        Invocation = "toolInvocation",
        Call = "toolCallId",
        State = "state",
        Error = "error",
        Result = "result",
        Tool = "toolName",
        Args = "args",
        Failed = "isError",
        /// What the tools of a sub-agent gave, in the result of the call that started it.
        Inner = "subAgentToolResults",
    }
}

key_table! {
    MastraPartType {
        Thought = "reasoning",
        Invocation = "tool-invocation",
        /// Where something was found.
        Source = "source",
    }
}

key_table! {
    MastraState {
        Result = "result",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Mastra messages",
    known_by: "messages whose `content` has a `format` and `parts`",
    description: "messages that Mastra stores (a list, one a line, `messages`)",
    marks: &[MastraKey::Messages.key(), MastraKey::Thread.key()],
    near: &[MastraKey::Thread.key()],
    object: |object| {
        is_message(object)
            || object_items(list_of(object, MastraKey::Messages).unwrap_or_default()).any(|(_, one)| is_message(one))
    },
    item_marks: &[MastraKey::Content.key()],
    element: is_message,
    line: is_message,
    read: read_run,
    ..IN_FULL
};

fn is_message(message: Object<'_>) -> bool {
    text_of(message, MastraKey::Role).is_some()
        && value_of(message, MastraKey::Content).is_some_and(|content| match node_text(content) {
            Some(text) => is_written_content(text),
            None => node_object(content).is_some_and(|content| {
                content.field(MastraKey::Version).is_some() && list_of(content, MastraKey::Parts).is_some()
            }),
        })
}

/// The text of an object with a `format` and `parts`.
fn is_written_content(text: &str) -> bool {
    let text = text.trim();
    let names = |key: MastraKey| {
        let mut places =
            text.match_indices(key.key()).filter_map(|(at, key)| text.get(..at).zip(text.get(at + key.len()..)));
        places.any(|(before, behind)| {
            before.ends_with('"') && behind.trim_start_matches('"').trim_start().starts_with(':')
        })
    };
    text.starts_with('{') && text.ends_with('}') && names(MastraKey::Version) && names(MastraKey::Parts)
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::from_parts(builder);
    for node in items_of(root, &[MastraKey::Messages]) {
        conversation.builder.count_record();
        let message = node_object(*node);
        let parts = message
            .and_then(|message| value_of(message, MastraKey::Content))
            .and_then(|content| {
                if node_text(content).is_some() { conversation.builder.open_json(content) } else { Some(content) }
            })
            .and_then(node_object)
            .and_then(|content| value_of(content, MastraKey::Parts));
        let (Some(message), Some(parts)) = (message, parts) else {
            conversation.builder.skip_value(node, "a message without parts is skipped");
            continue;
        };
        let role = conversation.builder.role_of(*node, text_of(message, MastraKey::Role));
        let speaker = Speaker::from_role(role);
        if role == Some(MessageRole::Assistant) {
            conversation.begin_turn();
        }
        let time = value_of(message, MastraKey::Time).and_then(instant_node);
        let meta = StepMeta { time, ..StepMeta::default() };
        // The result of a call may stand in another message, which tells the call once more.
        for part in node_list(parts).unwrap_or_default() {
            if !end_known(&mut conversation, *part, &meta) {
                block_session::add_content(&mut conversation, *part, speaker, &UserWords::PLAIN, &meta, classify_part);
            }
            let call = node_object(*part).filter(|part| part_type(*part) == Some(MastraPartType::Invocation));
            if let Some(call) = call.and_then(|part| object_of(part, MastraKey::Invocation)) {
                add_inner_calls(&mut conversation, call, &meta, 0);
            }
        }
    }
    conversation.finish_run();
    Ok(())
}

/// The calls of the sub-agent that a call started. A sub-agent may have its own.
fn add_inner_calls<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    outer: Object<'run>,
    meta: &StepMeta<'run>,
    depth: usize,
) {
    const DEEP: usize = 8;
    let Some(inner) = object_of(outer, MastraKey::Result).and_then(|result| list_of(result, MastraKey::Inner)) else {
        return;
    };
    let meta = StepMeta { agent: value_of(outer, MastraKey::Tool), aside: true, ..*meta };
    for (node, call) in conversation.builder.record_objects(inner) {
        if text_of(call, MastraKey::Call).is_some_and(|id| conversation.find_call(id).is_some()) {
            continue;
        }
        let made = ToolCall {
            tool: value_of(call, MastraKey::Tool).unwrap_or(Node::computed(Value::Null)),
            args: value_of(call, MastraKey::Args),
            id: value_of(call, MastraKey::Call),
            origin: node.origin,
        };
        let failed = is_true(&call, &NodeShapes, MastraKey::Failed);
        let status = Some(if failed { StepStatus::Failed } else { StepStatus::Unknown });
        let outcome = CallResult { result: value_of(call, MastraKey::Result), status, ..CallResult::default() };
        if let Some(step) = conversation.add_foreign_call(made, &meta) {
            conversation.end_within(step, outcome, &meta);
        }
        if depth < DEEP {
            add_inner_calls(conversation, call, &meta, depth + 1);
        } else if object_of(call, MastraKey::Result).is_some_and(|result| result.field(MastraKey::Inner).is_some()) {
            conversation.builder.skip_record(node.origin, "calls of agents inside of each other are skipped");
        }
    }
}

fn part_type(part: Object<'_>) -> Option<MastraPartType> {
    text_of(part, MastraKey::Type).and_then(MastraPartType::from_key)
}

fn classify_part(part: Object<'_>) -> ContentBlock<'_> {
    match part_type(part) {
        Some(MastraPartType::Thought) => thought_of(part).map_or(ContentBlock::Silent, ContentBlock::Thinks),
        Some(MastraPartType::Invocation) => match object_of(part, MastraKey::Invocation) {
            Some(call) => {
                let mut asked = blocks::page_invocation(call);
                if let Some(answer) = asked.answer.as_mut() {
                    answer.status = invocation_status(call, answer).or(answer.status);
                }
                ContentBlock::Calls(asked)
            }
            None => ContentBlock::Unknown,
        },
        Some(MastraPartType::Source) => ContentBlock::Silent,
        None => blocks::classify_block(part),
    }
}

/// Version 2 writes thoughts twice, or in their details alone; version 3 as a text.
fn thought_of(part: Object<'_>) -> Option<Node<'_>> {
    let said = |node: &Node<'_>| node_text(*node).is_some_and(|text| !text.is_empty());
    let details = || {
        let details = list_of(part, MastraKey::Details).unwrap_or_default();
        object_items(details).find_map(|(_, detail)| value_of(detail, MastraKey::Text).filter(said))
    };
    let whole = value_of(part, MastraKey::Thought).or_else(|| value_of(part, MastraKey::Text));
    whole.filter(said).or_else(details)
}

/// That there is a result says nothing; a result that says to be an error is one.
fn invocation_status(call: Object<'_>, answer: &BlockResult<'_>) -> Option<StepStatus> {
    text_of(call, MastraKey::State).and_then(MastraState::from_key)?;
    let error = answer.result.and_then(node_object).and_then(|result| value_of(result, MastraKey::Error));
    let failed = matches!(error.map(|error| error.value), Some(Value::Boolean(true)));
    Some(if failed { StepStatus::Failed } else { StepStatus::Unknown })
}

/// True where a part gives a call its result that an earlier message asked for.
fn end_known<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    meta: &StepMeta<'run>,
) -> bool {
    let Some(part) = node_object(node).filter(|part| part_type(*part) == Some(MastraPartType::Invocation)) else {
        return false;
    };
    let call = object_of(part, MastraKey::Invocation);
    let id = call.and_then(|call| text_of(call, MastraKey::Call));
    let Some(known) = id.and_then(|id| conversation.find_call(id)) else { return false };
    let answer = match classify_part(part) {
        ContentBlock::Calls(BlockCall { answer, .. }) => answer,
        _ => None,
    };
    // Models may give a later call the id that an earlier one had.
    let field = |key| conversation.builder.step_field(known, key);
    let differs = |told: Option<Node<'run>>, given: Option<Node<'run>>| {
        told.zip(given).is_some_and(|(told, given)| !values_equal(&told.value, &given.value))
    };
    let tool = call.and_then(|call| value_of(call, MastraKey::Tool));
    let result = answer.as_ref().and_then(|answer| answer.result);
    if differs(field(of_step::TOOL), tool) || differs(field(of_step::RESULT), result) {
        return false;
    }
    if let Some(answer) = answer {
        let outcome = block_session::outcome_of(conversation, &answer, None);
        conversation.end_within(known, outcome, meta);
    }
    true
}
