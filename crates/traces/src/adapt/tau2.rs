//! tau2: a simulation, alone or one of several under `simulations`: messages of the assistant and of the user, both of whom call tools,
//! or the ticks of a voice simulation. Durations are seconds. A call whose result is not marked as an error went well.

use super::calls::TokenUsage;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall, seconds_to_ms};
use super::cutting::RunCutting;
use super::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, is_true, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::messages::MessageRole;
use super::nodes::{first_of, list_of, object_items, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::{StepKind, StepStatus};

key_table! {
    SimulationKey {
        Simulations = "simulations",
        Info = "info",
        Id = "id",
        Task = "task_id",
        Trial = "trial",
        Reward = "reward_info",
        End = "termination_reason",
        Mode = "mode",
        Duration = "duration",
        Cost = "agent_cost",
        Messages = "messages",
        Ticks = "ticks",
    }
}

key_table! {
    TauKey {
        Role = "role",
        Content = "content",
        Time = "timestamp",
        Calls = "tool_calls",
        Results = "tool_messages",
        Id = "id",
        Name = "name",
        Arguments = "arguments",
        Requestor = "requestor",
        Error = "error",
        Usage = "usage",
        OfAgent = "agent_chunk",
        OfUser = "user_chunk",
        AgentCalls = "agent_tool_calls",
        UserCalls = "user_tool_calls",
        AgentResults = "agent_tool_results",
        UserResults = "user_tool_results",
    }
}

key_table! {
    TauRequestor {
        User = "user",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "tau2 simulation",
    known_by: "`task_id` and `termination_reason` beside `messages` or `ticks`, alone or under `simulations`",
    description: "simulations of tau2 (`simulations`, or one alone)",
    marks: &[SimulationKey::Simulations.key(), SimulationKey::End.key()],
    object: |object| {
        is_simulation(object)
            || list_of(object, SimulationKey::Simulations)
                .is_some_and(|all| object_items(all).any(|(_, one)| is_simulation(one)))
    },
    read: read_run,
    runs: &[RunCutting {
        within: &[],
        way: &[&[SimulationKey::Simulations.key()]],
        by: &[],
        keeps: &[SimulationKey::Info.key()],
        joins: None,
    }],
    ..IN_FULL
};

fn is_simulation(object: Object<'_>) -> bool {
    object.field(SimulationKey::Task).is_some()
        && object.field(SimulationKey::End).is_some()
        && (list_of(object, SimulationKey::Messages).is_some() || list_of(object, SimulationKey::Ticks).is_some())
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Value::Object(file) = root.value else { return Ok(()) };
    let first = list_of(file, SimulationKey::Simulations).and_then(|all| object_items(all).next());
    let simulation = first.map_or(file, |(_, simulation)| simulation);
    let number = |field| simulation.field(field).filter(|node| NodeShapes.has_shape(*node, ValueShape::Number));
    builder.set_some(of_run::ID, simulation.field(SimulationKey::Id).filter(|id| NodeShapes.is_text(*id)));
    builder.set_some(of_run::DURATION, number(SimulationKey::Duration).and_then(seconds_to_ms));
    builder.set_some(of_run::COST, number(SimulationKey::Cost));
    let mut conversation = ConversationBuilder::new(builder);
    use SimulationKey::{End, Mode, Reward, Task, Trial};
    for field in [Task, Trial, Reward, End, Mode] {
        conversation.add_meta(field.key(), simulation.field(field));
    }
    let messages = list_of(simulation, SimulationKey::Messages).unwrap_or_default();
    for (node, one) in conversation.builder.record_objects(messages) {
        conversation.builder.count_record();
        add_message(&mut conversation, node, one);
    }
    if messages.is_empty() {
        read_ticks(&mut conversation, list_of(simulation, SimulationKey::Ticks).unwrap_or_default());
    }
    conversation.finish_run();
    Ok(())
}

fn add_message<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, message: Object<'run>) {
    let meta = StepMeta { time: first_of(message, &[TauKey::Time]), ..StepMeta::default() };
    let role = conversation.builder.role_of(node, text_of(message, TauKey::Role));
    let speaker = match role {
        Some(MessageRole::Result) => {
            let several = list_of(message, TauKey::Results).unwrap_or_default();
            if several.is_empty() {
                add_result(conversation, node, message, &meta);
            }
            return conversation
                .builder
                .record_objects(several)
                .for_each(|(at, one)| add_result(conversation, at, one, &meta));
        }
        None if message.field(TauKey::Role).is_none() => {
            return conversation.builder.skip_value(node, "a message without `role` is skipped");
        }
        role => Speaker::from_role(role),
    };
    if speaker == Speaker::Assistant {
        conversation.begin_turn();
        if let Some(counts) = object_of(message, TauKey::Usage) {
            let mut usage = TokenUsage::default();
            usage.add_usage(counts);
            conversation.usage.merge_usage(&usage);
        }
    }
    if let Some(content) = message.field(TauKey::Content) {
        conversation.add_content(speaker, content, &meta, node.origin);
    }
    add_calls(conversation, list_of(message, TauKey::Calls).unwrap_or_default(), &meta);
}

/// The user's own calls have their own agent.
fn add_calls<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    calls: &'run [Node<'run>],
    meta: &StepMeta<'run>,
) {
    for (at, call) in conversation.builder.record_objects(calls) {
        let requestor = text_of(call, TauKey::Requestor).and_then(TauRequestor::from_key);
        let agent = call.field(TauKey::Requestor).filter(|_| requestor.is_some());
        let tool = call.field(TauKey::Name).unwrap_or(Node::computed(Value::Null));
        let made =
            ToolCall { tool, args: call.field(TauKey::Arguments), id: call.field(TauKey::Id), origin: at.origin };
        match agent {
            Some(_) => conversation.add_foreign_call(made, &StepMeta { agent, aside: true, ..*meta }),
            None => conversation.add_call(made, meta),
        };
    }
}

