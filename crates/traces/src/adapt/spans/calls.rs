//! The calls of a run that is recorded as spans: each span of a tool is one, with what the model has said of it. Where no tool has a
//! span, calls are what models have asked for, with the results that they were told later.

use super::exchange::{ExchangeRef, ToolResult};
use super::request_matches::{CallRequest, RequestMatches};
use super::timed::{FIELDS, TimedStep, common_fields, status_node};
use super::tool_executions::{self, ToolExecution};
use super::tree::SpanTree;
use super::{SpanAct, later_results};
use crate::adapt::calls::{PendingCalls, parse_arguments};
use crate::adapt::handovers::may_hand_over;
use crate::adapt::nodes::{node_object, node_text};
use crate::adapt::run_builder::{RunBuilder, absent_node, count_node, field_entry};
use averment_base::value::{Node, Value};
use averment_runs::normal::of_step;
use averment_runs::run::StepKind;
use rustc_hash::FxHashMap;

#[derive(Default)]
pub(super) struct SpanCalls<'run> {
    pub(super) steps: Vec<TimedStep<'run>>,
    /// Start of the first requested call, by model span.
    pub(super) first_asked: FxHashMap<usize, f64>,
}

pub(super) fn find_calls<'run>(
    tree: &SpanTree<'run>,
    models: &[usize],
    exchanges: &[ExchangeRef<'_, 'run>],
    builder: &mut RunBuilder<'run, '_>,
) -> SpanCalls<'run> {
    let mut requests = Vec::new();
    for (turn, (model, exchange)) in models.iter().zip(exchanges).enumerate() {
        let asked = exchange.output.iter().flat_map(|said| &said.calls);
        requests.extend(asked.map(|asked| CallRequest { asked: *asked, model: *model, turn: turn + 1 }));
    }
    if tree.spans.iter().any(|span| span.act == SpanAct::Tool) {
        executed_calls(tree, models, &requests, exchanges, builder)
    } else {
        requested_calls(tree, models, &requests, exchanges, builder)
    }
}

fn executed_calls<'run>(
    tree: &SpanTree<'run>,
    models: &[usize],
    requests: &[CallRequest<'run>],
    exchanges: &[ExchangeRef<'_, 'run>],
    builder: &mut RunBuilder<'run, '_>,
) -> SpanCalls<'run> {
    let mut carried = tool_executions::find_executions(tree, requests.is_empty() && builder.keeps_text_args(), builder);
    let matched = RequestMatches::match_calls(&carried, tree, requests, builder);
    let results = results_of_requests(tree, models, requests, exchanges);
    let of_request = |place: usize| results.get(matched.requests.get(place).copied().flatten()?).copied().flatten();
    later_results::complete_results(&mut carried, tree, models, exchanges, of_request);
    let mut calls = SpanCalls { steps: Vec::with_capacity(carried.len()), ..SpanCalls::default() };
    // Calls that started together stand as the model asked for them.
    let start = |call: &ToolExecution<'run>| tree.spans.get(call.span).and_then(|span| span.start);
    let mut in_order: Vec<_> = carried.iter().zip(&matched.requests).collect();
    for together in in_order.chunk_by_mut(|a, b| start(a.0).is_some() && start(a.0) == start(b.0)) {
        if together.iter().all(|(_, request)| request.is_some()) {
            together.sort_by_key(|(_, request)| **request);
        }
    }
    for (call, request) in in_order {
        let request = request.and_then(|number| requests.get(number)).copied();
        let start = tree.spans.get(call.span).and_then(|span| span.start);
        if let (Some(request), Some(start)) = (request, start) {
            let first = calls.first_asked.entry(request.model).or_insert(start);
            *first = first.min(start);
        }
        let turn = request.map(|request| request.turn).or_else(|| turn_before(tree, models, call.span));
        calls.steps.push(call_step(tree, call, request, turn, builder));
    }
    if requests.is_empty() {
        return calls;
    }
    let mut left = Vec::new();
    for (number, result) in results.iter().copied().enumerate() {
        let Some(request) = requests.get(number).filter(|_| !matched.is_executed(number)) else { continue };
        let tool = node_text(request.asked.tool).unwrap_or_default();
        match result.filter(|_| !may_hand_over(tool) && !matched.may_lack(tool)) {
            Some(result) => calls.steps.extend(request_step(tree, request, Some(result), builder)),
            // Work is handed over without a span of a tool.
            None => left.extend(Some(request.asked.place).filter(|_| !may_hand_over(tool))),
        }
    }
    warn_of_requests(&left, builder);
    calls
}

/// Requested calls without any sign of execution: a tool that nobody instruments may have carried them out.
fn warn_of_requests<'run>(left: &[Node<'run>], builder: &RunBuilder<'run, '_>) {
    let Some(first) = left.first() else { return };
    let message = format!(
        "{} that a model asked for {} no span of a tool: not counted as calls",
        if left.len() == 1 { "a call".to_owned() } else { format!("{} calls", left.len()) },
        if left.len() == 1 { "has" } else { "have" },
    );
    builder.note_unknown(first.origin, message);
}

