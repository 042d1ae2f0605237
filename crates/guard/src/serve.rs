//! A resident guard for frameworks and programs that execute calls themselves: each request is a line of JSON, and so is each answer.

use crate::answer::Decision;
use crate::hook::SessionGuard;
use crate::session::{SessionKey, now};
use averment::guard::request::{answer_text, read_request};
use averment::guard::strict_json::parse_unambiguous;
use serde_json::Value;

/// The agent name of sessions of a resident guard.
const AGENT: &str = "serve";

impl SessionGuard<'_> {
    /// Answers a request: an object with `session` and one of `propose`, `result`, `message`, `stop`. The answer has a `decision`: `pass`, `warn`,
    /// `deny`, `continue` (for `stop`, if something is owed), or `error`, which in `enforce` mode means that the call must not be made. It has a
    /// `reason` unless the decision is `pass`.
    #[must_use]
    pub fn answer_request(&self, line: &[u8]) -> String {
        let decision = self.decide_request(line).unwrap_or_else(Decision::Refuse);
        answer_text(&decision, self.mode)
    }

    fn decide_request(&self, line: &[u8]) -> Result<Decision, String> {
        let Value::Object(request) = parse_unambiguous(line)? else { return Err("a request is an object".to_owned()) };
        let session = request.get("session").and_then(Value::as_str).filter(|id| !id.is_empty());
        let session = session.ok_or("a request has a `session`, which is text")?;
        let event = read_request(&request, &["session"])?;
        let key = SessionKey { agent: AGENT, id: session, rules: self.rule_names };
        let mut log = self.open_log(key, true).map_err(|error| format!("the log of the session: {error}"))?;
        self.judge().decide(&mut log, &event, now())
    }
}

#[cfg(test)]
mod tests {
    use averment::guard::strict_json::parse_unambiguous;
    use serde_json::Value;

    #[test]
    fn keys_that_stand_twice_are_no_value_at_any_depth() {
        for text in [r#"{"a":1,"a":2}"#, r#"[{"b":{"a":1,"\u0061":2}}]"#] {
            assert!(parse_unambiguous(text.as_bytes()).unwrap_err().contains("stands twice"), "{text}");
        }
        let text = r#"{"a":[1,-2,3.5,null,true,"x"],"b":{}}"#;
        assert_eq!(parse_unambiguous(text.as_bytes()).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        for broken in ["{} {}", "{", "NaN"] {
            assert!(parse_unambiguous(broken.as_bytes()).is_err(), "{broken}");
        }
    }
}
