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

fn read_run<'run>(root: Node<'run>, draft: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Value::Object(file) = root.value else { return Ok(()) };
    let first = list_of(file, SimulationKey::Simulations).and_then(|all| object_items(all).next());
    let simulation = first.map_or(file, |(_, simulation)| simulation);
    let number = |field| simulation.field(field).filter(|node| NodeShapes.has_shape(*node, ValueShape::Number));
    draft.set_some(of_run::ID, simulation.field(SimulationKey::Id).filter(|id| NodeShapes.is_text(*id)));
    draft.set_some(of_run::DURATION, number(SimulationKey::Duration).and_then(seconds_to_ms));
    draft.set_some(of_run::COST, number(SimulationKey::Cost));
    let mut talk = ConversationBuilder::new(draft);
    use SimulationKey::{End, Mode, Reward, Task, Trial};
    for field in [Task, Trial, Reward, End, Mode] {
        talk.add_meta(field.key(), simulation.field(field));
    }
    let messages = list_of(simulation, SimulationKey::Messages).unwrap_or_default();
    for (node, one) in talk.draft.record_objects(messages) {
        talk.draft.count_record();
        add_message(&mut talk, node, one);
    }
    if messages.is_empty() {
        read_ticks(&mut talk, list_of(simulation, SimulationKey::Ticks).unwrap_or_default());
    }
    talk.finish_run();
    Ok(())
}

fn add_message<'run>(talk: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, message: Object<'run>) {
    let about = StepMeta { time: first_of(message, &[TauKey::Time]), ..StepMeta::default() };
    let role = talk.draft.role_of(node, text_of(message, TauKey::Role));
    let speaker = match role {
        Some(MessageRole::Result) => {
            let several = list_of(message, TauKey::Results).unwrap_or_default();
            if several.is_empty() {
                add_result(talk, node, message, &about);
            }
            return talk.draft.record_objects(several).for_each(|(at, one)| add_result(talk, at, one, &about));
        }
        None if message.field(TauKey::Role).is_none() => {
            return talk.draft.skip_value(node, "a message without `role` is passed over");
        }
        role => Speaker::from_role(role),
    };
    if speaker == Speaker::Assistant {
        talk.begin_turn();
        if let Some(counts) = object_of(message, TauKey::Usage) {
            let mut usage = TokenUsage::default();
            usage.add_usage(counts);
            talk.usage.merge_usage(&usage);
        }
    }
    if let Some(content) = message.field(TauKey::Content) {
        talk.add_content(speaker, content, &about, node.origin);
    }
    add_calls(talk, list_of(message, TauKey::Calls).unwrap_or_default(), &about);
}

/// The user's own calls have their own agent.
fn add_calls<'run>(talk: &mut ConversationBuilder<'_, 'run, '_>, calls: &'run [Node<'run>], about: &StepMeta<'run>) {
    for (at, call) in talk.draft.record_objects(calls) {
        let requestor = text_of(call, TauKey::Requestor).and_then(TauRequestor::from_key);
        let agent = call.field(TauKey::Requestor).filter(|_| requestor.is_some());
        let tool = call.field(TauKey::Name).unwrap_or(Node::computed(Value::Null));
        let made =
            ToolCall { tool, args: call.field(TauKey::Arguments), id: call.field(TauKey::Id), origin: at.origin };
        match agent {
            Some(_) => talk.add_foreign_call(made, &StepMeta { agent, aside: true, ..*about }),
            None => talk.add_call(made, about),
        };
    }
}

fn add_result<'run>(
    talk: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    message: Object<'run>,
    about: &StepMeta<'run>,
) {
    let failed = is_true(&message, &NodeShapes, TauKey::Error);
    let told = message.field(TauKey::Error).is_some();
    let status = told.then_some(if failed { StepStatus::Failed } else { StepStatus::Ok });
    let outcome = CallResult { result: first_of(message, &[TauKey::Content]), status, ..CallResult::default() };
    talk.add_result(text_of(message, TauKey::Id), None, outcome, about, node.origin);
}

/// Speech comes in parts; calls and results stand beside it.
fn read_ticks<'run>(talk: &mut ConversationBuilder<'_, 'run, '_>, ticks: &'run [Node<'run>]) {
    let mut saying: Option<(Speaker, Node<'run>, String, StepMeta<'run>)> = None;
    for (node, tick) in talk.draft.record_objects(ticks) {
        talk.draft.count_record();
        let about = StepMeta { time: first_of(tick, &[TauKey::Time]), ..StepMeta::default() };
        if !tick.entries().iter().any(|entry| TauKey::from_key(entry.key).is_some_and(is_of_tick)) {
            talk.draft.skip_record(node.origin, "a tick of which nothing is known is passed over");
        }
        for (speaker, field) in [(Speaker::User, TauKey::OfUser), (Speaker::Assistant, TauKey::OfAgent)] {
            let Some(chunk) = object_of(tick, field) else { continue };
            if let Some(words) = text_of(chunk, TauKey::Content).filter(|words| !words.is_empty()) {
                if saying.as_ref().is_some_and(|(who, ..)| *who != speaker) {
                    flush_speech(talk, saying.take());
                }
                saying.get_or_insert_with(|| (speaker, node, String::new(), about)).2.push_str(words);
            }
            add_calls(talk, list_of(chunk, TauKey::Calls).unwrap_or_default(), &about);
        }
        let lists = |fields: [TauKey; 2]| fields.into_iter().filter_map(move |field| list_of(tick, field));
        for list in lists([TauKey::AgentCalls, TauKey::UserCalls]) {
            flush_speech(talk, saying.take());
            add_calls(talk, list, &about);
        }
        for list in lists([TauKey::AgentResults, TauKey::UserResults]) {
            object_items(list).for_each(|(at, one)| add_result(talk, at, one, &about));
        }
    }
    flush_speech(talk, saying);
    // Some leave out all but who spoke when.
    let tells_words = |chunk: Object<'run>| chunk.field(TauKey::Content).is_some();
    let chunks =
        object_items(ticks).flat_map(|(_, tick)| [object_of(tick, TauKey::OfAgent), object_of(tick, TauKey::OfUser)]);
    if !ticks.is_empty() && !chunks.flatten().any(tells_words) {
        talk.draft.mark_unrecorded(StepKind::Message);
    }
    if !object_items(ticks).any(|(_, tick)| may_tell_calls(tick)) {
        talk.draft.mark_unrecorded(StepKind::Call);
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
    talk: &mut ConversationBuilder<'_, 'run, '_>,
    saying: Option<(Speaker, Node<'run>, String, StepMeta<'run>)>,
) {
    if let Some((speaker, node, words, about)) = saying {
        let words = Node::new(Value::plain_text(talk.draft.arena.alloc_str(&words)), node.origin);
        talk.add_message(speaker, words, &about, node.origin);
    }
}
