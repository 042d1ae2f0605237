//! Events of Bedrock's `ConverseStream`, put together into the answers that Converse gives whole.

use super::ApiKey;
use super::converse::ConverseKey;
use super::cut_calls;
use crate::adapt::fields::{FieldRecord, key_table, value_of};
use crate::adapt::nodes::{node_list, node_object, object_of, text_of};
use crate::adapt::run_builder::{RunBuilder, field_entry};
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::role;

key_table! {
    /// What an event is, and holds under this key.
    ConverseEventKey {
        Begin = "messageStart",
        Block = "contentBlockStart",
        Delta = "contentBlockDelta",
        BlockEnd = "contentBlockStop",
        End = "messageStop",
        Metadata = "metadata",
    }
}

key_table! {
    ConversePartKey {
        Index = "contentBlockIndex",
        Start = "start",
        Delta = "delta",
        Use = "toolUse",
        /// What a tool of the service gave, in pieces.
        Gave = "toolResult",
        Content = "content",
        Input = "input",
        Words = "text",
        /// What rules do not read.
        Silent = "reasoningContent" | "citation",
        Usage = "usage",
    }
}

const UNKNOWN_PIECE: &str = "a piece of a block is of no known kind: it may be of a call";

/// Whether an object is an event that nothing else looks like.
pub(super) fn is_event(object: Object<'_>) -> bool {
    use ConverseEventKey::{Begin, Block, BlockEnd, Delta, End};
    [Begin, Block, Delta, BlockEnd, End].into_iter().any(|kind| object_of(object, kind).is_some())
}

/// An event that says nothing by itself.
pub(super) fn is_beside(object: Object<'_>) -> bool {
    object_of(object, ConverseEventKey::Metadata).is_some_and(|meta| meta.field(ConversePartKey::Usage).is_some())
}

#[derive(Default)]
struct StreamedBlock<'run> {
    index: Option<Node<'run>>,
    /// The call that it is, without its arguments.
    call: Option<(Node<'run>, Object<'run>)>,
    words: String,
    /// The result that it is, without its pieces.
    result: Option<(Node<'run>, Object<'run>)>,
    pieces: Vec<Node<'run>>,
}

#[derive(Default)]
struct StreamedAnswer<'run> {
    first: Option<Node<'run>>,
    blocks: Vec<StreamedBlock<'run>>,
    stop: Option<Node<'run>>,
    usage: Option<Node<'run>>,
}

/// The answer that the events of one stream make together; `None` if they are none.
pub(in crate::adapt) fn compose_answer<'run>(
    events: &'run [Node<'run>],
    builder: &RunBuilder<'run, '_>,
) -> Option<(Node<'run>, bool)> {
    events.iter().find(|node| node_object(**node).is_some_and(is_event))?;
    let (answers, is_over) = compose_answers(events, builder);
    let [answer] = *answers.as_slice() else { return None };
    Some((answer, is_over))
}

/// The answers that events make together, among whatever else there is, and whether all of them are whole.
pub(super) fn compose_answers<'run>(items: &[Node<'run>], builder: &RunBuilder<'run, '_>) -> (Vec<Node<'run>>, bool) {
    let (mut whole, mut is_over) = (Vec::new(), true);
    let mut answer = StreamedAnswer::default();
    for node in items {
        let event = node_object(*node).filter(|event| is_event(*event) || is_beside(*event));
        let begins = event.is_none_or(|event| value_of(event, ConverseEventKey::Begin).is_some())
            || answer.stop.is_some() && event.is_some_and(is_event);
        if begins {
            is_over &= answer.close_answer(&mut whole, builder);
        }
        match event {
            Some(event) => answer.add_event(*node, event, builder),
            None => whole.push(*node),
        }
    }
    is_over &= answer.close_answer(&mut whole, builder);
    (whole, is_over)
}

