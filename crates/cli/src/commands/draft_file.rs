//! The only module that writes files. Readers see the old text or the new text, never a part of it, even after a power failure, a full disk or an
//! interruption. The bytes go into an unnamed file in the same folder, which gets its name at the end. Systems without unnamed files use a file with
//! a temporary name.

use super::io_error_text;
use averment_base::files::was_opened;
use std::fmt;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Maximum number of temporary names to try.
const TRIES: u32 = 16;

/// A file that is being written.
#[derive(Debug)]
pub struct DraftFile {
    path: PathBuf,
    file: File,
    kind: DraftKind,
    /// Metadata of the file that will be replaced.
    like: Option<Metadata>,
    /// True if the command read the file and now rewrites it.
    rewrites: bool,
}

#[derive(Debug)]
enum DraftKind {
    /// The file has a temporary name beside the target. It is removed if it is not renamed.
    Named(PathBuf),
    /// The file has no name, and vanishes with the process.
    #[cfg(target_os = "linux")]
    Unnamed,
    /// A pipe or device: written directly.
    Direct,
}

impl DraftFile {
    /// Opens a draft for a file that a user edits. If the path is a link, the link stays and its target is replaced.
    ///
    /// # Errors
    /// Returns an error if the file does not exist or may not be written.
    pub fn for_author(path: &Path) -> io::Result<Self> {
        Self::for_rewrite(path.canonicalize()?)
    }

