//! Judges traces on several threads, and writes the reports on this thread, in the order of the traces. An interruption finishes the reports early.

use super::console::eprint_redacted;
use super::deadline::Deadline;
use super::inputs::TraceInput;
use super::outputs::ReportOutputs;
use super::progress::Progress;
use averment::Batch;
use averment_base::memory;
use averment_bulk::all_runs;
use averment_bulk::faults::FaultPoint;
use averment_bulk::feed::{self, LostRuns};
use averment_bulk::judge::RunResult;
use averment_bulk::ordered::{NextChunk, OrderedChunks};
use averment_bulk::pipeline::Pipeline;
use averment_bulk::workers::{FinishedChunk, MissingRuns};
use averment_report::table::ReportTable;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The outcome of a pipeline run.
#[derive(Debug, Clone, Copy, Default)]
pub struct PipelineEnd {
    /// True after Ctrl-C.
    pub interrupted: bool,
    /// True if `--max-time` was exceeded.
    pub late: bool,
    /// True if a run failed with `--fail-fast`.
    pub stopped: bool,
    /// Runs after an early end, if they were counted.
    pub rest: Option<LostRuns>,
    /// Number of runs whose evaluation panicked. Only the first [`NAMED`] are reported by name.
    pub faults: u64,
    /// Runs that are missing because threads panicked.
    pub broken: MissingRuns,
    /// True if memory ran out and a thread was parked.
    pub exhausted: bool,
}

impl PipelineEnd {
    /// True if the work ended early.
    pub fn is_cut(&self) -> bool {
        self.interrupted || self.late || self.stopped
    }

    /// True if every readable run was judged.
    pub fn is_complete(&self) -> bool {
        !self.exhausted && self.faults == 0 && self.broken.dead == 0 && self.broken.lost == LostRuns::default()
    }

    /// Returns the known number of runs without verdicts. After an early end without a count it is at least one.
    pub fn not_judged(&self) -> LostRuns {
        let LostRuns { runs, more } = self.broken.lost;
        let mut known = LostRuns { runs: self.faults.saturating_add(runs), more };
        known.add_runs(self.rest.unwrap_or(LostRuns { runs: 0, more: self.is_cut() }));
        LostRuns { runs: known.runs.max(u64::from(known.more)), ..known }
    }

    /// Returns a message about unnamed failed evaluations and panicked threads; empty if there are none.
    pub fn in_words(&self) -> String {
        self.unnamed_faults() + &self.thread_losses()
    }

    fn unnamed_faults(&self) -> String {
        match self.faults.saturating_sub(NAMED) {
            0 => String::new(),
            1 => "error: the evaluation of 1 more run broke down\n".to_owned(),
            more => format!("error: the evaluation of {more} more runs broke down\n"),
        }
    }

    fn thread_losses(&self) -> String {
        let MissingRuns { lost: LostRuns { runs, more }, dead } = self.broken;
        let least = if more { "at least " } else { "" };
        if self.exhausted {
            return match runs {
                0 => "error: there was no memory to go on\n".to_owned(),
                1 => format!("error: {least}1 run was not judged: there was no memory to go on\n"),
                _ => format!("error: {least}{runs} runs were not judged: there was no memory to go on\n"),
            };
        }
        match (runs, more) {
            (0, false) if dead == 0 => String::new(),
            (0, false) => "error: a thread broke down; the others judged every run\n".to_owned(),
            (0, true) => "error: runs were not judged, and it is not known how many: a thread broke down\n".to_owned(),
            (1, _) => format!("error: {least}1 run was not judged: a thread broke down\n"),
            (runs, _) => format!("error: {least}{runs} runs were not judged: a thread broke down\n"),
        }
    }

    fn add_broken(&mut self, broken: MissingRuns) {
        let own = &mut self.broken;
        own.dead = own.dead.saturating_add(broken.dead);
        own.lost.add_runs(broken.lost);
    }
}

/// Maximum number of failed evaluations to report by name.
const NAMED: u64 = 10;
/// With more queued chunks, the writer waits for further ones, since each wakeup costs more than a write.
const FEW: usize = 8;
/// Waiting time for further chunks; shorter than the time to judge the chunks in flight.
const GATHER: Duration = Duration::from_millis(1);
/// Polling interval for interruptions while there is nothing to write.
const GLANCE: Duration = Duration::from_millis(40);
/// After this much silence, the threads probably wait for one that is stuck.
const QUIET: Duration = Duration::from_millis(500);

