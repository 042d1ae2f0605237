//! The session cache of a resident guard. It makes the cost of a decision depend on how far the rules look back, not on the length of the session.
//!
//! The log on disk is the session. The cache holds a copy of it, with notes on what its lines concern. It is valid only while the file is unchanged,
//! so other processes may write to the file. The notes tell which lines need not be read again. The remaining lines are judged like any run, and a
//! rule that fails there is judged again on the whole session.

use averment::Rules;
use averment::growing::GrowthIndex;
use averment::guard::log_memory::LogMemory;
use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Maximum bytes of all cached sessions. The least recently used ones are dropped first and read again when needed.
const MAX_KEPT: usize = 256 << 20;

/// The sessions of a resident guard.
#[derive(Debug)]
pub struct ResidentSessions {
    index: Option<GrowthIndex>,
    kept: Mutex<KeptLogs>,
    /// Maximum bytes of the cache.
    most: usize,
}

#[derive(Debug, Default)]
struct KeptLogs {
    logs: HashMap<PathBuf, KeptLog>,
    bytes: usize,
    clock: u64,
}

#[derive(Debug)]
struct KeptLog {
    stamp: FileStamp,
    memory: LogMemory,
    bytes: usize,
    asked: u64,
}

/// Identifies an unchanged file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileStamp {
    file: (u64, u64),
    length: u64,
    modified: Option<SystemTime>,
}

impl FileStamp {
    pub(crate) fn of(file: &File) -> Option<Self> {
        let about = file.metadata().ok()?;
        Some(Self { file: file_number(&about), length: about.len(), modified: about.modified().ok() })
    }
}

#[cfg(unix)]
fn file_number(about: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (about.dev(), about.ino())
}

#[cfg(not(unix))]
fn file_number(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

impl ResidentSessions {
    /// Creates an empty cache.
    #[must_use]
    pub fn new(rules: &Rules) -> Self {
        Self { index: GrowthIndex::new(rules), kept: Mutex::default(), most: MAX_KEPT }
    }

    /// Returns the index that allows reading only parts of a session.
    pub(crate) fn index(&self) -> Option<&GrowthIndex> {
        self.index.as_ref()
    }

    /// Takes the cached copy of a log; the caller holds the lock of the file.
    pub(crate) fn take(&self, path: &Path) -> Option<(FileStamp, LogMemory)> {
        let mut kept = self.lock();
        let KeptLog { stamp, memory, bytes, .. } = kept.logs.remove(path)?;
        kept.bytes = kept.bytes.saturating_sub(bytes);
        Some((stamp, memory))
    }

    pub(crate) fn keep(&self, path: &Path, stamp: FileStamp, memory: LogMemory) {
        let bytes = memory.bytes();
        // A log that was not written completely is read again.
        if stamp.length != memory.text().len() as u64 || bytes > self.most {
            return;
        }
        let mut kept = self.lock();
        kept.clock += 1;
        let asked = kept.clock;
        kept.bytes += bytes;
        if let Some(before) = kept.logs.insert(path.to_owned(), KeptLog { stamp, memory, bytes, asked }) {
            kept.bytes = kept.bytes.saturating_sub(before.bytes);
        }
        while kept.bytes > self.most {
            let Some(oldest) = kept.logs.iter().min_by_key(|(_, log)| log.asked).map(|(path, _)| path.clone()) else {
                return;
            };
            let gone = kept.logs.remove(&oldest).map_or(0, |log| log.bytes);
            kept.bytes = kept.bytes.saturating_sub(gone);
        }
    }

    fn lock(&self) -> MutexGuard<'_, KeptLogs> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_kept_within_a_bound_and_the_oldest_go_first() {
        let rules = Rules::from_text("r.assert", "never a").unwrap();
        let sessions = ResidentSessions { most: 40_000, ..ResidentSessions::new(&rules) };
        let path = |number: u64| PathBuf::from(number.to_string());
        let stamp =
            |number: u64, text: &str| FileStamp { file: (0, number), length: text.len() as u64, modified: None };
        let text = "{\"guard\":\"call\",\"tool\":\"b\",\"args\":{},\"time\":1}\n".repeat(20);
        for number in 0..100 {
            sessions.keep(&path(number), stamp(number, &text), LogMemory::new(text.clone(), None));
            let kept = sessions.lock();
            assert!(kept.bytes <= 40_000 && kept.bytes == kept.logs.values().map(|log| log.bytes).sum::<usize>());
        }
        let (first, last) = (sessions.take(&path(0)), sessions.take(&path(99)));
        assert!(first.is_none() && last.is_some_and(|(_, memory)| memory.text() == text));
        // A log larger than the whole cache is not kept.
        let large = text.repeat(100);
        sessions.keep(&path(7), stamp(7, &large), LogMemory::new(large.clone(), None));
        assert!(sessions.take(&path(7)).is_none());
    }
}
