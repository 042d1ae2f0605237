//! The rows of a Parquet file, a row group after the other.

use crate::column_error::{ColumnError, catch_panic};
use crate::column_lines::BatchSource;
use crate::file_parts::FileParts;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::RowGroupMetaData;

/// Bytes of rows that are decoded at once.
const DECODED: u64 = 4 << 20;
/// Rows that are decoded at once.
const ROWS: u64 = 1024;
/// Bytes that a row group may take without compression: more is a forged file, or one that no machine can hold.
const GROUP: u64 = 64 << 30;

pub(crate) struct ParquetBatches {
    parts: FileParts,
    metadata: ArrowReaderMetadata,
    projection: Option<Vec<usize>>,
    next_group: usize,
    reader: Option<ParquetRecordBatchReader>,
}

impl ParquetBatches {
    pub(crate) fn open_file(parts: FileParts) -> Result<Self, ColumnError> {
        let metadata =
            catch_panic(|| ArrowReaderMetadata::load(&parts, Default::default()).map_err(ColumnError::damaged_file))?;
        Ok(Self { parts, metadata, projection: None, next_group: 0, reader: None })
    }

    fn open_group(&self, group: usize) -> Result<ParquetRecordBatchReader, ColumnError> {
        let rows = rows_at_once(self.metadata.metadata().row_group(group))?;
        let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(self.parts.clone(), self.metadata.clone())
            .with_row_groups(vec![group])
            .with_batch_size(rows);
        if let Some(columns) = &self.projection {
            let mask = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
            builder = builder.with_projection(mask);
        }
        builder.build().map_err(ColumnError::damaged_file)
    }

    fn decode_next(&mut self) -> Result<Option<RecordBatch>, ColumnError> {
        loop {
            if let Some(reader) = &mut self.reader {
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
