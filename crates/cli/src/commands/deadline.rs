//! `--max-time`: how long a command may take as a whole, whatever rules and runs make of it.

use super::exit::{CommandError, Exit};
use super::{console, signals, units};
use averment_base::limits::Cancel;
use averment_engine::vm::world;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Time to finish reports after the deadline.
const TO_END: Duration = Duration::from_secs(2);
/// Time for running evaluations to stop by themselves.
const TO_STOP: Duration = Duration::from_millis(400);

/// The time of a command.
#[derive(Debug, Clone)]
pub struct Deadline {
    over: &'static AtomicBool,
    at: Instant,
    words: String,
}

impl Deadline {
    /// Begins to count, where somebody has said how long it may take. When the time is over evaluations end with an error, and soon after
    /// that the process does.
    pub fn start(given: Option<&str>) -> Result<Option<Self>, CommandError> {
        let Some(deadline) = Self::start_clock(given)? else { return Ok(None) };
        watch_deadline(&deadline, TO_END);
        Ok(Some(deadline))
    }

    /// Starts a deadline for a command that has no partial output.
    pub fn start_hard(given: Option<&str>) -> Result<(), CommandError> {
        if let Some(deadline) = Self::start_clock(given)? {
            watch_deadline(&deadline, Duration::ZERO);
        }
        Ok(())
    }

    fn start_clock(given: Option<&str>) -> Result<Option<Self>, CommandError> {
        let Some(text) = given else { return Ok(None) };
        let Some(time) = units::parse_time(text) else {
            return Err(CommandError::usage(format!("`{text}` is no time"), "write a time such as `10s` or `2m`"));
        };
        let at = Instant::now().checked_add(time).unwrap_or_else(Instant::now);
        // One for the process: what is evaluated may look at it as long as it likes.
        Ok(Some(Self { over: Box::leak(Box::new(AtomicBool::new(false))), at, words: text.trim().to_owned() }))
    }

    /// The handle that cancels evaluations.
    pub fn cancel(&self) -> Cancel {
        Cancel::new(self.over)
    }

    /// True if the deadline has passed.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed) && self.at.elapsed() > TO_STOP
    }

    /// The message about the deadline.
    pub fn in_words(&self) -> String {
        format!("error: this takes longer than `--max-time {}` allows", self.words)
    }
}

fn watch_deadline(deadline: &Deadline, to_end: Duration) {
    let deadline = deadline.clone();
    thread::spawn(move || {
        thread::sleep(deadline.at.saturating_duration_since(Instant::now()));
        deadline.over.store(true, Ordering::Relaxed);
        thread::sleep(to_end);
        signals::mark_ending();
        world::end_all();
        console::eprint_redacted(&format!("{}: it was ended\n", deadline.in_words()));
        std::process::exit(Exit::Error as i32);
    });
}
