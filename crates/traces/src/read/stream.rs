//! Cutting a file into runs: one JSON value, a list of runs, one run a line, values one behind the other, or a session.
//!
//! A file with a run on each line is read in chunks of some hundred kilobytes; anything else is read whole.

use super::bytes::{
    self, UpToBreak, blank_bad_lines, not_text, not_utf8, too_long, unreadable_file, valid_part, without_bad_lines,
};
#[cfg(feature = "packed")]
use super::compressed::{self, FileCompression, TraceArchive};
use super::file_form::{FileForm, FirstLines, of_file};
use super::file_part::{FilePart, WholeLines};
use super::line_buffer::LineBuffer;
use super::line_cutter::{LineChunk, LineOutput};
use super::scattered_lines::ScatteredLines;
use super::text_cutter::TextCutter;
use super::{RawRun, RunText, TextForm, split};
use crate::error::ReadError;
use averment_base::limits::{LONG, Limits, give_own_block};
use averment_base::memory::allow_failure;
use averment_runs::run::RunSource;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

/// Bytes that are read at once.
pub const CHUNK_SIZE: usize = 256 << 10;
/// Bytes; room that is made for a read at least.
const LEAST_ROOM: usize = 16 << 10;

/// The runs of one file, one after the other. A run that cannot be read is an error of its own; the others come all the same.
pub struct TraceRuns {
    /// What was read of the input before.
    held: Vec<u8>,
    input: UpToBreak,
    file: String,
    limits: Limits,
    state: StreamState,
    #[cfg(feature = "packed")]
    unpacked: bool,
    ready: VecDeque<Result<RawRun, ReadError>>,
}

enum StreamState {
    Start,
    Lines(LineBuffer),
    Scattered(Box<ScatteredLines>),
    #[cfg(feature = "packed")]
    Archive(Box<TraceArchive>),
    Done,
}

impl TraceRuns {
    /// The runs of a file; `-` is standard input.
    ///
    /// # Errors
    /// A file that cannot be opened.
    #[cfg(feature = "files")]
    #[expect(clippy::disallowed_methods, reason = "the feature `files` is what reads standard input")]
    pub fn open_file(path: &str, limits: &Limits) -> Result<Self, ReadError> {
        if path == "-" {
            averment_base::files::note_stdin();
            return Ok(Self::new("<stdin>", io::stdin(), limits));
        }
        match averment_base::files::open_named(path.as_ref()).and_then(|file| Ok((file.metadata()?.is_dir(), file))) {
            Ok((true, _)) => {
                Err(ReadError::of_file(path, "this is a folder", format!("name its files: `{path}/*.jsonl`")))
            }
            #[cfg(feature = "columns")]
            Ok((false, file)) => super::columns::open_rows(path, file, limits),
            #[cfg(not(feature = "columns"))]
            Ok((false, file)) => Ok(Self::new(path, file, limits)),
            Err(error) => Err(unreadable_file(path, &error)),
        }
    }

    /// The runs in anything that can be read; `file` is its name in messages.
    #[must_use]
    pub fn new(file: impl Into<String>, input: impl Read + Send + 'static, limits: &Limits) -> Self {
        let (input, file) = (UpToBreak::new(Box::new(input)), file.into());
        Self {
            held: Vec::new(),
            input,
            file,
            limits: *limits,
            state: StreamState::Start,
            #[cfg(feature = "packed")]
            unpacked: false,
            ready: VecDeque::new(),
        }
    }

    /// The runs in bytes that are in memory. They are not copied; where they hold many runs, these come at once and not in chunks.
    #[must_use]
    pub fn of_bytes(file: impl Into<String>, bytes: Vec<u8>, limits: &Limits) -> Self {
        Self { held: bytes, ..Self::new(file, io::empty(), limits) }
    }

    /// The same under another name.
    #[must_use]
    pub fn with_name(self, file: impl Into<String>) -> Self {
        Self { file: file.into(), ..self }
    }

