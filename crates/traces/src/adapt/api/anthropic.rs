//! Anthropic's Messages API: requests with their responses, responses alone, and streamed events. `is_error` of a result says whether the
//! call failed; there are no times.

use super::cut_calls::{self, CUT_CALL};
use super::{ApiKey, is_exchange};
use crate::adapt::blocks::{self, ContentBlock};
use crate::adapt::calls::TokenUsage;
use crate::adapt::content::{self, TextPiece};
use crate::adapt::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use crate::adapt::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, key_table};
use crate::adapt::format::{IN_FULL, TraceFormat};
use crate::adapt::messages::{BlockKey, BlockType, MessageRole};
use crate::adapt::nodes::{first_of, items_of, list_of, node_object, object_of, text_of};
use crate::adapt::repeated_records::RecordIds;
use crate::adapt::run_builder::{RunBuilder, field_entry};
use averment_base::value::{Node, Object, ObjectEntry, Value, ValueText};
use averment_runs::normal::{of_meta, of_run, role};

key_table! {
    AnthropicEventKey {
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
    AnthropicEventType {
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

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Anthropic messages",
    known_by: "responses that are a `message` with a `stop_reason`, or their streamed events",
    description: "requests and responses of Anthropic's Messages API, streamed events included",
    marks: &[ApiKey::Stop.key(), ApiKey::Request.key()],
    near: &[ApiKey::Stop.key()],
    object: |object| is_response(object) || is_exchange(object, is_response, is_event),
    item_marks: &[
        ApiKey::Response.key(),
        ApiKey::Stop.key(),
        AnthropicEventKey::Block.key(),
        AnthropicEventKey::Message.key(),
    ],
    element: |object| is_response(object) || is_exchange(object, is_response, is_event) || is_event(object),
    line: |object| is_response(object) || is_exchange(object, is_response, is_event) || is_event(object),
    alone: is_response,
    record_ids: RecordIds::of_run(&[&[AnthropicEventKey::Message.key(), ApiKey::Id.key()]]),
    read: read_run,
    ..IN_FULL
};

fn is_response(object: Object<'_>) -> bool {
    text_of(object, ApiKey::Role).and_then(MessageRole::from_key) == Some(MessageRole::Assistant)
        && object.field(ApiKey::Stop).is_some()
        && object.field(ApiKey::Content).is_some()
}

fn is_event(event: Object<'_>) -> bool {
    match text_of(event, AnthropicEventKey::Type).and_then(AnthropicEventType::from_key) {
        Some(AnthropicEventType::Start) => object_of(event, AnthropicEventKey::Message).is_some(),
        Some(AnthropicEventType::Block) => {
            object_of(event, AnthropicEventKey::Block).is_some() && event.field(AnthropicEventKey::Index).is_some()
        }
        _ => false,
    }
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let items = items_of::<ApiKey>(root, &[]);
    if items.iter().any(|item| node_object(*item).is_some_and(is_event)) {
        read_stream(items, builder);
    } else {
        super::read_exchanges(items, builder);
    }
    Ok(())
}

pub(super) fn add_block<'a, 'run, 'limits>(
    conversation: &mut ConversationBuilder<'a, 'run, 'limits>,
    node: Node<'run>,
    block: Object<'run>,
    meta: &StepMeta<'run>,
) {
    match blocks::classify_block(block) {
        ContentBlock::Calls(asked) => {
            let Some(tool) = asked.tool else {
                conversation.builder.skip_record(node.origin, "a call without the name of its tool is skipped");
                return;
            };
            conversation.add_call(ToolCall { tool, args: asked.args, id: asked.id, origin: node.origin }, meta);
        }
        ContentBlock::Answers(answer) => {
            let result = answer.result_content(conversation.builder.arena);
            let outcome = CallResult { result, status: Some(answer.call_status(result)), ..CallResult::default() };
            let within = text_of(block, BlockKey::Type).is_some_and(|word| word != OF_USER);
            let tell = |conversation: &mut ConversationBuilder<'a, 'run, 'limits>| {
                conversation.add_result(answer.id, None, outcome, meta, node.origin);
            };
            if within { conversation.within_message(tell) } else { tell(conversation) }
        }
        ContentBlock::Thinks(words) => conversation.add_message(Speaker::Thinking, words, meta, node.origin),
        ContentBlock::Unknown => conversation.builder.skip_value(node, blocks::UNKNOWN),
        ContentBlock::Says(_) | ContentBlock::Silent => {}
    }
}

