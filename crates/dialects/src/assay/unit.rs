//! Assertions on calls that the suite itself contains: tests of its policies, which `aver test` runs.

use super::AssayLowering;
use super::sentence::{AssayAssertion, RuleDraft};
use crate::writer::{self, quote_text, value_literal};
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

pub(super) const NAMES: &[&str] = &["args_valid", "sequence_valid", "tool_blocklist"];

pub(super) struct UnitTest {
    place: Span,
    sentences: Vec<AssayAssertion>,
    calls: Vec<String>,
    passes: bool,
}

impl AssayLowering<'_, '_> {
    /// Reads a unit test. `Some(None)` means that it is one but unusable.
    pub(super) fn read_unit(&mut self, node: &YamlNode) -> Option<Option<UnitTest>> {
        let name = node.get("type")?.as_text().filter(|name| NAMES.contains(name))?;
        let keys: &[&str] = match name {
            "args_valid" => &["type", "tool", "test_args", "policy", "expect"],
            "sequence_valid" => &["type", "test_trace_raw", "policy", "expect"],
            _ => &["type", "test_tool_calls", "policy", "expect"],
        };
        self.low.sink.check_keys(node, &format!("the assertion `{name}`"), keys);
        let passes = match node.get("expect") {
            None => true,
            Some(word) if word.as_text() == Some("pass") => true,
            Some(word) if word.as_text() == Some("fail") => false,
            Some(word) => {
                self.low.sink.unknown_word(word, "outcome", &["pass", "fail"]);
                true
            }
        };
        let made = match name {
            "args_valid" => self.unit_of_arguments(node),
            "sequence_valid" => self.unit_of_order(node),
            _ => self.unit_of_blocklist(node),
        };
        Some(made.map(|(sentences, calls)| UnitTest { place: node.span, sentences, calls, passes }))
    }

    fn required_key<'n>(&mut self, node: &'n YamlNode, key: &str) -> Option<&'n YamlNode> {
        let found = node.get(key).filter(|node| !node.is_null());
        if found.is_none() {
            let message = format!("the assertion has no `{key}`: it could never fail");
            self.low.sink.error(Slug::TypeMismatch, node.span, message, format!("write `{key}: …`"));
        }
        found
    }

    fn unit_of_arguments(&mut self, node: &YamlNode) -> Option<(Vec<AssayAssertion>, Vec<String>)> {
        let name = self.low.sink.required_text(node, "tool", "the assertion")?.to_owned();
        let args = self.required_key(node, "test_args")?;
        let policy = self.required_key(node, "policy")?;
        let document = self.policy_document(policy)?;
        let schema = document.get("schema").unwrap_or(&document);
        if !schema.is_map() {
            self.low.sink.wrong_shape(schema, "`schema`", "a JSON Schema");
            return None;
        }
        let declared = self.schema_name(&format!("{name} args"), schema);
        let tool = writer::tool_pattern(&name);
        let text = format!("each {tool}: args is {declared}");
        let call = format!("{{ tool: {}, args: {} }}", quote_text(&name), value_literal(args));
        Some((vec![AssayAssertion::new(policy.span, text)], vec![call]))
    }

    fn unit_of_order(&mut self, node: &YamlNode) -> Option<(Vec<AssayAssertion>, Vec<String>)> {
        let trace = self.required_key(node, "test_trace_raw")?;
        let policy = self.required_key(node, "policy")?;
        let pattern = self.required_key(policy, "regex")?;
        let regex = self.regex_literal(pattern, "")?;
        let mut calls = Vec::new();
        for call in trace.items() {
            let key = if call.get("tool_name").is_some() { "tool_name" } else { "tool" };
            let tool = quote_text(self.low.sink.required_text(call, key, "a call")?);
            let args = call.get("args").map(|args| format!(", args: {}", value_literal(args))).unwrap_or_default();
            calls.push(format!("{{ tool: {tool}{args} }}"));
        }
        let text = format!("join((tool of any), \" \") matches {regex}");
        Some((vec![AssayAssertion::new(pattern.span, text)], calls))
    }

    fn unit_of_blocklist(&mut self, node: &YamlNode) -> Option<(Vec<AssayAssertion>, Vec<String>)> {
        let tools = self.required_key(node, "test_tool_calls")?;
        let policy = self.required_key(node, "policy")?;
        let sentences = self.lower_blocked(policy, "blocked");
        let named = tools.items().iter().filter_map(|tool| self.low.sink.as_text(tool, "a call"));
        let calls = named.map(|tool| format!("{{ tool: {} }}", quote_text(tool))).collect();
        Some((sentences, calls))
    }

    /// Writes the policy as a case that no run matches, and a test for that case.
    pub(super) fn write_unit(&mut self, of: &str, unit: &UnitTest) {
        let name = self.labels.unique_label(&format!("{of}.unit"));
        let head = format!("case {name}");
        self.write_rule(&RuleDraft {
            place: unit.place,
            head,
            settings: Vec::new(),
            sentences: unit.sentences.clone(),
        });
        let outcome = if unit.passes { "pass" } else { "fail" };
        self.low.out.write_gap();
        let title = format!("test {} expect {outcome} {name}", quote_text(&name));
        self.low.out.write_block(
            unit.place,
            |out| out.put_text(&title),
            |out| {
                out.write_line(unit.place, |out| out.put_text(&format!("meta: {{ case: {} }}", quote_text(&name))));
                out.write_line(unit.place, |out| out.put_text(&format!("calls: [{}]", unit.calls.join(", "))));
            },
        );
    }
}
