//! `aver repl`: an interactive mode that tries rules on a run as they are typed.

use super::console::{ColorChoice, OutputStream};
use super::exit::{CommandError, Exit};
use crate::repl::pager::{self, PagedOutput};
use crate::repl::{ReplSession, ReplSettings, script, terminal};
use averment_base::limits::{Cancel, Limits};
use averment_engine::vm::world::Permissions;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver repl --on trace.json                   expressions and statements on a run
  aver repl refunds.assert --on runs.jsonl    with the definitions and rules of a file
  aver repl --on trace.json < script          inputs from a file, repeated with what comes of them

In the session `:help` lists the commands. Exit codes of a script, the highest that applies: 0 all went well,
1 a statement failed, 2 wrong command, 3 something did not compile, 4 a trace could not be read, 5 an evaluation ended early.")]
pub struct ReplArgs {
    /// A rule file whose definitions and rules are loaded at the start
    #[arg(value_name = "RULES")]
    rules: Option<PathBuf>,
    /// Evaluate expressions and statements on the first run of this trace
    #[arg(long, value_name = "TRACE")]
    on: Option<String>,
    /// Use this run of the trace, by its number from 1
    #[arg(long, value_name = "N", requires = "on", default_value_t = std::num::NonZeroUsize::MIN, hide_default_value = true)]
    run: std::num::NonZeroUsize,
    /// Set a parameter of the rules: limit=250
    #[arg(long, value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Neither read nor write the history of inputs
    #[arg(long)]
    no_history: bool,
    /// Let rules read files in this folder, as well as in the working directory
    #[arg(long, value_name = "DIR")]
    allow_read: Vec<PathBuf>,
    /// Let rules run commands
    #[arg(long)]
    allow_run: bool,
}

/// Runs the REPL.
pub fn run_repl(arguments: &ReplArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    let dialog = io::stdin().is_terminal() && OutputStream::Out.is_terminal();
    let style = OutputStream::Out.style(color);
    let interrupt = Interrupt::new()?;
    let limits = Limits { cancel: Some(interrupt.cancel()), ..Limits::default() };
    let permissions = Permissions {
        read: arguments.allow_read.clone(),
        run: arguments.allow_run,
        ..Permissions::of_command_line(std::env::current_dir().unwrap_or_default())
    };
    super::signals::may_run(arguments.allow_run);
    super::signals::end_with_commands(true)?;
    let words = if dialog { pager::wanted_pager() } else { Vec::new() };
    let mut out = PagedOutput::new(io::stdout(), words, pager::terminal_height);
    if dialog {
        writeln!(out, "{}", terminal::greeting())?;
        out.flush()?;
    }
    let settings = ReplSettings { limits, permissions, params: arguments.param.clone(), style };
    let mut session = ReplSession::new(&mut out, settings);
    if let Some(rules) = &arguments.rules {
        session.load_rules(rules)?;
    }
    if let Some(trace) = &arguments.on {
        session.open_run(trace, arguments.run.get())?;
    }
    if dialog {
        let history = if arguments.no_history { None } else { terminal::history_file() };
        terminal::run_terminal(&mut session, style.color, history.as_deref(), &|working| {
            interrupt.set_working(working, true)
        })?;
        return Ok(Exit::Holds);
    }
    script::run_script(&mut session, &mut io::stdin().lock(), &|working| interrupt.set_working(working, false))?;
    Ok(session.exit_code())
}

/// Ctrl-C handler: ends the current evaluation, otherwise the script.
struct Interrupt {
    /// Set by the signal handler.
    asked: &'static Arc<AtomicBool>,
    /// True if the signal ends the process.
    idle: Arc<AtomicBool>,
}

impl Interrupt {
    fn new() -> io::Result<Self> {
        let (asked, idle) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGINT, 130, Arc::clone(&idle))?;
        signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&asked))?;
        // Leaked, because evaluations may read the flag until the process ends.
        Ok(Self { asked: Box::leak(Box::new(asked)), idle })
    }

    fn cancel(&self) -> Cancel {
        Cancel::new(self.asked)
    }

    fn set_working(&self, working: bool, dialog: bool) {
        self.asked.store(false, Ordering::Relaxed);
        // On a terminal, the line editor handles Ctrl-C itself.
        self.idle.store(!working && !dialog, Ordering::Relaxed);
    }
}
