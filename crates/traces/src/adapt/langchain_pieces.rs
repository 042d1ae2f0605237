//! Answers of LangChain piece by piece, as a graph streams them (`stream_mode="messages"`): each beside what the graph says of it. The
//! pieces with one id are one message.

use super::api::cut_calls;
use super::content;
use super::fields::{key_table, value_of};
use super::langchain::{LangChainKey, message_sayer};
use super::nodes::{list_of, node_object, node_text, paired_message, text_of};
use super::run_builder::{RunBuilder, count_node, field_entry};
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object, Value};
use rustc_hash::FxHashMap;

key_table! {
    PieceKey {
        Type = "type",
        Content = "content",
        Calls = "tool_calls",
        Parts = "tool_call_chunks",
        Broken = "invalid_tool_calls",
        More = "additional_kwargs",
        Tokens = "usage_metadata",
    }
}

key_table! {
    PieceType {
        Answer = "AIMessageChunk",
    }
}

key_table! {
    /// A part of a call: those with one index are one call.
    CallPartKey {
        Name = "name",
        Args = "args",
        Id = "id",
        Index = "index",
    }
}

key_table! {
    TokenKey {
        Input = "input_tokens",
        Output = "output_tokens",
        Total = "total_tokens",
    }
}

const WHOLE_TYPE: &str = "ai";

/// The id of the answer that a message is a piece of, and the message.
fn piece_of(node: Node<'_>) -> Option<(&str, Object<'_>)> {
    let (word, held) = node_object(node).and_then(message_sayer)?;
    PieceType::from_key(word)?;
    Some((text_of(held, LangChainKey::Id)?, held))
}

/// The messages of a stream, each whole and without what stands beside it.
pub(super) fn join_pieces<'run>(
    messages: &'run [Node<'run>],
    builder: &mut RunBuilder<'run, '_>,
) -> &'run [Node<'run>] {
    let is_streamed = |node: &Node<'run>| paired_message(*node).is_some() || piece_of(*node).is_some();
    if !messages.iter().any(is_streamed) {
        return messages;
    }
    let mut told: Vec<(Node<'run>, Option<JoinedAnswer<'run>>)> = Vec::new();
    let mut places: FxHashMap<&'run str, usize> = FxHashMap::default();
    for node in messages {
        let message = paired_message(*node).unwrap_or(*node);
        let Some((id, piece)) = piece_of(message) else {
            told.push((message, None));
            continue;
        };
        let place = *places.entry(id).or_insert(told.len());
        match told.get_mut(place) {
            Some((_, Some(answer))) => {
                builder.count_record();
                answer.add_piece(piece, builder);
            }
            _ => {
                let mut answer = JoinedAnswer::default();
                answer.add_piece(piece, builder);
                told.push((message, Some(answer)));
            }
        }
    }
    let whole = told.into_iter().map(|(node, answer)| answer.map_or(node, |answer| answer.into_message(node, builder)));
    let whole: Vec<_> = whole.collect();
    builder.arena.alloc_slice_copy(&whole)
}

#[derive(Default)]
struct JoinedAnswer<'run> {
    first: Option<Object<'run>>,
    words: String,
    calls: Vec<PartialCall<'run>>,
    /// Calls of a piece that gives them whole.
    given: Option<Node<'run>>,
    usage: Vec<Node<'run>>,
}

struct PartialCall<'run> {
    part: Node<'run>,
    index: Option<Node<'run>>,
    name: Option<Node<'run>>,
    id: Option<Node<'run>>,
    args: String,
}

