//! Fixtures: tests of the rules of a pack.

use super::Sentences;
use crate::writer::{Writer, quoted};
use crate::yaml::{Node, Value};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

/// The tool of calls that no run has.
pub(super) const TOOL: &str = "__pack_test__";

const KEYS: [&str; 4] = ["name", "input", "response", "expect"];
const OUTCOMES: [&str; 2] = ["pass", "fail"];

/// A response, and what the rule says of it.
pub(super) struct Fixture<'n> {
    pub place: Span,
    pub name: &'n str,
    pub expect: &'n str,
    input: Option<&'n Node>,
    response: &'n Node,
}

impl Sentences<'_, '_> {
    /// The fixtures of an invariant.
    pub(super) fn fixtures<'n>(&mut self, node: &'n Node, what: &str) -> Vec<Fixture<'n>> {
        let nodes = self.lowering.said.list(node, "test_fixtures", what);
        nodes.iter().filter_map(|node| self.fixture(node)).collect()
    }

    fn fixture<'n>(&mut self, node: &'n Node) -> Option<Fixture<'n>> {
        if !self.lowering.said.keys(node, "a fixture", &KEYS) {
            return None;
        }
        let (name, expect) = self.stated(node)?;
        let said = &mut self.lowering.said;
        let Some(response) = node.get("response") else {
            said.error(Slug::TypeMismatch, node.span, "a fixture has no `response`", "write `response: { … }`");
            return None;
        };
        let input = node.get("input");
        if let Some(input) = input.filter(|input| !input.is_map()) {
            said.shape(input, "`input` of a fixture", "a mapping of arguments");
            return None;
        }
        Some(Fixture { place: node.span, name, expect, input, response })
    }

    /// The name of a fixture and what is expected.
    pub(super) fn stated<'n>(&mut self, node: &'n Node) -> Option<(&'n str, &'n str)> {
        let said = &mut self.lowering.said;
        let name = said.required_text(node, "name", "a fixture")?;
        let expect = said.required_text(node, "expect", "a fixture")?;
        if !OUTCOMES.contains(&expect) {
            said.unknown_word(node.get("expect")?, "outcome of a fixture", &OUTCOMES);
            return None;
        }
        Some((name, expect))
    }
}

impl Fixture<'_> {
    /// Whether the call of the fixture is one that an invariant with these arguments judges.
    pub fn fits(&self, fixed: Option<&Node>) -> bool {
        let Some((fixed, input)) = fixed.zip(self.input) else { return true };
        fixed
            .entries()
            .iter()
            .all(|(key, value)| input.get(&key.key()).is_some_and(|given| given.json() == value.json()))
    }

    /// `test "…" expect pass {`.
    fn line(&self, out: &mut Writer, run: impl FnOnce(&mut Writer)) {
        line(out, self.place, self.name, self.expect, run);
    }

    /// Behind a call of a named tool.
    pub fn of_call(&self, out: &mut Writer, fixed: Option<&Node>, about: bool) {
        self.line(out, |out| {
            out.put(if about { "{ tools: [], " } else { "{ " });
            match self.input {
                Some(input) => {
                    out.put("args: ");
                    out.literal(input);
                    out.put(", ");
                }
                None if fixed.is_none() => out.put("args: {}, "),
                None => {}
            }
            out.put("response: ");
            out.literal(self.response);
            out.put(" }");
        });
    }

    /// Under `for each tool`.
    pub fn of_tool(&self, out: &mut Writer, fixed: Option<&Node>, annotations: Option<&Node>) {
        self.line(out, |out| {
            out.put("{ tools: [");
            if let Some(annotations) = annotations {
                out.put(&format!("{{ name: \"{TOOL}\", annotations: "));
                out.literal(annotations);
                out.put(" }");
            }
            out.put("], calls: [");
            self.made(out, fixed);
            out.put("] }");
        });
    }

    /// In the rule for fixtures that fit no call.
    pub fn apart(&self, out: &mut Writer, fixed: Option<&Node>) {
        self.line(out, |out| {
            out.put("{ tools: [], calls: [");
            self.made(out, fixed);
            out.put("] }");
        });
    }

    /// The call of the fixture.
    fn made(&self, out: &mut Writer, fixed: Option<&Node>) {
        out.put(&format!("{{ tool: \"{TOOL}\", args: "));
        match self.input.or(fixed) {
            Some(input) => out.literal(&with_tool(input)),
            None => out.put("{}"),
        }
        out.put(", result: ");
        out.literal(self.response);
        out.put(" }");
    }
}

/// A test in one line.
pub(super) fn line(out: &mut Writer, place: Span, name: &str, expect: &str, run: impl FnOnce(&mut Writer)) {
    out.line(place, |out| {
        out.put(&format!("test {} expect {expect} ", quoted(name)));
        run(out);
    });
}

/// Arguments with the name of the tool in its place.
fn with_tool(node: &Node) -> Node {
    let value = match &node.value {
        Value::Text(text) => Value::Text(text.replace("{{tool_name}}", TOOL)),
        Value::List(items) => Value::List(items.iter().map(with_tool).collect()),
        Value::Map(entries) => Value::Map(entries.iter().map(|(key, value)| (key.clone(), with_tool(value))).collect()),
        other => other.clone(),
    };
    Node { value, span: node.span }
}
