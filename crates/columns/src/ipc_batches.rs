//! The rows of Arrow IPC files and streams, a record batch after the other.

use crate::column_error::{ColumnError, catch_panic};
use crate::column_lines::BatchSource;
use crate::file_parts::FileParts;
use crate::message_size::{check_message, next_message};
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::Block;
use arrow_ipc::reader::{FileDecoder, StreamDecoder, read_footer_length};
use arrow_schema::SchemaRef;
use std::io::Read;

/// The mark, two zeros and the footer's length.
const TRAILER: u64 = 10;

/// The file form: its footer says where the record batches stand.
pub(crate) struct FileBatches {
    parts: FileParts,
    decoder: FileDecoder,
    schema: SchemaRef,
    blocks: std::vec::IntoIter<Block>,
    most: usize,
}

impl FileBatches {
    pub(crate) fn open_file(parts: FileParts, most: usize) -> Result<Self, ColumnError> {
        catch_panic(|| Self::read_footer(parts, most))
    }

    fn read_footer(parts: FileParts, most: usize) -> Result<Self, ColumnError> {
        let damaged = ColumnError::damaged_file;
        let length = parts.file_length();
        let start = length.checked_sub(TRAILER).ok_or_else(|| damaged("it is too short"))?;
        let trailer = parts.read_part(start, TRAILER).map_err(ColumnError::damaged_file)?;
        let trailer: [u8; 10] = trailer.try_into().map_err(|_| ColumnError::damaged_file("it is too short"))?;
        let footer_length = read_footer_length(trailer).map_err(ColumnError::damaged_file)? as u64;
        let footer_start =
            start.checked_sub(footer_length).ok_or_else(|| ColumnError::damaged_file("its footer is too long"))?;
        let bytes = parts.read_part(footer_start, footer_length).map_err(ColumnError::damaged_file)?;
        let footer = arrow_ipc::root_as_footer(&bytes).map_err(ColumnError::damaged_file)?;
        let schema = footer.schema().ok_or_else(|| ColumnError::damaged_file("it has no schema"))?;
        let schema: SchemaRef = arrow_ipc::convert::try_fb_to_schema(schema).map_err(ColumnError::damaged_file)?.into();
        let mut decoder = FileDecoder::new(schema.clone(), footer.version());
        for block in footer.dictionaries().iter().flatten() {
            let bytes = read_block(&parts, block, most)?;
            decoder.read_dictionary(block, &bytes).map_err(ColumnError::damaged_file)?;
        }
        let blocks: Vec<Block> = footer.recordBatches().iter().flatten().copied().collect();
        Ok(Self { parts, decoder, schema, blocks: blocks.into_iter(), most })
    }

    fn decode_next(&mut self) -> Result<Option<RecordBatch>, ColumnError> {
        for block in self.blocks.by_ref() {
            let bytes = read_block(&self.parts, &block, self.most)?;
            let batch = self.decoder.read_record_batch(&block, &bytes).map_err(ColumnError::damaged_file)?;
            if batch.is_some() {
                return Ok(batch);
            }
        }
        Ok(None)
    }
}

fn read_block(parts: &FileParts, block: &Block, most: usize) -> Result<Buffer, ColumnError> {
    let place = |number: i64| u64::try_from(number).map_err(ColumnError::damaged_file);
    let body_start = place(i64::from(block.metaDataLength()))?;
    let length = place(block.bodyLength())?.saturating_add(body_start);
    let bytes = parts.read_part(place(block.offset())?, length).map_err(ColumnError::damaged_file)?;
    check_message(&bytes, usize::try_from(body_start).map_err(ColumnError::damaged_file)?, most)?;
    Ok(Buffer::from_vec(bytes))
}

impl BatchSource for FileBatches {
    fn schema(&mut self) -> Result<SchemaRef, ColumnError> {
        Ok(self.schema.clone())
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>, ColumnError> {
        catch_panic(|| self.decode_next())
    }
}

/// The stream form.
pub(crate) struct StreamBatches {
    input: Box<dyn Read + Send>,
    decoder: StreamDecoder,
    buffer: Buffer,
    ahead: Option<RecordBatch>,
    ended: bool,
    most: usize,
}

impl StreamBatches {
    pub(crate) fn new(input: Box<dyn Read + Send>, most: usize) -> Self {
        let buffer = Buffer::from(&[] as &[u8]);
        Self { input, decoder: StreamDecoder::new(), buffer, ahead: None, ended: false, most }
    }

    fn decode_next(&mut self) -> Result<Option<RecordBatch>, ColumnError> {
        loop {
            if self.buffer.is_empty() {
                if self.ended {
                    return Ok(None);
                }
                let bytes = next_message(&mut self.input, self.most)?;
                if bytes.is_empty() {
                    self.ended = true;
                    self.decoder.finish().map_err(ColumnError::damaged_file)?;
                    return Ok(None);
                }
                self.buffer = Buffer::from_vec(bytes);
            }
            if let Some(batch) = self.decoder.decode(&mut self.buffer).map_err(ColumnError::damaged_file)? {
                return Ok(Some(batch));
            }
        }
    }
}

impl BatchSource for StreamBatches {
    /// Reads up to the first rows.
    fn schema(&mut self) -> Result<SchemaRef, ColumnError> {
        if self.ahead.is_none() {
            self.ahead = catch_panic(|| self.decode_next())?;
        }
        self.decoder.schema().ok_or_else(|| ColumnError::damaged_file("it has no schema"))
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>, ColumnError> {
        match self.ahead.take() {
            Some(batch) => Ok(Some(batch)),
            None => catch_panic(|| self.decode_next()),
        }
    }
}
