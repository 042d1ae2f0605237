//! The objects that conversations are made of, each with the places of what counts in it.

use super::keys::{Keys, Named};
use crate::scan::Cursor;

/// Where a value stands.
pub(super) type Span = (usize, usize);

#[derive(Debug, Clone, Copy)]
pub(super) enum OfMessage {
    Role,
    Content,
    Calls,
    Call,
    Answers,
    Status,
    /// Such an object is no message.
    Messages,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum OfCall {
    Id,
    Function,
    Custom,
    Name,
    Arguments,
    Args,
    Input,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum OfBlock {
    Type,
    Id,
    Name,
    Input,
    Answers,
    Content,
    Error,
    Text,
}

pub(super) const OF_MESSAGE: [(&str, OfMessage); 7] = [
    ("role", OfMessage::Role),
    ("content", OfMessage::Content),
    ("tool_calls", OfMessage::Calls),
    ("function_call", OfMessage::Call),
    ("tool_call_id", OfMessage::Answers),
    ("status", OfMessage::Status),
    ("messages", OfMessage::Messages),
];

pub(super) const OF_CALL: [(&str, OfCall); 7] = [
    ("id", OfCall::Id),
    ("function", OfCall::Function),
    ("custom", OfCall::Custom),
    ("name", OfCall::Name),
    ("arguments", OfCall::Arguments),
    ("args", OfCall::Args),
    ("input", OfCall::Input),
];

pub(super) const OF_BLOCK: [(&str, OfBlock); 8] = [
    ("type", OfBlock::Type),
    ("id", OfBlock::Id),
    ("name", OfBlock::Name),
    ("input", OfBlock::Input),
    ("tool_use_id", OfBlock::Answers),
    ("content", OfBlock::Content),
    ("is_error", OfBlock::Error),
    ("text", OfBlock::Text),
];

/// The parts of a call.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Parts {
    pub(super) id: Option<Span>,
    pub(super) function: Option<Span>,
    pub(super) custom: Option<Span>,
    pub(super) name: Option<Span>,
    pub(super) arguments: Option<Span>,
    pub(super) args: Option<Span>,
    pub(super) input: Option<Span>,
}

pub(super) fn parts_of_call(keys: &mut Keys<Named<OfCall>>, cursor: Cursor<'_>, at: usize) -> Option<(Parts, usize)> {
    let mut parts = Parts::default();
    let behind = keys.parts(cursor, at, |part, span| {
        let place = match part {
            OfCall::Id => &mut parts.id,
            OfCall::Function => &mut parts.function,
            OfCall::Custom => &mut parts.custom,
            OfCall::Name => &mut parts.name,
            OfCall::Arguments => &mut parts.arguments,
            OfCall::Args => &mut parts.args,
            OfCall::Input => &mut parts.input,
        };
        *place = Some(span);
    })?;
    Some((parts, behind))
}

/// The parts of a block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Block {
    pub(super) kind: Option<Span>,
    pub(super) id: Option<Span>,
    pub(super) name: Option<Span>,
    pub(super) input: Option<Span>,
    pub(super) answers: Option<Span>,
    pub(super) content: Option<Span>,
    pub(super) error: Option<Span>,
    pub(super) text: Option<Span>,
}

pub(super) fn parts_of_block(keys: &mut Keys<Named<OfBlock>>, cursor: Cursor<'_>, at: usize) -> Option<(Block, usize)> {
    let mut block = Block::default();
    let behind = keys.parts(cursor, at, |part, span| {
        let place = match part {
            OfBlock::Type => &mut block.kind,
            OfBlock::Id => &mut block.id,
            OfBlock::Name => &mut block.name,
            OfBlock::Input => &mut block.input,
            OfBlock::Answers => &mut block.answers,
            OfBlock::Content => &mut block.content,
            OfBlock::Error => &mut block.error,
            OfBlock::Text => &mut block.text,
        };
        *place = Some(span);
    })?;
    Some((block, behind))
}

/// The parts of a message.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Message {
    pub(super) role: Option<Span>,
    pub(super) content: Option<Span>,
    pub(super) calls: Option<Span>,
    pub(super) call: Option<Span>,
    pub(super) answers: Option<Span>,
    pub(super) status: Option<Span>,
    pub(super) nested: Option<Span>,
}

#[inline]
pub(super) fn parts_of_message(
    keys: &mut Keys<Named<OfMessage>>,
    cursor: Cursor<'_>,
    at: usize,
) -> Option<(Message, usize)> {
    let mut message = Message::default();
    let behind = keys.parts(cursor, at, |part, span| {
        let place = match part {
            OfMessage::Role => &mut message.role,
            OfMessage::Content => &mut message.content,
            OfMessage::Calls => &mut message.calls,
            OfMessage::Call => &mut message.call,
            OfMessage::Answers => &mut message.answers,
            OfMessage::Status => &mut message.status,
            OfMessage::Messages => &mut message.nested,
        };
        *place = Some(span);
    })?;
    Some((message, behind))
}
