//! What a run used: counted where it arose.

use super::attributes::Fact;
use super::tree::SpanTree;
use super::{SpanAct, TraceSpan};
use crate::adapt::calls::TokenUsage;
use crate::adapt::run_builder::RunBuilder;
use averment_base::value::{Node, Number, Value};

const TOKENS: [Fact; 6] = [
    Fact::TokensIn,
    Fact::TokensOut,
    Fact::TokensAll,
    Fact::TokensReasoning,
    Fact::TokensCacheRead,
    Fact::TokensCacheWrite,
];

/// Counted at model requests, which outer spans repeat. If a request lacks usage, there is no total.
pub(super) fn set_usage<'run>(tree: &SpanTree<'run>, draft: &mut RunBuilder<'run, '_>) {
    let has = |span: &TraceSpan<'run>| span.facts.has_any(&[Fact::TokensIn, Fact::TokensOut, Fact::TokensAll]);
    let leaves = innermost_spans(tree, has);
    if lacks_cost(tree, &leaves, has) {
        return;
    }
    let mut usage = TokenUsage::default();
    for span in leaves.iter().filter_map(|span| tree.spans.get(*span)) {
        let mut of_request = TokenUsage::default();
        of_request.add_counts(TOKENS.map(|fact| span.facts.fact_number(fact)));
        draft.add_usage(of_request.token_counts(), span.facts.fact_node(Fact::Model));
        usage.merge_usage(&of_request);
    }
    usage.set_usage(draft);
}

/// The format's total, else the sum of requests; incomplete if only some have a cost.
pub(super) fn run_cost<'run>(tree: &SpanTree<'run>, whole: Option<Node<'run>>) -> Option<Node<'run>> {
    let has = |span: &TraceSpan<'run>| span.facts.fact_number(Fact::Cost).is_some();
    let leaves = innermost_spans(tree, has);
    if lacks_cost(tree, &leaves, has) {
        return None;
    }
    let costs = leaves.iter().filter_map(|span| tree.spans.get(*span)?.facts.fact_number(Fact::Cost));
    let sum = costs.fold(None::<Number<'run>>, |sum, cost| match sum {
        Some(sum) => sum.add(cost),
        None => Some(cost),
    });
    whole.or_else(|| sum.map(|sum| Node::computed(Value::Number(sum))))
}

/// True if an answered model request is not covered by these spans.
fn lacks_cost<'run>(tree: &SpanTree<'run>, leaves: &[usize], has: impl Fn(&TraceSpan<'run>) -> bool) -> bool {
    let mut speaks = vec![false; tree.spans.len()];
    for leaf in leaves {
        speaks.get_mut(*leaf).into_iter().for_each(|slot| *slot = true);
    }
    let speaks = |span: usize| speaks.get(span) == Some(&true);
    let inside = tree.fold_down(false, |parent, above| above || speaks(parent));
    let around = tree.encloses_any(|span| span.act == SpanAct::Inference && has(span), true);
    let is_told = |span: usize| speaks(span) || [&inside, &around].iter().any(|known| known.get(span) == Some(&true));
    // One that failed before it was answered has used nothing.
    let is_used = |span: &TraceSpan<'_>| span.failed != Some(true) || span.facts.has_any(&TOKENS);
    let requests = tree.spans.iter().enumerate().filter(|(_, span)| span.act == SpanAct::Inference && is_used(span));
    !leaves.is_empty() && requests.into_iter().any(|(span, _)| !is_told(span))
}

/// Innermost spans with a value: model requests within the same work, others overall.
fn innermost_spans<'run>(tree: &SpanTree<'run>, has: impl Fn(&TraceSpan<'run>) -> bool + Copy) -> Vec<usize> {
    let near = tree.encloses_any(move |span| span.act == SpanAct::Inference && has(span), true);
    let any = tree.encloses_any(has, false);
    let is_leaf = |number: &usize| {
        let Some(span) = tree.spans.get(*number).filter(|span| has(span)) else { return false };
        let encloses = if span.act == SpanAct::Inference { &near } else { &any };
        encloses.get(*number) == Some(&false)
    };
    (0..tree.spans.len()).filter(is_leaf).collect()
}
