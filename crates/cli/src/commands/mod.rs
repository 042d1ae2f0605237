//! The command `aver`: one file per command.

mod baseline;
mod check;
#[cfg(feature = "history")]
mod compare;
mod compile;
mod completions;
pub(crate) mod console;
mod converted;
mod deadline;
mod disasm;
pub(crate) mod docs;
pub(crate) mod exit;
mod explain;
mod fmt;
mod import;
pub(crate) mod inputs;
#[cfg(any(feature = "probe", feature = "run"))]
mod judging;
pub mod left_out;
mod lint;
#[cfg(test)]
mod lost_tests;
mod lsp;
mod man;
mod new;
mod outputs;
pub(crate) mod params;
mod passed_over;
mod pipeline;
#[cfg(feature = "probe")]
mod probe;
mod profile;
mod progress;
mod project;
#[cfg(feature = "history")]
mod record;
#[cfg(not(feature = "history"))]
#[path = "record_nothing.rs"]
mod record;
mod repair;
mod repl;
pub(crate) mod replace;
pub(crate) mod rules;
#[cfg(feature = "run")]
mod run;
mod signals;
mod sizes;
mod targets;
mod test;
mod tool_inputs;
mod trace;
#[cfg(feature = "history")]
mod trust;
mod units;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand};
use console::{ColorChoice, Stream, say};
pub use exit::Exit;
use exit::Stop;
use std::process::ExitCode;

/// Checks what AI agents did and answered against rules that read like sentences.
#[derive(Debug, Parser)]
#[command(name = "aver", version, max_term_width = 100, arg_required_else_help = true, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Colour: auto (on a terminal, unless NO_COLOR is set), always, never
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
}

const EXAMPLES: &str = "\
Examples:
  aver check refunds.assert trace.json        check one run
  aver check rules/ runs/ --format summary    check every run in a folder
  aver lint rules/                            look at the rules alone
  aver explain unknown-tool                   what a message is about

Exit codes, the highest that applies:
  0 all holds                    3 the rules do not compile
  1 an assertion failed          4 a trace cannot be read
  2 wrong usage, nothing checked 5 an assertion could not be evaluated";

#[derive(Debug, Subcommand)]
enum Command {
    /// Checks recorded runs against rules
    Check(Box<check::Arguments>),
    /// Runs the tests of rules and shows what they leave untried
    Test(Box<test::Arguments>),
    /// Compiles rules and says what is wrong with them
    Lint(lint::Arguments),
    /// Says how far runs can be trusted, by the results that were recorded of them
    #[cfg(feature = "history")]
    Trust(trust::Arguments),
    /// Says what changed between two sets of runs, and whether that is within tolerances
    #[cfg(feature = "history")]
    Compare(compare::Arguments),
    /// Begins a rule file: from a template, or from recorded runs
    New(new::Arguments),
    /// Formats rule files
    Fmt(fmt::Arguments),
    /// Writes rule files of other systems as rules: STOP, wallfacer, Assay, Runsight
    Import(import::Arguments),
    /// Prints the generated inputs of invariants, to ask tools with
    Inputs(tool_inputs::Arguments),
    /// Asks a live MCP server what invariants ask, and judges its answers
    #[cfg(feature = "probe")]
    Probe(Box<probe::Arguments>),
    /// Runs agents on the cases of a suite, and judges what they did
    #[cfg(feature = "run")]
    Run(Box<run::Arguments>),
    /// Serves an editor: diagnostics, completion, hover, rename and more
    Lsp(lsp::Arguments),
    /// Shows runs as rules see them
    Trace(trace::Arguments),
    /// Says how verdicts on a run came about; or what a diagnostic is about
    Explain(explain::Arguments),
    /// Starts a session: expressions and rules, tried on a run as they are typed
    Repl(repl::Arguments),
    /// Shows the reference: the language, its functions, its statements
    Docs(docs::Arguments),
    /// Compiles rules to a file that checks without the sources
    Compile(compile::Arguments),
    /// Lists the code of compiled rules
    Disasm(disasm::Arguments),
    /// Prints the completions of a shell
    Completions(completions::Arguments),
    /// Prints or writes the manual pages
    Man(man::Arguments),
    /// Watches over a program that `aver run` has started
    #[cfg(feature = "run")]
    #[command(name = run::SUPERVISE, hide = true)]
    Supervise(run::Supervised),
}

