//! Decisions about the events of a session, and their lines in the log.

use super::event::{CallLine, LogLine, ProposedCall, SessionEvent};
use super::judge::{GuardMode, RuleBreach, breach_text, judge_call, judge_stop};
use super::log_memory::{JudgedLine, LogMemory};
use crate::error::RunError;
use crate::growing::GrowthIndex;
use crate::rules::Rules;
use averment_base::value::json;
use bumpalo::Bump;

/// The decision about an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// No objection.
    Pass,
    /// The user is warned.
    Warn(String),
    /// The call must not be made.
    Deny(String),
    /// The agent must continue instead of stopping.
    HoldBack(String),
    /// The event could not be understood or recorded, so the requested action must not be done.
    Refuse(String),
    /// The event could not be understood or recorded, but nothing needs to be blocked.
    Complain(String),
}

/// The log of a session, which records decisions.
pub trait EventLog {
    /// Returns the log in memory, with its notes.
    fn memory_mut(&mut self) -> &mut LogMemory;

    /// Appends a line. Called before the decision is returned.
    ///
    /// # Errors
    /// Returns the reason if the line was not written. No part of the line counts then.
    fn append_line(&mut self, line: &LogLine<'_>) -> Result<(), String>;
}

/// Settings for judging calls.
#[derive(Debug, Clone, Copy)]
pub struct CallJudge<'a> {
    /// The rules.
    pub rules: &'a Rules,
    /// The consequence for calls that break a rule.
    pub mode: GuardMode,
    /// Index to judge a call on a part of the session; `None` judges the whole session.
    pub index: Option<&'a GrowthIndex>,
}

impl CallJudge<'_> {
    /// Decides about an event, and records the decision. `clock` is the time in milliseconds since 1970.
    ///
    /// # Errors
    /// Returns the reason if the event cannot be decided or recorded.
    pub fn decide(&self, log: &mut impl EventLog, event: &SessionEvent, clock: u64) -> Result<Decision, String> {
        match event {
            SessionEvent::Propose(call) => self.decide_call(log, call, clock),
            SessionEvent::Stop(held) => self.decide_stop(log, *held, clock),
            event => record_event(self.rules, log, event, clock).map(|()| Decision::Pass),
        }
    }

    fn decide_call(&self, log: &mut impl EventLog, call: &ProposedCall, clock: u64) -> Result<Decision, String> {
        // A hook may be installed twice, for the user and for the project. A different call with the same id is judged again.
        if let Some(decided) = find_decision(log.memory_mut(), call) {
            return Ok(decided);
        }
        let time = log.memory_mut().next_time(clock);
        let line = LogLine::Call(CallLine::of(call, time)).to_text();
        check_readable(self.rules, &line)?;
        let judged = self.judge_line(log.memory_mut(), &line).map_err(unjudged)?;
        let decision = self.record_decision(log, &CallLine::of(call, time), &judged.breaches)?;
        if let Some(index) = self.index {
            log.memory_mut().note_judged(index, &judged, !matches!(decision, Decision::Deny(_)));
        }
        Ok(decision)
    }

    /// Judges a call like [`judge_call`]. With an index, reads only the lines that the rules look at.
    fn judge_line(&self, log: &mut LogMemory, line: &str) -> Result<JudgedLine, RunError> {
        if let Some(judged) = self.index.and_then(|index| log.look_at_line(index, line))
            && !judged.breaks
        {
            return Ok(judged);
        }
        let with = [log.text(), line].concat();
        let alone = [log.first_line(), line].concat();
        Ok(JudgedLine::of_breaches(judge_call(self.rules, self.mode, log.open_text(), &with, Some(&alone))?))
    }

    fn record_decision(
        &self,
        log: &mut impl EventLog,
        line: &CallLine<'_>,
        breaches: &[RuleBreach],
    ) -> Result<Decision, String> {
        if let Some(denied) = breaches.iter().find(|breach| breach.mode == GuardMode::Enforce) {
            let text = breach_text(breaches, GuardMode::Enforce).unwrap_or_default();
            let reason = format!("This call is not made, because it breaks a rule for good.\n{text}");
            log.append_line(&LogLine::Denied(CallLine { rule: Some(&denied.id), reason: Some(&reason), ..*line }))?;
            return Ok(Decision::Deny(reason));
        }
        log.append_line(&LogLine::Call(*line))?;
        for breach in breaches {
            log.append_line(&LogLine::Warned { rule: &breach.id, reason: &breach.reason, time: line.time })?;
        }
        Ok(match breach_text(breaches, GuardMode::Warn) {
            Some(text) => Decision::Warn(format!("A call of `{}` breaks a rule.\n{text}", line.tool)),
            None => Decision::Pass,
        })
    }

    /// Holds a stopping agent back once, if the session still owes something.
    fn decide_stop(&self, log: &mut impl EventLog, held: bool, clock: u64) -> Result<Decision, String> {
        let memory = log.memory_mut();
        let stop = LogLine::Stop { time: memory.next_time(clock) };
        let ended = [memory.text(), &stop.to_text()].concat();
        let owed = judge_stop(self.rules, self.mode, memory.text(), &ended).map_err(unjudged)?;
        if let Some(text) = breach_text(&owed, GuardMode::Enforce).filter(|_| !held) {
            return Ok(Decision::HoldBack(format!("Before you stop, something is still to be done.\n{text}")));
        }
        log.append_line(&stop)?;
        Ok(match breach_text(&owed, GuardMode::Warn) {
            Some(text) => Decision::Warn(format!("The session ends, and something was still to be done.\n{text}")),
            None => Decision::Pass,
        })
    }
}

