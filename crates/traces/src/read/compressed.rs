//! Files that are compressed, by their first bytes: gzip and zstd are read as what is in them, a zip file as its files one after the other.

use super::{RawRun, TraceRuns, is_named_like_a_trace};
use crate::adapt::inspect;
use crate::error::{ReadError, TraceProblem};
use averment_base::limits::Limits;
use averment_runs::run::RunSource;
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zip::read::ZipFile;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileCompression {
    Gzip,
    Zstd,
    Zip,
}

impl FileCompression {
    /// By the first bytes.
    pub(super) fn detect_head(head: &[u8]) -> Option<Self> {
        let starts: [(&[u8], Self); 3] =
            [(&[0x1F, 0x8B], Self::Gzip), (&[0x28, 0xB5, 0x2F, 0xFD], Self::Zstd), (b"PK\x03\x04", Self::Zip)];
        starts.into_iter().find(|(start, _)| head.starts_with(start)).map(|(_, packed)| packed)
    }
}

/// Fails beyond the allowed expansion.
pub(super) fn unpack_reader(
    packed: FileCompression,
    head: Vec<u8>,
    rest: Box<dyn Read + Send>,
    limits: &Limits,
) -> Box<dyn Read + Send> {
    let taken = Arc::new(AtomicU64::new(0));
    let bytes = BufReader::new(CountedBytes { bytes: Cursor::new(head).chain(rest), taken: Arc::clone(&taken) });
    let inner: Box<dyn Read + Send> = match packed {
        FileCompression::Zstd => Box::new(ZstdFrames { bytes: Some(bytes), frame: None }),
        FileCompression::Gzip | FileCompression::Zip => Box::new(MultiGzDecoder::new(bytes)),
    };
    Box::new(RatioLimit { inner, taken, given: 0, limits: *limits })
}

/// Maximum expansion factor, beyond the size of one run: no trace is denser, but a zip bomb is.
const TIMES: u64 = 250;

fn has_fair_ratio(unpacked: u64, packed: u64, limits: &Limits) -> io::Result<()> {
    if unpacked <= packed.saturating_mul(TIMES).max(limits.run_bytes as u64) {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "it unpacks to more than {TIMES} times its length; unpack it, and name what is in it"
    )))
}

/// Counts bytes as they are read.
struct CountedBytes<R> {
    bytes: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for CountedBytes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        self.taken.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Output is limited in proportion to the input read.
struct RatioLimit {
    inner: Box<dyn Read + Send>,
    taken: Arc<AtomicU64>,
    given: u64,
    limits: Limits,
}

impl Read for RatioLimit {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.given = self.given.saturating_add(read as u64);
        has_fair_ratio(self.given, self.taken.load(Ordering::Relaxed), &self.limits)?;
        Ok(read)
    }
}

struct ZstdFrames<R: BufRead> {
    /// Start of the next frame; taken while a frame is read.
    bytes: Option<R>,
    frame: Option<Box<StreamingDecoder<R, FrameDecoder>>>,
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                match frame.read(buffer)? {
                    0 => self.bytes = self.frame.take().map(|frame| frame.into_inner()),
                    read => return Ok(read),
                }
            }
            let Some(mut bytes) = self.bytes.take() else { return Ok(0) };
            if bytes.fill_buf()?.is_empty() {
                return Ok(0);
            }
            let frame = StreamingDecoder::new(bytes).map_err(io::Error::other)?;
            self.frame = Some(Box::new(frame));
        }
    }
}

const MOST: usize = 100_000;

pub(super) struct TraceArchive {
    file: String,
    zip: ZipArchive<Cursor<Vec<u8>>>,
    /// Files and folders with metadata in archives of such formats.
    about: &'static [&'static str],
    /// Bytes of the archive, and unpacked bytes.
    length: u64,
    given: u64,
    next: usize,
    current: Option<Box<TraceRuns>>,
    limits: Limits,
}

impl TraceArchive {
    pub(super) fn new(file: &str, bytes: Vec<u8>, limits: &Limits) -> Result<Self, ReadError> {
        let wrong = |message: String, help: &str| ReadError::of_file(file, message, help);
        let broken = |error: ZipError| wrong(format!("a zip file that cannot be read: {error}"), "write it anew");
        let listed = ZipArchive::new(Cursor::new(bytes.as_slice())).map_err(broken)?.central_directory_start();
        let entries = usize::try_from(listed).ok().and_then(|listed| bytes.get(listed..)).map_or(0, entries_of);
        let length = bytes.len() as u64;
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
        if zip.len() > MOST {
            return Err(wrong(format!("a zip file with more than {MOST} files"), "unpack it and name the folder"));
        }
        if entries != zip.len() {
            let message =
                format!("a damaged zip file: {entries} files are listed, {} are there by their names", zip.len());
            return Err(wrong(message, "write it anew, with a name of its own for each file"));
        }
        let names: Vec<_> = zip.file_names().filter_map(Result::ok).collect();
        let about = inspect::beside_samples(&names);
        if !names.iter().any(|name| is_named_like_a_trace(name) && !is_side_file(name, about)) {
            return Err(wrong("no run: no file of this zip file is JSON".to_owned(), "name another file"));
        }
        drop(names);
        Ok(Self { file: file.to_owned(), zip, about, length, given: 0, next: 0, current: None, limits: *limits })
    }

