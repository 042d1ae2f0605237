//! AutoGen: what `save_state` gives of a team (the thread of its manager has its messages) and of a single agent (the context of its model).

use super::autogen::{self, AutogenKey};
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{list_of, node_list, node_object, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object};

key_table! {
    AutogenStateKey {
        Agents = "agent_states",
        Thread = "message_thread",
        /// What the state of an agent stands in.
        Held = "agent_state",
        Context = "llm_context",
        Messages = "messages",
        Type = "type",
        Thought = "thought",
    }
}

key_table! {
    /// What a model was given and what it answered.
    AutogenModelMessage {
        System = "SystemMessage",
        User = "UserMessage",
        Assistant = "AssistantMessage",
        Results = "FunctionExecutionResultMessage",
    }
}

key_table! {
    /// States in which no calls stand but those of a thread or a context.
    AutogenStateType {
        Any = "AssistantAgentState" | "ChatAgentContainerState" | "BaseState" | "BaseGroupChatManagerState"
            | "RoundRobinManagerState" | "SelectorManagerState" | "SwarmManagerState" | "MagenticOneOrchestratorState"
            | "GraphFlowManagerState",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "AutoGen state",
    known_by: "`agent_states` of a team, one with a `message_thread`, or the `llm_context` of an agent",
    description: "states of teams and agents of AutoGen (`save_state`)",
    marks: &[AutogenStateKey::Agents.key(), AutogenStateKey::Context.key()],
    near: &[AutogenStateKey::Agents.key(), AutogenStateKey::Context.key()],
    object: |state| thread_of(state).is_some() || context_of(state).is_some(),
    read: read_run,
    ..IN_FULL
};

/// The messages of a team.
fn thread_of(team: Object<'_>) -> Option<&[Node<'_>]> {
    let agents = object_of(team, AutogenStateKey::Agents)?.entries();
    agents.iter().find_map(|agent| list_of(node_object(agent.node)?, AutogenStateKey::Thread))
}

fn context_of(agent: Object<'_>) -> Option<&[Node<'_>]> {
    let agent = object_of(agent, AutogenStateKey::Held).unwrap_or(agent);
    list_of(object_of(agent, AutogenStateKey::Context)?, AutogenStateKey::Messages)
}

fn read_run<'run>(root: Node<'run>, draft: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(state) = node_object(root) else { return Ok(()) };
    note_unknown_states(state, draft);
    if let Some(thread) = thread_of(state) {
        return (autogen::FORMAT.read)(Node { origin: root.origin, ..draft.list_node(thread) }, draft);
    }
    let mut talk = ConversationBuilder::new(draft);
    for node in context_of(state).unwrap_or_default() {
        talk.draft.count_record();
        match node_object(*node) {
            Some(message) => add_message(&mut talk, *node, message),
            None => talk.draft.skip_value(node, "what is no message is passed over"),
        }
    }
    talk.finish_run();
    Ok(())
}

/// What agents of a team did stands in its thread, and the contexts of their models repeat it.
fn note_unknown_states<'run>(team: Object<'run>, draft: &mut RunBuilder<'run, '_>) {
    let agents = object_of(team, AutogenStateKey::Agents).map_or(&[][..], |agents| agents.entries());
    for agent in agents {
        let Some(state) = node_object(agent.node) else {
            draft.skip_value(agent.node, "what is no state of an agent is passed over");
            continue;
        };
        let is_known =
            |state: Object<'_>| text_of(state, AutogenStateKey::Type).and_then(AutogenStateType::from_key).is_some();
        if !is_known(state) || object_of(state, AutogenStateKey::Held).is_some_and(|held| !is_known(held)) {
            draft.skip_record(agent.node.origin, "a state of unknown type is passed over");
        }
        for (node, message) in draft.record_objects(context_of(state).unwrap_or_default()) {
            if text_of(message, AutogenStateKey::Type).and_then(AutogenModelMessage::from_key).is_none() {
                draft.skip_record(node.origin, UNKNOWN_MESSAGE);
            }
        }
    }
}

const UNKNOWN_MESSAGE: &str = "a message of unknown type is passed over";

fn add_message<'run>(talk: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, message: Object<'run>) {
    let about = StepMeta::default();
    let content = value_of(message, AutogenKey::Content);
    let items = content.and_then(node_list);
    match text_of(message, AutogenStateKey::Type).and_then(AutogenModelMessage::from_key) {
        Some(AutogenModelMessage::Assistant) => {
            talk.begin_turn();
            let thought = value_of(message, AutogenStateKey::Thought);
            thought.into_iter().for_each(|words| talk.add_message(Speaker::Thinking, words, &about, node.origin));
            match items {
                Some(calls) => autogen::add_calls(talk, calls, &about),
                None => content
                    .into_iter()
                    .for_each(|words| talk.add_content(Speaker::Assistant, words, &about, node.origin)),
            }
        }
        Some(AutogenModelMessage::Results) => autogen::add_results(talk, items.unwrap_or_default(), &about),
        // What other agents said is given to a model as the words of a user, too.
        Some(AutogenModelMessage::User) => {
            let speaker = if autogen::is_of_user(message) { Speaker::User } else { Speaker::System };
            content.into_iter().for_each(|words| talk.add_text(speaker, words, &about, node.origin));
        }
        Some(AutogenModelMessage::System) => {
            content.into_iter().for_each(|words| talk.add_text(Speaker::System, words, &about, node.origin));
        }
        None => talk.draft.skip_record(node.origin, UNKNOWN_MESSAGE),
    }
}
