//! Runs one session: a workspace, an agent that works in it, its transcript, and its record.

use crate::agents::{AgentSpec, TranscriptSource, VariableSource as VariablePlace, WordValues};
use crate::collect::{CollectedTranscript, PriorTrace, collect_transcript};
use crate::environment::AllowedVariables;
use crate::execute::{ChildLimits, ChildProgram, ProgramEnd, execute_program};
use crate::folder::session_place;
use crate::folder_copy;
use crate::model_rejection::model_is_rejected;
use crate::place::{EndedSession, SessionNumber, SessionPlace};
use crate::plan::{CaseExecution, PlannedSuite, WorkspacePlan};
use crate::record::{SessionOutcome, SessionRecord};
use crate::run_line::{SessionFacts, broken_off, complete_run};
use crate::runs::SuiteContext;
use crate::stream::{StreamEnd, end_of};
use crate::workspace::{self, LaunchMeans, WorkspaceBuild, WorkspaceFailure, in_words, last_words};
use crate::world::WorldRecord;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) fn begin_record(execution: &CaseExecution<'_>, number: SessionNumber) -> SessionRecord {
    SessionRecord {
        suite: execution.suite.name.clone(),
        case: execution.case.name.clone(),
        runner: execution.runner.name.clone(),
        repetition: number.repetition,
        attempt: number.attempt,
        outcome: SessionOutcome::Completed,
        why: String::new(),
        agent: execution.runner.agent.map(|agent| agent.name.to_owned()),
        model: execution.runner.model.clone(),
        session: None,
        command: Vec::new(),
        exit_code: None,
        steps: None,
        duration_ms: 0,
        workspace: None,
    }
}

/// Runs a session. Returns `None` if this program is stopping; then nothing is known about the session.
///
/// # Errors
/// If a result cannot be saved.
pub(crate) fn run_session(
    execution: &CaseExecution<'_>,
    number: SessionNumber,
    place: &SessionPlace,
    runs: &SuiteContext<'_>,
) -> std::io::Result<Option<EndedSession>> {
    let means = runs.launch_means();
    folder_copy::remove_folder(&place.folder)?;
    std::fs::create_dir_all(&place.folder)?;
    let (mut record, begun_at) = (begin_record(execution, number), Instant::now());
    let prepared = prepare_workspace(execution, place, means);
    // Resolves the folder before an agent can replace it.
    let real = place.cwd.canonicalize().ok();
    let found = prepared.and_then(|()| run_agent(execution, place, means, &mut record));
    if means.stop.load(std::sync::atomic::Ordering::Relaxed) {
        return Ok(None);
    }
    record.duration_ms = u64::try_from(begun_at.elapsed().as_millis()).unwrap_or(u64::MAX);
    let id = record.report_name(execution.suite.repeat);
    if let Err((outcome, why)) = &found {
        (record.outcome, record.why) = (*outcome, why.clone());
    }
    let read = found.and_then(|collected| {
        let CollectedTranscript { transcript, usage, session } = collected;
        let keeps_files = matches!(execution.suite.workspace, WorkspacePlan::Existing(_));
        let beside =
            SessionFacts { record: &record, id: &id, prompt: &execution.case.prompt, keeps_files, usage, session };
        complete_run(&transcript, &beside, runs.as_skillgym).map_err(|why| (SessionOutcome::Normalization, why))
    });
    let run = match read {
        Ok(read) => {
            record.session = read.session;
            let asked = matches!(execution.suite.workspace, WorkspacePlan::Existing(_));
            let folder = real.filter(|real| place.cwd.canonicalize().is_ok_and(|now| now == *real));
            let world = folder.map(|_| WorldRecord::of_folder(&place.cwd, asked, &read.line, runs.look));
            world.unwrap_or_else(WorldRecord::nothing_known).into_run(&read.line, read.says_files)
        }
        Err((outcome, why)) => {
            (record.outcome, record.why) = (outcome, why);
            broken_off(&record, &id)
        }
    };
    Ok(Some(EndedSession { record, run }))
}

fn prepare_workspace(
    execution: &CaseExecution<'_>,
    place: &SessionPlace,
    means: LaunchMeans<'_>,
) -> Result<(), WorkspaceFailure> {
    let WorkspacePlan::Created { isolated: true, of, bootstrap, variables } = &execution.suite.workspace else {
        return Ok(());
    };
    let told = workspace_variables(execution, place, variables);
    let making = WorkspaceBuild {
        of,
        bootstrap: bootstrap.as_ref(),
        variables: &told,
        folder: &place.cwd,
        logs: &place.folder,
        time: execution.time_limit(),
    };
    workspace::make_workspace(&making, means)
}

