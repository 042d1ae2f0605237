//! The form of a file, told by its first lines: a run on each, or one session.

use super::TextForm;
use super::bytes::valid_part;
use super::cassette::is_cassette;
use super::events::is_event_stream;
use super::httprr::is_recording;
use super::run_gatherer::RunGatherer;
use super::{json_walk, split};
use crate::adapt::registry;
use averment_base::limits::Limits;
use averment_base::value::json;

/// A longer first line decides a file's form alone.
const LONG: usize = 1 << 20;
/// Lines examined to tell a session from a run per line.
const FIRST_LINES: usize = 20;

pub(super) fn is_json(text: &str) -> bool {
    json::parse_recorded(text, 0, &bumpalo::Bump::new(), &Limits::default()).is_ok()
}

fn is_other_value(line: &str) -> bool {
    let line = line.trim_ascii();
    !line.starts_with('{') && split::end_of_value(line, 0) == Some(line.len()) && is_json(line)
}

/// The first line is a whole value and more follow (or the second, if the first is broken). Other values may precede.
fn runs_by_line(head: &str) -> bool {
    let in_front = split::nonblank_lines(head).take(FIRST_LINES).take_while(|(_, line)| is_other_value(line)).count();
    let mut lines = split::nonblank_lines(head).map(|(_, line)| line).skip(in_front);
    let Some(first) = lines.next() else { return false };
    let second = lines.next();
    let is_whole = |line: &str, bracket: char| {
        line.starts_with(bracket)
            && split::end_of_value(line, 0).is_some_and(|end| split::skip_blank(line, end) >= line.len())
    };
    let begins_list = first.starts_with('[') && !is_whole(first, '[');
    is_whole(first, '{') || (!begins_list && second.is_some_and(|line| is_whole(line, '{')))
}

/// Exporters write a batch of spans on each line: those of one run may stand in several.
fn has_lists_on_lines(head: &str) -> bool {
    let mut lines = split::nonblank_lines(head).map(|(_, line)| line.trim_ascii());
    let mut is_list =
        || lines.next().is_some_and(|line| line.starts_with('[') && split::end_of_value(line, 0) == Some(line.len()));
    is_list() && is_list()
}

/// Program output before the first event, or records that are lists.
fn is_session_of_other_lines(head: &str, limits: &Limits) -> bool {
    let mut lines = split::nonblank_lines(head);
    let first = lines.next().map_or("", |(_, line)| line.trim_ascii());
    let second = lines.next().map_or("", |(_, line)| line.trim_ascii());
    let is_list = |line: &str| line.starts_with('[') && split::end_of_value(line, 0) == Some(line.len());
    let holds_lists =
        first != "[" && !second.is_empty() && (is_list(first) || first.starts_with('[') && is_list(second));
    !first.is_empty()
        && (!first.starts_with(['{', '[', '"']) || holds_lists)
        && FileBeginning::of_lines(head).is_session(limits)
}

#[derive(Default)]
pub(super) struct FirstLines {
    looked: usize,
    lines: usize,
}

impl FirstLines {
    /// True with two lines, or a first one too long to wait for the next.
    pub(super) fn count_lines(&mut self, bytes: &[u8]) -> bool {
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

/// First lines or values with their keys: an object's, or those of a list's first element.
pub(super) struct FileBeginning<'t>(Vec<(&'t str, Vec<&'t str>)>);

impl<'t> FileBeginning<'t> {
    fn of_lines(head: &'t str) -> Self {
        Self::from_records(split::nonblank_lines(head))
    }

    fn from_records(records: impl Iterator<Item = (usize, &'t str)>) -> Self {
        let with_keys = |record: &'t str| {
            let record = record.trim_ascii();
            let (_, keys) = json_walk::end_and_keys(record, 0);
            (record, keys.into_iter().filter_map(|key| record.get(key)).collect())
        };
        Self(records.take(FIRST_LINES).map(|(_, record)| with_keys(record)).collect())
    }

    fn is_session(&self, limits: &Limits) -> bool {
        self.0.iter().any(|(record, keys)| {
            let written_otherwise = !record.starts_with('{') || keys.iter().any(|key| key.contains('\\'));
            (written_otherwise || registry::may_be_line(|key| keys.contains(&key))) && is_record(record, limits)
        })
    }

    pub(super) fn gather_lines(&self, limits: &Limits) -> Option<RunGatherer> {
        self.0.iter().find_map(|(line, keys)| RunGatherer::detect_lines(line, keys, limits))
    }
}

/// Session records over several lines: at least two values.
pub(super) fn is_session_of_values(text: &str, limits: &Limits) -> bool {
    split::json_values(text).nth(1).is_some()
        && FileBeginning::from_records(split::json_values(text)).is_session(limits)
}

fn is_record(text: &str, limits: &Limits) -> bool {
    let arena = bumpalo::Bump::new();
    json::parse_recorded(text, 0, &arena, limits).is_ok_and(|document| registry::is_line_of_session(&document.node))
}

pub(super) enum FileForm<'t> {
    Whole(TextForm),
    ByLine(FileBeginning<'t>),
}

pub(super) fn of_file<'t>(head: &'t str, limits: &Limits) -> FileForm<'t> {
    if is_event_stream(head) {
        return FileForm::Whole(TextForm::Events);
    }
    if is_cassette(head) {
        return FileForm::Whole(TextForm::Cassette);
    }
    if is_recording(head) {
        return FileForm::Whole(TextForm::Exchanges);
    }
    if is_session_of_other_lines(head, limits) {
        return FileForm::Whole(TextForm::Lines);
    }
    let beginning = FileBeginning::of_lines(head);
    if !runs_by_line(head) {
        let is_scattered = has_lists_on_lines(head) && beginning.gather_lines(limits).is_some();
        return if is_scattered { FileForm::ByLine(beginning) } else { FileForm::Whole(TextForm::Value) };
    }
    if beginning.is_session(limits) { FileForm::Whole(TextForm::Lines) } else { FileForm::ByLine(beginning) }
}
