//! Matchers: select the events of a run that a constraint applies to.

use super::predicate::{LoweredPredicate, PredicateScope, read_predicate};
use crate::Lowering;
use crate::writer::member_path;
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventKind {
    Call,
    Result,
    Assistant,
    User,
}

/// A matcher after reading.
#[derive(Debug, Clone)]
pub(super) struct EventMatcher {
    pub(super) kind: EventKind,
    predicates: Vec<LoweredPredicate>,
}

const KINDS: &[&str] = &["tool_call", "tool_result", "assistant_message", "user_message"];
const KEYS: &[&str] = &["kind", "tool", "executor", "args", "status", "result", "text"];

/// The statuses of a call in tolokaforge.
const STATUSES: &[&str] = &["success", "environment_error", "error", "timeout", "tool_not_found", "invalid_arguments"];

impl EventKind {
    /// Returns the name of the list that contains its events.
    pub(super) fn list_name(self) -> &'static str {
        match self {
            Self::Call | Self::Result => "tool_calls",
            Self::Assistant => "assistant_messages",
            Self::User => "user_messages",
        }
    }

    /// Returns the position of an event as an expression. A result directly follows its call.
    pub(super) fn place(self) -> &'static str {
        if self == Self::Result { "at + 0.5" } else { "at" }
    }

    pub(super) fn carries(self, field: &str) -> bool {
        match self {
            Self::Call => field != "text",
            Self::Result => !matches!(field, "text" | "args"),
            Self::Assistant | Self::User => field == "text",
        }
    }
}

impl EventMatcher {
    /// Returns an expression for the matching events, as elements of their list; `extra` are further conditions.
    pub(super) fn events(&self, extra: &[String]) -> String {
        self.events_without(extra, None)
    }

    fn events_without(&self, extra: &[String], left_out: Option<usize>) -> String {
        let own = self.predicates.iter().enumerate().filter(|(at, _)| Some(*at) != left_out);
        let tests = own.flat_map(|(_, predicate)| predicate.tests.iter().cloned());
        let result = (self.kind == EventKind::Result).then(|| "value.result exists".to_owned());
        let all: Vec<String> = result.into_iter().chain(extra.iter().cloned()).chain(tests).map(bracketed).collect();
        match all.is_empty() {
            true => self.kind.list_name().to_owned(),
            false => format!("({} where {})", self.kind.list_name(), all.join(" and ")),
        }
    }

    /// Returns an expression for the positions of the matching events.
    pub(super) fn positions(&self, extra: &[String]) -> String {
        format!("({} of {})", self.kind.place(), self.events(extra))
    }

    /// Returns the conditions under which the comparisons with bound values are possible.
    pub(super) fn comparisons(&self, extra: &[String]) -> Vec<String> {
        let mut all = Vec::new();
        for (at, predicate) in self.predicates.iter().enumerate() {
            for test in &predicate.comparable {
                let events = self.events_without(extra, Some(at));
                all.push(format!("(all other in {events}: {})", test.test("other")));
            }
        }
        all
    }
}

fn bracketed(test: String) -> String {
    if test.contains(" or ") || test.contains(" and ") { format!("({test})") } else { test }
}

