//! Judging many runs from files, on several threads, with outcomes in order.

use crate::error::RunError;
use crate::outcome::Outcome;
use crate::rules::{Rules, SharedRules};
use crate::summary::Summary;
use crate::trace::{Trace, openable_path};
use averment_bulk::all_runs::{self, OverRunsTally};
use averment_bulk::faults::FaultInjector;
use averment_bulk::feed::{self, TraceInput, TraceInputs};
use averment_bulk::judge::RunResult;
use averment_bulk::near_names::NearNames;
use averment_bulk::ordered::{NextChunk, OrderedChunks};
use averment_bulk::pipeline::Pipeline;
use averment_bulk::reading_notes::ReadingNotes;
use averment_bulk::unused_names::UnusedNames;
use averment_bulk::workers::{self, FinishedChunk};
use averment_engine::vm::evaluate::EvaluateOptions;
use averment_engine::vm::outcome::Status;
use averment_engine::vm::prepare::PreparedProgram;
use averment_report::RunGranularity;
use averment_report::draw_limits::DrawnLimits;
use averment_report::model::{ReportDetail, RunReport, StatusSet};
use averment_report::profile::CheckCosts;
use averment_traces::read::CHUNK_SIZE;
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Judges files of many runs on several threads, as `aver check` does. The memory use does not depend on the number of runs.
///
/// ```
/// use averment::Rules;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("runs.jsonl");
/// # std::fs::write(&path, "{\"calls\": []}\n{\"calls\": [{\"tool\": \"refund\"}]}\n")?;
/// let rules = Rules::from_text("refunds.assert", "never refund")?;
/// let mut outcomes = rules.batch().threads(2).outcomes([&path]);
/// for run in &mut outcomes {
///     let outcome = run?;
///     if !outcome.passed() {
///         println!("{}: {}", outcome.run(), outcome.findings().map(|one| one.reason()).collect::<Vec<_>>().join(", "));
///     }
/// }
/// let summary = outcomes.summary();
/// assert_eq!((summary.runs(), summary.runs_failed()), (2, 1));
/// // Where only the counts are wanted, no outcome is made, which is several times as fast.
/// assert_eq!(rules.batch().summary([&path]).runs_failed(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Batch {
    rules: Rules,
    threads: Option<NonZeroUsize>,
    chunk: usize,
    told: StatusSet,
}

/// The data that reports need from a batch.
#[derive(Debug, Default)]
pub struct ReportNeeds {
    /// Width of trace excerpts; `None` if no report draws them.
    pub excerpt: Option<usize>,
    /// True if reasons and evidence are needed.
    pub findings: bool,
    /// Number of failures shown in full; `None` for all.
    pub drawn: Option<DrawnLimits>,
    /// Violations listed per failure, and how many of them are shown in full; `None` for the defaults.
    pub violations: Option<(usize, usize)>,
    /// The granularity at which runs are reported.
    pub runs: RunGranularity,
    /// True if the steps of every run are needed.
    pub steps: bool,
    /// True if recorded measurements of runs are reported.
    pub measured: bool,
    /// True if a baseline compares the shapes of failures.
    pub shapes: bool,
    /// True if the duration of each run is reported.
    pub timed: bool,
    /// True if reports warn of rule names that runs contain only in a similar spelling. Rules that deny such names always look for them.
    pub near_names: bool,
    /// Costs to add to, if a profile is made.
    pub profile: Option<CheckCosts>,
}

impl Rules {
    /// Creates a batch, which judges many runs.
    #[must_use]
    pub fn batch(&self) -> Batch {
        Batch { rules: self.clone(), threads: None, chunk: CHUNK_SIZE, told: StatusSet::ALL }
    }
}

