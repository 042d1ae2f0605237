//! Handles one hook event of an agent, from the input bytes to the answer.

use crate::agent::{Agent, HookInput};
use crate::answer::{Decision, HookAnswer};
use crate::event::SessionEvent;
use crate::judge::GuardMode;
use crate::resident::ResidentSessions;
use crate::session::{LogPlace, SessionKey, SessionLog, now};
use crate::transcript::{is_unwritten, transcript_lines};
use averment::Rules;
use averment::guard::decide::CallJudge;
use std::path::Path;
use std::sync::Arc;

/// Configuration for handling the events of a session.
#[derive(Debug)]
pub struct SessionGuard<'a> {
    /// The rules.
    pub rules: &'a Rules,
    /// The names of the rules. Sessions guarded by other rules have separate logs.
    pub rule_names: &'a str,
    /// The handling of calls that break a rule.
    pub mode: GuardMode,
    /// The folder for logs.
    pub folder: &'a Path,
    /// Cached sessions, for a guard that answers more than once.
    pub resident: Option<Arc<ResidentSessions>>,
    /// True if a session that the guard joins late starts with the agent's own transcript.
    pub seeds: bool,
}

impl SessionGuard<'_> {
    /// Answers a hook event. An internal problem denies the call in `enforce` mode, and otherwise lets it through.
    #[must_use]
    pub fn answer_hook(&self, agent: Agent, input: &[u8]) -> HookAnswer {
        agent.answer(&self.decide_hook(agent, input))
    }

    /// Decides a hook event.
    pub(crate) fn decide_hook(&self, agent: Agent, input: &[u8]) -> Decision {
        let input = match agent.read_input(input) {
            Ok(input) => input,
            Err(problem) => return self.refusal(&problem, true),
        };
        let asks = matches!(input.event, SessionEvent::Propose(_));
        self.decide(agent, &input).unwrap_or_else(|problem| self.refusal(&problem, asks))
    }

    fn refusal(&self, problem: &str, asks: bool) -> Decision {
        let text = format!("aver guard: {problem}");
        match self.mode {
            GuardMode::Enforce if asks => Decision::Refuse(format!(
                "{text}. Nothing is let through unseen; `aver guard install … --mode log` or `--uninstall` is the way out"
            )),
            _ => Decision::Complain(text),
        }
    }

    fn decide(&self, agent: Agent, input: &HookInput) -> Result<Decision, String> {
        if matches!(input.event, SessionEvent::Other) {
            return Ok(Decision::Pass);
        }
        let key = SessionKey { agent: agent.word(), id: &input.session, rules: self.rule_names };
        let place = LogPlace { folder: self.folder, key, messages: false, home: self.resident.clone() };
        let mut log = SessionLog::open_seeded(place, || self.seed_lines(agent, input))
            .map_err(|error| format!("the log of the session in `{}`: {error}", self.folder.display()))?;
        self.judge().decide(&mut log, &input.event, now())
    }

    /// Returns log lines for the part of the session that the agent recorded before the guard joined. Without a record, the session starts empty.
    fn seed_lines(&self, agent: Agent, input: &HookInput) -> Result<Option<Vec<String>>, String> {
        if !self.seeds {
            return Ok(None);
        }
        let path = input.transcript.as_deref().ok_or("the event names no transcript")?;
        let proposed = match &input.event {
            SessionEvent::Propose(call) => Some(call),
            _ if is_unwritten(path) => return Ok(None),
            _ => None,
        };
        transcript_lines(agent, path, proposed.and_then(|call| call.id.as_deref())).map(Some)
    }

    pub(crate) fn judge(&self) -> CallJudge<'_> {
        let index = self.resident.as_ref().and_then(|resident| resident.index());
        CallJudge { rules: self.rules, mode: self.mode, index }
    }

    /// Opens the log of a session.
    ///
    /// # Errors
    /// See [`SessionLog::open`].
    pub fn open_log(&self, key: SessionKey<'_>, messages: bool) -> std::io::Result<SessionLog> {
        SessionLog::open(LogPlace { folder: self.folder, key, messages, home: self.resident.clone() })
    }
}
