//! Files among those of a folder, or of an archive, that are no traces: they are passed over and counted. What somebody names is a trace.

use averment_report::model::Unreadable;
use std::collections::BTreeSet;
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
    files: BTreeSet<String>,
}

impl PassedOver {
    /// For the traces of the command line.
    pub fn new(given: &[String], strict: bool) -> Self {
        let (folders, named): (Vec<_>, Vec<_>) = given.iter().map(PathBuf::from).partition(|path| path.is_dir());
        let plain = |path: PathBuf| path.strip_prefix(".").map(Path::to_path_buf).unwrap_or(path);
        Self { folders: folders.into_iter().map(plain).collect(), named, strict, files: BTreeSet::new() }
    }

    /// Whether a file that cannot be read is one to pass over; it is counted then.
    pub fn takes(&mut self, what: &Unreadable) -> bool {
        let takes = what.no_trace && !self.strict && self.is_found(Path::new(&what.file));
        if takes {
            self.files.insert(what.file.clone());
        }
        takes
    }

    /// Whether a file was found, rather than named: below a folder, or inside of an archive.
    fn is_found(&self, file: &Path) -> bool {
        let inside = || file.ancestors().skip(1).any(Path::is_file);
        let named = self.named.iter().any(|path| path == file);
        !named && (self.folders.iter().any(|folder| file.starts_with(folder)) || inside())
    }

    /// How many files were passed over, in one line; empty where none was.
    pub fn note(&self) -> String {
        let named: Vec<String> = self.files.iter().take(NAMED).map(|file| format!("`{file}`")).collect();
        let more = if self.files.len() > NAMED { ", …" } else { "" };
        match self.files.len() {
            0 => String::new(),
            1 => format!("note: {} is no trace and is passed over; `--strict` fails on it\n", named.join("")),
            count => {
                let named = named.join(", ");
                format!(
                    "note: {count} files are no traces and are passed over ({named}{more}); `--strict` fails on them\n"
                )
            }
        }
    }
}
