//! Folders: copied as they are, listed, and taken away.

use serde_json::{Map, Value, json};
use std::io;
use std::path::Path;

/// Entries of a template at most.
const ENTRIES: usize = 200_000;
/// Files of a workspace that are recorded; of more nothing is.
const RECORDED: usize = 5_000;
/// The longest file whose text is recorded, and all of them together.
const TEXT: u64 = 256 << 10;
const TEXTS: u64 = 16 << 20;
/// What is never recorded: the repository that a workspace is.
const GIT: &str = ".git";

/// Copies what is in a folder into another, which is made; links stay what they are.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
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

/// Takes a folder away, whatever is in it; one that is not there is gone already.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            make_writable(folder);
            std::fs::remove_dir_all(folder)
        }
        done => done,
    }
}

/// Folders that nobody may write to cannot be emptied.
fn make_writable(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let _as_far_as_it_goes = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700));
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}

/// The files below a folder with their texts, as a run records them; `None` where there are too many. A text that is too long or no text is
/// left out, so that nothing is decided of it.
pub(crate) fn recorded(folder: &Path) -> Option<String> {
    let (mut files, mut texts) = (Map::new(), TEXTS);
    list(folder, "", &mut files, &mut texts).ok()?;
    Some(Value::Object(files).to_string())
}

fn list(folder: &Path, under: &str, files: &mut Map<String, Value>, texts: &mut u64) -> io::Result<()> {
    let mut entries = std::fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (kind, name) = (entry.file_type()?, entry.file_name().to_string_lossy().into_owned());
        if under.is_empty() && name == GIT {
            continue;
        }
        if files.len() >= RECORDED {
            return Err(io::Error::other("there are too many files"));
        }
        let path = if under.is_empty() { name } else { format!("{under}/{name}") };
        if kind.is_dir() {
            files.insert(path.clone(), json!({}));
            list(&entry.path(), &path, files, texts)?;
        } else if kind.is_file() {
            files.insert(path, text(&entry, texts).map_or_else(|| json!({}), |text| json!({ "content": text })));
        }
    }
    Ok(())
}

fn text(entry: &std::fs::DirEntry, texts: &mut u64) -> Option<String> {
    use std::io::Read as _;
    let length = entry.metadata().ok()?.len();
    if length > TEXT || length > *texts {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(entry.path()).ok()?.take(TEXT.saturating_add(1)).read_to_string(&mut text).ok()?;
    *texts = texts.saturating_sub(text.len() as u64);
    (text.len() as u64 <= TEXT).then_some(text)
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
        let to = to.path().join("copy");
        copy(from.path(), &to).unwrap();
        assert_eq!(std::fs::read_link(to.join("link")).unwrap(), Path::new("nowhere"));
        let files: Value = serde_json::from_str(&recorded(&to).unwrap()).unwrap();
        assert_eq!(files, json!({".hidden": {}, "a": {}, "a/b": {}, "a/b/text.md": {"content": "hello"}}));
        remove(&to).unwrap();
        assert!(!to.exists());
        remove(&to).unwrap();
    }
}
