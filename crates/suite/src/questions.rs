//! Asks an agent questions about its own failed session.

use crate::agents::WordValues;
use crate::environment::AllowedVariables;
use crate::execute::{ChildLimits, ChildProgram, ProgramEnd, Supervisor, execute_program};
use crate::folder::{QUESTIONS, pretty_json, record_in, replace_file};
use crate::place::SessionPlace;
use crate::plan::{CaseExecution, WorkspacePlan};
use crate::record::{FailureQuestion, SessionRecord};
use crate::session::agent_variables;
use crate::workspace::{LaunchMeans, in_words, last_words};
use averment_base::limits::Limits as ReadLimits;
use averment_base::value::Value;
use averment_runs::normal::of_run;
use averment_traces::read::{TraceRuns, parse_run};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Time limit of an answer.
const TIME: Duration = Duration::from_secs(300);
/// Maximum bytes of an answer that is not a transcript.
const PLAIN: usize = 16 << 10;
const ANSWERS: &str = "answers.json";

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnsweredQuestion {
    /// The question.
    #[serde(flatten)]
    pub of: FailureQuestion,
    /// The agent's answer, or the reason why there is none.
    pub answer: Result<String, String>,
}

/// Returns the folder of the only session with questions below a folder.
///
/// # Errors
/// The folders, if there is no such session or more than one.
pub fn only_below(folder: &Path) -> Result<PathBuf, Vec<PathBuf>> {
    let (mut found, mut left) = (Vec::new(), vec![(folder.to_owned(), 0_u8)]);
    while let Some((folder, depth)) = left.pop() {
        if folder.join(QUESTIONS).is_file() {
            found.push(folder);
        } else if depth < 4 {
            let inner = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            let folders = inner.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            left.extend(folders.map(|entry| (entry.path(), depth.saturating_add(1))));
        }
    }
    found.sort();
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => Ok(only),
        (last, _) => {
            found.extend(last);
            Err(found)
        }
    }
}

/// Returns the data of a failed session: its record, its questions, and earlier answers.
#[must_use]
pub fn session_questions(
    folder: &Path,
) -> Option<(SessionRecord, Vec<FailureQuestion>, Option<Vec<AnsweredQuestion>>)> {
    let questions = serde_json::from_slice(&std::fs::read(folder.join(QUESTIONS)).ok()?).ok()?;
    let answers = std::fs::read(folder.join(ANSWERS)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    Some((record_in(folder)?, questions, answers))
}

/// Asks the agent of a session these questions, one after the other, and saves the answers.
///
/// # Errors
/// The reason why the session cannot be continued, or the answers cannot be saved.
pub fn ask_questions(
    execution: &CaseExecution<'_>,
    folder: &Path,
    record: &SessionRecord,
    questions: &[FailureQuestion],
    supervisor: &Supervisor,
    allowed: &AllowedVariables,
    stop: &AtomicBool,
) -> Result<Vec<AnsweredQuestion>, String> {
    let agent = execution.runner.agent.ok_or("only sessions of known agents can be gone on with")?;
    let session = record.session.as_deref().ok_or("the transcript does not tell the id of the session")?;
    let cwd = match (&record.workspace, &execution.suite.workspace) {
        (Some(workspace), _) => PathBuf::from(workspace),
        (None, WorkspacePlan::Existing(cwd)) => cwd.clone(),
        (None, WorkspacePlan::Created { .. }) => return Err("the workspace of the session is gone".to_owned()),
    };
    let place = SessionPlace { folder: folder.to_owned(), cwd };
    let means = LaunchMeans { supervisor, allowed, bytes: 64 << 20, stop };
    let variables = agent_variables(execution, &place, allowed);
    let shown = place.cwd.to_string_lossy();
    let mut answers = Vec::new();
    for question in questions {
        let filled = WordValues { model: &execution.runner.model, prompt: &question.question, cwd: &shown, session };
        let words: Vec<String> =
            execution.runner.command.iter().cloned().chain(filled.fill_words(agent.further)).collect();
        let (output, error) = (folder.join("answer.log"), folder.join("answer.stderr.log"));
        let program = ChildProgram {
            words: &words,
            folder: &place.cwd,
            variables: &variables,
            limits: ChildLimits { time: TIME, bytes: means.bytes, steps: None },
            output: output.clone(),
            error: error.clone(),
            forgets: None,
        };
        let answer = match execute_program(supervisor, &program, stop) {
            Ok((ProgramEnd::Itself(0), _)) => Ok(read_answer(&output)),
            Ok((ProgramEnd::Itself(code), _)) => Err(format!("it ended with exit code {code}{}", last_words(&error))),
            Ok((ProgramEnd::Late, _)) => Err(format!("it took longer than {}", in_words(TIME))),
            Ok(_) => Err("it was ended".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        answers.push(AnsweredQuestion { of: question.clone(), answer });
    }
    let kept = pretty_json(&answers).and_then(|text| replace_file(&folder.join(ANSWERS), &text));
    kept.map(|()| answers).map_err(|error| format!("the answers cannot be kept: {error}"))
}

/// Returns the answer from a transcript; otherwise the text itself.
fn read_answer(log: &Path) -> String {
    let limits = ReadLimits::default();
    let arena = bumpalo::Bump::new();
    let runs = TraceRuns::open_file(&log.to_string_lossy(), &limits).ok().into_iter().flatten().flatten();
    for raw in runs {
        if let Ok(run) = parse_run(&raw, &arena, &limits)
            && let Value::Text(text) = &run.root_value(of_run::OUTPUT).value
        {
            return text.as_str().to_owned();
        }
    }
    let text = std::fs::read(log).unwrap_or_default();
    String::from_utf8_lossy(text.get(..text.len().min(PLAIN)).unwrap_or_default()).trim().to_owned()
}
