//! Terminal properties: color, box characters, width. They are looked up once per command.

use averment_base::diagnostic::render::TextStyle;
use averment_report::redact::redact;
use clap::ValueEnum;
use std::io::{IsTerminal as _, Write};

/// `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// A stream that text goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Maximum width in columns. Wider text is hard to read.
const WIDEST: usize = 140;
/// Minimum width in columns. Diagnostic pictures need this much.
const NARROWEST: usize = 60;

impl OutputStream {
    /// True if the stream is a terminal.
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Out => std::io::stdout().is_terminal(),
            Self::Err => std::io::stderr().is_terminal(),
        }
    }

    /// Returns the text style for this stream.
    pub fn style(self, color: ColorChoice) -> TextStyle {
        let terminal = self.is_terminal();
        let of_stream = match self {
            Self::Out => supports_unicode::Stream::Stdout,
            Self::Err => supports_unicode::Stream::Stderr,
        };
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let color = match color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => terminal && !dumb && !set("NO_COLOR"),
        };
        let unicode = terminal && !dumb && supports_unicode::on(of_stream);
        TextStyle { unicode, color, width: output_width(terminal) }
    }
}

/// Prints to standard error and hides credentials, because messages can quote names and texts of rules and runs. Write errors are ignored.
pub fn eprint_redacted(text: &str) {
    let _ = std::io::stderr().write_all(redact(text).as_bytes());
}

/// A writer that hides credentials line by line, because test results can quote names and texts of rules and runs.
pub struct RedactingWriter<W: Write> {
    inner: W,
    line: Vec<u8>,
}

impl<W: Write> RedactingWriter<W> {
    /// Wraps another writer.
    pub fn new(inner: W) -> Self {
        Self { inner, line: Vec::new() }
    }

    fn write_lines(&mut self, end: usize) -> std::io::Result<()> {
        let rest = self.line.split_off(end);
        let line = std::mem::replace(&mut self.line, rest);
        self.inner.write_all(redact(&String::from_utf8_lossy(&line)).as_bytes())
    }
}

impl<W: Write> Write for RedactingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if let Some(end) = self.line.iter().rposition(|&byte| byte == b'\n') {
            self.write_lines(end + 1)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.write_lines(self.line.len())?;
        self.inner.flush()
    }
}

/// The terminal's width, otherwise `COLUMNS`, otherwise 80.
fn output_width(terminal: bool) -> usize {
    let named = || std::env::var("COLUMNS").ok()?.parse::<usize>().ok();
    let of_terminal = || terminal.then(terminal_size::terminal_size).flatten().map(|(width, _)| usize::from(width.0));
    of_terminal().or_else(named).unwrap_or(80).clamp(NARROWEST, WIDEST)
}
