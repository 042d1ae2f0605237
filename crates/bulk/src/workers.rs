//! From traces to results: some threads take chunks of the traces and judge them, in turn.
//!
//! What is between reading and writing is bounded, so that memory does not depend on the number of runs. Whoever takes the results may leave
//! at any time, without waiting for the threads.
//!
//! A thread may break down (a defect, no memory). What was handed out is held against what came back, every thread is joined, and a run
//! without verdicts is never skipped: it is counted in [`MissingRuns::lost`].

use crate::faults::FaultPoint;
use crate::feed::{self, LostRuns, PartFeeder, TraceInputs};
use crate::judge::{ReadCounts, RunResult, ThreadJudge, observer};
use crate::near_names::NearNameSearch;
use crate::pipeline::Pipeline;
use crate::reading_notes::FileRecords;
use averment_base::limits::LONG;
use averment_base::memory;
use averment_engine::vm::prepare::PreparedProgram;
use averment_engine::vm::temporal;
use averment_report::chunk_totals::ChunkTotals;
use averment_traces::read::{FilePart, RawRun};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The results of one chunk, with its number and length.
pub struct FinishedChunk {
    /// The number of the chunk, from 0.
    pub number: usize,
    /// Its length.
    pub bytes: u64,
    /// What came of its runs, in order.
    pub done: Vec<RunResult>,
    /// Counts of the runs that need nothing else.
    pub totals: ChunkTotals,
    /// How much of the runs was read.
    pub reads: ReadCounts,
    /// How many records there were, by file.
    pub records: Box<FileRecords>,
    /// Runs in it that were not judged: all, where judging it broke down.
    pub lost: u64,
    /// True if something of it could not be read, which may hold more runs than one.
    pub is_broken: bool,
}

impl FinishedChunk {
    /// Its runs, judged or not.
    #[must_use]
    pub fn all_runs(&self) -> LostRuns {
        let is_single = |done: &&RunResult| !matches!(done, RunResult::Lines(_) | RunResult::Example(_));
        let single = self.done.iter().filter(is_single).count() as u64;
        LostRuns { runs: self.totals.runs.saturating_add(self.lost).saturating_add(single), more: self.is_broken }
    }
}

/// Chunks that may be on their way for each thread.
const AHEAD: usize = 16;
/// The stack of a thread that judges. Rules and traces are nested to a limit that fits easily.
const STACK: usize = 16 << 20;

/// What the judging threads hand over: chunks as they are done, and a permit for each chunk that is on its way.
pub struct JudgeThreads {
    /// The results of chunks, in no order; it ends with the last one.
    pub finished: Receiver<FinishedChunk>,
    /// One is taken for every chunk that is written, so that not too much is judged ahead of it.
    pub permits: Receiver<()>,
    /// The threads, and what they take chunks from.
    pub workers: JudgeWorkers,
}

/// The judging threads, to be joined when nothing more comes of them.
pub struct JudgeWorkers {
    threads: Vec<JoinHandle<()>>,
    feeder: Arc<Mutex<PartFeeder>>,
    /// Set when no thread shall take a further chunk.
    stop: Arc<AtomicBool>,
}

/// What is missing when all threads have ended.
#[derive(Debug, Clone, Copy, Default)]
pub struct MissingRuns {
    /// Runs that were given and did not come back.
    pub lost: LostRuns,
    /// Threads that broke down for good; one where none could be started at all.
    pub dead: usize,
}

impl JudgeWorkers {
    /// Waits for threads that have nothing to do any more, and counts what was given and did not come back; `taken` is the number of chunks
    /// that did.
    #[must_use]
    pub fn join_threads(self, taken: usize) -> MissingRuns {
        let none = usize::from(self.threads.is_empty());
        let dead = self.threads.into_iter().filter_map(|thread| thread.join().err()).count();
        let mut feeder = self.feeder.lock().unwrap_or_else(PoisonError::into_inner);
        let (gone, left) = count_missing(&mut feeder, taken, &|| true);
        let runs = left.runs.saturating_add(gone);
        MissingRuns { lost: LostRuns { runs, more: gone > 0 || left.more }, dead: dead.saturating_add(none) }
    }

