//! Parts of a file by their places, never beyond its end: a length that a file states takes no memory before it is compared with the file.

use bytes::Bytes;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

/// What Parquet and Arrow files are read from.
pub trait SeekableInput: Read + Seek + Send {}

impl<T: Read + Seek + Send> SeekableInput for T {}

/// A file of which parts are read.
#[derive(Clone)]
pub(crate) struct FileParts {
    input: Arc<Mutex<Box<dyn SeekableInput>>>,
    length: u64,
}

impl FileParts {
    pub(crate) fn new(mut input: Box<dyn SeekableInput>) -> io::Result<Self> {
        let length = input.seek(SeekFrom::End(0))?;
        Ok(Self { input: Arc::new(Mutex::new(input)), length })
    }

    pub(crate) fn file_length(&self) -> u64 {
        self.length
    }

    /// All bytes of a part, or an error.
    pub(crate) fn read_part(&self, start: u64, length: u64) -> io::Result<Vec<u8>> {
        let cut = || io::Error::new(io::ErrorKind::UnexpectedEof, "a part lies beyond the end of the file");
        if start.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(cut());
        }
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        input.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(usize::try_from(length).map_err(|_| cut())?)?;
        input.by_ref().take(length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == length { Ok(bytes) } else { Err(cut()) }
    }
}

impl Length for FileParts {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for FileParts {
    type T = io::BufReader<PartReader>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(io::BufReader::new(PartReader { parts: self.clone(), place: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let bytes = self.read_part(start, length as u64).map_err(|error| ParquetError::General(error.to_string()))?;
        Ok(Bytes::from(bytes))
    }
}

/// Reads on from a place.
pub(crate) struct PartReader {
    parts: FileParts,
    place: u64,
}

impl Read for PartReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut input = self.parts.input.lock().unwrap_or_else(PoisonError::into_inner);
        input.seek(SeekFrom::Start(self.place))?;
        let read = input.read(buffer)?;
        self.place = self.place.saturating_add(read as u64);
        Ok(read)
    }
}
