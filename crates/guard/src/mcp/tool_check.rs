//! Compares the tools of a server with those named in rules. A rule about a tool that does not exist denies nothing, which would go unnoticed.

use averment_base::near::nearest_name;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Maximum number of remembered tools of a server.
const MAX_TOOLS: usize = 10_000;
/// Maximum number of pending pages of a tool list.
const MAX_PAGES: usize = 100;

/// A tool that is named in a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedTool {
    /// Its name.
    pub name: String,
    /// File and line: `refunds.assert:4`.
    pub place: String,
}

/// The tools named in rules and the tools listed by the server.
#[derive(Debug, Clone, Default)]
pub struct ToolCheck {
    named: Vec<NamedTool>,
    found: BTreeSet<String>,
    /// The ids of requests for a page.
    asked: Vec<String>,
    has_told: bool,
}

impl ToolCheck {
    /// Starts with the tools named in rules.
    #[must_use]
    pub fn new(mut named: Vec<NamedTool>) -> Self {
        named.sort();
        named.dedup_by(|one, other| one.name == other.name);
        Self { named, ..Self::default() }
    }

    /// Adds the server's complete tool list; returns the lines to report.
    pub fn compare_all(&mut self, tools: impl IntoIterator<Item = String>) -> Vec<String> {
        self.found.extend(tools.into_iter().take(MAX_TOOLS));
        self.tell_missing()
    }

    /// Records a client request for a page.
    pub(super) fn note_request(&mut self, method: Option<&str>, id: &Value) {
        if method == Some("tools/list") && !self.has_told && self.asked.len() < MAX_PAGES {
            self.asked.push(id.to_string());
        }
    }

    /// Handles a server answer; after the last page of tools, returns the lines to report.
    pub(super) fn take_answer(&mut self, answer: &Map<String, Value>) -> Vec<String> {
        let id = answer.get("id").filter(|_| !self.has_told).map(Value::to_string);
        let Some(place) = id.and_then(|id| self.asked.iter().position(|asked| *asked == id)) else { return Vec::new() };
        self.asked.remove(place);
        let Some(Value::Object(result)) = answer.get("result") else { return Vec::new() };
        let Some(Value::Array(tools)) = result.get("tools") else { return Vec::new() };
        let names = tools.iter().filter_map(|tool| tool.get("name")?.as_str()).map(ToOwned::to_owned);
        self.found.extend(names.take(MAX_TOOLS));
        let has_more = result.get("nextCursor").is_some_and(|next| !next.is_null() && next != "");
        if has_more { Vec::new() } else { self.tell_missing() }
    }

    fn tell_missing(&mut self) -> Vec<String> {
        if std::mem::replace(&mut self.has_told, true) {
            return Vec::new();
        }
        let missing = self.named.iter().filter(|tool| !self.found.contains(&tool.name));
        missing.map(|tool| missing_text(tool, &self.found)).collect()
    }
}

fn missing_text(tool: &NamedTool, found: &BTreeSet<String>) -> String {
    let NamedTool { name, place } = tool;
    let near = nearest_name(name, found.iter().map(String::as_str));
    let near = near.map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
    format!("aver guard: the rules name the tool `{name}` ({place}), which the server does not have{near}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tools_that_no_page_has_are_told_once_at_the_last_one() {
        let named = |name: &str| NamedTool { name: name.to_owned(), place: "r.assert:1".to_owned() };
        let mut check = ToolCheck::new(vec![named("refnd"), named("approve"), named("refnd")]);
        let page = |id: i32, tool: &str, next: Option<&str>| json!({ "id": id, "result": { "tools": [{ "name": tool }], "nextCursor": next } });
        let mut take = |answer: Value| check.take_answer(answer.as_object().unwrap());
        assert!(take(page(1, "refund", None)).is_empty());
        check.note_request(Some("tools/list"), &1.into());
        check.note_request(Some("tools/list"), &2.into());
        let mut take = |answer: Value| check.take_answer(answer.as_object().unwrap());
        assert!(take(page(1, "refund", Some("more"))).is_empty());
        let told = take(page(2, "approve", None));
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("`refnd` (r.assert:1)") && told[0].contains("`refund`"), "{told:?}");
        check.note_request(Some("tools/list"), &3.into());
        assert!(check.take_answer(page(3, "x", None).as_object().unwrap()).is_empty());
    }
}
