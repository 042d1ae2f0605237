//! A file whose runs are scattered over its lines, read a chunk at a time: each line goes to the [`RunGatherer`].

use super::bytes::{UpToBreak, blank_bad_lines};
use super::line_cutter::{LineChunk, LineCutter, LineOutput};
use super::read_buffer::ReadBuffer;
use super::run_gatherer::RunGatherer;
use std::io;

pub(super) struct ScatteredLines {
    buffer: ReadBuffer,
    /// At the first line of the buffer.
    lines: LineCutter,
    gatherer: RunGatherer,
}

/// Each run takes a byte more than its line.
const ROOM: usize = 1 << 10;

impl ScatteredLines {
    pub(super) fn new(pending: Vec<u8>, offset: u64, gatherer: RunGatherer) -> Self {
        Self { buffer: ReadBuffer::new(pending), lines: LineCutter::new(offset), gatherer }
    }

    /// Whether there was any line.
    pub(super) fn has_found(&self) -> bool {
        self.lines.found
    }

    /// Takes the next whole lines. True at the end of the file, where all runs are handed out.
    pub(super) fn take_lines(&mut self, input: &mut UpToBreak, out: &mut LineOutput<'_>) -> io::Result<bool> {
        let mut end = memchr::memrchr(b'\n', self.buffer.filled());
        let mut ended = false;
        while end.is_none() && !ended {
            let before = self.buffer.filled().len();
            ended = self.buffer.read_more(input)?;
            let read = self.buffer.filled().get(before..).unwrap_or_default();
            end = memchr::memrchr(b'\n', read).map(|at| before + at);
            if end.is_none() && self.buffer.filled().len() > out.limits.run_bytes {
                let length = self.buffer.filled().len();
                self.lines.skip_bytes(length, out);
                self.buffer.drop_front(length);
            }
        }
        let length = end.map_or(self.buffer.filled().len(), |newline| newline + 1);
        let single = !self.lines.found && self.is_last(length, input)?;
        let mut buffer = std::mem::take(&mut self.buffer);
        let chunk = buffer.filled().get(..length).unwrap_or_default();
        match simdutf8::basic::from_utf8(chunk) {
            Ok(text) => self.gather_lines(LineChunk { text, broken: Vec::new(), single }, out),
            Err(_) => {
                let (text, broken) = blank_bad_lines(chunk.to_vec());
                self.gather_lines(LineChunk { text: &text, broken, single }, out);
            }
        }
        buffer.drop_front(length);
        self.buffer = buffer;
        let is_over = ended && self.buffer.filled().is_empty();
        if is_over {
            self.gatherer.finish_runs(out.file, out.ready);
        }
        Ok(is_over)
    }

    fn gather_lines(&mut self, chunk: LineChunk<'_>, out: &mut LineOutput<'_>) {
        let Self { lines, gatherer, .. } = self;
        let text = chunk.text;
        gatherer.begin_block(text.len() + ROOM);
        lines.cut_lines(chunk, out, |range, source, out| {
            let line = text.get(range).unwrap_or_default().trim_ascii_end();
            gatherer.take_line(line, source, out.limits, out.ready);
        });
        gatherer.end_block();
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