fn workspace_variables(
    execution: &CaseExecution<'_>,
    place: &SessionPlace,
    variables: &[(String, String)],
) -> Vec<(String, String)> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut told = variables.to_vec();
    told.push(("AVERMENT_CASE".to_owned(), execution.case.name.clone()));
    told.push(("AVERMENT_RUNNER".to_owned(), execution.runner.name.clone()));
    told.push(("AVERMENT_SESSION".to_owned(), text(&place.folder)));
    told.push(("AVERMENT_WORKSPACE".to_owned(), text(&place.cwd)));
    // An isolated workspace is `FOLDER/workspaces/CASE/RUNNER`.
    let output = place.cwd.ancestors().nth(3).unwrap_or(&place.folder);
    told.extend(workspace::skillgym_variables(&place.cwd, output, &place.folder));
    told.push(("SKILLGYM_CASE_ID".to_owned(), execution.case.name.clone()));
    told.push(("SKILLGYM_RUNNER_ID".to_owned(), execution.runner.name.clone()));
    told
}

fn run_agent(
    execution: &CaseExecution<'_>,
    place: &SessionPlace,
    means: LaunchMeans<'_>,
    record: &mut SessionRecord,
) -> Result<CollectedTranscript, WorkspaceFailure> {
    let failed = |error: std::io::Error| (SessionOutcome::RunnerCrash, error.to_string());
    let home = AgentHome::fill_home(execution.runner.agent, &place.folder).map_err(failed)?;
    let variables = agent_variables(execution, place, means.allowed);
    let words = command_words(execution, place);
    let limits = ChildLimits {
        time: execution.time_limit(),
        bytes: means.bytes,
        steps: execution.runner.agent.map(|agent| agent.step).zip(execution.max_steps()),
    };
    let program = ChildProgram {
        words: &words,
        folder: &place.cwd,
        variables: &variables,
        limits,
        output: place.output_log(),
        error: place.error_log(),
        forgets: home.credentials.as_deref(),
    };
    record.command.clone_from(&words);
    let before = PriorTrace::look_before(execution, place).map_err(failed)?;
    let (ended, steps) = execute_program(means.supervisor, &program, means.stop).map_err(failed)?;
    record.steps = limits.steps.map(|_| steps);
    let collected = match ended {
        ProgramEnd::Itself(0) => collect_transcript(execution, place, &variables, &before, means)
            .map_err(|why| (SessionOutcome::Collection, why))
            .and_then(|collected| check_stream(execution, place, collected)),
        ProgramEnd::Itself(code) => {
            record.exit_code = Some(code);
            if model_is_rejected(execution.runner.agent, &place.output_log(), &place.error_log()) {
                let why = format!("the agent does not know the model `{}`", execution.runner.model);
                Err((SessionOutcome::ModelRejected, why))
            } else {
                Err((
                    SessionOutcome::RunnerCrash,
                    format!("it ended with exit code {code}{}", last_words(&place.error_log())),
                ))
            }
        }
        ProgramEnd::Late => {
            Err((SessionOutcome::Timeout, format!("it took longer than {} and was ended", in_words(limits.time))))
        }
        ProgramEnd::Steps(steps) => {
            let most = execution.max_steps().unwrap_or(0);
            Err((
                SessionOutcome::MaxSteps,
                format!("it did {steps} steps, and {most} are allowed; it was ended, what it wrote is kept"),
            ))
        }
        ProgramEnd::Long => {
            Err((SessionOutcome::RunnerCrash, format!("it wrote more than {} bytes and was ended", limits.bytes)))
        }
        ProgramEnd::Stopped => Err((SessionOutcome::RunnerCrash, "it was stopped".to_owned())),
    };
    if collected.is_ok() {
        record.exit_code = Some(0);
    }
    drop(home);
    collected
}

/// Checks by its events that a transcript is complete.
fn check_stream(
    execution: &CaseExecution<'_>,
    place: &SessionPlace,
    collected: CollectedTranscript,
) -> Result<CollectedTranscript, WorkspaceFailure> {
    let ends = [place.output_log(), collected.transcript.clone()].map(|log| end_of(&log));
    match ends.into_iter().find(|end| *end != StreamEnd::Whole) {
        None | Some(StreamEnd::Whole) => Ok(collected),
        Some(StreamEnd::Failed(_))
            if model_is_rejected(execution.runner.agent, &place.output_log(), &place.error_log()) =>
        {
            let why = format!("the agent does not know the model `{}`", execution.runner.model);
            Err((SessionOutcome::ModelRejected, why))
        }
        Some(StreamEnd::Failed(why)) => {
            Err((SessionOutcome::RunnerCrash, format!("the agent says that it failed: {why}")))
        }
        Some(StreamEnd::Cut(missing)) => {
            Err((SessionOutcome::Normalization, format!("the transcript breaks off: it has no {missing}")))
        }
        Some(StreamEnd::Several) => {
            Err((SessionOutcome::Normalization, "the transcript is of several sessions".to_owned()))
        }
    }
}

