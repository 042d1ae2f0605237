//! Bodies: a line per statement, comments and single empty lines kept; on one line where the author wrote them so and they fit.

use super::Layout;
use crate::concrete::{Node, Rule};
use crate::fmt::INDENT;
use crate::fmt::doc::{Doc, group, hard, line, nest, own_line, sequence, text, trailing, when_flat};
use crate::fmt::gaps::Comment;

/// Something on lines of its own: a statement, an element of a list.
pub(super) struct Row<'n, 't> {
    pub node: &'n Node,
    pub doc: Doc<'t>,
    /// It is a block of several lines, which an empty line separates from its neighbours.
    pub is_apart: bool,
}

/// The comments between two neighbours.
pub(super) struct Remarks<'t> {
    /// Behind the first, on its line.
    pub behind: Option<Comment<'t>>,
    /// On lines of their own before the second.
    pub own: Vec<Comment<'t>>,
}

/// Declarations that stand apart from their neighbours when they have several lines.
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

/// The body of a statement or declaration.
fn body_of(node: &Node) -> Option<&Node> {
    // What is looked at is not deep: bodies stand in statements, and expressions are left out.
    node.children.iter().find_map(|child| match child.rule {
        rule if is_body(rule) => Some(child),
        Rule::expression | Rule::step | Rule::listed_step => None,
        _ => body_of(child),
    })
}

