//! One event of an agent, from its bytes to the answer.

use crate::agent::{Agent, HookInput};
use crate::answer::{Decision, HookAnswer};
use crate::event::{CallLine, LogLine, ProposedCall, SessionEvent};
use crate::judge::{GuardMode, RuleBreach, breach_text, judge_call, judge_stop};
use crate::resident::{JudgedLine, ResidentSessions};
use crate::session::{LogPlace, SessionKey, SessionLog, now, record_event};
use averment::{Rules, RunError};
use std::path::Path;
use std::sync::Arc;

/// What a guard needs for each event.
#[derive(Debug)]
pub struct Guard<'a> {
    /// The rules.
    pub rules: &'a Rules,
    /// Their names: sessions guarded by other rules have logs of their own.
    pub rule_names: &'a str,
    /// What becomes of calls that break one.
    pub mode: GuardMode,
    /// Where logs are kept.
    pub folder: &'a Path,
    /// What is kept of sessions, for a guard that answers more than once.
    pub resident: Option<Arc<ResidentSessions>>,
}

impl Guard<'_> {
    /// Answers an event of a hook. What goes wrong within holds the call back in `enforce`, and lets it through otherwise.
    #[must_use]
    pub fn answer_hook(&self, agent: Agent, input: &[u8]) -> HookAnswer {
        agent.answer(&self.decide_hook(agent, input))
    }

    /// Decides an event of a hook.
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
        let mut log = self
            .open_log(key, false)
            .map_err(|error| format!("the log of the session in `{}`: {error}", self.folder.display()))?;
        match &input.event {
            SessionEvent::Propose(call) => self.decide_call(&mut log, call),
            SessionEvent::Stop(held) => self.decide_stop(&mut log, *held),
            event => record_event(&mut log, event).map(|()| Decision::Pass).map_err(|error| unwritable(&log, &error)),
        }
    }

    /// Opens the log of a session.
    ///
    /// # Errors
    /// As of [`SessionLog::open`].
    pub fn open_log(&self, key: SessionKey<'_>, messages: bool) -> std::io::Result<SessionLog> {
        SessionLog::open(LogPlace { folder: self.folder, key, messages, home: self.resident.clone() })
    }

    /// Decides a call, and records what was decided.
    ///
    /// # Errors
    /// What keeps it from being decided or recorded, in words.
    pub fn decide_call(&self, log: &mut SessionLog, call: &ProposedCall) -> Result<Decision, String> {
        // The same hook may be installed twice, for the user and for the project. Another call with the same id is another call.
        if let Some(decided) = find_decision(log, call) {
            return Ok(decided);
        }
        let line = LogLine::Call(CallLine::of(call, now())).to_text();
        let judged = self.judge_line(log, &line).map_err(|error| format!("the session cannot be judged: {error}"))?;
        let decision = self.record_decision(log, call, &judged.breaches).map_err(|error| unwritable(log, &error))?;
        if let Some(resident) = &self.resident {
            log.memory_mut().note_judged(resident, &judged, !matches!(decision, Decision::Deny(_)));
        }
        Ok(decision)
    }

    fn judge_line(&self, log: &mut SessionLog, line: &str) -> Result<JudgedLine, RunError> {
        match &self.resident {
            Some(resident) => resident.judge_line(self.rules, self.mode, log.memory_mut(), line),
            None => {
                let with = [log.text(), line].concat();
                Ok(JudgedLine::of_breaches(judge_call(self.rules, self.mode, log.open_text(), &with)?))
            }
        }
    }

    fn record_decision(
        &self,
        log: &mut SessionLog,
        call: &ProposedCall,
        breaches: &[RuleBreach],
    ) -> std::io::Result<Decision> {
        let line = CallLine::of(call, now());
        if let Some(denied) = breaches.iter().find(|breach| breach.mode == GuardMode::Enforce) {
            let text = breach_text(breaches, GuardMode::Enforce).unwrap_or_default();
            let reason = format!("This call is not made, because it breaks a rule for good.\n{text}");
            log.append(&LogLine::Denied(CallLine { rule: Some(&denied.id), reason: Some(&reason), ..line }))?;
            return Ok(Decision::Deny(reason));
        }
        log.append(&LogLine::Call(line))?;
        for breach in breaches {
            log.append(&LogLine::Warned { rule: &breach.id, reason: &breach.reason, time: now() })?;
        }
        Ok(match breach_text(breaches, GuardMode::Warn) {
            Some(text) => Decision::Warn(format!("A call of `{}` breaks a rule.\n{text}", call.tool)),
            None => Decision::Pass,
        })
    }

    /// Decides whether an agent may stop: it is held back once for what it owes.
    ///
    /// # Errors
    /// What keeps it from being decided or recorded, in words.
    pub fn decide_stop(&self, log: &mut SessionLog, held: bool) -> Result<Decision, String> {
        let ended = format!("{}{}", log.text(), LogLine::Stop { time: now() }.to_text());
        let owed = judge_stop(self.rules, self.mode, log.text(), &ended)
            .map_err(|error| format!("the session cannot be judged: {error}"))?;
        if let Some(text) = breach_text(&owed, GuardMode::Enforce).filter(|_| !held) {
            return Ok(Decision::HoldBack(format!("Before you stop, something is still to be done.\n{text}")));
        }
        log.append(&LogLine::Stop { time: now() }).map_err(|error| unwritable(log, &error))?;
        Ok(match breach_text(&owed, GuardMode::Warn) {
            Some(text) => Decision::Warn(format!("The session ends, and something was still to be done.\n{text}")),
            None => Decision::Pass,
        })
    }
}

fn unwritable(log: &SessionLog, error: &std::io::Error) -> String {
    format!("the log `{}` cannot be written: {error}", log.path().display())
}

/// What was decided of the very same call before: its id, its tool and its arguments.
fn find_decision(log: &SessionLog, call: &ProposedCall) -> Option<Decision> {
    let id = call.id.as_ref()?;
    let lines = [LogLine::Call(CallLine::of(call, 0)), LogLine::Denied(CallLine::of(call, 0))];
    // Lines are written by one serializer: what is before the time is the call.
    let [admitted, denied] = lines.map(|line| line.to_text().trim_end().trim_end_matches("0}").to_owned());
    log.lines_of(id).find_map(|line| {
        if line.starts_with(&admitted) {
            return Some(Decision::Pass);
        }
        let rest = line.starts_with(&denied).then(|| serde_json::from_str::<serde_json::Value>(line).ok()).flatten()?;
        Some(Decision::Deny(rest.get("reason")?.as_str()?.to_owned()))
    })
}
