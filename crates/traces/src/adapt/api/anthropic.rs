//! Anthropic's Messages API: requests with their responses, responses alone, and streamed events. `is_error` of a result says whether the
//! call failed; there are no times.

use super::{OfApi, is_exchange};
use crate::adapt::blocks::{self, Block};
use crate::adapt::calls::Usage;
use crate::adapt::content::{self, Piece};
use crate::adapt::draft::Draft;
use crate::adapt::fields::{Parsed, Record, Shape, Shapes, key_table};
use crate::adapt::format::{Format, IN_FULL};
use crate::adapt::messages::{BlockType, OfBlock, Role};
use crate::adapt::nodes::{first_of, items_of, object, object_of, text, text_of};
use crate::adapt::talk::{About, Made, Outcome, Speaker, Talk};
use averment_base::value::{Node, Object, Text, Value};
use averment_runs::normal::{of_meta, of_run};

key_table! {
    /// A streamed event, and what is in it.
    OfEvent {
        Type = "type",
        Index = "index",
        Message = "message",
        Block = "content_block",
        Delta = "delta",
        Words = "text",
        Thinking = "thinking",
        Arguments = "partial_json",
        Citation = "citation",
        Usage = "usage",
        Model = "model",
        Error = "error",
    }
}

key_table! {
    /// The types of events.
    EventType {
        Start = "message_start",
        Block = "content_block_start",
        Delta = "content_block_delta",
        BlockEnd = "content_block_stop",
        Changed = "message_delta",
        End = "message_stop",
        Ping = "ping",
        Failed = "error",
    }
}

/// Requests and responses.
pub(crate) const FORMAT: Format = Format {
    name: "Anthropic messages",
    known_by: "responses that are a `message` with a `stop_reason`, or their streamed events",
    description: "requests and responses of Anthropic's Messages API, streamed events included",
    marks: &[OfApi::Stop.key(), OfApi::Request.key()],
    near: &[OfApi::Stop.key()],
    object: |object| is_response(object) || is_exchange(object, is_response),
    item_marks: &[OfApi::Response.key(), OfApi::Stop.key(), OfEvent::Block.key(), OfEvent::Message.key()],
    element: |object| is_response(object) || is_exchange(object, is_response) || is_event(object),
    line: |object| is_response(object) || is_exchange(object, is_response) || is_event(object),
    alone: is_response,
    read,
    ..IN_FULL
};

fn is_response(object: Object<'_>) -> bool {
    text_of(object, OfApi::Role).and_then(Role::from_key) == Some(Role::Assistant)
        && object.field(OfApi::Stop).is_some()
        && object.field(OfApi::Content).is_some()
}

/// The first event of a message, or the start of one of its blocks.
fn is_event(event: Object<'_>) -> bool {
    match text_of(event, OfEvent::Type).and_then(EventType::from_key) {
        Some(EventType::Start) => object_of(event, OfEvent::Message).is_some(),
        Some(EventType::Block) => object_of(event, OfEvent::Block).is_some() && event.field(OfEvent::Index).is_some(),
        _ => false,
    }
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let root = draft.arena.alloc(root);
    let items = items_of::<OfApi>(root, &[]);
    if items.iter().any(|item| object(*item).is_some_and(is_event)) {
        stream(items, draft);
    } else {
        super::read(items, draft);
    }
    Ok(())
}

/// A block of a message.
pub(super) fn block<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, block: Object<'run>, about: &About<'run>) {
    match blocks::of(block) {
        Block::Calls(asked) => {
            let Some(tool) = asked.tool else {
                talk.draft.warn(node.origin, "a call without the name of its tool is passed over");
                return;
            };
            talk.call(Made { tool, args: asked.args, id: asked.id, origin: node.origin }, about);
        }
        Block::Answers(answer) => {
            let result = answer.content(talk.draft.arena);
            let outcome = Outcome { result, status: Some(answer.ended(result)), ..Outcome::default() };
            let within = text_of(block, OfBlock::Type) != Some(OF_USER);
            let tell = |talk: &mut Talk<'_, 'run, '_>| {
                talk.answer(answer.id, None, outcome, about, node.origin);
            };
            if within { talk.within(tell) } else { tell(talk) }
        }
        Block::Thinks(words) => talk.say(Speaker::Thinking, words, about, node.origin),
        Block::Unknown => talk.draft.not_understood(node.origin, blocks::UNKNOWN),
        Block::Says(_) | Block::Silent => {}
    }
}

/// The type of results that come from outside; others stand in the message that makes the call.
const OF_USER: &str = "tool_result";

/// A block while its parts arrive.
struct Growing<'run> {
    node: Node<'run>,
    block: Object<'run>,
    words: String,
    is_cited: bool,
}

impl<'run> Growing<'run> {
    fn of(node: Node<'run>) -> Option<Self> {
        let is_cited = content::piece(&node) == Some(Piece::Cited);
        Some(Self { node, block: object(node)?, words: String::new(), is_cited })
    }

    fn kind(&self) -> Option<BlockType> {
        text_of(self.block, OfBlock::Type).and_then(BlockType::of_block)
    }

    fn is_call(&self) -> bool {
        self.kind() == Some(BlockType::Call)
    }

    fn is_text(&self) -> bool {
        matches!(self.kind(), Some(BlockType::Text | BlockType::OtherText))
    }

    fn piece(&self) -> Piece {
        Piece::of(text_of(self.block, OfBlock::Type), self.is_cited)
    }
}

