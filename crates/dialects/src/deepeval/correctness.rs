//! The tool correctness score, as an assertion that holds if the score reaches the threshold.

use super::settings::{ToolComparison, ToolOrder};
use crate::writer::{quote_text, value_literal};
use crate::yaml::YamlNode;

/// Binds `called` to the distinct calls, because DeepEval counts equal calls once.
pub(super) const CALLED: &str = "let called = distinct(({ tool: tool, args: args, result: result } of calls))";
const SHARES: &str = "undecided(\"DeepEval gives a share of the score for a share of the arguments\")";
const KIND: &str = "undecided(\"a run does not tell the tools of MCP from others\")";
/// Maximum number of alternative orders that are written out.
const ALTERNATIVES: usize = 20;

pub(super) struct ExpectedTool {
    pub(super) name: String,
    /// True if the expected tool has a type that a run does not record.
    pub(super) is_untold: bool,
    pub(super) args: Option<YamlNode>,
    pub(super) output: Option<YamlNode>,
}

/// The parts of a call that are compared, beside its name.
#[derive(Clone, Copy)]
struct ComparedParts {
    args: bool,
    output: bool,
}

const NAMES: ComparedParts = ComparedParts { args: false, output: false };

/// Returns the assertion about all expected tools of a case.
pub(super) fn tools_line(tools: &[ExpectedTool], how: &ToolComparison) -> String {
    if tools.is_empty() {
        return "length(calls) == 0".to_owned();
    }
    let all = ComparedParts { args: how.compares_args, output: how.compares_output };
    let needed = least_matches(tools.len(), how.threshold);
    // If a part is unknown or counts partially, the score is between the full score and the score of the names alone.
    let doubt = if tools.iter().any(|tool| tool.is_untold) {
        Some(KIND)
    } else if how.compares_args && how.threshold < 1.0 && how.order != ToolOrder::Exact {
        Some(SHARES)
    } else {
        None
    };
    let score = |parts: ComparedParts, needed: usize| match how.order {
        ToolOrder::Exact => Some(format!("{} == [{}]", made_calls(parts), literals(tools, parts).join(", "))),
        ToolOrder::InOrder => in_order(tools, parts, needed),
        ToolOrder::Any => Some(in_any_order(tools, parts, needed)),
    };
    let full = |parts: ComparedParts| score(parts, tools.len()).unwrap_or_default();
    match doubt {
        Some(KIND) => match score(NAMES, needed) {
            Some(names) => format!("({names}) and {KIND}"),
            None => KIND.to_owned(),
        },
        Some(doubt) => match score(NAMES, needed) {
            Some(names) => format!("({names}) and ({} or {doubt})", full(all)),
            None => format!("{} or {doubt}", full(all)),
        },
        None => score(all, needed).unwrap_or_else(|| {
            let many = "undecided(\"the order leaves too many ways to reach the threshold\")";
            format!("{} or {many}", full(all))
        }),
    }
}

/// Returns the minimum number of tools that have to match.
fn least_matches(count: usize, threshold: f64) -> usize {
    let number = |count: usize| u32::try_from(count).map_or(f64::INFINITY, f64::from);
    (1..count).find(|matches| number(*matches) / number(count) >= threshold).unwrap_or(count)
}

fn null_or(node: Option<&YamlNode>) -> String {
    node.map_or_else(|| "null".to_owned(), value_literal)
}

fn made_calls(parts: ComparedParts) -> String {
    let args = if parts.args { ", args: args" } else { "" };
    let output = if parts.output { ", result: result" } else { "" };
    match parts {
        ComparedParts { args: false, output: false } => "(tool of calls)".to_owned(),
        _ => format!("({{ tool: tool{args}{output} }} of calls)"),
    }
}

/// Returns the tools as literals to compare with elements of [`made_calls`].
fn literals(tools: &[ExpectedTool], parts: ComparedParts) -> Vec<String> {
    let literal = |tool: &ExpectedTool| {
        let name = quote_text(&tool.name);
        let args = if parts.args { format!(", args: {}", null_or(tool.args.as_ref())) } else { String::new() };
        let output = if parts.output { format!(", result: {}", null_or(tool.output.as_ref())) } else { String::new() };
        match parts {
            ComparedParts { args: false, output: false } => name,
            _ => format!("{{ tool: {name}{args}{output} }}"),
        }
    };
    tools.iter().map(literal).collect()
}

/// Compares in any order; each call matches at most one tool.
fn in_any_order(tools: &[ExpectedTool], parts: ComparedParts, needed: usize) -> String {
    let test = |tool: &ExpectedTool| {
        let args = if parts.args { format!(" and c.args == {}", null_or(tool.args.as_ref())) } else { String::new() };
        let output =
            if parts.output { format!(" and c.result == {}", null_or(tool.output.as_ref())) } else { String::new() };
        format!("(count c in called: c.tool == {}{args}{output})", quote_text(&tool.name))
    };
    let mut counted: Vec<(String, usize)> = Vec::new();
    for one in tools.iter().map(test) {
        match counted.iter_mut().find(|(known, _)| *known == one) {
            Some((_, often)) => *often = often.saturating_add(1),
            None => counted.push((one, 1)),
        }
    }
    if needed == tools.len() {
        return counted.iter().map(|(made, often)| format!("{made} >= {often}")).collect::<Vec<_>>().join(" and ");
    }
    let most = |(made, often): &(String, usize)| format!("min([{made}, {often}])");
    format!("{} >= {needed}", counted.iter().map(most).collect::<Vec<_>>().join(" + "))
}

/// Compares in order, with as many of the tools as needed. Returns `None` if there are too many ways to choose them.
fn in_order(tools: &[ExpectedTool], parts: ComparedParts, needed: usize) -> Option<String> {
    let wanted = literals(tools, parts);
    let mut chosen: Vec<Vec<&str>> = vec![Vec::new()];
    for (at, one) in wanted.iter().enumerate() {
        let left = wanted.len().saturating_sub(at).saturating_sub(1);
        let with = chosen.iter().filter(|some| some.len() < needed).map(|some| {
            let mut more = some.clone();
            more.push(one);
            more
        });
        let with: Vec<Vec<&str>> = with.collect();
        chosen.retain(|some| some.len().saturating_add(left) >= needed);
        chosen.extend(with);
        chosen.sort();
        chosen.dedup();
        if chosen.len() > ALTERNATIVES {
            return None;
        }
    }
    let made = made_calls(parts);
    let ways = chosen.iter().map(|some| format!("contains_in_order({made}, [{}])", some.join(", ")));
    Some(ways.collect::<Vec<_>>().join(" or "))
}