impl Batch {
    /// Sets the number of threads. The default 0 uses one per processor. Small inputs are judged by one thread.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: NonZeroUsize::new(threads), ..self }
    }

    /// Sets the bytes of whole lines per chunk; 256 KiB by default. Larger chunks use more memory, smaller ones more time.
    #[must_use]
    pub fn chunk(self, bytes: usize) -> Self {
        Self { chunk: bytes.clamp(1 << 10, 1 << 30), ..self }
    }

    /// Keeps only the results with these statuses, which is faster; an empty list keeps all. [`Outcome::passed`] and the score still cover all
    /// results. A [summary](BatchOutcomes::summary) counts only the kept results.
    ///
    /// ```
    /// use averment::{Rules, Status, Trace};
    ///
    /// let rules = Rules::from_text("refunds.assert", "never refund\nnever delete")?;
    /// let runs = [r#"{"calls": []}"#, r#"{"calls": [{"tool": "refund"}]}"#].map(Trace::from);
    /// let outcomes = rules.batch().results_with(&[Status::Failed]).outcomes_of_traces(runs);
    /// let kept = outcomes.map(|one| Ok(one?.results().count())).collect::<Result<Vec<_>, averment::RunError>>()?;
    /// assert_eq!(kept, [0, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn results_with(self, statuses: &[Status]) -> Self {
        Self { told: StatusSet::of_statuses(statuses), ..self }
    }

    /// Judges the runs of some files, and returns their outcomes in the order of the files and of the runs in them. Judging continues in the
    /// background, some chunks ahead, until the iterator is dropped. An unreadable file is an error in the sequence.
    #[must_use]
    pub fn outcomes<P: AsRef<Path>>(&self, files: impl IntoIterator<Item = P>) -> BatchOutcomes {
        self.outcomes_of_inputs(file_inputs(files))
    }

    /// Judges the runs of any traces, files or in memory, as [`Batch::outcomes`] does. The judging threads pull traces from the iterator when they
    /// need them, so not all traces must be in memory. A [reader](Trace::reader) is read completely before its runs are judged.
    ///
    /// ```
    /// use averment::{Rules, Trace};
    ///
    /// let rules = Rules::from_text("refunds.assert", "never refund")?;
    /// let runs = [r#"{"calls": []}"#, r#"{"calls": [{"tool": "refund"}]}"#];
    /// let outcomes = rules.batch().outcomes_of_traces(runs.map(|run| Trace::from(run).named("a run")));
    /// assert_eq!(outcomes.map(|one| Ok(one?.passed())).collect::<Result<Vec<_>, averment::RunError>>()?, [true, false]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn outcomes_of_traces(
        &self,
        traces: impl IntoIterator<Item = Trace, IntoIter: Send + 'static>,
    ) -> BatchOutcomes {
        let mut inputs = traces.into_iter().map(Trace::into_input);
        // Small inputs are judged by one thread, so the total length is checked first.
        let (mut first, mut length) = (Vec::new(), Some(0_u64));
        while let Some(before) = length.filter(|length| *length < feed::BATCH as u64) {
            let Some(input) = inputs.next() else { return self.outcomes_of_inputs(first) };
            length = feed::total_length(std::slice::from_ref(&input)).and_then(|own| before.checked_add(own));
            first.push(input);
        }
        self.start_outcomes(|pipeline| Self::start_lazily(pipeline, Box::new(first.into_iter().chain(inputs))))
    }

    fn outcomes_of_inputs(&self, inputs: Vec<TraceInput>) -> BatchOutcomes {
        self.start_outcomes(|pipeline| Self::start_threads(pipeline, inputs))
    }

    fn start_outcomes(&self, start: impl FnOnce(&Arc<Pipeline>) -> OrderedChunks) -> BatchOutcomes {
        let pipeline = self.build_pipeline(ReportNeeds { findings: true, ..ReportNeeds::default() });
        let chunks = start(&pipeline);
        let (ready, summary) = (VecDeque::new(), Summary::new(&pipeline));
        BatchOutcomes { pipeline, chunks, ready, summary, over_runs: None, ended: false }
    }

    /// Judges the runs of some files, and calls `each` with every outcome, in order, until it returns `Break`. The summary covers the outcomes that
    /// `each` received.
    pub fn for_each<P: AsRef<Path>>(
        &self,
        files: impl IntoIterator<Item = P>,
        mut each: impl FnMut(Result<Outcome, RunError>) -> ControlFlow<()>,
    ) -> Summary {
        let mut outcomes = self.outcomes(files);
        for one in &mut outcomes {
            if each(one).is_break() {
                break;
            }
        }
        outcomes.summary
    }

    /// Judges the runs of some files and counts. Since no outcomes are made, most of a run need not be read, so this is the fastest way to know if
    /// all runs pass. `aver check --format summary` does the same.
    #[must_use]
    pub fn summary<P: AsRef<Path>>(&self, files: impl IntoIterator<Item = P>) -> Summary {
        let pipeline = self.build_pipeline(ReportNeeds { runs: RunGranularity::Counts, ..ReportNeeds::default() });
        let (mut summary, tally) = Self::count_runs(&pipeline, file_inputs(files));
        let over_runs = all_runs::over_runs_report(&pipeline, &tally);
        over_runs.iter().for_each(|report| summary.totals.add_run(report));
        summary
    }

    /// Counts the runs of some traces. Returns also their contribution to rules over all runs, which are not judged here.
    pub(crate) fn count_inputs(&self, inputs: Vec<TraceInput>) -> (Summary, OverRunsTally) {
        Self::count_runs(
            &self.build_pipeline(ReportNeeds { runs: RunGranularity::Counts, ..ReportNeeds::default() }),
            inputs,
        )
    }

    fn count_runs(pipeline: &Arc<Pipeline>, inputs: Vec<TraceInput>) -> (Summary, OverRunsTally) {
        let mut chunks = Self::start_threads(pipeline, inputs);
        let mut summary = Summary::new(pipeline);
        loop {
            match chunks.wait_next(None) {
                NextChunk::Finished(one) => {
                    one.done.iter().for_each(|done| summary.count_result(done));
                    summary.totals.add_chunk(&one.totals);
                    summary.count_lost(one.lost, false);
                }
                NextChunk::Nothing => {}
                NextChunk::End => {
                    summary.count_missing(chunks.join_workers());
                    return (summary, chunks.over_runs().clone());
                }
            }
        }
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Returns the shared state for judging, with the data that reports want.
    #[doc(hidden)]
    #[must_use]
    pub fn build_pipeline(&self, wants: ReportNeeds) -> Arc<Pipeline> {
        let SharedRules { programs, prepared, table, options, policy, reading, .. } = &*self.rules.inner;
        let ReportNeeds {
            excerpt,
            findings,
            drawn,
            violations,
            runs,
            steps,
            measured,
            shapes,
            timed,
            near_names,
            profile,
        } = wants;
        let runs = runs.fit_report(table, drawn);
        let near_names = near_names || policy.deny_near_names;
        // If no report shows reasons, the first violation is enough.
        let listed = if findings { violations.map(|(listed, _)| listed) } else { Some(0) };
        Arc::new(Pipeline {
            programs: Arc::clone(programs),
            prepared: prepared.iter().map(PreparedProgram::for_thread).collect(),
            table: Arc::clone(table),
            options: EvaluateOptions { violations: listed, ..options.clone() },
            policy: *policy,
            drawn,
            detail: ReportDetail {
                excerpt,
                findings,
                violations: violations.map_or(0, |(_, drawn)| drawn),
                steps,
                measured,
                shapes,
                told: self.told,
            },
            unused: UnusedNames::new(reading.names.as_deref()),
            understood: ReadingNotes::default(),
            near_names: if near_names { NearNames::new(programs, &options.selection) } else { NearNames::default() },
            reading: reading.clone(),
            threads: self.threads,
            chunk: self.chunk,
            runs,
            large: Mutex::default(),
            timed,
            profile: profile.map(Mutex::new),
            faults: FaultInjector::from_environment(),
        })
    }

    /// Starts the threads; returns the results of chunks in order.
    #[doc(hidden)]
    #[must_use]
    pub fn start_threads(pipeline: &Arc<Pipeline>, inputs: Vec<TraceInput>) -> OrderedChunks {
        let total = feed::total_length(&inputs);
        if pipeline.policy.deny_near_names {
            pipeline.near_names.remember_inputs(&inputs);
        }
        OrderedChunks::new(workers::start_judging(pipeline, Box::new(inputs.into_iter()), total))
    }

    /// Starts the threads on traces that the iterator provides later.
    fn start_lazily(pipeline: &Arc<Pipeline>, inputs: TraceInputs) -> OrderedChunks {
        // Names that no trace has are searched for in all traces again, so all of them must be known.
        if pipeline.policy.deny_near_names {
            return Self::start_threads(pipeline, inputs.collect());
        }
        OrderedChunks::new(workers::start_judging(pipeline, inputs, None))
    }
}

