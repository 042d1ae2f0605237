//! Requests of programs that make calls themselves, as JSON objects, and their answers.

use super::decide::Decision;
use super::event::{CallEnd, MessageRole, ProposedCall, SessionEvent};
use super::judge::GuardMode;
use serde_json::{Map, Value, json};

/// The keys of a request that select its event.
const EVENTS: [&str; 4] = ["propose", "result", "message", "stop"];

/// Reads the event of a request. `known` are additional keys that it may have.
///
/// # Errors
/// Returns the reason if the request is invalid.
pub fn read_request(request: &Map<String, Value>, known: &[&str]) -> Result<SessionEvent, String> {
    if let Some(key) = request.keys().find(|key| !known.iter().chain(&EVENTS).any(|known| known == key)) {
        return Err(format!("`{key}` is no key of a request: it has {}", request_words(known)));
    }
    let mut asked = EVENTS.into_iter().filter(|key| request.contains_key(*key));
    let nothing = Map::new();
    let given = |key: &str| request.get(key).and_then(Value::as_object).or((key == "stop").then_some(&nothing));
    let (Some((event, given)), None) = (asked.next().and_then(|key| Some((key, given(key)?))), asked.next()) else {
        return Err(format!("a request has {}, which are objects", request_words(known)));
    };
    match event {
        "propose" => Ok(SessionEvent::Propose(read_call(given)?)),
        "result" => {
            let error = given.get("error").filter(|error| !error.is_null()).cloned();
            Ok(SessionEvent::End(CallEnd { call: read_call(given)?, result: given.get("result").cloned(), error }))
        }
        "message" => {
            let role = given.get("role").and_then(Value::as_str).and_then(MessageRole::from_word);
            let role = role.ok_or("a message has a `role`: user, assistant or system")?;
            let text = given.get("text").and_then(Value::as_str).ok_or("a message has a `text`")?;
            Ok(SessionEvent::Say(role.as_str(), text.to_owned()))
        }
        _ => Ok(SessionEvent::Stop(given.get("held").and_then(Value::as_bool) == Some(true))),
    }
}

fn request_words(known: &[&str]) -> String {
    let known: String = known.iter().map(|key| format!("`{key}` and ")).collect();
    format!("{known}one of {}", EVENTS.map(|key| format!("`{key}`")).join(", "))
}

fn read_call(call: &Map<String, Value>) -> Result<ProposedCall, String> {
    let text = |key: &str| call.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(ToOwned::to_owned);
    let args = call.get("args").cloned().unwrap_or_else(|| Value::Object(Map::new()));
    Ok(ProposedCall { id: text("id"), tool: text("tool").ok_or("a call has a `tool`")?, args, agent: text("agent") })
}

/// Returns the answer with a `decision`: `pass`, `warn`, `deny`, `continue` (for `stop`: something is owed) or `error`. All except `pass` have a
/// `reason`. `error` has `held`, which is true if the call must not be made.
#[must_use]
pub fn answer_text(decision: &Decision, mode: GuardMode) -> String {
    let (word, reason) = match decision {
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
        answer.insert("held".to_owned(), json!(mode == GuardMode::Enforce));
    }
    format!("{}\n", Value::Object(answer))
}
