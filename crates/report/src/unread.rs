//! Traces that cannot be read, for people: of ten thousand lines that break in the same way the first few are shown, the others counted.

use super::model::Unreadable;
use averment_base::diagnostic::render::{Ink, Style, one_line, paint};
use std::io::{self, Write};

/// What could not be read so far.
#[derive(Debug, Default)]
pub struct Unread {
    kinds: Vec<Kind>,
    /// Those whose message is none of the kinds.
    others: u64,
}

/// All that say the same.
#[derive(Debug)]
struct Kind {
    message: String,
    count: u64,
    /// Where the first stands.
    first: String,
    /// Places of the first that are not shown.
    places: Vec<String>,
}

impl Kind {
    fn new(what: &Unreadable) -> Self {
        let first = format!("{}:{}:{}", one_line(&what.file), what.line, what.column);
        Self { message: what.message.clone(), count: 0, first, places: Vec::new() }
    }
}

/// So many of one kind are shown.
const SHOWN: u64 = 3;
/// So many kinds are told apart.
const KINDS: usize = 20;
/// So many places are named of those that are not shown.
const PLACES: usize = 3;

impl Unread {
    /// Shows one, unless enough of its kind are shown.
    pub fn show(&mut self, out: &mut dyn Write, style: Style, what: &Unreadable) -> io::Result<()> {
        let known = self.kinds.iter().position(|kind| kind.message == what.message);
        let place = known.or_else(|| {
            (self.kinds.len() < KINDS).then(|| {
                self.kinds.push(Kind::new(what));
                self.kinds.len() - 1
            })
        });
        let Some(kind) = place.and_then(|place| self.kinds.get_mut(place)) else {
            self.others += 1;
            return Ok(());
        };
        kind.count += 1;
        if kind.count <= SHOWN {
            return unreadable(out, style, what);
        }
        if kind.places.len() < PLACES {
            kind.places.push(format!("{}:{}", one_line(&what.file), what.line));
        }
        Ok(())
    }

    /// What is said, how often, and where first: the commonest first. Those of no kind stand last, without a place.
    pub fn kinds(&self) -> Vec<(&str, u64, &str)> {
        let mut kinds: Vec<_> =
            self.kinds.iter().map(|kind| (kind.message.as_str(), kind.count, kind.first.as_str())).collect();
        kinds.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
        kinds.extend((self.others > 0).then_some(("each in another way", self.others, "")));
        kinds
    }

    /// Says how many are not shown.
    pub fn end(&self, out: &mut dyn Write, style: Style) -> io::Result<()> {
        let mut any = false;
        for kind in &self.kinds {
            let rest = kind.count.saturating_sub(SHOWN);
            if rest > 0 {
                let more = if rest > kind.places.len() as u64 { ", …" } else { "" };
                let places = kind.places.join(", ");
                let message = one_line(&kind.message);
                writeln!(out, "{}: {rest} more: {message} ({places}{more})", head(style))?;
                any = true;
            }
        }
        if self.others > 0 {
            writeln!(out, "{}: {} more, each in another way", head(style), self.others)?;
            any = true;
        }
        if any {
            writeln!(out, "  {}: --format short names every one", paint(style, Ink::Green, "help"))
        } else {
            Ok(())
        }
    }
}

fn head(style: Style) -> String {
    paint(style, Ink::Red, "cannot be read")
}

/// One line on a trace that cannot be read.
pub fn unreadable(out: &mut dyn Write, style: Style, what: &Unreadable) -> io::Result<()> {
    let word = paint(style, Ink::Red, "cannot be read");
    writeln!(out, "{word}: {}:{}:{}: {}", one_line(&what.file), what.line, what.column, one_line(&what.message))?;
    if what.help.is_empty() {
        return Ok(());
    }
    writeln!(out, "  {}: {}", paint(style, Ink::Green, "help"), one_line(&what.help))
}
