//! Many runs: files of them, judged by several threads, in order.

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

/// Judges files of many runs with several threads. This is what `aver check` does; memory does not depend on the number of runs.
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

/// What reports need of a batch.
#[derive(Debug, Default)]
pub struct ReportNeeds {
    /// The width of pieces of the trace; `None` when nothing draws them.
    pub excerpt: Option<usize>,
    /// Reasons and evidence.
    pub findings: bool,
    /// Number of failures shown in full; `None` for all.
    pub drawn: Option<DrawnLimits>,
    /// Violations listed per failure, and how many of them are shown in full; `None` for the defaults.
    pub violations: Option<(usize, usize)>,
    /// The form of runs that they are made from.
    pub runs: RunGranularity,
    /// The steps of every run.
    pub steps: bool,
    /// Whether measurements that runs record are reported.
    pub measured: bool,
    /// Whether a baseline compares what failed.
    pub shapes: bool,
    /// Whether the duration of each run is reported.
    pub timed: bool,
    /// Whether names of the rules that runs nearly have are told of. Rules that deny them look for them anyway.
    pub near_names: bool,
    /// Where the costs are noted, while a profile is made.
    pub profile: Option<CheckCosts>,
}

impl Rules {
    /// Judges many runs.
    #[must_use]
    pub fn batch(&self) -> Batch {
        Batch { rules: self.clone(), threads: None, chunk: CHUNK_SIZE, told: StatusSet::ALL }
    }
}

impl Batch {
    /// How many threads judge; 0, as at the beginning, for as many as there are processors. Small files are judged by one.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: NonZeroUsize::new(threads), ..self }
    }

    /// Bytes of whole lines per chunk; 256 KiB by default. Larger chunks cost memory, smaller ones time.
    #[must_use]
    pub fn chunk(self, bytes: usize) -> Self {
        Self { chunk: bytes.clamp(1 << 10, 1 << 30), ..self }
    }

    /// Keeps of each run the results with these statuses alone, all where none is named; of the others nothing is made, which is faster.
    /// Whether a run passed, and its score, are those of all results. A [summary](BatchOutcomes::summary) counts the results that are kept.
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

    /// Judges the runs of some files; their outcomes come in the order of the files and of the runs in them. Judging goes on in the background
    /// while they are taken, some chunks ahead, and ends where the iterator is dropped. A file that cannot be read is an error among them.
    #[must_use]
    pub fn outcomes<P: AsRef<Path>>(&self, files: impl IntoIterator<Item = P>) -> BatchOutcomes {
        self.outcomes_of_inputs(file_inputs(files))
    }

    /// Judges runs of any traces, files or in memory, as [`Batch::outcomes`] does. Traces are taken while others are judged, by the threads that
    /// judge: so not all of them need be in memory. One that is a [reader](Trace::reader) is read whole before its runs are judged.
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
        // Few are judged by one thread: those are looked at first.
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

    /// Judges the runs of some files and shows each outcome, in order, until `each` says that it is enough. The summary is of those that were
    /// shown.
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

    /// Judges the runs of some files and counts. No outcome is made, so that most of a run need not be read: it is the fastest way to know
    /// whether all is well, as `aver check --format summary` does it.
    #[must_use]
    pub fn summary<P: AsRef<Path>>(&self, files: impl IntoIterator<Item = P>) -> Summary {
        let pipeline = self.build_pipeline(ReportNeeds { runs: RunGranularity::Counts, ..ReportNeeds::default() });
        let (mut summary, tally) = Self::count_runs(&pipeline, file_inputs(files));
        let over_runs = all_runs::over_runs_report(&pipeline, &tally);
        over_runs.iter().for_each(|report| summary.totals.add_run(report));
        summary
    }

    /// Counts over the runs of some traces, without what is said of all of them, and what they give to that.
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

    /// Everything that judging needs, for reports that want so much.
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
        // Where nobody reads why something fails, the first place is enough.
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

    /// Starts the threads; the results of chunks come in order.
    #[doc(hidden)]
    #[must_use]
    pub fn start_threads(pipeline: &Arc<Pipeline>, inputs: Vec<TraceInput>) -> OrderedChunks {
        let total = feed::total_length(&inputs);
        if pipeline.policy.deny_near_names {
            pipeline.near_names.remember_inputs(&inputs);
        }
        OrderedChunks::new(workers::start_judging(pipeline, Box::new(inputs.into_iter()), total))
    }

    /// The same of many traces that need not all be there yet.
    fn start_lazily(pipeline: &Arc<Pipeline>, inputs: TraceInputs) -> OrderedChunks {
        // What no trace has is looked for in all of them again.
        if pipeline.policy.deny_near_names {
            return Self::start_threads(pipeline, inputs.collect());
        }
        OrderedChunks::new(workers::start_judging(pipeline, inputs, None))
    }
}

fn file_inputs<P: AsRef<Path>>(files: impl IntoIterator<Item = P>) -> Vec<TraceInput> {
    files.into_iter().map(|path| TraceInput::File(openable_path(path.as_ref()))).collect()
}

/// The outcomes of a batch, in order: see [`Batch::outcomes`].
pub struct BatchOutcomes {
    pipeline: Arc<Pipeline>,
    chunks: OrderedChunks,
    ready: VecDeque<RunResult>,
    summary: Summary,
    over_runs: Option<Outcome>,
    ended: bool,
}

impl BatchOutcomes {
    /// Counts over the outcomes that were taken so far.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// What the rules say of all runs together (`in at least 95% of runs: …`, `avg(cost of runs) <= $0.10`), when the last outcome was taken;
    /// `None` before that, and where they say nothing of the kind.
    #[must_use]
    pub fn over_runs(&self) -> Option<&Outcome> {
        self.over_runs.as_ref()
    }

    /// As [`BatchOutcomes::over_runs`], to keep; it is gone here then.
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
            // None is asked for.
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
