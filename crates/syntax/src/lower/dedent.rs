//! Removes from `"""` strings the indentation that only serves the layout of the file.

use super::GrammarPair;
use crate::grammar::Rule;

/// A segment of a string before escapes are resolved.
pub(super) enum StringSegment<'i> {
    /// Text as written, with its offset in the parsed text.
    Written(usize, &'i str),
    Value(GrammarPair<'i>),
}

enum LineChunk<'i> {
    /// A chunk of a line; `opens` is true if nothing precedes it on its line.
    Text { at: usize, text: &'i str, opens: bool },
    /// `${…}`.
    Value(GrammarPair<'i>),
}

/// Drops the first line end and the shared indentation. `\r\n` becomes `\n`, so that rules have one meaning on every platform.
pub(super) fn dedent_segments(form: GrammarPair<'_>) -> Vec<StringSegment<'_>> {
    let mut chunks = line_chunks(form);
    if let Some(LineChunk::Text { text, .. }) = chunks.first()
        && text.ends_with('\n')
        && text.trim().is_empty()
    {
        chunks.remove(0);
    }
    if let Some(LineChunk::Text { text, opens: true, .. }) = chunks.last()
        && text.trim_matches([' ', '\t']).is_empty()
    {
        chunks.pop();
    }
    let common = common_indentation(&chunks);
    chunks.into_iter().flat_map(|chunk| cut_indentation(chunk, common)).collect()
}

fn line_chunks(form: GrammarPair<'_>) -> Vec<LineChunk<'_>> {
    let mut result = Vec::new();
    for node in form.into_inner() {
        if node.as_rule() == Rule::interpolation {
            result.push(LineChunk::Value(node));
            continue;
        }
        let mut at = node.as_span().start();
        let mut opens = false;
        for text in node.as_span().as_str().split_inclusive('\n') {
            result.push(LineChunk::Text { at, text, opens });
            at += text.len();
            opens = true;
        }
        // A value at the start of a line has no indentation before it.
        if node.as_str().ends_with('\n') {
            result.push(LineChunk::Text { at, text: "", opens: true });
        }
    }
    result
}

/// Returns the longest shared white space; blank lines do not count.
fn common_indentation(chunks: &[LineChunk<'_>]) -> usize {
    let mut common: Option<&str> = None;
    for (index, chunk) in chunks.iter().enumerate() {
        let LineChunk::Text { text, opens: true, .. } = chunk else { continue };
        let before_value = matches!(chunks.get(index + 1), Some(LineChunk::Value(_)));
        if text.trim().is_empty() && !before_value {
            continue;
        }
        let length = text.len() - text.trim_start_matches([' ', '\t']).len();
        let indentation = text.get(..length).unwrap_or("");
        common = Some(common.map_or(indentation, |before| shared_prefix(before, indentation)));
    }
    common.map_or(0, str::len)
}

fn shared_prefix<'a>(left: &'a str, right: &str) -> &'a str {
    let length = left.bytes().zip(right.bytes()).take_while(|(a, b)| a == b).count();
    left.get(..length).unwrap_or("")
}

fn cut_indentation(chunk: LineChunk<'_>, common: usize) -> Vec<StringSegment<'_>> {
    let (at, text, opens) = match chunk {
        LineChunk::Value(node) => return vec![StringSegment::Value(node)],
        LineChunk::Text { at, text, opens } => (at, text, opens),
    };
    let blank = text.len() - text.trim_start_matches([' ', '\t']).len();
    let cut = if opens { common.min(blank) } else { 0 };
    let (at, text) = (at + cut, text.get(cut..).unwrap_or(""));
    match text.strip_suffix("\r\n") {
        Some(line) => vec![StringSegment::Written(at, line), StringSegment::Written(at + line.len(), "\n")],
        None => vec![StringSegment::Written(at, text)],
    }
}