/// Runs the command line of the process.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return wrong(&error),
    };
    let color = arguments.color;
    averment_base::files::remember_opened();
    // Where that cannot be, such a limit ends the command.
    let _ = signals::outgrow_no_file();
    let done = match &arguments.command {
        Command::Check(arguments) => check::run(arguments, color),
        Command::Test(arguments) => test::run(arguments, color),
        Command::Lint(arguments) => lint::run(arguments, color),
        #[cfg(feature = "history")]
        Command::Trust(arguments) => trust::run(arguments, color),
        #[cfg(feature = "history")]
        Command::Compare(arguments) => compare::run(arguments),
        Command::New(arguments) => new::run(arguments, color),
        Command::Fmt(arguments) => fmt::run(arguments, color),
        Command::Import(arguments) => import::run(arguments, color),
        Command::Inputs(arguments) => tool_inputs::run(arguments, color),
        #[cfg(feature = "probe")]
        Command::Probe(arguments) => probe::run(arguments, color),
        #[cfg(feature = "run")]
        Command::Run(arguments) => run::run(arguments, color),
        #[cfg(feature = "run")]
        Command::Supervise(arguments) => return run::supervise(arguments),
        Command::Lsp(arguments) => lsp::run(arguments),
        Command::Trace(arguments) => trace::run(arguments, color),
        Command::Explain(arguments) => explain::run(arguments, color),
        Command::Repl(arguments) => repl::run(arguments, color),
        Command::Docs(arguments) => docs::run(arguments, color),
        Command::Compile(arguments) => compile::run(arguments, color),
        Command::Disasm(arguments) => disasm::run(arguments, color),
        Command::Completions(arguments) => completions::run(arguments, Arguments::command()),
        Command::Man(arguments) => man::run(arguments, Arguments::command()),
    };
    signals::give_way();
    done.unwrap_or_else(|stop| ended(stop, color)).into()
}

/// Help and version are no mistakes; everything else that clap says is wrong usage.
fn wrong(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Holds.into(),
        _ => Exit::Usage.into(),
    }
}

/// Says why a command ended early.
fn ended(stop: Stop, color: ColorChoice) -> Exit {
    use averment_base::diagnostic::render::{Ink, one_line, paint};
    let style = Stream::Err.style(color);
    match stop {
        Stop::Said(exit) => exit,
        Stop::Output(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Exit::BrokenPipe,
        Stop::Output(error) if of_file(&error).is_some() => {
            let said = of_file(&error).map(ToString::to_string).unwrap_or_default();
            say(&format!("{}: {}\n", paint(style, Ink::Red, "error"), one_line(&said)));
            Exit::Usage
        }
        // What a system without memory says where a thread or a buffer is asked for.
        Stop::Output(error)
            if matches!(error.kind(), std::io::ErrorKind::OutOfMemory | std::io::ErrorKind::WouldBlock) =>
        {
            say(&format!("{}: there was no memory to go on: {}\n", paint(style, Ink::Red, "error"), said(&error)));
            Exit::Error
        }
        Stop::Output(error) => {
            say(&format!("{}: the output cannot be written: {}\n", paint(style, Ink::Red, "error"), said(&error)));
            Exit::Usage
        }
        Stop::Usage { message, help } => {
            say(&format!("{}: {}\n", paint(style, Ink::Red, "error"), one_line(&message)));
            if !help.is_empty() {
                say(&format!("  {}: {}\n", paint(style, Ink::Green, "help"), one_line(&help)));
            }
            Exit::Usage
        }
    }
}

/// What is known of an error that is about one file of several.
fn of_file(error: &std::io::Error) -> Option<&replace::WriteFailed> {
    error.get_ref()?.downcast_ref()
}

/// An error of the system in words, without its number.
pub(crate) fn said(error: &std::io::Error) -> String {
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
