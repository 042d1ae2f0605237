//! The tables of a history, how a file becomes one, and how an older one becomes one of today.
//!
//! A history is one file with a rollback journal: it can be copied, kept as an artifact of CI and read where nothing may be written. Writers
//! hold it only while they write whole runs, and wait for each other.

use crate::error::{HistoryError, MADE_BY};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The application id of a history: `AVRH`.
const APPLICATION: i32 = 0x4156_5248;
/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(30);

/// Migrations: each upgrades the previous version. The last is the current one.
const STEPS: [&str; 2] = [
    "CREATE TABLE recordings (id INTEGER PRIMARY KEY, at INTEGER, labels TEXT NOT NULL);
     CREATE TABLE names (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
     CREATE TABLE assertions (id INTEGER PRIMARY KEY, rules BLOB NOT NULL, file TEXT NOT NULL, rule TEXT NOT NULL, name TEXT NOT NULL,
         text TEXT NOT NULL, severity TEXT NOT NULL, UNIQUE (rules, file, name, text, severity));
     CREATE TABLE runs (id INTEGER PRIMARY KEY, recording INTEGER NOT NULL, name INTEGER NOT NULL, hash BLOB NOT NULL, own TEXT, at INTEGER,
         passed INTEGER NOT NULL, score REAL, cost REAL, tokens REAL, duration REAL);
     CREATE TABLE results (run INTEGER NOT NULL, position INTEGER NOT NULL, assertion INTEGER NOT NULL, status INTEGER NOT NULL,
         score REAL, PRIMARY KEY (run, position)) WITHOUT ROWID;",
    "CREATE TABLE used (run INTEGER NOT NULL, kind INTEGER NOT NULL, name INTEGER NOT NULL, PRIMARY KEY (run, kind, name)) WITHOUT ROWID;",
];

/// A history may be untrusted: nothing in it is executed.
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

/// Opens a history. Other files stay unchanged.
pub(crate) fn open_history(path: &Path, purpose: OpenPurpose) -> Result<Connection, HistoryError> {
    check_file(path, purpose)?;
    let sqlite = |error: rusqlite::Error| HistoryError::from_sqlite(path, &error);
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, purpose == OpenPurpose::Record);
    // A name such as `:memory:` is a file like any other.
    let whole: PathBuf = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut connection = Connection::open_with_flags(whole, flags).map_err(sqlite)?;
    connection.busy_timeout(PATIENCE).map_err(sqlite)?;
    for (setting, value) in GUARDS {
        connection.set_db_config(setting, value).map_err(sqlite)?;
    }
    let known = schema_version(&connection, path)?;
    match purpose {
        OpenPurpose::Read if known.is_none() => return Err(HistoryError::for_file(path, "is empty", MADE_BY)),
        OpenPurpose::Read if known == Some(STEPS.len()) => {}
        _ => migrate_schema(&mut connection, path)?,
    }
    Ok(connection)
}

/// Refuses anything but a regular file, before it is opened.
fn check_file(path: &Path, purpose: OpenPurpose) -> Result<(), HistoryError> {
    match path.metadata() {
        Ok(found) if found.is_dir() => Err(HistoryError::for_file(path, "is a folder", "name a file in it")),
        Ok(found) if !found.is_file() => Err(HistoryError::for_file(path, "is a pipe or a device", "name a file")),
        Err(_) if purpose == OpenPurpose::Read => Err(HistoryError::for_file(path, "does not exist", MADE_BY)),
        _ => Ok(()),
    }
}

fn schema_version(connection: &Connection, path: &Path) -> Result<Option<usize>, HistoryError> {
    let sqlite = |error: rusqlite::Error| HistoryError::from_sqlite(path, &error);
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(sqlite);
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0)).map_err(sqlite)?;
    let (application, version) = (number("application_id")?, number("user_version")?);
    if (application, version, tables) == (0, 0, 0) {
        return Ok(None);
    }
    if application != i64::from(APPLICATION) {
        return Err(HistoryError::for_file(path, "is a database of another program, and is left as it is", MADE_BY));
    }
    match usize::try_from(version) {
        Ok(version) if (1..=STEPS.len()).contains(&version) => Ok(Some(version)),
        _ => {
            let what = format!("is of version {version}, and this program knows {} at most", STEPS.len());
            Err(HistoryError::for_file(path, &what, "use the newer `aver` that wrote it"))
        }
    }
}

/// Creates the tables or upgrades an older history, in one transaction.
fn migrate_schema(connection: &mut Connection, path: &Path) -> Result<(), HistoryError> {
    let sqlite = |error: rusqlite::Error| HistoryError::from_sqlite(path, &error);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sqlite)?;
    let known = schema_version(&transaction, path)?.unwrap_or(0);
    for step in STEPS.iter().skip(known) {
        transaction.execute_batch(step).map_err(sqlite)?;
    }
    if known < STEPS.len() {
        transaction.pragma_update(None, "application_id", APPLICATION).map_err(sqlite)?;
        transaction.pragma_update(None, "user_version", i64::try_from(STEPS.len()).unwrap_or(0)).map_err(sqlite)?;
    }
    transaction.commit().map_err(sqlite)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_version(path: &Path) -> Connection {
        let connection = Connection::open(path).unwrap();
        connection.execute_batch(STEPS[0]).unwrap();
        connection.pragma_update(None, "application_id", APPLICATION).unwrap();
        connection.pragma_update(None, "user_version", 1).unwrap();
        connection
    }

    #[test]
    fn an_older_history_becomes_one_of_today_and_keeps_its_rows() {
        let folder = tempfile::tempdir().unwrap();
        for purpose in [OpenPurpose::Record, OpenPurpose::Read] {
            let path = folder.path().join(format!("{purpose:?}.db"));
            let old = first_version(&path);
            old.execute("INSERT INTO recordings (at, labels) VALUES (7, '{}')", []).unwrap();
            drop(old);
            let opened = open_history(&path, purpose).unwrap();
            assert_eq!(schema_version(&opened, &path), Ok(Some(STEPS.len())));
            let at: i64 = opened.query_row("SELECT at FROM recordings", [], |row| row.get(0)).unwrap();
            let used: i64 = opened.query_row("SELECT count(*) FROM used", [], |row| row.get(0)).unwrap();
            assert_eq!((at, used), (7, 0));
        }
    }

    #[test]
    fn a_newer_history_and_what_is_none_are_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("newer.db");
        first_version(&path).pragma_update(None, "user_version", 99).unwrap();
        let foreign = folder.path().join("foreign.db");
        Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE people (name TEXT)").unwrap();
        let text = folder.path().join("text.db");
        std::fs::write(&text, "a text that is long enough to be looked at ".repeat(100)).unwrap();
        for (path, said) in [(&path, "version 99"), (&foreign, "another program"), (&text, "no database")] {
            let before = std::fs::read(path).unwrap();
            for purpose in [OpenPurpose::Record, OpenPurpose::Read] {
                let error = open_history(path, purpose).unwrap_err();
                assert!(error.message.contains(said), "{error:?}");
            }
            assert_eq!(std::fs::read(path).unwrap(), before);
        }
    }
}