pub(crate) fn command_words(execution: &CaseExecution<'_>, place: &SessionPlace) -> Vec<String> {
    let runner = execution.runner;
    let (cwd, folder) = (place.cwd.to_string_lossy(), place.folder.to_string_lossy());
    let filled = WordValues { model: &runner.model, prompt: &execution.case.prompt, cwd: &cwd, session: "" };
    let Some(agent) = runner.agent else {
        let named = [
            ("{prompt}", execution.case.prompt.as_str()),
            ("{model}", &runner.model),
            ("{cwd}", &cwd),
            ("{session}", &folder),
        ];
        let mut words: Vec<String> = runner.command.iter().map(|word| put_in(word, &named)).collect();
        if !runner.command.iter().any(|word| word.contains("{prompt}")) {
            words.push(execution.case.prompt.clone());
        }
        return words;
    };
    runner.command.iter().cloned().chain(filled.fill_words(agent.arguments)).collect()
}

/// Returns one JSON line for each first attempt that would run; runs nothing and reveals no values of variables.
#[must_use]
pub fn would_run(suites: &[PlannedSuite], folder: &Path, allowed: &AllowedVariables) -> Vec<String> {
    let mut lines = Vec::new();
    for execution in suites.iter().flat_map(PlannedSuite::executions) {
        for repetition in 1..=execution.suite.repeat {
            let place = session_place(folder, &execution, SessionNumber { repetition, attempt: 1 });
            let names = agent_variables(&execution, &place, allowed).into_iter();
            let names: Vec<String> = names.map(|(name, _)| name.to_string_lossy().into_owned()).collect();
            let bootstrap = match &execution.suite.workspace {
                WorkspacePlan::Created { bootstrap: Some(bootstrap), .. } => bootstrap.words.as_slice(),
                _ => &[],
            };
            let line = serde_json::json!({
                "case": execution.case.name,
                "runner": execution.runner.name,
                "repetition": repetition,
                "cwd": place.cwd,
                "bootstrap": bootstrap,
                "command": command_words(&execution, &place),
                "variables": names,
                "timeout_ms": u64::try_from(execution.time_limit().as_millis()).unwrap_or(u64::MAX),
                "max_steps": execution.max_steps(),
            });
            lines.push(line.to_string());
        }
    }
    lines
}

/// Replaces placeholders; inserted text is not expanded again.
fn put_in(word: &str, named: &[(&str, &str)]) -> String {
    let (mut out, mut rest) = (String::new(), word);
    while let Some(at) = rest.find('{') {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        let (name, value) = named.iter().find(|(name, _)| behind.starts_with(name)).copied().unwrap_or(("{", "{"));
        out.push_str(value);
        rest = behind.get(name.len()..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

pub(crate) fn agent_variables(
    execution: &CaseExecution<'_>,
    place: &SessionPlace,
    allowed: &AllowedVariables,
) -> Vec<(OsString, OsString)> {
    let runner = execution.runner;
    let of_agent = runner.agent.map_or(&[][..], |agent| agent.variables).iter().map(|(name, value)| {
        let value = match value {
            VariablePlace::Is(value) => (*value).to_owned(),
            VariablePlace::In(path) => place.folder.join(path).to_string_lossy().into_owned(),
        };
        ((*name).to_owned(), value)
    });
    let of_workspace = match &execution.suite.workspace {
        WorkspacePlan::Created { variables, .. } => variables.as_slice(),
        WorkspacePlan::Existing(_) => &[],
    };
    let mut set: Vec<(String, String)> = of_agent.collect();
    for (name, value) in of_workspace.iter().chain(&runner.variables) {
        set.retain(|(known, _)| known != name);
        set.push((name.clone(), value.clone()));
    }
    allowed.program_variables(runner.agent, &runner.passed, &set)
}

/// An agent's home in the session's folder, with its credentials, which are removed on drop.
struct AgentHome {
    credentials: Option<PathBuf>,
}

impl AgentHome {
    fn fill_home(agent: Option<&AgentSpec>, folder: &Path) -> std::io::Result<Self> {
        use std::os::unix::fs::PermissionsExt as _;
        let Some(AgentSpec { transcript: TranscriptSource::Newest { home, from, seeds, .. }, .. }) = agent else {
            return Ok(Self { credentials: None });
        };
        let home = folder.join(home);
        std::fs::create_dir_all(&home)?;
        std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o700))?;
        if let Some(user) = std::env::var_os("HOME") {
            for seed in *seeds {
                let seeded = std::fs::copy(Path::new(&user).join(from).join(seed), home.join(seed));
                seeded.map(drop).or_else(not_there)?;
            }
        }
        Ok(Self { credentials: seeds.first().map(|seed| home.join(seed)) })
    }
}

fn not_there(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

impl Drop for AgentHome {
    fn drop(&mut self) {
        if let Some(credentials) = &self.credentials {
            let _gone_already = std::fs::remove_file(credentials);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_something_is_put_in_once() {
        let named = [("{prompt}", "say {model}"), ("{model}", "m")];
        assert_eq!(put_in("--ask={prompt}", &named), "--ask=say {model}");
        assert_eq!(put_in("{model}/{other}{", &named), "m/{other}{");
    }
}
