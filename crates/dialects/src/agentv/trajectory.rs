//! Assertion types about the calls and skills of a run.

use super::kinds::{GraderInput, GraderScore, LowerGrader, truth};
use crate::Lowering;
use crate::promptfoo::{glob_regex, trajectory_truth};
use crate::writer::{member_path, quote_text, value_literal};
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;

pub(super) const TRAJECTORY_KINDS: &[(&str, LowerGrader)] = &[
    ("trajectory:tool-used", as_in_promptfoo),
    ("trajectory:tool-sequence", as_in_promptfoo),
    ("trajectory:tool-args-match", as_in_promptfoo),
    ("trajectory:step-count", step_count),
    ("tool-trajectory", tool_trajectory),
    ("skill-used", skill_used),
];

fn as_in_promptfoo(one: &GraderInput<'_>, lowering: &mut Lowering<'_>) -> Option<GraderScore> {
    trajectory_truth(one.node, one.kind, one.negated, one.value.clone(), lowering).map(truth)
}

/// Writes a step count. Only counts of tool steps can be decided because other step types depend on event names, which a run does not record.
fn step_count(one: &GraderInput<'_>, lowering: &mut Lowering<'_>) -> Option<GraderScore> {
    let kind = one.value.as_ref().and_then(|value| value.get("type")).and_then(YamlNode::as_text);
    let lowered = as_in_promptfoo(one, lowering)?;
    Some(match kind {
        Some("tool") => lowered,
        _ => GraderScore::Elsewhere("`trajectory:step-count` counts steps that a run does not name".to_owned()),
    })
}

/// Writes `tool-trajectory`, the form of versions before 5.
fn tool_trajectory(one: &GraderInput<'_>, lowering: &mut Lowering<'_>) -> Option<GraderScore> {
    let mode = lowering.sink.required_text(one.node, "mode", "`tool-trajectory`")?;
    match mode {
        "any_order" => least_counts(one, lowering),
        "in_order" | "exact" => expected_calls(one, mode == "exact", lowering),
        "subset" | "superset" => {
            Some(GraderScore::Elsewhere(format!("`mode: {mode}` gives a share of calls that is not computed here")))
        }
        _ => {
            let known = ["any_order", "in_order", "exact", "subset", "superset"];
            lowering.sink.unknown_word(one.node.get("mode")?, "mode", &known);
            None
        }
    }
}

fn least_counts(one: &GraderInput<'_>, lowering: &mut Lowering<'_>) -> Option<GraderScore> {
    let minimums = one.node.get("minimums").filter(|minimums| minimums.is_map());
    let entries = minimums.map(YamlNode::entries).unwrap_or_default();
    if entries.is_empty() {
        let message = "`tool-trajectory` with `mode: any_order` has no `minimums`";
        lowering.sink.error(Slug::TypeMismatch, one.node.span, message, "write `minimums: {search: 1}`");
        return None;
    }
    let mut parts = Vec::new();
    for (tool, least) in entries {
        let Some(number) = least.as_number().filter(|number| number.parse::<u32>().is_ok()) else {
            lowering.sink.wrong_shape(least, "the least number of calls", "a whole number from 0 on");
            return None;
        };
        let tool = quote_text(&tool.key_text());
        parts.push(format!("(count t in (tool of calls): t == {tool}) >= {number}"));
    }
    Some(share(&parts))
}

fn share(parts: &[String]) -> GraderScore {
    match parts {
        [only] => truth(only.clone()),
        _ => {
            let each: Vec<String> = parts.iter().map(|part| format!("(if {part} then 1 else 0)")).collect();
            GraderScore::Share(format!("({}) / {}", each.join(" + "), each.len()))
        }
    }
}

