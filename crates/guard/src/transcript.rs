//! Transcripts: the records that agents keep of sessions. If the guard joins a session late, its log starts with the transcript.
//!
//! The path comes from an event, so it is accepted only below the folder where the agent keeps its sessions. Data that the transcript lacks is
//! missing in the log. A transcript that is not completely understood is rejected.

use crate::agent::Agent;
use crate::event::{CallLine, LogLine};
use averment_base::limits::Limits;
use averment_runs::normal::{MAIN_AGENT, of_step, role};
use averment_runs::run::{StepKind, StepStatus};
use averment_runs::write_normal::normal_form;
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value};
use std::fs::{self, OpenOptions};
use std::io::{Cursor, Read as _};
use std::path::{Path, PathBuf};

/// Maximum size of a transcript in bytes.
const MAX_TRANSCRIPT: u64 = 64 << 20;

/// Returns the folder where an agent keeps its transcripts.
///
/// # Errors
/// The reason why transcripts of this agent cannot be used.
pub fn transcript_folder(agent: Agent) -> Result<PathBuf, String> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let below_home = |name: &str| Some(variable("HOME").or_else(|| variable("USERPROFILE"))?.join(name));
    let folder = match agent {
        Agent::Claude => variable("CLAUDE_CONFIG_DIR").or_else(|| below_home(".claude")),
        Agent::Gemini => below_home(".gemini"),
        // A rollout names tools differently from the hooks.
        Agent::Codex => return Err("transcripts of Codex name its tools otherwise than its hooks do".to_owned()),
        Agent::Cursor | Agent::Copilot => return Err(format!("hooks of {} tell of no transcript", agent.name())),
    };
    folder.ok_or_else(|| "`HOME` is not set".to_owned())
}

/// Returns the first lines of a session's log, from the transcript at a path. `proposed` is the id of the call being decided.
///
/// # Errors
/// The reason why it cannot be read.
pub fn transcript_lines(agent: Agent, path: &Path, proposed: Option<&str>) -> Result<Vec<String>, String> {
    let folder = transcript_folder(agent)?;
    let text = read_below(&folder, path)?;
    // A line that is still being written is ignored.
    let end = if agent == Agent::Claude { text.rfind('\n').map_or(0, |at| at + 1) } else { text.len() };
    lines_of(text.get(..end).unwrap_or_default(), proposed)
}

/// Returns true if there is no file yet, as before an agent writes the first line of a session.
#[must_use]
pub fn is_unwritten(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Reads a file below a folder; links are followed only if they stay below it.
fn read_below(folder: &Path, path: &Path) -> Result<String, String> {
    let words = |error: std::io::Error| format!("the transcript cannot be read: {error}");
    let (folder, found) = (folder.canonicalize().map_err(words)?, path.canonicalize().map_err(words)?);
    if !path.is_absolute() || !found.starts_with(&folder) {
        return Err(format!("the transcript lies outside of `{}`", folder.display()));
    }
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let no_link = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(i32::try_from(no_link.bits()).unwrap_or_default());
    }
    let file = options.open(&found).map_err(words)?;
    if !file.metadata().map_err(words)?.is_file() {
        return Err("the transcript is no file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(MAX_TRANSCRIPT + 1).read_to_end(&mut bytes).map_err(words)?;
    if bytes.len() as u64 > MAX_TRANSCRIPT {
        return Err("the transcript is larger than 64 MiB".to_owned());
    }
    String::from_utf8(bytes).map_err(|_| "the transcript is no text".to_owned())
}

/// Returns the log lines that correspond to a transcript.
fn lines_of(text: &str, proposed: Option<&str>) -> Result<Vec<String>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let limits = Limits::default();
    let mut runs = TraceRuns::new("transcript", Cursor::new(text.as_bytes().to_vec()), &limits);
    let (first, more) = (runs.next(), runs.next());
    let raw = match (first, more) {
        (Some(Ok(raw)), None) => raw,
        (Some(Err(error)), _) => return Err(format!("the transcript is not understood: {}", error.message)),
        _ => return Err("the transcript is not understood: it does not hold one session".to_owned()),
    };
    let arena = Bump::new();
    let run = parse_run(&raw, &arena, &limits)
        .map_err(|error| format!("the transcript is not understood: {}", error.message))?;
    if let Some(lost) = run.warnings.iter().find(|warning| warning.lost) {
        return Err(format!("the transcript is not understood in full: {}", lost.message));
    }
    let Ok(Value::Object(run)) = serde_json::from_str(&normal_form(&run)) else {
        return Err("the transcript is not understood".to_owned());
    };
    Ok(RecordedSession::of(&run, proposed).lines())
}

/// The prompts and calls of a run in the normal form, in order.
struct RecordedSession<'a> {
    prompts: Vec<&'a Map<String, Value>>,
    calls: Vec<RecordedCall<'a>>,
}

