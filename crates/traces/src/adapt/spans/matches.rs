//! Which span of a tool carries out what a model asked for.

use super::carried::{Carried, may_be_equal};
use super::exchange::Asked;
use super::said;
use super::text_of_node;
use super::tree::Tree;
use crate::adapt::draft::Draft;
use averment_base::value::{Node, compare};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// So many of the requests that wait for a tool are looked through for the arguments of a call.
const NEAR: usize = 64;

/// A call that was asked for, and in which turn.
#[derive(Clone, Copy)]
pub(super) struct Request<'run> {
    pub(super) asked: Asked<'run>,
    pub(super) model: usize,
    pub(super) turn: usize,
}

/// For each call that was carried out, what a model asked for.
pub(super) struct Matches<'run> {
    pub(super) requests: Vec<Option<usize>>,
    taken: Vec<bool>,
    /// Tools of which a call has an id that no model knows.
    strangers: FxHashSet<&'run str>,
}

/// The requests that wait, by an id or by a tool.
type Waiting<'run> = FxHashMap<&'run str, VecDeque<usize>>;

impl<'run> Matches<'run> {
    /// An id tells, else the arguments, else the order: where the call or the request has no id.
    pub(super) fn of(
        calls: &[Carried<'run>],
        tree: &Tree<'run>,
        requests: &[Request<'run>],
        draft: &Draft<'run, '_>,
    ) -> Self {
        let mut matches = Self {
            requests: vec![None; calls.len()],
            taken: vec![false; requests.len()],
            strangers: FxHashSet::default(),
        };
        if requests.is_empty() {
            return matches;
        }
        let mut by_id = waiting(requests, |request| request.asked.id);
        for (place, call) in calls.iter().enumerate() {
            let request = call.id().and_then(|id| by_id.get_mut(id)?.pop_front());
            request.into_iter().for_each(|request| matches.set(place, request));
        }
        let mut by_tool = waiting(requests, |request| Some(request.asked.tool));
        let args = |request: usize| Some(said::read(requests.get(request)?.asked.args?, draft));
        let start = |span: usize| tree.spans.get(span).and_then(|span| span.start);
        let comes_first = |request: usize, call: &Carried<'run>| {
            let asked = requests.get(request).and_then(|request| start(request.model));
            asked.zip(start(call.span)).is_none_or(|(asked, called)| asked <= called)
        };
        // Of two ids each has to know the other; a framework may give one to what a model asked for without.
        let has_id = |request: usize| requests.get(request).is_some_and(|request| request.asked.id().is_some());
        let may_know = |request: usize, call: &Carried<'run>| call.id().is_none() || !has_id(request);
        let has_args = |request: usize, call: &Carried<'run>| {
            let both = args(request).zip(call.args);
            both.is_some_and(|(asked, given)| compare::equal(&asked.value, &given.value)) && comes_first(request, call)
        };
        // What a tool does by itself nobody has to have asked for.
        let may_be = |request: usize, call: &Carried<'run>| {
            !call.is_inside || args(request).zip(call.args).is_none_or(|(asked, given)| may_be_equal(asked, given))
        };
        matches.by_tool(calls, &mut by_tool, |request, call| may_know(request, call) && has_args(request, call));
        matches.by_tool(calls, &mut by_tool, |request, call| may_know(request, call) && may_be(request, call));
        let strangers =
            calls.iter().enumerate().filter(|(place, call)| call.id().is_some() && !matches.is_matched(*place));
        matches.strangers = strangers.map(|(_, call)| call.tool()).collect();
        matches
    }

    /// Gives each call that has none so far the first request for its tool that fits.
    fn by_tool(
        &mut self,
        calls: &[Carried<'run>],
        waiting: &mut Waiting<'run>,
        fits: impl Fn(usize, &Carried<'run>) -> bool,
    ) {
        for (place, call) in calls.iter().enumerate() {
            let waiting = if self.is_matched(place) { None } else { waiting.get_mut(call.tool()) };
            let Some(waiting) = waiting else { continue };
            while waiting.front().is_some_and(|request| self.has(*request)) {
                waiting.pop_front();
            }
            let free = |request: &&usize| !self.has(**request) && fits(**request, call);
            if let Some(request) = waiting.iter().take(NEAR).find(free).copied() {
                self.set(place, request);
            }
        }
    }

    fn set(&mut self, place: usize, request: usize) {
        self.requests.get_mut(place).into_iter().for_each(|slot| *slot = Some(request));
        self.taken.get_mut(request).into_iter().for_each(|slot| *slot = true);
    }

    fn is_matched(&self, place: usize) -> bool {
        self.requests.get(place).is_some_and(Option::is_some)
    }

    /// Whether a request was carried out by a call.
    pub(super) fn has(&self, request: usize) -> bool {
        self.taken.get(request) == Some(&true)
    }

    /// Whether a call of a tool may be what a model asked for, although its id is another one.
    pub(super) fn lacks(&self, tool: &str) -> bool {
        self.strangers.contains(tool)
    }
}

fn waiting<'run>(requests: &[Request<'run>], by: impl Fn(&Request<'run>) -> Option<Node<'run>>) -> Waiting<'run> {
    let mut waiting = Waiting::default();
    for (number, request) in requests.iter().enumerate() {
        if let Some(key) = by(request).and_then(text_of_node) {
            waiting.entry(key).or_default().push_back(number);
        }
    }
    waiting
}
