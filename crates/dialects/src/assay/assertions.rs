//! Assertions about the calls of a run, in suites that the Assay program runs.

use super::AssayLowering;
use super::select::{argument_path, glob_pattern};
use super::sentence::AssayAssertion;
use super::unit::{self, UnitTest};
use crate::writer::value_literal;
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;

struct AssertionType {
    name: &'static str,
    keys: &'static [&'static str],
    lower: fn(&mut AssayLowering<'_, '_>, &YamlNode) -> Option<Vec<AssayAssertion>>,
}

const KINDS: &[AssertionType] = &[
    AssertionType { name: "trace_must_call_tool", keys: &["tool", "tool_name", "min_calls"], lower: must_call },
    AssertionType { name: "trace_must_not_call_tool", keys: &["tool", "tool_name"], lower: must_not_call },
    AssertionType { name: "trace_no_tool_call", keys: &["tool", "tool_name"], lower: must_not_call },
    AssertionType { name: "trace_tool_sequence", keys: &["sequence", "allow_other_tools"], lower: tool_sequence },
    AssertionType { name: "trace_max_steps", keys: &["max"], lower: max_steps },
    AssertionType { name: "trace_tool_args_match", keys: &["tool", "tool_name", "args"], lower: args_match },
    AssertionType { name: "trace_tool_args_schema", keys: &["tool", "tool_name", "schema"], lower: args_schema },
    AssertionType { name: "trace_tool_call_count", keys: &["tool", "tool_name", "min", "max"], lower: call_count },
    AssertionType { name: "trace_no_tool_errors", keys: &["tool", "tool_name"], lower: no_errors },
];

impl AssayLowering<'_, '_> {
    pub(super) fn lower_assertions(&mut self, test: &YamlNode) -> (Vec<AssayAssertion>, Vec<UnitTest>) {
        let (mut sentences, mut units) = (Vec::new(), Vec::new());
        let list = self.low.sink.list_items(test, "assertions", "a test").to_vec();
        for assertion in &list {
            if !assertion.is_map() {
                self.low.sink.wrong_shape(
                    assertion,
                    "an assertion",
                    "a mapping: `type: trace_must_call_tool` and its `tool`",
                );
                continue;
            }
            if self.low.sink.required_text(assertion, "type", "an assertion").is_none() {
                continue;
            }
            if let Some(unit) = self.read_unit(assertion) {
                units.extend(unit);
                continue;
            }
            let word = assertion.get("type").unwrap_or(assertion);
            let Some(kind) = KINDS.iter().find(|kind| word.as_text() == Some(kind.name)) else {
                let known: Vec<&str> = KINDS.iter().map(|kind| kind.name).chain(unit::NAMES.iter().copied()).collect();
                self.low.sink.unknown_word(word, "assertion", &known);
                continue;
            };
            let known: Vec<&str> = ["type"].iter().chain(kind.keys).copied().collect();
            self.low.sink.check_keys(assertion, &format!("`{}`", kind.name), &known);
            sentences.extend((kind.lower)(self, assertion).unwrap_or_default());
        }
        (sentences, units)
    }

    fn called_tool(&mut self, node: &YamlNode) -> Option<String> {
        let key = if node.get("tool_name").is_some() { "tool_name" } else { "tool" };
        self.low.sink.required_text(node, key, "the assertion")?;
        self.read_glob(node.get(key)?, &format!("`{key}`"))
    }
}

fn single_assertion(node: &YamlNode, text: String) -> Option<Vec<AssayAssertion>> {
    Some(vec![AssayAssertion::new(node.span, text)])
}

fn must_call(assay: &mut AssayLowering<'_, '_>, node: &YamlNode) -> Option<Vec<AssayAssertion>> {
    let tool = assay.called_tool(node)?;
    match assay.optional_number(node, "min_calls")?.unwrap_or(1) {
        0 => {
            let place = node.get("min_calls").map_or(node.span, |least| least.span);
            assay.low.sink.error(Slug::ZeroBound, place, "0 calls are always reached", "write 1 or more");
            None
        }
        1 => single_assertion(node, format!("require {tool}")),
        least => single_assertion(node, format!("require {tool} {least}.. times")),
    }
}

