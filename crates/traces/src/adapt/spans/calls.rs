//! The calls of a run that is recorded as spans: each span of a tool is one, with what the model has said of it. Where no tool has a
//! span, calls are what models have asked for, with the results that they were told later.

use super::attributes::{self, Fact};
use super::said::{self, Asked, Exchange};
use super::tell::{FIELDS, Timed, common, status, tool_args, tool_name};
use super::tree::Tree;
use super::{Act, text_of_node};
use crate::adapt::calls::{Unanswered, arguments};
use crate::adapt::draft::{Draft, count, field, withheld};
use crate::adapt::handovers::may_hand_over;
use crate::adapt::object;
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

/// A call that was asked for, and in which turn.
#[derive(Clone, Copy)]
struct Request<'run> {
    asked: Asked<'run>,
    model: usize,
    turn: usize,
}

pub(super) fn find<'run>(
    tree: &Tree<'run>,
    models: &[usize],
    exchanges: &[Exchange<'run>],
    draft: &mut Draft<'run, '_>,
) -> Calls<'run> {
    let mut requests = Vec::new();
    for (turn, (model, exchange)) in models.iter().zip(exchanges).enumerate() {
        let asked = exchange.said.iter().flat_map(|said| &said.calls);
        requests.extend(asked.map(|asked| Request { asked: *asked, model: *model, turn: turn + 1 }));
    }
    let outer_tool = tree.downwards(None, |parent, above| match tree.act(parent) {
        Act::Tool => Some(parent),
        Act::Agent | Act::Inference => None,
        Act::Part | Act::Other => above,
    });
    let name = |span: usize| tree.spans.get(span).and_then(tool_name).and_then(text_of_node);
    // What one tool does may be recorded twice: where it is called, and where it is carried out.
    let repeats = |span: usize| outer_tool.get(span).copied().flatten().is_some_and(|outer| name(outer) == name(span));
    let tools: Vec<usize> =
        (0..tree.spans.len()).filter(|span| tree.act(*span) == Act::Tool && !repeats(*span)).collect();
    if tools.is_empty() {
        told(tree, models, &requests, exchanges, draft)
    } else {
        executed(tree, models, &tools, &requests, draft)
    }
}

/// Calls that have spans.
fn executed<'run>(
    tree: &Tree<'run>,
    models: &[usize],
    tools: &[usize],
    requests: &[Request<'run>],
    draft: &mut Draft<'run, '_>,
) -> Calls<'run> {
    let mut calls = Calls::default();
    let mut matches = Matches::new(requests);
    for number in tools {
        let Some(span) = tree.spans.get(*number) else { continue };
        let Some(tool) = tool_name(span) else {
            draft.not_understood(span.node.origin, "a span of a tool without a name is passed over");
            continue;
        };
        let id = span.facts.get(Fact::CallId).filter(|id| text_of_node(*id).is_some_and(|id| !id.is_empty()));
        let request = matches.take(id.and_then(text_of_node), text_of_node(tool).unwrap_or_default());
        let mut fields = Vec::with_capacity(FIELDS);
        fields.extend([field(of_step::TOOL, tool)]);
        let args = tool_args(span, draft);
        let asked = || request.and_then(|request| request.asked.args);
        let args = match args {
            Some(args) => Some(args),
            None => asked().map(|args| arguments(draft, args)),
        };
        fields.extend(args.map(|args| field(of_step::ARGS, args)));
        let result = attributes::result(&span.facts, draft);
        let went_wrong = span.failed == Some(true) || result.is_some_and(|result| says_failed(result, draft));
        let failed = span.failed == Some(true);
        fields.extend(result.map(|result| field(of_step::RESULT, result)));
        fields.extend(span.error.filter(|_| failed).map(|error| field(of_step::ERROR, error)));
        let status = Some(went_wrong).filter(|wrong| *wrong).or(span.failed).and_then(status);
        fields.extend(status.map(|status| field(of_step::STATUS, status)));
        fields.extend(id.or(request.and_then(|request| request.asked.id)).map(|id| field(of_step::ID, id)));
        let turn = request.map(|request| request.turn).or_else(|| turn_before(tree, models, *number));
        fields.extend(turn.map(|turn| field(of_step::TURN, count(turn))));
        fields.extend(common(tree, *number));
        if let (Some(request), Some(start)) = (request, span.start) {
            let first = calls.first_asked.entry(request.model).or_insert(start);
            *first = first.min(start);
        }
        calls.steps.push(Timed::new(span.start, Kind::Call, fields, span.node.origin));
    }
    if let Some(left) = matches.left() {
        let message = format!(
            "{} that a model asked for {} no span of a tool: not counted as calls",
            if left.1 == 1 { "a call".to_owned() } else { format!("{} calls", left.1) },
            if left.1 == 1 { "has" } else { "have" },
        );
        draft.warn(left.0.origin, message);
    }
    calls
}

