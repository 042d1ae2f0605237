//! Rasa: the tracker of a conversation. Actions are calls; what they were given and gave does not stand there.

use super::block_session;
use super::blocks::BlockCall;
use super::conversation::{ConversationBuilder, Speaker, StepMeta, instant_node};
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{list_of, node_object, objects_of, text_of};
use super::run_builder::{RunBuilder, absent_node};
use averment_base::value::{Node, Object};
use averment_runs::normal::of_run;

key_table! {
    RasaKey {
        Sender = "sender_id",
        Events = "events",
        Event = "event",
        Name = "name",
        Text = "text",
        Time = "timestamp",
    }
}

key_table! {
    RasaEvent {
        User = "user",
        Bot = "bot",
        Action = "action",
        /// What the program notes about the state of the conversation.
        Silent = "session_started" | "session_ended" | "slot" | "active_loop" | "form" | "form_validation" | "loop_interrupted" | "followup"
            | "entities" | "user_featurization" | "reminder" | "cancel_reminder" | "restart" | "pause" | "resume" | "export"
            | "agent" | "reset_slots" | "stack" | "flow_started" | "flow_completed" | "flow_cancelled" | "flow_interrupted"
            | "flow_resumed" | "routing_session_ended",
    }
}

key_table! {
    /// Actions that do nothing.
    IdleAction {
        Any = "action_listen" | "action_session_start",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Rasa tracker",
    known_by: "a `sender_id` and `events` whose `event` is `user`, `bot` or `action`",
    description: "trackers of Rasa; their actions are calls",
    marks: &[RasaKey::Sender.key()],
    object: is_tracker,
    read: read_run,
    ..IN_FULL
};

fn is_tracker(tracker: Object<'_>) -> bool {
    tracker.field(RasaKey::Sender).is_some()
        && list_of(tracker, RasaKey::Events).is_some_and(|events| objects_of(events).any(|it| kind_of(it).is_some()))
}

fn kind_of(event: Object<'_>) -> Option<RasaEvent> {
    text_of(event, RasaKey::Event).and_then(RasaEvent::from_key)
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(tracker) = node_object(root) else { return Ok(()) };
    builder.set_some(of_run::ID, value_of(tracker, RasaKey::Sender));
    let mut conversation = ConversationBuilder::from_parts(builder);
    for (node, event) in conversation.builder.record_objects(list_of(tracker, RasaKey::Events).unwrap_or_default()) {
        conversation.builder.count_record();
        let meta = StepMeta { time: value_of(event, RasaKey::Time).and_then(instant_node), ..StepMeta::default() };
        let words = value_of(event, RasaKey::Text);
        match (kind_of(event), words) {
            (Some(RasaEvent::User), Some(words)) => {
                conversation.add_message(Speaker::User, words, &meta, node.origin);
                conversation.begin_turn();
            }
            (Some(RasaEvent::Bot), Some(words)) => {
                conversation.add_message(Speaker::Assistant, words, &meta, node.origin)
            }
            (Some(RasaEvent::Action), _) => add_action(&mut conversation, node, event, &meta),
            (Some(_), _) => {}
            (None, _) => {
                conversation.builder.skip_record(node.origin, "an event of unknown kind is skipped: it may be a call")
            }
        }
    }
    let builder = conversation.finish_run();
    block_session::leave_results_open(builder);
    Ok(())
}

fn add_action<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    event: Object<'run>,
    meta: &StepMeta<'run>,
) {
    if text_of(event, RasaKey::Name).and_then(IdleAction::from_key).is_some() {
        return;
    }
    let call = BlockCall { tool: value_of(event, RasaKey::Name), args: Some(absent_node()), id: None, answer: None };
    block_session::add_call(conversation, node, call, meta);
}
