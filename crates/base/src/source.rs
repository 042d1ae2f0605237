//! Source text: files, byte spans, and the translation of a byte offset to a line and a column.
//!
//! Every stage of the pipeline speaks of places as [`Span`]s. A span is a byte range in one file of a
//! [`SourceMap`]; only the renderers turn it into lines and columns, which count from 1 and count
//! columns in Unicode characters (language reference, section 11).

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The number of a file in its [`SourceMap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
pub struct FileId(pub u32);

/// A byte range in one source file. `start <= end`; both are on character borders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
pub struct Span {
    /// The file that the range is in.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// A span over `start..end` of `file`. Offsets beyond 4 GiB cannot occur: files are limited in size.
    #[must_use]
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { file, start: clamp(start), end: clamp(end) }
    }

    /// The smallest span that covers both; `self` where the other one is in another file, as with a step that is defined there.
    #[must_use]
    pub fn cover_with(self, other: Self) -> Self {
        if self.file != other.file {
            return self;
        }
        Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The empty span at the start of this one.
    #[must_use]
    pub fn at_start(self) -> Self {
        Self { end: self.start, ..self }
    }

    /// The empty span at the end of this one.
    #[must_use]
    pub fn at_end(self) -> Self {
        Self { start: self.end, ..self }
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// True for a span that covers nothing.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The byte range, for slicing.
    #[must_use]
    pub fn as_range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A line and a column, both from 1; the column counts Unicode characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// One file: its name as the user wrote it, where it really is, and its text.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// The name for people: the path as given on the command line or in `use`.
    pub name: String,
    /// Where imports and `from` paths of this file start; `None` for text that is in no file.
    pub folder: Option<PathBuf>,
    /// The whole text.
    pub text: Arc<str>,
    /// True for text that rules only name: whoever wrote them need not be allowed to read it, and no piece of it is shown.
    pub is_data: bool,
    line_starts: Vec<u32>,
}

impl SourceFile {
    /// A file from its name and text.
    #[must_use]
    pub fn new(name: impl Into<String>, folder: Option<&Path>, text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0)
            .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| u32::try_from(at + 1).unwrap_or(u32::MAX)))
            .collect();
        Self { name: name.into(), folder: folder.map(Path::to_path_buf), text, is_data: false, line_starts }
    }

    /// A file that rules name and that holds none.
    #[must_use]
    pub fn data_file(name: impl Into<String>, folder: Option<&Path>, text: impl Into<Arc<str>>) -> Self {
        Self { is_data: true, ..Self::new(name, folder, text) }
    }

    /// Line and column of a byte offset. An offset behind the text gives the end.
    #[must_use]
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let line = self.line_starts.partition_point(|&start| start <= offset).max(1);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0) as usize;
        let end = (offset as usize).min(self.text.len()).max(start);
        let column = self.text.get(start..end).map_or(0, |before| before.chars().count()) + 1;
        LineColumn { line, column }
    }

    /// The text of line `line` (from 1) without its line end; empty when there is no such line.
    #[must_use]
    pub fn line_text(&self, line: usize) -> &str {
        let Some(&start) = line.checked_sub(1).and_then(|index| self.line_starts.get(index)) else { return "" };
        let end = self.line_starts.get(line).map_or(self.text.len(), |&next| next as usize);
        self.text.get(start as usize..end).unwrap_or("").trim_end_matches(['\n', '\r'])
    }

    /// The byte offset at which line `line` (from 1) starts; the end of the text when there is no such line.
    #[must_use]
    pub fn line_start(&self, line: usize) -> usize {
        line.checked_sub(1)
            .and_then(|index| self.line_starts.get(index))
            .map_or(self.text.len(), |&start| start as usize)
    }

    /// How many lines the file has.
    #[must_use]
    pub fn line_count(&self) -> usize {
        self.line_starts.len()
    }
}

/// All rule files of one compilation, in the order in which they were first named.
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// Adds a file and gives its number.
    pub fn add_file(&mut self, file: SourceFile) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(file);
        id
    }

    /// The file of a number; `None` for a number of another map.
    #[must_use]
    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    /// All files with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(index, file)| (FileId(u32::try_from(index).unwrap_or(u32::MAX)), file))
    }

    /// The text under a span; empty when the span is not of this map.
    #[must_use]
    pub fn span_text(&self, span: Span) -> &str {
        self.get(span.file).and_then(|file| file.text.get(span.as_range())).unwrap_or("")
    }

    /// Line and column of the start of a span; 1:1 when the span is not of this map.
    #[must_use]
    pub fn line_column(&self, span: Span) -> LineColumn {
        self.get(span.file).map_or(LineColumn { line: 1, column: 1 }, |file| file.line_column(span.start))
    }

    /// The name of the file that a span is in.
    #[must_use]
    pub fn file_name(&self, span: Span) -> &str {
        self.get(span.file).map_or("", |file| file.name.as_str())
    }
}
