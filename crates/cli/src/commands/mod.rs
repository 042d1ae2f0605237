//! The command `aver`: one file per command.

mod baseline;
mod check;
mod command_groups;
#[cfg(feature = "history")]
mod compare;
mod compile;
mod completions;
pub(crate) mod console;
mod deadline;
mod disasm;
pub(crate) mod docs;
pub(crate) mod draft_file;
pub mod exclude;
pub(crate) mod exit;
mod explain;
mod export;
mod fmt;
#[cfg(feature = "guard")]
mod guard;
mod help_headings;
mod import;
mod init;
pub(crate) mod inputs;
#[cfg(any(feature = "probe", feature = "run"))]
mod judge_flags;
mod last_failed;
mod lint;
#[cfg(test)]
mod lost_tests;
mod lsp;
mod man;
mod new;
mod outputs;
pub(crate) mod params;
mod pipeline;
#[cfg(feature = "probe")]
mod probe;
mod profile;
mod progress;
mod project;
#[cfg(feature = "history")]
mod record;
#[cfg(not(feature = "history"))]
#[path = "record_disabled.rs"]
mod record;
mod repair;
mod repl;
mod rule_file_names;
pub(crate) mod rules;
#[cfg(feature = "run")]
mod run;
mod runless_report;
mod signals;
mod sizes;
mod skipped_files;
pub mod state_folder;
mod targets;
mod test;
mod tool_inputs;
mod trace;
#[cfg(feature = "history")]
mod trust;
mod units;
mod usage_errors;
mod watch;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use console::{ColorChoice, OutputStream, eprint_redacted};
use deadline::{Deadline, TimeToReport};
use exit::CommandError;
pub use exit::Exit;
use std::ffi::OsString;
use std::process::ExitCode;

/// Checks recorded runs of AI agents against rules that read like sentences.
#[derive(Debug, Parser)]
#[command(name = "aver", version, max_term_width = 100, arg_required_else_help = true, after_help = EXAMPLES)]
struct CliArgs {
    #[command(subcommand)]
    command: CliCommand,
    #[command(flatten)]
    shared: SharedArgs,
}

/// Options of every command.
#[derive(Debug, Args)]
struct SharedArgs {
    /// When to use color: auto (on a terminal, unless NO_COLOR is set), always, never
    #[arg(
        long,
        global = true,
        display_order = 900,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_possible_values = true
    )]
    color: ColorChoice,
    /// Stop the command after this time, with exit code 5
    #[arg(long, global = true, display_order = 901, value_name = "TIME")]
    max_time: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  aver check refunds.assert trace.json        check one run
  aver check rules/ runs/ --format summary    check every run in a folder
  aver lint rules/                            check the rules without a run
  aver explain unknown-tool                   explain a message

Exit codes, the highest that applies:
  0 all holds                    3 the rules do not compile
  1 an assertion failed          4 a trace cannot be read
  2 wrong usage, nothing checked 5 an assertion could not be evaluated";

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Check recorded runs against rules
    Check(Box<check::CheckArgs>),
    /// Run the tests of rules, and measure what they cover
    Test(Box<test::TestArgs>),
    /// Compile rules, and report mistakes and likely mistakes
    Lint(lint::LintArgs),
    /// Compute how far runs can be trusted, from recorded results
    #[cfg(feature = "history")]
    Trust(trust::TrustArgs),
    /// Compare two sets of runs, with tolerances
    #[cfg(feature = "history")]
    Compare(compare::CompareArgs),
    /// Set up a project: look for runs and tools in a folder, write rules, settings and a CI file
    Init(init::InitArgs),
    /// Create a rule file from a template, or propose rules from recorded runs
    New(new::NewArgs),
    /// Format rule files
    Fmt(fmt::FmtArgs),
    /// Write rules as policies of another system
    Export(export::ExportArgs),
    /// Convert rule files of twelve other systems, such as promptfoo and SkillGym
    Import(import::ImportArgs),
    /// Print the generated inputs of invariants
    Inputs(tool_inputs::ToolInputsArgs),
    /// Call the tools of a live MCP server, and check its answers
    #[cfg(feature = "probe")]
    Probe(Box<probe::ProbeArgs>),
    /// Run agents on the cases of a suite, and check what they did
    #[cfg(feature = "run")]
    Run(Box<run::RunArgs>),
    /// Hold agents to rules while they run: a call that would break one is denied
    #[cfg(feature = "guard")]
    Guard(Box<guard::GuardArgs>),
    /// Start the language server for an editor
    Lsp(lsp::LspArgs),
    /// Show runs as rules see them, convert them, count what they did
    Trace(trace::TraceArgs),
    /// Explain how the verdicts on a run came about, or explain a message
    Explain(explain::ExplainArgs),
    /// Try expressions and rules interactively on a run
    Repl(repl::ReplArgs),
    /// Show the reference of the language, its functions and the command line
    Docs(docs::DocsArgs),
    /// Compile rules to one file that needs no sources
    Compile(compile::CompileArgs),
    /// List the code of compiled rules
    Disasm(disasm::DisasmArgs),
    /// Print shell completions
    Completions(completions::CompletionsArgs),
    /// Print or write manual pages
    Man(man::ManArgs),
    /// Watches over a program that `aver run` has started
    #[cfg(feature = "run")]
    #[command(name = run::SUPERVISE, hide = true)]
    Supervise(run::SuperviseArgs),
}

