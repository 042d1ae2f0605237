//! Writes test cases as cases of the rule language.

use super::correctness::{CALLED, ExpectedTool, tools_line};
use super::settings::read_settings;
use crate::Lowering;
use crate::spelling::{check_keys, field, list};
use crate::writer::{CaseLine, RuleWriter, UniqueLabels, WrittenCase};
use crate::yaml::YamlNode;
use averment_base::diagnostic::{Slug, suggest};
use averment_base::source::Span;

/// Keys that hold expectations. A misspelled one would silently drop an expectation.
const CASE_KEYS: &[&str] = &["input", "name", "expected_tools", "expectedTools", "tools_called", "toolsCalled"];
const TOOL_KEYS: &[&str] = &["name", "type", "description", "reasoning", "output", "input_parameters"];

/// Writes a case for each test case.
pub(super) fn lower_test_cases(document: &YamlNode, lowering: &mut Lowering<'_>) {
    let how = read_settings(lowering);
    let mut labels = UniqueLabels::default();
    let mut out = RuleWriter::default();
    for (at, case) in document.items().iter().enumerate() {
        let Some((name, prompt)) = read_head(case, at, lowering) else { continue };
        let line = if field(case, "scenario").is_some() {
            CaseLine::undecided(case.span, "a simulated user leads the conversation, and a model judges it")
        } else if let Some(expected) = field(case, "expected_tools") {
            let Some(tools) = read_tools(case, lowering) else { continue };
            CaseLine::new(expected.span, tools_line(&tools, &how))
        } else {
            let message = format!("`{name}` has no `expected_tools`: nothing of it is checked");
            lowering.sink.warning(Slug::AlwaysTrue, case.span, message, "write the tools that the agent should call");
            continue;
        };
        let label = labels.unique_label(&name);
        out.write_case(&WrittenCase { place: case.span, label: &label, remark: None, prompt, lines: &[line] });
    }
    if out.contains_text("called") {
        lowering.out.write_line(document.span.at_start(), |out| out.put_text(CALLED));
    }
    lowering.out.append(out);
}

/// Reads the name and the prompt. Other keys are not checked, since projects add their own.
fn read_head<'a>(
    case: &'a YamlNode,
    at: usize,
    lowering: &mut Lowering<'_>,
) -> Option<(String, Option<(&'a str, Span)>)> {
    if !case.is_map() {
        lowering.sink.wrong_shape(case, "a test case", "a mapping with `input` and `expected_tools`");
        return None;
    }
    for (key, _) in case.entries() {
        let name = key.key_text();
        let is_known = CASE_KEYS.contains(&name.as_str());
        if !is_known && suggest::suggest_name(&name, CASE_KEYS.iter().copied()).is_some() {
            lowering.sink.unknown_key(key, "a test case", CASE_KEYS);
        }
    }
    let name = match field(case, "name") {
        Some(name) => lowering.sink.as_text(name, "`name` of a test case")?.to_owned(),
        None => format!("Case {}", at.saturating_add(1)),
    };
    match case.get("input") {
        Some(input) => Some((name, Some((lowering.sink.as_text(input, "`input` of a test case")?, input.span)))),
        None if field(case, "scenario").is_some() => Some((name, None)),
        None => {
            lowering.sink.required_text(case, "input", "a test case");
            None
        }
    }
}

fn read_tools(case: &YamlNode, lowering: &mut Lowering<'_>) -> Option<Vec<ExpectedTool>> {
    field(case, "expected_tools").filter(|tools| tools.is_list()).or_else(|| {
        list(case, "expected_tools", "a test case", lowering);
        None
    })?;
    list(case, "expected_tools", "a test case", lowering).iter().map(|tool| read_tool(tool, lowering)).collect()
}

fn read_tool(node: &YamlNode, lowering: &mut Lowering<'_>) -> Option<ExpectedTool> {
    if !check_keys(node, "an expected tool", TOOL_KEYS, lowering) {
        return None;
    }
    let name = lowering.sink.required_text(node, "name", "an expected tool")?.to_owned();
    let kind = field(node, "type");
    let is_untold = match kind.map(|kind| (kind, kind.as_text())) {
        None | Some((_, Some("FUNCTION"))) => false,
        Some((_, Some("MCP"))) => true,
        Some((kind, _)) => {
            lowering.sink.unknown_word(kind, "type of a tool", &["FUNCTION", "MCP"]);
            return None;
        }
    };
    let args = field(node, "input_parameters");
    if let Some(args) = args.filter(|args| !args.is_map()) {
        lowering.sink.wrong_shape(args, "`input_parameters` of an expected tool", "a mapping");
        return None;
    }
    Some(ExpectedTool { name, is_untold, args: args.cloned(), output: field(node, "output").cloned() })
}
