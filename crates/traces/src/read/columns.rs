//! Files of Parquet and Arrow: their rows are lines of JSON, which are cut and read as those of any file.

use super::TraceRuns;
use super::bytes::unreadable_file;
use crate::error::ReadError;
use averment_base::limits::Limits;
use averment_columns::{ColumnForm, ColumnLines, ColumnOptions, SeekableInput, hive_partitions};
use std::io::{self, Read, SeekFrom};

/// Bytes that tell the form of a file.
const HEAD: u64 = 8;

/// The runs of a file that is open: of its rows where it has columns, else of its bytes.
pub(super) fn open_rows(
    path: &str,
    mut file: impl SeekableInput + 'static,
    limits: &Limits,
) -> Result<TraceRuns, ReadError> {
    let form = match detect_form(&mut file) {
        Ok(form) => form,
        Err(error) => return Err(unreadable_file(path, &error)),
    };
    let Some(form) = form else { return Ok(TraceRuns::new(path, file, limits)) };
    let batch_bytes = Some(limits.run_memory);
    let options = ColumnOptions { partitions: hive_partitions(path), batch_bytes, ..ColumnOptions::default() };
    let lines = ColumnLines::open_input(form, Box::new(file), options)
        .map_err(|error| ReadError::of_file(path, error.message, error.help))?;
    Ok(TraceRuns::new(path, lines, limits))
}

/// What cannot be read from any place, such as a pipe, has no columns.
fn detect_form(file: &mut impl SeekableInput) -> io::Result<Option<ColumnForm>> {
    if file.stream_position().is_err() {
        return Ok(None);
    }
    let mut head = Vec::new();
    file.by_ref().take(HEAD).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(ColumnForm::detect_head(&head))
}