fn parse_any() -> Result<CliArgs, clap::Error> {
    CliArgs::from_arg_matches(&command_groups::group_commands(CliArgs::command()).try_get_matches()?)
}

/// A command: its name, its arguments, and its conversion from parsed arguments.
type FrequentCommand = (&'static str, fn(Command) -> Command, fn(&ArgMatches) -> Result<CliCommand, clap::Error>);

/// Parses the arguments of commands that start often, such as hooks. Defining the arguments of all commands would take longer than many checks.
/// Returns `None` for other commands and after errors; then the full parser runs.
fn parse_frequent() -> Option<CliArgs> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let command: FrequentCommand = match words.get(1)?.to_str()? {
        "check" => ("check", check::CheckArgs::augment_args, |own| Ok(CliCommand::Check(Box::from_arg_matches(own)?))),
        #[cfg(feature = "guard")]
        "guard" => ("guard", guard::GuardArgs::augment_args, |own| Ok(CliCommand::Guard(Box::from_arg_matches(own)?))),
        _ => return None,
    };
    let (name, define, read) = command;
    let command = SharedArgs::augment_args(Command::new("aver")).subcommand(define(Command::new(name)));
    let matches = command.try_get_matches_from(&words).ok()?;
    let (_, own) = matches.subcommand()?;
    Some(CliArgs { command: read(own).ok()?, shared: SharedArgs::from_arg_matches(&matches).ok()? })
}

/// Runs the command line of the process.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = match parse_frequent().map_or_else(parse_any, Ok) {
        Ok(arguments) => arguments,
        Err(error) => return report_clap_error(&error),
    };
    let color = arguments.shared.color;
    let deadline = match start_deadline(&arguments) {
        Ok(deadline) => deadline,
        Err(stop) => return report_stop(stop, color).into(),
    };
    #[cfg(feature = "guard")]
    if let CliCommand::Guard(arguments) = &arguments.command
        && arguments.holds_calls_back()
    {
        exit::hold_back_after_breakdown();
    }
    averment_base::files::remember_opened();
    // If the handler cannot be set, a file size limit kills the process.
    let _ = signals::fail_on_size_limit();
    let _ = signals::end_after_abort();
    let done = match &arguments.command {
        CliCommand::Check(arguments) => check::run_check(arguments, color, deadline.as_ref()),
        CliCommand::Test(arguments) => test::run_tests(arguments, color),
        CliCommand::Lint(arguments) => lint::run_lint(arguments, color),
        #[cfg(feature = "history")]
        CliCommand::Trust(arguments) => trust::run_trust(arguments, color),
        #[cfg(feature = "history")]
        CliCommand::Compare(arguments) => compare::run_compare(arguments),
        CliCommand::Init(arguments) => init::run_init(arguments, color),
        CliCommand::New(arguments) => new::run_new(arguments, color),
        CliCommand::Fmt(arguments) => fmt::run_fmt(arguments, color),
        CliCommand::Export(arguments) => export::run_export(arguments, color),
        CliCommand::Import(arguments) => import::run_import(arguments, color),
        CliCommand::Inputs(arguments) => tool_inputs::run_tool_inputs(arguments, color),
        #[cfg(feature = "probe")]
        CliCommand::Probe(arguments) => probe::run_probe(arguments, color),
        #[cfg(feature = "run")]
        CliCommand::Run(arguments) => run::run_suites(arguments, color),
        #[cfg(feature = "run")]
        CliCommand::Supervise(arguments) => return run::supervise_program(arguments),
        #[cfg(feature = "guard")]
        CliCommand::Guard(arguments) => guard::run_guard(arguments, color),
        CliCommand::Lsp(arguments) => lsp::run_lsp(arguments),
        CliCommand::Trace(arguments) => trace::run_trace(arguments, color),
        CliCommand::Explain(arguments) => explain::run_explain(arguments, color),
        CliCommand::Repl(arguments) => repl::run_repl(arguments, color),
        CliCommand::Docs(arguments) => docs::run_docs(arguments, color),
        CliCommand::Compile(arguments) => compile::run_compile(arguments, color),
        CliCommand::Disasm(arguments) => disasm::run_disasm(arguments, color),
        CliCommand::Completions(arguments) => completions::run_completions(arguments, CliArgs::command()),
        CliCommand::Man(arguments) => man::run_man(arguments, CliArgs::command()),
    };
    signals::wait_for_process_end();
    done.unwrap_or_else(|stop| report_stop(stop, color)).into()
}