fn expected_calls(one: &GraderInput<'_>, is_exact: bool, lowering: &mut Lowering<'_>) -> Option<GraderScore> {
    let items = lowering.sink.list_items(one.node, "expected", "`tool-trajectory`");
    if items.is_empty() {
        let message = "`tool-trajectory` has no `expected` calls";
        lowering.sink.error(Slug::TypeMismatch, one.node.span, message, "write `expected: [{tool: search}]`");
        return None;
    }
    let common = one.node.get("args_match");
    let mut tools = Vec::new();
    let mut parts = Vec::new();
    for (at, item) in items.iter().enumerate() {
        if !lowering.sink.check_keys(item, "an expected call", &["tool", "args", "max_duration_ms", "args_match"]) {
            return None;
        }
        let tool = quote_text(lowering.sink.required_text(item, "tool", "an expected call")?);
        if item.get("max_duration_ms").is_some() {
            return Some(GraderScore::Elsewhere("a duration that is not recorded is left out of the score".to_owned()));
        }
        let args = item.get("args").filter(|args| args.as_text() != Some("any"));
        let mode = item.get("args_match").or(common).map(|mode| mode.as_text().unwrap_or("fields"));
        tools.push(tool.clone());
        let position = format!("calls[{at}]");
        parts.push(match (args, mode.unwrap_or("exact")) {
            (None, _) | (_, "ignore") => format!("{position}.tool == {tool}"),
            (Some(args), "exact") => {
                format!("({position}.tool == {tool} and {position}.args == {})", value_literal(args))
            }
            (Some(args), "superset") => {
                let entry = |(key, value): &(YamlNode, YamlNode)| {
                    format!(" and {position}.args{} == {}", member_path(&key.key_text()), value_literal(value))
                };
                let entries: String = args.entries().iter().map(entry).collect();
                format!("({position}.tool == {tool}{entries})")
            }
            _ => return Some(GraderScore::Elsewhere("this way to compare arguments is not computed here".to_owned())),
        });
        if !is_exact && args.is_some() {
            let why = "a call with other arguments ends the search there, which is not computed here";
            return Some(GraderScore::Elsewhere(why.to_owned()));
        }
    }
    if is_exact {
        return Some(share(&parts));
    }
    // Once a tool is not found, the tools after it do not count either.
    let ordered: Vec<String> = (1..=tools.len())
        .filter_map(|count| Some(format!("contains_in_order((tool of calls), [{}])", tools.get(..count)?.join(", "))))
        .collect();
    Some(share(&ordered))
}

fn skill_used(one: &GraderInput<'_>, lowering: &mut Lowering<'_>) -> Option<GraderScore> {
    const WANTED: &str = "the name of a skill, a list of names, or `{name: …, min: 1}`,";
    let Some(value) = &one.value else { return one.wrong_value(WANTED, lowering) };
    if value.is_map() {
        if !lowering.sink.check_keys(value, "`value` of `skill-used`", &["name", "pattern", "min", "max"]) {
            return None;
        }
        let text = |key: &str| value.get(key).and_then(YamlNode::as_text).filter(|text| !text.trim().is_empty());
        let mut tests: Vec<String> =
            text("name").map(|name| format!("s.name == {}", quote_text(name))).into_iter().collect();
        tests.extend(text("pattern").map(|glob| format!("s.name matches {}", glob_regex(glob))));
        if tests.is_empty() {
            return one.wrong_value("a mapping with `name` or `pattern`", lowering);
        }
        let count = format!("(count s in skills: {})", tests.join(" and "));
        let bound = |key: &str| value.get(key).and_then(YamlNode::as_number);
        let least = bound("min").unwrap_or(if bound("max").is_some() { "0" } else { "1" });
        let most = bound("max").map(|most| format!(" and {count} <= {most}")).unwrap_or_default();
        return Some(signed(one, format!("{count} >= {least}{most}")));
    }
    let single = std::slice::from_ref(value);
    let items = if value.is_list() { value.items() } else { single };
    let names: Option<Vec<&str>> = items.iter().map(YamlNode::as_text).collect();
    let Some(names) = names.filter(|names| !names.is_empty() && names.iter().all(|name| !name.trim().is_empty()))
    else {
        return one.wrong_value(WANTED, lowering);
    };
    let used = |name: &&str| format!("(any s in skills: s.name == {})", quote_text(name.trim()));
    // If negated, none of the skills may be used. Negating the conjunction would be weaker.
    let word = if one.negated { " or " } else { " and " };
    Some(signed(one, names.iter().map(used).collect::<Vec<_>>().join(word)))
}

fn signed(one: &GraderInput<'_>, expression: String) -> GraderScore {
    truth(if one.negated { format!("not ({expression})") } else { expression })
}
