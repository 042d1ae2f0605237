//! `"""` strings without the indentation that only the layout of the file needs.

use super::Node;
use crate::grammar::Rule;

/// A segment of a string before escapes are resolved.
pub(super) enum StringSegment<'i> {
    /// Text as written, with its offset in what was parsed.
    Written(usize, &'i str),
    /// `${…}`.
    Value(Node<'i>),
}

/// A part of one line of the text: up to its line end, or up to an interpolation.
enum Chunk<'i> {
    /// Text at an offset; `opens` when nothing of its line stands before it.
    Text { at: usize, text: &'i str, opens: bool },
    /// `${…}`.
    Value(Node<'i>),
}

/// The segments of a block string: the first line end and the indentation of the last line are dropped, and what all lines
/// share at their start. `\r\n` becomes `\n`, so that a rule means the same on every system.
pub(super) fn dedented(form: Node<'_>) -> Vec<StringSegment<'_>> {
    let mut chunks = chunks(form);
    if let Some(Chunk::Text { text, .. }) = chunks.first()
        && text.ends_with('\n')
        && text.trim().is_empty()
    {
        chunks.remove(0);
    }
    if let Some(Chunk::Text { text, opens: true, .. }) = chunks.last()
        && text.trim_matches([' ', '\t']).is_empty()
    {
        chunks.pop();
    }
    let common = common_indentation(&chunks);
    chunks.into_iter().flat_map(|chunk| cut(chunk, common)).collect()
}

fn chunks(form: Node<'_>) -> Vec<Chunk<'_>> {
    let mut result = Vec::new();
    for node in form.into_inner() {
        if node.as_rule() == Rule::interpolation {
            result.push(Chunk::Value(node));
            continue;
        }
        let mut at = node.as_span().start();
        let mut opens = false;
        for text in node.as_span().as_str().split_inclusive('\n') {
            result.push(Chunk::Text { at, text, opens });
            at += text.len();
            opens = true;
        }
        // A value that opens a line has no indentation in front of it.
        if node.as_str().ends_with('\n') {
            result.push(Chunk::Text { at, text: "", opens: true });
        }
    }
    result
}

/// The longest white space that every line begins with; lines of nothing else do not count.
fn common_indentation(chunks: &[Chunk<'_>]) -> usize {
    let mut common: Option<&str> = None;
    for (index, chunk) in chunks.iter().enumerate() {
        let Chunk::Text { text, opens: true, .. } = chunk else { continue };
        let before_value = matches!(chunks.get(index + 1), Some(Chunk::Value(_)));
        if text.trim().is_empty() && !before_value {
            continue;
        }
        let length = text.len() - text.trim_start_matches([' ', '\t']).len();
        let indentation = text.get(..length).unwrap_or("");
        common = Some(common.map_or(indentation, |before| shared(before, indentation)));
    }
    common.map_or(0, str::len)
}

fn shared<'a>(left: &'a str, right: &str) -> &'a str {
    let length = left.bytes().zip(right.bytes()).take_while(|(a, b)| a == b).count();
    left.get(..length).unwrap_or("")
}

fn cut(chunk: Chunk<'_>, common: usize) -> Vec<StringSegment<'_>> {
    let (at, text, opens) = match chunk {
        Chunk::Value(node) => return vec![StringSegment::Value(node)],
        Chunk::Text { at, text, opens } => (at, text, opens),
    };
    let blank = text.len() - text.trim_start_matches([' ', '\t']).len();
    let cut = if opens { common.min(blank) } else { 0 };
    let (at, text) = (at + cut, text.get(cut..).unwrap_or(""));
    match text.strip_suffix("\r\n") {
        Some(line) => vec![StringSegment::Written(at, line), StringSegment::Written(at + line.len(), "\n")],
        None => vec![StringSegment::Written(at, text)],
    }
}
