//! Lays out statements and declarations: words and patterns, with the places where a long one may continue on the next line.

use super::FileLayout;
use crate::concrete::{ConcreteNode, Rule};
use crate::fmt::doc::{
    AlignMark, Doc, align_mark, broken_group, empty_doc, group, line_break, nest, sequence, space, wide_line,
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum RowGap {
    Nothing,
    Space,
    Line,
    /// The value after `=` or `:`, which lays out its own first line.
    Value,
}

/// True for rules that are laid out inline, as part of their parent's row.
fn is_flattened(rule: Rule) -> bool {
    matches!(rule, Rule::header | Rule::condition | Rule::tested_rules | Rule::flow_sequence)
}

fn flatten_row<'n>(children: &'n [ConcreteNode], row: &mut Vec<&'n ConcreteNode>) {
    for child in children {
        if is_flattened(child.rule) && !child.children.is_empty() {
            flatten_row(&child.children, row);
        } else {
            row.push(child);
        }
    }
}

fn is_body(rule: Rule) -> bool {
    matches!(rule, Rule::block | Rule::settings_block | Rule::run_object)
}

fn gap_between(left: Rule, right: Rule) -> RowGap {
    match (left, right) {
        (_, Rule::comma | Rule::colon | Rule::entries | Rule::parameters) | (Rule::minus, _) => RowGap::Nothing,
        (Rule::equals | Rule::colon, Rule::expression | Rule::step) | (Rule::k_where, _) => RowGap::Value,
        (Rule::comma | Rule::bar, _) => RowGap::Line,
        (_, Rule::targets | Rule::arrow | Rule::k_or | Rule::k_then | Rule::k_else | Rule::header_modifier) => {
            RowGap::Line
        }
        _ => RowGap::Space,
    }
}

impl<'t> FileLayout<'t, '_> {
    /// Lays out a row of words. If it is broken, everything after the first possible line break is indented, except bodies.
    pub(super) fn layout_words(&mut self, children: &[ConcreteNode]) -> Doc<'t> {
        self.layout_row(children, RowParts::default())
    }

    /// Lays out lines at their current indentation, for a position that is already indented.
    pub(super) fn words_in_place(&mut self, children: &[ConcreteNode]) -> Doc<'t> {
        self.layout_row(children, RowParts { in_place: true, ..RowParts::default() })
    }

    fn layout_row(&mut self, children: &[ConcreteNode], mut parts: RowParts<'t>) -> Doc<'t> {
        let mut row = Vec::with_capacity(children.len());
        flatten_row(children, &mut row);
        let equals = children.first().and_then(|first| match first.rule {
            Rule::k_let => Some(AlignMark::Let),
            Rule::k_param => Some(AlignMark::Param),
            Rule::k_def => Some(AlignMark::Def),
            _ => None,
        });
        let mut left: Option<Rule> = None;
        for node in row {
            let gap = left.map_or(RowGap::Nothing, |left| gap_between(left, node.rule));
            let gap = if is_body(node.rule) { RowGap::Space } else { gap };
            if is_body(node.rule) {
                parts.end_row();
            }
            match gap {
                RowGap::Nothing => {}
                RowGap::Space => parts.push_doc(space()),
                RowGap::Line => parts.push_line(line_break()),
                RowGap::Value => {
                    let value = self.layout_assigned(node);
                    parts.push_doc(value);
                    left = Some(node.rule);
                    continue;
                }
            }
            if let (Rule::equals, Some(kind)) = (node.rule, equals) {
                parts.push_doc(align_mark(kind));
            }
            let doc = self.layout_node(node);
            parts.push_doc(doc);
            left = Some(node.rule);
        }
        parts.into_doc()
    }

    /// Lays out an assertion. Modifiers that do not fit, or that the author put on their own lines, get one line each.
    pub(super) fn layout_assertion(&mut self, node: &ConcreteNode) -> Doc<'t> {
        let mut parts = Vec::new();
        for child in &node.children {
            match child.rule {
                Rule::modifiers => {
                    let first = self.text_between(child.leaves.start.saturating_sub(1));
                    let own_lines = first.contains('\n') || self.has_line_between(&child.children);
                    let mut modifiers = Vec::new();
                    for (index, modifier) in child.children.iter().enumerate() {
                        modifiers.push(if index == 0 { wide_line() } else { line_break() });
                        modifiers.extend((index == 0).then(|| align_mark(AlignMark::Modifier)));
                        modifiers.push(self.layout_node(modifier));
                    }
                    let modifiers = nest(sequence(modifiers));
                    parts.push(if own_lines { broken_group(modifiers) } else { group(modifiers) });
                }
                _ => parts.push(self.layout_node(child)),
            }
        }
        sequence(parts)
    }

    fn has_line_between(&self, nodes: &[ConcreteNode]) -> bool {
        nodes.iter().skip(1).any(|node| self.text_between(node.leaves.start.saturating_sub(1)).contains('\n'))
    }
}

#[derive(Default)]
struct RowParts<'t> {
    done: Vec<Doc<'t>>,
    head: Vec<Doc<'t>>,
    tail: Option<Vec<Doc<'t>>>,
    in_place: bool,
}

impl<'t> RowParts<'t> {
    fn push_doc(&mut self, doc: Doc<'t>) {
        self.tail.as_mut().unwrap_or(&mut self.head).push(doc);
    }

    fn push_line(&mut self, doc: Doc<'t>) {
        self.tail.get_or_insert_default().push(doc);
    }

    fn end_row(&mut self) {
        let mut row = std::mem::take(&mut self.head);
        let tail = self.tail.take().map(sequence);
        row.extend(tail.map(|tail| if self.in_place { tail } else { nest(tail) }));
        if !row.is_empty() {
            self.done.push(group(sequence(row)));
        }
    }

    fn into_doc(mut self) -> Doc<'t> {
        self.end_row();
        let mut done = self.done;
        match done.len() {
            1 => done.pop().unwrap_or_else(empty_doc),
            _ => sequence(done),
        }
    }
}
