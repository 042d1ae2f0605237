//! A bar on standard error for work that takes long, where a person is looking.

use super::console::Stream;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use std::io::{self, Write as _};
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
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::term_like_with_hz(Box::new(ProgressLine), 10));
    bar.set_style(style.progress_chars("##-"));
    bar
}

/// The line of the terminal that the bar stands in. Its end stays free, and nothing fills it up: what the terminal itself writes there, such
/// as `^C`, is in the same line, and goes with the bar.
#[derive(Debug)]
struct ProgressLine;

/// Columns that stay free.
const FREE: u16 = 4;

impl TermLike for ProgressLine {
    fn width(&self) -> u16 {
        terminal_size::terminal_size().map_or(80, |(width, _)| width.0).saturating_sub(FREE).max(1)
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        io::stderr().write_all(text.trim_end().as_bytes())
    }

    fn clear_line(&self) -> io::Result<()> {
        io::stderr().write_all(b"\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        io::stderr().flush()
    }
}