    /// The next part of the file; `None` at its end. Lines come in chunks of about `size` bytes, in `buffer`.
    pub fn next_part(&mut self, buffer: &mut Vec<u8>, size: usize) -> Option<FilePart> {
        if matches!(self.state, StreamState::Start) {
            self.state = StreamState::Done;
            if let Err(error) = self.start_reading() {
                self.ready.push_back(Err(unreadable_file(&self.file, &error)));
            }
        }
        loop {
            let is_by_line = self.ready.is_empty() && matches!(self.state, StreamState::Lines(_));
            if is_by_line && let StreamState::Lines(lines) = std::mem::replace(&mut self.state, StreamState::Done) {
                match self.whole_lines(lines, buffer, size) {
                    Ok(Some(lines)) => return Some(FilePart::Lines(lines)),
                    Ok(None) => {}
                    Err(error) => self.ready.push_back(Err(unreadable_file(&self.file, &error))),
                }
            }
            if self.ready.is_empty() && matches!(self.state, StreamState::Lines(_)) {
                continue;
            }
            // Cut runs are handed on in small numbers: what is judged meanwhile is bounded by them.
            let first = self.next()?;
            let mut bytes = first.as_ref().map_or(0, RawRun::text_length);
            let mut runs = vec![first];
            while bytes < size
                && runs.len() < 256
                && let Some(run) = self.ready.pop_front()
            {
                bytes += run.as_ref().map_or(0, RawRun::text_length);
                runs.push(run);
            }
            return Some(FilePart::Runs(runs));
        }
    }

    /// `None` if the file has one line, or a line is too long: lines are then cut one by one.
    fn whole_lines(
        &mut self,
        mut lines: LineBuffer,
        buffer: &mut Vec<u8>,
        size: usize,
    ) -> io::Result<Option<WholeLines>> {
        let mut filled = lines.pending.len();
        bytes::begin_with(buffer, &mut lines.pending);
        let mut ended = false;
        let mut end = memchr::memrchr(b'\n', buffer.get(..filled).unwrap_or_default());
        // A line that is longer than a chunk is read to its end.
        while !ended && (filled < size || (end.is_none() && filled <= self.limits.run_bytes)) {
            if filled > LONG {
                give_own_block(buffer);
            }
            let room = if filled < size { (size - filled).max(4096) } else { size.max(4096) };
            let before = filled;
            filled += self.read_into(buffer, before..before + room)?;
            ended = filled == before;
            end = memchr::memrchr(b'\n', buffer.get(before..filled).unwrap_or_default()).map(|at| before + at).or(end);
        }
        buffer.truncate(filled);
        let end = end.map_or(0, |newline| newline + 1);
        let single = !lines.cutter.found && memchr::memchr(b'\n', buffer.trim_ascii()).is_none();
        if end == 0 || single || lines.cutter.skipping {
            allow_failure(|| lines.pending.try_reserve(buffer.len()))?;
            lines.pending.append(buffer);
            if !lines.pending.is_empty() {
                self.more_lines(lines)?;
            }
            return Ok(None);
        }
        let rest = buffer.get(end..).unwrap_or_default();
        allow_failure(|| lines.pending.try_reserve(rest.len()))?;
        lines.pending.extend_from_slice(rest);
        buffer.truncate(end);
        let turn = lines.numbers.next_turn();
        let found = WholeLines::new(&self.file, lines.cutter.offset, turn);
        lines.cutter.offset += end as u64;
        lines.cutter.found = true;
        if !(ended && lines.pending.is_empty()) {
            self.state = StreamState::Lines(lines);
        }
        Ok(Some(found))
    }

