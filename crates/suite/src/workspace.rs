//! Workspaces: created for one session or shared by all, prepared, and removed when no longer needed.

use crate::environment::AllowedVariables;
use crate::execute::{ChildLimits, ChildProgram, ProgramEnd, Supervisor, execute_program};
use crate::folder_copy;
use crate::plan::{Bootstrap, WorkspaceSource};
use crate::record::SessionOutcome;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Time limit for git.
const GIT_TIME: Duration = Duration::from_secs(300);
/// Maximum number of characters of an error.
const TOLD: usize = 400;

#[derive(Debug, Clone, Copy)]
pub(crate) struct LaunchMeans<'a> {
    pub supervisor: &'a Supervisor,
    pub allowed: &'a AllowedVariables,
    pub bytes: u64,
    pub stop: &'a AtomicBool,
}

#[derive(Debug)]
pub(crate) struct WorkspaceBuild<'a> {
    pub of: &'a WorkspaceSource,
    pub bootstrap: Option<&'a Bootstrap>,
    pub variables: &'a [(String, String)],
    /// The folder to create.
    pub folder: &'a Path,
    /// The folder for logs.
    pub logs: &'a Path,
    /// Default time limit of the bootstrap command.
    pub time: Duration,
}

/// Returns the variables under the names that SkillGym's bootstrap commands expect.
pub(crate) fn skillgym_variables(workspace: &Path, output: &Path, artifacts: &Path) -> [(String, String); 3] {
    let variable = |name: &str, path: &Path| (format!("SKILLGYM_{name}"), path.to_string_lossy().into_owned());
    [variable("WORKSPACE", workspace), variable("OUTPUT_DIR", output), variable("ARTIFACT_DIR", artifacts)]
}

pub(crate) type WorkspaceFailure = (SessionOutcome, String);

pub(crate) fn make_workspace(making: &WorkspaceBuild<'_>, means: LaunchMeans<'_>) -> Result<(), WorkspaceFailure> {
    let failed = |error: std::io::Error| (SessionOutcome::Workspace, format!("`{}`: {error}", making.folder.display()));
    folder_copy::remove_folder(making.folder).map_err(failed)?;
    match making.of {
        WorkspaceSource::Empty => std::fs::create_dir_all(making.folder).map_err(failed)?,
        WorkspaceSource::Template(template) => folder_copy::copy_folder(template, making.folder).map_err(|error| {
            (SessionOutcome::Workspace, format!("`{}` cannot be copied: {error}", template.display()))
        })?,
        WorkspaceSource::Worktree(repository, revision) => {
            if let Some(parent) = making.folder.parent() {
                std::fs::create_dir_all(parent).map_err(failed)?;
            }
            checked_out(repository, revision, making, means).map_err(|why| (SessionOutcome::Workspace, why))?;
        }
    }
    making.bootstrap.map_or(Ok(()), |bootstrap| run_bootstrap(bootstrap, making, means))
}

/// Creates a working tree in a clone, so that commits there never reach the original repository.
fn checked_out(
    repository: &Path,
    revision: &str,
    making: &WorkspaceBuild<'_>,
    means: LaunchMeans<'_>,
) -> Result<(), String> {
    let run = |folder: &Path, words: &[&str]| run_git(folder, words, making.logs, means);
    let commit = format!("{revision}^{{commit}}");
    let commit = run(repository, &["rev-parse", "--verify", "--quiet", &commit])
        .map_err(|_| format!("`{}` has no revision `{revision}`", repository.display()))?;
    let from = run(repository, &["rev-parse", "--path-format=absolute", "--git-common-dir"])?;
    let to = making.folder.to_string_lossy();
    run(repository, &["clone", "--quiet", "--shared", "--no-checkout", "--template=", "--", &from, &to])?;
    let branches = "+refs/heads/*:refs/heads/*";
    run(making.folder, &["fetch", "--quiet", "--update-head-ok", "origin", branches])?;
    run(making.folder, &["remote", "remove", "origin"])?;
    run(making.folder, &["checkout", "--quiet", "--detach", &commit]).map(drop)
}

fn run_bootstrap(
    bootstrap: &Bootstrap,
    making: &WorkspaceBuild<'_>,
    means: LaunchMeans<'_>,
) -> Result<(), WorkspaceFailure> {
    let written = bootstrap.words.join(" ");
    let failed = |why: String| (SessionOutcome::WorkspaceBootstrap, format!("`{written}` {why}"));
    let (output, error) = (making.logs.join("bootstrap.stdout.log"), making.logs.join("bootstrap.stderr.log"));
    let variables = means.allowed.program_variables(None, &[], making.variables);
    let limits = ChildLimits { time: bootstrap.time.unwrap_or(making.time), bytes: means.bytes, steps: None };
    let program = ChildProgram {
        words: &bootstrap.words,
        folder: making.folder,
        variables: &variables,
        limits,
        output,
        error: error.clone(),
        forgets: None,
    };
    let (ended, _) = execute_program(means.supervisor, &program, means.stop)
        .map_err(|error| failed(format!("cannot be run: {error}")))?;
    match ended {
        ProgramEnd::Itself(0) => Ok(()),
        ProgramEnd::Itself(code) => Err(failed(format!("ended with exit code {code}{}", last_words(&error)))),
        ProgramEnd::Late => Err(failed(format!("took longer than {}", in_words(limits.time)))),
        ProgramEnd::Long | ProgramEnd::Steps(_) => Err(failed("wrote more than is kept".to_owned())),
        ProgramEnd::Stopped => Err(failed("was stopped".to_owned())),
    }
}

/// Runs git in a folder; returns the line it prints.
fn run_git(folder: &Path, words: &[&str], logs: &Path, means: LaunchMeans<'_>) -> Result<String, String> {
    let words: Vec<String> = std::iter::once("git").chain(words.iter().copied()).map(str::to_owned).collect();
    let (output, error) = (logs.join("git.stdout.log"), logs.join("git.stderr.log"));
    let variables = means.allowed.program_variables(None, &[], &[]);
    let program = ChildProgram {
        words: &words,
        folder,
        variables: &variables,
        limits: ChildLimits { time: GIT_TIME, bytes: means.bytes, steps: None },
        output: output.clone(),
        error: error.clone(),
        forgets: None,
    };
    match execute_program(means.supervisor, &program, means.stop) {
        Ok((ProgramEnd::Itself(0), _)) => {
            std::fs::read_to_string(output).map(|line| line.trim_end().to_owned()).map_err(|error| error.to_string())
        }
        Ok((ProgramEnd::Itself(code), _)) => {
            Err(format!("`{}` ended with exit code {code}{}", words.join(" "), last_words(&error)))
        }
        Ok(_) => Err(format!("`{}` was ended", words.join(" "))),
        Err(error) => Err(format!("`{}` cannot be run: {error}", words.join(" "))),
    }
}

pub(crate) fn last_words(log: &Path) -> String {
    let bytes = std::fs::read(log).unwrap_or_default();
    let text =
        String::from_utf8_lossy(bytes.get(bytes.len().saturating_sub(64 << 10)..).unwrap_or_default()).into_owned();
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let last: String = last.trim().chars().take(TOLD).collect();
    if last.is_empty() { String::new() } else { format!(": {last}") }
}

pub(crate) fn in_words(time: Duration) -> String {
    let milliseconds = time.as_millis();
    if milliseconds.is_multiple_of(1_000) { format!("{}s", milliseconds / 1_000) } else { format!("{milliseconds}ms") }
}
