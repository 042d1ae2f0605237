//! `aver guard install AGENT RULES`: adds the guard hook to the settings of an agent.

use super::super::console::{ColorChoice, eprint_redacted};
use super::super::exit::{CommandError, Exit};
use super::super::{draft_file, io_error_text};
use super::{GuardRules, guard_rules, word_parser};
use averment_guard::agent::Agent;
use averment_guard::install::{edit_settings, settings_path, trust_note};
use averment_guard::transcript::transcript_folder;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Arguments of `guard install`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver guard install claude rules.assert                 for the project in this folder
  aver guard install codex rules.assert --user           for all projects of the user
  aver guard install claude rules.assert --mode warn     tells, and denies nothing
  aver guard install claude rules.assert --dry-run       shows what would be written
  aver guard install claude --uninstall

Codex, Gemini CLI and Copilot CLI leave out hooks that nobody has trusted: what to do is told when one is installed.")]
pub struct InstallArgs {
    /// The agent: claude, codex, gemini, cursor, copilot
    #[arg(value_parser = word_parser(&Agent::ALL), value_name = "AGENT", hide_possible_values = true)]
    agent: Agent,
    /// A rule file, or a folder of them
    #[arg(required_unless_present = "uninstall", value_name = "RULES")]
    rules: Vec<PathBuf>,
    #[command(flatten)]
    guard: GuardRules,
    /// Where the logs of sessions are kept [default: averment/guard below $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Begin a session that the guard meets in its middle with the agent's own transcript (Claude Code, Gemini CLI)
    #[arg(long)]
    seed_from_transcript: bool,
    /// For the user, in all projects, not for the project in this folder
    #[arg(long)]
    user: bool,
    /// Take the guard out of the settings
    #[arg(long)]
    uninstall: bool,
    /// Print the settings, and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run_install(arguments: &InstallArgs, _: ColorChoice) -> Result<Exit, CommandError> {
    let agent = arguments.agent;
    let below = if arguments.user { home_folder()? } else { PathBuf::from(".") };
    let path = settings_path(agent, &below, arguments.user);
    let before = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(unusable(&path, &io_error_text(&error))),
    };
    // Building the command loads the rules, so that compile errors and missing parameters show up now and not at a later call.
    let command = if arguments.uninstall { None } else { Some(hook_command(arguments)?) };
    let after = edit_settings(agent, &before, command.as_deref()).map_err(|problem| unusable(&path, &problem))?;
    let changed = after.as_deref().unwrap_or_default() != before;
    if arguments.dry_run {
        std::io::stdout().write_all(after.as_deref().unwrap_or_default().as_bytes())?;
        return Ok(Exit::Holds);
    }
    let shown = path.display();
    if !changed {
        let state = if arguments.uninstall { "holds no guard" } else { "holds the guard already" };
        eprint_redacted(&format!("`{shown}` {state}\n"));
        return Ok(Exit::Holds);
    }
    match &after {
        Some(text) => write_settings(&path, text)?,
        None => std::fs::remove_file(&path).map_err(|error| unusable(&path, &io_error_text(&error)))?,
    }
    let what = match (&command, &after) {
        (Some(command), _) => format!("`{shown}`: {} asks `{command}` before each call\n", agent.name()),
        (None, Some(_)) => format!("`{shown}`: the guard is taken out\n"),
        (None, None) => format!("`{shown}` held nothing but the guard and is removed\n"),
    };
    eprint_redacted(&what);
    if let Some(note) = trust_note(agent, arguments.user).filter(|_| command.is_some()) {
        eprint_redacted(&format!("{note}\n"));
    }
    Ok(Exit::Holds)
}

fn write_settings(path: &Path, text: &str) -> Result<(), CommandError> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| unusable(folder, &io_error_text(&error)))?;
    }
    let written = if path.exists() {
        draft_file::update_file(path, text.as_bytes())
    } else {
        draft_file::write_file(path, text.as_bytes())
    };
    written.map_err(|error| unusable(path, &io_error_text(&error)))
}

fn hook_command(arguments: &InstallArgs) -> Result<String, CommandError> {
    guard_rules(&arguments.rules, &arguments.guard)?;
    let program = std::env::current_exe().map_err(|error| unusable(Path::new("aver"), &io_error_text(&error)))?;
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut words = vec![text(&program), "guard".into(), "hook".into(), arguments.agent.word().into()];
    words.extend(arguments.rules.iter().map(|path| text(&absolute(path))));
    words.extend(["--mode".to_owned(), arguments.guard.mode.word().to_owned()]);
    for value in &arguments.guard.param {
        words.extend(["--param".to_owned(), value.clone()]);
    }
    for file in &arguments.guard.param_file {
        words.extend(["--param-file".to_owned(), text(&absolute(file))]);
    }
    if let Some(folder) = &arguments.state {
        words.extend(["--state".to_owned(), text(&absolute(folder))]);
    }
    if arguments.seed_from_transcript {
        transcript_folder(arguments.agent)
            .map_err(|problem| CommandError::usage(problem, "leave out `--seed-from-transcript`"))?;
        words.push("--seed-from-transcript".to_owned());
    }
    Ok(shell_words::join(words))
}

fn home_folder() -> Result<PathBuf, CommandError> {
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE")).map(PathBuf::from);
    home.ok_or_else(|| CommandError::usage("`HOME` is not set", "leave out `--user`, in the folder of a project"))
}

fn unusable(path: &Path, problem: &str) -> CommandError {
    CommandError::usage(
        format!("`{}` cannot be used: {problem}", path.display()),
        "mend it, or see what belongs into it with `--dry-run` in an empty folder",
    )
}
