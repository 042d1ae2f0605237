//! Files: only inside permitted folders, and opened by the one code for files that rules name ([`averment_base::files`]).
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the feature `world` is what looks at files, commands and variables"
)]

use super::{FileState, Permissions};
use crate::vm::fault::Fault;
use averment_base::files::{leads_in_circle, lies_in, list_resolved, nothing_there, open_resolved, resolve_path};
use averment_checker::ir::FileLook;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

/// Names listed of a folder.
const NAMES: usize = 100_000;

pub(super) fn read_file(permissions: &Permissions, path: &str, look: FileLook) -> Result<FileState, Fault> {
    if path.contains('\0') {
        return Err(Fault::Other("a path cannot hold a NUL character".to_owned()));
    }
    if path.is_empty() {
        return Err(Fault::Other("the path is empty".to_owned()));
    }
    let Some(base) = &permissions.working_directory else { return Err(needs_permission(Path::new(path))) };
    let place = resolve_path(&base.join(path)).map_err(|error| cannot_read(path, &error))?;
    if !lies_in(&place, std::iter::once(base).chain(&permissions.read)) {
        return Err(needs_permission(&place));
    }
    file_state(permissions, path, &place, look)
}

fn file_state(permissions: &Permissions, path: &str, place: &Path, look: FileLook) -> Result<FileState, Fault> {
    let metadata = match std::fs::symlink_metadata(place) {
        Ok(metadata) => metadata,
        Err(error) if nothing_there(&error) => return Ok(FileState::Missing),
        Err(error) => return Err(cannot_read(path, &error)),
    };
    if look == FileLook::Presence {
        return Ok(FileState::Unread(metadata.len()));
    }
    // Opening a pipe or a device may already wait for ever, or do something.
    if !metadata.is_dir() && !metadata.is_file() {
        return Err(Fault::Other(format!("`{path}` is no regular file")));
    }
    let read = match metadata.is_dir() {
        true => folder_names(place).map(|names| Ok(FileState::Folder(names))),
        false => open_resolved(place, false)
            .and_then(|file| Ok((file.metadata()?, file)))
            .map(|(opened, file)| file_content(permissions, path, file, &opened, look)),
    };
    match read {
        Ok(state) => state,
        Err(error) if nothing_there(&error) => Ok(FileState::Missing),
        Err(error) => Err(cannot_read(path, &error)),
    }
}

fn file_content(
    permissions: &Permissions,
    path: &str,
    file: File,
    opened: &Metadata,
    look: FileLook,
) -> Result<FileState, Fault> {
    if !opened.is_file() {
        return Err(Fault::Other(format!("`{path}` is no regular file")));
    }
    if look == FileLook::Size && opened.len() > 0 {
        return Ok(FileState::Unread(opened.len()));
    }
    let too_large = || Fault::Other(format!("`{path}` is larger than {} bytes", permissions.file_bytes));
    if opened.len() > permissions.file_bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let most = permissions.file_bytes.saturating_add(1);
    file.take(most).read_to_end(&mut bytes).map_err(|error| cannot_read(path, &error))?;
    // Some files say that they are empty and never end.
    if bytes.len() as u64 >= most {
        return Err(too_large());
    }
    Ok(FileState::Text(String::from_utf8_lossy(&bytes).into_owned()))
}

fn folder_names(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for name in list_resolved(folder)? {
        names.push(name?);
        if names.len() > NAMES {
            return Err(std::io::Error::other(format!("there are more than {NAMES} files in it")));
        }
    }
    names.sort();
    Ok(names)
}

fn cannot_read(path: &str, error: &std::io::Error) -> Fault {
    let why = match error.kind() {
        std::io::ErrorKind::PermissionDenied => "the system does not allow it".to_owned(),
        _ if leads_in_circle(error) => "its links lead in a circle, or it has just become one".to_owned(),
        _ => error.to_string(),
    };
    Fault::Other(format!("`{path}` cannot be read: {why}"))
}