fn file_inputs<P: AsRef<Path>>(files: impl IntoIterator<Item = P>) -> Vec<TraceInput> {
    files.into_iter().map(|path| TraceInput::File(openable_path(path.as_ref()))).collect()
}

/// The outcomes of a batch, in order. Created by [`Batch::outcomes`].
pub struct BatchOutcomes {
    pipeline: Arc<Pipeline>,
    chunks: OrderedChunks,
    ready: VecDeque<RunResult>,
    summary: Summary,
    over_runs: Option<Outcome>,
    ended: bool,
}

impl BatchOutcomes {
    /// Returns the counts over the outcomes taken so far.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Returns the outcome of the rules over all runs (`in at least 95% of runs: …`, `avg(cost of runs) <= $0.10`) after the last outcome was taken.
    /// Returns `None` before that, and if there are no such rules.
    #[must_use]
    pub fn over_runs(&self) -> Option<&Outcome> {
        self.over_runs.as_ref()
    }

    /// Takes the value of [`BatchOutcomes::over_runs`]; later calls return `None`.
    pub fn take_over_runs(&mut self) -> Option<Outcome> {
        self.over_runs.take()
    }

    fn make_outcome(&self, report: RunReport) -> Outcome {
        Outcome::new(Arc::clone(&self.pipeline.table), report, self.pipeline.policy)
    }

