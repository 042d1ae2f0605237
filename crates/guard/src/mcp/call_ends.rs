//! Calls that were forwarded and have not ended, and the events recorded when they end.

use super::message::{CallAnswer, CallContinuation, CallRequest, read_call_answer};
use crate::event::{CallEnd, ProposedCall, SessionEvent};
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// Maximum number of open calls in a run.
const MAX_OPEN: usize = 1_000;

/// The open calls of a run.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    /// Calls that wait for an answer, in order, by the JSON text of their request ids.
    waiting: VecDeque<(String, ProposedCall)>,
    /// Calls whose server asked a question, with the state that the server sent.
    asked: VecDeque<(Option<Value>, ProposedCall)>,
}

impl OpenCalls {
    /// Records that a call was forwarded.
    pub fn begin_call(&mut self, id: &Value, call: ProposedCall) {
        self.waiting.push_back((id.to_string(), call));
        if self.waiting.len() > MAX_OPEN {
            self.waiting.pop_front();
        }
    }

    /// Returns the call that a request continues: the same tool with the same arguments, whose server sent this state.
    pub fn take_continued(&mut self, request: &CallRequest) -> Option<ProposedCall> {
        let CallContinuation { state } = request.continuation.as_ref()?;
        let is_it = |(given, call): &(Option<Value>, ProposedCall)| {
            given == state && call.tool == request.tool && call.args == request.args
        };
        let place = self.asked.iter().position(is_it)?;
        self.asked.remove(place).map(|(_, call)| call)
    }

    /// Returns the event that a server's answer means for a waiting call. If `own` is given, only that call can be meant.
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

    /// Removes and returns a call that will get no answer.
    pub fn take_unanswered(&mut self, id: &str) -> Option<ProposedCall> {
        let place = self.waiting.iter().position(|(_, call)| call.id.as_deref() == Some(id))?;
        self.waiting.remove(place).map(|(_, call)| call)
    }

    /// True if no call is open.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.asked.is_empty()
    }
}
