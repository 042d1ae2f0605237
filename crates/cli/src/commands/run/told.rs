//! What is said on standard error while sessions run: a line for each that has ended, and on a terminal one that says what runs.

use crate::commands::console::{ColorChoice, Stream, say};
use averment_base::diagnostic::render::{Ink, one_line, paint};
use averment_report::redact::{Withheld, redact};
use averment_suite::{Event, Suite};
use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};

/// Words of an agent without what looks like a secret, and without values that it was given.
pub(super) fn shown(withheld: &Withheld, words: &str) -> String {
    withheld.without(redact(words).into_owned())
}

/// Takes the line of what runs away.
const CLEAR: &str = "\r\x1b[2K";
/// Columns that stay free.
const FREE: usize = 2;

/// Says what happens.
pub(super) struct Told {
    state: Mutex<State>,
    /// Whether there is a terminal to draw on.
    live: bool,
    color: ColorChoice,
    total: u64,
    withheld: Withheld,
}

#[derive(Default)]
struct State {
    running: Vec<String>,
    ended: u64,
    failed: u64,
}

impl Told {
    pub(super) fn new(suites: &[Suite], withheld: &[String], color: ColorChoice) -> Self {
        let of = |suite: &Suite| suite.repeat.saturating_mul(suite.executions().count() as u64);
        let total = suites.iter().map(of).sum();
        let withheld = Withheld::of(withheld.to_vec());
        Self { state: Mutex::default(), live: std::io::stderr().is_terminal(), color, total, withheld }
    }

    /// Says what has happened.
    pub(super) fn tell(&self, event: &Event<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        match event {
            Event::Begins(name) => state.running.push((*name).to_owned()),
            Event::Ends { name, record, passed, kept } => {
                if let Some(at) = state.running.iter().position(|one| one == name) {
                    state.running.remove(at);
                }
                state.ended = state.ended.saturating_add(1);
                state.failed = state.failed.saturating_add(u64::from(!passed));
                let style = Stream::Err.style(self.color);
                let (word, ink) = if *passed { ("passed", Ink::Green) } else { ("failed", Ink::Red) };
                let why = if record.why.is_empty() {
                    String::new()
                } else {
                    format!(": {}: {}", record.outcome.as_str(), shown(&self.withheld, &record.why))
                };
                let again = if record.attempt > 1 { format!(" (try {})", record.attempt) } else { String::new() };
                let before = if *kept { ", before" } else { "" };
                let time = record.duration_ms as f64 / 1_000.0;
                text = format!(
                    "{}  {}{again}  {time:.1}s{before}{}\n",
                    paint(style, ink, word),
                    one_line(name),
                    one_line(&why)
                );
            }
        }
        if self.live {
            say(&format!("{CLEAR}{text}{}", self.line(&state)));
        } else {
            say(&text);
        }
    }

    /// What runs now.
    fn line(&self, state: &State) -> String {
        let width = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0)).saturating_sub(FREE);
        let failed = if state.failed > 0 { format!(", {} failed", state.failed) } else { String::new() };
        let running = state.running.join(" | ");
        let line = format!("{} of {}{failed}  {running}", state.ended, self.total);
        one_line(&line).chars().take(width).collect()
    }

    /// Nothing runs any more.
    pub(super) fn end(&self) {
        if self.live {
            say(CLEAR);
        }
    }
}
