//! The most frequent findings over all runs, by assertion, with a few examples each.

use super::by_rule::ByRule;
use super::gate::GatePolicy;
use super::model::RunReport;
use super::standing::{self, FindingLevel, ResultStanding};
use super::table::ReportTable;
use super::{Options, ReportedCommand};
use std::cmp::Reverse;

/// Findings by assertion.
#[derive(Debug, Default)]
pub struct WorstFindings {
    policy: GatePolicy,
    command: ReportedCommand,
    /// Maximum number of violations reported for one run.
    violations: usize,
    /// The rows, by item index.
    rows: Vec<Option<WorstRow>>,
    /// Rules that fail runs by missing their threshold: the rule, the number of runs, and the first example in words.
    pub rules: Vec<(usize, u64, String)>,
    /// Counts by rule.
    pub by_rule: ByRule,
    exercised: Vec<bool>,
}

/// The report row of an assertion.
#[derive(Debug)]
pub struct WorstRow {
    /// The assertion, as an index into [`ReportTable::items`].
    pub item: usize,
    /// The most severe level.
    pub level: FindingLevel,
    /// Number of runs with a finding.
    pub count: u64,
    /// Number of runs that the assertion fails.
    pub failing: u64,
    /// The first examples.
    pub examples: Vec<FindingExample>,
}

/// A finding in a run.
#[derive(Debug)]
pub struct FindingExample {
    /// The run.
    pub run: String,
    /// The reported sentence.
    pub sentence: String,
    /// The failure class, if it has one.
    pub class: Option<String>,
}

/// Maximum number of example runs for each assertion.
const RUNS: usize = 3;

impl WorstFindings {
    /// Creates rows for the assertions of a table.
    pub fn new(table: &ReportTable, options: &Options) -> Self {
        let Options { policy, command, violations, .. } = *options;
        let rows = table.items.iter().map(|_| None).collect();
        let exercised = vec![false; table.items.len()];
        Self { policy, command, violations, rows, by_rule: ByRule::new(table), exercised, ..Self::default() }
    }

    /// Adds a run.
    pub fn add_run(&mut self, table: &ReportTable, run: &RunReport) {
        self.by_rule.add_run(run);
        for result in &run.results {
            let standing = ResultStanding::of_result(table, result, self.policy);
            let idle = matches!(standing, ResultStanding::Vacuous | ResultStanding::Skipped);
            if let Some(exercised) = self.exercised.get_mut(result.item) {
                *exercised |= !idle;
            }
            let finding =
                !idle && !matches!(standing, ResultStanding::Passed | ResultStanding::Expected | ResultStanding::Known);
            let (Some(item), Some(row), true) = (table.items.get(result.item), self.rows.get_mut(result.item), finding)
            else {
                continue;
            };
            let level = FindingLevel::of_standing(standing, item);
            let row = row.get_or_insert_with(|| WorstRow {
                item: result.item,
                level,
                count: 0,
                failing: 0,
                examples: Vec::new(),
            });
            row.level = row.level.max(level);
            row.count += 1;
            row.failing += u64::from(standing.fails_run());
            if row.count > RUNS as u64 {
                continue;
            }
            let class = item.class_of(result).map(|class| class.name().to_owned());
            let said = |violation| FindingExample {
                run: run.run.clone(),
                sentence: standing::result_sentence(self.command, item, result, violation),
                class: class.clone(),
            };
            row.examples.extend(crate::model::listed_violations(result).take(self.violations.max(1)).map(said));
            let shown = row.examples.iter().filter(|one| one.run == run.run).count();
            if let Some(rest) = result.violations.not_drawn(shown).filter(|_| result.violations.count > 0) {
                row.examples.push(FindingExample { run: run.run.clone(), sentence: rest, class });
            }
        }
        for rule in standing::judged_rules(table, run) {
            if !standing::rule_fails(table, rule, self.policy) {
                continue;
            }
            match self.rules.iter_mut().find(|(known, ..)| *known == rule.rule) {
                Some((_, count, _)) => *count += 1,
                None => {
                    let said = standing::missed_threshold(table, rule).unwrap_or_default();
                    self.rules.push((rule.rule, 1, format!("{}: {said}", run.run)));
                }
            }
        }
    }

    /// Returns the assertions with findings, by severity and then by frequency.
    pub fn sorted_rows(&self) -> Vec<&WorstRow> {
        let mut rows: Vec<&WorstRow> = self.rows.iter().flatten().collect();
        rows.sort_by_key(|row| (Reverse(row.level), Reverse(row.failing), Reverse(row.count), row.item));
        rows
    }

    /// Returns the names of assertions that applied to some run, but were never exercised.
    pub fn never_exercised(&self, table: &ReportTable) -> Vec<String> {
        let items = table.items.iter().zip(&self.exercised);
        items
            .filter(|(_, exercised)| !**exercised)
            .map(|(item, _)| standing::shorten_line(item.display_name(), 80))
            .collect()
    }
}
