//! Positions in the protocol: lines from 0, columns in the unit that client and server agreed on.

use averment_base::source::SourceFile;
use lsp_types::{Position, PositionEncodingKind, Range};

/// The unit of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// Bytes of UTF-8.
    Utf8,
    /// UTF-16 code units, which every client supports.
    #[default]
    Utf16,
    /// Unicode code points.
    Utf32,
}

impl Encoding {
    /// Returns UTF-8 if the client offers it, otherwise the first supported unit.
    pub fn negotiate(offered: &[PositionEncodingKind]) -> Self {
        let offers = |kind: PositionEncodingKind| offered.contains(&kind);
        if offers(PositionEncodingKind::UTF8) {
            Self::Utf8
        } else if offers(PositionEncodingKind::UTF32) && !offers(PositionEncodingKind::UTF16) {
            Self::Utf32
        } else {
            Self::Utf16
        }
    }

    /// Returns the name in the protocol.
    pub fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn char_width(self, letter: char) -> usize {
        match self {
            Self::Utf8 => letter.len_utf8(),
            Self::Utf16 => letter.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// Returns the length of a text in these units.
    pub fn unit_length(self, text: &str) -> u32 {
        let units = match self {
            Self::Utf8 => text.len(),
            _ => text.chars().map(|letter| self.char_width(letter)).sum(),
        };
        protocol_number(units)
    }

    /// Returns the byte offset of a position. A position beyond the end of a line is its end; one beyond the text is the end of the text.
    pub fn offset_at(self, file: &SourceFile, position: Position) -> usize {
        let line = (position.line as usize).saturating_add(1);
        if line > file.line_count() {
            return file.text.len();
        }
        let mut left = position.character as usize;
        let mut at = file.line_start(line);
        for letter in file.line_text(line).chars() {
            let width = self.char_width(letter);
            if left < width {
                break;
            }
            left -= width;
            at += letter.len_utf8();
        }
        at
    }

    /// Returns the position of a byte offset.
    pub fn position_at(self, file: &SourceFile, offset: usize) -> Position {
        let offset = offset.min(file.text.len());
        let line = file.line_column(protocol_number(offset)).line;
        let start = file.line_start(line).min(offset);
        let before = file.text.get(start..offset).unwrap_or("");
        Position { line: protocol_number(line.saturating_sub(1)), character: self.unit_length(before) }
    }

    /// Converts a byte range to a range of the protocol.
    pub fn to_range(self, file: &SourceFile, bytes: std::ops::Range<usize>) -> Range {
        Range { start: self.position_at(file, bytes.start), end: self.position_at(file, bytes.end) }
    }

    /// Converts a range of the protocol to a byte range; empty if it ends before it starts.
    pub fn to_bytes(self, file: &SourceFile, range: Range) -> std::ops::Range<usize> {
        let start = self.offset_at(file, range.start);
        start..self.offset_at(file, range.end).max(start)
    }
}

/// Converts a number for the protocol, capped at its maximum.
pub fn protocol_number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_in_every_unit() {
        let file = SourceFile::new("a", None, "a🙂b\r\nä\n");
        let at = |line, character| Position { line, character };
        assert_eq!(Encoding::Utf16.offset_at(&file, at(0, 3)), 5);
        assert_eq!(Encoding::Utf8.offset_at(&file, at(0, 5)), 5);
        assert_eq!(Encoding::Utf32.offset_at(&file, at(0, 2)), 5);
        assert_eq!(Encoding::Utf16.position_at(&file, 5), at(0, 3));
        assert_eq!(Encoding::Utf16.position_at(&file, 10), at(1, 1));
        // Inside of a character, beyond a line, beyond the text.
        assert_eq!(Encoding::Utf16.offset_at(&file, at(0, 2)), 1);
        assert_eq!(Encoding::Utf16.offset_at(&file, at(0, 99)), 6);
        assert_eq!(Encoding::Utf16.offset_at(&file, at(9, 9)), file.text.len());
    }
}
