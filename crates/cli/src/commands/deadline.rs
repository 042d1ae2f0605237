//! `--max-time`: a time limit for the whole command.

use super::exit::{CommandError, Exit};
use super::{console, signals, units};
use averment_base::limits::Cancel;
use averment_engine::vm::world;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// One part in this many of the command's time is reserved for its reports.
const REPORT_SHARE: u32 = 5;
/// Maximum time reserved for reports.
const MOST_TO_REPORT: Duration = Duration::from_secs(2);
/// One part in this many of the report time is left for evaluations to stop by themselves.
const STOP_SHARE: u32 = 5;
/// Time to print why the process ends. The write can block if nobody reads standard error.
const TO_WRITE: Duration = Duration::from_millis(200);

/// Selects if a command reports partial results shortly before its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeToReport {
    /// The last part of the time is reserved for reports.
    Share,
    /// The command has no partial output.
    None,
}

/// The time limit of a command.
#[derive(Debug, Clone)]
pub struct Deadline {
    over: &'static AtomicBool,
    /// Time at which evaluations are asked to stop.
    stop: Instant,
    /// Time at which reports are finished, without the evaluations that did not stop.
    report: Instant,
    /// Time at which the process ends.
    end: Instant,
    words: String,
}

impl Deadline {
    /// Starts the clock. Evaluations end with an error early enough for the reports, and the process ends when the time is over.
    pub fn start(text: &str, reports: TimeToReport) -> Result<Self, CommandError> {
        let Some(time) = units::parse_time(text) else {
            return Err(CommandError::usage(format!("`{text}` is no time"), "write a time such as `10s` or `2m`"));
        };
        let share = match reports {
            TimeToReport::Share => time.checked_div(REPORT_SHARE).unwrap_or_default().min(MOST_TO_REPORT),
            TimeToReport::None => Duration::ZERO,
        };
        let now = Instant::now();
        let after = |time: Duration| now.checked_add(time).unwrap_or(now);
        let stop = time.saturating_sub(share);
        let deadline = Self {
            // Leaked, because evaluations may read the flag until the process ends.
            over: Box::leak(Box::new(AtomicBool::new(false))),
            stop: after(stop),
            report: after(stop.saturating_add(share.checked_div(STOP_SHARE).unwrap_or_default())),
            end: after(time),
            words: text.trim().to_owned(),
        };
        let watched = deadline.clone();
        thread::Builder::new().spawn(move || end_process(&watched)).map_err(CommandError::Output)?;
        Ok(deadline)
    }

    /// The handle that cancels evaluations.
    pub fn cancel(&self) -> Cancel {
        Cancel::new(self.over)
    }

    /// True if the reports must be finished now.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed) && Instant::now() > self.report
    }

    /// The message about the deadline.
    pub fn in_words(&self) -> String {
        format!("error: this takes longer than `--max-time {}` allows", self.words)
    }
}

fn end_process(deadline: &Deadline) {
    let sleep_until = |moment: Instant| thread::sleep(moment.saturating_duration_since(Instant::now()));
    sleep_until(deadline.stop);
    deadline.over.store(true, Ordering::Relaxed);
    sleep_until(deadline.end);
    // Ending child processes and writing to a full pipe can block forever. This thread ends the process anyway.
    let _ = thread::Builder::new().spawn(|| {
        thread::sleep(TO_WRITE);
        std::process::exit(Exit::Error as i32);
    });
    signals::mark_ending();
    world::end_all();
    console::eprint_redacted(&format!("{}: it was ended\n", deadline.in_words()));
    std::process::exit(Exit::Error as i32);
}
