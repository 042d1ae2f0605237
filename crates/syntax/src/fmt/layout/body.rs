//! Lays out bodies: one line per statement, with comments and single empty lines kept. A body stays on one line if the author wrote it so and it
//! fits.

use super::FileLayout;
use crate::concrete::{ConcreteNode, Rule};
use crate::fmt::INDENT;
use crate::fmt::doc::{
    Doc, doc_text, group, hard_break, line_break, nest, own_line, sequence, trailing_comment, when_flat,
};
use crate::fmt::gaps::GapComment;

pub(super) struct LayoutRow<'n, 't> {
    pub node: &'n ConcreteNode,
    pub doc: Doc<'t>,
    /// True for a block of several lines, which is separated from its neighbors by empty lines.
    pub is_disjoint: bool,
}

pub(super) struct RowComments<'t> {
    /// The comment after the first row, on its line.
    pub behind: Option<GapComment<'t>>,
    /// Comments on their own lines before the second row.
    pub own: Vec<GapComment<'t>>,
}

/// True for declarations that, if they have several lines, are surrounded by blank lines.
fn stands_apart(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::rule_item
            | Rule::suite_item
            | Rule::case_item
            | Rule::test_item
            | Rule::invariant_item
            | Rule::for_each_item
    )
}

fn is_body(rule: Rule) -> bool {
    matches!(rule, Rule::block | Rule::settings_block | Rule::run_object)
}

fn body_of(node: &ConcreteNode) -> Option<&ConcreteNode> {
    // The recursion is shallow, because bodies are nested only in statements and expressions are skipped.
    node.children.iter().find_map(|child| match child.rule {
        rule if is_body(rule) => Some(child),
        Rule::expression | Rule::step | Rule::listed_step => None,
        _ => body_of(child),
    })
}

