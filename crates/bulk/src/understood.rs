//! Records of traces that their format has no meaning for: what rules were not asked about is told at the end, whatever the report is.

use averment_base::diagnostic::render::one_line;
use averment_report::redact_run;
use averment_runs::run::{Records, Run};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// So many files are told of by name.
const FILES: usize = 20;
/// So many files are kept.
const MOST: usize = 10_000;

/// How much of the traces was understood, of the files in which something was not.
#[derive(Debug, Default)]
pub struct Understood {
    files: Mutex<BTreeMap<String, OfFile>>,
}

#[derive(Debug)]
struct OfFile {
    records: Records,
    /// The first record that was not understood: its line, and why.
    first: (usize, String),
}

impl Understood {
    /// Notes a run. What is noted does not depend on the order of the runs.
    pub fn note(&self, run: &Run<'_>) {
        if run.records.not_understood == 0 {
            return;
        }
        let first = run.warnings.iter().min_by_key(|warning| warning.offset);
        let line = |offset| run.source.place(run.text, offset).0;
        let first = first.map(|one| (line(one.offset), redact_run(run, &one.message))).unwrap_or_default();
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = files.get_mut(&run.source.file) {
            known.records.seen += run.records.seen;
            known.records.not_understood += run.records.not_understood;
            known.first = std::mem::take(&mut known.first).min(first);
        } else if files.len() < MOST {
            files.insert(run.source.file.clone(), OfFile { records: run.records, first });
        }
    }

    /// A line for each file, in the order of their names.
    #[must_use]
    pub fn warnings(&self) -> String {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let mut said: String = files.iter().take(FILES).map(|(file, of)| told(file, of)).collect();
        if files.len() > FILES {
            said.push_str(&format!("warning: and so in {} more files\n", files.len() - FILES));
        }
        said
    }
}

fn told(file: &str, of: &OfFile) -> String {
    let Records { seen, not_understood } = of.records;
    let (at, why) = &of.first;
    let (file, why) = (one_line(file), one_line(why));
    format!("warning: {file}: {not_understood} of {seen} records not understood; line {at}: {why}\n")
}
