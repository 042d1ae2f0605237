//! What goes in and comes out of a model: messages, calls that are asked for, results that are told.

use super::node_text;
use crate::adapt::handovers::may_hand_over;
use averment_base::value::Node;
use averment_runs::normal::role;

#[derive(Debug, Clone, Default)]
pub(crate) struct SpanMessage<'run> {
    pub(crate) role: Option<&'run str>,
    pub(crate) texts: Vec<Node<'run>>,
    pub(crate) thoughts: Vec<Node<'run>>,
    pub(crate) calls: Vec<RequestedCall<'run>>,
    pub(crate) results: Vec<ToolResult<'run>>,
    pub(crate) place: Option<Node<'run>>,
    /// A part of it is of no known type.
    pub(super) has_unknown: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestedCall<'run> {
    pub(crate) id: Option<Node<'run>>,
    pub(crate) tool: Node<'run>,
    pub(crate) args: Option<Node<'run>>,
    pub(crate) place: Node<'run>,
}

impl<'run> RequestedCall<'run> {
    /// `None` if empty.
    pub(super) fn id_text(&self) -> Option<&'run str> {
        self.id.and_then(node_text).filter(|id| !id.is_empty())
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolResult<'run> {
    pub(crate) id: Option<Node<'run>>,
    pub(crate) tool: Option<&'run str>,
    pub(crate) result: Node<'run>,
    pub(crate) failed: Option<bool>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ModelExchange<'run> {
    pub(crate) input: Vec<SpanMessage<'run>>,
    pub(crate) output: Vec<SpanMessage<'run>>,
    pub(crate) records_output: bool,
    /// Unparsed input: only its results matter, and none was needed so far.
    pub(super) unread: Option<Node<'run>>,
}

impl<'run> ModelExchange<'run> {
    /// Fills gaps from another description of the same request.
    pub(super) fn complete_from(&mut self, other: Self) {
        if self.input.is_empty() && self.unread.is_none() {
            (self.input, self.unread) = (other.input, other.unread);
        }
        if self.output.is_empty() {
            self.output = other.output;
            self.records_output |= other.records_output;
        }
    }

    pub(super) fn asks_calls(&self) -> bool {
        self.output.iter().any(|said| !said.calls.is_empty())
    }

    pub(super) fn exchange_ref(&self) -> ExchangeRef<'_, 'run> {
        ExchangeRef { input: &self.input, output: &self.output, records_output: self.records_output }
    }
}

/// A model's input and output, from one of several spans.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ExchangeRef<'t, 'run> {
    pub(super) input: &'t [SpanMessage<'run>],
    pub(super) output: &'t [SpanMessage<'run>],
    pub(super) records_output: bool,
}

impl ExchangeRef<'_, '_> {
    /// Each fills the other's gaps.
    pub(super) fn or_outer(self, outer: Self) -> Self {
        let given = if self.input.is_empty() { outer.input } else { self.input };
        match self.output.is_empty() {
            true => {
                Self { input: given, output: outer.output, records_output: self.records_output || outer.records_output }
            }
            false => Self { input: given, ..self },
        }
    }
}

impl<'run> SpanMessage<'run> {
    /// What is no call among them may be one in words that nobody knows.
    pub(super) fn add_calls(&mut self, calls: &[Node<'run>]) {
        for call in calls {
            let asked = super::span_messages::requested_call(*call);
            self.has_unknown |= asked.is_none();
            self.calls.extend(asked);
        }
    }

    /// A call in a part of the content, which some list beside the content as well.
    pub(super) fn add_call_part(&mut self, call: Option<RequestedCall<'run>>) {
        let is_listed = |asked: &RequestedCall<'run>| {
            asked.id_text().is_some_and(|id| self.calls.iter().any(|known| known.id_text() == Some(id)))
        };
        self.calls.extend(call.filter(|asked| !is_listed(asked)));
    }

    /// Asks for a call that hands over to another agent.
    pub(super) fn hands_over(&self) -> bool {
        self.calls.iter().any(|call| node_text(call.tool).is_some_and(may_hand_over))
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.has_unknown
            && self.texts.is_empty()
            && self.calls.is_empty()
            && self.results.is_empty()
            && self.thoughts.is_empty()
    }

    pub(crate) fn is_of_assistant(&self) -> bool {
        self.role.is_some_and(|role| role::OF_ASSISTANT.contains(&role))
    }
}
