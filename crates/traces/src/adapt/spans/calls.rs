//! The calls of a run that is recorded as spans: each span of a tool is one, with what the model has said of it. Where no tool has a
//! span, calls are what models have asked for, with the results that they were told later.

use super::carried::{self, Carried};
use super::exchange::{Heard, Told};
use super::matches::{Matches, Request};
use super::timed::{FIELDS, Timed, common, status};
use super::tree::Tree;
use super::{Act, later_results, text_of_node};
use crate::adapt::calls::{Unanswered, arguments};
use crate::adapt::draft::{Draft, count, field, withheld};
use crate::adapt::handovers::may_hand_over;
use averment_base::value::{Node, Value};
use averment_runs::normal::of_step;
use averment_runs::run::Kind;
use rustc_hash::FxHashMap;

/// The calls of a run.
#[derive(Default)]
pub(super) struct Calls<'run> {
    pub(super) steps: Vec<Timed<'run>>,
    /// When the first of the calls started that a model has asked for, by the span of the model.
    pub(super) first_asked: FxHashMap<usize, f64>,
}

pub(super) fn find<'run>(
    tree: &Tree<'run>,
    models: &[usize],
    exchanges: &[Heard<'_, 'run>],
    draft: &mut Draft<'run, '_>,
) -> Calls<'run> {
    let mut requests = Vec::new();
    for (turn, (model, exchange)) in models.iter().zip(exchanges).enumerate() {
        let asked = exchange.said.iter().flat_map(|said| &said.calls);
        requests.extend(asked.map(|asked| Request { asked: *asked, model: *model, turn: turn + 1 }));
    }
    if tree.spans.iter().any(|span| span.act == Act::Tool) {
        executed(tree, models, &requests, exchanges, draft)
    } else {
        told(tree, models, &requests, exchanges, draft)
    }
}

/// Calls that have spans, and those whose results alone show that they were made.
fn executed<'run>(
    tree: &Tree<'run>,
    models: &[usize],
    requests: &[Request<'run>],
    exchanges: &[Heard<'_, 'run>],
    draft: &mut Draft<'run, '_>,
) -> Calls<'run> {
    let mut carried = carried::find(tree, requests.is_empty() && draft.takes_args_as_written(), draft);
    let matched = Matches::of(&carried, tree, requests, draft);
    let results = results(tree, models, requests, exchanges);
    let of_request = |place: usize| results.get(matched.requests.get(place).copied().flatten()?).copied().flatten();
    later_results::complete(&mut carried, tree, models, exchanges, of_request);
    let mut calls = Calls::default();
    for (call, request) in carried.iter().zip(&matched.requests) {
        let request = request.and_then(|number| requests.get(number)).copied();
        let start = tree.spans.get(call.span).and_then(|span| span.start);
        if let (Some(request), Some(start)) = (request, start) {
            let first = calls.first_asked.entry(request.model).or_insert(start);
            *first = first.min(start);
        }
        let turn = request.map(|request| request.turn).or_else(|| turn_before(tree, models, call.span));
        calls.steps.push(step(tree, call, request, turn, draft));
    }
    if requests.is_empty() {
        return calls;
    }
    let mut left = Vec::new();
    for (number, result) in results.iter().copied().enumerate() {
        let Some(request) = requests.get(number).filter(|_| !matched.has(number)) else { continue };
        let tool = text_of_node(request.asked.tool).unwrap_or_default();
        match result.filter(|_| !may_hand_over(tool) && !matched.lacks(tool)) {
            Some(result) => calls.steps.extend(asked_for(tree, request, Some(result), draft)),
            // Work is handed over without a span of a tool.
            None => left.extend(Some(request.asked.place).filter(|_| !may_hand_over(tool))),
        }
    }
    warn_of(&left, draft);
    calls
}

/// What models asked for, and nothing shows that it was done.
fn warn_of<'run>(left: &[Node<'run>], draft: &mut Draft<'run, '_>) {
    let Some(first) = left.first() else { return };
    let message = format!(
        "{} that a model asked for {} no span of a tool: not counted as calls",
        if left.len() == 1 { "a call".to_owned() } else { format!("{} calls", left.len()) },
        if left.len() == 1 { "has" } else { "have" },
    );
    draft.warn(first.origin, message);
}

