//! Bytes that are no text, or not only text, and what is said of them.

use crate::error::{ReadError, TraceProblem};
use averment_base::limits::Limits;
use averment_runs::run::{ReadWarning, RunSource};
use std::io::{self, Read};

pub(super) fn valid_part(bytes: &[u8]) -> &str {
    match simdutf8::compat::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => bytes.get(..error.valid_up_to()).and_then(|part| std::str::from_utf8(part).ok()).unwrap_or(""),
    }
}

pub(super) fn not_text(head: &[u8]) -> Option<(&'static str, &'static str)> {
    if head.starts_with(&[0x1F, 0x8B]) {
        Some(("a gzip file", "unpack it: `gunzip -c FILE | aver check RULES -`"))
    } else if head.starts_with(b"PK\x03\x04") {
        Some(("a zip file", "unpack it and name the files in it"))
    } else if head.starts_with(&[0xFF, 0xFE]) || head.starts_with(&[0xFE, 0xFF]) {
        Some(("text in UTF-16", "save it as UTF-8"))
    } else if head.starts_with(b"PAR1") || head.starts_with(b"ARROW1") {
        Some(if cfg!(feature = "columns") {
            ("a Parquet or Arrow file in a pipe or an archive", "name it as a file of its own: it is read from its end")
        } else {
            ("a Parquet or Arrow file, which this build does not read", "build it with `--features parquet`")
        })
    } else if memchr::memchr(0, head.get(..8192).unwrap_or(head)).is_some() {
        Some(("a binary file, not JSON", "name a JSON or JSONL file"))
    } else {
        None
    }
}

/// A line with invalid UTF-8: start in its chunk, and the broken byte.
pub(super) struct BrokenLine {
    pub(super) start: usize,
    pub(super) at: usize,
    pub(super) text: String,
}

/// Blanks out lines with invalid UTF-8, so that offsets stay.
pub(super) fn blank_bad_lines(mut bytes: Vec<u8>) -> (String, Vec<BrokenLine>) {
    let mut broken = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        let rest = bytes.get_mut(start..).unwrap_or_default();
        let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1);
        let line = rest.get_mut(..length).unwrap_or_default();
        if let Err(error) = std::str::from_utf8(line) {
            broken.push(BrokenLine {
                start,
                at: error.valid_up_to(),
                text: String::from_utf8_lossy(line).into_owned(),
            });
            let keep = line.len() - usize::from(line.ends_with(b"\n"));
            line.iter_mut().take(keep).for_each(|byte| *byte = b' ');
        }
        start += length;
    }
    (String::from_utf8(bytes).unwrap_or_default(), broken)
}

pub(super) fn without_bad_lines(bytes: Vec<u8>) -> (String, Vec<ReadWarning>) {
    let (text, broken) = blank_bad_lines(bytes);
    let warning = |broken: &BrokenLine| ReadWarning {
        message: "a line is not UTF-8 and is skipped".to_owned(),
        offset: broken.start,
        lost: true,
    };
    let warnings = broken.iter().take(100).map(warning).collect();
    (text, warnings)
}

pub(super) fn not_utf8() -> TraceProblem {
    TraceProblem {
        message: "a byte that is not UTF-8".to_owned(),
        help: "save the file as UTF-8".to_owned(),
        no_trace: false,
    }
}

pub(super) fn too_long(source: &RunSource, limits: &Limits) -> ReadError {
    let message = format!("a run of more than {} bytes", limits.run_bytes);
    let help = "write one run per line, or raise the limit with `--max-run-size`".to_owned();
    ReadError::at_offset(source, "", 0, TraceProblem { message, help, no_trace: false })
}

pub(super) fn no_memory(source: &RunSource, what: &str) -> ReadError {
    let message = format!("there is not enough memory for {what}");
    let help = "give more memory, or judge with fewer `--threads`".to_owned();
    ReadError::at_offset(source, "", 0, TraceProblem { message, help, no_trace: false })
}

pub(super) fn unreadable_file(file: &str, error: &io::Error) -> ReadError {
    let (message, help) = match error.kind() {
        io::ErrorKind::NotFound => ("there is no such file".to_owned(), "check the path".to_owned()),
        io::ErrorKind::OutOfMemory => {
            let help = "give more memory, or write one run per line".to_owned();
            ("there is not enough memory to read on in the file".to_owned(), help)
        }
        io::ErrorKind::PermissionDenied => ("the file may not be read".to_owned(), "check its permissions".to_owned()),
        _ => (format!("the file cannot be read: {error}"), String::new()),
    };
    ReadError::of_file(file, message, help)
}

/// The buffer's length does not shrink.
pub(super) fn begin_with(buffer: &mut Vec<u8>, bytes: &mut Vec<u8>) {
    if buffer.len() < bytes.len() {
        std::mem::swap(buffer, bytes);
    } else if let Some(start) = buffer.get_mut(..bytes.len()) {
        start.copy_from_slice(bytes);
    }
    bytes.clear();
}

/// Reads up to a truncation or I/O error and keeps the reason, so that earlier data is still judged.
pub(super) struct UpToBreak {
    input: Box<dyn Read + Send>,
    broken: Option<io::Error>,
}

impl UpToBreak {
    pub(super) fn new(input: Box<dyn Read + Send>) -> Self {
        Self { input, broken: None }
    }

    pub(super) fn take_input(&mut self) -> Box<dyn Read + Send> {
        std::mem::replace(&mut self.input, Box::new(io::empty()))
    }

    pub(super) fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// The reason, once.
    pub(super) fn take_error(&mut self) -> Option<io::Error> {
        self.broken.take()
    }
}

impl Read for UpToBreak {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.input.read(buffer) {
            Err(error) if !matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::OutOfMemory) => {
                self.take_input();
                self.broken = Some(error);
                Ok(0)
            }
            result => result,
        }
    }
}

/// Where a run on a line of its own stands.
pub(super) fn line_source(file: &str, line: usize, column: usize, offset: u64, position: Option<usize>) -> RunSource {
    RunSource { file: file.to_owned(), line, column, offset, position, by_line: true, parts: None, label: None }
}
