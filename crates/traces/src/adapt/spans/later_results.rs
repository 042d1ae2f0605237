//! What models were told of calls whose own spans do not say what they gave.

use super::carried::Carried;
use super::exchange::{Heard, Told};
use super::text_of_node;
use super::tree::Tree;
use rustc_hash::FxHashMap;

/// What each of the models was told under the ids that are asked for, with the start of its span, in that order.
type Later<'run> = FxHashMap<&'run str, Vec<(Option<f64>, Told<'run>)>>;

/// Gives each call without a result what a model was told of it: that of what was asked for, else what the next request behind the call
/// holds under its id.
pub(super) fn complete<'run>(
    calls: &mut [Carried<'run>],
    tree: &Tree<'run>,
    models: &[usize],
    exchanges: &[Heard<'_, 'run>],
    of_request: impl Fn(usize) -> Option<Told<'run>>,
) {
    let lacking = || calls.iter().filter(|call| call.result.is_none());
    if lacking().next().is_none() {
        return;
    }
    let mut later: Later<'run> = lacking().filter_map(Carried::id).map(|id| (id, Vec::new())).collect();
    let start = |span: usize| tree.spans.get(span).and_then(|span| span.start);
    for (model, exchange) in models.iter().zip(exchanges) {
        for told in exchange.given.iter().flat_map(|said| &said.results) {
            let id = told.id.and_then(text_of_node);
            id.and_then(|id| later.get_mut(id)).into_iter().for_each(|all| all.push((start(*model), *told)));
        }
    }
    for (place, call) in calls.iter_mut().enumerate().filter(|(_, call)| call.result.is_none()) {
        let (own, called) = (call.id(), start(call.span));
        let is_own = |told: &Told<'run>| own.zip(told.id.and_then(text_of_node)).is_none_or(|(own, id)| own == id);
        let told = of_request(place).filter(is_own).or_else(|| next(later.get(own?)?, called));
        told.into_iter().for_each(|told| call.hear(told));
    }
}

/// What the first request behind a call was told: of several results under one id the last one, as a request repeats those before it.
fn next<'run>(all: &[(Option<f64>, Told<'run>)], called: Option<f64>) -> Option<Told<'run>> {
    let is_behind = |told: Option<f64>| told.zip(called).is_none_or(|(told, called)| told >= called);
    let (first, _) = all.iter().find(|(told, _)| is_behind(*told))?;
    all.iter().rfind(|(told, _)| told == first).map(|(_, told)| *told)
}
