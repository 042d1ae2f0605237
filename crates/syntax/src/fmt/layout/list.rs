//! Lays out comma-separated lists in brackets: on one line if they fit, unless the author put a line break after the opening bracket; otherwise one
//! element per line.

use super::FileLayout;
use super::body::LayoutRow;
use crate::concrete::{ConcreteNode, Rule};
use crate::fmt::doc::{
    Doc, doc_text, group, hard_break, line_break, nest, own_line, sequence, soft_break, space, when_broken,
};

impl<'t> FileLayout<'t, '_> {
    pub(super) fn comma_list(&mut self, node: &ConcreteNode) -> Doc<'t> {
        self.layout_elements(&node.children, soft_break)
    }

    pub(super) fn layout_object(&mut self, node: &ConcreteNode) -> Doc<'t> {
        self.layout_elements(&node.children, line_break)
    }

    pub(super) fn layout_generated(&mut self, node: &ConcreteNode) -> Doc<'t> {
        let is_brace = |rule: Rule| move |child: &ConcreteNode| child.rule == rule;
        let Some(open) = node.children.iter().position(is_brace(Rule::open_brace)) else {
            return self.layout_words(&node.children);
        };
        let close = node.children.iter().position(is_brace(Rule::close_brace)).unwrap_or(open);
        let mut parts = Vec::new();
        for child in node.children.iter().take(open) {
            parts.extend([self.layout_node(child), space()]);
        }
        parts.push(self.layout_elements(node.children.get(open..=close).unwrap_or_default(), line_break));
        for child in node.children.iter().skip(close + 1) {
            parts.extend([space(), self.layout_node(child)]);
        }
        sequence(parts)
    }

    /// Lays out the elements; `inside` goes next to the brackets.
    fn layout_elements(&mut self, children: &[ConcreteNode], inside: fn() -> Doc<'t>) -> Doc<'t> {
        let (Some(first), Some(last)) = (children.first(), children.last()) else { return sequence(Vec::new()) };
        let (open, close) = (first.leaves.start, last.leaves.start);
        let inner = children.get(1..children.len().saturating_sub(1)).unwrap_or_default();
        let elements: Vec<&ConcreteNode> = inner.iter().filter(|child| child.rule != Rule::comma).collect();
        let is_commented = self.gaps.any_inside(&(open..close + 1));
        if is_commented || (!elements.is_empty() && self.text_between(open).contains('\n')) {
            return self.below_each_other(open, close, &elements);
        }
        let mut parts = vec![inside()];
        for (index, element) in elements.iter().enumerate() {
            parts.extend((index > 0).then(|| [doc_text(","), line_break()]).into_iter().flatten());
            parts.push(self.layout_node(element));
        }
        let (open, close) = (self.layout_leaf(open), self.layout_leaf(close));
        if elements.is_empty() {
            return sequence(vec![open, close]);
        }
        parts.push(when_broken(","));
        group(sequence(vec![open, nest(sequence(parts)), inside(), close]))
    }

    fn below_each_other(&mut self, open: usize, close: usize, elements: &[&ConcreteNode]) -> Doc<'t> {
        let mut rows = Vec::with_capacity(elements.len());
        for &node in elements {
            self.claim_around(node);
            rows.push(LayoutRow { node, doc: self.layout_node(node), is_disjoint: false });
        }
        self.gaps.claim_before(close);
        let open_bracket = self.layout_leaf(open);
        let lines = self.join_rows(rows, Some(open), close, ",");
        let close_bracket = self.layout_leaf(close);
        sequence(vec![open_bracket, nest(sequence(lines)), hard_break(false), close_bracket])
    }

    pub(super) fn layout_parentheses(&mut self, node: &ConcreteNode) -> Doc<'t> {
        let (Some(first), Some(last)) = (node.children.first(), node.children.last()) else {
            return self.layout_tight(node);
        };
        let inner = node.children.get(1..node.children.len() - 1).unwrap_or_default();
        let close = last.leaves.start;
        let open = self.layout_node(first);
        if node.leaves.len() <= 3 && !self.gaps.any_inside(&node.leaves) {
            let inner = self.layout_words(inner);
            return sequence(vec![open, inner, self.layout_leaf(close)]);
        }
        self.gaps.claim_before(close);
        let mut parts = vec![soft_break()];
        parts.push(match inner {
            [only] if only.rule == Rule::expression => self.layout_in_place(only),
            _ => self.layout_words(inner),
        });
        parts.extend(self.gaps.comments_before(close).iter().map(|remark| own_line(remark.text)));
        let close = self.layout_leaf(close);
        group(sequence(vec![open, nest(sequence(parts)), soft_break(), close]))
    }
}