impl<'run> StreamedAnswer<'run> {
    fn add_event(&mut self, node: Node<'run>, event: Object<'run>, builder: &RunBuilder<'run, '_>) {
        self.first.get_or_insert(node);
        if let Some(begun) = object_of(event, ConverseEventKey::Block) {
            let start = object_of(begun, ConversePartKey::Start);
            let of_start = |key| start.and_then(|start| value_of(start, key));
            let (call, result) = (of_start(ConversePartKey::Use), of_start(ConversePartKey::Gave));
            if call.is_none() && result.is_none() && start.is_some_and(|start| !start.entries().is_empty()) {
                builder.note_unknown(node.origin, UNKNOWN_PIECE);
            }
            if let Some(block) = self.open_block(begun) {
                block.call = call.and_then(|call| Some((call, node_object(call)?)));
                block.result = result.and_then(|result| Some((result, node_object(result)?)));
            }
        }
        if let Some(grown) = object_of(event, ConverseEventKey::Delta) {
            let delta = object_of(grown, ConversePartKey::Delta);
            let input = delta.and_then(|delta| object_of(delta, ConversePartKey::Use));
            let words = input
                .and_then(|input| text_of(input, ConversePartKey::Input))
                .or_else(|| delta.and_then(|delta| text_of(delta, ConversePartKey::Words)));
            let pieces = delta.and_then(|delta| value_of(delta, ConversePartKey::Gave)).and_then(node_list);
            match words {
                None if pieces.is_some() => {
                    self.open_block(grown)
                        .into_iter()
                        .for_each(|block| block.pieces.extend(pieces.unwrap_or_default()));
                }
                Some(words) => self.open_block(grown).into_iter().for_each(|block| block.words.push_str(words)),
                None if delta.is_some_and(|delta| delta.field(ConversePartKey::Silent).is_some()) => {}
                None => builder.note_unknown(node.origin, UNKNOWN_PIECE),
            }
        }
        if let Some(ended) = object_of(event, ConverseEventKey::End) {
            self.stop = Some(ended.field(ConverseKey::Stop).unwrap_or(Node::computed(Value::plain_text(""))));
        }
        let meta = object_of(event, ConverseEventKey::Metadata);
        self.usage = meta.and_then(|meta| value_of(meta, ConversePartKey::Usage)).or(self.usage);
    }

    fn open_block(&mut self, event: Object<'run>) -> Option<&mut StreamedBlock<'run>> {
        let index = value_of(event, ConversePartKey::Index);
        let same = |block: &StreamedBlock<'run>| match (block.index, index) {
            (Some(known), Some(index)) => values_equal(&known.value, &index.value),
            (known, index) => known.is_none() && index.is_none(),
        };
        // Blocks arrive one behind the other.
        let is_new = self.blocks.last().is_none_or(|last| !same(last));
        if is_new {
            self.blocks.push(StreamedBlock { index, ..StreamedBlock::default() });
        }
        self.blocks.last_mut()
    }

    /// False if it breaks off. A call that a limit cut off has an end all the same.
    fn close_answer(&mut self, whole: &mut Vec<Node<'run>>, builder: &RunBuilder<'run, '_>) -> bool {
        let StreamedAnswer { first, blocks, stop, usage } = std::mem::take(self);
        let Some(first) = first else { return true };
        let kept = if stop.is_some() { blocks.len() } else { blocks.len().saturating_sub(1) };
        let is_kept = |(place, block): &(usize, &StreamedBlock<'run>)| {
            let words = &block.words;
            let is_whole = *place < kept && (words.is_empty() || cut_calls::is_whole(words, builder.limits));
            let cut = block.call.filter(|_| !is_whole);
            cut.iter().for_each(|(node, _)| builder.note_unknown(node.origin, cut_calls::CUT_CALL));
            cut.is_none()
        };
        let content: Vec<_> =
            blocks.iter().enumerate().filter(is_kept).map(|(_, block)| block.whole_block(builder)).collect();
        let message = [
            field_entry(ApiKey::Role.key(), Node::computed(Value::plain_text(role::ASSISTANT))),
            field_entry(ApiKey::Content.key(), builder.list_node(&content)),
        ];
        let output = [field_entry(ConverseKey::Message.key(), builder.object_node(&message))];
        let mut entries = vec![
            field_entry(ConverseKey::Output.key(), builder.object_node(&output)),
            field_entry(ConverseKey::Stop.key(), stop.unwrap_or(Node::computed(Value::plain_text("")))),
        ];
        entries.extend(usage.map(|usage| field_entry(ConversePartKey::Usage.key(), usage)));
        whole.push(Node::new(builder.object_node(&entries).value, first.origin));
        stop.is_some()
    }
}

impl<'run> StreamedBlock<'run> {
    fn whole_block(&self, builder: &RunBuilder<'run, '_>) -> Node<'run> {
        let words = Node::computed(Value::plain_text(builder.arena.alloc_str(&self.words)));
        if let Some((node, result)) = self.result {
            let gave = field_entry(ConversePartKey::Content.key(), builder.list_node(&self.pieces));
            let entries: Vec<_> = result.entries().iter().copied().chain([gave]).collect();
            let result = Node::new(builder.object_node(&entries).value, node.origin);
            return builder.object_node(&[field_entry(ConversePartKey::Gave.key(), result)]);
        }
        let Some((node, call)) = self.call else {
            return builder.object_node(&[field_entry(ConversePartKey::Words.key(), words)]);
        };
        let args = if self.words.is_empty() { builder.object_node(&[]) } else { words };
        let named = call.entries().iter().filter(|entry| entry.key != ConversePartKey::Input.key()).copied();
        let entries: Vec<_> = named.chain([field_entry(ConversePartKey::Input.key(), args)]).collect();
        let call = Node::new(builder.object_node(&entries).value, node.origin);
        Node::new(builder.object_node(&[field_entry(ConversePartKey::Use.key(), call)]).value, node.origin)
    }
}
