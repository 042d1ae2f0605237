//! Inspect: the log of an evaluation (`eval`, `samples`), a run for each sample, and a sample alone. Messages hold the calls; the events
//! beside them say when each was made, and hold the calls that no message has. A tool that fails says so (`error`), and one without it
//! went well.

mod events;

use super::calls::Usage;
use super::content;
use super::cutting::Cutting;
use super::draft::Draft;
use super::fields::{Parsed, Record, Shape, Shapes, key_table};
use super::format::{Format, IN_FULL};
use super::messages::Role;
use super::nodes::{first_of, list_of, object, object_of, objects, text, text_of};
use super::talk::{About, Made, Outcome, Speaker, Talk, seconds};
use averment_base::value::{Node, Object, Text, Value};
use averment_runs::normal::{of_meta, of_run, of_usage};
use averment_runs::run::Status;
use events::Executed;

key_table! {
    /// A log.
    OfLog {
        Eval = "eval",
        Samples = "samples",
        Version = "version",
        Status = "status",
        Task = "task",
        Model = "model",
    }
}

key_table! {
    /// A sample.
    OfSample {
        Id = "id",
        Epoch = "epoch",
        Target = "target",
        Messages = "messages",
        Events = "events",
        Scores = "scores",
        Metadata = "metadata",
        Usage = "model_usage",
        Time = "total_time",
        Error = "error",
        Attachments = "attachments",
        CacheRead = "input_tokens_cache_read",
        CacheWrite = "input_tokens_cache_write",
    }
}

