//! AutoGen (and AG2's messages of that kind): the messages and events of an agent chat, in a list, one a line, or under `messages` of a
//! task's result; what agents and teams save of themselves (`save_state`).

use super::api::KnownAnswers;
use super::calls::TokenUsage;
use super::content;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, list_of, node_object, object_items, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::run::{StepKind, StepStatus};
use rustc_hash::FxHashSet;

key_table! {
    AutogenKey {
        Messages = "messages",
        /// A run of AutoGen Studio holds the result of its team.
        Team = "team_result",
        Task = "task_result",
        Record = "config",
        /// What an agent, and the agents of a team, save.
        Context = "llm_context",
        Agents = "agent_states",
        Agent = "agent_state",
        Thread = "message_thread",
        Type = "type",
        Source = "source",
        Content = "content",
        Usage = "models_usage",
        Id = "id",
        Time = "created_at",
        Target = "target",
        Name = "name",
        Arguments = "arguments",
        Call = "call_id",
        Failed = "is_error",
    }
}

key_table! {
    AutogenType {
        Said = "TextMessage" | "MultiModalMessage" | "StopMessage" | "ToolCallSummaryMessage" | "StructuredMessage"
            | "UserMessage",
        /// To a model: what it is told to be, and its answers, which are texts or calls.
        Told = "SystemMessage",
        Answer = "AssistantMessage",
        Handover = "HandoffMessage",
        Calls = "ToolCallRequestEvent" | "ToolCallMessage",
        Results = "ToolCallExecutionEvent" | "ToolCallResultMessage" | "FunctionExecutionResultMessage",
        Thought = "ThoughtEvent",
        /// A question to a person: who asked speaks for the person.
        Asks = "UserInputRequestedEvent",
        /// Pieces of what comes whole, what a memory gave, who speaks next.
        Silent = "ModelClientStreamingChunkEvent" | "MemoryQueryEvent" | "SelectSpeakerEvent" | "SelectorEvent",
        /// Code stands in the text: what it did is no call.
        Code = "CodeGenerationEvent" | "CodeExecutionEvent",
    }
}

key_table! {
    /// Types that messages to a model have: a list of them may be what was asked, without its answer.
    AutogenModelType {
        Any = "UserMessage" | "SystemMessage" | "AssistantMessage" | "FunctionExecutionResultMessage",
    }
}

