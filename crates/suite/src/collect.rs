//! Finds the transcript of a session, and the files that belong to it.

use crate::agents::{TranscriptSource, WordValues};
use crate::execute::{ChildLimits, ChildProgram, ProgramEnd, execute_program};
use crate::place::SessionPlace;
use crate::plan::{CaseExecution, WorkspacePlan};
use crate::workspace::{LaunchMeans, last_words};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The time limit of an export, and the delays in milliseconds before each attempt.
const EXPORT_TIME: Duration = Duration::from_secs(60);
const EXPORT_PAUSES: [u64; 5] = [0, 250, 500, 1_000, 2_000];
/// Maximum depth of session folders.
const DEPTH: usize = 8;

#[derive(Debug)]
pub(crate) struct CollectedTranscript {
    pub transcript: PathBuf,
    pub usage: Option<String>,
    /// The id of the session, if it is stored outside of the transcript.
    pub session: Option<String>,
}

/// The state of the trace file before the session, if it existed.
#[derive(Debug)]
pub(crate) struct PriorTrace(Option<FileStamp>);

/// Device, inode, length and change time of a file; these change whenever it is written or replaced.
type FileStamp = (u64, u64, u64, i64, i64);

fn file_stamp(path: &Path) -> Option<FileStamp> {
    let file = std::fs::metadata(path).ok()?;
    Some((file.dev(), file.ino(), file.len(), file.ctime(), file.ctime_nsec()))
}

impl PriorTrace {
    fn is_as_it_was(&self, path: &Path) -> bool {
        self.0.is_some() && self.0 == file_stamp(path)
    }

    /// Looks for the trace file. Removes it from a workspace that was created for the session, but never from an existing folder.
    pub(crate) fn look_before(execution: &CaseExecution<'_>, place: &SessionPlace) -> std::io::Result<Self> {
        let Some(trace) = &execution.runner.trace else { return Ok(Self(None)) };
        let path = place.cwd.join(trace);
        match &execution.suite.workspace {
            WorkspacePlan::Existing(_) => Ok(Self(file_stamp(&path))),
            WorkspacePlan::Created { .. } if path.symlink_metadata().is_ok_and(|file| !file.is_dir()) => {
                std::fs::remove_file(&path).map(|()| Self(None))
            }
            WorkspacePlan::Created { .. } => Ok(Self(None)),
        }
    }
}

pub(crate) fn collect_transcript(
    execution: &CaseExecution<'_>,
    place: &SessionPlace,
    variables: &[(OsString, OsString)],
    before: &PriorTrace,
    means: LaunchMeans<'_>,
) -> Result<CollectedTranscript, String> {
    let output = place.output_log();
    let session = execution.runner.agent.and_then(|agent| session_in(&output, agent.session));
    let plain = |transcript: PathBuf| CollectedTranscript { transcript, usage: None, session: session.clone() };
    if let Some(trace) = &execution.runner.trace {
        let places = [&place.cwd, &place.folder].map(|folder| folder.join(trace));
        let there = places.into_iter().filter(|path| path.is_file());
        let (old, new) = there.partition::<Vec<_>, _>(|path| before.is_as_it_was(path));
        let wrote_none = || match old.is_empty() {
            true => format!("the runner wrote no `{trace}`"),
            false => format!("`{trace}` is older than the session, and the runner wrote no other"),
        };
        let found = new.into_iter().next().ok_or_else(wrote_none)?;
        // The agent may have put a link there to a file that does not belong to the session.
        let real = found.canonicalize().map_err(|error| format!("`{trace}` cannot be read: {error}"))?;
        let mut own = [&place.cwd, &place.folder].into_iter().filter_map(|folder| folder.canonicalize().ok());
        if !own.any(|folder| real.starts_with(folder)) {
            return Err(format!("`{trace}` leads out of the folder of the session"));
        }
        return Ok(plain(found));
    }
    match execution.runner.agent.map_or(TranscriptSource::Output, |agent| agent.transcript) {
        TranscriptSource::Output => Ok(plain(output)),
        TranscriptSource::OutputAndSpans(spans) => {
            Ok(CollectedTranscript { usage: usage_of_spans(&place.folder.join(spans)), ..plain(output) })
        }
        TranscriptSource::Newest { below, .. } => {
            let mut newest = None;
            newest_below(&place.folder.join(below), DEPTH, &mut newest);
            Ok(plain(newest.map_or(output, |(_, path)| path)))
        }
        TranscriptSource::Exported { arguments, id } => {
            let session = named_session(&output, id).or_else(|| named_session(&place.error_log(), id));
            let session = session.ok_or_else(|| format!("nothing that it wrote names its session (`{id}…`)"))?;
            let words = WordValues { model: "", prompt: "", cwd: "", session: &session }.fill_words(arguments);
            let words: Vec<String> = execution.runner.command.iter().cloned().chain(words).collect();
            let transcript = export_session(&words, place, variables, means)?;
            Ok(CollectedTranscript { session: Some(session), ..plain(transcript) })
        }
    }
}

