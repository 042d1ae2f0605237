//! Everything that a check needs, in one value. It is complete before anything is opened.

use super::check_inputs::{CheckInputs, select_traces};
use super::ending::{decide_exit, tell_end, tell_idle_paths, tell_names};
use super::options::{draw_options, open_baseline};
use super::recorded_run::recorded_run;
use super::request::CheckRequest;
use crate::commands::console::ColorChoice;
use crate::commands::deadline::Deadline;
use crate::commands::exit::{CommandError, Exit};
use crate::commands::inputs::TraceInput;
use crate::commands::last_failed::LastFailed;
use crate::commands::outputs::ReportOutputs;
use crate::commands::pipeline::EarlyEnd;
use crate::commands::profile::ProfileTarget;
use crate::commands::rules::CompiledRules;
use crate::commands::skipped_files::SkippedFiles;
use crate::commands::targets::OutputTarget;
use crate::commands::{params, pipeline, sizes};
use averment::stages::{JudgeSettings, ReportNeeds, select};
use averment_base::memory;
use averment_bulk::faults::FaultPoint;
use averment_bulk::judge::observer::begin_costs;
use averment_bulk::pipeline::Pipeline;
use averment_report::RunGranularity;
use averment_report::profile::CheckCosts;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

/// The complete settings of a check: rules, traces, and reports.
pub(super) struct CheckPlan<'a> {
    given: &'a CheckInputs<'a>,
    color: ColorChoice,
    deadline: Option<&'a Deadline>,
    rules: CompiledRules,
    settings: JudgeSettings,
    traces: Vec<TraceInput>,
    last_failed: Option<LastFailed>,
    targets: Vec<OutputTarget>,
    /// Size of a chunk of traces, in bytes.
    chunk: usize,
    profile: Option<ProfileTarget>,
    costs: Option<CheckCosts>,
    started: Instant,
}

impl<'a> CheckPlan<'a> {
    /// Completes the plan with the settings that depend on the compiled rules.
    pub(super) fn settle(
        request: CheckRequest<'a>,
        mut rules: CompiledRules,
        targets: Vec<OutputTarget>,
    ) -> Result<Self, CommandError> {
        let CheckRequest { given, color, deadline, limits, upcoming, named, values, profile, started, .. } = request;
        let costs = profile.as_ref().map(|_| begin_costs(&rules.programs, started));
        if let Some(project) = &given.project {
            params::apply_project(&mut rules.programs, project, given.uses_project_rules)?;
        }
        values.apply_to(&mut rules.programs)?;
        let mut selection = given.rule_selection();
        select::check_names(&rules.programs, &selection)?;
        let supplied = given.arguments.supplied.as_ref().map(|made| made.runs.clone());
        let made = match supplied.or(upcoming) {
            None if given.traces.is_empty() => recorded_run(&rules.programs, &mut selection),
            made => made,
        };
        let selects_any = select::selects_any(&rules.programs, &selection);
        let mut traces = select_traces(given, named, made, selects_any)?;
        let mut last_failed = given.open_last_failed()?;
        if let Some(last) = &mut last_failed {
            traces = last.narrow(traces);
        }
        let settings = given.judge_settings(selection, limits)?;
        let chunk = sizes::chunk_size(given.arguments.chunk.as_deref())?;
        Ok(Self {
            given,
            color,
            deadline,
            rules,
            settings,
            traces,
            last_failed,
            targets,
            chunk,
            profile,
            costs,
            started,
        })
    }

    /// Opens all reports, the recording and the baseline.
    pub(super) fn open_outputs(&self) -> Result<ReportOutputs, CommandError> {
        let arguments = self.given.arguments;
        let baseline = open_baseline(arguments, self.given.project.as_ref())?;
        let recording = arguments.record.open_recording(&self.rules.programs)?;
        let diagnostics = self.rules.diagnostics_data();
        let drawing = draw_options(arguments);
        let outputs =
            ReportOutputs::open_targets(&self.targets, self.color, self.settings.policy, drawing, &diagnostics)?;
        let skipped_files = SkippedFiles::new(&self.given.traces, arguments.strict);
        let outputs = outputs.with_baseline(baseline).with_skipped_files(skipped_files);
        Ok(outputs.with_recording(recording, arguments.measures))
    }

    /// Judges all traces, and finishes every report.
    pub(super) fn judge_traces(self, outputs: &mut ReportOutputs) -> Result<Exit, CommandError> {
        let Self {
            given, color, deadline, rules, settings, traces, last_failed, chunk, profile, costs, started, ..
        } = self;
        let arguments = given.arguments;
        let rules = averment::Rules::of_programs(rules.programs, rules.diagnostics, settings);
        let batch = rules.batch().threads(arguments.threads.map_or(0, NonZeroUsize::get)).chunk(chunk);
        let wants = outputs.batch_wants();
        // With `--fail-fast` and `--last-failed`, whole runs are needed, because totals do not say which run failed.
        let counts_only = !arguments.fail_fast && !arguments.last_failed;
        let runs = if counts_only { wants.runs } else { RunGranularity::Whole };
        let needs = ReportNeeds { profile: costs, timed: arguments.timings, runs, ..wants };
        let pipeline = batch.build_pipeline(needs);
        let judged = report_traces(&pipeline, CheckedTraces { traces, last_failed }, outputs, given, deadline);
        // After memory ran out, a parked thread may still hold the lock of the profile.
        if let Some(target) = profile.filter(|_| !memory::is_exhausted()) {
            target.write_profile(&pipeline, started, color)?;
        }
        let exit = judged?;
        if exit == Exit::Error {
            arguments.project.tell_request(given.project.as_ref(), color);
        }
        Ok(exit)
    }
}

/// The traces to judge, and the failed traces of the last check.
struct CheckedTraces {
    traces: Vec<TraceInput>,
    last_failed: Option<LastFailed>,
}

/// Runs the pipeline and finishes every report.
fn report_traces(
    pipeline: &Arc<Pipeline>,
    checked: CheckedTraces,
    outputs: &mut ReportOutputs,
    given: &CheckInputs<'_>,
    deadline: Option<&Deadline>,
) -> Result<Exit, CommandError> {
    outputs.begin_reports(&pipeline.table)?;
    let CheckedTraces { traces, last_failed } = checked;
    let inputs = traces.clone();
    let narrowed = last_failed.as_ref().is_some_and(LastFailed::is_narrowed);
    let early = EarlyEnd { deadline, fail_fast: given.arguments.fail_fast, narrowed };
    let end = pipeline::run_pipeline(pipeline, traces, outputs, early)?;
    tell_end(&end, deadline, outputs);
    outputs.not_judged(end.not_judged());
    if !narrowed {
        tell_names(&end, pipeline, &inputs, outputs);
        tell_idle_paths(&end, &given.arguments.redact, outputs);
    }
    let is_whole = end.is_complete() && !end.is_cut() && outputs.totals().unreadable == 0;
    outputs.save_baseline(&pipeline.table, is_whole)?;
    let is_recorded = outputs.save_recording(&pipeline.table);
    let exit = decide_exit(&end, pipeline, outputs.totals(), given, is_recorded);
    pipeline.faults.reach_point(FaultPoint::Ending);
    outputs.end_reports(&pipeline.table, exit.0)?;
    // After an interruption, the failures of the last check are kept.
    if let Some(last) = last_failed.filter(|_| end.is_complete() && (end.stopped || !end.is_cut())) {
        last.save(outputs.take_failed_traces())?;
    }
    match exit {
        (_, Some(error)) => Err(error),
        (exit, None) => Ok(exit),
    }
}
