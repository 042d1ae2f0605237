//! Numbers that stand in a text behind known words.

use super::conversation::integer_node;
use super::nodes::node_text;
use averment_base::value::Node;
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// Words before a number, such as an exit code; built once, as every result is searched.
pub(super) type TextMarkers = LazyLock<Box<[Finder<'static>]>>;

pub(super) fn build_markers<const MANY: usize>(words: [&'static str; MANY]) -> Box<[Finder<'static>]> {
    Box::new(words.map(Finder::new))
}

pub(super) fn number_behind<'run>(words: Node<'run>, markers: &TextMarkers) -> Option<Node<'run>> {
    let text = node_text(words)?;
    let behind = markers.iter().find_map(|marker| {
        let found = marker.find(text.as_bytes())?;
        Some(text.get(found + marker.needle().len()..)?.trim_start())
    })?;
    let digits = behind.strip_prefix('-').unwrap_or(behind);
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    let end = length + (behind.len() - digits.len());
    let number = behind.get(..end).filter(|_| length > 0)?.parse().ok()?;
    Some(integer_node(number, words.origin))
}
