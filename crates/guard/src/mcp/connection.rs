//! A guarded connection with a server on standard input and output: JSON-RPC lines, one session.

use super::call_ends::OpenCalls;
use super::message::{ClientMessage, denial_line, proposed_call, read_client_message, step_text};
use super::tool_check::ToolCheck;
use crate::answer::Decision;
use crate::event::SessionEvent;
use crate::hook::SessionGuard;
use crate::judge::GuardMode;
use crate::session::{SessionLog, now};
use averment::guard::decide::record_event;
use serde_json::Value;
use std::io;

/// The handling of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpStep {
    /// It is forwarded unchanged.
    Pass,
    /// It is forwarded, and this text goes to standard error, because MCP has no message to the user.
    Tell(String),
    /// It is not forwarded; the client gets this line.
    Answer(String),
}

/// A guarded connection between a client and a server.
#[derive(Debug)]
pub struct McpGuard<'a> {
    guard: SessionGuard<'a>,
    log: SessionLog,
    open: OpenCalls,
    calls: usize,
    tools: ToolCheck,
}

impl<'a> McpGuard<'a> {
    /// Creates a connection with an open log.
    #[must_use]
    pub fn new(guard: SessionGuard<'a>, log: SessionLog) -> Self {
        Self { guard, log, open: OpenCalls::default(), calls: 0, tools: ToolCheck::default() }
    }

    /// Also compares the tools that the server lists with those named in rules.
    #[must_use]
    pub fn checking_tools(mut self, tools: ToolCheck) -> Self {
        self.tools = tools;
        self
    }

    /// Handles a line of the client. An unreadable or ambiguous message is not forwarded.
    #[must_use]
    pub fn take_request(&mut self, line: &[u8]) -> McpStep {
        if line.trim_ascii().is_empty() {
            return McpStep::Pass;
        }
        let request = match read_client_message(line) {
            ClientMessage::Refused(line) => return McpStep::Answer(line),
            ClientMessage::Other { method, id } => {
                self.tools.note_request(method.as_deref(), &id);
                return McpStep::Pass;
            }
            ClientMessage::Call(request) => request,
        };
        if let Some(call) = self.open.take_continued(&request) {
            self.open.begin_call(&request.id, call);
            return McpStep::Pass;
        }
        self.calls += 1;
        let call = proposed_call(&request, self.calls.to_string());
        match step_text(self.guard.decide_or_refuse(&mut self.log, &call)) {
            Err(text) => McpStep::Answer(denial_line(&request, &text)),
            Ok(told) => {
                self.open.begin_call(&request.id, call);
                told.map_or(McpStep::Pass, McpStep::Tell)
            }
        }
    }

    /// Handles a line of the server: results of calls go into the log. A result that cannot be recorded counts as unknown. The returned lines go to
    /// standard error.
    ///
    /// # Errors
    /// The I/O error if the event cannot be recorded.
    pub fn take_answer(&mut self, line: &[u8]) -> io::Result<Vec<String>> {
        let Ok(Value::Object(mut answer)) = serde_json::from_slice::<Value>(line) else { return Ok(Vec::new()) };
        let told = self.tools.take_answer(&answer);
        if let Some(event) = self.open.take_answer(&mut answer, None) {
            record_event(self.guard.rules, &mut self.log, &event, now()).map_err(io::Error::other)?;
        }
        Ok(told)
    }

    /// Ends the connection.
    ///
    /// # Errors
    /// The reason why it cannot be recorded.
    pub fn finish(&mut self) -> Result<Decision, String> {
        self.guard.judge().decide(&mut self.log, &SessionEvent::Stop(true), now())
    }
}

impl SessionGuard<'_> {
    /// Decides a call. An internal problem denies it in `enforce` mode.
    pub(super) fn decide_or_refuse(&self, log: &mut SessionLog, call: &crate::event::ProposedCall) -> Decision {
        self.judge()
            .decide(log, &SessionEvent::Propose(call.clone()), now())
            .unwrap_or_else(|problem| self.problem_decision(&problem))
    }

    /// Returns the decision about a call that could not be decided or recorded.
    pub(super) fn problem_decision(&self, problem: &str) -> Decision {
        let text = format!("aver guard: {problem}");
        if self.mode == GuardMode::Enforce { Decision::Refuse(text) } else { Decision::Complain(text) }
    }
}
