//! Adds the guard to the hook settings of agents and removes it again. Other settings are left unchanged.

use crate::agent::Agent;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

/// Timeout of the guard in the agent, in seconds.
const TIMEOUT: u32 = 30;

/// Returns the events at which the agent calls the guard; proposals come first.
fn guarded_events(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::Claude => {
            &["PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart", "Stop"]
        }
        Agent::Codex => &["PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop"],
        Agent::Gemini => &["BeforeTool", "AfterTool", "BeforeAgent", "SessionStart", "AfterAgent"],
        Agent::Cursor => &["preToolUse", "postToolUse", "postToolUseFailure", "beforeSubmitPrompt", "stop"],
        Agent::Copilot => &["preToolUse", "postToolUse", "userPromptSubmitted", "sessionStart", "agentStop"],
    }
}

/// Returns the settings file, below the folder of a project or below the home folder of the user.
#[must_use]
pub fn settings_path(agent: Agent, below: &Path, of_user: bool) -> PathBuf {
    below.join(match agent {
        Agent::Claude => ".claude/settings.json",
        Agent::Codex => ".codex/hooks.json",
        Agent::Gemini => ".gemini/settings.json",
        Agent::Cursor => ".cursor/hooks.json",
        Agent::Copilot if of_user => ".copilot/hooks/aver-guard.json",
        Agent::Copilot => ".github/hooks/aver-guard.json",
    })
}

/// Returns what to do if the agent ignores the hook until it is trusted.
#[must_use]
pub fn trust_note(agent: Agent, of_user: bool) -> Option<&'static str> {
    match agent {
        Agent::Codex => Some(
            "Codex runs the hook once you trust it: start `codex` and say yes. `codex exec` leaves it out without asking.",
        ),
        Agent::Gemini if !of_user => Some(
            "Gemini CLI runs hooks of a project only in a folder that you trust; `--skip-trust` leaves them out. Those of `--user` always run.",
        ),
        Agent::Copilot if !of_user => Some(
            "Copilot CLI runs hooks of a project only in a folder that you trust; `-p` needs `--trust-folder`. Those of `--user` always run.",
        ),
        _ => None,
    }
}

/// Returns the settings entry of an event. It makes the agent deny a call if the guard itself cannot be run.
fn hook_entry(agent: Agent, event: &str, command: &str) -> Value {
    let asks = guarded_events(agent).first() == Some(&event);
    let closed = if asks { format!("{command} || exit 2") } else { command.to_owned() };
    match agent {
        Agent::Claude => {
            let mut hook = json!({ "type": "command", "command": closed, "timeout": TIMEOUT });
            if asks && let Some(hook) = hook.as_object_mut() {
                hook.insert("onFailure".to_owned(), "block".into());
            }
            of_all_tools(&hook)
        }
        Agent::Codex => of_all_tools(&json!({ "type": "command", "command": closed, "timeout": TIMEOUT })),
        Agent::Gemini => {
            let hook = json!({ "type": "command", "name": "aver guard", "command": closed, "timeout": TIMEOUT * 1000 });
            let mut entry = of_all_tools(&hook);
            if let Some(entry) = entry.as_object_mut() {
                entry.insert("sequential".to_owned(), true.into());
            }
            entry
        }
        Agent::Cursor if asks => json!({ "command": closed, "timeout": TIMEOUT, "failClosed": true }),
        Agent::Cursor => json!({ "command": closed, "timeout": TIMEOUT }),
        Agent::Copilot => json!({ "type": "command", "bash": closed, "timeoutSec": TIMEOUT }),
    }
}

/// Without a matcher, a hook runs for every tool. The ways to write "all tools" differ between agents and versions.
fn of_all_tools(hook: &Value) -> Value {
    json!({ "hooks": [hook] })
}

/// Returns the settings with the guard added, or removed if there is no command; `None` if no settings are left.
///
/// # Errors
/// The reason why the settings cannot be read.
pub fn edit_settings(agent: Agent, text: &str, command: Option<&str>) -> Result<Option<String>, String> {
    let broken = |error: serde_json::Error| format!("it is no JSON that can be edited: {error}");
    let text = if text.trim().is_empty() { "{}" } else { text };
    let mut root: OrderedObject = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(broken)?;
    let mut hooks: OrderedObject = match root.value("hooks") {
        Some(raw) => serde_json::from_str(raw.get()).map_err(|_| "its `hooks` are no object".to_owned())?,
        None => OrderedObject::default(),
    };
    for event in guarded_events(agent) {
        let found: Vec<Box<RawValue>> = match hooks.value(event) {
            Some(raw) => serde_json::from_str(raw.get()).map_err(|_| format!("its `hooks.{event}` is no list"))?,
            None => Vec::new(),
        };
        let mut kept: Vec<String> =
            found.iter().map(|one| one.get().to_owned()).filter(|one| !is_ours(agent, one)).collect();
        kept.extend(command.map(|command| pretty(&hook_entry(agent, event, command), 3)));
        hooks.set(event, (!kept.is_empty()).then(|| list_text(&kept, 2)));
    }
    let needs_version = matches!(agent, Agent::Cursor | Agent::Copilot);
    if needs_version && command.is_some() && root.value("version").is_none() {
        root.0.insert(0, ("version".to_owned(), raw_value("1".to_owned())));
    }
    root.set("hooks", (!hooks.0.is_empty()).then(|| hooks.to_text(1)));
    let only_version = root.0.iter().all(|(key, _)| needs_version && key == "version");
    Ok((!only_version).then(|| format!("{}\n", root.to_text(0))))
}

