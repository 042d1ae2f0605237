//! A program that is spoken to while it runs, over its standard input and output, and ended with all that it started.
#![expect(clippy::disallowed_types, reason = "the feature `world` is what looks at files, commands and variables")]

use super::family::Family;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A program that runs. It is ended when this is dropped, with all that it started.
#[derive(Debug)]
pub struct Service {
    child: Child,
    family: Family,
}

impl Service {
    /// Starts a program, in the working directory and without a shell: its name and its arguments, and variables for it beside those of this process.
    /// What it writes to standard error is dropped.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(words: &[String], variables: &[(String, String)]) -> std::io::Result<Self> {
        let Some((program, rest)) = words.split_first() else {
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "the command is empty"));
        };
        let mut command = Command::new(program);
        command.args(rest).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        let family = Family::of(&mut command);
        let child = family.start(&mut command)?;
        Ok(Self { child, family })
    }

    /// Its standard input and output; once.
    pub fn streams(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        Some((self.child.stdin.take()?, self.child.stdout.take()?))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.family.end(&self.child);
        let _ended = self.child.wait();
        let _survivors = self.family.ended();
    }
}
