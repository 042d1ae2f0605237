//! tau2: a simulation, alone or one of several under `simulations`: messages of the assistant and of the user, both of whom call tools,
//! or the ticks of a voice simulation. Durations are seconds. A call whose result is not marked as an error went well.

use super::calls::Usage;
use super::cutting::Cutting;
use super::draft::Draft;
use super::fields::{Parsed, Record, Shape, Shapes, is_true, key_table};
use super::format::{Format, IN_FULL};
use super::messages::Role;
use super::nodes::{first_of, list_of, object_of, objects, text_of};
use super::talk::{About, Made, Outcome, Speaker, Talk, seconds};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::Status;

key_table! {
    /// A simulation, or a file of them.
    OfSimulation {
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
    /// A message, or a part of a tick.
    OfTau {
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
    /// Who calls a tool beside the agent.
    Requestor {
        User = "user",
    }
}

/// Simulations.
pub(crate) const FORMAT: Format = Format {
    name: "tau2 simulation",
    known_by: "`task_id` and `termination_reason` beside `messages` or `ticks`, alone or under `simulations`",
    description: "simulations of tau2 (`simulations`, or one alone)",
    marks: &[OfSimulation::Simulations.key(), OfSimulation::End.key()],
    object: |object| {
        is_simulation(object)
            || list_of(object, OfSimulation::Simulations)
                .is_some_and(|all| objects(all).any(|(_, one)| is_simulation(one)))
    },
    read,
    runs: &[Cutting {
        within: &[],
        way: &[&[OfSimulation::Simulations.key()]],
        by: &[],
        keeps: &[OfSimulation::Info.key()],
    }],
    ..IN_FULL
};

fn is_simulation(object: Object<'_>) -> bool {
    object.field(OfSimulation::Task).is_some()
        && object.field(OfSimulation::End).is_some()
        && (list_of(object, OfSimulation::Messages).is_some() || list_of(object, OfSimulation::Ticks).is_some())
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let Value::Object(file) = root.value else { return Ok(()) };
    let first = list_of(file, OfSimulation::Simulations).and_then(|all| objects(all).next());
    let simulation = first.map_or(file, |(_, simulation)| simulation);
    let number = |field| simulation.field(field).filter(|node| Parsed.is(*node, Shape::Number));
    draft.set_some(of_run::ID, simulation.field(OfSimulation::Id).filter(|id| Parsed.is_text(*id)));
    draft.set_some(of_run::DURATION, number(OfSimulation::Duration).and_then(seconds));
    draft.set_some(of_run::COST, number(OfSimulation::Cost));
    let mut talk = Talk::new(draft);
    use OfSimulation::{End, Mode, Reward, Task, Trial};
    for field in [Task, Trial, Reward, End, Mode] {
        talk.meta(field.key(), simulation.field(field));
    }
    let messages = list_of(simulation, OfSimulation::Messages).unwrap_or_default();
    for (node, one) in talk.draft.objects(messages) {
        talk.draft.record();
        message(&mut talk, node, one);
    }
    if messages.is_empty() {
        ticks(&mut talk, list_of(simulation, OfSimulation::Ticks).unwrap_or_default());
    }
    talk.finish();
    Ok(())
}

fn message<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, message: Object<'run>) {
    let about = About { time: first_of(message, &[OfTau::Time]), ..About::default() };
    let role = text_of(message, OfTau::Role).and_then(Role::from_key);
    let speaker = match role {
        Some(Role::Result) => {
            let several = list_of(message, OfTau::Results).unwrap_or_default();
            if several.is_empty() {
                result(talk, node, message, &about);
            }
            return talk.draft.objects(several).for_each(|(at, one)| result(talk, at, one, &about));
        }
        Some(Role::Assistant) => Speaker::Assistant,
        Some(Role::User) => Speaker::User,
        None if message.field(OfTau::Role).is_none() => {
            return talk.draft.not_understood(node.origin, "a message without `role` is passed over");
        }
        None => Speaker::System,
    };
    if speaker == Speaker::Assistant {
        talk.begin_turn();
        if let Some(counts) = object_of(message, OfTau::Usage) {
            let mut usage = Usage::default();
            usage.add(counts);
            talk.usage.join(&usage);
        }
    }
    if let Some(content) = message.field(OfTau::Content) {
        talk.say_content(speaker, content, &about, node.origin);
    }
    calls(talk, list_of(message, OfTau::Calls).unwrap_or_default(), &about);
}

/// Calls; those of the user are told by their agent.
fn calls<'run>(talk: &mut Talk<'_, 'run, '_>, calls: &'run [Node<'run>], about: &About<'run>) {
    for (at, call) in talk.draft.objects(calls) {
        let requestor = text_of(call, OfTau::Requestor).and_then(Requestor::from_key);
        let agent = call.field(OfTau::Requestor).filter(|_| requestor.is_some());
        let tool = call.field(OfTau::Name).unwrap_or(Node::computed(Value::Null));
        let made = Made { tool, args: call.field(OfTau::Arguments), id: call.field(OfTau::Id), origin: at.origin };
        match agent {
            Some(_) => talk.call_of_other(made, &About { agent, aside: true, ..*about }),
            None => talk.call(made, about),
        };
    }
}

fn result<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, message: Object<'run>, about: &About<'run>) {
    let failed = is_true(&message, &Parsed, OfTau::Error);
    let told = message.field(OfTau::Error).is_some();
    let status = told.then_some(if failed { Status::Failed } else { Status::Ok });
    let outcome = Outcome { result: first_of(message, &[OfTau::Content]), status, ..Outcome::default() };
    talk.answer(text_of(message, OfTau::Id), None, outcome, about, node.origin);
}

/// The ticks of a voice simulation: what is said comes in parts, each of its own; calls and results stand beside them.
fn ticks<'run>(talk: &mut Talk<'_, 'run, '_>, ticks: &'run [Node<'run>]) {
    let mut saying: Option<(Speaker, Node<'run>, String, About<'run>)> = None;
    for (node, tick) in talk.draft.objects(ticks) {
        talk.draft.record();
        let about = About { time: first_of(tick, &[OfTau::Time]), ..About::default() };
        for (speaker, field) in [(Speaker::User, OfTau::OfUser), (Speaker::Assistant, OfTau::OfAgent)] {
            let Some(chunk) = object_of(tick, field) else { continue };
            if let Some(words) = text_of(chunk, OfTau::Content).filter(|words| !words.is_empty()) {
                if saying.as_ref().is_some_and(|(who, ..)| *who != speaker) {
                    said(talk, saying.take());
                }
                saying.get_or_insert_with(|| (speaker, node, String::new(), about)).2.push_str(words);
            }
            calls(talk, list_of(chunk, OfTau::Calls).unwrap_or_default(), &about);
        }
        let lists = |fields: [OfTau; 2]| fields.into_iter().filter_map(move |field| list_of(tick, field));
        for list in lists([OfTau::AgentCalls, OfTau::UserCalls]) {
            said(talk, saying.take());
            calls(talk, list, &about);
        }
        for list in lists([OfTau::AgentResults, OfTau::UserResults]) {
            objects(list).for_each(|(at, one)| result(talk, at, one, &about));
        }
    }
    said(talk, saying);
}

fn said<'run>(talk: &mut Talk<'_, 'run, '_>, saying: Option<(Speaker, Node<'run>, String, About<'run>)>) {
    if let Some((speaker, node, words, about)) = saying {
        let words = Node::new(Value::plain(talk.draft.arena.alloc_str(&words)), node.origin);
        talk.say(speaker, words, &about, node.origin);
    }
}
