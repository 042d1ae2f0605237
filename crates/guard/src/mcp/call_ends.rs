//! Calls that were passed on and have not ended, and what is recorded when they do.

use super::message::{CallAnswer, CallContinuation, CallRequest, read_call_answer};
use crate::event::{CallEnd, ProposedCall, SessionEvent};
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// The most calls of a run that wait for an answer, or for what their server asked for.
const MAX_OPEN: usize = 1_000;

/// The open calls of a run.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    /// By the JSON text of the ids of their requests, in their order.
    waiting: VecDeque<(String, ProposedCall)>,
    /// Those whose server asked something, with what it gave out.
    asked: VecDeque<(Option<Value>, ProposedCall)>,
}

impl OpenCalls {
    /// A call is passed on.
    pub fn begin_call(&mut self, id: &Value, call: ProposedCall) {
        self.waiting.push_back((id.to_string(), call));
        if self.waiting.len() > MAX_OPEN {
            self.waiting.pop_front();
        }
    }

    /// The call that a request goes on with: the same tool with the same arguments, whose server asked for this.
    pub fn take_continued(&mut self, request: &CallRequest) -> Option<ProposedCall> {
        let CallContinuation { state } = request.continuation.as_ref()?;
        let is_it = |(given, call): &(Option<Value>, ProposedCall)| {
            given == state && call.tool == request.tool && call.args == request.args
        };
        let place = self.asked.iter().position(is_it)?;
        self.asked.remove(place).map(|(_, call)| call)
    }

    /// What an answer of the server says of a call that waits for it; `own` is the call that alone can be meant.
    pub fn take_answer(&mut self, answer: &mut Map<String, Value>, own: Option<&str>) -> Option<SessionEvent> {
        if answer.contains_key("method") {
            return None;
        }
        let id = answer.get("id")?.to_string();
        let is_meant = |(waiting, call): &(String, ProposedCall)| {
            *waiting == id && own.is_none_or(|own| call.id.as_deref() == Some(own))
        };
        let place = self.waiting.iter().position(is_meant)?;
        let (_, call) = self.waiting.remove(place)?;
        match read_call_answer(answer) {
            CallAnswer::Ended { result, error } => Some(SessionEvent::End(CallEnd { call, result, error })),
            CallAnswer::Asks { state } => {
                self.asked.push_back((state, call));
                if self.asked.len() > MAX_OPEN {
                    self.asked.pop_front();
                }
                None
            }
            CallAnswer::GoesOn => None,
        }
    }

    /// A call that will get no answer.
    pub fn take_unanswered(&mut self, id: &str) -> Option<ProposedCall> {
        let place = self.waiting.iter().position(|(_, call)| call.id.as_deref() == Some(id))?;
        self.waiting.remove(place).map(|(_, call)| call)
    }

    /// True if nothing is open.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.asked.is_empty()
    }
}
