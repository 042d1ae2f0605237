//! Conditions before and after a run in STOP's form: the name of the check, and the value that it looked at.

use crate::model::{ResultReport, RunReport};
use crate::redact::WithheldTexts;
use crate::table::{ReportItem, ReportTable};
use crate::value;
use averment_base::value::{Value, json};
use averment_engine::vm::outcome::Status;
use averment_engine::vm::select::WorldPhase;
use averment_runs::normal::of_run;
use averment_runs::run::Run;
use serde_json::Value as Json;
use serde_json::value::RawValue;

/// Both phases with the names of their spans.
pub const PHASES: [(WorldPhase, &str); 2] =
    [(WorldPhase::Pre, "pre-conditions"), (WorldPhase::Post, "post-conditions")];

const OUTPUT: &str = "output.";

/// Names of checks that do not look at an output.
const CHECKS: [&str; 8] =
    ["file_exists", "file_not_empty", "file_matches", "env_var", "tool_available", "http_status", "duration", "custom"];

/// Returns the check of a condition: the tag that names it, otherwise the id of the condition.
#[must_use]
pub fn check_name(item: &ReportItem) -> &str {
    let named = |tag: &&String| tag.starts_with(OUTPUT) || CHECKS.contains(&tag.as_str());
    item.tags.iter().find(named).unwrap_or(&item.id)
}

/// Returns the judged results of a phase.
pub fn phase_results<'a>(
    table: &'a ReportTable,
    run: &'a RunReport,
    phase: WorldPhase,
) -> Vec<(&'a ReportItem, &'a ResultReport)> {
    let judged = run.results.iter().filter(|result| result.status != Status::Skipped);
    let with_items = judged.filter_map(|result| Some((table.items.get(result.item)?, result)));
    let is_of = |item: &ReportItem| table.rule_of(item).is_some_and(|rule| rule.phase == Some(phase));
    with_items.filter(|(item, _)| is_of(item)).collect()
}

/// Returns the value that a condition checks: an output, a duration, a status, a file path or a tool name. For a variable, only that it is set.
pub(crate) fn checked_value(
    table: &ReportTable,
    item: usize,
    run: Option<&Run<'_>>,
    withheld: &WithheldTexts,
) -> Option<Box<RawValue>> {
    let item = table.items.get(item)?;
    table.rule_of(item)?.phase?;
    let shown = match check_name(item) {
        "env_var" => return RawValue::from_string("\"***\"".to_owned()).ok(),
        "http_status" => item.text.rsplit_once("status == ")?.1.to_owned(),
        "file_exists" | "file_not_empty" | "file_matches" => {
            let path = item.text.strip_prefix("file ")?;
            Json::from(filled_text(quoted_text(path)?, run)?).to_string()
        }
        "tool_available" => {
            let name = item.text.strip_prefix("tool ")?.split_once(" is available")?.0;
            Json::from(quoted_text(name).unwrap_or(name)).to_string()
        }
        "duration" => json_of(run?.root_value(of_run::DURATION).value)?,
        name => {
            let Value::Object(output) = run?.root_value(of_run::OUTPUT).value else { return None };
            json_of(output.get(name.strip_prefix(OUTPUT)?)?.value)?
        }
    };
    value::for_machines(&withheld.without_in_json(&shown), item.masked)
}

/// Returns the content of the quotes at the start of a text; `None` if it has escapes, which would have to be decoded.
fn quoted_text(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let (inside, _) = text.get(1..)?.split_once(quote)?;
    (!inside.contains('\\') && !inside.is_empty()).then_some(inside)
}

/// Replaces `${inputs.path}` with values of the run; `None` if one is no text, number or boolean.
fn filled_text(text: &str, run: Option<&Run<'_>>) -> Option<String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        let (path, after) = behind.split_once('}')?;
        filled.push_str(before);
        filled.push_str(&value_text(path, run?)?);
        rest = after;
    }
    filled.push_str(rest);
    Some(filled)
}

fn value_text(path: &str, run: &Run<'_>) -> Option<String> {
    let mut names = path.split('.');
    let root = match names.next()? {
        "inputs" => of_run::INPUTS,
        "output" => of_run::OUTPUT,
        _ => return None,
    };
    let mut value = run.root_value(root).value;
    for name in names {
        let Value::Object(object) = value else { return None };
        value = object.get(name)?.value;
    }
    match serde_json::from_str(&json_of(value)?).ok()? {
        Json::String(text) => Some(text),
        known @ (Json::Number(_) | Json::Bool(_)) => Some(known.to_string()),
        _ => None,
    }
}

fn json_of(value: Value<'_>) -> Option<String> {
    match value {
        Value::Absent | Value::Missing => None,
        known => Some(json::to_json(&known)),
    }
}
