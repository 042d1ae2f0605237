//! Amazon Q Developer and Kiro on the command line: a saved conversation. An entry of the history holds what was given to the model and
//! what it answered; the only key of each says what it is.

use super::block_session;
use super::blocks::{BlockCall, BlockResult};
use super::conversation::{ConversationBuilder, Speaker, StepMeta, instant_node};
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{list_of, node_object, object_of, objects_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object};
use averment_runs::normal::of_run;
use averment_runs::run::StepStatus;

key_table! {
    QKey {
        Id = "conversation_id",
        History = "history",
        Content = "content",
        Time = "timestamp",
    }
}

key_table! {
    /// The two sides of an entry.
    QSide {
        User = "user",
        Assistant = "assistant",
    }
}

key_table! {
    QGivenKey {
        Prompt = "Prompt",
        Results = "ToolUseResults",
        Cancelled = "CancelledToolUses",
        Words = "prompt",
        List = "tool_use_results",
        Call = "tool_use_id",
        Content = "content",
        Status = "status",
        Text = "Text",
        Json = "Json",
    }
}

key_table! {
    QAnswerKey {
        Calls = "ToolUse",
        Said = "Response",
        Words = "content",
        List = "tool_uses",
        Id = "id",
        Name = "name",
        Args = "args",
    }
}

key_table! {
    QStatus {
        Ok = "Success" | "success",
        Failed = "Error" | "error",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Amazon Q conversation",
    known_by: "`conversation_id` beside a `history` of `user` and `assistant`",
    description: "conversations of Amazon Q Developer and Kiro on the command line (`history` of `user` and `assistant`)",
    marks: &[QKey::History.key()],
    object: |object| {
        let is_entry = |entry: Object<'_>| {
            let content = side_of(entry, QSide::User).is_some_and(|user| user.field(QKey::Content).is_some());
            content && side_of(entry, QSide::Assistant).is_some()
        };
        text_of(object, QKey::Id).is_some()
            && objects_of(list_of(object, QKey::History).unwrap_or_default()).any(is_entry)
    },
    read: read_run,
    ..IN_FULL
};

fn side_of(entry: Object<'_>, side: QSide) -> Option<Object<'_>> {
    let held = entry.entries().iter().find(|held| QSide::from_key(held.key) == Some(side));
    node_object(held?.node)
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(run) = node_object(root) else { return Ok(()) };
    builder.set_some(of_run::ID, value_of(run, QKey::Id));
    let mut conversation = ConversationBuilder::from_parts(builder);
    for (node, entry) in conversation.builder.record_objects(list_of(run, QKey::History).unwrap_or_default()) {
        conversation.builder.count_record();
        let user = side_of(entry, QSide::User);
        let time = user.and_then(|user| value_of(user, QKey::Time)).and_then(instant_node);
        let meta = StepMeta { time, ..StepMeta::default() };
        match user.and_then(|user| object_of(user, QKey::Content)) {
            Some(given) => add_given(&mut conversation, node, given, &meta),
            None => conversation.builder.skip_record(node.origin, "an entry without what was given is skipped"),
        }
        match side_of(entry, QSide::Assistant) {
            // An answer has no time of its own.
            Some(answer) => add_answer(&mut conversation, node, answer),
            None => conversation.builder.skip_record(node.origin, "an entry without an answer is skipped"),
        }
    }
    conversation.finish_run();
    Ok(())
}

fn add_given<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    given: Object<'run>,
    meta: &StepMeta<'run>,
) {
    let known = [QGivenKey::Prompt, QGivenKey::Results, QGivenKey::Cancelled].map(|key| object_of(given, key));
    let Some(inner) = known.into_iter().flatten().next() else {
        return conversation.builder.skip_record(node.origin, "what was given is of no known kind: it may be a result");
    };
    let [_, _, cancelled] = known;
    for (at, result) in conversation.builder.record_objects(list_of(inner, QGivenKey::List).unwrap_or_default()) {
        let word = text_of(result, QGivenKey::Status).and_then(QStatus::from_key);
        let status = match word {
            _ if cancelled.is_some() => StepStatus::Denied,
            Some(QStatus::Ok) => StepStatus::Ok,
            Some(QStatus::Failed) => StepStatus::Failed,
            None => StepStatus::Unknown,
        };
        let answer = BlockResult {
            id: text_of(result, QGivenKey::Call),
            result: value_of(result, QGivenKey::Content).map(only_part),
            is_value: true,
            failed: status == StepStatus::Failed,
            status: Some(status),
        };
        block_session::add_result(conversation, at, &answer, None, meta);
    }
    if let Some(words) = value_of(inner, QGivenKey::Words) {
        conversation.add_content(Speaker::User, words, meta, node.origin);
    }
}

/// Nearly always there is one part, a text or a value.
fn only_part(content: Node<'_>) -> Node<'_> {
    let part = match super::nodes::node_list(content) {
        Some([only]) => node_object(*only),
        _ => None,
    };
    let inner = part.and_then(|part| value_of(part, QGivenKey::Text).or_else(|| value_of(part, QGivenKey::Json)));
    inner.unwrap_or(content)
}

fn add_answer<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, answer: Object<'run>) {
    let meta = StepMeta::default();
    let known = [QAnswerKey::Calls, QAnswerKey::Said].into_iter().find_map(|key| object_of(answer, key));
    let Some(inner) = known else {
        return conversation
            .builder
            .skip_record(node.origin, "an answer of no known kind is skipped: it may have calls");
    };
    conversation.begin_turn();
    if let Some(words) = value_of(inner, QAnswerKey::Words) {
        conversation.add_content(Speaker::Assistant, words, &meta, node.origin);
    }
    for (at, call) in conversation.builder.record_objects(list_of(inner, QAnswerKey::List).unwrap_or_default()) {
        let [tool, args, id] = [QAnswerKey::Name, QAnswerKey::Args, QAnswerKey::Id].map(|key| value_of(call, key));
        block_session::add_call(conversation, at, BlockCall { tool, args, id, answer: None }, &meta);
    }
}
