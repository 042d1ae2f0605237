//! The concrete tree: what the grammar read, every word and sign once, in order.
//!
//! The syntax tree keeps what a file means; which parentheses a step stood in, whether somebody wrote `does not contain` or `not contains`, it
//! does not need to know. The formatter does: it prints every leaf of this tree as it was written, so it cannot lose or change one.

use super::grammar;
pub(crate) use super::grammar::Rule;
use super::{token, without_mark};
use averment_base::limits::Limits;
use pest::iterators::Pair;
use std::ops::Range;

/// A grammar rule and its leaves. Nodes without a leaf are left out.
#[derive(Debug)]
pub(crate) struct ConcreteNode {
    /// The rule that read it.
    pub rule: Rule,
    /// The numbers of its leaves.
    pub leaves: Range<usize>,
    /// Its parts; none for a leaf.
    pub children: Vec<ConcreteNode>,
}

#[derive(Debug, Clone)]
pub(crate) struct ConcreteLeaf {
    /// The rule that read it.
    pub rule: Rule,
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// The interpolations of a string, with their `${` and `}`.
    pub values: Vec<Range<usize>>,
}

#[derive(Debug)]
pub(crate) struct ConcreteTree {
    /// The whole file; `None` when it holds no statement.
    pub root: Option<ConcreteNode>,
    /// All leaves in order.
    pub leaves: Vec<ConcreteLeaf>,
}

/// Parses with the strict grammar and runs `work` with enough stack; `None` if the text is refused.
pub(crate) fn with_tree<T>(text: &str, limits: &Limits, work: impl FnOnce(&ConcreteTree) -> T) -> Option<T> {
    let scan = token::scan_tokens(text, limits.rule_depth, limits.rule_tokens);
    if !scan.too_deep.is_empty() || scan.tokens.len() > limits.rule_tokens {
        return None;
    }
    grammar::with_stack(scan.depth.min(limits.rule_depth), || {
        let (start, body) = without_mark(text);
        let pair = grammar::parse_rule(Rule::file, body, limits.rule_steps).ok()?;
        let mut leaves = Vec::new();
        let root = build_node(pair, start, &mut leaves);
        Some(work(&ConcreteTree { root, leaves }))
    })
}

fn build_node(pair: Pair<'_, Rule>, base: usize, leaves: &mut Vec<ConcreteLeaf>) -> Option<ConcreteNode> {
    let rule = pair.as_rule();
    let (start, first) = (pair.as_span().start() + base, leaves.len());
    let end = pair.as_span().end() + base;
    if start == end || rule == Rule::EOI {
        return None;
    }
    let is_literal = matches!(rule, Rule::string | Rule::regex | Rule::field | Rule::pass_power);
    let mut children = Vec::new();
    // A file without a statement is no leaf: it holds comments.
    if is_literal || (rule != Rule::file_body && pair.clone().into_inner().next().is_none()) {
        let values = if rule == Rule::string { interpolation_ranges(pair, base) } else { Vec::new() };
        // These look at what follows, so that the grammar lets them end with space and comments.
        let end = if matches!(rule, Rule::equals | Rule::minus) { start + 1 } else { end };
        leaves.push(ConcreteLeaf { rule, range: start..end, values });
    } else {
        children.extend(pair.into_inner().filter_map(|child| build_node(child, base, leaves)));
    }
    (leaves.len() > first).then_some(ConcreteNode { rule, leaves: first..leaves.len(), children })
}

fn interpolation_ranges(string: Pair<'_, Rule>, base: usize) -> Vec<Range<usize>> {
    let parts = string.into_inner().flat_map(Pair::into_inner);
    let values = parts.filter(|part| part.as_rule() == Rule::interpolation);
    values.map(|value| value.as_span().start() + base..value.as_span().end() + base).collect()
}
