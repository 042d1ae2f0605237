//! One session: a workspace, an agent that works in it, its transcript, and what is kept of all that.

use crate::agents::{Agent, Filled, Place as VariablePlace, Transcript};
use crate::collect::{Before, Collected, collect};
use crate::copied;
use crate::environment::Allowed;
use crate::execute::{Ended, Limits, Program, execute};
use crate::folder::place;
use crate::place::{Number, Place, Session};
use crate::plan::{Execution, Suite, Workspace};
use crate::record::{Outcome, Record};
use crate::rejected::model_is_rejected;
use crate::run_line::{Beside, broken_off, completed};
use crate::runs::Runs;
use crate::stream::{End, end_of};
use crate::workspace::{self, Failure, Making, Means, in_words, said};
use crate::world::World;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What is known of a session before it begins.
pub(crate) fn begun(execution: &Execution<'_>, number: Number) -> Record {
    Record {
        suite: execution.suite.name.clone(),
        case: execution.case.name.clone(),
        runner: execution.runner.name.clone(),
        repetition: number.repetition,
        attempt: number.attempt,
        outcome: Outcome::Completed,
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

/// Runs a session. `None` where this program is to end: then nothing is known of it.
///
/// # Errors
/// What is kept of it cannot be written.
pub(crate) fn run(
    execution: &Execution<'_>,
    number: Number,
    place: &Place,
    runs: &Runs<'_>,
) -> std::io::Result<Option<Session>> {
    let means = runs.means();
    copied::remove(&place.folder)?;
    std::fs::create_dir_all(&place.folder)?;
    let (mut record, begun_at) = (begun(execution, number), Instant::now());
    let prepared = prepared(execution, place, means);
    // Where the folder is before an agent can put something else into its place.
    let real = place.cwd.canonicalize().ok();
    let found = prepared.and_then(|()| agent(execution, place, means, &mut record));
    if means.stop.load(std::sync::atomic::Ordering::Relaxed) {
        return Ok(None);
    }
    record.duration_ms = u64::try_from(begun_at.elapsed().as_millis()).unwrap_or(u64::MAX);
    let id = record.name(execution.suite.repeat);
    if let Err((outcome, why)) = &found {
        (record.outcome, record.why) = (*outcome, why.clone());
    }
    let read = found.and_then(|collected| {
        let Collected { transcript, usage, session } = collected;
        let keeps_files = matches!(execution.suite.workspace, Workspace::There(_));
        let beside = Beside { record: &record, id: &id, prompt: &execution.case.prompt, keeps_files, usage, session };
        completed(&transcript, &beside, runs.as_skillgym).map_err(|why| (Outcome::Normalization, why))
    });
    let run = match read {
        Ok(read) => {
            record.session = read.session;
            let asked = matches!(execution.suite.workspace, Workspace::There(_));
            let folder = real.filter(|real| place.cwd.canonicalize().is_ok_and(|now| now == *real));
            let world = folder.map(|_| World::of(&place.cwd, asked, &read.line, runs.look));
            world.unwrap_or_else(World::unknown).into_run(&read.line, read.says_files)
        }
        Err((outcome, why)) => {
            (record.outcome, record.why) = (outcome, why);
            broken_off(&record, &id)
        }
    };
    Ok(Some(Session { record, run }))
}

fn prepared(execution: &Execution<'_>, place: &Place, means: Means<'_>) -> Result<(), Failure> {
    let Workspace::Made { isolated: true, of, bootstrap, variables } = &execution.suite.workspace else {
        return Ok(());
    };
    let told = told(execution, place, variables);
    let making = Making {
        of,
        bootstrap: bootstrap.as_ref(),
        variables: &told,
        folder: &place.cwd,
        logs: &place.folder,
        time: execution.time(),
    };
    workspace::make(&making, means)
}

/// The variables of a workspace, with those that say where it is.
fn told(execution: &Execution<'_>, place: &Place, variables: &[(String, String)]) -> Vec<(String, String)> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut told = variables.to_vec();
    told.push(("AVERMENT_CASE".to_owned(), execution.case.name.clone()));
    told.push(("AVERMENT_RUNNER".to_owned(), execution.runner.name.clone()));
    told.push(("AVERMENT_SESSION".to_owned(), text(&place.folder)));
    told.push(("AVERMENT_WORKSPACE".to_owned(), text(&place.cwd)));
    told
}

/// Runs the agent, and finds its transcript.
fn agent(
    execution: &Execution<'_>,
    place: &Place,
    means: Means<'_>,
    record: &mut Record,
) -> Result<Collected, Failure> {
    let failed = |error: std::io::Error| (Outcome::RunnerCrash, error.to_string());
    let home = Home::filled(execution.runner.agent, &place.folder).map_err(failed)?;
    let variables = variables(execution, place, means.allowed);
    let words = words(execution, place);
    let limits = Limits {
        time: execution.time(),
        bytes: means.bytes,
        steps: execution.runner.agent.map(|agent| agent.step).zip(execution.max_steps()),
    };
    let program = Program {
        words: &words,
        folder: &place.cwd,
        variables: &variables,
        limits,
        output: place.output(),
        error: place.error(),
        forgets: home.credentials.as_deref(),
    };
    record.command.clone_from(&words);
    let before = Before::of(execution, place).map_err(failed)?;
    let (ended, steps) = execute(means.supervisor, &program, means.stop).map_err(failed)?;
    record.steps = limits.steps.map(|_| steps);
    let collected = match ended {
        Ended::Itself(0) => collect(execution, place, &variables, &before, means)
            .map_err(|why| (Outcome::Collection, why))
            .and_then(|collected| whole(execution, place, collected)),
        Ended::Itself(code) => {
            record.exit_code = Some(code);
            if model_is_rejected(execution.runner.agent, &place.output(), &place.error()) {
                let why = format!("the agent does not know the model `{}`", execution.runner.model);
                Err((Outcome::ModelRejected, why))
            } else {
                Err((Outcome::RunnerCrash, format!("it ended with exit code {code}{}", said(&place.error()))))
            }
        }
        Ended::Late => Err((Outcome::Timeout, format!("it took longer than {} and was ended", in_words(limits.time)))),
        Ended::Steps(steps) => {
            let most = execution.max_steps().unwrap_or(0);
            Err((
                Outcome::MaxSteps,
                format!("it did {steps} steps, and {most} are allowed; it was ended, what it wrote is kept"),
            ))
        }
        Ended::Long => Err((Outcome::RunnerCrash, format!("it wrote more than {} bytes and was ended", limits.bytes))),
        Ended::Stopped => Err((Outcome::RunnerCrash, "it was stopped".to_owned())),
    };
    if collected.is_ok() {
        record.exit_code = Some(0);
    }
    drop(home);
    collected
}

/// A transcript of a session that came to its end, as its events say.
fn whole(execution: &Execution<'_>, place: &Place, collected: Collected) -> Result<Collected, Failure> {
    let ends = [place.output(), collected.transcript.clone()].map(|log| end_of(&log));
    match ends.into_iter().find(|end| *end != End::Whole) {
        None | Some(End::Whole) => Ok(collected),
        Some(End::Failed(_)) if model_is_rejected(execution.runner.agent, &place.output(), &place.error()) => {
            let why = format!("the agent does not know the model `{}`", execution.runner.model);
            Err((Outcome::ModelRejected, why))
        }
        Some(End::Failed(why)) => Err((Outcome::RunnerCrash, format!("the agent says that it failed: {why}"))),
        Some(End::Cut(missing)) => {
            Err((Outcome::Normalization, format!("the transcript breaks off: it has no {missing}")))
        }
        Some(End::Several) => Err((Outcome::Normalization, "the transcript is of several sessions".to_owned())),
    }
}

/// The command line of a session.
pub(crate) fn words(execution: &Execution<'_>, place: &Place) -> Vec<String> {
    let runner = execution.runner;
    let (cwd, folder) = (place.cwd.to_string_lossy(), place.folder.to_string_lossy());
    let filled = Filled { model: &runner.model, prompt: &execution.case.prompt, cwd: &cwd, session: "" };
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
    runner.command.iter().cloned().chain(filled.words(agent.arguments)).collect()
}

/// What would be run, a line of JSON for each session that is the first try of its repetition: nothing is made, and no values of variables are
/// told.
#[must_use]
pub fn would_run(suites: &[Suite], folder: &Path, allowed: &Allowed) -> Vec<String> {
    let mut lines = Vec::new();
    for execution in suites.iter().flat_map(Suite::executions) {
        for repetition in 1..=execution.suite.repeat {
            let place = place(folder, &execution, Number { repetition, attempt: 1 });
            let names = variables(&execution, &place, allowed).into_iter();
            let names: Vec<String> = names.map(|(name, _)| name.to_string_lossy().into_owned()).collect();
            let bootstrap = match &execution.suite.workspace {
                Workspace::Made { bootstrap: Some(bootstrap), .. } => bootstrap.words.as_slice(),
                _ => &[],
            };
            let line = serde_json::json!({
                "case": execution.case.name,
                "runner": execution.runner.name,
                "repetition": repetition,
                "cwd": place.cwd,
                "bootstrap": bootstrap,
                "command": words(&execution, &place),
                "variables": names,
                "timeout_ms": u64::try_from(execution.time().as_millis()).unwrap_or(u64::MAX),
                "max_steps": execution.max_steps(),
            });
            lines.push(line.to_string());
        }
    }
    lines
}

/// A word with what its names in braces stand for; what is put in is not looked at again.
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

/// The variables of an agent.
pub(crate) fn variables(execution: &Execution<'_>, place: &Place, allowed: &Allowed) -> Vec<(OsString, OsString)> {
    let runner = execution.runner;
    let of_agent = runner.agent.map_or(&[][..], |agent| agent.variables).iter().map(|(name, value)| {
        let value = match value {
            VariablePlace::Is(value) => (*value).to_owned(),
            VariablePlace::In(path) => place.folder.join(path).to_string_lossy().into_owned(),
        };
        ((*name).to_owned(), value)
    });
    let of_workspace = match &execution.suite.workspace {
        Workspace::Made { variables, .. } => variables.as_slice(),
        Workspace::There(_) => &[],
    };
    let mut set: Vec<(String, String)> = of_agent.collect();
    for (name, value) in of_workspace.iter().chain(&runner.variables) {
        set.retain(|(known, _)| known != name);
        set.push((name.clone(), value.clone()));
    }
    allowed.variables(runner.agent, &runner.passed, &set)
}

/// A home of an agent in the folder of the session, filled with what it needs to be known to its service. Credentials leave with it.
struct Home {
    credentials: Option<PathBuf>,
}

impl Home {
    fn filled(agent: Option<&Agent>, folder: &Path) -> std::io::Result<Self> {
        use std::os::unix::fs::PermissionsExt as _;
        let Some(Agent { transcript: Transcript::Newest { home, from, seeds, .. }, .. }) = agent else {
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

impl Drop for Home {
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
