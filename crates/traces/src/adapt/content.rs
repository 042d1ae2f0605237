//! The content of a message: text, or a list of blocks of which some hold text.

use super::fields::{Parsed, Record as _, Shapes as _};
use super::messages::{OfBlock, text_in};
use averment_base::value::{Node, Text, Value};
use bumpalo::Bump;

/// The text of a content: as it stands, or that of its text blocks joined by line ends. `None` where there is no text.
pub(crate) fn text<'run>(content: Node<'run>, arena: &'run Bump) -> Option<Node<'run>> {
    match content.value {
        Value::Text(_) => Some(content),
        Value::List(blocks) => {
            let mut texts = blocks.iter().filter_map(block_text);
            let first = texts.next()?;
            let Some(second) = texts.next() else { return Some(first) };
            let texts = [first, second].into_iter().chain(texts);
            Some(Node::new(together(texts.map(|text| text.value), arena), content.origin))
        }
        Value::Object(_) => block_text(&content),
        _ => None,
    }
}

/// The texts of a message, joined by line ends; `None` where there is none.
pub(crate) fn joined<'run>(texts: &[Node<'run>], arena: &'run Bump) -> Option<Node<'run>> {
    match texts {
        [] => None,
        [one] => Some(*one),
        [first, ..] => Some(Node::new(together(texts.iter().map(|text| text.value), arena), first.origin)),
    }
}

/// Texts as one, joined by line ends.
pub(crate) fn together<'run>(texts: impl Iterator<Item = Value<'run>>, arena: &'run Bump) -> Value<'run> {
    let mut joined = bumpalo::collections::String::new_in(arena);
    for value in texts {
        if let Value::Text(text) = value {
            if !joined.is_empty() {
                joined.push('\n');
            }
            joined.push_str(text.as_str());
        }
    }
    Value::Text(Text::Plain(joined.into_bump_str()))
}

/// The text of a list of content blocks, each an object that says its type; `None` for any other value.
pub(crate) fn of_blocks<'run>(value: Node<'run>, arena: &'run Bump) -> Option<Node<'run>> {
    let Value::List(blocks) = value.value else { return None };
    let has_type = |block: &Node<'_>| match block.value {
        Value::Object(block) => block.field(OfBlock::Type).is_some_and(|of| Parsed.is_text(of)),
        _ => false,
    };
    if blocks.iter().all(has_type) { text(value, arena) } else { None }
}

/// The text of one block: a text itself, or `{"type": "text", "text": …}` and its kin.
fn block_text<'run>(block: &Node<'run>) -> Option<Node<'run>> {
    match block.value {
        Value::Text(_) => Some(*block),
        Value::Object(block) => text_in(&block, &Parsed, super::text),
        _ => None,
    }
}
