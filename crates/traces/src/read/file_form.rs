//! The form of a file, told by its first lines: a run on each, or one session.

use super::TextForm;
use super::bytes::valid_part;
use super::cassette::is_cassette;
use super::events::is_event_stream;
use super::httprr::is_recording;
use super::json_walk::{self, IndexedText};
use super::mcp_log::is_mcp_log;
use super::run_gatherer::RunGatherer;
use super::split;
use crate::adapt::registry;
use crate::scan::ByteIndex;
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

fn is_whole(line: &str, bracket: char) -> bool {
    line.starts_with(bracket)
        && split::end_of_value(line, 0).is_some_and(|end| split::skip_blank(line, end) >= line.len())
}

/// The first line is a whole value and more follow (or the second, if the first is broken). Other values may precede.
fn runs_by_line(head: &str) -> bool {
    let in_front = split::nonblank_lines(head).take(FIRST_LINES).take_while(|(_, line)| is_other_value(line)).count();
    let mut lines = split::nonblank_lines(head).map(|(_, line)| line).skip(in_front);
    let Some(first) = lines.next() else { return false };
    let begins_list = first.starts_with('[') && !is_whole(first, '[');
    is_whole(first, '{') || (!begins_list && lines.next().is_some_and(|line| is_whole(line, '{')))
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
        && FileBeginning::of_lines(head, limits).is_session(limits)
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

/// First lines or values.
pub(super) struct FileBeginning<'t>(Vec<FirstRecord<'t>>);

struct FirstRecord<'t> {
    text: &'t str,
    /// An object's, or those of a list's first element.
    keys: Vec<&'t str>,
    /// Whether it is one value and nothing else.
    is_value: bool,
}

impl<'t> FileBeginning<'t> {
    fn of_lines(head: &'t str, limits: &Limits) -> Self {
        Self::from_records(split::nonblank_lines(head), limits)
    }

    fn from_records(records: impl Iterator<Item = (usize, &'t str)>, limits: &Limits) -> Self {
        let mut index = ByteIndex::default();
        let mut with_keys = |record: &'t str| {
            let text = record.trim_ascii();
            let (end, keys) = json_walk::end_and_keys(IndexedText::new(text, &mut index, limits.json_depth), 0);
            let keys = keys.into_iter().filter_map(|key| text.get(key)).collect();
            FirstRecord { text, keys, is_value: end == Some(text.len()) }
        };
        Self(records.take(FIRST_LINES).map(|(_, record)| with_keys(record)).collect())
    }

    /// Whether the first line is an object and nothing else.
    fn is_object_on_line(&self) -> bool {
        self.0.first().is_some_and(|first| first.is_value && first.text.starts_with('{'))
    }

    fn is_session(&self, limits: &Limits) -> bool {
        let is_line = |FirstRecord { text, keys, .. }: &FirstRecord<'_>| {
            let written_otherwise = !text.starts_with('{') || keys.iter().any(|key| key.contains('\\'));
            (written_otherwise || registry::may_be_line(keys)) && is_record(text, limits)
        };
        let repeats = |first: &FirstRecord<'_>, second: &FirstRecord<'_>| {
            [first, second].iter().all(|record| registry::may_repeat(&record.keys))
                && is_repeated(first.text, second.text, limits)
        };
        self.0.iter().any(is_line) || matches!(self.0.as_slice(), [first, second, ..] if repeats(first, second))
    }

    pub(super) fn gather_lines(&self, limits: &Limits) -> Option<RunGatherer> {
        self.0.iter().find_map(|first| RunGatherer::detect_lines(first.text, &first.keys, limits))
    }
}

/// Session records over several lines: at least two values.
pub(super) fn is_session_of_values(text: &str, limits: &Limits) -> bool {
    split::json_values(text).nth(1).is_some()
        && FileBeginning::from_records(split::json_values(text), limits).is_session(limits)
}

fn is_record(text: &str, limits: &Limits) -> bool {
    let arena = bumpalo::Bump::new();
    json::parse_recorded(text, 0, &arena, limits).is_ok_and(|document| registry::is_line_of_session(&document.node))
}

/// Whether the second of two records goes on behind the first.
pub(super) fn is_repeated(first: &str, second: &str, limits: &Limits) -> bool {
    let arena = bumpalo::Bump::new();
    let both =
        json::parse_recorded(first, 0, &arena, limits).ok().zip(json::parse_recorded(second, 0, &arena, limits).ok());
    both.is_some_and(|(first, second)| registry::repeats_record(&first.node, &second.node))
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
    if is_mcp_log(head) {
        return FileForm::Whole(TextForm::McpLog);
    }
    let beginning = FileBeginning::of_lines(head, limits);
    // What stands at the very beginning is not looked through twice.
    if !(head.starts_with('{') && beginning.is_object_on_line() || runs_by_line(head)) {
        let is_scattered = has_lists_on_lines(head) && beginning.gather_lines(limits).is_some();
        return if is_scattered { FileForm::ByLine(beginning) } else { FileForm::Whole(TextForm::Value) };
    }
    if beginning.is_session(limits) { FileForm::Whole(TextForm::Lines) } else { FileForm::ByLine(beginning) }
}
