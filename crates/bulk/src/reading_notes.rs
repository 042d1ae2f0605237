//! Records of traces that their format has no meaning for: what rules were not asked about is told at the end, whatever the report is.

use averment_base::diagnostic::render::one_line;
use averment_report::redact_run;
use averment_runs::run::{CostSource, RecordCounts, Run};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// Files reported by name.
const FILES: usize = 20;
/// Reasons reported.
const REASONS: usize = 3;
/// Empty runs named.
const NAMED: usize = 3;
/// Files kept.
const MOST: usize = 10_000;

/// For each file that was not fully understood, how much of it was.
#[derive(Debug, Default)]
pub struct ReadingNotes {
    files: Mutex<BTreeMap<String, FileNotes>>,
    empty: Mutex<EmptyRuns>,
    /// Why costs are unknown despite a price table, with the number of runs.
    unpriced: Mutex<BTreeMap<String, u64>>,
}

#[derive(Debug, Default)]
struct EmptyRuns {
    count: u64,
    first: BTreeSet<(String, u64, String)>,
}

#[derive(Debug)]
struct FileNotes {
    records: RecordCounts,
    first: (usize, String),
}

/// Number of records per file: runs, and entries that should be runs but are not.
#[derive(Debug, Default)]
pub struct FileRecords(Vec<(String, u64)>);

impl FileRecords {
    /// Adds records of a file; those of one file come one after the other.
    pub fn add_records(&mut self, file: &str, records: u64) {
        match self.0.last_mut() {
            Some((last, count)) if last == file => *count = count.saturating_add(records),
            _ if records > 0 => self.0.push((file.to_owned(), records)),
            _ => {}
        }
    }

    /// The files in the order in which they were read, each with its number of records.
    pub fn file_counts(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(file, records)| (file.as_str(), *records))
    }
}

impl ReadingNotes {
    /// Notes records of a file that are no runs and stand beside some: how many of how many, the line of the first, and why it is none.
    pub fn note_beside(&self, file: &str, records: RecordCounts, first: (usize, String)) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        note_in(&mut files, file, records, first);
    }

    /// Notes a run. What is noted does not depend on the order of the runs.
    pub fn note_run(&self, run: &Run<'_>) {
        if let CostSource::Unknown(why) = &run.priced {
            let mut unpriced = self.unpriced.lock().unwrap_or_else(PoisonError::into_inner);
            note_unpriced(&mut unpriced, &redact_run(run, why));
        }
        if run.records.empty {
            let place = (run.source.file.clone(), run.source.offset, redact_run(run, &run.source.run_name()));
            let mut empty = self.empty.lock().unwrap_or_else(PoisonError::into_inner);
            empty.count = empty.count.saturating_add(1);
            empty.first.insert(place);
            if empty.first.len() > NAMED {
                empty.first.pop_last();
            }
        }
        if run.records.not_understood == 0 {
            return;
        }
        let first = run.warnings.iter().min_by_key(|warning| warning.offset);
        let line = |offset| run.source.line_column(run.text, offset).0;
        let first = first.map(|one| (line(one.offset), redact_run(run, &one.message))).unwrap_or_default();
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        note_in(&mut files, &run.source.file, run.records, first);
    }

    /// A line for each file, in the order of their names.
    #[must_use]
    pub fn warning_lines(&self) -> String {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let mut said: String = files.iter().take(FILES).map(|(file, of)| file_warning(file, of)).collect();
        if files.len() > FILES {
            said.push_str(&format!("warning: and so in {} more files\n", files.len() - FILES));
        }
        said.push_str(&empty_in_words(&self.empty.lock().unwrap_or_else(PoisonError::into_inner)));
        said + &unpriced_in_words(&self.unpriced.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn note_in(files: &mut BTreeMap<String, FileNotes>, file: &str, records: RecordCounts, first: (usize, String)) {
    if let Some(known) = files.get_mut(file) {
        known.records.seen = known.records.seen.saturating_add(records.seen);
        known.records.not_understood = known.records.not_understood.saturating_add(records.not_understood);
        known.first = std::mem::take(&mut known.first).min(first);
    } else if files.len() < MOST {
        files.insert(file.to_owned(), FileNotes { records, first });
    }
}

fn empty_in_words(EmptyRuns { count, first }: &EmptyRuns) -> String {
    let names: Vec<String> = first.iter().map(|(_, _, name)| format!("`{}`", one_line(name))).collect();
    let names = names.join(", ");
    match count {
        0 => String::new(),
        1 => format!("warning: a run is empty, no step and no output of it is recorded: {names}\n"),
        count => {
            let more = if *count > NAMED as u64 { ", …" } else { "" };
            format!("warning: {count} runs are empty, no step and no output of them is recorded: {names}{more}\n")
        }
    }
}

/// Counts a run whose cost is not known, by the reason.
pub fn note_unpriced(known: &mut BTreeMap<String, u64>, why: &str) {
    if known.len() < MOST || known.contains_key(why) {
        *known.entry(why.to_owned()).or_default() += 1;
    }
}

/// One line about the runs whose cost is not known; empty where there are none.
#[must_use]
pub fn unpriced_in_words(known: &BTreeMap<String, u64>) -> String {
    let (count, mut reasons) = (known.values().sum::<u64>(), known.iter().collect::<Vec<_>>());
    reasons.sort_by(|(a, of_a), (b, of_b)| of_b.cmp(of_a).then_with(|| a.cmp(b)));
    let said: Vec<String> = reasons.iter().take(REASONS).map(|(why, of)| format!("{} ({of})", one_line(why))).collect();
    let more = if reasons.len() > REASONS { ", …" } else { "" };
    match count {
        0 => String::new(),
        1 => format!("warning: the cost of 1 run is not known: {}\n", said.join("").trim_end_matches(" (1)")),
        count => format!("warning: the cost of {count} runs is not known: {}{more}\n", said.join(", ")),
    }
}

fn file_warning(file: &str, of: &FileNotes) -> String {
    let RecordCounts { seen, not_understood, .. } = of.records;
    let (at, why) = &of.first;
    let (file, why) = (one_line(file), one_line(why));
    format!("warning: {file}: {not_understood} of {seen} records not understood; line {at}: {why}\n")
}
