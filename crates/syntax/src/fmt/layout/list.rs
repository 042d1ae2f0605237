//! Brackets with commas: on one line where they fit, unless the author ended the line behind the opening bracket; otherwise a line per element.

use super::Layout;
use super::body::Row;
use crate::concrete::{Node, Rule};
use crate::fmt::doc::{Doc, group, hard, line, nest, own_line, sequence, soft, space, text, when_broken};

impl<'t> Layout<'t, '_> {
    /// `[a, b]`, `(a, b)`.
    pub(super) fn comma_list(&mut self, node: &Node) -> Doc<'t> {
        self.elements(&node.children, soft)
    }

    /// `{ a: 1 }`.
    pub(super) fn object(&mut self, node: &Node) -> Doc<'t> {
        self.elements(&node.children, line)
    }

    /// `generate { a: integer 0..9 } cases 5 seed 1`, `generate from schema cases 5 seed 1`.
    pub(super) fn generated(&mut self, node: &Node) -> Doc<'t> {
        let is_brace = |rule: Rule| move |child: &Node| child.rule == rule;
        let Some(open) = node.children.iter().position(is_brace(Rule::open_brace)) else {
            return self.words(&node.children);
        };
        let close = node.children.iter().position(is_brace(Rule::close_brace)).unwrap_or(open);
        let mut parts = Vec::new();
        for child in node.children.iter().take(open) {
            parts.extend([self.node(child), space()]);
        }
        parts.push(self.elements(node.children.get(open..=close).unwrap_or_default(), line));
        for child in node.children.iter().skip(close + 1) {
            parts.extend([space(), self.node(child)]);
        }
        sequence(parts)
    }

    /// Elements between a bracket and its end; `inside` stands next to the brackets.
    fn elements(&mut self, children: &[Node], inside: fn() -> Doc<'t>) -> Doc<'t> {
        let (Some(first), Some(last)) = (children.first(), children.last()) else { return sequence(Vec::new()) };
        let (open, close) = (first.leaves.start, last.leaves.start);
        let inner = children.get(1..children.len().saturating_sub(1)).unwrap_or_default();
        let elements: Vec<&Node> = inner.iter().filter(|child| child.rule != Rule::comma).collect();
        let is_commented = self.gaps.any_inside(&(open..close + 1));
        if is_commented || (!elements.is_empty() && self.between(open).contains('\n')) {
            return self.below_each_other(open, close, &elements);
        }
        let mut parts = vec![inside()];
        for (index, element) in elements.iter().enumerate() {
            parts.extend((index > 0).then(|| [text(","), line()]).into_iter().flatten());
            parts.push(self.node(element));
        }
        let (open, close) = (self.leaf(open), self.leaf(close));
        if elements.is_empty() {
            return sequence(vec![open, close]);
        }
        parts.push(when_broken(","));
        group(sequence(vec![open, nest(sequence(parts)), inside(), close]))
    }

    fn below_each_other(&mut self, open: usize, close: usize, elements: &[&Node]) -> Doc<'t> {
        let mut rows = Vec::with_capacity(elements.len());
        for &node in elements {
            self.tell_around(node);
            rows.push(Row { node, doc: self.node(node), is_apart: false });
        }
        self.gaps.tell_before(close);
        let open_bracket = self.leaf(open);
        let lines = self.rows(rows, Some(open), close, ",");
        let close_bracket = self.leaf(close);
        sequence(vec![open_bracket, nest(sequence(lines)), hard(false), close_bracket])
    }

    /// Brackets around one thing.
    pub(super) fn parentheses(&mut self, node: &Node) -> Doc<'t> {
        let (Some(first), Some(last)) = (node.children.first(), node.children.last()) else { return self.tight(node) };
        let inner = node.children.get(1..node.children.len() - 1).unwrap_or_default();
        let close = last.leaves.start;
        let open = self.node(first);
        if node.leaves.len() <= 3 && !self.gaps.any_inside(&node.leaves) {
            let inner = self.words(inner);
            return sequence(vec![open, inner, self.leaf(close)]);
        }
        self.gaps.tell_before(close);
        let mut parts = vec![soft()];
        parts.push(match inner {
            [only] if only.rule == Rule::expression => self.expression_in_place(only),
            _ => self.words(inner),
        });
        parts.extend(self.gaps.before(close).iter().map(|remark| own_line(remark.text)));
        let close = self.leaf(close);
        group(sequence(vec![open, nest(sequence(parts)), soft(), close]))
    }
}
