//! How the terminal is: colour, box characters, width. Looked up once per command.

use averment_base::diagnostic::render::Style;
use clap::ValueEnum;
use std::io::{IsTerminal as _, Write as _};

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
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Text wider than this is hard to read, however wide the terminal is.
const WIDEST: usize = 140;
/// Text narrower than this has no room for pictures.
const NARROWEST: usize = 60;

impl Stream {
    /// True when a person may be looking.
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Out => std::io::stdout().is_terminal(),
            Self::Err => std::io::stderr().is_terminal(),
        }
    }

    /// How text for people looks on this stream.
    pub fn style(self, color: ColorChoice) -> Style {
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
        Style { unicode, color, width: width(terminal) }
    }
}

/// Says something on standard error. Where nobody listens there is nobody to tell.
pub fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// The columns to fill: those of the terminal, or of `COLUMNS`, or 80.
fn width(terminal: bool) -> usize {
    let named = || std::env::var("COLUMNS").ok()?.parse::<usize>().ok();
    let of_terminal = || terminal.then(terminal_size::terminal_size).flatten().map(|(width, _)| usize::from(width.0));
    of_terminal().or_else(named).unwrap_or(80).clamp(NARROWEST, WIDEST)
}