    /// 0 at the end. Old content is not cleared, and a buffer grows with what is read: room for a whole chunk costs more than a small file.
    fn read_into(&mut self, buffer: &mut Vec<u8>, range: Range<usize>) -> io::Result<usize> {
        let end = range.end.min(buffer.len().saturating_mul(2).max(range.start.saturating_add(LEAST_ROOM)));
        if buffer.len() < end {
            allow_failure(|| buffer.try_reserve(end - buffer.len()))?;
            buffer.resize(end, 0);
        }
        let room = buffer.get_mut(range.start..end).unwrap_or_default();
        loop {
            match self.input.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    fn set_failure(&mut self, message: &str, help: &str) {
        self.ready.push_back(Err(ReadError::of_file(&self.file, message, help)));
    }

    /// True at the end of the file.
    fn read_more(&mut self, pending: &mut Vec<u8>) -> io::Result<bool> {
        Ok(self.input.by_ref().take(CHUNK_SIZE as u64).read_to_end(pending)? == 0)
    }

    fn start_reading(&mut self) -> io::Result<()> {
        let mut pending = std::mem::take(&mut self.held);
        let mut ended = self.read_more(&mut pending)?;
        if pending.is_empty() {
            self.input.take_error().map_or(Ok(()), Err)?;
        }
        #[cfg(feature = "packed")]
        if let Some(packed) = FileCompression::detect_head(&pending).filter(|_| !self.unpacked) {
            return self.unpack_input(packed, pending);
        }
        if let Some((message, help)) = not_text(&pending) {
            self.set_failure(message, help);
            return Ok(());
        }
        let mark = usize::from(pending.starts_with(b"\xEF\xBB\xBF")) * 3;
        // Enough to see the first line and the start of the second, or everything.
        let mut first = FirstLines::default();
        while !ended && pending.len() <= self.limits.run_bytes && !first.count_lines(&pending) {
            ended = self.read_more(&mut pending)?;
        }
        let head = valid_part(pending.get(mark..).unwrap_or_default());
        if ended && head.trim_ascii().is_empty() && pending.len() <= mark + head.len() {
            self.set_failure("no run: the file is empty", "write a run into it, or name another file");
            return Ok(());
        }
        let beginning = match of_file(head, &self.limits) {
            FileForm::Whole(form) => return self.cut_whole(pending, mark, form),
            FileForm::ByLine(beginning) => beginning,
        };
        let scattered = beginning.gather_lines(&self.limits);
        pending.drain(..mark);
        self.state = match scattered {
            Some(gatherer) => StreamState::Scattered(Box::new(ScatteredLines::new(pending, mark as u64, gatherer))),
            None => StreamState::Lines(LineBuffer::new(pending, mark as u64)),
        };
        Ok(())
    }

    /// Doubly compressed data is not read.
    #[cfg(feature = "packed")]
    fn unpack_input(&mut self, packed: FileCompression, mut pending: Vec<u8>) -> io::Result<()> {
        self.unpacked = true;
        let mut input = self.input.take_input();
        if packed != FileCompression::Zip {
            self.input = UpToBreak::new(compressed::unpack_reader(packed, pending, input, &self.limits));
            return self.start_reading();
        }
        let room = self.limits.run_bytes.saturating_add(1).saturating_sub(pending.len());
        input.by_ref().take(room as u64).read_to_end(&mut pending)?;
        let archive = match pending.len() > self.limits.run_bytes {
            true => Err(compressed::too_long(&self.file, &self.limits)),
            false => TraceArchive::new(&self.file, pending, &self.limits),
        };
        match archive {
            Ok(archive) => self.state = StreamState::Archive(Box::new(archive)),
            Err(error) => self.ready.push_back(Err(error)),
        }
        Ok(())
    }

    fn cut_whole(&mut self, mut bytes: Vec<u8>, mark: usize, form: TextForm) -> io::Result<()> {
        let limit = self.limits.run_bytes;
        let room = limit.saturating_add(1).saturating_sub(bytes.len());
        self.input.by_ref().take(room as u64).read_to_end(&mut bytes)?;
        if bytes.len() > limit {
            let source = RunSource { file: self.file.clone(), line: 1, column: 1, ..RunSource::default() };
            self.ready.push_back(Err(too_long(&source, &self.limits)));
            return Ok(());
        }
        bytes.drain(..mark);
        let (text, warnings) = match (String::from_utf8(bytes), form) {
            (Ok(text), _) => (text, Vec::new()),
            (Err(error), TextForm::Lines | TextForm::Events | TextForm::McpLog) => {
                without_bad_lines(error.into_bytes())
            }
            (Err(error), _) => {
                let at = error.utf8_error().valid_up_to();
                // What stands before it is all that its place needs: the file may be large.
                let text = valid_part(error.as_bytes());
                let source = bytes::line_source(&self.file, 1, 1, mark as u64, None);
                self.ready.push_back(Err(ReadError::at_offset(&source, text, at, not_utf8())));
                return Ok(());
            }
        };
        let mut cut = TextCutter {
            file: &self.file,
            mark,
            shared: Arc::new(text),
            lines: split::LineCounter::default(),
            limits: &self.limits,
            ready: VecDeque::new(),
        };
        match form {
            TextForm::Lines | TextForm::Events | TextForm::McpLog | TextForm::Cassette | TextForm::Exchanges => {
                let range = 0..cut.shared.len();
                cut.push_run(range, form, None, warnings);
            }
            TextForm::Value | TextForm::Line | TextForm::Values => cut.cut_values(),
        }
        self.ready = cut.ready;
        Ok(())
    }

    fn more_lines(&mut self, mut lines: LineBuffer) -> io::Result<()> {
        lines.cutter.line = lines.numbers.next_line();
        let mut end = memchr::memrchr(b'\n', &lines.pending);
        let mut ended = false;
        while end.is_none() && !ended {
            let before = lines.pending.len();
            ended = self.read_more(&mut lines.pending)?;
            end = memchr::memrchr(b'\n', lines.pending.get(before..).unwrap_or_default()).map(|at| before + at);
            if lines.pending.len() > self.limits.run_bytes && end.is_none() {
                lines.cutter.skip_bytes(lines.pending.len(), &mut self.output());
                lines.pending.clear();
            }
        }
        let length = end.map_or(lines.pending.len(), |newline| newline + 1);
        let rest = lines.pending.split_off(length);
        let chunk = std::mem::replace(&mut lines.pending, rest);
        self.cut_lines(&mut lines, chunk)?;
        lines.numbers.set_next_line(lines.cutter.line);
        if !ended || !lines.pending.is_empty() {
            self.state = StreamState::Lines(lines);
        } else {
            self.check_found(lines.cutter.found);
        }
        Ok(())
    }

    fn gather_lines(&mut self, mut lines: Box<ScatteredLines>) -> io::Result<()> {
        let Self { input, file, limits, ready, .. } = self;
        if lines.take_lines(input, &mut LineOutput { file, limits, ready })? {
            self.check_found(lines.has_found());
        } else {
            self.state = StreamState::Scattered(lines);
        }
        Ok(())
    }

    fn check_found(&mut self, found: bool) {
        if !found && self.ready.is_empty() && !self.input.is_broken() {
            self.set_failure("no run: the file is empty", "write a run into it, or name another file");
        }
    }

    fn output(&mut self) -> LineOutput<'_> {
        LineOutput { file: &self.file, limits: &self.limits, ready: &mut self.ready }
    }

    fn cut_lines(&mut self, lines: &mut LineBuffer, chunk: Vec<u8>) -> io::Result<()> {
        let single = !lines.cutter.found && self.is_last(lines, &chunk)?;
        let (text, broken) = match String::from_utf8(chunk) {
            Ok(text) => (text, Vec::new()),
            Err(error) => blank_bad_lines(error.into_bytes()),
        };
        let shared = Arc::new(text);
        lines.cutter.cut_lines(
            LineChunk { text: &shared, broken, single },
            &mut self.output(),
            |range, source, out| {
                let text = RunText::Range(Arc::clone(&shared), range);
                let raw = RawRun { text, form: TextForm::Value, warnings: Vec::new(), source: source() };
                out.ready.push_back(Ok(raw));
            },
        );
        Ok(())
    }

    /// A file of one line: its run is named after the file.
    fn is_last(&mut self, lines: &mut LineBuffer, chunk: &[u8]) -> io::Result<bool> {
        let text = chunk.trim_ascii();
        if memchr::memchr(b'\n', text).is_some() {
            return Ok(false);
        }
        while lines.pending.trim_ascii().is_empty() {
            if self.read_more(&mut lines.pending)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Iterator for TraceRuns {
    type Item = Result<RawRun, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            let result = match std::mem::replace(&mut self.state, StreamState::Done) {
                StreamState::Start => self.start_reading(),
                StreamState::Lines(lines) => self.more_lines(lines),
                StreamState::Scattered(lines) => self.gather_lines(lines),
                #[cfg(feature = "packed")]
                StreamState::Archive(mut archive) => {
                    let run = archive.next()?;
                    self.state = StreamState::Archive(archive);
                    return Some(run);
                }
                StreamState::Done => Err(self.input.take_error()?),
            };
            if let Err(error) = result {
                self.state = StreamState::Done;
                self.ready.push_back(Err(unreadable_file(&self.file, &error)));
            }
        }
    }
}
