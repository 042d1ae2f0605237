//! What a run used: counted where it arose.

use super::attributes::Fact;
use super::tree::Tree;
use super::{Act, Span};
use crate::adapt::calls::Usage;
use crate::adapt::draft::Draft;
use averment_base::value::{Node, Number, Value};

const TOKENS: [Fact; 6] = [
    Fact::TokensIn,
    Fact::TokensOut,
    Fact::TokensAll,
    Fact::TokensReasoning,
    Fact::TokensCacheRead,
    Fact::TokensCacheWrite,
];

/// Usage is counted where it arose: what is around a request to a model repeats it. Where a request says nothing of it, the sum of the
/// others is not that of the run.
pub(super) fn usage<'run>(tree: &Tree<'run>, draft: &mut Draft<'run, '_>) {
    let has = |span: &Span<'run>| span.facts.has(&[Fact::TokensIn, Fact::TokensOut, Fact::TokensAll]);
    let leaves = leaves(tree, has);
    if lacks_one(tree, &leaves, has) {
        return;
    }
    let mut usage = Usage::default();
    for span in leaves.iter().filter_map(|span| tree.spans.get(*span)) {
        let mut of_request = Usage::default();
        of_request.add_counts(TOKENS.map(|fact| span.facts.number(fact)));
        draft.spends(of_request.counts(), span.facts.get(Fact::Model));
        usage.join(&of_request);
    }
    usage.set(draft);
}

/// What a run cost: what its format says of it as a whole, else the sum of what its requests did. Either is a part of the cost where some
/// of them say it and others do not.
pub(super) fn cost<'run>(tree: &Tree<'run>, whole: Option<Node<'run>>) -> Option<Node<'run>> {
    let has = |span: &Span<'run>| span.facts.number(Fact::Cost).is_some();
    let leaves = leaves(tree, has);
    if lacks_one(tree, &leaves, has) {
        return None;
    }
    let costs = leaves.iter().filter_map(|span| tree.spans.get(*span)?.facts.number(Fact::Cost));
    let sum = costs.fold(None::<Number<'run>>, |sum, cost| match sum {
        Some(sum) => sum.add(cost),
        None => Some(cost),
    });
    whole.or_else(|| sum.map(|sum| Node::computed(Value::Number(sum))))
}

/// Whether a request to a model was answered that none of these spans speaks of: it is none of them, nor in one, nor around one of the
/// same work.
fn lacks_one<'run>(tree: &Tree<'run>, leaves: &[usize], has: impl Fn(&Span<'run>) -> bool) -> bool {
    let mut speaks = vec![false; tree.spans.len()];
    for leaf in leaves {
        speaks.get_mut(*leaf).into_iter().for_each(|slot| *slot = true);
    }
    let speaks = |span: usize| speaks.get(span) == Some(&true);
    let inside = tree.downwards(false, |parent, above| above || speaks(parent));
    let around = tree.enclosing(|span| span.act == Act::Inference && has(span), true);
    let is_told = |span: usize| speaks(span) || [&inside, &around].iter().any(|known| known.get(span) == Some(&true));
    // One that failed before it was answered has used nothing.
    let is_used = |span: &Span<'_>| span.failed != Some(true) || span.facts.has(&TOKENS);
    let requests = tree.spans.iter().enumerate().filter(|(_, span)| span.act == Act::Inference && is_used(span));
    !leaves.is_empty() && requests.into_iter().any(|(span, _)| !is_told(span))
}

/// The spans that say something themselves: requests to models that have none with it inside of the same work, others that have none at all.
fn leaves<'run>(tree: &Tree<'run>, has: impl Fn(&Span<'run>) -> bool + Copy) -> Vec<usize> {
    let near = tree.enclosing(move |span| span.act == Act::Inference && has(span), true);
    let any = tree.enclosing(has, false);
    let is_leaf = |number: &usize| {
        let Some(span) = tree.spans.get(*number).filter(|span| has(span)) else { return false };
        let encloses = if span.act == Act::Inference { &near } else { &any };
        encloses.get(*number) == Some(&false)
    };
    (0..tree.spans.len()).filter(is_leaf).collect()
}