/// Maximum time to count unjudged runs after an interruption, or with a pipe as input.
const TO_COUNT: Duration = Duration::from_millis(300);

/// Conditions that end the work before the last run.
#[derive(Clone, Copy)]
pub struct EarlyEnd<'a> {
    /// The time limit of the command.
    pub deadline: Option<&'a Deadline>,
    /// `--fail-fast`: stop after the first run that fails.
    pub fail_fast: bool,
    /// `--last-failed`: some traces were left out, so statements over all runs are not judged.
    pub narrowed: bool,
}

/// Judges and reports every run of the traces.
pub fn run_pipeline(
    pipeline: &Arc<Pipeline>,
    traces: Vec<TraceInput>,
    outputs: &mut ReportOutputs,
    early: EarlyEnd<'_>,
) -> io::Result<PipelineEnd> {
    let interrupted = super::signals::interruption_flag()?;
    let total = feed::total_length(&traces);
    let watching = MemoryWatch::begin();
    let mut chunks = Batch::start_threads(pipeline, traces);
    let progress = Progress::new(total);
    let mut writer =
        ResultWriter { pipeline, table: &pipeline.table, outputs, progress, end: PipelineEnd::default(), early };
    writer.write_all(&mut chunks, &interrupted)?;
    writer.count_rest(&mut chunks, &interrupted, total.is_some());
    if writer.end.exhausted {
        writer.end.add_broken(chunks.leave_workers());
    } else if !writer.end.is_cut() {
        writer.end.add_broken(chunks.join_workers());
    }
    if !writer.end.is_cut()
        && !writer.end.exhausted
        && !early.narrowed
        && let Some(report) = all_runs::over_runs_report(pipeline, chunks.over_runs())
    {
        writer.progress.hide_while(|| writer.outputs.report_run(&pipeline.table, report))?;
    }
    drop(watching);
    Ok(writer.end)
}

/// While it exists, a thread that runs out of memory is parked, and waiting threads check for that.
struct MemoryWatch;

impl MemoryWatch {
    fn begin() -> Self {
        memory::set_watched(true);
        Self
    }
}

impl Drop for MemoryWatch {
    fn drop(&mut self) {
        memory::set_watched(false);
    }
}

struct ResultWriter<'a> {
    pipeline: &'a Pipeline,
    table: &'a ReportTable,
    outputs: &'a mut ReportOutputs,
    progress: Progress,
    end: PipelineEnd,
    early: EarlyEnd<'a>,
}

impl ResultWriter<'_> {
    fn write_all(&mut self, chunks: &mut OrderedChunks, stop: &AtomicBool) -> io::Result<()> {
        let mut last = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            if self.early.deadline.is_some_and(Deadline::is_over) {
                self.end.late = true;
                return Ok(());
            }
            let next = match self.next(chunks)? {
                // A parked thread holds the next chunk. Skipping it lets the other threads continue.
                NextChunk::Nothing if memory::is_exhausted() && last.elapsed() > QUIET => match chunks.skip_missing() {
                    NextChunk::Finished(one) => NextChunk::Finished(one),
                    NextChunk::Nothing | NextChunk::End => {
                        self.end.exhausted = true;
                        return Ok(());
                    }
                },
                next => next,
            };
            match next {
                // Ctrl-C also ends the program that writes a piped trace, so results that arrive now may be of a truncated trace.
                NextChunk::Finished(_) if stop.load(Ordering::Relaxed) => break,
                NextChunk::Finished(one) => {
                    last = Instant::now();
                    let bytes = one.bytes;
                    self.pipeline.faults.reach_point(FaultPoint::Merging);
                    self.write_finished(one)?;
                    self.progress.add_bytes(bytes);
                    if self.end.stopped {
                        return Ok(());
                    }
                }
                NextChunk::Nothing => {}
                NextChunk::End => return Ok(()),
            }
        }
        self.end.interrupted = true;
        Ok(())
    }

    /// Returns the next finished result. Flushes before waiting; after many results, lets more of them gather.
    fn next(&mut self, chunks: &mut OrderedChunks) -> io::Result<NextChunk> {
        match chunks.next_ready() {
            NextChunk::Nothing => self.progress.hide_while(|| self.outputs.flush_reports())?,
            next => return Ok(next),
        }
        if chunks.taken_count() > FEW {
            thread::sleep(GATHER);
        }
        Ok(chunks.wait_next(Some(GLANCE)))
    }

    fn write_finished(&mut self, finished: FinishedChunk) -> io::Result<()> {
        let Self { pipeline, table, outputs, progress, end, early } = self;
        let FinishedChunk { done, totals, records, lost, is_broken, .. } = finished;
        let mut done = done.into_iter();
        progress.hide_while(|| {
            for one in done.by_ref() {
                pipeline.faults.reach_point(FaultPoint::Writing);
                write_result(table, outputs, end, one)?;
                if early.fail_fast && outputs.totals().runs_failed > 0 {
                    end.stopped = true;
                    break;
                }
            }
            outputs.report_chunk(&totals);
            outputs.count_records(&records);
            io::Result::Ok(())
        })?;
        if end.stopped {
            let is_unreadable = |one: &RunResult| matches!(one, RunResult::Unreadable(_));
            let more = is_broken && done.as_slice().iter().any(is_unreadable);
            end.rest = Some(LostRuns { runs: done.len() as u64, more });
        }
        end.add_broken(MissingRuns { lost: LostRuns { runs: lost, more: false }, dead: 0 });
        Ok(())
    }

    /// Counts the unjudged runs after an early end. The time is limited after Ctrl-C and for pipes; after `--max-time` nothing is counted.
    fn count_rest(&mut self, chunks: &mut OrderedChunks, stop: &AtomicBool, has_length: bool) {
        let PipelineEnd { interrupted, stopped, rest, .. } = &mut self.end;
        if !*interrupted && !*stopped {
            return;
        }
        let (since, takes_its_time) = (Instant::now(), *stopped && has_length);
        let is_over = || stop.load(Ordering::Relaxed) || self.early.deadline.is_some_and(Deadline::is_over);
        let go_on = || since.elapsed() < TO_COUNT || takes_its_time && !is_over();
        let counted = chunks.stop_judging(&|| go_on() && !memory::is_exhausted());
        rest.get_or_insert_default().add_runs(counted);
    }
}

