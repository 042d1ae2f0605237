//! Files among those of a folder, or of an archive, that are no traces: they are passed over and counted, and so are values that stand beside
//! the runs of such a file and are none. What somebody names is a trace.

use averment_bulk::understood::{FileRecords, Understood};
use averment_report::model::Unreadable;
use averment_report::redact;
use averment_runs::run::Records;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// So many files are named.
const NAMED: usize = 3;

/// What was passed over so far.
#[derive(Debug, Default)]
pub struct PassedOver {
    /// The folders of the command line; nothing is passed over where what is odd is an error.
    folders: Vec<PathBuf>,
    /// What somebody names is a trace, in whatever folder it is.
    named: Vec<PathBuf>,
    strict: bool,
    /// What was passed over of each file.
    files: BTreeMap<String, OfFile>,
    /// The file whose records came last, and how many of them came.
    current: (String, u64),
}

/// What was passed over of a file.
#[derive(Debug)]
struct OfFile {
    /// How many of its records are no runs, and how many it has.
    records: Records,
    /// The first of them: its line, and why it is none.
    first: (usize, String),
}

impl OfFile {
    /// Whether nothing in it is a run.
    fn is_no_trace(&self) -> bool {
        self.records.not_understood >= self.records.seen
    }
}

impl PassedOver {
    /// For the traces of the command line.
    pub fn new(given: &[String], strict: bool) -> Self {
        let (folders, named) = given.iter().map(PathBuf::from).partition::<Vec<_>, _>(|path| path.is_dir());
        let plain = |path: PathBuf| path.strip_prefix(".").map(Path::to_path_buf).unwrap_or(path);
        let folders = folders.into_iter().map(plain).collect();
        Self { folders, named, strict, ..Self::default() }
    }

    /// Whether what cannot be read is to be passed over; it is counted then.
    pub fn takes(&mut self, what: &Unreadable) -> bool {
        if !what.no_trace || self.strict {
            return false;
        }
        if let Some(known) = self.files.get_mut(&what.file) {
            known.records.not_understood += 1;
            return true;
        }
        let takes = self.is_found(Path::new(&what.file));
        if takes {
            let records = Records { not_understood: 1, ..Records::default() };
            self.files.insert(what.file.clone(), OfFile { records, first: (what.line, what.message.clone()) });
        }
        takes
    }

    /// Counts records of files, in the order of the files: what cannot be read of them has been told before.
    pub fn count(&mut self, records: &FileRecords) {
        for (file, count) in records.files() {
            if self.current.0 != file {
                self.current = (file.to_owned(), 0);
            }
            self.current.1 = self.current.1.saturating_add(count);
            if !self.files.is_empty()
                && let Some(known) = self.files.get_mut(redact::of_file(file).as_ref())
            {
                known.records.seen = self.current.1;
            }
        }
    }

    /// Says which records beside runs were none.
    pub fn tell(&self, understood: &Understood) {
        for (file, of) in self.files.iter().filter(|(_, of)| !of.is_no_trace()) {
            understood.note_beside(file, of.records, of.first.clone());
        }
    }

    /// Whether a file was found, rather than named: below a folder, or inside of an archive.
    fn is_found(&self, file: &Path) -> bool {
        let inside = || file.ancestors().skip(1).any(Path::is_file);
        let named = self.named.iter().any(|path| path == file);
        !named && (self.folders.iter().any(|folder| file.starts_with(folder)) || inside())
    }

    /// How many files were passed over, in one line; empty where none was.
    pub fn note(&self) -> String {
        let files = || self.files.iter().filter(|(_, of)| of.is_no_trace()).map(|(file, _)| file);
        let named: Vec<String> = files().take(NAMED).map(|file| format!("`{file}`")).collect();
        let (count, named) = (files().count(), named.join(", "));
        let more = if count > NAMED { ", …" } else { "" };
        match count {
            0 => String::new(),
            1 => format!("note: {named} is no trace and is passed over; `--strict` fails on it\n"),
            count => format!(
                "note: {count} files are no traces and are passed over ({named}{more}); `--strict` fails on them\n"
            ),
        }
    }
}
