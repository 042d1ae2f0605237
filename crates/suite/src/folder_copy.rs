//! Copies, lists and removes folders.

use averment_runs::normal::of_run;
use serde_json::{Map, Value, json};
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

/// Maximum number of entries of a template.
const ENTRIES: usize = 200_000;
/// Maximum number of recorded files of a workspace.
const RECORDED: usize = 5_000;
/// Maximum bytes of one recorded text, and of all together.
const TEXT: u64 = 256 << 10;
const TEXTS: u64 = 16 << 20;
/// The repository of a workspace; only its existence is recorded.
const GIT: &str = ".git";

/// Copies a folder's contents into a new folder; links stay links.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    let mut left = ENTRIES;
    copy_within(from, to, &mut left)
}

fn copy_within(from: &Path, to: &Path, left: &mut usize) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        *left = left
            .checked_sub(1)
            .ok_or_else(|| io::Error::other(format!("there are more than {ENTRIES} files in it")))?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_within(&entry.path(), &target, left)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(entry.path())?, &target)?;
        } else if kind.is_file() {
            std::fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Removes a folder with its contents; a missing one is not an error. The path must be the one resolved when the folder was created: an agent may
/// since have put a link above it, and its target must not be removed.
pub(crate) fn remove_folder(folder: &Path) -> io::Result<()> {
    let removed = hold_parent(folder).and_then(|(_handle, folder)| match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            make_writable(&folder);
            std::fs::remove_dir_all(&folder)
        }
        done => done,
    });
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Opens the parent folder and returns the path of the folder through that handle, if the system has such paths. So nobody can insert a link in the
/// meantime.
fn hold_parent(folder: &Path) -> io::Result<(std::fs::File, PathBuf)> {
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(io::Error::other("it has no folder above it"));
    };
    let handle = std::fs::File::open(parent)?;
    let held = PathBuf::from(format!("/proc/self/fd/{}", handle.as_raw_fd()));
    let (real, path) = match held.canonicalize() {
        Ok(real) => (real, held.join(name)),
        Err(_) => (parent.canonicalize()?, folder.to_owned()),
    };
    if real != parent {
        return Err(io::Error::other(format!("`{}` leads through a link to `{}`", parent.display(), real.display())));
    }
    Ok((handle, path))
}

/// Makes folders writable, because files in a read-only folder cannot be removed.
fn make_writable(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let _as_far_as_it_goes = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}

#[derive(Debug)]
pub(crate) struct TextBudget(u64);

impl TextBudget {
    pub(crate) fn new() -> Self {
        Self(TEXTS)
    }

    pub(crate) fn take_bytes(&mut self, length: u64) -> bool {
        let left = self.0.checked_sub(length);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// Returns the files below a folder with their texts, as a run records them. A text that is too long or not a text is omitted, so that nothing is
/// decided about it. Files below a link, in a repository or in an unreadable folder are omitted too, and so are files beyond the limit.
pub(crate) fn record_files(folder: &Path, texts: &mut TextBudget) -> Map<String, Value> {
    let mut files = Map::new();
    if list_files(folder, "", &mut files, texts).is_err() {
        files.insert(".".to_owned(), unknown_entry());
    }
    files
}

fn unknown_entry() -> Value {
    json!({ of_run::COMPLETE: false })
}

fn list_files(folder: &Path, under: &str, files: &mut Map<String, Value>, texts: &mut TextBudget) -> io::Result<()> {
    let mut entries = std::fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (kind, name) = (entry.file_type()?, entry.file_name().to_string_lossy().into_owned());
        if files.len() >= RECORDED {
            return Err(io::Error::other("there are too many files"));
        }
        let is_repository = under.is_empty() && name == GIT;
        let path = if under.is_empty() { name } else { format!("{under}/{name}") };
        if kind.is_dir() && !is_repository {
            files.insert(path.clone(), json!({}));
            match list_files(&entry.path(), &path, files, texts) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    drop(files.insert(path, unknown_entry()))
                }
                listed => listed?,
            }
        } else if kind.is_file() && !is_repository {
            files.insert(
                path,
                file_text(&entry.path(), TEXT, texts).map_or_else(|| json!({}), |text| json!({ "content": text })),
            );
        } else {
            files.insert(path, unknown_entry());
        }
    }
    Ok(())
}

