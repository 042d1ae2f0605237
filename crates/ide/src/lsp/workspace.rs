//! The rule files in the workspace folders of a client.

use super::documents::{DocumentStore, FileOverlay};
use super::place::path_key;
use averment_checker::files::Files as _;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Maximum rule files read.
const FILES: usize = 2_000;
/// Maximum folder depth.
const DEPTH: usize = 24;
const PASSED: [&str; 4] = ["node_modules", "target", "venv", "__pycache__"];

/// Returns the keys of all rule files of the workspace and of all open documents, sorted.
pub fn rule_files(documents: &DocumentStore) -> Vec<PathBuf> {
    let mut found: BTreeSet<PathBuf> = documents.keys().into_iter().collect();
    for folder in &documents.folders {
        walk_folder(folder, DEPTH, &mut found);
    }
    found.into_iter().collect()
}

fn walk_folder(folder: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) {
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
            walk_folder(&path, depth - 1, found);
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "assert") {
            found.insert(path_key(&path));
        }
    }
}

/// Returns the text of a file on disk, if it is text within the size limit.
pub fn read_text(key: &Path) -> Option<String> {
    let documents = DocumentStore::default();
    let (folder, name) = (key.parent()?, key.file_name()?.to_str()?);
    let overlay = FileOverlay::new(&documents, Some(folder));
    overlay.read(folder, name, None).ok().map(|found| found.text)
}
