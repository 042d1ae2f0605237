//! Commands: no shell, no input, bounded output, and the whole process group ended in time.

use super::Permissions;
use crate::vm::fault::Fault;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long a command that was asked to end may take before it is killed.
const GRACE: Duration = Duration::from_millis(300);
/// How often a running command is looked at.
const PAUSE: Duration = Duration::from_millis(5);

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutcome {
    /// Its exit code; 128 plus the signal's number when a signal ended it, as shells say it.
    pub code: i64,
    /// The start of what it wrote to both streams, for the reason of a failure.
    pub output: String,
}

/// Runs a command. The first argument is the program, looked up on the path.
pub(super) fn run(permissions: &Permissions, arguments: &[String]) -> Result<CommandOutcome, Fault> {
    let Some((program, rest)) = arguments.split_first().filter(|(program, _)| !program.is_empty()) else {
        return Err(Fault::Other("the command is empty".to_owned()));
    };
    let mut command = Command::new(program);
    command.args(rest).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    if let Some(folder) = &permissions.working_directory {
        command.current_dir(folder);
    }
    let mut child = command.spawn().map_err(|error| Fault::Other(format!("`{program}` cannot be started: {error}")))?;
    let streams = [
        child.stdout.take().map(|stream| collect(stream, permissions.output_bytes)),
        child.stderr.take().map(|stream| collect(stream, permissions.output_bytes)),
    ];
    let status = wait(&mut child, permissions.command_time);
    end_group(&child, rustix::process::Signal::KILL);
    let status = status.map_err(|error| Fault::Other(format!("`{program}` cannot be waited for: {error}")))?;
    let output = streams.into_iter().flatten().map(|stream| stream.recv_timeout(GRACE).unwrap_or_default()).collect();
    match status {
        Some(status) => Ok(CommandOutcome { code: code(status), output }),
        None => {
            let seconds = permissions.command_time.as_secs_f64();
            Err(Fault::Other(format!("`{program}` took longer than {seconds} s and was ended")))
        }
    }
}

fn code(status: ExitStatus) -> i64 {
    status.code().map_or_else(|| 128 + i64::from(status.signal().unwrap_or(0)), i64::from)
}

/// Waits until the command ends by itself; `None` when it had to be ended.
fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    if let Some(status) = wait_until(child, Instant::now() + limit)? {
        return Ok(Some(status));
    }
    end_group(child, rustix::process::Signal::TERM);
    if wait_until(child, Instant::now() + GRACE)?.is_none() {
        end_group(child, rustix::process::Signal::KILL);
        child.wait()?;
    }
    Ok(None)
}

fn wait_until(child: &mut Child, deadline: Instant) -> std::io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Sends a signal to the command and everything it started. That the group is gone already is no error.
fn end_group(child: &Child, signal: rustix::process::Signal) {
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        let _gone_already = rustix::process::kill_process_group(group, signal);
    }
}

/// Reads a stream to its end on a thread of its own and sends the first `limit` bytes of it as text. The rest is read and dropped, so that
/// the command never blocks on a full pipe. The thread is not joined: a process that left the group may keep the stream open.
fn collect(mut stream: impl Read + Send + 'static, limit: usize) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        let mut chunk = [0_u8; 4096];
        while let Ok(read @ 1..) = stream.read(&mut chunk) {
            let room = limit.saturating_sub(kept.len()).min(read);
            kept.extend(chunk.iter().take(room));
        }
        let _nobody_waits = sender.send(String::from_utf8_lossy(&kept).into_owned());
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> Permissions {
        Permissions { run: true, command_time: Duration::from_millis(400), ..Permissions::default() }
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn the_exit_code_and_the_output_are_reported() {
        let outcome = allowed().command(&words(&["sh", "-c", "echo out; echo err >&2; exit 3"])).unwrap();
        assert_eq!(outcome, CommandOutcome { code: 3, output: "out\nerr\n".to_owned() });
        assert_eq!(allowed().command(&words(&["sh", "-c", "kill -9 $$"])).unwrap().code, 137);
    }

    #[test]
    fn without_permission_nothing_runs() {
        let denied = Permissions { run: false, ..allowed() };
        assert_eq!(denied.command(&words(&["true"])), Err(Fault::Permission("--allow-run".to_owned())));
    }

    #[test]
    fn arguments_are_never_read_by_a_shell() {
        let outcome = allowed().command(&words(&["printf", "%s", "$(echo x); `id` | cat"])).unwrap();
        assert_eq!(outcome.output, "$(echo x); `id` | cat");
    }

    #[test]
    fn a_command_that_ignores_signals_and_forks_is_ended_in_time() {
        let marker = tempfile::tempdir().unwrap();
        let file = marker.path().join("alive");
        let script = format!("trap '' TERM; (trap '' TERM; sleep 2; touch {}) & sleep 60", file.display());
        let started = Instant::now();
        let found = allowed().command(&words(&["sh", "-c", &script]));
        assert!(matches!(found, Err(Fault::Other(_))), "{found:?}");
        assert!(started.elapsed() < Duration::from_millis(1_900), "{:?}", started.elapsed());
        std::thread::sleep(Duration::from_millis(2_200));
        assert!(!file.exists(), "the forked process lived on");
    }

    #[test]
    fn endless_output_is_bounded() {
        let found = allowed().command(&words(&["yes"]));
        assert!(found.is_err());
        let outcome = Permissions { output_bytes: 10, ..allowed() }.command(&words(&["seq", "100000"])).unwrap();
        assert_eq!(outcome.output.len(), 10);
    }

    #[test]
    fn a_program_that_does_not_exist_is_a_clear_error() {
        let found = allowed().command(&words(&["no-such-program-here"]));
        assert!(matches!(&found, Err(Fault::Other(text)) if text.contains("cannot be started")), "{found:?}");
        assert!(allowed().command(&[]).is_err());
    }
}
