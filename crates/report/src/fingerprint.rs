//! What makes a violation the same one in the next check, also where lines of the rules or of the trace have moved.

use super::digest::{hash_beginning, to_hex};
use super::model::{RunReport, ViolationView};
use super::table::ReportItem;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// Fingerprints of one report. Violations that are alike in everything are numbered.
#[derive(Debug, Default)]
pub struct ViolationFingerprints {
    seen: HashMap<[u8; 16], u32>,
}

impl ViolationFingerprints {
    /// The fingerprint of a violation: of the id of its assertion, the file of the run, what is said of it and the values that prove it.
    /// Line numbers of rules and traces are no part of it.
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
