//! Agno: a session as its database keeps it, as an object or as a row whose runs are JSON in text. Each run holds its messages, and those
//! of earlier runs that the model was given again are marked. What an agent returns is one such run.

use super::agno::AgnoKey;
use super::calls::TokenUsage;
use super::fields::{FieldRecord as _, NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::{ChatMessageKey, MessageRole, ToolCallKey};
use super::nodes::{list_of, node_list, node_object, node_text, object_items, object_of, text_of};
use super::openai_chat;
use super::run_builder::{RunBuilder, field_entry};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_run, of_usage, role};
use averment_runs::run::{StepKind, StepStatus};
use rustc_hash::FxHashSet;

key_table! {
    AgnoSessionKey {
        Session = "session_id",
        Owner = "agent_id" | "team_id" | "workflow_id",
        Runs = "runs",
        Memory = "memory",
        /// What a run of an older version stands in.
        Inner = "response" | "run",
        Messages = "messages",
        IsOld = "from_history",
        Metrics = "metrics",
        TokensIn = "input_tokens",
        TokensOut = "output_tokens",
        Members = "member_responses",
        /// The calls of a run with their results, which its messages need not hold.
        Calls = "tools",
        /// What an agent returns.
        Run = "run_id",
        Content = "content",
        ContentType = "content_type",
        State = "status",
        ToolFailed = "tool_call_error",
    }
}

key_table! {
    /// A run that is not over.
    AgnoRunState {
        Open = "PAUSED" | "RUNNING" | "PENDING" | "CANCELLED",
    }
}

