//! Where a run was read, and what it is called.

use std::sync::Arc;

/// Where a run was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunSource {
    /// The file as the user named it; `<stdin>` for `-`.
    pub file: String,
    /// The line (from 1) on which the run's text starts.
    pub line: usize,
    /// The column (from 1, in characters) at which the run's text starts on that line.
    pub column: usize,
    /// The byte offset of the run's text in the file.
    pub offset: u64,
    /// Position of the run in its file, from 1; `None` when the file is one run.
    pub position: Option<usize>,
    /// Whether each run of the file has a line of its own.
    pub by_line: bool,
    /// Where the parts of the run's text stand, in order of the text, where it is put together from several.
    pub parts: Option<Arc<[TextPart]>>,
    /// The run's name in reports, if its producer has given one.
    pub label: Option<Arc<str>>,
}

/// Where a part of a run's text stands in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPart {
    /// Where it starts in the run's text, in bytes.
    pub start: usize,
    /// The line of that place in the file, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The byte offset in the file.
    pub offset: u64,
}

impl RunSource {
    /// Text in one piece is one part.
    fn text_part(&self, offset: usize) -> TextPart {
        let parts = self.parts.as_deref().unwrap_or_default();
        let found = parts.partition_point(|part| part.start <= offset).checked_sub(1);
        let whole = TextPart { start: 0, line: self.line.max(1), column: self.column.max(1), offset: self.offset };
        found.and_then(|found| parts.get(found)).or(parts.first()).copied().unwrap_or(whole)
    }

    /// The line in the file, from 1, and the column in characters, from 1, of a place in the run's text.
    #[must_use]
    pub fn line_column(&self, text: &str, offset: usize) -> (usize, usize) {
        let part = self.text_part(offset);
        let before = text.get(part.start..offset).unwrap_or_default();
        let lines = memchr::memchr_iter(b'\n', before.as_bytes()).count();
        match before.rsplit_once('\n') {
            Some((_, before)) => (part.line + lines, before.chars().count() + 1),
            None => (part.line, part.column + before.chars().count()),
        }
    }

    /// The byte offset in the file of a place in the run's text.
    #[must_use]
    pub fn offset_in_file(&self, offset: usize) -> u64 {
        let part = self.text_part(offset);
        part.offset + u64::try_from(offset.saturating_sub(part.start)).unwrap_or(u64::MAX)
    }

    /// The name of the run in reports: what it is called, `trace.jsonl:3` (by line), `trace.json#2` (by position in a list) or the file's name.
    #[must_use]
    pub fn run_name(&self) -> String {
        if let Some(label) = &self.label {
            return label.to_string();
        }
        match self.position {
            Some(_) if self.by_line => format!("{}:{}", self.file, self.line),
            Some(position) => format!("{}#{position}", self.file),
            None => self.file.clone(),
        }
    }
}