    fn next_outcome(&self, done: RunResult) -> Option<Result<Outcome, RunError>> {
        match done {
            RunResult::Run(report) => Some(Ok(self.make_outcome(*report))),
            RunResult::Unreadable(error) => Some(Err(error.into())),
            RunResult::Fault(run) => Some(Err(RunError::BrokeDown { run })),
            // Batches of outcomes request neither lines nor examples.
            RunResult::Lines(_) | RunResult::Example(_) => None,
        }
    }
}

impl Iterator for BatchOutcomes {
    type Item = Result<Outcome, RunError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(done) = self.ready.pop_front() {
                self.summary.count_result(&done);
                match self.next_outcome(done) {
                    Some(outcome) => return Some(outcome),
                    None => continue,
                }
            }
            if self.ended {
                return None;
            }
            match self.chunks.wait_next(None) {
                NextChunk::Finished(FinishedChunk { done, lost, .. }) => {
                    self.ready.extend(done);
                    if let Some(error) = self.summary.count_lost(lost, false) {
                        return Some(Err(error));
                    }
                }
                NextChunk::Nothing => {}
                NextChunk::End => {
                    self.ended = true;
                    let over_runs = all_runs::over_runs_report(&self.pipeline, self.chunks.over_runs());
                    over_runs.iter().for_each(|report| self.summary.totals.add_run(report));
                    self.over_runs = over_runs.map(|report| self.make_outcome(report));
                    return self.summary.count_missing(self.chunks.join_workers()).map(Err);
                }
            }
        }
    }
}

impl std::fmt::Debug for BatchOutcomes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BatchOutcomes").field("summary", &self.summary).finish_non_exhaustive()
    }
}
