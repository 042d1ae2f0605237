//! Llama Stack: sessions of its agents, and turns alone. A turn has steps: what a model answered, and tools that were run.

use super::blocks::{BlockCall, BlockResult};
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::MessageRole;
use super::nodes::{items_of, list_of, node_object, object_items, object_of, objects_of, text_of};
use super::run_builder::RunBuilder;
use super::{block_session, blocks};
use averment_base::value::{Node, Object};
use averment_runs::normal::of_run;
use averment_runs::run::StepStatus;

key_table! {
    StackKey {
        Session = "session_id",
        /// Beside the turns of a session, whose key other runs have for a number.
        Title = "session_name",
        Turns = "turns",
        Turn = "turn_id",
        Asked = "input_messages",
        Steps = "steps",
        Type = "step_type",
        Start = "started_at",
        End = "completed_at",
        Answer = "model_response",
        /// The last answer again.
        Last = "output_message",
        Calls = "tool_calls",
        Results = "tool_responses",
        Role = "role",
        Content = "content",
        Tool = "tool_name",
        Args = "arguments" | "arguments_json",
        Call = "call_id",
    }
}

key_table! {
    StackStep {
        Model = "inference",
        Tools = "tool_execution",
        /// Shields look at what is said, and a memory is searched for it.
        Silent = "shield_call" | "memory_retrieval",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Llama Stack session",
    known_by: "a `session_name` and `turns` with `input_messages` and `steps` of a `step_type`",
    description: "sessions and turns of agents of Llama Stack (`turns` with `input_messages`)",
    marks: &[StackKey::Title.key(), StackKey::Asked.key()],
    near: &[StackKey::Asked.key()],
    object: |object| {
        is_turn(object) || list_of(object, StackKey::Turns).is_some_and(|turns| objects_of(turns).any(is_turn))
    },
    item_marks: &[StackKey::Asked.key()],
    element: is_turn,
    line: is_turn,
    read: read_run,
    ..IN_FULL
};

fn is_turn(turn: Object<'_>) -> bool {
    list_of(turn, StackKey::Asked).is_some()
        && list_of(turn, StackKey::Steps).is_some()
        && text_of(turn, StackKey::Turn).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let turns = items_of(root, &[StackKey::Turns]);
    let first = object_items(turns).next().and_then(|(_, turn)| value_of(turn, StackKey::Session));
    let whole = node_object(*root).and_then(|session| value_of(session, StackKey::Session));
    builder.set_some(of_run::ID, whole.or(first));
    let mut conversation = ConversationBuilder::from_parts(builder);
    for (node, turn) in conversation.builder.record_objects(turns) {
        conversation.builder.count_record();
        if !is_turn(turn) {
            conversation.builder.skip_record(node.origin, "what is no turn is skipped");
            continue;
        }
        add_asked(&mut conversation, turn);
        for (at, step) in conversation.builder.record_objects(list_of(turn, StackKey::Steps).unwrap_or_default()) {
            conversation.builder.count_record();
            add_step(&mut conversation, at, step);
        }
        if let Some(last) = object_of(turn, StackKey::Last) {
            conversation.builder.role_of(node, text_of(last, StackKey::Role));
            value_of(last, StackKey::Content).into_iter().for_each(|words| conversation.builder.note_parts(words));
        }
    }
    conversation.finish_run();
    Ok(())
}

fn add_asked<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, turn: Object<'run>) {
    let meta = StepMeta { time: value_of(turn, StackKey::Start), ..StepMeta::default() };
    for (node, message) in conversation.builder.record_objects(list_of(turn, StackKey::Asked).unwrap_or_default()) {
        let role = conversation.builder.role_of(node, text_of(message, StackKey::Role));
        let content = value_of(message, StackKey::Content);
        if role == Some(MessageRole::Result) {
            add_result(conversation, node, message, &meta);
        } else if let Some(words) = content.filter(|_| role.is_some()) {
            conversation.add_content(Speaker::from_role(role), words, &meta, node.origin);
        } else {
            conversation.builder.note_unknown(node.origin, super::unknown::UNKNOWN_ROLE);
        }
    }
}

fn add_step<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, step: Object<'run>) {
    let meta = StepMeta { time: value_of(step, StackKey::Start), ..StepMeta::default() };
    match text_of(step, StackKey::Type).and_then(StackStep::from_key) {
        Some(StackStep::Model) => {
            let Some(answer) = object_of(step, StackKey::Answer) else {
                return conversation.builder.skip_record(node.origin, blocks::UNKNOWN);
            };
            conversation.builder.role_of(node, text_of(answer, StackKey::Role));
            conversation.begin_turn();
            if let Some(words) = value_of(answer, StackKey::Content) {
                conversation.add_content(Speaker::Assistant, words, &meta, node.origin);
            }
            add_calls(conversation, answer, &meta);
        }
        Some(StackStep::Tools) => {
            // Each was asked for in the step before.
            add_calls(conversation, step, &meta);
            let meta = StepMeta { time: value_of(step, StackKey::End), ..meta };
            for (at, given) in conversation.builder.record_objects(list_of(step, StackKey::Results).unwrap_or_default())
            {
                add_result(conversation, at, given, &meta);
            }
        }
        Some(StackStep::Silent) => {}
        None => conversation.builder.skip_record(node.origin, "a step of unknown type is skipped: it may be a call"),
    }
}

fn add_calls<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, holder: Object<'run>, meta: &StepMeta<'run>) {
    for (at, call) in conversation.builder.record_objects(list_of(holder, StackKey::Calls).unwrap_or_default()) {
        if text_of(call, StackKey::Call).is_none_or(|id| conversation.find_call(id).is_none()) {
            let [tool, args, id] = [StackKey::Tool, StackKey::Args, StackKey::Call].map(|key| value_of(call, key));
            block_session::add_call(conversation, at, BlockCall { tool, args, id, answer: None }, meta);
        }
    }
}

fn add_result<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    given: Object<'run>,
    meta: &StepMeta<'run>,
) {
    let answer = BlockResult {
        id: text_of(given, StackKey::Call),
        result: value_of(given, StackKey::Content),
        status: Some(StepStatus::Unknown),
        ..BlockResult::default()
    };
    block_session::add_result(conversation, node, &answer, text_of(given, StackKey::Tool), meta);
}