fn add_result<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    message: Object<'run>,
    meta: &StepMeta<'run>,
) {
    let failed = is_true(&message, &NodeShapes, TauKey::Error);
    let told = message.field(TauKey::Error).is_some();
    let status = told.then_some(if failed { StepStatus::Failed } else { StepStatus::Ok });
    let outcome = CallResult { result: first_of(message, &[TauKey::Content]), status, ..CallResult::default() };
    conversation.add_result(text_of(message, TauKey::Id), None, outcome, meta, node.origin);
}

/// Speech comes in parts; calls and results stand beside it.
fn read_ticks<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, ticks: &'run [Node<'run>]) {
    let mut saying: Option<(Speaker, Node<'run>, String, StepMeta<'run>)> = None;
    for (node, tick) in conversation.builder.record_objects(ticks) {
        conversation.builder.count_record();
        let meta = StepMeta { time: first_of(tick, &[TauKey::Time]), ..StepMeta::default() };
        if !tick.entries().iter().any(|entry| TauKey::from_key(entry.key).is_some_and(is_of_tick)) {
            conversation.builder.skip_record(node.origin, "a tick of which nothing is known is skipped");
        }
        for (speaker, field) in [(Speaker::User, TauKey::OfUser), (Speaker::Assistant, TauKey::OfAgent)] {
            let Some(chunk) = object_of(tick, field) else { continue };
            if let Some(words) = text_of(chunk, TauKey::Content).filter(|words| !words.is_empty()) {
                if saying.as_ref().is_some_and(|(who, ..)| *who != speaker) {
                    flush_speech(conversation, saying.take());
                }
                saying.get_or_insert_with(|| (speaker, node, String::new(), meta)).2.push_str(words);
            }
            add_calls(conversation, list_of(chunk, TauKey::Calls).unwrap_or_default(), &meta);
        }
        let lists = |fields: [TauKey; 2]| fields.into_iter().filter_map(move |field| list_of(tick, field));
        for list in lists([TauKey::AgentCalls, TauKey::UserCalls]) {
            flush_speech(conversation, saying.take());
            add_calls(conversation, list, &meta);
        }
        for list in lists([TauKey::AgentResults, TauKey::UserResults]) {
            object_items(list).for_each(|(at, one)| add_result(conversation, at, one, &meta));
        }
    }
    flush_speech(conversation, saying);
    // Some leave out all but who spoke when.
    let tells_words = |chunk: Object<'run>| chunk.field(TauKey::Content).is_some();
    let chunks =
        object_items(ticks).flat_map(|(_, tick)| [object_of(tick, TauKey::OfAgent), object_of(tick, TauKey::OfUser)]);
    if !ticks.is_empty() && !chunks.flatten().any(tells_words) {
        conversation.builder.mark_unrecorded(StepKind::Message);
    }
    if !object_items(ticks).any(|(_, tick)| may_tell_calls(tick)) {
        conversation.builder.mark_unrecorded(StepKind::Call);
    }
}

fn may_tell_calls(tick: Object<'_>) -> bool {
    let has_key = |object: Object<'_>, field: TauKey| field.keys().iter().any(|key| object.get(key).is_some());
    let in_chunk = |field| object_of(tick, field).is_some_and(|chunk| has_key(chunk, TauKey::Calls));
    has_key(tick, TauKey::AgentCalls)
        || has_key(tick, TauKey::UserCalls)
        || in_chunk(TauKey::OfAgent)
        || in_chunk(TauKey::OfUser)
}

/// Of a tick that nobody does anything in, these say so.
fn is_of_tick(key: TauKey) -> bool {
    use TauKey::{AgentCalls, AgentResults, OfAgent, OfUser, Time, UserCalls, UserResults};
    [AgentCalls, AgentResults, OfAgent, OfUser, Time, UserCalls, UserResults].contains(&key)
}

fn flush_speech<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    saying: Option<(Speaker, Node<'run>, String, StepMeta<'run>)>,
) {
    if let Some((speaker, node, words, meta)) = saying {
        let words = Node::new(Value::plain_text(conversation.builder.arena.alloc_str(&words)), node.origin);
        conversation.add_message(speaker, words, &meta, node.origin);
    }
}