    /// Counts what was given and did not come back, without waiting for threads: one of them is left where it stands.
    #[must_use]
    pub fn leave_threads(self, taken: usize) -> MissingRuns {
        let (threads, held) = memory::left_runs();
        let mut feeder = match self.feeder.try_lock() {
            Ok(feeder) => feeder,
            Err(TryLockError::Poisoned(broken)) => broken.into_inner(),
            // It was reading.
            Err(TryLockError::WouldBlock) => {
                return MissingRuns { lost: LostRuns { runs: held.max(1), more: true }, dead: 1 };
            }
        };
        let (gone, left) = count_missing(&mut feeder, taken, &|| true);
        let runs = held.saturating_add(gone.saturating_sub(threads)).saturating_add(left.runs);
        // One that had nothing in hand has lost nothing, where others went on to the end.
        MissingRuns { lost: LostRuns { runs, more: runs > 0 || left.more }, dead: 1 }
    }

    /// No thread takes a further chunk.
    pub fn stop_taking(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Counts what was given and did not come back, while `go_on` says so. No thread is waited for.
    #[must_use]
    pub fn count_stopped(self, taken: usize, go_on: &dyn Fn() -> bool) -> LostRuns {
        let mut feeder = match self.feeder.try_lock() {
            Ok(feeder) => feeder,
            Err(TryLockError::Poisoned(broken)) => broken.into_inner(),
            // One is reading, or judges a long run.
            Err(TryLockError::WouldBlock) => return LostRuns { runs: 1, more: true },
        };
        let (gone, left) = count_missing(&mut feeder, taken, go_on);
        LostRuns { runs: left.runs.saturating_add(gone), more: gone > 0 || left.more }
    }
}

/// Counts the chunks that were handed out and did not come back, each of which has at least one run, and the runs that were never handed out.
fn count_missing(feeder: &mut PartFeeder, taken: usize, go_on: &dyn Fn() -> bool) -> (u64, LostRuns) {
    let gone = feeder.handed_out().saturating_sub(taken) as u64;
    let left = catch_unwind(AssertUnwindSafe(|| feeder.count_untaken(go_on)));
    (gone, left.unwrap_or(LostRuns { runs: 0, more: true }))
}

/// Starts the threads that judge the traces; `total` is their length, where that is known.
#[must_use]
pub fn start_judging(pipeline: &Arc<Pipeline>, traces: TraceInputs, total: Option<u64>) -> JudgeThreads {
    let threads = thread_count(pipeline.threads, total);
    let (permit, permits) = sync_channel::<()>(AHEAD * threads);
    let (finish, finished) = channel::<FinishedChunk>();
    let feeder = Arc::new(Mutex::new(PartFeeder::new(traces, &pipeline.reading, pipeline.chunk)));
    let mut workers = JudgeWorkers { threads: Vec::new(), feeder: Arc::clone(&feeder), stop: Arc::default() };
    register_thread_storage();
    // No thread begins before all have started: starting one takes memory that the C library cannot do without. A single thread waits for
    // none.
    let all_started = (threads > 1).then(|| feeder.lock().unwrap_or_else(PoisonError::into_inner));
    for _ in 0..threads {
        if !has_room_for_thread() {
            break;
        }
        let (pipeline, feeder, stop) = (Arc::clone(pipeline), Arc::clone(&feeder), Arc::clone(&workers.stop));
        let (permit, finish) = (permit.clone(), finish.clone());
        let (started, is_started) = sync_channel::<()>(1);
        let work = move || {
            register_thread_storage();
            drop(started);
            drop(feeder.lock());
            judge_all(&pipeline, &ChunkSource { feeder: &feeder, stop: &stop }, &permit, &finish);
        };
        match thread::Builder::new().stack_size(STACK).spawn(work) {
            Ok(thread) => workers.threads.push(thread),
            // With fewer threads it takes longer; without any all runs are lost.
            Err(_) => break,
        }
        if threads > 1 {
            // Ends when the thread drops its side.
            let _ = is_started.recv();
        }
    }
    drop(all_started);
    JudgeThreads { finished, permits, workers }
}

/// Makes what a thread keeps to itself and drops at its end. The C library notes each of them in memory of its own, and ends the process
/// where it gets none: so they are made before anything large is read.
fn register_thread_storage() {
    averment_report::redact::register_thread_storage();
    temporal::register_thread_storage();
    // What a channel waits with is made when it first waits.
    let (_open, waits) = sync_channel::<()>(0);
    let _ = waits.recv_timeout(Duration::ZERO);
}

/// True if there is memory for the stack of a thread and what is made with it.
fn has_room_for_thread() -> bool {
    let mut room = Vec::<u8>::new();
    let had = memory::allow_failure(|| room.try_reserve_exact(STACK.saturating_add(1 << 20)).is_ok());
    // Memory that nothing looks at need not be asked for.
    std::hint::black_box(&room);
    had
}

/// Small traces are judged by one thread: starting more would cost more than they save.
fn thread_count(asked: Option<NonZeroUsize>, length: Option<u64>) -> usize {
    let all = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    match (asked, length) {
        (Some(asked), _) => asked.get().min(256),
        (None, Some(length)) if length < feed::BATCH as u64 => 1,
        (None, _) => all(),
    }
}

/// Where a thread takes chunks from, until it is told to stop.
struct ChunkSource<'a> {
    feeder: &'a Mutex<PartFeeder>,
    stop: &'a AtomicBool,
}

