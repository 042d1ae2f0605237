//! Replacing a file in one step: whoever reads it sees the old text or the new one, never half of it, also when the power fails.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Names that are tried for the file that is written first.
const TRIES: u32 = 16;

/// Gives a file new bytes. A link stays a link, and the file keeps its permissions and its owner.
///
/// # Errors
/// Where it cannot be written, or may not be. It is then as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = path.canonicalize()?;
    let metadata = path.metadata()?;
    // A rename does not ask the file, only its folder.
    OpenOptions::new().write(true).open(&path)?;
    let (draft, mut file) = draft(&path)?;
    let written = fill(&mut file, bytes, &metadata).and_then(|()| std::fs::rename(&draft, &path));
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    written
}

/// A new file beside another.
fn draft(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for number in 0..TRIES {
        let draft = path.with_file_name(format!(".{name}.{}-{number}.draft", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&draft) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (draft, file)),
        }
    }
    Err(io::Error::from(io::ErrorKind::AlreadyExists))
}

fn fill(file: &mut File, bytes: &[u8], like: &Metadata) -> io::Result<()> {
    keep_owner(file, like);
    file.set_permissions(like.permissions())?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Who may not give files away keeps the new one.
#[cfg(unix)]
fn keep_owner(file: &File, like: &Metadata) {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let _ = fchown(file, Some(like.uid()), Some(like.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) {}
