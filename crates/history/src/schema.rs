//! The tables of a history, and how a file is opened or created.
//!
//! A history is a single file with a rollback journal: it can be copied, kept as a CI artifact, and read from read-only storage. Writers lock it only
//! while they write whole runs, and wait for each other.

use crate::error::{HistoryError, MADE_BY};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The SQLite application id of a history: `AVRH`.
const APPLICATION: i32 = 0x4156_5248;
/// Maximum time that a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(30);

/// Version of the tables; histories of other versions are refused.
const VERSION: i64 = 1;

/// SQL that creates the tables in an empty file.
const TABLES: &str = "CREATE TABLE recordings (id INTEGER PRIMARY KEY, at INTEGER, labels TEXT NOT NULL);
    CREATE TABLE names (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
    CREATE TABLE assertions (id INTEGER PRIMARY KEY, rules BLOB NOT NULL, file TEXT NOT NULL, rule TEXT NOT NULL, name TEXT NOT NULL,
        text TEXT NOT NULL, severity TEXT NOT NULL, UNIQUE (rules, file, name, text, severity));
    CREATE TABLE runs (id INTEGER PRIMARY KEY, recording INTEGER NOT NULL, name INTEGER NOT NULL, hash BLOB NOT NULL, own TEXT, at INTEGER,
        passed INTEGER NOT NULL, score REAL, cost REAL, tokens REAL, duration REAL);
    CREATE TABLE results (run INTEGER NOT NULL, position INTEGER NOT NULL, assertion INTEGER NOT NULL, status INTEGER NOT NULL,
        score REAL, PRIMARY KEY (run, position)) WITHOUT ROWID;
    CREATE TABLE used (run INTEGER NOT NULL, kind INTEGER NOT NULL, name INTEGER NOT NULL, PRIMARY KEY (run, kind, name)) WITHOUT ROWID;";

/// A history may be untrusted, so nothing in it may be executed: triggers and views are disabled, and its schema is not trusted.
const GUARDS: [(DbConfig, bool); 4] = [
    (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
    (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
    (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
    (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenPurpose {
    Record,
    Read,
}

/// Opens a history. Files of other kinds stay unchanged.
pub(crate) fn open_history(path: &Path, purpose: OpenPurpose) -> Result<Connection, HistoryError> {
    check_file(path, purpose)?;
    let sqlite = |error: rusqlite::Error| HistoryError::from_sqlite(path, &error);
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, purpose == OpenPurpose::Record);
    // The absolute path prevents SQLite from interpreting names such as `:memory:`.
    let whole: PathBuf = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut connection = Connection::open_with_flags(whole, flags).map_err(sqlite)?;
    connection.busy_timeout(PATIENCE).map_err(sqlite)?;
    for (setting, value) in GUARDS {
        connection.set_db_config(setting, value).map_err(sqlite)?;
    }
    match (purpose, is_history(&connection, path)?) {
        (_, true) => {}
        (OpenPurpose::Read, false) => return Err(HistoryError::for_file(path, "is empty", MADE_BY)),
        (OpenPurpose::Record, false) => create(&mut connection, path)?,
    }
    Ok(connection)
}

/// Refuses anything but a regular file before it is opened.
fn check_file(path: &Path, purpose: OpenPurpose) -> Result<(), HistoryError> {
    match path.metadata() {
        Ok(found) if found.is_dir() => Err(HistoryError::for_file(path, "is a folder", "name a file in it")),
        Ok(found) if !found.is_file() => Err(HistoryError::for_file(path, "is a pipe or a device", "name a file")),
        Err(_) if purpose == OpenPurpose::Read => Err(HistoryError::for_file(path, "does not exist", MADE_BY)),
        _ => Ok(()),
    }
}

/// Returns true if a file is a history, and false if it is empty; any other file is an error.
fn is_history(connection: &Connection, path: &Path) -> Result<bool, HistoryError> {
    let sqlite = |error: rusqlite::Error| HistoryError::from_sqlite(path, &error);
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(sqlite);
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0)).map_err(sqlite)?;
    let (application, version) = (number("application_id")?, number("user_version")?);
    if (application, version, tables) == (0, 0, 0) {
        return Ok(false);
    }
    if application != i64::from(APPLICATION) {
        return Err(HistoryError::for_file(path, "is a database of another program, and is left as it is", MADE_BY));
    }
    if version != VERSION {
        let what = format!("is a history of version {version}, and this `aver` reads version {VERSION} alone");
        return Err(HistoryError::for_file(path, &what, "use the `aver` that wrote it, or record into another file"));
    }
    Ok(true)
}

/// Creates the tables in an empty file, in a single transaction.
fn create(connection: &mut Connection, path: &Path) -> Result<(), HistoryError> {
    let sqlite = |error: rusqlite::Error| HistoryError::from_sqlite(path, &error);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sqlite)?;
    // Another process may have created the tables meanwhile.
    if !is_history(&transaction, path)? {
        transaction.execute_batch(TABLES).map_err(sqlite)?;
        transaction.pragma_update(None, "application_id", APPLICATION).map_err(sqlite)?;
        transaction.pragma_update(None, "user_version", VERSION).map_err(sqlite)?;
    }
    transaction.commit().map_err(sqlite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_becomes_a_history_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        assert!(open_history(&path, OpenPurpose::Read).unwrap_err().message.contains("does not exist"));
        std::fs::write(&path, "").unwrap();
        assert!(open_history(&path, OpenPurpose::Read).unwrap_err().message.contains("is empty"));
        let made = open_history(&path, OpenPurpose::Record).unwrap();
        made.execute("INSERT INTO recordings (at, labels) VALUES (7, '{}')", []).unwrap();
        drop(made);
        for purpose in [OpenPurpose::Record, OpenPurpose::Read] {
            let opened = open_history(&path, purpose).unwrap();
            let at: i64 = opened.query_row("SELECT at FROM recordings", [], |row| row.get(0)).unwrap();
            let used: i64 = opened.query_row("SELECT count(*) FROM used", [], |row| row.get(0)).unwrap();
            assert_eq!((at, used), (7, 0));
        }
    }

    #[test]
    fn a_history_of_another_version_and_what_is_none_are_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for version in [0, 2, 99] {
            let made = open_history(&path(&format!("{version}.db")), OpenPurpose::Record).unwrap();
            made.pragma_update(None, "user_version", version).unwrap();
        }
        Connection::open(path("foreign.db")).unwrap().execute_batch("CREATE TABLE people (name TEXT)").unwrap();
        std::fs::write(path("text.db"), "a text that is long enough to be looked at ".repeat(100)).unwrap();
        let refused = [
            ("0.db", "version 0"),
            ("2.db", "version 2"),
            ("99.db", "version 99"),
            ("foreign.db", "another program"),
            ("text.db", "no database"),
        ];
        for (name, said) in refused {
            let path = path(name);
            let before = std::fs::read(&path).unwrap();
            for purpose in [OpenPurpose::Record, OpenPurpose::Read] {
                let error = open_history(&path, purpose).unwrap_err();
                assert!(error.message.contains(said), "{error:?}");
            }
            assert_eq!(std::fs::read(&path).unwrap(), before);
        }
    }
}
