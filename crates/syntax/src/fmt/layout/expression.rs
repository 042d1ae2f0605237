//! Lays out expressions: operator chains by precedence, tests, and values after `=`.

use super::FileLayout;
use crate::concrete::{ConcreteNode, Rule};
use crate::fmt::doc::{Doc, empty_doc, group, line_break, loose_space, nest, sequence, space};

#[derive(Clone, Copy)]
struct ValuePart<'n> {
    node: &'n ConcreteNode,
    /// True for a prefix minus, which binds to the operand after it.
    is_prefix: bool,
}

/// Value operators, loosest first; ranges come after the first level and never break.
const LEVELS: [&[Rule]; 4] = [
    &[Rule::bar],
    &[Rule::range_dots, Rule::open_dots],
    &[Rule::plus, Rule::minus],
    &[Rule::star, Rule::slash, Rule::percent],
];

impl<'t> FileLayout<'t, '_> {
    pub(super) fn layout_expression(&mut self, node: &ConcreteNode) -> Doc<'t> {
        let children: Vec<&ConcreteNode> = node.children.iter().collect();
        self.layout_chain(&children, &[Rule::k_implies, Rule::k_or, Rule::k_and], true)
    }

    /// Lays out lines at their current indentation, for a position that is already indented.
    pub(super) fn layout_in_place(&mut self, node: &ConcreteNode) -> Doc<'t> {
        let children: Vec<&ConcreteNode> = node.children.iter().collect();
        self.layout_chain(&children, &[Rule::k_implies, Rule::k_or, Rule::k_and], false)
    }

    fn layout_chain(&mut self, nodes: &[&ConcreteNode], operators: &[Rule], indented: bool) -> Doc<'t> {
        let Some((&operator, tighter)) = operators.split_first() else {
            let parts: Vec<Doc<'t>> = nodes.iter().map(|node| self.layout_node(node)).collect();
            return sequence(space_between(parts));
        };
        let mut operands = nodes.split(|node| node.rule == operator);
        let mut words = nodes.iter().filter(|node| node.rule == operator);
        let Some(first) = operands.next() else { return empty_doc() };
        if first.len() == nodes.len() {
            return self.layout_chain(nodes, tighter, indented);
        }
        let head = self.layout_chain(first, tighter, true);
        let mut rest = Vec::new();
        for (operand, word) in operands.zip(&mut words) {
            let word = self.layout_node(word);
            // A line may end with `implies`, but not begin with it.
            rest.extend(if operator == Rule::k_implies {
                [space(), word, line_break()]
            } else {
                [line_break(), word, space()]
            });
            rest.push(self.layout_chain(operand, tighter, true));
        }
        let rest = sequence(rest);
        group(sequence(vec![head, if indented { nest(rest) } else { rest }]))
    }

    pub(super) fn layout_value(&mut self, node: &ConcreteNode) -> Doc<'t> {
        self.layout_value_at(node, true)
    }

    fn layout_value_at(&mut self, node: &ConcreteNode, indented: bool) -> Doc<'t> {
        if let [only] = node.children.as_slice() {
            return self.layout_node(only);
        }
        let mut parts = Vec::with_capacity(node.children.len());
        let mut after_operand = false;
        for child in &node.children {
            let is_prefix = child.rule == Rule::minus && !after_operand;
            after_operand = child.rule == Rule::operand;
            parts.push(ValuePart { node: child, is_prefix });
        }
        self.layout_operators(&parts, &LEVELS, indented)
    }

    fn layout_operators(&mut self, parts: &[ValuePart<'_>], levels: &[&[Rule]], indented: bool) -> Doc<'t> {
        let Some((own, tighter)) = levels.split_first() else {
            let parts = parts.iter().map(|part| self.layout_node(part.node)).collect();
            return sequence(parts);
        };
        let is_operator = |part: &ValuePart<'_>| !part.is_prefix && own.contains(&part.node.rule);
        if !parts.iter().any(is_operator) {
            return self.layout_operators(parts, tighter, indented);
        }
        let is_range = own.contains(&Rule::range_dots);
        let mut operands = parts.split(is_operator);
        let head = operands.next().map_or_else(empty_doc, |first| self.layout_operand(first, tighter));
        let mut tail = Vec::new();
        for (operand, operator) in operands.zip(parts.iter().filter(|part| is_operator(part))) {
            let sign = self.layout_node(operator.node);
            tail.extend(if is_range { vec![sign] } else { vec![space(), sign, line_break()] });
            tail.push(self.layout_operand(operand, tighter));
        }
        let tail = sequence(tail);
        group(sequence(vec![head, if indented { nest(tail) } else { tail }]))
    }

    /// Lays out an operand; empty at the open end of a range.
    fn layout_operand(&mut self, parts: &[ValuePart<'_>], levels: &[&[Rule]]) -> Doc<'t> {
        if parts.is_empty() { empty_doc() } else { self.layout_operators(parts, levels, true) }
    }

    pub(super) fn layout_test(&mut self, node: &ConcreteNode) -> Doc<'t> {
        let mut parts = Vec::new();
        for (index, child) in node.children.iter().enumerate() {
            match child.rule {
                Rule::value => parts.push(self.layout_assigned(child)),
                _ => {
                    parts.extend((index > 0).then(space));
                    parts.push(self.layout_node(child));
                }
            }
        }
        sequence(parts)
    }

    /// Lays out a value after `=`: brackets open on that line; other long values move to the next line if they fit there.
    pub(super) fn layout_assigned(&mut self, node: &ConcreteNode) -> Doc<'t> {
        let core = inner_node(node);
        let doc = match core.rule {
            Rule::expression => self.layout_in_place(core),
            Rule::value => self.layout_value_at(core, false),
            Rule::step | Rule::listed_step => self.words_in_place(&core.children),
            _ => self.layout_node(node),
        };
        let is_single = core.leaves.len() == 1;
        let commented = self.gaps.any_inside(&core.leaves) || !self.gaps.own_before(core.leaves.start).is_empty();
        let too_long = doc.width > self.remaining_width() && self.is_unbreakable(core);
        let opens = self.opens_bracket(core);
        if opens || (!commented && (too_long || (is_single && doc.forced))) {
            return sequence(vec![if too_long { loose_space() } else { space() }, doc]);
        }
        group(nest(sequence(vec![line_break(), doc])))
    }

    /// True for a value in brackets that extends to the end: `[…]`, `{…}`, `(…)`.
    fn opens_bracket(&self, core: &ConcreteNode) -> bool {
        match core.rule {
            Rule::list | Rule::object | Rule::group | Rule::step_group => true,
            Rule::operand => {
                let brackets = |node: &ConcreteNode| {
                    matches!(node.rule, Rule::list | Rule::object | Rule::group | Rule::arguments)
                        && node.leaves.len() > 2
                };
                core.children.iter().any(brackets)
            }
            Rule::atom | Rule::regex_atom => core.children.iter().any(|child| child.rule == Rule::entries),
            _ => false,
        }
    }

    fn is_unbreakable(&self, node: &ConcreteNode) -> bool {
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

fn inner_node(node: &ConcreteNode) -> &ConcreteNode {
    let mut node = node;
    while let [only] = node.children.as_slice() {
        node = only;
    }
    node
}

fn space_between(parts: Vec<Doc<'_>>) -> Vec<Doc<'_>> {
    let mut spaced = Vec::with_capacity(parts.len() * 2);
    for (index, part) in parts.into_iter().enumerate() {
        spaced.extend((index > 0).then(space));
        spaced.push(part);
    }
    spaced
}