fn needs_permission(place: &Path) -> Fault {
    // The names below differ from run to run.
    let of_processes = Path::new("/proc");
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(place);
    let folder = if folder.starts_with(of_processes) { of_processes } else { folder };
    Fault::Permission(format!("--allow-read={}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(folder: &Path) -> Permissions {
        Permissions { working_directory: Some(folder.to_path_buf()), ..Permissions::default() }
    }

    fn text(permissions: &Permissions, path: &str) -> Result<FileState, Fault> {
        permissions.file_state(path, FileLook::Text)
    }

    #[test]
    fn a_file_below_the_working_directory_is_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), "hello").unwrap();
        std::fs::write(folder.path().join("B.txt"), "").unwrap();
        let permissions = inside(folder.path());
        assert_eq!(text(&permissions, "a.txt"), Ok(FileState::Text("hello".to_owned())));
        assert_eq!(text(&permissions, "./no/such/file"), Ok(FileState::Missing));
        assert_eq!(text(&permissions, "a.txt/b"), Ok(FileState::Missing));
        let names = FileState::Folder(vec!["B.txt".to_owned(), "a.txt".to_owned()]);
        assert_eq!(text(&permissions, "."), Ok(names));
    }

    #[test]
    fn dots_links_and_absolute_paths_do_not_leave_it() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "x").unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("later"), folder.path().join("dangling")).unwrap();
        std::os::unix::fs::symlink("loop", folder.path().join("loop")).unwrap();
        let permissions = inside(folder.path());
        let paths = [
            "../",
            "../x",
            "link",
            "link/secret",
            "link/other",
            "link/../x",
            "a/../../b",
            "/etc/passwd",
            "dangling",
            "dangling/x",
            "loop",
            "",
            "a\0b",
        ];
        for path in paths {
            for look in [FileLook::Presence, FileLook::Size, FileLook::Text] {
                let found = permissions.file_state(path, look);
                assert!(matches!(found, Err(Fault::Permission(_) | Fault::Other(_))), "{path}: {found:?}");
            }
        }
        assert!(matches!(text(&permissions, "link/secret"), Err(Fault::Permission(_))));
        let wider = Permissions { read: vec![outside.path().to_path_buf()], ..permissions };
        assert_eq!(text(&wider, "link/secret"), Ok(FileState::Text("x".to_owned())));
    }

    #[test]
    fn what_is_put_in_its_place_later_is_not_opened() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "x").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().canonicalize().unwrap();
        // The places were folders and files when they were looked at; now they are links.
        std::os::unix::fs::symlink(outside.path(), place.join("folder")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret"), place.join("file")).unwrap();
        assert!(open_resolved(&place.join("folder/secret"), false).is_err());
        assert!(open_resolved(&place.join("file"), false).is_err());
        assert!(open_resolved(&place.join("folder"), true).is_err());
    }

    #[test]
    fn nothing_is_read_by_default_and_no_device_or_pipe_blocks() {
        assert!(matches!(text(&Permissions::default(), "Cargo.toml"), Err(Fault::Permission(_))));
        let dev = Permissions { read: vec![std::path::PathBuf::from("/dev")], ..inside(Path::new("/tmp")) };
        assert!(matches!(text(&dev, "/dev/zero"), Err(Fault::Other(_))));
        assert!(matches!(dev.file_state("/dev/zero", FileLook::Presence), Ok(FileState::Unread(_))));
        let folder = tempfile::tempdir().unwrap();
        let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status();
        if made.is_ok_and(|status| status.success()) {
            assert!(matches!(text(&inside(folder.path()), "pipe"), Err(Fault::Other(_))));
            let pipe = folder.path().canonicalize().unwrap().join("pipe");
            assert!(!open_resolved(&pipe, false).unwrap().metadata().unwrap().is_file());
        }
    }

    #[test]
    fn a_file_is_only_read_where_its_text_matters() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("large"), "0123456789").unwrap();
        let small = Permissions { file_bytes: 4, ..inside(folder.path()) };
        assert!(matches!(text(&small, "large"), Err(Fault::Other(why)) if why.contains("larger than 4 bytes")));
        assert_eq!(small.file_state("large", FileLook::Size), Ok(FileState::Unread(10)));
        assert_eq!(small.file_state("large", FileLook::Presence), Ok(FileState::Unread(10)));
    }

    #[test]
    fn the_flag_has_no_name_of_a_process_in_it() {
        let found = text(&inside(Path::new("/tmp")), "/proc/self/environ");
        assert_eq!(found, Err(Fault::Permission("--allow-read=/proc".to_owned())));
    }
}
