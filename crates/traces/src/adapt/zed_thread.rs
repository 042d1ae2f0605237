//! Zed: threads of its agent as its store holds them and as they are shared (a message names who speaks by its only key), and those
//! of older versions (`segments`, `tool_uses`).

use super::block_session::{self, UserWords};
use super::blocks::{self, ContentBlock};
use super::calls::TokenUsage;
use super::content;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::{BlockKey, MessageRole};
use super::nodes::{are_mostly, list_of, node_list, node_object, node_text, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Number, Object, Value};
use averment_runs::normal::{of_meta, of_usage};
use averment_runs::run::StepStatus;

key_table! {
    ZedKey {
        Messages = "messages",
        Updated = "updated_at",
        Usage = "cumulative_token_usage",
        Model = "model",
        /// The agent that gave the thread its task.
        Parent = "subagent_context",
    }
}

key_table! {
    ZedMessageKey {
        User = "User",
        Agent = "Agent",
        Content = "content",
        Results = "tool_results",
        Role = "role",
        Segments = "segments",
        Uses = "tool_uses",
        Text = "text",
    }
}

key_table! {
    /// Messages that are a word alone.
    ZedWord {
        /// The user let the agent go on.
        Silent = "Resume",
    }
}

key_table! {
    ZedPartKey {
        Text = "Text",
        Thinking = "Thinking",
        Use = "ToolUse",
        /// What the user pointed to: the program wrote it out.
        Mention = "Mention",
        /// Nothing that a rule reads.
        Silent = "Image" | "RedactedThinking",
    }
}

key_table! {
    ZedCallKey {
        Id = "id",
        Answers = "tool_use_id",
        Name = "name",
        Input = "input",
        Content = "content",
        Details = "output",
        Failed = "is_error",
    }
}

key_table! {
    ZedUsageKey {
        In = "input_tokens",
        Out = "output_tokens",
        CacheRead = "cache_read_input_tokens",
        CacheWrite = "cache_creation_input_tokens",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Zed thread",
    known_by: "`updated_at` beside `messages` that have `User` or `Agent` as their only key, or `segments` and `tool_uses`",
    description: "threads of Zed's agent (as JSON, also compressed by zstd)",
    marks: &[ZedKey::Updated.key()],
    near: &[ZedKey::Usage.key()],
    object: |object| {
        object.field(ZedKey::Updated).is_some()
            && list_of(object, ZedKey::Messages)
                .is_some_and(|list| are_mostly(list.iter().filter(|node| node_text(**node).is_none()), is_message))
    },
    read: read_run,
    ..IN_FULL
};

fn is_message(message: Object<'_>) -> bool {
    let tagged = [ZedMessageKey::User, ZedMessageKey::Agent];
    let has_content =
        |tag| object_of(message, tag).is_some_and(|inner| list_of(inner, ZedMessageKey::Content).is_some());
    message.entries().len() == 1 && tagged.into_iter().any(has_content) || is_older(message)
}

fn is_older(message: Object<'_>) -> bool {
    text_of(message, ZedMessageKey::Role).is_some()
        && message.field(ZedMessageKey::Segments).or_else(|| message.field(ZedMessageKey::Text)).is_some()
        && list_of(message, ZedMessageKey::Uses).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(thread) = node_object(root) else { return Ok(()) };
    let mut conversation = ConversationBuilder::from_parts(builder);
    if let Some(model) = value_of(thread, ZedKey::Model) {
        let name = node_object(model).and_then(|model| value_of(model, ZedKey::Model)).unwrap_or(model);
        conversation.add_meta(of_meta::MODEL, Some(name));
    }
    let asker = StepMeta { aside: value_of(thread, ZedKey::Parent).is_some(), ..StepMeta::default() };
    for node in list_of(thread, ZedKey::Messages).unwrap_or_default() {
        conversation.builder.count_record();
        if node_text(*node).and_then(ZedWord::from_key).is_some() {
            conversation.note_input();
            continue;
        }
        let Some(message) = node_object(*node).filter(|message| is_message(*message)) else {
            conversation.builder.skip_record(node.origin, "a message of no known kind is skipped");
            continue;
        };
        if let Some(said) = object_of(message, ZedMessageKey::User) {
            let content = value_of(said, ZedMessageKey::Content);
            add_content(&mut conversation, content, Speaker::User, &asker);
        } else if let Some(said) = object_of(message, ZedMessageKey::Agent) {
            conversation.begin_turn();
            add_content(
                &mut conversation,
                value_of(said, ZedMessageKey::Content),
                Speaker::Assistant,
                &StepMeta::default(),
            );
            let results = object_of(said, ZedMessageKey::Results);
            for entry in results.map(|results| results.entries()).unwrap_or_default() {
                add_result(&mut conversation, entry.node);
            }
        } else {
            add_older(&mut conversation, *node, message, &asker);
        }
    }
    add_usage(&mut conversation, thread);
    conversation.finish_with_tools();
    Ok(())
}

fn add_content<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    content: Option<Node<'run>>,
    speaker: Speaker,
    meta: &StepMeta<'run>,
) {
    for node in content.and_then(node_list).unwrap_or_default() {
        let part = node_object(*node);
        let held = |key| part.and_then(|part| value_of(part, key));
        let inside = |key, field| held(key).and_then(node_object).and_then(|inner| value_of(inner, field));
        if let Some(text) = held(ZedPartKey::Text) {
            conversation.add_message(speaker, text, meta, node.origin);
        } else if let Some(thought) = inside(ZedPartKey::Thinking, BlockKey::Text) {
            conversation.add_message(Speaker::Thinking, thought, meta, node.origin);
        } else if let Some(shown) = inside(ZedPartKey::Mention, BlockKey::Content) {
            conversation.add_message(Speaker::System, shown, meta, node.origin);
        } else if let Some(call) = held(ZedPartKey::Use).and_then(node_object) {
            add_call(conversation, *node, call);
        } else if held(ZedPartKey::Silent).is_none() {
            conversation.builder.skip_value(node, blocks::UNKNOWN);
        }
    }
}

