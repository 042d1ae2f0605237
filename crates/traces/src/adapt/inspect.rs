//! Inspect: the log of an evaluation (`eval`, `samples`), a run for each sample, and a sample alone. Messages hold the calls; the events
//! beside them say when each was made, and hold the calls that no message has. A tool that fails says so (`error`), and one without it
//! went well.

mod events;

use super::blocks::{self, ContentBlock};
use super::calls::TokenUsage;
use super::content;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall, seconds_to_ms};
use super::cutting::RunCutting;
use super::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::messages::MessageRole;
use super::nodes::{first_of, list_of, node_object, node_text, object_items, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value, ValueText};
use averment_runs::normal::{of_meta, of_run, of_usage};
use averment_runs::run::StepStatus;
use events::ExecutionIndex;

key_table! {
    InspectLogKey {
        Eval = "eval",
        Samples = "samples",
        Version = "version",
        Status = "status",
        Task = "task",
        Model = "model",
    }
}

key_table! {
    SampleKey {
        Id = "id",
        Epoch = "epoch",
        Target = "target",
        Messages = "messages",
        Events = "events",
        Scores = "scores",
        Metadata = "metadata",
        /// What a table of samples says beside them.
        Meta = "meta",
        Usage = "model_usage",
        Time = "total_time",
        Error = "error",
        Attachments = "attachments",
        CacheRead = "input_tokens_cache_read",
        CacheWrite = "input_tokens_cache_write",
    }
}

key_table! {
    InspectMessageKey {
        Role = "role",
        Content = "content",
        Model = "model",
        Calls = "tool_calls",
        Id = "id",
        Function = "function",
        Arguments = "arguments",
        Answers = "tool_call_id",
        Error = "error",
        ErrorType = "type",
        Reasoning = "reasoning",
        /// Of a call that the provider ran.
        Result = "result",
    }
}

/// The files and folders in which an archive of a log says of its samples what they say themselves; none in an archive that is no log.
#[cfg(feature = "packed")]
pub fn beside_samples(names: &[impl AsRef<str>]) -> &'static [&'static str] {
    const BESIDE: [&str; 4] = ["header.json", "_journal/", "summaries.json", "reductions.json"];
    let has = |beginning: &str| names.iter().any(|name| name.as_ref().starts_with(beginning));
    let [header, journal, ..] = BESIDE;
    if has("samples/") && (has(header) || has(journal)) { &BESIDE } else { &[] }
}

