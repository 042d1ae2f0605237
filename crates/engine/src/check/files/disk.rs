//! Files on disk: regular ones of limited size, and nothing that anybody waits for.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the feature `files` is what reads files from the disk"
)]

use super::{FileError, Files, Found, relative};
use std::path::Path;

/// Files on disk.
#[derive(Debug, Clone, Copy)]
pub struct Disk {
    /// Bytes of one file.
    pub limit: usize,
}

impl Files for Disk {
    fn read(&self, folder: &Path, path: &str, inside: Option<&Path>) -> Result<Found, FileError> {
        let joined = folder.join(relative(path)?);
        let key = std::fs::canonicalize(&joined).map_err(|error| said(&error))?;
        if let Some(inside) = inside {
            let inside = std::fs::canonicalize(given(inside)).map_err(|error| said(&error))?;
            if !key.starts_with(inside) {
                return Err(FileError::Outside);
            }
        }
        let text = read_regular(&key, self.limit)?;
        Ok(Found { folder: joined.parent().unwrap_or(folder).to_path_buf(), key, text })
    }

    fn names(&self, folder: &Path, path: &str) -> Vec<String> {
        let Ok(path) = relative(path) else { return Vec::new() };
        let joined = folder.join(path);
        let parent = given(joined.parent().unwrap_or(folder)).to_path_buf();
        let Ok(entries) = std::fs::read_dir(parent) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).take(10_000).collect();
        names.sort();
        names
    }
}

/// The empty path is the working directory.
fn given(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

/// Reads a regular file (no device, no pipe) of limited size.
fn read_regular(path: &Path, limit: usize) -> Result<String, FileError> {
    use std::io::Read;
    let no_file = || FileError::Other("it is not a file".to_owned());
    // To open a pipe may already wait for ever. What takes the place of the file behind this look does not wait either.
    if !std::fs::metadata(path).map_err(|error| said(&error))?.is_file() {
        return Err(no_file());
    }
    let file = open(path).map_err(|error| said(&error))?;
    let metadata = file.metadata().map_err(|error| said(&error))?;
    if !metadata.is_file() {
        return Err(no_file());
    }
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX);
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| said(&error))?;
    if bytes.len() > limit {
        return Err(FileError::TooLarge(limit));
    }
    String::from_utf8(bytes).map_err(|_| FileError::NotText)
}

/// Opens a file without waiting for the other end of a pipe.
#[cfg(unix)]
fn open(path: &Path) -> std::io::Result<std::fs::File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(std::fs::File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open(path: &Path) -> std::io::Result<std::fs::File> {
    std::fs::File::open(path)
}

fn said(error: &std::io::Error) -> FileError {
    match error.kind() {
        std::io::ErrorKind::NotFound => FileError::NotFound,
        std::io::ErrorKind::PermissionDenied => FileError::Other("it may not be read".to_owned()),
        _ => FileError::Other(error.to_string()),
    }
}
