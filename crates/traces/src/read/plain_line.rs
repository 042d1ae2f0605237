//! Texts in memory that hold one run on one line, as most do: their keys say so, and the form of a file is not looked for.

use super::bytes::not_text;
use super::json_walk::{IndexedText, end_and_keys};
use super::run_gatherer::RunGatherer;
use super::{RawRun, RunText, TextForm};
use crate::adapt::registry;
use crate::scan::ByteIndex;
use averment_base::limits::{LONG, Limits};
use averment_runs::run::RunSource;
use std::string::FromUtf8Error;
use std::sync::Arc;

impl RawRun {
    /// The run of a text that holds one run on one line; `None` where more of the text has to be looked at to say so, as
    /// [`TraceRuns::of_bytes`](super::TraceRuns::of_bytes) does. `index` is kept between texts.
    #[must_use]
    pub fn of_plain_line(file: &str, bytes: &mut Vec<u8>, index: &mut ByteIndex, limits: &Limits) -> Option<Self> {
        let end = bytes.trim_ascii_end().len();
        let is_line = bytes.starts_with(b"{")
            && bytes.len() <= LONG.min(limits.run_bytes)
            && memchr::memchr(b'\n', bytes.get(..end)?).is_none()
            && not_text(bytes).is_none();
        if !is_line {
            return None;
        }
        let text = match String::from_utf8(std::mem::take(bytes)) {
            Ok(text) if is_run_alone(&text, end, index, limits) => text,
            other => {
                *bytes = other.map_or_else(FromUtf8Error::into_bytes, String::into_bytes);
                return None;
            }
        };
        let range = 0..text.trim_end_matches(['\n', '\r']).len();
        let source = RunSource { file: file.to_owned(), line: 1, column: 1, by_line: true, ..RunSource::default() };
        Some(Self { text: RunText::Range(Arc::new(text), range), form: TextForm::Line, warnings: Vec::new(), source })
    }
}

/// Whether an object is no record of a session, and holds no parts of several runs.
fn is_run_alone(text: &str, end: usize, index: &mut ByteIndex, limits: &Limits) -> bool {
    let (closed, keys) = end_and_keys(IndexedText::new(text, index, limits.json_depth), 0);
    let keys: Vec<&str> = keys.into_iter().filter_map(|key| text.get(key)).collect();
    let is_written_plainly = keys.iter().all(|key| !key.contains('\\'));
    closed == Some(end)
        && is_written_plainly
        && !registry::may_be_line(&keys)
        && RunGatherer::detect_lines(text, &keys, limits).is_none()
}
