//! `:table`: prints a list or an object in rows and columns that fit the terminal.

use averment_base::diagnostic::render::{TextColor, TextStyle, one_line, paint_text};
use averment_base::diagnostic::window::text_columns;
use averment_base::words::count_noun;
use averment_builtins::detect::REDACTED;
use averment_engine::vm::inspect::{KEY_HEAD, ValueTable};
use averment_report::derivation::cut;
use std::fmt::Write as _;

/// Minimum width of a column. Columns that do not fit are left out.
const NARROWEST: usize = 8;
const BETWEEN: &str = "  ";

/// Redacts the cells of all rows. All cells go through `hide` as one text, because one call per cell would be too slow.
pub fn hide_cells(table: ValueTable, hide: impl Fn(&str) -> String) -> ValueTable {
    let is_object = table.columns.first().is_some_and(|head| head == KEY_HEAD);
    let mut lines = Vec::new();
    for row in &table.rows {
        for (head, cell) in table.columns.iter().zip(row) {
            // Passwords are recognized by their key, so each cell is passed with its name.
            let name = row.first().filter(|_| is_object).unwrap_or(head);
            lines.push((format!("\"{}\": ", one_line(name)), one_line(cell)));
        }
    }
    let whole: Vec<String> = lines.iter().map(|(name, cell)| format!("{name}{cell}")).collect();
    let hidden = hide(&whole.join("\n"));
    let hidden: Vec<&str> = hidden.split('\n').collect();
    let is_whole = hidden.len() == lines.len();
    // If a redaction spans several cells or a name, the remaining text cannot be split again, so the cells are hidden.
    let cells = lines.iter().enumerate().map(|(at, (name, _))| {
        hidden
            .get(at)
            .filter(|_| is_whole)
            .and_then(|line| line.strip_prefix(name.as_str()))
            .unwrap_or(REDACTED)
            .to_owned()
    });
    let mut cells = cells.collect::<Vec<_>>().into_iter();
    let rows = table.rows.iter().map(|row| cells.by_ref().take(row.len()).collect()).collect();
    let columns = table.columns.iter().map(|head| one_line(&hide(head)).into_owned()).collect();
    ValueTable { rows, columns, ..table }
}

/// Returns the table as text, with a line about the parts that were left out.
pub fn render_table(table: &ValueTable, style: TextStyle) -> String {
    let widths = column_widths(table, style.width);
    let mut text = String::new();
    let head = table_line(&table.columns, &widths);
    let _ = writeln!(text, "{}", paint_text(style, TextColor::Bold, &head));
    for row in &table.rows {
        let _ = writeln!(text, "{}", table_line(row, &widths));
    }
    let hidden_columns = table.hidden_columns + table.columns.len().saturating_sub(widths.len());
    let left_out = [(table.hidden_rows, "row"), (hidden_columns, "column")];
    let left_out: Vec<String> =
        left_out.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| count_noun(count, what)).collect();
    if !left_out.is_empty() {
        let note = format!("not shown: {}", left_out.join(", "));
        let _ = writeln!(text, "{}", paint_text(style, TextColor::Dim, &note));
    }
    text
}

/// Returns the widths of the shown columns. The widest ones shrink until all fit; if that is not enough, the last columns are left out.
fn column_widths(table: &ValueTable, room: usize) -> Vec<usize> {
    let natural = |column: usize| {
        let cells = table.rows.iter().filter_map(|row| row.get(column)).chain(table.columns.get(column));
        cells.map(|cell| text_columns(cell)).max().unwrap_or(0).min(room)
    };
    let mut widths: Vec<usize> = (0..table.columns.len()).map(natural).collect();
    let needed = |widths: &[usize]| widths.iter().sum::<usize>() + BETWEEN.len() * widths.len().saturating_sub(1);
    while widths.len() > 1 && needed(&widths) > room {
        let widest = widths.iter().copied().enumerate().max_by_key(|(_, width)| *width);
        match widest.filter(|(_, width)| *width > NARROWEST).and_then(|(at, _)| widths.get_mut(at)) {
            Some(width) => *width -= 1,
            None => {
                widths.pop();
            }
        }
    }
    widths
}

fn table_line(cells: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (cell, width) in cells.iter().zip(widths) {
        let cell = if text_columns(cell) > *width { cut(cell, width.saturating_sub(1)) } else { cell.clone() };
        let padding = width.saturating_sub(text_columns(&cell));
        let _ = write!(line, "{cell}{:padding$}{BETWEEN}", "");
    }
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[&str], rows: &[&[&str]]) -> ValueTable {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<String>>();
        ValueTable {
            columns: owned(columns),
            rows: rows.iter().map(|row| owned(row)).collect(),
            ..ValueTable::default()
        }
    }

    #[test]
    fn wide_columns_give_room_and_the_last_ones_go() {
        let style = TextStyle { width: 30, ..TextStyle::PLAIN };
        let one = table(&["#", "tool", "args"], &[&["1", "refund", "{id: \"o-1\", amount: 250, currency: \"EUR\"}"]]);
        let text = render_table(&one, style);
        assert!(text.lines().all(|line| text_columns(line) <= 30), "{text}");
        assert!(text.contains("refund") && text.contains('…'), "{text}");
        let many = table(&["aaaaaaaa"; 6], &[&["bbbbbbbb"; 6]]);
        assert!(render_table(&many, style).ends_with("not shown: 3 columns\n"), "{}", render_table(&many, style));
    }

    #[test]
    fn what_is_hidden_is_in_no_cell() {
        let one = table(&["a", "b"], &[&["secret", "x"], &["y", "secret z"]]);
        let shown = hide_cells(one.clone(), |text| text.replace("secret", "[redacted]"));
        assert_eq!(shown.rows, [["[redacted]", "x"], ["y", "[redacted] z"]]);
        let shown = hide_cells(one, |_| "[redacted]".to_owned());
        assert!(shown.rows.iter().flatten().all(|cell| cell == "[redacted]"));
    }
}
