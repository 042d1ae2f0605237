//! Reads from an agent's event stream how a session ended: complete, failed, or interrupted.

use serde_json::Value;
use std::path::Path;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    /// Complete, or not a stream of a known kind.
    Whole,
    Failed(String),
    Cut(&'static str),
    Several,
}

struct StreamKind {
    /// Type and subtype of the first event.
    begin: (&'static str, Option<&'static str>),
    /// The key of the session id in the first event.
    id: &'static str,
    /// Possible types of the last event.
    ends: &'static [&'static str],
    /// The noun for a missing last event.
    missing: &'static str,
}

const KINDS: [StreamKind; 2] = [
    // Claude Code and the Cursor agent.
    StreamKind { begin: ("system", Some("init")), id: "/session_id", ends: &["result"], missing: "`result`" },
    StreamKind {
        begin: ("thread.started", None),
        id: "/thread_id",
        ends: &["turn.completed", "turn.failed"],
        missing: "`turn.completed`",
    },
];

pub(crate) fn end_of(log: &Path) -> StreamEnd {
    let bytes = std::fs::read(log).unwrap_or_default();
    let lines = bytes.split(|byte| *byte == b'\n');
    let mut events = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok()).filter(Value::is_object);
    let Some(first) = events.next() else { return StreamEnd::Whole };
    let Some(kind) = KINDS.iter().find(|kind| kind.begins_stream(&first)) else { return StreamEnd::Whole };
    let (session, mut last) = (first.pointer(kind.id).cloned(), None);
    for event in events {
        if kind.begins_stream(&event) && event.pointer(kind.id) != session.as_ref() {
            return StreamEnd::Several;
        }
        if kind.ends.iter().any(|end| has_word(&event, "type", end)) {
            last = Some(event);
        }
    }
    match last {
        None => StreamEnd::Cut(kind.missing),
        Some(last) if has_failed(&last) => StreamEnd::Failed(failure_words(&last)),
        Some(_) => StreamEnd::Whole,
    }
}

impl StreamKind {
    fn begins_stream(&self, event: &Value) -> bool {
        let (kind, subtype) = self.begin;
        has_word(event, "type", kind) && subtype.is_none_or(|subtype| has_word(event, "subtype", subtype))
    }
}

fn has_word(event: &Value, key: &str, word: &str) -> bool {
    event.get(key).and_then(Value::as_str) == Some(word)
}

fn has_failed(event: &Value) -> bool {
    let subtype = event.get("subtype").and_then(Value::as_str).unwrap_or_default();
    has_word(event, "type", "turn.failed")
        || event.get("is_error") == Some(&Value::Bool(true))
        || subtype.starts_with("error")
}

fn failure_words(event: &Value) -> String {
    let told = ["/result", "/error/message", "/error", "/errors/0", "/subtype"];
    let told = told.iter().find_map(|pointer| event.pointer(pointer)?.as_str().filter(|text| !text.is_empty()));
    told.unwrap_or("it does not say why").chars().take(400).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(lines: &[&str]) -> StreamEnd {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        std::fs::write(&log, lines.join("\n")).unwrap();
        end_of(&log)
    }

    #[test]
    fn a_stream_ends_with_its_last_event() {
        let claude = r#"{"type":"system","subtype":"init","session_id":"a"}"#;
        let other = r#"{"type":"system","subtype":"init","session_id":"b"}"#;
        let done = r#"{"type":"result","subtype":"success","is_error":false,"result":"hi"}"#;
        assert_eq!(ends(&[claude, "broken", claude, done]), StreamEnd::Whole);
        assert_eq!(ends(&[claude]), StreamEnd::Cut("`result`"));
        assert_eq!(ends(&[claude, done, other, done]), StreamEnd::Several);
        let failed = r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error"}"#;
        assert_eq!(ends(&[claude, failed]), StreamEnd::Failed("API Error".to_owned()));
        let turns = r#"{"type":"result","subtype":"error_max_turns","is_error":false}"#;
        assert_eq!(ends(&[claude, turns]), StreamEnd::Failed("error_max_turns".to_owned()));
        let codex = r#"{"type":"thread.started","thread_id":"t"}"#;
        assert_eq!(ends(&[codex, r#"{"type":"turn.completed"}"#]), StreamEnd::Whole);
        assert_eq!(ends(&[codex]), StreamEnd::Cut("`turn.completed`"));
        let failed = r#"{"type":"turn.failed","error":{"message":"out of tokens"}}"#;
        assert_eq!(ends(&[codex, failed]), StreamEnd::Failed("out of tokens".to_owned()));
        assert_eq!(ends(&[r#"{"output":"hi"}"#]), StreamEnd::Whole);
        assert_eq!(ends(&[]), StreamEnd::Whole);
    }
}