pub(super) fn read_matcher(
    node: &YamlNode,
    scope: &PredicateScope,
    lowering: &mut Lowering<'_>,
) -> Option<EventMatcher> {
    if !lowering.sink.check_keys(node, "a matcher", KEYS) {
        return None;
    }
    let kind = match lowering.sink.required_text(node, "kind", "a matcher")? {
        "tool_call" => EventKind::Call,
        "tool_result" => EventKind::Result,
        "assistant_message" => EventKind::Assistant,
        "user_message" => EventKind::User,
        _ => {
            lowering.sink.unknown_word(node.get("kind")?, "kind of events", KINDS);
            return None;
        }
    };
    let mut predicates = Vec::new();
    for (key, value) in node.entries().iter().filter(|(key, value)| key.as_text() != Some("kind") && !value.is_null()) {
        let field = key.key_text();
        if !kind.carries(&field) {
            let message = format!("events of this kind have no `{field}`, so none matches");
            lowering.sink.error(Slug::UnknownField, key.span, message, "fix the `kind`, or remove the key");
            return None;
        }
        match field.as_str() {
            "args" => predicates.extend(read_args(value, scope, lowering)?),
            "status" => predicates.push(read_status(value, lowering)?),
            "executor" => {
                read_predicate("value.executor", value, scope, lowering)?;
                let why = "undecided(\"a run does not record whether the agent or the user made a call\")";
                predicates.push(LoweredPredicate { tests: vec![why.to_owned()], comparable: Vec::new() });
            }
            "result" => predicates.push(read_predicate("text(value.result)", value, scope, lowering)?),
            _ => predicates.push(read_predicate(&format!("value.{field}"), value, scope, lowering)?),
        }
    }
    Some(EventMatcher { kind, predicates })
}

fn read_args(node: &YamlNode, scope: &PredicateScope, lowering: &mut Lowering<'_>) -> Option<Vec<LoweredPredicate>> {
    if !node.is_map() || node.entries().is_empty() {
        lowering.sink.wrong_shape(node, "`args`", "a mapping from arguments to predicates");
        return None;
    }
    let read = |(key, value): &(YamlNode, YamlNode), lowering: &mut Lowering<'_>| {
        read_predicate(&argument_path("value", &key.key_text()), value, scope, lowering)
    };
    node.entries().iter().map(|entry| read(entry, lowering)).collect()
}

/// Returns the path of an argument, whose name may have several parts: `body.query`.
pub(super) fn argument_path(event: &str, path: &str) -> String {
    let steps: String = path.split('.').map(member_path).collect();
    format!("{event}.args{steps}")
}

/// Reads a status test. A run only records whether a call failed, not why, so statuses of failed calls cannot be told apart.
fn read_status(node: &YamlNode, lowering: &mut Lowering<'_>) -> Option<LoweredPredicate> {
    read_predicate("value.status", node, &PredicateScope::default(), lowering)?;
    let mut tests = Vec::new();
    for (key, operand) in node.entries().iter().filter(|(_, operand)| !operand.is_null()) {
        let operator = key.key_text();
        let words: Option<Vec<&str>> = match operator.as_str() {
            "equals" | "not_equals" => operand.as_text().map(|word| vec![word]),
            "in_" | "not_in" => operand.items().iter().map(YamlNode::as_text).collect(),
            _ => None,
        };
        let Some(words) = words else {
            tests.push("undecided(\"a run does not record the words of tolokaforge for how a call ended\")".to_owned());
            continue;
        };
        if words.is_empty() || words.iter().any(|word| !STATUSES.contains(word)) {
            lowering.sink.unknown_word(operand, "status of a call", STATUSES);
            return None;
        }
        tests.push(status_test(&words, operator.starts_with("not_")));
    }
    Some(LoweredPredicate { tests, comparable: Vec::new() })
}

fn status_test(words: &[&str], negated: bool) -> String {
    let failed = "value.status == \"failed\"";
    let untold = format!("{failed} and undecided(\"a run does not record why a call failed\")");
    let succeeds = words.contains(&"success");
    let failures = words.iter().filter(|word| **word != "success").count();
    let is_every = !negated && failures.saturating_add(1) == STATUSES.len();
    match (succeeds != negated, failures) {
        (true, 0) => "value.status == \"ok\"".to_owned(),
        (true, _) if is_every => format!("(value.status == \"ok\" or {failed})"),
        (true, _) => format!("(value.status == \"ok\" or {untold})"),
        (false, 0) => failed.to_owned(),
        (false, _) if is_every => failed.to_owned(),
        (false, _) => format!("({untold})"),
    }
}