impl<'run> JoinedAnswer<'run> {
    fn add_piece(&mut self, piece: Object<'run>, builder: &RunBuilder<'run, '_>) {
        self.first = self.first.or(Some(piece));
        let parts = list_of(piece, PieceKey::Parts).unwrap_or_default();
        if let Some(content) = value_of(piece, PieceKey::Content) {
            // The blocks of a provider repeat the parts of calls.
            if parts.is_empty() {
                builder.note_parts_beside_calls(content, true);
            }
            let words = content::content_text(content, builder.arena).and_then(node_text);
            self.words.push_str(words.unwrap_or_default());
        }
        for (node, part) in builder.known_objects(parts) {
            self.add_part(node, part);
        }
        if parts.is_empty() {
            let calls = value_of(piece, PieceKey::Calls);
            self.given = calls.filter(|calls| !matches!(calls.value, Value::List([]))).or(self.given);
        }
        self.usage.extend(value_of(piece, PieceKey::Tokens));
    }

    fn add_part(&mut self, node: Node<'run>, part: Object<'run>) {
        let told = |key| value_of(part, key).filter(|node| node_text(*node).is_some_and(|text| !text.is_empty()));
        let (name, id, index) = (told(CallPartKey::Name), told(CallPartKey::Id), value_of(part, CallPartKey::Index));
        let is_same = |call: &&mut PartialCall<'run>| match (call.index, index) {
            (Some(a), Some(b)) => values_equal(&a.value, &b.value) && (id.is_none() || call.id.is_none()),
            _ => name.is_none(),
        };
        let args = text_of(part, CallPartKey::Args).unwrap_or_default();
        match self.calls.iter_mut().rev().find(is_same) {
            Some(call) => {
                (call.name, call.id) = (call.name.or(name), call.id.or(id));
                call.args.push_str(args);
            }
            None => self.calls.push(PartialCall { part: node, index, name, id, args: args.to_owned() }),
        }
    }

    /// The message as LangChain gives it whole.
    fn into_message(self, node: Node<'run>, builder: &RunBuilder<'run, '_>) -> Node<'run> {
        let text = |words: &str| Node::computed(Value::plain_text(builder.arena.alloc_str(words)));
        let mut calls = Vec::new();
        for call in &self.calls {
            if !call.args.is_empty() && !cut_calls::is_whole(&call.args, builder.limits) {
                builder.note_unknown(call.part.origin, cut_calls::CUT_CALL);
                continue;
            }
            let named = [(CallPartKey::Name, call.name), (CallPartKey::Id, call.id)];
            let named = named.into_iter().filter_map(|(key, node)| Some(field_entry(key.key(), node?)));
            let args = field_entry(CallPartKey::Args.key(), text(&call.args));
            let entries: Vec<_> = named.chain([args]).collect();
            calls.push(Node::new(builder.object_node(&entries).value, call.part.origin));
        }
        let calls = self.given.filter(|_| self.calls.is_empty()).unwrap_or_else(|| builder.list_node(&calls));
        let entries = self.first.map_or(&[][..], |first| first.entries()).iter();
        let kept = entries.filter(|entry| PieceKey::from_key(entry.key).is_none()).copied();
        let made = [
            field_entry(PieceKey::Type.key(), text(WHOLE_TYPE)),
            field_entry(PieceKey::Content.key(), text(&self.words)),
            field_entry(PieceKey::Calls.key(), calls),
        ];
        let usage = joined_usage(&self.usage, builder).map(|usage| field_entry(PieceKey::Tokens.key(), usage));
        let entries: Vec<_> = kept.chain(made).chain(usage).collect();
        Node::new(builder.object_node(&entries).value, node.origin)
    }
}

/// Each piece counts what is new in it.
fn joined_usage<'run>(pieces: &[Node<'run>], builder: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
    let [_, _, ..] = pieces else { return pieces.first().copied() };
    let sum = |key: TokenKey| {
        let of = |piece: Object<'run>| match value_of(piece, key)?.value {
            Value::Number(number) => usize::try_from(number.as_i64()?).ok(),
            _ => None,
        };
        field_entry(key.key(), count_node(pieces.iter().filter_map(|piece| of(node_object(*piece)?)).sum()))
    };
    Some(builder.object_node(&[TokenKey::Input, TokenKey::Output, TokenKey::Total].map(sum)))
}
