//! Decides which tools are too dangerous to call without explicit permission.

use crate::listing::is_wrong;
use globset::{GlobBuilder, GlobMatcher};
use serde_json::Value;

/// Beginnings of words that indicate destruction, in names and descriptions of tools.
const WORDS: [&str; 8] = ["delete", "drop", "destroy", "truncate", "kill", "wipe", "purge", "reset"];

/// A policy that decides which tools are not called.
#[derive(Debug, Default)]
pub struct DangerPolicy {
    allowed: Vec<GlobMatcher>,
    denied: Vec<GlobMatcher>,
}

impl DangerPolicy {
    /// Creates a policy from patterns for tool names: `allowed` tools are always called, `denied` tools never.
    ///
    /// # Errors
    /// An invalid pattern, with the reason.
    pub fn new(allowed: &[String], denied: &[String]) -> Result<Self, String> {
        let matchers = |patterns: &[String]| {
            let matcher = |pattern: &String| {
                let glob = GlobBuilder::new(pattern).literal_separator(false).build();
                glob.map(|glob| glob.compile_matcher()).map_err(|error| error.to_string())
            };
            patterns.iter().map(matcher).collect::<Result<Vec<_>, _>>()
        };
        Ok(Self { allowed: matchers(allowed)?, denied: matchers(denied)? })
    }

    /// Returns the allowed and the denied patterns that match none of these names.
    #[must_use]
    pub fn idle_patterns(&self, names: &[String]) -> (Vec<String>, Vec<String>) {
        let idle = |globs: &[GlobMatcher]| {
            let idle = globs.iter().filter(|glob| !names.iter().any(|name| glob.is_match(name)));
            idle.map(|glob| glob.glob().glob().to_owned()).collect()
        };
        (idle(&self.allowed), idle(&self.denied))
    }

    /// Returns why a tool is not called, or `None` if it may be called. `declared` are the server's declarations of this name; the most dangerous one
    /// counts.
    #[must_use]
    pub fn refusal_reason<'a>(&self, name: &str, declared: impl Iterator<Item = &'a Value>) -> Option<&'static str> {
        if self.denied.iter().any(|glob| glob.is_match(name)) {
            return Some("the command line denies it");
        }
        if self.allowed.iter().any(|glob| glob.is_match(name)) {
            return None;
        }
        let mut declared = declared.peekable();
        if declared.peek().is_none() {
            return mentions_destruction(name, "");
        }
        declared.find_map(|tool| destructive_reason(name, tool))
    }
}

fn destructive_reason(name: &str, tool: &Value) -> Option<&'static str> {
    let hint = |hint: &str| tool.get("annotations")?.get(hint)?.as_bool();
    if ["readOnlyHint", "destructiveHint"].into_iter().any(|hint| is_wrong(tool, hint)) {
        return Some("its annotations cannot be read");
    }
    match (hint("readOnlyHint"), hint("destructiveHint")) {
        (_, Some(true)) => Some("it is annotated as destructive"),
        (Some(true), _) => None,
        // A tool that writes counts as destructive unless it is annotated otherwise.
        (Some(false), None) => Some("it is annotated as one that writes, and not as one that destroys nothing"),
        _ => mentions_destruction(name, tool.get("description").and_then(Value::as_str).unwrap_or_default()),
    }
}

fn mentions_destruction(name: &str, description: &str) -> Option<&'static str> {
    let destroys =
        split_words(name).chain(split_words(description)).any(|word| WORDS.iter().any(|one| word.starts_with(one)));
    destroys.then_some("its name or description speaks of destroying")
}

/// Returns the lower-case words of a text such as `deleteUser`, `delete_user` or `Deletes a user`.
fn split_words(text: &str) -> impl Iterator<Item = String> {
    let mut apart = String::with_capacity(text.len());
    let mut small = false;
    for letter in text.chars() {
        if small && letter.is_uppercase() {
            apart.push(' ');
        }
        small = letter.is_lowercase();
        apart.extend(letter.to_lowercase());
    }
    let words: Vec<String> = apart.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect();
    words.into_iter().filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_destroys_is_called_only_by_name() {
        let plain = DangerPolicy::default();
        for (name, declared, is_called) in [
            ("echo", json!({}), true),
            ("delete_user", json!({}), false),
            ("deleteUser", json!({}), false),
            ("undelete", json!({}), true),
            ("tidy", json!({"description": "Deletes what is old"}), false),
            ("delete_cache", json!({"annotations": {"readOnlyHint": true}}), true),
            ("write", json!({"annotations": {"readOnlyHint": false}}), false),
            ("write", json!({"annotations": {"readOnlyHint": false, "destructiveHint": false}}), true),
            ("write", json!({"annotations": {"destructiveHint": true}}), false),
            ("write", json!({"annotations": {"destructiveHint": true, "readOnlyHint": true}}), false),
            ("write", json!({"annotations": {"destructiveHint": "true"}}), false),
            ("write", json!({"annotations": {"destructiveHint": null}}), true),
            ("write", json!({"annotations": "destructive"}), false),
        ] {
            assert_eq!(plain.refusal_reason(name, [declared.clone()].iter()).is_none(), is_called, "{name} {declared}");
        }
        let named = DangerPolicy::new(&["delete_*".to_owned()], &["echo".to_owned()]).unwrap();
        assert_eq!(named.refusal_reason("delete_user", [].iter()), None);
        assert!(named.refusal_reason("echo", [].iter()).is_some());
        assert_eq!(named.idle_patterns(&["delete_user".to_owned()]), (Vec::new(), vec!["echo".to_owned()]));
        let twice = [json!({"annotations": {"readOnlyHint": true}}), json!({"annotations": {"destructiveHint": true}})];
        assert!(plain.refusal_reason("write", twice.iter()).is_some());
        assert!(DangerPolicy::new(&["[".to_owned()], &[]).is_err());
    }
}