fn write_result(
    table: &ReportTable,
    outputs: &mut ReportOutputs,
    end: &mut PipelineEnd,
    result: RunResult,
) -> io::Result<()> {
    match result {
        RunResult::Run(run) => outputs.report_run(table, *run),
        RunResult::Example(run) => outputs.show_example(table, &run),
        RunResult::Lines(lines) => outputs.report_lines(&lines),
        RunResult::Unreadable(what) => outputs.report_unreadable(&what),
        RunResult::Fault(name) => {
            end.faults += 1;
            if end.faults <= NAMED {
                eprint_redacted(&format!("error: the evaluation of {name} broke down; its verdicts are missing\n"));
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LostRuns, MissingRuns, PipelineEnd};

    fn broken(runs: u64, more: bool, dead: usize) -> PipelineEnd {
        PipelineEnd { broken: MissingRuns { lost: LostRuns { runs, more }, dead }, ..PipelineEnd::default() }
    }

    #[test]
    fn what_was_not_judged_is_said_in_words() {
        let said = |runs, more, dead| broken(runs, more, dead).in_words();
        assert_eq!(said(0, false, 0), "");
        assert_eq!(said(1, false, 0), "error: 1 run was not judged: a thread broke down\n");
        assert_eq!(said(7, true, 1), "error: at least 7 runs were not judged: a thread broke down\n");
        assert_eq!(said(0, false, 1), "error: a thread broke down; the others judged every run\n");
        assert!(said(0, true, 1).contains("it is not known how many"));
        let faults = |faults| PipelineEnd { faults, ..PipelineEnd::default() }.in_words();
        assert_eq!(faults(10), "");
        assert_eq!(faults(11), "error: the evaluation of 1 more run broke down\n");
        assert_eq!(faults(3_000), "error: the evaluation of 2990 more runs broke down\n");
    }

    #[test]
    fn an_end_is_complete_only_where_nothing_broke_down() {
        assert!(PipelineEnd::default().is_complete());
        let ends = [PipelineEnd { faults: 1, ..PipelineEnd::default() }, broken(0, false, 1), broken(0, true, 0)];
        assert!(ends.iter().all(|end| !end.is_complete()));
        assert_eq!(ends.map(|end| end.not_judged().runs), [1, 0, 1]);
        assert_eq!(ends.map(|end| end.not_judged().more), [false, false, true]);
        let cut = PipelineEnd { interrupted: true, ..PipelineEnd::default() };
        assert_eq!(cut.not_judged(), LostRuns { runs: 1, more: true });
        let rest = LostRuns { runs: 7, more: false };
        assert_eq!(PipelineEnd { stopped: true, rest: Some(rest), ..PipelineEnd::default() }.not_judged(), rest);
    }
}
