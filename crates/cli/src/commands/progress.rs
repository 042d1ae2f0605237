//! A progress bar on standard error for long work on a terminal.

use super::console::OutputStream;
use std::io::{self, Write as _};
use std::time::{Duration, Instant};

/// Work that takes less time shows no progress bar.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// Minimum time between two redraws.
const BETWEEN: Duration = Duration::from_millis(100);
/// Columns kept free for text that the terminal itself prints, such as `^C`.
const FREE: usize = 4;
/// Columns for the text beside the bar.
const BESIDE: usize = 44;
/// Clears the line.
const CLEAR: &[u8] = b"\r\x1b[2K";

/// The progress bar. It is first drawn when the work turns out to be long.
pub struct Progress {
    started: Instant,
    total: Option<u64>,
    done: u64,
    wanted: bool,
    drawn: Option<Instant>,
}

impl Progress {
    /// Creates a bar for a number of bytes; `None` if the total is unknown.
    pub fn new(total: Option<u64>) -> Self {
        Self { started: Instant::now(), total, done: 0, wanted: OutputStream::Err.is_terminal(), drawn: None }
    }

    /// Adds finished bytes, and redraws the bar if it is due.
    pub fn add_bytes(&mut self, bytes: u64) {
        self.done = self.done.saturating_add(bytes);
        if !self.wanted {
            return;
        }
        let due = match self.drawn {
            None => self.started.elapsed() > PATIENCE,
            Some(drawn) => drawn.elapsed() >= BETWEEN,
        };
        if due {
            self.draw_bar();
            self.drawn = Some(Instant::now());
        }
    }

    /// Clears the bar while `write` prints.
    pub fn hide_while<T>(&self, write: impl FnOnce() -> T) -> T {
        if self.drawn.is_none() || !OutputStream::Out.is_terminal() {
            return write();
        }
        clear_line();
        let written = write();
        self.draw_bar();
        written
    }

    fn draw_bar(&self) {
        let width = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0)).saturating_sub(FREE);
        let mut line = CLEAR.to_vec();
        line.extend(bar_line(self.done, self.total, self.started.elapsed(), width).bytes());
        let _ = io::stderr().write_all(&line);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn.is_some() {
            clear_line();
        }
    }
}

fn clear_line() {
    let _ = io::stderr().write_all(CLEAR);
}

fn bar_line(done: u64, total: Option<u64>, since: Duration, width: usize) -> String {
    let Some(total) = total.filter(|total| *total > 0) else { return cut_text(&bytes_text(done), width) };
    let part = (done as f64 / total as f64).clamp(0.0, 1.0);
    let left = if part > 0.0 { since.as_secs_f64() * (1.0 - part) / part } else { 0.0 };
    let room = width.saturating_sub(BESIDE);
    // The number of cells is less than the width of a terminal, so the conversion is exact.
    let full = (0..room).filter(|cell| (*cell as f64) < part * room as f64).count();
    let bar = format!("{}{}", "#".repeat(full), "-".repeat(room.saturating_sub(full)));
    cut_text(&format!("{} of {}  {bar}  {}", bytes_text(done), bytes_text(total), time_text(left)), width)
}

fn cut_text(text: &str, width: usize) -> String {
    text.chars().take(width).collect()
}

fn bytes_text(bytes: u64) -> String {
    let (mut size, mut unit) = (bytes as f64, "B");
    for larger in ["KiB", "MiB", "GiB", "TiB"] {
        if size < 1024.0 {
            break;
        }
        (size, unit) = (size / 1024.0, larger);
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{size:.2} {unit}") }
}

fn time_text(seconds: f64) -> String {
    match seconds.round() {
        seconds if seconds < 90.0 => format!("{seconds} s left"),
        seconds if seconds < 5400.0 => format!("{} min left", (seconds / 60.0).round()),
        seconds => format!("{} h left", (seconds / 3600.0).round()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_is_done_of_what_and_how_long_the_rest_takes() {
        let line = |done, total, seconds, width| bar_line(done, total, Duration::from_secs(seconds), width);
        assert_eq!(line(512, None, 3, 76), "512 B");
        assert_eq!(line(3 << 20, Some(0), 3, 76), "3.00 MiB");
        assert_eq!(line(1 << 20, Some(4 << 20), 10, 52), "1.00 MiB of 4.00 MiB  ##------  30 s left");
        assert_eq!(line(5 << 30, Some(5 << 30), 10, 52), "5.00 GiB of 5.00 GiB  ########  0 s left");
        assert_eq!(line(9 << 20, Some(4 << 20), 10, 52), "9.00 MiB of 4.00 MiB  ########  0 s left");
        assert_eq!(line(1 << 10, Some(1 << 20), 60, 46), "1.00 KiB of 1.00 MiB  #-  17 h left");
        assert_eq!(line(1 << 20, Some(2 << 20), 600, 10), "1.00 MiB o");
    }
}
