//! The content of a message: text, or a list of blocks of which some hold text.

use super::fields::{Parsed, Record as _, Shapes as _};
use super::messages::{OfBlock, text_in};
use averment_base::value::{Node, Text, Value};
use bumpalo::Bump;

/// How a text stands among those beside it in one content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    /// It is a text of its own.
    Alone,
    /// It has citations: what stands beside it is the same text, which was cut for their sake.
    Cited,
    /// It is a part of what OpenAI's Responses give as one text.
    Part,
}

impl Piece {
    /// What a block with text is, by its type and whether it has citations.
    pub(crate) fn of(kind: Option<&str>, has_citations: bool) -> Self {
        match kind {
            _ if has_citations => Self::Cited,
            Some(OUTPUT) => Self::Part,
            _ => Self::Alone,
        }
    }

    /// Whether it goes on with the text before it.
    pub(crate) fn goes_on(self, before: Self) -> bool {
        [self, before].contains(&Self::Cited) || [self, before] == [Self::Part; 2]
    }
}

/// The type of texts in what OpenAI's Responses say.
const OUTPUT: &str = "output_text";

/// How the text of a block stands among others; `None` where it has none.
pub(crate) fn piece(block: &Node<'_>) -> Option<Piece> {
    block_text(block)?;
    let Value::Object(object) = block.value else { return Some(Piece::Alone) };
    let citations = object.field(OfBlock::Citations).and_then(super::nodes::list).unwrap_or_default();
    Some(Piece::of(object.field(OfBlock::Type).and_then(super::nodes::text), !citations.is_empty()))
}

/// Whether a block goes on with the text of the block before it.
pub(crate) fn goes_on(before: &Node<'_>, block: &Node<'_>) -> bool {
    piece(before).zip(piece(block)).is_some_and(|(before, this)| this.goes_on(before))
}

/// The text of a content: as it stands, or that of its text blocks, those joined by line ends that do not go on with the one before.
/// `None` where there is no text.
pub(crate) fn text<'run>(content: Node<'run>, arena: &'run Bump) -> Option<Node<'run>> {
    match content.value {
        Value::Text(_) => Some(content),
        Value::List(blocks) => {
            let mut texts = blocks.iter().filter_map(block_text);
            let first = texts.next()?;
            if texts.next().is_none() {
                return Some(first);
            }
            let runs = blocks.chunk_by(goes_on).map(|run| run.iter().filter_map(block_text).map(|text| text.value));
            Some(Node::new(as_one(runs, arena), content.origin))
        }
        Value::Object(_) => block_text(&content),
        _ => None,
    }
}

/// The pieces of one text, with nothing between them; `None` where there is none.
pub(crate) fn whole<'run>(pieces: &[Node<'run>], arena: &'run Bump) -> Option<Node<'run>> {
    match pieces {
        [] => None,
        [one] => Some(*one),
        [first, ..] => {
            let pieces = pieces.iter().map(|piece| piece.value);
            Some(Node::new(as_one(std::iter::once(pieces), arena), first.origin))
        }
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
    as_one(texts.map(std::iter::once), arena)
}

/// Texts as one, each given in its pieces, joined by line ends.
fn as_one<'run>(texts: impl Iterator<Item = impl Iterator<Item = Value<'run>>>, arena: &'run Bump) -> Value<'run> {
    let mut joined = bumpalo::collections::String::new_in(arena);
    for pieces in texts {
        let pieces = pieces.filter_map(|piece| match piece {
            Value::Text(text) => Some(text),
            _ => None,
        });
        for (place, piece) in pieces.enumerate() {
            if place == 0 && !joined.is_empty() {
                joined.push('\n');
            }
            joined.push_str(piece.as_str());
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
        Value::Object(block) => text_in(&block, &Parsed, super::nodes::text),
        _ => None,
    }
}
