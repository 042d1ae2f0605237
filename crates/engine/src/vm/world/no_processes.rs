//! Systems without process groups (Windows): no program is started, because it could not be ended with all that it starts.
#![expect(clippy::disallowed_types, reason = "the feature `world` is what looks at files, commands and variables")]

use super::{CommandOutcome, Permissions};
use crate::vm::fault::Fault;
use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::time::Duration;

const NOT_HERE: &str =
    "programs are started on Linux and macOS alone: elsewhere what they start could not be ended with them";

fn not_here() -> Error {
    Error::new(ErrorKind::Unsupported, NOT_HERE)
}

/// Always an error.
pub(super) fn run_command(_: &Permissions, _: &[String]) -> std::result::Result<CommandOutcome, Fault> {
    Err(Fault::Other(NOT_HERE.to_owned()))
}

/// There is none to end.
pub fn end_all() {}

/// There is none to take in.
pub fn adopt_orphans() {}

/// A program that is spoken to while it runs: there is none here.
#[derive(Debug)]
pub struct ServiceProcess(Infallible);

impl ServiceProcess {
    /// Starts nothing.
    ///
    /// # Errors
    /// Always.
    pub fn start_service(_: &[String], _: &[(String, String)]) -> Result<Self> {
        Err(not_here())
    }

    /// Its standard input, output and error.
    pub fn take_streams(&mut self) -> Option<(ChildStdin, ChildStdout, ChildStderr)> {
        match self.0 {}
    }

    /// How it ended, in words; `None` while it runs.
    #[must_use]
    pub fn exit_words(&self) -> Option<String> {
        match self.0 {}
    }
}

/// A program that runs for long: there is none here.
#[derive(Debug)]
pub struct WatchedProgram(Infallible);

impl WatchedProgram {
    /// Starts nothing.
    ///
    /// # Errors
    /// Always.
    pub fn start_watched(_: &[OsString], _: &[String], _: &Path, _: &[(OsString, OsString)]) -> Result<Self> {
        Err(not_here())
    }

    /// Its output streams.
    pub fn take_streams(&mut self) -> Option<(ChildStdout, ChildStderr)> {
        match self.0 {}
    }

    /// Waits so long for its end.
    ///
    /// # Errors
    /// None, as there is no such program.
    pub fn ended_within(&self, _: Duration) -> Result<bool> {
        match self.0 {}
    }

    /// Ends it; its exit code.
    ///
    /// # Errors
    /// None, as there is no such program.
    pub fn end_program(self) -> Result<i64> {
        match self.0 {}
    }
}

/// The exit code for a program that cannot be started.
#[must_use]
pub fn supervise(_: &[OsString]) -> i64 {
    126
}
