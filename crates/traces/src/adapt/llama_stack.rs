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

fn read_run<'run>(root: Node<'run>, draft: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = draft.arena.alloc(root);
    let turns = items_of(root, &[StackKey::Turns]);
    let first = object_items(turns).next().and_then(|(_, turn)| value_of(turn, StackKey::Session));
    let whole = node_object(*root).and_then(|session| value_of(session, StackKey::Session));
    draft.set_some(of_run::ID, whole.or(first));
    let mut talk = ConversationBuilder::from_parts(draft);
    for (node, turn) in talk.draft.record_objects(turns) {
        talk.draft.count_record();
        if !is_turn(turn) {
            talk.draft.skip_record(node.origin, "what is no turn is passed over");
            continue;
        }
        add_asked(&mut talk, turn);
        for (at, step) in talk.draft.record_objects(list_of(turn, StackKey::Steps).unwrap_or_default()) {
            talk.draft.count_record();
            add_step(&mut talk, at, step);
        }
        if let Some(last) = object_of(turn, StackKey::Last) {
            talk.draft.role_of(node, text_of(last, StackKey::Role));
            value_of(last, StackKey::Content).into_iter().for_each(|words| talk.draft.note_parts(words));
        }
    }
    talk.finish_run();
    Ok(())
}

fn add_asked<'run>(talk: &mut ConversationBuilder<'_, 'run, '_>, turn: Object<'run>) {
    let about = StepMeta { time: value_of(turn, StackKey::Start), ..StepMeta::default() };
    for (node, message) in talk.draft.record_objects(list_of(turn, StackKey::Asked).unwrap_or_default()) {
        let role = talk.draft.role_of(node, text_of(message, StackKey::Role));
        let content = value_of(message, StackKey::Content);
        if role == Some(MessageRole::Result) {
            add_result(talk, node, message, &about);
        } else if let Some(words) = content.filter(|_| role.is_some()) {
            talk.add_content(Speaker::from_role(role), words, &about, node.origin);
        } else {
            talk.draft.note_unknown(node.origin, super::unknown::UNKNOWN_ROLE);
        }
    }
}

fn add_step<'run>(talk: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, step: Object<'run>) {
    let about = StepMeta { time: value_of(step, StackKey::Start), ..StepMeta::default() };
    match text_of(step, StackKey::Type).and_then(StackStep::from_key) {
        Some(StackStep::Model) => {
            let Some(answer) = object_of(step, StackKey::Answer) else {
                return talk.draft.skip_record(node.origin, blocks::UNKNOWN);
            };
            talk.draft.role_of(node, text_of(answer, StackKey::Role));
            talk.begin_turn();
            if let Some(words) = value_of(answer, StackKey::Content) {
                talk.add_content(Speaker::Assistant, words, &about, node.origin);
            }
            add_calls(talk, answer, &about);
        }
        Some(StackStep::Tools) => {
            // Each was asked for in the step before.
            add_calls(talk, step, &about);
            let about = StepMeta { time: value_of(step, StackKey::End), ..about };
            for (at, given) in talk.draft.record_objects(list_of(step, StackKey::Results).unwrap_or_default()) {
                add_result(talk, at, given, &about);
            }
        }
        Some(StackStep::Silent) => {}
        None => talk.draft.skip_record(node.origin, "a step of unknown type is passed over: it may be a call"),
    }
}

fn add_calls<'run>(talk: &mut ConversationBuilder<'_, 'run, '_>, holder: Object<'run>, about: &StepMeta<'run>) {
    for (at, call) in talk.draft.record_objects(list_of(holder, StackKey::Calls).unwrap_or_default()) {
        if text_of(call, StackKey::Call).is_none_or(|id| talk.find_call(id).is_none()) {
            let [tool, args, id] = [StackKey::Tool, StackKey::Args, StackKey::Call].map(|key| value_of(call, key));
            block_session::add_call(talk, at, BlockCall { tool, args, id, answer: None }, about);
        }
    }
}

fn add_result<'run>(
    talk: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    given: Object<'run>,
    about: &StepMeta<'run>,
) {
    let answer = BlockResult {
        id: text_of(given, StackKey::Call),
        result: value_of(given, StackKey::Content),
        status: Some(StepStatus::Unknown),
        ..BlockResult::default()
    };
    block_session::add_result(talk, node, &answer, text_of(given, StackKey::Tool), about);
}