fn must_not_call(assay: &mut AssayLowering<'_, '_>, node: &YamlNode) -> Option<Vec<AssayAssertion>> {
    let tool = assay.called_tool(node)?;
    single_assertion(node, format!("never {tool}"))
}

fn tool_sequence(assay: &mut AssayLowering<'_, '_>, node: &YamlNode) -> Option<Vec<AssayAssertion>> {
    let list = assay.low.sink.list_items(node, "sequence", "the assertion").to_vec();
    let Some(others) = node.get("allow_other_tools").and_then(YamlNode::as_boolean) else {
        let message = "the assertion does not say whether other tools are allowed between";
        assay.low.sink.error(Slug::TypeMismatch, node.span, message, "write `allow_other_tools: true` or `false`");
        return None;
    };
    let sequence = node.get("sequence")?;
    if !others {
        return assay.exact_sequence(sequence).map(|sentence| vec![sentence]);
    }
    let tools: Vec<String> = list.iter().filter_map(|tool| assay.read_glob(tool, "a tool of `sequence`")).collect();
    match tools.as_slice() {
        [] => {
            let message = "`sequence` is empty: it could never fail";
            assay.low.sink.error(Slug::TypeMismatch, sequence.span, message, "write the tools in their order");
            None
        }
        [tool] => single_assertion(node, format!("require {tool}")),
        several => single_assertion(node, format!("sequence {}", several.join(" -> "))),
    }
}

/// Writes a maximum number of steps. The steps of an episode are its messages, except the prompt.
fn max_steps(assay: &mut AssayLowering<'_, '_>, node: &YamlNode) -> Option<Vec<AssayAssertion>> {
    let max = assay.required_number(node, "max")?;
    single_assertion(node, format!("(count message(role != \"user\")) <= {max}"))
}

fn args_match(assay: &mut AssayLowering<'_, '_>, node: &YamlNode) -> Option<Vec<AssayAssertion>> {
    let tool = assay.called_tool(node)?;
    let Some(args) = node.get("args").filter(|args| !args.entries().is_empty()) else {
        assay.low.sink.wrong_shape(
            node.get("args").unwrap_or(node),
            "`args`",
            "a mapping of arguments to their values",
        );
        return None;
    };
    let each = |(key, value): &(YamlNode, YamlNode)| {
        let text = format!("each {tool}: {} == {}", argument_path(&key.key_text()), value_literal(value));
        AssayAssertion::new(key.span.cover_with(value.span), text)
    };
    Some(args.entries().iter().map(each).collect())
}

fn args_schema(assay: &mut AssayLowering<'_, '_>, node: &YamlNode) -> Option<Vec<AssayAssertion>> {
    let tool = assay.called_tool(node)?;
    let Some(schema) = node.get("schema").filter(|schema| schema.is_map()) else {
        assay.low.sink.wrong_shape(node.get("schema").unwrap_or(node), "`schema`", "a JSON Schema");
        return None;
    };
    let declared = assay.schema_name(&format!("{tool} args"), schema);
    single_assertion(schema, format!("each {tool}: args is {declared}"))
}

fn call_count(assay: &mut AssayLowering<'_, '_>, node: &YamlNode) -> Option<Vec<AssayAssertion>> {
    let tool = assay.called_tool(node)?;
    match (assay.optional_number(node, "min")?, assay.optional_number(node, "max")?) {
        (Some(min), Some(max)) => single_assertion(node, format!("count {tool} in {min}..{max}")),
        (Some(min), None) => single_assertion(node, format!("count {tool} >= {min}")),
        (None, Some(max)) => single_assertion(node, format!("count {tool} <= {max}")),
        (None, None) => {
            assay.low.sink.error(Slug::TypeMismatch, node.span, "there is neither `min` nor `max`", "write `max: 3`");
            None
        }
    }
}

fn no_errors(assay: &mut AssayLowering<'_, '_>, node: &YamlNode) -> Option<Vec<AssayAssertion>> {
    let tool = match node.get("tool").or_else(|| node.get("tool_name")) {
        Some(_) => assay.called_tool(node)?,
        None => glob_pattern("*"),
    };
    single_assertion(node, format!("never ({tool} where error exists)"))
}
