//! The world around a run, as far as a rule may look at it (language reference, section 9).
//!
//! Nothing is touched without permission: files under the working directory may be read, others need `--allow-read=DIR`, commands need
//! `--allow-run`. There is no network and no other access. What a run has recorded is asked first, by `evaluate`. Without the feature `world` nothing is
//! looked at whatever is permitted.

#[cfg(all(feature = "world", unix))]
mod command;
#[cfg(feature = "world")]
mod environment;
#[cfg(feature = "world")]
mod files;
#[cfg(all(feature = "world", not(unix)))]
mod no_processes;
#[cfg(all(feature = "world", unix))]
mod orphans;
#[cfg(all(feature = "world", unix))]
mod process_family;
#[cfg(all(feature = "world", target_os = "linux"))]
mod process_list;
#[cfg(all(feature = "world", unix))]
mod service;
#[cfg(all(feature = "world", unix))]
mod watched_program;
#[cfg(all(feature = "world", unix))]
mod withheld_variables;

#[cfg(all(feature = "world", not(unix)))]
use no_processes as command;

use crate::vm::fault::Fault;
use averment_checker::ir::FileLook;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

#[cfg(all(feature = "world", not(unix)))]
pub use no_processes::{ServiceProcess, WatchedProgram, adopt_orphans, end_all, supervise};
#[cfg(all(feature = "world", unix))]
pub use process_family::{adopt_orphans, end_all};
#[cfg(all(feature = "world", unix))]
pub use service::ServiceProcess;
#[cfg(all(feature = "world", unix))]
pub use watched_program::{WatchedProgram, supervise};

/// The state of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    /// Nothing exists.
    Missing,
    /// A folder, with the names of what is in it, sorted.
    Folder(Vec<String>),
    /// A file's text; invalid UTF-8 becomes U+FFFD.
    Text(String),
    /// Exists but was not read, because its text was not requested; its size in bytes.
    Unread(u64),
}

/// The state of an environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableState {
    /// It is not set.
    Unset,
    /// It is set to an empty text.
    Empty,
    /// It is set to something.
    Filled,
}

/// The outcome of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutcome {
    /// Its exit code; 128 plus the signal's number when a signal ended it, as shells say it.
    pub code: i64,
    /// The start of what it wrote to both streams, for the reason of a failure.
    pub output: String,
}

/// What rules accessed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorldLookup {
    /// A file's state; `None` if it could not be read.
    File(String, Option<FileState>),
    /// A command and its outcome, or why that is not known.
    Command(Vec<String>, Result<CommandOutcome, String>),
}

/// Notes what rules look at, for whoever records it. A copy writes into the same notes.
#[derive(Debug, Clone, Default)]
pub struct WorldNotes(Arc<Mutex<Vec<WorldLookup>>>);

impl WorldNotes {
    /// Takes the recorded accesses.
    #[must_use]
    pub fn take_notes(&self) -> Vec<WorldLookup> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add_note(&self, seen: WorldLookup) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
    }
}

impl PartialEq for WorldNotes {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for WorldNotes {}

/// What rules may access, and the limits. The default allows nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permissions {
    /// Where relative paths start and commands run; files below it may be read. `None`: no file may be read.
    pub working_directory: Option<PathBuf>,
    /// Further folders whose files may be read (`--allow-read=DIR`).
    pub read: Vec<PathBuf>,
    /// Whether commands may be run (`--allow-run`).
    pub run: bool,
    /// Whether variables of the environment may be asked for; only whether they are set, never their value.
    pub environment: bool,
    /// How long one command may take before its process group is ended.
    pub command_time: Duration,
    /// Bytes kept of each output stream of a command.
    pub output_bytes: usize,
    /// Bytes of the largest file that is read.
    pub file_bytes: u64,
    /// Where files and commands are noted that were looked at.
    pub notes: Option<WorldNotes>,
}

impl Default for Permissions {
    fn default() -> Self {
        Self {
            working_directory: None,
            read: Vec::new(),
            run: false,
            environment: false,
            command_time: Duration::from_secs(60),
            output_bytes: 64 << 10,
            file_bytes: 64 << 20,
            notes: None,
        }
    }
}

impl Permissions {
    /// The command line's default: files under the working directory, and whether a variable is set.
    #[must_use]
    pub fn of_command_line(working_directory: PathBuf) -> Self {
        Self { working_directory: Some(working_directory), environment: true, ..Self::default() }
    }

    /// The state of a file, as far as `look` asks for it.
    ///
    /// # Errors
    /// [`Fault::Permission`] when it lies (symbolic links followed) in no permitted folder; [`Fault::Other`] when it is no regular file, too
    /// large or unreadable.
    pub fn file_state(&self, path: &str, look: FileLook) -> Result<FileState, Fault> {
        #[cfg(feature = "world")]
        let state = files::read_file(self, path, look);
        #[cfg(not(feature = "world"))]
        let state = Err(out_of_reach(look));
        if let Some(notes) = &self.notes {
            notes.add_note(WorldLookup::File(path.to_owned(), state.as_ref().ok().cloned()));
        }
        state
    }

    /// Runs a command without a shell and waits for it.
    ///
    /// # Errors
    /// [`Fault::Permission`] without `--allow-run`; [`Fault::Other`] when it cannot be started or takes too long.
    pub fn run_command(&self, arguments: &[String]) -> Result<CommandOutcome, Fault> {
        if !self.run {
            return Err(Fault::Permission("--allow-run".to_owned()));
        }
        #[cfg(feature = "world")]
        let outcome = command::run_command(self, arguments);
        #[cfg(not(feature = "world"))]
        let outcome = Err(out_of_reach(self));
        if let Some(notes) = &self.notes {
            notes
                .add_note(WorldLookup::Command(arguments.to_vec(), outcome.clone().map_err(|fault| fault.to_string())));
        }
        outcome
    }

    /// Whether a variable of the environment is set, and to something.
    ///
    /// # Errors
    /// [`Fault::Other`] where the environment may not be asked, as in a `test` block.
    pub fn variable_state(&self, name: &str) -> Result<VariableState, Fault> {
        if !self.environment {
            return Err(Fault::Other(
                "the environment is not looked at here, and the run does not record it".to_owned(),
            ));
        }
        #[cfg(feature = "world")]
        return Ok(environment::variable_state(name));
        #[cfg(not(feature = "world"))]
        Err(out_of_reach(name))
    }
}

#[cfg(not(feature = "world"))]
fn out_of_reach<T>(_: T) -> Fault {
    Fault::Other("nothing outside of the run can be looked at here, and the run does not record it".to_owned())
}