/// Returns the entry at a path below a folder without following links: `Null` if nothing is there, `None` if unknown.
pub(crate) fn record_path(folder: &Path, below: &Path, texts: &mut TextBudget) -> Option<Value> {
    let (mut place, mut kind) = (folder.to_owned(), None);
    for part in below.components() {
        if kind.is_some_and(|kind: std::fs::FileType| kind.is_symlink()) {
            return None;
        }
        place.push(part);
        kind = match place.symlink_metadata() {
            Ok(found) => Some(found.file_type()),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Some(Value::Null);
            }
            Err(_) => return None,
        };
    }
    let kind = kind?;
    if kind.is_file() {
        return Some(file_text(&place, TEXTS, texts).map_or_else(|| json!({}), |text| json!({ "content": text })));
    }
    Some(if kind.is_dir() { json!({}) } else { unknown_entry() })
}

fn file_text(path: &Path, most: u64, texts: &mut TextBudget) -> Option<String> {
    use std::io::Read as _;
    let length = path.symlink_metadata().ok()?.len();
    if length > most || !texts.take_bytes(length) {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(length.saturating_add(1)).read_to_string(&mut text).ok()?;
    (text.len() as u64 <= length).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_keeps_links_and_a_list_has_texts() {
        let from = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(from.path().join("a/b")).unwrap();
        std::fs::write(from.path().join("a/b/text.md"), "hello").unwrap();
        std::fs::write(from.path().join(".hidden"), [0xff, 0xfe]).unwrap();
        std::os::unix::fs::symlink("nowhere", from.path().join("link")).unwrap();
        let to = tempfile::tempdir().unwrap();
        let to = to.path().canonicalize().unwrap().join("copy");
        copy_folder(from.path(), &to).unwrap();
        assert_eq!(std::fs::read_link(to.join("link")).unwrap(), Path::new("nowhere"));
        let files = Value::Object(record_files(&to, &mut TextBudget::new()));
        let link = json!({"complete": false});
        assert_eq!(
            files,
            json!({".hidden": {}, "a": {}, "a/b": {}, "a/b/text.md": {"content": "hello"}, "link": link})
        );
        remove_folder(&to).unwrap();
        assert!(!to.exists());
        remove_folder(&to).unwrap();
    }

    #[test]
    fn what_stands_behind_a_link_above_is_not_removed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(folder.join("theirs/a/work")).unwrap();
        std::fs::write(folder.join("theirs/a/work/kept"), "").unwrap();
        std::fs::create_dir_all(folder.join("ours/suite/a")).unwrap();
        // The folder itself, its parent, and one further above.
        symlink(folder.join("theirs/a/work"), folder.join("ours/suite/a/work")).unwrap();
        symlink(folder.join("theirs/a"), folder.join("ours/suite/b")).unwrap();
        symlink(folder.join("theirs"), folder.join("ours/other")).unwrap();
        for path in ["ours/suite/a/work", "ours/suite/b/work", "ours/other/a/work"] {
            let _ = remove_folder(&folder.join(path));
            assert!(folder.join("theirs/a/work/kept").exists(), "{path}");
        }
        assert!(remove_folder(&folder.join("ours/suite/b/work")).unwrap_err().to_string().contains("through a link"));
        remove_folder(&folder.join("theirs/a/work")).unwrap();
        assert!(!folder.join("theirs/a/work").exists() && folder.join("theirs/a").exists());
        remove_folder(&folder.join("nowhere/work")).unwrap();
    }
}
