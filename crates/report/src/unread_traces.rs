//! Unreadable traces, for people. Of many lines with the same error, the first few are shown and the others counted.

use super::model::UnreadableTrace;
use averment_base::diagnostic::render::{TextColor, TextStyle, one_line, paint_text};
use std::io::{self, Write};

/// The traces that could not be read so far.
#[derive(Debug, Default)]
pub struct UnreadTraces {
    kinds: Vec<UnreadKind>,
    /// Number of messages beyond the maximum number of kinds.
    others: u64,
}

#[derive(Debug)]
struct UnreadKind {
    message: String,
    count: u64,
    first: String,
    places: Vec<String>,
}

impl UnreadKind {
    fn new(what: &UnreadableTrace) -> Self {
        let first = format!("{}:{}:{}", one_line(&what.file), what.line, what.column);
        Self { message: what.message.clone(), count: 0, first, places: Vec::new() }
    }
}

/// Maximum number of shown messages of each kind.
const SHOWN: u64 = 3;
/// Maximum number of kinds; messages of further kinds are only counted.
const KINDS: usize = 20;
/// Maximum number of named locations for messages that are not shown.
const PLACES: usize = 3;

impl UnreadTraces {
    /// Shows a message, unless enough of its kind were shown.
    pub fn show_unread(&mut self, out: &mut dyn Write, style: TextStyle, what: &UnreadableTrace) -> io::Result<()> {
        let known = self.kinds.iter().position(|kind| kind.message == what.message);
        let place = known.or_else(|| {
            (self.kinds.len() < KINDS).then(|| {
                self.kinds.push(UnreadKind::new(what));
                self.kinds.len() - 1
            })
        });
        let Some(kind) = place.and_then(|place| self.kinds.get_mut(place)) else {
            self.others += 1;
            return Ok(());
        };
        kind.count += 1;
        if kind.count <= SHOWN {
            return write_unreadable(out, style, what);
        }
        if kind.places.len() < PLACES {
            kind.places.push(format!("{}:{}", one_line(&what.file), what.line));
        }
        Ok(())
    }

    /// Returns each message with its count and first location, most frequent first. Messages of further kinds come last.
    pub fn counted_kinds(&self) -> Vec<(&str, u64, &str)> {
        let mut kinds: Vec<_> =
            self.kinds.iter().map(|kind| (kind.message.as_str(), kind.count, kind.first.as_str())).collect();
        kinds.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
        kinds.extend((self.others > 0).then_some(("each in another way", self.others, "")));
        kinds
    }

    /// Writes the numbers of messages that were not shown.
    pub fn show_rest(&self, out: &mut dyn Write, style: TextStyle) -> io::Result<()> {
        let mut any = false;
        for kind in &self.kinds {
            let rest = kind.count.saturating_sub(SHOWN);
            if rest > 0 {
                let more = if rest > kind.places.len() as u64 { ", …" } else { "" };
                let places = kind.places.join(", ");
                let message = one_line(&kind.message);
                writeln!(out, "{}: {rest} more: {message} ({places}{more})", error_head(style))?;
                any = true;
            }
        }
        if self.others > 0 {
            writeln!(out, "{}: {} more, each in another way", error_head(style), self.others)?;
            any = true;
        }
        if any {
            writeln!(out, "  {}: --format short names every one", paint_text(style, TextColor::Green, "help"))
        } else {
            Ok(())
        }
    }
}

fn error_head(style: TextStyle) -> String {
    paint_text(style, TextColor::Red, "cannot be read")
}

/// Writes one line about an unreadable trace.
pub fn write_unreadable(out: &mut dyn Write, style: TextStyle, what: &UnreadableTrace) -> io::Result<()> {
    let word = paint_text(style, TextColor::Red, "cannot be read");
    writeln!(out, "{word}: {}:{}:{}: {}", one_line(&what.file), what.line, what.column, one_line(&what.message))?;
    if what.help.is_empty() {
        return Ok(());
    }
    writeln!(out, "  {}: {}", paint_text(style, TextColor::Green, "help"), one_line(&what.help))
}
