//! Bot Framework: the activities of a transcript. Which tools a bot called does not stand there.

use super::conversation::{ConversationBuilder, Speaker, StepMeta, instant_node};
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, node_object, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Number, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::StepKind;

key_table! {
    ActivityKey {
        Activities = "transcript" | "activities",
        Type = "type",
        Id = "id",
        Channel = "channelId",
        From = "from",
        Role = "role",
        Conversation = "conversation",
        Text = "text",
        Time = "timestamp",
    }
}

key_table! {
    ActivityType {
        Message = "message",
        /// Who comes and goes, and what is shown to whoever looks for mistakes.
        Silent = "conversationUpdate" | "trace" | "typing" | "endOfConversation" | "contactRelationUpdate" | "deleteUserData"
            | "messageUpdate" | "messageDelete" | "messageReaction" | "installationUpdate" | "suggestion" | "handoff"
            | "event" | "invoke" | "invokeResponse" | "command" | "commandResult",
    }
}

key_table! {
    ActivityRole {
        User = "user",
        Bot = "bot" | "skill",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Bot Framework transcript",
    known_by: "activities with `channelId`, `from` and `conversation`",
    description: "activities of transcripts of Microsoft's Bot Framework (a list, one a line, `transcript`); they tell no calls",
    marks: &[ActivityKey::Channel.key(), ActivityKey::Activities.key(), ActivityKey::Activities.last_key()],
    near: &[],
    object: |object| {
        is_activity(object)
            || super::nodes::list_of(object, ActivityKey::Activities)
                .is_some_and(|list| super::nodes::are_mostly(list.iter(), is_activity))
    },
    item_marks: &[ActivityKey::Channel.key()],
    element: is_activity,
    line: is_activity,
    record_ids: RecordIds::updated(&[&[ActivityKey::Id.key()]]),
    read: read_run,
    ..IN_FULL
};

fn is_activity(activity: Object<'_>) -> bool {
    text_of(activity, ActivityKey::Type).is_some()
        && activity.field(ActivityKey::Channel).is_some()
        && object_of(activity, ActivityKey::From).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::new(builder);
    for node in items_of(root, &[ActivityKey::Activities]) {
        conversation.builder.count_record();
        let Some(activity) = node_object(*node).filter(|activity| is_activity(*activity)) else {
            conversation.builder.skip_value(node, "what is no activity is skipped");
            continue;
        };
        let id = object_of(activity, ActivityKey::Conversation)
            .and_then(|recorded| value_of(recorded, ActivityKey::Id))
            .filter(|_| !conversation.builder.has_entry(of_run::ID));
        conversation.builder.set_some(of_run::ID, id);
        match text_of(activity, ActivityKey::Type).and_then(ActivityType::from_key) {
            Some(ActivityType::Message) => add_message(&mut conversation, *node, activity),
            Some(ActivityType::Silent) => {}
            None => conversation.builder.skip_record(node.origin, "an activity of unknown type is skipped"),
        }
    }
    let builder = conversation.finish_run();
    builder.warn_once(root.origin, "calls count as not recorded: transcripts do not tell them".to_owned());
    builder.mark_unrecorded(StepKind::Call);
    Ok(())
}

fn add_message<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, activity: Object<'run>) {
    let from = object_of(activity, ActivityKey::From);
    // Older emulators write numbers.
    let role = from.and_then(|from| value_of(from, ActivityKey::Role)).map(|role| match role.value {
        Value::Text(word) => ActivityRole::from_key(word.as_str()),
        Value::Number(Number::Integer(0)) => Some(ActivityRole::Bot),
        Value::Number(Number::Integer(1)) => Some(ActivityRole::User),
        _ => None,
    });
    let speaker = match role.flatten() {
        Some(ActivityRole::User) => Speaker::User,
        Some(ActivityRole::Bot) => {
            conversation.begin_turn();
            Speaker::Assistant
        }
        None => {
            return conversation.builder.skip_record(node.origin, "a message does not say who speaks and is skipped");
        }
    };
    let meta = StepMeta { time: value_of(activity, ActivityKey::Time).and_then(instant_node), ..StepMeta::default() };
    if let Some(words) = value_of(activity, ActivityKey::Text) {
        conversation.add_message(speaker, words, &meta, node.origin);
    }
}
