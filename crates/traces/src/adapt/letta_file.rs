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

fn read_run<'run>(root: Node<'run>, draft: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let agents = node_object(root).and_then(|file| list_of(file, AgentFileKey::Agents));
    let agent = match agents {
        Some([only]) => node_object(*only),
        Some(_) => None,
        None => node_object(root),
    };
    let Some(agent) = agent else {
        draft.skip_record(root.origin, "of several agents in one run nobody knows whose messages are whose");
        return Ok(());
    };
    draft.set_some(of_run::ID, value_of(agent, AgentFileKey::Id).filter(|id| node_text(*id).is_some()));
    let mut talk = ConversationBuilder::from_parts(draft);
    let mut known = FxHashSet::default();
    for node in list_of(agent, AgentFileKey::Messages).unwrap_or_default() {
        talk.draft.count_record();
        match node_object(*node) {
            Some(message) => {
                known.extend(text_of(message, AgentFileKey::Id));
                add_message(&mut talk, *node, message);
            }
            None => talk.draft.skip_value(node, "what is no message is passed over"),
        }
    }
    let draft = talk.finish_run();
    let in_context = list_of(agent, AgentFileKey::InContext).unwrap_or_default();
    if in_context.iter().filter_map(|id| node_text(*id)).any(|id| !known.contains(id)) {
        draft.skip_record(root.origin, "messages that the agent had before it are not in the file");
    }
    Ok(())
}

fn add_message<'run>(talk: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, message: Object<'run>) {
    let time = value_of(message, AgentFileKey::Time).and_then(instant_node);
    let about = StepMeta { time, ..StepMeta::default() };
    let Some(role) = text_of(message, AgentFileKey::Role).and_then(AgentFileRole::from_key) else {
        return talk.draft.note_unknown(node.origin, UNKNOWN_ROLE);
    };
    let calls = list_of(message, AgentFileKey::Calls).unwrap_or_default();
    match role {
        AgentFileRole::Result => return add_results(talk, node, message, &about),
        AgentFileRole::Approval if calls.is_empty() => return decide(talk, node, message),
        AgentFileRole::Assistant | AgentFileRole::Approval => talk.begin_turn(),
        AgentFileRole::User | AgentFileRole::System => {}
    }
    add_words(talk, node, message, role, &about);
    for (at, call) in talk.draft.record_objects(calls) {
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
        block_session::add_call(talk, at, made, &about);
    }
}

fn add_words<'run>(
    talk: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    message: Object<'run>,
    role: AgentFileRole,
    about: &StepMeta<'run>,
) {
    let speaker = match role {
        AgentFileRole::Assistant | AgentFileRole::Approval => Speaker::Assistant,
        AgentFileRole::User => Speaker::User,
        AgentFileRole::System | AgentFileRole::Result => Speaker::System,
    };
    let Some(content) = value_of(message, AgentFileKey::Content) else { return };
    let Some(parts) = super::nodes::node_list(content) else {
        return talk.add_message(speaker, content, about, node.origin);
    };
    for (at, part) in talk.draft.record_objects(parts) {
        let words = value_of(part, AgentFileKey::Text).or_else(|| value_of(part, AgentFileKey::Thought));
        match (text_of(part, AgentFileKey::Type).and_then(AgentFileBlock::from_key), words) {
            (Some(AgentFileBlock::Text), Some(words)) => {
                // The program tells of logins and heartbeats in the user's name, as JSON with a type.
                let of_program = super::letta::is_event_text(node_text(words).unwrap_or_default());
                let speaker = if of_program && speaker == Speaker::User { Speaker::System } else { speaker };
                talk.add_message(speaker, words, about, at.origin);
            }
            (Some(AgentFileBlock::Thought), Some(words)) => {
                talk.add_message(Speaker::Thinking, words, about, at.origin);
            }
            (Some(_), _) => {}
            (None, _) => talk.draft.note_unknown(at.origin, super::blocks::UNKNOWN),
        }
    }
}

/// Older messages have one result, in their content; newer ones a list of them.
fn add_results<'run>(
    talk: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    message: Object<'run>,
    about: &StepMeta<'run>,
) {
    let own = text_of(message, AgentFileKey::Answers);
    let whole = value_of(message, AgentFileKey::Content)
        .map(|content| content::content_text(content, talk.draft.arena).unwrap_or(content));
    let listed: Vec<_> =
        talk.draft.record_objects(list_of(message, AgentFileKey::Results).unwrap_or_default()).collect();
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
        block_session::add_result(talk, at, &answer, None, about);
    }
}

/// What a person decided about the calls that wait.
fn decide<'run>(talk: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, message: Object<'run>) {
    let status = match value_of(message, AgentFileKey::Decided).map(|decided| decided.value) {
        Some(Value::Boolean(true)) => StepStatus::Unknown,
        Some(Value::Boolean(false)) => StepStatus::Denied,
        _ => return talk.draft.skip_record(node.origin, "a decision without its answer is passed over"),
    };
    for call in talk.draft.steps_of_kind(StepKind::Call) {
        let word = talk.draft.step_field(call, of_step::STATUS).and_then(node_text);
        if word == StepStatus::Pending.as_str() {
            let outcome = CallResult { status: Some(status), ..CallResult::default() };
            talk.end_call(call, outcome, &StepMeta::default());
        }
    }
}
