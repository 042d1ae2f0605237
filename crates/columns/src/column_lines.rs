//! The rows of a file as lines of JSON.

use crate::ColumnForm;
use crate::column_error::ColumnError;
use crate::file_parts::{FileParts, SeekableInput};
use crate::ipc_batches::{FileBatches, StreamBatches};
use crate::parquet_batches::ParquetBatches;
use crate::row_layout::RowLayout;
use crate::row_meta::RowMeta;
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use std::io::{self, Read};

/// As many bytes as the values of a run take.
const BATCH_BYTES: usize = 1 << 30;
/// Bytes of lines that are written before they are read: the rows of a batch may have the same long text each.
const WRITTEN: usize = 1 << 20;

/// Where rows come from.
pub(crate) trait BatchSource: Send {
    /// The columns.
    fn schema(&mut self) -> Result<SchemaRef, ColumnError>;

    /// Leaves other columns out, where that can be done before they are decoded.
    fn project(&mut self, _columns: Vec<usize>) {}

    /// The next rows; `None` at the end.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, ColumnError>;
}

/// What somebody says of the columns.
#[derive(Debug, Clone, Default)]
pub struct ColumnOptions {
    /// The column that holds the runs as JSON text; otherwise it is found by its name.
    pub run: Option<String>,
    /// Columns that go into `meta` of each run.
    pub meta: Vec<String>,
    /// Names and values that go into `meta` of each run, such as those of the folders of a partition.
    pub partitions: Vec<(String, String)>,
    /// Bytes that the data of a batch of rows may take without compression; by default 1 GiB.
    pub batch_bytes: Option<usize>,
}

/// The rows of a file, as text that can be read.
pub struct ColumnLines {
    source: Box<dyn BatchSource>,
    writer: RowWriter,
    batch: Option<(RecordBatch, usize)>,
    pub(crate) text: Vec<u8>,
    place: usize,
    rows: u64,
    failed: Option<ColumnError>,
}

impl ColumnLines {
    /// Opens a file of a form.
    ///
    /// # Errors
    /// A damaged file.
    pub fn open_input(
        form: ColumnForm,
        input: Box<dyn SeekableInput>,
        options: ColumnOptions,
    ) -> Result<Self, ColumnError> {
        let most = options.batch_bytes.unwrap_or(BATCH_BYTES);
        let parts = |input| FileParts::new(input).map_err(ColumnError::damaged_file);
        let source: Box<dyn BatchSource> = match form {
            ColumnForm::Parquet => Box::new(ParquetBatches::open_file(parts(input)?, most)?),
            ColumnForm::ArrowFile => Box::new(FileBatches::open_file(parts(input)?, most)?),
            ColumnForm::ArrowStream => Box::new(StreamBatches::new(Box::new(input), most)),
        };
        let mut source = source;
        let writer = RowWriter::for_schema(&*source.schema()?, &options)?;
        source.project(writer.layout.columns());
        Ok(Self { source, writer, batch: None, text: Vec::new(), place: 0, rows: 0, failed: None })
    }

    fn next_lines(&mut self) -> Result<bool, ColumnError> {
        (self.place, self.text) = (0, std::mem::take(&mut self.text));
        self.text.clear();
        while self.text.is_empty() {
            let (batch, first) = match self.batch.take() {
                Some(rest) => rest,
                None => match self.source.next_batch()? {
                    Some(batch) => (batch, 0),
                    None => return Ok(false),
                },
            };
            for row in first..batch.num_rows() {
                if self.text.len() >= WRITTEN {
                    self.batch = Some((batch, row));
                    return Ok(true);
                }
                self.rows += 1;
                let at_row = |error: ColumnError| ColumnError {
                    message: format!("row {}: {}", self.rows, error.message),
                    ..error
                };
                let start = self.text.len();
                if let Err(error) = self.writer.write_row(&batch, row, &mut self.text) {
                    // The rows before it are read all the same.
                    self.text.truncate(start);
                    self.failed = Some(at_row(error));
                    return Ok(true);
                }
                self.text.push(b'\n');
            }
        }
        Ok(true)
    }
}

impl Read for ColumnLines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let rest = self.text.get(self.place..).unwrap_or_default();
            if !rest.is_empty() {
                let length = rest.len().min(buffer.len());
                if let (Some(to), Some(from)) = (buffer.get_mut(..length), rest.get(..length)) {
                    to.copy_from_slice(from);
                }
                self.place += length;
                return Ok(length);
            }
            if let Some(error) = self.failed.take() {
                return Err(error.into());
            }
            if !self.next_lines()? {
                return Ok(0);
            }
        }
    }
}

/// Writes rows as JSON.
pub struct RowWriter {
    layout: RowLayout,
    meta: RowMeta,
    /// Found with the first rows.
    json_columns: Option<Vec<bool>>,
}

impl RowWriter {
    /// A writer for rows of these columns.
    ///
    /// # Errors
    /// Columns that hold no run, or a value that is not read.
    pub fn for_schema(schema: &Schema, options: &ColumnOptions) -> Result<Self, ColumnError> {
        let layout = RowLayout::for_schema(schema, options)?;
        Ok(Self { layout, meta: RowMeta::new(&options.partitions), json_columns: None })
    }

    /// True where a row is a span or an event, of which several are a run.
    #[must_use]
    pub fn writes_records(&self) -> bool {
        self.layout.holds_records()
    }

    /// Appends a row without a line end.
    ///
    /// # Errors
    /// A value that JSON has no exact form for.
    pub fn write_row(&mut self, batch: &RecordBatch, row: usize, out: &mut Vec<u8>) -> Result<(), ColumnError> {
        let json_columns = self.json_columns.get_or_insert_with(|| self.layout.json_columns(batch));
        self.layout.write_row(batch, row, &self.meta, json_columns, out)
    }
}
