//! `aver guard`: enforces rules while an agent runs. A hook asks before each call; replays of recorded runs show which calls would have been denied.

use super::console::{ColorChoice, OutputStream, eprint_redacted};
use super::exit::{CommandError, Exit};
use super::{inputs, params, project, rules, state_folder};
use averment::Rules;
use averment::stages::JudgeSettings;
use averment_base::diagnostic::render::{TextColor, one_line, paint_text};
use averment_base::limits::Limits;
use averment_guard::agent::Agent;
use averment_guard::answer::HookAnswer;
use averment_guard::hook::SessionGuard;
use averment_guard::judge::GuardMode;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::io::{self, BufRead, Read as _, Write as _};
use std::path::{Path, PathBuf};

mod install;
mod listening;
mod mcp;
mod mcp_http;
mod replay;
mod serve;
mod tools;
mod watch;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver guard replay rules.assert runs/            what would have been denied
  aver guard install claude rules.assert          Claude Code asks before each call
  aver guard install claude rules.assert --uninstall
  aver guard mcp rules.assert -- npx -y some-mcp-server
  aver guard mcp rules.assert --url https://tools.example/mcp --listen 127.0.0.1:8765
  aver check rules.assert ~/.local/state/averment/guard    judges the sessions afterwards")]
pub struct GuardArgs {
    #[command(subcommand)]
    command: GuardCommand,
}

#[derive(Debug, clap::Subcommand)]
enum GuardCommand {
    /// Report which calls of recorded runs would have been denied
    Replay(replay::ReplayArgs),
    /// Follow sessions that grow, and report what they break
    Watch(watch::WatchArgs),
    /// Write the settings that make an agent ask the guard, or take them out
    Install(install::InstallArgs),
    /// Answer one event of an agent's hook on standard input
    Hook(HookArgs),
    /// Stand in front of an MCP server, and deny calls that break a rule
    Mcp(mcp::McpArgs),
    /// Answer programs that make calls themselves, on a local socket, over HTTP, or on standard input
    Serve(serve::ServeArgs),
}

/// Returns a clap parser for the words of a table.
fn word_parser<T: Copy + Send + Sync + 'static>(
    table: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(table.iter().map(|(word, _)| *word)).try_map(move |given| {
        table.iter().find(|(word, _)| *word == given).map(|(_, value)| *value).ok_or("there is no such word")
    })
}

/// Options about the rules of a guard, and the consequence for calls that break one.
#[derive(Debug, clap::Args)]
pub struct GuardRules {
    /// What becomes of a call that breaks a rule: enforce (it is not made), warn, log. Rules with `severity warn` warn at most, and those with `severity info` are logged
    #[arg(long, value_parser = word_parser(&GuardMode::ALL), default_value = "enforce", value_name = "MODE", hide_possible_values = true)]
    mode: GuardMode,
    /// A value for a parameter of the rules: limit=250
    #[arg(long, value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Values for parameters: a file with one JSON object
    #[arg(long, value_name = "FILE")]
    param_file: Vec<PathBuf>,
}

/// Arguments of `guard hook`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver guard hook claude rules.assert < event.json
  aver guard hook codex rules.assert --mode log
  aver guard hook claude rules.assert --seed-from-transcript

An agent calls this, as `aver guard install` sets it up. Exit codes: 0 answered (nothing, or one
object on standard output), 1 the event was not recorded, 2 the call is held back")]
pub struct HookArgs {
    /// The agent: claude, codex, gemini, cursor, copilot
    #[arg(value_parser = word_parser(&Agent::ALL), value_name = "AGENT", hide_possible_values = true)]
    agent: Agent,
    /// A rule file, or a folder of them
    #[arg(required = true, value_name = "RULES")]
    rules: Vec<PathBuf>,
    #[command(flatten)]
    guard: GuardRules,
    /// Where the logs of sessions are kept [default: averment/guard below $XDG_STATE_HOME or ~/.local/state]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Begin a session that the guard meets in its middle with the agent's own transcript (Claude Code, Gemini CLI)
    #[arg(long)]
    seed_from_transcript: bool,
}

/// Maximum size of one event, in bytes.
const MAX_EVENT: u64 = 64 << 20;

/// Runs the command.
pub fn run_guard(arguments: &GuardArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    match &arguments.command {
        GuardCommand::Replay(arguments) => replay::run_replay(arguments, color),
        GuardCommand::Watch(arguments) => watch::run_watch(arguments, color),
        GuardCommand::Install(arguments) => install::run_install(arguments, color),
        GuardCommand::Mcp(arguments) => mcp::run_proxy(arguments, color),
        GuardCommand::Serve(arguments) => serve::run_serve(arguments, color),
        GuardCommand::Hook(arguments) => answer_event(arguments),
    }
}