fn add_call<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, call: Object<'run>) {
    let made = ToolCall {
        tool: call.field(ZedCallKey::Name).unwrap_or(Node::computed(Value::Null)),
        args: value_of(call, ZedCallKey::Input),
        id: call.field(ZedCallKey::Id),
        origin: node.origin,
    };
    conversation.add_call(made, &StepMeta::default());
}

fn add_result<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>) {
    let Some(answer) = node_object(node) else {
        return conversation.builder.skip_value(node, "a result that is no object is skipped");
    };
    let content = value_of(answer, ZedCallKey::Content).map(|content| result_text(content, conversation.builder));
    let failed = is_true(&answer, &NodeShapes, ZedCallKey::Failed);
    let is_refused = failed && content.and_then(node_text).is_some_and(|text| text.starts_with(REFUSAL));
    let status = match failed {
        _ if is_refused => StepStatus::Denied,
        true => StepStatus::Failed,
        false => StepStatus::Ok,
    };
    let details = value_of(answer, ZedCallKey::Details);
    let outcome = CallResult { result: content, status: Some(status), details, ..CallResult::default() };
    conversation.add_result(text_of(answer, ZedCallKey::Answers), None, outcome, &StepMeta::default(), node.origin);
}

/// What the program writes in place of a result where the user did not let the tool run. One that was stopped may have run.
const REFUSAL: &str = "Permission to run tool denied by user";

/// A text, a block with one, or a list of these.
fn result_text<'run>(content: Node<'run>, builder: &RunBuilder<'run, '_>) -> Node<'run> {
    let text_in = |node: &Node<'run>| match node.value {
        Value::Text(_) => Some(*node),
        _ => {
            let part = node_object(*node)?;
            value_of(part, ZedPartKey::Text).or_else(|| value_of(part, BlockKey::Text))
        }
    };
    let parts = node_list(content).unwrap_or(std::slice::from_ref(builder.arena.alloc(content)));
    let texts: Vec<Node<'run>> = parts.iter().filter_map(text_in).collect();
    content::join_texts(&texts, builder.arena).unwrap_or(content)
}

fn add_older<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    message: Object<'run>,
    asker: &StepMeta<'run>,
) {
    let role = conversation.builder.role_of(node, text_of(message, ZedMessageKey::Role));
    let speaker = Speaker::from_role(role);
    if role == Some(MessageRole::Assistant) {
        conversation.begin_turn();
    }
    let meta = if speaker == Speaker::User { *asker } else { StepMeta::default() };
    let segments = value_of(message, ZedMessageKey::Segments).or_else(|| value_of(message, ZedMessageKey::Text));
    if let Some(segments) = segments {
        block_session::add_content(conversation, segments, speaker, &UserWords::PLAIN, &meta, classify_segment);
    }
    for (at, call) in conversation.builder.record_objects(list_of(message, ZedMessageKey::Uses).unwrap_or_default()) {
        add_call(conversation, at, call);
    }
    for at in list_of(message, ZedMessageKey::Results).unwrap_or_default() {
        add_result(conversation, *at);
    }
}

/// Thoughts are a text here, and redacted ones have a name of their own.
fn classify_segment(segment: Object<'_>) -> ContentBlock<'_> {
    let kind = text_of(segment, BlockKey::Type);
    match blocks::classify_block(segment) {
        ContentBlock::Unknown if kind.and_then(ZedPartKey::from_key) == Some(ZedPartKey::Silent) => {
            ContentBlock::Silent
        }
        ContentBlock::Silent => match segment.field(BlockKey::Text) {
            Some(text) if kind == Some(averment_runs::normal::role::THINKING) => ContentBlock::Thinks(text),
            _ => ContentBlock::Silent,
        },
        known => known,
    }
}

/// Counts that are all 0 were never taken.
fn add_usage<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, thread: Object<'run>) {
    let Some(counts) = object_of(thread, ZedKey::Usage) else { return };
    let is_some = |node: &Node<'_>| matches!(node.value, Value::Number(count) if count != Number::Integer(0));
    let mut usage = TokenUsage::default();
    let found = [
        (of_usage::INPUT, ZedUsageKey::In),
        (of_usage::OUTPUT, ZedUsageKey::Out),
        (of_usage::CACHE_READ, ZedUsageKey::CacheRead),
        (of_usage::CACHE_WRITE, ZedUsageKey::CacheWrite),
    ];
    if found.iter().any(|(_, key)| value_of(counts, *key).as_ref().is_some_and(is_some)) {
        for (name, key) in found {
            usage.add_count(name, value_of(counts, key));
        }
        usage.count_cache_as_input();
        conversation.add_usage(&usage, None);
    }
}
