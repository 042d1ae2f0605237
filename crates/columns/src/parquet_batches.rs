//! The rows of a Parquet file, a row group after the other.

use crate::column_error::{ColumnError, catch_panic};
use crate::column_lines::BatchSource;
use crate::file_parts::FileParts;
use crate::page_reader::{GroupPages, PageBudget};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, FieldRef, Fields, SchemaRef};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels};
use parquet::file::metadata::RowGroupMetaData;
use std::sync::Arc;

/// Bytes of rows that are decoded at once.
const DECODED: u64 = 4 << 20;
/// Rows that are decoded at once.
const ROWS: u64 = 1024;
/// Bytes that a row group may take without compression: more is a forged file, or one that no machine can hold.
const GROUP: u64 = 64 << 30;

pub(crate) struct ParquetBatches {
    parts: Arc<FileParts>,
    budget: PageBudget,
    metadata: ArrowReaderMetadata,
    projection: Option<Vec<usize>>,
    next_group: usize,
    reader: Option<ParquetRecordBatchReader>,
}

impl ParquetBatches {
    pub(crate) fn open_file(parts: FileParts, batch_bytes: usize) -> Result<Self, ColumnError> {
        let metadata =
            catch_panic(|| ArrowReaderMetadata::load(&parts, Default::default()).map_err(ColumnError::damaged_file))?;
        let (parts, budget) = (Arc::new(parts), PageBudget::new(batch_bytes));
        Ok(Self { parts, budget, metadata, projection: None, next_group: 0, reader: None })
    }

    fn open_group(&self, group: usize) -> Result<ParquetRecordBatchReader, ColumnError> {
        let rows = rows_at_once(self.metadata.metadata().row_group(group))?;
        let schema = self.metadata.metadata().file_metadata().schema_descr();
        let mask = match &self.projection {
            Some(columns) => ProjectionMask::roots(schema, columns.iter().copied()),
            None => ProjectionMask::all(),
        };
        let fields = with_views(self.metadata.schema().fields());
        let levels = parquet_to_arrow_field_levels(schema, mask, Some(&fields)).map_err(ColumnError::damaged_file)?;
        let (parts, metadata) = (self.parts.clone(), self.metadata.metadata().clone());
        let pages = GroupPages { parts, metadata, group, budget: self.budget.clone() };
        ParquetRecordBatchReader::try_new_with_row_groups(&levels, &pages, rows, None)
            .map_err(ColumnError::damaged_file)
    }

    fn decode_next(&mut self) -> Result<Option<RecordBatch>, ColumnError> {
        loop {
            if let Some(reader) = &mut self.reader {
                self.budget.start_batch();
                match reader.next() {
                    Some(batch) => return batch.map(Some).map_err(ColumnError::damaged_file),
                    None => self.reader = None,
                }
            }
            if self.next_group >= self.metadata.metadata().num_row_groups() {
                return Ok(None);
            }
            let group = self.next_group;
            self.next_group += 1;
            self.reader = Some(self.open_group(group)?);
        }
    }
}

impl BatchSource for ParquetBatches {
    fn schema(&mut self) -> Result<SchemaRef, ColumnError> {
        Ok(self.metadata.schema().clone())
    }

    fn project(&mut self, columns: Vec<usize>) {
        self.projection = Some(columns);
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>, ColumnError> {
        catch_panic(|| self.decode_next())
    }
}

/// As many rows as fit into the bytes for them, by the mean of the group.
fn rows_at_once(group: &RowGroupMetaData) -> Result<usize, ColumnError> {
    let (bytes, rows) = (u64::try_from(group.total_byte_size()), u64::try_from(group.num_rows()));
    let (Ok(bytes), Ok(rows)) = (bytes, rows) else {
        return Err(ColumnError::damaged_file("a row group states a negative length"));
    };
    if bytes > GROUP {
        return Err(ColumnError::damaged_file(format!("a row group states {bytes} bytes")));
    }
    let rows = (DECODED / (bytes / rows.max(1)).max(1)).clamp(1, ROWS);
    Ok(usize::try_from(rows).unwrap_or(1))
}

/// Texts as places in their page: a long text that a dictionary gives to every row is not copied for each.
fn with_views(fields: &Fields) -> Fields {
    fields.iter().map(view_field).collect()
}

fn view_field(field: &FieldRef) -> FieldRef {
    let kind = match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        DataType::Struct(fields) => DataType::Struct(with_views(fields)),
        DataType::List(item) => DataType::List(view_field(item)),
        other => other.clone(),
    };
    Arc::new(Field::clone(field).with_data_type(kind))
}
