//! What is said of all runs together when the last was judged.

use crate::judge::RunResult;
use crate::pipeline::Pipeline;
use crate::workers::FinishedChunk;
use averment_base::truth::Verdict;
use averment_checker::ir::Severity;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::outcome::{RunOutcome, Status};
use averment_engine::vm::over_runs::{self, RunsTally};
use averment_report::gate::Gate;
use averment_report::item_set::ItemSet;
use averment_report::model::{ResultReport, RunReport};
use averment_report::over_runs::over_runs_report as report_of;
use averment_report::table::{ReportItem, ReportTable};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// State kept across runs for a check, updated in chunk order.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct OverRunsTally {
    tallies: Vec<RunsTally>,
    exercised: ItemSet,
    runs: u64,
}

impl OverRunsTally {
    /// Adds what is kept of the runs behind these, which another check of the same programs has judged.
    pub fn append(&mut self, behind: Self) {
        self.append_tallies(behind.tallies);
        self.exercised.append(&behind.exercised);
        self.runs = self.runs.saturating_add(behind.runs);
    }

    /// Runs that were judged.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.runs
    }

    fn append_tallies(&mut self, given: Vec<RunsTally>) {
        if self.tallies.len() < given.len() {
            self.tallies.resize_with(given.len(), RunsTally::default);
        }
        self.tallies.iter_mut().zip(given).for_each(|(all, given)| all.append(given));
    }

    pub(crate) fn add_chunk(&mut self, chunk: &mut FinishedChunk) {
        self.append_tallies(std::mem::take(&mut chunk.totals.over_runs));
        self.runs = self.runs.saturating_add(chunk.totals.runs);
        chunk.totals.note_items(is_exercised, &mut self.exercised);
        for done in &chunk.done {
            if let RunResult::Run(run) = done {
                self.runs = self.runs.saturating_add(1);
                let results = run.results.iter().filter(|result| is_exercised(result.status));
                self.exercised.extend(results.map(|result| result.item));
            }
        }
    }
}

fn is_exercised(status: Status) -> bool {
    !matches!(status, Status::Vacuous | Status::Skipped)
}

/// The result over all runs: assertions over runs, and unexercised ones if denied. `None` if there is nothing to report.
#[must_use]
pub fn over_runs_report(pipeline: &Pipeline, all: &OverRunsTally) -> Option<RunReport> {
    let options = &pipeline.options;
    let none = RunsTally::default();
    let concluded = |place: usize, program: &Program| {
        let selected = |assertion: &_| options.selection.is_selected(program, assertion);
        let any = over_runs::of_program(program).any(|(_, assertion, _)| selected(assertion));
        let tally = all.tallies.get(place).unwrap_or(&none);
        let conclude = || {
            let prepared = pipeline.prepared.get(place)?;
            Some(over_runs::conclude_runs(program, prepared, &options.limits, tally, &selected))
        };
        RunOutcome { results: any.then(conclude).flatten().unwrap_or_default(), passed: true, ..RunOutcome::default() }
    };
    let outcomes: Vec<RunOutcome> =
        pipeline.programs.iter().enumerate().map(|(place, program)| concluded(place, program)).collect();
    let Pipeline { table, policy, detail, .. } = pipeline;
    let mut made = report_of(table, &outcomes, all.runs, *policy, *detail);
    let idle = |result: &ResultReport| matches!(result.status, Status::Vacuous | Status::Skipped);
    let idle: BTreeSet<usize> = made.results.iter().filter(|result| idle(result)).map(|result| result.item).collect();
    for (result, severity) in unexercised_results(pipeline, table, all, &idle) {
        made.results.retain(|other| other.item != result.item);
        made.results.push(result);
        if severity == Severity::Error {
            made.gate = made.gate.max(Gate::Failed);
        }
    }
    for (result, severity) in near_name_results(pipeline, &made) {
        made.results.retain(|other| other.item != result.item);
        made.results.push(result);
        if severity == Severity::Error {
            made.gate = made.gate.max(Gate::Failed);
        }
    }
    (!made.results.is_empty()).then_some(made)
}

/// Assertions that name what no run has, while some run has nearly it; what is said of them already is kept.
fn near_name_results(pipeline: &Pipeline, made: &RunReport) -> Vec<(ResultReport, Severity)> {
    let Pipeline { table, programs, near_names, policy, .. } = pipeline;
    let mut reasons: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let denied = if policy.deny_near_names { near_names.denied_names(table, programs) } else { Vec::new() };
    for (item, words) in denied {
        reasons.entry(item).or_default().push(words);
    }
    let result = |(place, mut words): (usize, Vec<String>)| {
        let failed = made.results.iter().find(|result| result.item == place && result.status == Status::Failed);
        words.extend(failed.map(|failed| failed.reason.clone()).filter(|reason| !reason.is_empty()));
        let bare = ResultReport::bare_result(place, Verdict::Fail, Status::Failed, Some(0.0));
        Some((ResultReport { reason: words.join("; "), ..bare }, table.items.get(place)?.severity))
    };
    reasons.into_iter().filter_map(result).collect()
}

/// Unexercised assertions that have to be exercised; vacuous ones over runs count.
fn unexercised_results<'a>(
    pipeline: &'a Pipeline,
    table: &'a ReportTable,
    all: &'a OverRunsTally,
    idle: &'a BTreeSet<usize>,
) -> impl Iterator<Item = (ResultReport, Severity)> {
    let exercised = |place: usize, item: &ReportItem| match item.of_all_runs {
        true => !idle.contains(&place),
        false => all.exercised.contains(place),
    };
    let denied = |item: &ReportItem| pipeline.policy.with_denied(item.denied).deny_unexercised;
    let each = table.items.iter().enumerate().filter(move |(place, item)| denied(item) && !exercised(*place, item));
    each.filter(|_| all.runs > 0).map(|(place, item)| {
        let reason = match all.runs {
            1 => "nothing exercised it in the only run".to_owned(),
            runs => format!("nothing exercised it in any of {runs} runs"),
        };
        let bare = ResultReport::bare_result(place, Verdict::Fail, Status::Failed, Some(0.0));
        (ResultReport { reason, ..bare }, item.severity)
    })
}
