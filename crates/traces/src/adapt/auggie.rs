//! Auggie, Augment's agent on the command line: its session files. An exchange holds what was sent (text, results of tools) and what came
//! (text, thoughts, calls) as nodes whose kind is a number.

use super::blocks::{BlockCall, BlockResult};
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, Speaker, StepMeta, instant_node};
use super::fields::{FieldRecord as _, NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{list_of, node_object, object_of, objects_of, text_of};
use super::run_builder::RunBuilder;
use super::{block_session, blocks};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run};
use averment_runs::run::StepStatus;

key_table! {
    AuggieKey {
        History = "chatHistory",
        Session = "sessionId",
        Time = "finishedAt",
        Summary = "isHistorySummary",
        Exchange = "exchange",
        Sent = "request_nodes",
        Came = "response_nodes",
        Asked = "request_message",
        Answered = "response_text",
        Kind = "type",
        Text = "text_node",
        Result = "tool_result_node",
        Call = "tool_use",
        Thought = "thinking",
        Usage = "token_usage",
        Content = "content" | "summary",
        Blocks = "content_nodes",
        Id = "tool_use_id",
        Name = "tool_name",
        Input = "input_json",
        Failed = "is_error",
        Duration = "duration_ms",
        State = "agentState",
        Model = "modelId",
    }
}

key_table! {
    /// Kinds of nodes that were sent.
    SentKind {
        Text = "0",
        Result = "1",
        /// Images, files, the state of the editor, edits of the user, checkpoints, a summary of what was said before.
        Silent = "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "10",
    }
}

key_table! {
    /// Kinds of nodes that came.
    CameKind {
        Text = "0",
        Call = "5",
        Thought = "8",
        Usage = "10",
        /// Suggested questions, the end of the text, excerpts, a call that begins, what it is billed.
        Silent = "1" | "2" | "3" | "4" | "6" | "7" | "9",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Auggie session",
    known_by: "a `chatHistory` of objects with an `exchange`",
    description: "sessions of Auggie (`chatHistory` with `exchange`)",
    marks: &[AuggieKey::History.key()],
    near: &[],
    object: |object| list_of(object, AuggieKey::History).is_some_and(|list| objects_of(list).any(is_exchange)),
    read: read_run,
    ..IN_FULL
};

fn is_exchange(entry: Object<'_>) -> bool {
    object_of(entry, AuggieKey::Exchange).is_some_and(|exchange| {
        list_of(exchange, AuggieKey::Sent).is_some()
            || list_of(exchange, AuggieKey::Came).is_some()
            || text_of(exchange, AuggieKey::Asked).is_some()
    })
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(run) = node_object(root) else { return Ok(()) };
    builder.set_some(of_run::ID, value_of(run, AuggieKey::Session));
    let model = object_of(run, AuggieKey::State).and_then(|state| value_of(state, AuggieKey::Model));
    let mut conversation = ConversationBuilder::from_parts(builder);
    for (node, entry) in conversation.builder.record_objects(list_of(run, AuggieKey::History).unwrap_or_default()) {
        conversation.builder.count_record();
        match object_of(entry, AuggieKey::Exchange).filter(|_| is_exchange(entry)) {
            Some(exchange) => add_exchange(&mut conversation, node, entry, exchange),
            None => conversation.builder.skip_record(node.origin, "an entry without its `exchange` is skipped"),
        }
    }
    conversation.add_meta(of_meta::MODEL, model);
    conversation.finish_run();
    Ok(())
}

fn add_exchange<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    entry: Object<'run>,
    exchange: Object<'run>,
) {
    let sent = list_of(exchange, AuggieKey::Sent).unwrap_or_default();
    let came = list_of(exchange, AuggieKey::Came).unwrap_or_default();
    // Older entries hold the texts alone; those of others stand in nodes as well.
    let says = |nodes: &'run [Node<'run>]| objects_of(nodes).any(|node| kind_of(node) == Some(SentKind::Text.key()));
    let plain = StepMeta::default();
    // A summary of what was said before is the program's.
    let speaker = if is_true(&entry, &NodeShapes, AuggieKey::Summary) { Speaker::System } else { Speaker::User };
    if !says(sent)
        && let Some(words) = value_of(exchange, AuggieKey::Asked)
    {
        conversation.add_content(speaker, words, &plain, node.origin);
    }
    for (at, one) in conversation.builder.record_objects(sent) {
        add_sent(conversation, at, one, speaker);
    }
    let meta = StepMeta { time: value_of(entry, AuggieKey::Time).and_then(instant_node), ..plain };
    conversation.begin_turn();
    for (at, one) in conversation.builder.record_objects(came) {
        add_came(conversation, at, one, &meta);
    }
    if !says(came)
        && let Some(words) = value_of(exchange, AuggieKey::Answered)
    {
        conversation.add_content(Speaker::Assistant, words, &meta, node.origin);
    }
}

