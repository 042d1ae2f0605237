//! The reports of a check: one format on standard output, and any number of files.

use super::baseline::BaselineFile;
use super::console::ColorChoice;
use super::exit::{CommandError, Exit};
use super::record::RunRecording;
use super::skipped_files::SkippedFiles;
use super::targets::{self, OpenedTarget, OutputTarget, ReportFile};
use averment::stages::ReportNeeds;
use averment_bulk::feed::LostRuns;
use averment_bulk::reading_notes::FileRecords;
use averment_engine::vm::context::LISTED;
use averment_engine::vm::outcome::Status;
use averment_report::chunk_totals::ChunkTotals;
use averment_report::draw_limits::DrawnLimits;
use averment_report::gate::GatePolicy;
use averment_report::item_set::ItemSet;
use averment_report::model::{ExampleRun, RunReport, UnreadableTrace};
use averment_report::show::ShownSections;
use averment_report::table::ReportTable;
use averment_report::totals::RunTotals;
use averment_report::{self as report, ALL_VIOLATIONS, VIOLATIONS_DRAWN};
use averment_report::{CombinedNeeds, Options, Report, ReportEnding, ReportedCommand, RunGranularity};
use std::collections::BTreeSet;
use std::io;

/// Limits for drawing failures.
#[derive(Debug, Clone, Default)]
pub struct DrawOptions {
    /// Maximum number of failures to draw; `None` draws a few of each assertion.
    pub max_failures: Option<usize>,
    /// True to draw all violations of each assertion, instead of the first few.
    pub all_violations: bool,
    /// The sections that reports for people show.
    pub show: ShownSections,
    /// The command whose results are drawn.
    pub command: ReportedCommand,
}

/// Columns reserved for line numbers beside excerpts of the trace.
const MARGIN: usize = 8;

/// All reports of a check, with the totals for their end.
pub struct ReportOutputs {
    reports: Vec<Box<dyn Report>>,
    files: Vec<ReportFile>,
    totals: RunTotals,
    /// Width of trace excerpts; `None` if no report draws them.
    excerpt: Option<usize>,
    wanted: CombinedNeeds,
    /// Maximum number of violations of a failure to list, and to draw.
    violations: (usize, usize),
    /// Drawing limits; `None` if some report shows every finding.
    drawn: Option<DrawnLimits>,
    /// Assertions that judged some run, by table index.
    judged: ItemSet,
    policy: GatePolicy,
    baseline: Option<BaselineFile>,
    skipped_files: SkippedFiles,
    recording: Option<RunRecording>,
    measures: bool,
    /// Traces in which a run failed, or that cannot be read.
    failed_traces: BTreeSet<String>,
}

impl ReportOutputs {
    /// Opens every report target.
    pub fn open_targets(
        targets: &[OutputTarget],
        color: ColorChoice,
        policy: GatePolicy,
        drawing: DrawOptions,
        diagnostics: &serde_json::Value,
    ) -> Result<Self, CommandError> {
        let DrawOptions { max_failures, all_violations, show, command } = drawing;
        let violations = if all_violations { ALL_VIOLATIONS } else { VIOLATIONS_DRAWN };
        let wanted = CombinedNeeds::of_formats(targets.iter().map(|target| target.format));
        let mut outputs = Self {
            reports: Vec::new(),
            files: Vec::new(),
            totals: RunTotals::default(),
            excerpt: None,
            wanted,
            violations: (if wanted.data { violations.max(LISTED) } else { violations }, violations),
            drawn: wanted.only_drawn().then(|| DrawnLimits::new(max_failures)),
            judged: ItemSet::default(),
            policy,
            baseline: None,
            skipped_files: SkippedFiles::default(),
            recording: None,
            measures: false,
            failed_traces: BTreeSet::new(),
        };
        for target in targets {
            let OpenedTarget { out, style, file } = targets::open_target(target, color)?;
            outputs.files.extend(file);
            if target.format.needs().excerpts {
                outputs.excerpt = outputs.excerpt.max(Some(style.width.saturating_sub(MARGIN)));
            }
            let diagnostics = diagnostics.clone();
            let (show, now) = (show.clone(), now_nanos());
            let options = Options { style, policy, max_failures, show, violations, diagnostics, command, now };
            outputs.reports.push(report::open(target.format, out, options));
        }
        Ok(outputs)
    }

    /// Sets the baseline.
    pub fn with_baseline(self, baseline: Option<BaselineFile>) -> Self {
        Self { baseline, ..self }
    }

    /// Sets the record of skipped files.
    pub fn with_skipped_files(self, skipped_files: SkippedFiles) -> Self {
        Self { skipped_files, ..self }
    }

    /// Sets the history to record into; `measures` adds recorded measurements to reports.
    pub fn with_recording(self, recording: Option<RunRecording>, measures: bool) -> Self {
        Self { recording, measures, ..self }
    }

    /// The skipped files.
    pub fn skipped_files(&self) -> &SkippedFiles {
        &self.skipped_files
    }

    /// Counts the records of files. Call it after their unreadable records were reported.
    pub fn count_records(&mut self, records: &FileRecords) {
        self.skipped_files.count_records(records);
    }

