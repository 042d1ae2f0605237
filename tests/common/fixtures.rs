//! Files that tests go through, and the snapshots beside them.

#![allow(dead_code, reason = "not every test program uses all of it")]

use std::path::{Path, PathBuf};

/// A path in the project.
pub fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The files of a folder, without those in folders below it, in the order of their names; there is at least one.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.is_file());
    found.sort();
    assert!(!found.is_empty(), "{} is empty", folder.display());
    found
}

/// The rule files of a folder, without those in folders below it, in the order of their names; there is at least one.
pub fn rule_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = files(folder);
    found.retain(|path| is_rules(path));
    assert!(!found.is_empty(), "{} has no rules", folder.display());
    found
}

/// The rule files of a folder and of all folders below it, in the order of their names; none where there is no folder.
pub fn rule_files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(rule_files_below(&path));
        } else if is_rules(&path) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn is_rules(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "assert")
}

/// The name of a file without its last ending.
pub fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// The name of a file.
pub fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Compares a text with a snapshot in a folder. `INSTA_UPDATE=always cargo test` writes snapshots; every change of them is read before it is
/// committed.
pub fn compare(folder: &Path, name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
