//! Commands: no shell, no input, bounded output, and the whole process group ended in time.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the feature `world` is what looks at files, commands and variables"
)]

use super::process_family::ProcessFamily;
use super::{CommandOutcome, Permissions, withheld_variables};
use crate::vm::fault::Fault;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::io::{ErrorKind, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

/// Time between asking a command to end and killing it.
const GRACE: Duration = Duration::from_millis(300);
const PAUSE: Duration = Duration::from_millis(5);

/// The first argument is the program, looked up in `PATH`.
pub(super) fn run_command(permissions: &Permissions, arguments: &[String]) -> Result<CommandOutcome, Fault> {
    let Some((program, rest)) = arguments.split_first().filter(|(program, _)| !program.is_empty()) else {
        return Err(Fault::Other("the command is empty".to_owned()));
    };
    let mut command = Command::new(program);
    command.args(rest).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(folder) = &permissions.working_directory {
        command.current_dir(folder);
    }
    let family = ProcessFamily::mark_command(&mut command);
    let mut child = family.start_command(&mut command).map_err(|error| cannot_start(permissions, program, &error))?;
    let streams = [
        child.stdout.take().map(|stream| CommandStream::start_reading(stream, permissions.output_bytes)),
        child.stderr.take().map(|stream| CommandStream::start_reading(stream, permissions.output_bytes)),
    ];
    let in_time = ended_itself(&child, &family, permissions.command_time);
    family.kill_all(&child);
    let status = in_time.and_then(|in_time| child.wait().map(|status| in_time.then_some(status)));
    let survivors = family.after_wait();
    let status = status.map_err(|error| Fault::Other(format!("`{program}` cannot be waited for: {error}")))?;
    if !survivors.is_empty() {
        let survivors = survivors.join(", ");
        return Err(Fault::Other(format!("`{program}` left processes behind that cannot be ended: {survivors}")));
    }
    let Some(status) = status else {
        let limit = permissions.command_time.as_millis();
        let limit = if limit.is_multiple_of(1_000) { format!("{}s", limit / 1_000) } else { format!("{limit}ms") };
        return Err(Fault::Other(format!("`{program}` took longer than {limit} and was ended")));
    };
    let output: String = streams.into_iter().flatten().map(CommandStream::written_text).collect();
    let output = withheld_variables::withhold_values(&output, withheld_variables::text_variables()).into_owned();
    Ok(CommandOutcome { code: exit_code(status), output })
}

fn cannot_start(permissions: &Permissions, program: &str, error: &std::io::Error) -> Fault {
    let of_folder =
        |program: &str| permissions.working_directory.as_ref().is_some_and(|folder| folder.join(program).is_file());
    let why = match error.kind() {
        ErrorKind::NotFound if program.contains('/') && of_folder(program) => {
            "the program that its first line names does not exist".to_owned()
        }
        ErrorKind::NotFound => "there is no such program".to_owned(),
        ErrorKind::PermissionDenied => "it is not an executable file".to_owned(),
        ErrorKind::InvalidInput => "a NUL character cannot be an argument".to_owned(),
        ErrorKind::ArgumentListTooLong => "its arguments are too long".to_owned(),
        _ => error.to_string(),
    };
    let program: String = program.chars().take(NAME).collect();
    Fault::Other(format!("`{program}` cannot be started: {why}"))
}

/// Characters of a program name in a message.
const NAME: usize = 200;

pub(super) fn exit_code(status: ExitStatus) -> i64 {
    status.code().map_or_else(|| 128 + i64::from(status.signal().unwrap_or(0)), i64::from)
}

/// Waits, or ends the command with its descendants; not reaped yet, so that its process id is not reused.
fn ended_itself(child: &Child, family: &ProcessFamily, limit: Duration) -> std::io::Result<bool> {
    let in_time = wait_until(child, Instant::now() + limit)?;
    if !in_time {
        family.ask_to_end(child);
        wait_until(child, Instant::now() + GRACE)?;
    }
    Ok(in_time)
}

pub(super) fn wait_until(child: &Child, deadline: Instant) -> std::io::Result<bool> {
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return Ok(true) };
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    loop {
        if waitid(WaitId::Pid(pid), look)?.is_some() {
            return Ok(true);
        }
        if Instant::now() >= deadline {
            return Ok(false);
        }
        std::thread::sleep(PAUSE);
    }
}

/// What a command writes to a stream: the first bytes are kept, the rest is read and dropped, so that the command never waits for a full
/// pipe. A thread reads; it is not waited for, as a process that cannot be ended may keep the stream open.
struct CommandStream {
    kept: Arc<Mutex<Vec<u8>>>,
    ended: mpsc::Receiver<()>,
}

