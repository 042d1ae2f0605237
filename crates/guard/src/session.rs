//! The log of a session on disk: one file, appended under a lock before an answer is given. Concurrent proposals wait for each other. An admitted
//! call is in the file before the agent is told, even if the process is killed afterwards.

use crate::event::LogLine;
use crate::resident::{FileStamp, ResidentSessions};
use averment::guard::decide::EventLog;
use averment::guard::log_memory::{LogMemory, MAX_LOG, check_size};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Maximum time a process waits for another one to release the log.
const PATIENCE: Duration = Duration::from_secs(10);
/// A log that was not written to for this long is removed.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// Identifies a session: the agent and the rules.
#[derive(Debug, Clone, Copy)]
pub struct SessionKey<'a> {
    /// The agent, by the name of its protocol.
    pub agent: &'a str,
    /// The id of the session.
    pub id: &'a str,
    /// Names of the rules: guards with other rules have separate logs.
    pub rules: &'a str,
}

impl SessionKey<'_> {
    /// Returns a valid file name for any id.
    #[must_use]
    pub fn file_name(&self) -> String {
        let mut digest = String::new();
        for byte in Sha256::digest(format!("{}\n{}", self.id, self.rules)).iter().take(8) {
            let _ = write!(digest, "{byte:02x}");
        }
        let plain: String =
            self.id.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-').take(64).collect();
        format!("{}-{plain}-{digest}.jsonl", self.agent)
    }
}

/// The log of a session, locked: nobody else reads or writes it until this is dropped.
#[derive(Debug)]
pub struct SessionLog {
    file: File,
    path: PathBuf,
    memory: LogMemory,
    home: Option<Arc<ResidentSessions>>,
}

/// The location of a session's log, and the cache of it between two openings.
#[derive(Debug, Clone)]
pub struct LogPlace<'a> {
    /// The folder, which is created if it does not exist.
    pub folder: &'a Path,
    /// The session.
    pub key: SessionKey<'a>,
    /// True if all messages of the session are recorded.
    pub messages: bool,
    /// The cache of a resident guard.
    pub home: Option<Arc<ResidentSessions>>,
}

impl SessionLog {
    /// Opens the log of a session; waits for others that have it open. The cached copy is used if the file is unchanged.
    ///
    /// An unfinished line belongs to a call that was never answered; it is removed.
    ///
    /// # Errors
    /// I/O errors; a log over 256 MiB; a lock that is not released in time.
    pub fn open(place: LogPlace<'_>) -> io::Result<Self> {
        Self::open_seeded(place, || Ok(None))
    }

    /// Like [`Self::open`]; a new log starts with the lines that `seed` returns for the earlier part of the session.
    ///
    /// # Errors
    /// See [`Self::open`]; also if `seed` fails.
    pub fn open_seeded(
        place: LogPlace<'_>,
        seed: impl FnOnce() -> Result<Option<Vec<String>>, String>,
    ) -> io::Result<Self> {
        let LogPlace { folder, key, messages, home } = place;
        make_folder(folder)?;
        let path = folder.join(key.file_name());
        let is_new = !path.exists();
        if is_new {
            remove_old(folder);
        }
        let file = open_log(&path)?;
        wait_for_lock(&file)?;
        let kept = home.as_ref().and_then(|home| home.take(&path));
        let (memory, is_read) = match kept {
            Some((stamp, memory)) if FileStamp::of(&file) == Some(stamp) => (memory, false),
            kept => (LogMemory::new(read_log(&file)?, kept.map(|(_, memory)| memory)), true),
        };
        let mut log = Self { file, path, memory, home };
        if log.text().is_empty() || is_read && lacks_seeds(log.text()) {
            let seeds = seed().map_err(io::Error::other)?;
            let seeded = seeds.as_ref().map(Vec::len);
            let first = LogLine::Session { id: key.id, agent: key.agent, time: now(), messages, seeded };
            log.begin_with(&first, seeds.unwrap_or_default())?;
        }
        Ok(log)
    }

    /// Writes the first lines. If the process is killed meanwhile, the file has fewer lines than its first one states, and the next opening starts
    /// over.
    fn begin_with(&mut self, first: &LogLine<'_>, seeds: Vec<String>) -> io::Result<()> {
        let text = std::iter::once(first.to_text()).chain(seeds).collect::<String>();
        check_size(text.len()).map_err(io::Error::other)?;
        self.file.set_len(0)?;
        self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data())?;
        self.memory = LogMemory::new(text, None);
        Ok(())
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns all lines so far.
    #[must_use]
    pub fn text(&self) -> &str {
        self.memory.text()
    }

