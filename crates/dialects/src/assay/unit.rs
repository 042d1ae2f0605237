//! Assertions on calls that a suite brings itself: tests of its policies, which `aver test` runs.

use super::Assay;
use super::sentence::{Rule, Sentence};
use crate::writer::{self, literal, quoted};
use crate::yaml::Node;
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

/// The assertions that may bring their calls.
pub(super) const NAMES: &[&str] = &["args_valid", "sequence_valid", "tool_blocklist"];

/// A policy with calls that it is tried on.
pub(super) struct Unit {
    place: Span,
    sentences: Vec<Sentence>,
    /// The calls, as the language writes them.
    calls: Vec<String>,
    passes: bool,
}

impl Assay<'_, '_> {
    /// A policy with its calls, where the assertion is one; `Some(None)` where it is and cannot be used.
    pub(super) fn unit(&mut self, node: &Node) -> Option<Option<Unit>> {
        let name = node.get("type")?.text().filter(|name| NAMES.contains(name))?;
        let keys: &[&str] = match name {
            "args_valid" => &["type", "tool", "test_args", "policy", "expect"],
            "sequence_valid" => &["type", "test_trace_raw", "policy", "expect"],
            _ => &["type", "test_tool_calls", "policy", "expect"],
        };
        self.low.said.keys(node, &format!("the assertion `{name}`"), keys);
        let passes = match node.get("expect") {
            None => true,
            Some(word) if word.text() == Some("pass") => true,
            Some(word) if word.text() == Some("fail") => false,
            Some(word) => {
                self.low.said.unknown_word(word, "outcome", &["pass", "fail"]);
                true
            }
        };
        let made = match name {
            "args_valid" => self.unit_of_arguments(node),
            "sequence_valid" => self.unit_of_order(node),
            _ => self.unit_of_blocklist(node),
        };
        Some(made.map(|(sentences, calls)| Unit { place: node.span, sentences, calls, passes }))
    }

    /// What an assertion cannot do without.
    fn needed<'n>(&mut self, node: &'n Node, key: &str) -> Option<&'n Node> {
        let found = node.get(key).filter(|node| !node.is_null());
        if found.is_none() {
            let message = format!("the assertion has no `{key}`: it could never fail");
            self.low.said.error(Slug::TypeMismatch, node.span, message, format!("write `{key}: …`"));
        }
        found
    }

    fn unit_of_arguments(&mut self, node: &Node) -> Option<(Vec<Sentence>, Vec<String>)> {
        let name = self.low.said.required_text(node, "tool", "the assertion")?.to_owned();
        let args = self.needed(node, "test_args")?;
        let policy = self.needed(node, "policy")?;
        let document = self.document(policy)?;
        let schema = document.get("schema").unwrap_or(&document);
        if !schema.is_map() {
            self.low.said.shape(schema, "`schema`", "a JSON Schema");
            return None;
        }
        let declared = self.schema(&format!("{name} args"), schema);
        let tool = writer::tool(&name);
        let text = format!("each {tool}: args is {declared}");
        let call = format!("{{ tool: {}, args: {} }}", quoted(&name), literal(args));
        Some((vec![Sentence::new(policy.span, text)], vec![call]))
    }

    fn unit_of_order(&mut self, node: &Node) -> Option<(Vec<Sentence>, Vec<String>)> {
        let trace = self.needed(node, "test_trace_raw")?;
        let policy = self.needed(node, "policy")?;
        let pattern = self.needed(policy, "regex")?;
        let regex = self.regex(pattern, "")?;
        let mut calls = Vec::new();
        for call in trace.items() {
            let key = if call.get("tool_name").is_some() { "tool_name" } else { "tool" };
            let tool = quoted(self.low.said.required_text(call, key, "a call")?);
            let args = call.get("args").map(|args| format!(", args: {}", literal(args))).unwrap_or_default();
            calls.push(format!("{{ tool: {tool}{args} }}"));
        }
        let text = format!("join((tool of any), \" \") matches {regex}");
        Some((vec![Sentence::new(pattern.span, text)], calls))
    }

    fn unit_of_blocklist(&mut self, node: &Node) -> Option<(Vec<Sentence>, Vec<String>)> {
        let tools = self.needed(node, "test_tool_calls")?;
        let policy = self.needed(node, "policy")?;
        let sentences = self.blocked(policy, "blocked");
        let named = tools.items().iter().filter_map(|tool| self.low.said.as_text(tool, "a call"));
        let calls = named.map(|tool| format!("{{ tool: {} }}", quoted(tool))).collect();
        Some((sentences, calls))
    }

    /// Writes the policy as a case of its own, which is that of no run, and the test that tries it.
    pub(super) fn write_unit(&mut self, of: &str, unit: &Unit) {
        let name = self.labels.of(&format!("{of}.unit"));
        let head = format!("case {name}");
        self.write(&Rule { place: unit.place, head, settings: Vec::new(), sentences: unit.sentences.clone() });
        let outcome = if unit.passes { "pass" } else { "fail" };
        self.low.out.gap();
        let title = format!("test {} expect {outcome} {name}", quoted(&name));
        self.low.out.block(
            unit.place,
            |out| out.put(&title),
            |out| {
                out.line(unit.place, |out| out.put(&format!("meta: {{ case: {} }}", quoted(&name))));
                out.line(unit.place, |out| out.put(&format!("calls: [{}]", unit.calls.join(", "))));
            },
        );
    }
}
