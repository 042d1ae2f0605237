//! Counts the steps of a running agent in the records that it writes to standard output.

use crate::agents::StepRecord;
use serde_json::Value;
use std::collections::HashSet;

#[derive(Debug)]
pub(crate) struct StepCounter {
    of: StepRecord,
    seen: HashSet<String>,
    count: u64,
}

impl StepCounter {
    pub(crate) fn counting(of: StepRecord) -> Self {
        Self { of, seen: HashSet::new(), count: 0 }
    }

    /// Reads a line; returns the number of steps so far. Lines that are not records are ignored.
    pub(crate) fn read_line(&mut self, line: &[u8]) -> u64 {
        if let Ok(record @ Value::Object(_)) = serde_json::from_slice::<Value>(line) {
            let is = |key: &str, value: &str| record.get(key).and_then(Value::as_str) == Some(value);
            let id = |path: &str| record.pointer(path).and_then(Value::as_str).map(str::to_owned);
            let (is_step, id, counts_without) = match self.of {
                StepRecord::ClaudeCode => (is("type", "assistant"), id("/message/id"), false),
                StepRecord::Codex => {
                    let item = record.pointer("/item/type").and_then(Value::as_str);
                    (is("type", "item.completed") && item == Some("agent_message"), id("/item/id"), true)
                }
                StepRecord::Copilot => (is("type", "assistant.message"), id("/data/messageId"), false),
                StepRecord::CursorAgent if is("type", "assistant") => (true, None, true),
                StepRecord::CursorAgent => {
                    (is("type", "tool_call") && is("subtype", "started"), id("/model_call_id"), false)
                }
                StepRecord::OpenCode => (is("type", "step_finish"), None, true),
            };
            let is_new = match id {
                Some(id) => is_step && self.seen.insert(id),
                None => is_step && counts_without,
            };
            self.count = self.count.saturating_add(u64::from(is_new));
        }
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(of: StepRecord, lines: &[&str]) -> Vec<u64> {
        let mut steps = StepCounter::counting(of);
        lines.iter().map(|line| steps.read_line(line.as_bytes())).collect()
    }

    #[test]
    fn a_message_that_comes_in_parts_is_one_step() {
        let part = r#"{"type":"assistant","message":{"id":"m1"}}"#;
        let other = r#"{"type":"assistant","message":{"id":"m2"}}"#;
        let without = r#"{"type":"assistant","message":{}}"#;
        assert_eq!(counts(StepRecord::ClaudeCode, &[part, part, without, "broken", "[1]", other]), [1, 1, 1, 1, 1, 2]);
    }

    #[test]
    fn messages_without_an_id_count_where_the_agent_gives_none() {
        let message = r#"{"type":"item.completed","item":{"type":"agent_message"}}"#;
        let command = r#"{"type":"item.completed","item":{"id":"c","type":"command_execution"}}"#;
        assert_eq!(counts(StepRecord::Codex, &[message, message, command]), [1, 2, 2]);
        let call = r#"{"type":"tool_call","subtype":"started","model_call_id":"a"}"#;
        let nameless = r#"{"type":"tool_call","subtype":"started"}"#;
        let said = r#"{"type":"assistant","message":{}}"#;
        assert_eq!(counts(StepRecord::CursorAgent, &[call, call, nameless, said, said]), [1, 1, 1, 2, 3]);
        assert_eq!(counts(StepRecord::OpenCode, &[r#"{"type":"step_finish"}"#, r#"{"type":"step_start"}"#]), [1, 1]);
        assert_eq!(counts(StepRecord::Copilot, &[r#"{"type":"assistant.message","data":{"messageId":"a"}}"#]), [1]);
    }
}