key_table! {
    /// Errors of calls that were not executed.
    RefusalType {
        Denied = "approval",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Inspect log",
    known_by: "`eval` beside `samples`, or a sample with `epoch`, `target` and `messages`",
    description: "logs of Inspect (`eval`, `samples`), a run each sample",
    marks: &[InspectLogKey::Eval.key(), SampleKey::Epoch.key()],
    near: &[SampleKey::Epoch.key()],
    object: |object| is_log(object) || is_sample(object),
    read: read_run,
    runs: &[RunCutting {
        within: &[],
        way: &[&[InspectLogKey::Samples.key()]],
        by: &[],
        keeps: &[InspectLogKey::Eval.key(), InspectLogKey::Version.key(), InspectLogKey::Status.key()],
        joins: None,
    }],
    ..IN_FULL
};

fn is_log(object: Object<'_>) -> bool {
    object_of(object, InspectLogKey::Eval).is_some_and(|eval| eval.field(InspectLogKey::Task).is_some())
        && list_of(object, InspectLogKey::Samples)
            .is_some_and(|samples| object_items(samples).any(|(_, sample)| is_sample(sample)))
}

fn is_sample(sample: Object<'_>) -> bool {
    sample.field(SampleKey::Epoch).is_some_and(|epoch| NodeShapes.has_shape(epoch, ValueShape::Number))
        && sample.field(SampleKey::Target).is_some()
        && list_of(sample, SampleKey::Messages).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Value::Object(log) = root.value else { return Ok(()) };
    let first = list_of(log, InspectLogKey::Samples).and_then(|samples| object_items(samples).next());
    let sample = first.map_or(log, |(_, sample)| sample);
    let id = first_of(sample, &[SampleKey::Id]);
    if let Some(id) = id {
        let id = with_epoch(builder, id, sample);
        builder.set_entry(of_run::ID, id);
    }
    let mut conversation = ConversationBuilder::new(builder);
    let eval = object_of(log, InspectLogKey::Eval);
    conversation.add_meta(InspectLogKey::Task.key(), eval.and_then(|eval| eval.field(InspectLogKey::Task)));
    for field in [SampleKey::Target, SampleKey::Scores, SampleKey::Metadata] {
        conversation.add_meta(field.key(), sample.field(field));
    }
    for entry in object_of(sample, SampleKey::Meta).iter().flat_map(|meta| meta.entries()) {
        conversation.add_meta(entry.key, Some(entry.node));
    }
    let attachments = object_of(sample, SampleKey::Attachments);
    let messages = list_of(sample, SampleKey::Messages).unwrap_or_default();
    let mut executed =
        ExecutionIndex::new(&mut conversation, messages, list_of(sample, SampleKey::Events).unwrap_or_default());
    for (place, node) in messages.iter().enumerate() {
        conversation.builder.count_record();
        match node_object(*node).filter(|message| text_of(*message, InspectMessageKey::Role).is_some()) {
            Some(one) => add_message(&mut conversation, *node, one, attachments, &mut executed),
            None => conversation.builder.skip_value(node, "a message without `role` is skipped"),
        }
        executed.add_calls_behind(&mut conversation, place, attachments);
    }
    executed.finish_calls(&mut conversation, attachments);
    conversation.add_meta(of_meta::MODEL, eval.and_then(|eval| eval.field(InspectLogKey::Model)));
    about_the_run(conversation, sample);
    Ok(())
}

/// Id and epoch: several epochs are several runs.
fn with_epoch<'run>(builder: &RunBuilder<'run, '_>, id: Node<'run>, sample: Object<'run>) -> Node<'run> {
    let word = |node: Node<'run>| match node.value {
        Value::Text(text) => text.as_str().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    let epoch = sample.field(SampleKey::Epoch).map(word).unwrap_or_default();
    let id_and_epoch = format!("{}_epoch_{epoch}", word(id));
    Node::new(Value::Text(ValueText::Plain(builder.arena.alloc_str(&id_and_epoch))), id.origin)
}

fn resolve_attachment<'run>(node: Node<'run>, attachments: Option<Object<'run>>) -> Node<'run> {
    let name = node_text(node).and_then(|text| text.strip_prefix("attachment://"));
    name.and_then(|name| attachments?.get(name)).unwrap_or(node)
}

fn refused_or_failed(error: Option<Node<'_>>) -> Option<StepStatus> {
    let kind = node_object(error?).and_then(|error| text_of(error, InspectMessageKey::ErrorType));
    Some(if kind.and_then(RefusalType::from_key).is_some() { StepStatus::Denied } else { StepStatus::Failed })
}

fn add_message<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    message: Object<'run>,
    attachments: Option<Object<'run>>,
    executed: &mut ExecutionIndex<'run>,
) {
    let about = StepMeta::default();
    let content = message.field(InspectMessageKey::Content).map(|content| resolve_attachment(content, attachments));
    let role = conversation.builder.role_of(node, text_of(message, InspectMessageKey::Role));
    if role == Some(MessageRole::Result) {
        let result =
            content.map(|content| content::content_text(content, conversation.builder.arena).unwrap_or(content));
        let error = first_of(message, &[InspectMessageKey::Error]);
        let status = refused_or_failed(error).unwrap_or(StepStatus::Ok);
        let outcome = CallResult { result, error, status: Some(status), ..CallResult::default() };
        let (id, tool) = (text_of(message, InspectMessageKey::Answers), text_of(message, InspectMessageKey::Function));
        conversation.add_result(id, tool, outcome, &about, node.origin);
        return;
    }
    let speaker = Speaker::from_role(role);
    // Where work is handed over, what tools give back is told to others in the words of a user.
    if speaker == Speaker::User && executed.is_result(message) {
        return;
    }
    if role == Some(MessageRole::Assistant) {
        conversation.begin_turn();
        conversation.add_meta(of_meta::MODEL, message.field(InspectMessageKey::Model));
        for (at, block) in object_items(list_of(message, InspectMessageKey::Content).unwrap_or_default()) {
            if let Some(words) = block.field(InspectMessageKey::Reasoning) {
                conversation.add_message(Speaker::Thinking, words, &about, at.origin);
            }
        }
    }
    if let Some(content) = content {
        conversation.builder.note_parts_beside_calls(content, role == Some(MessageRole::Assistant));
        conversation.add_text(speaker, content, &about, node.origin);
    }
    if role == Some(MessageRole::Assistant) {
        add_hosted_calls(conversation, message, &about);
    }
    for (at, call) in
        conversation.builder.record_objects(list_of(message, InspectMessageKey::Calls).unwrap_or_default())
    {
        let tool = call.field(InspectMessageKey::Function).unwrap_or(Node::computed(Value::Null));
        let made = ToolCall {
            tool,
            args: call.field(InspectMessageKey::Arguments),
            id: call.field(InspectMessageKey::Id),
            origin: at.origin,
        };
        if let (Some(step), Some(id)) = (conversation.add_call(made, &about), text_of(call, InspectMessageKey::Id)) {
            executed.note_call(step, id);
        }
    }
}