    pub(super) fn next(&mut self) -> Option<Result<RawRun, ReadError>> {
        loop {
            if let Some(run) = self.current.as_mut().and_then(|runs| runs.next()) {
                return Some(run);
            }
            self.current = None;
            match self.open_next()? {
                Ok(None) => {}
                Ok(Some(runs)) => self.current = Some(Box::new(runs)),
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// `None` at the end; the inner `None` if it cannot be a trace.
    fn open_next(&mut self) -> Option<Result<Option<TraceRuns>, ReadError>> {
        if self.next >= self.zip.len() {
            return None;
        }
        let number = self.next;
        self.next += 1;
        let (file, limit) = (&self.file, self.limits.run_bytes);
        let opened = match self.zip.by_index_raw(number).map(|entry| (entry.compression(), entry.encrypted())) {
            Ok((CompressionMethod::ZSTD, false)) => self.zip.by_index_raw(number),
            _ => self.zip.by_index(number),
        };
        let mut entry = match opened {
            Ok(entry) => entry,
            Err(error) => {
                let message = format!("file {} of this zip file cannot be read: {error}", number + 1);
                return Some(Err(ReadError::of_file(file, message, "unpack it and name its files")));
            }
        };
        let name = match entry.name() {
            Ok(name) if entry.is_dir() || is_side_file(&name, self.about) => return Some(Ok(None)),
            Ok(name) if is_named_like_a_trace(&name) => format!("{file}/{name}"),
            name => {
                let name = format!("{file}/{}", name.unwrap_or_default());
                let error = ReadError::of_file(&name, "no trace: it is not named like one", "unpack it and name it");
                return Some(Err(ReadError { no_trace: true, ..error }));
            }
        };
        let mut bytes = Vec::new();
        let most = limit.saturating_add(1) as u64;
        let read = match entry.compression() {
            CompressionMethod::ZSTD => of_zstd(&mut entry, most, &mut bytes),
            _ => entry.by_ref().take(most).read_to_end(&mut bytes),
        };
        self.given = self.given.saturating_add(bytes.len() as u64);
        if let Err(error) = has_fair_ratio(self.given, self.length, &self.limits) {
            self.next = usize::MAX;
            return Some(Err(super::bytes::unreadable_file(&self.file, &error)));
        }
        Some(match read {
            Err(error) => Err(super::bytes::unreadable_file(&name, &error)),
            Ok(_) if bytes.len() > limit => {
                let source = RunSource { file: name, line: 1, column: 1, ..RunSource::default() };
                Err(super::bytes::too_long(&source, &self.limits))
            }
            Ok(_) => Ok(Some(TraceRuns::new(name, Cursor::new(bytes), &self.limits))),
        })
    }
}

/// The zip library returns zstd entries still compressed.
fn of_zstd<R: Read>(entry: &mut ZipFile<'_, R>, most: u64, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let (length, sum) = (entry.size(), entry.crc32());
    let frames = ZstdFrames { bytes: Some(BufReader::new(entry)), frame: None };
    let read = frames.take(most).read_to_end(bytes)?;
    if (read as u64) < most && (read as u64 != length || crc32fast::hash(bytes) != sum) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "Invalid checksum"));
    }
    Ok(read)
}

/// Counts the directory: the end record may be wrong.
fn entries_of(mut list: &[u8]) -> usize {
    let mut count = 0;
    while let Some(entry) = list.strip_prefix(b"PK\x01\x02") {
        let length = |at: usize| {
            let bytes = entry.get(at..).and_then(|rest| rest.first_chunk::<2>());
            usize::from(u16::from_le_bytes(*bytes.unwrap_or(&[0; 2])))
        };
        count += 1;
        // Behind 46 bytes, four of which are the mark, stand name, more fields and a comment.
        list = entry.get(42 + length(24) + length(26) + length(28)..).unwrap_or_default();
    }
    count
}

/// Files added by a system, or a format's notes on its traces.
fn is_side_file(name: &str, about: &[&str]) -> bool {
    name.starts_with("__MACOSX/")
        || about.iter().any(|one| if one.ends_with('/') { name.starts_with(one) } else { name == *one })
}

pub(super) fn too_long(file: &str, limits: &Limits) -> ReadError {
    let problem = TraceProblem {
        message: format!("a zip file of more than {} bytes", limits.run_bytes),
        help: "unpack it and name the folder, or raise the limit with `--max-run-size`".to_owned(),
        no_trace: false,
    };
    let source = RunSource { file: file.to_owned(), line: 1, column: 1, ..RunSource::default() };
    ReadError::at_offset(&source, "", 0, problem)
}
