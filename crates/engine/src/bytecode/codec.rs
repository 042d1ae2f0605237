//! The file format of compiled programs, `.assertc`.
//!
//! ```text
//! magic      8 bytes  89 41 56 45 52 0D 0A 1A  (shows a transfer that changes line ends)
//! version    u32 LE   of the payload; the layout of the rest never changes
//! sources    u64 LE   length of the sources
//! payload    u64 LE   length of the payload
//! checksum   u32 LE   CRC-32 of sources and payload
//! sources             per file: u64 LE length and name, u64 LE length and text
//! payload             the program without its sources, in postcard's encoding
//! ```
//!
//! A file of another version still gives its sources: they are compiled again.

use super::program::{Program, ProgramSource};
use super::verify::{self, VerifyError};
use std::fmt;

/// The first bytes of every compiled program.
pub const MAGIC: [u8; 8] = *b"\x89AVER\r\n\x1a";
/// The version of the payload: raised with every change of the instructions or of the program's parts.
pub const VERSION: u32 = 10;
/// The largest file that is read.
pub const SIZE_LIMIT: usize = 256 << 20;

/// Bytes before the sources.
pub const HEADER: usize = 8 + 4 + 8 + 8 + 4;

/// Why a compiled program cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecodeError {
    /// The bytes do not start like a compiled program.
    NotAProgram,
    /// The file is larger than [`SIZE_LIMIT`].
    TooLarge,
    /// The file ends early, or its checksum or encoding is wrong.
    Damaged,
    /// The encoding is readable, but the program fails verification.
    Invalid(VerifyError),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAProgram => f.write_str("this is no compiled program"),
            Self::TooLarge => write!(f, "the compiled program is larger than {} MiB", SIZE_LIMIT >> 20),
            Self::Damaged => f.write_str("the compiled program is damaged: compile the rules again"),
            Self::Invalid(error) => write!(f, "the compiled program is not valid: {error}"),
        }
    }
}

impl std::error::Error for DecodeError {}

/// The contents of a compiled file.
#[derive(Debug, Clone, PartialEq)]
pub enum DecodedFile {
    /// A program of this version, verified.
    Program(Box<Program>),
    /// A program of another version: its sources, to be compiled again.
    Sources {
        /// The version of the file.
        version: u32,
        /// The sources in their order.
        sources: Vec<ProgramSource>,
    },
}

/// True if the bytes start like a compiled program.
#[must_use]
pub fn is_program(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Writes a program. The same program always gives the same bytes.
#[must_use]
pub fn encode(program: &Program) -> Vec<u8> {
    let mut sources = Vec::new();
    for source in &program.sources {
        write_text(&mut sources, &source.name);
        write_text(&mut sources, &source.text);
    }
    let bare = Program { sources: Vec::new(), ..program.clone() };
    // Writing to memory fails for no value of a program: all lengths are known.
    let payload = postcard::to_stdvec(&bare).unwrap_or_default();
    let mut bytes = Vec::with_capacity(HEADER + sources.len() + payload.len());
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&(sources.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&checksum(&sources, &payload).to_le_bytes());
    bytes.extend_from_slice(&sources);
    bytes.extend_from_slice(&payload);
    bytes
}

/// A number that tells programs apart by what they do: the names and the words of their sources do not count, values of parameters do.
#[must_use]
pub fn program_mark(program: &Program) -> u32 {
    let bare = Program { sources: Vec::new(), ..program.clone() };
    checksum(&[], &postcard::to_stdvec(&bare).unwrap_or_default())
}

/// Reads a program. Any bytes give a program that is verified, or an error.
pub fn decode(bytes: &[u8]) -> Result<DecodedFile, DecodeError> {
    if !is_program(bytes) {
        return Err(DecodeError::NotAProgram);
    }
    if bytes.len() > SIZE_LIMIT {
        return Err(DecodeError::TooLarge);
    }
    let file = read_file(bytes).ok_or(DecodeError::Damaged)?;
    if checksum(file.sources, file.payload) != file.checksum {
        return Err(DecodeError::Damaged);
    }
    let sources = read_sources(file.sources).ok_or(DecodeError::Damaged)?;
    if file.version != VERSION {
        return Ok(DecodedFile::Sources { version: file.version, sources });
    }
    let (program, rest) = postcard::take_from_bytes::<Program>(file.payload).map_err(|_| DecodeError::Damaged)?;
    if !rest.is_empty() {
        return Err(DecodeError::Damaged);
    }
    let program = Program { sources, ..program };
    verify::verify_program(&program).map_err(DecodeError::Invalid)?;
    Ok(DecodedFile::Program(Box::new(program)))
}

fn checksum(sources: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(sources);
    hasher.update(payload);
    hasher.finalize()
}

struct ProgramFile<'a> {
    version: u32,
    checksum: u32,
    sources: &'a [u8],
    payload: &'a [u8],
}

fn read_file(bytes: &[u8]) -> Option<ProgramFile<'_>> {
    let (_, rest) = bytes.split_at_checked(MAGIC.len())?;
    let (version, rest) = read_u32(rest)?;
    let (sources, rest) = read_length(rest)?;
    let (payload, rest) = read_length(rest)?;
    let (checksum, rest) = read_u32(rest)?;
    let (sources, rest) = rest.split_at_checked(sources)?;
    (rest.len() == payload).then_some(ProgramFile { version, checksum, sources, payload: rest })
}

fn read_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*number), rest))
}

fn read_length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<8>()?;
    Some((usize::try_from(u64::from_le_bytes(*number)).ok()?, rest))
}

fn write_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}

fn read_text(bytes: &[u8]) -> Option<(String, &[u8])> {
    let (length, rest) = read_length(bytes)?;
    let (text, rest) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(text).ok()?.to_owned(), rest))
}

fn read_sources(mut bytes: &[u8]) -> Option<Vec<ProgramSource>> {
    let mut sources = Vec::new();
    while !bytes.is_empty() {
        let (name, rest) = read_text(bytes)?;
        let (text, rest) = read_text(rest)?;
        sources.push(ProgramSource { name, text });
        bytes = rest;
    }
    Some(sources)
}