    /// Appends a line. It is on disk when this returns.
    ///
    /// # Errors
    /// I/O errors; a log that would exceed 256 MiB. Then no part of the line counts.
    pub fn append(&mut self, line: &LogLine<'_>) -> io::Result<()> {
        let line = line.to_text();
        check_size(self.text().len() + line.len()).map_err(io::Error::other)?;
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // Removes the partial line; otherwise it would be merged with the next one.
            let _ = self.file.set_len(self.text().len() as u64);
            return Err(error);
        }
        self.memory.push_line(&line);
        Ok(())
    }
}

impl EventLog for SessionLog {
    fn memory_mut(&mut self) -> &mut LogMemory {
        &mut self.memory
    }

    fn append_line(&mut self, line: &LogLine<'_>) -> Result<(), String> {
        self.append(line).map_err(|error| format!("the log `{}` cannot be written: {error}", self.path.display()))
    }
}

/// The lock is released after this, so whoever waits for it finds the updated cache.
impl Drop for SessionLog {
    fn drop(&mut self) {
        if let (Some(home), Some(stamp)) = (self.home.take(), FileStamp::of(&self.file)) {
            home.keep(&self.path, stamp, std::mem::take(&mut self.memory));
        }
    }
}

/// True if a log has fewer lines than its first line states.
fn lacks_seeds(text: &str) -> bool {
    #[derive(Deserialize)]
    struct FirstLine {
        seeded: Option<usize>,
    }
    let mut lines = text.lines();
    let first = lines.next().and_then(|line| serde_json::from_str::<FirstLine>(line).ok());
    first.and_then(|first| first.seeded).is_some_and(|seeded| lines.take(seeded).count() < seeded)
}

/// Returns the finished lines of a log.
fn read_log(file: &File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(MAX_LOG as u64 + 1).read_to_end(&mut bytes)?;
    check_size(bytes.len()).map_err(io::Error::other)?;
    let finished = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    if finished < bytes.len() {
        file.set_len(finished as u64)?;
        bytes.truncate(finished);
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("the log of the session is no text"))
}

/// Returns milliseconds since 1970.
#[must_use]
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Opens the file; symbolic links are not followed, and other users cannot read it.
fn open_log(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let no_link = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.mode(0o600).custom_flags(i32::try_from(no_link.bits()).unwrap_or_default());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("the log of the session is no file")) }
}

fn wait_for_lock(file: &File) -> io::Result<()> {
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if began.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(2)),
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "another process has the log of the session"));
            }
        }
    }
}

/// Removes logs that were not written to for a month; failures are ignored.
fn remove_old(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let is_log = path.extension().is_some_and(|ending| ending == "jsonl");
        let age = entry.metadata().ok().filter(fs::Metadata::is_file).and_then(|about| about.modified().ok());
        if is_log && age.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > KEPT) {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that holds a log open for long, such as `aver guard mcp`, never reads it again, so the size is checked at each append.
    #[test]
    fn a_log_that_is_held_open_ends_at_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let key = SessionKey { agent: "mcp", id: "s", rules: "r" };
        let path = folder.path().join(key.file_name());
        let mut file = File::create(&path).unwrap();
        let first = LogLine::Session { id: "s", agent: "mcp", time: 0, messages: false, seeded: None }.to_text();
        file.write_all(first.as_bytes()).unwrap();
        // A sparse file, which takes only some kilobytes on disk.
        file.set_len(MAX_LOG as u64 - 301).unwrap();
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"\n").unwrap();
        let open = || SessionLog::open(LogPlace { folder: folder.path(), key, messages: false, home: None });
        let mut log = open().unwrap();
        let message = LogLine::Message { role: "user", text: "hello", time: None };
        let held_back = (0..10).find_map(|_| log.append_line(&message).err()).unwrap();
        assert!(held_back.contains("cannot be written: the log of the session is larger than 256 MiB"), "{held_back}");
        assert!(fs::metadata(&path).unwrap().len() > MAX_LOG as u64 - 300);
        assert!(fs::metadata(&path).unwrap().len() <= MAX_LOG as u64);
        drop(log);
        assert!(open().is_ok());
    }
}
