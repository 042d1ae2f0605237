//! A program that is spoken to while it runs, over its standard input and output, and ended with all that it started.
#![expect(clippy::disallowed_types, reason = "the feature `world` is what looks at files, commands and variables")]

use super::process_family::ProcessFamily;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};

/// A program that runs. It is ended when this is dropped, with all that it started.
#[derive(Debug)]
pub struct ServiceProcess {
    child: Child,
    family: ProcessFamily,
}

impl ServiceProcess {
    /// Starts a program, in the working directory and without a shell: its name and its arguments, and variables for it beside those of this process.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start_service(words: &[String], variables: &[(String, String)]) -> std::io::Result<Self> {
        let Some((program, rest)) = words.split_first() else {
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "the command is empty"));
        };
        let mut command = Command::new(program);
        command.args(rest).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        let family = ProcessFamily::mark_command(&mut command);
        let child = family.start_command(&mut command)?;
        Ok(Self { child, family })
    }

    /// Its standard input, output and error, all of which are to be used up; once.
    pub fn take_streams(&mut self) -> Option<(ChildStdin, ChildStdout, ChildStderr)> {
        Some((self.child.stdin.take()?, self.child.stdout.take()?, self.child.stderr.take()?))
    }

    /// How it ended, in words; `None` while it runs.
    #[must_use]
    pub fn exit_words(&self) -> Option<String> {
        let process = Pid::from_raw(i32::try_from(self.child.id()).ok()?)?;
        // Its number stays its own: what it started is found by that.
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let ended = waitid(WaitId::Pid(process), look).ok()??;
        let code = ended.exit_status().map(|code| format!("it ended with the exit code {code}"));
        code.or_else(|| ended.terminating_signal().map(|signal| format!("the signal {signal} ended it")))
    }
}

impl Drop for ServiceProcess {
    fn drop(&mut self) {
        self.family.kill_all(&self.child);
        let _ended = self.child.wait();
        let _survivors = self.family.after_wait();
    }
}