fn kind_of(node: Object<'_>) -> Option<&'static str> {
    let Value::Number(number) = node.field(AuggieKey::Kind)?.value else { return None };
    const WORDS: [&str; 11] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
    WORDS.get(usize::try_from(number.as_i64()?).ok()?).copied()
}

fn add_sent<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    at: Node<'run>,
    node: Object<'run>,
    speaker: Speaker,
) {
    let meta = StepMeta::default();
    match kind_of(node).and_then(SentKind::from_key) {
        Some(SentKind::Text) => {
            let words = object_of(node, AuggieKey::Text).and_then(|text| value_of(text, AuggieKey::Content));
            words.into_iter().for_each(|words| conversation.add_content(speaker, words, &meta, at.origin));
        }
        Some(SentKind::Result) => {
            let Some(given) = object_of(node, AuggieKey::Result) else {
                return conversation.builder.skip_record(at.origin, blocks::UNKNOWN);
            };
            let failed = is_true(&given, &NodeShapes, AuggieKey::Failed);
            let content = value_of(given, AuggieKey::Content);
            let answer = BlockResult {
                id: text_of(given, AuggieKey::Id),
                result: content.or_else(|| value_of(given, AuggieKey::Blocks)),
                is_value: true,
                failed,
                status: Some(if failed { StepStatus::Failed } else { StepStatus::Ok }),
            };
            let mut outcome = block_session::outcome_of(conversation, &answer, None);
            outcome.duration = value_of(given, AuggieKey::Duration);
            conversation.add_result(answer.id, None, outcome, &meta, at.origin);
        }
        Some(SentKind::Silent) => {}
        None => conversation.builder.skip_record(at.origin, blocks::UNKNOWN),
    }
}

fn add_came<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    at: Node<'run>,
    node: Object<'run>,
    meta: &StepMeta<'run>,
) {
    match kind_of(node).and_then(CameKind::from_key) {
        Some(CameKind::Text) => {
            let words = value_of(node, AuggieKey::Content);
            words.into_iter().for_each(|words| conversation.add_content(Speaker::Assistant, words, meta, at.origin));
        }
        Some(CameKind::Thought) => {
            let thought = object_of(node, AuggieKey::Thought).and_then(|thought| value_of(thought, AuggieKey::Content));
            thought.into_iter().for_each(|words| conversation.add_message(Speaker::Thinking, words, meta, at.origin));
        }
        Some(CameKind::Call) => {
            let Some(call) = object_of(node, AuggieKey::Call) else {
                return conversation.builder.skip_record(at.origin, blocks::UNKNOWN);
            };
            let [tool, args, id] = [AuggieKey::Name, AuggieKey::Input, AuggieKey::Id].map(|key| value_of(call, key));
            block_session::add_call(conversation, at, BlockCall { tool, args, id, answer: None }, meta);
        }
        Some(CameKind::Usage) => {
            if let Some(counts) = object_of(node, AuggieKey::Usage) {
                let (mut told, mut usage) = (TokenUsage::default(), TokenUsage::default());
                told.add_usage(counts);
                usage.add_counts(told.token_counts());
                conversation.add_usage(&usage, None);
            }
        }
        Some(CameKind::Silent) => {}
        None => conversation.builder.skip_record(at.origin, blocks::UNKNOWN),
    }
}
