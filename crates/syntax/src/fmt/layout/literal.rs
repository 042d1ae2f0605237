//! Lays out `"""` strings: their lines are reindented with the statement. The value stays the same, because indentation shared by all lines is not
//! part of it.

use crate::concrete::ConcreteLeaf;
use crate::fmt::doc::{Doc, StringLine, dedented_lines, doc_text, sequence};
use std::ops::Range;

struct SourceLine<'t> {
    text: &'t str,
    /// True if it starts inside an interpolation and is kept unchanged.
    in_value: bool,
    /// True if only white space precedes an interpolation, so that it counts as indentation.
    is_value: bool,
}

/// Lays out a block string. Text before the first line end stays in place.
pub(super) fn block_string<'t>(source: &'t str, leaf: &ConcreteLeaf) -> Doc<'t> {
    let mut lines = source_lines(source, leaf).into_iter();
    let first = lines.next().map_or("", |line| line.text);
    let rest: Vec<SourceLine<'t>> = lines.collect();
    let closing = rest.len().saturating_sub(1);
    let common = common_indentation(&rest, closing);
    let shifted = rest.iter().enumerate().map(|(index, line)| shift_line(line, common, index == closing)).collect();
    sequence(vec![doc_text(first), dedented_lines(shifted)])
}

fn source_lines<'t>(source: &'t str, leaf: &ConcreteLeaf) -> Vec<SourceLine<'t>> {
    let mut lines = Vec::new();
    let mut at = leaf.range.start;
    for text in source.get(leaf.range.clone()).unwrap_or("").split('\n') {
        let inside = |value: &&Range<usize>| value.start < at && at < value.end;
        let blank = at + text.len() - text.trim_start_matches([' ', '\t']).len();
        let in_value = leaf.values.iter().any(|value| inside(&value));
        let is_value = leaf.values.iter().any(|value| value.start == blank);
        lines.push(SourceLine { text, in_value, is_value });
        at += text.len() + 1;
    }
    lines
}

fn line_indentation<'t>(line: &SourceLine<'t>) -> &'t str {
    let length = line.text.len() - line.text.trim_start_matches([' ', '\t']).len();
    line.text.get(..length).unwrap_or("")
}

/// Returns the indentation shared by all lines; empty lines and a closing line with only quotes do not count.
fn common_indentation(lines: &[SourceLine<'_>], closing: usize) -> usize {
    let mut common: Option<&str> = None;
    for (index, line) in lines.iter().enumerate() {
        let is_end = index == closing && line.text.trim_start_matches([' ', '\t']) == "\"\"\"";
        if line.in_value || is_end || (line.text.trim().is_empty() && !line.is_value) {
            continue;
        }
        let own = line_indentation(line);
        let shared = common.map_or(own, |before| {
            let length = before.bytes().zip(own.bytes()).take_while(|(a, b)| a == b).count();
            before.get(..length).unwrap_or("")
        });
        common = Some(shared);
    }
    common.map_or(0, str::len)
}

fn shift_line<'t>(line: &SourceLine<'t>, common: usize, is_last: bool) -> StringLine<'t> {
    if line.in_value {
        return StringLine { text: line.text, is_indented: false };
    }
    let own = line_indentation(line).len();
    let is_end = is_last && line.text.get(own..) == Some("\"\"\"");
    let cut = if is_end { own } else { common.min(own) };
    StringLine { text: line.text.get(cut..).unwrap_or(""), is_indented: true }
}