/// The one place where `--max-time` takes effect, so that no command is without it.
fn start_deadline(arguments: &CliArgs) -> Result<Option<Deadline>, CommandError> {
    let Some(text) = arguments.shared.max_time.as_deref() else { return Ok(None) };
    match arguments.command {
        // A hook that ends early blocks nothing: agents allow a call when a hook ends with exit code 5.
        #[cfg(feature = "guard")]
        CliCommand::Guard(_) => {
            Err(CommandError::usage("`aver guard` takes no `--max-time`", "leave it out: a guard ends with its agent"))
        }
        // Only `aver check` can report partial results.
        CliCommand::Check(_) => Deadline::start(text, TimeToReport::Share).map(Some),
        _ => Deadline::start(text, TimeToReport::None).map(Some),
    }
}

/// Help and version are not errors; any other clap error is wrong usage.
fn report_clap_error(error: &clap::Error) -> ExitCode {
    if let Some(stop) = usage_errors::usage_error(error) {
        return report_stop(stop, ColorChoice::default()).into();
    }
    let _ = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Holds.into(),
        _ => Exit::Usage.into(),
    }
}

fn report_stop(stop: CommandError, color: ColorChoice) -> Exit {
    use averment_base::diagnostic::render::{TextColor, one_line, paint_text};
    let style = OutputStream::Err.style(color);
    match stop {
        CommandError::AlreadyReported(exit) => exit,
        CommandError::Output(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Exit::BrokenPipe,
        CommandError::Output(error) if failed_write(&error).is_some() => {
            let said = failed_write(&error).map(ToString::to_string).unwrap_or_default();
            eprint_redacted(&format!("{}: {}\n", paint_text(style, TextColor::Red, "error"), one_line(&said)));
            Exit::Usage
        }
        // Error kinds that the system returns when memory for a thread or a buffer is exhausted.
        CommandError::Output(error)
            if matches!(error.kind(), std::io::ErrorKind::OutOfMemory | std::io::ErrorKind::WouldBlock) =>
        {
            eprint_redacted(&format!(
                "{}: there was no memory to go on: {}\n",
                paint_text(style, TextColor::Red, "error"),
                io_error_text(&error)
            ));
            Exit::Error
        }
        CommandError::Output(error) => {
            eprint_redacted(&format!(
                "{}: the output cannot be written: {}\n",
                paint_text(style, TextColor::Red, "error"),
                io_error_text(&error)
            ));
            Exit::Usage
        }
        CommandError::Usage { message, help } => {
            eprint_redacted(&format!("{}: {}\n", paint_text(style, TextColor::Red, "error"), one_line(&message)));
            if !help.is_empty() {
                eprint_redacted(&format!("  {}: {}\n", paint_text(style, TextColor::Green, "help"), one_line(&help)));
            }
            Exit::Usage
        }
    }
}

fn failed_write(error: &std::io::Error) -> Option<&draft_file::WriteFailed> {
    error.get_ref()?.downcast_ref()
}

/// Describes why a file cannot be written.
pub(crate) fn write_error_text(path: &std::path::Path, error: &std::io::Error) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder.filter(|folder| error.kind() == std::io::ErrorKind::NotFound && !folder.is_dir()) {
        Some(folder) => format!("there is no folder `{}`", folder.display()),
        None => io_error_text(error),
    }
}

/// Describes a system error, without its number.
pub(crate) fn io_error_text(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "it may not be read or written".to_owned(),
        std::io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => {
            let text = error.to_string();
            let plain = text.split(" (os error").next().unwrap_or(&text);
            plain.to_lowercase()
        }
    }
}
