//! Letta's agent files (`.af`): the messages of each agent as they are stored. Each agent is a run.

use super::block_session;
use super::blocks::{BlockCall, BlockResult};
use super::content;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, instant_node};
use super::cutting::RunCutting;
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::ToolCallKey;
use super::nodes::{list_of, node_object, node_text, object_items, object_of, text_of};
use super::run_builder::RunBuilder;
use super::unknown::UNKNOWN_ROLE;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::{StepKind, StepStatus};
use rustc_hash::FxHashSet;

key_table! {
    AgentFileKey {
        Agents = "agents",
        InContext = "in_context_message_ids",
        Messages = "messages",
        Id = "id",
        Role = "role",
        Content = "content",
        Calls = "tool_calls",
        Answers = "tool_call_id",
        Results = "tool_returns",
        Given = "func_response",
        Status = "status",
        Time = "created_at",
        Type = "type",
        Text = "text",
        Thought = "reasoning",
        Decided = "approve",
    }
}

key_table! {
    AgentFileRole {
        User = "user",
        System = "system" | "summary",
        Assistant = "assistant",
        Result = "tool",
        /// A call that waits for a person, and what the person said.
        Approval = "approval",
    }
}

key_table! {
    AgentFileBlock {
        Text = "text",
        Thought = "reasoning",
        /// The same stands beside the content.
        Beside = "tool_call" | "tool_return",
        Silent = "image" | "redacted_reasoning" | "omitted_reasoning" | "summarized_reasoning",
    }
}

key_table! {
    AgentFileStatus {
        Ok = "success",
        Failed = "error",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Letta agent file",
    known_by: "`agents` with `messages` and `in_context_message_ids`",
    description: "agent files of Letta (`.af`: `agents` with `messages`)",
    marks: &[AgentFileKey::InContext.key(), AgentFileKey::Agents.key()],
    near: &[AgentFileKey::InContext.key()],
    object: |object| {
        is_agent(object)
            || list_of(object, AgentFileKey::Agents)
                .is_some_and(|agents| object_items(agents).any(|(_, one)| is_agent(one)))
    },
    read: read_run,
    runs: &[RunCutting { within: &[], way: &[AgentFileKey::Agents.keys()], by: &[], keeps: &[], joins: None }],
    ..IN_FULL
};

fn is_agent(object: Object<'_>) -> bool {
    list_of(object, AgentFileKey::InContext).is_some() && list_of(object, AgentFileKey::Messages).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let agents = node_object(root).and_then(|file| list_of(file, AgentFileKey::Agents));
    let agent = match agents {
        Some([only]) => node_object(*only),
        Some(_) => None,
        None => node_object(root),
    };
    let Some(agent) = agent else {
        builder.skip_record(root.origin, "of several agents in one run nobody knows whose messages are whose");
        return Ok(());
    };
    builder.set_some(of_run::ID, value_of(agent, AgentFileKey::Id).filter(|id| node_text(*id).is_some()));
    let mut conversation = ConversationBuilder::from_parts(builder);
    let mut known = FxHashSet::default();
    for node in list_of(agent, AgentFileKey::Messages).unwrap_or_default() {
        conversation.builder.count_record();
        match node_object(*node) {
            Some(message) => {
                known.extend(text_of(message, AgentFileKey::Id));
                add_message(&mut conversation, *node, message);
            }
            None => conversation.builder.skip_value(node, "what is no message is skipped"),
        }
    }
    let builder = conversation.finish_run();
    let in_context = list_of(agent, AgentFileKey::InContext).unwrap_or_default();
    if in_context.iter().filter_map(|id| node_text(*id)).any(|id| !known.contains(id)) {
        builder.skip_record(root.origin, "messages that the agent had before it are not in the file");
    }
    Ok(())
}

fn add_message<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, message: Object<'run>) {
    let time = value_of(message, AgentFileKey::Time).and_then(instant_node);
    let meta = StepMeta { time, ..StepMeta::default() };
    let Some(role) = text_of(message, AgentFileKey::Role).and_then(AgentFileRole::from_key) else {
        return conversation.builder.note_unknown(node.origin, UNKNOWN_ROLE);
    };
    let calls = list_of(message, AgentFileKey::Calls).unwrap_or_default();
    match role {
        AgentFileRole::Result => return add_results(conversation, node, message, &meta),
        AgentFileRole::Approval if calls.is_empty() => return decide(conversation, node, message),
        AgentFileRole::Assistant | AgentFileRole::Approval => conversation.begin_turn(),
        AgentFileRole::User | AgentFileRole::System => {}
    }
    add_words(conversation, node, message, role, &meta);
    for (at, call) in conversation.builder.record_objects(calls) {
        let function = object_of(call, ToolCallKey::Function).unwrap_or(call);
        let id = call.field(ToolCallKey::Id);
        let waits = role == AgentFileRole::Approval;
        let pending = BlockResult { status: Some(StepStatus::Pending), ..BlockResult::default() };
        let made = BlockCall {
            tool: function.field(ToolCallKey::Name),
            args: function.field(ToolCallKey::Arguments),
            id,
            answer: waits.then_some(pending),
        };
        block_session::add_call(conversation, at, made, &meta);
    }
}

