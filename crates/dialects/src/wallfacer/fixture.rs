//! Fixtures: tests for the rules of a pack.

use super::PackLowering;
use crate::writer::{RuleWriter, quote_text};
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

/// A tool that no run calls.
pub(super) const TOOL: &str = "__pack_test__";

const KEYS: [&str; 4] = ["name", "input", "response", "expect"];
const OUTCOMES: [&str; 2] = ["pass", "fail"];

pub(super) struct PackFixture<'n> {
    pub place: Span,
    pub name: &'n str,
    pub expect: &'n str,
    input: Option<&'n YamlNode>,
    response: &'n YamlNode,
}

impl PackLowering<'_, '_> {
    pub(super) fn read_fixtures<'n>(&mut self, node: &'n YamlNode, what: &str) -> Vec<PackFixture<'n>> {
        let nodes = self.lowering.sink.list_items(node, "test_fixtures", what);
        nodes.iter().filter_map(|node| self.read_fixture(node)).collect()
    }

    fn read_fixture<'n>(&mut self, node: &'n YamlNode) -> Option<PackFixture<'n>> {
        if !self.lowering.sink.check_keys(node, "a fixture", &KEYS) {
            return None;
        }
        let (name, expect) = self.fixture_header(node)?;
        let said = &mut self.lowering.sink;
        let Some(response) = node.get("response") else {
            said.error(Slug::TypeMismatch, node.span, "a fixture has no `response`", "write `response: { … }`");
            return None;
        };
        let input = node.get("input");
        if let Some(input) = input.filter(|input| !input.is_map()) {
            said.wrong_shape(input, "`input` of a fixture", "a mapping of arguments");
            return None;
        }
        Some(PackFixture { place: node.span, name, expect, input, response })
    }

    pub(super) fn fixture_header<'n>(&mut self, node: &'n YamlNode) -> Option<(&'n str, &'n str)> {
        let said = &mut self.lowering.sink;
        let name = said.required_text(node, "name", "a fixture")?;
        let expect = said.required_text(node, "expect", "a fixture")?;
        if !OUTCOMES.contains(&expect) {
            said.unknown_word(node.get("expect")?, "outcome of a fixture", &OUTCOMES);
            return None;
        }
        Some((name, expect))
    }
}

impl PackFixture<'_> {
    /// Returns true if an invariant with these arguments judges the call of the fixture.
    pub fn fits_arguments(&self, fixed: Option<&YamlNode>) -> bool {
        let Some((fixed, input)) = fixed.zip(self.input) else { return true };
        fixed
            .entries()
            .iter()
            .all(|(key, value)| input.get(&key.key_text()).is_some_and(|given| given.to_json() == value.to_json()))
    }

    /// Writes `test "…" expect pass {`.
    fn write_test(&self, out: &mut RuleWriter, run: impl FnOnce(&mut RuleWriter)) {
        write_test_line(out, self.place, self.name, self.expect, run);
    }

    /// Writes the fixture as a test with a call of a named tool.
    pub fn write_for_call(&self, out: &mut RuleWriter, fixed: Option<&YamlNode>, about: bool) {
        self.write_test(out, |out| {
            out.put_text(if about { "{ tools: [], " } else { "{ " });
            match self.input {
                Some(input) => {
                    out.put_text("args: ");
                    out.put_literal(input);
                    out.put_text(", ");
                }
                None if fixed.is_none() => out.put_text("args: {}, "),
                None => {}
            }
            out.put_text("response: ");
            out.put_literal(self.response);
            out.put_text(" }");
        });
    }

    /// Writes the fixture as a test under `for each tool`.
    pub fn write_for_tool(&self, out: &mut RuleWriter, fixed: Option<&YamlNode>, annotations: Option<&YamlNode>) {
        self.write_test(out, |out| {
            out.put_text("{ tools: [");
            if let Some(annotations) = annotations {
                out.put_text(&format!("{{ name: \"{TOOL}\", annotations: "));
                out.put_literal(annotations);
                out.put_text(" }");
            }
            out.put_text("], calls: [");
            self.write_call(out, fixed);
            out.put_text("] }");
        });
    }

    /// Writes the fixture as a test in the rule for fixtures that fit no call.
    pub fn write_detached(&self, out: &mut RuleWriter, fixed: Option<&YamlNode>) {
        self.write_test(out, |out| {
            out.put_text("{ tools: [], calls: [");
            self.write_call(out, fixed);
            out.put_text("] }");
        });
    }

    fn write_call(&self, out: &mut RuleWriter, fixed: Option<&YamlNode>) {
        out.put_text(&format!("{{ tool: \"{TOOL}\", args: "));
        match self.input.or(fixed) {
            Some(input) => out.put_literal(&with_tool(input)),
            None => out.put_text("{}"),
        }
        out.put_text(", result: ");
        out.put_literal(self.response);
        out.put_text(" }");
    }
}

pub(super) fn write_test_line(
    out: &mut RuleWriter,
    place: Span,
    name: &str,
    expect: &str,
    run: impl FnOnce(&mut RuleWriter),
) {
    out.write_line(place, |out| {
        out.put_text(&format!("test {} expect {expect} ", quote_text(name)));
        run(out);
    });
}

fn with_tool(node: &YamlNode) -> YamlNode {
    let value = match &node.value {
        YamlValue::Text(text) => YamlValue::Text(text.replace("{{tool_name}}", TOOL)),
        YamlValue::List(items) => YamlValue::List(items.iter().map(with_tool).collect()),
        YamlValue::Map(entries) => {
            YamlValue::Map(entries.iter().map(|(key, value)| (key.clone(), with_tool(value))).collect())
        }
        other => other.clone(),
    };
    YamlNode { value, span: node.span }
}
