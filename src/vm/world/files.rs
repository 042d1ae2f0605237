//! Files: only inside permitted folders, links followed before the folder is compared.

use super::Permissions;
use crate::vm::fault::Fault;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    /// Nothing.
    Missing,
    /// A folder.
    Folder,
    /// A file with its text; bytes that are no UTF-8 become U+FFFD.
    Text(String),
}

/// Reads a file if it may be read.
pub(super) fn read(permissions: &Permissions, path: &str) -> Result<FileState, Fault> {
    if path.contains('\0') {
        return Err(Fault::Other("a path cannot hold a NUL character".to_owned()));
    }
    let Some(base) = &permissions.working_directory else { return Err(needs_permission(Path::new(path))) };
    let place = resolve(&base.join(path)).map_err(|error| cannot_read(path, &error))?;
    let permitted = std::iter::once(base).chain(&permissions.read).filter_map(|folder| folder.canonicalize().ok());
    if !permitted.into_iter().any(|folder| place.starts_with(folder)) {
        return Err(needs_permission(&place));
    }
    text_of(permissions, path, &place)
}

/// The place that a path really leads to: links followed as far as it exists, and no `..` behind that.
fn resolve(path: &Path) -> std::io::Result<PathBuf> {
    let mut rest: Vec<std::ffi::OsString> = Vec::new();
    let mut existing = path.to_path_buf();
    loop {
        match existing.canonicalize() {
            Ok(mut place) => {
                for part in rest.iter().rev() {
                    place.push(part);
                }
                return Ok(place);
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                // A link that leads nowhere could be made to lead anywhere: it is not looked behind.
                if existing.is_symlink() {
                    return Err(std::io::Error::other("it is a link that leads nowhere"));
                }
                let Some(Component::Normal(last)) = existing.components().next_back() else { return Err(error) };
                rest.push(last.to_os_string());
                if !existing.pop() {
                    return Err(error);
                }
            }
            Err(error) => return Err(error),
        }
    }
}

fn text_of(permissions: &Permissions, path: &str, place: &Path) -> Result<FileState, Fault> {
    let facts = match std::fs::metadata(place) {
        Ok(facts) => facts,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(FileState::Missing),
        Err(error) => return Err(cannot_read(path, &error)),
    };
    if facts.is_dir() {
        return Ok(FileState::Folder);
    }
    // A pipe or a device could block for ever.
    if !facts.is_file() {
        return Err(Fault::Other(format!("`{path}` is no regular file")));
    }
    if facts.len() > permissions.file_bytes {
        return Err(Fault::Other(format!("`{path}` is larger than {} bytes", permissions.file_bytes)));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(place)
        .and_then(|file| file.take(permissions.file_bytes).read_to_end(&mut bytes))
        .map_err(|error| cannot_read(path, &error))?;
    Ok(FileState::Text(String::from_utf8_lossy(&bytes).into_owned()))
}

fn cannot_read(path: &str, error: &std::io::Error) -> Fault {
    Fault::Other(format!("`{path}` cannot be read: {error}"))
}

/// The flag that would permit it: the folder that the file is in.
fn needs_permission(place: &Path) -> Fault {
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Fault::Permission(format!("--allow-read={}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(folder: &Path) -> Permissions {
        Permissions { working_directory: Some(folder.to_path_buf()), ..Permissions::default() }
    }

    #[test]
    fn a_file_below_the_working_directory_is_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), "hello").unwrap();
        let permissions = inside(folder.path());
        assert_eq!(permissions.file("a.txt"), Ok(FileState::Text("hello".to_owned())));
        assert_eq!(permissions.file("./no/such/file"), Ok(FileState::Missing));
        assert_eq!(permissions.file("."), Ok(FileState::Folder));
    }

    #[test]
    fn dots_links_and_absolute_paths_do_not_leave_it() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "x").unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("later"), folder.path().join("dangling")).unwrap();
        let permissions = inside(folder.path());
        for path in ["../", "../x", "link/secret", "link/other", "a/../../b", "/etc/passwd"] {
            let found = permissions.file(path);
            assert!(matches!(found, Err(Fault::Permission(_) | Fault::Other(_))), "{path}: {found:?}");
        }
        assert!(matches!(permissions.file("link/secret"), Err(Fault::Permission(_))));
        assert!(permissions.file("dangling").is_err());
        let wider = Permissions { read: vec![outside.path().to_path_buf()], ..permissions };
        assert_eq!(wider.file("link/secret"), Ok(FileState::Text("x".to_owned())));
    }

    #[test]
    fn nothing_is_read_by_default_and_no_pipe_blocks() {
        assert!(matches!(Permissions::default().file("Cargo.toml"), Err(Fault::Permission(_))));
        let dev = Permissions { read: vec![PathBuf::from("/dev")], ..inside(Path::new("/tmp")) };
        assert!(matches!(dev.file("/dev/zero"), Err(Fault::Other(_))));
    }
}