fn call_step<'run>(
    tree: &SpanTree<'run>,
    call: &ToolExecution<'run>,
    request: Option<CallRequest<'run>>,
    turn: Option<usize>,
    builder: &mut RunBuilder<'run, '_>,
) -> TimedStep<'run> {
    let asked = request.map(|request| request.asked);
    let args = match (call.args, asked.and_then(|asked| asked.args)) {
        (None, Some(args)) => Some(parse_arguments(builder, args)),
        (Some(given), Some(args)) => {
            let asked = parse_arguments(builder, args);
            // LangChain prints in the notation of Python what it gives a tool.
            let is_printed = node_text(given).is_some_and(|text| text.starts_with('{')) && node_object(asked).is_some();
            Some(if is_printed { asked } else { tool_executions::wrapped_args(asked, given).unwrap_or(given) })
        }
        (args, None) => args,
    };
    let values = [
        (of_step::TOOL, Some(call.tool)),
        (of_step::ARGS, args),
        (of_step::RESULT, call.result),
        (of_step::ERROR, call.error),
        (of_step::STATUS, call.failed.and_then(status_node)),
        (of_step::ID, call.id.or(asked.and_then(|asked| asked.id))),
        (of_step::TURN, turn.map(count_node)),
    ];
    let mut fields = Vec::with_capacity(FIELDS);
    fields.extend(values.into_iter().filter_map(|(key, node)| Some(field_entry(key, node?))));
    fields.extend(common_fields(tree, call.span));
    let span = tree.spans.get(call.span);
    let origin = span.map_or(call.tool.origin, |span| span.origin);
    TimedStep::new(span.and_then(|span| span.start), StepKind::Call, fields, origin)
}

/// The last preceding model request, of the same agent if it made one.
fn turn_before(tree: &SpanTree<'_>, models: &[usize], call: usize) -> Option<usize> {
    let start = tree.spans.get(call)?.start?;
    let before = models.partition_point(|model| {
        tree.spans.get(*model).and_then(|span| span.start).is_some_and(|asked| asked <= start)
    });
    let agent = tree.agent_of(call);
    let of_agent = models.iter().take(before).rposition(|model| tree.agent_of(*model) == agent);
    of_agent.map(|place| place + 1).or(Some(before).filter(|before| *before > 0))
}

fn requested_calls<'run>(
    tree: &SpanTree<'run>,
    models: &[usize],
    requests: &[CallRequest<'run>],
    exchanges: &[ExchangeRef<'_, 'run>],
    builder: &mut RunBuilder<'run, '_>,
) -> SpanCalls<'run> {
    let results = results_of_requests(tree, models, requests, exchanges);
    let mut calls = SpanCalls::default();
    for (request, result) in requests.iter().zip(results) {
        calls.steps.extend(request_step(tree, request, result, builder));
    }
    calls
}

/// What models were later told about the calls that they requested.
fn results_of_requests<'run>(
    tree: &SpanTree<'run>,
    models: &[usize],
    requests: &[CallRequest<'run>],
    exchanges: &[ExchangeRef<'_, 'run>],
) -> Vec<Option<ToolResult<'run>>> {
    let mut unanswered = PendingCalls::new();
    let mut results: Vec<Option<ToolResult<'run>>> = vec![None; requests.len()];
    let mut next = requests.iter().enumerate().peekable();
    let mut known: FxHashMap<Option<usize>, usize> = FxHashMap::default();
    for (turn, (model, exchange)) in models.iter().zip(exchanges).enumerate() {
        // A request repeats the results that were told before.
        let told: Vec<_> = exchange.input.iter().flat_map(|said| &said.results).collect();
        let known = known.entry(tree.agent_of(*model)).or_insert(0);
        for told in told.iter().skip(*known) {
            let id = told.id.and_then(node_text);
            if let Some(call) = unanswered.take_answered(id, told.tool).or_else(|| unanswered.take_answered(None, None))
                && let Some(slot) = results.get_mut(call)
            {
                *slot = Some(**told);
            }
        }
        *known = told.len();
        while let Some((number, request)) = next.next_if(|(_, request)| request.turn == turn + 1) {
            let tool = node_text(request.asked.tool).unwrap_or_default();
            unanswered.push_call(request.asked.id.and_then(node_text), tool, request.turn, number);
        }
    }
    results
}

fn request_step<'run>(
    tree: &SpanTree<'run>,
    request: &CallRequest<'run>,
    told: Option<ToolResult<'run>>,
    builder: &mut RunBuilder<'run, '_>,
) -> Option<TimedStep<'run>> {
    let model = tree.spans.get(request.model)?;
    let ended = told.and_then(|told| told.failed).and_then(status_node);
    let mut fields = vec![
        field_entry(of_step::TOOL, request.asked.tool),
        field_entry(of_step::STATUS, ended.unwrap_or_else(absent_node)),
        field_entry(of_step::TURN, count_node(request.turn)),
    ];
    let args = request.asked.args.map(|args| parse_arguments(builder, args));
    fields.extend(args.map(|args| field_entry(of_step::ARGS, args)));
    fields.extend(told.map(|told| field_entry(of_step::RESULT, told.result)));
    fields.extend(request.asked.id.map(|id| field_entry(of_step::ID, id)));
    let agent = tree.agent_name(request.model);
    fields.extend(agent.map(|agent| field_entry(of_step::AGENT, Node::computed(Value::plain_text(agent)))));
    Some(TimedStep::new(model.end.or(model.start), StepKind::Call, fields, request.asked.place.origin))
}