/// Whether a result that is an object, also one in text, says that it is an error: by the flag of MCP, or because it holds nothing else.
fn says_failed<'run>(result: Node<'run>, draft: &Draft<'run, '_>) -> bool {
    let Some(object) = object(said::read(result, draft)) else { return false };
    let is_true = |key: &&str| matches!(object.get(key).map(|node| node.value), Some(Value::Boolean(true)));
    let only_error = match object.entries() {
        [only] => only.key == of_step::ERROR && !matches!(only.node.value, Value::Null | Value::Boolean(false)),
        _ => false,
    };
    only_error || of_step::IS_ERROR.iter().any(is_true)
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

/// Which span carries out what a model asked for.
struct Matches<'a, 'run> {
    requests: &'a [Request<'run>],
    by_id: FxHashMap<&'run str, std::collections::VecDeque<usize>>,
    by_tool: FxHashMap<&'run str, std::collections::VecDeque<usize>>,
    taken: Vec<bool>,
}

impl<'a, 'run> Matches<'a, 'run> {
    fn new(requests: &'a [Request<'run>]) -> Self {
        let (mut by_id, mut by_tool) = (FxHashMap::default(), FxHashMap::default());
        for (number, request) in requests.iter().enumerate() {
            type Waiting = std::collections::VecDeque<usize>;
            if let Some(id) = request.asked.id.and_then(text_of_node) {
                by_id.entry(id).or_insert_with(Waiting::new).push_back(number);
            }
            if let Some(tool) = text_of_node(request.asked.tool) {
                by_tool.entry(tool).or_insert_with(Waiting::new).push_back(number);
            }
        }
        Self { requests, by_id, by_tool, taken: vec![false; requests.len()] }
    }

    fn take(&mut self, id: Option<&str>, tool: &str) -> Option<Request<'run>> {
        let waiting = match id {
            Some(id) => self.by_id.get_mut(id)?,
            None => self.by_tool.get_mut(tool)?,
        };
        loop {
            let number = waiting.pop_front()?;
            let taken = self.taken.get_mut(number)?;
            if !std::mem::replace(taken, true) {
                return self.requests.get(number).copied();
            }
        }
    }

    /// The first request that nothing carries out, and how many there are.
    fn left(&self) -> Option<(Node<'run>, usize)> {
        // Work is handed over without a span of a tool.
        let is_call = |request: &Request<'run>| !text_of_node(request.asked.tool).is_some_and(may_hand_over);
        let requests = self.requests.iter().zip(&self.taken);
        let left = || requests.clone().filter(|(request, taken)| !**taken && is_call(request));
        Some((left().next()?.0.asked.place, left().count()))
    }
}

/// Calls that no tool has a span for.
fn told<'run>(
    tree: &Tree<'run>,
    models: &[usize],
    requests: &[Request<'run>],
    exchanges: &[Exchange<'run>],
    draft: &mut Draft<'run, '_>,
) -> Calls<'run> {
    let mut unanswered = Unanswered::new();
    let mut results: Vec<Option<Node<'run>>> = vec![None; requests.len()];
    let mut next = requests.iter().enumerate().peekable();
    let mut known: FxHashMap<Option<usize>, usize> = FxHashMap::default();
    for (turn, (model, exchange)) in models.iter().zip(exchanges).enumerate() {
        // A request repeats the results that were told before.
        let told: Vec<_> = exchange.given.iter().flat_map(|said| &said.results).collect();
        let known = known.entry(tree.agent(*model)).or_insert(0);
        for told in told.iter().skip(*known) {
            if let Some(call) = unanswered.answer(told.id, told.tool).or_else(|| unanswered.answer(None, None))
                && let Some(slot) = results.get_mut(call)
            {
                *slot = Some(told.result);
            }
        }
        *known = told.len();
        while let Some((number, request)) = next.next_if(|(_, request)| request.turn == turn + 1) {
            let tool = text_of_node(request.asked.tool).unwrap_or_default();
            unanswered.add(request.asked.id.and_then(text_of_node), tool, request.turn, number);
        }
    }
    let mut calls = Calls::default();
    for (request, result) in requests.iter().zip(results) {
        let Some(model) = tree.spans.get(request.model) else { continue };
        let at = model.end.or(model.start);
        let mut fields = vec![field(of_step::TOOL, request.asked.tool), field(of_step::STATUS, withheld())];
        let args = request.asked.args.map(|args| arguments(draft, args));
        fields.extend(args.map(|args| field(of_step::ARGS, args)));
        fields.extend(result.map(|result| field(of_step::RESULT, result)));
        fields.extend(request.asked.id.map(|id| field(of_step::ID, id)));
        fields.push(field(of_step::TURN, count(request.turn)));
        let agent = tree.agent_name(request.model);
        fields.extend(agent.map(|agent| field(of_step::AGENT, Node::computed(Value::plain(agent)))));
        calls.steps.push(Timed::new(at, Kind::Call, fields, request.asked.place.origin));
    }
    calls
}
