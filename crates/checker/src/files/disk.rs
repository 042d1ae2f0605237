//! Files on disk: regular ones of limited size, in the folders that rules may read, and nothing that anybody waits for.
#![expect(clippy::disallowed_methods, reason = "the feature `files` is what reads files from the disk")]

use super::{FileError, Files, FoundFile, relative_path};
use averment_base::files::{self, NO_FILE};
use std::path::{Path, PathBuf};

/// Files on disk, those of some folders or of all of them.
#[derive(Debug, Clone)]
pub struct Disk {
    limit: usize,
    /// `None` permits any path.
    folders: Option<Vec<PathBuf>>,
}

impl Disk {
    /// The files of these folders and the folders in them, links followed, each of so many bytes at most.
    #[must_use]
    pub fn within(folders: impl IntoIterator<Item = PathBuf>, limit: usize) -> Self {
        Self { limit, folders: Some(folders.into_iter().collect()) }
    }

    /// All files, for rules that whoever runs them has written.
    #[must_use]
    pub fn anywhere(limit: usize) -> Self {
        Self { limit, folders: None }
    }

    fn is_permitted(&self, place: &Path) -> bool {
        self.folders.as_ref().is_none_or(|folders| files::lies_in(place, folders))
    }
}

impl Files for Disk {
    fn read(&self, folder: &Path, path: &str, inside: Option<&Path>) -> Result<FoundFile, FileError> {
        let joined = folder.join(relative_path(path)?);
        let key = files::resolve_path(&joined).map_err(|error| file_error(&error))?;
        if !self.is_permitted(&key) {
            return Err(FileError::NotPermitted);
        }
        if inside.is_some_and(|inside| !files::lies_in(&key, [inside])) {
            return Err(FileError::Outside);
        }
        let text = read_regular(&key, self.limit)?;
        Ok(FoundFile { folder: joined.parent().unwrap_or(folder).to_path_buf(), key, text })
    }

    fn names(&self, folder: &Path, path: &str) -> Vec<String> {
        let Ok(path) = relative_path(path) else { return Vec::new() };
        let joined = folder.join(path);
        let Ok(parent) = files::resolve_path(joined.parent().unwrap_or(folder)) else { return Vec::new() };
        if !self.is_permitted(&parent) {
            return Vec::new();
        }
        let Ok(entries) = std::fs::read_dir(parent) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).take(10_000).collect();
        names.sort();
        names
    }
}

/// Reads a regular file of limited size, never a device or a pipe.
fn read_regular(place: &Path, limit: usize) -> Result<String, FileError> {
    let no_file = || FileError::Other(NO_FILE.to_owned());
    // To open a device may already do something.
    if !std::fs::symlink_metadata(place).map_err(|error| file_error(&error))?.is_file() {
        return Err(no_file());
    }
    let file = files::open_resolved(place, false).map_err(|error| file_error(&error))?;
    if !file.metadata().map_err(|error| file_error(&error))?.is_file() {
        return Err(no_file());
    }
    let bytes =
        files::read_limited(file, limit).map_err(|error| file_error(&error))?.ok_or(FileError::TooLarge(limit))?;
    String::from_utf8(bytes).map_err(|_| FileError::NotText)
}

fn file_error(error: &std::io::Error) -> FileError {
    match error.kind() {
        _ if files::nothing_there(error) => FileError::NotFound,
        std::io::ErrorKind::PermissionDenied => FileError::Other("it may not be read".to_owned()),
        _ => FileError::Other(error.to_string()),
    }
}
