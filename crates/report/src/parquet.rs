//! `--report parquet=FILE`: a row per verdict in typed columns, for DuckDB, Spark and other readers of Parquet.

use super::verdict_row::{RowFormat, RowReport, VerdictCell, VerdictRow};
use averment_columns::{CellKind, TableCell, TableWriter};
use std::io::{self, Write};

/// The `parquet` report.
pub type ParquetReport = RowReport<ParquetRows>;

/// Rows of a Parquet file.
pub struct ParquetRows {
    /// The output, until the table starts.
    out: Option<Box<dyn Write>>,
    table: Option<TableWriter<Box<dyn Write>>>,
}

impl RowFormat for ParquetRows {
    fn open_rows(out: Box<dyn Write>) -> Self {
        Self { out: Some(out), table: None }
    }

    fn begin_rows(&mut self) -> io::Result<()> {
        let columns = VerdictRow::default().named_cells().map(|(name, cell)| (name, cell_kind(cell)));
        self.table = self.out.take().map(|out| TableWriter::create_table(out, &columns)).transpose()?;
        Ok(())
    }

    fn write_row(&mut self, row: &VerdictRow<'_>) -> io::Result<()> {
        let cells = row.named_cells().map(|(_, cell)| typed_cell(cell));
        self.table.as_mut().map_or(Ok(()), |table| table.add_row(&cells))
    }

    /// Does nothing, because a Parquet file is readable only at its end, and small row groups would make it slow.
    fn flush_rows(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish_rows(&mut self) -> io::Result<()> {
        self.table.take().map_or(Ok(()), TableWriter::finish_table)
    }
}

fn cell_kind(cell: VerdictCell<'_>) -> CellKind {
    match cell {
        VerdictCell::Text(_) | VerdictCell::Word(_) => CellKind::Text,
        VerdictCell::Whole(_) => CellKind::Whole,
        VerdictCell::Number(_) => CellKind::Number,
        VerdictCell::Flag(_) => CellKind::Flag,
        VerdictCell::Texts(_) => CellKind::Texts,
    }
}

fn typed_cell(cell: VerdictCell<'_>) -> TableCell<'_> {
    match cell {
        VerdictCell::Text(text) | VerdictCell::Word(text) => {
            TableCell::Text(Some(text).filter(|text| !text.is_empty()))
        }
        // Signed, because Spark and others read unsigned columns as decimals.
        VerdictCell::Whole(number) => TableCell::Whole(number.map(|number| i64::try_from(number).unwrap_or(i64::MAX))),
        VerdictCell::Number(number) => TableCell::Number(number),
        VerdictCell::Flag(flag) => TableCell::Flag(Some(flag)),
        VerdictCell::Texts(texts) => TableCell::Texts(texts),
    }
}
