//! The output folder of a suite: a folder for each session, and a record of the rules it was created from.

use crate::folder_copy;
use crate::place::{EndedSession, SessionNumber, SessionPlace};
use crate::plan::{CaseExecution, PlannedSuite, WorkspacePlan};
use crate::record::{FailureQuestion, SessionRecord};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Records the origin of the folder; locked while a process works in the folder.
const SUITE: &str = "suite.json";
/// Records that a session has ended, and its outcome.
const SESSION: &str = "session.json";
const RUN: &str = "run.json";
pub(crate) const QUESTIONS: &str = "questions.json";
const WORKSPACES: &str = "workspaces";

/// The output folder of a suite, locked by this process.
#[derive(Debug)]
pub struct SuiteFolder {
    path: PathBuf,
    _lock: File,
}

/// The reason why a folder cannot be used.
#[derive(Debug)]
pub enum FolderError {
    /// It cannot be read or written.
    Io(io::Error),
    /// The folder is not empty.
    Used,
    /// There is nothing to resume.
    Empty,
    /// It was created from other rules or another selection.
    Other,
    /// Another process is working in it.
    Locked,
}

impl From<io::Error> for FolderError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[derive(Serialize, Deserialize)]
struct SuiteOrigin {
    version: u64,
    /// A hash of everything that determines the sessions.
    made_of: String,
}

impl SuiteFolder {
    /// Locks a folder: an empty or new one, or with `resume`, one with an equal `made_of`.
    ///
    /// # Errors
    /// If the folder cannot be used.
    pub fn take_folder(path: &Path, made_of: &str, resume: bool) -> Result<Self, FolderError> {
        std::fs::create_dir_all(path)?;
        let path = path.canonicalize()?;
        let file = path.join(SUITE);
        let is_empty = std::fs::read_dir(&path)?.next().is_none();
        let made_of = hash(made_of.as_bytes());
        if !resume {
            if !is_empty {
                return Err(FolderError::Used);
            }
            replace_file(
                &file,
                &serde_json::to_vec(&SuiteOrigin { version: 1, made_of: made_of.clone() }).unwrap_or_default(),
            )?;
        }
        let lock = match File::options().read(true).write(true).open(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(FolderError::Empty),
            opened => opened?,
        };
        match lock.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Err(FolderError::Locked),
            Err(std::fs::TryLockError::Error(error)) => return Err(error.into()),
        }
        let of: SuiteOrigin = serde_json::from_slice(&std::fs::read(&file)?).map_err(|_| FolderError::Other)?;
        if of.made_of != made_of {
            return Err(FolderError::Other);
        }
        Ok(Self { path, _lock: lock })
    }

    /// Returns its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn remove_empty(&self) {
        let workspaces = self.path.join(WORKSPACES);
        for case in std::fs::read_dir(&workspaces).into_iter().flatten().flatten() {
            let _not_empty = std::fs::remove_dir(case.path());
        }
        let _not_empty = std::fs::remove_dir(workspaces);
    }
}

pub(crate) fn session_place(folder: &Path, execution: &CaseExecution<'_>, number: SessionNumber) -> SessionPlace {
    let (case, runner) = (folder_name(&execution.case.name), folder_name(&execution.runner.name));
    let (repeat, retries) = (execution.suite.repeat, execution.suite.retries);
    let which = match (repeat > 1, retries > 0) {
        (false, false) => String::new(),
        (true, false) => format!("{}", number.repetition),
        (_, true) => format!("{}.{}", number.repetition, number.attempt),
    };
    let session = folder.join(&case).join(&runner);
    let session = if which.is_empty() { session } else { session.join(&which) };
    let cwd = match &execution.suite.workspace {
        WorkspacePlan::Existing(cwd) => cwd.clone(),
        WorkspacePlan::Created { isolated: false, .. } => shared_workspace(folder, execution.suite),
        WorkspacePlan::Created { .. } => {
            let which = if repeat > 1 { format!("-{}", number.repetition) } else { String::new() };
            folder.join(WORKSPACES).join(case).join(format!("{runner}{which}"))
        }
    };
    SessionPlace { folder: session, cwd }
}

