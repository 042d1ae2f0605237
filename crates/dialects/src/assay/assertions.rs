//! What the program asserts of the calls of a run, beside what is expected of its output.

use super::Assay;
use super::select::{argument, glob};
use super::sentence::Sentence;
use super::unit::{self, Unit};
use crate::writer::literal;
use crate::yaml::Node;
use averment_base::diagnostic::Slug;

/// A kind of assertion: its keys, and what it says.
struct Kind {
    name: &'static str,
    keys: &'static [&'static str],
    lower: fn(&mut Assay<'_, '_>, &Node) -> Option<Vec<Sentence>>,
}

const KINDS: &[Kind] = &[
    Kind { name: "trace_must_call_tool", keys: &["tool", "tool_name", "min_calls"], lower: must_call },
    Kind { name: "trace_must_not_call_tool", keys: &["tool", "tool_name"], lower: must_not_call },
    Kind { name: "trace_no_tool_call", keys: &["tool", "tool_name"], lower: must_not_call },
    Kind { name: "trace_tool_sequence", keys: &["sequence", "allow_other_tools"], lower: sequence },
    Kind { name: "trace_max_steps", keys: &["max"], lower: max_steps },
    Kind { name: "trace_tool_args_match", keys: &["tool", "tool_name", "args"], lower: args_match },
    Kind { name: "trace_tool_args_schema", keys: &["tool", "tool_name", "schema"], lower: args_schema },
    Kind { name: "trace_tool_call_count", keys: &["tool", "tool_name", "min", "max"], lower: call_count },
    Kind { name: "trace_no_tool_errors", keys: &["tool", "tool_name"], lower: no_errors },
];

impl Assay<'_, '_> {
    /// The assertions of a test on its runs, and those on calls that it brings itself.
    pub(super) fn assertions(&mut self, test: &Node) -> (Vec<Sentence>, Vec<Unit>) {
        let (mut sentences, mut units) = (Vec::new(), Vec::new());
        let list = self.low.said.list(test, "assertions", "a test").to_vec();
        for assertion in &list {
            if !assertion.is_map() {
                self.low.said.shape(
                    assertion,
                    "an assertion",
                    "a mapping: `type: trace_must_call_tool` and its `tool`",
                );
                continue;
            }
            if self.low.said.required_text(assertion, "type", "an assertion").is_none() {
                continue;
            }
            if let Some(unit) = self.unit(assertion) {
                units.extend(unit);
                continue;
            }
            let word = assertion.get("type").unwrap_or(assertion);
            let Some(kind) = KINDS.iter().find(|kind| word.text() == Some(kind.name)) else {
                let known: Vec<&str> = KINDS.iter().map(|kind| kind.name).chain(unit::NAMES.iter().copied()).collect();
                self.low.said.unknown_word(word, "assertion", &known);
                continue;
            };
            let known: Vec<&str> = ["type"].iter().chain(kind.keys).copied().collect();
            self.low.said.keys(assertion, &format!("`{}`", kind.name), &known);
            sentences.extend((kind.lower)(self, assertion).unwrap_or_default());
        }
        (sentences, units)
    }

    /// The tool of an assertion.
    fn called(&mut self, node: &Node) -> Option<String> {
        let key = if node.get("tool_name").is_some() { "tool_name" } else { "tool" };
        self.low.said.required_text(node, key, "the assertion")?;
        self.glob(node.get(key)?, &format!("`{key}`"))
    }
}

fn one(node: &Node, text: String) -> Option<Vec<Sentence>> {
    Some(vec![Sentence::new(node.span, text)])
}

fn must_call(assay: &mut Assay<'_, '_>, node: &Node) -> Option<Vec<Sentence>> {
    let tool = assay.called(node)?;
    match assay.number(node, "min_calls")?.unwrap_or(1) {
        0 => {
            let place = node.get("min_calls").map_or(node.span, |least| least.span);
            assay.low.said.error(Slug::ZeroBound, place, "0 calls are always reached", "write 1 or more");
            None
        }
        1 => one(node, format!("require {tool}")),
        least => one(node, format!("require {tool} {least}.. times")),
    }
}

