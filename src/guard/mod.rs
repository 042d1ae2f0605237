//! Enforces rules while an agent runs: a program asks before each call if it may be made.
//!
//! Proposed calls and results of tools are written to a log, one per line. The log is an unfinished run. A call breaks a rule if the run with the
//! call fails and the run without it does not.
//!
//! ```
//! use averment::Rules;
//! use averment::guard::{CallEnd, Decision, Guard, GuardMode, ProposedCall};
//!
//! let rules = Rules::from_text("shop.assert", "before approve(order: $o) ok -> refund(order: $o)")?;
//! let mut guard = Guard::new(&rules, GuardMode::Enforce);
//! let refund = ProposedCall::new("c1", "refund", serde_json::json!({"order": 7}));
//! assert!(matches!(guard.propose(&refund, 1_000)?, Decision::Deny(reason) if reason.contains("approve")));
//!
//! let approve = ProposedCall::new("c2", "approve", serde_json::json!({"order": 7}));
//! assert_eq!(guard.propose(&approve, 2_000)?, Decision::Pass);
//! guard.result(&CallEnd::of(approve, Ok(true.into())), 3_000)?;
//! let again = ProposedCall { id: Some("c3".to_owned()), ..refund };
//! assert_eq!(guard.propose(&again, 4_000)?, Decision::Pass);
//! // The agent may stop: nothing is owed. What the session did is a run.
//! assert_eq!(guard.stop(false, 5_000)?, Decision::Pass);
//! assert!(rules.check_one(guard.trace())?.passed());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[doc(hidden)]
pub mod decide;
#[doc(hidden)]
pub mod event;
mod flow_lines;
#[doc(hidden)]
pub mod judge;
mod log_lines;
#[doc(hidden)]
pub mod log_memory;
#[doc(hidden)]
pub mod request;
#[doc(hidden)]
pub mod strict_json;
mod touch_notes;
mod unclosed_lines;

pub use decide::Decision;
pub use event::{CallEnd, MessageRole, ProposedCall};
pub use judge::GuardMode;

use crate::growing::GrowthIndex;
use crate::rules::Rules;
use decide::{CallJudge, EventLog};
use event::{LogLine, SessionEvent};
use log_memory::LogMemory;
use request::{answer_text, read_request};
use serde_json::Value;
use strict_json::parse_unambiguous;

/// A guarded session of an agent, in memory. `aver guard serve` gives the same answers, and keeps its sessions on the disk.
///
/// Times are milliseconds since 1970. The caller provides them, because this module never reads a clock.
#[derive(Debug)]
pub struct Guard {
    rules: Rules,
    mode: GuardMode,
    index: Option<GrowthIndex>,
    log: SessionLines,
}

/// A log that exists only in memory.
#[derive(Debug, Default)]
struct SessionLines {
    memory: LogMemory,
}

impl EventLog for SessionLines {
    fn memory_mut(&mut self) -> &mut LogMemory {
        &mut self.memory
    }

    fn append_line(&mut self, line: &LogLine<'_>) -> Result<(), String> {
        let line = line.to_text();
        self.memory.check_room(&line)?;
        self.memory.push_line(&line);
        Ok(())
    }
}

impl Guard {
    /// Starts a session.
    #[must_use]
    pub fn new(rules: &Rules, mode: GuardMode) -> Self {
        Self { rules: rules.clone(), mode, index: GrowthIndex::new(rules), log: SessionLines::default() }
    }

    /// Asks if a call may be made. It counts as made unless it is denied.
    ///
    /// # Errors
    /// Returns the reason if no decision is possible. Do not make the call then.
    pub fn propose(&mut self, call: &ProposedCall, time: u64) -> Result<Decision, String> {
        self.decide(&SessionEvent::Propose(call.clone()), time)
    }

    /// Records the result of a call.
    ///
    /// # Errors
    /// Returns the reason if the result cannot be recorded.
    pub fn result(&mut self, end: &CallEnd, time: u64) -> Result<(), String> {
        self.decide(&SessionEvent::End(end.clone()), time).map(drop)
    }

    /// Records a message.
    ///
    /// # Errors
    /// Returns the reason if the message cannot be recorded.
    pub fn message(&mut self, role: MessageRole, text: &str, time: u64) -> Result<(), String> {
        self.decide(&SessionEvent::Say(role.as_str(), text.to_owned()), time).map(drop)
    }

    /// Asks if the agent may stop. [`Decision::HoldBack`] lists what is still owed. If `held` is true, the agent was held back before and may stop
    /// now.
    ///
    /// # Errors
    /// Returns the reason if no decision is possible.
    pub fn stop(&mut self, held: bool, time: u64) -> Result<Decision, String> {
        self.decide(&SessionEvent::Stop(held), time)
    }

    /// Answers a request as `aver guard serve` does. A request is an object with one of `propose`, `result`, `message`, `stop`.
    #[must_use]
    pub fn answer_request(&mut self, request: &[u8], time: u64) -> String {
        let decided = parse_unambiguous(request).and_then(|request| match request {
            Value::Object(request) => self.decide(&read_request(&request, &[])?, time),
            _ => Err("a request is an object".to_owned()),
        });
        answer_text(&decided.unwrap_or_else(Decision::Refuse), self.mode)
    }

    /// Returns the session so far as an unfinished run, which [`Rules::check`] can read.
    #[must_use]
    pub fn trace(&self) -> &str {
        self.log.memory.text()
    }

    fn decide(&mut self, event: &SessionEvent, time: u64) -> Result<Decision, String> {
        if self.log.memory.text().is_empty() {
            let first = LogLine::Session { id: "guard", agent: "guard", time, messages: true, seeded: None };
            self.log.append_line(&first)?;
        }
        let judge = CallJudge { rules: &self.rules, mode: self.mode, index: self.index.as_ref() };
        judge.decide(&mut self.log, event, time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_in_memory_has_an_end() {
        let rules = Rules::from_text("r.assert", "never delete").unwrap();
        let mut guard = Guard::new(&rules, GuardMode::Enforce);
        guard.log.memory = LogMemory::new(format!("{}\n", " ".repeat(log_memory::MAX_LOG - 200)), None);
        let error = (0..9).find_map(|time| guard.message(MessageRole::User, "hello", time).err()).unwrap();
        assert!(error.contains("larger than 256 MiB"), "{error}");
    }
}
