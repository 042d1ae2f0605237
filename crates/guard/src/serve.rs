//! A resident guard: a line of JSON asks, a line of JSON answers. For frameworks and programs that make calls themselves.

use crate::answer::Decision;
use crate::event::{CallEnd, ProposedCall, SessionEvent};
use crate::hook::Guard;
use crate::judge::GuardMode;
use crate::session::{SessionKey, record_event};
use crate::strict_json::parse_unambiguous;
use serde_json::{Map, Value, json};

/// The agent whose name sessions of a resident guard have.
const AGENT: &str = "serve";
/// The roles of those who say something.
const ROLES: [&str; 3] = ["user", "assistant", "system"];

impl Guard<'_> {
    /// Answers a request: an object with `session` and one of `propose`, `result`, `message`, `stop`. The answer has a `decision`: `pass`,
    /// `warn`, `deny`, `continue` (of `stop`: something is owed), or `error`, which in `enforce` means that the call is not to be made; and a
    /// `reason` for all but `pass`.
    #[must_use]
    pub fn answer_request(&self, line: &[u8]) -> String {
        let decision = self.decide_request(line).unwrap_or_else(Decision::Refuse);
        let (word, reason) = match &decision {
            Decision::Pass => ("pass", None),
            Decision::Warn(text) => ("warn", Some(text)),
            Decision::Deny(text) => ("deny", Some(text)),
            Decision::HoldBack(text) => ("continue", Some(text)),
            Decision::Refuse(text) | Decision::Complain(text) => ("error", Some(text)),
        };
        let mut answer = Map::new();
        answer.insert("decision".to_owned(), word.into());
        answer.extend(reason.map(|reason| ("reason".to_owned(), Value::from(reason.as_str()))));
        if word == "error" {
            answer.insert("held".to_owned(), json!(self.mode == GuardMode::Enforce));
        }
        format!("{}\n", Value::Object(answer))
    }

    fn decide_request(&self, line: &[u8]) -> Result<Decision, String> {
        let Value::Object(request) = parse_unambiguous(line)? else { return Err("a request is an object".to_owned()) };
        let session = request.get("session").and_then(Value::as_str).filter(|id| !id.is_empty());
        let session = session.ok_or("a request has a `session`, which is text")?;
        let event = read_request(&request)?;
        let key = SessionKey { agent: AGENT, id: session, rules: self.rule_names };
        let mut log = self.open_log(key, true).map_err(|error| format!("the log of the session: {error}"))?;
        match &event {
            SessionEvent::Propose(call) => self.decide_call(&mut log, call),
            SessionEvent::Stop(held) => self.decide_stop(&mut log, *held),
            event => record_event(&mut log, event)
                .map(|()| Decision::Pass)
                .map_err(|error| format!("the log of the session: {error}")),
        }
    }
}

fn read_request(request: &Map<String, Value>) -> Result<SessionEvent, String> {
    let given = |key: &str| request.get(key).and_then(Value::as_object);
    let known = ["session", "propose", "result", "message", "stop"];
    if let Some(key) = request.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(format!(
            "`{key}` is no key of a request: it has `session` and one of `propose`, `result`, `message`, `stop`"
        ));
    }
    match (given("propose"), given("result"), given("message"), request.get("stop"), request.len()) {
        (Some(call), None, None, None, 2) => Ok(SessionEvent::Propose(read_call(call)?)),
        (None, Some(end), None, None, 2) => {
            let error = end.get("error").filter(|error| !error.is_null()).cloned();
            Ok(SessionEvent::End(CallEnd { call: read_call(end)?, result: end.get("result").cloned(), error }))
        }
        (None, None, Some(message), None, 2) => {
            let role = message.get("role").and_then(Value::as_str);
            let role = ROLES.into_iter().find(|known| role == Some(*known));
            let role = role.ok_or("a message has a `role`: user, assistant or system")?;
            let text = message.get("text").and_then(Value::as_str).ok_or("a message has a `text`")?;
            Ok(SessionEvent::Say(role, text.to_owned()))
        }
        (None, None, None, Some(stop), 2) => {
            Ok(SessionEvent::Stop(stop.get("held").and_then(Value::as_bool) == Some(true)))
        }
        _ => {
            Err("a request has `session` and one of `propose`, `result`, `message`, `stop`, which are objects"
                .to_owned())
        }
    }
}

fn read_call(call: &Map<String, Value>) -> Result<ProposedCall, String> {
    let text = |key: &str| call.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(ToOwned::to_owned);
    let args = call.get("args").cloned().unwrap_or_else(|| Value::Object(Map::new()));
    Ok(ProposedCall { id: text("id"), tool: text("tool").ok_or("a call has a `tool`")?, args, agent: text("agent") })
}