impl CommandStream {
    fn start_reading(mut stream: impl Read + Send + 'static, limit: usize) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (sender, ended) = mpsc::channel();
        let filled = Arc::clone(&kept);
        std::thread::spawn(move || {
            let mut chunk = [0_u8; 1 << 16];
            while let Ok(read @ 1..) = stream.read(&mut chunk) {
                if let Ok(mut kept) = filled.lock() {
                    let room = limit.saturating_sub(kept.len()).min(read);
                    kept.extend(chunk.iter().take(room));
                }
            }
            let _nobody_waits = sender.send(());
        });
        Self { kept, ended }
    }

    fn written_text(self) -> String {
        let _ended = self.ended.recv_timeout(GRACE);
        self.kept.lock().map(|kept| String::from_utf8_lossy(&kept).into_owned()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> Permissions {
        Permissions { run: true, command_time: Duration::from_millis(400), ..Permissions::default() }
    }

    fn test_words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn the_exit_code_and_the_output_are_reported() {
        let outcome = allowed().run_command(&test_words(&["sh", "-c", "echo out; echo err >&2; exit 3"])).unwrap();
        assert_eq!(outcome, CommandOutcome { code: 3, output: "out\nerr\n".to_owned() });
        assert_eq!(allowed().run_command(&test_words(&["sh", "-c", "kill -9 $$"])).unwrap().code, 137);
    }

    #[test]
    fn without_permission_nothing_runs() {
        let denied = Permissions { run: false, ..allowed() };
        assert_eq!(denied.run_command(&test_words(&["true"])), Err(Fault::Permission("--allow-run".to_owned())));
    }

    #[test]
    fn arguments_are_never_read_by_a_shell() {
        let outcome = allowed().run_command(&test_words(&["printf", "%s", "$(echo x); `id` | cat"])).unwrap();
        assert_eq!(outcome.output, "$(echo x); `id` | cat");
    }

    #[test]
    fn a_command_that_ignores_signals_and_forks_is_ended_in_time() {
        let marker = tempfile::tempdir().unwrap();
        let file = marker.path().join("alive");
        let script = format!("trap '' TERM; (trap '' TERM; sleep 2; touch {}) & sleep 60", file.display());
        let started = Instant::now();
        let found = allowed().run_command(&test_words(&["sh", "-c", &script]));
        assert!(matches!(found, Err(Fault::Other(_))), "{found:?}");
        assert!(started.elapsed() < Duration::from_millis(1_900), "{:?}", started.elapsed());
        std::thread::sleep(Duration::from_millis(2_200));
        assert!(!file.exists(), "the forked process lived on");
    }

    #[test]
    fn a_command_that_starts_a_session_of_its_own_and_closes_its_output_is_ended_with_it() {
        let marker = tempfile::tempdir().unwrap();
        let (limit, normal) = (marker.path().join("limit"), marker.path().join("normal"));
        let daemon = |file: &std::path::Path| {
            format!("setsid sh -c 'trap \"\" TERM; exec >&- 2>&-; sleep 1; touch {}' &", file.display())
        };
        let script = format!("trap '' TERM; {} exec >&- 2>&-; sleep 60", daemon(&limit));
        assert!(allowed().run_command(&test_words(&["sh", "-c", &script])).is_err());
        let outcome =
            allowed().run_command(&test_words(&["sh", "-c", &format!("echo done; {}", daemon(&normal))])).unwrap();
        assert_eq!(outcome, CommandOutcome { code: 0, output: "done\n".to_owned() });
        std::thread::sleep(Duration::from_millis(1_300));
        assert!(!limit.exists() && !normal.exists(), "a process in a session of its own lived on");
    }

    #[test]
    fn there_is_no_input() {
        assert_eq!(
            allowed().run_command(&test_words(&["cat"])).unwrap(),
            CommandOutcome { code: 0, output: String::new() }
        );
    }

    #[test]
    fn endless_output_is_bounded() {
        let found = allowed().run_command(&test_words(&["yes"]));
        assert!(found.is_err());
        let outcome =
            Permissions { output_bytes: 10, ..allowed() }.run_command(&test_words(&["seq", "100000"])).unwrap();
        assert_eq!(outcome.output.len(), 10);
    }

    #[test]
    fn a_program_that_cannot_be_started_is_a_clear_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("plain.sh"), "echo hi").unwrap();
        let permissions = Permissions { working_directory: Some(folder.path().to_path_buf()), ..allowed() };
        for (program, why) in [
            ("no-such-program-here", "there is no such program"),
            ("./no-such-program-here", "there is no such program"),
            ("./plain.sh", "not an executable file"),
            (".", "not an executable file"),
            ("a\0b", "NUL"),
        ] {
            let found = permissions.run_command(&test_words(&[program]));
            assert!(matches!(&found, Err(Fault::Other(text)) if text.contains(why)), "{program:?}: {found:?}");
        }
        assert!(allowed().run_command(&[]).is_err());
        let long = "x".repeat(4 << 20);
        assert!(allowed().run_command(&test_words(&["true", &long])).is_err());
    }
}