    /// Opens a draft for an output file, which may already exist. A link at the path is replaced; its target is not changed.
    ///
    /// # Errors
    /// Returns an error if no file can be created in the folder, or if the existing file may not be written.
    pub fn for_output(path: &Path) -> io::Result<Self> {
        if path.file_name().is_none() || path.as_os_str().to_string_lossy().ends_with(std::path::is_separator) {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        if is_device(path) {
            // A device is an open stream: the bytes are appended to it.
            let file = open_device(path)?;
            return Ok(Self { path: path.to_path_buf(), file, kind: DraftKind::Direct, like: None, rewrites: false });
        }
        let draft = Self::beside_target(path.to_path_buf())?;
        draft.refuse_read_file()?;
        Ok(draft)
    }

    /// Refuses to overwrite a file that the command reads, under any name.
    fn refuse_read_file(&self) -> io::Result<()> {
        match self.like.is_some() && !self.rewrites && was_opened(&self.path) {
            true => Err(io::Error::other("this command reads it")),
            false => Ok(()),
        }
    }

    fn for_rewrite(path: PathBuf) -> io::Result<Self> {
        let mut draft = Self::beside_target(path)?;
        draft.rewrites = true;
        Ok(draft)
    }

    fn beside_target(path: PathBuf) -> io::Result<Self> {
        let like = path.symlink_metadata().ok().filter(|found| !found.is_symlink());
        match &like {
            Some(found) if found.is_dir() => return Err(io::Error::from(io::ErrorKind::IsADirectory)),
            // Renaming needs write access to the folder only, so the permission of the file is checked here.
            Some(_) => drop(OpenOptions::new().write(true).open(&path)?),
            None => {}
        }
        #[cfg(target_os = "linux")]
        if let Some(file) = unnamed_file(&path) {
            return Ok(Self { path, file, kind: DraftKind::Unnamed, like, rewrites: false });
        }
        let (draft, file) = named_draft(&path, |draft| OpenOptions::new().write(true).create_new(true).open(draft))?;
        Ok(Self { path, file, kind: DraftKind::Named(draft), like, rewrites: false })
    }

    /// Moves the draft to its final path.
    ///
    /// # Errors
    /// Returns an error if that fails; the previous file is then unchanged.
    pub fn finish(mut self) -> io::Result<()> {
        self.move_into_place().map_err(|error| self.path_error(error))
    }

    fn move_into_place(&mut self) -> io::Result<()> {
        self.refuse_read_file()?;
        if let Some(like) = &self.like {
            keep_owner(&self.file, like);
            self.file.set_permissions(like.permissions())?;
        }
        #[cfg(target_os = "linux")]
        if matches!(self.kind, DraftKind::Unnamed) {
            self.file.sync_all()?;
            let (draft, ()) = named_draft(&self.path, |draft| link_file(&self.file, draft))?;
            self.kind = DraftKind::Named(draft);
        }
        if let DraftKind::Named(draft) = &self.kind {
            self.file.sync_all()?;
            std::fs::rename(draft, &self.path)?;
            self.kind = DraftKind::Direct;
        }
        Ok(())
    }

    fn path_error(&self, error: io::Error) -> io::Error {
        io::Error::new(error.kind(), WriteFailed { path: self.path.clone(), error })
    }
}

impl Write for DraftFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ => self.path_error(error),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for DraftFile {
    fn drop(&mut self) {
        if let DraftKind::Named(draft) = &self.kind {
            let _ = std::fs::remove_file(draft);
        }
    }
}

/// The path and the error of a file that could not be written.
#[derive(Debug)]
pub struct WriteFailed {
    path: PathBuf,
    error: io::Error,
}

impl fmt::Display for WriteFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` cannot be written: {}", self.path.display(), io_error_text(&self.error))
    }
}

impl std::error::Error for WriteFailed {}

/// Replaces the bytes of a file. A link stays a link, and the file keeps its permissions and its owner.
///
/// # Errors
/// Returns an error if the file cannot be written; it is then unchanged.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fill_draft(DraftFile::for_author(path)?, bytes)
}

/// Writes a file that may already exist. Never writes through a link.
///
/// # Errors
/// Returns an error if the file cannot be written; an existing file is then unchanged.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fill_draft(DraftFile::for_output(path)?, bytes)
}

/// Rewrites a file that the command has read, such as a list that it maintains. Never writes through a link.
///
/// # Errors
/// Returns an error if the file cannot be written; it is then unchanged.
pub fn update_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fill_draft(DraftFile::for_rewrite(path.to_path_buf())?, bytes)
}

/// Writes a new file.
///
/// # Errors
/// Returns an error if the file cannot be written or already exists.
pub fn create_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(io::Error::from(io::ErrorKind::AlreadyExists));
    }
    let mut draft = DraftFile::for_output(path)?;
    draft.file.write_all(bytes)?;
    draft.file.sync_all()?;
    match &draft.kind {
        DraftKind::Named(name) => std::fs::hard_link(name, path),
        #[cfg(target_os = "linux")]
        DraftKind::Unnamed => link_file(&draft.file, path),
        DraftKind::Direct => Ok(()),
    }
}

fn fill_draft(mut draft: DraftFile, bytes: &[u8]) -> io::Result<()> {
    draft.file.write_all(bytes)?;
    draft.move_into_place()
}

fn named_draft<T>(path: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for number in 0..TRIES {
        let draft = path.with_file_name(format!(".{name}.{}-{number}.draft", std::process::id()));
        match make(&draft) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|made| (draft, made)),
        }
    }
    Err(io::Error::from(io::ErrorKind::AlreadyExists))
}

#[cfg(target_os = "linux")]
fn parent_folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates an unnamed file in a folder; `None` if the system has none or cannot name it later.
#[cfg(target_os = "linux")]
fn unnamed_file(path: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    let mode = Mode::from_raw_mode(0o666);
    let file = rustix::fs::open(parent_folder(path), OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, mode).ok()?;
    Path::new("/proc/self/fd").is_dir().then(|| File::from(file))
}

#[cfg(target_os = "linux")]
fn link_file(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    use std::os::fd::AsRawFd as _;
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, own.as_str(), CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

/// Maximum time to wait for a pipe's reader, in hundredths of a second.
#[cfg(unix)]
const READER_COMES: u32 = 200;

/// Opens a pipe or device. Returns an error if the pipe gets no reader in time.
#[cfg(unix)]
fn open_device(path: &Path) -> io::Result<File> {
    use rustix::fs::OFlags;
    use rustix::io::Errno;
    use std::os::unix::fs::OpenOptionsExt as _;
    let open = || {
        let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
        OpenOptions::new().append(true).custom_flags(nonblocking).open(path)
    };
    for _ in 0..READER_COMES {
        match open() {
            Err(error) if Errno::from_io_error(&error) == Some(Errno::NXIO) => {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            opened => {
                let file = opened?;
                let flags = rustix::fs::fcntl_getfl(&file)?;
                rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
                return Ok(file);
            }
        }
    }
    Err(io::Error::other("it is a pipe that nobody reads"))
}

#[cfg(not(unix))]
fn open_device(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).open(path)
}

#[cfg(unix)]
fn is_stream(path: &Path) -> bool {
    let of_process = || path.starts_with("/proc") && path.parent().is_some_and(|folder| folder.ends_with("fd"));
    ["/dev/stdout", "/dev/stderr"].iter().any(|name| path == Path::new(name))
        || path.starts_with("/dev/fd")
        || of_process()
}

/// True for pipes, sockets and devices, which cannot be replaced by a new file.
#[cfg(unix)]
pub fn is_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let special =
        |kind: std::fs::FileType| kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device();
    // `/dev/stdout` and the path of a shell's `>(command)` are links of the system, so the link target is what counts.
    let stream = is_stream(path);
    let found = if stream || path.starts_with("/dev") { path.metadata() } else { path.symlink_metadata() };
    found.is_ok_and(|found| special(found.file_type()) || stream && found.is_file())
}

/// Always false, because other systems have no such files.
#[cfg(not(unix))]
pub fn is_device(_: &Path) -> bool {
    false
}

/// Keeps the owner of the replaced file. Without permission to change it, the new owner stays.
#[cfg(unix)]
fn keep_owner(file: &File, like: &Metadata) {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let _ = fchown(file, Some(like.uid()), Some(like.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) {}

/// True if a path is one of these files, under any name.
pub fn is_one_of<'a>(path: &Path, mut files: impl Iterator<Item = &'a Path>) -> bool {
    file_identity(path).is_some_and(|found| files.any(|file| file_identity(file).is_some_and(|other| other == found)))
}

/// Returns a value that is equal for all names of the same file; `None` if there is no such file.
pub fn file_identity(path: &Path) -> Option<impl PartialEq + use<>> {
    let found = path.metadata().ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        Some((found.dev(), found.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = found;
        path.canonicalize().ok()
    }
}
