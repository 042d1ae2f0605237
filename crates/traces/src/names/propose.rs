//! A file for `--map`, proposed from one run: where its calls are, and what their parts and those of the run are called.

use super::{NamedPart, PartOwner, STEP};
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// So many runs of a file are looked at until one tells enough.
pub const RUNS: usize = 20;
const DEPTH: usize = 6;
/// Elements examined per list.
const ITEMS: usize = 20;
/// In characters.
const EXAMPLE: usize = 40;

type ValueAtPath<'a> = (String, &'a Value);

/// The proposal as TOML, with an example behind each line. `hide` takes out of an example what is not to be shown, before it is cut.
///
/// # Errors
/// Why nothing is proposed, in words.
pub fn from_text(text: &str, hide: &dyn Fn(&str) -> String) -> Result<String, String> {
    let run: Value = serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
    let Value::Object(run) = &run else { return Err("a run is an object".to_owned()) };
    let all = nested_values(run);
    let lists = all.iter().filter_map(|(path, value)| Some((path, value, find_calls(value)?)));
    let best = lists.max_by_key(|(path, _, calls)| (calls.score, usize::MAX - path.matches(STEP).count()));
    let Some((path, _, list)) = best else { return Err("no list in it holds objects that name a tool".to_owned()) };
    let mut out = String::from("# what `aver` reads as what: a proposal, by names and shapes alone\n");
    push_line(&mut out, NamedPart::Calls, path, &format!("{} calls", list.items.len()));
    push_line(&mut out, NamedPart::Tool, &list.tool, "");
    let first = nested_values(list.items.first().copied().ok_or("its list of calls is empty")?);
    for part in NamedPart::of_calls().filter(|part| *part != NamedPart::Tool) {
        if let Some((name, value)) = best_named(part, first.iter().filter(|(name, _)| *name != list.tool)) {
            push_line(&mut out, part, name, &example_text(value, hide));
        }
    }
    let beside = || all.iter().filter(|(name, _)| name != path && !name.starts_with(&format!("{path}{STEP}")));
    for part in
        NamedPart::ALL.into_iter().filter(|part| part.definition().of == PartOwner::Run && *part != NamedPart::Calls)
    {
        if let Some((name, value)) = best_named(part, beside()) {
            push_line(&mut out, part, name, &example_text(value, hide));
        }
    }
    Ok(out)
}

fn push_line(out: &mut String, part: NamedPart, name: &str, example: &str) {
    let quoted = Value::String(name.to_owned());
    let comment = if example.is_empty() { String::new() } else { format!("  # {example}") };
    let _ = writeln!(out, "{} = {quoted}{comment}", part.map_word());
}

fn example_text(value: &Value, hide: &dyn Fn(&str) -> String) -> String {
    let text = hide(&value.to_string()).replace(|c: char| c.is_control(), " ");
    match text.chars().count() > EXAMPLE {
        true => text.chars().take(EXAMPLE).chain(['…']).collect(),
        false => text,
    }
}

struct CallList<'a> {
    items: Vec<&'a Map<String, Value>>,
    tool: String,
    score: usize,
}

/// The elements must have a possible tool; more known keys rank higher.
fn find_calls(value: &Value) -> Option<CallList<'_>> {
    let Value::Array(items) = value else { return None };
    let items: Vec<_> = items.iter().take(ITEMS).map(Value::as_object).collect::<Option<_>>()?;
    let first = nested_values(items.first()?);
    let texts = first.iter().filter(|(_, value)| value.is_string());
    let (tool, _) = best_named(NamedPart::Tool, texts.clone())
        .or_else(|| texts.clone().find(|(name, _)| last_key(name).contains(NamedPart::Tool.map_word())))?;
    let others = NamedPart::of_calls().filter(|part| *part != NamedPart::Tool);
    let known = others.filter(|part| best_named(*part, first.iter()).is_some()).count();
    let has_args = best_named(NamedPart::Args, first.iter()).is_some();
    (known > 0).then(|| CallList { score: known + 5 * usize::from(has_args), tool: tool.clone(), items })
}

/// By rank of the name, then by the least nesting.
fn best_named<'a, 'v: 'a>(
    part: NamedPart,
    found: impl Iterator<Item = &'a ValueAtPath<'v>>,
) -> Option<&'a ValueAtPath<'v>> {
    let rank = |name: &str| part.definition().names.iter().position(|known| *known == last_key(name));
    let ranked = found.filter(|(_, value)| !value.is_null()).filter_map(|one| Some((rank(&one.0)?, one)));
    ranked.min_by_key(|(rank, (name, _))| (name.matches(STEP).count(), *rank)).map(|(_, one)| one)
}

fn last_key(name: &str) -> &str {
    name.rsplit(STEP).next().unwrap_or(name)
}

/// Not inside lists.
fn nested_values(object: &Map<String, Value>) -> Vec<ValueAtPath<'_>> {
    let mut found = Vec::new();
    walk_object(object, "", DEPTH, &mut found);
    found
}

fn walk_object<'a>(object: &'a Map<String, Value>, before: &str, depth: usize, found: &mut Vec<ValueAtPath<'a>>) {
    for (key, value) in object.iter().filter(|(key, _)| !key.contains(STEP)) {
        let path = if before.is_empty() { key.clone() } else { format!("{before}{STEP}{key}") };
        found.push((path.clone(), value));
        if let (Value::Object(inner), true) = (value, depth > 0) {
            walk_object(inner, &path, depth - 1, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::from_text;
    use crate::names::PartNames;

    #[test]
    fn a_proposal_names_the_list_and_its_parts_and_is_a_map() {
        let run = r#"{"trace": {"ref": "t-1", "history": [
            {"step": {"tool_name": "search", "arguments": {"q": "x"}}, "observation": "3 hits", "latency_ms": 12}
        ]}, "answer": "done", "session_id": "s-9", "noise": [{"name": "x"}]}"#;
        let proposal = from_text(run, &str::to_owned).unwrap();
        for line in [
            r#"calls = "trace.history""#,
            r#"tool = "step.tool_name""#,
            r#"args = "step.arguments""#,
            r#"result = "observation""#,
            r#"duration = "latency_ms""#,
            r#"id = "session_id""#,
            r#"output = "answer""#,
        ] {
            assert!(proposal.contains(line), "{line}: {proposal}");
        }
        PartNames::of_file(&proposal).unwrap();
        assert!(["[]", "{\"a\": [1]}", "x"].iter().all(|text| from_text(text, &str::to_owned).is_err()));
    }
}