fn unjudged(error: RunError) -> String {
    format!("the session cannot be judged: {error}")
}

/// Rejects unreadable lines. Readers skip such a line, so the session counts as incomplete, and nothing would be denied.
fn check_readable(rules: &Rules, line: &str) -> Result<(), String> {
    let arena = Bump::new();
    let read = json::parse_recorded(line.trim_end(), 0, &arena, &rules.inner.reading.limits);
    read.map(|_| ()).map_err(|error| format!("the event cannot be read: {}", error.message))
}

/// Records an event that needs no decision.
///
/// # Errors
/// Returns the reason if the event is not recorded.
pub fn record_event(rules: &Rules, log: &mut impl EventLog, event: &SessionEvent, clock: u64) -> Result<(), String> {
    let append = |log: &mut _, line: &LogLine<'_>| {
        check_readable(rules, &line.to_text())?;
        EventLog::append_line(log, line)
    };
    let memory = log.memory_mut();
    let time = memory.next_time(clock);
    match event {
        SessionEvent::End(end) => {
            let counts = memory.count_calls(end.call.id.as_deref(), &end.call.tool);
            if end.call.id.is_some() && counts.ended > 0 && counts.admitted <= counts.ended {
                return Ok(());
            }
            // The call was made without asking, or although it was denied.
            if counts.admitted <= counts.ended {
                append(log, &LogLine::Call(CallLine::of(&end.call, time)))?;
            }
            append(log, &LogLine::of_end(end, time))
        }
        SessionEvent::Say(role, text) => append(log, &LogLine::Message { role, text, time: Some(time) }),
        SessionEvent::Start | SessionEvent::Propose(_) | SessionEvent::Stop(_) | SessionEvent::Other => Ok(()),
    }
}

/// Returns the earlier decision about the same call: same id, tool and arguments. If all calls with this id have ended, it is a new call.
fn find_decision(log: &LogMemory, call: &ProposedCall) -> Option<Decision> {
    let id = call.id.as_ref()?;
    let counts = log.count_calls(Some(id), &call.tool);
    let waits = counts.admitted > counts.ended;
    let lines = [LogLine::Call(CallLine::of(call, 0)), LogLine::Denied(CallLine::of(call, 0))];
    // One serializer writes all lines, so the text before the time identifies the call.
    let [admitted, denied] = lines.map(|line| line.to_text().trim_end().trim_end_matches("0}").to_owned());
    log.lines_of(id).find_map(|line| {
        if waits && line.starts_with(&admitted) {
            return Some(Decision::Pass);
        }
        let rest = line.starts_with(&denied).then(|| serde_json::from_str::<serde_json::Value>(line).ok()).flatten()?;
        Some(Decision::Deny(rest.get("reason")?.as_str()?.to_owned()))
    })
}
