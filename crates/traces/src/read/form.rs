//! The form of a file, told by its first lines: a run on each, or one session.

use super::bytes::valid_part;
use super::scattered::Scattered;
use super::split;
use crate::adapt;
use averment_base::limits::Limits;
use averment_base::value::json;

/// A first line of this length is enough to tell the form of a file by.
const LONG: usize = 1 << 20;
/// Lines that are looked at to tell a session from a file with a run on each line.
const FIRST_LINES: usize = 20;

/// Whether the first line holds a whole value and more lines follow, or the second does where the first is broken.
pub(super) fn runs_by_line(head: &str) -> bool {
    let mut lines = split::lines(head);
    let Some((_, first)) = lines.next() else { return false };
    let second = lines.next().map(|(_, line)| line);
    let is_object = |line: &str| {
        line.starts_with('{')
            && split::end_of_value(line, 0).is_some_and(|end| split::skip_blank(line, end) >= line.len())
    };
    is_object(first) || (!first.starts_with('[') && second.is_some_and(is_object))
}

/// How much of a file is looked at to tell its form.
#[derive(Default)]
pub(super) struct FirstLines {
    looked: usize,
    lines: usize,
}

impl FirstLines {
    /// Whether there are two lines, or a first one so long that the next one has to wait.
    pub(super) fn are_in(&mut self, bytes: &[u8]) -> bool {
        if self.lines == 0 {
            let blank = bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            self.looked = self.looked.max(blank);
        }
        while let Some(at) = memchr::memchr(b'\n', bytes.get(self.looked..).unwrap_or_default()) {
            self.looked += at + 1;
            self.lines += 1;
            let long = self.looked > LONG && runs_by_line(valid_part(bytes.get(..self.looked).unwrap_or_default()));
            if long || self.lines == 2 {
                return true;
            }
        }
        self.looked = bytes.len();
        false
    }
}

/// Whether a text holds the records of a session, one on each line.
pub(super) fn is_session(head: &str, limits: &Limits) -> bool {
    split::lines(head).take(FIRST_LINES).any(|(_, line)| is_record(line, limits))
}

/// The same with records over several lines: there are two values at least.
pub(super) fn is_session_of_values(text: &str, limits: &Limits) -> bool {
    split::values(text).nth(1).is_some()
        && split::values(text).take(FIRST_LINES).any(|(_, value)| is_record(value, limits))
}

fn is_record(text: &str, limits: &Limits) -> bool {
    let arena = bumpalo::Bump::new();
    json::parse_recorded(text, 0, &arena, limits).is_ok_and(|document| adapt::is_line_of_session(&document.node))
}

/// How the lines of a file are gathered, where they hold parts of runs.
pub(super) fn scattered(head: &str, limits: &Limits) -> Option<Scattered> {
    split::lines(head).take(FIRST_LINES).find_map(|(_, line)| Scattered::of(line.trim_ascii(), limits))
}