key_table! {
    AgnoSessionMark {
        Any = "agent_data" | "team_data" | "workflow_data" | "session_data",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Agno session",
    known_by: "a `session_id` and `runs`, beside `session_data` or `agent_data`",
    description: "sessions of Agno as its database keeps them (an object, or a row whose `runs` are text)",
    marks: AgnoSessionMark::Any.keys(),
    object: is_session,
    read: read_run,
    ..IN_FULL
};

fn is_session(session: Object<'_>) -> bool {
    let is_text = |runs: Node<'_>| node_text(runs).is_some_and(|text| text.trim_start().starts_with('['));
    value_of(session, AgnoSessionKey::Session).is_some()
        && session.field(AgnoSessionKey::Owner).is_some()
        && written_runs(session).is_some_and(|runs| node_list(runs).is_some() || is_text(runs))
}

/// The result of a run, as `to_dict` gives it.
pub(crate) const RUN: TraceFormat = TraceFormat {
    name: "Agno run",
    known_by: "`run_id`, `messages` and `metrics` beside `agent_id` or `team_id`",
    description: "results of agents and teams of Agno (`RunOutput`)",
    marks: &[AgnoSessionKey::ContentType.key()],
    near: &[AgnoSessionKey::Members.key()],
    object: is_run,
    read: read_result,
    ..IN_FULL
};

fn is_run(run: Object<'_>) -> bool {
    let has_owner = run.field(AgnoSessionKey::Owner).is_some();
    let has_messages = list_of(run, AgnoSessionKey::Messages).is_some();
    has_owner
        && has_messages
        && [AgnoSessionKey::Run, AgnoSessionKey::ContentType].iter().all(|key| run.field(*key).is_some())
}

fn read_result<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(run) = node_object(root) else { return Ok(()) };
    builder.set_some(of_run::ID, value_of(run, AgnoSessionKey::Run));
    // The answer, which the last message repeats.
    value_of(run, AgnoSessionKey::Content).into_iter().for_each(|content| builder.note_parts(content));
    let mut told = KeptRuns::default();
    told.add_run(root, run, builder);
    told.finish_run(builder);
    let state = value_of(run, AgnoSessionKey::State).and_then(node_text).and_then(AgnoRunState::from_key);
    if state.is_some() {
        builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
    Ok(())
}

fn written_runs(session: Object<'_>) -> Option<Node<'_>> {
    let memory = object_of(session, AgnoSessionKey::Memory);
    value_of(session, AgnoSessionKey::Runs).or_else(|| value_of(memory?, AgnoSessionKey::Runs))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(session) = node_object(root) else { return Ok(()) };
    builder.set_some(of_run::ID, value_of(session, AgnoSessionKey::Session));
    let Some(written) = written_runs(session) else { return Ok(()) };
    let runs = if node_text(written).is_some() { builder.open_json(written).unwrap_or(written) } else { written };
    let Some(runs) = node_list(runs) else {
        builder.skip_record(written.origin, "`runs` are no list");
        return Ok(());
    };
    let mut told = KeptRuns::default();
    for (node, run) in builder.record_objects(runs) {
        told.add_run(node, object_of(run, AgnoSessionKey::Inner).unwrap_or(run), builder);
    }
    told.finish_run(builder);
    Ok(())
}

/// What the runs of a session told.
#[derive(Default)]
struct KeptRuns<'run> {
    messages: Vec<Node<'run>>,
    usage: TokenUsage,
    lacks_messages: bool,
}

impl<'run> KeptRuns<'run> {
    fn add_run(&mut self, node: Node<'run>, run: Object<'run>, builder: &mut RunBuilder<'run, '_>) {
        let Some(list) = list_of(run, AgnoSessionKey::Messages) else {
            self.lacks_messages = true;
            builder.warn_skipped(node.origin, "calls count as not recorded: a run was kept without its messages");
            return;
        };
        let is_old = |message: &Object<'run>| is_true(message, &NodeShapes, AgnoSessionKey::IsOld);
        let new = list.iter().filter(|node| !node_object(**node).is_some_and(|message| is_old(&message)));
        let of_run = self.messages.len();
        self.messages.extend(new.map(|node| with_status(*node, builder)));
        let listed = calls_beside(list, list_of(run, AgnoSessionKey::Calls).unwrap_or_default(), builder);
        // The answer stands behind what was done for it.
        let is_answer = |node: &Node<'run>| node_object(*node).is_some_and(|message| !asks_calls(message));
        let behind =
            self.messages.len() - usize::from(self.messages.get(of_run..).and_then(<[_]>::last).is_some_and(is_answer));
        self.messages.splice(behind..behind, listed);
        // What the members of a team did stands in runs of their own.
        if list_of(run, AgnoSessionKey::Members).is_some_and(|members| !members.is_empty()) {
            builder.note_unknown(node.origin, "what the members of a team did is not read");
        }
        if let Some(metrics) = object_of(run, AgnoSessionKey::Metrics) {
            count_tokens(metrics, &mut self.usage);
        }
    }

    fn finish_run(self, builder: &mut RunBuilder<'run, '_>) {
        if !self.lacks_messages {
            builder.mark_recorded(&[StepKind::Call]);
        }
        openai_chat::read_conversation(self.messages, builder);
        if self.lacks_messages {
            builder.mark_unrecorded(StepKind::Call);
        }
        self.usage.set_usage(builder);
    }
}

fn asks_calls(message: Object<'_>) -> bool {
    message.field(ChatMessageKey::Calls).is_some() || text_of(message, ChatMessageKey::Role) != Some(role::ASSISTANT)
}

/// The calls that a run lists and its messages do not hold, as messages.
fn calls_beside<'run>(
    messages: &[Node<'run>],
    calls: &'run [Node<'run>],
    builder: &RunBuilder<'run, '_>,
) -> Vec<Node<'run>> {
    let asked =
        messages.iter().filter_map(|node| list_of(node_object(*node)?, ChatMessageKey::Calls)).flat_map(object_items);
    let known: FxHashSet<&str> = asked.filter_map(|(_, call)| text_of(call, ToolCallKey::Id)).collect();
    let is_known = |call: Object<'_>| text_of(call, AgnoKey::Id).is_some_and(|id| known.contains(id));
    let text = |word: &'static str| Node::computed(Value::plain_text(word));
    let mut found = Vec::new();
    for (node, call) in object_items(calls).filter(|(_, call)| !is_known(*call)) {
        let entries = [
            (ToolCallKey::Id.key(), value_of(call, AgnoKey::Id)),
            (ToolCallKey::Name.key(), value_of(call, AgnoKey::Name)),
            (ToolCallKey::Arguments.key(), value_of(call, AgnoKey::Args)),
        ];
        let entries: Vec<_> = entries.into_iter().filter_map(|(key, node)| Some(field_entry(key, node?))).collect();
        let asked = builder.list_node(&[Node { origin: node.origin, ..builder.object_node(&entries) }]);
        let asks = [
            field_entry(ChatMessageKey::Role.key(), text(role::ASSISTANT)),
            field_entry(ChatMessageKey::Calls.key(), asked),
        ];
        found.push(Node { origin: node.origin, ..builder.object_node(&asks) });
        if let Some(result) = value_of(call, AgnoKey::Result) {
            let mut gives = vec![
                field_entry(ChatMessageKey::Role.key(), text(MessageRole::Result.key())),
                field_entry(ChatMessageKey::Content.key(), result),
            ];
            gives.extend(value_of(call, AgnoKey::Id).map(|id| field_entry(ChatMessageKey::Answers.key(), id)));
            gives.extend(value_of(call, AgnoKey::Name).map(|name| field_entry(ChatMessageKey::Tool.key(), name)));
            gives.extend(
                call.field(AgnoKey::Failed).map(|failed| field_entry(AgnoSessionKey::ToolFailed.key(), failed)),
            );
            found.push(with_status(Node { origin: node.origin, ..builder.object_node(&gives) }, builder));
        }
    }
    found
}

/// The message of a tool says whether the tool failed; messages of the API have a word for that.
fn with_status<'run>(node: Node<'run>, builder: &RunBuilder<'run, '_>) -> Node<'run> {
    let message = node_object(node).filter(|message| message.field(ChatMessageKey::Status).is_none());
    let failed = message.and_then(|message| value_of(message, AgnoSessionKey::ToolFailed)).map(|failed| failed.value);
    let (Some(message), Some(Value::Boolean(failed))) = (message, failed) else { return node };
    let status = if failed { StepStatus::Failed } else { StepStatus::Ok };
    let mut entries = message.entries().to_vec();
    entries.push(field_entry(
        ChatMessageKey::Status.key(),
        Node::computed(Value::plain_text(status.as_str().unwrap_or_default())),
    ));
    Node { origin: node.origin, ..builder.object_node(&entries) }
}

/// Older versions list what each request took.
fn count_tokens(metrics: Object<'_>, usage: &mut TokenUsage) {
    for (name, key) in [(of_usage::INPUT, AgnoSessionKey::TokensIn), (of_usage::OUTPUT, AgnoSessionKey::TokensOut)] {
        let Some(count) = value_of(metrics, key) else { continue };
        for count in node_list(count).unwrap_or(std::slice::from_ref(&count)) {
            usage.add_count(name, Some(*count));
        }
    }
}
