//! The compressions of Parquet, unpacked up to a limit: the length that a page states is no evidence, for its data may unpack to any length.

use bytes::Bytes;
use parquet::basic::Compression;
use std::io::{self, Read};

/// How many bytes one of compressed text unpacks to at most, but for very regular ones.
const LIKELY: usize = 256;
/// Bytes before a block in the framing of Hadoop: its lengths without and with compression.
const FRAME_HEAD: usize = 8;

/// The data without compression, or an error where that is more than `most` bytes.
pub(crate) fn unpack_bytes(compression: Compression, packed: Bytes, most: usize) -> io::Result<Bytes> {
    if compression == Compression::UNCOMPRESSED {
        return if packed.len() > most { Err(too_much(most)) } else { Ok(packed) };
    }
    let packed = packed.as_ref();
    let bytes = match compression {
        Compression::SNAPPY => unpack_snappy(packed, most),
        Compression::GZIP(_) => read_up_to(flate2::read::MultiGzDecoder::new(packed), most),
        Compression::BROTLI(_) => read_up_to(brotli_decompressor::Decompressor::new(packed, 4096), most),
        Compression::ZSTD(_) => unpack_zstd(packed, most),
        Compression::LZ4_RAW => unpack_block(packed, most),
        // Older writers put other things under this name.
        Compression::LZ4 => unpack_frames(packed, most).or_else(|error| {
            let frame = read_up_to(lz4_flex::frame::FrameDecoder::new(packed), most);
            frame.or_else(|_| unpack_block(packed, most)).map_err(|_| error)
        }),
        other => Err(io::Error::other(format!("the compression {other} is not read"))),
    };
    bytes.map(Bytes::from)
}

fn too_much(most: usize) -> io::Error {
    io::Error::other(format!("it unpacks to more than {most} bytes"))
}

fn read_up_to(input: impl Read, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take((most as u64).saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() > most { Err(too_much(most)) } else { Ok(bytes) }
}

/// A frame that states a length which its bytes may well have is unpacked into that much room at once; the rest piece by piece.
fn unpack_zstd(packed: &[u8], most: usize) -> io::Result<Vec<u8>> {
    let likely = packed.len().saturating_mul(LIKELY).min(most);
    let stated = zstd::zstd_safe::get_frame_content_size(packed).ok().flatten();
    let length = stated.and_then(|length| usize::try_from(length).ok()).filter(|length| *length <= likely);
    // Behind a frame there may be others, for which the room is too small.
    let at_once = length.and_then(|length| zstd::bulk::decompress(packed, length).ok());
    at_once.map_or_else(|| read_up_to(zstd::Decoder::with_buffer(packed)?, most), Ok)
}

fn unpack_snappy(packed: &[u8], most: usize) -> io::Result<Vec<u8>> {
    if snap::raw::decompress_len(packed)? > most {
        return Err(too_much(most));
    }
    Ok(snap::raw::Decoder::new().decompress_vec(packed)?)
}

fn unpack_block(packed: &[u8], most: usize) -> io::Result<Vec<u8>> {
    let length = block_length(packed).ok_or_else(|| io::Error::other("a block of LZ4 is cut off"))?;
    if length > most {
        return Err(too_much(most));
    }
    lz4_flex::block::decompress(packed, length).map_err(io::Error::other)
}

/// What a block of LZ4 unpacks to, by its lengths alone: it states no sum.
fn block_length(packed: &[u8]) -> Option<usize> {
    let mut input = packed.iter().copied();
    let mut sum = 0_usize;
    loop {
        let token = input.next()?;
        let literals = long_length(&mut input, token >> 4)?;
        sum = sum.checked_add(literals)?;
        if let Some(last) = literals.checked_sub(1) {
            input.nth(last)?;
        }
        // The last literals have no copy behind them; a copy starts with two bytes that say from where.
        if input.len() == 0 {
            return Some(sum);
        }
        input.nth(1)?;
        sum = sum.checked_add(long_length(&mut input, token & 15)?)?.checked_add(4)?;
    }
}

/// A length goes on in further bytes where it is the most that four bits hold.
fn long_length(input: &mut impl Iterator<Item = u8>, short: u8) -> Option<usize> {
    let mut length = usize::from(short);
    if short < 15 {
        return Some(length);
    }
    loop {
        let more = input.next()?;
        length = length.checked_add(usize::from(more))?;
        if more < u8::MAX {
            return Some(length);
        }
    }
}

fn unpack_frames(mut packed: &[u8], most: usize) -> io::Result<Vec<u8>> {
    let cut = || io::Error::other("a frame of LZ4 is cut off");
    let mut bytes = Vec::new();
    while !packed.is_empty() {
        let (head, rest) = packed.split_at_checked(FRAME_HEAD).ok_or_else(cut)?;
        let length = |part: Option<&[u8]>| part?.try_into().ok().map(u32::from_be_bytes);
        let (unpacked, taken) = (length(head.get(..4)).ok_or_else(cut)?, length(head.get(4..)).ok_or_else(cut)?);
        let taken = usize::try_from(taken).map_err(io::Error::other)?;
        let (block, rest) = rest.split_at_checked(taken).ok_or_else(cut)?;
        let left = most.checked_sub(bytes.len()).ok_or_else(|| too_much(most))?;
        let block = unpack_block(block, left)?;
        if block.len() as u64 != u64::from(unpacked) {
            return Err(cut());
        }
        bytes.extend_from_slice(&block);
        packed = rest;
    }
    Ok(bytes)
}
