//! Files in folders and archives that are not traces. They are skipped and counted, and so are values beside the runs of a trace that are not runs. A
//! file that the user names explicitly must be a trace.

use averment_bulk::reading_notes::{FileRecords, ReadingNotes};
use averment_report::model::UnreadableTrace;
use averment_report::redact;
use averment_runs::run::RecordCounts;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Maximum number of skipped files that a note names.
const NAMED: usize = 3;

/// The files skipped so far.
#[derive(Debug, Default)]
pub struct SkippedFiles {
    /// Folders of the command line; empty with `--strict`, which skips nothing.
    folders: Vec<PathBuf>,
    /// Explicitly named files, which must be traces in whatever folder they are.
    named: Vec<PathBuf>,
    strict: bool,
    files: BTreeMap<String, SkippedFile>,
    /// The file of the latest records, and their count.
    current: (String, u64),
}

#[derive(Debug)]
struct SkippedFile {
    /// Counts of all records, and of those that are not runs.
    records: RecordCounts,
    first: (usize, String),
}

impl SkippedFile {
    fn has_no_run(&self) -> bool {
        self.records.not_understood >= self.records.seen
    }
}

impl SkippedFiles {
    /// Creates the record for the traces of the command line.
    pub fn new(given: &[String], strict: bool) -> Self {
        let (folders, named) = given.iter().map(PathBuf::from).partition::<Vec<_>, _>(|path| path.is_dir());
        let plain = |path: PathBuf| path.strip_prefix(".").map(Path::to_path_buf).unwrap_or(path);
        let folders = folders.into_iter().map(plain).collect();
        Self { folders, named, strict, ..Self::default() }
    }

    /// True if an unreadable record may be skipped; it is then counted.
    pub fn skips_unreadable(&mut self, what: &UnreadableTrace) -> bool {
        if !what.no_trace || self.strict {
            return false;
        }
        if let Some(known) = self.files.get_mut(&what.file) {
            known.records.not_understood += 1;
            return true;
        }
        let takes = self.is_found(Path::new(&what.file));
        if takes {
            let records = RecordCounts { not_understood: 1, ..RecordCounts::default() };
            self.files.insert(what.file.clone(), SkippedFile { records, first: (what.line, what.message.clone()) });
        }
        takes
    }

    /// Counts the records of files, in the order of the files. Their unreadable records must have been reported before.
    pub fn count_records(&mut self, records: &FileRecords) {
        for (file, count) in records.file_counts() {
            if self.current.0 != file {
                self.current = (file.to_owned(), 0);
            }
            self.current.1 = self.current.1.saturating_add(count);
            if !self.files.is_empty()
                && let Some(known) = self.files.get_mut(redact::redact_file(file).as_ref())
            {
                known.records.seen = self.current.1;
            }
        }
    }

    /// Adds notes about records beside runs that are not runs.
    pub fn note_records(&self, understood: &ReadingNotes) {
        for (file, of) in self.files.iter().filter(|(_, of)| !of.has_no_run()) {
            understood.note_beside(file, of.records, of.first.clone());
        }
    }

    /// True if a file was found in a folder or archive, instead of named explicitly.
    fn is_found(&self, file: &Path) -> bool {
        let inside = || file.ancestors().skip(1).any(Path::is_file);
        let named = self.named.iter().any(|path| path == file);
        !named && (self.folders.iter().any(|folder| file.starts_with(folder)) || inside())
    }

    /// Returns one line with the number of skipped files; empty if there are none.
    pub fn skipped_note(&self) -> String {
        let files = || self.files.iter().filter(|(_, of)| of.has_no_run()).map(|(file, _)| file);
        let named: Vec<String> = files().take(NAMED).map(|file| format!("`{file}`")).collect();
        let (count, named) = (files().count(), named.join(", "));
        let more = if count > NAMED { ", …" } else { "" };
        match count {
            0 => String::new(),
            1 => format!("note: {named} is not a trace and was skipped; `--strict` fails on it\n"),
            count => format!(
                "note: {count} files are not traces and were skipped ({named}{more}); `--strict` fails on them\n"
            ),
        }
    }
}
