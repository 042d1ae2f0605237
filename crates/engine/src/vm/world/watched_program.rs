//! Programs that run for long, and are ended with all that they started whatever becomes of this process.
//!
//! Between the two stands a second process of this program ([`supervise`]): its standard input is a pipe from the first, and ends when that
//! closes it or dies, killed or not. Then it ends what it started, which is why nothing stays behind.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the feature `world` is what looks at files, commands and variables"
)]

use super::command::{exit_code, wait_until};
use super::process_family::{ProcessFamily, adopt_orphans};
use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time for the supervising process to end what it started.
const GRACE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(5);
/// Shell exit codes for a program that is missing or cannot be executed.
const NOT_FOUND: i64 = 127;
const NOT_EXECUTABLE: i64 = 126;

/// A program that runs under a second process of this one. It is ended when this is dropped, with all that it started.
#[derive(Debug)]
pub struct WatchedProgram {
    child: Child,
    family: ProcessFamily,
    /// Kept open while the program may run.
    held: Option<ChildStdin>,
}

impl WatchedProgram {
    /// Starts `words` in a folder, without a shell and without input, with these variables and no others. `supervisor` are the words that start
    /// this program as a second process, which calls [`supervise`] with the words behind them.
    ///
    /// # Errors
    /// The second process cannot be started.
    pub fn start_watched(
        supervisor: &[OsString],
        words: &[String],
        folder: &Path,
        variables: &[(OsString, OsString)],
    ) -> std::io::Result<Self> {
        let Some((program, rest)) = supervisor.split_first() else {
            return Err(std::io::Error::new(ErrorKind::InvalidInput, "there is no supervisor"));
        };
        let mut command = Command::new(program);
        command.args(rest).args(words).current_dir(folder);
        command.env_clear().envs(variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let family = ProcessFamily::mark_command(&mut command);
        let mut child = family.start_command(&mut command)?;
        let held = child.stdin.take();
        Ok(Self { child, family, held })
    }

    /// Its output streams; only once.
    pub fn take_streams(&mut self) -> Option<(ChildStdout, ChildStderr)> {
        Some((self.child.stdout.take()?, self.child.stderr.take()?))
    }

    /// Waits so long for its end, and says whether it has ended.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn ended_within(&self, time: Duration) -> std::io::Result<bool> {
        wait_until(&self.child, Instant::now() + time)
    }

    /// Ends it, where it has not ended itself, with all that it started; its exit code, 128 and the number of the signal that ended it.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn end_program(mut self) -> std::io::Result<i64> {
        self.close_program()
    }

    fn close_program(&mut self) -> std::io::Result<i64> {
        drop(self.held.take());
        let _in_time = wait_until(&self.child, Instant::now() + GRACE);
        self.family.kill_all(&self.child);
        let status = self.child.wait();
        let _survivors = self.family.after_wait();
        status.map(exit_code)
    }
}

impl Drop for WatchedProgram {
    fn drop(&mut self) {
        let _closed_already = self.close_program();
    }
}

/// The second process: starts a program with the streams of this process, waits until it ends or the standard input of this process does, and
/// ends what is left of it. The exit code of the program.
#[must_use]
pub fn supervise(words: &[OsString]) -> i64 {
    adopt_orphans();
    let Some((program, rest)) = words.split_first() else { return NOT_FOUND };
    let mut command = Command::new(program);
    command.args(rest).stdin(Stdio::null());
    let family = ProcessFamily::mark_command(&mut command);
    let mut child = match family.start_command(&mut command) {
        Ok(child) => child,
        Err(error) => return cannot_start(program, &error),
    };
    let let_go = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&let_go);
    std::thread::spawn(move || {
        let (mut input, mut bytes) = (std::io::stdin(), [0_u8; 64]);
        while matches!(input.read(&mut bytes), Ok(1..)) {}
        flag.store(true, Ordering::Release);
    });
    while !let_go.load(Ordering::Acquire) {
        if wait_until(&child, Instant::now() + PAUSE).unwrap_or(true) {
            break;
        }
    }
    family.kill_all(&child);
    let status = child.wait();
    let _survivors = family.after_wait();
    status.map_or(NOT_EXECUTABLE, exit_code)
}

fn cannot_start(program: &OsStr, error: &std::io::Error) -> i64 {
    use std::io::Write as _;
    let (why, code) = match error.kind() {
        ErrorKind::NotFound => ("there is no such program", NOT_FOUND),
        ErrorKind::PermissionDenied => ("it is not an executable file", NOT_EXECUTABLE),
        _ => ("the system does not start it", NOT_EXECUTABLE),
    };
    let _nobody_reads = writeln!(std::io::stderr(), "`{}` cannot be started: {why}", program.to_string_lossy());
    code
}