impl<'t> FileLayout<'t, '_> {
    pub(super) fn layout_file(&mut self, root: Option<&ConcreteNode>) -> Doc<'t> {
        let items = root.map_or(&[][..], |root| root.children.as_slice());
        let rows = self.layout_items(items);
        let lines = self.join_rows(rows, None, self.leaves.len(), "");
        sequence(lines)
    }

    pub(super) fn layout_block(&mut self, node: &ConcreteNode) -> Doc<'t> {
        let (Some(first), Some(last)) = (node.children.first(), node.children.last()) else {
            return self.layout_tight(node);
        };
        let items = node.children.get(1..node.children.len() - 1).unwrap_or_default();
        let (open, close) = (first.leaves.start, last.leaves.start);
        if self.stays_on_one_line(node) {
            return self.layout_one_line(open, close, items);
        }
        self.depth += 1;
        let rows = self.layout_items(items);
        self.depth -= 1;
        self.layout_braces(open, close, rows, "")
    }

    pub(super) fn layout_run_object(&mut self, node: &ConcreteNode) -> Doc<'t> {
        let (Some(first), Some(last)) = (node.children.first(), node.children.last()) else {
            return self.layout_tight(node);
        };
        let (open, close) = (first.leaves.start, last.leaves.start);
        let pairs: Vec<&ConcreteNode> = node.children.iter().filter(|child| child.rule == Rule::pair).collect();
        if self.stays_on_one_line(node) {
            let mut inner = Vec::new();
            for (index, pair) in pairs.iter().enumerate() {
                inner.extend((index > 0).then(|| when_flat(",")));
                inner.extend([line_break(), self.layout_node(pair)]);
            }
            return self.layout_flat_braces(open, close, inner);
        }
        self.depth += 1;
        let mut rows = Vec::with_capacity(pairs.len());
        for node in pairs {
            self.claim_around(node);
            rows.push(LayoutRow { node, doc: self.layout_node(node), is_disjoint: false });
        }
        self.depth -= 1;
        self.layout_braces(open, close, rows, "")
    }

    fn layout_braces(
        &mut self,
        open: usize,
        close: usize,
        rows: Vec<LayoutRow<'_, 't>>,
        separator: &'static str,
    ) -> Doc<'t> {
        self.gaps.claim_before(close);
        let open_brace = self.layout_leaf(open);
        let empty =
            rows.is_empty() && self.gaps.comments_before(close).is_empty() && self.gaps.comment_behind(open).is_none();
        let lines = self.join_rows(rows, Some(open), close, separator);
        let close_brace = self.layout_leaf(close);
        if empty {
            return sequence(vec![open_brace, close_brace]);
        }
        sequence(vec![open_brace, nest(sequence(lines)), hard_break(false), close_brace])
    }

    fn layout_one_line(&mut self, open: usize, close: usize, items: &[ConcreteNode]) -> Doc<'t> {
        let outer = std::mem::replace(&mut self.measuring, true);
        let mut inner = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let needs_sign = index
                .checked_sub(1)
                .and_then(|before| items.get(before))
                .is_some_and(|before| absorbs_next(before, item));
            inner.extend((index > 0).then(|| if needs_sign { doc_text(";") } else { when_flat(";") }));
            inner.extend([line_break(), self.layout_node(item)]);
        }
        self.measuring = outer;
        self.layout_flat_braces(open, close, inner)
    }

    fn layout_flat_braces(&mut self, open: usize, close: usize, inner: Vec<Doc<'t>>) -> Doc<'t> {
        let (open, close) = (self.layout_leaf(open), self.layout_leaf(close));
        if inner.is_empty() {
            return sequence(vec![open, close]);
        }
        group(sequence(vec![open, nest(sequence(inner)), line_break(), close]))
    }

    /// True if the author wrote the body on one line and it fits there.
    fn stays_on_one_line(&self, node: &ConcreteNode) -> bool {
        (self.measuring || !self.breaks_bodies) && !self.span_text(node).contains('\n')
    }

    fn layout_items<'n>(&mut self, items: &'n [ConcreteNode]) -> Vec<LayoutRow<'n, 't>> {
        let mut rows = Vec::with_capacity(items.len());
        for (index, node) in items.iter().enumerate() {
            self.claim_around(node);
            let outer = std::mem::replace(&mut self.breaks_bodies, false);
            let has_lines = self.span_text(node).contains('\n');
            self.breaks_bodies = !self.body_fits_on_one_line(node);
            let on_one_line = !has_lines && !self.breaks_bodies;
            let mut doc = self.layout_node(node);
            self.breaks_bodies = outer;
            if items.get(index + 1).is_some_and(|next| absorbs_next(node, next)) {
                doc = sequence(vec![doc, doc_text(";")]);
            }
            let is_disjoint =
                !on_one_line && node.children.iter().any(|child| stands_apart(child.rule) && body_of(child).is_some());
            rows.push(LayoutRow { node, doc, is_disjoint });
        }
        rows
    }

    fn body_fits_on_one_line(&mut self, node: &ConcreteNode) -> bool {
        // Modifiers can move to the next lines.
        let statement = node
            .children
            .first()
            .filter(|child| child.rule == Rule::assertion)
            .and_then(|assertion| assertion.children.first());
        let node = statement.unwrap_or(node);
        if self.measuring || body_of(node).is_none_or(|body| self.span_text(body).contains('\n')) {
            return true;
        }
        self.measuring = true;
        let width = self.layout_node(node).width;
        self.measuring = false;
        width + INDENT * self.depth <= self.options.width
    }

    pub(super) fn claim_around(&mut self, node: &ConcreteNode) {
        self.gaps.claim_before(node.leaves.start);
        self.gaps.claim_behind(node.leaves.end.saturating_sub(1));
    }

    pub(super) fn comments_between(&self, last: Option<usize>, next: usize) -> RowComments<'t> {
        let mut own: Vec<GapComment<'t>> = Vec::new();
        let mut behind: Option<GapComment<'t>> = None;
        let first = last.map_or(next, |last| last + 1);
        let mut end = |remark: Option<&GapComment<'t>>, own: &mut Vec<GapComment<'t>>| match (remark, &behind) {
            (Some(remark), None) if own.is_empty() => behind = Some(remark.clone()),
            (Some(remark), _) => own.push(GapComment { is_moved: true, ..remark.clone() }),
            (None, _) => {}
        };
        end(last.and_then(|last| self.gaps.comment_behind(last)), &mut own);
        for leaf in first..next {
            own.extend_from_slice(self.gaps.comments_before(leaf));
            end(self.gaps.comment_behind(leaf), &mut own);
        }
        own.extend_from_slice(self.gaps.comments_before(next));
        RowComments { behind, own }
    }

    /// Joins rows; `open` is the bracket before them, whose trailing comment is printed with it.
    pub(super) fn join_rows(
        &mut self,
        rows: Vec<LayoutRow<'_, 't>>,
        open: Option<usize>,
        close: usize,
        separator: &'static str,
    ) -> Vec<Doc<'t>> {
        let mut lines = RowLines {
            docs: Vec::new(),
            end: open.map(|open| self.line_end_of(open)),
            is_first: true,
            last_doc: false,
            last_moved: false,
        };
        let firsts: Vec<usize> = rows.iter().map(|row| row.node.leaves.start).skip(1).chain([close]).collect();
        let opening = rows.first().map_or(close, |row| row.node.leaves.start);
        let mut own = match open {
            Some(open) => self.comments_between(Some(open), opening).own,
            None => self.comments_between(None, opening).own,
        };
        let mut apart_before = false;
        for (row, next) in rows.into_iter().zip(firsts) {
            let start = self.leaf_range(row.node.leaves.start).start;
            let attached = self.attached_comment(&own, start);
            for (index, remark) in own.iter().enumerate() {
                let apart = (apart_before && index == 0) || (row.is_disjoint && index == attached);
                lines.push_comment(self.source, remark, apart);
            }
            let apart = own.is_empty() && (apart_before || row.is_disjoint);
            lines.begin_line(self.source, start, apart);
            let last = row.node.leaves.end.saturating_sub(1);
            let remarks = self.comments_between(Some(last), next);
            lines.docs.push(row.doc);
            lines.docs.extend((!separator.is_empty()).then(|| doc_text(separator)));
            lines.docs.extend(remarks.behind.as_ref().map(|remark| trailing_comment(remark.text)));
            lines.end = Some(remarks.behind.map_or_else(|| self.leaf_range(last).end, |remark| remark.range.end));
            own = remarks.own;
            apart_before = row.is_disjoint;
        }
        for (index, remark) in own.iter().enumerate() {
            lines.push_comment(self.source, remark, apart_before && index == 0);
        }
        lines.docs
    }

    fn line_end_of(&self, open: usize) -> usize {
        self.gaps.comment_behind(open).map_or_else(|| self.leaf_range(open).end, |remark| remark.range.end)
    }

    /// Returns the first comment that is attached to the following item, with no empty line between.
    fn attached_comment(&self, remarks: &[GapComment<'t>], start: usize) -> usize {
        let mut next = start;
        let mut first = remarks.len();
        for (index, remark) in remarks.iter().enumerate().rev() {
            if has_empty_line(self.source, remark.range.end, next) {
                break;
            }
            (next, first) = (remark.range.start, index);
        }
        first
    }
}

