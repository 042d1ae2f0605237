//! What is said of all runs together when the last was judged.

use crate::judge::Done;
use crate::pipeline::Pipeline;
use crate::workers::Finished;
use averment_base::truth::Verdict;
use averment_engine::bytecode::program::Program;
use averment_engine::ir::Severity;
use averment_engine::vm::outcome::{Outcome, Status};
use averment_engine::vm::over_runs::{self, Tally};
use averment_engine::vm::prepare::Prepared;
use averment_report::gate::Gate;
use averment_report::model::{ResultReport, RunReport};
use averment_report::over_runs::report as report_of;
use averment_report::table::{Item, Table};
use std::collections::BTreeSet;

/// What is kept of the runs of a check, as their chunks come.
#[derive(Debug, Default)]
pub struct OverRuns {
    /// For the assertions over runs, by program.
    tallies: Vec<Tally>,
    /// The assertions that some run exercised, by their places in the table.
    exercised: BTreeSet<usize>,
    runs: u64,
}

impl OverRuns {
    /// Adds the runs of the next chunk; what it holds for this is taken out of it.
    pub(crate) fn add(&mut self, chunk: &mut Finished) {
        let given = std::mem::take(&mut chunk.totals.over_runs);
        if self.tallies.len() < given.len() {
            self.tallies.resize_with(given.len(), Tally::default);
        }
        self.tallies.iter_mut().zip(given).for_each(|(all, given)| all.append(given));
        self.runs = self.runs.saturating_add(chunk.totals.runs);
        let counted = chunk.totals.counts.iter().enumerate().filter(|(_, counts)| {
            let mut each = Status::ALL.into_iter().zip(counts.iter());
            each.any(|(status, count)| *count > 0 && is_exercised(status))
        });
        self.exercised.extend(counted.map(|(item, _)| item));
        for done in &chunk.done {
            if let Done::Run(run) = done {
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

/// What is said of all runs: by the assertions over runs, and of those that none exercised where that is denied. `None` where nothing is.
#[must_use]
pub fn report(pipeline: &Pipeline, all: &OverRuns) -> Option<RunReport> {
    let options = &pipeline.options;
    let none = Tally::default();
    let concluded = |place: usize, program: &Program| {
        let selected = |assertion: &_| options.selection.selects(program, assertion);
        let any = over_runs::of_program(program).any(|(_, assertion, _)| selected(assertion));
        let tally = all.tallies.get(place).unwrap_or(&none);
        let conclude = || over_runs::conclude(program, &Prepared::new(program), &options.limits, tally, &selected);
        Outcome { results: any.then(conclude).unwrap_or_default(), passed: true, ..Outcome::default() }
    };
    let outcomes: Vec<Outcome> =
        pipeline.programs.iter().enumerate().map(|(place, program)| concluded(place, program)).collect();
    let Pipeline { table, policy, detail, .. } = pipeline;
    let mut made = report_of(table, &outcomes, all.runs, *policy, *detail);
    let idle = |result: &ResultReport| matches!(result.status, Status::Vacuous | Status::Skipped);
    let idle: BTreeSet<usize> = made.results.iter().filter(|result| idle(result)).map(|result| result.item).collect();
    for (result, severity) in unexercised(pipeline, table, all, &idle) {
        made.results.retain(|other| other.item != result.item);
        made.results.push(result);
        if severity == Severity::Error {
            made.gate = made.gate.max(Gate::Failed);
        }
    }
    (!made.results.is_empty()).then_some(made)
}

/// The assertions that no run exercised and that should have been; one over runs that is vacuous is among them.
fn unexercised<'a>(
    pipeline: &'a Pipeline,
    table: &'a Table,
    all: &'a OverRuns,
    idle: &'a BTreeSet<usize>,
) -> impl Iterator<Item = (ResultReport, Severity)> {
    let exercised = |place: usize, item: &Item| match item.of_all_runs {
        true => !idle.contains(&place),
        false => all.exercised.contains(&place),
    };
    let denied = |item: &Item| pipeline.policy.with(item.denied).deny_unexercised;
    let each = table.items.iter().enumerate().filter(move |(place, item)| denied(item) && !exercised(*place, item));
    each.filter(|_| all.runs > 0).map(|(place, item)| {
        let reason = match all.runs {
            1 => "nothing exercised it in the only run".to_owned(),
            runs => format!("nothing exercised it in any of {runs} runs"),
        };
        let bare = ResultReport::bare(place, Verdict::Fail, Status::Failed, Some(0.0));
        (ResultReport { reason, ..bare }, item.severity)
    })
}