/// The type of results from outside, as are those without a type; others are in the message that makes the call.
const OF_USER: &str = "tool_result";

struct PartialBlock<'run> {
    node: Node<'run>,
    block: Object<'run>,
    words: String,
    is_cited: bool,
}

impl<'run> PartialBlock<'run> {
    fn from_start(node: Node<'run>) -> Option<Self> {
        let is_cited = content::block_piece(&node) == Some(TextPiece::Cited);
        Some(Self { node, block: node_object(node)?, words: String::new(), is_cited })
    }

    fn block_type(&self) -> Option<BlockType> {
        text_of(self.block, BlockKey::Type).and_then(BlockType::of_block)
    }

    fn is_call(&self) -> bool {
        self.block_type() == Some(BlockType::Call)
    }

    /// A call that a limit cut off has an end all the same.
    fn is_cut(&self, builder: &RunBuilder<'run, '_>) -> bool {
        let is_cut = self.is_call() && !self.words.is_empty() && !cut_calls::is_whole(&self.words, builder.limits);
        if is_cut {
            builder.note_unknown(self.node.origin, CUT_CALL);
        }
        is_cut
    }

    fn is_text(&self) -> bool {
        matches!(self.block_type(), Some(BlockType::Text | BlockType::OtherText))
    }

    fn text_piece(&self) -> TextPiece {
        TextPiece::of_block(text_of(self.block, BlockKey::Type), self.is_cited)
    }
}

#[derive(Default)]
struct BlockStream<'run> {
    open: Option<PartialBlock<'run>>,
    /// Complete, unless the next block continues it.
    said: Option<PartialBlock<'run>>,
}

impl<'run> BlockStream<'run> {
    fn close_block(&mut self, conversation: &mut ConversationBuilder<'_, 'run, '_>) {
        let Some(mut whole) = self.open.take().filter(|open| !open.is_cut(conversation.builder)) else { return };
        if !whole.is_text() {
            self.flush_text(conversation);
            return add_streamed(conversation, whole);
        }
        if whole.words.is_empty() {
            whole.words.push_str(text_of(whole.block, BlockKey::Text).unwrap_or_default());
        }
        match &mut self.said {
            Some(said) if whole.text_piece().continues(said.text_piece()) => {
                said.words.push_str(&whole.words);
                (said.block, said.is_cited) = (whole.block, whole.is_cited);
            }
            _ => {
                self.flush_text(conversation);
                self.said = Some(whole);
            }
        }
    }

    /// The last text is not continued.
    fn flush_text(&mut self, conversation: &mut ConversationBuilder<'_, 'run, '_>) {
        self.said.take().into_iter().for_each(|said| add_streamed(conversation, said));
    }
}