key_table! {
    AutogenSource {
        /// The task.
        User = "user",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "AutoGen messages",
    known_by: "messages with a `source` whose `type` is one of AutoGen's (`TextMessage`, `ToolCallRequestEvent`, …)",
    description: "messages and events of AutoGen's agent chat (a list, one a line, or under `messages`)",
    marks: &[AutogenKey::Messages.key(), AutogenKey::Team.key(), AutogenKey::Context.key(), AutogenKey::Agents.key()],
    near: &[AutogenKey::Usage.key()],
    object: |object| {
        let list = list_of(team_task(object).unwrap_or(object), AutogenKey::Messages).unwrap_or_default();
        let saved = saved_messages(object).unwrap_or_default();
        object_items(list).any(|(_, one)| is_message(one))
            || object_items(saved).any(|(_, one)| message_type(one).is_some())
    },
    item_marks: &[AutogenKey::Source.key()],
    element: is_message,
    line: is_message,
    record_ids: RecordIds::shared(&[&[AutogenKey::Id.key()], &[AutogenKey::Time.key()]]),
    read: read_run,
    ..IN_FULL
};

fn team_task(run: Object<'_>) -> Option<Object<'_>> {
    object_of(object_of(run, AutogenKey::Team)?, AutogenKey::Task)
}

/// The conversation that an agent or a team saved.
fn saved_messages(state: Object<'_>) -> Option<&[Node<'_>]> {
    let mut threads = saved_agents(state).filter_map(|agent| list_of(agent, AutogenKey::Thread));
    context_of(state).or_else(|| threads.next()).or_else(|| saved_agents(state).find_map(agent_context))
}

fn saved_agents(team: Object<'_>) -> impl Iterator<Item = Object<'_>> {
    let agents = object_of(team, AutogenKey::Agents).map_or(&[][..], |agents| agents.entries());
    agents.iter().filter_map(|entry| node_object(entry.node))
}

fn context_of(agent: Object<'_>) -> Option<&[Node<'_>]> {
    list_of(object_of(agent, AutogenKey::Context)?, AutogenKey::Messages)
}

fn agent_context(agent: Object<'_>) -> Option<&[Node<'_>]> {
    context_of(object_of(agent, AutogenKey::Agent)?)
}

/// The thread of a team may leave out what its agents called.
fn note_other_calls(conversation: &ConversationBuilder<'_, '_, '_>, team: Object<'_>) {
    let messages = saved_agents(team).filter_map(agent_context).flat_map(object_items);
    for (_, message) in messages.filter(|(_, message)| message_type(*message) == Some(AutogenType::Answer)) {
        for (node, call) in object_items(list_of(message, AutogenKey::Content).unwrap_or_default()) {
            if text_of(call, AutogenKey::Id).is_none_or(|id| conversation.find_call(id).is_none()) {
                conversation.builder.note_unknown(node.origin, "a call of an agent is not in what its team said");
            }
        }
    }
}

fn is_message(message: Object<'_>) -> bool {
    let of_model = text_of(message, AutogenKey::Type).and_then(AutogenModelType::from_key);
    text_of(message, AutogenKey::Source).is_some() && message_type(message).is_some() && of_model.is_none()
}

fn message_type(message: Object<'_>) -> Option<AutogenType> {
    let word = text_of(message, AutogenKey::Type)?;
    // A structured message names the type of its content, too.
    AutogenType::from_key(word).or_else(|| word.starts_with("StructuredMessage[").then_some(AutogenType::Said))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::new(builder);
    let (mut seen, mut with_code, mut people) = (KnownAnswers::default(), false, FxHashSet::default());
    // The messages beside it are the same, each in a record of its own.
    let whole = node_object(*root);
    let task = whole.and_then(team_task).and_then(|task| list_of(task, AutogenKey::Messages));
    if task.is_some() {
        let beside = whole.and_then(|run| list_of(run, AutogenKey::Messages)).unwrap_or_default();
        let is_record =
            |node: &&Node<'run>| node_object(**node).is_some_and(|one| one.field(AutogenKey::Record).is_some());
        beside.iter().filter(|node| !is_record(node)).for_each(|node| {
            conversation.builder.skip_value(node, "what is no record of a message is skipped");
        });
    }
    let saved = whole.and_then(saved_messages).filter(|_| task.is_none());
    for node in task.or(saved).unwrap_or_else(|| items_of(root, &[AutogenKey::Messages])) {
        // The result of a task stands behind the stream, and repeats its messages.
        let held = node_object(*node).and_then(|result| list_of(result, AutogenKey::Messages));
        for node in held.unwrap_or(std::slice::from_ref(node)) {
            conversation.builder.count_record();
            let message = node_object(*node);
            let kind = message.and_then(message_type);
            let has_source = |kind: &AutogenType, message: Object<'run>| {
                // What a model is given by the program has none.
                text_of(message, AutogenKey::Source).is_some()
                    || matches!(kind, AutogenType::Told | AutogenType::Results)
            };
            let known = message.zip(kind).filter(|(message, kind)| has_source(kind, *message));
            let Some((message, kind)) = known else {
                conversation.builder.skip_value(node, "a message of unknown type is skipped");
                continue;
            };
            if text_of(message, AutogenKey::Id).is_some_and(|id| seen.is_known(id, message)) {
                continue;
            }
            with_code |= kind == AutogenType::Code;
            let source = text_of(message, AutogenKey::Source).unwrap_or_default();
            if kind == AutogenType::Asks {
                people.insert(source);
            }
            let is_user = AutogenSource::from_key(source).is_some() || people.contains(source);
            add_message(&mut conversation, *node, (kind, message), is_user);
        }
    }
    whole.into_iter().for_each(|team| note_other_calls(&conversation, team));
    if with_code {
        conversation
            .builder
            .add_warning(root.origin, "calls count as not recorded: agents run code that stands in their texts");
        conversation.builder.mark_unrecorded(StepKind::Call);
    }
    conversation.finish_run();
    Ok(())
}

fn add_message<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    (kind, message): (AutogenType, Object<'run>),
    is_user: bool,
) {
    let agent = message.field(AutogenKey::Source).filter(|_| !is_user);
    let meta = StepMeta { time: value_of(message, AutogenKey::Time), agent, aside: false };
    if let Some(counts) = object_of(message, AutogenKey::Usage) {
        let mut usage = TokenUsage::default();
        usage.add_usage(counts);
        conversation.usage.merge_usage(&usage);
    }
    let content = value_of(message, AutogenKey::Content);
    if matches!(kind, AutogenType::Calls | AutogenType::Results) && list_of(message, AutogenKey::Content).is_none() {
        conversation.builder.note_unknown(node.origin, "calls or results that are no list are skipped");
    }
    let is_answer = kind == AutogenType::Answer;
    let kind = match (is_answer, list_of(message, AutogenKey::Content).is_some()) {
        (true, true) => AutogenType::Calls,
        (true, false) => AutogenType::Said,
        _ => kind,
    };
    let speaker = match kind {
        AutogenType::Told => Speaker::System,
        _ if is_user && !is_answer => Speaker::User,
        _ => Speaker::Assistant,
    };
    match kind {
        AutogenType::Said | AutogenType::Told | AutogenType::Handover => {
            if let Some(content) = content {
                conversation.add_text(speaker, content, &meta, node.origin);
            }
            if let Some(to) = value_of(message, AutogenKey::Target).filter(|_| kind == AutogenType::Handover) {
                conversation.hand_over(to, &meta, node.origin);
            }
        }
        AutogenType::Thought => {
            content.into_iter().for_each(|words| conversation.add_text(Speaker::Thinking, words, &meta, node.origin))
        }
        AutogenType::Calls => {
            let calls = list_of(message, AutogenKey::Content).unwrap_or_default();
            for (at, call) in conversation.builder.record_objects(calls) {
                let made = ToolCall {
                    tool: call.field(AutogenKey::Name).unwrap_or(Node::computed(Value::Null)),
                    args: call.field(AutogenKey::Arguments),
                    id: call.field(AutogenKey::Id),
                    origin: at.origin,
                };
                conversation.add_call(made, &meta);
            }
        }
        AutogenType::Results => {
            let results = list_of(message, AutogenKey::Content).unwrap_or_default();
            for (at, given) in conversation.builder.record_objects(results) {
                let result = given.field(AutogenKey::Content);
                let result =
                    result.map(|given| content::content_text(given, conversation.builder.arena).unwrap_or(given));
                // Older versions do not say whether it failed.
                let failed = value_of(given, AutogenKey::Failed);
                let of = |_| match is_true(&given, &NodeShapes, AutogenKey::Failed) {
                    true => StepStatus::Failed,
                    false => StepStatus::Ok,
                };
                let outcome = CallResult { result, status: failed.map(of), ..CallResult::default() };
                let (id, tool) = (text_of(given, AutogenKey::Call), text_of(given, AutogenKey::Name));
                let meta = StepMeta { agent: None, ..meta };
                conversation.add_result(id, tool, outcome, &meta, at.origin);
            }
        }
        AutogenType::Asks | AutogenType::Answer | AutogenType::Silent | AutogenType::Code => {}
    }
}