impl<'t> Layout<'t, '_> {
    /// The whole file.
    pub(super) fn file(&mut self, root: Option<&Node>) -> Doc<'t> {
        let items = root.map_or(&[][..], |root| root.children.as_slice());
        let rows = self.items(items);
        let lines = self.rows(rows, None, self.leaves.len(), "");
        sequence(lines)
    }

    /// Statements in braces, and the lines of a runner or workspace.
    pub(super) fn block(&mut self, node: &Node) -> Doc<'t> {
        let (Some(first), Some(last)) = (node.children.first(), node.children.last()) else { return self.tight(node) };
        let items = node.children.get(1..node.children.len() - 1).unwrap_or_default();
        let (open, close) = (first.leaves.start, last.leaves.start);
        if self.stays_on_one_line(node) {
            return self.one_line(open, close, items);
        }
        self.depth += 1;
        let rows = self.items(items);
        self.depth -= 1;
        self.braces(open, close, rows, "")
    }

    /// The run of a test: a line per entry.
    pub(super) fn run_object(&mut self, node: &Node) -> Doc<'t> {
        let (Some(first), Some(last)) = (node.children.first(), node.children.last()) else { return self.tight(node) };
        let (open, close) = (first.leaves.start, last.leaves.start);
        let pairs: Vec<&Node> = node.children.iter().filter(|child| child.rule == Rule::pair).collect();
        if self.stays_on_one_line(node) {
            let mut inner = Vec::new();
            for (index, pair) in pairs.iter().enumerate() {
                inner.extend((index > 0).then(|| when_flat(",")));
                inner.extend([line(), self.node(pair)]);
            }
            return self.flat_braces(open, close, inner);
        }
        self.depth += 1;
        let mut rows = Vec::with_capacity(pairs.len());
        for node in pairs {
            self.tell_around(node);
            rows.push(Row { node, doc: self.node(node), is_apart: false });
        }
        self.depth -= 1;
        self.braces(open, close, rows, "")
    }

    /// `{`, a row per line, `}`.
    fn braces(&mut self, open: usize, close: usize, rows: Vec<Row<'_, 't>>, separator: &'static str) -> Doc<'t> {
        self.gaps.tell_before(close);
        let open_brace = self.leaf(open);
        let empty = rows.is_empty() && self.gaps.before(close).is_empty() && self.gaps.behind(open).is_none();
        let lines = self.rows(rows, Some(open), close, separator);
        let close_brace = self.leaf(close);
        if empty {
            return sequence(vec![open_brace, close_brace]);
        }
        sequence(vec![open_brace, nest(sequence(lines)), hard(false), close_brace])
    }

    fn one_line(&mut self, open: usize, close: usize, items: &[Node]) -> Doc<'t> {
        let outer = std::mem::replace(&mut self.measuring, true);
        let mut inner = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let needs_sign =
                index.checked_sub(1).and_then(|before| items.get(before)).is_some_and(|before| absorbs(before, item));
            inner.extend((index > 0).then(|| if needs_sign { text(";") } else { when_flat(";") }));
            inner.extend([line(), self.node(item)]);
        }
        self.measuring = outer;
        self.flat_braces(open, close, inner)
    }

    fn flat_braces(&mut self, open: usize, close: usize, inner: Vec<Doc<'t>>) -> Doc<'t> {
        let (open, close) = (self.leaf(open), self.leaf(close));
        if inner.is_empty() {
            return sequence(vec![open, close]);
        }
        group(sequence(vec![open, nest(sequence(inner)), line(), close]))
    }

    /// True for a body that the author wrote on one line and that fits there.
    fn stays_on_one_line(&self, node: &Node) -> bool {
        (self.measuring || !self.breaks_bodies) && !self.span_text(node).contains('\n')
    }

    /// The statements of a body, each laid out.
    fn items<'n>(&mut self, items: &'n [Node]) -> Vec<Row<'n, 't>> {
        let mut rows = Vec::with_capacity(items.len());
        for (index, node) in items.iter().enumerate() {
            self.tell_around(node);
            let outer = std::mem::replace(&mut self.breaks_bodies, false);
            let has_lines = self.span_text(node).contains('\n');
            self.breaks_bodies = !self.body_fits_on_one_line(node);
            let on_one_line = !has_lines && !self.breaks_bodies;
            let mut doc = self.node(node);
            self.breaks_bodies = outer;
            if items.get(index + 1).is_some_and(|next| absorbs(node, next)) {
                doc = sequence(vec![doc, text(";")]);
            }
            let is_apart =
                !on_one_line && node.children.iter().any(|child| stands_apart(child.rule) && body_of(child).is_some());
            rows.push(Row { node, doc, is_apart });
        }
        rows
    }

    /// Whether the body of a statement, where it was written on one line, fits there together with what stands before it.
    fn body_fits_on_one_line(&mut self, node: &Node) -> bool {
        // Modifiers can go to the next lines.
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
        let width = self.node(node).width;
        self.measuring = false;
        width + INDENT * self.depth <= self.options.width
    }

    /// The comments around a row are printed by [`Layout::rows`].
    pub(super) fn tell_around(&mut self, node: &Node) {
        self.gaps.tell_before(node.leaves.start);
        self.gaps.tell_behind(node.leaves.end.saturating_sub(1));
    }

    /// The comments between a leaf and another one, between which there are only commas.
    pub(super) fn remarks(&self, last: Option<usize>, next: usize) -> Remarks<'t> {
        let mut own: Vec<Comment<'t>> = Vec::new();
        let mut behind: Option<Comment<'t>> = None;
        let first = last.map_or(next, |last| last + 1);
        let mut end = |remark: Option<&Comment<'t>>, own: &mut Vec<Comment<'t>>| match (remark, &behind) {
            (Some(remark), None) if own.is_empty() => behind = Some(remark.clone()),
            (Some(remark), _) => own.push(Comment { is_moved: true, ..remark.clone() }),
            (None, _) => {}
        };
        end(last.and_then(|last| self.gaps.behind(last)), &mut own);
        for leaf in first..next {
            own.extend_from_slice(self.gaps.before(leaf));
            end(self.gaps.behind(leaf), &mut own);
        }
        own.extend_from_slice(self.gaps.before(next));
        Remarks { behind, own }
    }

    /// Rows below each other with the comments between them and the separator behind each, up to the leaf `close`.
    /// `open` is the bracket before them: the comment behind it is printed with it.
    pub(super) fn rows(
        &mut self,
        rows: Vec<Row<'_, 't>>,
        open: Option<usize>,
        close: usize,
        separator: &'static str,
    ) -> Vec<Doc<'t>> {
        let mut lines = Lines {
            docs: Vec::new(),
            end: open.map(|open| self.line_end_of(open)),
            is_first: true,
            last_doc: false,
            last_moved: false,
        };
        let firsts: Vec<usize> = rows.iter().map(|row| row.node.leaves.start).skip(1).chain([close]).collect();
        let opening = rows.first().map_or(close, |row| row.node.leaves.start);
        let mut own = match open {
            Some(open) => self.remarks(Some(open), opening).own,
            None => self.remarks(None, opening).own,
        };
        let mut apart_before = false;
        for (row, next) in rows.into_iter().zip(firsts) {
            let start = self.range(row.node.leaves.start).start;
            let attached = self.attached(&own, start);
            for (index, remark) in own.iter().enumerate() {
                let apart = (apart_before && index == 0) || (row.is_apart && index == attached);
                lines.remark(self.source, remark, apart);
            }
            let apart = own.is_empty() && (apart_before || row.is_apart);
            lines.thing(self.source, start, apart);
            let last = row.node.leaves.end.saturating_sub(1);
            let remarks = self.remarks(Some(last), next);
            lines.docs.push(row.doc);
            lines.docs.extend((!separator.is_empty()).then(|| text(separator)));
            lines.docs.extend(remarks.behind.as_ref().map(|remark| trailing(remark.text)));
            lines.end = Some(remarks.behind.map_or_else(|| self.range(last).end, |remark| remark.range.end));
            own = remarks.own;
            apart_before = row.is_apart;
        }
        for (index, remark) in own.iter().enumerate() {
            lines.remark(self.source, remark, apart_before && index == 0);
        }
        lines.docs
    }

    /// Where the line of an opening bracket ends, with its comment.
    fn line_end_of(&self, open: usize) -> usize {
        self.gaps.behind(open).map_or_else(|| self.range(open).end, |remark| remark.range.end)
    }

    /// From which of the comments on there is no empty line up to what they stand above.
    fn attached(&self, remarks: &[Comment<'t>], start: usize) -> usize {
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

/// Lines under construction.
struct Lines<'t> {
    docs: Vec<Doc<'t>>,
    /// Where the last thing ended in the source.
    end: Option<usize>,
    is_first: bool,
    /// The last thing was a doc comment, or looks like one now.
    last_doc: bool,
    /// It did not stand on a line of its own, so it was none and must not become one.
    last_moved: bool,
}

impl<'t> Lines<'t> {
    /// Begins a line for what stands at `start`.
    fn thing(&mut self, source: &str, start: usize, apart: bool) {
        let gap = self.end.map_or("\n", |end| source.get(end..start).unwrap_or("\n"));
        // A `;` between a comment and what follows kept them apart; an empty line does it now.
        let loosened = self.last_doc && (!gap.trim().is_empty() || self.last_moved);
        let empty = self.end.is_some_and(|end| has_empty_line(source, end, start));
        let blank = !self.is_first && (empty || apart || loosened);
        self.docs.push(hard(blank));
        (self.is_first, self.last_doc) = (false, false);
    }

    fn remark(&mut self, source: &str, remark: &Comment<'t>, apart: bool) {
        self.thing(source, remark.range.start, apart);
        self.docs.push(own_line(remark.text));
        self.end = Some(remark.range.end);
        self.last_doc = remark.text.starts_with("##");
        self.last_moved = remark.is_moved;
    }
}

/// True when a line between two places holds nothing.
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

/// True when the second would be read as a modifier of the first, were only a line end between them.
fn absorbs(first: &Node, second: &Node) -> bool {
    let holds =
        |node: &Node, rule: Rule| node.rule == rule || node.children.first().is_some_and(|child| child.rule == rule);
    let is_modifier = second.children.first().is_some_and(|child| {
        child.rule == Rule::setting_line && child.children.first().is_some_and(|first| first.rule == Rule::modifier)
    });
    holds(first, Rule::assertion) && is_modifier
}
