//! Neighbouring lines that say the same kind of thing are read as a table: their `=`, their modifiers and their comments stand below each other.

use super::Options;
use super::doc::Mark;
use super::print::Line;

/// In this order, because each moves what stands behind it.
const MARKS: [Mark; 5] = [Mark::Let, Mark::Param, Mark::Def, Mark::Modifier, Mark::Comment];

impl Mark {
    /// Lines whose places lie further apart than this are no table.
    fn reach(self) -> usize {
        match self {
            Self::Let | Self::Param | Self::Def => 12,
            Self::Modifier | Self::Comment => 24,
        }
    }
}

/// Aligns neighbouring lines.
pub(super) fn align(lines: &mut [Line], options: &Options) {
    for mark in MARKS {
        let mut start = 0;
        while start < lines.len() {
            let length = table(lines.get(start..).unwrap_or_default(), mark);
            if let Some(rows) = lines.get_mut(start..start + length) {
                pad(rows, mark, options.width);
            }
            start += length.max(1);
        }
    }
}

/// The byte offset of a mark in a line that can be a row.
fn offset(line: &Line, mark: Mark) -> Option<usize> {
    let closes = line.text.starts_with(['}', ')', ']']);
    let (at, _) = line.marks.iter().find(|(at, own)| *own == mark && *at > 0)?;
    // A comment behind an opening bracket speaks of what follows.
    let opens = mark == Mark::Comment && line.text.get(..*at)?.trim_end().ends_with(['{', '(', '[']);
    (!line.in_string && !closes && !opens).then_some(*at)
}

/// Characters before a mark.
fn column(line: &Line, mark: Mark) -> Option<usize> {
    let at = offset(line, mark)?;
    line.text.get(..at).map(|before| before.chars().count())
}

/// How many of these lines, from the first on, are one table.
fn table(lines: &[Line], mark: Mark) -> usize {
    let Some(first) = lines.first() else { return 0 };
    let (mut least, mut most) = (usize::MAX, 0);
    let rows = lines.iter().take_while(|line| {
        let Some(column) = column(line, mark).filter(|_| line.indent == first.indent) else { return false };
        (least, most) = (least.min(column), most.max(column));
        most - least <= mark.reach()
    });
    rows.count()
}

/// Moves the marks of all rows to the column of the furthest, unless a line would become too long.
fn pad(rows: &mut [Line], mark: Mark, width: usize) {
    let Some(target) = rows.iter().filter_map(|row| column(row, mark)).max() else { return };
    let too_long = |row: &Line| {
        let own = column(row, mark).unwrap_or(target);
        let length = row.indent + code_length(row, mark);
        own < target && length <= width && length + (target - own) > width
    };
    if rows.iter().any(too_long) {
        return;
    }
    for row in rows {
        let (Some(at), Some(own)) = (offset(row, mark), column(row, mark)) else { continue };
        let spaces = target - own;
        row.text.insert_str(at, &" ".repeat(spaces));
        for (place, _) in row.marks.iter_mut().filter(|(place, _)| *place >= at) {
            *place += spaces;
        }
    }
}

/// Characters of a line, without its comment where something before that is moved.
fn code_length(line: &Line, mark: Mark) -> usize {
    let end = match mark {
        Mark::Comment => None,
        _ => line.marks.iter().find(|(_, own)| *own == Mark::Comment).map(|(at, _)| *at),
    };
    let code = end.and_then(|end| line.text.get(..end)).unwrap_or(&line.text);
    code.trim_end().chars().count()
}