struct RecordedCall<'a> {
    fields: &'a Map<String, Value>,
    status: StepStatus,
}

impl<'a> RecordedSession<'a> {
    fn of(run: &'a Map<String, Value>, proposed: Option<&str>) -> Self {
        let list = |kind: StepKind| {
            let steps = run.get(kind.list_key()).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            steps.iter().filter_map(Value::as_object)
        };
        let prompts = list(StepKind::Message).filter(|step| text(step, of_step::ROLE) == Some(role::USER)).collect();
        let is_proposed = |call: &RecordedCall<'_>| {
            call.status == StepStatus::Unknown && proposed.is_some() && text(call.fields, of_step::ID) == proposed
        };
        let calls = list(StepKind::Call).map(RecordedCall::of).filter(|call| !is_proposed(call));
        let mut calls: Vec<RecordedCall<'_>> = calls.collect();
        // The calls of the last answer that still have to be decided are dropped.
        while calls
            .last()
            .is_some_and(|call| call.status == StepStatus::Unknown && !call.fields.contains_key(of_step::RESULT))
        {
            calls.pop();
        }
        Self { prompts, calls }
    }

    fn lines(&self) -> Vec<String> {
        // Prompts come first. Hooks give no order between prompts and calls either, because they do not report all messages.
        let prompts = self.prompts.iter().filter_map(|prompt| {
            Some(LogLine::Message { role: role::USER, text: text(prompt, of_step::TEXT)?, time: None }.to_text())
        });
        let is_timed = self.is_timed();
        prompts.chain(self.calls.iter().flat_map(|call| call.lines(is_timed))).collect()
    }

    /// True if the recorded times agree with the order of the calls; otherwise they are ignored.
    fn is_timed(&self) -> bool {
        let starts: Option<Vec<u64>> = self.calls.iter().map(|call| time(call.fields, of_step::START)).collect();
        let has_end = |call: &RecordedCall<'_>| !call.is_known() || time(call.fields, of_step::END).is_some();
        starts.is_some_and(|starts| starts.is_sorted()) && self.calls.iter().all(has_end)
    }
}

impl<'a> RecordedCall<'a> {
    fn of(fields: &'a Map<String, Value>) -> Self {
        let word = text(fields, of_step::STATUS).and_then(StepStatus::from_word);
        Self { fields, status: word.unwrap_or(StepStatus::Unknown) }
    }

    fn is_known(&self) -> bool {
        self.status != StepStatus::Unknown
    }

    fn lines(&self, is_timed: bool) -> Vec<String> {
        let Some(tool) = text(self.fields, of_step::TOOL) else { return Vec::new() };
        let time = |key: &str| time(self.fields, key).filter(|_| is_timed);
        let line = CallLine {
            // If the end of the call is unknown, its id may still be proposed.
            id: text(self.fields, of_step::ID).filter(|_| self.is_known()),
            tool,
            args: self.fields.get(of_step::ARGS).unwrap_or(&Value::Null),
            by: text(self.fields, of_step::AGENT).filter(|agent| *agent != MAIN_AGENT),
            time: time(of_step::START),
            rule: None,
            reason: None,
        };
        if !self.status.is_executed() {
            return vec![LogLine::Denied(line).to_text()];
        }
        let mut lines = vec![LogLine::Call(line).to_text()];
        if self.is_known() {
            let failed = (self.status == StepStatus::Failed).then_some(&Value::Bool(true));
            let end = LogLine::Result {
                id: line.id,
                tool,
                time: time(of_step::END),
                result: self.fields.get(of_step::RESULT).and_then(|result| to_raw_value(result).ok()),
                error: self.fields.get(of_step::ERROR).filter(|error| !error.is_null()).or(failed),
            };
            lines.push(end.to_text());
        }
        lines
    }
}

fn text<'a>(fields: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    fields.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// Returns whole milliseconds since 1970.
fn time(fields: &Map<String, Value>, key: &str) -> Option<u64> {
    fields.get(key).and_then(Value::as_u64)
}
