//! Expressions: chains of operators by how tightly they bind, tests, values behind `=`.

use super::Layout;
use crate::concrete::{Node, Rule};
use crate::fmt::doc::{Doc, group, line, loose, nest, nothing, sequence, space};

/// A part of a value: an operand or range dots, with the signs before it, or an operator between two.
#[derive(Clone, Copy)]
struct ValuePart<'n> {
    node: &'n Node,
    /// It binds to what follows: a minus in front.
    is_prefix: bool,
}

/// Operators of a value, loosest first; ranges stand between the first two and are never broken.
const LEVELS: [&[Rule]; 4] = [
    &[Rule::bar],
    &[Rule::range_dots, Rule::open_dots],
    &[Rule::plus, Rule::minus],
    &[Rule::star, Rule::slash, Rule::percent],
];

impl<'t> Layout<'t, '_> {
    /// `implies`, `or`, `and`.
    pub(super) fn expression(&mut self, node: &Node) -> Doc<'t> {
        let children: Vec<&Node> = node.children.iter().collect();
        self.chain(&children, &[Rule::k_implies, Rule::k_or, Rule::k_and], true)
    }

    /// The same with its lines below each other, for a place that is indented already.
    pub(super) fn expression_in_place(&mut self, node: &Node) -> Doc<'t> {
        let children: Vec<&Node> = node.children.iter().collect();
        self.chain(&children, &[Rule::k_implies, Rule::k_or, Rule::k_and], false)
    }

    fn chain(&mut self, nodes: &[&Node], operators: &[Rule], indented: bool) -> Doc<'t> {
        let Some((&operator, tighter)) = operators.split_first() else {
            let parts: Vec<Doc<'t>> = nodes.iter().map(|node| self.node(node)).collect();
            return sequence(between(parts));
        };
        let mut operands = nodes.split(|node| node.rule == operator);
        let mut words = nodes.iter().filter(|node| node.rule == operator);
        let Some(first) = operands.next() else { return nothing() };
        if first.len() == nodes.len() {
            return self.chain(nodes, tighter, indented);
        }
        let head = self.chain(first, tighter, true);
        let mut rest = Vec::new();
        for (operand, word) in operands.zip(&mut words) {
            let word = self.node(word);
            // `implies` may end a line and not begin one.
            rest.extend(if operator == Rule::k_implies { [space(), word, line()] } else { [line(), word, space()] });
            rest.push(self.chain(operand, tighter, true));
        }
        let rest = sequence(rest);
        group(sequence(vec![head, if indented { nest(rest) } else { rest }]))
    }

    /// Pipes, ranges and arithmetic.
    pub(super) fn value(&mut self, node: &Node) -> Doc<'t> {
        self.value_at(node, true)
    }

    fn value_at(&mut self, node: &Node, indented: bool) -> Doc<'t> {
        if let [only] = node.children.as_slice() {
            return self.node(only);
        }
        let mut parts = Vec::with_capacity(node.children.len());
        let mut after_operand = false;
        for child in &node.children {
            let is_prefix = child.rule == Rule::minus && !after_operand;
            after_operand = child.rule == Rule::operand;
            parts.push(ValuePart { node: child, is_prefix });
        }
        self.operators(&parts, &LEVELS, indented)
    }

    fn operators(&mut self, parts: &[ValuePart<'_>], levels: &[&[Rule]], indented: bool) -> Doc<'t> {
        let Some((own, tighter)) = levels.split_first() else {
            let parts = parts.iter().map(|part| self.node(part.node)).collect();
            return sequence(parts);
        };
        let is_operator = |part: &ValuePart<'_>| !part.is_prefix && own.contains(&part.node.rule);
        if !parts.iter().any(is_operator) {
            return self.operators(parts, tighter, indented);
        }
        let is_range = own.contains(&Rule::range_dots);
        let mut operands = parts.split(is_operator);
        let head = operands.next().map_or_else(nothing, |first| self.operand(first, tighter));
        let mut tail = Vec::new();
        for (operand, operator) in operands.zip(parts.iter().filter(|part| is_operator(part))) {
            let sign = self.node(operator.node);
            tail.extend(if is_range { vec![sign] } else { vec![space(), sign, line()] });
            tail.push(self.operand(operand, tighter));
        }
        let tail = sequence(tail);
        group(sequence(vec![head, if indented { nest(tail) } else { tail }]))
    }

    /// What stands between two operators; nothing at the open end of a range.
    fn operand(&mut self, parts: &[ValuePart<'_>], levels: &[&[Rule]]) -> Doc<'t> {
        if parts.is_empty() { nothing() } else { self.operators(parts, levels, true) }
    }

    /// A test without its subject.
    pub(super) fn test(&mut self, node: &Node) -> Doc<'t> {
        let mut parts = Vec::new();
        for (index, child) in node.children.iter().enumerate() {
            match child.rule {
                Rule::value => parts.push(self.assigned(child)),
                _ => {
                    parts.extend((index > 0).then(space));
                    parts.push(self.node(child));
                }
            }
        }
        sequence(parts)
    }

    /// A value behind `=`, `:`, `where` or a test, with the space or line end before it. Brackets open on the same line; anything else that is
    /// too long begins on the next one, unless it would be too long there as well.
    pub(super) fn assigned(&mut self, node: &Node) -> Doc<'t> {
        let core = core(node);
        let doc = match core.rule {
            Rule::expression => self.expression_in_place(core),
            Rule::value => self.value_at(core, false),
            Rule::step | Rule::listed_step => self.words_in_place(&core.children),
            _ => self.node(node),
        };
        let is_single = core.leaves.len() == 1;
        let commented = self.gaps.any_inside(&core.leaves) || !self.gaps.own_before(core.leaves.start).is_empty();
        let too_long = doc.width > self.room() && self.is_unbreakable(core);
        let opens = self.opens(core);
        if opens || (!commented && (too_long || (is_single && doc.forced))) {
            return sequence(vec![if too_long { loose() } else { space() }, doc]);
        }
        group(nest(sequence(vec![line(), doc])))
    }

    /// True for what begins with a bracket that takes the rest with it: `[…]`, `{…}`, `(…)`.
    fn opens(&self, core: &Node) -> bool {
        match core.rule {
            Rule::list | Rule::object | Rule::group | Rule::step_group => true,
            Rule::operand => {
                let brackets = |node: &Node| {
                    matches!(node.rule, Rule::list | Rule::object | Rule::group | Rule::arguments)
                        && node.leaves.len() > 2
                };
                core.children.iter().any(brackets)
            }
            Rule::atom | Rule::regex_atom => core.children.iter().any(|child| child.rule == Rule::entries),
            _ => false,
        }
    }

    /// True when nothing in it may end a line.
    fn is_unbreakable(&self, node: &Node) -> bool {
        let mut todo = vec![node];
        while let Some(node) = todo.pop() {
            let breaks = matches!(
                node.rule,
                Rule::k_and
                    | Rule::k_or
                    | Rule::k_implies
                    | Rule::comma
                    | Rule::bar
                    | Rule::plus
                    | Rule::open_paren
                    | Rule::open_bracket
                    | Rule::open_brace
                    | Rule::colon
                    | Rule::k_then
            );
            if breaks {
                return false;
            }
            todo.extend(&node.children);
        }
        true
    }
}

/// The node inside of nodes that hold nothing else.
fn core(node: &Node) -> &Node {
    let mut node = node;
    while let [only] = node.children.as_slice() {
        node = only;
    }
    node
}

/// Spaces between the parts.
fn between(parts: Vec<Doc<'_>>) -> Vec<Doc<'_>> {
    let mut spaced = Vec::with_capacity(parts.len() * 2);
    for (index, part) in parts.into_iter().enumerate() {
        spaced.extend((index > 0).then(space));
        spaced.push(part);
    }
    spaced
}
