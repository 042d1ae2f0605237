//! Messages on standard error while sessions run: a line for each session that ended, and a status line on a terminal.

use crate::commands::console::{ColorChoice, OutputStream, eprint_redacted};
use averment_base::diagnostic::render::{TextColor, one_line, paint_text};
use averment_report::redact::{WithheldTexts, redact};
use averment_suite::{PlannedSuite, SuiteEvent};
use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};

/// An agent's words without secrets and withheld values.
pub(super) fn redacted_words(withheld: &WithheldTexts, words: &str) -> String {
    withheld.remove_from(redact(words).into_owned())
}

/// Clears the status line.
const CLEAR: &str = "\r\x1b[2K";
/// Columns kept free.
const FREE: usize = 2;

pub(super) struct SessionProgress {
    state: Mutex<ProgressState>,
    /// True if there is a terminal to draw on.
    live: bool,
    color: ColorChoice,
    total: u64,
    withheld: WithheldTexts,
}

#[derive(Default)]
struct ProgressState {
    running: Vec<String>,
    ended: u64,
    failed: u64,
}

impl SessionProgress {
    pub(super) fn new(suites: &[PlannedSuite], withheld: &[String], color: ColorChoice) -> Self {
        let of = |suite: &PlannedSuite| suite.repeat.saturating_mul(suite.executions().count() as u64);
        let total = suites.iter().map(of).sum();
        let withheld = WithheldTexts::of_texts(withheld.to_vec());
        Self { state: Mutex::default(), live: std::io::stderr().is_terminal(), color, total, withheld }
    }

    pub(super) fn report_event(&self, event: &SuiteEvent<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        match event {
            SuiteEvent::Begins(name) => state.running.push((*name).to_owned()),
            SuiteEvent::Ends { name, record, passed, kept } => {
                if let Some(at) = state.running.iter().position(|one| one == name) {
                    state.running.remove(at);
                }
                state.ended = state.ended.saturating_add(1);
                state.failed = state.failed.saturating_add(u64::from(!passed));
                let style = OutputStream::Err.style(self.color);
                let (word, ink) = if *passed { ("passed", TextColor::Green) } else { ("failed", TextColor::Red) };
                let why = if record.why.is_empty() {
                    String::new()
                } else {
                    format!(": {}: {}", record.outcome.as_str(), redacted_words(&self.withheld, &record.why))
                };
                let again = if record.attempt > 1 { format!(" (try {})", record.attempt) } else { String::new() };
                let before = if *kept { ", before" } else { "" };
                let time = record.duration_ms as f64 / 1_000.0;
                text = format!(
                    "{}  {}{again}  {time:.1}s{before}{}\n",
                    paint_text(style, ink, word),
                    one_line(name),
                    one_line(&why)
                );
            }
        }
        if self.live {
            eprint_redacted(&format!("{CLEAR}{text}{}", self.status_line(&state)));
        } else {
            eprint_redacted(&text);
        }
    }

    fn status_line(&self, state: &ProgressState) -> String {
        let width = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0)).saturating_sub(FREE);
        let failed = if state.failed > 0 { format!(", {} failed", state.failed) } else { String::new() };
        let running = state.running.join(" | ");
        let line = format!("{} of {}{failed}  {running}", state.ended, self.total);
        one_line(&line).chars().take(width).collect()
    }

    pub(super) fn clear_status(&self) {
        if self.live {
            eprint_redacted(CLEAR);
        }
    }
}
