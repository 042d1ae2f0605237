//! The rule files of the folders that a client works in.

use super::documents::Overlay;
use super::place::key_of;
use super::server::Server;
use averment_engine::check::files::Files as _;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Rule files that are looked at.
const FILES: usize = 2_000;
/// Folders inside each other.
const DEPTH: usize = 24;
/// Folders that hold no rules of their own.
const PASSED: [&str; 4] = ["node_modules", "target", "venv", "__pycache__"];

/// The keys of all rule files of the workspace and of all open documents, sorted.
pub fn rule_files(server: &Server) -> Vec<PathBuf> {
    let mut found: BTreeSet<PathBuf> = server.documents.keys().into_iter().collect();
    for folder in &server.documents.folders {
        walk(folder, DEPTH, &mut found);
    }
    found.into_iter().collect()
}

fn walk(folder: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let Ok(kind) = entry.file_type() else { continue };
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if found.len() >= FILES {
            return;
        }
        if kind.is_dir() && depth > 0 && !name.starts_with('.') && !PASSED.contains(&&*name) {
            walk(&path, depth - 1, found);
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "assert") {
            found.insert(key_of(&path));
        }
    }
}

/// The text of a file on disk, where it is text of a size that is looked at.
pub fn text_of(key: &Path) -> Option<String> {
    let documents = super::documents::Documents::default();
    let (folder, name) = (key.parent()?, key.file_name()?.to_str()?);
    let overlay = Overlay::new(&documents, Some(folder));
    overlay.read(folder, name, None).ok().map(|found| found.text)
}
