//! Lexical handling of paths.

use std::path::{Path, PathBuf};

/// Returns a path without `.` and `..`, resolved lexically.
pub(crate) fn normalize_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}
