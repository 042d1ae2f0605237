//! Cuts chunks of a file into its lines, each of which holds a run or a part of one, and knows where they stand.

use super::RawRun;
use super::bytes::{BrokenLine, line_source, not_utf8, too_long};
use crate::error::ReadError;
use averment_base::limits::Limits;
use averment_runs::run::RunSource;
use std::collections::VecDeque;
use std::ops::Range;

pub(super) struct LineCutter {
    /// Of the next line in the file.
    pub(super) offset: u64,
    /// The number of the next line.
    pub(super) line: usize,
    /// Whether there was any line.
    pub(super) found: bool,
    /// Skipping the rest of an overlong line.
    pub(super) skipping: bool,
}

/// What the lines of a file are handed to.
pub(super) struct LineOutput<'a> {
    pub(super) file: &'a str,
    pub(super) limits: &'a Limits,
    pub(super) ready: &'a mut VecDeque<Result<RawRun, ReadError>>,
}

/// Whole lines; `single` is true where the file has no other one.
pub(super) struct LineChunk<'a> {
    pub(super) text: &'a str,
    pub(super) broken: Vec<BrokenLine>,
    pub(super) single: bool,
}

impl LineCutter {
    pub(super) fn new(offset: u64) -> Self {
        Self { offset, line: 1, found: false, skipping: false }
    }

    /// Hands on each line that has anything, by its range in the chunk, without the end of the line.
    pub(super) fn cut_lines(
        &mut self,
        chunk: LineChunk<'_>,
        out: &mut LineOutput<'_>,
        mut take_line: impl FnMut(Range<usize>, &dyn Fn() -> RunSource, &mut LineOutput<'_>),
    ) {
        let LineChunk { text, broken, single } = chunk;
        let (file, mut broken) = (out.file, broken.into_iter().peekable());
        let mut start = 0;
        while start < text.len() {
            let rest = text.get(start..).unwrap_or_default();
            let length = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |newline| newline + 1);
            let line = rest.get(..length).unwrap_or_default();
            // A file of one line: its run is named after the file.
            let position = (!single).then_some(self.line);
            let source = || line_source(file, self.line, 1, self.offset, position);
            let broken = broken.next_if(|broken| broken.start == start);
            if std::mem::take(&mut self.skipping) {
                // The end of a line that was too long.
            } else if let Some(broken) = broken {
                self.found = true;
                let error = ReadError::at_offset(&source(), &broken.text, broken.at, not_utf8());
                out.ready.push_back(Err(error));
            } else if !line.trim_ascii().is_empty() {
                self.found = true;
                take_line(start..start + line.trim_end_matches(['\n', '\r']).len(), &source, out);
            }
            start += length;
            self.offset += length as u64;
            self.line += usize::from(line.ends_with('\n'));
        }
    }

    /// Passes over so many bytes of an overlong line, which is reported once.
    pub(super) fn skip_bytes(&mut self, length: usize, out: &mut LineOutput<'_>) {
        if !self.skipping {
            (self.skipping, self.found) = (true, true);
            let source = line_source(out.file, self.line, 1, self.offset, Some(self.line));
            out.ready.push_back(Err(too_long(&source, out.limits)));
        }
        self.offset += length as u64;
    }
}
