//! What makes a part of a conversation the same as another, whichever request repeats it.

use super::{ItemKey, MessagePart, responses};
use crate::adapt::blocks::{self, ContentBlock};
use crate::adapt::content;
use crate::adapt::conversation::Speaker;
use crate::adapt::messages::{ChatMessageKey, ToolCallKey, called_function};
use crate::adapt::nodes::{first_of, node_text, text_of};
use crate::adapt::run_builder::RunBuilder;
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object, Value};

/// Identifies a part of a conversation, whichever request repeats it.
#[derive(Clone, Copy)]
pub(super) enum PartIdentity<'run> {
    Speech(bool, &'run str),
    Call(Option<&'run str>, Option<&'run str>, Value<'run>),
    Result(Option<&'run str>, Value<'run>),
}

impl<'run> PartIdentity<'run> {
    /// True if a request repeats the part. Some give calls new ids, others new names.
    pub(super) fn repeats_part(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Speech(a, words), Self::Speech(b, others)) => a == b && words == others,
            (Self::Call(a, tool, args), Self::Call(b, other, others)) => {
                a.is_some() && a == b || tool.is_some() && tool == other && values_equal(args, others)
            }
            (Self::Result(a, result), Self::Result(b, other)) => a.is_some() && a == b || values_equal(result, other),
            _ => false,
        }
    }

    /// One call or one result, by its id and all that it says, in the words of whichever provider.
    pub(super) fn is_same(&self, other: &Self, builder: &RunBuilder<'run, '_>) -> bool {
        match (self, other) {
            (Self::Call(a, tool, args), Self::Call(b, other, others)) => {
                a == b && tool == other && (values_equal(args, others) || same_arguments(*args, *others, builder))
            }
            (Self::Result(a, result), Self::Result(b, other)) => {
                a == b && (values_equal(result, other) || same_words(*result, *other, builder))
            }
            _ => false,
        }
    }

    pub(super) fn call_id(&self) -> Option<&'run str> {
        match self {
            Self::Speech(..) => None,
            Self::Call(id, ..) | Self::Result(id, _) => *id,
        }
    }
}

/// Some write arguments as JSON in text.
fn same_arguments<'run>(a: Value<'run>, b: Value<'run>, builder: &RunBuilder<'run, '_>) -> bool {
    let read = |value: Value<'run>| {
        let node = Node::computed(value);
        builder.open_json(node).map_or(value, |read| read.value)
    };
    values_equal(&read(a), &read(b))
}

/// Some write results as blocks of text.
fn same_words<'run>(a: Value<'run>, b: Value<'run>, builder: &RunBuilder<'run, '_>) -> bool {
    let words = |value: Value<'run>| content::content_text(Node::computed(value), builder.arena);
    words(a).zip(words(b)).is_some_and(|(a, b)| values_equal(&a.value, &b.value))
}

fn fields_value<'run, F: crate::adapt::fields::TableRow>(object: Object<'run>, fields: &[F]) -> Value<'run> {
    first_of(object, fields).map_or(Value::Null, |node| node.value)
}

/// Whoever repeats a text leaves out white space at its ends, and an empty text, or puts it in.
fn spoken(words: Node<'_>) -> Option<&str> {
    node_text(words).map(str::trim).filter(|words| !words.is_empty())
}

impl<'run> MessagePart<'run> {
    /// Parts without a sign are repeated in varying forms and ignored in comparisons.
    pub(super) fn part_identity(&self) -> Option<PartIdentity<'run>> {
        match *self {
            Self::Speech(Speaker::User, words) => Some(PartIdentity::Speech(false, spoken(words)?)),
            Self::Speech(Speaker::Assistant, words) => Some(PartIdentity::Speech(true, spoken(words)?)),
            Self::Speech(..) | Self::Turn | Self::Executed(..) => None,
            Self::Block(_, block) => match blocks::classify_block(block) {
                ContentBlock::Calls(asked) => Some(PartIdentity::Call(
                    asked.id.and_then(node_text),
                    asked.tool.and_then(node_text),
                    asked.args.map_or(Value::Null, |args| args.value),
                )),
                ContentBlock::Answers(given) => {
                    Some(PartIdentity::Result(given.id, given.result.map_or(Value::Null, |result| result.value)))
                }
                _ => None,
            },
            Self::Call(_, call) => {
                let function = called_function(call);
                let args = fields_value(function, &[ToolCallKey::Arguments, ToolCallKey::Input]);
                Some(PartIdentity::Call(text_of(call, ToolCallKey::Id), text_of(function, ToolCallKey::Name), args))
            }
            Self::Result(_, message) => Some(PartIdentity::Result(
                text_of(message, ChatMessageKey::Answers),
                fields_value(message, &[ChatMessageKey::Content]),
            )),
            Self::Item(_, item) | Self::Hosted(_, item) => {
                let id = first_of(item, &[ItemKey::CallId, ItemKey::Id]).and_then(node_text);
                match responses::is_result(item)? {
                    true => Some(PartIdentity::Result(id, fields_value(item, &[ItemKey::Output]))),
                    false => {
                        let args = fields_value(item, &[ItemKey::Arguments, ItemKey::Input]);
                        Some(PartIdentity::Call(id, text_of(item, ItemKey::Name), args))
                    }
                }
            }
        }
    }
}
