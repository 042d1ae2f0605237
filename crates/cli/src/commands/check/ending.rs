//! Closing messages and the exit code of a check.

use super::CheckAllow;
use super::check_inputs::CheckInputs;
use crate::commands::console::eprint_redacted;
use crate::commands::deadline::Deadline;
use crate::commands::exit::{CommandError, Exit};
use crate::commands::inputs::TraceInput;
use crate::commands::outputs::ReportOutputs;
use crate::commands::pipeline::PipelineEnd;
use averment_base::rates::{percent_beside, percent_text};
use averment_bulk::feed::LostRuns;
use averment_bulk::pipeline::Pipeline;
use averment_engine::vm::world;
use averment_report::gate::Gate;
use averment_report::table::ReportTable;
use averment_report::totals::RunTotals;
use averment_traces::redact_path::{self, RedactPath};

/// Prints notes about runs that were not judged, and about skipped files.
pub(super) fn tell_end(end: &PipelineEnd, deadline: Option<&Deadline>, outputs: &ReportOutputs) {
    if end.interrupted {
        world::end_all();
        eprint_redacted(&format!(
            "note: interrupted; what is reported is what was done until then; {}\n",
            not_judged_words(end.not_judged())
        ));
    } else if end.stopped {
        eprint_redacted(&format!(
            "note: --fail-fast ends at the first failure; {}\n",
            not_judged_words(end.not_judged())
        ));
    }
    if let Some(deadline) = deadline.filter(|_| end.late) {
        world::end_all();
        eprint_redacted(&format!("{}: what is reported is what was done until then\n", deadline.in_words()));
    }
    eprint_redacted(&end.in_words());
    eprint_redacted(&outputs.skipped_files().skipped_note());
}

/// Number of runs without a verdict, in words: `at least 3 runs were not judged`.
fn not_judged_words(LostRuns { runs, more }: LostRuns) -> String {
    let least = if more { "at least " } else { "" };
    match runs {
        0 => "every run was judged".to_owned(),
        1 => format!("{least}1 run was not judged"),
        _ => format!("{least}{runs} runs were not judged"),
    }
}

/// Warns of names in rules that no run has, if all runs were read.
pub(super) fn tell_names(end: &PipelineEnd, pipeline: &Pipeline, traces: &[TraceInput], outputs: &ReportOutputs) {
    // Without any run, every name would be missing. The unreadable traces have their own messages.
    if outputs.totals().runs == 0 || end.is_cut() || end.exhausted {
        return;
    }
    eprint_redacted(&pipeline.unused.warning_lines());
    outputs.skipped_files().note_records(&pipeline.understood);
    eprint_redacted(&pipeline.understood.warning_lines());
    let expected = pipeline.reading.expected.as_ref();
    eprint_redacted(&expected.map(|rows| rows.unmatched_warnings()).unwrap_or_default());
    let is_judged = |item| outputs.has_judged(item);
    eprint_redacted(&pipeline.near_names.warning_lines(&pipeline.table, traces, is_judged, &pipeline.programs));
}

/// Warns of `--redact` paths that matched nothing, if all runs were read.
pub(super) fn tell_idle_paths(end: &PipelineEnd, paths: &[RedactPath], outputs: &ReportOutputs) {
    if outputs.totals().runs > 0 && !end.is_cut() && !end.exhausted {
        eprint_redacted(&redact_path::unmatched_warnings(paths));
    }
}

/// Returns the highest exit code that applies, and an error if nothing was checked.
pub(super) fn decide_exit(
    end: &PipelineEnd,
    pipeline: &Pipeline,
    totals: &RunTotals,
    given: &CheckInputs<'_>,
    is_recorded: bool,
) -> (Exit, Option<CommandError>) {
    let has_unreadable = totals.unreadable > 0;
    // Rules that their `when` skips in every run still count as checked, like vacuous ones. The first line of the report says so.
    let is_asked = totals.counts.skipped > 0 && pipeline.table.asks_every_run();
    let is_skipped = totals.counts.all_results() == totals.counts.skipped;
    let is_nothing = is_skipped && !is_asked && !has_unreadable && end.is_complete();
    let exits = [
        (end.interrupted, Exit::Interrupted),
        (end.late || !end.is_complete() || totals.gate == Some(Gate::Error), Exit::Error),
        (has_unreadable, Exit::Trace),
        (!is_recorded || is_nothing && !given.is_allowed(CheckAllow::Empty), Exit::Usage),
        (check_fails(totals, given.arguments.min_pass_rate), Exit::Failed),
    ];
    let exit = exits.into_iter().find(|(applies, _)| *applies).map_or(Exit::Holds, |(_, exit)| exit);
    let error = (exit == Exit::Usage && is_recorded)
        .then(|| CommandError::usage(nothing_checked(&pipeline.table, totals.runs), "`--allow empty` lets it pass"));
    (exit, error)
}

/// True if the check fails: failed runs beyond the allowed share, or a statement over all runs.
fn check_fails(totals: &RunTotals, least: Option<f64>) -> bool {
    let Some(least) = least.filter(|_| totals.runs > 0) else { return totals.gate == Some(Gate::Failed) };
    let asked = percent_text(least);
    let exercised = totals.runs.saturating_sub(totals.runs_idle);
    if exercised == 0 {
        eprint_redacted(&format!("error: no run exercises anything, and --min-pass-rate asks for {asked}\n"));
        return true;
    }
    let passed = exercised.saturating_sub(totals.runs_failed);
    let rate = passed as f64 / exercised as f64;
    let idle = match totals.runs_idle {
        0 => String::new(),
        1 => "; nothing exercised 1 more".to_owned(),
        more => format!("; nothing exercised {more} more"),
    };
    let (word, than) = if rate < least { ("error", "fewer than") } else { ("note", "no fewer than") };
    eprint_redacted(&format!(
        "{word}: {passed} of {exercised} runs pass ({}), {than} the {asked} of --min-pass-rate{idle}\n",
        percent_beside(rate, least),
    ));
    rate < least || totals.over_runs == Some(Gate::Failed)
}

fn nothing_checked(table: &ReportTable, runs: u64) -> &'static str {
    match (table.items.is_empty(), runs) {
        (true, _) => "nothing was checked: no assertion is selected",
        (false, 0) => "nothing was checked: the traces hold no run",
        (false, _) => "nothing was checked: no assertion applies to these runs",
    }
}
