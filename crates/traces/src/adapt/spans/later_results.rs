//! What models were told of calls whose own spans do not say what they gave.

use super::exchange::{ExchangeRef, ToolResult};
use super::node_text;
use super::tool_executions::ToolExecution;
use super::tree::SpanTree;
use rustc_hash::FxHashMap;

/// Results by requested id, each with its model span's start, in that order.
type LaterResults<'run> = FxHashMap<&'run str, Vec<(Option<f64>, ToolResult<'run>)>>;

/// Sets missing results from the request itself, else from the next request that holds the id.
pub(super) fn complete_results<'run>(
    calls: &mut [ToolExecution<'run>],
    tree: &SpanTree<'run>,
    models: &[usize],
    exchanges: &[ExchangeRef<'_, 'run>],
    of_request: impl Fn(usize) -> Option<ToolResult<'run>>,
) {
    let lacking = || calls.iter().filter(|call| call.result.is_none());
    if lacking().next().is_none() {
        return;
    }
    let mut later: LaterResults<'run> =
        lacking().filter_map(ToolExecution::id_text).map(|id| (id, Vec::new())).collect();
    let start = |span: usize| tree.spans.get(span).and_then(|span| span.start);
    for (model, exchange) in models.iter().zip(exchanges) {
        for told in exchange.input.iter().flat_map(|said| &said.results) {
            let id = told.id.and_then(node_text);
            id.and_then(|id| later.get_mut(id)).into_iter().for_each(|all| all.push((start(*model), *told)));
        }
    }
    for (place, call) in calls.iter_mut().enumerate().filter(|(_, call)| call.result.is_none()) {
        let (own, called) = (call.id_text(), start(call.span));
        let is_own = |told: &ToolResult<'run>| own.zip(told.id.and_then(node_text)).is_none_or(|(own, id)| own == id);
        let told = of_request(place).filter(is_own).or_else(|| next(later.get(own?)?, called));
        told.into_iter().for_each(|told| call.apply_result(told));
    }
}

/// Results in the first request behind a call; the last of one id wins, as requests repeat earlier ones.
fn next<'run>(all: &[(Option<f64>, ToolResult<'run>)], called: Option<f64>) -> Option<ToolResult<'run>> {
    let is_behind = |told: Option<f64>| told.zip(called).is_none_or(|(told, called)| told >= called);
    let (first, _) = all.iter().find(|(told, _)| is_behind(*told))?;
    all.iter().rfind(|(told, _)| told == first).map(|(_, told)| *told)
}
