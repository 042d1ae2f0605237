//! Trace warnings for people. A message that many runs share is shown once, with its count and first location.

use super::model::RunReport;
use averment_base::diagnostic::render::one_line;
use std::cmp::Reverse;

/// Maximum number of kinds of warnings; further ones are only counted.
const KINDS: usize = 1_000;

/// Trace warnings by message.
#[derive(Debug, Default)]
pub struct TraceWarnings {
    /// Each message with its count and first location.
    pub kinds: Vec<(String, u64, String)>,
    /// Number of warnings beyond the maximum number of kinds.
    pub others: u64,
}

impl TraceWarnings {
    /// Counts a warning.
    pub fn add_warning(&mut self, run: &RunReport, line: usize, message: &str) {
        if let Some((_, count, _)) = self.kinds.iter_mut().find(|(known, ..)| known == message) {
            *count += 1;
        } else if self.kinds.len() < KINDS {
            self.kinds.push((message.to_owned(), 1, format!("{}:{line}", one_line(&run.file))));
        } else {
            self.others += 1;
        }
    }

    /// Returns the kinds, most frequent first.
    pub fn most_common(&self) -> Vec<&(String, u64, String)> {
        let mut kinds: Vec<_> = self.kinds.iter().collect();
        kinds.sort_by_key(|(_, count, _)| Reverse(*count));
        kinds
    }
}
