//! The program of a server, with its exit status and its last output on standard error.

use averment_base::diagnostic::render::one_line;
use averment_engine::vm::world::ServiceProcess;
use averment_report::redact::redact;
use std::collections::VecDeque;
use std::io::Read as _;
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Number of bytes of standard error that are kept.
const KEPT: usize = 4 << 10;
/// Maximum number of reported lines of standard error, and maximum characters per line.
const LINES: usize = 3;
const WIDTH: usize = 160;
/// Number of polls, and the time between them, for the exit of a program that has closed its output.
const WAITS: usize = 20;
const WAIT: Duration = Duration::from_millis(10);

pub(crate) struct ServerProcess {
    service: ServiceProcess,
    errors: Arc<Mutex<VecDeque<u8>>>,
    keeper: JoinHandle<()>,
}

impl ServerProcess {
    /// Starts the program. Returns it with its standard input and output.
    pub fn start_server(
        words: &[String],
        variables: &[(String, String)],
    ) -> std::io::Result<(Self, ChildStdin, ChildStdout)> {
        let mut service = ServiceProcess::start_service(words, variables)?;
        let Some((input, output, errors)) = service.take_streams() else {
            return Err(std::io::Error::other("its streams are taken"));
        };
        let kept = Arc::default();
        let keeping = Arc::clone(&kept);
        let keeper = std::thread::Builder::new()
            .name("probe reads errors".to_owned())
            .spawn(move || keep_errors(errors, &keeping))?;
        Ok((Self { service, errors: kept, keeper }, input, output))
    }

    /// Appends to the message how the program ended and its last output.
    pub fn with_end(&self, what: String) -> String {
        let mut end = self.service.exit_words();
        for _ in 0..WAITS {
            // The last output may not have arrived yet.
            if end.is_some() && self.keeper.is_finished() {
                break;
            }
            std::thread::sleep(WAIT);
            end = end.or_else(|| self.service.exit_words());
        }
        let said = self.last_lines();
        let parts = [Some(what), end, (!said.is_empty()).then(|| format!("it wrote last: `{said}`"))];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    fn last_lines(&self) -> String {
        let bytes: Vec<u8> = self.errors.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let text = redact(&text);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = lines.iter().skip(lines.len().saturating_sub(LINES));
        let last = last.map(|line| one_line(line).chars().take(WIDTH).collect::<String>());
        last.collect::<Vec<_>>().join(" / ")
    }
}

fn keep_errors(mut errors: ChildStderr, kept: &Mutex<VecDeque<u8>>) {
    let mut part = [0_u8; 4096];
    while let Ok(count @ 1..) = errors.read(&mut part) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(part.iter().take(count));
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
    }
}