impl GuardArgs {
    /// True if an agent waits for the exit code of this process, and makes its call unless the code denies it.
    pub fn holds_calls_back(&self) -> bool {
        matches!(&self.command, GuardCommand::Hook(arguments) if arguments.guard.mode == GuardMode::Enforce)
    }
}

/// Answers an event. Any failure blocks the call, unless calls are only logged, because agents take other exit codes as permission.
fn answer_event(arguments: &HookArgs) -> Result<Exit, CommandError> {
    let mut input = Vec::new();
    let read = std::io::stdin().lock().take(MAX_EVENT).read_to_end(&mut input);
    let answer = match read.map_err(|error| super::io_error_text(&error)).and_then(|_| answer_of(arguments, &input)) {
        Ok(answer) => answer,
        Err(problem) => {
            let code = if arguments.guard.mode == GuardMode::Enforce { 2 } else { 1 };
            let stderr = format!("aver guard: {}\n", one_line(&problem));
            HookAnswer { stdout: String::new(), stderr, code }
        }
    };
    eprint_redacted(&answer.stderr);
    let mut out = std::io::stdout().lock();
    let written = out.write_all(answer.stdout.as_bytes()).and_then(|()| out.flush());
    Ok(match (answer.code, written) {
        (0, Ok(())) => Exit::Holds,
        (1, _) => Exit::Failed,
        // If the answer cannot be written, the call must be blocked.
        (_, Err(error)) if arguments.guard.mode != GuardMode::Enforce => return Err(error.into()),
        _ => Exit::Usage,
    })
}

fn answer_of(arguments: &HookArgs, input: &[u8]) -> Result<HookAnswer, String> {
    let words = |error: CommandError| match error {
        CommandError::Usage { message, .. } => message,
        CommandError::Output(error) => super::io_error_text(&error),
        CommandError::AlreadyReported(_) => "the rules do not compile, `aver lint` says why".to_owned(),
    };
    let rules = guard_rules(&arguments.rules, &arguments.guard).map_err(words)?;
    let folder = state_folder(arguments.state.as_deref()).map_err(words)?;
    let names = rule_names(&arguments.rules);
    let mode = arguments.guard.mode;
    let guard = SessionGuard {
        rules: &rules,
        rule_names: &names,
        mode,
        folder: &folder,
        resident: None,
        seeds: arguments.seed_from_transcript,
    };
    Ok(guard.answer_hook(arguments.agent, input))
}

/// Loads rules for a guard, which may read only the session.
fn guard_rules(given: &[PathBuf], guard: &GuardRules) -> Result<Rules, CommandError> {
    let limits = Limits::default();
    let values = params::ParamValues::new(&guard.param_file, &guard.param)?;
    let found = project::find_beside(given);
    let files = inputs::some_rule_inputs(given)?;
    let tools = rules::project_tools(found.as_ref(), limits)?;
    let reading = rules::RuleReadOptions::with_limits(limits).with_tools(&tools);
    let mut loaded = rules::load_rules(&files, reading)?;
    loaded.report_errors(ColorChoice::Never)?;
    values.apply_to(&mut loaded.programs)?;
    let settings = JudgeSettings { limits, ..JudgeSettings::default() };
    let rules = Rules::of_programs(loaded.programs, loaded.diagnostics, settings);
    if rules.assertions().next().is_none() {
        return Err(CommandError::usage("the rules hold no assertion", "name a file with rules"));
    }
    Ok(rules)
}

/// Returns the absolute names of rule files.
fn rule_names(given: &[PathBuf]) -> String {
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    given.iter().map(|path| absolute(path).to_string_lossy().into_owned()).collect::<Vec<_>>().join("\n")
}

fn state_folder(given: Option<&Path>) -> Result<PathBuf, CommandError> {
    let found = given.map(Path::to_path_buf).or_else(|| state_folder::state_folder("guard"));
    found.ok_or_else(|| {
        CommandError::usage("there is no folder to keep sessions in: `HOME` is not set", "name one with `--state DIR`")
    })
}

fn label(color: ColorChoice, stream: OutputStream, paint: TextColor, word: &str) -> String {
    paint_text(stream.style(color), paint, word).to_string()
}

/// Maximum size of one message, in bytes. Longer messages of the client are refused; longer ones of the server are not recorded.
const MAX_MESSAGE: u64 = 64 << 20;

/// Calls `take` with every line, including its line end. Too long a line comes in parts, with false as the second argument.
fn each_line(mut reader: impl BufRead, mut take: impl FnMut(&[u8], bool) -> io::Result<()>) -> io::Result<()> {
    let mut line = Vec::new();
    let mut goes_on = false;
    loop {
        line.clear();
        if reader.by_ref().take(MAX_MESSAGE).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let has_end = line.ends_with(b"\n") || (line.len() as u64) < MAX_MESSAGE;
        take(&line, has_end && !goes_on)?;
        goes_on = !has_end;
    }
}
