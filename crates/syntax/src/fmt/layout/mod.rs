//! Turns the concrete tree into a document: one small function for each kind of node.
//!
//! A node without its own layout is printed as words with spaces between them, which covers most of the language. A line may be broken only where the
//! grammar allows a line end: after commas, colons, `=`, tests and arithmetic operators, before `and`, `or`, `->`, `then`, `else` and modifiers, and
//! in brackets.

mod body;
mod expression;
mod list;
mod literal;
mod words;

use super::doc::{Doc, doc_text, empty_doc, own_line, sequence, trailing_comment};
use super::gaps::CommentGaps;
use super::{FormatOptions, INDENT};
use crate::concrete::{ConcreteLeaf, ConcreteNode, ConcreteTree, Rule};

pub(super) struct FileLayout<'t, 'o> {
    source: &'t str,
    leaves: &'o [ConcreteLeaf],
    gaps: CommentGaps<'t>,
    options: &'o FormatOptions,
    depth: usize,
    /// True while only measuring: one-line bodies are not checked again.
    measuring: bool,
    breaks_bodies: bool,
}

pub(super) fn file_doc<'t>(
    source: &'t str,
    tree: &ConcreteTree,
    gaps: CommentGaps<'t>,
    options: &FormatOptions,
) -> Doc<'t> {
    let mut layout =
        FileLayout { source, leaves: &tree.leaves, gaps, options, depth: 0, measuring: false, breaks_bodies: false };
    layout.layout_file(tree.root.as_ref())
}

impl<'t> FileLayout<'t, '_> {
    fn layout_node(&mut self, node: &ConcreteNode) -> Doc<'t> {
        if node.children.is_empty() {
            return self.layout_leaf(node.leaves.start);
        }
        match node.rule {
            Rule::assertion => self.layout_assertion(node),
            Rule::setting_line => self.tight_or_spaced(node),
            Rule::expression => self.layout_expression(node),
            Rule::value => self.layout_value(node),
            Rule::test | Rule::count_test => self.layout_test(node),
            Rule::operand | Rule::repetition | Rule::times_range | Rule::flow_repeat => self.layout_tight(node),
            Rule::list
            | Rule::ignored_keys
            | Rule::arguments
            | Rule::entries
            | Rule::import_names
            | Rule::parameters => self.comma_list(node),
            Rule::object => self.layout_object(node),
            Rule::run_object => self.layout_run_object(node),
            Rule::generated => self.layout_generated(node),
            Rule::index | Rule::group | Rule::step_group | Rule::flow_group => self.layout_parentheses(node),
            Rule::block | Rule::settings_block => self.layout_block(node),
            _ => self.tight_or_spaced(node),
        }
    }

    fn tight_or_spaced(&mut self, node: &ConcreteNode) -> Doc<'t> {
        match node.children.as_slice() {
            [only] => self.layout_node(only),
            children => self.layout_words(children),
        }
    }

    fn layout_tight(&mut self, node: &ConcreteNode) -> Doc<'t> {
        let parts = node.children.iter().map(|child| self.layout_node(child)).collect();
        sequence(parts)
    }

    fn layout_leaf(&mut self, number: usize) -> Doc<'t> {
        let mut parts: Vec<Doc<'t>> = self.gaps.own_before(number).iter().map(|remark| own_line(remark.text)).collect();
        parts.push(self.bare_leaf(number));
        parts.extend(self.gaps.own_behind(number).map(|remark| trailing_comment(remark.text)));
        match parts.len() {
            1 => parts.pop().unwrap_or_else(empty_doc),
            _ => sequence(parts),
        }
    }

    fn bare_leaf(&self, number: usize) -> Doc<'t> {
        let Some(leaf) = self.leaves.get(number) else { return empty_doc() };
        let written = self.leaf_text(number);
        if leaf.rule == Rule::string && written.contains('\n') {
            return literal::block_string(self.source, leaf);
        }
        doc_text(written)
    }

    fn leaf_text(&self, number: usize) -> &'t str {
        self.leaves.get(number).and_then(|leaf| self.source.get(leaf.range.clone())).unwrap_or("")
    }

    /// Returns the byte range of a leaf; for the index after the last leaf, the end of the file.
    fn leaf_range(&self, number: usize) -> std::ops::Range<usize> {
        let end = self.source.len();
        self.leaves.get(number).map_or(end..end, |leaf| leaf.range.clone())
    }

    fn span_text(&self, node: &ConcreteNode) -> &'t str {
        let (first, last) = (node.leaves.start, node.leaves.end.saturating_sub(1));
        self.source.get(self.leaf_range(first).start..self.leaf_range(last).end).unwrap_or("")
    }

    fn text_between(&self, leaf: usize) -> &'t str {
        self.source.get(self.leaf_range(leaf).end..self.leaf_range(leaf + 1).start).unwrap_or("")
    }

    /// Returns the remaining width at this depth, minus one continuation level.
    fn remaining_width(&self) -> usize {
        self.options.width.saturating_sub(INDENT * (self.depth + 1))
    }
}
