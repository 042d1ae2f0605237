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

/// Usage is counted where it arose: what is around a request to a model repeats it.
pub(super) fn usage<'run>(tree: &Tree<'run>, draft: &mut Draft<'run, '_>) {
    let has = |span: &Span<'run>| span.facts.has(&[Fact::TokensIn, Fact::TokensOut, Fact::TokensAll]);
    let mut usage = Usage::default();
    for span in leaves(tree, has).filter_map(|span| tree.spans.get(span)) {
        let mut of_request = Usage::default();
        of_request.add_counts(TOKENS.map(|fact| span.facts.number(fact)));
        draft.spends(&of_request, span.facts.get(Fact::Model));
        usage.join(&of_request);
    }
    usage.set(draft);
}

pub(super) fn cost<'run>(tree: &Tree<'run>) -> Option<Node<'run>> {
    let has = |span: &Span<'run>| span.facts.number(Fact::Cost).is_some();
    let costs = leaves(tree, has).filter_map(|span| tree.spans.get(span)?.facts.number(Fact::Cost));
    let sum = costs.fold(None::<Number<'run>>, |sum, cost| match sum {
        Some(sum) => sum.add(cost),
        None => Some(cost),
    });
    sum.map(|sum| Node::computed(Value::Number(sum)))
}

/// The spans that say something themselves: requests to models that have none with it inside of the same work, others that have none at all.
fn leaves<'a, 'run>(
    tree: &'a Tree<'run>,
    has: impl Fn(&Span<'run>) -> bool + Copy + 'a,
) -> impl Iterator<Item = usize> + 'a {
    let near = tree.enclosing(move |span| span.act == Act::Inference && has(span), true);
    let any = tree.enclosing(has, false);
    (0..tree.spans.len()).filter(move |number| {
        let Some(span) = tree.spans.get(*number).filter(|span| has(span)) else { return false };
        let encloses = if span.act == Act::Inference { &near } else { &any };
        encloses.get(*number) == Some(&false)
    })
}
