//! Parquet and Arrow files as lines of JSON, one for each row, and tables as Parquet files. What a line means is for the readers of traces, and
//! what a table holds for whoever writes one.

mod column_error;
mod column_lines;
mod file_parts;
mod ipc_batches;
mod message_size;
mod page_codec;
mod page_reader;
mod parquet_batches;
mod row_layout;
mod row_meta;
mod table_writer;
#[cfg(test)]
mod tests;
mod write_time;
mod write_value;

pub use column_error::ColumnError;
pub use column_lines::{ColumnLines, ColumnOptions, RowWriter};
pub use file_parts::SeekableInput;
pub use row_layout::{RowLayout, text_cell};
pub use row_meta::hive_partitions;
pub use table_writer::{CellKind, TableCell, TableWriter};

/// The form of a file with columns, told by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnForm {
    /// Apache Parquet.
    Parquet,
    /// The file form of Arrow IPC, which is Feather, too.
    ArrowFile,
    /// The stream form of Arrow IPC.
    ArrowStream,
}

impl ColumnForm {
    /// `None` for any other file.
    #[must_use]
    pub fn detect_head(head: &[u8]) -> Option<Self> {
        if head.starts_with(b"PAR1") {
            Some(Self::Parquet)
        } else if head.starts_with(b"ARROW1\0\0") {
            Some(Self::ArrowFile)
        } else if head.starts_with(&[0xFF; 4]) {
            Some(Self::ArrowStream)
        } else {
            None
        }
    }
}
