//! A bar on standard error for work that takes long, where a person is looking.

use super::console::Stream;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// Work that is done sooner shows nothing.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// The bar, which is made when the work turns out to be long.
pub struct Progress {
    started: Instant,
    total: Option<u64>,
    done: u64,
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A bar for so many bytes; `None` when the length is not known.
    pub fn new(total: Option<u64>) -> Self {
        Self { started: Instant::now(), total, done: 0, wanted: Stream::Err.is_terminal(), bar: None }
    }

    /// Says that so many bytes more are done.
    pub fn add(&mut self, bytes: u64) {
        self.done += bytes;
        if self.wanted && self.bar.is_none() && self.started.elapsed() > PATIENCE {
            self.bar = Some(bar(self.total));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        }
    }

    /// Writes something that the bar must not be mixed with.
    pub fn hide_while<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) if Stream::Out.is_terminal() => bar.suspend(write),
            _ => write(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(total: Option<u64>) -> ProgressBar {
    let template = match total {
        Some(_) => "{bytes} of {total_bytes}  {wide_bar}  {eta}",
        None => "{spinner} {bytes}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr_with_hz(10));
    bar.set_style(style.progress_chars("##-"));
    bar
}
