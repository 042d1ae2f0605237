//! Files of the disk that somebody else names: where a path really leads, whether that is permitted, and opening what is there without
//! waiting for anybody.
//!
//! Links are followed first; what is opened then is exactly that place: no link on the way to it is followed a second time, so that nothing can
//! be put in its place between the look and the read.
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "the feature `files` is what opens files")]

use std::collections::BTreeSet;
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The message for pipes, sockets and devices.
pub const NO_FILE: &str = "it is not a file";

/// The place that a path really leads to: links followed as far as it exists, and no `..` behind that.
///
/// # Errors
/// What the system says; a link that leads nowhere.
pub fn resolve_path(path: &Path) -> io::Result<PathBuf> {
    let mut rest: Vec<std::ffi::OsString> = Vec::new();
    let mut existing = or_current_dir(path).to_path_buf();
    loop {
        match existing.canonicalize() {
            Ok(mut place) => {
                for part in rest.iter().rev() {
                    place.push(part);
                }
                return Ok(place);
            }
            Err(error) if nothing_there(&error) => {
                // A link that leads nowhere could be made to lead anywhere: it is not looked behind.
                if existing.is_symlink() {
                    return Err(io::Error::other("it is a link whose target does not exist"));
                }
                let Some(Component::Normal(last)) = existing.components().next_back() else { return Err(error) };
                rest.push(last.to_os_string());
                if !existing.pop() {
                    return Err(error);
                }
                if existing.as_os_str().is_empty() {
                    existing.push(".");
                }
            }
            Err(error) => return Err(error),
        }
    }
}

/// True if a resolved path lies in one of these folders, after resolving their links.
pub fn lies_in<P: AsRef<Path>>(place: &Path, folders: impl IntoIterator<Item = P>) -> bool {
    let mut folders = folders.into_iter().filter_map(|folder| or_current_dir(folder.as_ref()).canonicalize().ok());
    folders.any(|folder| place.starts_with(folder))
}

type FileIdentity = (u64, u64);

/// Files opened by this process; `None` unless tracked.
static OPENED: Mutex<Option<BTreeSet<FileIdentity>>> = Mutex::new(None);

/// From now on it is known which files were opened, for a program that must not write over what it reads.
pub fn remember_opened() {
    OPENED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
}

/// Notes that a file was opened by other ways than those of this module.
pub fn note_opened(found: &Metadata) {
    if let Some(known) = &mut *OPENED.lock().unwrap_or_else(PoisonError::into_inner) {
        known.extend(file_identity(found).filter(|_| found.is_file()));
    }
}

/// Notes the file that standard input comes from, where it is one.
pub fn note_stdin() {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd as _;
        let owned = io::stdin().as_fd().try_clone_to_owned();
        if let Ok(found) = owned.and_then(|owned| File::from(owned).metadata()) {
            note_opened(&found);
        }
    }
}

/// Whether the file of this path was opened, under whatever name.
#[must_use]
pub fn was_opened(path: &Path) -> bool {
    let found = path.metadata().ok().and_then(|found| file_identity(&found));
    let known = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    found.is_some_and(|found| known.as_ref().is_some_and(|known| known.contains(&found)))
}

#[cfg(unix)]
fn file_identity(found: &Metadata) -> Option<FileIdentity> {
    use std::os::unix::fs::MetadataExt as _;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn file_identity(_: &Metadata) -> Option<FileIdentity> {
    None
}

/// True if nothing exists there, even because a parent is a file.
#[must_use]
pub fn nothing_there(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Opens a resolved place of which every part is what it seems to be: a link anywhere is an error. Never waits for the other end of a pipe.
///
/// # Errors
/// What the system says.
#[cfg(unix)]
pub fn open_resolved(place: &Path, folder: bool) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, openat};
    // On the way to a file a folder need not be readable.
    #[cfg(target_os = "linux")]
    const THROUGH: OFlags = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    const THROUGH: OFlags = OFlags::RDONLY;
    let once = OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut parts = place.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    let mut here = rustix::fs::open("/", THROUGH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let last = parts.next_back();
    for part in parts {
        here = openat(&here, part, once | THROUGH | OFlags::DIRECTORY, Mode::empty())?;
    }
    let end = once | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let end = if folder { end | OFlags::DIRECTORY } else { end };
    let file = File::from(openat(&here, last.unwrap_or(std::ffi::OsStr::new(".")), end, Mode::empty())?);
    note_opened(&file.metadata()?);
    Ok(file)
}

/// The names in a folder, in no order; its place is opened as by [`open_resolved`].
///
/// # Errors
/// What the system says.
#[cfg(unix)]
pub fn list_resolved(place: &Path) -> io::Result<impl Iterator<Item = io::Result<String>>> {
    let entries = rustix::fs::Dir::read_from(open_resolved(place, true)?)?;
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    Ok(names.filter(|name| !name.as_ref().is_ok_and(|name| name == "." || name == "..")))
}

/// Whether links lead in a circle.
#[cfg(unix)]
#[must_use]
pub fn leads_in_circle(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// The names in a folder, in no order.
///
/// # Errors
/// What the system says.
#[cfg(not(unix))]
pub fn list_resolved(place: &Path) -> io::Result<impl Iterator<Item = io::Result<String>>> {
    Ok(place.read_dir()?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())))
}

