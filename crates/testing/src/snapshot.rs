//! Snapshots: the findings of each test, with reasons and evidence, in a file beside the rules that people review. A verdict shows that a rule fires;
//! a snapshot shows that it fires for the right reason.
//!
//! The file is text: a line `=== NAME` for each test, followed by an indented line for each finding.

use super::outcome::TrialReport;
use averment_syntax::difference::diff_hunks;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

const MARK: &str = "=== ";
const HEAD: &str = "# What each test finds, written by `aver test --update`. A difference fails the test; read it before accepting it.";
/// Replaces the extension of the rule file.
const ENDING: &str = "snap";
/// Maximum size of the file in bytes.
const SIZE: usize = 256 << 20;

/// Returns the path of the snapshots of a rule file.
#[must_use]
pub fn path_of(rules: &Path) -> PathBuf {
    rules.with_extension(ENDING)
}

/// The snapshots of a rule file.
#[derive(Debug, Default)]
pub struct TestSnapshots {
    /// The file.
    pub path: PathBuf,
    known: BTreeMap<String, String>,
}

/// The result of a comparison, except the changes that are stored in the tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SnapshotComparison {
    /// Tests whose snapshot differs or is missing.
    pub differing: usize,
    /// Snapshots without a test.
    pub orphans: Vec<String>,
}

impl TestSnapshots {
    /// Reads the file; a missing file has no snapshots.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read_file(path: PathBuf) -> io::Result<Self> {
        // Rules may come from anyone, so a link beside them must not choose which file is read and shown.
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::other("it is no regular file"));
        }
        if path.is_symlink() {
            return Err(io::Error::other("it is a link"));
        }
        let text = match averment_base::files::text_of(&path, SIZE) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        Ok(Self { path, known: parse_snapshots(&text) })
    }

    /// Compares tests with their snapshots; a test whose snapshot differs or is missing does not pass. If `all` tests were run, snapshots without a
    /// test are reported.
    pub fn compare_tests(&self, tested: &mut [TrialReport], all: bool) -> SnapshotComparison {
        let mut compared = SnapshotComparison::default();
        let names = snapshot_names(tested);
        for (test, name) in tested.iter_mut().zip(&names).filter(|(test, _)| test.expect.is_some() && !test.unreadable)
        {
            let Some(changes) = self.snapshot_changes(test, name) else { continue };
            compared.differing += 1;
            if test.passed {
                test.passed = false;
                (test.reason, test.help) = match self.known.contains_key(name) {
                    true => ("what it finds is not what its snapshot says".to_owned(), ACCEPT.to_owned()),
                    false => ("it has no snapshot yet".to_owned(), ACCEPT.to_owned()),
                };
            }
            test.changes = changes;
        }
        if all {
            compared.orphans.extend(self.known.keys().filter(|known| !names.contains(known)).cloned());
        }
        compared
    }

    fn snapshot_changes(&self, test: &TrialReport, name: &str) -> Option<Vec<String>> {
        let before = self.known.get(name).map_or("", String::as_str);
        (before != test.snapshot || !self.known.contains_key(name)).then(|| changed_lines(before, &test.snapshot))
    }

    /// Stores the findings of the tests as their snapshots and writes the file if that changes it. If `all` tests were run, snapshots without a test
    /// are removed. Returns the number of snapshots that changed, were added or were removed. `write` must write the file atomically.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn update_file(
        &mut self,
        tested: &[TrialReport],
        all: bool,
        write: impl FnOnce(&Path, &[u8]) -> io::Result<()>,
    ) -> io::Result<usize> {
        let names = snapshot_names(tested);
        let before = self.known.clone();
        if all {
            self.known.retain(|known, _| names.contains(known));
        }
        for (test, name) in tested.iter().zip(names).filter(|(test, _)| test.expect.is_some() && !test.unreadable) {
            self.known.insert(name, test.snapshot.clone());
        }
        let changed = before.iter().filter(|(name, text)| self.known.get(*name) != Some(text)).count();
        let new = self.known.keys().filter(|name| !before.contains_key(*name)).count();
        if changed + new > 0 {
            // Rules may come from anyone, so a link beside them must not choose which file is overwritten.
            if self.path.is_symlink() {
                return Err(io::Error::other("it is a link, and nothing is written through it"));
            }
            write(&self.path, self.file_text().as_bytes())?;
        }
        Ok(changed + new)
    }

    fn file_text(&self) -> String {
        let mut text = format!("{HEAD}\n");
        for (name, found) in &self.known {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "\n{MARK}{name}\n{found}");
        }
        text
    }
}

const ACCEPT: &str = "`aver test --update` accepts what it finds now";

fn snapshot_names(tested: &[TrialReport]) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut named = Vec::new();
    for test in tested {
        let name = test.name.split_whitespace().collect::<Vec<_>>().join(" ");
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        named.push(if *count == 1 { name } else { format!("{name} ({count})") });
    }
    named
}

fn parse_snapshots(text: &str) -> BTreeMap<String, String> {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix(MARK) {
            known.insert(name.trim().to_owned(), String::new());
            open = Some(name.trim().to_owned());
        } else if let Some(found) = open.as_ref().and_then(|name| known.get_mut(name))
            && !line.trim().is_empty()
        {
            found.push_str(line.trim_end());
            found.push('\n');
        }
    }
    known
}

fn changed_lines(before: &str, behind: &str) -> Vec<String> {
    let lines = diff_hunks(before, behind, 1).into_iter().flat_map(|hunk| hunk.lines);
    lines.map(|(change, line)| format!("{} {}", change.diff_sign(), line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn nothing_is_read_from_a_device_or_written_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("r.snap"), folder.path().join("precious"));
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        assert!(TestSnapshots::read_file(link.clone()).is_err());
        std::fs::remove_file(&link).unwrap();
        std::fs::write(&target, "=== old\nx\n").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(TestSnapshots::read_file(link).is_err(), "a link is not read, so that nothing is written through it");
        assert_eq!(std::fs::read_to_string(target).unwrap(), "=== old\nx\n");
    }

    #[test]
    fn what_is_written_is_read_again() {
        let known: BTreeMap<String, String> = [
            ("a test".to_owned(), "r.1: failed\n  because\n".to_owned()),
            ("other".to_owned(), "r.1: passed\n".to_owned()),
        ]
        .into();
        let snapshots = TestSnapshots { path: PathBuf::new(), known: known.clone() };
        assert_eq!(parse_snapshots(&snapshots.file_text()), known);
        assert_eq!(parse_snapshots(&snapshots.file_text().replace('\n', "\r\n")), known);
        assert_eq!(parse_snapshots(""), BTreeMap::new());
        assert_eq!(parse_snapshots("no test\n=== \nx"), [(String::new(), "x\n".to_owned())].into());
    }
}
