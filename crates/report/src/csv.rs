//! `--format csv`: a row per verdict, as a table by RFC 4180, for DuckDB, pandas and spreadsheets.

use super::verdict_row::{RowFormat, RowReport, VerdictCell, VerdictRow};
use averment_base::diagnostic::render::one_line;
use std::io::{self, Write};

/// The `csv` report.
pub type CsvReport = RowReport<CsvRows>;

/// Rows as lines of CSV.
pub struct CsvRows {
    out: Box<dyn Write>,
    row: String,
}

impl CsvRows {
    fn write_cell(&mut self, cell: VerdictCell<'_>) {
        match cell {
            VerdictCell::Text(text) => self.write_text(text),
            VerdictCell::Texts(texts) => self.write_text(&texts.join(" ")),
            VerdictCell::Word(word) => self.row.push_str(word),
            VerdictCell::Flag(flag) => self.row.push_str(if flag { "true" } else { "false" }),
            VerdictCell::Whole(number) => self.write_number(number),
            VerdictCell::Number(number) => self.write_number(number),
        }
    }

    fn write_number(&mut self, number: Option<impl ToString>) {
        self.row.push_str(&number.map(|number| number.to_string()).unwrap_or_default());
    }

    /// Writes untrusted text on one line, quoted, and never as a spreadsheet formula.
    fn write_text(&mut self, text: &str) {
        let text = one_line(text);
        let guard = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
        self.row.extend(["\"", guard, &text.replace('"', "\"\""), "\""]);
    }
}

impl RowFormat for CsvRows {
    fn open_rows(out: Box<dyn Write>) -> Self {
        Self { out, row: String::new() }
    }

    fn begin_rows(&mut self) -> io::Result<()> {
        let names = VerdictRow::default().named_cells().map(|(name, _)| name);
        write!(self.out, "{}\r\n", names.join(","))
    }

    fn write_row(&mut self, row: &VerdictRow<'_>) -> io::Result<()> {
        self.row.clear();
        for (place, (_, cell)) in row.named_cells().into_iter().enumerate() {
            if place > 0 {
                self.row.push(',');
            }
            self.write_cell(cell);
        }
        self.row.push_str("\r\n");
        self.out.write_all(self.row.as_bytes())
    }

    fn flush_rows(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish_rows(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
