//! The content of a message: text, or a list of blocks of which some hold text.

use crate::value::{Node, Text, Value};
use bumpalo::Bump;

/// The text of a content: as it stands, or that of its text blocks joined by line ends. `None` where there is no text.
#[must_use]
pub fn text<'run>(content: Node<'run>, arena: &'run Bump) -> Option<Node<'run>> {
    match content.value {
        Value::Text(_) => Some(content),
        Value::List(blocks) => {
            let mut texts = blocks.iter().filter_map(block_text);
            let first = texts.next()?;
            let Some(second) = texts.next() else { return Some(first) };
            let mut joined = bumpalo::collections::String::new_in(arena);
            for node in [first, second].into_iter().chain(texts) {
                if let Value::Text(text) = node.value {
                    if !joined.is_empty() {
                        joined.push('\n');
                    }
                    joined.push_str(text.as_str());
                }
            }
            Some(Node::new(Value::Text(Text::Plain(joined.into_bump_str())), content.origin))
        }
        Value::Object(_) => block_text(&content),
        _ => None,
    }
}

/// The text of one block: a text itself, or `{"type": "text", "text": …}` and its kin.
fn block_text<'run>(block: &Node<'run>) -> Option<Node<'run>> {
    match block.value {
        Value::Text(_) => Some(*block),
        Value::Object(object) => {
            let kind = object.get("type").map(|kind| kind.value);
            let is_text = match kind {
                Some(Value::Text(kind)) => matches!(kind.as_str(), "text" | "input_text" | "output_text"),
                _ => true,
            };
            object.get("text").filter(|text| is_text && matches!(text.value, Value::Text(_)))
        }
        _ => None,
    }
}
