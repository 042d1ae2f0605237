//! The one place that writes files: whoever reads one sees the old text or the new one, never half of it, also when the power fails, the
//! disk is full or the command is ended. What is written goes into a file without a name in the same folder first, which takes the name at the
//! end; where the system knows none such, into one with a name of its own.

use super::io_error_text;
use averment_base::files::was_opened;
use std::fmt;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Temporary names to try.
const TRIES: u32 = 16;

/// A file that is being written.
#[derive(Debug)]
pub struct DraftFile {
    path: PathBuf,
    file: File,
    kind: DraftKind,
    /// Metadata of the file that it replaces.
    like: Option<Metadata>,
    /// The command that read the file rewrites it.
    rewrites: bool,
}

#[derive(Debug)]
enum DraftKind {
    /// Has a temporary name beside the file; removed if it is not renamed.
    Named(PathBuf),
    /// Has no name, and vanishes with the process.
    #[cfg(target_os = "linux")]
    Unnamed,
    /// A pipe or device: written directly.
    Direct,
}

impl DraftFile {
    /// A file that an author looks after. A link stays a link: what it leads to is replaced.
    ///
    /// # Errors
    /// Where it is not there or may not be written.
    pub fn for_author(path: &Path) -> io::Result<Self> {
        Self::for_rewrite(path.canonicalize()?)
    }

    /// A file that a command makes, where there may be one already. A link in its place is replaced, and never written through.
    ///
    /// # Errors
    /// Where no file can be made in its folder, or one that is there may not be written.
    pub fn for_output(path: &Path) -> io::Result<Self> {
        if path.file_name().is_none() || path.as_os_str().to_string_lossy().ends_with(std::path::is_separator) {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        if is_device(path) {
            // Of an open file what is written goes on behind what stands there.
            let file = open_device(path)?;
            return Ok(Self { path: path.to_path_buf(), file, kind: DraftKind::Direct, like: None, rewrites: false });
        }
        let draft = Self::beside_target(path.to_path_buf())?;
        draft.refuse_read_file()?;
        Ok(draft)
    }

    /// Refuses to overwrite a file that the command reads, under whatever name.
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
            // A rename does not ask the file, only its folder.
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

    /// Gives the file its name.
    ///
    /// # Errors
    /// Where that cannot be done; the file that was there before is then as it was.
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

/// A file that could not be written, of several that a command writes.
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

/// Gives a file new bytes. A link stays a link, and the file keeps its permissions and its owner.
///
/// # Errors
/// Where it cannot be written, or may not be. It is then as it was.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fill_draft(DraftFile::for_author(path)?, bytes)
}

/// Writes a file that may be there already. Nothing is written through a link.
///
/// # Errors
/// Where it cannot be written, or may not be. What was there is then as it was.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fill_draft(DraftFile::for_output(path)?, bytes)
}

/// Writes a file anew that the command has read: a list that it keeps. Nothing is written through a link.
///
/// # Errors
/// Where it cannot be written, or may not be. What was there is then as it was.
pub fn update_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fill_draft(DraftFile::for_rewrite(path.to_path_buf())?, bytes)
}

/// Writes a file that is not there yet.
///
/// # Errors
/// Where it cannot be written, or is there by now.
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

/// An unnamed file in a folder; `None` if the system has none or cannot name it later.
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

/// How long to wait for a pipe's reader, in hundredths of a second.
#[cfg(unix)]
const READER_COMES: u32 = 200;

/// Opens a pipe or device; gives up if the pipe's reader does not come.
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

/// Pipes, terminals and devices hold no text that could be replaced.
#[cfg(unix)]
pub fn is_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let special =
        |kind: std::fs::FileType| kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device();
    // `/dev/stdout` and what a shell makes of `>(command)` are links of the system, whatever they lead to.
    let stream = is_stream(path);
    let found = if stream || path.starts_with("/dev") { path.metadata() } else { path.symlink_metadata() };
    found.is_ok_and(|found| special(found.file_type()) || stream && found.is_file())
}

/// There are no such files.
#[cfg(not(unix))]
pub fn is_device(_: &Path) -> bool {
    false
}

/// Without permission to change the owner, the new one is kept.
#[cfg(unix)]
fn keep_owner(file: &File, like: &Metadata) {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let _ = fchown(file, Some(like.uid()), Some(like.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) {}

/// True if a path is one of these files, under whatever name.
pub fn is_one_of<'a>(path: &Path, mut files: impl Iterator<Item = &'a Path>) -> bool {
    file_identity(path).is_some_and(|found| files.any(|file| file_identity(file).is_some_and(|other| other == found)))
}

/// Equal for names of the same file; `None` if there is none.
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
