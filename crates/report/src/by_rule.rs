//! Counts per rule over all runs. An assertion outside of rules has its own row.

use super::chunk_totals::ChunkTotals;
use super::model::RunReport;
use super::table::ReportTable;
use super::totals::Counts;
use averment_engine::vm::outcome::Status;
use std::collections::{HashMap, HashSet};

/// The rows, in the order of the rules.
#[derive(Debug, Default)]
pub struct ByRule {
    /// The rows.
    pub rows: Vec<RuleCounts>,
    /// The row of each item.
    of_item: Vec<usize>,
}

/// Counts for one rule.
#[derive(Debug)]
pub struct RuleCounts {
    /// Its name from the rule file; untrusted text.
    pub name: String,
    /// Results of its assertions.
    pub counts: Counts,
    /// The first of its assertions, as an index into [`ReportTable::items`].
    pub item: usize,
}

impl ByRule {
    /// Creates a row for each rule with an assertion in the table.
    #[must_use]
    pub fn new(table: &ReportTable) -> Self {
        let mut by_rule = Self::default();
        let mut of_rule = vec![None; table.rules.len()];
        for (number, item) in table.items.iter().enumerate() {
            let known = item.rule.and_then(|rule| of_rule.get(rule).copied().flatten());
            let row = known.unwrap_or(by_rule.rows.len());
            if known.is_none() {
                let name = table.rule_of(item).map_or(item.display_name(), |rule| &rule.id).to_owned();
                by_rule.rows.push(RuleCounts { name, counts: Counts::default(), item: number });
            }
            if let Some(slot) = item.rule.and_then(|rule| of_rule.get_mut(rule)) {
                *slot = Some(row);
            }
            by_rule.of_item.push(row);
        }
        by_rule.tell_apart(table);
        by_rule
    }

    fn tell_apart(&mut self, table: &ReportTable) {
        let mut times: HashMap<&str, usize> = HashMap::new();
        self.rows.iter().for_each(|row| *times.entry(&row.name).or_default() += 1);
        let twice: HashSet<String> =
            times.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name.to_owned()).collect();
        for row in self.rows.iter_mut().filter(|row| twice.contains(&row.name)) {
            let at = table.items.get(row.item).map(|item| &item.location);
            row.name = at.map(|at| format!("{}:{}: {}", at.file, at.line, row.name)).unwrap_or_default();
        }
    }

    /// Counts a run.
    pub fn add_run(&mut self, run: &RunReport) {
        for result in &run.results {
            if let Some(row) = self.of_item.get(result.item).and_then(|&row| self.rows.get_mut(row)) {
                row.counts.add_result(result);
            }
        }
    }

    /// Counts a chunk of runs.
    pub fn add_chunk(&mut self, chunk: &ChunkTotals) {
        for (row, counts) in self.of_item.iter().zip(&chunk.counts) {
            let Some(row) = self.rows.get_mut(*row) else { continue };
            for (status, count) in Status::ALL.into_iter().zip(counts) {
                row.counts.add_many(status, u64::from(*count));
            }
        }
    }
}
