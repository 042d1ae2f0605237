//! Evaluators of the calls of a run.

use super::kinds::{EvaluatorKind, NamedEvaluator};
use crate::Lowering;
use crate::writer::{member_path, quote_text, value_literal};
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;

pub(super) const CALL_KINDS: &[EvaluatorKind] = &[
    EvaluatorKind {
        name: "ToolCorrectness",
        args: &["expected_tools", "allow_extra", "include_failed", "evaluation_name"],
        lower: tool_correctness,
        is_score: false,
    },
    EvaluatorKind {
        name: "TrajectoryMatch",
        args: &["expected_trajectory", "order", "include_failed", "evaluation_name"],
        lower: trajectory_match,
        is_score: true,
    },
    EvaluatorKind {
        name: "ArgumentCorrectness",
        args: &["tool_name", "expected_arguments", "match_mode", "occurrence", "include_failed", "evaluation_name"],
        lower: argument_correctness,
        is_score: false,
    },
    EvaluatorKind {
        name: "MaxToolCalls",
        args: &["max_calls", "include_failed", "evaluation_name"],
        lower: max_tool_calls,
        is_score: false,
    },
    EvaluatorKind {
        name: "MaxModelRequests",
        args: &["max_requests", "evaluation_name"],
        lower: |_, _| Some("undecided(\"a run does not count the requests to a model\")".to_owned()),
        is_score: false,
    },
];

/// Returns a filter for executed calls. A call that waits for approval or was denied was not executed.
fn made_calls(includes_failed: bool) -> &'static str {
    if includes_failed { "status in [\"ok\", \"failed\"]" } else { "status == \"ok\"" }
}

fn tool_names(one: &NamedEvaluator<'_>, key: &str, lowering: &mut Lowering<'_>) -> Option<Vec<String>> {
    let node = one.required(key, lowering)?;
    let names: Option<Vec<String>> = node.items().iter().map(|name| name.as_text().map(str::to_owned)).collect();
    let names = names.filter(|_| node.is_list());
    if names.is_none() {
        lowering.sink.wrong_shape(node, &format!("`{key}` of `{}`", one.name), "a list of names of tools");
    }
    names
}

/// Writes how often each name has to occur. Other names are allowed only with `allows_extra`.
fn same_names(made: &str, names: &[String], allows_extra: bool) -> Option<String> {
    let mut counted: Vec<(&String, usize)> = Vec::new();
    for name in names {
        match counted.iter_mut().find(|(known, _)| *known == name) {
            Some((_, often)) => *often = often.saturating_add(1),
            None => counted.push((name, 1)),
        }
    }
    let sign = if allows_extra { ">=" } else { "==" };
    let mut tests: Vec<String> = counted
        .iter()
        .map(|(name, often)| format!("(count t in (tool of ({made})): t == {}) {sign} {often}", quote_text(name)))
        .collect();
    if !allows_extra {
        tests.push(format!("length((tool of ({made}))) == {}", names.len()));
    }
    Some(tests.join(" and ")).filter(|all| !all.is_empty())
}

fn tool_correctness(one: &NamedEvaluator<'_>, lowering: &mut Lowering<'_>) -> Option<String> {
    let names = tool_names(one, "expected_tools", lowering)?;
    let allows_extra = one.flag("allow_extra", false, lowering)?;
    let made = format!("calls where {}", made_calls(one.flag("include_failed", false, lowering)?));
    let same = same_names(&made, &names, allows_extra);
    if same.is_none() {
        let message = "`ToolCorrectness` expects no tool and allows all";
        lowering.sink.warning(Slug::AlwaysTrue, one.place, message, "write the tools under `expected_tools`");
    }
    same
}

/// Writes the condition for the full score: the agent made exactly these calls.
fn trajectory_match(one: &NamedEvaluator<'_>, lowering: &mut Lowering<'_>) -> Option<String> {
    let names = tool_names(one, "expected_trajectory", lowering)?;
    let made = format!("calls where {}", made_calls(one.flag("include_failed", false, lowering)?));
    let order = one.argument("order");
    match order.map_or(Some("in_order"), YamlNode::as_text) {
        Some("any_order") => same_names(&made, &names, false),
        Some("exact" | "in_order") if names.is_empty() => Some(format!("length((tool of ({made}))) == 0")),
        Some("exact" | "in_order") => {
            let names: Vec<String> = names.iter().map(|name| quote_text(name)).collect();
            Some(format!("(tool of ({made})) == [{}]", names.join(", ")))
        }
        _ => {
            if let Some(order) = order {
                lowering.sink.unknown_word(order, "order", &["exact", "in_order", "any_order"]);
            }
            None
        }
    }
}

fn argument_correctness(one: &NamedEvaluator<'_>, lowering: &mut Lowering<'_>) -> Option<String> {
    let tool = one.required("tool_name", lowering)?;
    let tool = lowering.sink.as_text(tool, "`tool_name`")?;
    let wanted = one.required("expected_arguments", lowering)?;
    if !wanted.is_map() {
        lowering.sink.wrong_shape(wanted, "`expected_arguments`", "a mapping");
        return None;
    }
    let made = made_calls(one.flag("include_failed", false, lowering)?);
    let args = format!("(args of (calls where tool == {} and {made}))", quote_text(tool));
    let chosen = match one.argument("occurrence").map(|node| (node, &node.value)) {
        None => format!("first({args})"),
        Some((_, YamlValue::Text(word))) if word == "first" || word == "last" => format!("{word}({args})"),
        Some((_, YamlValue::Number(at))) if at.parse::<u32>().is_ok() => format!("{args}[{at}]"),
        Some((node, _)) => {
            lowering.sink.wrong_shape(node, "`occurrence`", "`first`, `last` or a number from 0");
            return None;
        }
    };
    let mode = one.argument("match_mode");
    match mode.map_or(Some("subset"), YamlNode::as_text) {
        Some("exact") => Some(format!("{chosen} == {}", value_literal(wanted))),
        Some("subset") => {
            let entry = |(key, value): &(YamlNode, YamlNode)| {
                format!(" and {chosen}{} == {}", member_path(&key.key_text()), value_literal(value))
            };
            Some(format!("{chosen} is object{}", wanted.entries().iter().map(entry).collect::<String>()))
        }
        _ => {
            if let Some(mode) = mode {
                lowering.sink.unknown_word(mode, "match mode", &["exact", "subset"]);
            }
            None
        }
    }
}

fn max_tool_calls(one: &NamedEvaluator<'_>, lowering: &mut Lowering<'_>) -> Option<String> {
    let node = one.required("max_calls", lowering)?;
    let Some(most) = node.as_number().filter(|number| number.parse::<u32>().is_ok()) else {
        lowering.sink.wrong_shape(node, "`max_calls`", "a number of calls");
        return None;
    };
    let made = made_calls(one.flag("include_failed", true, lowering)?);
    Some(format!("length((1 of (calls where {made}))) <= {most}"))
}