/// Calls of tools that the provider runs: they stand among the parts of an answer, with what they gave.
fn add_hosted_calls<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    message: Object<'run>,
    about: &StepMeta<'run>,
) {
    for (at, block) in object_items(list_of(message, InspectMessageKey::Content).unwrap_or_default()) {
        let made = match blocks::classify_block(block) {
            ContentBlock::Calls(call) => ToolCall {
                tool: call.tool.unwrap_or(Node::computed(Value::Null)),
                args: first_of(block, &[InspectMessageKey::Arguments]).or(call.args),
                id: call.id,
                origin: at.origin,
            },
            _ => continue,
        };
        let Some(step) = conversation.add_call(made, about) else { continue };
        let error = first_of(block, &[InspectMessageKey::Error]);
        let result = first_of(block, &[InspectMessageKey::Result]);
        let status = error.map(|_| StepStatus::Failed).or(result.map(|_| StepStatus::Ok));
        conversation.end_within(step, CallResult { result, error, status, ..CallResult::default() }, about);
    }
}

fn about_the_run<'run>(mut conversation: ConversationBuilder<'_, 'run, '_>, sample: Object<'run>) {
    for model in object_of(sample, SampleKey::Usage).map_or(&[][..], |models| models.entries()) {
        let Some(counts) = node_object(model.node) else { continue };
        let mut usage = TokenUsage::default();
        usage.add_usage(counts);
        usage.add_count(of_usage::CACHE_READ, counts.field(SampleKey::CacheRead));
        usage.add_count(of_usage::CACHE_WRITE, counts.field(SampleKey::CacheWrite));
        // Earlier versions wrote down what each provider counts as input.
        usage.count_cache_by_total();
        conversation.add_usage(&usage, Some(Node::computed(Value::plain_text(model.key))));
    }
    let duration = sample.field(SampleKey::Time).and_then(seconds_to_ms);
    conversation.builder.set_some(of_run::DURATION, duration);
    conversation.builder.set_some(of_run::ERROR, first_of(sample, &[SampleKey::Error]));
    conversation.finish_run();
}