fn is_ours(agent: Agent, entry: &str) -> bool {
    entry.contains(&format!(" guard hook {}", agent.word()))
}

/// An object that keeps the order of its keys and its values as written.
#[derive(Default)]
struct OrderedObject(Vec<(String, Box<RawValue>)>);

impl OrderedObject {
    fn value(&self, key: &str) -> Option<&RawValue> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_ref())
    }

    fn set(&mut self, key: &str, text: Option<String>) {
        let place = self.0.iter().position(|(name, _)| name == key);
        match (place, text.map(raw_value)) {
            (Some(place), Some(value)) => {
                if let Some(entry) = self.0.get_mut(place) {
                    entry.1 = value;
                }
            }
            (Some(place), None) => drop(self.0.remove(place)),
            (None, Some(value)) => self.0.push((key.to_owned(), value)),
            (None, None) => {}
        }
    }

    fn to_text(&self, depth: usize) -> String {
        if self.0.is_empty() {
            return "{}".to_owned();
        }
        let mut text = String::from("{");
        for (number, (key, value)) in self.0.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            let _ = write!(text, "{comma}\n{}{}: {}", indent(depth + 1), Value::from(key.as_str()), value.get());
        }
        let _ = write!(text, "\n{}}}", indent(depth));
        text
    }
}

impl<'de> Deserialize<'de> for OrderedObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntryVisitor;
        impl<'de> Visitor<'de> for EntryVisitor {
            type Value = OrderedObject;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OrderedObject, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry::<String, Box<RawValue>>()? {
                    entries.push(entry);
                }
                Ok(OrderedObject(entries))
            }
        }
        deserializer.deserialize_map(EntryVisitor)
    }
}

/// Wraps a JSON text.
fn raw_value(text: String) -> Box<RawValue> {
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

fn list_text(items: &[String], depth: usize) -> String {
    let inner = items.iter().map(|item| format!("{}{item}", indent(depth + 1))).collect::<Vec<_>>().join(",\n");
    format!("[\n{inner}\n{}]", indent(depth))
}

fn pretty(value: &Value, depth: usize) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.replace('\n', &format!("\n{}", indent(depth)))
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_settings_stays_and_the_guard_goes_as_it_came() {
        let before = "{\n  \"zeta\": [1,  2],\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": []}\n    ]\n  },\n  \"alpha\": 1.50\n}\n";
        let command = "/usr/bin/aver guard hook claude /w/r.assert";
        let with = edit_settings(Agent::Claude, before, Some(command)).unwrap().unwrap();
        assert!(with.contains("\"zeta\": [1,  2]") && with.contains("\"alpha\": 1.50"), "{with}");
        assert!(with.find("zeta") < with.find("hooks") && with.find("hooks") < with.find("alpha"));
        assert_eq!(with.matches(command).count(), guarded_events(Agent::Claude).len());
        assert_eq!(edit_settings(Agent::Claude, &with, Some(command)).unwrap().unwrap(), with);
        let without = edit_settings(Agent::Claude, &with, None).unwrap().unwrap();
        assert_eq!(without, before);
    }

    #[test]
    fn settings_that_hold_nothing_but_the_guard_are_gone_without_it() {
        for (_, agent) in Agent::ALL {
            let command = format!("aver guard hook {} r.assert", agent.word());
            let with = edit_settings(agent, "", Some(&command)).unwrap().unwrap();
            serde_json::from_str::<Value>(&with).unwrap();
            assert_eq!(edit_settings(agent, &with, None).unwrap(), None, "{with}");
        }
    }

    #[test]
    fn what_cannot_be_edited_is_told_and_not_changed() {
        for text in ["// comment\n{}", "[]", "{\"hooks\": []}", "{\"hooks\": {\"PreToolUse\": {}}}", "{"] {
            assert!(edit_settings(Agent::Claude, text, Some("aver guard hook claude x")).is_err(), "{text}");
        }
    }
}
