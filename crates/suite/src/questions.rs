//! Questions to an agent about a session of its own that failed.

use crate::agents::Filled;
use crate::environment::Allowed;
use crate::execute::{Ended, Limits, Program, Supervisor, execute};
use crate::folder::{QUESTIONS, pretty, record_in, replace};
use crate::place::Place;
use crate::plan::{Execution, Workspace};
use crate::record::{Question, Record};
use crate::session::variables;
use crate::workspace::{Means, in_words, said};
use averment_base::limits::Limits as ReadLimits;
use averment_base::value::Value;
use averment_runs::normal::of_run;
use averment_traces::read::{Runs, parse};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How long an answer may take.
const TIME: Duration = Duration::from_secs(300);
/// Bytes of an answer that is no transcript.
const PLAIN: usize = 16 << 10;
const ANSWERS: &str = "answers.json";

/// A question with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// The question.
    #[serde(flatten)]
    pub of: Question,
    /// What the agent said; or why it said nothing.
    pub answer: Result<String, String>,
}

/// The folder of the only session below a folder that has questions.
///
/// # Errors
/// There is none, or several: their folders.
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

/// What is kept of a session that failed: its record, its questions, and the answers if it was asked before.
#[must_use]
pub fn of_session(folder: &Path) -> Option<(Record, Vec<Question>, Option<Vec<Answered>>)> {
    let questions = serde_json::from_slice(&std::fs::read(folder.join(QUESTIONS)).ok()?).ok()?;
    let answers = std::fs::read(folder.join(ANSWERS)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    Some((record_in(folder)?, questions, answers))
}

/// Asks the agent of a session these questions, one after the other, and keeps the answers.
///
/// # Errors
/// The session cannot be gone on with, or the answers cannot be kept: why.
pub fn ask(
    execution: &Execution<'_>,
    folder: &Path,
    record: &Record,
    questions: &[Question],
    supervisor: &Supervisor,
    allowed: &Allowed,
    stop: &AtomicBool,
) -> Result<Vec<Answered>, String> {
    let agent = execution.runner.agent.ok_or("only sessions of known agents can be gone on with")?;
    let session = record.session.as_deref().ok_or("the transcript does not tell the id of the session")?;
    let cwd = match (&record.workspace, &execution.suite.workspace) {
        (Some(workspace), _) => PathBuf::from(workspace),
        (None, Workspace::There(cwd)) => cwd.clone(),
        (None, Workspace::Made { .. }) => return Err("the workspace of the session is gone".to_owned()),
    };
    let place = Place { folder: folder.to_owned(), cwd };
    let means = Means { supervisor, allowed, bytes: 64 << 20, stop };
    let variables = variables(execution, &place, allowed);
    let shown = place.cwd.to_string_lossy();
    let mut answers = Vec::new();
    for question in questions {
        let filled = Filled { model: &execution.runner.model, prompt: &question.question, cwd: &shown, session };
        let words: Vec<String> = execution.runner.command.iter().cloned().chain(filled.words(agent.further)).collect();
        let (output, error) = (folder.join("answer.log"), folder.join("answer.stderr.log"));
        let program = Program {
            words: &words,
            folder: &place.cwd,
            variables: &variables,
            limits: Limits { time: TIME, bytes: means.bytes, steps: None },
            output: output.clone(),
            error: error.clone(),
            forgets: None,
        };
        let answer = match execute(supervisor, &program, stop) {
            Ok((Ended::Itself(0), _)) => Ok(answer(&output)),
            Ok((Ended::Itself(code), _)) => Err(format!("it ended with exit code {code}{}", said(&error))),
            Ok((Ended::Late, _)) => Err(format!("it took longer than {}", in_words(TIME))),
            Ok(_) => Err("it was ended".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        answers.push(Answered { of: question.clone(), answer });
    }
    let kept = pretty(&answers).and_then(|text| replace(&folder.join(ANSWERS), &text));
    kept.map(|()| answers).map_err(|error| format!("the answers cannot be kept: {error}"))
}

/// The answer in a transcript; the text itself where it is none.
fn answer(log: &Path) -> String {
    let limits = ReadLimits::default();
    let arena = bumpalo::Bump::new();
    let runs = Runs::open(&log.to_string_lossy(), &limits).ok().into_iter().flatten().flatten();
    for raw in runs {
        if let Ok(run) = parse(&raw, &arena, &limits)
            && let Value::Text(text) = &run.root(of_run::OUTPUT).value
        {
            return text.as_str().to_owned();
        }
    }
    let text = std::fs::read(log).unwrap_or_default();
    String::from_utf8_lossy(text.get(..text.len().min(PLAIN)).unwrap_or_default()).trim().to_owned()
}
