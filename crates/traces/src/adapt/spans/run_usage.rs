//! What a run used: counted where it arose.

use super::attributes::Fact;
use super::tree::SpanTree;
use super::{SpanAct, TraceSpan, span_messages};
use crate::adapt::calls::{OfUsage, TokenUsage};
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{node_list, node_object};
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

key_table! {
    /// A whole answer of an API, as it came.
    AnswerKey {
        Usage = "usage",
        Said = "output" | "choices" | "content",
    }
}

/// Some keep the answer of a model as it came, and its tokens nowhere else.
pub(super) fn read_answers<'run>(spans: &mut [TraceSpan<'run>], builder: &RunBuilder<'run, '_>) {
    for span in spans.iter_mut().filter(|span| span.act == SpanAct::Inference && !span.facts.has_any(&TOKENS)) {
        let answer = [Fact::MessagesOut, Fact::Output].into_iter().find_map(|fact| span.facts.fact_node(fact));
        let Some(answer) = answer.and_then(|answer| node_object(span_messages::read_node(answer, builder))) else {
            continue;
        };
        let Some(usage) = value_of(answer, AnswerKey::Usage).and_then(node_object) else { continue };
        if value_of(answer, AnswerKey::Said).is_none_or(|said| node_list(said).is_none()) {
            continue;
        }
        let mut counts = TokenUsage::default();
        counts.add_usage(usage);
        // Only Anthropic uses this name, and leaves out what a cache holds.
        if usage.get(OfUsage::CacheRead.key()).is_some() {
            counts.count_cache_as_input();
        }
        for (fact, count) in TOKENS.into_iter().zip(counts.token_counts()) {
            span.take_fact(fact, count.map(|count| Node::computed(Value::Number(count))));
        }
    }
}

/// Counted at model requests, which outer spans repeat. If a request lacks usage, there is no total.
pub(super) fn set_usage<'run>(tree: &SpanTree<'run>, builder: &mut RunBuilder<'run, '_>) {
    let has = |span: &TraceSpan<'run>| span.facts.has_any(&[Fact::TokensIn, Fact::TokensOut, Fact::TokensAll]);
    let leaves = innermost_spans(tree, has);
    if lacks_cost(tree, &leaves, has) {
        return;
    }
    let mut usage = TokenUsage::default();
    for span in leaves.iter().filter_map(|span| tree.spans.get(*span)) {
        let mut of_request = TokenUsage::default();
        of_request.add_counts(TOKENS.map(|fact| span.facts.fact_number(fact)));
        builder.add_usage(of_request.token_counts(), span.facts.fact_node(Fact::Model));
        usage.merge_usage(&of_request);
    }
    usage.set_usage(builder);
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