/// Takes chunks and judges them, until there is none. Reading is a matter of whoever comes next: the bytes of a chunk stay with the
/// processor that judges them.
fn judge_all(pipeline: &Pipeline, source: &ChunkSource<'_>, permit: &SyncSender<()>, finish: &Sender<FinishedChunk>) {
    memory::mark_judging();
    pipeline.faults.reach_point(FaultPoint::Preparing);
    let prepared: Vec<PreparedProgram> = pipeline.prepared.iter().map(PreparedProgram::for_thread).collect();
    let Pipeline { programs, options, reading, .. } = pipeline;
    let looking = NearNameSearch { programs, prepared: &prepared, options, reading };
    let profiles = observer::profiles(pipeline.profile.as_ref());
    let mut judge = ThreadJudge::new(pipeline, &prepared, &profiles);
    let mut buffer = Vec::new();
    loop {
        let mut feeder = source.feeder.lock().unwrap_or_else(PoisonError::into_inner);
        // Waits while too much is judged and not written. The other end is gone only when the command is ending.
        if permit.send(()).is_err() {
            return;
        }
        if source.stop.load(Ordering::Relaxed) {
            return;
        }
        pipeline.faults.reach_point(FaultPoint::Reading);
        let Some((number, mut part)) = feeder.next(&mut buffer) else { return };
        let cut = match &part {
            FilePart::Runs(runs) => Some(runs.len() as u64),
            FilePart::Lines(_) => None,
        };
        memory::set_runs_held(cut.unwrap_or(1));
        let is_broken = feed::is_broken(&part);
        let bytes = match &part {
            FilePart::Lines(_) => buffer.len(),
            FilePart::Runs(runs) => runs.iter().flatten().map(RawRun::text_length).sum(),
        };
        // Long runs are judged one at a time, while nothing else is read: memory holds one of them, whatever the number of threads.
        let alone = (bytes > LONG.max(2 * pipeline.chunk)).then_some(feeder);
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let mut broken = Vec::new();
        let judged = loop {
            let judged = catch_unwind(AssertUnwindSafe(|| {
                pipeline.faults.reach_point(FaultPoint::Chunk);
                pipeline.unused.search_part(&part, &buffer);
                pipeline.near_names.search_part(&looking, &part, &buffer);
                let (done, totals) = judge.judge_part(&mut part, &mut buffer, &broken);
                let judged = ChunkResults { done, totals, reads: judge.take_reads(), records: judge.take_records() };
                pipeline.faults.reach_point(FaultPoint::Judged);
                judged
            }));
            let Err(fault) = judged else { break judged };
            let place = judge.place.filter(|place| !broken.contains(place));
            // What the thread kept may be half done.
            judge = ThreadJudge::new(pipeline, &prepared, &profiles);
            match place {
                // Of runs that were cut already, the others are judged all the same.
                Some(place) => broken.push(place),
                None => break Err(fault),
            }
        };
        drop(alone);
        let broke = judged.is_err();
        let lost = if broke { cut.unwrap_or_else(|| feed::lines_of(&buffer)).max(1) } else { 0 };
        let ChunkResults { done, totals, reads, records } = judged.unwrap_or_default();
        if finish
            .send(FinishedChunk { number, bytes, done, totals, reads, records: Box::new(records), lost, is_broken })
            .is_err()
        {
            return;
        }
        memory::set_runs_held(0);
        if broke {
            buffer = Vec::new();
        }
    }
}

/// What comes of a chunk.
#[derive(Default)]
struct ChunkResults {
    done: Vec<RunResult>,
    totals: ChunkTotals,
    reads: ReadCounts,
    records: FileRecords,
}
