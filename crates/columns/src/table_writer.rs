//! A table with typed columns as a Parquet file, written while its rows come.

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows that are encoded at once.
const ROWS: usize = 1024;
/// Bytes of text that are encoded at once, whatever the number of rows.
const TEXT: usize = 1 << 20;
/// Encoded bytes that are kept before they are written as a row group.
const GROUP: usize = 16 << 20;

/// The type of a column. Every column takes nulls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// UTF-8.
    Text,
    /// 64 bits, signed.
    Whole,
    /// 64 bits, floating.
    Number,
    /// True or false.
    Flag,
    /// A list of texts.
    Texts,
}

/// A value of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TableCell<'a> {
    /// For [`CellKind::Text`].
    Text(Option<&'a str>),
    /// For [`CellKind::Whole`].
    Whole(Option<i64>),
    /// For [`CellKind::Number`].
    Number(Option<f64>),
    /// For [`CellKind::Flag`].
    Flag(Option<bool>),
    /// For [`CellKind::Texts`].
    Texts(&'a [String]),
}

/// A Parquet file that is being written. Memory holds a row group of some megabytes.
pub struct TableWriter<W> {
    out: W,
    /// Writes into memory, from where every row group is handed on: it asks for a writer that threads may share.
    file: ArrowWriter<Vec<u8>>,
    schema: SchemaRef,
    columns: Vec<ColumnBuilder>,
    rows: usize,
    text: usize,
}

impl<W: Write> TableWriter<W> {
    /// Begins a table with these columns.
    ///
    /// # Errors
    /// What the writer says.
    pub fn create_table(out: W, columns: &[(&str, CellKind)]) -> io::Result<Self> {
        let field = |(name, kind): &(&str, CellKind)| Field::new(*name, data_type(*kind), true);
        let schema: SchemaRef = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let file = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties)).map_err(io::Error::other)?;
        let columns = columns.iter().map(|(_, kind)| ColumnBuilder::of_kind(*kind)).collect();
        Ok(Self { out, file, schema, columns, rows: 0, text: 0 })
    }

    /// Adds a row: a cell for each column, of its kind.
    ///
    /// # Errors
    /// What the writer says, and where a cell is missing or of another kind.
    pub fn add_row(&mut self, cells: &[TableCell<'_>]) -> io::Result<()> {
        if cells.len() != self.columns.len() {
            return Err(io::Error::other("a row has another number of cells than the table has columns"));
        }
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.append_cell(*cell)?;
            self.text = self.text.saturating_add(cell.text_bytes());
        }
        self.rows += 1;
        if self.rows >= ROWS || self.text >= TEXT { self.encode_rows() } else { Ok(()) }
    }

    /// Writes what is left, and the end of the file.
    ///
    /// # Errors
    /// What the writer says.
    pub fn finish_table(mut self) -> io::Result<()> {
        self.encode_rows()?;
        let rest = self.file.into_inner().map_err(io::Error::other)?;
        self.out.write_all(&rest)?;
        self.out.flush()
    }

    fn encode_rows(&mut self) -> io::Result<()> {
        let columns = self.columns.iter_mut().map(ColumnBuilder::finish_column).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(io::Error::other)?;
        self.file.write(&batch).map_err(io::Error::other)?;
        (self.rows, self.text) = (0, 0);
        if self.file.in_progress_size() >= GROUP {
            self.file.flush().map_err(io::Error::other)?;
        }
        let written = self.file.inner_mut();
        self.out.write_all(written)?;
        written.clear();
        Ok(())
    }
}

impl TableCell<'_> {
    fn text_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.map_or(0, str::len),
            Self::Texts(texts) => texts.iter().map(String::len).sum(),
            Self::Whole(_) | Self::Number(_) | Self::Flag(_) => 0,
        }
    }
}

fn data_type(kind: CellKind) -> DataType {
    match kind {
        CellKind::Text => DataType::Utf8,
        CellKind::Whole => DataType::Int64,
        CellKind::Number => DataType::Float64,
        CellKind::Flag => DataType::Boolean,
        CellKind::Texts => DataType::new_list(DataType::Utf8, true),
    }
}

enum ColumnBuilder {
    Text(StringBuilder),
    Whole(Int64Builder),
    Number(Float64Builder),
    Flag(BooleanBuilder),
    Texts(ListBuilder<StringBuilder>),
}

impl ColumnBuilder {
    fn of_kind(kind: CellKind) -> Self {
        match kind {
            CellKind::Text => Self::Text(StringBuilder::new()),
            CellKind::Whole => Self::Whole(Int64Builder::new()),
            CellKind::Number => Self::Number(Float64Builder::new()),
            CellKind::Flag => Self::Flag(BooleanBuilder::new()),
            CellKind::Texts => Self::Texts(ListBuilder::new(StringBuilder::new())),
        }
    }

    fn append_cell(&mut self, cell: TableCell<'_>) -> io::Result<()> {
        match (self, cell) {
            (Self::Text(column), TableCell::Text(text)) => column.append_option(text),
            (Self::Whole(column), TableCell::Whole(number)) => column.append_option(number),
            (Self::Number(column), TableCell::Number(number)) => column.append_option(number),
            (Self::Flag(column), TableCell::Flag(flag)) => column.append_option(flag),
            (Self::Texts(column), TableCell::Texts(texts)) => column.append_value(texts.iter().map(Some)),
            _ => return Err(io::Error::other("a cell is of another kind than its column")),
        }
        Ok(())
    }

    fn finish_column(&mut self) -> ArrayRef {
        match self {
            Self::Text(column) => Arc::new(column.finish()),
            Self::Whole(column) => Arc::new(column.finish()),
            Self::Number(column) => Arc::new(column.finish()),
            Self::Flag(column) => Arc::new(column.finish()),
            Self::Texts(column) => Arc::new(column.finish()),
        }
    }
}
