//! Exit codes, and the ways in which a command ends early.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU8, Ordering};

/// Exit codes of the command line. If several apply, the highest is returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Every assertion holds.
    Holds = 0,
    /// An assertion failed, a test had another outcome, or a lint found something.
    Failed = 1,
    /// The command line is wrong, or there was nothing to check.
    Usage = 2,
    /// The rules do not compile.
    Rules = 3,
    /// A trace cannot be read.
    Trace = 4,
    /// An assertion could not be evaluated.
    Error = 5,
    /// Ctrl-C.
    Interrupted = 130,
    /// The reader of the output closed it.
    BrokenPipe = 141,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

static AFTER_BREAKDOWN: AtomicU8 = AtomicU8::new(Exit::Error as u8);

/// Returns the exit code after a panic: `Exit::Error`, or the one that `hold_back_after_breakdown` sets.
pub fn after_breakdown() -> u8 {
    AFTER_BREAKDOWN.load(Ordering::Relaxed)
}

/// Makes panics end with the exit code that blocks an agent's call, because agents take every other code as permission.
#[cfg(feature = "guard")]
pub fn hold_back_after_breakdown() {
    AFTER_BREAKDOWN.store(Exit::Usage as u8, Ordering::Relaxed);
}

/// The reason why a command ends early.
#[derive(Debug)]
pub enum CommandError {
    /// The command line is wrong.
    Usage {
        /// The problem.
        message: String,
        /// The suggested fix; empty without a suggestion.
        help: String,
    },
    /// The output cannot be written.
    Output(std::io::Error),
    /// The message was already printed.
    AlreadyReported(Exit),
}

impl CommandError {
    /// Returns a usage error.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), help: help.into() }
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<averment::Problem> for CommandError {
    fn from(averment::Problem { message, help }: averment::Problem) -> Self {
        Self::Usage { message, help }
    }
}
