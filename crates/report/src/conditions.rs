//! Conditions before and after a run as STOP tells them: by the name of their check, with the value that it looked at.

use crate::model::{ResultReport, RunReport};
use crate::redact::WithheldTexts;
use crate::table::{ReportItem, ReportTable};
use crate::value;
use averment_base::value::{Value, json};
use averment_engine::vm::outcome::Status;
use averment_engine::vm::select::WorldPhase;
use averment_runs::normal::of_run;
use averment_runs::run::Run;
use serde_json::value::RawValue;

/// Both phases with the names of their spans.
pub const PHASES: [(WorldPhase, &str); 2] =
    [(WorldPhase::Pre, "pre-conditions"), (WorldPhase::Post, "post-conditions")];

const OUTPUT: &str = "output.";

/// Checks that do not look at an output.
const CHECKS: [&str; 8] =
    ["file_exists", "file_not_empty", "file_matches", "env_var", "tool_available", "http_status", "duration", "custom"];

/// The name of a condition: the tag that names its check, otherwise its id.
#[must_use]
pub fn check_name(item: &ReportItem) -> &str {
    let named = |tag: &&String| tag.starts_with(OUTPUT) || CHECKS.contains(&tag.as_str());
    item.tags.iter().find(named).unwrap_or(&item.id)
}

/// The results of a phase that were judged.
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

/// The value that a condition checks: an output, the duration or a status. A variable is only known to be set.
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
        "duration" => json_of(run?.root_value(of_run::DURATION).value)?,
        name => {
            let Value::Object(output) = run?.root_value(of_run::OUTPUT).value else { return None };
            json_of(output.get(name.strip_prefix(OUTPUT)?)?.value)?
        }
    };
    value::for_machines(&withheld.without_in_json(&shown), item.masked)
}

fn json_of(value: Value<'_>) -> Option<String> {
    match value {
        Value::Absent | Value::Missing => None,
        known => Some(json::to_json(&known)),
    }
}
