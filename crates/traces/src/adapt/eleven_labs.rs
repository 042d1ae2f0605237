//! ElevenLabs: the transcript of a conversation with an agent. Calls and results stand in the agent's entries.

use super::block_session;
use super::blocks::{BlockCall, BlockResult};
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{FieldRecord as _, NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{list_of, node_object, objects_of, text_of};
use super::run_builder::RunBuilder;
use super::unknown::UNKNOWN_ROLE;
use averment_base::value::{Node, Object};
use averment_runs::normal::of_run;
use averment_runs::run::StepStatus;

key_table! {
    LabsKey {
        Transcript = "transcript",
        Id = "conversation_id",
        Role = "role",
        Words = "message",
        Seconds = "time_in_call_secs",
        Calls = "tool_calls",
        Results = "tool_results",
        Call = "request_id",
        Name = "tool_name",
        Args = "params_as_json",
        Result = "result_value",
        Failed = "is_error",
    }
}

key_table! {
    LabsRole {
        Assistant = "agent",
        User = "user",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "ElevenLabs conversation",
    known_by: "a `transcript` whose entries have a `role` and `time_in_call_secs`",
    description: "conversations of ElevenLabs (`transcript` with `time_in_call_secs`)",
    marks: &[LabsKey::Transcript.key()],
    near: &[],
    object: |object| {
        let is_entry =
            |entry: Object<'_>| text_of(entry, LabsKey::Role).is_some() && entry.field(LabsKey::Seconds).is_some();
        objects_of(list_of(object, LabsKey::Transcript).unwrap_or_default()).any(is_entry)
    },
    read: read_run,
    ..IN_FULL
};

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(run) = node_object(root) else { return Ok(()) };
    builder.set_some(of_run::ID, value_of(run, LabsKey::Id));
    let mut conversation = ConversationBuilder::from_parts(builder);
    for (node, entry) in conversation.builder.record_objects(list_of(run, LabsKey::Transcript).unwrap_or_default()) {
        conversation.builder.count_record();
        add_entry(&mut conversation, node, entry);
    }
    conversation.finish_run();
    Ok(())
}

fn add_entry<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, entry: Object<'run>) {
    let meta = StepMeta::default();
    let speaker = match text_of(entry, LabsKey::Role).and_then(LabsRole::from_key) {
        Some(LabsRole::Assistant) => Speaker::Assistant,
        Some(LabsRole::User) => Speaker::User,
        None => {
            conversation.builder.note_unknown(node.origin, UNKNOWN_ROLE);
            Speaker::System
        }
    };
    if let Some(words) = value_of(entry, LabsKey::Words) {
        conversation.begin_message();
        conversation.add_content(speaker, words, &meta, node.origin);
    }
    for (at, call) in conversation.builder.record_objects(list_of(entry, LabsKey::Calls).unwrap_or_default()) {
        let [tool, args, id] = [LabsKey::Name, LabsKey::Args, LabsKey::Call].map(|key| value_of(call, key));
        block_session::add_call(conversation, at, BlockCall { tool, args, id, answer: None }, &meta);
    }
    for (at, given) in conversation.builder.record_objects(list_of(entry, LabsKey::Results).unwrap_or_default()) {
        let failed = is_true(&given, &NodeShapes, LabsKey::Failed);
        let answer = BlockResult {
            id: text_of(given, LabsKey::Call),
            result: value_of(given, LabsKey::Result),
            is_value: true,
            failed,
            status: Some(if failed { StepStatus::Failed } else { StepStatus::Ok }),
        };
        block_session::add_result(conversation, at, &answer, text_of(given, LabsKey::Name), &meta);
    }
}
