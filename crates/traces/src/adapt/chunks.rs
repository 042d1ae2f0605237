//! Streamed answers of a chat API: `chat.completion.chunk` objects, one a line or in a list. The parts of a message and of its calls are
//! put together; what calls gave back is not in a stream.

use super::calls::Usage;
use super::draft::Draft;
use super::fields::{Parsed, Record, Shapes, key_table};
use super::format::{Format, IN_FULL};
use super::nodes::{first_of, items_of, list_of, object, object_of, text_of};
use super::talk::{About, Made, Speaker, Talk};
use averment_base::value::{Node, Object, Value, json};
use averment_runs::normal::{of_meta, of_run};

key_table! {
    /// A chunk.
    OfChunk {
        Object = "object",
        Id = "id",
        Model = "model",
        Choices = "choices",
        Index = "index",
        Delta = "delta",
        Ended = "finish_reason",
        Usage = "usage",
    }
}

key_table! {
    /// What is new in a chunk.
    OfDelta {
        Content = "content",
        Thought = "reasoning_content",
        Refusal = "refusal",
        Calls = "tool_calls",
        Index = "index",
        Id = "id",
        Function = "function",
        Name = "name",
        Arguments = "arguments",
    }
}

/// Streams.
pub(crate) const FORMAT: Format = Format {
    name: "chat completion chunks",
    known_by: "objects whose `object` is `chat.completion.chunk`",
    description: "streamed answers of a chat API (`chat.completion.chunk`, one a line or in a list)",
    marks: &[OfChunk::Object.key()],
    near: &[OfChunk::Delta.key()],
    object: is_chunk,
    item_marks: &[OfChunk::Object.key()],
    element: is_chunk,
    line: is_chunk,
    read,
    ..IN_FULL
};

fn is_chunk(chunk: Object<'_>) -> bool {
    text_of(chunk, OfChunk::Object) == Some(CHUNK) && list_of(chunk, OfChunk::Choices).is_some()
}

/// What the `object` of a chunk says.
const CHUNK: &str = "chat.completion.chunk";

/// An answer while its parts arrive.
#[derive(Default)]
struct Answer<'run> {
    id: Option<&'run str>,
    node: Option<Node<'run>>,
    words: String,
    thought: String,
    calls: Vec<Growing<'run>>,
    usage: Option<Object<'run>>,
    /// It says why it ended.
    is_over: bool,
}

struct Growing<'run> {
    index: Option<i64>,
    node: Node<'run>,
    id: Option<Node<'run>>,
    name: Option<Node<'run>>,
    arguments: String,
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let root = draft.arena.alloc(root);
    let mut talk = Talk::new(draft);
    let (mut answer, mut is_over) = (Answer::default(), true);
    for node in items_of::<OfChunk>(root, &[]) {
        talk.draft.record();
        let Some(chunk) = object(*node).filter(|chunk| is_chunk(*chunk)) else {
            talk.draft.not_understood(node.origin, "what is no chunk of an answer is passed over");
            continue;
        };
        talk.meta(of_meta::MODEL, chunk.field(OfChunk::Model));
        let id = text_of(chunk, OfChunk::Id);
        if answer.node.is_some() && answer.id != id {
            is_over &= told(&mut talk, std::mem::take(&mut answer));
        }
        answer.id = id;
        answer.node.get_or_insert(*node);
        answer.usage = object_of(chunk, OfChunk::Usage).or(answer.usage);
        let choices = talk.draft.objects(list_of(chunk, OfChunk::Choices).unwrap_or_default());
        for (at, choice) in choices {
            if index(choice, OfChunk::Index).is_some_and(|index| index != 0) {
                let message = "of several answers to one request the first is read, and the others are passed over";
                talk.draft.warn_once(at.origin, message.to_owned());
                continue;
            }
            answer.is_over |= first_of(choice, &[OfChunk::Ended]).is_some();
            if let Some(delta) = object_of(choice, OfChunk::Delta) {
                grow(&mut answer, delta, talk.draft);
            }
        }
    }
    let is_over = told(&mut talk, answer) && is_over;
    let draft = talk.finish();
    if !is_over {
        draft.set(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
    Ok(())
}

fn index<F: super::fields::TableRow>(object: Object<'_>, field: F) -> Option<i64> {
    match object.field(field)?.value {
        Value::Number(number) => number.as_i64(),
        _ => None,
    }
}

fn grow<'run>(answer: &mut Answer<'run>, delta: Object<'run>, draft: &mut Draft<'run, '_>) {
    answer.words.push_str(text_of(delta, OfDelta::Content).or(text_of(delta, OfDelta::Refusal)).unwrap_or_default());
    answer.thought.push_str(text_of(delta, OfDelta::Thought).unwrap_or_default());
    for (node, part) in draft.objects(list_of(delta, OfDelta::Calls).unwrap_or_default()) {
        let index = index(part, OfDelta::Index);
        let known = answer.calls.iter().position(|call| index.is_some() && call.index == index);
        let place = known.unwrap_or_else(|| {
            answer.calls.push(Growing { index, node, id: None, name: None, arguments: String::new() });
            answer.calls.len() - 1
        });
        let Some(call) = answer.calls.get_mut(place) else { continue };
        let function = object_of(part, OfDelta::Function);
        call.id = call.id.or(part.field(OfDelta::Id).filter(|id| Parsed.is_text(*id)));
        call.name = call
            .name
            .or(function.and_then(|function| function.field(OfDelta::Name)).filter(|name| Parsed.is_text(*name)));
        call.arguments
            .push_str(function.and_then(|function| text_of(function, OfDelta::Arguments)).unwrap_or_default());
    }
}

/// An answer is whole, or was cut off: of a call in it nobody knows the arguments then. Says which of both.
fn told<'run>(talk: &mut Talk<'_, 'run, '_>, mut answer: Answer<'run>) -> bool {
    let Some(node) = answer.node else { return true };
    if !answer.is_over {
        cut_off(&mut answer.calls, talk.draft);
    }
    let about = About::default();
    let arena = talk.draft.arena;
    let grown = |words: &str| Node::new(Value::plain(arena.alloc_str(words)), node.origin);
    talk.begin_turn();
    talk.say(Speaker::Thinking, grown(&answer.thought), &about, node.origin);
    talk.say(Speaker::Assistant, grown(&answer.words), &about, node.origin);
    for call in answer.calls {
        let tool = call.name.unwrap_or(Node::computed(Value::Null));
        let args = Node::computed(Value::plain(arena.alloc_str(&call.arguments)));
        talk.call(Made { tool, args: Some(args), id: call.id, origin: call.node.origin }, &about);
    }
    if let Some(counts) = answer.usage {
        let mut usage = Usage::default();
        usage.add(counts);
        talk.usage.join(&usage);
    }
    answer.is_over
}

/// Leaves calls out whose arguments are no JSON yet; of none at all that is known of the last call alone.
fn cut_off(calls: &mut Vec<Growing<'_>>, draft: &mut Draft<'_, '_>) {
    let last = calls.len().saturating_sub(1);
    let mut place = 0;
    calls.retain(|call| {
        let may_be_none = call.arguments.is_empty() && place != last;
        let is_whole = may_be_none || json::parse(&call.arguments, 0, &bumpalo::Bump::new(), draft.limits).is_ok();
        if !is_whole {
            draft.warn(call.node.origin, "a call whose arguments are cut off is passed over");
        }
        place += 1;
        is_whole
    });
}