struct RowLines<'t> {
    docs: Vec<Doc<'t>>,
    end: Option<usize>,
    is_first: bool,
    /// True if the last entry was a doc comment, or looks like one now.
    last_doc: bool,
    /// True if it was not on its own line, so it is not a doc comment and must not become one.
    last_moved: bool,
}

impl<'t> RowLines<'t> {
    fn begin_line(&mut self, source: &str, start: usize, apart: bool) {
        let gap = self.end.map_or("\n", |end| source.get(end..start).unwrap_or("\n"));
        // A `;` separated the comment from the following item; an empty line does that now.
        let loosened = self.last_doc && (!gap.trim().is_empty() || self.last_moved);
        let empty = self.end.is_some_and(|end| has_empty_line(source, end, start));
        let blank = !self.is_first && (empty || apart || loosened);
        self.docs.push(hard_break(blank));
        (self.is_first, self.last_doc) = (false, false);
    }

    fn push_comment(&mut self, source: &str, remark: &GapComment<'t>, apart: bool) {
        self.begin_line(source, remark.range.start, apart);
        self.docs.push(own_line(remark.text));
        self.end = Some(remark.range.end);
        self.last_doc = remark.text.starts_with("##");
        self.last_moved = remark.is_moved;
    }
}

fn has_empty_line(source: &str, from: usize, to: usize) -> bool {
    let gap = source.get(from..to).unwrap_or("");
    let mut lines = gap.split('\n').skip(1).peekable();
    while let Some(line) = lines.next() {
        if lines.peek().is_some() && line.trim().is_empty() {
            return true;
        }
    }
    false
}

/// True if `second`, on the next line, would parse as a modifier of `first`.
fn absorbs_next(first: &ConcreteNode, second: &ConcreteNode) -> bool {
    let holds = |node: &ConcreteNode, rule: Rule| {
        node.rule == rule || node.children.first().is_some_and(|child| child.rule == rule)
    };
    let is_modifier = second.children.first().is_some_and(|child| {
        child.rule == Rule::setting_line && child.children.first().is_some_and(|first| first.rule == Rule::modifier)
    });
    holds(first, Rule::assertion) && is_modifier
}