fn add_words<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    message: Object<'run>,
    role: AgentFileRole,
    meta: &StepMeta<'run>,
) {
    let speaker = match role {
        AgentFileRole::Assistant | AgentFileRole::Approval => Speaker::Assistant,
        AgentFileRole::User => Speaker::User,
        AgentFileRole::System | AgentFileRole::Result => Speaker::System,
    };
    let Some(content) = value_of(message, AgentFileKey::Content) else { return };
    let Some(parts) = super::nodes::node_list(content) else {
        return conversation.add_message(speaker, content, meta, node.origin);
    };
    for (at, part) in conversation.builder.record_objects(parts) {
        let words = value_of(part, AgentFileKey::Text).or_else(|| value_of(part, AgentFileKey::Thought));
        match (text_of(part, AgentFileKey::Type).and_then(AgentFileBlock::from_key), words) {
            (Some(AgentFileBlock::Text), Some(words)) => {
                // The program tells of logins and heartbeats in the user's name, as JSON with a type.
                let of_program = super::letta::is_event_text(node_text(words).unwrap_or_default());
                let speaker = if of_program && speaker == Speaker::User { Speaker::System } else { speaker };
                conversation.add_message(speaker, words, meta, at.origin);
            }
            (Some(AgentFileBlock::Thought), Some(words)) => {
                conversation.add_message(Speaker::Thinking, words, meta, at.origin);
            }
            (Some(_), _) => {}
            (None, _) => conversation.builder.note_unknown(at.origin, super::blocks::UNKNOWN),
        }
    }
}

/// Older messages have one result, in their content; newer ones a list of them.
fn add_results<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    message: Object<'run>,
    meta: &StepMeta<'run>,
) {
    let own = text_of(message, AgentFileKey::Answers);
    let whole = value_of(message, AgentFileKey::Content)
        .map(|content| content::content_text(content, conversation.builder.arena).unwrap_or(content));
    let listed: Vec<_> =
        conversation.builder.record_objects(list_of(message, AgentFileKey::Results).unwrap_or_default()).collect();
    let all = if listed.is_empty() { vec![(node, message)] } else { listed };
    for (at, given) in all {
        let status = match text_of(given, AgentFileKey::Status).and_then(AgentFileStatus::from_key) {
            Some(AgentFileStatus::Ok) => StepStatus::Ok,
            Some(AgentFileStatus::Failed) => StepStatus::Failed,
            None => StepStatus::Unknown,
        };
        let answer = BlockResult {
            id: text_of(given, AgentFileKey::Answers).or(own),
            result: value_of(given, AgentFileKey::Given).or(whole),
            is_value: true,
            status: Some(status),
            ..BlockResult::default()
        };
        block_session::add_result(conversation, at, &answer, None, meta);
    }
}

/// What a person decided about the calls that wait.
fn decide<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, message: Object<'run>) {
    let status = match value_of(message, AgentFileKey::Decided).map(|decided| decided.value) {
        Some(Value::Boolean(true)) => StepStatus::Unknown,
        Some(Value::Boolean(false)) => StepStatus::Denied,
        _ => return conversation.builder.skip_record(node.origin, "a decision without its answer is skipped"),
    };
    for call in conversation.builder.steps_of_kind(StepKind::Call) {
        let word = conversation.builder.step_field(call, of_step::STATUS).and_then(node_text);
        if word == StepStatus::Pending.as_str() {
            let outcome = CallResult { status: Some(status), ..CallResult::default() };
            conversation.end_call(call, outcome, &StepMeta::default());
        }
    }
}