/// Assembles blocks from streamed parts. Without the end of a message more may come.
fn read_stream<'run>(events: &'run [Node<'run>], builder: &mut RunBuilder<'run, '_>) {
    let mut conversation = ConversationBuilder::from_parts(builder);
    let mut arriving = BlockStream::default();
    let mut counts: Option<(Option<Object<'run>>, Option<Object<'run>>)> = None;
    let mut is_over = true;
    for node in events {
        conversation.builder.count_record();
        let event = node_object(*node);
        let kind =
            event.and_then(|event| text_of(event, AnthropicEventKey::Type)).and_then(AnthropicEventType::from_key);
        let (Some(event), Some(kind)) = (event, kind) else {
            conversation.builder.skip_value(node, "an event of unknown type is skipped");
            continue;
        };
        match kind {
            AnthropicEventType::Start => {
                arriving.flush_text(&mut conversation);
                count_usage(&mut conversation, counts.take());
                conversation.note_input();
                is_over = false;
                let message = object_of(event, AnthropicEventKey::Message);
                conversation
                    .add_meta(of_meta::MODEL, message.and_then(|message| message.field(AnthropicEventKey::Model)));
                counts = Some((message.and_then(|message| object_of(message, AnthropicEventKey::Usage)), None));
                for block in begun_blocks(message) {
                    arriving.open = PartialBlock::from_start(*block);
                    arriving.close_block(&mut conversation);
                }
            }
            AnthropicEventType::Block => {
                arriving.close_block(&mut conversation);
                arriving.open = event.field(AnthropicEventKey::Block).and_then(PartialBlock::from_start);
            }
            AnthropicEventType::Delta => apply_delta(
                *node,
                arriving.open.as_mut(),
                object_of(event, AnthropicEventKey::Delta),
                conversation.builder,
            ),
            AnthropicEventType::BlockEnd => arriving.close_block(&mut conversation),
            AnthropicEventType::Changed => {
                if let Some((_, last)) = &mut counts {
                    *last = object_of(event, AnthropicEventKey::Usage).or(*last);
                }
            }
            AnthropicEventType::Failed => {
                let error = first_of(event, &[AnthropicEventKey::Error]);
                let why = error.and_then(node_object).and_then(|error| first_of(error, &[AnthropicEventKey::Message]));
                conversation.builder.set_some(of_run::ERROR, why.or(error));
            }
            AnthropicEventType::End => is_over = true,
            AnthropicEventType::Ping => {}
        }
    }
    // Of a call that is cut off nobody knows the arguments.
    if let Some(PartialBlock { node, .. }) = arriving.open.take_if(|open| open.is_call()) {
        conversation.builder.note_unknown(node.origin, CUT_CALL);
    }
    arriving.close_block(&mut conversation);
    arriving.flush_text(&mut conversation);
    count_usage(&mut conversation, counts);
    let builder = conversation.finish_run();
    if !is_over {
        builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
}

/// A message that is continued begins with blocks that are whole, such as calls that running code makes.
fn begun_blocks<'run>(message: Option<Object<'run>>) -> &'run [Node<'run>] {
    message.and_then(|message| list_of(message, ApiKey::Content)).unwrap_or_default()
}

/// The last counts of a message win, including those that only the first event has.
fn count_usage<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    counts: Option<(Option<Object<'run>>, Option<Object<'run>>)>,
) {
    let Some((first, last)) = counts else { return };
    let mut usage = TokenUsage::default();
    if let Some(last) = last {
        usage.add_usage(last);
    }
    if let Some(first) = first {
        usage.add_unknown(first);
    }
    usage.count_cache_as_input();
    conversation.usage.merge_usage(&usage);
}

key_table! {
    AnthropicDeltaType {
        Any = "text_delta" | "input_json_delta" | "thinking_delta" | "signature_delta" | "citations_delta" | "compaction_delta",
    }
}

fn apply_delta<'run>(
    node: Node<'run>,
    open: Option<&mut PartialBlock<'run>>,
    delta: Option<Object<'run>>,
    builder: &RunBuilder<'run, '_>,
) {
    if delta.and_then(|delta| text_of(delta, AnthropicEventKey::Type)).and_then(AnthropicDeltaType::from_key).is_none()
    {
        builder.note_unknown(node.origin, "a piece of a block is of no known type: it may be of a call");
    }
    let (Some(open), Some(delta)) = (open, delta) else { return };
    let parts = [AnthropicEventKey::Words, AnthropicEventKey::Thinking, AnthropicEventKey::Arguments];
    if let Some(part) = parts.iter().find_map(|part| text_of(delta, *part)) {
        open.words.push_str(part);
    }
    open.is_cited |= delta.field(AnthropicEventKey::Citation).is_some();
}

/// A complete block; its first event is empty but for name and id.
fn add_streamed<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, open: PartialBlock<'run>) {
    let PartialBlock { node, block: whole, words, .. } = open;
    let meta = StepMeta::default();
    let grown = Node::new(Value::Text(ValueText::Plain(conversation.builder.arena.alloc_str(&words))), node.origin);
    match text_of(whole, BlockKey::Type).and_then(BlockType::of_block) {
        Some(BlockType::Call) => {
            let args = if words.is_empty() { whole.field(BlockKey::Input) } else { Some(Node::computed(grown.value)) };
            let tool = whole.field(BlockKey::Name).unwrap_or(Node::computed(Value::Null));
            conversation.add_call(ToolCall { tool, args, id: whole.field(BlockKey::Id), origin: node.origin }, &meta);
        }
        Some(BlockType::Text | BlockType::OtherText) => {
            conversation.add_message(Speaker::Assistant, grown, &meta, node.origin)
        }
        Some(BlockType::Thinking) if NodeShapes.has_shape(grown, ValueShape::Text) => {
            conversation.add_message(Speaker::Thinking, grown, &meta, node.origin);
        }
        _ => add_block(conversation, node, whole, &meta),
    }
}

