//! Statements and declarations: words and patterns, with the places where a long one goes on on the next line.

use super::Layout;
use crate::concrete::{Node, Rule};
use crate::fmt::doc::{Doc, Mark, broken, group, line, mark, nest, nothing, sequence, space, wide_line};

/// What stands between two neighbours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Between {
    Nothing,
    Space,
    /// A space, or the end of the line.
    Line,
    /// The value behind `=` or `:`; it takes care of its own first line.
    Value,
}

/// Parts of which the layout is that of their children in the row of their parent.
fn is_flattened(rule: Rule) -> bool {
    matches!(rule, Rule::header | Rule::condition | Rule::tested_rules | Rule::flow_sequence)
}

fn flattened<'n>(children: &'n [Node], row: &mut Vec<&'n Node>) {
    for child in children {
        if is_flattened(child.rule) && !child.children.is_empty() {
            flattened(&child.children, row);
        } else {
            row.push(child);
        }
    }
}

fn is_body(rule: Rule) -> bool {
    matches!(rule, Rule::block | Rule::settings_block | Rule::run_object)
}

fn between(left: Rule, right: Rule) -> Between {
    match (left, right) {
        (_, Rule::comma | Rule::colon | Rule::entries | Rule::parameters) | (Rule::minus, _) => Between::Nothing,
        (Rule::equals | Rule::colon, Rule::expression | Rule::step) | (Rule::k_where, _) => Between::Value,
        (Rule::comma | Rule::bar, _) => Between::Line,
        (_, Rule::targets | Rule::arrow | Rule::k_or | Rule::k_then | Rule::k_else | Rule::header_modifier) => {
            Between::Line
        }
        _ => Between::Space,
    }
}

impl<'t> Layout<'t, '_> {
    /// A row of words. From its first possible line end on it is indented when it is broken; bodies are not.
    pub(super) fn words(&mut self, children: &[Node]) -> Doc<'t> {
        self.row(children, RowParts::default())
    }

    /// The same with its lines below each other, for a place that is indented already.
    pub(super) fn words_in_place(&mut self, children: &[Node]) -> Doc<'t> {
        self.row(children, RowParts { in_place: true, ..RowParts::default() })
    }

    fn row(&mut self, children: &[Node], mut parts: RowParts<'t>) -> Doc<'t> {
        let mut row = Vec::with_capacity(children.len());
        flattened(children, &mut row);
        let equals = children.first().and_then(|first| match first.rule {
            Rule::k_let => Some(Mark::Let),
            Rule::k_param => Some(Mark::Param),
            Rule::k_def => Some(Mark::Def),
            _ => None,
        });
        let mut left: Option<Rule> = None;
        for node in row {
            let gap = left.map_or(Between::Nothing, |left| between(left, node.rule));
            let gap = if is_body(node.rule) { Between::Space } else { gap };
            if is_body(node.rule) {
                parts.end_row();
            }
            match gap {
                Between::Nothing => {}
                Between::Space => parts.push(space()),
                Between::Line => parts.push_line(line()),
                Between::Value => {
                    let value = self.assigned(node);
                    parts.push(value);
                    left = Some(node.rule);
                    continue;
                }
            }
            if let (Rule::equals, Some(kind)) = (node.rule, equals) {
                parts.push(mark(kind));
            }
            let doc = self.node(node);
            parts.push(doc);
            left = Some(node.rule);
        }
        parts.done()
    }

    /// A statement with its modifiers. Where they do not fit behind it, each stands on a line of its own; so it does where the author began a line
    /// with one.
    pub(super) fn assertion(&mut self, node: &Node) -> Doc<'t> {
        let mut parts = Vec::new();
        for child in &node.children {
            match child.rule {
                Rule::modifiers => {
                    let first = self.between(child.leaves.start.saturating_sub(1));
                    let own_lines = first.contains('\n') || self.has_line_between(&child.children);
                    let mut modifiers = Vec::new();
                    for (index, modifier) in child.children.iter().enumerate() {
                        modifiers.push(if index == 0 { wide_line() } else { line() });
                        modifiers.extend((index == 0).then(|| mark(Mark::Modifier)));
                        modifiers.push(self.node(modifier));
                    }
                    let modifiers = nest(sequence(modifiers));
                    parts.push(if own_lines { broken(modifiers) } else { group(modifiers) });
                }
                _ => parts.push(self.node(child)),
            }
        }
        sequence(parts)
    }

    /// True when a line ends between two of these nodes.
    fn has_line_between(&self, nodes: &[Node]) -> bool {
        nodes.iter().skip(1).any(|node| self.between(node.leaves.start.saturating_sub(1)).contains('\n'))
    }
}

/// A row under construction: what stands before its first line end, what is indented behind it, and bodies.
#[derive(Default)]
struct RowParts<'t> {
    done: Vec<Doc<'t>>,
    head: Vec<Doc<'t>>,
    tail: Option<Vec<Doc<'t>>>,
    /// Its lines are not indented.
    in_place: bool,
}

impl<'t> RowParts<'t> {
    fn push(&mut self, doc: Doc<'t>) {
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

    fn done(mut self) -> Doc<'t> {
        self.end_row();
        let mut done = self.done;
        match done.len() {
            1 => done.pop().unwrap_or_else(nothing),
            _ => sequence(done),
        }
    }
}
