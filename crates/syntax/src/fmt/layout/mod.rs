//! From the concrete tree to a document: one small function per kind of node.
//!
//! What has no layout of its own is words with spaces between them, which is most of the language. A line may be broken only where the grammar
//! allows a line end: behind commas, colons, `=`, tests and arithmetic, before `and`, `or`, `->`, `then`, `else` and modifiers, and in brackets.

mod body;
mod expression;
mod list;
mod literal;
mod words;

use super::doc::{Doc, nothing, own_line, sequence, text, trailing};
use super::gaps::Gaps;
use super::{INDENT, Options};
use crate::concrete::{Leaf, Node, Rule, Tree};

/// The state of laying out one file.
pub(super) struct Layout<'t, 'o> {
    /// The text that was read.
    source: &'t str,
    leaves: &'o [Leaf],
    gaps: Gaps<'t>,
    options: &'o Options,
    /// How many bodies are around the node at hand.
    depth: usize,
    /// Only widths are wanted: bodies written on one line are not asked again whether they fit.
    measuring: bool,
    /// The body of the statement at hand was written on one line and does not fit there.
    breaks_bodies: bool,
}

/// The document of a whole file.
pub(super) fn file<'t>(source: &'t str, tree: &Tree, gaps: Gaps<'t>, options: &Options) -> Doc<'t> {
    let mut layout =
        Layout { source, leaves: &tree.leaves, gaps, options, depth: 0, measuring: false, breaks_bodies: false };
    layout.file(tree.root.as_ref())
}

impl<'t> Layout<'t, '_> {
    /// Any node.
    fn node(&mut self, node: &Node) -> Doc<'t> {
        if node.children.is_empty() {
            return self.leaf(node.leaves.start);
        }
        match node.rule {
            Rule::assertion => self.assertion(node),
            Rule::setting_line => self.tight_or_spaced(node),
            Rule::expression => self.expression(node),
            Rule::value => self.value(node),
            Rule::test | Rule::count_test => self.test(node),
            Rule::operand | Rule::repetition | Rule::times_range | Rule::flow_repeat => self.tight(node),
            Rule::list | Rule::arguments | Rule::entries | Rule::import_names | Rule::parameters => {
                self.comma_list(node)
            }
            Rule::object => self.object(node),
            Rule::run_object => self.run_object(node),
            Rule::generated => self.generated(node),
            Rule::index | Rule::group | Rule::step_group | Rule::flow_group => self.parentheses(node),
            Rule::block | Rule::settings_block => self.block(node),
            _ => self.tight_or_spaced(node),
        }
    }

    fn tight_or_spaced(&mut self, node: &Node) -> Doc<'t> {
        match node.children.as_slice() {
            [only] => self.node(only),
            children => self.words(children),
        }
    }

    /// Parts with nothing between them.
    fn tight(&mut self, node: &Node) -> Doc<'t> {
        let parts = node.children.iter().map(|child| self.node(child)).collect();
        sequence(parts)
    }

    /// A word, sign or literal with its comments.
    fn leaf(&mut self, number: usize) -> Doc<'t> {
        let mut parts: Vec<Doc<'t>> = self.gaps.own_before(number).iter().map(|remark| own_line(remark.text)).collect();
        parts.push(self.bare_leaf(number));
        parts.extend(self.gaps.own_behind(number).map(|remark| trailing(remark.text)));
        match parts.len() {
            1 => parts.pop().unwrap_or_else(nothing),
            _ => sequence(parts),
        }
    }

    /// A word, sign or literal alone.
    fn bare_leaf(&self, number: usize) -> Doc<'t> {
        let Some(leaf) = self.leaves.get(number) else { return nothing() };
        let written = self.written(number);
        if leaf.rule == Rule::string && written.contains('\n') {
            return literal::block_string(self.source, leaf);
        }
        text(written)
    }

    /// The text of a leaf.
    fn written(&self, number: usize) -> &'t str {
        self.leaves.get(number).and_then(|leaf| self.source.get(leaf.range.clone())).unwrap_or("")
    }

    /// The bytes of a leaf; the end of the file for the number behind the last.
    fn range(&self, number: usize) -> std::ops::Range<usize> {
        let end = self.source.len();
        self.leaves.get(number).map_or(end..end, |leaf| leaf.range.clone())
    }

    /// The text from the first to the last leaf of a node, with everything between.
    fn span_text(&self, node: &Node) -> &'t str {
        let (first, last) = (node.leaves.start, node.leaves.end.saturating_sub(1));
        self.source.get(self.range(first).start..self.range(last).end).unwrap_or("")
    }

    /// The text between two neighbouring leaves.
    fn between(&self, leaf: usize) -> &'t str {
        self.source.get(self.range(leaf).end..self.range(leaf + 1).start).unwrap_or("")
    }

    /// How many characters are left on a line at this depth, one level of continuation taken off.
    fn room(&self) -> usize {
        self.options.width.saturating_sub(INDENT * (self.depth + 1))
    }
}