key_table! {
    /// A message.
    OfInspect {
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
    /// The errors of calls that were not carried out.
    Refusal {
        Denied = "approval",
    }
}

/// Logs.
pub(crate) const FORMAT: Format = Format {
    name: "Inspect log",
    known_by: "`eval` beside `samples`, or a sample with `epoch`, `target` and `messages`",
    description: "logs of Inspect (`eval`, `samples`), a run each sample",
    marks: &[OfLog::Eval.key(), OfSample::Epoch.key()],
    near: &[OfSample::Epoch.key()],
    object: |object| is_log(object) || is_sample(object),
    read,
    runs: &[Cutting {
        within: &[],
        way: &[&[OfLog::Samples.key()]],
        by: &[],
        keeps: &[OfLog::Eval.key(), OfLog::Version.key(), OfLog::Status.key()],
    }],
    ..IN_FULL
};

fn is_log(object: Object<'_>) -> bool {
    object_of(object, OfLog::Eval).is_some_and(|eval| eval.field(OfLog::Task).is_some())
        && list_of(object, OfLog::Samples).is_some_and(|samples| objects(samples).any(|(_, sample)| is_sample(sample)))
}

fn is_sample(sample: Object<'_>) -> bool {
    sample.field(OfSample::Epoch).is_some_and(|epoch| Parsed.is(epoch, Shape::Number))
        && sample.field(OfSample::Target).is_some()
        && list_of(sample, OfSample::Messages).is_some()
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let Value::Object(log) = root.value else { return Ok(()) };
    let first = list_of(log, OfLog::Samples).and_then(|samples| objects(samples).next());
    let sample = first.map_or(log, |(_, sample)| sample);
    let id = first_of(sample, &[OfSample::Id]);
    if let Some(id) = id {
        let id = with_epoch(draft, id, sample);
        draft.set(of_run::ID, id);
    }
    let mut talk = Talk::new(draft);
    let eval = object_of(log, OfLog::Eval);
    talk.meta(OfLog::Task.key(), eval.and_then(|eval| eval.field(OfLog::Task)));
    for field in [OfSample::Target, OfSample::Scores, OfSample::Metadata] {
        talk.meta(field.key(), sample.field(field));
    }
    let attachments = object_of(sample, OfSample::Attachments);
    let messages = list_of(sample, OfSample::Messages).unwrap_or_default();
    let mut executed = Executed::new(&mut talk, messages, list_of(sample, OfSample::Events).unwrap_or_default());
    for (place, node) in messages.iter().enumerate() {
        talk.draft.record();
        match object(*node).filter(|message| text_of(*message, OfInspect::Role).is_some()) {
            Some(one) => message(&mut talk, *node, one, attachments, &mut executed),
            None => talk.draft.not_understood(node.origin, "a message without `role` is passed over"),
        }
        executed.behind(&mut talk, place, attachments);
    }
    executed.finish(&mut talk, attachments);
    talk.meta(of_meta::MODEL, eval.and_then(|eval| eval.field(OfLog::Model)));
    about_the_run(talk, sample);
    Ok(())
}

/// The id of a sample, with the epoch: several epochs are several runs.
fn with_epoch<'run>(draft: &Draft<'run, '_>, id: Node<'run>, sample: Object<'run>) -> Node<'run> {
    let word = |node: Node<'run>| match node.value {
        Value::Text(text) => text.as_str().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    let epoch = sample.field(OfSample::Epoch).map(word).unwrap_or_default();
    let id_and_epoch = format!("{}_epoch_{epoch}", word(id));
    Node::new(Value::Text(Text::Plain(draft.arena.alloc_str(&id_and_epoch))), id.origin)
}

/// What a text stands for that names what is kept beside the messages.
fn resolved<'run>(node: Node<'run>, attachments: Option<Object<'run>>) -> Node<'run> {
    let name = text(node).and_then(|text| text.strip_prefix("attachment://"));
    name.and_then(|name| attachments?.get(name)).unwrap_or(node)
}

/// How a call ended that has an error.
fn refused_or_failed(error: Option<Node<'_>>) -> Option<Status> {
    let kind = object(error?).and_then(|error| text_of(error, OfInspect::ErrorType));
    Some(if kind.and_then(Refusal::from_key).is_some() { Status::Denied } else { Status::Failed })
}

fn message<'run>(
    talk: &mut Talk<'_, 'run, '_>,
    node: Node<'run>,
    message: Object<'run>,
    attachments: Option<Object<'run>>,
    executed: &mut Executed<'run>,
) {
    let about = About::default();
    let content = message.field(OfInspect::Content).map(|content| resolved(content, attachments));
    let role = text_of(message, OfInspect::Role).and_then(Role::from_key);
    if role == Some(Role::Result) {
        let result = content.map(|content| content::text(content, talk.draft.arena).unwrap_or(content));
        let error = first_of(message, &[OfInspect::Error]);
        let status = refused_or_failed(error).unwrap_or(Status::Ok);
        let outcome = Outcome { result, error, status: Some(status), ..Outcome::default() };
        let (id, tool) = (text_of(message, OfInspect::Answers), text_of(message, OfInspect::Function));
        talk.answer(id, tool, outcome, &about, node.origin);
        return;
    }
    let speaker = match role {
        Some(Role::Assistant) => Speaker::Assistant,
        Some(Role::User) => Speaker::User,
        _ => Speaker::System,
    };
    // Where work is handed over, what tools give back is told to others in the words of a user.
    if speaker == Speaker::User && executed.is_result(message) {
        return;
    }
    if role == Some(Role::Assistant) {
        talk.begin_turn();
        talk.meta(of_meta::MODEL, message.field(OfInspect::Model));
        for (at, block) in objects(list_of(message, OfInspect::Content).unwrap_or_default()) {
            if let Some(words) = block.field(OfInspect::Reasoning) {
                talk.say(Speaker::Thinking, words, &about, at.origin);
            }
        }
    }
    content.into_iter().for_each(|content| talk.say_content(speaker, content, &about, node.origin));
    for (at, call) in talk.draft.objects(list_of(message, OfInspect::Calls).unwrap_or_default()) {
        let tool = call.field(OfInspect::Function).unwrap_or(Node::computed(Value::Null));
        let made =
            Made { tool, args: call.field(OfInspect::Arguments), id: call.field(OfInspect::Id), origin: at.origin };
        if let (Some(step), Some(id)) = (talk.call(made, &about), text_of(call, OfInspect::Id)) {
            executed.call(step, id);
        }
    }
}

fn about_the_run<'run>(mut talk: Talk<'_, 'run, '_>, sample: Object<'run>) {
    for model in object_of(sample, OfSample::Usage).map_or(&[][..], |models| models.entries()) {
        let Some(counts) = object(model.node) else { continue };
        let mut usage = Usage::default();
        usage.add(counts);
        usage.count(of_usage::CACHE_READ, counts.field(OfSample::CacheRead));
        usage.count(of_usage::CACHE_WRITE, counts.field(OfSample::CacheWrite));
        talk.spends(&usage, Some(Node::computed(Value::plain(model.key))));
    }
    let duration = sample.field(OfSample::Time).and_then(seconds);
    talk.draft.set_some(of_run::DURATION, duration);
    talk.draft.set_some(of_run::ERROR, first_of(sample, &[OfSample::Error]));
    talk.finish();
}
