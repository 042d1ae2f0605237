//! Builds the run of a session in the normal form, including data from outside of its transcript.

use crate::record::{SessionOutcome, SessionRecord};
use crate::world::WorldRecord;
use averment_base::limits::Limits;
use averment_base::value::json::write_json;
use averment_base::value::{Object, ObjectEntry, Value};
use averment_runs::normal::{of_meta, of_run};
use averment_runs::run::Run;
use averment_runs::write_normal::normal_form;
use averment_traces::read::{RawRun, ReadOptions, TraceRuns, parse_under};
use bumpalo::Bump;
use serde_json::json;
use std::path::Path;

/// Metadata keys about sessions, which are never taken from a transcript.
const OF_SESSIONS: [&str; 3] = [of_meta::RAN, "snapshot", "why"];

#[derive(Debug)]
pub(crate) struct SessionFacts<'a> {
    pub record: &'a SessionRecord,
    pub id: &'a str,
    pub prompt: &'a str,
    /// True if the files recorded in the transcript are used; false if the workspace itself is recorded.
    pub keeps_files: bool,
    /// The usage, if the transcript does not record it.
    pub usage: Option<String>,
    /// The id of the session, if it is stored outside of the transcript.
    pub session: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TranscriptRun {
    /// The run in the normal form.
    pub line: String,
    /// True if it records files.
    pub says_files: bool,
    /// The id of the session.
    pub session: Option<String>,
}

pub(crate) fn complete_run(
    transcript: &Path,
    beside: &SessionFacts<'_>,
    as_skillgym: bool,
) -> Result<TranscriptRun, String> {
    let limits = Limits::default();
    let runs = TraceRuns::open_file(&transcript.to_string_lossy(), &limits).map_err(|error| error.to_string())?;
    let runs: Vec<RawRun> = runs.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let (Some(raw), None) = (runs.first(), runs.get(1)) else {
        return Err(format!("`{}` holds {} runs, and a session is one", transcript.display(), runs.len()));
    };
    let arena = Bump::new();
    let told = ReadOptions { as_skillgym, ..ReadOptions::default() };
    let run = parse_under(raw, &arena, &limits, told).map_err(|error| error.to_string())?;
    let session = beside.session.clone().or_else(|| meta_text(&run, of_meta::SESSION));
    let says_files = beside.keeps_files && is_there(&run.root_value(of_run::FILES).value);
    Ok(TranscriptRun { line: write_run(run, &arena, beside, session.as_deref()), says_files, session })
}

/// Returns the run of an incomplete session, in which the agent's actions are unknown.
pub(crate) fn broken_off(record: &SessionRecord, id: &str) -> String {
    let SessionRecord { case, runner, outcome, why, .. } = record;
    let mut meta = json!({ of_meta::CASE: case, "runner": runner, "outcome": outcome.as_str(), "why": why });
    put_labels(record, &mut meta);
    let error = format!("{}: {why}", outcome.as_str());
    let run = json!({ of_run::ID: id, of_run::META: meta, of_run::ERROR: error, of_run::COMPLETE: false });
    WorldRecord::nothing_known().into_run(&run.to_string(), false)
}

fn put_labels(record: &SessionRecord, meta: &mut serde_json::Value) {
    let serde_json::Value::Object(meta) = meta else { return };
    meta.insert("suite".to_owned(), json!(record.suite));
    meta.insert("repetition".to_owned(), json!(record.repetition));
    if let Some(agent) = &record.agent {
        meta.insert("agent".to_owned(), json!(agent));
    }
    if !record.model.is_empty() {
        meta.insert(of_meta::MODEL.to_owned(), json!(record.model));
    }
}

fn write_run<'run>(run: Run<'run>, arena: &'run Bump, beside: &SessionFacts<'_>, session: Option<&str>) -> String {
    let has = |key: &str| run.object.entries().iter().any(|entry| entry.key == key && is_there(&entry.node.value));
    let mut own = vec![
        (of_run::ID, json!(beside.id).to_string()),
        (of_run::PROMPT, json!(beside.prompt).to_string()),
        (of_run::META, meta_of(&run, beside.record, session)),
    ];
    if let Some(usage) = beside.usage.as_ref().filter(|_| !has(of_run::USAGE)) {
        own.push((of_run::USAGE, usage.clone()));
    }
    if !has(of_run::DURATION) {
        own.push((of_run::DURATION, beside.record.duration_ms.to_string()));
    }
    let is_own = |key: &str| own.iter().any(|(own, _)| *own == key) || key == of_run::FILES && !beside.keeps_files;
    let kept = run.object.entries().iter().copied().filter(|entry| !is_own(entry.key));
    let kept: Vec<ObjectEntry<'run>> = kept.collect();
    let rest = normal_form(&Run { object: Object::new(arena, arena.alloc_slice_copy(&kept)), ..run });
    let own: Vec<String> = own.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
    let rest = rest.strip_prefix('{').unwrap_or_default();
    let comma = if rest == "}" { "" } else { "," };
    format!("{{{}{comma}{rest}", own.join(","))
}

fn meta_of(run: &Run<'_>, record: &SessionRecord, session: Option<&str>) -> String {
    let mut labels =
        json!({ of_meta::CASE: record.case, "runner": record.runner, "outcome": SessionOutcome::Completed.as_str() });
    put_labels(record, &mut labels);
    if let (Some(session), serde_json::Value::Object(labels)) = (session, &mut labels) {
        labels.insert(of_meta::SESSION.to_owned(), json!(session));
    }
    let mut text = labels.to_string();
    let Value::Object(meta) = run.root_value(of_run::META).value else { return text };
    text.pop();
    let is_own = |key: &str| labels.get(key).is_some() || OF_SESSIONS.contains(&key);
    for entry in meta.entries().iter().filter(|entry| !is_own(entry.key) && is_there(&entry.node.value)) {
        text.push(',');
        text.push_str(&json!(entry.key).to_string());
        text.push(':');
        write_json(&entry.node.value, &mut text);
    }
    text.push('}');
    text
}

fn is_there(value: &Value<'_>) -> bool {
    !matches!(value, Value::Missing | Value::Absent | Value::Null)
}

fn meta_text(run: &Run<'_>, key: &str) -> Option<String> {
    let Value::Object(meta) = run.root_value(of_run::META).value else { return None };
    match &meta.get(key)?.value {
        Value::Text(text) => Some(text.as_str().to_owned()),
        _ => None,
    }
}
