//! The concrete tree: every word and sign that the grammar read, once and in order.
//!
//! The syntax tree keeps only the meaning of a file, not its parentheses or the choice between `does not contain` and `not contains`. The formatter
//! needs these: it prints every leaf of the concrete tree as written, so it cannot lose or change one.

use super::grammar;
pub(crate) use super::grammar::Rule;
use super::{token, without_mark};
use averment_base::limits::Limits;
use pest::iterators::Pair;
use std::ops::Range;

/// A grammar rule and its leaves. Nodes without leaves are omitted.
#[derive(Debug)]
pub(crate) struct ConcreteNode {
    /// The grammar rule.
    pub rule: Rule,
    /// The indexes of its leaves.
    pub leaves: Range<usize>,
    /// Its child nodes; none for a leaf.
    pub children: Vec<ConcreteNode>,
}

#[derive(Debug, Clone)]
pub(crate) struct ConcreteLeaf {
    /// The grammar rule.
    pub rule: Rule,
    /// Its byte range in the text.
    pub range: Range<usize>,
    /// The interpolations of a string, with their `${` and `}`.
    pub values: Vec<Range<usize>>,
}

#[derive(Debug)]
pub(crate) struct ConcreteTree {
    /// The whole file; `None` if it contains no statement.
    pub root: Option<ConcreteNode>,
    /// All leaves in order.
    pub leaves: Vec<ConcreteLeaf>,
}

/// Parses with the strict grammar and runs `work` with enough stack; returns `None` if the text is invalid.
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
    // A file without a statement is not a leaf, since it may contain comments.
    if is_literal || (rule != Rule::file_body && pair.clone().into_inner().next().is_none()) {
        let values = if rule == Rule::string { interpolation_ranges(pair, base) } else { Vec::new() };
        // These rules look ahead, so the grammar lets them end with white space and comments.
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