pub(crate) fn shared_workspace(folder: &Path, suite: &PlannedSuite) -> PathBuf {
    folder.join(WORKSPACES).join(format!("shared-{}", folder_name(&suite.name)))
}

pub(crate) fn load_session(place: &SessionPlace) -> Option<EndedSession> {
    let record: SessionRecord = serde_json::from_slice(&std::fs::read(place.folder.join(SESSION)).ok()?).ok()?;
    let run = std::fs::read_to_string(place.folder.join(RUN)).ok()?;
    Some(EndedSession { record, run: run.trim_end().to_owned() })
}

/// Saves an ended session; the file that marks its end is written last.
pub(crate) fn save_session(
    place: &SessionPlace,
    session: &EndedSession,
    questions: &[FailureQuestion],
) -> io::Result<()> {
    std::fs::create_dir_all(&place.folder)?;
    replace_file(&place.folder.join(RUN), format!("{}\n", session.run).as_bytes())?;
    if !questions.is_empty() {
        replace_file(&place.folder.join(QUESTIONS), &pretty_json(&questions)?)?;
    }
    replace_file(&place.folder.join(SESSION), &pretty_json(&session.record)?)
}

pub(crate) fn record_in(folder: &Path) -> Option<SessionRecord> {
    serde_json::from_slice(&std::fs::read(folder.join(SESSION)).ok()?).ok()
}

pub(crate) fn pretty_json(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    Ok(text)
}

/// Writes a file atomically.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = path.with_extension("draft");
    let written = File::create(&draft).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    if let Err(error) = written.and_then(|()| std::fs::rename(&draft, path)) {
        let _as_far_as_it_goes = folder_copy::remove_folder(&draft);
        return Err(error);
    }
    Ok(())
}

/// Returns a folder name for a name; different names yield different folders on every system.
#[must_use]
pub fn folder_name(name: &str) -> String {
    let mut plain = String::new();
    for letter in name.chars().take(60) {
        let letter = letter.to_ascii_lowercase();
        if letter.is_ascii_alphanumeric() || letter == '_' {
            plain.push(letter);
        } else if !plain.ends_with('-') {
            plain.push('-');
        }
    }
    let plain = plain.trim_matches('-');
    if plain == name && plain != WORKSPACES {
        return plain.to_owned();
    }
    let hash = hash(name.as_bytes());
    let plain = if plain.is_empty() { "x" } else { plain };
    format!("{plain}--{}", hash.get(..8).unwrap_or_default())
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_are_other_folders() {
        let names = ["open-main", "Open Main!", "open main", "x/y:z", "--a--", "a", "..", "", "workspaces"];
        let mut folders: Vec<String> = names.iter().map(|name| folder_name(name)).collect();
        assert_eq!(folders.first().map(String::as_str), Some("open-main"));
        assert!(folders.iter().all(|name| !name.starts_with('.') && !name.contains('/')), "{folders:?}");
        folders.sort();
        folders.dedup();
        assert_eq!(folders.len(), names.len());
    }

    #[test]
    fn a_folder_is_taken_once_and_goes_on_with_the_same_rules_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs");
        assert!(matches!(SuiteFolder::take_folder(&path, "a", true), Err(FolderError::Empty)));
        let held = SuiteFolder::take_folder(&path, "a", false).unwrap();
        assert!(matches!(SuiteFolder::take_folder(&path, "a", false), Err(FolderError::Used)));
        assert!(matches!(SuiteFolder::take_folder(&path, "a", true), Err(FolderError::Locked)));
        drop(held);
        assert!(matches!(SuiteFolder::take_folder(&path, "b", true), Err(FolderError::Other)));
        assert!(SuiteFolder::take_folder(&path, "a", true).is_ok());
    }
}
