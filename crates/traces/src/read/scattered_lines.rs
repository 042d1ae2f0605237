//! A file whose runs are scattered over its lines, read a chunk at a time: each line goes to the [`RunGatherer`].

use super::RawRun;
use super::bytes::{BrokenLine, UpToBreak, blank_bad_lines, line_source, not_utf8, too_long};
use super::read_buffer::ReadBuffer;
use super::run_gatherer::RunGatherer;
use crate::error::ReadError;
use averment_base::limits::Limits;
use std::collections::VecDeque;
use std::io;

pub(super) struct ScatteredLines {
    buffer: ReadBuffer,
    /// Of the buffer in the file.
    offset: u64,
    /// The number of the first line in the buffer.
    line: usize,
    found: bool,
    /// Skipping the rest of an overlong line.
    skipping: bool,
    gatherer: RunGatherer,
}

/// Each run takes a byte more than its line.
const ROOM: usize = 1 << 10;

/// What its lines are read from and handed to.
pub(super) struct LinesAround<'a> {
    pub(super) input: &'a mut UpToBreak,
    pub(super) file: &'a str,
    pub(super) limits: &'a Limits,
    pub(super) ready: &'a mut VecDeque<Result<RawRun, ReadError>>,
}

impl ScatteredLines {
    pub(super) fn new(pending: Vec<u8>, offset: u64, gatherer: RunGatherer) -> Self {
        let buffer = ReadBuffer::new(pending);
        Self { buffer, offset, line: 1, found: false, skipping: false, gatherer }
    }

    /// Whether there was any line.
    pub(super) fn has_found(&self) -> bool {
        self.found
    }

    /// Takes the next whole lines. True at the end of the file, where all runs are handed out.
    pub(super) fn take_lines(&mut self, around: &mut LinesAround<'_>) -> io::Result<bool> {
        let mut end = memchr::memrchr(b'\n', self.buffer.filled());
        let mut ended = false;
        while end.is_none() && !ended {
            let before = self.buffer.filled().len();
            ended = self.buffer.read_more(around.input)?;
            let read = self.buffer.filled().get(before..).unwrap_or_default();
            end = memchr::memrchr(b'\n', read).map(|at| before + at);
            if end.is_none() && self.buffer.filled().len() > around.limits.run_bytes {
                self.skip_line(around);
            }
        }
        let length = end.map_or(self.buffer.filled().len(), |newline| newline + 1);
        let single = !self.found && self.is_last(length, around.input)?;
        let mut buffer = std::mem::take(&mut self.buffer);
        let chunk = buffer.filled().get(..length).unwrap_or_default();
        match simdutf8::basic::from_utf8(chunk) {
            Ok(text) => self.cut_text(text, Vec::new(), single, around),
            Err(_) => {
                let (text, broken) = blank_bad_lines(chunk.to_vec());
                self.cut_text(&text, broken, single, around);
            }
        }
        buffer.drop_front(length);
        self.buffer = buffer;
        let is_over = ended && self.buffer.filled().is_empty();
        if is_over {
            self.gatherer.finish_runs(around.file, around.ready);
        }
        Ok(is_over)
    }

    fn cut_text(&mut self, text: &str, broken: Vec<BrokenLine>, single: bool, around: &mut LinesAround<'_>) {
        let mut broken = broken.into_iter().peekable();
        let mut start = 0;
        self.gatherer.begin_block(text.len() + ROOM);
        while start < text.len() {
            let rest = text.get(start..).unwrap_or_default();
            let length = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |newline| newline + 1);
            let line = rest.get(..length).unwrap_or_default();
            let position = (!single).then_some(self.line);
            let source = || line_source(around.file, self.line, 1, self.offset, position);
            let broken = broken.next_if(|broken| broken.start == start);
            if std::mem::take(&mut self.skipping) {
                // The end of a line that was too long.
            } else if let Some(broken) = broken {
                self.found = true;
                let error = ReadError::at_offset(&source(), &broken.text, broken.at, not_utf8());
                around.ready.push_back(Err(error));
            } else if !line.trim_ascii().is_empty() {
                self.found = true;
                self.gatherer.take_line(line.trim_ascii_end(), &source, around.limits, around.ready);
            }
            start += length;
            self.offset += length as u64;
            self.line += usize::from(line.ends_with('\n'));
        }
        self.gatherer.end_block();
    }

    /// Reports an overlong line once and drops what was read of it.
    fn skip_line(&mut self, around: &mut LinesAround<'_>) {
        if !self.skipping {
            (self.skipping, self.found) = (true, true);
            let source = line_source(around.file, self.line, 1, self.offset, Some(self.line));
            around.ready.push_back(Err(too_long(&source, around.limits)));
        }
        let length = self.buffer.filled().len();
        self.offset += length as u64;
        self.buffer.drop_front(length);
    }

    /// A file of one line: its run is named after the file.
    fn is_last(&mut self, length: usize, input: &mut UpToBreak) -> io::Result<bool> {
        let line = self.buffer.filled().get(..length).unwrap_or_default();
        if memchr::memchr(b'\n', line.trim_ascii()).is_some() {
            return Ok(false);
        }
        while self.buffer.filled().get(length..).unwrap_or_default().trim_ascii().is_empty() {
            if self.buffer.read_more(input)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
