//! The form of a file, told by its first lines: a run on each, or one session.

use super::TextForm;
use super::bytes::valid_part;
use super::scattered::Scattered;
use super::{split, walk};
use crate::adapt::registry;
use averment_base::limits::Limits;
use averment_base::value::json;

/// A first line of this length is enough to tell the form of a file by.
const LONG: usize = 1 << 20;
/// Lines that are looked at to tell a session from a file with a run on each line.
const FIRST_LINES: usize = 20;

/// Whether a text is one value of JSON.
pub(super) fn is_json(text: &str) -> bool {
    json::parse_recorded(text, 0, &bumpalo::Bump::new(), &Limits::default()).is_ok()
}

/// Whether a line holds a value that is no object, as a whole.
fn is_other_value(line: &str) -> bool {
    let line = line.trim_ascii();
    !line.starts_with('{') && split::end_of_value(line, 0) == Some(line.len()) && is_json(line)
}

/// Whether the first line holds a whole value and more lines follow, or the second does where the first is broken. Other values may stand
/// in front of both.
fn runs_by_line(head: &str) -> bool {
    let in_front = split::lines(head).take(FIRST_LINES).take_while(|(_, line)| is_other_value(line)).count();
    let mut lines = split::lines(head).map(|(_, line)| line).skip(in_front);
    let Some(first) = lines.next() else { return false };
    let second = lines.next();
    let is_whole = |line: &str, bracket: char| {
        line.starts_with(bracket)
            && split::end_of_value(line, 0).is_some_and(|end| split::skip_blank(line, end) >= line.len())
    };
    let begins_list = first.starts_with('[') && !is_whole(first, '[');
    is_whole(first, '{') || (!begins_list && second.is_some_and(|line| is_whole(line, '{')))
}

/// Whether a session does not begin with an object on a line: lines that are no JSON stand in front of it, which a program printed before
/// its first event, or its records are lists.
fn is_session_of_other_lines(head: &str, limits: &Limits) -> bool {
    let mut lines = split::lines(head);
    let first = lines.next().map_or("", |(_, line)| line.trim_ascii());
    let second = lines.next().map_or("", |(_, line)| line.trim_ascii());
    let is_list = |line: &str| line.starts_with('[') && split::end_of_value(line, 0) == Some(line.len());
    let holds_lists =
        first != "[" && !second.is_empty() && (is_list(first) || first.starts_with('[') && is_list(second));
    !first.is_empty()
        && (!first.starts_with(['{', '[', '"']) || holds_lists)
        && Beginning::of_lines(head).is_session(limits)
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

/// The first lines of a file or values of a text, each with the keys of what stands there: of an object, or of the first one of a list.
pub(super) struct Beginning<'t>(Vec<(&'t str, Vec<&'t str>)>);

impl<'t> Beginning<'t> {
    /// Those of a file with a value on each line.
    fn of_lines(head: &'t str) -> Self {
        Self::of(split::lines(head))
    }

    fn of(records: impl Iterator<Item = (usize, &'t str)>) -> Self {
        let with_keys = |record: &'t str| {
            let record = record.trim_ascii();
            let (_, keys) = walk::end_and_keys(record, 0);
            (record, keys.into_iter().filter_map(|key| record.get(key)).collect())
        };
        Self(records.take(FIRST_LINES).map(|(_, record)| with_keys(record)).collect())
    }

    /// Whether there are records of a session.
    fn is_session(&self, limits: &Limits) -> bool {
        self.0.iter().any(|(record, keys)| {
            let written_otherwise = !record.starts_with('{') || keys.iter().any(|key| key.contains('\\'));
            (written_otherwise || registry::may_be_line(|key| keys.contains(&key))) && is_record(record, limits)
        })
    }

    /// How the lines are gathered, where they hold parts of runs.
    pub(super) fn scattered(&self, limits: &Limits) -> Option<Scattered> {
        self.0.iter().find_map(|(line, keys)| Scattered::of(line, keys, limits))
    }
}

/// Whether a text holds the records of a session, over several lines: there are two values at least.
pub(super) fn is_session_of_values(text: &str, limits: &Limits) -> bool {
    split::values(text).nth(1).is_some() && Beginning::of(split::values(text)).is_session(limits)
}

fn is_record(text: &str, limits: &Limits) -> bool {
    let arena = bumpalo::Bump::new();
    json::parse_recorded(text, 0, &arena, limits).is_ok_and(|document| registry::is_line_of_session(&document.node))
}

/// The form of a file.
pub(super) enum Form<'t> {
    /// It is read whole, as this.
    Whole(TextForm),
    /// Each line is a run, or a part of one.
    ByLine(Beginning<'t>),
}

/// The form of a file, told by its first lines.
pub(super) fn of_file<'t>(head: &'t str, limits: &Limits) -> Form<'t> {
    if is_session_of_other_lines(head, limits) {
        return Form::Whole(TextForm::Lines);
    }
    if !runs_by_line(head) {
        return Form::Whole(TextForm::Value);
    }
    let beginning = Beginning::of_lines(head);
    if beginning.is_session(limits) { Form::Whole(TextForm::Lines) } else { Form::ByLine(beginning) }
}
