//! Fingerprints that identify a violation in later checks, even if lines of the rules or of the trace have moved.

use super::digest::{hash_beginning, to_hex};
use super::model::{RunReport, ViolationView};
use super::table::ReportItem;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// Fingerprints of one report. Identical violations are numbered.
#[derive(Debug, Default)]
pub struct ViolationFingerprints {
    seen: HashMap<[u8; 16], u32>,
}

impl ViolationFingerprints {
    /// Returns the fingerprint of a violation. It is made of the assertion's id, the file of the run, the message, and the values of the evidence.
    /// Line numbers of rules and traces are not included.
    pub fn violation_fingerprint(
        &mut self,
        item: &ReportItem,
        run: &RunReport,
        violation: ViolationView<'_>,
    ) -> String {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update(text.as_bytes());
            hash.update([0]);
        };
        add(&item.id);
        add(&run.file);
        add(violation.reason);
        for one in violation.evidence {
            add(&one.path);
            add(one.value.as_deref().map_or("", |value| value.get()));
        }
        let first: [u8; 16] = hash_beginning(hash);
        let number = self.seen.entry(first).or_insert(0);
        *number += 1;
        match *number {
            1 => to_hex(&first),
            number => format!("{}-{number}", to_hex(&first)),
        }
    }
}