/// The step of a call that has a span.
fn step<'run>(
    tree: &Tree<'run>,
    call: &Carried<'run>,
    request: Option<Request<'run>>,
    turn: Option<usize>,
    draft: &mut Draft<'run, '_>,
) -> Timed<'run> {
    let asked = request.map(|request| request.asked);
    let args = match (call.args, asked.and_then(|asked| asked.args)) {
        (None, Some(args)) => Some(arguments(draft, args)),
        (args, _) => args,
    };
    let values = [
        (of_step::TOOL, Some(call.tool)),
        (of_step::ARGS, args),
        (of_step::RESULT, call.result),
        (of_step::ERROR, call.error),
        (of_step::STATUS, call.failed.and_then(status)),
        (of_step::ID, call.id.or(asked.and_then(|asked| asked.id))),
        (of_step::TURN, turn.map(count)),
    ];
    let mut fields = Vec::with_capacity(FIELDS);
    fields.extend(values.into_iter().filter_map(|(key, node)| Some(field(key, node?))));
    fields.extend(common(tree, call.span));
    let span = tree.spans.get(call.span);
    let origin = span.map_or(call.tool.origin, |span| span.origin);
    Timed::new(span.and_then(|span| span.start), Kind::Call, fields, origin)
}

/// The turn of a call: the last request to a model before it, of the same agent where that has made one.
fn turn_before(tree: &Tree<'_>, models: &[usize], call: usize) -> Option<usize> {
    let start = tree.spans.get(call)?.start?;
    let before = models.partition_point(|model| {
        tree.spans.get(*model).and_then(|span| span.start).is_some_and(|asked| asked <= start)
    });
    let agent = tree.agent(call);
    let of_agent = models.iter().take(before).rposition(|model| tree.agent(*model) == agent);
    of_agent.map(|place| place + 1).or(Some(before).filter(|before| *before > 0))
}

/// Calls that no tool has a span for.
fn told<'run>(
    tree: &Tree<'run>,
    models: &[usize],
    requests: &[Request<'run>],
    exchanges: &[Heard<'_, 'run>],
    draft: &mut Draft<'run, '_>,
) -> Calls<'run> {
    let results = results(tree, models, requests, exchanges);
    let mut calls = Calls::default();
    for (request, result) in requests.iter().zip(results) {
        calls.steps.extend(asked_for(tree, request, result, draft));
    }
    calls
}

/// What models were told later of the calls that they asked for.
fn results<'run>(
    tree: &Tree<'run>,
    models: &[usize],
    requests: &[Request<'run>],
    exchanges: &[Heard<'_, 'run>],
) -> Vec<Option<Told<'run>>> {
    let mut unanswered = Unanswered::new();
    let mut results: Vec<Option<Told<'run>>> = vec![None; requests.len()];
    let mut next = requests.iter().enumerate().peekable();
    let mut known: FxHashMap<Option<usize>, usize> = FxHashMap::default();
    for (turn, (model, exchange)) in models.iter().zip(exchanges).enumerate() {
        // A request repeats the results that were told before.
        let told: Vec<_> = exchange.given.iter().flat_map(|said| &said.results).collect();
        let known = known.entry(tree.agent(*model)).or_insert(0);
        for told in told.iter().skip(*known) {
            let id = told.id.and_then(text_of_node);
            if let Some(call) = unanswered.answer(id, told.tool).or_else(|| unanswered.answer(None, None))
                && let Some(slot) = results.get_mut(call)
            {
                *slot = Some(**told);
            }
        }
        *known = told.len();
        while let Some((number, request)) = next.next_if(|(_, request)| request.turn == turn + 1) {
            let tool = text_of_node(request.asked.tool).unwrap_or_default();
            unanswered.add(request.asked.id.and_then(text_of_node), tool, request.turn, number);
        }
    }
    results
}

/// The step of a call that a model asked for, with what it was told of it.
fn asked_for<'run>(
    tree: &Tree<'run>,
    request: &Request<'run>,
    told: Option<Told<'run>>,
    draft: &mut Draft<'run, '_>,
) -> Option<Timed<'run>> {
    let model = tree.spans.get(request.model)?;
    let ended = told.and_then(|told| told.failed).and_then(status);
    let mut fields = vec![
        field(of_step::TOOL, request.asked.tool),
        field(of_step::STATUS, ended.unwrap_or_else(withheld)),
        field(of_step::TURN, count(request.turn)),
    ];
    let args = request.asked.args.map(|args| arguments(draft, args));
    fields.extend(args.map(|args| field(of_step::ARGS, args)));
    fields.extend(told.map(|told| field(of_step::RESULT, told.result)));
    fields.extend(request.asked.id.map(|id| field(of_step::ID, id)));
    let agent = tree.agent_name(request.model);
    fields.extend(agent.map(|agent| field(of_step::AGENT, Node::computed(Value::plain(agent)))));
    Some(Timed::new(model.end.or(model.start), Kind::Call, fields, request.asked.place.origin))
}
