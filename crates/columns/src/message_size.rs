//! What a message of Arrow IPC takes without compression, found before it is unpacked: the library makes room for any length that is stated.

use crate::column_error::ColumnError;
use arrow_ipc::{Message, RecordBatch};
use std::io::Read;

/// Begins each message since version 0.15 of Arrow.
const MARK: [u8; 4] = [0xFF; 4];
/// Bytes of a length before a compressed buffer.
const STATED: usize = 8;

/// The bytes of the next message of a stream; none at its end.
pub(crate) fn next_message(input: &mut dyn Read, most: usize) -> Result<Vec<u8>, ColumnError> {
    let mut bytes = Vec::new();
    read_more(input, 4, &mut bytes)?;
    if bytes == MARK {
        read_more(input, 4, &mut bytes)?;
    }
    let head = bytes.len();
    let length = bytes.last_chunk().map_or(0, |length| u32::from_le_bytes(*length));
    let length = usize::try_from(length).map_err(ColumnError::damaged_file)?;
    // The mark of the end is a message of no length. A text that is cut off is left to the decoder.
    if length == 0 || length > most {
        return if length == 0 { Ok(bytes) } else { Err(too_much(most)) };
    }
    read_more(input, length, &mut bytes)?;
    let metadata = bytes.get(head..).unwrap_or_default();
    if metadata.len() < length {
        return Ok(bytes);
    }
    let message = arrow_ipc::root_as_message(metadata).map_err(ColumnError::damaged_file)?;
    let body = usize::try_from(message.bodyLength()).map_err(ColumnError::damaged_file)?;
    if body > most {
        return Err(too_much(most));
    }
    let body_start = bytes.len();
    read_more(input, body, &mut bytes)?;
    let (metadata, body) = bytes.split_at_checked(body_start).unwrap_or_default();
    let message = arrow_ipc::root_as_message(metadata.get(head..).unwrap_or_default());
    check_buffers(&message.map_err(ColumnError::damaged_file)?, body, most)?;
    Ok(bytes)
}

fn read_more(input: &mut dyn Read, length: usize, bytes: &mut Vec<u8>) -> Result<(), ColumnError> {
    input.take(length as u64).read_to_end(bytes).map_err(ColumnError::damaged_file)?;
    Ok(())
}

/// Refuses the bytes of a whole message that unpack to more than `most` bytes. The decoder takes the place of the body from the footer.
pub(crate) fn check_message(bytes: &[u8], body_start: usize, most: usize) -> Result<(), ColumnError> {
    let head = if bytes.starts_with(&MARK) { 8 } else { 4 };
    let cut = || ColumnError::damaged_file("a message is cut off");
    let (metadata, body) = bytes.split_at_checked(body_start).ok_or_else(cut)?;
    let message = arrow_ipc::root_as_message(metadata.get(head..).unwrap_or_default());
    check_buffers(&message.map_err(ColumnError::damaged_file)?, body, most)
}

fn check_buffers(message: &Message<'_>, body: &[u8], most: usize) -> Result<(), ColumnError> {
    let dictionary = || message.header_as_dictionary_batch().and_then(|batch| batch.data());
    let Some(batch) = message.header_as_record_batch().or_else(dictionary) else { return Ok(()) };
    if unpacked_bytes(&batch, body).is_none_or(|sum| sum > most) { Err(too_much(most)) } else { Ok(()) }
}

/// `None` where that is more than can be counted.
fn unpacked_bytes(batch: &RecordBatch<'_>, body: &[u8]) -> Option<usize> {
    let packed = batch.compression().is_some();
    let mut sum = 0_usize;
    for buffer in batch.buffers().iter().flatten() {
        let (start, length) = (usize::try_from(buffer.offset()).ok()?, usize::try_from(buffer.length()).ok()?);
        // Bytes that lie outside are an error of the decoder.
        let stated = body.get(start..).and_then(|rest| rest.first_chunk::<STATED>()).filter(|_| packed && length > 0);
        let bytes = match stated.map(|stated| i64::from_le_bytes(*stated)) {
            // This length marks a buffer without compression.
            None | Some(-1) => length,
            Some(stated) => usize::try_from(stated).ok()?,
        };
        sum = sum.checked_add(bytes)?;
    }
    Some(sum)
}

fn too_much(most: usize) -> ColumnError {
    let message = format!("a batch of rows takes more than {most} bytes");
    ColumnError::new(message, "write the file again with fewer rows to a batch")
}
