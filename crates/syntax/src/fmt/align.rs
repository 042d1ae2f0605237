//! Aligns adjacent lines of one kind like a table: their `=`, their modifiers and their comments start in one column.

use super::FormatOptions;
use super::doc::AlignMark;
use super::print::PrintedLine;

/// Processed in this order, since each mark moves the text after it.
const MARKS: [AlignMark; 5] =
    [AlignMark::Let, AlignMark::Param, AlignMark::Def, AlignMark::Modifier, AlignMark::Comment];

impl AlignMark {
    /// Returns the maximum distance between columns; beyond it, lines are not aligned.
    fn max_distance(self) -> usize {
        match self {
            Self::Let | Self::Param | Self::Def => 12,
            Self::Modifier | Self::Comment => 24,
        }
    }
}

pub(super) fn align_lines(lines: &mut [PrintedLine], options: &FormatOptions) {
    for mark in MARKS {
        let mut start = 0;
        while start < lines.len() {
            let length = table_length(lines.get(start..).unwrap_or_default(), mark);
            if let Some(rows) = lines.get_mut(start..start + length) {
                pad_marks(rows, mark, options.width);
            }
            start += length.max(1);
        }
    }
}

fn mark_offset(line: &PrintedLine, mark: AlignMark) -> Option<usize> {
    let closes = line.text.starts_with(['}', ')', ']']);
    let (at, _) = line.marks.iter().find(|(at, own)| *own == mark && *at > 0)?;
    // A comment after an opening bracket belongs to the lines that follow.
    let opens = mark == AlignMark::Comment && line.text.get(..*at)?.trim_end().ends_with(['{', '(', '[']);
    (!line.in_string && !closes && !opens).then_some(*at)
}

fn mark_column(line: &PrintedLine, mark: AlignMark) -> Option<usize> {
    let at = mark_offset(line, mark)?;
    line.text.get(..at).map(|before| before.chars().count())
}

fn table_length(lines: &[PrintedLine], mark: AlignMark) -> usize {
    let Some(first) = lines.first() else { return 0 };
    let (mut least, mut most) = (usize::MAX, 0);
    let rows = lines.iter().take_while(|line| {
        let Some(column) = mark_column(line, mark).filter(|_| line.indent == first.indent) else { return false };
        (least, most) = (least.min(column), most.max(column));
        most - least <= mark.max_distance()
    });
    rows.count()
}

/// Moves the marks to the rightmost column, unless a line would become too long.
fn pad_marks(rows: &mut [PrintedLine], mark: AlignMark, width: usize) {
    let Some(target) = rows.iter().filter_map(|row| mark_column(row, mark)).max() else { return };
    let too_long = |row: &PrintedLine| {
        let own = mark_column(row, mark).unwrap_or(target);
        let length = row.indent + code_length(row, mark);
        own < target && length <= width && length + (target - own) > width
    };
    if rows.iter().any(too_long) {
        return;
    }
    for row in rows {
        let (Some(at), Some(own)) = (mark_offset(row, mark), mark_column(row, mark)) else { continue };
        let spaces = target - own;
        row.text.insert_str(at, &" ".repeat(spaces));
        for (place, _) in row.marks.iter_mut().filter(|(place, _)| *place >= at) {
            *place += spaces;
        }
    }
}

/// Returns the length of a line; if an earlier mark is moved, the comment does not count.
fn code_length(line: &PrintedLine, mark: AlignMark) -> usize {
    let end = match mark {
        AlignMark::Comment => None,
        _ => line.marks.iter().find(|(_, own)| *own == AlignMark::Comment).map(|(at, _)| *at),
    };
    let code = end.and_then(|end| line.text.get(..end)).unwrap_or(&line.text);
    code.trim_end().chars().count()
}
