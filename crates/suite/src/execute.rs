//! Runs a program: its output is written to logs, its time and steps are limited, and no process of it is left behind.

use crate::agents::StepRecord;
use crate::steps::StepCounter;
use averment_engine::vm::world::WatchedProgram;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Polling interval for the end of the program.
const PAUSE: Duration = Duration::from_millis(20);
/// Maximum wait for the last output to arrive.
const LATE: Duration = Duration::from_secs(2);
/// Maximum length in bytes of a line that is searched for steps.
const LINE: u64 = 16 << 20;

/// Option of the supervisor; the next argument is a file that it removes at the end of the program.
pub const FORGET: &str = "--forget";

/// The command line that starts this program as the supervisor of another one; `--forget FILE` and `--` may be appended.
#[derive(Debug, Clone)]
pub struct Supervisor(pub Vec<OsString>);

#[derive(Debug)]
pub(crate) struct ChildProgram<'a> {
    pub words: &'a [String],
    pub folder: &'a Path,
    pub variables: &'a [(OsString, OsString)],
    pub limits: ChildLimits,
    pub output: PathBuf,
    pub error: PathBuf,
    /// A file that is removed when the program has ended, even if this process is killed.
    pub forgets: Option<&'a Path>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ChildLimits {
    pub time: Duration,
    /// Maximum bytes of each output stream.
    pub bytes: u64,
    /// The kind of step, and the maximum number of such steps.
    pub steps: Option<(StepRecord, u64)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProgramEnd {
    Itself(i64),
    /// Ended by the supervisor: time limit, step limit, output limit, or interrupted.
    Late,
    Steps(u64),
    Long,
    Stopped,
}

#[derive(Debug, Default)]
struct StreamProgress {
    steps: AtomicU64,
    too_many: AtomicBool,
    too_long: AtomicBool,
}

/// Runs a program until it ends.
///
/// # Errors
/// If the program cannot be started, or its logs cannot be written.
pub(crate) fn execute_program(
    supervisor: &Supervisor,
    program: &ChildProgram<'_>,
    stop: &AtomicBool,
) -> std::io::Result<(ProgramEnd, u64)> {
    let logs = (File::create(&program.output)?, File::create(&program.error)?);
    let mut watching = supervisor.0.clone();
    if let Some(file) = program.forgets {
        watching.extend([FORGET.into(), file.into()]);
    }
    watching.push("--".into());
    let mut watched = WatchedProgram::start_watched(&watching, program.words, program.folder, program.variables)?;
    let Some((output, error)) = watched.take_streams() else { return Err(std::io::Error::other("it has no output")) };
    let seen = Arc::new(StreamProgress::default());
    let limits = program.limits;
    let readers = [
        spawn_reader(output, logs.0, limits.bytes, limits.steps, &seen),
        spawn_reader(error, logs.1, limits.bytes, None, &seen),
    ];
    let begun = Instant::now();
    let cut = loop {
        if stop.load(Ordering::Relaxed) {
            break Some(ProgramEnd::Stopped);
        }
        if seen.too_many.load(Ordering::Acquire) {
            break Some(ProgramEnd::Steps(seen.steps.load(Ordering::Acquire)));
        }
        if seen.too_long.load(Ordering::Acquire) {
            break Some(ProgramEnd::Long);
        }
        if watched.ended_within(PAUSE)? {
            break None;
        }
        if begun.elapsed() >= limits.time {
            break Some(ProgramEnd::Late);
        }
    };
    let code = watched.end_program()?;
    join_readers(readers);
    let steps = seen.steps.load(Ordering::Acquire);
    // Output that arrived at the end counts too.
    let late = seen.too_many.load(Ordering::Acquire).then_some(ProgramEnd::Steps(steps));
    let late = late.or_else(|| seen.too_long.load(Ordering::Acquire).then_some(ProgramEnd::Long));
    Ok((cut.or(late).unwrap_or(ProgramEnd::Itself(code)), steps))
}

/// Waits for the last output, up to a deadline, because a process that cannot be killed may keep a stream open.
fn join_readers(readers: [JoinHandle<()>; 2]) {
    let deadline = Instant::now() + LATE;
    for reader in readers {
        while !reader.is_finished() && Instant::now() < deadline {
            std::thread::sleep(PAUSE / 10);
        }
        if reader.is_finished() {
            let _said_already = reader.join();
        }
    }
}

fn spawn_reader(
    stream: impl Read + Send + 'static,
    mut log: File,
    bytes: u64,
    steps: Option<(StepRecord, u64)>,
    seen: &Arc<StreamProgress>,
) -> JoinHandle<()> {
    let seen = Arc::clone(seen);
    std::thread::spawn(move || {
        let mut stream = BufReader::with_capacity(1 << 16, stream);
        let (mut counted, mut left, mut line) =
            (steps.map(|(of, most)| (StepCounter::counting(of), most)), bytes, Vec::new());
        loop {
            line.clear();
            let read = match &counted {
                Some(_) => (&mut stream).take(LINE).read_until(b'\n', &mut line).unwrap_or(0),
                None => {
                    line.resize(1 << 16, 0);
                    stream.read(&mut line).unwrap_or(0)
                }
            };
            if read == 0 {
                break;
            }
            let kept = usize::try_from(left).unwrap_or(usize::MAX).min(read);
            left = left.saturating_sub(kept as u64);
            let written = log.write_all(line.get(..kept).unwrap_or_default());
            if kept < read || written.is_err() {
                seen.too_long.store(true, Ordering::Release);
                break;
            }
            if let Some((steps, most)) = &mut counted {
                let count = steps.read_line(line.trim_ascii());
                seen.steps.store(count, Ordering::Release);
                if count > *most {
                    seen.too_many.store(true, Ordering::Release);
                }
            }
        }
        let _on_the_disk = log.flush();
    })
}
