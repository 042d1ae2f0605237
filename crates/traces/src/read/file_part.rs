//! Parts of a file, as they are handed to whoever judges them.

use super::RawRun;
use super::bytes::{blank_bad_lines, no_memory, not_utf8};
use super::line_numbers::PartTurn;
use crate::error::ReadError;
use averment_runs::run::RunSource;
use std::sync::Arc;

/// A part of a file.
pub enum FilePart {
    /// Whole lines, one run each, unparsed; their bytes are in the buffer.
    Lines(WholeLines),
    /// Runs already cut, and errors.
    Runs(Vec<Result<RawRun, ReadError>>),
}

/// Whole lines that are not counted yet.
#[derive(Debug)]
pub struct WholeLines {
    file: Arc<str>,
    offset: u64,
    turn: PartTurn,
}

impl WholeLines {
    /// Line numbers are known once earlier lines are counted.
    pub(super) fn new(file: &str, offset: u64, turn: PartTurn) -> Self {
        Self { file: file.into(), offset, turn }
    }

    /// The file as the user named it.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.file
    }

    /// The place of the first byte in the file.
    #[must_use]
    pub fn byte_offset(&self) -> u64 {
        self.offset
    }

    /// Where the lines stand, of which there are so many: line ends are found by whoever looks at the bytes, not by who reads them.
    #[must_use]
    pub fn with_lines(self, lines: usize) -> LinesOrigin {
        LinesOrigin { file: self.file, offset: self.offset, line: self.turn.count_lines(lines) }
    }
}

/// Where whole lines stand.
#[derive(Debug, Clone)]
pub struct LinesOrigin {
    /// The file as the user named it.
    pub file: Arc<str>,
    /// Place of the first byte in the file.
    pub offset: u64,
    /// The number of the first line, from 1.
    pub line: usize,
}

impl LinesOrigin {
    /// Where a line stands that starts so many bytes and lines behind the first.
    #[must_use]
    pub fn line_source(&self, bytes: usize, lines: usize) -> RunSource {
        RunSource {
            file: self.file.to_string(),
            line: self.line + lines,
            column: 1,
            offset: self.offset + bytes as u64,
            position: Some(self.line + lines),
            by_line: true,
            parts: None,
            label: None,
        }
    }

    /// Says that there is no memory to look at so many lines.
    #[must_use]
    pub fn no_memory(&self, lines: usize) -> ReadError {
        no_memory(
            &self.line_source(0, 0),
            &format!("the {} from here", if lines == 1 { "line".to_owned() } else { format!("{lines} lines") }),
        )
    }

    /// The runs on lines that are no text, each with what is wrong.
    #[must_use]
    pub fn broken_runs(&self, bytes: Vec<u8>) -> Vec<Result<RawRun, ReadError>> {
        let (text, bad) = blank_bad_lines(bytes);
        let mut bad = bad.into_iter().peekable();
        let (mut start, mut found) = (0, Vec::new());
        for (lines, line) in text.split_inclusive('\n').enumerate() {
            let source = self.line_source(start, lines);
            match bad.next_if(|broken| broken.start == start) {
                Some(broken) => found.push(Err(ReadError::at_offset(&source, &broken.text, broken.at, not_utf8()))),
                None if line.trim_ascii().is_empty() => {}
                None => found.push(Ok(RawRun::new(line.trim_end_matches(['\n', '\r']).to_owned(), source))),
            }
            start += line.len();
        }
        found
    }
}
