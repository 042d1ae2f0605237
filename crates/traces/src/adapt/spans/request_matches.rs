//! Which span of a tool carries out what a model asked for.

use super::exchange::RequestedCall;
use super::node_text;
use super::span_messages;
use super::tool_executions::{ToolExecution, may_be_equal, wrapped_args};
use super::tree::SpanTree;
use crate::adapt::run_builder::RunBuilder;
use averment_base::value::{Node, compare};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// Waiting requests per tool whose arguments are compared.
const NEAR: usize = 64;

/// A call that was asked for, and in which turn.
#[derive(Clone, Copy)]
pub(super) struct CallRequest<'run> {
    pub(super) asked: RequestedCall<'run>,
    pub(super) model: usize,
    pub(super) turn: usize,
}

pub(super) struct RequestMatches<'run> {
    pub(super) requests: Vec<Option<usize>>,
    taken: Vec<bool>,
    /// Tools with a call whose id no model knows.
    strangers: FxHashSet<&'run str>,
}

type WaitingRequests<'run> = FxHashMap<&'run str, VecDeque<usize>>;

impl<'run> RequestMatches<'run> {
    /// By id, else by arguments, else by order if either has no id.
    pub(super) fn match_calls(
        calls: &[ToolExecution<'run>],
        tree: &SpanTree<'run>,
        requests: &[CallRequest<'run>],
        builder: &RunBuilder<'run, '_>,
    ) -> Self {
        let mut matches = Self {
            requests: vec![None; calls.len()],
            taken: vec![false; requests.len()],
            strangers: FxHashSet::default(),
        };
        if requests.is_empty() {
            return matches;
        }
        let mut by_id = waiting_requests(requests, |request| request.asked.id);
        for (place, call) in calls.iter().enumerate() {
            let request = call.id_text().and_then(|id| by_id.get_mut(id)?.pop_front());
            request.into_iter().for_each(|request| matches.set_match(place, request));
        }
        let mut by_tool = waiting_requests(requests, |request| Some(request.asked.tool));
        let args = |request: usize| Some(span_messages::read_node(requests.get(request)?.asked.args?, builder));
        let start = |span: usize| tree.spans.get(span).and_then(|span| span.start);
        let comes_first = |request: usize, call: &ToolExecution<'run>| {
            let asked = requests.get(request).and_then(|request| start(request.model));
            asked.zip(start(call.span)).is_none_or(|(asked, called)| asked <= called)
        };
        // Of two ids each has to know the other; a framework may give one to what a model asked for without.
        let has_id = |request: usize| requests.get(request).is_some_and(|request| request.asked.id_text().is_some());
        let may_know = |request: usize, call: &ToolExecution<'run>| call.id_text().is_none() || !has_id(request);
        let has_args = |request: usize, call: &ToolExecution<'run>| {
            let both = args(request).zip(call.args);
            let is_same = |(asked, given): (Node<'run>, Node<'run>)| {
                compare::values_equal(&asked.value, &given.value) || wrapped_args(asked, given).is_some()
            };
            both.is_some_and(is_same) && comes_first(request, call)
        };
        // What a tool does by itself nobody has to have asked for.
        let may_be = |request: usize, call: &ToolExecution<'run>| {
            !call.is_inside || args(request).zip(call.args).is_none_or(|(asked, given)| may_be_equal(asked, given))
        };
        matches.match_by_tool(calls, &mut by_tool, |request, call| may_know(request, call) && has_args(request, call));
        matches.match_by_tool(calls, &mut by_tool, |request, call| may_know(request, call) && may_be(request, call));
        let strangers =
            calls.iter().enumerate().filter(|(place, call)| call.id_text().is_some() && !matches.is_matched(*place));
        matches.strangers = strangers.map(|(_, call)| call.tool_text()).collect();
        matches
    }

    /// Assigns the first fitting request to each unmatched call.
    fn match_by_tool(
        &mut self,
        calls: &[ToolExecution<'run>],
        waiting: &mut WaitingRequests<'run>,
        fits: impl Fn(usize, &ToolExecution<'run>) -> bool,
    ) {
        for (place, call) in calls.iter().enumerate() {
            let waiting = if self.is_matched(place) { None } else { waiting.get_mut(call.tool_text()) };
            let Some(waiting) = waiting else { continue };
            while waiting.front().is_some_and(|request| self.is_executed(*request)) {
                waiting.pop_front();
            }
            let free = |request: &&usize| !self.is_executed(**request) && fits(**request, call);
            if let Some(request) = waiting.iter().take(NEAR).find(free).copied() {
                self.set_match(place, request);
            }
        }
    }

    fn set_match(&mut self, place: usize, request: usize) {
        self.requests.get_mut(place).into_iter().for_each(|slot| *slot = Some(request));
        self.taken.get_mut(request).into_iter().for_each(|slot| *slot = true);
    }

    fn is_matched(&self, place: usize) -> bool {
        self.requests.get(place).is_some_and(Option::is_some)
    }

    pub(super) fn is_executed(&self, request: usize) -> bool {
        self.taken.get(request) == Some(&true)
    }

    /// True if a call of the tool may be the request, despite another id.
    pub(super) fn may_lack(&self, tool: &str) -> bool {
        self.strangers.contains(tool)
    }
}

fn waiting_requests<'run>(
    requests: &[CallRequest<'run>],
    by: impl Fn(&CallRequest<'run>) -> Option<Node<'run>>,
) -> WaitingRequests<'run> {
    let mut waiting = WaitingRequests::default();
    for (number, request) in requests.iter().enumerate() {
        if let Some(key) = by(request).and_then(node_text) {
            waiting.entry(key).or_default().push_back(number);
        }
    }
    waiting
}