/// The answer that events make together, and whether it is whole; `None` if they are none.
pub(in crate::adapt) fn compose_answer<'run>(
    events: &'run [Node<'run>],
    builder: &RunBuilder<'run, '_>,
) -> Option<(Node<'run>, bool)> {
    let is_own = |node: &Node<'run>| node_object(*node).is_some_and(is_event);
    let start = node_object(*events.iter().find(|node| is_own(node))?)?;
    let message = object_of(start, AnthropicEventKey::Message);
    let (mut content, mut changed, mut is_over) = (begun_blocks(message).to_vec(), None, false);
    let mut open: Option<PartialBlock<'run>> = None;
    for (node, event) in builder.known_objects(events) {
        match text_of(event, AnthropicEventKey::Type).and_then(AnthropicEventType::from_key) {
            Some(AnthropicEventType::Block) => {
                content.extend(open.take().and_then(|open| open.into_block(builder)));
                open = event.field(AnthropicEventKey::Block).and_then(PartialBlock::from_start);
            }
            Some(AnthropicEventType::Delta) => {
                apply_delta(node, open.as_mut(), object_of(event, AnthropicEventKey::Delta), builder);
            }
            Some(AnthropicEventType::BlockEnd) => content.extend(open.take().and_then(|open| open.into_block(builder))),
            Some(AnthropicEventType::Changed) => changed = object_of(event, AnthropicEventKey::Usage).or(changed),
            Some(AnthropicEventType::End) => is_over = true,
            Some(AnthropicEventType::Start | AnthropicEventType::Ping) => {}
            Some(AnthropicEventType::Failed) | None => {
                builder.note_unknown(node.origin, "an event of a streamed answer is not understood");
            }
        }
    }
    // Of a call that is cut off nobody knows the arguments.
    content.extend(open.take_if(|open| !open.is_call()).and_then(|open| open.into_block(builder)));
    open.iter().for_each(|open| builder.note_unknown(open.node.origin, CUT_CALL));
    let first = message.and_then(|message| object_of(message, AnthropicEventKey::Usage));
    let counts = [changed, first].into_iter().flatten().flat_map(|usage| usage.entries().iter().copied());
    let mut usage: Vec<ObjectEntry<'run>> = Vec::new();
    for count in counts.filter(|count| !matches!(count.node.value, Value::Null)) {
        if !usage.iter().any(|known| known.key == count.key) {
            usage.push(count);
        }
    }
    let own = [ApiKey::Content.key(), ApiKey::Usage.key(), ApiKey::Role.key()];
    let kept = message.map_or(&[][..], |message| message.entries()).iter().filter(|entry| !own.contains(&entry.key));
    let role = Node::computed(Value::plain_text(role::ASSISTANT));
    let made = [
        field_entry(ApiKey::Role.key(), role),
        field_entry(ApiKey::Content.key(), builder.list_node(&content)),
        field_entry(ApiKey::Usage.key(), builder.object_node(&usage)),
    ];
    let mut entries: Vec<ObjectEntry<'run>> = kept.copied().chain(made).collect();
    if !entries.iter().any(|entry| entry.key == ApiKey::Stop.key()) {
        entries.push(field_entry(ApiKey::Stop.key(), Node::computed(Value::Null)));
    }
    Some((builder.object_node(&entries), is_over))
}

impl<'run> PartialBlock<'run> {
    /// The block as the API gives it whole; `None` of a call that is not.
    fn into_block(self, builder: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
        let Some(grown) = self.block_type().and_then(|kind| match kind {
            BlockType::Call => Some(BlockKey::Input),
            BlockType::Text | BlockType::OtherText => Some(BlockKey::Text),
            BlockType::Thinking => Some(BlockKey::Thinking),
            _ => None,
        }) else {
            return Some(self.node);
        };
        if self.is_cut(builder) {
            return None;
        }
        if self.words.is_empty() {
            return Some(self.node);
        }
        let words = Node::computed(Value::plain_text(builder.arena.alloc_str(&self.words)));
        let others = self.block.entries().iter().filter(|entry| entry.key != grown.key()).copied();
        let entries: Vec<ObjectEntry<'run>> = others.chain([field_entry(grown.key(), words)]).collect();
        Some(Node::new(builder.object_node(&entries).value, self.node.origin))
    }
}