fn must_not_call(assay: &mut Assay<'_, '_>, node: &Node) -> Option<Vec<Sentence>> {
    let tool = assay.called(node)?;
    one(node, format!("never {tool}"))
}

fn sequence(assay: &mut Assay<'_, '_>, node: &Node) -> Option<Vec<Sentence>> {
    let list = assay.low.said.list(node, "sequence", "the assertion").to_vec();
    let Some(others) = node.get("allow_other_tools").and_then(Node::boolean) else {
        let message = "the assertion does not say whether other tools are allowed between";
        assay.low.said.error(Slug::TypeMismatch, node.span, message, "write `allow_other_tools: true` or `false`");
        return None;
    };
    let sequence = node.get("sequence")?;
    if !others {
        return assay.exactly(sequence).map(|sentence| vec![sentence]);
    }
    let tools: Vec<String> = list.iter().filter_map(|tool| assay.glob(tool, "a tool of `sequence`")).collect();
    match tools.as_slice() {
        [] => {
            let message = "`sequence` is empty: it could never fail";
            assay.low.said.error(Slug::TypeMismatch, sequence.span, message, "write the tools in their order");
            None
        }
        [tool] => one(node, format!("require {tool}")),
        several => one(node, format!("sequence {}", several.join(" -> "))),
    }
}

/// The steps of an episode are what was said in it, the prompt aside.
fn max_steps(assay: &mut Assay<'_, '_>, node: &Node) -> Option<Vec<Sentence>> {
    let max = assay.required_number(node, "max")?;
    one(node, format!("(count message(role != \"user\")) <= {max}"))
}

fn args_match(assay: &mut Assay<'_, '_>, node: &Node) -> Option<Vec<Sentence>> {
    let tool = assay.called(node)?;
    let Some(args) = node.get("args").filter(|args| !args.entries().is_empty()) else {
        assay.low.said.shape(node.get("args").unwrap_or(node), "`args`", "a mapping of arguments to their values");
        return None;
    };
    let each = |(key, value): &(Node, Node)| {
        let text = format!("each {tool}: {} == {}", argument(&key.key()), literal(value));
        Sentence::new(key.span.to(value.span), text)
    };
    Some(args.entries().iter().map(each).collect())
}

fn args_schema(assay: &mut Assay<'_, '_>, node: &Node) -> Option<Vec<Sentence>> {
    let tool = assay.called(node)?;
    let Some(schema) = node.get("schema").filter(|schema| schema.is_map()) else {
        assay.low.said.shape(node.get("schema").unwrap_or(node), "`schema`", "a JSON Schema");
        return None;
    };
    let declared = assay.schema(&format!("{tool} args"), schema);
    one(schema, format!("each {tool}: args is {declared}"))
}

fn call_count(assay: &mut Assay<'_, '_>, node: &Node) -> Option<Vec<Sentence>> {
    let tool = assay.called(node)?;
    match (assay.number(node, "min")?, assay.number(node, "max")?) {
        (Some(min), Some(max)) => one(node, format!("count {tool} in {min}..{max}")),
        (Some(min), None) => one(node, format!("count {tool} >= {min}")),
        (None, Some(max)) => one(node, format!("count {tool} <= {max}")),
        (None, None) => {
            assay.low.said.error(Slug::TypeMismatch, node.span, "there is neither `min` nor `max`", "write `max: 3`");
            None
        }
    }
}

fn no_errors(assay: &mut Assay<'_, '_>, node: &Node) -> Option<Vec<Sentence>> {
    let tool = match node.get("tool").or_else(|| node.get("tool_name")) {
        Some(_) => assay.called(node)?,
        None => glob("*"),
    };
    one(node, format!("never ({tool} where error exists)"))
}