/// Asks an agent to export a session; retries if the session is not written yet.
fn export_session(
    words: &[String],
    place: &SessionPlace,
    variables: &[(OsString, OsString)],
    means: LaunchMeans<'_>,
) -> Result<PathBuf, String> {
    let (output, error) = (place.folder.join("export.log"), place.folder.join("export.stderr.log"));
    let limits = ChildLimits { time: EXPORT_TIME, bytes: means.bytes, steps: None };
    let mut why = String::new();
    for pause in EXPORT_PAUSES {
        std::thread::sleep(Duration::from_millis(pause));
        let program = ChildProgram {
            words,
            folder: &place.cwd,
            variables,
            limits,
            output: output.clone(),
            error: error.clone(),
            forgets: None,
        };
        why = match execute_program(means.supervisor, &program, means.stop) {
            Ok((ProgramEnd::Itself(0), _)) => match cut_out(&output) {
                Some(text) => {
                    let transcript = place.folder.join("session.export.json");
                    let written = std::fs::write(&transcript, text);
                    return written.map(|()| transcript).map_err(|error| error.to_string());
                }
                None => "the export is no JSON".to_owned(),
            },
            Ok((ProgramEnd::Itself(code), _)) => {
                format!("the export ended with exit code {code}{}", last_words(&error))
            }
            Ok(_) => "the export was ended".to_owned(),
            Err(error) => format!("the export cannot be run: {error}"),
        };
    }
    Err(why)
}

/// Extracts the JSON of an export, since agents print other lines around it.
fn cut_out(log: &Path) -> Option<String> {
    let text = std::fs::read_to_string(log).ok()?;
    let is_json = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    if is_json(&text) {
        return Some(text);
    }
    let inner = text.get(text.find('{')?..=text.rfind('}')?)?;
    is_json(inner).then(|| inner.to_owned())
}

/// Finds the newest file below a folder; of equally new files, the last by name.
fn newest_below(folder: &Path, depth: usize, newest: &mut Option<(SystemTime, PathBuf)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if kind.is_dir() && depth > 0 {
            newest_below(&path, depth.saturating_sub(1), newest);
        }
        let is_records = kind.is_file() && path.extension().is_some_and(|ending| ending == "jsonl");
        if let (true, Ok(time)) = (is_records, entry.metadata().and_then(|file| file.modified())) {
            let this = (time, path);
            if newest.as_ref().is_none_or(|newest| *newest < this) {
                *newest = Some(this);
            }
        }
    }
}

fn named_session(log: &Path, id: &str) -> Option<String> {
    let text = String::from_utf8_lossy(&std::fs::read(log).ok()?).into_owned();
    let mut rest = text.as_str();
    while let Some(found) = rest.find(id) {
        let begins = !rest.get(..found)?.ends_with(|before: char| before.is_alphanumeric() || before == '_');
        let word = rest.get(found..)?;
        let length = word.get(id.len()..)?.bytes().take_while(u8::is_ascii_alphanumeric).count();
        if begins && length > 0 {
            return word.get(..id.len().saturating_add(length)).map(str::to_owned);
        }
        rest = word.get(id.len()..)?;
    }
    None
}

fn session_in(log: &Path, pointers: &[&str]) -> Option<String> {
    let text = String::from_utf8_lossy(&std::fs::read(log).ok()?).into_owned();
    text.lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find_map(|record| pointers.iter().find_map(|pointer| record.pointer(pointer)?.as_str().map(str::to_owned)))
}

/// Returns the usage in Copilot's spans: of the whole agent, otherwise of the first chat.
fn usage_of_spans(spans: &Path) -> Option<String> {
    let text = String::from_utf8_lossy(&std::fs::read(spans).ok()?).into_owned();
    let spans: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let count = |span: &Value, name: &str| span.get("attributes")?.get(format!("gen_ai.usage.{name}"))?.as_u64();
    let spent = |span: &&Value| {
        span.get("type").and_then(Value::as_str) == Some("span") && count(span, "input_tokens").is_some()
    };
    let named = |span: &Value, fits: &dyn Fn(&str) -> bool| span.get("name").and_then(Value::as_str).is_some_and(fits);
    let spent: Vec<&Value> = spans.iter().filter(spent).collect();
    let whole = spent.iter().find(|span| named(span, &|name| name == "invoke_agent"));
    let span = whole.or_else(|| spent.iter().find(|span| named(span, &|name| name.starts_with("chat "))))?;
    let (input, output) = (count(span, "input_tokens")?, count(span, "output_tokens").unwrap_or(0));
    let mut usage = json!({ "input_tokens": input, "output_tokens": output });
    for (name, theirs) in [
        ("reasoning_tokens", "reasoning_output_tokens"),
        ("cache_read_tokens", "cache_read.input_tokens"),
        ("cache_read_tokens", "cache_read.input_tokens"),
    ] {
        if let (Some(tokens), Value::Object(usage)) = (count(span, theirs), &mut usage) {
            usage.insert(name.to_owned(), json!(tokens));
        }
    }
    let reasoning = usage.get("reasoning_tokens").and_then(Value::as_u64).unwrap_or(0);
    if let Value::Object(usage) = &mut usage {
        usage.insert("total_tokens".to_owned(), json!(input.saturating_add(output).saturating_add(reasoning)));
    }
    Some(usage.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_named_by_a_word_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        std::fs::write(&log, "uses_x ses_ x\n{\"id\":\"ses_4f2A\"} ses_other").unwrap();
        assert_eq!(named_session(&log, "ses_"), Some("ses_4f2A".to_owned()));
        std::fs::write(&log, "nothing").unwrap();
        assert_eq!(named_session(&log, "ses_"), None);
    }

    #[test]
    fn what_copilot_spent_is_that_of_the_agent_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let spans = folder.path().join("spans.jsonl");
        let span = |name: &str, input: u32| json!({"type": "span", "name": name, "attributes": {"gen_ai.usage.input_tokens": input, "gen_ai.usage.output_tokens": 5}});
        std::fs::write(&spans, format!("{}\nbroken\n{}\n", span("chat gpt", 10), span("invoke_agent", 30))).unwrap();
        let usage: Value = serde_json::from_str(&usage_of_spans(&spans).unwrap()).unwrap();
        assert_eq!(usage, json!({"input_tokens": 30, "output_tokens": 5, "total_tokens": 35}));
    }
}