/// Nothing tells here whether links lead in a circle.
#[cfg(not(unix))]
#[must_use]
pub fn leads_in_circle(_: &io::Error) -> bool {
    false
}

/// Opens a resolved place.
///
/// # Errors
/// What the system says.
#[cfg(not(unix))]
pub fn open_resolved(place: &Path, _: bool) -> io::Result<File> {
    File::open(place)
}

/// Opens a file or a folder that a person has named. A pipe is read where somebody writes into it: nobody waits for ever for the other end of one.
/// What the system itself names so (`/dev/stdin`, `/dev/fd/63` of a shell's `<(command)`) is opened as it is.
///
/// # Errors
/// What the system says; a socket, a device, and a pipe that nobody writes into.
pub fn open_named(path: &Path) -> io::Result<File> {
    let of_system = path.starts_with("/dev") || path.starts_with("/proc");
    if of_system {
        return File::open(path);
    }
    if !is_usable(&path.metadata()?) {
        return Err(io::Error::other(NO_FILE));
    }
    let file = open_now(path)?;
    let found = file.metadata()?;
    // What took the place of the file behind the look.
    if !is_usable(&found) {
        return Err(io::Error::other(NO_FILE));
    }
    await_writer(&file, &found)?;
    note_opened(&found);
    Ok(file)
}

#[cfg(unix)]
fn is_usable(found: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    found.is_file() || found.is_dir() || found.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_usable(found: &Metadata) -> bool {
    found.is_file() || found.is_dir()
}

/// Remaining time to wait for all pipes, in milliseconds.
#[cfg(unix)]
static PATIENCE: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(5_000);

/// Waits until a process writes to the pipe; later reads block as usual.
#[cfg(unix)]
fn await_writer(file: &File, found: &Metadata) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::{OFlags, fcntl_setfl};
    use std::os::unix::fs::FileTypeExt as _;
    use std::sync::atomic::Ordering;
    /// Milliseconds per poll.
    const LOOK: u32 = 50;
    if !found.file_type().is_fifo() {
        return Ok(());
    }
    let look = Timespec { tv_sec: 0, tv_nsec: i64::from(LOOK) * 1_000_000 };
    while poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&look))? == 0 {
        let spent = PATIENCE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(LOOK));
        if spent.is_err() {
            return Err(io::Error::other("it is a pipe, and nobody writes into it"));
        }
    }
    Ok(fcntl_setfl(file, OFlags::empty())?)
}

#[cfg(not(unix))]
fn await_writer(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn open_now(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open_now(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// The bytes of a file, no more than so many of them; `None` where it is larger.
///
/// # Errors
/// What the system says.
pub fn read_limited(file: impl io::Read, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let wanted = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    file.take(wanted).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= most).then_some(bytes))
}

/// The text of a file that a person has named, where it is text and not larger than this.
///
/// # Errors
/// What the system says, and why it is no such text.
pub fn text_of(path: &Path, most: usize) -> io::Result<String> {
    let file = open_named(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    limited_text(file, most)
}

/// The text of standard input, where it is text and not larger than this.
///
/// # Errors
/// What the system says, and why it is no such text.
pub fn text_of_stdin(most: usize) -> io::Result<String> {
    note_stdin();
    limited_text(io::stdin().lock(), most)
}

fn limited_text(file: impl io::Read, most: usize) -> io::Result<String> {
    let bytes = read_limited(file, most)?.ok_or_else(|| io::Error::other(format!("it is larger than {most} bytes")))?;
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))
}

/// The empty path is the working directory.
fn or_current_dir(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}