/// The blocks of a message while they arrive.
#[derive(Default)]
struct Arriving<'run> {
    open: Option<Growing<'run>>,
    /// A text that is whole, unless the next block goes on with it.
    said: Option<Growing<'run>>,
}

impl<'run> Arriving<'run> {
    /// The block in work is whole.
    fn close(&mut self, talk: &mut Talk<'_, 'run, '_>) {
        let Some(mut whole) = self.open.take() else { return };
        if !whole.is_text() {
            self.say(talk);
            return close(talk, whole);
        }
        if whole.words.is_empty() {
            whole.words.push_str(text_of(whole.block, OfBlock::Text).unwrap_or_default());
        }
        match &mut self.said {
            Some(said) if whole.piece().goes_on(said.piece()) => {
                said.words.push_str(&whole.words);
                (said.block, said.is_cited) = (whole.block, whole.is_cited);
            }
            _ => {
                self.say(talk);
                self.said = Some(whole);
            }
        }
    }

    /// Nothing goes on with the last text.
    fn say(&mut self, talk: &mut Talk<'_, 'run, '_>) {
        self.said.take().into_iter().for_each(|said| close(talk, said));
    }
}

/// Reads streamed events: each block is put together from its parts. Without the end of a message more may come.
fn stream<'run>(events: &'run [Node<'run>], draft: &mut Draft<'run, '_>) {
    let mut talk = Talk::of_parts(draft);
    let mut arriving = Arriving::default();
    let mut counts: Option<(Option<Object<'run>>, Option<Object<'run>>)> = None;
    let mut is_over = true;
    for node in events {
        talk.draft.record();
        let event = object(*node);
        let kind = event.and_then(|event| text_of(event, OfEvent::Type)).and_then(EventType::from_key);
        let (Some(event), Some(kind)) = (event, kind) else {
            talk.draft.not_understood(node.origin, "an event of unknown type is passed over");
            continue;
        };
        match kind {
            EventType::Start => {
                arriving.say(&mut talk);
                count(&mut talk, counts.take());
                talk.hears();
                is_over = false;
                let message = object_of(event, OfEvent::Message);
                talk.meta(of_meta::MODEL, message.and_then(|message| message.field(OfEvent::Model)));
                counts = Some((message.and_then(|message| object_of(message, OfEvent::Usage)), None));
            }
            EventType::Block => {
                arriving.close(&mut talk);
                arriving.open = event.field(OfEvent::Block).and_then(Growing::of);
            }
            EventType::Delta => grow(arriving.open.as_mut(), object_of(event, OfEvent::Delta)),
            EventType::BlockEnd => arriving.close(&mut talk),
            EventType::Changed => {
                if let Some((_, last)) = &mut counts {
                    *last = object_of(event, OfEvent::Usage).or(*last);
                }
            }
            EventType::Failed => {
                let error = first_of(event, &[OfEvent::Error]);
                let why = error.and_then(object).and_then(|error| first_of(error, &[OfEvent::Message]));
                talk.draft.set_some(of_run::ERROR, why.or(error));
            }
            EventType::End => is_over = true,
            EventType::Ping => {}
        }
    }
    // Of a call that is cut off nobody knows the arguments.
    if let Some(Growing { node, .. }) = arriving.open.take_if(|open| open.is_call()) {
        talk.draft.warn(node.origin, "a call whose arguments are cut off is passed over");
    }
    arriving.close(&mut talk);
    arriving.say(&mut talk);
    count(&mut talk, counts);
    let draft = talk.finish();
    if !is_over {
        draft.set(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
}

/// Of the counts of one message the last ones count, those that only the first event has included.
fn count<'run>(talk: &mut Talk<'_, 'run, '_>, counts: Option<(Option<Object<'run>>, Option<Object<'run>>)>) {
    let Some((first, last)) = counts else { return };
    let mut usage = Usage::default();
    if let Some(last) = last {
        usage.add(last);
    }
    if let Some(first) = first {
        usage.add_unknown(first);
    }
    usage.count_cache_as_input();
    talk.usage.join(&usage);
}

fn grow(open: Option<&mut Growing<'_>>, delta: Option<Object<'_>>) {
    let (Some(open), Some(delta)) = (open, delta) else { return };
    let parts = [OfEvent::Words, OfEvent::Thinking, OfEvent::Arguments];
    if let Some(part) = parts.iter().find_map(|part| text_of(delta, *part)) {
        open.words.push_str(part);
    }
    open.is_cited |= delta.field(OfEvent::Citation).is_some();
}

/// A block is whole: what its first event holds is empty but for its name and id.
fn close<'run>(talk: &mut Talk<'_, 'run, '_>, open: Growing<'run>) {
    let Growing { node, block: whole, words, .. } = open;
    let about = About::default();
    let grown = Node::new(Value::Text(Text::Plain(talk.draft.arena.alloc_str(&words))), node.origin);
    match text_of(whole, OfBlock::Type).and_then(BlockType::of_block) {
        Some(BlockType::Call) => {
            let args = if words.is_empty() { whole.field(OfBlock::Input) } else { Some(Node::computed(grown.value)) };
            if let Some(tool) = whole.field(OfBlock::Name).filter(|tool| text(*tool).is_some()) {
                talk.call(Made { tool, args, id: whole.field(OfBlock::Id), origin: node.origin }, &about);
            }
        }
        Some(BlockType::Text | BlockType::OtherText) => talk.say(Speaker::Assistant, grown, &about, node.origin),
        Some(BlockType::Thinking) if Parsed.is(grown, Shape::Text) => {
            talk.say(Speaker::Thinking, grown, &about, node.origin);
        }
        _ => block(talk, node, whole, &about),
    }
}