    /// Returns the data that the reports need from a batch. A baseline needs whole runs with all findings.
    pub fn batch_wants(&self) -> ReportNeeds {
        let Self { excerpt, drawn, violations, wanted, .. } = *self;
        let measured = self.recording.is_some() || self.measures;
        let known = self.baseline.is_some();
        let plain = !known && !measured;
        ReportNeeds {
            excerpt,
            findings: wanted.needs_findings() || known,
            drawn: drawn.filter(|_| !known),
            violations: Some(violations),
            runs: if plain { wanted.runs } else { RunGranularity::Whole },
            steps: wanted.steps,
            measured,
            shapes: known,
            timed: false,
            near_names: true,
            profile: None,
        }
    }

    /// Writes the baseline with `--update-baseline`.
    pub fn save_baseline(&self, table: &ReportTable, complete: bool) -> Result<(), CommandError> {
        self.baseline.as_ref().map_or(Ok(()), |baseline| baseline.save(table, complete))
    }

    /// Writes the rest of the recording; false if some of it could not be written.
    pub fn save_recording(&mut self, table: &ReportTable) -> bool {
        self.recording.as_mut().is_none_or(|recording| recording.finish_recording(table))
    }

    /// Begins every report.
    pub fn begin_reports(&mut self, table: &ReportTable) -> io::Result<()> {
        self.reports.iter_mut().try_for_each(|report| report.begin_report(table))
    }

    /// Reports a run.
    pub fn report_run(&mut self, table: &ReportTable, mut run: RunReport) -> io::Result<()> {
        if let Some(baseline) = &mut self.baseline {
            baseline.mark_known(table, &mut run, self.policy);
        }
        if let Some(recording) = self.recording.as_mut().filter(|_| !run.over_runs) {
            recording.add_run(table, &run);
        }
        if !run.passed() && !run.over_runs {
            self.failed_traces.insert(run.file.clone());
        }
        if !self.measures {
            run.measured = None;
        }
        let run = &run;
        self.totals.add_run(run);
        let judged = run.results.iter().filter(|result| result.status != Status::Skipped).map(|result| result.item);
        self.judged.extend(judged);
        let over_runs = run.over_runs;
        self.reports.iter_mut().try_for_each(|report| match over_runs {
            true => report.add_over_runs(table, run),
            false => report.add_run(table, run),
        })
    }

    /// Passes a run, which the totals of its chunk already count, to reports that show examples.
    pub fn show_example(&mut self, table: &ReportTable, run: &ExampleRun) -> io::Result<()> {
        self.reports.iter_mut().try_for_each(|report| report.show_example(table, run))
    }

    /// Adds the totals of a chunk of runs to the reports.
    pub fn report_chunk(&mut self, chunk: &ChunkTotals) {
        self.totals.add_chunk(chunk);
        chunk.note_items(|status| status != Status::Skipped, &mut self.judged);
        self.reports.iter_mut().for_each(|report| report.add_chunk(chunk));
    }

    /// Adds finished report lines.
    pub fn report_lines(&mut self, lines: &[u8]) -> io::Result<()> {
        self.reports.iter_mut().try_for_each(|report| report.add_lines(lines))
    }

    /// Reports an unreadable trace, unless it may be skipped.
    pub fn report_unreadable(&mut self, what: &UnreadableTrace) -> io::Result<()> {
        if self.skipped_files.skips_unreadable(what) {
            return Ok(());
        }
        self.totals.unreadable += 1;
        self.failed_traces.insert(what.file.clone());
        self.reports.iter_mut().try_for_each(|report| report.add_unreadable(what))
    }

    /// Counts runs without verdicts.
    pub fn not_judged(&mut self, lost: LostRuns) {
        self.totals.not_judged = self.totals.not_judged.saturating_add(lost.runs);
        self.totals.not_judged_at_least |= lost.more;
    }

    /// True if the assertion with this table index judged some run.
    pub fn has_judged(&self, item: usize) -> bool {
        self.judged.contains(item)
    }

    /// Flushes the output of every report.
    pub fn flush_reports(&mut self) -> io::Result<()> {
        self.reports.iter_mut().try_for_each(|report| report.flush())
    }

    /// Finishes every report. Renames the report files after all of them are complete.
    pub fn end_reports(&mut self, table: &ReportTable, exit: Exit) -> io::Result<()> {
        let ending = ReportEnding { totals: &self.totals, passed: exit == Exit::Holds, exit: exit as u8 };
        self.reports.iter_mut().try_for_each(|report| report.finish_report(table, &ending))?;
        self.reports.clear();
        self.files.drain(..).try_for_each(ReportFile::finish)
    }

    /// Adds a run to the reports unchanged, without marking known failures or recording it.
    pub fn show_run(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        self.totals.add_run(run);
        self.reports.iter_mut().try_for_each(|report| report.add_run(table, run))
    }

    /// Returns the traces that failed, by display name.
    pub fn take_failed_traces(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.failed_traces)
    }

    /// Returns the totals so far.
    pub fn totals(&self) -> &RunTotals {
        &self.totals
    }
}

/// Current time in nanoseconds since 1970.
fn now_nanos() -> Option<u64> {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}
